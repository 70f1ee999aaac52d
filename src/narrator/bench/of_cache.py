"""What an engine has to read anew each turn, with a real model in it (measure 13): is its prompt cache of use?

The engine gets every request of forty turns as the session makes it, reads it whole and begins to answer; what counts
is how many tokens of the narrations' prompts it had not read before. The answers that the story goes on with are made
beforehand, so that neither the number nor the course of the story hangs on what the model writes.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from statistics import median

from narrator.bench import prose
from narrator.bench.fixtures import NODES_A_MEMORY, still_clock
from narrator.bench.of_turns import Game
from narrator.bench.ready import ReadyNarrator
from narrator.bench.sampling import Goal, Row, p95, row
from narrator.config import ContextSettings, Settings
from narrator.core.errors import NarratorError
from narrator.core.prompt import Message
from narrator.core.tree import NewNode
from narrator.engine.session import Session
from narrator.engine.story import Story, create_campaign
from narrator.narrators.embedded import EmbeddedNarrator
from narrator.narrators.port import Capabilities, Chunk, Completion, Delta, Finish, Purpose, Request, Usage
from narrator.store import commit
from narrator.store.commit import Acceptance

TURNS = 40
WINDOW = 6_144
ANSWER = 256
TOLD_BEFORE = 31
NARRATION_BYTES = 160
CONTEXT = ContextSettings(low_watermark=0.2)
"""A summary that takes the place of most of the story, so that just one falls into the forty turns."""

_BEGUN = 2
"""Tokens that the engine may answer: it need not tell, it need only have read."""
_NEEDED = "It needs the embedded extra and a model"
_HINT = "Install narrator[embedded] and name a GGUF file in NARRATOR_BENCH_MODEL."

DEFINITION = """
[campaign]
id = "bench"
title = "The Drowned Road"
opening = "The ferry lies at the bank. Rain falls on the drowned road."
instructions = "Second person, present tense. Never act for the player."
[state.player.nerve]
type = "number"
min = 0
max = 1000
initial = 5
[state.ferry.water]
type = "number"
min = 0
max = 1000
initial = 0
[[cards]]
name = "The ferryman"
keys = ["ferryman"]
text = "He has rowed here for forty years and has never been paid."
[[cards]]
name = "The third bell"
keys = ["bell"]
text = "It rings before the water comes."
"""


@dataclass(frozen=True, slots=True)
class Read:
    """A prompt that was read: what it was for, its messages, and how many of its tokens had to be read anew."""

    purpose: Purpose
    messages: tuple[Message, ...]
    fresh: int


class Reader:
    """The embedded engine, with answers made beforehand. Owns the engine, and the record of what it read."""

    def __init__(self, model: Path) -> None:
        self.name = "reader"
        self.engine = EmbeddedNarrator(self.name, model_path=model, window=WINDOW, timeout=600)
        self.read: list[Read] = []
        self._ready = ReadyNarrator(WINDOW)
        self._random = Random(13)

    async def capabilities(self) -> Capabilities:
        """Those of the engine, with short answers."""
        return replace(await self.engine.capabilities(), max_output_tokens=ANSWER)

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """A narration made beforehand, once the engine has read the prompt."""
        await self._have_read(request)
        yield Delta(prose.narration(self._random, NARRATION_BYTES))
        yield Finish("stop")

    async def complete(self, request: Request) -> Completion:
        """The same for a question."""
        await self._have_read(request)
        if request.purpose is Purpose.EXTRACT:
            return Completion('{"changes": [{"op": "add", "path": "player.nerve", "value": 1}]}', Finish("stop"))
        return await self._ready.complete(request)

    async def _have_read(self, request: Request) -> None:
        """Have the engine read a prompt whole. It begins to answer as to a question, so that nothing is judged."""
        asked = replace(self.engine.in_line(request), purpose=Purpose.SUGGEST, schema=None, max_output_tokens=_BEGUN)
        usage = Usage()
        async with aclosing(self.engine.stream(asked)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, Finish):
                    usage = chunk.usage
        if usage.tokens_in is None or usage.tokens_cached is None:
            raise NarratorError("bench", "The engine does not say what it had read before.", _HINT)
        self.read.append(Read(request.purpose, request.messages, usage.tokens_in - usage.tokens_cached))

    def count(self, messages: Sequence[Message]) -> int:
        """The engine's count."""
        return self.engine.count(messages)

    async def count_ahead(self, messages: Sequence[Message]) -> None:
        """The engine's own count."""
        await self.engine.count_ahead(messages)

    async def aclose(self) -> None:
        """End the engine."""
        await self.engine.aclose()


