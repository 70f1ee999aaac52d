"""Playing: turns, undo, redo, retry, takes, saved places, on the screen (U2–U9)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from narrator.config import ReadingSettings, Settings
from narrator.core.errors import NarrationFailed
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.port import Purpose
from narrator.store import reads
from narrator.tui.widgets.bars import KeyLine, Notice
from tests.tui.playing import DEFINITION, Play, make_campaign, numbered, playing


@pytest.mark.spec("U1")
async def test_a_turn_is_played_undone_redone_retried_and_its_takes_paged(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path)) as play:
        assert "Rain falls on the ferry." in play.shown()
        await play.type("look around")
        assert play.story() == ["Rain falls on the ferry.", "look around", "Answer 1."]
        assert "> look around" in play.shown()
        assert "Answer 1." in play.shown()
        await play.press("ctrl+z")
        assert play.story() == ["Rain falls on the ferry.", "look around"]
        assert "redo holds 1 step " in play.shown()
        assert "Answer 1." not in play.shown()
        await play.press("ctrl+y")
        assert play.story()[-1] == "Answer 1."
        await play.press("ctrl+r")
        assert play.story()[-1] == "Answer 2."
        assert "◂ 2/2 takes ▸" in play.shown()
        await play.press("left")
        assert play.story()[-1] == "Answer 1."
        assert "◂ 1/2 takes ▸" in play.shown()


def stalling(text: str, at: int, until: asyncio.Event | None = None) -> FakeNarrator:
    """Tells ``text`` up to word ``at``, then nothing until ``until`` is set."""
    fake = FakeNarrator()
    fake.answer(Purpose.NARRATE, Line(text, stall_at=at, until=until), "Another answer.")
    return fake


async def until_stalled(play: Play) -> None:
    """A turn was begun and its narrator has gone silent."""
    async with asyncio.timeout(10):
        await play.narrator.stalled.wait()
        while not play.screen.transcript.partial.strip():
            await play.pilot.pause()
            play.screen.transcript.flush()
    await play.pilot.pause()


async def send(play: Play, text: str) -> None:
    """Type and send, without waiting for the end of the turn."""
    play.screen.composer.editor.insert(text)
    await play.pilot.press("enter")


LONG = " ".join(f"word{number}" for number in range(60))


@pytest.mark.spec("T3", "U9")
async def test_esc_stops_a_turn_the_input_comes_back_and_keep_takes_what_was_told(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), stalling(LONG, 20)) as play:
        await send(play, "ring the bell")
        await until_stalled(play)
        assert "word18" in play.shown()
        assert "> ring the bell" in play.shown()
        assert play.screen.composer.text == ""
        await play.pilot.press("escape")
        await play.settle()
        assert play.story() == ["Rain falls on the ferry."]
        assert play.screen.composer.text == "ring the bell"
        assert "word18" in play.shown(), "what was told stays until the next verb"
        assert "Ctrl+K keeps what was told" in play.shown()
        assert any(key == "^K" for key, _ in play.screen.query_one(KeyLine).keys)
        await play.press("ctrl+k")
        assert play.story()[1] == "ring the bell"
        assert play.story()[2].startswith("word0 word1")
        assert play.screen.composer.text == "", "the input was kept with it"


@pytest.mark.spec("T3")
async def test_ctrl_c_stops_and_the_partial_text_is_gone_with_the_next_verb(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), stalling(LONG, 20)) as play:
        await play.type("/save start")
        await send(play, "ring")
        await until_stalled(play)
        await play.press("ctrl+c")
        assert "word18" in play.shown()
        await play.press("enter")
        assert play.story() == ["Rain falls on the ferry.", "ring", "Another answer."]
        assert "word18" not in play.shown()


@pytest.mark.spec("T3")
async def test_keep_while_it_is_told_stops_first(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), stalling(LONG, 20)) as play:
        await send(play, "ring")
        await until_stalled(play)
        await play.press("ctrl+k")
        assert len(play.story()) == 3
        assert play.story()[2].startswith("word0 word1")
        assert play.screen.composer.text == ""


@pytest.mark.spec("U7")
async def test_what_cannot_be_done_during_a_turn_says_so(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), stalling(LONG, 20)) as play:
        await send(play, "ring")
        await until_stalled(play)
        for key in ("ctrl+z", "ctrl+r", "ctrl+n", "ctrl+g"):
            await play.pilot.press(key)
            await play.pilot.pause()
            assert "being told" in play.said(), key
        play.screen.composer.editor.insert("the next thing")
        await play.pilot.press("enter")
        await play.pilot.pause()
        assert play.screen.composer.text == "the next thing", "typing goes on, sending waits"
        await play.press("escape")
        assert play.screen.composer.text == "ring\nthe next thing", "nothing that was typed is lost"


@pytest.mark.spec("S13", "U9")
async def test_a_failure_is_a_note_and_enter_sends_again(tmp_path: Path) -> None:
    fake = FakeNarrator()
    error = NarrationFailed("narrator-unreachable", "Nobody answers at [/]host.", "Is it running?")
    fake.answer(Purpose.NARRATE, error, "At last.")
    async with playing(make_campaign(tmp_path), fake) as play:
        await play.type("knock")
        assert "! Nobody answers at [/]host. Is it running?" in play.shown()
        assert "Enter sends it again" in play.shown()
        assert play.screen.composer.text == "knock"
        await play.press("enter")
        assert play.story()[1:] == ["knock", "At last."]
        assert "Nobody answers" not in play.shown()


@pytest.mark.spec("U5", "S15")
async def test_a_retry_shows_the_new_take_where_the_old_one_stood(tmp_path: Path) -> None:
    fake = numbered()
    async with playing(make_campaign(tmp_path), fake) as play:
        await play.type("one")
        await play.type("two")
        event = asyncio.Event()
        fake._answers[Purpose.NARRATE].clear()
        fake.answer(Purpose.NARRATE, Line("Told anew and at length.", stall_at=2, until=event))
        await play.pilot.press("ctrl+r")
        await until_stalled(play)
        assert "Answer 2." not in play.shown()
        assert "> two" in play.shown()
        assert "Told" in play.shown()
        event.set()
        await play.settle()
        assert play.story()[-1] == "Told anew and at length."
        assert "◂ 2/2 takes ▸" in play.shown()


@pytest.mark.spec("U5", "S17")
async def test_the_text_below_a_paged_step_follows_and_the_step_stays(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), size=(60, 12)) as play:
        await play.type("one")
        await play.type("two")
        await play.type("/retry 3")
        await play.type("three")
        assert play.story()[2:] == ["Answer 3.", "three", "Answer 4."]
        await play.press("escape", "up", "up", "up")
        assert play.screen.transcript.selected == 3
        rows = play.shown().splitlines()
        row = next(i for i, text in enumerate(rows) if "Answer 3." in text)
        await play.press("left")
        assert play.story()[2:] == ["Answer 1.", "two", "Answer 2."]
        assert "Answer 1." in play.shown().splitlines()[row]
        assert play.screen.transcript.selected == 3


@pytest.mark.spec("U6")
async def test_undo_is_of_the_text_while_there_is_text_and_a_held_key_does_not_cross(tmp_path: Path) -> None:
    now = [100.0]
    async with playing(make_campaign(tmp_path), clock=lambda: now[0]) as play:
        await play.type("one")
        play.screen.composer.editor.insert("typed")
        await play.press("ctrl+z")
        assert play.screen.composer.text == ""
        for _ in range(5):
            now[0] += 0.05
            await play.press("ctrl+z")
        assert len(play.story()) == 3, "the key was held: the story stays"
        now[0] += 2
        await play.press("ctrl+z")
        assert len(play.story()) == 2
        now[0] += 2
        await play.press("ctrl+y")
        assert play.screen.composer.text == "typed", "text to redo comes first"
        now[0] += 2
        await play.press("ctrl+z")
        now[0] += 2
        play.screen.composer.clear()
        await play.press("ctrl+y")
        assert len(play.story()) == 3


@pytest.mark.spec("U9")
async def test_the_draft_is_in_the_file_soon_after_the_last_key_and_comes_back(tmp_path: Path) -> None:
    path = make_campaign(tmp_path)
    async with playing(path) as play:
        play.screen.composer.next_mode()
        play.screen.composer.editor.insert("not yet \x1b[31m sent [/]")
        async with asyncio.timeout(5):
            while (found := reads.draft(play.screen.story.store)) is None:
                await play.pilot.pause(0.05)
        assert (found.text, found.mode) == ("not yet \x1b[31m sent [/]", "say")
    async with playing(path) as play:
        assert play.screen.composer.text == "not yet \x1b[31m sent [/]"
        assert play.screen.composer.mode == "say"
        assert play.said() == "What you had typed is back."


@pytest.mark.spec("U9")
async def test_quitting_in_mid_turn_keeps_what_was_sent_and_what_was_typed_since(tmp_path: Path) -> None:
    path = make_campaign(tmp_path)
    async with playing(path, stalling(LONG, 20)) as play:
        await send(play, "sent")
        await until_stalled(play)
        play.screen.composer.editor.insert("typed since")
        await play.pilot.pause()
        await play.pilot.press("ctrl+q")
        await play.pilot.pause()
    async with playing(path) as play:
        assert play.story() == ["Rain falls on the ferry."]
        assert play.screen.composer.text == "sent\ntyped since"


@pytest.mark.spec("U2")
async def test_a_long_narration_stops_at_its_first_unread_line(tmp_path: Path) -> None:
    fake = FakeNarrator()
    fake.answer(Purpose.NARRATE, "\n\n".join(f"Paragraph {n} of a long tale." for n in range(40)))
    async with playing(make_campaign(tmp_path), fake, size=(80, 24)) as play:
        await play.type("listen")
        rows = play.shown().splitlines()
        assert "> listen" in rows[0]
        assert "Paragraph 0" in play.shown()
        assert "Paragraph 39" not in play.shown()
        assert play.screen.query_one(Notice).below > 0, "a mark shows that more is below"
        await play.press("pagedown")
        assert "Paragraph 9" in play.shown()
        await play.press("ctrl+end")
        assert "Paragraph 39" in play.shown()
        assert play.screen.query_one(Notice).below == 0
    async with playing(
        make_campaign(tmp_path, "other"), fake, settings=Settings(reading=ReadingSettings(stop_at_unread=False))
    ) as play:
        await play.type("listen")
        assert "Paragraph 39" in play.shown(), "it can be switched off"


@pytest.mark.spec("U3")
async def test_a_single_wheel_step_while_streaming_does_not_stop_following(tmp_path: Path) -> None:
    event = asyncio.Event()
    text = "\n\n".join(f"Paragraph {n}." for n in range(30))
    fake = stalling(text, 30, event)
    async with playing(make_campaign(tmp_path), fake, settings=Settings(reading=ReadingSettings(False))) as play:
        await send(play, "listen")
        await until_stalled(play)
        transcript = play.screen.transcript
        transcript.scroll_rows(-2)
        assert transcript.is_following
        transcript.scroll_rows(-8)
        assert not transcript.is_following
        at = play.shown()
        event.set()
        await play.settle()
        assert play.shown() == at, "who reads above is left there"


@pytest.mark.spec("U6", "S48")
async def test_words_of_interactive_fiction_and_lines(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path)) as play:
        await play.type("look")
        await play.type("undo")
        assert len(play.story()) == 2
        await play.type("redo")
        await play.type("g")
        assert play.story()[3:] == ["look", "Answer 2."]
        await play.type("/do undo")
        assert play.story()[5] == "undo"
        editor = play.screen.composer.editor
        editor.insert("first line\\")
        await play.press("enter")
        editor.insert("second line")
        await play.press("ctrl+j")
        editor.insert("third")
        await play.press("enter")
        assert play.story()[7] == "first line\nsecond line\nthird"
        await play.press("up")
        assert play.screen.composer.text == "first line\nsecond line\nthird"
        await play.press("ctrl+home")
        await play.press("up", "up", "up")
        assert play.screen.composer.text == "/do undo"


@pytest.mark.spec("U7")
async def test_a_wrong_command_says_so_and_stays(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path)) as play:
        await play.type("/undoo")
        assert "undoo" in play.said()
        assert play.screen.composer.text == "/undoo"
        play.screen.composer.clear()
        await play.press("ctrl+z")
        assert play.said() == "This is the opening; there is nothing to undo."


@pytest.mark.spec("U18")
async def test_normal_play_never_says_branch(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), size=(80, 24)) as play:
        seen: list[str] = []

        async def look() -> None:
            svg = play.app.export_screenshot()
            seen.append(svg)
            assert "branch" not in svg.lower()

        await play.type("one")
        await look()
        for keys in ("ctrl+r", "left", "ctrl+z", "ctrl+z", "ctrl+y", "ctrl+s", "enter", "ctrl+n", "ctrl+g", "enter",
                     "escape", "up", "r", "ctrl+c", "escape"):  # fmt: skip
            await play.press(keys)
            await look()
        assert len(set(seen)) > 8


@pytest.mark.spec("U9")
async def test_a_draft_outlives_openings_in_which_nothing_is_typed(tmp_path: Path) -> None:
    path = make_campaign(tmp_path)
    async with playing(path) as play:
        play.screen.composer.editor.insert("not sent")
        await play.pilot.pause(0.5)
    for _ in range(2):
        async with playing(path) as play:
            await play.press("escape", "escape", "tab", "tab")
            await play.pilot.pause(0.5)
            assert play.screen.composer.text == "not sent"


@pytest.mark.spec("U22")
async def test_opening_begins_the_days_backup(tmp_path: Path, home: Path) -> None:
    path = make_campaign(home / "campaigns")
    async with playing(path) as play, asyncio.timeout(20):
        while not list((home / "backups").rglob("*.narrator")):
            await play.pilot.pause(0.05)


@pytest.mark.spec("U7")
@pytest.mark.parametrize("typed", ["", "the next thing"])
async def test_that_it_is_being_told_is_said_no_longer_than_it_is_so(tmp_path: Path, typed: str) -> None:
    told = asyncio.Event()
    async with playing(make_campaign(tmp_path), stalling(LONG, 20, told)) as play:
        await send(play, "ring")
        await until_stalled(play)
        play.screen.composer.editor.insert(typed)
        await play.pilot.press("enter" if typed else "ctrl+z")
        await play.pilot.pause()
        assert "being told" in play.said()
        told.set()
        await play.settle()
        assert play.said() == ("What you typed meanwhile is here still: Enter sends it." if typed else "")
        assert play.screen.composer.text == typed


@pytest.mark.spec("U7", "W10")
async def test_what_is_typed_behind_the_end_does_not_stand_before_the_next_command(tmp_path: Path) -> None:
    definition = DEFINITION + '\n[[endings]]\nid = "home"\nwhen = "true"\n'
    async with playing(make_campaign(tmp_path, definition=definition)) as play:
        await play.type("ring")
        assert "the library, in all commands, begins a new one" in " ".join(play.shown().split())
        await play.type("and what became of the ferry?")
        assert "has ended" in play.said()
        assert play.screen.composer.text == ""
        await play.press("up")
        assert play.screen.composer.text == "and what became of the ferry?"
        assert len(play.story()) == 3
