"""A narrator that says what it was told to say: for tests, and for whoever builds on the library.

It keeps the port's promises with nothing behind them: it streams, stalls, fails and stops where its script says. It
uses no clock but the loop's, and only where a pace was asked for.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from narrator.core.prompt import Message
from narrator.narrators.port import (
    Capabilities,
    Chunk,
    Completion,
    Delta,
    Finish,
    Purpose,
    Request,
    ToolCall,
    Usage,
    whole,
)
from narrator.narrators.tokens import count_bytes

_WORD = re.compile(r"\s*\S+|\s+")


@dataclass(frozen=True)
class Line:
    """One scripted answer.

    ``stall_at`` is the number of a word before which nothing more comes until ``until`` is set (for ever without one);
    ``fail_at`` the number of one in whose place ``error`` is raised. ``calls`` are tool calls behind the text.
    """

    text: str = ""
    finish: str = "stop"
    stall_at: int | None = None
    until: asyncio.Event | None = None
    fail_at: int | None = None
    error: BaseException | None = None
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()


Answer = str | Mapping[str, Any] | BaseException | Line | Callable[[Request], "str | Line"]
"""A text, an object (told as JSON), an error (raised before the first word), a line, or a function of the request."""


class FakeNarrator:
    """A scripted narrator. Owns the queues of its answers, and counts what it was asked.

    ``answers`` is purpose → one answer or several; the last one stays. ``pace`` is in seconds a word, 0 for at once.
    ``requests`` are all requests in order, ``calls`` how many of each purpose; ``stalled`` is set while a line stalls,
    ``closed`` counts the streams that were closed before their end.
    """

    def __init__(
        self,
        answers: Mapping[Purpose | str, Answer | Iterable[Answer]] | None = None,
        *,
        name: str = "fake",
        pace: float = 0.0,
        capabilities: Capabilities | None = None,
        count: Callable[[Sequence[Message]], int] = count_bytes,
    ) -> None:
        self.name = name
        self.pace = pace
        self.requests: list[Request] = []
        self.calls: dict[Purpose, int] = dict.fromkeys(Purpose, 0)
        self.stalled = asyncio.Event()
        self.closed = 0
        self._capabilities = capabilities or Capabilities(1_000_000, "built in", json_schema=True, model="fake")
        self._count = count
        self._answers: dict[Purpose, deque[Answer]] = {purpose: deque() for purpose in Purpose}
        for purpose, given in (answers or {}).items():
            several = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
            self.answer(purpose, *(given if several else (given,)))  # type: ignore[misc]

    def answer(self, purpose: Purpose | str, *answers: Answer) -> None:
        """Queue answers for a purpose; the last one is kept for what comes after it."""
        self._answers[Purpose(purpose)].extend(answers)

    async def capabilities(self) -> Capabilities:
        """The ones it was given."""
        return self._capabilities

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """The next answer for the purpose, word by word. Without one it says something harmless and valid."""
        self.requests.append(request)
        self.calls[request.purpose] += 1
        line = self._line_for(request)
        is_done = False
        try:
            words = _WORD.findall(line.text)
            for number in range(len(words) + 1):
                await self._before(number, line)
                if number < len(words):
                    yield Delta(words[number])
            is_done = True
            for call in line.calls:
                yield call
            yield Finish("tool" if line.calls else line.finish, line.usage, line.notes)
        finally:
            self.stalled.clear()
            self.closed += not is_done

    async def _before(self, number: int, line: Line) -> None:
        if self.pace and number:
            await asyncio.sleep(self.pace)
        if number == line.stall_at:
            self.stalled.set()
            await (line.until or asyncio.Event()).wait()
            self.stalled.clear()
        if number == line.fail_at:
            raise line.error or RuntimeError("The script says to fail here and names no error.")

    async def complete(self, request: Request) -> Completion:
        """The next answer for the purpose, whole."""
        return await whole(self.stream(request), request)

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens, one a byte unless it was given another way."""
        return self._count(messages)

    async def aclose(self) -> None:
        """Nothing to free."""

    def _line_for(self, request: Request) -> Line:
        queue = self._answers[request.purpose]
        answer: Answer = _HARMLESS[request.purpose]
        if queue:
            answer = queue.popleft() if len(queue) > 1 else queue[0]
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, BaseException):
            return Line(fail_at=0, error=answer)
        if isinstance(answer, Mapping):
            return Line(json.dumps(answer, ensure_ascii=False))
        return Line(answer) if isinstance(answer, str) else answer


_HARMLESS: Mapping[Purpose, Answer] = {
    Purpose.NARRATE: "The story goes on.",
    Purpose.CHECK: {"check": None},
    Purpose.EXTRACT: {"changes": []},
    Purpose.COMPACT: {
        "events": ["Something happened."],
        "choices": [],
        "facts": [],
        "conflicts": [],
        "goals": [],
        "mood": "",
    },
    Purpose.MEMORY: {"memory": "Something happened."},
    Purpose.SUGGEST: {"suggestions": ["Look around.", "Wait.", "Go on."]},
}
