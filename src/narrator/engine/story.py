"""Story: the half of a session that needs no loop. Moves, marks and writes of one open campaign (S8 … S41).

Every verb is synchronous and whole: it finds out where it leads by ``store.lines`` and hands one transaction to
``store.commit``. Which node a reference means is found in ``references``; what a panel shows, in ``views``.
"""

from __future__ import annotations

import secrets
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

from narrator.core import cards
from narrator.core.campaign import parse_definition
from narrator.core.cards import CardEdit
from narrator.core.definition import Card
from narrator.core.errors import BadValue, Refusal
from narrator.core.lineage import End
from narrator.core.proposal import Proposal
from narrator.core.referee import judge
from narrator.core.state import dump, initial_events, value_after
from narrator.core.titles import in_titles
from narrator.core.tree import Branch, Checkpoint, NewNode, Node, Position, decode_correction, encode_correction
from narrator.engine.clock import utc_now as utc_now
from narrator.engine.opened import OpenCampaign
from narrator.store import commit, lines, memory_reads, reads, removal, sources, state_reads
from narrator.store.commit import Acceptance
from narrator.store.open import Clock, create_file

NAME_LENGTH = 120


def create_campaign(
    path: Path, definition_text: str, *, seed: int | None = None, clock: Clock = utc_now, title: str | None = None
) -> None:
    """Make a campaign file from a definition. Raises ``BadDefinition`` before anything is written, ``StoreError``."""
    definition = parse_definition(definition_text)
    store = create_file(path, clock=clock)
    try:
        opening = NewNode("opening", definition.opening, events=initial_events(definition))
        commit.create(
            store,
            campaign_id=str(uuid.uuid4()),
            title=title or definition.title,
            seed=seed if seed is not None else secrets.randbits(32),
            definition=definition_text,
            openings=[opening],
        )
    except BaseException:
        store.close()
        path.unlink(missing_ok=True)
        raise
    store.close()


