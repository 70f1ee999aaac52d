"""The state of an edited narration, entered by hand: the form of the screen (S22)."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, Static

from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose
from narrator.tui.screens.dialogs import Question
from narrator.tui.screens.entering import Changing, Entering
from narrator.tui.widgets.listbox import ListBox
from narrator.tui.widgets.panel import Words
from tests.tui.playing import Play, playing
from tests.tui.test_panel import ferry


def teller() -> FakeNarrator:
    fake = FakeNarrator()
    fake.answer(Purpose.NARRATE, "The lamp goes out.")
    change = {"op": "add", "path": "player.nerve", "value": -1, "why": "it is dark"}
    fake.answer(Purpose.EXTRACT, {"changes": [change]})
    return fake


async def asked(play: Play) -> None:
    """An edited narration, and the form of what it changes."""
    await play.type("wait")
    await play.type("/edit 3 The lamp burns.")
    question = play.app.screen
    assert isinstance(question, Question)
    assert "Nerve: wary, 6 (was steady, 7)" in play.app.export_screenshot().replace("&#160;", " ")
    box = question.query_one(ListBox)
    await play.press(*["down"] * [entry.key for entry in box.entries].index("enter"), "enter")
    assert isinstance(play.app.screen, Entering)


def lines(play: Play) -> list[str]:
    return [entry.text for entry in play.app.screen.query_one(ListBox).entries]


@pytest.mark.spec("S22")
async def test_the_changes_are_lines_that_are_edited_added_and_removed(tmp_path: Path) -> None:
    async with playing(ferry(tmp_path), teller(), size=(100, 30)) as play:
        await asked(play)
        assert lines(play) == ["✓ Nerve: steady, 7 → wary, 6"]
        await play.press("enter")
        row = play.app.screen
        assert isinstance(row, Changing)
        row.query_one(Input).value = "blue"
        await play.settle()
        assert str(row.query_one("#verdict", Static).render()) == "! Nerve is a number, not 'blue'"
        await play.press("enter")
        assert play.app.screen is row
        await play.press("up")
        row.query_one(Input).value = "2"
        await play.press("enter")
        assert lines(play) == ["✓ Nerve: steady, 7 → shaking, 2"]
        await play.press("a", "l", "a", "n", "t", "enter")
        play.app.screen.query_one(Input).value = "6"
        await play.press("enter")
        assert lines(play)[1:] == ["✓ Lanterns burning: 5 → 6"]
        await play.press("a", "b", "e", "l", "l", "enter")
        play.app.screen.query_one(Input).value = "yes"
        await play.press("enter")
        assert lines(play)[2:] == ["✓ Bell rung: no → yes"]
        await play.press("x")
        assert len(lines(play)) == 2
        await play.press("d")
        values = play.screen.story.state().values
        assert (values["player.nerve"], values["road.burning"], values["flags.bell_rung"]) == (2, 6, False)
        assert play.story()[-1] == "The lamp burns."


@pytest.mark.spec("S22")
async def test_what_the_referee_refuses_cannot_be_committed_and_esc_goes_back(tmp_path: Path) -> None:
    async with playing(ferry(tmp_path), teller(), size=(100, 30)) as play:
        await asked(play)
        form = play.app.screen
        assert isinstance(form, Entering)
        form.changes.append(form.changes[0].__class__("set", "road.burning", "many"))
        form._show()
        await play.press("d")
        assert play.app.screen is form
        assert str(form.query_one("#verdict", Static).render()) == "! Lanterns burning is a number, not 'many'"
        words = form.query_one("#hints", Words)
        y, x, _, _ = next(place for place in words._places if place[3] == "remove")
        await play.pilot.click(words, offset=(x + 1, y))
        await play.settle()
        assert len(lines(play)) == 1
        await play.press("escape")
        assert isinstance(play.app.screen, Question)
        await play.press("escape")
        assert play.screen.story.state().values["player.nerve"] == 6, "Esc is the default: as worked out anew"
