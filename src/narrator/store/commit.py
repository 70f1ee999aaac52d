"""THE atomic commit: the only writer of story rows (S12, S46).

Every function here is one synchronous transaction and moves head and tip by compare-and-swap. Which node a move leads
to is decided above (engine/story.py); which coordinate a node takes is decided here (S14), since it depends on the
rows as they are inside the transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from narrator.core.errors import Damaged, Refusal, Stale
from narrator.core.summary import ContextCheckpoint
from narrator.core.tree import Branch, Coordinate, NewNode, Node, Position, chain_hash
from narrator.core.words import index_form
from narrator.store import reads
from narrator.store.open import Store
from narrator.store.parts import part_hash
from narrator.store.rows import insertion

Left = Literal["write", "move"]
SNAPSHOT_EVERY = 32
PLACES_KEPT = 1000


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
    memories: tuple[tuple[str, str], ...] = field(default=())


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
        branch_id = _new_branch(store, None, 0)
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
    (``exchange.growth`` works out coordinates, hashes and snapshots); references are checked at the commit.
    """
    with store.transaction() as db:
        db.execute("PRAGMA defer_foreign_keys = ON")
        for table, some in rows:
            db.executemany(insertion(table), some)
    index_memories(store)
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
            _remember(store, Position(remembered, row.tip_id))
        db.execute("DELETE FROM visits WHERE tip_node_id = ?", (anchor.id,))
        if write.has_place:
            _push_place(store, Position(row.head_id, row.tip_id))
        for text in write.parts:
            db.execute("INSERT OR IGNORE INTO parts VALUES (?, ?)", (part_hash(text), text))
        ids = _write_chain(store, anchor, write, is_fork=write.is_fork or row.fork_id == anchor.id)
        for text, source in write.memories:
            _insert_memory(store, ids[-1], text, source)
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
            parent = _place(store, parent, own_branch=opens_branch)
            opens_branch = False
        _snapshot(store, parent, index, write.state_at)
        assert parent.branch_id is not None
        below = Coordinate(parent.branch_id, parent.depth + 1)
        if opens_branch:
            branch_id: int | None = _new_branch(store, parent.branch_id, parent.depth)
        else:
            branch_id = below.branch_id if reads.holder(store, below) is None else None
        hashed = chain_hash(parent.chain_hash, new.role, new.mode, new.text)
        ids.append(_insert(store, new, parent.id, branch_id, parent.depth + 1, hashed))
        if index == write.narrated:
            store.db.execute("UPDATE nodes SET rolls = rolls + 1 WHERE id = ?", (parent.id,))
        parent = reads.needed(store, ids[-1])
    return ids


def _place(store: Store, node: Node, *, own_branch: bool = False) -> Node:
    """Give an unplaced take its coordinate: after its parent when that is free or held by a leaf, else on a new
    branch (S14). ``own_branch``: on a new one at once (S24)."""
    if node.parent_id is None:
        roots = sorted(branch.id for branch in store.forest.children(None))
        target: Coordinate | None = Coordinate(roots[0], 1) if roots else None
        fork: tuple[int | None, int] = (None, 0)
    else:
        parent = reads.needed(store, node.parent_id)
        if parent.branch_id is None:
            raise Damaged(f"The unplaced take #{parent.id} has something below it.", parent.id, "S5.3")
        target, fork = Coordinate(parent.branch_id, parent.depth + 1), (parent.branch_id, parent.depth)
    held_by = reads.holder(store, target) if target is not None else None
    is_free = target is not None and (held_by is None or not reads.has_child(store, held_by, even_hidden=True))
    if own_branch or target is None or not is_free:
        branch_id = _new_branch(store, *fork)
    else:
        branch_id = target.branch_id
        if held_by is not None:
            store.db.execute("UPDATE nodes SET branch_id = NULL WHERE id = ?", (held_by,))
    store.db.execute("UPDATE nodes SET branch_id = ? WHERE id = ?", (branch_id, node.id))
    return reads.needed(store, node.id)


def _new_branch(store: Store, parent_id: int | None, fork_depth: int) -> int:
    cursor = store.db.execute(
        "INSERT INTO branches (parent_id, fork_depth, created_at) VALUES (?, ?, ?)",
        (parent_id, fork_depth, store.clock()),
    )
    branch_id = cursor.lastrowid
    assert branch_id is not None
    store.forest.add(Branch(branch_id, parent_id, fork_depth, None))
    return branch_id


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
        db.execute("INSERT INTO provenance VALUES (?, ?)", (node_id, to_json(new.provenance)))
    return node_id


