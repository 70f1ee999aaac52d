"""From nodes in order of creation to the rows of a campaign: depths, branches, chain hashes, snapshots.

A ``Skeleton`` holds of each node what fits in a few bytes, so that 100,000 nodes are planned in memory while their
texts stream past. ``grow`` turns the nodes into rows for ``commit.restore``.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from narrator.core.state import EMPTY, Event, State, advance, dump, load
from narrator.core.tree import chain_hash
from narrator.exchange.bundle_models import NodeRow

SNAPSHOT_EVERY = 32
_BATCH = 500
_STATES_KEPT = 1000

Batch = tuple[str, Sequence[Sequence[Any]]]


def _column() -> array[int]:
    return array("q", [0])


@dataclass(slots=True)
class Fork:
    """A branch: where it leaves its parent (both None-like 0 for one that begins with an opening)."""

    parent_id: int | None
    fork_depth: int
    name: str | None = None
    created_at: str = ""


@dataclass(slots=True)
class Skeleton:
    """The shape of a tree; index 0 of each column is nothing, the first node has 1. Branch 0 means unplaced."""

    parents: array[int] = field(default_factory=_column)
    branches: array[int] = field(default_factory=_column)
    depths: array[int] = field(default_factory=_column)
    children: array[int] = field(default_factory=_column)
    forks: list[Fork] = field(default_factory=list)
    _starts: array[int] = field(default_factory=lambda: array("q"))
    _sizes: array[int] = field(default_factory=lambda: array("q"))

    @property
    def count(self) -> int:
        """How many nodes there are."""
        return len(self.parents) - 1

    def add(self, parent: int, branch: int = 0) -> int:
        """Take in the next node; its ordinal comes back. ``parent`` is 0 for an opening and earlier otherwise."""
        self.parents.append(parent)
        self.branches.append(branch)
        self.depths.append(self.depths[parent] + 1)
        self.children.append(0)
        self.children[parent] += 1
        return self.count

    def path(self, node: int) -> list[int]:
        """The ordinals from the opening to a node."""
        found = []
        while node:
            found.append(node)
            node = self.parents[node]
        return found[::-1]

    def is_above(self, upper: int, lower: int) -> bool:
        """Whether ``upper`` is ``lower`` or an ancestor of it. At once, after a look at all nodes for the first."""
        if len(self._starts) != self.count + 1:
            self._number()
        return self._starts[upper] <= self._starts[lower] < self._starts[upper] + self._sizes[upper]

    def _number(self) -> None:
        """Number the nodes so that what lies below one follows it without a gap; and count what lies below each."""
        size = self._sizes = array("q", [1]) * (self.count + 1)
        for node in range(self.count, 0, -1):
            size[self.parents[node]] += size[node]
        free = array("q", [0]) * (self.count + 1)
        start = self._starts = array("q", [0]) * (self.count + 1)
        for node in range(1, self.count + 1):
            parent = self.parents[node]
            start[node] = free[parent]
            free[parent] += size[node]
            free[node] = start[node] + 1

    def newest_leaf(self, node: int) -> int:
        """The leaf at or below a node that was made last."""
        below = bytearray(self.count + 1)
        below[node] = 1
        best = node
        for each in range(node + 1, self.count + 1):
            if below[self.parents[each]]:
                below[each] = 1
                best = each
        return best

    def new_branch(self, parent: int, created_at: str = "") -> int:
        """A branch that leaves at a node, 0: with an opening."""
        owner = self.branches[parent] if parent else None
        self.forks.append(Fork(owner, self.depths[parent], None, created_at))
        return len(self.forks)

    def place_all(self) -> None:
        """Give every node the coordinate that play would have given it, written in this order (S14)."""
        holder: dict[tuple[int, int], int] = {}
        built = bytearray(self.count + 1)
        for node in range(1, self.count + 1):
            parent = self.parents[node]
            if parent and not self.branches[parent]:
                self._place(parent, holder, built)
            built[parent] = 1
            if not parent and not self.forks:
                self.new_branch(0)
            target = (self.branches[parent] if parent else 1, self.depths[node])
            if target not in holder:
                holder[target] = node
                self.branches[node] = target[0]

    def _place(self, node: int, holder: dict[tuple[int, int], int], built: bytearray) -> None:
        parent = self.parents[node]
        target = (self.branches[parent] if parent else 1, self.depths[node])
        held = holder.get(target)
        if held is not None and built[held]:
            target = (self.new_branch(parent), self.depths[node])
        elif held is not None:
            self.branches[held] = 0
        holder[target] = node
        self.branches[node] = target[0]

    def branch_rows(self) -> list[tuple[Any, ...]]:
        """The rows of the table ``branches``."""
        return [
            (index, fork.parent_id, fork.fork_depth, fork.name, fork.created_at)
            for index, fork in enumerate(self.forks, 1)
        ]


class _States:
    """The states that nodes still to come build on. Owns them; those that wait long are packed."""

    def __init__(self, skeleton: Skeleton) -> None:
        self._waiting = array("q", skeleton.children)
        self._ready: dict[int, State] = {}
        self._packed: dict[int, bytes] = {}

    def at(self, node: int) -> State:
        """The state of a node, asked for once a child."""
        if not node:
            return EMPTY
        self._waiting[node] -= 1
        is_last = not self._waiting[node]
        if node in self._ready:
            return self._ready.pop(node) if is_last else self._ready[node]
        packed = self._packed.pop(node) if is_last else self._packed[node]
        return load(zlib.decompress(packed).decode())

    def keep(self, node: int, state: State) -> None:
        """Remember the state of a node that something lies below."""
        if not self._waiting[node]:
            return
        self._ready[node] = state
        if len(self._ready) > _STATES_KEPT:
            oldest = next(iter(self._ready))
            self._packed[oldest] = zlib.compress(dump(self._ready.pop(oldest)).encode(), 1)


class Growth(NamedTuple):
    """A node to be written, with what hangs from it. ``checks`` are rows without the node and their number."""

    role: str
    mode: str | None
    text: str
    origin: str
    source: int | None
    created_at: str
    pinned: bool
    rolls: int
    unknown: bool
    written: int
    events: tuple[Event, ...]
    checks: tuple[tuple[Any, ...], ...]


def growth_of(row: NodeRow) -> Growth:
    """A node that a model has."""
    return Growth(
        *(row.role, row.mode, row.text, row.origin, row.source, row.created_at, row.pinned, row.rolls, row.unknown),
        row.written,
        tuple(Event(e.op, e.path, e.value, e.previous, e.source, e.cause, e.note) for e in row.events),
        tuple((c.skill, c.difficulty, c.outcome, c.roll, c.total, c.target, c.cause) for c in row.checks),
    )


def growth_in(value: Mapping[str, Any]) -> Growth:
    """A node as it stands in a file, where the model has accepted it before without mending: half the cost."""
    get = value.get
    return Growth(
        *(value["role"], get("mode"), value["text"], get("origin", "typed"), get("source"), get("created_at", "")),
        *(get("pinned", False), get("rolls", 0), get("unknown", False), get("written", 0)),
        tuple(
            Event(
                *(e["op"], e["path"], e.get("value"), e.get("previous"), e["source"]),
                e["from"] if "from" in e else e.get("cause"),
                e.get("note", ""),
            )
            for e in get("events", ())
        ),
        tuple(
            (
                *(c["skill"], c["difficulty"], c["outcome"], c["roll"], c["total"], c["target"]),
                c["from"] if "from" in c else c.get("cause"),
            )
            for c in get("checks", ())
        ),
    )


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def compact(value: Any) -> str | None:
    """Compact JSON, NULL for None."""
    if value is None:
        return None
    return str(value) if type(value) is int else _encode(value)


def grow(skeleton: Skeleton, nodes: Iterable[Growth], *, now: str) -> Iterator[Batch]:
    """The rows of nodes with all that hangs from them. ``now`` stands in for a time that a node does not have."""
    hashes = bytearray(32 * (skeleton.count + 1))
    states = _States(skeleton)
    batches: dict[str, list[tuple[Any, ...]]] = {
        table: [] for table in ("nodes", "state_events", "checks", "snapshots")
    }
    for node, row in enumerate(nodes, 1):
        parent = skeleton.parents[node]
        above = bytes(hashes[32 * parent : 32 * parent + 32]) if parent else None
        hashed = chain_hash(above, row.role, row.mode, row.text)
        hashes[32 * node : 32 * node + 32] = hashed
        batches["nodes"].append(
            (
                *(node, parent or None, skeleton.branches[node] or None, skeleton.depths[node], row.role, row.mode),
                *(row.text, row.origin, row.source, hashed, row.created_at or now, int(row.pinned), row.rolls),
                *(int(row.unknown), row.written),
            )
        )
        for seq, e in enumerate(row.events):
            values = (compact(e.value), compact(e.previous))
            batches["state_events"].append((node, seq, e.op, e.path, *values, e.source, e.source_node_id, e.note))
        batches["checks"] += ((node, seq, *check) for seq, check in enumerate(row.checks))
        state = advance(states.at(parent), row.role, row.events, row.unknown)
        states.keep(node, state)
        if not skeleton.depths[node] % SNAPSHOT_EVERY and skeleton.children[node] and not row.unknown:
            batches["snapshots"].append((node, dump(state)))
        if len(batches["nodes"]) >= _BATCH:
            yield from _flush(batches)
    yield from _flush(batches)


def _flush(batches: dict[str, list[tuple[Any, ...]]]) -> Iterator[Batch]:
    for table, rows in batches.items():
        if rows:
            yield table, rows
            rows.clear()
