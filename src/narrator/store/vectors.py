"""Vectors of memories: a derived table beside them, by which memories are found by meaning (C24).

Deleting all of it loses nothing: upkeep makes it again. A vector belongs to the text it was made from; whatever changes
a text takes its vector away.
"""

from __future__ import annotations

from collections.abc import Sequence

from narrator.core.lineage import End
from narrator.store.memory_reads import MemoryRow
from narrator.store.open import Store


def stamp(store: Store) -> tuple[int, int]:
    """(how many vectors there are, the newest one's number): changes with whatever is added or taken away."""
    sql = "SELECT (SELECT count(*) FROM memory_vectors), (SELECT coalesce(max(seq), 0) FROM memory_vectors)"
    count, newest = store.db.execute(sql).fetchone()
    return int(count), int(newest)


def after(store: Store, newest: int, model: str, size: int) -> list[tuple[int, bytes]]:
    """(memory id, vector) of a model's vectors of so many bytes that were added after a number."""
    sql = "SELECT memory_id, vector FROM memory_vectors WHERE seq > ? AND model = ? AND length(vector) = ? ORDER BY seq"
    return store.db.execute(sql, (newest, model, size)).fetchall()


def memories_without(store: Store, model: str, size: int, limit: int) -> list[tuple[int, str]]:
    """(id, text) of memories that have no vector of this model and size, the newest first."""
    sql = """
    SELECT id, text FROM memories
    WHERE id IN (
        SELECT id FROM memories EXCEPT SELECT memory_id FROM memory_vectors WHERE model = ? AND length(vector) = ?)
    ORDER BY id DESC LIMIT ?
    """
    return store.db.execute(sql, (model, size, limit)).fetchall()


def has_memories(store: Store) -> bool:
    """Whether there is any memory at all."""
    return store.db.execute("SELECT 1 FROM memories LIMIT 1").fetchone() is not None


def count_memories(store: Store) -> int:
    """How many memories the campaign has, on every path."""
    return int(store.db.execute("SELECT count(*) FROM memories").fetchone()[0])


def visible(store: Store, end: End, ids: Sequence[int], *, shown_from: int) -> dict[int, MemoryRow]:
    """By id, those of the memories that retrieval may tell: as ``ranked_memories`` chooses among its matches."""
    on_path = store.forest.reach(end)
    sql = f"""
    SELECT m.id, m.node_id, m.text, m.source, m.first_depth, n.depth, n.branch_id
    FROM memories m JOIN nodes n ON n.id = m.node_id
    WHERE m.id IN ({",".join("?" * len(ids))}) AND m.forgotten = 0 AND m.pinned = 0
    """
    return {
        memory_id: MemoryRow(memory_id, node_id, text, source, False, first_depth, depth)
        for memory_id, node_id, text, source, first_depth, depth, branch_id in store.db.execute(sql, tuple(ids))
        if (node_id == end.loose_id if branch_id is None else depth <= on_path.get(branch_id, 0))
        and not (first_depth is not None and first_depth >= shown_from)
    }
