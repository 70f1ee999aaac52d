"""The verbs ``/script``, ``/unscript`` and ``/record``: what a session writes beside its campaign (U26)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from narrator import paths
from narrator.core.errors import NarratorError
from narrator.engine.commands import Command
from narrator.engine.papers import Script
from narrator.engine.progress import Pace

if TYPE_CHECKING:
    from narrator.engine.session import Session

_STEPS = 200
"""Steps that are written at a time."""


def _file(command: Command) -> Path | None:
    return paths.expand(str(command.args["file"])) if "file" in command.args else None


async def script(session: Session, command: Command) -> None:
    """A transcript from here on, or from the opening. A stop leaves the file as it was."""
    if not command.args.get("all"):
        session.papers.begin_script(session.papers.open_script(_file(command)))
        return
    # Nothing may be added to the story, nor the head moved, before what stands there is written.
    session.hold(command)
    paper = session.papers.open_script(_file(command))
    try:
        await _write_all(session, paper)
    except BaseException:
        paper.take_back()
        paper.close()
        raise
    session.papers.begin_script(paper)


async def _write_all(session: Session, paper: Script) -> None:
    story, voice, pace = session.story, paper.voice("read"), Pace("transcript")
    with session.stoppable() as stop:
        for first in range(1, story.count + 1, _STEPS):
            for step in story.steps(first, first + _STEPS - 1):
                paper.tell(voice, step)
            if (event := pace.at(min(first + _STEPS - 1, story.count), story.count)) is not None:
                session.publish(event)
            await asyncio.sleep(0)
            if stop.is_set():
                raise NarratorError("stopped", "Stopped. The transcript was not begun.")


async def unscript(session: Session, command: Command) -> None:
    """End the transcript."""
    session.papers.unscript()


async def record(session: Session, command: Command) -> None:
    """Write the commands into a file; without one, stop that."""
    session.papers.begin_recording(_file(command))
