"""Reads of the story: every one goes through core/lineage, so that nothing off the path can be seen by mistake (S6).

Hidden rows (deleted, not yet final; S41) are invisible to everything here unless a docstring says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from narrator.core.errors import BadValue, Damaged
from narrator.core.lineage import TAIL, End
from narrator.core.tree import Checkpoint, Coordinate, Node
from narrator.store.open import Store
from narrator.store.records import unpack_record

_NAMES = (
    "id parent_id branch_id depth role mode text origin source_id chain_hash created_at pinned rolls unknown".split()
)
COLUMNS = ", ".join(_NAMES)
N_COLUMNS = ", ".join(f"n.{name}" for name in _NAMES)
_TAKES = (
    "(SELECT count(*) FROM nodes s INDEXED BY nodes_parent WHERE s.parent_id IS n.parent_id AND s.hidden_by IS NULL{})"
)
_STEP_COLUMNS = (
    "n.id, n.role, n.branch_id, n.depth, n.mode, n.text, n.origin,"
    f" {_TAKES.format(' AND s.id <= n.id')}, {_TAKES.format('')}"
)
_HEAD = f"SELECT {COLUMNS} FROM nodes WHERE id = (SELECT head_node_id FROM campaign)"
_NEWEST = f"{TAIL} SELECT {_STEP_COLUMNS} FROM tail JOIN nodes n ON n.id = tail.id ORDER BY tail.n DESC"


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """The one row of the campaign: where the story stands."""

    campaign_id: str
    title: str
    seed: int
    head_id: int
    tip_id: int
    revision: int
    fork_id: int | None
    narrator: str | None
    is_tracking: bool
    created_at: str
    played_at: str
    steps_written: int


@dataclass(frozen=True, slots=True)
class Draft:
    """What stood in the composer and was not yet accepted (U9)."""

    text: str
    mode: str


class Step(NamedTuple):
    """What is shown of a node: ``take`` is its number among its siblings, ``takes`` how many there are (S18)."""

    id: int
    role: str
    branch_id: int | None
    depth: int
    mode: str | None
    text: str
    origin: str
    take: int
    takes: int


def as_node(row: Sequence[object]) -> Node:
    """A row of ``COLUMNS`` as a Node."""
    *plain, pinned, rolls, unknown = row
    return Node(*plain, bool(pinned), rolls, bool(unknown))  # type: ignore[arg-type, call-arg]


def campaign(store: Store) -> CampaignRow:
    """Where the story stands. Raises ``Damaged`` where the row or its head is missing."""
    row = store.db.execute(
        "SELECT campaign_id, title, seed, head_node_id, tip_node_id, revision, fork_node_id, narrator, is_tracking,"
        " created_at, played_at, steps_written FROM campaign"
    ).fetchone()
    if row is None or row[3] is None or row[4] is None:
        raise Damaged("The campaign has no head.", None, "S5.4")
    campaign_id, title, seed, head_id, tip_id, revision, fork_id, narrator, is_tracking, *times = row
    return CampaignRow(
        campaign_id, title, seed, head_id, tip_id, revision, fork_id, narrator, bool(is_tracking), *times
    )


def definition_source(store: Store) -> tuple[int, str]:
    """The newest version of the definition: (version, TOML text)."""
    row = store.db.execute("SELECT version, source FROM definitions ORDER BY version DESC LIMIT 1").fetchone()
    if row is None:
        raise Damaged("The campaign has no definition.")
    return int(row[0]), str(row[1])


def node(store: Store, node_id: int) -> Node | None:
    """One visible node, or None."""
    sql = f"SELECT {COLUMNS} FROM nodes WHERE id = ? AND hidden_by IS NULL"
    row = store.db.execute(sql, (node_id,)).fetchone()
    return as_node(row) if row is not None else None


def needed(store: Store, node_id: int) -> Node:
    """One node that must be there, hidden or not. Raises ``Damaged``."""
    row = store.db.execute(f"SELECT {COLUMNS} FROM nodes WHERE id = ?", (node_id,)).fetchone()
    if row is None:
        raise Damaged(f"Step #{node_id} is missing.", node_id, "S5.8")
    return as_node(row)


def head(store: Store) -> Node:
    """The node that the story is read to. Raises ``Damaged`` where it is missing."""
    row = store.db.execute(_HEAD).fetchone()
    return as_node(row) if row is not None else needed(store, campaign(store).head_id)


def end_of(store: Store, at: Node) -> End:
    """The path that ends at this node."""
    if at.branch_id is not None:
        return End(at.branch_id, at.depth)
    if at.parent_id is None:
        return End(0, 0, at.id)
    parent = needed(store, at.parent_id)
    if parent.branch_id is None:
        raise Damaged(f"The unplaced take #{parent.id} has something below it.", parent.id, "S5.3")
    return End(parent.branch_id, parent.depth, at.id)


def tail(store: Store, node_id: int, limit: int) -> list[Step]:
    """The newest ``limit`` steps of the path to ``node_id``, oldest first; the same cost at any depth."""
    return [Step._make(row) for row in store.db.execute(_NEWEST, {"node": node_id, "limit": limit})]


def steps(store: Store, end: End, first: int, last: int) -> list[Step]:
    """The same of positions ``first`` … ``last``, as ``window`` has them."""
    return [Step._make(row) for row in _rows(store, end, first, last, _STEP_COLUMNS)]


def window(store: Store, end: End, first: int, last: int) -> list[Node]:
    """The nodes at positions ``first`` … ``last`` (from 1, both included) of the path that ends at ``end``."""
    return [as_node(row) for row in _rows(store, end, first, last, N_COLUMNS)]


def _rows(store: Store, end: End, first: int, last: int, columns: str) -> list[tuple[Any, ...]]:
    """Rows of a stretch of a path; their columns 0 and 3 are the node's id and depth."""
    found: list[tuple[Any, ...]] = []
    last_placed = min(last, end.depth)
    if first <= last_placed and end.depth:
        spans = []
        for branch_id, top, bottom in store.forest.ranges(end.branch_id, end.depth):
            low, high = max(top, first), min(bottom, last_placed)
            if low <= high:
                spans.append((branch_id, low, high))
            if top <= first:
                break
        sql = (
            f"SELECT {columns} FROM nodes n INDEXED BY nodes_coordinate"
            " WHERE n.branch_id = ? AND n.depth BETWEEN ? AND ? ORDER BY n.depth"
        )
        for span in reversed(spans):
            found.extend(store.db.execute(sql, span))
        if len(found) != last_placed - max(first, 1) + 1:
            beyond = next((row[0] for at, row in enumerate(found, max(first, 1)) if row[3] != at), None)
            where = "" if beyond is None else f", before #{beyond}"
            raise Damaged(f"The path has a gap between positions {first} and {last}{where}.", beyond, "S5.2")
    if end.loose_id is not None and last > end.depth:
        loose = store.db.execute(f"SELECT {columns} FROM nodes n WHERE n.id = ?", (end.loose_id,)).fetchone()
        if loose is None:
            raise Damaged(f"Step #{end.loose_id} is missing.", end.loose_id, "S5.8")
        found.append(loose)
    return found


