"""Reading the story: the newest window, a move and what it shows, opening a file (measures 1, 3 and 7)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path

from narrator.bench.fixtures import CHECKPOINTS
from narrator.bench.sampling import Goal, Row, in_turn, row, timed
from narrator.engine.story import Story

STEPS = 32
FLAT = "flat-600"
Files = Mapping[str, Path]


@contextmanager
def opened(files: Files) -> Iterator[dict[str, Story]]:
    """Every campaign, open for writing."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(closing(Story.open(path))) for name, path in files.items()}


def show(story: Story) -> object:
    """What the screen shows after a move: the newest steps with their takes, where the head is, the state there."""
    return story.last_steps(STEPS), story.where(), story.state()


def window(files: Files, n: int = 200) -> list[Row]:
    """Measure 1: the newest 32 steps of the path with take counts, beside a fetch of the same rows by id."""
    rows: list[Row] = []
    with opened(files) as stories, ExitStack() as stack:
        calls: dict[str, Callable[[], object]] = {}
        for name, story in stories.items():
            ids = [node.id for node in story.nodes(max(1, story.count - STEPS + 1))]
            bare = stack.enter_context(closing(sqlite3.connect(story.path, isolation_level=None)))
            calls[name] = _newest(story)
            calls[f"{name} floor"] = _fetch(bare, ids)
        taken = in_turn(n, calls)
        rows += [
            row(f"window/{name}", taken[name], floor=taken[f"{name} floor"], goal=Goal(3, is_ratio=True))
            for name in stories
        ]
        rows += against_flat("window", {name: taken[name] for name in stories}, 1.2)
    return rows


def _newest(story: Story) -> Callable[[], object]:
    return lambda: story.last_steps(STEPS)


def _fetch(bare: sqlite3.Connection, ids: list[int]) -> Callable[[], object]:
    marks = ",".join("?" * len(ids))
    sql = (
        "SELECT id, parent_id, branch_id, depth, role, mode, text, origin, source_id, chain_hash, created_at, pinned,"
        f" rolls, unknown FROM nodes WHERE id IN ({marks})"
    )
    return lambda: bare.execute(sql, ids).fetchall()


def against_flat(what: str, samples: Mapping[str, list[float]], limit: float) -> list[Row]:
    """Each campaign's samples with those of flat-600 as their floor."""
    return against(FLAT, what, samples, limit, only=tuple(samples))


def against(
    base: str, what: str, samples: Mapping[str, list[float]], limit: float, *, only: tuple[str, ...]
) -> list[Row]:
    """The samples of the campaigns in ``only`` with those of ``base`` as their floor; nothing without a base."""
    if base not in samples:
        return []
    goal = Goal(limit, is_ratio=True)
    return [
        row(f"{what}/{name} to {base}", samples[name], floor=samples[base], goal=goal)
        for name in only
        if name != base and name in samples
    ]


def moves(files: Files, n: int = 100) -> list[Row]:
    """Measure 3: undo, redo, take step, switch and restore, each from the command to what the screen shows."""
    rows: list[Row] = []
    with opened(files) as stories:
        found: dict[str, dict[str, list[float]]] = {}
        for verb, make in _VERBS.items():
            calls = {name: call for name, story in stories.items() if (call := make(story)) is not None}
            found[verb] = in_turn(n, calls)
            for story in stories.values():
                story.restore(f"mark {CHECKPOINTS - 1}")
        for verb, samples in found.items():
            rows += [row(f"{verb}/{name}", taken, goal=Goal(8), by_p95=True) for name, taken in samples.items()]
            rows += against_flat(verb, samples, 1.5)
    return rows


def _shown_after(story: Story, move: Callable[[], None]) -> float:
    """Seconds from a move to what the screen shows."""

    def both() -> None:
        move()
        show(story)

    return timed(both)


def _undo(story: Story) -> Callable[[], object]:
    def undo() -> float:
        if story.count == 1:
            story.redo(story.redo_steps)
        return _shown_after(story, story.undo)

    return undo


def _redo(story: Story) -> Callable[[], object]:
    story.undo(min(story.count - 1, 200))

    def redo() -> float:
        if story.redo_steps == 0:
            story.undo(min(story.count - 1, 200))
        return _shown_after(story, story.redo)

    return redo


def _take(story: Story) -> Callable[[], object] | None:
    """To and fro between the takes of the last step."""
    if story.redo_steps:
        story.redo(story.redo_steps)
    takes = [story.node(take.id) for take in story.takes(story.head)]
    turns = cycle(takes)

    def take() -> float:
        chosen = next(turns)
        while chosen.id == story.head.id:
            chosen = next(turns)
        return _shown_after(story, partial(story.take, chosen))

    return take if len(takes) > 1 else None


def _restore(story: Story) -> Callable[[], object]:
    """Checkpoints all over the path, in an order that leaps."""
    numbers = cycle((number * 37) % CHECKPOINTS for number in range(CHECKPOINTS))
    return lambda: _shown_after(story, partial(story.restore, f"mark {next(numbers)}"))


def _switch(story: Story) -> Callable[[], object] | None:
    """Branches from all over the tree."""
    branches = [branch for branch in story.store.forest if not branch.is_hidden]
    if len(branches) < 2:
        return None
    chosen = cycle(branches[(number * 37) % len(branches)] for number in range(len(branches)))

    def switch() -> float:
        return _shown_after(story, partial(story.switch, next(chosen)))

    return switch


_VERBS: dict[str, Callable[[Story], Callable[[], object] | None]] = {
    "undo": _undo,
    "redo": _redo,
    "take": _take,
    "restore": _restore,
    "switch": _switch,
}


def opening(files: Files, n: int = 40) -> list[Row]:
    """Measure 7: open a file and show its first window, beside a bare connection and one read."""
    calls: dict[str, Callable[[], object]] = {}
    for name, path in files.items():
        calls[name] = _open(path)
        calls[f"{name} floor"] = _connect(path)
    taken = in_turn(n, calls)
    rows = [
        row(
            f"open/{name}",
            taken[name],
            floor=taken[f"{name} floor"],
            goal=Goal(30) if name == "long-100k" else None,
        )
        for name in files
    ]
    return rows + against_flat("open", {name: taken[name] for name in files}, 1.5)


def _open(path: Path) -> Callable[[], object]:
    def first_window() -> float:
        opened: list[Story] = []

        def open_and_show() -> None:
            opened.append(Story.open(path))
            show(opened[0])

        taken = timed(open_and_show)
        opened[0].close()
        return taken

    return first_window


def _connect(path: Path) -> Callable[[], object]:
    def read() -> float:
        opened: list[sqlite3.Connection] = []

        def connect_and_read() -> None:
            opened.append(sqlite3.connect(path))
            opened[0].execute("SELECT text FROM nodes WHERE id = (SELECT head_node_id FROM campaign)").fetchone()

        taken = timed(connect_and_read)
        opened[0].close()
        return taken

    return read
