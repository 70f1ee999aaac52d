"""A step is selected with the arrows, and the verbs act on it (U4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.playing import make_campaign, playing


@pytest.mark.spec("U4", "U6")
async def test_the_verbs_act_on_the_selected_step_and_typing_goes_back(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path)) as play:
        await play.type("one")
        await play.type("two")
        await play.press("escape", "up", "up", "up")
        assert play.screen.transcript.selected == 3
        await play.press("r")
        await play.settle()
        assert play.story()[1:] == ["one", "Answer 3."], "the selected step was retried, not the last"
        await play.press("ctrl+up")
        assert play.screen.place() == "transcript"
        await play.press("h")
        assert play.screen.place() == "composer"
        assert play.screen.composer.text == "h"
