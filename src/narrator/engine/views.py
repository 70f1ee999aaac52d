"""What panels and lists show of a story, as the values that events carry. Reads alone, all through store.reads."""

from __future__ import annotations

from collections.abc import Callable

from narrator.core.lineage import End
from narrator.core.state import State, is_ended
from narrator.core.tree import Coordinate, Node
from narrator.engine.events import (
    BranchListed,
    CheckpointListed,
    HeadMoved,
    StepShown,
    StepTakes,
    TakeListed,
    TakesAtPosition,
)
from narrator.store import lines, reads
from narrator.store.open import Store
from narrator.store.reads import Step

InWords = Callable[[str], str]
"""The text of a correction (S3) → the line that people read."""


def steps(store: Store, end: End, first: int, last: int, in_words: InWords) -> list[StepShown]:
    """The steps at positions first … last of a path."""
    first, last = max(1, first), min(last, end.length)
    return _shown(end, first, reads.steps(store, end, first, last) if first <= last else [], in_words)


def last_steps(store: Store, head: Node, end: End, count: int, in_words: InWords) -> list[StepShown]:
    """The newest steps of the path to ``head``; the same cost at any depth and fork count."""
    found = reads.tail(store, head.id, count)
    return _shown(end, end.length - len(found) + 1, found, in_words)


def _shown(end: End, first: int, found: list[Step], in_words: InWords) -> list[StepShown]:
    shown = []
    for position, (node_id, role, branch_id, _, mode, text, origin, take, takes) in enumerate(found, first):
        branch = end.branch_id if branch_id is None else branch_id
        words = in_words(text) if role == "correction" else ""
        shown.append(StepShown(node_id, position, role, mode, text, take, takes, branch, origin, words))
    return shown


def takes(store: Store, node: Node, end: End) -> list[TakeListed]:
    """The takes under a node's parent, numbered by id (S18)."""
    found = []
    for number, node_id in enumerate(reads.siblings(store, node.parent_id), start=1):
        each = reads.needed(store, node_id)
        branch = each.branch_id if each.branch_id is not None else reads.end_of(store, each).branch_id
        is_current = reads.is_on_path(store, each, end)
        found.append(TakeListed(each.id, number, each.role, is_current, each.is_pinned, each.text, branch))
    return found


def takes_on(store: Store, branch_id: int, end: End) -> list[StepTakes]:
    """The steps below those of a branch that have several takes, in order; what one reads of each is its beginning.

    A take is unplaced or begins a branch of its own, but for one: so the cost is that of the takes, at any length.
    """
    parents = """
    SELECT u.parent_id FROM nodes u INDEXED BY nodes_unplaced JOIN nodes p ON p.id = u.parent_id
    WHERE u.branch_id IS NULL AND u.hidden_by IS NULL AND p.branch_id = :branch
    UNION SELECT p.id FROM branches b INDEXED BY branches_parent
    JOIN nodes p INDEXED BY nodes_coordinate ON p.branch_id = b.parent_id AND p.depth = b.fork_depth
    WHERE b.parent_id = :branch AND b.hidden_by IS NULL
    """
    found: dict[int | None, list[TakeListed]] = {}
    depths: dict[int | None, int] = {}
    sql = (
        "SELECT n.parent_id, n.depth, n.id, n.branch_id, n.role, n.pinned, substr(n.text, 1, 200)"
        " FROM nodes n INDEXED BY nodes_parent WHERE n.hidden_by IS NULL AND n.parent_id"
    )
    rows = store.db.execute(f"{sql} IN ({parents}) ORDER BY n.depth, n.id", {"branch": branch_id}).fetchall()
    if store.forest[branch_id].parent_id is None:
        rows = store.db.execute(f"{sql} IS NULL ORDER BY n.id").fetchall() + rows
    for parent_id, depth, node_id, owner, role, pinned, text in rows:
        takes = found.setdefault(parent_id, [])
        depths[parent_id] = depth
        is_current = (
            node_id == end.loose_id if owner is None else store.forest.is_on_path(Coordinate(owner, depth), end)
        )
        takes.append(TakeListed(node_id, len(takes) + 1, role, is_current, bool(pinned), text, owner or branch_id))
    return [StepTakes(depths[parent], tuple(takes)) for parent, takes in found.items() if len(takes) > 1]


