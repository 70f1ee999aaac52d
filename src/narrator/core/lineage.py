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

#: Segments of the path to (:branch, :depth) as the table ``line(branch_id, first, last, parent_id)``.
LINE = """
line(branch_id, first, last, parent_id) AS (
    SELECT id, fork_depth + 1, :depth, parent_id FROM branches WHERE id = :branch
    UNION ALL
    SELECT b.id, b.fork_depth + 1, line.first - 1, b.parent_id FROM line JOIN branches b ON b.id = line.parent_id
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


class Forest:
    """The branch rows of one campaign, in memory. Owns the children index; hidden branches are known and marked."""

    def __init__(self, branches: Iterable[Branch]) -> None:
        self._branches: dict[int, Branch] = {}
        self._children: dict[int | None, list[int]] = {}
        for branch in branches:
            self.add(branch)

    def add(self, branch: Branch) -> None:
        """Take in a new branch, or a changed row of a known one."""
        if branch.id not in self._branches:
            self._children.setdefault(branch.parent_id, []).append(branch.id)
        self._branches[branch.id] = branch

    def __contains__(self, branch_id: int) -> bool:
        return branch_id in self._branches

    def __getitem__(self, branch_id: int) -> Branch:
        return self._branches[branch_id]

    def __iter__(self) -> Iterator[Branch]:
        return iter(self._branches.values())

    def __len__(self) -> int:
        return len(self._branches)

    def children(self, branch_id: int | None) -> list[Branch]:
        """Branches that fork from this one (None: those without a parent), oldest first."""
        return [self._branches[child] for child in self._children.get(branch_id, ())]

    def segments(self, branch_id: int, depth: int) -> list[Segment]:
        """The path to (branch, depth) as ranges, the deepest first. Raises ``Damaged`` on a broken chain."""
        found: list[Segment] = []
        at: int | None = branch_id
        last = depth
        while at is not None:
            branch = self._branches.get(at)
            if branch is None or last <= branch.fork_depth or len(found) > len(self._branches):
                raise Damaged(f"The ancestry of branch {branch_id} is broken at branch {at}.", None, "S5.5")
            found.append(Segment(at, branch.fork_depth + 1, last))
            last = branch.fork_depth
            at = branch.parent_id
        return found

    def reach(self, end: End) -> dict[int, int]:
        """The last depth of each branch that the path takes nodes from: a placed node with that branch and at most
        that depth lies on the path."""
        if not end.depth:
            return {}
        return {segment.branch_id: segment.last for segment in self.segments(end.branch_id, end.depth)}

    def owner(self, end: End, depth: int) -> int:
        """The branch that owns the path's node at ``depth`` (1 … end.depth)."""
        at, branch = end.branch_id, self._branches[end.branch_id]
        while depth <= branch.fork_depth:
            if branch.parent_id is None:
                break
            at, branch = branch.parent_id, self._branches[branch.parent_id]
        return at

    def is_on_path(self, coordinate: Coordinate, end: End) -> bool:
        """Whether the node at ``coordinate`` lies on the path that ends at ``end``."""
        return coordinate.depth <= end.depth and self.owner(end, coordinate.depth) == coordinate.branch_id

    def below(self, coordinate: Coordinate) -> set[int]:
        """The branches that lie wholly below ``coordinate``: forked from its branch there or deeper, and theirs."""
        found: set[int] = set()
        waiting = [c.id for c in self.children(coordinate.branch_id) if c.fork_depth >= coordinate.depth]
        while waiting:
            at = waiting.pop()
            found.add(at)
            waiting.extend(self._children.get(at, ()))
        return found

    def chain(self, branch_id: int) -> list[int]:
        """The branch and its ancestors, itself first."""
        found = [branch_id]
        while (parent := self._branches[found[-1]].parent_id) is not None:
            found.append(parent)
        return found
