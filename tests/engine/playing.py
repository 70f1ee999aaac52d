"""A session over a real campaign file and the fake narrator: what the engine's tests stand on."""

from __future__ import annotations

import asyncio
import itertools
import types
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from narrator.config import Settings
from narrator.engine.commands import Command, parse_line, parse_object
from narrator.engine.events import Asked, Done, Event, Failed, Noted
from narrator.engine.session import Answers, Session
from narrator.engine.story import create_campaign
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.port import Capabilities, Purpose, Request
from narrator.store import reads
from narrator.store.verify import verify_connection
from tests.store.making import rows, still

DEFINITION = """
[campaign]
id = "mill"
title = "The Mill"
opening = "The wheel stands still."
instructions = "Second person, present tense."

[state.player.nerve]
type = "number"
min = 0
max = 1000000
initial = 5

[rules]
dice = "1d20"
[rules.skills.climb]
field = "player.nerve"
[rules.difficulty]
easy = 6
hard = 14
"""

PLAIN = """
[campaign]
id = "ferry"
title = "The Ferry"
opening = "Rain falls on the ferry."
"""

CLIMB = {"check": {"skill": "climb", "difficulty": "hard"}}
BRAVER = {"changes": [{"op": "add", "path": "player.nerve", "value": 1, "why": "done it"}]}


def make(folder: Path, definition: str = DEFINITION, name: str = "mill", seed: int = 7) -> Path:
    """A new campaign file."""
    path = folder / f"{name}.narrator"
    create_campaign(path, definition, seed=seed, clock=still)
    return path


def numbered(*, words: int = 6) -> FakeNarrator:
    """Checks each input, tells "Answer 1 …" in so many words, and makes the player braver each turn."""
    return tell_in_numbers(FakeNarrator(), words=words)


def tell_in_numbers(fake: FakeNarrator, *, words: int = 6) -> FakeNarrator:
    count = itertools.count(1)
    fake.answer(Purpose.CHECK, CLIMB)
    fake.answer(Purpose.EXTRACT, BRAVER)
    fake.answer(Purpose.NARRATE, lambda request: " ".join(["Answer", f"{next(count)}.", *["word"] * (words - 2)]))
    return fake


class Pausing(FakeNarrator):
    """The fake with a suspension at every place where a narrator may wait: abilities, each word, the close."""

    async def capabilities(self) -> Capabilities:
        await asyncio.sleep(0)
        return await super().capabilities()

    async def _before(self, number: int, line: Line) -> None:
        await asyncio.sleep(0)
        await super()._before(number, line)

    async def stream(self, request: Request) -> Any:
        async for chunk in super().stream(request):
            yield chunk
        await asyncio.sleep(0)


class Answer(NamedTuple):
    """How a command ended."""

    ok: bool
    code: str | None
    draft: str | None
    events: list[Event]

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def notes(self) -> list[str]:
        return [event.text for event in self.of(Noted)]


