"""What the screens look like, as SVG files beside this one: sizes, themes, and each thing that can be open.

``NARRATOR_SNAPSHOTS=write pytest tests/tui/test_snapshots.py`` writes them anew; look at them before committing.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.widgets import Input

from narrator.config import Settings
from narrator.core.errors import NarrationFailed
from narrator.engine.story import create_campaign
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.port import Purpose
from narrator.tui.screens.bringing import Bringing
from narrator.tui.screens.taking_out import TakingOut
from narrator.tui.widgets.listbox import ListBox
from tests.tui.playing import Play, playing

FOLDER = Path(__file__).parent / "snapshots"
SAMPLES = Path(__file__).parents[1] / "exchange" / "samples"
SMALL, MIDDLE, WIDE = (80, 24), (100, 30), (160, 48)
DEFINITION = """\
[campaign]
id = "ferry"
title = "The Lantern Road"
opening = '''
Rain has found the one hole in the ferry's roof, and the ferryman has given you the seat beneath it.

“Seven,” says Tench, who has *not* turned round to count. “All burning. You've had your journey for nothing.” You \
count. You make it **five**.
'''
instructions = "Tell it."

[start]
location = "ferry"

[state.player.nerve]
type = "number"
min = 0
max = 10
initial = 7

[[cards]]
name = "Tench"
keys = ["tench"]
text = "The ferryman."
"""
TOLD = (
    "Tench watches the water go by under his pole. “Reeve likes it to be seven,” he says finally. “When I'm asked.”\n\n"
    "A yard of river passes. “Nobody asks.” He glances down between his feet and up again, *too fast*.",
    "You lift the tarpaulin. Underneath stands a lamp, and it is lit.",
    "You lift the tarpaulin. Underneath stands a lamp, cold, its glass wrapped in somebody's second-best shirt.",
    "The bell on the landing answers, once, though nobody stands by it.",
)


def storyteller() -> FakeNarrator:
    """Tells the four texts, then the last again."""
    fake = FakeNarrator()
    fake.answer(Purpose.NARRATE, *TOLD)
    return fake


async def two_turns(play: Play) -> None:
    await play.type("ask Tench about the lanterns")
    await play.type("look under the tarpaulin")
    await play.press("ctrl+r")


async def opening(play: Play) -> None:
    await play.settle()


async def played(play: Play) -> None:
    await two_turns(play)
    play.screen.say("")


async def undone(play: Play) -> None:
    await two_turns(play)
    await play.press("ctrl+z", "ctrl+z")


async def selected(play: Play) -> None:
    await two_turns(play)
    await play.press("escape", "up", "up")


async def rail(play: Play) -> None:
    await two_turns(play)
    await play.type("/save Before the bell")
    await play.type("/fork 3")
    await play.type("/say Who goes there?")
    await play.screen.act("screen.rail")
    if not play.screen.rail.display:
        await play.screen.act("screen.rail")
    await play.settle()


async def rail_takes(play: Play) -> None:
    """The takes of the first branch unfolded, the cursor on one of them."""
    await rail(play)
    play.screen.rail.box.focus()
    play.screen.rail.box.show(play.screen.rail.box.entries, at=("branch", 1))
    await play.press("right", "down", "down")


async def panel(play: Play) -> None:
    await two_turns(play)
    await play.press("f3")


async def looking(play: Play) -> None:
    """A wider campaign in the panel: what the last step changed, and why."""
    await two_turns(play)
    await play.type("/correct nerve 2 because the fall")
    await play.type("/correct time dusk")
    await play.press("f3")


async def history(play: Play) -> None:
    await looking(play)
    await play.press(*["down"] * 4, "enter")


async def correcting(play: Play) -> None:
    await looking(play)
    await play.press(*["down"] * 4, "c")


async def prompt_page(play: Play) -> None:
    await two_turns(play)
    await play.press("f3", "left")


async def partial(play: Play) -> None:
    await two_turns(play)
    play.narrator._answers[Purpose.NARRATE].clear()
    play.narrator.answer(Purpose.NARRATE, Line(TOLD[0], stall_at=20))
    play.screen.composer.editor.insert("ring the bell")
    await play.pilot.press("enter")
    await play.narrator.stalled.wait()
    while not play.screen.transcript.partial:
        await play.pilot.pause()
        play.screen.transcript.flush()
    await play.press("escape")


async def failure(play: Play) -> None:
    await two_turns(play)
    play.narrator._answers[Purpose.NARRATE].clear()
    error = NarrationFailed("narrator-unreachable", "Nobody answers at 127.0.0.1:8080.", "Is the server running?")
    play.narrator.answer(Purpose.NARRATE, error)
    await play.type("ring the bell")


async def completing(play: Play) -> None:
    await two_turns(play)
    play.screen.composer.editor.insert("/re")
    await play.settle()


async def question(play: Play) -> None:
    await two_turns(play)
    await play.type("/delete-take 1")


async def saving(play: Play) -> None:
    await two_turns(play)
    await play.press("ctrl+s")


async def searched(play: Play) -> None:
    await two_turns(play)
    await play.press("ctrl+f")
    play.app.screen.query_one(Input).value = "lamp"
    await play.press("enter")


async def palette(play: Play) -> None:
    await two_turns(play)
    await play.press("ctrl+p")
    play.app.screen.query_one(Input).value = "take"
    await play.settle()


async def help_page(play: Play) -> None:
    await play.press("f1")


async def themes(play: Play) -> None:
    await two_turns(play)
    await play.screen.act("screen.theme")
    await play.settle()


async def hostile(play: Play) -> None:
    play.narrator._answers[Purpose.NARRATE].clear()
    play.narrator.answer(Purpose.NARRATE, "[b]no[/b] [@click=app.quit]x[/] \x1b[31mred 👩‍🚀 漢字かな e\u0301 שלום [/")
    await play.type("[/] \x1b[2J 漢字")


async def importing(play: Play) -> None:
    play.app.push_screen(Bringing([SAMPLES / "card-v3.json", SAMPLES / "mikupad-session.json"], play.screen.path))
    async with asyncio.timeout(10):
        while not any(box.entries for box in play.app.screen.query(ListBox)):
            await play.pilot.pause(0.01)


async def exporting(play: Play) -> None:
    play.app.push_screen(TakingOut(play.screen.path, "The Lantern Road", Path("/home/ada/stories")))
    await play.settle()


Scene = Callable[[Play], Awaitable[None]]
SCENES: list[tuple[str, Scene, tuple[int, int], str]] = [
    *((f"opening-{size[0]}", opening, size, "dark") for size in (SMALL, MIDDLE, WIDE)),
    *((f"played-{size[0]}", played, size, "dark") for size in (SMALL, MIDDLE, WIDE)),
    *((f"played-{theme}", played, SMALL, theme) for theme in ("light", "high-contrast", "paper", "phosphor")),
    ("undone", undone, SMALL, "dark"),
    ("selected-dark", selected, SMALL, "dark"),
    ("selected-paper", selected, MIDDLE, "paper"),
    ("rail-dark", rail, WIDE, "dark"),
    ("rail-high-contrast", rail, MIDDLE, "high-contrast"),
    ("rail-takes-60", rail_takes, (60, 24), "dark"),
    ("rail-takes-160", rail_takes, WIDE, "paper"),
    ("panel", panel, MIDDLE, "light"),
    ("panel-narrow", looking, SMALL, "dark"),
    ("panel-history", history, MIDDLE, "paper"),
    ("panel-prompt", prompt_page, MIDDLE, "dark"),
    ("panel-prompt-narrow", prompt_page, SMALL, "high-contrast"),
    ("correcting", correcting, MIDDLE, "light"),
    ("partial", partial, SMALL, "dark"),
    ("failure", failure, SMALL, "paper"),
    ("completing", completing, SMALL, "dark"),
    ("question", question, SMALL, "dark"),
    ("saving", saving, SMALL, "light"),
    ("searched", searched, SMALL, "dark"),
    ("palette", palette, MIDDLE, "dark"),
    ("help", help_page, MIDDLE, "paper"),
    ("themes", themes, MIDDLE, "light"),
    ("hostile", hostile, SMALL, "dark"),
    ("importing", importing, MIDDLE, "dark"),
    ("exporting", exporting, SMALL, "paper"),
]


def fixed_clock() -> str:
    """One moment."""
    return "2026-11-30T18:00:00+00:00"


def compare(name: str, svg: str) -> None:
    """Against the file; written where that was asked for."""
    path = FOLDER / f"{name}.svg"
    svg = "\n".join(row.rstrip() for row in svg.splitlines()) + "\n"
    if os.environ.get("NARRATOR_SNAPSHOTS") == "write":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(svg, encoding="utf-8")
        return
    if path.read_text(encoding="utf-8") != svg:
        seen = Path(os.environ.get("TMPDIR", "/tmp")) / f"narrator-snapshot-{name}.svg"
        seen.write_text(svg, encoding="utf-8")
        pytest.fail(f"{name} looks another way; it is in {seen}")


def campaign(folder: Path) -> Path:
    path = folder / "lantern-road.narrator"
    create_campaign(path, DEFINITION, seed=7, clock=fixed_clock)
    return path


@pytest.mark.spec("U1", "U2", "U11")
@pytest.mark.parametrize(("name", "scene", "size", "theme"), SCENES, ids=[each[0] for each in SCENES])
async def test_snapshot(name: str, scene: Scene, size: tuple[int, int], theme: str, tmp_path: Path) -> None:
    async with playing(campaign(tmp_path), storyteller(), size=size, settings=Settings(theme=theme)) as play:
        play.screen.composer.editor.cursor_blink = False
        await scene(play)
        await play.settle()
        for line in play.app.screen.query(Input):
            line.cursor_blink = False
            line._cursor_visible = True
        await play.settle()
        compare(name, play.app.export_screenshot(title="narrator"))


@pytest.mark.spec("U11")
async def test_snapshot_without_colour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with playing(campaign(tmp_path), storyteller(), size=SMALL) as play:
        play.screen.composer.editor.cursor_blink = False
        await selected(play)
        await play.settle()
        svg = play.app.export_screenshot(title="narrator")
        compare("no-colour", svg)
