"""What a reference means in this story: steps, takes and branches by position, number, name or id (U14)."""

from __future__ import annotations

from narrator.core.errors import BadValue
from narrator.core.tree import Branch, Node
from narrator.engine.commands import BranchRef, StepRef, TakeRef
from narrator.engine.story import Story
from narrator.store import reads


def find_step(story: Story, ref: StepRef | None) -> Node:
    """The step: a position on the path, a node by id anywhere, or the last. Raises ``no-such-step``."""
    if ref is None or (ref.position is None and ref.node_id is None):
        return story.head
    if ref.node_id is not None:
        return story.node(ref.node_id)
    assert ref.position is not None
    return reads.require(reads.at_position(story.store, story.end, ref.position), str(ref.position))


def find_take(story: Story, ref: TakeRef, step: StepRef | None) -> Node:
    """A take by the pager's number among the takes of a step, or by id. Raises ``no-such-take``.

    Without a step it is the last one that has more than one take, the last step otherwise.
    """
    if ref.node_id is not None:
        found = reads.node(story.store, ref.node_id)
        if found is None:
            raise BadValue(f"There is no take #{ref.node_id}.", "`/takes` lists them.", "no-such-take")
        return found
    of = find_step(story, step)
    ids = reads.siblings(story.store, of.parent_id)
    assert ref.number is not None
    if ref.number > len(ids):
        many = f"are {len(ids)} takes" if len(ids) > 1 else "is only one take"
        raise BadValue(f"There {many} of this step.", "`/takes` lists them.", "no-such-take")
    return story.node(ids[ref.number - 1])


def find_branch(story: Story, ref: BranchRef) -> Branch:
    """A branch by id, name or derived label. Raises ``no-such-branch``, ``ambiguous`` with the ids (S30)."""
    forest = story.store.forest
    if ref.branch_id is not None:
        if ref.branch_id in forest and not forest[ref.branch_id].is_hidden:
            return forest[ref.branch_id]
        raise BadValue(f"There is no branch #{ref.branch_id}.", "`/branches` lists them.", "no-such-branch")
    wanted = (ref.name or "").strip()
    visible = [branch for branch in forest if not branch.is_hidden]
    found = [b for b in visible if b.name == wanted]
    found = found or [b for b in visible if b.label == wanted]
    if not found:
        raise BadValue(f"There is no branch “{wanted}”.", "`/branches` lists them.", "no-such-branch")
    if len(found) > 1:
        ids = ", ".join(f"#{branch.id}" for branch in found)
        raise BadValue(f"“{wanted}” could be any of {ids}.", "Use one of the ids.", "ambiguous")
    return found[0]