def _snapshot(store: Store, parent: Node, index: int, state_at: Callable[[int], str] | None) -> None:
    """Cache the state of a node at a depth that is a multiple of 32, with the first node below it (W3)."""
    if state_at is None or parent.depth % SNAPSHOT_EVERY or parent.is_unknown:
        return
    if store.db.execute("SELECT 1 FROM snapshots WHERE node_id = ?", (parent.id,)).fetchone() is None:
        store.db.execute("INSERT INTO snapshots VALUES (?, ?)", (parent.id, state_at(index)))


def move(
    store: Store, to: Position, *, expected: Position, remembers: bool, has_place: bool = False, fork: bool = False
) -> None:
    """Move head and tip: nothing is written but head, tip, visit, place, fork wish and revision (S16)."""
    with store.transaction():
        if remembers:
            _remember(store, expected)
        if has_place:
            _push_place(store, expected)
        _swap(store, to, expected, fork=fork)


def _swap(store: Store, to: Position, expected: Position, *, fork: bool = False) -> None:
    moved = store.db.execute(
        "UPDATE campaign SET head_node_id = ?, tip_node_id = ?, fork_node_id = ?, revision = revision + 1,"
        " played_at = ? WHERE id = 1 AND head_node_id = ? AND tip_node_id = ?",
        (to.head_id, to.tip_id, to.head_id if fork else None, store.clock(), expected.head_id, expected.tip_id),
    ).rowcount
    if moved != 1:
        raise Stale


def fork_at(store: Store, node: Node, to: Position, *, expected: Position) -> None:
    """Give an unplaced take a branch of its own and stand on it (S24)."""
    with store.transaction():
        if to != expected:
            _remember(store, expected)
            _push_place(store, expected)
        _place(store, node, own_branch=True)
        _swap(store, to, expected)


def move_along_places(store: Store, to: Position, *, expected: Position, back: bool, passed: Iterable[int]) -> None:
    """Back or forward (S37): the present position goes on the other stack; ``passed`` places are gone (seq)."""
    with store.transaction() as db:
        _remember(store, expected)
        for seq in passed:
            db.execute("DELETE FROM places WHERE seq = ?", (seq,))
        db.execute(
            "INSERT INTO places (stack, head_node_id, tip_node_id) VALUES (?, ?, ?)",
            ("forward" if back else "back", expected.head_id, expected.tip_id),
        )
        _swap(store, to, expected)


def _remember(store: Store, position: Position) -> None:
    store.db.execute("UPDATE campaign SET visit_counter = visit_counter + 1")
    store.db.execute(
        "INSERT OR REPLACE INTO visits SELECT ?, ?, visit_counter, ?, steps_written FROM campaign",
        (position.tip_id, position.head_id, store.clock()),
    )


def _push_place(store: Store, position: Position) -> None:
    db = store.db
    db.execute("DELETE FROM places WHERE stack = 'forward'")
    cursor = db.execute(
        "INSERT INTO places (stack, head_node_id, tip_node_id) VALUES ('back', ?, ?)",
        (position.head_id, position.tip_id),
    )
    assert cursor.lastrowid is not None
    db.execute("DELETE FROM places WHERE stack = 'back' AND seq <= ?", (cursor.lastrowid - PLACES_KEPT,))


def _touch(store: Store) -> None:
    store.db.execute("UPDATE campaign SET revision = revision + 1")


def save_checkpoint(store: Store, name: str, node_id: int) -> None:
    """Name a node. The caller has checked the name; a clash is a ``Refusal`` all the same (S26)."""
    with store.transaction() as db:
        try:
            db.execute(
                "INSERT INTO checkpoints (name, node_id, created_at) VALUES (?, ?, ?)", (name, node_id, store.clock())
            )
        except sqlite3.IntegrityError:
            raise Refusal("checkpoint-exists", f"There is a checkpoint “{name}” already.") from None
        _touch(store)


def rename_checkpoint(store: Store, checkpoint_id: int, name: str) -> None:
    """Change the label alone."""
    with store.transaction() as db:
        db.execute("UPDATE checkpoints SET name = ? WHERE id = ?", (name, checkpoint_id))
        _touch(store)


def delete_checkpoint(store: Store, checkpoint_id: int) -> None:
    """Delete the pointer alone."""
    with store.transaction() as db:
        db.execute("DELETE FROM checkpoints WHERE id = ?", (checkpoint_id,))
        _touch(store)


def rename_branch(store: Store, branch_id: int, name: str) -> None:
    """Name a branch."""
    with store.transaction() as db:
        db.execute("UPDATE branches SET name = ? WHERE id = ?", (name, branch_id))
        old = store.forest[branch_id]
        store.forest.add(Branch(old.id, old.parent_id, old.fork_depth, name, old.is_hidden))
        _touch(store)


