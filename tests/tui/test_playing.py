"""Playing: turns, undo, redo, retry, takes, saved places, on the screen (U2–U9)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.playing import make_campaign, playing


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
        assert "1 step undone" in play.shown()
        assert "Answer 1." not in play.shown()
        await play.press("ctrl+y")
        assert play.story()[-1] == "Answer 1."
        await play.press("ctrl+r")
        assert play.story()[-1] == "Answer 2."
        assert "◂ 2/2 takes ▸" in play.shown()
        await play.press("left")
        assert play.story()[-1] == "Answer 1."
        assert "◂ 1/2 takes ▸" in play.shown()
