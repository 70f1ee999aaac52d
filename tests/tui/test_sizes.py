"""Every size of a terminal, without an exception (U1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.playing import make_campaign, numbered, playing

FEW = [(1, 1), (2, 2), (1, 24), (80, 1), (13, 5), (44, 12), (99, 24), (120, 30), (200, 60)]
MANY = sorted(
    {(w, h) for w in (1, 3, 8, 20, 44, 80, 100, 120, 160, 200) for h in (1, 4, 12, 24, 60)}
    | {(w, 2) for w in range(1, 12)}
)


@pytest.mark.spec("U1", "U3")
async def test_every_size_with_everything_open(tmp_path: Path) -> None:
    fake = numbered()
    async with playing(make_campaign(tmp_path), fake, size=(80, 24)) as play:
        await play.type("A rather long input 漢字漢字 that wraps, and wraps, and wraps again in any narrow place.")
        await play.press("ctrl+r")
        await play.type("/save a place")
        play.screen.transcript.note("An error of some length that must wrap as well.", is_error=True)
        for key in ("", "f2", "f3", "escape"):
            if key:
                await play.press(key)
            for width, height in MANY if key == "f3" else FEW:
                await play.pilot.resize_terminal(width, height)
                await play.pilot.pause()
        await play.pilot.resize_terminal(80, 24)
        await play.press("ctrl+end")
        assert "Answer 2." in play.shown()


@pytest.mark.spec("U1")
@pytest.mark.parametrize("size", [(1, 1), (2, 2), (10, 3), (30, 8), (200, 60)])
async def test_dialogs_open_at_any_size(size: tuple[int, int], tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), size=size) as play:
        for action in ("screen.palette", "story.help", "screen.settings", "screen.theme", "story.save", "story.search"):
            await play.screen.act(action)
            await play.pilot.pause()
            assert play.app.screen is not play.screen
            await play.press("escape")
            await play.pilot.pause()
        await play.screen.act("screen.library")
        await play.pilot.pause()
