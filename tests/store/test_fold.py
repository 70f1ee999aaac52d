"""State along a path: from the nearest snapshot or from nothing, it is the same (S10, S5.9, W3)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from narrator.core.lineage import End
from narrator.core.tree import NewNode
from narrator.engine.story import Story
from narrator.store import commit, fold, reads, state_reads
from narrator.store.commit import Acceptance
from tests.store.making import accept_turn, deepen, make, open_story


def from_nothing(story: Story, node_id: int) -> object:
    path = [node.id for node in reads.tail(story.store, node_id, 10_000)]
    return list(fold.fold_from_nothing(story.store.db, path))[-1][1]


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    story = open_story(make(tmp_path / "x.narrator"))
    story.store.db.execute("PRAGMA synchronous = OFF")
    yield story
    story.close()


@pytest.mark.spec("S10", "S5")
def test_every_node_has_the_state_it_had_when_it_was_first_the_head(story: Story) -> None:
    first: dict[int, object] = {1: story.state()}
    for number in range(60):
        accept_turn(story, number)
        story._states.clear()
        first[story.head.id] = story.state()
        if number % 7 == 0:
            story.undo(5)
            first.setdefault(story.head.id, story.state())
    for node_id, state in first.items():
        story._states.clear()
        assert story.state(story.node(node_id)) == state
        assert from_nothing(story, node_id) == state
    story.undo(1000)
    story.redo(1000)
    assert story.state() == first[story.head.id]


@pytest.mark.spec("S10")
def test_snapshots_lie_at_every_32nd_step_that_has_something_below(story: Story) -> None:
    deepen(story, 130)
    depths = [
        row[0]
        for row in story.store.db.execute("SELECT depth FROM snapshots JOIN nodes ON nodes.id = node_id ORDER BY depth")
    ]
    assert depths == [32, 64, 96, 128]
    end = story.end
    assert state_reads.snapshot_before(story.store, end) is not None
    assert state_reads.snapshot_before(story.store, End(end.branch_id, 31)) is None
    found = state_reads.snapshot_before(story.store, End(end.branch_id, 63))
    assert found is not None
    assert found[0] == 32


@pytest.mark.spec("S10")
def test_without_any_snapshot_the_state_is_the_same(story: Story) -> None:
    deepen(story, 2_100)
    shown = story.state()
    story.store.db.execute("DELETE FROM snapshots")
    story._states.clear()
    assert story.state() == shown
    assert shown.values["player.nerve"] == 5 + 1_050


@pytest.mark.spec("S10")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    moves=st.lists(st.tuples(st.sampled_from(["turn", "undo", "go", "take", "fork"]), st.integers(0, 99)), max_size=25)
)
def test_the_state_that_is_remembered_is_the_state_that_is_folded(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, int]]
) -> None:
    """Whatever was played between, the answer from memory equals the one from the file alone."""
    story = open_story(make(tmp_path_factory.mktemp("fold") / "x.narrator"))
    story.store.db.execute("PRAGMA synchronous = OFF")
    try:
        for verb, number in moves:
            ids = [row[0] for row in story.store.db.execute("SELECT id FROM nodes ORDER BY id")]
            node = story.node(ids[number % len(ids)])
            if verb == "turn":
                accept_turn(story, number)
            elif verb == "undo" and story.count > 1:
                story.undo(1 + number % 5)
            elif verb == "go":
                story.go(node)
            elif verb == "take":
                story.take(node)
            elif verb == "fork" and node.role != "player":
                story.fork(node)
            assert story.state() == fold.state_at(story.store, story.head) == from_nothing(story, story.head.id)
    finally:
        story.close()


@pytest.mark.spec("S14", "S33")
def test_retries_that_nobody_builds_on_make_no_snapshot(story: Story) -> None:
    deepen(story, 31)
    for number in range(5):
        write = Acceptance(31, (NewNode("narrator", f"Take {number}."),), story.position, state_at=story.snapshot_at)
        commit.accept(story.store, write)
    assert story.store.db.execute("SELECT count(*) FROM snapshots").fetchone()[0] == 0