def at_position(store: Store, end: End, position: int) -> Node | None:
    """The node at one position of a path, or None beyond its ends."""
    if not 1 <= position <= end.length:
        return None
    return window(store, end, position, position)[0]


def is_on_path(store: Store, found: Node, end: End) -> bool:
    """Whether a node lies on the path that ends at ``end``."""
    if found.coordinate is None:
        return found.id == end.loose_id
    return end.depth > 0 and store.forest.is_on_path(found.coordinate, end)


def siblings(store: Store, parent_id: int | None) -> list[int]:
    """The ids of the takes under one parent (None: the openings), in order of id, wherever they are placed (S18)."""
    sql = "SELECT id FROM nodes INDEXED BY nodes_parent WHERE parent_id IS ? AND hidden_by IS NULL ORDER BY id"
    return [row[0] for row in store.db.execute(sql, (parent_id,))]


def has_child(store: Store, node_id: int, *, even_hidden: bool = False) -> bool:
    """Whether anything is written below a node; S14 asks ``even_hidden``."""
    where = "" if even_hidden else " AND hidden_by IS NULL"
    sql = f"SELECT 1 FROM nodes INDEXED BY nodes_parent WHERE parent_id = ?{where} LIMIT 1"
    return store.db.execute(sql, (node_id,)).fetchone() is not None


def holder(store: Store, coordinate: Coordinate) -> int | None:
    """The id of the node that owns a coordinate, hidden ones included (S14), or None."""
    sql = "SELECT id FROM nodes INDEXED BY nodes_coordinate WHERE branch_id = ? AND depth = ?"
    row = store.db.execute(sql, (coordinate.branch_id, coordinate.depth)).fetchone()
    return row[0] if row is not None else None


def deepest(store: Store, branch_id: int) -> Node | None:
    """The last visible node that a branch owns."""
    sql = (
        f"SELECT {COLUMNS} FROM nodes INDEXED BY nodes_coordinate"
        " WHERE branch_id = ? AND hidden_by IS NULL ORDER BY depth DESC LIMIT 1"
    )
    row = store.db.execute(sql, (branch_id,)).fetchone()
    return as_node(row) if row is not None else None


