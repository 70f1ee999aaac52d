"""``play --plain``: one campaign on standard input and output, from opening it to the exit code (U15)."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from narrator import paths
from narrator.config import Settings
from narrator.core.errors import NarratorError
from narrator.engine.voice import Manner
from narrator.plain.loop import Conversation
from narrator.plain.output import Output
from narrator.plain.port import Options
from narrator.plain.reader import Source, StreamSource, TerminalSource

if TYPE_CHECKING:
    from narrator.engine.session import Answers, Session

CANNOT_OPEN = 3
UPKEEP_SECONDS = 5.0
"""Long enough for a memory or a summary, short enough for whoever waits for the end of a pipe."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line asks for. ``answers`` None: asked in plain mode, the default in JSON mode."""

    is_json: bool = False
    is_strict: bool = False
    answers: Literal["ask", "yes", "no"] | None = None
    is_streaming: bool = True
    width: int | None = None
    is_ascii: bool = False
    is_quiet: bool = False
    is_paged: bool = True
    replay: Path | None = None


def play(
    campaign: Path,
    *,
    settings: Settings,
    notes: tuple[str, ...] = (),
    narrator: str | None = None,
    wishes: Wishes | None = None,
) -> int:
    """Play a campaign to the end of input; the exit code comes back."""
    return asyncio.run(_play(campaign, settings, notes, narrator, wishes or Wishes()))


async def _play(
    campaign: Path, settings: Settings, notes: tuple[str, ...], narrator: str | None, wishes: Wishes
) -> int:
    loop = asyncio.get_running_loop()
    conversation: Conversation | None = None

    def on_closed() -> None:
        if conversation is not None:
            loop.call_soon_threadsafe(conversation.leave, 0)

    output = Output(on_closed)
    code = CANNOT_OPEN
    try:
        session, notes = await _open(campaign, settings, notes, narrator, wishes)
        conversation = Conversation(session, _source(wishes, output), output, _options(settings, notes, wishes))
        code = await conversation.run()
    except NarratorError as error:
        report(output, error, is_json=wishes.is_json)
    finally:
        # Whoever was told to leave by a signal does not wait for a reader that has gone to sleep.
        await asyncio.to_thread(output.close, 1.0 if code > 128 else None)
    return code


async def _open(
    campaign: Path, settings: Settings, notes: tuple[str, ...], narrator: str | None, wishes: Wishes
) -> tuple[Session, tuple[str, ...]]:
    """The session; for reading alone, with a note that says why, where another has the campaign open (T13)."""
    from narrator.engine.session import Session

    answers: Answers = wishes.answers or ("default" if wishes.is_json else "ask")

    async def begin(*, read_only: bool) -> Session:
        return await Session.open(
            campaign,
            settings=settings,
            narrator=narrator,
            answers=answers,
            read_only=read_only,
            backups=paths.backups_folder(),
            looks_around=True,
        )

    try:
        return await begin(read_only=False), notes
    except NarratorError as error:
        if error.code not in ("locked", "read-only"):
            raise
        return await begin(read_only=True), (*notes, f"{error.message} It can be read, not written.")


def report(output: Output, error: NarratorError, *, is_json: bool) -> None:
    """Say what went wrong: one line on standard error, or an event."""
    if is_json:
        from narrator.engine.events import Failed
        from narrator.engine.wire import as_json

        output.write(as_json(Failed(error.code, error.message, error.hint)) + "\n")
    else:
        output.write(f"narrator: {' '.join(str(error).split())}\n", is_error=True)


def _source(wishes: Wishes, output: Output) -> Source:
    if wishes.is_json or not _is_terminal(0):
        return StreamSource()
    # Without a terminal to write to there is nothing to prompt on.
    return TerminalSource(paths.inputs_file(), output.flush) if _is_terminal(1) else StreamSource()


def _options(settings: Settings, notes: tuple[str, ...], wishes: Wishes) -> Options:
    size = os.get_terminal_size(1) if _is_terminal(1) else None
    width = wishes.width or (size.columns if size is not None and size.columns > 0 else None)
    is_paged = wishes.is_paged and not wishes.is_json and size is not None and size.lines > 2 and _is_terminal(0)
    return Options(
        is_json=wishes.is_json,
        is_strict=wishes.is_strict,
        has_if_words=settings.reading.if_words,
        manner=Manner(
            width,
            wishes.is_streaming,
            wishes.is_ascii,
            wishes.is_quiet,
            wishes.answers in (None, "ask"),
            is_typed=_is_terminal(0) and _is_terminal(2) and wishes.replay is None,
        ),
        height=size.lines if is_paged and size is not None else None,
        replay=wishes.replay,
        notes=notes,
        upkeep_seconds=0.0 if _is_terminal(0) else UPKEEP_SECONDS,
    )


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def read_choice(prompt: str) -> str | None:
    """One line of standard input, and not a byte more: what follows belongs to whoever reads next. None at the end."""
    if _is_terminal(0):
        try:
            return input(prompt)
        except EOFError:
            return None
    sys.stdout.write(prompt)
    sys.stdout.flush()
    data = bytearray()
    while (byte := os.read(0, 1)) and byte != b"\n":
        data += byte
    return data.decode("utf-8", "replace").strip() if data or byte else None


def with_answers(wishes: Wishes, *, is_yes: bool, is_no: bool, is_asking: bool) -> Wishes:
    """The wishes with one of ``--yes``, ``--no`` and ``--ask``."""
    return replace(wishes, answers="yes" if is_yes else "no" if is_no else "ask" if is_asking else None)
