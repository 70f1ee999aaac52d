"""The invariants of S5, checked on the rows alone, by other means than the code that keeps them.

Everything is read into plain dictionaries and walked by parent links. Hidden rows (S41) count as nodes for the
coordinates and not for the head and tip.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narrator.core.errors import BadDefinition, Damaged, StoreError
from narrator.core.kept_cards import read_card
from narrator.core.state import dump
from narrator.core.tree import chain_hash
from narrator.store.fold import fold_from_nothing
from narrator.store.open import inspect_file, reading
from narrator.store.records import unpack_record

_DERIVED = (
    ("state_events", "node_id"),
    ("checks", "node_id"),
    ("snapshots", "node_id"),
    ("memories", "node_id"),
    ("comments", "node_id"),
    ("context_checkpoints", "at_node_id"),
    ("context_checkpoints", "covered_through_node_id"),
    ("context_checkpoints", "retained_from_node_id"),
    ("provenance", "node_id"),
    ("visits", "tip_node_id"),
    ("visits", "head_node_id"),
    ("checkpoints", "node_id"),
)


@dataclass(frozen=True, slots=True)
class Problem:
    """A broken invariant: its number in S5 (or ``file``), the node or branch it was found at, and what is wrong."""

    invariant: str
    node: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Report:
    """What ``verify`` found. ``ok`` when there are no problems."""

    nodes: int
    branches: int
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True)
class _Row:
    id: int
    parent_id: int | None
    branch_id: int | None
    depth: int
    role: str
    mode: str | None
    text: str
    chain_hash: bytes
    hidden_by: int | None


def verify(path: Path) -> Report:
    """Check a campaign file, open elsewhere or not. Raises ``StoreError`` where it is none."""
    inspect_file(path)
    try:
        with reading(path) as db:
            return verify_connection(db)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return Report(0, 0, (Problem("file", None, str(error)),))
        raise StoreError("io-error", f"{path.name}: {error}.") from error


def verify_connection(db: sqlite3.Connection) -> Report:
    """Check the rows that this connection sees."""
    problems = [Problem("file", None, row[0]) for row in db.execute("PRAGMA quick_check") if row[0] != "ok"]
    if problems:
        return Report(0, 0, tuple(problems))
    nodes = {
        row[0]: _Row(*row)
        for row in db.execute(
            "SELECT id, parent_id, branch_id, depth, role, mode, text, chain_hash, hidden_by FROM nodes ORDER BY id"
        )
    }
    branches = {row[0]: (row[1], row[2]) for row in db.execute("SELECT id, parent_id, fork_depth FROM branches")}
    problems.extend(_check_coordinates(nodes, branches))
    problems.extend(_check_branches(nodes, branches))
    problems.extend(_check_ancestry(nodes))
    problems.extend(_check_hashes(nodes))
    problems.extend(_check_head(db, nodes))
    problems.extend(_check_derived(db, nodes))
    problems.extend(_check_records(db))
    problems.extend(_check_state(db, nodes))
    problems.extend(_check_cards(db))
    return Report(len(nodes), len(branches), tuple(problems))


def _check_coordinates(nodes: dict[int, _Row], branches: dict[int, tuple[int | None, int]]) -> Iterator[Problem]:
    taken: dict[tuple[int, int], int] = {}
    with_children = {row.parent_id for row in nodes.values()}
    for row in nodes.values():
        parent = nodes.get(row.parent_id) if row.parent_id is not None else None
        if row.depth != (parent.depth + 1 if parent else 1):
            yield Problem(
                "S5.2", row.id, f"#{row.id} has depth {row.depth} below a parent at {parent and parent.depth}."
            )
        if row.branch_id is None:
            if row.id in with_children:
                yield Problem("S5.3", row.id, f"The unplaced take #{row.id} has something below it.")
            continue
        place = (row.branch_id, row.depth)
        if place in taken:
            yield Problem("S5.1", row.id, f"#{row.id} and #{taken[place]} hold the same coordinate {place}.")
        taken[place] = row.id
        branch = branches.get(row.branch_id)
        if branch is None:
            yield Problem("S5.5", row.id, f"#{row.id} lies on branch {row.branch_id}, which does not exist.")
        elif parent is not None:
            before = branch[0] if row.depth == branch[1] + 1 else row.branch_id
            if parent.branch_id != before or (parent.branch_id, parent.depth) != (before, row.depth - 1):
                yield Problem("S5.2", row.id, f"The parent of #{row.id} is not the node before it on its path.")
        elif branch[0] is not None or branch[1] != 0:
            yield Problem("S5.2", row.id, f"#{row.id} has no parent but lies on a branch that forks.")


def _check_branches(nodes: dict[int, _Row], branches: dict[int, tuple[int | None, int]]) -> Iterator[Problem]:
    owned: dict[int, list[tuple[int, int]]] = {branch: [] for branch in branches}
    for row in nodes.values():
        if row.branch_id in owned:
            owned[row.branch_id].append((row.depth, row.id))
    coordinates = {(row.branch_id, row.depth) for row in nodes.values() if row.branch_id is not None}
    for branch_id, (parent_id, fork_depth) in branches.items():
        found = sorted(owned[branch_id])
        first = found[0][1] if found else None
        where = f"Branch {branch_id}" if first is None else f"Branch {branch_id}, which begins with #{first},"
        beyond_gap = next((node for at, (depth, node) in enumerate(found, fork_depth + 1) if depth != at), None)
        if not found:
            yield Problem("S5.5", None, f"{where} has no node.")
        elif beyond_gap is not None:
            yield Problem("S5.5", beyond_gap, f"{where} has a gap before #{beyond_gap}.")
        if parent_id is None:
            if fork_depth != 0:
                yield Problem("S5.5", first, f"{where} has no parent but forks at {fork_depth}.")
        elif (parent_id, fork_depth) not in coordinates:
            yield Problem("S5.5", first, f"{where} forks from a node that branch {parent_id} does not own.")


def _check_ancestry(nodes: dict[int, _Row]) -> Iterator[Problem]:
    """S5.8: every path begins with an opening, and only there."""
    if not any(row.role == "opening" and row.parent_id is None and row.hidden_by is None for row in nodes.values()):
        yield Problem("S5.8", None, "There is no opening.")
    sound: set[int] = set()
    for row in nodes.values():
        if (row.role == "opening") != (row.parent_id is None):
            yield Problem(
                "S5.8", row.id, f"#{row.id} is {row.role} and has {'no' if row.parent_id is None else 'a'} parent."
            )
        walked: list[int] = []
        seen: set[int] = set()
        at: int | None = row.id
        while at is not None and at not in sound:
            if at not in nodes or at in seen:
                yield Problem("S5.8", row.id, f"The ancestry of #{row.id} is broken at #{at}.")
                break
            seen.add(at)
            walked.append(at)
            at = nodes[at].parent_id
        sound.update(walked)


def _check_hashes(nodes: dict[int, _Row]) -> Iterator[Problem]:
    for row in nodes.values():
        parent = nodes.get(row.parent_id) if row.parent_id is not None else None
        if row.parent_id is not None and parent is None:
            continue
        if chain_hash(parent.chain_hash if parent else None, row.role, row.mode, row.text) != row.chain_hash:
            yield Problem("S5.6", row.id, f"The chain hash of #{row.id} does not hold.")


def _check_head(db: sqlite3.Connection, nodes: dict[int, _Row]) -> Iterator[Problem]:
    row = db.execute("SELECT head_node_id, tip_node_id FROM campaign").fetchone()
    head_id, tip_id = row if row is not None else (0, 0)
    head, tip = nodes.get(head_id or 0), nodes.get(tip_id or 0)
    if head is None or tip is None or head.hidden_by is not None or tip.hidden_by is not None:
        yield Problem("S5.4", head_id, f"Head #{head_id} or tip #{tip_id} does not exist.")
        return
    if any(each.parent_id == tip.id and each.hidden_by is None for each in nodes.values()):
        yield Problem("S5.4", tip.id, f"The tip #{tip.id} is no leaf.")
    at: int | None = tip.id
    passed: set[int] = set()
    while at is not None and at != head.id and at not in passed:
        passed.add(at)
        at = nodes[at].parent_id if at in nodes else None
    if at != head.id:
        yield Problem("S5.4", head.id, f"The head #{head.id} is not on the path to the tip #{tip.id}.")


def _check_derived(db: sqlite3.Connection, nodes: dict[int, _Row]) -> Iterator[Problem]:
    for table, column in _DERIVED:
        for (node_id,) in db.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"):
            if node_id not in nodes:
                yield Problem("S5.7", node_id, f"A row of {table} hangs from #{node_id}, which does not exist.")


def _check_records(db: sqlite3.Connection) -> Iterator[Problem]:
    for node_id, record in db.execute("SELECT node_id, record FROM provenance"):
        try:
            unpack_record(node_id, record)
        except Damaged as error:
            yield Problem("S5.7", node_id, error.message)


def _check_state(db: sqlite3.Connection, nodes: dict[int, _Row]) -> Iterator[Problem]:
    """S5.9: the state at the head, folded from nothing, equals the fold from the nearest snapshot, which is shown."""
    head = db.execute("SELECT head_node_id FROM campaign").fetchone()
    if head is None or head[0] not in nodes:
        return
    path: list[int] = []
    at: int | None = head[0]
    seen: set[int] = set()
    while at is not None and at in nodes and at not in seen:
        seen.add(at)
        path.append(at)
        at = nodes[at].parent_id
    path.reverse()
    snapshots: dict[int, Any] = dict(db.execute("SELECT node_id, state FROM snapshots").fetchall())
    try:
        for node_id, state in fold_from_nothing(db, path):
            if node_id in snapshots and snapshots[node_id] != dump(state):
                yield Problem("S5.9", node_id, f"The snapshot at #{node_id} is not the state folded from nothing.")
    except Damaged as error:
        yield Problem("S5.9", error.node_id, error.message)


def _check_cards(db: sqlite3.Connection) -> Iterator[Problem]:
    """Imported cards hang from no node: each has to be readable. A file of an older schema has none."""
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'cards'").fetchone() is None:
        return
    for name, body in db.execute("SELECT name, body FROM cards ORDER BY id"):
        try:
            read_card(name, body)
        except BadDefinition as error:
            where, what = error.problems[0]
            yield Problem("file", None, f"{where} {what}.".strip())
