"""A thousand forks, each from the one before: every verb, nothing that recurses, no statement that grows (S4, S6)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from narrator.engine.story import Story
from narrator.exchange.exporting import Wish, export
from narrator.store import lines, memory_reads, reads
from narrator.store.verify import verify
from tests.engine.playing import playing
from tests.exchange.bringing import bring, still
from tests.store.making import accept_turn, make, open_story

FORKS = 1_000


def nest(path: Path, forks: int) -> Path:
    """Each fork leaves a turn behind and goes on with one of its own; the last line runs through all of them."""
    with closing(open_story(make(path))) as story:
        story.store.db.execute("PRAGMA synchronous = OFF")
        for number in range(forks):
            accept_turn(story, number)
            story.undo(2)
            story.fork(story.head)
            accept_turn(story, number)
            if number % 10 == 0:
                story.remember(f"It rained {number} times.")
        story.save("The end")
    return path


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return nest(tmp_path_factory.mktemp("forks") / "nested.narrator", FORKS)


@contextmanager
def shallow_stack() -> Iterator[None]:
    """Room for 250 more frames: what recursed once a fork or a step would need a thousand."""
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 250)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.spec("S4", "S6", "S41", "X11")
async def test_a_thousand_nested_forks_are_played_like_one(nested: Path, tmp_path: Path) -> None:
    """Open, read, retry, switch, undo through all, verify, export, import, and play on."""
    async with playing(nested, answers="yes") as play:
        with shallow_stack():
            story = play.story
            assert story.count == 1 + 2 * FORKS
            assert len(story.nodes()) == story.count
            assert len(story.branches()) == FORKS + 1
            assert story.state().values["player.nerve"] == 5 + FORKS
            assert len(story.memories()) == FORKS // 10
            for line in (
                "/retry",
                "I go on.",
                "/undo 5",
                "/redo 5",
                "/switch #1",
                "/back",
                "/map",
                "/branches",
                "/stats",
            ):
                assert (await play.do(line)).ok, line
            assert (await play.do("/undo 3000")).ok
            assert story.count == 1
            assert (await play.do("/redo 3000")).ok
            assert (await play.do("/search rained")).ok
            assert (await play.do("/prompt")).ok
            head = (story.count, story.state(), len(story.branches()), play.texts()[-6:])
    with shallow_stack():
        assert verify(nested).problems == ()
        export(nested, tmp_path / "one.json", Wish(), clock=still)
        report = bring(tmp_path / "shelf", tmp_path / "one.json")
        export(Path(report.campaigns[0]), tmp_path / "two.json", Wish(), clock=still)
        assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
        assert verify(Path(report.campaigns[0])).problems == ()
    async with playing(Path(report.campaigns[0])) as play:
        story = play.story
        assert (story.count, story.state(), len(story.branches()), play.texts()[-6:]) == head
        assert (await play.do("I go on.")).ok


def shape(sql: str) -> str:
    """A statement without its values."""
    plain = re.sub(r"'(?:[^']|'')*'|\b\d+\b", "?", " ".join(sql.split()))
    return re.sub(r"\?(?:, ?\?)+", "?", plain)


ACTS: dict[str, Callable[[Story], object]] = {
    "open": lambda s: open_story(s.path, read_only=True).close(),
    "window": lambda s: reads.tail(s.store, s.head.id, 32),
    "undo": lambda s: s.undo(),
    "redo": lambda s: (s.undo(), s.redo()),
    "undo all": lambda s: s.undo(10_000),
    "where": lambda s: s.where(),
    "takes": lambda s: s.takes(s.nodes(2, 2)[0]),
    "take": lambda s: s.take(s.node(reads.siblings(s.store, 1)[0])),
    "switch": lambda s: s.switch(s.store.forest[1]),
    "restore": lambda s: s.restore("The end"),
    "line": lambda s: lines.tip_through(s.store, s.nodes(2, 2)[0]),
    "state": lambda s: s.state(s.nodes(2, 2)[0]),
    "rail": lambda s: s.branches(),
    "takes on the rail": lambda s: s.takes_on(1),
    "memories": lambda s: s.memories(),
    "pinned": lambda s: memory_reads.pinned_memories(s.store, s.end),
    "search": lambda s: s.search("rained"),
    "turn": lambda s: accept_turn(s, 7),
    "fork and turn": lambda s: (s.fork(s.head), accept_turn(s, 8)),
}


WHOLE_PATH = {"search"}
"""What reads the whole path asks once for each stretch of it."""


@pytest.mark.spec("S4", "S6")
def test_no_statement_grows_with_the_number_of_forks(tmp_path: Path) -> None:
    """The same statements, as many and as long, at 40 forks as at 400; what they are asked for differs."""
    asked: list[dict[str, list[str]]] = []
    for forks in (40, 400):
        path = nest(tmp_path / f"forks-{forks}.narrator", forks)
        found: dict[str, list[str]] = {}
        with closing(open_story(path)) as story:
            for name, act in ACTS.items():
                story.store.db.set_trace_callback(found.setdefault(name, []).append)
                act(story)
                story.store.db.set_trace_callback(None)
                story.restore("The end")
        asked.append(found)
    few, many = asked
    for name in ACTS:
        assert {shape(sql) for sql in many[name]} <= {shape(sql) for sql in few[name]} | {""}, name
        longest = [max((len(sql) for sql in each[name]), default=0) for each in asked]
        assert longest[1] <= longest[0] + 40, (name, longest)
        if name not in WHOLE_PATH:
            assert len(many[name]) <= len(few[name]) + 8, (name, len(few[name]), len(many[name]))
