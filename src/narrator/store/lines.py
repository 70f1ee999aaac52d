"""Which line a move leads to: the visits, and the rules that choose a tip (S17, S28, S30).

A line is the path to a tip. For every tip that was read the file remembers the head last read on its line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from narrator.core.lineage import End
from narrator.core.tree import Coordinate, Node, Position
from narrator.store import reads
from narrator.store.open import Store

#: A branch of at most so many steps is asked which lines end on it; of a longer one the visits are, latest first.
_SHORT_BRANCH = 500


def tip_through(store: Store, node: Node) -> Position:
    """The most recently read line through ``node`` (S17): its tip, and the head last read on it.

    Leaves never read come after all visited ones, newest first; their head is the tip itself.
    """
    if node.coordinate is None:
        row = store.db.execute("SELECT head_node_id FROM visits WHERE tip_node_id = ?", (node.id,)).fetchone()
        return Position(row[0] if row else node.id, node.id)
    below = store.forest.below(node.coordinate)
    for tip_id, head_id, branch_id, depth in _visited(store):
        if _is_below(Coordinate(branch_id, depth), node.coordinate, below):
            return Position(head_id, tip_id)
    leaf = _newest_leaf(store, node, below)
    return Position(leaf, leaf)


def line_ending_on(store: Store, branch_id: int, *, placed_only: bool) -> Position | None:
    """The last-read line that ends on a branch: the branch owns its tip, or the tip's parent (S30)."""
    deepest = reads.deepest(store, branch_id)
    if deepest is not None and deepest.depth - store.forest[branch_id].fork_depth <= _SHORT_BRANCH:
        sql = """
        SELECT v.head_node_id, v.tip_node_id, n.branch_id, v.counter
        FROM nodes n INDEXED BY nodes_coordinate JOIN visits v ON v.tip_node_id = n.id
        WHERE n.branch_id = :branch AND n.hidden_by IS NULL
        UNION ALL
        SELECT v.head_node_id, v.tip_node_id, NULL, v.counter
        FROM nodes p INDEXED BY nodes_coordinate
        CROSS JOIN nodes n INDEXED BY nodes_parent ON n.parent_id = p.id AND n.hidden_by IS NULL
        CROSS JOIN visits v ON v.tip_node_id = n.id
        WHERE p.branch_id = :branch AND n.branch_id IS NULL ORDER BY 4 DESC
        """
    else:
        sql = """
        SELECT v.head_node_id, v.tip_node_id, n.branch_id
        FROM visits v INDEXED BY visits_counter CROSS JOIN nodes n ON n.id = v.tip_node_id
        LEFT JOIN nodes p ON n.branch_id IS NULL AND p.id = n.parent_id
        WHERE n.hidden_by IS NULL AND coalesce(n.branch_id, p.branch_id) = :branch ORDER BY v.counter DESC
        """
    for head_id, tip_id, owner, *_ in store.db.execute(sql, {"branch": branch_id}):
        if owner is not None or not placed_only:
            return Position(head_id, tip_id)
    return None


def line_branch(store: Store, tip: Node) -> int | None:
    """The branch a line ends on; None for an unplaced opening."""
    end = reads.end_of(store, tip)
    return end.branch_id or None


def last_read(store: Store) -> dict[int, str]:
    """When a line that ends on each branch was last left, by branch id."""
    sql = """
    SELECT coalesce(n.branch_id, p.branch_id), max(v.visited_at)
    FROM visits v CROSS JOIN nodes n ON n.id = v.tip_node_id
    LEFT JOIN nodes p ON p.id = n.parent_id WHERE n.hidden_by IS NULL GROUP BY 1
    """
    return {branch: at for branch, at in store.db.execute(sql) if branch is not None}


def _visited(store: Store) -> Iterator[tuple[int, int, int, int]]:
    """(tip, head, branch, depth) by the latest visit first; an unplaced tip stands at its parent's coordinate.

    What is looked for was mostly read not long ago, so the rows are read as they are asked for.
    """
    sql = """
    SELECT v.tip_node_id, v.head_node_id, coalesce(n.branch_id, p.branch_id, 0),
           CASE WHEN n.branch_id IS NULL THEN coalesce(p.depth, 0) ELSE n.depth END
    FROM visits v INDEXED BY visits_counter CROSS JOIN nodes n ON n.id = v.tip_node_id
    LEFT JOIN nodes p ON n.branch_id IS NULL AND p.id = n.parent_id
    WHERE n.hidden_by IS NULL ORDER BY v.counter DESC
    """
    return store.db.execute(sql)


def _is_below(found: Coordinate, top: Coordinate, branches_below: set[int]) -> bool:
    if found.branch_id == top.branch_id:
        return found.depth >= top.depth
    return found.branch_id in branches_below


def _newest_leaf(store: Store, node: Node, branches_below: set[int]) -> int:
    """The highest visible id at or below a placed node; ids grow along every path, so it is a leaf."""
    assert node.branch_id is not None
    leaves = """
    SELECT max((SELECT n.id FROM nodes n INDEXED BY nodes_coordinate
                WHERE n.branch_id = json_each.value AND n.hidden_by IS NULL ORDER BY n.depth DESC LIMIT 1))
    FROM json_each(?)
    """
    (leaf,) = store.db.execute(leaves, (json.dumps([node.branch_id, *branches_below]),)).fetchone()
    best = node.id if leaf is None else max(node.id, leaf)
    loose = (
        "SELECT n.id, p.branch_id, p.depth FROM nodes n INDEXED BY nodes_unplaced JOIN nodes p ON p.id = n.parent_id"
        " WHERE n.branch_id IS NULL AND n.hidden_by IS NULL AND n.id > ? ORDER BY n.id DESC"
    )
    top = Coordinate(node.branch_id, node.depth)
    for loose_id, branch_id, depth in store.db.execute(loose, (best,)):
        if branch_id is not None and _is_below(Coordinate(branch_id, depth), top, branches_below):
            return int(loose_id)
    return best


def tip_for(store: Store, head: Node, tip_id: int) -> int:
    """The tip after the head moves to ``head`` (S28): the tip as it is while head is on its line, else S17's."""
    tip = reads.node(store, tip_id)
    if tip is not None and not reads.has_child(store, tip.id):
        line: End = reads.end_of(store, tip)
        if reads.is_on_path(store, head, line):
            return tip_id
    return tip_through(store, head).tip_id
