"""What adds nodes: a new campaign, an import, and THE atomic acceptance of a turn (S12, S14)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from narrator.core.errors import Damaged, Stale
from narrator.core.tree import Coordinate, NewNode, Node, Position, chain_hash
from narrator.store import reads
from narrator.store.commit.marking import index_memories, index_passages
from narrator.store.commit.moving import push_place, remember_position
from narrator.store.commit.placing import new_branch, place
from narrator.store.open import Store
from narrator.store.parts import part_hash
from narrator.store.records import pack_record
from narrator.store.rows import insertion

Left = Literal["write", "move"]
SNAPSHOT_EVERY = 32


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A write: ``nodes``, one below the other, the first below ``anchor_id`` (S12).

    ``expected`` is head and tip as they were when it began (else ``Stale``). ``left`` tells how the old line is left
    (S17), ``is_fork`` that the first node opens a branch (S24), ``has_place`` that the old position becomes a place
    (S37). ``narrated`` is the index in ``nodes`` of the accepted narration whose parent counts a roll (T9), or None.
    ``state_at`` gives the dumped state at the parent of node i, asked only where a snapshot is due (W3).
    """

    anchor_id: int
    nodes: tuple[NewNode, ...]
    expected: Position
    left: Left = "write"
    is_fork: bool = False
    has_place: bool = False
    narrated: int | None = None
    parts: tuple[str, ...] = ()
    state_at: Callable[[int], str] | None = None
    expected_revision: int | None = None


def create(
    store: Store, *, campaign_id: str, title: str, seed: int, definition: str, openings: Sequence[NewNode]
) -> Position:
    """Write a new campaign: definition, first branch, openings (takes of one another; the first is head and tip)."""
    now = store.clock()
    with store.transaction() as db:
        db.execute(
            "INSERT INTO campaign (id, campaign_id, title, seed, created_at, played_at) VALUES (1, ?, ?, ?, ?, ?)",
            (campaign_id, title, seed, now, now),
        )
        db.execute("INSERT INTO definitions VALUES (1, ?, ?)", (definition, now))
        branch_id = new_branch(store, None, 0)
        ids = []
        for number, opening in enumerate(openings):
            hashed = chain_hash(None, opening.role, opening.mode, opening.text)
            ids.append(_insert(store, opening, None, branch_id if number == 0 else None, 1, hashed))
        position = Position(ids[0], ids[0])
        db.execute("UPDATE campaign SET head_node_id = ?, tip_node_id = ?", (ids[0], ids[0]))
    return position


def restore(store: Store, rows: Iterable[tuple[str, Sequence[Sequence[Any]]]]) -> None:
    """The bulk door: fill an empty campaign file in one transaction, or leave it empty (X4, X11).

    ``rows`` yields a table and some rows with the columns of ``store.rows.COLUMNS``, in any order of the tables; it is
    drawn from while the transaction runs, and what it raises undoes all. Whoever calls answers for S5
    (``exchange.growth`` works out coordinates, hashes and snapshots); references are checked before the commit, all at
    once, which costs a third of looking at each.
    """
    store.db.execute("PRAGMA foreign_keys = OFF")
    try:
        with store.transaction() as db:
            for table, some in rows:
                db.executemany(insertion(table), some)
            lost = db.execute("PRAGMA foreign_key_check").fetchone()
            if lost is not None:
                raise Damaged(f"A row of {lost[0]} would hang from one of {lost[2]} that is not there.", None, "S5.7")
    finally:
        store.db.execute("PRAGMA foreign_keys = ON")
    index_memories(store)
    index_passages(store)
    store.load_forest()


