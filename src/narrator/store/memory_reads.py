"""What a path is remembered by: its memories and its context checkpoints, read along the path alone (S33, C14, C24)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from narrator.core.lineage import End
from narrator.core.summary import ContextCheckpoint
from narrator.core.words import match_any
from narrator.store import reads
from narrator.store.open import Store

_FEW_NODES = 400


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A memory; visible exactly when its node is on the path (S33)."""

    id: int
    node_id: int
    text: str
    source: str
    is_pinned: bool
    first_depth: int | None = None
    depth: int = 0


def memories(store: Store, end: End) -> list[MemoryRow]:
    """The memories on a path that were not forgotten, in order of the path."""
    return _memories(store, end, "m.forgotten = 0")


def pinned_memories(store: Store, end: End) -> list[MemoryRow]:
    """The pinned ones among them."""
    on_path = store.forest.reach(end)
    sql = """
    SELECT m.id, m.node_id, m.text, m.source, m.first_depth, n.depth, n.branch_id
    FROM memories m INDEXED BY memories_pinned JOIN nodes n ON n.id = m.node_id
    WHERE m.pinned = 1 AND m.forgotten = 0 ORDER BY n.depth, m.id
    """
    return [
        MemoryRow(memory_id, node_id, text, source, True, first_depth, depth)
        for memory_id, node_id, text, source, first_depth, depth, branch_id in store.db.execute(sql)
        if (node_id == end.loose_id if branch_id is None else depth <= on_path.get(branch_id, 0))
    ]


def told_blocks(store: Store, end: End, first: int) -> list[tuple[int, int]]:
    """(first, last) depths that a memory tells of, of those that hang from the path's nodes from a position on.

    Forgotten ones are among them: what they tell of is not told again (C23).
    """
    if end.length - first < _FEW_NODES:
        nodes = {node.id: node.depth for node in reads.window(store, end, first, end.length)}
        marks = ",".join("?" * len(nodes))
        sql = (
            f"SELECT first_depth, node_id FROM memories WHERE node_id IN ({marks})"
            " AND first_depth IS NOT NULL AND source != 'typed'"
        )
        return [(low, nodes[node_id]) for low, node_id in store.db.execute(sql, tuple(nodes))]
    rows = _memories(store, end, "m.first_depth IS NOT NULL AND m.source != 'typed'")
    return [(row.first_depth or row.depth, row.depth) for row in rows if row.depth >= first]


def _memories(store: Store, end: End, condition: str) -> list[MemoryRow]:
    """Those on the path, in its order. Each row is looked up in the branches in memory: a join over the segments of a
    path through a thousand forks takes minutes."""
    on_path = store.forest.reach(end)
    sql = f"""
    SELECT m.id, m.node_id, m.text, m.source, m.pinned, m.first_depth, n.depth, n.branch_id FROM memories m
    JOIN nodes n ON n.id = m.node_id WHERE {condition} ORDER BY n.depth, m.id
    """
    return [
        MemoryRow(memory_id, node_id, text, source, bool(pinned), first_depth, depth)
        for memory_id, node_id, text, source, pinned, first_depth, depth, branch_id in store.db.execute(sql)
        if (node_id == end.loose_id if branch_id is None else depth <= on_path.get(branch_id, 0))
    ]


def rarest_phrases(store: Store, phrases: Sequence[str], limit: int) -> list[str]:
    """Those of the phrases that a memory holds, the rarest first: what a query of full text is worth asking for.

    A word that very many memories hold tells nothing and costs most, so it is left out; the query that is left finds
    two thousand memories at most, whatever the length of the story.
    """
    sql = "SELECT count(*) FROM (SELECT 1 FROM memories_fts WHERE memories_fts MATCH ? LIMIT ?)"
    most = max(50, min(1000, store.db.execute("SELECT count(*) FROM memories").fetchone()[0] // 4))
    counted = []
    for phrase in phrases:
        held = store.db.execute(sql, (match_any((phrase,)), most + 1)).fetchone()[0]
        if 0 < held <= most:
            counted.append((held, phrase))
    counted.sort(key=lambda each: each[0])
    chosen: list[str] = []
    found = 0
    for held, phrase in counted[:limit]:
        found += held
        if chosen and found > 2000:
            break
        chosen.append(phrase)
    return chosen


def ranked_memories(
    store: Store, end: End, match: str, limit: int, *, shown_from: int
) -> list[tuple[MemoryRow, float]]:
    """The memories on a path that match best, by BM25, with their scores; without pinned and forgotten ones.

    Those that tell of nodes from the depth ``shown_from`` on alone are left out: the prompt shows the nodes (C24).
    """
    on_path = store.forest.reach(end)
    sql = """
    SELECT m.id, m.node_id, m.text, m.source, m.first_depth, n.depth, n.branch_id, -rank FROM memories_fts
    JOIN memories m ON m.id = memories_fts.rowid JOIN nodes n ON n.id = m.node_id
    WHERE memories_fts MATCH ? AND m.forgotten = 0 AND m.pinned = 0 ORDER BY rank
    """
    found: list[tuple[MemoryRow, float]] = []
    for memory_id, node_id, text, source, first_depth, depth, branch_id, score in store.db.execute(sql, (match,)):
        is_there = node_id == end.loose_id if branch_id is None else depth <= on_path.get(branch_id, 0)
        is_shown = first_depth is not None and first_depth >= shown_from
        if is_there and not is_shown:
            found.append((MemoryRow(memory_id, node_id, text, source, False, first_depth, depth), score))
            if len(found) >= limit:
                break
    return found


def has_unindexed_memories(store: Store) -> bool:
    """Whether the full-text index lacks any of the memories, wherever they stand."""
    sql = "SELECT (SELECT count(*) FROM memories) > (SELECT count(*) FROM memories_fts_docsize)"
    return bool(store.db.execute(sql).fetchone()[0])


def context_checkpoint_hosts(store: Store, end: End) -> list[int]:
    """The hosts of context checkpoints on a path, the deepest first (C14)."""
    on_path = store.forest.reach(end)
    sql = """
    SELECT c.at_node_id, n.branch_id, n.depth FROM context_checkpoints c JOIN nodes n ON n.id = c.at_node_id
    WHERE n.hidden_by IS NULL ORDER BY n.depth DESC
    """
    return [
        host
        for host, branch_id, depth in store.db.execute(sql)
        if (host == end.loose_id if branch_id is None else depth <= on_path.get(branch_id, 0))
    ]


def context_checkpoint(store: Store, host_id: int) -> ContextCheckpoint | None:
    """The context checkpoint that hangs from a node."""
    sql = (
        "SELECT at_node_id, covered_through_node_id, retained_from_node_id, checkpoint_schema_version,"
        " prompt_schema_version, stable_prefix_hash, summary_json, source_hash, is_partial FROM context_checkpoints"
        " WHERE at_node_id = ?"
    )
    row = store.db.execute(sql, (host_id,)).fetchone()
    if row is None:
        return None
    *plain, is_partial = row
    return ContextCheckpoint(*plain, bool(is_partial))  # type: ignore[call-arg]
