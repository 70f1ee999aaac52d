"""THE path, asked of random trees: SQL, ranges and the forest in memory equal the walk by parent links (S4, S6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narrator.core.errors import Damaged
from narrator.core.lineage import LINE, PATH, TAIL, End, Forest, Segment, walk
from narrator.core.tree import Branch, Coordinate
from narrator.store import memory_reads, reads, state_reads
from narrator.store.open import Store
from tests.store.making import bare_connection

SOURCE = Path(reads.__file__).parents[1]


@dataclass
class Grown:
    """A tree with its coordinates, grown node by node in no order that a story would know."""

    parents: dict[int, int | None] = field(default_factory=dict)
    places: dict[int, tuple[int | None, int]] = field(default_factory=dict)
    branches: dict[int, tuple[int | None, int]] = field(default_factory=dict)

    def children(self, node: int) -> list[int]:
        return [child for child, parent in self.parents.items() if parent == node]

    def add(self, parent: int | None, kind: str) -> None:
        """A node below ``parent`` (a placed one): in line where that is free, on a new branch, or unplaced."""
        node = len(self.parents) + 1
        branch, depth = self.places[parent] if parent is not None else (None, 0)
        taken = set(self.places.values())
        if kind == "line" and (branch, depth + 1) in taken:
            kind = "fork"
        if parent is None:
            kind = "loose" if kind == "loose" and self.branches else "fork"
        if kind == "fork":
            owner: int | None = len(self.branches) + 1
            self.branches[len(self.branches) + 1] = (branch, depth)
        else:
            owner = branch if kind == "line" else None
        self.parents[node] = parent
        self.places[node] = (owner, depth + 1)

    def placed(self) -> list[int]:
        return [node for node, (branch, _) in self.places.items() if branch is not None]

    def end(self, node: int) -> End:
        branch, depth = self.places[node]
        if branch is not None:
            return End(branch, depth)
        parent = self.parents[node]
        if parent is None:
            return End(0, 0, node)
        above, depth = self.places[parent]
        assert above is not None
        return End(above, depth, node)

    def forest(self) -> Forest:
        return Forest(Branch(b, parent, fork, None) for b, (parent, fork) in self.branches.items())


@st.composite
def trees(draw: st.DrawFn) -> Grown:
    grown = Grown()
    grown.add(None, "fork")
    for _ in range(draw(st.integers(0, 40))):
        kind = draw(st.sampled_from(["line", "line", "line", "fork", "loose"]))
        placed = grown.placed()
        # Mostly near the end, so that paths get long; -1 is another opening.
        at = max(-1, len(placed) - 1 - draw(st.integers(0, 4) | st.integers(0, len(placed))))
        grown.add(placed[at] if at >= 0 else None, kind)
    return grown


def in_a_file(tree: Grown) -> Store:
    """The same tree as rows, behind the store's own reads."""
    db = bare_connection()
    db.executemany(
        "INSERT INTO branches (id, parent_id, fork_depth, created_at) VALUES (?, ?, ?, '')",
        [(b, parent, fork) for b, (parent, fork) in tree.branches.items()],
    )
    db.executemany(
        "INSERT INTO nodes (id, parent_id, branch_id, depth, role, text, origin, chain_hash, created_at)"
        " VALUES (?, ?, ?, ?, 'narrator', '', 'typed', x'', '')",
        [(node, parent, *tree.places[node]) for node, parent in tree.parents.items()],
    )
    store = Store(Path("tree"), db, lambda: "", None)
    store.load_forest()
    return store


@pytest.mark.spec("S6", "S4")
@settings(max_examples=80, deadline=None)
@given(trees(), st.integers(0, 50), st.integers(0, 50))
def test_every_way_to_select_a_path_equals_the_walk(tree: Grown, low: int, high: int) -> None:
    store = in_a_file(tree)
    forest = tree.forest()
    for node in tree.parents:
        path = walk(tree.parents, node)
        end = tree.end(node)
        assert reads.end_of(store, reads.needed(store, node)) == end
        assert end.length == len(path)
        by_sql = store.db.execute(f"{PATH} SELECT id FROM path ORDER BY depth", end.bind())
        assert [row[0] for row in by_sql] == path
        assert [each.id for each in reads.window(store, end, 1, end.length)] == path
        by_line = store.db.execute(f"WITH RECURSIVE {LINE} SELECT branch_id, first, last FROM line", end.bind())
        segments = forest.segments(end.branch_id, end.depth) if end.depth else []
        assert [Segment(*row) for row in by_line] == segments
        first = 1 + low % end.length
        last = first + high % (end.length - first + 1)
        assert [each.id for each in reads.window(store, end, first, last)] == path[first - 1 : last]
        limit = 1 + high % (end.length + 1)
        by_tail = store.db.execute(f"{TAIL} SELECT id FROM tail ORDER BY n DESC", {"node": node, "limit": limit})
        assert [row[0] for row in by_tail] == path[-limit:]
        assert [each.id for each in reads.tail(store, node, limit)] == path[-limit:]