def accept(store: Store, write: Acceptance) -> list[int]:
    """Write nodes below the anchor and move head and tip to the last of them. Returns their ids.

    Raises ``Stale`` when head or tip are not what they were; nothing is written then.
    """
    with store.transaction() as db:
        row = reads.campaign(store)
        if Position(row.head_id, row.tip_id) != write.expected:
            raise Stale
        if write.expected_revision is not None and row.revision != write.expected_revision:
            raise Stale
        anchor = reads.node(store, write.anchor_id)
        if anchor is None:
            raise Stale
        if write.anchor_id == row.tip_id:
            db.execute("DELETE FROM visits WHERE tip_node_id = ?", (row.tip_id,))
        else:
            remembered = row.tip_id if write.left == "write" else row.head_id
            remember_position(store, Position(remembered, row.tip_id))
        db.execute("DELETE FROM visits WHERE tip_node_id = ?", (anchor.id,))
        if write.has_place:
            push_place(store, Position(row.head_id, row.tip_id))
        for text in write.parts:
            db.execute("INSERT OR IGNORE INTO parts VALUES (?, ?)", (part_hash(text), text))
        ids = _write_chain(store, anchor, write, is_fork=write.is_fork or row.fork_id == anchor.id)
        moved = db.execute(
            "UPDATE campaign SET head_node_id = ?, tip_node_id = ?, fork_node_id = NULL, revision = revision + 1,"
            " played_at = ? WHERE id = 1 AND head_node_id = ? AND tip_node_id = ?",
            (ids[-1], ids[-1], store.clock(), write.expected.head_id, write.expected.tip_id),
        ).rowcount
        if moved != 1:
            raise Stale
        db.execute("DELETE FROM draft WHERE slot = 'sent'")
    return ids


def _write_chain(store: Store, anchor: Node, write: Acceptance, *, is_fork: bool) -> list[int]:
    parent = anchor
    ids: list[int] = []
    for index, new in enumerate(write.nodes):
        opens_branch = is_fork and index == 0
        if parent.branch_id is None:
            parent = place(store, parent, own_branch=opens_branch)
            opens_branch = False
        _snapshot(store, parent, index, write.state_at)
        assert parent.branch_id is not None
        below = Coordinate(parent.branch_id, parent.depth + 1)
        if opens_branch:
            branch_id: int | None = new_branch(store, parent.branch_id, parent.depth)
        else:
            branch_id = below.branch_id if reads.holder(store, below) is None else None
        hashed = chain_hash(parent.chain_hash, new.role, new.mode, new.text)
        ids.append(_insert(store, new, parent.id, branch_id, parent.depth + 1, hashed))
        if index == write.narrated:
            store.db.execute("UPDATE nodes SET rolls = rolls + 1 WHERE id = ?", (parent.id,))
        parent = reads.needed(store, ids[-1])
    return ids


def _insert(store: Store, new: NewNode, parent_id: int | None, branch_id: int | None, depth: int, hashed: bytes) -> int:
    """Write a node with its events, checks and provenance; it counts as one more step written (S40)."""
    db = store.db
    written = db.execute("UPDATE campaign SET steps_written = steps_written + 1 RETURNING steps_written").fetchone()[0]
    cursor = db.execute(
        "INSERT INTO nodes (parent_id, branch_id, depth, role, mode, text, origin, source_id, chain_hash, created_at,"
        " unknown, written) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(parent_id, branch_id, depth, new.role, new.mode, new.text, new.origin, new.source_id),
            *(hashed, store.clock(), int(new.is_unknown), written),
        ),
    )
    node_id = cursor.lastrowid
    assert node_id is not None
    for seq, event in enumerate(new.events):
        db.execute(
            "INSERT INTO state_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(node_id, seq, event.op, event.path, to_json(event.value), to_json(event.previous)),
                *(event.source, event.source_node_id, event.note),
            ),
        )
    for seq, check in enumerate(new.checks):
        db.execute(
            "INSERT INTO checks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(node_id, seq, check.skill, check.difficulty, check.outcome, check.roll, check.total, check.target),
                new.source_id if new.origin == "retold" else None,
            ),
        )
    if new.provenance is not None:
        db.execute("INSERT INTO provenance VALUES (?, ?)", (node_id, pack_record(new.provenance)))
    return node_id


def _snapshot(store: Store, parent: Node, index: int, state_at: Callable[[int], str] | None) -> None:
    """Cache the state of a node at a depth that is a multiple of 32, with the first node below it (W3)."""
    if state_at is None or parent.depth % SNAPSHOT_EVERY or parent.is_unknown:
        return
    if store.db.execute("SELECT 1 FROM snapshots WHERE node_id = ?", (parent.id,)).fetchone() is None:
        store.db.execute("INSERT INTO snapshots VALUES (?, ?)", (parent.id, state_at(index)))


def to_json(value: Any) -> str | None:
    """Compact JSON, NULL for None."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        value = dict(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
