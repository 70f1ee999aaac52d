"""What is deleted: hidden until the campaign is closed, then erased by id set (S38, S40, S41)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence

from narrator.core.tree import Branch
from narrator.store.commit.moving import touch
from narrator.store.open import Store


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
        touch(store)


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
        touch(store)
        store.load_forest()


def erase_rows(db: sqlite3.Connection, node_ids: Sequence[int]) -> None:
    """The statements of ``erase``, inside the caller's transaction on any connection (the preview uses a copy)."""
    db.execute("PRAGMA defer_foreign_keys = ON")
    db.execute("CREATE TEMP TABLE IF NOT EXISTS doomed (id INTEGER PRIMARY KEY)")
    db.execute("DELETE FROM temp.doomed")
    db.executemany("INSERT OR IGNORE INTO temp.doomed VALUES (?)", [(each,) for each in node_ids])
    db.execute("INSERT OR IGNORE INTO temp.doomed SELECT id FROM nodes WHERE hidden_by IS NOT NULL")
    lost = "IN (SELECT id FROM temp.doomed)"
    for table, key in (("memories_fts", "rowid"), ("memory_vectors", "memory_id")):
        db.execute(f"DELETE FROM {table} WHERE {key} IN (SELECT id FROM memories WHERE node_id {lost})")
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
