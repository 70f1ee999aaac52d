"""The shape of an imported tree is the one that play would have given it (S14), and so are its snapshots (W3)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from narrator.core.state import dump
from narrator.core.tree import NewNode, Position
from narrator.exchange.bundle_models import EventRow, NodeRow
from narrator.exchange.bundle_structure import free_name
from narrator.exchange.campaign_file import file_name, make_campaign
from narrator.exchange.growth import Batch, Skeleton, grow, growth_of
from narrator.store import commit, fold, reads
from narrator.store.commit import Acceptance
from narrator.store.open import create_file
from narrator.store.verify import verify
from tests.exchange.bringing import still
from tests.store.making import DEFINITION, open_story

SIZE = 60


def parents(chance: random.Random) -> list[int]:
    """A tree in order of creation: deep here, bushy there; now and then another opening."""
    found = [0]
    for number in range(2, SIZE):
        kind = chance.random()
        found.append(0 if kind < 0.03 else number - 1 if kind < 0.6 else chance.randint(1, number - 1))
    return found


@pytest.mark.spec("S14", "S5", "S4")
@pytest.mark.parametrize("seed", range(12))
def test_places_are_those_of_play(tmp_path: Path, seed: int) -> None:
    tree = parents(random.Random(seed))
    openings = [n for n, parent in enumerate(tree, 1) if not parent]
    ids: dict[int, int] = {}
    with closing(create_file(tmp_path / "played.narrator", clock=still)) as store:
        nodes = [NewNode("opening", f"t{n}") for n in openings]
        commit.create(store, campaign_id="a", title="A", seed=1, definition=DEFINITION, openings=nodes)
        ids.update(zip(openings, range(1, len(openings) + 1), strict=True))
        for node, parent in enumerate(tree, 1):
            if parent:
                row = reads.campaign(store)
                write = Acceptance(ids[parent], (NewNode("narrator", f"t{node}"),), Position(row.head_id, row.tip_id))
                ids[node] = commit.accept(store, write)[0]
        placed = dict(store.db.execute("SELECT id, branch_id FROM nodes"))
        branches = store.db.execute("SELECT id, parent_id, fork_depth FROM branches ORDER BY id").fetchall()
    shape = Skeleton()
    order = openings + [n for n, parent in enumerate(tree, 1) if parent]
    ordinal = {node: index for index, node in enumerate(order, 1)}
    for node in order:
        parent = tree[node - 1]
        shape.add(ordinal[parent] if parent else 0)
    shape.place_all()
    assert {ids[n]: shape.branches[ordinal[n]] or None for n in order} == placed
    assert [row[:3] for row in shape.branch_rows()] == branches


@pytest.mark.spec("W3", "S5")
def test_snapshots_stand_where_play_puts_them(tmp_path: Path) -> None:
    """A long line with takes far behind it, so that states wait and are packed."""
    chance = random.Random(5)
    shape = Skeleton()
    shape.add(0)
    for number in range(2, 1500):
        shape.add(number - 1)
    for _ in range(1200):
        shape.add(chance.randint(1, 1400))
    shape.place_all()

    def row(node: int) -> NodeRow:
        event = EventRow(op="set", path="player.nerve", value=node, previous=node - 1, source="model")
        role = "opening" if node == 1 else "narrator"
        return NodeRow(parent=shape.parents[node] or None, role=role, text=f"t{node}", events=[event])  # type: ignore[arg-type]

    def rows() -> Iterator[Batch]:
        yield "branches", shape.branch_rows()
        yield from grow(shape, (growth_of(row(node)) for node in range(1, shape.count + 1)), now=still())
        yield "definitions", [(1, DEFINITION, still())]
        yield "campaign", [("a", "A", 1, 1, 1, 0, shape.count, None, None, 0, still(), still(), 0.0)]

    path = make_campaign(tmp_path, "long", rows(), clock=still)
    with closing(open_story(path)) as story:
        story.go(story.node(shape.newest_leaf(1499)))
        snapshots = dict(story.store.db.execute("SELECT node_id, state FROM snapshots"))
        due = {n for n in range(1, shape.count + 1) if shape.depths[n] % 32 == 0 and shape.children[n]}
        assert set(snapshots) == due
        for node, state in fold.fold_from_nothing(story.store.db, shape.path(shape.count)):
            if node in snapshots:
                assert snapshots[node] == dump(state)
        state = fold.state_at(story.store, story.node(1400))
        assert state.values["player.nerve"] == 1400
    assert verify(path).problems == ()


@pytest.mark.parametrize("seed", range(5))
def test_who_is_above_whom(seed: int) -> None:
    shape = Skeleton()
    for parent in parents(random.Random(seed)):
        shape.add(parent)
    for lower in range(1, shape.count + 1):
        above = set(shape.path(lower))
        assert {upper for upper in range(1, shape.count + 1) if shape.is_above(upper, lower)} == above


@pytest.mark.spec("X3")
def test_many_of_one_kind_take_no_longer_each() -> None:
    """A line of 100,000 nodes with visits from end to end, and 20,000 checkpoints of one name."""
    shape = Skeleton()
    for number in range(100_000):
        shape.add(number)
    assert all(shape.is_above(1, 100_000) for _ in range(20_000))
    taken: set[str] = set()
    for _ in range(20_000):
        taken.add(free_name("dawn", taken))
    assert len(taken) == 20_000


def test_names_of_files() -> None:
    assert file_name("The Lantern Road: “Part 2”/..") == "the-lantern-road-part-2"
    assert file_name("…") == "imported"
    assert file_name("灯" * 500) == "灯" * 40
    assert not file_name("../../etc/passwd").startswith(".")