class Play:
    """One session, its narrator and everything it said. Owns the task that listens."""

    def __init__(self, session: Session, narrator: FakeNarrator) -> None:
        self.session = session
        self.narrator = narrator
        self.heard: list[Event] = []
        self._news = asyncio.Event()
        self._listening = asyncio.create_task(self._listen(session.events()))

    async def _listen(self, events: AsyncIterator[Event]) -> None:
        async for event in events:
            self.heard.append(event)
            self._news.set()

    @property
    def story(self) -> Any:
        return self.session.story

    async def until(self, is_there: Callable[[Event], bool], start: int = 0) -> Event:
        """The first event from ``start`` on that is it; waits for one to come."""
        async with asyncio.timeout(20):
            while True:
                for event in self.heard[start:]:
                    if is_there(event):
                        return event
                self._news.clear()
                await self._news.wait()

    async def until_words(self, count: int) -> None:
        """Until so many words of the narration under way were told."""
        async with asyncio.timeout(20):
            while True:
                flight = self.session.in_flight
                if flight is not None and len(flight.text.split()) >= count:
                    return
                await asyncio.sleep(0)

    def begin(self, line: str | Mapping[str, Any]) -> asyncio.Task[bool]:
        """Begin a command beside this one."""
        return asyncio.create_task(self.session.perform(_parsed(line)))

    async def do(self, line: str | Mapping[str, Any]) -> Answer:
        """A command and how it ended."""
        tag = f"tag {len(self.heard)} {id(object())}"
        start = len(self.heard)
        ok = await self.session.perform(_parsed(line, tag))
        await self.until(lambda event: isinstance(event, Done) and event.tag == tag, start)
        return _answer(ok, self.heard[start:])

    async def finish(self, task: asyncio.Task[bool], start: int = 0) -> Answer:
        """How a command that was begun ended; ``start`` is where its events begin."""
        ok = await task
        await self.until(lambda event: isinstance(event, Done), start)
        return _answer(ok, self.heard[start:])

    async def stopped_at(self, words: int, line: str = "I climb.") -> Answer:
        """Begin a turn and stop it after so many words."""
        start = len(self.heard)
        task = self.begin(line)
        await self.until_words(words)
        await self.session.perform(parse_line("/stop"))
        return await self.finish(task, start)

    async def asked(self, start: int = 0) -> Asked:
        """The next question."""
        found = await self.until(lambda event: isinstance(event, Asked), start)
        assert isinstance(found, Asked)
        return found

    def rows(self, *, without: tuple[str, ...] = ("draft",)) -> dict[str, list[tuple[Any, ...]]]:
        return rows(self.story.store.db, without=without)

    def texts(self) -> list[str]:
        return [node.text for node in self.story.nodes()]

    def draft(self) -> str | None:
        found = reads.draft(self.story.store)
        return found.text if found is not None else None

    def sound(self) -> bool:
        return verify_connection(self.story.store.db).problems == ()

    async def aclose(self) -> None:
        await self.session.aclose()
        await self._listening


def _parsed(line: str | Mapping[str, Any], tag: Any = None) -> Command:
    command = parse_line(line) if isinstance(line, str) else parse_object(dict(line))
    return replace(command, tag=tag) if tag is not None else command


def _answer(ok: bool, events: Iterable[Event]) -> Answer:
    told = list(events)
    failed = [event for event in told if isinstance(event, Failed)]
    code, draft = (failed[-1].code, failed[-1].draft) if failed else (None, None)
    return Answer(ok, code, draft, told)


@asynccontextmanager
async def playing(
    path: Path,
    narrator: FakeNarrator | None = None,
    *,
    answers: Answers = "default",
    settings: Settings | None = None,
    read_only: bool = False,
) -> AsyncIterator[Play]:
    """A session that is open, and closed behind the test."""
    fake = narrator or numbered()
    session = await Session.open(
        path, settings=settings or Settings(), narrator=fake, answers=answers, read_only=read_only, clock=still
    )
    play = Play(session, fake)
    try:
        yield play
    finally:
        await play.aclose()


@types.coroutine
def driven(coro: Coroutine[Any, Any, Any], fail_at: int, seen: list[int]) -> Generator[Any, Any, Any]:
    """Step a coroutine and throw a cancellation at its ``fail_at``-th suspension (from 1; 0 never).

    ``seen`` gets the number of each suspension. A cancellation or an answer from the loop is handed on.
    """
    steps = coro.__await__()
    number = 0
    try:
        waiting = next(steps)
        while True:
            number += 1
            seen.append(number)
            if number == fail_at:
                waiting = steps.throw(asyncio.CancelledError())
                continue
            try:
                answer = yield waiting
            except BaseException as error:
                waiting = steps.throw(error)
            else:
                waiting = steps.send(answer)
    except StopIteration as end:
        return end.value


def drive_turns(fail_at: int) -> list[int]:
    """Let every turn of the running loop be driven; the list fills with the suspensions of the latest."""
    loop = asyncio.get_running_loop()
    seen: list[int] = []

    def factory(loop: asyncio.AbstractEventLoop, coro: Any, **rest: Any) -> asyncio.Task[Any]:
        if coro.__qualname__ in ("Turns._tell", "Turns._take_in"):
            seen.clear()
            coro = _as_coroutine(driven(coro, fail_at, seen))
        return asyncio.Task(coro, loop=loop, **rest)

    loop.set_task_factory(factory)  # type: ignore[arg-type]
    return seen


async def _as_coroutine(steps: Any) -> Any:
    return await steps
