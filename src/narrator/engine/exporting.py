"""The verb ``/export FILE``: the story to a file, from a thread with a connection of its own (X7, X9)."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from narrator.core.errors import BadValue, NarratorError
from narrator.engine.commands import Command
from narrator.engine.events import Noted
from narrator.engine.progress import Pace

if TYPE_CHECKING:
    from narrator.engine.session import Session


async def export(session: Session, command: Command) -> None:
    """Write the story; progress comes as events, ``/stop`` ends it and leaves nothing behind."""
    from narrator.exchange import exporting

    target = _target(command)
    exporting.form_of(target.name)
    loop = asyncio.get_running_loop()
    pace = Pace("export")
    with session.stoppable() as stop:

        def progress(what: str, done: int, total: int) -> None:
            if stop.is_set():
                raise NarratorError("stopped", "Stopped. No file was written.")
            if (event := pace.at(done, total or None)) is not None:
                loop.call_soon_threadsafe(session.publish, event)

        def work() -> str:
            return exporting.export(
                session.story.path, target, exporting.Wish(), clock=session.story.store.clock, progress=progress
            )

        form = await asyncio.to_thread(work)
    session.publish(Noted(f"Written to {target} ({form})."))


def _target(command: Command) -> Path:
    return Path(str(command.args["file"])).expanduser()


def theme_colours(theme: str, folders: Sequence[Path]) -> Mapping[str, str]:
    """The colours of a theme's file by name, those of the story among them, for a page; of a name that
    stands in several folders, that of the last. Raises ``BadValue``."""
    for folder in reversed(folders):
        path = folder / f"{theme}.toml"
        if path.is_file() and Path(theme).name == theme:
            try:
                table = tomllib.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise BadValue(f"The theme {theme} cannot be read: {error}.") from None
            variables = table.get("variables")
            found = {**table, **(variables if isinstance(variables, dict) else {})}
            return {name: value for name, value in found.items() if isinstance(value, str)}
    raise BadValue(f"There is no theme {theme!r}.", "`narrator themes` lists them.")
