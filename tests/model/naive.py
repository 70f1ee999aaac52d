"""A naive model of the story: plain dicts and lists, everything counted from nothing each time.

It is written from the page alone, so that it is an independent reading: where the program and this model differ, one
of them misread a sentence, or the page is silent. Where the page leaves a choice, a comment ``# choice:`` names the
sentence. Nothing here is quick; nothing here is shared with the program.

A verb is a method that raises ``Refused(code)`` with a code of the contract, or changes the story. ``Model.perform``
gives back the code, or the ``View``: what a player can see.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.model.tree import STATE, Branch, Change, Node, Place, Refused, Tree, View, effects, is_name, refuse


class Model(Tree):
    """The story and all that a player may do to it."""

    def perform(self, verb: str, *arguments: Any) -> set[str] | View:
        """Do a verb: the codes that may be answered, or the view after it."""
        method: Callable[..., None] = getattr(self, verb)
        try:
            method(*arguments)
        except Refused as refused:
            return refused.allowed
        return self.view()

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
        # What is so already is no correction.
        if path not in STATE or self.fold(self.head)[0][path] == value:
            raise Refused("bad-value")
        self.write_correction(("set", path, value))

    def assert_fact(self, fact: str) -> None:
        if fact in self.fold(self.head)[1]:
            raise Refused("bad-value")
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
        for branch in self.branches.values():
            branch.hidden = False  # one that an unplaced opening now stands on is there again
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
        return self.written - max(read, default=self.nodes[node_id].made)

    def reopen(self) -> None:
        """Close and open for writing."""
        self.make_final()
