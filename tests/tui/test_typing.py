"""What the player typed is never lost (U9): before the narrator is awake, in an edit, in a program of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from narrator.config import NarratorSettings, Settings
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose
from narrator.store import reads
from narrator.tui.app import NarratorApp
from narrator.tui.screens.dialogs import Chooser, Question
from narrator.tui.screens.play_acts import _edited
from narrator.tui.widgets.listbox import ListBox
from tests.tui.playing import Play, make_campaign, numbered, playing

STATEFUL = """\
[campaign]
id = "ferry"
title = "The Ferry"
opening = "Rain falls on the ferry."
instructions = "Tell it."

[state.player.nerve]
type = "number"
min = 0
max = 20
initial = 5
"""


@asynccontextmanager
async def asleep(path: Path, fake: FakeNarrator | None = None) -> AsyncIterator[tuple[Play, threading.Event]]:
    """The app before its narrator is awake; it wakes when the event is set."""
    gate = threading.Event()
    narrator = fake or numbered()

    def cast(story: object, asked: object) -> FakeNarrator:
        gate.wait(20)
        return narrator

    app = NarratorApp(path, settings=Settings(), casting=cast)
    try:
        async with app.run_test(size=(80, 24)) as pilot:
            play = Play(app, pilot, narrator)
            async with asyncio.timeout(10):
                while not app.play_screens() or app.play_screens()[0].story is None:
                    await pilot.pause()
            yield play, gate
            gate.set()
    finally:
        gate.set()


async def enter(play: Play, text: str) -> None:
    play.screen.composer.editor.insert(text)
    await play.pilot.press("enter")


async def awake(play: Play) -> None:
    async with asyncio.timeout(10):
        while play.screen.session is None:
            await play.pilot.pause()
    await play.settle()


def draft(play: Play) -> str:
    found = reads.draft(play.screen.story.store)
    return found.text if found is not None else ""


@pytest.mark.spec("U9", "U7")
async def test_a_line_sent_before_the_narrator_is_awake_waits_and_is_sent_then(tmp_path: Path) -> None:
    async with asleep(make_campaign(tmp_path)) as (play, gate):
        await enter(play, "look around")
        assert play.screen.composer.text == ""
        assert "“look around” waits for the narrator to wake" in play.said()
        assert "Esc takes it back" in play.said()
        await play.screen.write_draft()
        assert draft(play) == "look around", "a crash now loses nothing"
        await enter(play, "and the next")
        assert play.screen.composer.text == "and the next", "one line waits; the other stays"
        await play.screen.write_draft()
        assert draft(play) == "look around\nand the next"
        gate.set()
        await awake(play)
        assert play.story() == ["Rain falls on the ferry.", "look around", "Answer 1."]
        assert play.screen.composer.text == "and the next"
        await play.press("enter")
        assert play.story()[-2:] == ["and the next", "Answer 2."]


@pytest.mark.spec("U9", "U6")
async def test_esc_takes_a_waiting_line_back_above_what_was_typed_since(tmp_path: Path) -> None:
    async with asleep(make_campaign(tmp_path)) as (play, gate):
        await play.pilot.press("ctrl+t")
        await enter(play, "hello")
        play.screen.composer.editor.insert("since")
        await play.pilot.press("escape")
        assert play.screen.composer.text == "hello\nsince"
        assert play.screen.composer.mode == "say"
        gate.set()
        await awake(play)
        assert len(play.story()) == 1, "nothing was sent"


@pytest.mark.spec("U9")
async def test_a_command_waits_too_and_one_that_cannot_be_done_then_is_back(tmp_path: Path) -> None:
    async with asleep(make_campaign(tmp_path)) as (play, gate):
        await enter(play, "/nonsense")
        assert play.screen.composer.text == "/nonsense", "what means nothing is said at once"
        play.screen.composer.clear()
        await enter(play, "/undo")
        gate.set()
        await awake(play)
        assert play.screen.composer.text == "/undo"
        assert play.said() == "This is the opening; there is nothing to undo."


@pytest.mark.spec("U9")
async def test_leaving_while_a_line_waits_keeps_it(tmp_path: Path) -> None:
    path = make_campaign(tmp_path)
    async with asleep(path) as (play, gate):
        await enter(play, "look around")
        gate.set()
        await play.screen.close_story()
    async with playing(path) as play:
        assert "look around" in (play.screen.composer.text, *play.story())


@pytest.mark.spec("U9", "T16")
async def test_a_narrator_that_cannot_be_made_says_why_and_the_line_is_back(tmp_path: Path) -> None:
    mine = NarratorSettings("openai-compatible", base_url="http://127.0.0.1:9/v1", api_key_env="NO_SUCH_KEY_OF_MINE")
    settings = Settings(narrator="mine", narrators={"mine": mine})
    app = NarratorApp(make_campaign(tmp_path), settings=settings)
    async with app.run_test(size=(120, 24)) as pilot:
        play = Play(app, pilot, FakeNarrator())
        async with asyncio.timeout(10):
            while not app.play_screens() or app.play_screens()[0].story is None:
                await pilot.pause()
        await enter(play, "look around")
        await awake(play)
        assert "The environment variable NO_SUCH_KEY_OF_MINE holds no key." in play.shown()
        assert play.screen.composer.text == "look around"
        play.screen.composer.clear()
        await play.type("/narrator scripted")
        await play.type("look around")
        assert len(play.story()) == 3


# -- editing (S21, S22) ----------------------------------------------------------------------------------------------


async def edit_last(play: Play, text: str) -> None:
    """Select the last narration, edit it, send."""
    play.screen.transcript.selected = None
    await play.press("escape", "up", "e")
    assert play.screen.composer.editing == len(play.story())
    play.screen.composer.put(text)
    await play.press("enter")


async def choose(play: Play, key: str) -> None:
    box = play.app.screen.query_one(ListBox)
    box.show(box.entries, at=key)
    await play.pilot.press("enter")
    await play.settle()


def nerve(play: Play) -> object:
    return play.screen.story.state().values["player.nerve"]


def braver() -> FakeNarrator:
    fake = numbered()
    fake.answer(Purpose.EXTRACT, {"changes": [{"op": "add", "path": "player.nerve", "value": 1, "why": "done it"}]})
    return fake


@pytest.mark.spec("S22", "U6", "U9")
async def test_a_narration_without_state_takes_the_new_wording_and_the_typed_text_is_back(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path)) as play:
        await play.type("first")
        play.screen.composer.editor.insert("not sent")
        await edit_last(play, "Answer one, in my words.")
        assert play.story()[-1] == "Answer one, in my words."
        assert [take.text for take in play.screen.story.takes(play.screen.story.head)] == [
            "Answer 1.",
            "Answer one, in my words.",
        ]
        assert play.screen.story.head.origin == "edited"
        assert len(play.narrator.requests) == 1, "nobody was asked"
        assert play.screen.composer.text == "not sent"
        assert play.screen.composer.editing is None


@pytest.mark.spec("S22")
@pytest.mark.parametrize(("meaning", "answer", "found"), [
    ("edit", "worked-out", 6), ("edit", "keep", 6), ("edit", "none", 5), ("edit-wording", "", 6),
])  # fmt: skip
async def test_a_narration_with_state_is_asked_what_its_new_text_means(
    meaning: str, answer: str, found: int, tmp_path: Path
) -> None:
    async with playing(make_campaign(tmp_path, definition=STATEFUL), braver()) as play:
        await play.type("first")
        assert nerve(play) == 6
        asked = len(play.narrator.requests)
        await edit_last(play, "You dare.")
        assert isinstance(play.app.screen, Chooser)
        await choose(play, meaning)
        if answer:
            assert isinstance(play.app.screen, Question)
            await choose(play, answer)
        assert (play.story()[-1], nerve(play)) == ("You dare.", found)
        assert len(play.narrator.requests) - asked == (1 if answer else 0)


@pytest.mark.spec("S22", "U9")
async def test_an_edit_that_is_left_or_fails_is_an_edit_still(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path, definition=STATEFUL), braver()) as play:
        await play.type("first")
        play.screen.composer.editor.insert("not sent")
        await edit_last(play, "You dare.")
        await play.press("escape")
        composer = play.screen.composer
        assert (composer.text, composer.editing) == ("You dare.", 3), "Esc at the question goes back to the text"
        await play.press("enter")
        await choose(play, "edit")
        await choose(play, "cancel")
        assert (composer.text, composer.editing) == ("You dare.", 3), "what was cancelled is not lost"
        await play.screen.write_draft()
        assert draft(play) == "not sent\nYou dare."
        assert play.story()[-1] == "Answer 1."
        await play.press("escape")
        assert (composer.text, composer.editing) == ("not sent", None)
        assert "You dare." in composer.history


@pytest.mark.spec("S21", "U9")
async def test_an_edited_input_that_fails_is_an_edit_still(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path)) as play:
        await play.type("first")
        play.narrator._answers[Purpose.NARRATE].clear()
        play.narrator.answer(Purpose.NARRATE, "")
        await play.press("ctrl+o")
        composer = play.screen.composer
        composer.put("second thoughts")
        await play.press("enter")
        assert (composer.text, composer.editing) == ("second thoughts", 2)
        assert play.story() == ["Rain falls on the ferry.", "first", "Answer 1."]


@pytest.mark.spec("S22")
async def test_an_unchanged_or_empty_wording_makes_no_take(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path)) as play:
        await play.type("first")
        await edit_last(play, "Answer 1.")
        assert play.screen.composer.editing is None
        await edit_last(play, "  ")
        assert play.screen.composer.editing == 3
        assert len(play.screen.story.takes(play.screen.story.head)) == 1


# -- a program of one's own ------------------------------------------------------------------------------------------


@pytest.mark.spec("U6", "U9")
async def test_ctrl_o_again_without_an_editor_or_a_terminal_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing(make_campaign(tmp_path)) as play:
        await play.type("first")
        await play.press("escape", "up", "ctrl+o")
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.delenv("EDITOR", raising=False)
        await play.press("ctrl+o")
        assert play.said() == "Set $VISUAL or $EDITOR to edit in a program of your own."
        monkeypatch.setenv("EDITOR", "true")
        await play.press("ctrl+o")
        assert play.said() == "This terminal cannot be lent to another program."
        assert play.screen.composer.text == "Answer 1."


@pytest.mark.spec("U6", "U12")
def test_an_editor_gets_the_text_and_gives_it_back_byte_for_byte(tmp_path: Path) -> None:
    script = tmp_path / "my editor"
    script.write_text('#!/bin/sh\ncp "$2" "$1"\nprintf "%s" "雨 and more\n\n" >> "$2"\n')
    script.chmod(0o700)
    text = "Answer 1.\n\nÉ 漢字 \x1b[31m\t"
    assert _edited(f"'{script}' {tmp_path}/seen", text) == text + "雨 and more\n"
    assert (tmp_path / "seen").read_bytes() == text.encode()
    with pytest.raises(OSError, match="no-such-editor"):
        _edited("no-such-editor", text)
    with pytest.raises(ValueError, match="closing"):
        _edited("vi 'unclosed", text)


async def in_one_breath(play: Play, *keys: str) -> None:
    """Keys that are all there before the first is looked at, as over a slow line."""
    for key in keys:
        play.app.simulate_key(key)
    await play.pilot.pause()
    await play.settle()


@pytest.mark.spec("U4", "U9")
async def test_what_is_typed_behind_enter_in_one_breath_is_the_next_line(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), numbered()) as play:
        await in_one_breath(play, *"look", "enter", *"wait")
        assert play.story()[1:] == ["look", "Answer 1."]
        assert play.screen.composer.text == "wait"


@pytest.mark.spec("U4")
@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ((*"helloX", "backspace", "y"), "helloy"),
        ((*"wrong", "ctrl+u", *"right"), "right"),
        ((*"noth", "ctrl+w", *"north"), "north"),
        ((*"helo", "left", "l"), "hello"),
        ((*"ello", "home", "h", "end", "s"), "hellos"),
    ],
)
async def test_keys_of_the_line_come_in_their_order_in_one_breath(
    tmp_path: Path, keys: tuple[str, ...], text: str
) -> None:
    async with playing(make_campaign(tmp_path), numbered()) as play:
        await in_one_breath(play, *keys)
        assert play.screen.composer.text == text


@pytest.mark.spec("U7", "U9")
async def test_a_line_that_is_refused_stands_before_what_was_typed_behind_it(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), numbered()) as play:
        await in_one_breath(play, *"/nonsuch", "enter", *"next")
        assert play.screen.composer.text == "/nonsuch\nnext"
        assert "no command" in play.said()