def pin(store: Store, node_id: int, *, is_pinned: bool) -> None:
    """Keep a take from every prune, or no longer."""
    with store.transaction() as db:
        db.execute("UPDATE nodes SET pinned = ? WHERE id = ?", (int(is_pinned), node_id))
        _touch(store)


def _insert_memory(store: Store, node_id: int, text: str, source: str, first_depth: int | None = None) -> int:
    cursor = store.db.execute(
        "INSERT INTO memories (node_id, text, source, first_depth, created_at) VALUES (?, ?, ?, ?, ?)",
        (node_id, text, source, first_depth, store.clock()),
    )
    assert cursor.lastrowid is not None
    _index_memory(store.db, cursor.lastrowid, text)
    return cursor.lastrowid


def _index_memory(db: sqlite3.Connection, memory_id: int, text: str) -> None:
    db.execute("INSERT OR REPLACE INTO memories_fts (rowid, words) VALUES (?, ?)", (memory_id, index_form(text)))


def index_memories(store: Store) -> None:
    """Put the memories that the full-text index does not know yet into it: after a bulk write."""
    with store.transaction() as db:
        unknown = db.execute("SELECT id, text FROM memories WHERE id NOT IN (SELECT rowid FROM memories_fts)")
        for memory_id, text in unknown.fetchall():
            _index_memory(db, memory_id, text)


def keep_memory(store: Store, node_id: int, text: str, first_depth: int) -> bool:
    """Hang a generated memory from the last node of its block; False where that node is gone by now (T1)."""
    with store.transaction():
        if reads.node(store, node_id) is None:
            return False
        _insert_memory(store, node_id, text, "generated", first_depth)
        _touch(store)
    return True


def keep_context_checkpoint(store: Store, made: ContextCheckpoint, *, replaces: Sequence[int] = ()) -> bool:
    """Keep a finished summary by its host, and delete those of the hosts that it replaces (C13, C20).

    False, and nothing is written, where a node that it names is gone by now (T1). It raises no revision: nothing that
    the player sees stands on it (C17).
    """
    with store.transaction() as db:
        named = {made.at_node_id, made.covered_through_node_id, made.retained_from_node_id or made.at_node_id}
        if any(reads.node(store, node_id) is None for node_id in named):
            return False
        db.executemany("DELETE FROM context_checkpoints WHERE at_node_id = ?", [(each,) for each in replaces])
        db.execute(
            "INSERT OR REPLACE INTO context_checkpoints (at_node_id, covered_through_node_id, retained_from_node_id,"
            " checkpoint_schema_version, prompt_schema_version, stable_prefix_hash, summary_json, source_hash,"
            " is_partial, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(made.at_node_id, made.covered_through_node_id, made.retained_from_node_id),
                *(made.checkpoint_schema_version, made.prompt_schema_version, made.stable_prefix_hash),
                *(made.summary_json, made.source_hash, int(made.is_partial), store.clock()),
            ),
        )
    return True


def agree_to_host(store: Store, host: str) -> None:
    """Remember that the player lets this host have the words of the campaign (T16)."""
    with store.transaction() as db:
        db.execute("INSERT OR IGNORE INTO agreed_hosts VALUES (?, ?)", (host, store.clock()))


def remember(store: Store, node_id: int, text: str, *, source: str = "typed", first_depth: int | None = None) -> int:
    """Hang a memory from a node (S33, S34). Returns its id."""
    with store.transaction():
        memory_id = _insert_memory(store, node_id, text, source, first_depth)
        _touch(store)
    return memory_id


def change_memory(
    store: Store, memory_id: int, *, pinned: bool | None = None, forgotten: bool | None = None, text: str | None = None
) -> None:
    """Pin, forget or reword a memory; None leaves a field as it is."""
    with store.transaction() as db:
        db.execute(
            "UPDATE memories SET pinned = coalesce(?, pinned), forgotten = coalesce(?, forgotten),"
            " text = coalesce(?, text) WHERE id = ?",
            (pinned, forgotten, text, memory_id),
        )
        if text is not None:
            _index_memory(db, memory_id, text)
        _touch(store)


def comment(store: Store, node_id: int, text: str) -> None:
    """Keep a private note of the player's with a step; it is in no prompt (U27)."""
    with store.transaction() as db:
        db.execute("INSERT INTO comments (node_id, text, created_at) VALUES (?, ?, ?)", (node_id, text, store.clock()))


