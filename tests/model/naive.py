"""A naive model of the story: plain dicts and lists, everything counted from nothing each time.

It is written from the page alone, so that it is an independent reading: where the program and this model differ, one
of them misread a sentence, or the page is silent. Where the page leaves a choice, a comment ``# choice:`` names the
sentence. Nothing here is quick; nothing here is shared with the program.

A verb is a method that raises ``Refused(code)`` with a code of the contract, or changes the story. ``Model.perform``
gives back the code, or the ``View``: what a player can see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
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
        return [("set", "player.weapon", f"sword {number}")]
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


class Model:
    """The story. ``told`` counts the narrations; the n-th is the text ``N<n>``."""

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

    def perform(self, verb: str, *arguments: Any) -> set[str] | View:
        """Do a verb: the codes that may be answered, or the view after it."""
        method: Callable[..., None] = getattr(self, verb)
        try:
            method(*arguments)
        except Refused as refused:
            return refused.allowed
        return self.view()

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
        node = Node(self.last_node, parent, role, text, made=self.last_node, **more)
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
        self.visits[self.tip] = Visit(head, self.order, self.last_node)

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

    # ------------------------------------------------------------------ undo and redo (S8, S9)

    def undo(self, n: int = 1) -> None:
        if n < 1:
            raise Refused("bad-value")
        path = self.path()
        if len(path) == 1:
            raise Refused("nothing-to-undo")
        self.move(path[max(0, len(path) - 1 - n)], self.tip)

    def undo_turn(self) -> None:
        inputs = [i for i in self.path() if self.nodes[i].role == "player"]
        if not inputs:
            raise Refused("nothing-to-undo")
        parent = self.nodes[inputs[-1]].parent
        assert parent is not None
        self.move(parent, self.tip)

    def redo(self, n: int = 1) -> None:
        if n < 1:
            raise Refused("bad-value")
        if self.head == self.tip:
            raise Refused("nothing-to-redo")
        below = self.line()[len(self.path()) :]
        self.move(below[min(n, len(below)) - 1], self.tip)

    # ------------------------------------------------------------------ writing

    def narrate(self) -> str:
        """The next narration; the part of one that was stopped and kept."""
        if self.partial is not None:
            partial, self.partial = self.partial, None
            return partial
        self.told += 1
        return f"N{self.told}"

    def leave(self, step: int | None = None) -> None:
        """A write leaves the line: remembered at its tip, or as a move would where the step is off the path (U14)."""
        self.remember(self.head if self.is_off(step) else self.tip)

    def is_off(self, step: int | None) -> bool:
        return step is not None and step not in self.path()

    def arrive(self, node: Node) -> None:
        """Head and tip are on what was written."""
        self.head = self.tip = node.id
        self.wish = None
        self.revision += 1

    def standing_input(self, node_id: int) -> Node | None:
        """The player's node that waits for its narration at a node, corrections between them counted in (S48)."""
        at = self.nodes[node_id]
        while at.role == "correction":
            assert at.parent is not None
            at = self.nodes[at.parent]
        return at if at.role == "player" else None

    def add_narration(self, parent: int, own_branch: bool = False) -> Node:
        text = self.narrate()
        mode = None if self.standing_input(parent) else "continue"
        return self.add(parent, "narrator", text, own_branch, mode=mode, changes=effects(text))

    def turn(self, text: str, mode: str = "do") -> None:
        """An input and its narration (S12); at a player's node a take of that node (S48)."""
        standing = self.standing_input(self.head)
        parent = standing.parent if standing else self.head
        assert parent is not None
        self.leave()
        player = self.add(parent, "player", text, self.wish == parent, mode=mode, origin="typed")
        self.arrive(self.add_narration(player.id))

    def go_on(self) -> None:
        """Continue (S24), which narrates the input that stands at the head (S48)."""
        self.leave()
        self.arrive(self.add_narration(self.head, self.wish == self.head))

    def retry(self, step: int | None = None, times: int = 1) -> None:
        if times < 1:
            raise Refused("bad-value")
        parent = self.retry_parent(step)
        for _ in range(times):
            # choice: S15 and S37, `retry x3` is three retries, so three places.
            self.leave(step)
            self.keep_place()
            # A wish is for what is written below the head it was made at (S24).
            self.arrive(self.add_narration(parent, self.wish == parent))

    def retry_parent(self, step: int | None) -> int:
        """What a retry narrates upon."""
        if step is None:
            if self.standing_input(self.head):
                # choice: S48, at a correction below an input a retry narrates that input below the correction.
                return self.head
            step = self.last_narration("nothing-to-retry")
        node = self.node(step)
        if node.role == "player":
            return node.id
        if node.role != "narrator":
            # choice: S15 names no code for a retry of an opening or a correction.
            raise Refused("nothing-to-retry", "bad-value")
        assert node.parent is not None
        return node.parent

    def last_narration(self, code: str) -> int:
        told = [i for i in self.path() if self.nodes[i].role == "narrator"]
        if not told:
            raise Refused(code, "bad-value")
        return told[-1]

    def retell(self, step: int | None = None) -> None:
        """The same turn told again, its state copied (S20)."""
        target = self.node(self.last_narration("nothing-to-retry") if step is None else step)
        if target.role != "narrator":
            # choice: S20 names no code for what cannot be retold.
            raise Refused("nothing-to-retry", "bad-value")
        self.leave(step)
        # choice: S20 "selected like a retry": a retell keeps a place as a retry does.
        self.keep_place()
        more = {"mode": target.mode, "origin": "retold", "source": target.id, **self.copied(target)}
        self.arrive(self.add(target.parent, "narrator", self.narrate(), self.wish == target.parent, **more))

    def copied(self, target: Node) -> dict[str, Any]:
        """The changes of a node for another, with the one that first caused them."""
        first = target.id if target.cause is None else target.cause
        return {"changes": list(target.changes), "cause": first if target.changes else None}

    def edit(self, step: int, text: str) -> None:
        """Another take of an input, narrated (S21), or of a narration, its state worked out again (S22)."""
        target = self.node(step)
        if target.role not in ("player", "narrator"):
            # choice: S22, openings and corrections cannot be edited; the code is not named.
            raise Refused("bad-value")
        self.leave_for_edit(step)
        more: dict[str, Any] = {"mode": target.mode, "origin": "edited", "source": target.id}
        if target.role == "narrator":
            # choice: contract, edited-state: nothing found in a text that could be read is worked out too, not "keep".
            more["changes"] = effects(text)
        new = self.add(target.parent, target.role, text, self.wish == target.parent, **more)
        self.arrive(new if target.role == "narrator" else self.add_narration(new.id))

    def leave_for_edit(self, step: int) -> None:
        # choice: U14 and S37, an edit off the path leaves the line "as a move does", so it keeps a place too.
        if self.is_off(step):
            self.keep_place()
        self.leave(step)

    def edit_wording(self, step: int, text: str) -> None:
        """Edit narration, its state kept (S22)."""
        target = self.node(step)
        if target.role != "narrator":
            # choice: S22, the wording of openings, inputs and corrections cannot be edited; the code is not named.
            raise Refused("bad-value")
        self.leave_for_edit(step)
        more = {"mode": target.mode, "origin": "edited", "source": target.id, **self.copied(target)}
        self.arrive(self.add(target.parent, "narrator", text, self.wish == target.parent, **more))

    def correct(self, path: str, value: Any) -> None:
        if path not in STATE:
            raise Refused("bad-value")
        self.write_correction(("set", path, value))

    def assert_fact(self, fact: str) -> None:
        self.write_correction(("assert", None, fact))

    def retract_fact(self, fact: str) -> None:
        if fact not in self.fold(self.head)[1]:
            # choice: S23 names no code for a retraction of what is no fact here.
            raise Refused("bad-value")
        self.write_correction(("retract", None, fact))

    def write_correction(self, change: Change) -> None:
        """A node below the head (S23)."""
        self.leave()
        node = self.add(self.head, "correction", "", self.wish == self.head, origin="typed", changes=[change])
        self.arrive(node)

    # ------------------------------------------------------------------ moves

    def select(self, take: int) -> None:
        """Step to a take (S16, S17)."""
        if not self.is_there(take):
            raise Refused("no-such-take", "no-such-step")
        if take in self.path():
            return
        self.remember(self.head)
        head, tip = self.last_read(take)
        if take not in self.path(head):
            head = tip
        self.jump(head, tip)

    def select_number(self, number: int, step: int) -> None:
        self.select(self.take(number, step))

    def go(self, step: int) -> None:
        """Go to a step: head there, tip as in S28."""
        self.node(step)
        self.remember(self.head)
        self.jump(step, self.tip_for(step))

    def restore(self, name: str) -> None:
        refuse({"no-such-checkpoint": name not in self.checkpoints, "bad-value": not is_name(name)})
        self.go(self.checkpoints[name])

    def switch(self, branch: int) -> None:
        """Go to the last-read line that ends on a branch (S30)."""
        self.the_branch(branch)
        self.remember(self.head)
        # choice: S30 "from an unplaced take": the tip is one, wherever the head is on its line.
        from_unplaced = self.nodes[self.tip].branch is None and self.ends_on(self.tip) == branch
        read = [t for t in self.read_lines() if self.ends_on(t) == branch]
        if from_unplaced:
            read = [t for t in read if self.nodes[t].branch == branch]
        if read:
            self.jump(self.visits[read[0]].head, read[0])
        else:
            deepest = self.owned(branch)[-1]
            self.jump(deepest, self.tip_for(deepest))

    def the_branch(self, branch: int) -> Branch:
        if branch not in self.branches or self.branches[branch].hidden:
            raise Refused("no-such-branch")
        return self.branches[branch]

    def fork(self, step: int | None = None) -> None:
        """Let the next node below a node open a branch (S24)."""
        node = self.node(self.head if step is None else step)
        if node.role == "player":
            self.fork_input(node)
            return
        if node.branch is not None and len(self.owned(node.branch)) == 1:
            # choice: S24 "or one on a branch's only node, changes nothing": the head does not move there either.
            return
        if node.branch is None:
            # choice: S24, an unplaced take has its branch then; no wish is left for what comes below it.
            self.open_branch(node)
            self.revision += 1
            self.leap(node.id)
        else:
            self.leap(node.id)
            self.wish = node.id

    def leap(self, node_id: int) -> None:
        self.remember(self.head)
        self.jump(node_id, self.tip_for(node_id))

    def fork_input(self, node: Node) -> None:
        """On a player's node: one turn that narrates it on a new branch."""
        # choice: S17 names fork among the moves, S24 calls this one a turn: the line is left as by a turn.
        self.leave(node.id)
        self.keep_place()
        # choice: S24, an unplaced input gets the branch itself and the narration goes on there.
        unplaced = node.branch is None
        if unplaced:
            self.open_branch(node)
        self.arrive(self.add_narration(node.id, own_branch=not unplaced))

    def back(self) -> None:
        self.through_places(self.back_list, self.forward_list, "nothing-to-go-back")

    def forward(self) -> None:
        self.through_places(self.forward_list, self.back_list, "nothing-to-go-forward")

    def through_places(self, source: list[Place], other: list[Place], code: str) -> None:
        """Take the nearest place whose head is there; the places passed over are dropped."""
        usable = [n for n, place in enumerate(source) if self.is_there(place.head)]
        if not usable:
            raise Refused(code)
        place = source[usable[-1]]
        # choice: S37 "skipped": it is dropped, so that no undelete makes it a place again.
        del source[usable[-1] :]
        other.append(Place(self.head, self.tip))
        self.remember(self.head)
        if place.tip is not None and self.is_there(place.tip) and self.is_leaf(place.tip):
            self.move(place.head, place.tip)
        else:
            self.move(place.head, self.tip_for(place.head))

    # ------------------------------------------------------------------ names

    def save(self, name: str, step: int | None = None) -> None:
        at = self.head if step is None else step
        clash = name.strip() in self.checkpoints
        refuse({"no-such-step": not self.is_there(at), "bad-value": not is_name(name), "checkpoint-exists": clash})
        self.checkpoints[name.strip()] = at

    def rename_checkpoint(self, old: str, new: str) -> None:
        name = new.strip()
        clash = name != old and name in self.checkpoints
        is_lost = old not in self.checkpoints
        is_bad = not (is_name(old) and is_name(new))
        refuse({"no-such-checkpoint": is_lost, "bad-value": is_bad, "checkpoint-exists": clash})
        self.checkpoints[name] = self.checkpoints.pop(old)

    def delete_checkpoint(self, name: str) -> None:
        refuse({"no-such-checkpoint": name not in self.checkpoints, "bad-value": not is_name(name)})
        del self.checkpoints[name]

    def rename_branch(self, branch: int, name: str) -> None:
        is_lost = branch not in self.branches or self.branches[branch].hidden
        # choice: S30 and S41, the name of a deleted branch is free at once.
        clash = self.is_named(name.strip(), but=branch)
        refuse({"no-such-branch": is_lost, "bad-value": not is_name(name), "branch-exists": clash})
        self.branches[branch].name = name.strip()

    def is_named(self, name: str | None, but: int) -> bool:
        """Whether a branch that is there, but for this one, has the name."""
        return any(b.name == name for b in self.branches.values() if b.id != but and not b.hidden)

    def pin(self, take: int) -> None:
        if not self.is_there(take):
            raise Refused("no-such-take", "no-such-step")
        self.nodes[take].pinned = True

    def unpin(self, take: int) -> None:
        if not self.is_there(take):
            raise Refused("no-such-take", "no-such-step")
        self.nodes[take].pinned = False

    # ------------------------------------------------------------------ delete and prune (S38 to S41)

    def delete_take(self, take: int) -> None:
        if not self.is_there(take):
            raise Refused("no-such-take", "no-such-step")
        node = self.nodes[take]
        is_used = take in self.line() or not self.is_leaf(take)
        is_saved = take in self.checkpoints.values()
        refuse({"take-in-use": is_used, "take-pinned": node.pinned, "take-has-checkpoint": is_saved})
        emptied = {node.branch} if node.branch is not None and self.owned(node.branch) == [take] else set()
        self.hide({take}, emptied)

    def delete_branch(self, branch: int) -> None:
        self.the_branch(branch)
        gone = {branch}
        while more := {b.id for b in self.branches.values() if b.parent in gone} - gone:
            gone |= more
        nodes = {n.id for n in self.nodes.values() if n.branch in gone}
        if nodes & set(self.line()):
            raise Refused("branch-in-use")
        nodes |= {n.id for n in self.nodes.values() if n.branch is None and n.parent in nodes}
        if nodes & set(self.checkpoints.values()):
            raise Refused("branch-has-checkpoints")
        self.hide(nodes, gone)

    def hide(self, nodes: set[int], branches: set[int]) -> None:
        """Hide rows as one deletion; what was hidden before stays with its own."""
        nodes = {n for n in nodes if not self.nodes[n].hidden}
        branches = {b for b in branches if not self.branches[b].hidden}
        self.show(nodes, branches, hidden=True)
        self.deleted.append((nodes, branches))

    def show(self, nodes: set[int], branches: set[int], hidden: bool) -> None:
        for node in nodes:
            self.nodes[node].hidden = hidden
        for branch in branches:
            self.branches[branch].hidden = hidden
        self.revision += 1

    def undelete(self) -> None:
        if not self.deleted:
            raise Refused("nothing-to-undelete")
        nodes, branches = self.deleted.pop()
        self.show(nodes, branches, hidden=False)
        for branch in sorted(branches):
            # choice: S41, a name that was given away meanwhile stays where it is.
            if self.is_named(self.branches[branch].name, but=branch):
                self.branches[branch].name = None
        for parent in {self.nodes[n].parent for n in nodes}:
            if parent is not None:
                # choice: S17, a tip that gets a node back loses its visit as one that gets a new node.
                self.visits.pop(parent, None)
        if not self.is_leaf(self.tip):
            self.tip = self.last_read(self.tip)[1]

    def make_final(self) -> None:
        """What was deleted goes: at the next opening for writing."""
        gone = {n.id for n in self.nodes.values() if n.hidden}
        # choice: S40 and S41, an unplaced take beside a coordinate that a final deletion frees takes it as in a prune.
        self.remove(gone)
        self.deleted.clear()

    def remove(self, gone: set[int]) -> None:
        """Take nodes out, clear what named them, and let unplaced takes have the coordinates that are free then."""
        freed = {(n.branch, n.depth) for n in self.nodes.values() if n.id in gone and n.branch is not None}
        self.nodes = {n.id: n for n in self.nodes.values() if n.id not in gone}
        for node in self.nodes.values():
            if node.source in gone:
                node.source = None
            if node.cause in gone:
                node.cause = None
        self.visits = {tip: visit for tip, visit in self.visits.items() if tip not in gone}
        for places in (self.back_list, self.forward_list):
            places[:] = [replace(p, tip=None if p.tip in gone else p.tip) for p in places if p.head not in gone]
        # choice: S40, of several unplaced takes beside a freed coordinate the one on the line takes it, or the oldest.
        for node in sorted(self.nodes.values(), key=lambda n: (n.id != self.tip, n.id)):
            coordinate = self.coordinate_below(node.parent) if node.branch is None else None
            if coordinate is not None and coordinate in freed and self.holder(coordinate) is None:
                node.branch, node.depth = coordinate
        self.branches = {b.id: b for b in self.branches.values() if any(n.branch == b.id for n in self.nodes.values())}

    def prune(self, older_than: int = 0) -> None:
        """Prune all, or what was set aside that many steps ago or more (S40)."""
        if older_than < 0:
            raise Refused("bad-value")
        there = [n for n in self.nodes.values() if not n.hidden]
        kept = set(self.line())
        named = {b.id for b in self.branches.values() if b.name is not None}
        # choice: S40 "named branches" are their placed nodes (Words), not the unplaced takes below those.
        ends = [n.id for n in there if n.pinned or n.branch in named]
        ends += self.checkpoints.values()
        ends += [n.id for n in there if self.age(n.id) < older_than]
        for end in ends:
            kept |= set(self.path(end))
        gone = {n.id for n in there} - kept
        if gone:
            # choice: S40 and S41, a prune is final, for what was deleted before it too, where it takes anything.
            self.remove(gone | {n.id for n in self.nodes.values() if n.hidden})
            self.deleted.clear()
            self.revision += 1

    def age(self, node_id: int) -> int:
        """Steps written since a node was last on a line that was read; since it was made, where it never was."""
        read = [v.steps for tip, v in self.visits.items() if self.is_there(tip) and node_id in self.path(tip)]
        return self.last_node - max(read, default=self.nodes[node_id].made)

    def reopen(self) -> None:
        """Close and open for writing."""
        self.make_final()

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
