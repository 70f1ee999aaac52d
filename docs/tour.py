"""Makes the pictures of the tour: ``python docs/tour.py`` plays a real session of the sample and photographs it.

The campaign, the dice and the narrator are those of ``narrator play lantern-road --seed 7``; the screen has no terminal
behind it, and nothing outside a scratch folder is touched.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent / "tour"


async def settle(app, pilot) -> None:  # type: ignore[no-untyped-def]
    """Until nothing is being told."""
    await pilot.pause()
    async with asyncio.timeout(60):
        while app.play_screens() and (app.play_screens()[0].session is None or app.play_screens()[0].is_busy):
            await pilot.pause()
    await pilot.pause()


def steps_up(screen, title: str) -> int:  # type: ignore[no-untyped-def]
    """From the end of the panel's list up to the entry of a title."""
    entries = [entry for entry in screen.panel.box.entries if entry.key is not None]
    at = next(at for at, entry in enumerate(entries) if entry.text.startswith(title) and "→" not in entry.text)
    return len(entries) - 1 - at


async def take_pictures() -> None:
    from textual.widgets import Input

    from narrator import paths
    from narrator.config import ScriptedSettings, Settings
    from narrator.engine.story import create_campaign
    from narrator.tui.app import NarratorApp

    path = paths.campaigns_folder() / "lantern-road.narrator"
    path.parent.mkdir(parents=True)
    create_campaign(path, paths.samples()["lantern-road"].read_text(encoding="utf-8"), seed=7)
    app = NarratorApp(path, settings=Settings(scripted=ScriptedSettings(words_per_second=0)))
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(app, pilot)
        screen = app.play_screens()[0]
        screen.composer.editor.cursor_blink = False

        def picture(name: str) -> None:
            svg = app.export_screenshot(title="narrator")
            (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")

        async def press(*keys: str) -> None:
            await pilot.press(*keys)
            await settle(app, pilot)

        async def send(text: str) -> None:
            screen.composer.editor.focus()
            screen.composer.editor.insert(text)
            await press("enter")

        picture("opening")
        await send("look under the tarpaulin")
        picture("turn")
        await press("ctrl+z")
        picture("undone")
        await press("ctrl+y", "ctrl+r")
        picture("play")
        await press("escape", "up", "left")
        picture("takes")
        await press("right", "escape", "escape", "ctrl+s")
        app.screen.query_one(Input).value = "before the landing"
        await pilot.pause()
        picture("save")
        await press("enter")
        await send("go ashore")
        await press("ctrl+g")
        picture("restore")
        await press("enter")
        await send("ask Tench about the lanterns")
        await pilot.resize_terminal(140, 36)
        await press("f2", "f2")
        picture("rail")
        await press("escape", "f3")
        picture("panel")
        await press(*["down"] * 20, *["up"] * steps_up(screen, "Nerve"), "enter")
        picture("history")
        await press("escape", "c")
        picture("correct")
        await press("escape", "left")
        picture("prompt")
        await press("f3")
        await pilot.resize_terminal(100, 30)
        await press("ctrl+p")
        app.screen.query_one(Input).value = "take"
        await pilot.pause()
        picture("commands")
        await press("escape")
        await screen.act("screen.theme")
        await settle(app, pilot)
        app.screen.query_one(Input).value = "paper"
        await settle(app, pilot)
        picture("theme")
        await press("escape")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["NARRATOR_HOME"] = scratch
        asyncio.run(take_pictures())


if __name__ == "__main__":
    main()
