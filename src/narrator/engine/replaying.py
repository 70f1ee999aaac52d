"""Playing a recording: its lines are performed one after another, as though they were given (U26).

``/stop`` and ``/keep`` in it act on the turn before them; a line that answers a question is taken by the question. A
replay ends at its last line, at ``/quit``, when it is stopped and, where the session is strict, at the first line that
fails.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrator import paths
from narrator.core.errors import BadValue, NarratorError, Refusal
from narrator.engine.commands import Command, parse_line, parse_object
from narrator.engine.events import Asked, Done, Failed, Noted, Replayed
from narrator.engine.spelling import is_object
from narrator.engine.verbs import Effect

if TYPE_CHECKING:
    from narrator.engine.session import Session

_MOST_BYTES = 16_000_000


@dataclass(slots=True)
class Recorded:
    """A line of a recording. ``failure`` is why it cannot be read; ``is_stopped``: a later line stops its turn.

    ``verdict`` of a ``/stop`` or ``/keep`` that did so: what it is answered with.
    """

    text: str
    word: str
    command: Command | None = None
    failure: NarratorError | None = None
    is_stopped: bool = False
    verdict: NarratorError | bool | None = None


def read(path: Path) -> list[Recorded]:
    """The lines of a recording. Raises ``io-error``, and ``bad-value`` for a file that is none."""
    try:
        if path.exists() and not path.is_file():
            raise NarratorError("io-error", f"{path} is no file that can be read.", "Choose a recording.")
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise NarratorError("io-error", f"{path} cannot be read: {error.strerror}.") from None
    if len(data) > _MOST_BYTES or b"\0" in data:
        raise BadValue(f"{path} is no recording.", "/record FILE makes one: commands, one a line.")
    lines = data.decode("utf-8-sig", "replace").split("\n")
    return with_stops(parsed(line.removesuffix("\r")) for line in (lines[:-1] if not lines[-1] else lines))


def parsed(text: str) -> Recorded:
    """One line, with what is wrong with it. Raises nothing."""
    try:
        command = parse_object(json.loads(text)) if is_object(text) else parse_line(text)
    except NarratorError as error:
        return Recorded(text, text.split(None, 1)[0].removeprefix("/") if text.strip() else "", failure=error)
    except (ValueError, RecursionError):
        return Recorded(text, "do", failure=BadValue("This line begins with { and is no JSON object."))
    return Recorded(text, command.name, command)


def with_stops(lines: Iterable[Recorded]) -> list[Recorded]:
    """The lines, each ``/stop`` and ``/keep`` joined to the turn that it acts on.

    Only one that acted is in a recording, so it belongs to the turn before it, unless that is stopped already or the
    player has gone elsewhere since.
    """
    found: list[Recorded] = []
    for line in lines:
        if line.word in ("stop", "keep") and line.command is not None:
            turn = next((other for other in reversed(found) if not _is_beside(other)), None)
            if turn is not None and _is_turn(turn) and not turn.is_stopped:
                turn.is_stopped = True
                nothing = NarratorError("nothing-to-keep", "No word of that turn had arrived.", "It was stopped.")
                line.verdict = True if line.word == "stop" else nothing
        found.append(line)
    return found


def _is_turn(line: Recorded) -> bool:
    return line.command is not None and line.command.verb.is_turn and line.command.name != "fork"


def _is_beside(line: Recorded) -> bool:
    """It may be done while a turn is told, or is nothing that can be done."""
    return line.command is None or line.command.verb.effect in (Effect.READ, Effect.CONTROL)


class Replay:
    """One recording that is being played. Owns its place in it."""

    def __init__(self, lines: list[Recorded]) -> None:
        self._lines = deque(lines)
        self._total = len(lines)
        self._failed = 0
        self._is_stopped = False

    @property
    def number(self) -> int:
        """The line that is played, from 1."""
        return self._total - len(self._lines)

    def stop(self) -> None:
        """Play no line more."""
        self._is_stopped = True

    async def play(self, session: Session) -> None:
        """Play it to its end. Raises ``stopped``."""
        while self._lines:
            if self._is_stopped or session.is_closed:
                raise NarratorError("stopped", f"The replay was stopped after line {self.number} of {self._total}.")
            line = self._next(session)
            if not await self._perform(session, line):
                self._failed += 1
                if session.is_strict:
                    raise NarratorError("stopped", f"The replay ended at its line {self.number}, which failed.")
            if line.word == "quit":
                return
            # Whoever draws and listens has a turn too, also where every line is done at once.
            await asyncio.sleep(0)
        failed = f" {self._failed} of them failed." if self._failed else ""
        session.publish(Noted(f"Played {self._total} {'line' if self._total == 1 else 'lines'}.{failed}"))

    async def answer(self, session: Session, asked: Asked, is_open: asyncio.Future[tuple[str, Any]]) -> bool:
        """Answer a question from the lines that follow, else by its default; False where no line follows."""
        if not self._lines:
            return False
        while self._lines and self._lines[0].word == "answer" and not is_open.done():
            await self._perform(session, self._next(session))
        if not is_open.done():
            is_open.set_result((asked.default, None))
        return True

    def _next(self, session: Session) -> Recorded:
        line = self._lines.popleft()
        session.publish(Replayed(line.word, line.text, self.number, self._total))
        return line

    async def _perform(self, session: Session, line: Recorded) -> bool:
        if line.command is not None and not line.is_stopped and line.verdict is None:
            return await session.perform(line.command, typed=line.text)
        error = line.failure
        draft: str | None = None
        if line.is_stopped and line.command is not None:
            error = NarratorError("stopped", "Stopped before it began. The story is as it was.")
            draft = str(line.command.args.get("text", "")) or None
        elif isinstance(line.verdict, NarratorError):
            error = line.verdict
        with session.papers.during(line.word, line.text, line.text):
            if error is not None:
                session.publish(Failed(error.code, error.message, error.hint, None, draft))
            tag = line.command.tag if line.command is not None else None
            session.publish(Done(line.word, None, error is None, tag))
        return error is None


_PLAYED: ContextVar[Replay | None] = ContextVar("replay", default=None)


def current() -> Replay | None:
    """The replay that performs what is performed here."""
    return _PLAYED.get()


async def replay(session: Session, command: Command) -> None:
    """The verb ``/replay FILE``. Raises ``io-error``, ``bad-value``, ``busy``, ``stopped``."""
    if current() is not None:
        raise BadValue("A recording cannot replay another.")
    if session.replay is not None or session.is_turning:
        raise Refusal("busy", "Something is being told.", "Stop it first, or wait for its end.")
    lines = await asyncio.to_thread(read, paths.expand(str(command.args["file"])))
    played = session.replay = Replay(lines)
    token = _PLAYED.set(played)
    try:
        await played.play(session)
    finally:
        _PLAYED.reset(token)
        session.replay = None