def write_story(path: Path) -> Path:
    """A story of ``TOLD_BEFORE`` short turns with their memories: a summary comes due in the middle of the forty."""
    random = Random(13)
    create_campaign(path, DEFINITION, seed=13, clock=still_clock)
    with closing(Story.open(path, clock=still_clock)) as story:
        for _ in range(TOLD_BEFORE):
            said = NewNode("player", prose.player_input(random), mode="do")
            told = NewNode("narrator", prose.narration(random, NARRATION_BYTES), origin="generated")
            commit.accept(story.store, Acceptance(story.head.id, (said, told), story.position, narrated=1))
        for last in range(NODES_A_MEMORY, story.count + 1, NODES_A_MEMORY):
            (node,) = story.nodes(last + 1, last + 1) or story.nodes(last, last)
            commit.keep_memory(story.store, node.id, prose.memory(random), node.depth - NODES_A_MEMORY + 1)
    return path


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn had the engine read: tokens read anew for its narration and for all that the turn asked, and those
    of the previous exchange and the dynamic tail, which are new to it whatever the engine remembers.
    """

    narration: int
    whole: int
    least: int
    is_rotated: bool


def afresh(folder: Path, model: Path | None) -> list[Row]:
    """Measure 13: tokens of a narration's prompt that are read anew, over those of the previous exchange and the tail.

    ``model`` is a GGUF file. The first turn, which reads the story, and the first after a summary do not count. Raises
    ``NarratorError`` without a model or the engine.
    """
    if model is None or not model.is_file() or importlib.util.find_spec("xllamacpp") is None:
        raise NarratorError("bench", f"{_NEEDED}{'' if model is None else f': {model}'}.", _HINT)
    found = play(write_story(folder / "cache.narrator"), model)
    usual = [turn for turn in found if not turn.is_rotated]
    narrations = [float(turn.narration) for turn in usual]
    ratio = sum(narrations) / sum(turn.least for turn in usual)
    mean = sum(narrations) / len(usual)
    goal = Goal(1.05, is_ratio=True)
    middle, high = median(narrations), p95(narrations)
    told = Row("cache/narration", mean, "tokens", len(usual), middle, high, mean / ratio, ratio, goal.text(""), None)
    return [
        replace(told, met=ratio <= goal.limit),
        row("cache/whole turn", [float(turn.whole) for turn in usual], unit="tokens", scale=1),
        row("cache/summaries", [float(len(found) - len(usual))], unit="", scale=1, goal=Goal(1)),
    ]


def play(path: Path, model: Path) -> list[Turn]:
    """Tell ``TURNS`` turns behind a first one; upkeep has its time after each."""
    reader, random, found = Reader(model), Random(14), []
    with asyncio.Runner() as runner:
        session = runner.run(Session.open(path, settings=Settings(context=CONTEXT), narrator=reader, answers="yes"))
        try:
            game = Game("cache", path, session, runner)
            for number in range(TURNS + 1):
                before = len(reader.read)
                game.do(prose.player_input(random))
                told = reader.read[before:]
                game.rest()
                if number:
                    found.append(runner.run(_turn(reader, told, reader.read[:before])))
        finally:
            runner.run(session.aclose())
    return found


async def _turn(reader: Reader, told: Sequence[Read], earlier: Sequence[Read]) -> Turn:
    """A turn of what was read in it. The last three messages are the previous exchange and the tail."""
    (narration,) = _narrations(told)
    last = _narrations(earlier)[-1]
    whole = await reader.engine.tokens_of(narration.messages)
    before = await reader.engine.tokens_of(narration.messages[:-3])
    if whole is None or before is None:
        raise NarratorError("bench", "The model has no template for messages.", _HINT)
    # Behind the prefix stands the opening, or the summary that has taken its place.
    is_rotated = narration.messages[1] != last.messages[1]
    return Turn(narration.fresh, sum(each.fresh for each in told), whole - before, is_rotated)


def _narrations(read: Sequence[Read]) -> list[Read]:
    return [each for each in read if each.purpose is Purpose.NARRATE]