@pytest.mark.spec("S6", "S4")
@settings(max_examples=80, deadline=None)
@given(trees())
def test_the_forest_knows_who_owns_what(tree: Grown) -> None:
    forest = tree.forest()
    paths = {node: walk(tree.parents, node) for node in tree.parents}
    placed = tree.placed()
    for node in tree.parents:
        end = tree.end(node)
        for depth, above in enumerate(paths[node][: end.depth], start=1):
            assert forest.owner(end, depth) == tree.places[above][0]
        for other in placed:
            branch, depth = tree.places[other]
            assert branch is not None
            assert forest.is_on_path(Coordinate(branch, depth), end) == (other in paths[node])


@pytest.mark.spec("S4")
@settings(max_examples=80, deadline=None)
@given(trees())
def test_what_is_below_a_node_is_what_has_it_on_its_path(tree: Grown) -> None:
    forest = tree.forest()
    owned = {b: [node for node, (branch, _) in tree.places.items() if branch == b] for b in tree.branches}
    for node in tree.placed():
        branch, depth = tree.places[node]
        assert branch is not None
        expected = {
            b for b, nodes in owned.items() if b != branch and all(node in walk(tree.parents, each) for each in nodes)
        }
        assert forest.below(Coordinate(branch, depth)) == expected
    for branch in tree.branches:
        chain = forest.chain(branch)
        assert chain[0] == branch
        assert tree.branches[chain[-1]][0] is None
        assert all(tree.branches[a][0] == b for a, b in pairwise(chain))
    for parent in (None, *tree.branches):
        assert [b.id for b in forest.children(parent)] == [b for b, row in tree.branches.items() if row[0] == parent]


@pytest.mark.spec("S47")
def test_a_broken_ancestry_is_named() -> None:
    with pytest.raises(Damaged) as dangling:
        walk({1: None, 3: 2}, 3)
    assert (dangling.value.node_id, dangling.value.invariant) == (2, "S5.8")
    with pytest.raises(Damaged) as circle:
        walk({1: 2, 2: 1}, 1)
    assert circle.value.invariant == "S5.8"


@pytest.mark.spec("S47")
@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([(1, None, 0), (3, 2, 5)], id="a parent that is not there"),
        pytest.param([(1, None, 0), (2, 3, 5), (3, 2, 5)], id="a circle"),
        pytest.param([(1, None, 0), (3, 3, 5)], id="its own parent"),
        pytest.param([(1, None, 0), (2, 1, 5), (3, 2, 5)], id="a fork above where the parent begins"),
    ],
)
def test_a_broken_chain_of_branches_is_named(rows: list[tuple[int, int | None, int]]) -> None:
    forest = Forest(Branch(*row, None) for row in rows)
    with pytest.raises(Damaged) as segments:
        forest.segments(3, 7)
    with pytest.raises(Damaged) as owner:
        forest.owner(End(3, 7), 1)
    with pytest.raises(Damaged) as chain:
        forest.chain(3)
    with pytest.raises(Damaged):
        forest.reach(End(3, 7))
    assert {each.value.invariant for each in (segments, owner, chain)} == {"S5.5"}
    assert forest.below(Coordinate(3, 1)) <= {2, 3}


@pytest.mark.spec("S47", "S6")
def test_a_circle_of_branches_ends_the_clauses_and_is_named_by_the_reads() -> None:
    db = bare_connection()
    db.execute("PRAGMA foreign_keys = OFF")
    rows = [(1, None, 0), (2, 3, 5), (3, 2, 5)]
    db.executemany("INSERT INTO branches (id, parent_id, fork_depth, created_at) VALUES (?, ?, ?, '')", rows)
    store = Store(Path("tree"), db, lambda: "", None)
    store.load_forest()
    end = End(3, 7)
    assert db.execute(f"WITH RECURSIVE {LINE} SELECT branch_id FROM line", end.bind()).fetchall() == [(3,)]
    for read in (
        memory_reads.memories,
        state_reads.checks_on,
        lambda store, end: state_reads.audit(store, end, "facts"),
    ):
        with pytest.raises(Damaged):
            read(store, end)


@pytest.mark.spec("S6")
def test_the_words_of_the_path_clause_stand_in_one_file() -> None:
    """Recursion over parents, and ranges of depths joined to branches, are core/lineage's alone."""
    holders = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for text in [" ".join(path.read_text().split()).lower()]
        if "union all select b.id, b.fork_depth" in text
        or "join nodes on nodes.id = tail.parent_id" in text
        or ("with recursive" in text and path.parts[-2:] != ("store", "reads.py"))
    }
    assert holders == {"core/lineage.py"}
