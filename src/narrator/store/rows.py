"""The rows of a whole campaign, table by table in order of creation: read by an export, written by ``commit.restore``.

Unlike ``reads`` this knows no path: a bundle holds every branch and take. Deleted rows are never in it (S41).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narrator.store.open import Clock, Store, open_store, translated

#: The columns that are carried, by table.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    table: tuple(columns.split())
    for table, columns in {
        "campaign": "campaign_id title seed head_node_id tip_node_id visit_counter steps_written fork_node_id narrator"
        " is_tracking created_at played_at played_seconds",
        "definitions": "version source created_at",
        "branches": "id parent_id fork_depth name created_at",
        "nodes": "id parent_id branch_id depth role mode text origin source_id chain_hash created_at pinned rolls"
        " unknown written",
        "state_events": "node_id seq op path value previous source source_node_id note",
        "checks": "node_id seq skill difficulty outcome roll total target source_node_id",
        "snapshots": "node_id state",
        "checkpoints": "name node_id created_at",
        "visits": "tip_node_id head_node_id counter visited_at written",
        "places": "stack head_node_id tip_node_id",
        "memories": "node_id text source first_depth pinned forgotten created_at",
        "comments": "node_id text created_at",
        "parts": "hash text",
        "provenance": "node_id record",
        "kept": "kind name body",
        "cards": "name body",
        "card_edits": "name enabled text deleted",
        "knowledge": "id title kind enabled created_at condition",
        "passages": "knowledge_id text",
    }.items()
}
_ORDER: Mapping[str, str] = {
    "campaign": "id",
    "definitions": "version",
    "card_edits": "name",
    "state_events": "node_id, seq",
    "checks": "node_id, seq",
    "snapshots": "node_id",
    "visits": "counter",
    "places": "seq",
    "parts": "hash",
    "provenance": "node_id",
}


def insertion(table: str) -> str:
    """The statement that writes a row of ``COLUMNS``."""
    columns = COLUMNS[table]
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


class Rows:
    """One unchanging view of a campaign. Owns nothing: ``settled`` opens and closes what it reads from."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def of(self, table: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a table with its ``COLUMNS``, in order of creation."""
        return self._select(table, ", ".join(COLUMNS[table]))

    def ids(self, table: str) -> Iterator[int]:
        """The ids of a table, ascending."""
        return (row[0] for row in self._select(table, "id"))

    def branches(self) -> Iterator[tuple[int | None, str | None, str]]:
        """(node that it leaves its parent at or None, name, created_at) of each branch."""
        first = (
            "SELECT n.parent_id FROM nodes n INDEXED BY nodes_coordinate"
            " WHERE n.branch_id = branches.id AND n.depth = branches.fork_depth + 1"
        )
        return self._select("branches", f"({first}), name, created_at")

    def memories(self) -> Iterator[tuple[Any, ...]]:
        """(node, text, source, how many nodes it condenses or None, pinned, forgotten, created_at) of each memory."""
        covers = "(SELECT depth FROM nodes WHERE nodes.id = memories.node_id) + 1 - first_depth"
        return self._select("memories", f"node_id, text, source, {covers}, pinned, forgotten, created_at")

    def _select(self, table: str, columns: str) -> Iterator[Any]:
        return iter(self._db.execute(f"SELECT {columns} FROM {table} ORDER BY {_ORDER.get(table, 'id')}"))

    def count(self, table: str) -> int:
        """How many rows a table has."""
        return int(self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def part(self, digest: bytes) -> str | None:
        """The text of a part of a prompt."""
        row = self._db.execute("SELECT text FROM parts WHERE hash = ?", (digest,)).fetchone()
        return None if row is None else str(row[0])


@contextmanager
def settled(path: Path, *, clock: Clock) -> Iterator[Rows]:
    """A campaign as it will be when earlier deletions are final, also beside a session that plays it.

    Nothing of the file changes: where something is deleted and not yet final, a private copy is settled and read.
    """
    from narrator.store.commit import erase_rows

    store = open_store(path, clock=clock, read_only=True)
    try:
        with translated(path):
            store.db.execute("BEGIN")
            if store.db.execute("SELECT 1 FROM deletions LIMIT 1").fetchone() is None:
                yield Rows(store.db)
                return
            with closing(sqlite3.connect("", isolation_level=None)) as copy:
                store.db.backup(copy)
                copy.execute("BEGIN")
                erase_rows(copy, ())
                yield Rows(copy)
    finally:
        store.close()


def write_straight(store: Store) -> None:
    """Keep no journal, for a file that is thrown away if anything fails: each page is written once, not twice."""
    store.db.execute("PRAGMA journal_mode = OFF")


@dataclass(frozen=True, slots=True)
class Addition:
    """What an import adds to a campaign that is there: cards (name, JSON), what is kept (kind, name, JSON), knowledge
    (title, kind, condition, passages)."""

    cards: Sequence[tuple[str, str]] = ()
    kept: Sequence[tuple[str, str, str]] = ()
    knowledge: Sequence[tuple[str, str, str, Sequence[str]]] = ()


def add(store: Store, addition: Addition) -> None:
    """Add to a campaign, in one transaction; neither its definition nor a node changes (X6, W13)."""
    with store.transaction() as db:
        db.executemany(insertion("cards"), addition.cards)
        db.executemany(insertion("kept"), addition.kept)
        for title, kind, condition, passages in addition.knowledge:
            sql = "INSERT INTO knowledge (title, kind, condition, created_at) VALUES (?, ?, ?, ?)"
            source = db.execute(sql, (title, kind, condition, store.clock())).lastrowid
            db.executemany(insertion("passages"), [(source, text) for text in passages])


def kept(store: Store, kind: str) -> list[tuple[str, str]]:
    """(name, JSON) of what was kept of one kind."""
    rows = store.db.execute("SELECT name, body FROM kept WHERE kind = ? ORDER BY id", (kind,))
    return [(str(name), str(body)) for name, body in rows]


def comments_of(store: Store, node_ids: Sequence[int]) -> dict[int, list[str]]:
    """The player's private notes beside these nodes, oldest first (U27)."""
    marks = ", ".join("?" * len(node_ids))
    found: dict[int, list[str]] = {}
    sql = f"SELECT node_id, text FROM comments WHERE node_id IN ({marks}) ORDER BY id"
    for node_id, text in store.db.execute(sql, list(node_ids)):
        found.setdefault(node_id, []).append(text)
    return found
