"""What is deleted, hidden, pruned and given back, and what is kept (S36, S38, S40, S41)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from narrator.core.errors import NarratorError, Refusal
from narrator.core.proposal import Proposal
from narrator.core.tree import NewNode
from narrator.engine.story import Story
from narrator.store import commit, removal
from narrator.store.commit import Acceptance
from narrator.store.parts import part_hash
from narrator.store.removal import Age
from narrator.store.verify import verify_connection
from tests.store.making import accept_turn, failing, make, open_story, rows


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    story = open_story(make(tmp_path / "x.narrator"))
    yield story
    story.close()


def told(story: Story, text: str, parts: tuple[str, ...], at: int) -> int:
    """A narration whose provenance names parts."""
    record = {"prompt": {"tail": [{"hash": part_hash(part).hex()} for part in parts]}}
    node = NewNode("narrator", text, origin="generated", provenance=record)
    return commit.accept(story.store, Acceptance(at, (node,), story.position, parts=parts, narrated=0))[-1]


def parts(story: Story) -> set[str]:
    return {row[0] for row in story.store.db.execute("SELECT text FROM parts")}


@pytest.mark.spec("S40", "S25")
def test_a_prune_drops_the_parts_that_nothing_names_any_more(story: Story) -> None:
    accept_turn(story, 1)
    told(story, "One.", ("shared", "only one"), 2)
    told(story, "Two.", ("shared", "only two"), 2)
    story.prune(story.plan_prune(Age("all")))
    assert parts(story) == {"shared", "only two"}
    assert verify_connection(story.store.db).ok


@pytest.mark.spec("S41", "S25")
def test_what_is_only_hidden_keeps_its_parts(story: Story) -> None:
    accept_turn(story, 1)
    one = told(story, "One.", ("only one",), 2)
    told(story, "Two.", ("only two",), 2)
    story.delete(story.plan_delete_take(story.node(one)), "take")
    assert parts(story) == {"only one", "only two"}
    story.undelete()
    assert story.node(one).text == "One."


@pytest.mark.spec("S40")
def test_the_bytes_that_are_shown_are_the_bytes_that_are_freed(story: Story) -> None:
    accept_turn(story, 1)
    for number in range(300):
        told(story, f"Take {number}. " * 120, (f"part {number} " * 200,), 2)
    story.store.db.execute("VACUUM")
    story.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = story.path.stat().st_size
    plan = story.plan_prune(Age("all"))
    shown = removal.freed_bytes(story.store, plan)
    story.prune(plan)
    story.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    freed = before - story.path.stat().st_size
    assert freed > 500_000
    assert abs(shown - freed) <= freed / 10


@pytest.mark.spec("S40", "S36")
def test_looking_at_what_would_go_changes_nothing(story: Story) -> None:
    for number in range(4):
        accept_turn(story, number)
        story.undo(2)
    before = rows(story.store.db)
    for age in (Age("all"), Age("days", 3), Age("steps", 2), Age("days", 10**9), Age("steps", 0)):
        removal.freed_bytes(story.store, story.plan_prune(age))
    assert rows(story.store.db) == before


@pytest.mark.spec("S40", "S27")
@pytest.mark.parametrize("keeper", ["checkpoint", "pin", "name", "line"])
def test_what_is_kept_keeps_all_that_it_borrows(story: Story, keeper: str) -> None:
    accept_turn(story, 1)
    accept_turn(story, 2)
    story.undo(3)
    story.fork(story.head)
    story.undo(1)
    accept_turn(story, 3)
    kept = story.node(5)
    if keeper == "checkpoint":
        story.save("Here", kept)
    elif keeper == "pin":
        story.pin(kept, is_pinned=True)
    elif keeper == "name":
        story.rename_branch(story.store.forest[1], "The first")
    else:
        story.go(kept)
    story.prune(story.plan_prune(Age("all")))
    left = {row[0] for row in story.store.db.execute("SELECT id FROM nodes")}
    assert {1, 2, 3, 4, 5} <= left
    assert left == ({1, 2, 3, 4, 5} if keeper == "line" else {1, 2, 3, 4, 5, 6, 7})
    assert verify_connection(story.store.db).ok


@pytest.mark.spec("S40")
def test_what_named_the_lost_ones_is_cleared(story: Story) -> None:
    """Sources of edits and copied events, places, visits, the wish to fork: none names a node that is gone."""
    accept_turn(story, 1)
    edited = NewNode("narrator", "So.", origin="edited", source_id=3)
    commit.accept(story.store, Acceptance(2, (edited,), story.position, has_place=True))
    story.store.db.execute("UPDATE state_events SET source_node_id = 3")
    story.store.db.execute("INSERT INTO state_events VALUES (4, 0, 'set', 'player.nerve', '9', '5', 'model', 3, '')")
    story.prune(story.plan_prune(Age("all")))
    db = story.store.db
    assert db.execute("SELECT source_id FROM nodes WHERE id = 4").fetchone() == (None,)
    assert db.execute("SELECT source_node_id FROM state_events WHERE node_id = 4").fetchone() == (None,)
    assert db.execute("SELECT count(*) FROM visits WHERE tip_node_id = 3 OR head_node_id = 3").fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM places WHERE head_node_id = 3").fetchone() == (0,)
    with pytest.raises(Refusal) as nowhere:
        story.back()
    assert nowhere.value.code == "nothing-to-go-back"


@pytest.mark.spec("S38", "S27")
@pytest.mark.parametrize(
    ("prepare", "code"),
    [
        (lambda s: None, "take-in-use"),
        (lambda s: (s.take(s.node(4)), s.pin(s.node(3), is_pinned=True)), "take-pinned"),
        (lambda s: (s.save("Here", s.node(3)), s.take(s.node(4))), "take-has-checkpoint"),
        (lambda s: (accept_turn(s, 2, at=3), s.take(s.node(4))), "take-in-use"),
        (lambda s: s.undo(), "take-in-use"),
    ],
)
def test_a_take_that_is_needed_is_not_deleted(story: Story, prepare: Callable[[Story], object], code: str) -> None:
    accept_turn(story, 1)
    told(story, "Two.", (), 2)
    story.take(story.node(3))
    prepare(story)
    before = rows(story.store.db)
    with pytest.raises(NarratorError) as refused:
        story.plan_delete_take(story.node(3))
    assert refused.value.code == code
    assert rows(story.store.db) == before


@pytest.mark.spec("S41")
def test_deletions_come_back_the_latest_first(story: Story) -> None:
    accept_turn(story, 1)
    takes = [told(story, f"Take {number}.", (), 2) for number in range(4)]
    for take in takes[:3]:
        story.delete(story.plan_delete_take(story.node(take)), "take")
    for take in reversed(takes[:3]):
        with pytest.raises(NarratorError):
            story.node(take)
        story.undelete()
        assert story.node(take).text
    with pytest.raises(Refusal) as nothing:
        story.undelete()
    assert nothing.value.code == "nothing-to-undelete"


@pytest.mark.spec("S40", "T14")
def test_a_prune_with_no_room_to_pack_is_done_all_the_same(story: Story) -> None:
    """Packing needs as much room again, which whoever prunes may not have; the space is used again anyway."""
    accept_turn(story, 1)
    told(story, "Two.", ("part",), 2)
    plan = story.plan_prune(Age("all"))
    db = failing(story)
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    db.arm(0)
    story.prune(plan)
    count = db.disarm()
    db.set_trace_callback(None)
    assert statements[-1] == "VACUUM"
    told(story, "Three.", ("other part",), 2)
    plan = story.plan_prune(Age("all"))
    db.arm(count, sqlite3.SQLITE_FULL)
    story.prune(plan)
    assert db.disarm() >= count
    assert db.execute("SELECT count(*) FROM nodes").fetchone() == (3,)
    assert verify_connection(db).ok


@pytest.mark.spec("S33", "S40")
def test_what_hangs_from_a_lost_node_goes_with_it(story: Story) -> None:
    accept_turn(story, 1)
    story.remember("It was so.")
    story.correct(Proposal("assert", "facts", "It rains."))
    told(story, "Two.", (), 2)
    story.prune(story.plan_prune(Age("all")))
    for table in ("memories", "state_events", "provenance"):
        ids = {row[0] for row in story.store.db.execute(f"SELECT node_id FROM {table}")}
        assert ids <= {1, 2, 5}, table
    assert story.store.db.execute("SELECT count(*) FROM provenance").fetchone()[0] == 1
    assert verify_connection(story.store.db).ok
