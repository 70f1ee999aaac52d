"""What happened to the state: the events and checks of nodes, along a path, and the snapshots between (W3, W8)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from narrator.core.checks import Check
from narrator.core.errors import Damaged
from narrator.core.lineage import PATH, End
from narrator.core.state import Event, is_same_fact
from narrator.store import reads
from narrator.store.open import Store


def events_of(store: Store, node_ids: Sequence[int]) -> dict[int, tuple[Event, ...]]:
    """The state events of these nodes, in order."""
    found: dict[int, list[Event]] = {}
    for chunk in _chunks(node_ids):
        marks = ",".join("?" * len(chunk))
        sql = (
            "SELECT node_id, op, path, value, previous, source, source_node_id, note FROM state_events"
            f" WHERE node_id IN ({marks}) ORDER BY node_id, seq"
        )
        for node_id, op, path, value, previous, source, source_node_id, note in store.db.execute(sql, chunk):
            try:
                event = Event(op, path, _json(value), _json(previous), source, source_node_id, note)
            except ValueError as error:
                raise Damaged(f"The state of step #{node_id} cannot be read: {error}.", node_id, "S5.9") from error
            found.setdefault(node_id, []).append(event)
    return {node_id: tuple(events) for node_id, events in found.items()}


def checks_of(store: Store, node_ids: Sequence[int]) -> dict[int, tuple[Check, ...]]:
    """The checks recorded on these nodes, in order."""
    found: dict[int, list[Check]] = {}
    for chunk in _chunks(node_ids):
        marks = ",".join("?" * len(chunk))
        sql = (
            "SELECT node_id, skill, difficulty, outcome, roll, total, target FROM checks"
            f" WHERE node_id IN ({marks}) ORDER BY node_id, seq"
        )
        for node_id, *rest in store.db.execute(sql, chunk):
            found.setdefault(node_id, []).append(Check(*rest))
    return {node_id: tuple(checks) for node_id, checks in found.items()}


def _bound(store: Store, end: End) -> dict[str, int | None]:
    """The parameters of ``LINE`` and ``PATH``. Raises ``Damaged`` where the branches of the path are no chain."""
    store.forest.reach(end)
    return end.bind()


def audit(store: Store, end: End, path: str) -> list[tuple[int, Event]]:
    """Every change of one field along a path: (position, event), oldest first (W8)."""
    sql = f"""{PATH}
    SELECT path.depth, e.op, e.path, e.value, e.previous, e.source, e.source_node_id, e.note
    FROM path JOIN state_events e ON e.node_id = path.id WHERE e.path = :path ORDER BY path.depth, e.seq
    """
    rows = store.db.execute(sql, {**_bound(store, end), "path": path})
    return [(row[0], Event(row[1], row[2], _json(row[3]), _json(row[4]), *row[5:])) for row in rows]


def last_change(store: Store, end: End, path: str, before: int) -> int | None:
    """The position before ``before`` where a field was last changed on a path, or None; newest rows first."""
    sql = (
        f"SELECT {reads.N_COLUMNS} FROM state_events e CROSS JOIN nodes n ON n.id = e.node_id"
        " WHERE e.path = ? AND n.hidden_by IS NULL ORDER BY e.node_id DESC"
    )
    found = (reads.as_node(row) for row in store.db.execute(sql, (path,)))
    return next((each.depth for each in found if each.depth < before and reads.is_on_path(store, each, end)), None)


def last_assertion(store: Store, end: End, fact: object, before: int) -> int | None:
    """The position before ``before`` where a fact was last asserted on a path, or None; newest rows first."""
    sql = (
        f"SELECT e.value, {reads.N_COLUMNS} FROM state_events e CROSS JOIN nodes n ON n.id = e.node_id"
        " WHERE e.path = 'facts' AND e.op = 'assert' AND n.hidden_by IS NULL ORDER BY e.node_id DESC"
    )
    wanted = _fact_text(fact)
    for value, *row in store.db.execute(sql):
        found = reads.as_node(row)
        is_it = found.depth < before and is_same_fact(_fact_text(_json(value)), wanted)
        if is_it and reads.is_on_path(store, found, end):
            return found.depth
    return None


def _fact_text(fact: object) -> str:
    return str(fact.get("text", "")) if isinstance(fact, dict) else str(fact)


def checks_on(store: Store, end: End) -> list[tuple[int, Check]]:
    """The checks along a path: (position, check), oldest first."""
    sql = f"""{PATH}
    SELECT path.depth, c.skill, c.difficulty, c.outcome, c.roll, c.total, c.target
    FROM path JOIN checks c ON c.node_id = path.id ORDER BY path.depth, c.seq
    """
    return [(row[0], Check(*row[1:])) for row in store.db.execute(sql, _bound(store, end))]


def snapshot_before(store: Store, end: End) -> tuple[int, str] | None:
    """The deepest snapshot on a path: (depth, state), or None. Snapshots lie on depths that are multiples of 32."""
    sql = (
        "SELECT n.depth, s.state FROM nodes n INDEXED BY nodes_coordinate JOIN snapshots s ON s.node_id = n.id"
        " WHERE n.branch_id = ? AND n.depth = ?"
    )
    for branch_id, first, last in store.forest.ranges(end.branch_id, end.depth):
        for depth in range(last - last % 32, first - 1, -32):
            row = store.db.execute(sql, (branch_id, depth)).fetchone()
            if row is not None:
                return int(row[0]), str(row[1])
    return None


def _json(text: str | None) -> object:
    return json.loads(text) if text is not None else None


def _chunks(ids: Sequence[int], size: int = 500) -> Iterable[Sequence[int]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
