"""Typing while a turn streams: from a key to its echo in the composer (measure 15)."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from pathlib import Path
from random import Random
from time import perf_counter

from textual import events
from textual.pilot import Pilot

from narrator.bench import prose
from narrator.bench.of_screen import COLUMNS, ROWS
from narrator.bench.sampling import WARM_UP, Goal, Row, row
from narrator.core.errors import NarratorError
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose
from narrator.tui.app import NarratorApp

WORDS_A_SECOND = 40
SECONDS_A_KEY = 0.03
PATIENCE = 30.0


def echo(files: Mapping[str, Path], folder: Path, n: int = 100) -> list[Row]:
    """Measure 15: a key's echo while a long turn streams, on a copy of flat-600."""
    if "flat-600" not in files:
        return []
    copy = Path(shutil.copy(files["flat-600"], folder / "echo.narrator"))
    taken = asyncio.run(_type(copy, n))
    return [row("echo/flat-600", taken, goal=Goal(30), by_p95=True)]


async def _type(path: Path, n: int) -> list[float]:
    # Longer than the keys take, however slow the machine is; it is stopped at the end.
    narrator = FakeNarrator({Purpose.NARRATE: prose.narration(Random(15), 200_000)}, pace=1 / WORDS_A_SECOND)
    app = NarratorApp(path, casting=lambda story, name: narrator)
    taken: list[float] = []
    async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
        await _begin(app, pilot)
        for turn in range(n + WARM_UP):
            seconds = await _press(app, "abcdefgh"[turn % 8])
            if turn >= WARM_UP:
                taken.append(seconds)
            await asyncio.sleep(SECONDS_A_KEY)
        if not app.play_screens()[0].is_busy:
            raise NarratorError("bench", "The turn ended before the last key.")
        app.leave()
    return taken


async def _begin(app: NarratorApp, pilot: Pilot[int]) -> None:
    """Send an input and wait until its answer streams."""
    async with asyncio.timeout(PATIENCE):
        while not app.play_screens() or app.play_screens()[0].session is None:
            await pilot.pause()
        editor = app.play_screens()[0].composer.editor
        editor.focus()
        editor.insert("follow the lantern")
        await pilot.press("enter")
        while app.play_screens()[0].transcript.draft is None:
            await pilot.pause()


async def _press(app: NarratorApp, key: str) -> float:
    """Seconds from a key to the redrawing after it stands in the composer."""
    editor = app.play_screens()[0].composer.editor
    before = editor.text
    drawn = asyncio.Event()
    begun = perf_counter()
    app.post_message(events.Key(key, key))
    async with asyncio.timeout(PATIENCE):
        # Every pass of the loop is looked at: a message of the editor's would itself wait in a queue.
        while editor.text == before:  # noqa: ASYNC110
            await asyncio.sleep(0)
        editor.call_after_refresh(drawn.set)
        await drawn.wait()
    return perf_counter() - begun
