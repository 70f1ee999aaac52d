"""What strangers stumbled over on the screen, held: out of the side panes, the end of a story, words for commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.widgets import Input

from narrator.engine.events import Noted
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Capabilities
from narrator.tui.screens.dialogs import Chooser, _rank
from narrator.tui.widgets.bars import StatusLine, status_words
from narrator.tui.widgets.listbox import Entry, ListBox
from tests.tui.playing import DEFINITION, Play, make_campaign, playing


def pictured(play: Play) -> str:
    """All that stands on the screen, with its spaces."""
    return re.sub(r"<[^>]*>", "", play.app.export_screenshot()).replace("&#160;", " ")


@pytest.mark.spec("U4", "U6")
async def test_escape_out_of_the_rail_goes_back_to_typing_and_no_letter_is_a_command(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), size=(80, 24)) as play:
        await play.type("one")
        count = play.screen.story.count
        await play.press("f2", "escape")
        assert not play.screen.rail.display
        await play.press(*("space" if letter == " " else letter for letter in "run to the boat"))
        assert play.screen.composer.text == "run to the boat"
        assert play.screen.story.count == count


@pytest.mark.spec("U4", "U6")
@pytest.mark.parametrize("key", ["f2", "f3"])
async def test_escape_out_of_a_pane_that_has_room_leaves_it_open(tmp_path: Path, key: str) -> None:
    async with playing(make_campaign(tmp_path), size=(160, 48)) as play:
        if key == "f2":
            await play.press("f2")  # open by itself: closed
        await play.press(key)
        pane = play.screen.rail if key == "f2" else play.screen.panel
        assert pane.display
        assert play.screen.place() in ("rail", "panel")
        await play.press("escape")
        assert pane.display
        assert play.screen.place() == "composer"


@pytest.mark.spec("U4", "U6")
async def test_reading_says_that_letters_are_commands(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), size=(80, 24)) as play:
        await play.press("escape")
        assert "reading ▸ letters are commands; Esc types again" in pictured(play)
        await play.press("escape")
        assert "do ▸ what do you do?" in pictured(play)


@pytest.mark.spec("U2")
async def test_no_more_is_promised_where_an_empty_row_alone_stands_below(tmp_path: Path) -> None:
    lines = "\n\n".join(f"Paragraph {number}." for number in range(10))  # 19 rows and a gap, in 19 rows of transcript
    definition = DEFINITION.replace('"Rain falls on the ferry."', f'"""\n{lines}"""')
    for height, is_more in ((23, False), (22, True)):
        async with playing(make_campaign(tmp_path, f"at{height}", definition), size=(80, height)) as play:
            assert play.screen.transcript.size.height == height - 4
            assert ("more below" in pictured(play)) is is_more


@pytest.mark.spec("U2", "S8")
async def test_an_input_without_its_answer_says_what_can_be_done(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), size=(80, 24)) as play:
        await play.type("one")
        assert "your line stands" not in play.shown()
        await play.press("ctrl+z")
        assert "your line stands: Enter tells it anew, undo takes it back" in play.shown()
        assert "redo holds 1 step" in play.shown()
        await play.press("ctrl+z")
        assert "your line stands" not in play.shown()
        assert "redo holds 2 steps" in play.shown()


@pytest.mark.spec("U2", "S11")
async def test_what_redo_holds_is_said_at_once_when_a_story_is_opened(tmp_path: Path) -> None:
    path = make_campaign(tmp_path)
    async with playing(path, size=(80, 24)) as play:
        await play.type("one")
        await play.press("ctrl+z", "ctrl+z")
    async with playing(path, size=(80, 24)) as play:
        assert "redo holds 2 steps" in play.shown()


@pytest.mark.spec("U1", "U6")
@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("side", {"story.takes", "screen.rail", "story.branches"}),
        ("compare", {"story.takes"}),
        ("colour", {"screen.theme"}),
        ("branches", {"story.branches"}),
        ("load", {"story.restore"}),
        ("inventory", {"story.state"}),
        ("exit", {"story.quit"}),
    ],
)
async def test_a_players_own_word_finds_the_command(tmp_path: Path, typed: str, wanted: set[str]) -> None:
    async with playing(make_campaign(tmp_path), size=(100, 30)) as play:
        await play.press("ctrl+p")
        chooser = play.app.screen
        assert isinstance(chooser, Chooser)
        chooser.query_one(Input).value = typed
        await play.press()
        assert chooser.query_one(ListBox).chosen in wanted


def test_the_name_counts_before_other_words_and_these_before_a_part_of_a_word() -> None:
    entries = [
        Entry(1, "Prune: Delete what was set aside"),
        Entry(2, "Rail: Saved places", words="side list"),
        Entry(3, "The side: Other"),
        Entry(4, "Sidelong: A look"),
    ]
    assert [entry.key for entry in sorted(entries, key=lambda entry: _rank(entry, "side"))] == [4, 3, 2, 1]


def standing(play: Play) -> str:
    return status_words(play.screen.query_one(StatusLine).standing, 120)


@pytest.mark.spec("T16", "T19")
async def test_the_status_names_the_host_of_whoever_tells_now(tmp_path: Path) -> None:
    far = FakeNarrator(name="far", capabilities=Capabilities(8_000, "configured", host="models.example"))
    async with playing(make_campaign(tmp_path)) as play:
        assert "models.example" not in standing(play)
        assert play.screen.session is not None
        await play.screen.session.use_narrator(far)
        play.screen.hear(Noted("Told by far from the next turn on."))
        await play.settle()
        assert "far at models.example" in standing(play)


@pytest.mark.spec("T18", "C3")
async def test_no_budget_is_shown_for_a_narrator_that_reads_no_prompt(tmp_path: Path) -> None:
    scenes = FakeNarrator(name="scenes", capabilities=Capabilities(8_000, "built in", reads_messages=False))
    for narrator, is_shown in ((None, True), (scenes, False)):
        async with playing(make_campaign(tmp_path, str(is_shown)), narrator) as play:
            await play.type("one")
            assert ("budget" in standing(play)) is is_shown


@pytest.mark.spec("U6")
@pytest.mark.parametrize("opener", ["f1", "f4", "ctrl+p", "ctrl+f", "ctrl+s"])
@pytest.mark.parametrize("is_reading", [False, True])
async def test_what_was_opened_over_the_story_gives_the_keys_back_to_where_they_were(
    tmp_path: Path, opener: str, is_reading: bool
) -> None:
    async with playing(make_campaign(tmp_path)) as play:
        await play.type("one")
        await play.press(*(["escape"] if is_reading else []))
        for keys in ([opener], [opener, "down"], [opener, "down", "enter"] if opener == "f4" else [opener, "x"]):
            await play.press(*keys)
            for _ in range(4):
                if play.app.screen is not play.screen:
                    await play.press("escape")
            assert play.app.screen is play.screen
            assert play.screen.place() == ("transcript" if is_reading else "composer")
