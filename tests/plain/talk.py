"""A plain session driven from a test: lines go in, events or text come out; what is between is the real thing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from narrator.config import Settings
from narrator.engine.session import Session
from narrator.engine.story import create_campaign
from narrator.engine.voice import Manner
from narrator.narrators.fake import FakeNarrator
from narrator.plain.loop import Conversation
from narrator.plain.port import Options
from narrator.plain.reader import Line, Splitter

DEFINITION = """
[campaign]
id = "ferry"
title = "The Ferry"
opening = "Rain."

[player]
name = "Ansa"
"""
WITH_STATE = (
    DEFINITION
    + """
[state.flags.wet]
type = "flag"
"""
)


class Typed:
    """A source whose lines a test types. ``prompts`` is what the conversation expected, in order."""

    def __init__(self) -> None:
        self.prompts: list[str | None] = []
        self._changed = asyncio.Event()
        self._splitter = Splitter()
        self._waiting: list[bytes | None] = []
        self._on_line: Callable[[Line], None] | None = None
        self._on_end: Callable[[], None] | None = None

    def begin(
        self, loop: asyncio.AbstractEventLoop, on_line: Callable[[Line], None], on_end: Callable[[], None]
    ) -> None:
        self._on_line, self._on_end = on_line, on_end
        waiting, self._waiting = self._waiting, []
        for data in waiting:
            self._give(data)

    def type(self, *lines: str | bytes) -> None:
        """Type lines, as one read of the descriptor."""
        self._give(b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines))

    def end(self) -> None:
        """The end of input."""
        self._give(None)

    def _give(self, data: bytes | None) -> None:
        if self._on_line is None or self._on_end is None:
            self._waiting.append(data)
        elif data is None:
            self._on_end()
        else:
            for line in self._splitter.feed(data):
                self._on_line(line)

    def expect(self, prompt: str | None) -> None:
        self.prompts.append(prompt)
        self._changed.set()

    async def until_prompted(self) -> None:
        """Wait until the player is asked for the next line."""
        async with asyncio.timeout(5):
            while not self.prompts or self.prompts[-1] is None:
                self._changed.clear()
                await self._changed.wait()

    def close(self) -> None:
        return


class Heard:
    """A sink that remembers, and can be waited for."""

    def __init__(self) -> None:
        self.out = ""
        self.err = ""
        self._changed = asyncio.Event()

    def write(self, text: str, *, is_error: bool = False) -> None:
        if is_error:
            self.err += text
        else:
            self.out += text
        self._changed.set()

    @property
    def events(self) -> list[dict[str, Any]]:
        """Standard output as the objects of JSON mode."""
        return [json.loads(line) for line in self.out.splitlines()]

    def of(self, *names: str) -> list[dict[str, Any]]:
        """The events of these names."""
        return [event for event in self.events if event["event"] in names]

    def answers(self) -> list[tuple[int | None, str, bool]]:
        """(line, command, ok) of every answer, in order."""
        return [(event["line"], event["command"], event["ok"]) for event in self.of("done")]

    def codes(self) -> list[str]:
        """The codes of all errors."""
        return [event["code"] for event in self.of("error")]

    async def until(self, is_so: Callable[[Heard], bool]) -> None:
        """Wait for it; five seconds are the end of patience."""
        async with asyncio.timeout(5):
            while not is_so(self):
                self._changed.clear()
                await self._changed.wait()

    async def until_answered(self, line: int) -> None:
        """Wait for the answer to a line."""
        await self.until(lambda heard: any(done["line"] == line for done in heard.of("done")))


class Talk:
    """One conversation in progress."""

    def __init__(self, conversation: Conversation, typed: Typed, heard: Heard, session: Session) -> None:
        self.conversation = conversation
        self.typed = typed
        self.heard = heard
        self.session = session
        self.code: int | None = None
        self.finished = asyncio.Event()


@asynccontextmanager
async def talk(
    folder: Path,
    narrator: FakeNarrator | None = None,
    *,
    is_json: bool = True,
    answers: Any = "default",
    definition: str = DEFINITION,
    manner: Manner | None = None,
    **options: Any,
) -> AsyncIterator[Talk]:
    """Begin a conversation over a campaign of ``folder``, made when missing; at the end of the block input ends."""
    path = folder / "ferry.narrator"
    if not path.exists():
        create_campaign(path, definition, seed=1)
    session = await Session.open(path, settings=Settings(), narrator=narrator or FakeNarrator(), answers=answers)
    typed, heard = Typed(), Heard()
    chosen = Options(is_json=is_json, manner=manner or Manner(), **options)
    found = Talk(Conversation(session, typed, heard, chosen), typed, heard, session)

    async def run() -> None:
        found.code = await found.conversation.run()
        found.finished.set()

    async with asyncio.TaskGroup() as group:
        running = group.create_task(run())
        yield found
        if not running.done():
            typed.end()
        async with asyncio.timeout(10):
            await running


async def hear(folder: Path, *lines: str | bytes, **options: Any) -> tuple[Heard, int]:
    """Type all lines at once, to the end of input."""
    async with talk(folder, **options) as found:
        found.typed.type(*lines)
    assert found.code is not None
    return found.heard, found.code
