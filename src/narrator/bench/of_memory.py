"""What keeps a long story within a prompt: memories found (measure 6), the first summary of a long story (14)."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from math import ceil
from pathlib import Path
from random import Random

from narrator.bench import prose
from narrator.bench.fixtures import write_flat
from narrator.bench.of_reading import against
from narrator.bench.of_turns import Game
from narrator.bench.ready import BYTES_A_TOKEN, ReadyNarrator
from narrator.bench.sampling import Goal, Row, in_turn, row
from narrator.config import Settings
from narrator.engine import memory
from narrator.engine.meaning import VectorIndex, load_wordllama
from narrator.engine.session import Session
from narrator.engine.story import Story
from narrator.engine.turn import plan_input
from narrator.narrators.port import Purpose

RECALLED = 5
SHOWN_STEPS = 20
SUMMARIZED = 5_000
WINDOW = 16_384


def retrieval(files: Mapping[str, Path], n: int = 60) -> list[Row]:
    """Measure 6: the memories for an input, by full text along the whole path."""
    random = Random(6)
    with ExitStack() as stack:
        calls: dict[str, Callable[[], object]] = {}
        for name, path in files.items():
            story = stack.enter_context(closing(Story.open(path)))
            calls[name] = _recall(story, random)
        taken = in_turn(n, calls)
    rows = [row(f"recall/{name}", taken[name], goal=Goal(25) if name == "long-100k" else None) for name in files]
    return rows + against("long-100k", "recall", taken, 1.3, only=("forest-100k",))


def retrieval_by_meaning(files: Mapping[str, Path], folder: Path, n: int = 60) -> list[Row]:
    """The same fused with the extra ``semantic``, every memory with its vector; no rows where that is not installed."""
    if load_wordllama() is None:
        return []
    random = Random(6)
    (folder / "meaning").mkdir()
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        calls: dict[str, Callable[[], object]] = {}
        for name, path in files.items():
            story = stack.enter_context(closing(Story.open(Path(shutil.copy(path, folder / "meaning")))))
            index = VectorIndex(story.store, load_wordllama, lambda event: None)
            runner.run(_learn(index))
            calls[name] = _recall(story, random, index)
        taken = in_turn(n, calls)
    shutil.rmtree(folder / "meaning")
    rows = [row(f"recall by meaning/{name}", taken[name]) for name in files]
    return rows + against("long-100k", "recall by meaning", taken, 1.3, only=("forest-100k",))


async def _learn(index: VectorIndex) -> None:
    while await index.keep_up():
        pass


def _recall(story: Story, random: Random, by_meaning: VectorIndex | None = None) -> Callable[[], object]:
    state, shown_from = story.state(), max(1, story.count - SHOWN_STEPS)

    def recall() -> object:
        plan = plan_input(story, prose.player_input(random), "do", "do")
        return memory.recall(story, plan, state, shown_from, RECALLED, by_meaning)

    return recall


def first_summary(folder: Path) -> list[Row]:
    """Measure 14: the first turn on 5,000 nodes, with the summaries that it needs first.

    The requests stand beside the least that could hold the text, were there nothing else in a window.
    """
    path = write_flat(folder / "flat-5000.narrator", SUMMARIZED)
    narrator = ReadyNarrator(WINDOW)
    with asyncio.Runner() as runner:
        session = runner.run(Session.open(path, settings=Settings(), narrator=narrator, answers="yes"))
        try:
            text = sum(len(node.text.encode()) for node in session.story.nodes())
            taken = Game("flat-5000", path, session, runner).do("look at the drowned road")
        finally:
            runner.run(session.aclose())
    requests = narrator.asked_for[Purpose.COMPACT]
    least = ceil(text / BYTES_A_TOKEN / WINDOW)
    return [
        row("summary/requests for 5,000 steps", [float(requests)], unit="", scale=1, floor=[float(least)]),
        row("summary/time beside the model", [taken], unit="s", scale=1, goal=Goal(1)),
    ]
