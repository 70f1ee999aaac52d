"""A real app over a real campaign file and a fake narrator: what the Pilot tests stand on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from narrator.config import Settings
from narrator.engine.story import create_campaign
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose
from narrator.tui.app import NarratorApp
from narrator.tui.screens.play import PlayScreen

DEFINITION = """\
[campaign]
id = "ferry"
title = "The Ferry"
opening = "Rain falls on the ferry."
instructions = "Tell it."
"""


def make_campaign(folder: Path, name: str = "ferry", definition: str = DEFINITION, title: str | None = None) -> Path:
    """A new campaign file with a fixed seed."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.narrator"
    create_campaign(path, definition, seed=7, title=title)
    return path


def numbered() -> FakeNarrator:
    """Tells "Answer 1.", "Answer 2." …"""
    fake = FakeNarrator()
    count = iter(range(1, 10_000))
    fake.answer(Purpose.NARRATE, lambda request: f"Answer {next(count)}.")
    return fake


class Play:
    """One running app with its pilot."""

    def __init__(self, app: NarratorApp, pilot: Pilot[int], narrator: FakeNarrator) -> None:
        self.app = app
        self.pilot = pilot
        self.narrator = narrator

    @property
    def screen(self) -> PlayScreen:
        return self.app.play_screens()[0]

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def type(self, text: str) -> None:
        """Type a text as keys would, and send it."""
        self.screen.composer.editor.focus()
        self.screen.composer.editor.insert(text)
        await self.press("enter")

    async def settle(self) -> None:
        """Until nothing is being told and every event was heard."""
        await self.pilot.pause()
        async with asyncio.timeout(30):
            while self.app.play_screens() and self.app.play_screens()[0].is_busy:
                await self.pilot.pause()
        await self.pilot.pause()

    def story(self) -> list[str]:
        """The texts on the path."""
        story = self.screen.story
        return [step.text for step in story.steps(1, story.count)]

    def shown(self) -> str:
        """What the transcript shows, row by row."""
        transcript = self.screen.transcript
        return "\n".join(transcript.render_line(y).text.rstrip() for y in range(transcript.size.height))

    def said(self) -> str:
        """The notice."""
        from narrator.tui.widgets.bars import Notice

        return self.screen.query_one(Notice).words


@asynccontextmanager
async def playing(
    path: Path,
    narrator: FakeNarrator | None = None,
    *,
    size: tuple[int, int] = (80, 24),
    settings: Settings | None = None,
    clock: Callable[[], float] | None = None,
) -> AsyncIterator[Play]:
    """The app with a campaign open and its narrator awake."""
    fake = narrator or numbered()
    more = {"clock": clock} if clock is not None else {}
    app = NarratorApp(path, settings=settings or Settings(), casting=lambda story, asked: fake, **more)
    async with app.run_test(size=size) as pilot:
        play = Play(app, pilot, fake)
        async with asyncio.timeout(30):
            while not app.play_screens() or app.play_screens()[0].session is None:
                await pilot.pause()
        await play.settle()
        yield play
