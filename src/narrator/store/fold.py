"""State at a node: the fold of the events along its path, from the nearest snapshot (W3)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from narrator.core.errors import Damaged
from narrator.core.lineage import End
from narrator.core.state import EMPTY, Event, State, advance, load
from narrator.core.tree import Node
from narrator.store import reads, state_reads
from narrator.store.open import Store


def state_at(store: Store, node: Node) -> State:
    """The state at a node: at most 32 folds beyond the nearest snapshot on its path."""
    return state_at_end(store, reads.end_of(store, node))


def state_at_end(store: Store, end: End) -> State:
    """The state at the end of a path."""
    cached = state_reads.snapshot_before(store, end) if end.depth else None
    state, first = EMPTY, 1
    if cached is not None:
        try:
            state, first = load(cached[1]), cached[0] + 1
        except Damaged as error:
            (at,) = reads.window(store, end, cached[0], cached[0])
            raise Damaged(error.message, at.id, "S5.9") from error
    for low in range(first, end.length + 1, 1000):
        nodes = reads.window(store, end, low, min(low + 999, end.length))
        events = state_reads.events_of(store, [each.id for each in nodes])
        for each in nodes:
            state = _advance(state, each.id, each.role, events.get(each.id, ()), each.is_unknown)
    return state


def _advance(state: State, node_id: int, role: str, events: Sequence[Event], is_unknown: bool) -> State:
    """One node more. Raises ``Damaged`` with the node where its events mean nothing (S47)."""
    try:
        return advance(state, role, events, is_unknown)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"The state of step #{node_id} cannot be folded: {error}.", node_id, "S5.9") from error


def fold_from_nothing(db: sqlite3.Connection, path: Sequence[int]) -> Iterator[tuple[int, State]]:
    """The state after each node of a path, without snapshots: the check of S5.9."""
    state = EMPTY
    for node_id in path:
        role, unknown = db.execute("SELECT role, unknown FROM nodes WHERE id = ?", (node_id,)).fetchone()
        rows = db.execute(
            "SELECT op, path, value, previous, source, source_node_id, note FROM state_events"
            " WHERE node_id = ? ORDER BY seq",
            (node_id,),
        )
        try:
            events = tuple(Event(op, p, _json(v), _json(old), *rest) for op, p, v, old, *rest in rows)
        except ValueError as error:
            raise Damaged(f"The state of step #{node_id} cannot be read: {error}.", node_id, "S5.9") from error
        state = _advance(state, node_id, role, events, bool(unknown))
        yield node_id, state


def _json(text: str | None) -> Any:
    return json.loads(text) if text is not None else None
