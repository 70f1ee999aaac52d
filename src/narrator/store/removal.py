"""What an explicit deletion would take, before anything is asked or done (S38, S40, S41). Reads alone.

``commit.hide`` and ``commit.erase`` then do it by id set. Nothing here runs by itself (S36).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from narrator.core.tree import Coordinate, Node
from narrator.store import commit
from narrator.store.open import Store
from narrator.store.parts import named_in
from narrator.store.records import unpack_record


@dataclass(frozen=True, slots=True)
class Removal:
    """What would go: ids of nodes and branches, counted for the question."""

    node_ids: tuple[int, ...]
    branch_ids: tuple[int, ...]
    steps: int
    takes: int
    pinned: int
    checkpoints: tuple[str, ...]

    @property
    def dependents(self) -> int:
        """Branches beside the one asked for."""
        return max(0, len(self.branch_ids) - 1)


def plan_branch(store: Store, branch_id: int) -> Removal:
    """A branch, all that forked from it, and the unplaced takes below their nodes."""
    first = store.forest[branch_id].fork_depth + 1
    below = store.forest.below(Coordinate(branch_id, first))
    branches = [b for b in (branch_id, *sorted(below)) if not store.forest[b].is_hidden]
    nodes: list[int] = []
    steps = takes = pinned = 0
    for each in branches:
        sql = "SELECT id, pinned FROM nodes INDEXED BY nodes_coordinate WHERE branch_id = ? AND hidden_by IS NULL"
        for node_id, is_pinned in store.db.execute(sql, (each,)):
            nodes.append(node_id)
            steps += 1
            pinned += is_pinned
    owners = set(branches)
    loose = (
        "SELECT n.id, n.pinned, p.branch_id FROM nodes n INDEXED BY nodes_unplaced JOIN nodes p ON p.id = n.parent_id"
        " WHERE n.branch_id IS NULL AND n.hidden_by IS NULL"
    )
    for node_id, is_pinned, owner in store.db.execute(loose):
        if owner in owners:
            nodes.append(node_id)
            takes += 1
            pinned += is_pinned
    return Removal(tuple(nodes), tuple(branches), steps, takes, pinned, _checkpoints_on(store, nodes))


def plan_take(store: Store, node: Node) -> Removal:
    """A leaf; its branch goes with it when it is the last visible node there."""
    branches: tuple[int, ...] = ()
    if node.branch_id is not None:
        sql = "SELECT count(*) FROM nodes INDEXED BY nodes_coordinate WHERE branch_id = ? AND hidden_by IS NULL"
        if store.db.execute(sql, (node.branch_id,)).fetchone()[0] == 1:
            branches = (node.branch_id,)
    return Removal((node.id,), branches, int(node.is_placed), int(not node.is_placed), int(node.is_pinned), ())


def _checkpoints_on(store: Store, node_ids: Iterable[int]) -> tuple[str, ...]:
    wanted = set(node_ids)
    rows = store.db.execute("SELECT name, node_id FROM checkpoints ORDER BY id")
    return tuple(name for name, node_id in rows if node_id in wanted)


@dataclass(frozen=True, slots=True)
class Age:
    """Which set-aside nodes are old enough to go: all, or untouched for so many days or written steps."""

    kind: Literal["all", "days", "steps"]
    count: int = 0


def plan_prune(store: Store, age: Age) -> Removal:
    """Everything that is set aside and old enough (S40).

    Kept: the line, every path to a checkpoint, every pinned take, named branches, and what those borrow. A node's age
    counts from when it was last on a line that was read, or from when it was made; a node stays with what is below it.
    """
    rows = list(
        store.db.execute(
            "SELECT id, parent_id, branch_id, pinned, created_at, written FROM nodes WHERE hidden_by IS NULL"
        )
    )
    parents: dict[int, int | None] = {row[0]: row[1] for row in rows}
    kept: set[int] = set()
    for node_id in _anchors(store, rows):
        _keep_path(parents, node_id, kept)
    if age.kind != "all":
        for node_id in _young(store, rows, parents, age):
            _keep_path(parents, node_id, kept)
    doomed = [row for row in rows if row[0] not in kept]
    survivors = {row[2] for row in rows if row[0] in kept}
    branches = tuple(b.id for b in store.forest if not b.is_hidden and b.id not in survivors)
    steps = sum(1 for row in doomed if row[2] is not None)
    return Removal(tuple(row[0] for row in doomed), branches, steps, len(doomed) - steps, 0, ())


def _anchors(store: Store, rows: list[tuple[int, int | None, int | None, int, str, int]]) -> list[int]:
    named = {branch.id for branch in store.forest if branch.name is not None and not branch.is_hidden}
    found = [row[0] for row in rows if row[3] or row[2] in named]
    found.append(store.db.execute("SELECT tip_node_id FROM campaign").fetchone()[0])
    found.extend(row[0] for row in store.db.execute("SELECT node_id FROM checkpoints"))
    return found


def _keep_path(parents: dict[int, int | None], node_id: int, kept: set[int]) -> None:
    at: int | None = node_id
    while at is not None and at not in kept:
        kept.add(at)
        at = parents.get(at)


def _young(
    store: Store,
    rows: list[tuple[int, int | None, int | None, int, str, int]],
    parents: dict[int, int | None],
    age: Age,
) -> list[int]:
    """Nodes last read, or never read and made, less than that long ago."""
    written_now = store.db.execute("SELECT steps_written FROM campaign").fetchone()[0]
    limit = (
        (datetime.fromisoformat(store.clock()) - timedelta(days=min(age.count, 36500))).isoformat()
        if age.kind == "days"
        else ""
    )

    def is_young(at: str, written: int) -> bool:
        return at > limit if age.kind == "days" else written_now - written < age.count

    found: list[int] = []
    read: set[int] = set()
    for tip_id, at, written in store.db.execute("SELECT tip_node_id, visited_at, written FROM visits"):
        _keep_path(parents, tip_id, read)
        if is_young(at, written):
            found.append(tip_id)
    found.extend(row[0] for row in rows if row[0] not in read and is_young(row[4], row[5]))
    return found


def freed_bytes(store: Store, removal: Removal) -> int:
    """What a prune frees on disk, measured on a copy in memory that is pruned and packed."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
        store.db.backup(copy)
        size = copy.execute("PRAGMA page_size").fetchone()[0]
        before = copy.execute("PRAGMA page_count").fetchone()[0]
        copy.execute("BEGIN")
        commit.erase_rows(copy, removal.node_ids)
        copy.execute("COMMIT")
        drop = set(_hashes(copy))
        gone = [(row[0],) for row in copy.execute("SELECT hash FROM parts") if row[0] not in drop]
        copy.executemany("DELETE FROM parts WHERE hash = ?", gone)
        copy.execute("VACUUM")
        after = copy.execute("PRAGMA page_count").fetchone()[0]
    return max(0, int((before - after) * size))


def prune(store: Store, removal: Removal) -> None:
    """Erase, drop the prompt parts that nothing names any more, and give the space back. Final (S40)."""
    commit.erase(store, removal.node_ids)
    commit.drop_loose_parts(store, _hashes(store.db))
    # It is done. Packing needs as much room again, which a full disk has not: then the space is used again later.
    with suppress(sqlite3.OperationalError):
        store.db.execute("VACUUM")


def _hashes(db: sqlite3.Connection) -> Iterable[bytes]:
    """The content hashes that any provenance names."""
    for node_id, record in db.execute("SELECT node_id, record FROM provenance"):
        yield from map(bytes.fromhex, named_in(unpack_record(node_id, record)))
