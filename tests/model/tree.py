"""The naive tree under the model: nodes, branches, visits and places in plain dicts and lists, and how it is read.

Everything is counted from nothing each time. The verbs of the player stand in ``naive``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

STATE: dict[str, Any] = {"player.health": 1000, "player.weapon": "none"}
"""The fields of the campaign that the machine plays, with their values on the opening."""

MODES = ("do", "say", "story")

Change = tuple[str, str | None, Any]
"""(operation, path, value): ``add``, ``set``, ``assert`` or ``retract``."""


class Refused(Exception):
    """A verb that may not be done. ``others`` are codes that the page allows as well, where several causes meet."""

    def __init__(self, code: str, *others: str) -> None:
        super().__init__(code)
        self.code = code
        self.allowed = {code, *others}


@dataclass
class Node:
    """One entry. ``branch`` and ``depth`` are its coordinate, None while unplaced.

    ``cause`` is the node that first caused its changes, where they were copied; ``narrated`` counts the narrator
    children ever accepted below it.
    """

    id: int
    parent: int | None
    role: str
    text: str
    mode: str | None = None
    origin: str = "generated"
    source: int | None = None
    changes: list[Change] = field(default_factory=list)
    branch: int | None = None
    depth: int | None = None
    hidden: bool = False
    pinned: bool = False
    made: int = 0
    cause: int | None = None
    narrated: int = 0


@dataclass
class Branch:
    id: int
    parent: int | None
    fork: int
    name: str | None = None
    hidden: bool = False


@dataclass(frozen=True)
class Visit:
    """The head last read on a line, in what order, and how many steps had been written by then."""

    head: int
    order: int
    steps: int


@dataclass(frozen=True)
class Place:
    head: int
    tip: int | None


@dataclass(frozen=True)
class View:
    """What a player sees: the path as (id, role, mode, text), the pager (k, n) of each of its nodes, and the state."""

    path: tuple[tuple[int, str, str | None, str], ...]
    head: int
    tip: int
    redo: int
    pager: tuple[tuple[int, int], ...]
    state: dict[str, Any]
    facts: tuple[str, ...]

    @property
    def ids(self) -> list[int]:
        return [step[0] for step in self.path]


@dataclass(frozen=True)
class RailEntry:
    """One branch of the rail (S29)."""

    id: int
    parent: int | None
    fork: int
    name: str | None
    steps: int
    current: bool
    on_line: bool
    checkpoints: tuple[str, ...]


def effects(text: str) -> list[Change]:
    """What a narration does to the state, told by the number in it: the rule that model and test narrator share."""
    found = re.search(r"\d+", text)
    number = int(found.group()) if found else 0
    if number % 3 == 1:
        return [("add", "player.health", -5)]
    if number % 3 == 2:
        return [("set", "player.weapon", f"sword of {text}")]
    return []


def is_name(raw: str) -> bool:
    """Not empty once trimmed, not digits alone, up to 120 characters (S26)."""
    # choice: S26 says the length for checkpoints alone; S30's branches are held to the same.
    name = raw.strip()
    return 0 < len(name) <= 120 and not name.isdigit()


def refuse(causes: dict[str, bool]) -> None:
    """Refuse with the causes that hold. No page says which of several is named."""
    found = [code for code, holds in causes.items() if holds]
    if found:
        raise Refused(*found)


class Tree:
    """The story. ``told`` counts the narrations; the n-th is the text ``N<n>``; ``written`` counts the steps."""

    def __init__(self, openings: Iterable[str] = ("Rain.",)) -> None:
        self.nodes: dict[int, Node] = {}
        self.branches: dict[int, Branch] = {}
        self.visits: dict[int, Visit] = {}
        self.order = 0
        self.back_list: list[Place] = []
        self.forward_list: list[Place] = []
        self.checkpoints: dict[str, int] = {}
        self.wish: int | None = None
        self.deleted: list[tuple[set[int], set[int]]] = []
        self.revision = 0
        self.told = 0
        self.partial: str | None = None
        self.last_node = 0
        self.written = 0
        self.last_branch = 0
        for text in openings:
            changes: list[Change] = [("set", path, value) for path, value in STATE.items()]
            # choice: S2 names no origin for an opening that a definition brings.
            self.add(None, "opening", text, origin="typed", changes=changes)
        self.head = self.tip = 1

    # ------------------------------------------------------------------ reading

    def node(self, node_id: int) -> Node:
        """A node that is there and not hidden."""
        if node_id not in self.nodes or self.nodes[node_id].hidden:
            raise Refused("no-such-step")
        return self.nodes[node_id]

    def path(self, node_id: int | None = None) -> list[int]:
        """Ids from the opening to a node, the head by default."""
        found: list[int] = []
        at: int | None = self.head if node_id is None else node_id
        while at is not None:
            found.append(at)
            at = self.nodes[at].parent
        return found[::-1]

    def at(self, position: int) -> int:
        """The node at a position of the path."""
        path = self.path()
        if not 1 <= position <= len(path):
            raise Refused("no-such-step")
        return path[position - 1]

    def line(self) -> list[int]:
        return self.path(self.tip)

    def is_there(self, node_id: int) -> bool:
        return node_id in self.nodes and not self.nodes[node_id].hidden

    def children(self, parent: int | None, hidden_too: bool = False) -> list[int]:
        return sorted(n.id for n in self.nodes.values() if n.parent == parent and (hidden_too or not n.hidden))

    def is_leaf(self, node_id: int) -> bool:
        return not self.children(node_id)

    def leaves(self) -> list[int]:
        return [n.id for n in self.nodes.values() if not n.hidden and self.is_leaf(n.id)]

    def pager(self, node_id: int) -> tuple[int, int]:
        """(k, n) of a node among the siblings under its parent (S18)."""
        takes = self.children(self.nodes[node_id].parent)
        return takes.index(node_id) + 1, len(takes)

    def take(self, number: int, step: int) -> int:
        """The node that is the n-th take of a step."""
        takes = self.children(self.node(step).parent)
        if not 1 <= number <= len(takes):
            raise Refused("no-such-take")
        return takes[number - 1]

    def fold(self, node_id: int) -> tuple[dict[str, Any], tuple[str, ...]]:
        """State and facts at a node, from nothing (W3)."""
        state: dict[str, Any] = {}
        facts: list[str] = []
        for step in self.path(node_id):
            for op, path, value in self.nodes[step].changes:
                if op == "assert":
                    facts.append(value)
                elif op == "retract":
                    facts.remove(value)
                else:
                    assert path is not None
                    state[path] = state[path] + value if op == "add" else value
        return state, tuple(facts)

    def view(self) -> View:
        path = self.path()
        state, facts = self.fold(self.head)
        steps = tuple((n.id, n.role, n.mode, n.text) for n in (self.nodes[i] for i in path))
        pager = tuple(self.pager(i) for i in path)
        return View(steps, self.head, self.tip, len(self.line()) - len(path), pager, state, facts)

    def ends_on(self, tip: int) -> int | None:
        """The branch that owns a tip, or the tip's parent (S30)."""
        node = self.nodes[tip]
        if node.branch is not None or node.parent is None:
            return node.branch
        return self.nodes[node.parent].branch

    def owned(self, branch: int) -> list[int]:
        """The nodes of a branch that are there, by depth."""
        found = [n for n in self.nodes.values() if n.branch == branch and not n.hidden]
        return [n.id for n in sorted(found, key=lambda n: n.depth or 0)]

    def rail(self) -> list[RailEntry]:
        line = self.line()
        entries = []
        for branch in self.branches.values():
            if branch.hidden:
                continue
            owned = self.owned(branch.id)
            # choice: S29 and S41, a branch holds the unplaced takes below its nodes, so their checkpoints are its own.
            names = sorted(name for name, at in self.checkpoints.items() if self.ends_on(at) == branch.id)
            entries.append(
                RailEntry(
                    branch.id,
                    branch.parent,
                    branch.fork,
                    branch.name,
                    len(owned),
                    self.ends_on(self.tip) == branch.id,
                    any(i in line for i in owned),
                    tuple(names),
                )
            )
        return entries

    # ------------------------------------------------------------------ coordinates (S4, S14)

    def coordinate_below(self, parent: int | None) -> tuple[int, int] | None:
        """The coordinate after a placed parent; for an opening, depth 1 of the first branch."""
        if parent is None:
            return (min(self.branches), 1) if self.branches else None
        node = self.nodes[parent]
        assert node.branch is not None
        assert node.depth is not None
        return node.branch, node.depth + 1

    def holder(self, coordinate: tuple[int, int]) -> Node | None:
        """Who owns a coordinate; hidden nodes do too (S41)."""
        for node in self.nodes.values():
            if (node.branch, node.depth) == coordinate:
                return node
        return None

    def open_branch(self, node: Node) -> None:
        """Give a node a new branch that leaves the one its parent is on."""
        self.last_branch += 1
        fork = (None, 0)
        if node.parent is not None:
            parent = self.nodes[node.parent]
            assert parent.depth is not None
            fork = (parent.branch, parent.depth)
        self.branches[self.last_branch] = Branch(self.last_branch, *fork)
        node.branch, node.depth = self.last_branch, fork[1] + 1

    def place(self, node: Node) -> None:
        """Give an unplaced node, which is about to have something below it, a coordinate."""
        coordinate = self.coordinate_below(node.parent)
        holder = self.holder(coordinate) if coordinate else None
        if coordinate is None or (holder and self.children(holder.id, hidden_too=True)):
            self.open_branch(node)
            return
        if holder:
            holder.branch = holder.depth = None
        node.branch, node.depth = coordinate

    def add(self, parent: int | None, role: str, text: str, own_branch: bool = False, **more: Any) -> Node:
        """Write one node below a parent, and nothing else."""
        if parent is not None and self.nodes[parent].branch is None:
            self.place(self.nodes[parent])
        self.last_node += 1
        self.written += 1
        node = Node(self.last_node, parent, role, text, made=self.written, **more)
        coordinate = self.coordinate_below(parent)
        if own_branch or coordinate is None:
            self.open_branch(node)
        elif self.holder(coordinate) is None:
            node.branch, node.depth = coordinate
        self.nodes[node.id] = node
        if parent is not None:
            self.visits.pop(parent, None)
            self.nodes[parent].narrated += role == "narrator"
        return node

    # ------------------------------------------------------------------ lines (S17, S28) and places (S37)

    def remember(self, head: int) -> None:
        """Note that the present line was read, and where."""
        self.order += 1
        self.visits[self.tip] = Visit(head, self.order, self.written)

    def read_lines(self, through: int | None = None) -> list[int]:
        """Tips of the lines that were read, the latest first."""
        tips = [t for t in self.visits if self.is_there(t) and self.is_leaf(t)]
        if through is not None:
            tips = [t for t in tips if through in self.path(t)]
        return sorted(tips, key=lambda t: -self.visits[t].order)

    def last_read(self, through: int) -> tuple[int, int]:
        """Head and tip of the line through a node that was read last; of the newest leaf where none was."""
        read = self.read_lines(through)
        if read:
            return self.visits[read[0]].head, read[0]
        newest = max(leaf for leaf in self.leaves() if through in self.path(leaf))
        return newest, newest

    def tip_for(self, head: int) -> int:
        """The tip where a move puts the head at a node (S28)."""
        return self.tip if head in self.line() else self.last_read(head)[1]

    def jump(self, head: int, tip: int) -> None:
        """Move head and tip, and keep the place that was left."""
        # choice: S37, a jump that moves neither head nor tip is no place.
        if (head, tip) != (self.head, self.tip):
            self.keep_place()
            self.move(head, tip)

    def keep_place(self) -> None:
        self.back_list.append(Place(self.head, self.tip))
        self.forward_list.clear()

    def move(self, head: int, tip: int) -> None:
        if head != self.head:
            self.wish = None
        self.head, self.tip = head, tip
        self.revision += 1

    # ------------------------------------------------------------------ invariants (S5)

    def check_invariants(self) -> None:
        there = {n.id: n for n in self.nodes.values()}
        coordinates = [(n.branch, n.depth) for n in there.values() if n.branch is not None]
        assert len(coordinates) == len(set(coordinates)), "S5.1"
        for node in there.values():
            if node.branch is None:
                assert not self.children(node.id, hidden_too=True), f"S5.3: {node.id}"
            else:
                self.check_coordinate(node)
            assert node.parent is None or node.parent in there, f"S5.8: {node.id}"
            assert (node.role == "opening") == (node.parent is None), f"S5.8: {node.id}"
            if not node.hidden:
                assert node.parent is None or not there[node.parent].hidden, f"S41: {node.id} hangs from a hidden node"
            if node.role == "player" and node.parent is not None:
                assert self.standing_input(node.parent) is None, f"S48: {node.id} follows an input"
        assert self.children(None), "S5.8"
        assert self.is_there(self.tip), "S5.4"
        assert self.is_leaf(self.tip), "S5.4"
        assert self.head in self.line(), "S5.4"
        for branch in self.branches.values():
            self.check_branch(branch)
        assert set(self.visits) <= set(there), "S5.7"
        assert set(self.checkpoints.values()) <= {n.id for n in there.values() if not n.hidden}, "S27"
        assert self.wish in (None, self.head), "S24"

    def check_coordinate(self, node: Node) -> None:
        """S5.2: the parent is the node at the depth before on the branch's path."""
        branch = self.branches[node.branch] if node.branch is not None else None
        assert branch is not None
        assert node.depth is not None
        before: tuple[int | None, int] = (branch.id, node.depth - 1)
        if before[1] == branch.fork:
            before = (branch.parent, branch.fork)
        if before == (None, 0):
            assert node.parent is None, f"S5.2: {node.id}"
            return
        holder = self.holder(before)  # type: ignore[arg-type]
        assert holder is not None, f"S5.2: {node.id}"
        assert holder.id == node.parent, f"S5.2: {node.id}"
        assert node.depth == len(self.path(node.id)), f"S4: {node.id}"

    def check_branch(self, branch: Branch) -> None:
        """S5.5."""
        depths = sorted(n.depth or 0 for n in self.nodes.values() if n.branch == branch.id)
        assert depths, f"S5.5: branch {branch.id} is empty"
        assert depths == list(range(branch.fork + 1, branch.fork + 1 + len(depths))), f"S5.5: branch {branch.id}"
        if branch.parent is None:
            assert branch.fork == 0, f"S5.5: branch {branch.id}"
        else:
            assert self.holder((branch.parent, branch.fork)), f"S5.5: branch {branch.id} forks from nowhere"
        if not branch.hidden:
            assert self.owned(branch.id), f"S5.5: branch {branch.id} shows no node"
