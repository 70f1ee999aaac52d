"""What a player has to know of the narrator's window stands in the status line: assumed, or too small (C3, C27)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Capabilities
from narrator.tui.screens.dialogs import Chooser
from narrator.tui.widgets.bars import StatusLine
from tests.tui.playing import DEFINITION, make_campaign, playing


@pytest.mark.spec("C3", "U13")
@pytest.mark.parametrize(("source", "is_said"), [("assumed", True), ("reported", False)])
async def test_the_status_line_and_the_settings_say_that_it_is_assumed(
    tmp_path: Path, source: str, is_said: bool
) -> None:
    fake = FakeNarrator(capabilities=Capabilities(16_384, source, model="fake"))  # type: ignore[arg-type]
    async with playing(make_campaign(tmp_path), fake, size=(120, 30)) as play:
        await play.type("I wait.")
        line = play.screen.query_one(StatusLine).render().plain
        assert ("window assumed" in line) == is_said
        await play.press("f4")
        assert isinstance(play.app.screen, Chooser)
        told = next(entry for entry in play.app.screen._all if entry.key == "narrator")
        assert ("window is assumed" in told.detail) == is_said


@pytest.mark.spec("C27", "U13")
async def test_the_status_line_flags_triggered_cards_that_have_no_room(tmp_path: Path) -> None:
    many = "".join(f'[[cards]]\nname = "Card {n}"\nkeys = ["wheel"]\ntext = "{f"Text {n} " * 80}"\n' for n in range(6))
    fake = FakeNarrator(capabilities=Capabilities(8_192, "configured", max_output_tokens=512, model="fake"))
    async with playing(make_campaign(tmp_path, definition=DEFINITION + many), fake, size=(120, 30)) as play:
        await play.type("I wait.")
        assert "without room" not in play.screen.query_one(StatusLine).render().plain
        await play.type("I turn the wheel.")
        assert re.search(r"\b[1-6] without room", play.screen.query_one(StatusLine).render().plain)


@pytest.mark.spec("U5")
async def test_the_status_line_calls_the_place_by_its_name_and_hides_a_hidden_one(tmp_path: Path) -> None:
    places = (
        '[start]\nlocation = "house"\n[entities.house]\nname = "the yellow house"\nkind = "place"\n'
        '[entities.pit]\nname = "the pit"\nkind = "place"\nvisibility = "hidden"\n'
        '[[storylets]]\nid = "fall"\nkeys = ["fall"]\nwordings = ["Down."]\n'
        'effects = [{ op = "move", path = "location", value = "pit" }]\n'
    )
    async with playing(make_campaign(tmp_path, definition=DEFINITION + places), size=(100, 24)) as play:
        assert play.screen.query_one(StatusLine).standing.place == "the yellow house"
        await play.type("/correct location pit")
        assert play.screen.story.state().values["location"] == "pit"
        assert play.screen.query_one(StatusLine).standing.place == ""
