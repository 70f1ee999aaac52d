"""Which coordinate a node takes (S14, S24): decided on the rows as they are inside the transaction."""

from __future__ import annotations

from narrator.core.errors import Damaged
from narrator.core.tree import Branch, Coordinate, Node
from narrator.store import reads
from narrator.store.open import Store


def place(store: Store, node: Node, *, own_branch: bool = False) -> Node:
    """Give an unplaced take its coordinate: after its parent when that is free or held by a leaf, else on a new
    branch (S14). ``own_branch``: on a new one at once (S24)."""
    if node.parent_id is None:
        roots = sorted(branch.id for branch in store.forest.children(None))
        target: Coordinate | None = Coordinate(roots[0], 1) if roots else None
        fork: tuple[int | None, int] = (None, 0)
    else:
        parent = reads.needed(store, node.parent_id)
        if parent.branch_id is None:
            raise Damaged(f"The unplaced take #{parent.id} has something below it.", parent.id, "S5.3")
        target, fork = Coordinate(parent.branch_id, parent.depth + 1), (parent.branch_id, parent.depth)
    held_by = reads.holder(store, target) if target is not None else None
    is_free = target is not None and (held_by is None or not reads.has_child(store, held_by, even_hidden=True))
    if own_branch or target is None or not is_free:
        branch_id = new_branch(store, *fork)
    else:
        branch_id = target.branch_id
        if held_by is not None:
            store.db.execute("UPDATE nodes SET branch_id = NULL WHERE id = ?", (held_by,))
    store.db.execute("UPDATE nodes SET branch_id = ? WHERE id = ?", (branch_id, node.id))
    return reads.needed(store, node.id)


def new_branch(store: Store, parent_id: int | None, fork_depth: int) -> int:
    cursor = store.db.execute(
        "INSERT INTO branches (parent_id, fork_depth, created_at) VALUES (?, ?, ?)",
        (parent_id, fork_depth, store.clock()),
    )
    branch_id = cursor.lastrowid
    assert branch_id is not None
    store.forest.add(Branch(branch_id, parent_id, fork_depth, None))
    return branch_id