def last_of_role(store: Store, end: End, role: str) -> Node | None:
    """The last node of a role on a path. Walks back by windows, so it costs what it passes over."""
    last = end.length
    while last >= 1:
        first = max(1, last - 31)
        for found in reversed(window(store, end, first, last)):
            if found.role == role:
                return found
        last = first - 1
    return None


def corrections(store: Store, end: End) -> list[Node]:
    """The corrections on a path, oldest first (S23)."""
    sql = f"SELECT {COLUMNS} FROM nodes WHERE role = 'correction' AND hidden_by IS NULL ORDER BY depth"
    return [found for found in map(as_node, store.db.execute(sql)) if is_on_path(store, found, end)]


def checkpoints(store: Store) -> list[Checkpoint]:
    """All checkpoints, oldest first."""
    rows = store.db.execute("SELECT id, name, node_id, created_at FROM checkpoints ORDER BY id")
    return [Checkpoint(*row) for row in rows]


def checkpoint_named(store: Store, name: str) -> Checkpoint | None:
    """The checkpoint of that exact name."""
    sql = "SELECT id, name, node_id, created_at FROM checkpoints WHERE name = ?"
    row = store.db.execute(sql, (name.strip(),)).fetchone()
    return Checkpoint(*row) if row is not None else None


def is_agreed(store: Store, host: str) -> bool:
    """Whether the player lets this host have the words of the campaign (T16)."""
    return store.db.execute("SELECT 1 FROM agreed_hosts WHERE host = ?", (host,)).fetchone() is not None


def provenance(store: Store, node_id: int) -> dict[str, Any] | None:
    """The record of the request that made a node (S25), or None."""
    row = store.db.execute("SELECT record FROM provenance WHERE node_id = ?", (node_id,)).fetchone()
    return unpack_record(node_id, row[0]) if row is not None else None


def draft(store: Store) -> Draft | None:
    """What was sent and never accepted, and what stood in the composer beside it; None where there is neither."""
    rows = store.db.execute("SELECT text, mode FROM draft ORDER BY slot DESC").fetchall()
    return Draft("\n".join(row[0] for row in rows), rows[0][1]) if rows else None


def places(store: Store, stack: str) -> list[tuple[int, int, int]]:
    """(seq, head, tip) of a stack of places, the latest first (S37)."""
    sql = "SELECT seq, head_node_id, tip_node_id FROM places WHERE stack = ? ORDER BY seq DESC"
    return list(store.db.execute(sql, (stack,)))


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of the whole tree; ``words`` and ``steps`` of the line alone are counted by their own reads."""

    nodes: int
    branches: int
    takes: int


def totals(store: Store) -> Totals:
    """How many visible nodes, branches and unplaced takes there are."""
    row = store.db.execute(
        "SELECT (SELECT count(*) FROM nodes WHERE hidden_by IS NULL),"
        " (SELECT count(*) FROM branches WHERE hidden_by IS NULL),"
        " (SELECT count(*) FROM nodes INDEXED BY nodes_unplaced WHERE branch_id IS NULL AND hidden_by IS NULL)"
    ).fetchone()
    return Totals(*row)


def played_seconds(store: Store) -> float:
    """The time played, as far as it is written (U13)."""
    return float(store.db.execute("SELECT played_seconds FROM campaign").fetchone()[0])


def records(store: Store, after: int, limit: int = 500) -> list[tuple[int, dict[str, Any]]]:
    """(node, record) of what was told on every branch, in order of the nodes after one: for what it cost, no story."""
    sql = "SELECT node_id, record FROM provenance WHERE node_id > ? ORDER BY node_id LIMIT ?"
    return [(node_id, unpack_record(node_id, kept)) for node_id, kept in store.db.execute(sql, (after, limit))]


def takes_by_parent(store: Store) -> dict[int | None, int]:
    """How many narrations stand below each node that has any (S18)."""
    sql = "SELECT parent_id, count(*) FROM nodes WHERE role = 'narrator' AND hidden_by IS NULL GROUP BY parent_id"
    return dict(store.db.execute(sql))


def spent(store: Store) -> float:
    """What all narrators together have cost in this campaign (U13)."""
    return float(store.db.execute("SELECT coalesce(sum(cost), 0.0) FROM spending").fetchone()[0])


def data_version(store: Store) -> int:
    """Changes when another connection has written: how a reader beside a writer refreshes (T13)."""
    return int(store.db.execute("PRAGMA data_version").fetchone()[0])


def require(found: Node | None, what: str) -> Node:
    """The node, or ``no-such-step``."""
    if found is None:
        raise BadValue(f"There is no step {what}.", "`/read` shows the steps.", code="no-such-step")
    return found