class Story(OpenCampaign):
    """One open campaign with the verbs that need no loop."""

    # --------------------------------------------------------------------------------------------------------- moves

    def undo(self, n: int = 1) -> None:
        """Move the head ``n`` nodes back, at most to the opening (S8). Raises ``nothing-to-undo``."""
        position, end = self.position, self.end
        if end.length == 1:
            raise Refusal("nothing-to-undo", "This is the opening; there is nothing to undo.")
        self._step_along(position, end, max(1, end.length - n))

    def redo(self, n: int = 1) -> None:
        """Move the head ``n`` nodes towards the tip (S9). Raises ``nothing-to-redo``."""
        position = self.position
        line = reads.end_of(self.store, self.tip)
        count = self.count
        if position.head_id == position.tip_id:
            raise Refusal("nothing-to-redo", "There is nothing to redo.")
        self._step_along(position, line, min(line.length, count + n))

    def _step_along(self, position: Position, line: End, to: int) -> None:
        head = reads.at_position(self.store, line, to)
        assert head is not None
        commit.move(self.store, Position(head.id, position.tip_id), expected=position, remembers=False)

    def undo_turn(self) -> None:
        """Go back to before the last player's node (S8). Raises ``nothing-to-undo``."""
        player = reads.last_of_role(self.store, self.end, "player")
        if player is None or player.parent_id is None:
            raise Refusal("nothing-to-undo", "There is no input of yours to undo.")
        position = self.position
        commit.move(self.store, Position(player.parent_id, position.tip_id), expected=position, remembers=False)

    def go(self, node: Node) -> None:
        """Move the head to a node (S28). The tip stays while the node is on the line, else S17 gives it."""
        position = self.position
        self._jump(position, Position(node.id, lines.tip_for(self.store, node, position.tip_id)))

    def _jump(self, position: Position, to: Position) -> None:
        if to != position:
            commit.move(self.store, to, expected=position, remembers=True, has_place=True)

    def take(self, node: Node) -> None:
        """Stand on a take (S16, S17): with a story below it, on the most recently read line through it."""
        if reads.is_on_path(self.store, node, self.end):
            return
        position = self.position
        if reads.is_on_path(self.store, node, reads.end_of(self.store, self.tip)):
            read = position
        else:
            read = lines.tip_through(self.store, node)
        head_end = reads.end_of(self.store, reads.needed(self.store, read.head_id))
        is_above = not reads.is_on_path(self.store, node, head_end)
        self._jump(position, Position(read.tip_id if is_above else read.head_id, read.tip_id))

    def restore(self, name: str) -> None:
        """Move the head to a checkpoint (S28). Raises ``no-such-checkpoint``."""
        self.go(self.node(self.checkpoint(name)))

    def switch(self, branch: Branch) -> None:
        """Go to the last-read line that ends on a branch (S30)."""
        position, tip = self.position, self.tip
        is_current = lines.line_branch(self.store, tip) == branch.id
        if is_current and tip.is_placed:
            return
        read = lines.line_ending_on(self.store, branch.id, placed_only=is_current)
        if read is None:
            deepest = reads.deepest(self.store, branch.id)
            assert deepest is not None
            read = Position(deepest.id, lines.tip_for(self.store, deepest, position.tip_id))
        self._jump(position, read)

    def back(self) -> None:
        """Return to where head and tip were before the last jump (S37). Raises ``nothing-to-go-back``."""
        self._along_places("back", "nothing-to-go-back", "There is nowhere to go back to.")

    def forward(self) -> None:
        """Undo a ``back``. Raises ``nothing-to-go-forward``."""
        self._along_places("forward", "nothing-to-go-forward", "There is nowhere to go forward to.")

    def _along_places(self, stack: str, code: str, message: str) -> None:
        passed: list[int] = []
        for seq, head_id, tip_id in reads.places(self.store, stack):
            passed.append(seq)
            head = reads.node(self.store, head_id)
            if head is None:
                continue
            position = self.position
            tip = reads.node(self.store, tip_id)
            if tip is None or reads.has_child(self.store, tip_id):
                tip_id = lines.tip_for(self.store, head, position.tip_id)
            to = Position(head_id, tip_id)
            commit.move_along_places(self.store, to, expected=position, back=stack == "back", passed=passed)
            return
        raise Refusal(code, message)

    def fork(self, node: Node) -> bool:
        """Fork at a node that is no player's (S24). Returns whether anything changed.

        A placed node becomes the head and the next node below it opens a branch; an unplaced take gets its own at once.
        """
        row, position = self.row, self.position
        if not node.is_placed:
            commit.fork_at(self.store, node, Position(node.id, node.id), expected=position)
            return True
        if row.fork_id == node.id or self._is_alone(node):
            return False
        tip_id = lines.tip_for(self.store, node, position.tip_id)
        moves = node.id != position.head_id
        commit.move(
            self.store, Position(node.id, tip_id), expected=position, remembers=moves, has_place=moves, fork=True
        )
        return True

    def _is_alone(self, node: Node) -> bool:
        """Whether a placed node is the only one of its branch."""
        assert node.branch_id is not None
        deepest = reads.deepest(self.store, node.branch_id)
        return (
            deepest is not None
            and deepest.id == node.id
            and (self.store.forest[node.branch_id].fork_depth + 1 == node.depth)
        )

    # --------------------------------------------------------------------------------------------------------- marks

    def save(self, name: str, node: Node | None = None) -> None:
        """Name a node, the head by default (S26). Raises ``checkpoint-exists``, ``bad-value``."""
        name = checked_name(name, "A checkpoint")
        self._check_free(name)
        commit.save_checkpoint(self.store, name, (node or self.head).id)

    def _check_free(self, name: str) -> None:
        if reads.checkpoint_named(self.store, name) is None:
            return
        taken = {checkpoint.name for checkpoint in reads.checkpoints(self.store)}
        number = next(n for n in range(2, len(taken) + 3) if f"{name[: NAME_LENGTH - 5]} {n}" not in taken)
        other = f"{name[: NAME_LENGTH - 5]} {number}"
        raise Refusal("checkpoint-exists", f"There is a checkpoint “{name}” already.", f"“{other}” is free.")

    def checkpoint(self, name: str) -> int:
        """The node a checkpoint names. Raises ``no-such-checkpoint``."""
        return self._checkpoint(name).node_id

    def _checkpoint(self, name: str) -> Checkpoint:
        # A name may have been saved with quotes that a command with two names takes for its own.
        found = reads.checkpoint_named(self.store, name) or reads.checkpoint_named(self.store, f'"{name}"')
        if found is None:
            raise BadValue(f"There is no checkpoint “{name}”.", "`/checkpoints` lists them.", "no-such-checkpoint")
        return found

    def rename_checkpoint(self, old: str, new: str) -> None:
        """Change the label alone (S26)."""
        found = self._checkpoint(old)
        new = checked_name(new, "A checkpoint")
        if new != found.name:
            self._check_free(new)
            commit.rename_checkpoint(self.store, found.id, new)

    def delete_checkpoint(self, name: str) -> None:
        """Delete the pointer alone; asked and confirmed above (S26)."""
        commit.delete_checkpoint(self.store, self._checkpoint(name).id)

    def rename_branch(self, branch: Branch, name: str) -> None:
        """Name a branch (S30). Raises ``branch-exists``, ``bad-value``."""
        name = checked_name(name, "A branch")
        if any(b.name == name and b.id != branch.id and not b.is_hidden for b in self.store.forest):
            raise Refusal("branch-exists", f"There is a branch “{name}” already.")
        if branch.name != name:
            commit.rename_branch(self.store, branch.id, name)

    def pin(self, node: Node, *, is_pinned: bool) -> None:
        """Keep a take from every prune, or no longer (S38)."""
        if node.is_pinned != is_pinned:
            commit.pin(self.store, node.id, is_pinned=is_pinned)

    def remember(self, text: str) -> int:
        """A memory of the player's, hung from the head (S34). Returns its id."""
        return commit.remember(self.store, self.head.id, text.strip())

    def memory(self, memory_id: int) -> memory_reads.MemoryRow:
        """A memory that may be used on this path. Raises ``no-such-memory``."""
        found = next((row for row in self.memories() if row.id == memory_id), None)
        if found is None:
            raise BadValue(f"There is no memory #{memory_id} here.", "`/memories` lists them.", "no-such-memory")
        return found

    def card(self, name: str) -> Card:
        """A card by its name, in any case, or by the beginning of it. Raises ``no-such-card``, ``ambiguous``."""
        wanted = cards.fold_key(name)
        there = self.definition.cards
        found = [each for each in there if each.name == name] or [
            each for each in there if cards.fold_key(each.name) == wanted
        ]
        found = found or [each for each in there if wanted and cards.fold_key(each.name).startswith(wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            raise BadValue(f"“{name}” may be {_listed(each.name for each in found)}.", "Write more of it.", "ambiguous")
        raise BadValue(f"There is no card “{name}”.", "`/cards` lists them.", "no-such-card")

    def edit_card(self, card: Card, edit: CardEdit) -> None:
        """Change a card of this campaign; it is changed everywhere in the story (S35)."""
        commit.edit_card(self.store, card.name, edit)
        self.definition = cards.edited(self._written, sources.card_edits(self.store))

    # ------------------------------------------------------------------------------------------------------- removal

    def plan_delete_take(self, node: Node) -> removal.Removal:
        """What deleting a take would take. Raises ``take-in-use``, ``take-pinned``, ``take-has-checkpoint`` (S38)."""
        if reads.is_on_path(self.store, node, reads.end_of(self.store, self.tip)):
            raise Refusal("take-in-use", "This take is part of the story being read.", "Step to another take first.")
        if reads.has_child(self.store, node.id):
            raise Refusal("take-in-use", "A story was built on this take.", "Delete what is below it first.")
        if node.is_pinned:
            raise Refusal("take-pinned", "This take is pinned.", "Unpin it first.")
        names = [c.name for c in reads.checkpoints(self.store) if c.node_id == node.id]
        if names:
            raise Refusal("take-has-checkpoint", f"A checkpoint holds this take: {_listed(names)}.")
        return removal.plan_take(self.store, node)

    def plan_delete_branch(self, branch: Branch) -> removal.Removal:
        """What deleting a branch would take. Raises ``branch-in-use``, ``branch-has-checkpoints`` (S27, S41)."""
        line = reads.end_of(self.store, self.tip)
        if line.branch_id and branch.id in self.store.forest.chain(line.branch_id):
            raise Refusal("branch-in-use", "The story being read takes steps from this branch.", "Switch away first.")
        plan = removal.plan_branch(self.store, branch.id)
        if plan.checkpoints:
            raise Refusal("branch-has-checkpoints", f"Checkpoints hold this branch: {_listed(plan.checkpoints)}.")
        return plan

    def delete(self, plan: removal.Removal, kind: str) -> None:
        """Hide what was planned, until the campaign is closed (S41)."""
        commit.hide(self.store, kind, plan.node_ids, plan.branch_ids)

    def undelete(self) -> None:
        """Bring the latest deletion back (S41). Raises ``nothing-to-undelete``."""
        row = self.store.db.execute("SELECT max(id) FROM deletions").fetchone()
        if row[0] is None:
            raise Refusal("nothing-to-undelete", "Nothing was deleted since the campaign was opened.")
        tip = self.tip

        def tip_after() -> int:
            return lines.tip_through(self.store, tip).tip_id if reads.has_child(self.store, tip.id) else tip.id

        commit.unhide(self.store, row[0], tip_after)

    def plan_prune(self, age: removal.Age) -> removal.Removal:
        """What a prune would take (S40)."""
        return removal.plan_prune(self.store, age)

    def prune(self, plan: removal.Removal) -> None:
        """Erase what was planned. Final."""
        removal.prune(self.store, plan)

    # --------------------------------------------------------------------------------------------------- corrections

    def correct(self, proposal: Proposal, reason: str | None = None) -> Node:
        """Change authoritative state without touching prose (S23, W9): a correction below the head.

        Raises ``bad-value`` with the referee's reason.
        """
        state = self.state()
        proposal = replace(proposal, why=reason) if reason else proposal
        verdict = judge(self.definition, state, [proposal], source="player")
        if verdict.refused:
            raise BadValue(in_titles(self.definition, state, verdict.refused[0].reason, [proposal.path]))
        named = [event for event in verdict.events if event.path == proposal.path]
        event = (named or verdict.events)[-1]
        old = None if event.op == "assert" else event.value if event.op == "retract" else event.previous
        text = encode_correction(event.path, old, value_after(event), reason)
        position = self.position
        write = Acceptance(
            position.head_id, (NewNode("correction", text, events=verdict.events),), position, state_at=self.snapshot_at
        )
        return self.node(commit.accept(self.store, write)[-1])

    def established(self, correction: Node) -> int | None:
        """The position of the step that set the value, or asserted the fact, which a correction took back (S23)."""
        told = decode_correction(correction.text)
        if told["old"] is None:
            return None
        end = reads.end_of(self.store, correction)
        if told["path"] == "facts":
            position = state_reads.last_assertion(self.store, end, told["old"], correction.depth)
        else:
            position = state_reads.last_change(self.store, end, told["path"], correction.depth)
        return position if position is not None and position > 1 else None

    def snapshot_at(self, index: int) -> str:
        """The dumped state at the head, for a write of one node below it."""
        return dump(self.state())


def checked_name(name: str, what: str) -> str:
    """A name as it is kept: trimmed, not empty, not digits alone, up to 120 characters (S26, S30)."""
    name = name.strip()
    if not name:
        raise BadValue(f"{what} needs a name.")
    if name.isdigit():
        raise BadValue(f"{what} cannot be named with digits alone.", "Add a word.")
    if len(name) > NAME_LENGTH:
        raise BadValue(f"{what}'s name may have {NAME_LENGTH} characters; this one has {len(name)}.")
    return name


def _listed(names: Any) -> str:
    return ", ".join(f"“{name}”" for name in names)