def keep_draft(store: Store, text: str, mode: str, *, is_telling: bool = False) -> None:
    """Save what stands in the composer (U9); empty text clears it. No revision: the story is the same.

    An input that was sent and came back into the composer is kept there from now on; while it ``is_telling``, the
    composer holds something else, whatever its words.
    """
    with store.transaction() as db:
        _write_draft(store, "composed", text, mode)
        if not is_telling:
            db.execute("DELETE FROM draft WHERE slot = 'sent' AND instr(?, text)", (text,))


def send_draft(store: Store, text: str, mode: str) -> None:
    """The input of a turn leaves the composer; it is kept until the turn is accepted."""
    with store.transaction():
        _write_draft(store, "composed", "", mode)
        _write_draft(store, "sent", text, mode)


def _write_draft(store: Store, slot: str, text: str, mode: str) -> None:
    if text:
        store.db.execute("INSERT OR REPLACE INTO draft VALUES (?, ?, ?, ?)", (slot, text, mode, store.clock()))
    else:
        store.db.execute("DELETE FROM draft WHERE slot = ?", (slot,))


def choose_narrator(store: Store, name: str | None) -> None:
    """Remember which narrator the player chose for this campaign."""
    with store.transaction() as db:
        db.execute("UPDATE campaign SET narrator = ?", (name,))


def set_tracking(store: Store, is_on: bool) -> None:
    """Turn the tracking of state on or off for a campaign that declares none (T4)."""
    with store.transaction() as db:
        db.execute("UPDATE campaign SET is_tracking = ?", (int(is_on),))


def add_played(store: Store, seconds: float) -> None:
    """Add to the time played."""
    with store.transaction() as db:
        db.execute("UPDATE campaign SET played_seconds = played_seconds + ?", (seconds,))


def hide(store: Store, kind: str, node_ids: Sequence[int], branch_ids: Sequence[int]) -> None:
    """Hide the rows of a deleted branch or take until the campaign is closed (S41)."""
    with store.transaction() as db:
        deletion = db.execute("INSERT INTO deletions (kind, created_at) VALUES (?, ?)", (kind, store.clock())).lastrowid
        db.executemany(
            "UPDATE nodes SET hidden_by = ? WHERE id = ? AND hidden_by IS NULL", [(deletion, each) for each in node_ids]
        )
        for each in branch_ids:
            if not store.forest[each].is_hidden:
                db.execute("UPDATE branches SET hidden_by = ? WHERE id = ?", (deletion, each))
                _mark(store, each, is_hidden=True)
        _touch(store)


def unhide(store: Store, deletion_id: int, tip_after: Callable[[], int]) -> None:
    """Bring back what one deletion hid. ``tip_after`` is asked, with the rows back, where the tip is now (S41)."""
    with store.transaction() as db:
        hidden = [row[0] for row in db.execute("SELECT id FROM branches WHERE hidden_by = ?", (deletion_id,))]
        db.execute("UPDATE nodes SET hidden_by = NULL WHERE hidden_by = ?", (deletion_id,))
        db.execute("UPDATE branches SET hidden_by = NULL WHERE hidden_by = ?", (deletion_id,))
        for each in hidden:
            _mark(store, each, is_hidden=False)
            _drop_taken_name(store, each)
        db.execute("DELETE FROM deletions WHERE id = ?", (deletion_id,))
        db.execute(
            "DELETE FROM visits WHERE EXISTS (SELECT 1 FROM nodes INDEXED BY nodes_parent"
            " WHERE parent_id = visits.tip_node_id AND hidden_by IS NULL)"
        )
        db.execute("UPDATE campaign SET tip_node_id = ?, revision = revision + 1", (tip_after(),))


def _mark(store: Store, branch_id: int, *, is_hidden: bool) -> None:
    old = store.forest[branch_id]
    store.forest.add(Branch(old.id, old.parent_id, old.fork_depth, old.name, is_hidden))


def _drop_taken_name(store: Store, branch_id: int) -> None:
    """A name that was given to another branch meanwhile stays there; this one goes by its derived label."""
    old = store.forest[branch_id]
    taken = any(b.name == old.name and b.id != old.id and not b.is_hidden for b in store.forest)
    if old.name is not None and taken:
        store.db.execute("UPDATE branches SET name = NULL WHERE id = ?", (branch_id,))
        store.forest.add(Branch(old.id, old.parent_id, old.fork_depth, None))


def finalize(store: Store) -> None:
    """Make earlier deletions final: at every opening for writing (S41)."""
    if store.db.execute("SELECT 1 FROM deletions LIMIT 1").fetchone() is None:
        return
    erase(store, ())


