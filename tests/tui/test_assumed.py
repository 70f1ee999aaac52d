"""A window that nobody knows is said where a player looks (C3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Capabilities
from narrator.tui.screens.dialogs import Chooser
from narrator.tui.widgets.bars import StatusLine
from tests.tui.playing import make_campaign, playing


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
