"""THE path: which nodes a story is made of, read from any of its nodes (S4, S6).

Parent links are the truth; ``walk`` follows them. Coordinates make the same path a handful of index ranges: a branch
owns the depths from its fork on and borrows the rest, so the path to (branch, depth) is one ``Segment`` a branch up
the chain of parents. ``Forest`` answers what can be answered from the branch rows alone, in memory; ``LINE`` and
``PATH`` are the one SQL text that selects along a path. An unplaced take is its parent's path and itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from narrator.core.errors import Damaged
from narrator.core.tree import Branch, Coordinate

#: Segments of the path to (:branch, :depth) as the table ``line(branch_id, first, last, parent_id)``. Forks lie
#: strictly higher from branch to parent, so a damaged circle of branches ends it too.
LINE = """
line(branch_id, first, last, parent_id) AS (
    SELECT id, fork_depth + 1, :depth, parent_id FROM branches WHERE id = :branch
    UNION ALL
    SELECT b.id, b.fork_depth + 1, line.first - 1, b.parent_id FROM line
    JOIN branches b ON b.id = line.parent_id AND b.fork_depth < line.first - 1
)"""

#: The nodes of that path as the table ``path(id, depth)``; ``:loose`` is the unplaced take at its end, or NULL.
PATH = f"""
WITH RECURSIVE {LINE},
path(id, depth) AS (
    SELECT n.id, n.depth FROM line
    CROSS JOIN nodes n INDEXED BY nodes_coordinate
      ON n.branch_id = line.branch_id AND n.depth BETWEEN line.first AND line.last
    UNION ALL
    SELECT id, depth FROM nodes WHERE id = :loose
)"""

#: The newest :limit nodes of the path to :node, by parent links alone, as ``tail(id, parent_id, n)``.
TAIL = """
WITH RECURSIVE tail(id, parent_id, n) AS (
    SELECT id, parent_id, 1 FROM nodes WHERE id = :node
    UNION ALL
    SELECT nodes.id, nodes.parent_id, tail.n + 1 FROM tail JOIN nodes ON nodes.id = tail.parent_id
    WHERE tail.n < :limit
)"""


@dataclass(frozen=True, slots=True)
class Segment:
    """The depths ``first`` to ``last`` (both included) of one branch."""

    branch_id: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class End:
    """Where a path ends: the placed coordinate, and the unplaced take that hangs below it or None."""

    branch_id: int
    depth: int
    loose_id: int | None = None

    @property
    def length(self) -> int:
        """Steps on the path."""
        return self.depth + (1 if self.loose_id is not None else 0)

    def bind(self) -> dict[str, int | None]:
        """The parameters of ``LINE`` and ``PATH``."""
        return {"branch": self.branch_id, "depth": self.depth, "loose": self.loose_id}


def walk(parents: Mapping[int, int | None], node_id: int) -> list[int]:
    """The path from an opening to ``node_id`` by parent links: the definition that everything else must equal.

    Raises ``Damaged`` where a link dangles or runs in a circle.
    """
    path: list[int] = []
    seen: set[int] = set()
    at: int | None = node_id
    while at is not None:
        if at not in parents or at in seen:
            raise Damaged(f"The ancestry of step #{node_id} is broken at #{at}.", at, "S5.8")
        seen.add(at)
        path.append(at)
        at = parents[at]
    path.reverse()
    return path


#: A branch as its row has it: id, parent_id, fork_depth, name, is_hidden (0 or 1).
_Row = tuple[int, int | None, int, str | None, int]


class Forest:
    """The branch rows of one campaign, in memory. Owns the children index; hidden branches are known and marked.

    A thousand rows are read at every opening and few of them are looked at, so values are made when they are asked for.
    """

    def __init__(self, branches: Iterable[Branch] = ()) -> None:
        self._rows: dict[int, _Row] = {}
        self._below: dict[int | None, list[int]] | None = None
        self._reached: tuple[tuple[int, int], Mapping[int, int]] | None = None
        for branch in branches:
            self.add(branch)

    @classmethod
    def of_rows(cls, rows: Iterable[_Row]) -> Forest:
        """The forest of these rows: (id, parent_id, fork_depth, name, is_hidden)."""
        forest = cls()
        forest._rows = {row[0]: row for row in rows}
        return forest

    def add(self, branch: Branch) -> None:
        """Take in a new branch, or a changed row of a known one."""
        if self._below is not None and branch.id not in self._rows:
            self._below.setdefault(branch.parent_id, []).append(branch.id)
        self._rows[branch.id] = (branch.id, branch.parent_id, branch.fork_depth, branch.name, branch.is_hidden)
        self._reached = None

    def __contains__(self, branch_id: int) -> bool:
        return branch_id in self._rows

    def __getitem__(self, branch_id: int) -> Branch:
        return _branch(self._rows[branch_id])

    def __iter__(self) -> Iterator[Branch]:
        return map(_branch, self._rows.values())

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def _children(self) -> dict[int | None, list[int]]:
        if self._below is None:
            self._below = {}
            for branch_id, parent_id, *_ in self._rows.values():
                self._below.setdefault(parent_id, []).append(branch_id)
        return self._below

    def children(self, branch_id: int | None) -> list[Branch]:
        """Branches that fork from this one (None: those without a parent), oldest first."""
        return [self[child] for child in self._children.get(branch_id, ())]

    def ranges(self, branch_id: int, depth: int) -> Iterator[tuple[int, int, int]]:
        """The path to (branch, depth) as (branch, first, last), the deepest first: take what is needed.

        Raises ``Damaged`` on a broken chain: forks lie strictly higher from branch to parent.
        """
        at: int | None = branch_id
        last = depth
        while at is not None:
            row = self._rows.get(at)
            if row is None or last <= row[2]:
                raise Damaged(f"The ancestry of branch {branch_id} is broken at branch {at}.", None, "S5.5")
            yield at, row[2] + 1, last
            last, at = row[2], row[1]

    def segments(self, branch_id: int, depth: int) -> list[Segment]:
        """The same as a list of ``Segment``."""
        return [Segment(*each) for each in self.ranges(branch_id, depth)]

    def reach(self, end: End) -> Mapping[int, int]:
        """The last depth of each branch that the path takes nodes from: a placed node with that branch and at most
        that depth lies on the path. Several reads of a turn ask for the same one, so the latest is kept."""
        if not end.depth:
            return {}
        key = (end.branch_id, end.depth)
        if self._reached is None or self._reached[0] != key:
            self._reached = (key, {branch_id: last for branch_id, _, last in self.ranges(*key)})
        return self._reached[1]

    def owner(self, end: End, depth: int) -> int:
        """The branch that owns the path's node at ``depth`` (1 … end.depth). Raises ``Damaged`` on a broken chain."""
        owner = end.branch_id
        for branch_id, first, _ in self.ranges(end.branch_id, end.depth):
            owner = branch_id
            if depth >= first:
                break
        return owner

    def is_on_path(self, coordinate: Coordinate, end: End) -> bool:
        """Whether the node at ``coordinate`` lies on the path that ends at ``end``."""
        return coordinate.depth <= end.depth and self.owner(end, coordinate.depth) == coordinate.branch_id

    def below(self, coordinate: Coordinate) -> set[int]:
        """The branches that lie wholly below ``coordinate``: forked from its branch there or deeper, and theirs."""
        found: set[int] = set()
        rows, children = self._rows, self._children
        waiting = [each for each in children.get(coordinate.branch_id, ()) if rows[each][2] >= coordinate.depth]
        while waiting:
            at = waiting.pop()
            if at not in found:
                found.add(at)
                waiting.extend(children.get(at, ()))
        return found

    def chain(self, branch_id: int) -> list[int]:
        """The branch and its ancestors, itself first. Raises ``Damaged`` on a broken chain."""
        row = self._rows.get(branch_id)
        return [each for each, _, _ in self.ranges(branch_id, row[2] + 1 if row is not None else 1)]


def _branch(row: _Row) -> Branch:
    return Branch(row[0], row[1], row[2], row[3], bool(row[4]))