def erase(store: Store, node_ids: Sequence[int]) -> None:
    """Delete nodes for good, by id set, with all that hangs from them (S40, S41). The caller has chosen them.

    What was deleted before and is still hidden becomes final with them.
    """
    with store.transaction() as db:
        erase_rows(db, node_ids)
        _touch(store)
        store.load_forest()


def erase_rows(db: sqlite3.Connection, node_ids: Sequence[int]) -> None:
    """The statements of ``erase``, inside the caller's transaction on any connection (the preview uses a copy)."""
    db.execute("PRAGMA defer_foreign_keys = ON")
    db.execute("CREATE TEMP TABLE IF NOT EXISTS doomed (id INTEGER PRIMARY KEY)")
    db.execute("DELETE FROM temp.doomed")
    db.executemany("INSERT OR IGNORE INTO temp.doomed VALUES (?)", [(each,) for each in node_ids])
    db.execute("INSERT OR IGNORE INTO temp.doomed SELECT id FROM nodes WHERE hidden_by IS NOT NULL")
    lost = "IN (SELECT id FROM temp.doomed)"
    db.execute(f"DELETE FROM memories_fts WHERE rowid IN (SELECT id FROM memories WHERE node_id {lost})")
    for table in ("state_events", "checks", "snapshots", "memories", "comments", "provenance", "checkpoints"):
        db.execute(f"DELETE FROM {table} WHERE node_id {lost}")
    db.execute(
        f"DELETE FROM context_checkpoints WHERE at_node_id {lost} OR covered_through_node_id {lost}"
        f" OR retained_from_node_id {lost}"
    )
    db.execute(f"DELETE FROM visits WHERE tip_node_id {lost} OR head_node_id {lost}")
    db.execute(f"DELETE FROM places WHERE head_node_id {lost}")
    db.execute(f"UPDATE places SET tip_node_id = head_node_id WHERE tip_node_id {lost}")
    db.execute(f"UPDATE nodes SET source_id = NULL WHERE source_id {lost}")
    db.execute(f"UPDATE state_events SET source_node_id = NULL WHERE source_node_id {lost}")
    db.execute(f"UPDATE checks SET source_node_id = NULL WHERE source_node_id {lost}")
    db.execute(f"UPDATE campaign SET fork_node_id = NULL WHERE fork_node_id {lost}")
    db.execute(f"DELETE FROM nodes WHERE id {lost}")
    _settle(db)
    db.execute(
        "DELETE FROM branches WHERE NOT EXISTS"
        " (SELECT 1 FROM nodes INDEXED BY nodes_coordinate WHERE branch_id = branches.id)"
    )
    db.execute("UPDATE branches SET hidden_by = NULL WHERE hidden_by IS NOT NULL")
    db.execute("DELETE FROM deletions")
    db.execute("DELETE FROM temp.doomed")


def _settle(db: sqlite3.Connection) -> None:
    """An unplaced take beside a freed coordinate takes it: the one on the line first, else the oldest (S40).

    For an opening that is depth 1 of the first branch (S14).
    """
    sql = """
    SELECT u.id, u.depth, coalesce(p.branch_id, (SELECT min(id) FROM branches WHERE parent_id IS NULL)) AS owner
    FROM nodes u INDEXED BY nodes_unplaced LEFT JOIN nodes p ON p.id = u.parent_id
    WHERE u.branch_id IS NULL AND owner IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM nodes h INDEXED BY nodes_coordinate WHERE h.branch_id = owner AND h.depth = u.depth)
    ORDER BY u.id != (SELECT tip_node_id FROM campaign), u.id
    """
    taken: set[tuple[int, int]] = set()
    for node_id, depth, branch_id in db.execute(sql).fetchall():
        if (branch_id, depth) not in taken:
            taken.add((branch_id, depth))
            db.execute("UPDATE nodes SET branch_id = ? WHERE id = ?", (branch_id, node_id))


def drop_loose_parts(store: Store, hashes_in_use: Iterable[bytes]) -> None:
    """Delete prompt parts that no provenance names any more (after a prune)."""
    with store.transaction() as db:
        db.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (hash BLOB PRIMARY KEY)")
        db.execute("DELETE FROM temp.wanted")
        db.executemany("INSERT OR IGNORE INTO temp.wanted VALUES (?)", [(each,) for each in hashes_in_use])
        db.execute("DELETE FROM parts WHERE hash NOT IN (SELECT hash FROM temp.wanted)")
        db.execute("DELETE FROM temp.wanted")


def to_json(value: Any) -> str | None:
    """Compact JSON, NULL for None."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        value = dict(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