def branches(store: Store, tip: Node) -> list[BranchListed]:
    """Every visible branch in order of id (S29). The current one owns the tip, or the tip's parent."""
    current = lines.line_branch(store, tip)
    on_line = set(store.forest.chain(current)) if current else set()
    # A branch owns contiguous depths (S5.5), and what is hidden of one that is not lies at its end.
    steps = """
    SELECT b.id, (SELECT n.depth FROM nodes n INDEXED BY nodes_coordinate
                  WHERE n.branch_id = b.id AND n.hidden_by IS NULL ORDER BY n.depth DESC LIMIT 1) - b.fork_depth
    FROM branches b WHERE b.hidden_by IS NULL
    """
    steps_of = dict(store.db.execute(steps))
    loose = """
    SELECT p.branch_id, count(*) FROM nodes n INDEXED BY nodes_unplaced JOIN nodes p ON p.id = n.parent_id
    WHERE n.branch_id IS NULL AND n.hidden_by IS NULL GROUP BY 1
    """
    takes_of = dict(store.db.execute(loose))
    read = lines.last_read(store)
    named = checkpoints_by_branch(store)
    played_at = reads.campaign(store).played_at
    return [
        BranchListed(
            id=branch.id,
            name=branch.name,
            label=branch.label,
            parent=branch.parent_id,
            fork_position=branch.fork_depth,
            steps=steps_of.get(branch.id, 0),
            current=branch.id == current,
            on_path=branch.id in on_line,
            last_read=played_at if branch.id == current else read.get(branch.id),
            checkpoints=tuple(named.get(branch.id, ())),
            unplaced=takes_of.get(branch.id, 0),
        )
        for branch in store.forest
        if not branch.is_hidden
    ]


def checkpoints_by_branch(store: Store) -> dict[int, list[str]]:
    """The names of checkpoints by the branch that owns their node (or its parent)."""
    sql = """
    SELECT coalesce(n.branch_id, p.branch_id), c.name FROM checkpoints c JOIN nodes n ON n.id = c.node_id
    LEFT JOIN nodes p ON p.id = n.parent_id ORDER BY c.id
    """
    found: dict[int, list[str]] = {}
    for branch_id, name in store.db.execute(sql):
        if branch_id is not None:
            found.setdefault(branch_id, []).append(name)
    return found


def checkpoints(store: Store, end: End) -> list[CheckpointListed]:
    """Every checkpoint, oldest first."""
    found = []
    for each in reads.checkpoints(store):
        node = reads.needed(store, each.node_id)
        on_path = reads.is_on_path(store, node, end)
        found.append(CheckpointListed(each.name, node.id, node.depth, on_path, each.created_at))
    return found


def head(store: Store, at: Node, tip: Node, state: State) -> HeadMoved:
    """Where the story ends now."""
    length = reads.end_of(store, at).length
    line = reads.end_of(store, tip)
    return HeadMoved(at.id, length, tip.id, line.length - length, line.branch_id, is_ended(state))


def takes_by_branch(store: Store) -> dict[int, list[TakesAtPosition]]:
    """For each branch the positions where one parent on it has more than one take, with the ids of the takes."""
    sql = """
    SELECT p.branch_id, p.depth + 1, group_concat(n.id) FROM nodes n INDEXED BY nodes_parent
    JOIN nodes p ON p.id = n.parent_id WHERE n.hidden_by IS NULL GROUP BY n.parent_id HAVING count(*) > 1 ORDER BY 1, 2
    """
    found: dict[int, list[TakesAtPosition]] = {}
    for branch_id, position, ids in store.db.execute(sql):
        at = TakesAtPosition(position, tuple(sorted(int(each) for each in ids.split(","))))
        found.setdefault(branch_id, []).append(at)
    return found
