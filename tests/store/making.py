"""Campaign files for tests of the store: small ones, deep ones, and a connection that fails where it is told to."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from narrator.core.state import Event, State, advance, dump
from narrator.core.tree import NewNode, Position
from narrator.engine.story import Story, create_campaign
from narrator.store import commit, schema
from narrator.store.commit import Acceptance

DEFINITION = """
[campaign]
id = "mill"
title = "The Mill"
opening = "The wheel stands still."

[state.player.nerve]
type = "number"
min = 0
max = 1000000
initial = 5
"""


def still() -> str:
    return "2026-01-02T03:04:05+00:00"


@cache
def _bare() -> bytes:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        schema.migrate(db)
        return db.serialize()


def bare_connection() -> sqlite3.Connection:
    """An empty campaign in memory: the schema and no row."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.deserialize(_bare())
    return db


def make(path: Path, definition: str = DEFINITION, seed: int = 7) -> Path:
    create_campaign(path, definition, seed=seed, clock=still)
    return path


def open_story(path: Path, **rest: Any) -> Story:
    return Story.open(path, clock=still, **rest)


def turn_nodes(number: int, state: State, mode: str | None = "do") -> tuple[NewNode, NewNode]:
    """An input and a narration that raises the player's nerve by one."""
    before = advance(state, "player", ()).values.get("player.nerve", 0)
    event = Event("set", "player.nerve", before + 1, before, "model")  # type: ignore[operator]
    return (
        NewNode("player", f"I do {number}.", mode="do"),
        NewNode("narrator", f"It is done, {number}.", origin="generated", events=(event,)),
    )


def accept_turn(story: Story, number: int, *, at: int | None = None, **rest: Any) -> list[int]:
    """One turn below a node (the head), with snapshots as in play."""
    anchor = story.head if at is None else story.node(at)
    state = story.state(anchor)
    nodes = turn_nodes(number, state)

    def state_at(index: int) -> str:
        return dump(advance(state, "player", ()) if index else state)

    write = Acceptance(anchor.id, nodes, story.position, narrated=1, state_at=state_at, **rest)
    return commit.accept(story.store, write)


def deepen(story: Story, count: int) -> list[int]:
    """``count`` nodes below the head in one transaction."""
    state = story.state()
    nodes: list[NewNode] = []
    before = []
    for number in range(count):
        new = turn_nodes(number, state)[number % 2]
        before.append(state)
        nodes.append(new)
        state = advance(state, new.role, new.events)
    write = Acceptance(story.head.id, tuple(nodes), story.position, state_at=lambda i: dump(before[i]))
    return commit.accept(story.store, write)


def stand(story: Story, head: int, tip: int | None = None) -> None:
    """Head and tip on a node."""
    commit.move(story.store, Position(head, tip or head), expected=story.position, remembers=True)


def rows(db: sqlite3.Connection, *, without: tuple[str, ...] = ()) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table (the draft's among them unless told otherwise), and the id counters."""
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name"
    found = {}
    for (name,) in db.execute(tables).fetchall():
        if name not in without and "_fts_" not in name:
            ids = "rowid, " if name.endswith("_fts") else ""
            found[name] = sorted(db.execute(f"SELECT {ids}* FROM {name}").fetchall(), key=repr)
    return found


def forest_of(story: Story) -> list[tuple[Any, ...]]:
    """What the memory believes of the branches."""
    return sorted((b.id, b.parent_id, b.fork_depth, b.name, b.is_hidden) for b in story.store.forest)


def forest_in(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """What the file says of them."""
    found = db.execute("SELECT id, parent_id, fork_depth, name, hidden_by NOT NULL FROM branches ORDER BY id")
    return [(*row[:4], bool(row[4])) for row in found]


class Failing(sqlite3.Connection):
    """A connection whose statement number ``fail_at`` (from 1) is not done and raises ``code`` in its place.

    ``count`` is how many statements were begun since ``arm``; a script of ``executemany`` counts as one. ROLLBACK
    alone never fails: SQLite undoes what was written when a process has gone, too.
    """

    count = 0
    fail_at = 0
    code = sqlite3.SQLITE_IOERR
    has_committed = False

    def arm(self, fail_at: int, code: int = sqlite3.SQLITE_IOERR) -> None:
        self.count, self.fail_at, self.code, self.has_committed = 0, fail_at, code, False

    def disarm(self) -> int:
        """No failure any more; how many statements there were."""
        self.fail_at = 0
        return self.count

    def _begin(self, sql: str) -> None:
        if sql == "ROLLBACK":
            return
        self.count += 1
        if self.count == self.fail_at:
            error = sqlite3.OperationalError(f"statement {self.count} was told to fail")
            error.sqlite_errorcode = self.code
            raise error
        self.has_committed |= sql == "COMMIT"

    def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:  # type: ignore[override]
        self._begin(sql)
        return super().execute(sql, *args)

    def executemany(self, sql: str, *args: Any) -> sqlite3.Cursor:  # type: ignore[override]
        self._begin(sql)
        return super().executemany(sql, *args)


def failing(story: Story) -> Failing:
    """Put a failing connection in the place of the story's own."""
    story.store.db.close()
    db = sqlite3.connect(story.path, isolation_level=None, factory=Failing)
    for pragma in ("foreign_keys = ON", "journal_mode = WAL", "synchronous = OFF"):
        db.execute(f"PRAGMA {pragma}")
    story.store.db = db
    return db


def each_failure(db: Failing, act: Callable[[], object]) -> Iterator[int]:
    """Do ``act`` with the failure at its first statement, then its second … until it ends without one.

    Yields after each failed attempt; the last, which succeeds, is done when the iteration is over.
    """
    at = 0
    while True:
        at += 1
        db.arm(at)
        try:
            act()
        except Exception:
            if db.disarm() < at:
                raise
            yield at
        else:
            assert db.disarm() < at, f"statement {at} failed and nobody heard of it"
            return
