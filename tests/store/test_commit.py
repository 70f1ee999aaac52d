"""Every statement of every write, failing in its turn: all or nothing, and the same verb then works (S12, S46, T14)."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from narrator.core.errors import Damaged, NarratorError, Refusal, Stale, StoreError
from narrator.core.lineage import End
from narrator.core.proposal import Proposal
from narrator.core.summary import ContextCheckpoint
from narrator.core.tree import NewNode, Position
from narrator.engine.references import BranchRef, find_branch
from narrator.engine.story import Story
from narrator.store import commit, reads
from narrator.store.commit import Acceptance, placing
from narrator.store.open import create_file
from narrator.store.removal import Age
from narrator.store.verify import verify_connection
from tests.store.making import (
    Failing,
    accept_turn,
    each_failure,
    failing,
    forest_in,
    forest_of,
    make,
    open_story,
    rows,
    still,
)

FACT = Proposal("assert", "facts", "It rains.")
SUMMARY = ContextCheckpoint(7, 3, 4, 1, 3, bytes(32), "{}", bytes(32))
_numbers = itertools.count(1)


def take(story: Story, parent: int, text: str = "Another.", **rest: Any) -> int:
    """One more narration below a node."""
    write = Acceptance(parent, (NewNode("narrator", text, origin="generated"),), story.position, narrated=0, **rest)
    return commit.accept(story.store, write)[-1]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1 ─ 2 3 ─ 4 5 ─ 6 7 ─ 8 on branch 1, the head undone to 7; 9 and 10 are takes of 5, 11 and 12 on a branch below
    9; a checkpoint, a pin, a memory, a name, places both ways."""
    path = make(tmp_path_factory.mktemp("template") / "template.narrator")
    story = open_story(path)
    for number in range(3):
        accept_turn(story, number)
    story.correct(FACT)
    take(story, 4, has_place=True)
    take(story, 4, "And another.", has_place=True)
    accept_turn(story, 4, at=9)
    story.save("The ford")
    story.pin(story.node(10), is_pinned=True)
    story.remember("It rained.")
    story.rename_branch(story.store.forest[2], "The long way")
    story.take(story.node(5))
    story.go(story.node(6))
    story.back()
    story.undo()
    assert story.position == Position(7, 8)
    assert verify_connection(story.store.db).problems == ()
    story.close()
    return path


@pytest.fixture
def story(template: Path, tmp_path: Path) -> Iterator[Story]:
    """A copy of its own, open."""
    path = Path(shutil.copy(template, tmp_path / "copy.narrator"))
    story = open_story(path)
    yield story
    story.close()


def hidden(story: Story) -> None:
    """The state after a branch and a take were deleted."""
    story.delete_checkpoint("The ford")
    story.delete(story.plan_delete_branch(story.store.forest[2]), "branch")
    story.pin(story.node(10), is_pinned=False)
    story.delete(story.plan_delete_take(story.node(10)), "take")


VERBS: dict[str, tuple[Callable[[Story], object], Callable[[Story], object]]] = {
    # Name: what comes before, and the write itself.
    "turn": (lambda s: None, lambda s: accept_turn(s, 9)),
    "turn that opens a branch": (lambda s: s.undo(2), lambda s: accept_turn(s, 9)),
    "turn with parts and a record": (
        lambda s: None,
        lambda s: take(s, 7, parts=("one", "two")),
    ),
    "retry": (lambda s: None, lambda s: take(s, 6, left="move", has_place=True)),
    "turn below an unplaced take, at a freed place": (lambda s: s.take(s.node(10)), lambda s: accept_turn(s, 9)),
    "turn below an unplaced take, displacing a leaf": (
        lambda s: (s.undo(2), s.take(s.node(take(s, 6)))),
        lambda s: accept_turn(s, 9),
    ),
    "fork, then turn": (lambda s: s.fork(s.head), lambda s: accept_turn(s, 9)),
    "correct": (lambda s: None, lambda s: s.correct(Proposal("assert", "facts", f"Fact {next(_numbers)}."))),
    "undo": (lambda s: None, lambda s: s.undo(2)),
    "undo-turn": (lambda s: None, lambda s: s.undo_turn()),
    "redo": (lambda s: None, lambda s: s.redo()),
    "go": (lambda s: None, lambda s: s.go(s.node(12))),
    "take": (lambda s: None, lambda s: s.take(s.node(9))),
    "restore": (lambda s: None, lambda s: s.restore("The ford")),
    "switch": (lambda s: None, lambda s: s.switch(find_branch(s, BranchRef("The long way", None)))),
    "back": (lambda s: None, lambda s: s.back()),
    "forward": (lambda s: s.back(), lambda s: s.forward()),
    "fork": (lambda s: None, lambda s: s.fork(s.node(3))),
    "fork at an unplaced take": (lambda s: None, lambda s: s.fork(s.node(10))),
    "save": (lambda s: None, lambda s: s.save("Here")),
    "rename-checkpoint": (lambda s: None, lambda s: s.rename_checkpoint("The ford", "The weir")),
    "delete-checkpoint": (lambda s: None, lambda s: s.delete_checkpoint("The ford")),
    "rename-branch": (lambda s: None, lambda s: s.rename_branch(s.store.forest[2], "The short way")),
    "pin": (lambda s: None, lambda s: s.pin(s.node(9), is_pinned=True)),
    "remember": (lambda s: None, lambda s: s.remember("It rained again.")),
    "change a memory": (lambda s: None, lambda s: commit.change_memory(s.store, 1, pinned=True, text="It snowed.")),
    "delete-branch": (
        lambda s: s.delete_checkpoint("The ford"),
        lambda s: s.delete(s.plan_delete_branch(s.store.forest[2]), "branch"),
    ),
    "delete-take": (
        lambda s: s.pin(s.node(10), is_pinned=False),
        lambda s: s.delete(s.plan_delete_take(s.node(10)), "take"),
    ),
    "undelete": (hidden, lambda s: s.undelete()),
    "undelete a branch": (lambda s: (hidden(s), s.undelete()), lambda s: s.undelete()),
    "finalize": (hidden, lambda s: commit.finalize(s.store)),
    "erase": (
        lambda s: s.delete_checkpoint("The ford"),
        lambda s: commit.erase(s.store, s.plan_prune(Age("all")).node_ids),
    ),
    "keep the draft": (lambda s: None, lambda s: commit.keep_draft(s.store, "I wa", "do")),
    "send the draft": (
        lambda s: commit.keep_draft(s.store, "I wa", "do"),
        lambda s: commit.send_draft(s.store, "I wait.", "do"),
    ),
    "choose a narrator": (lambda s: None, lambda s: commit.choose_narrator(s.store, "tiny")),
    "track": (lambda s: None, lambda s: commit.set_tracking(s.store, True)),
    "keep a generated memory": (lambda s: None, lambda s: commit.keep_memory(s.store, 7, "It went on.", 2)),
    "keep a summary": (lambda s: None, lambda s: commit.keep_context_checkpoint(s.store, SUMMARY)),
    "keep a summary in the place of others": (
        lambda s: commit.keep_context_checkpoint(s.store, replace(SUMMARY, at_node_id=6)),
        lambda s: commit.keep_context_checkpoint(s.store, SUMMARY, replaces=(6,)),
    ),
    "agree to a host": (lambda s: None, lambda s: commit.agree_to_host(s.store, "models.example")),
    "comment": (lambda s: None, lambda s: commit.comment(s.store, 7, "Mind this.")),
    "drop loose parts": (
        lambda s: take(s, 7, parts=("one", "two")),
        lambda s: commit.drop_loose_parts(s.store, ()),
    ),
    "add to the time played": (lambda s: None, lambda s: commit.add_played(s.store, 1.5)),
}


def seen(story: Story) -> tuple[Any, ...]:
    """What memory and file say together: equal before and after a failure."""
    return rows(story.store.db), forest_of(story), story.state(), story.position, story.steps(1, story.count)


@pytest.mark.spec("S12", "S46", "T14")
@pytest.mark.parametrize("verb", VERBS)
def test_a_failure_at_any_statement_changes_nothing(story: Story, verb: str) -> None:
    prepare, act = VERBS[verb]
    prepare(story)
    db = failing(story)
    before = seen(story)
    for at in each_failure(db, lambda: act(story)):
        assert not db.in_transaction, at
        if db.has_committed:  # It was done, and a look at it failed.
            assert verb == "correct"
            before = seen(story)
        assert seen(story) == before, at
        assert forest_of(story) == forest_in(db), at
        assert verify_connection(db).problems == (), at
    assert rows(db) != before[0]
    assert forest_of(story) == forest_in(db)
    assert verify_connection(db).problems == ()


@pytest.mark.spec("T14")
@pytest.mark.parametrize(
    ("code", "name"),
    [
        (sqlite3.SQLITE_FULL, "disk-full"),
        (sqlite3.SQLITE_IOERR, "io-error"),
        (sqlite3.SQLITE_IOERR_WRITE, "io-error"),
        (sqlite3.SQLITE_READONLY, "read-only"),
        (sqlite3.SQLITE_CANTOPEN, "read-only"),
        (sqlite3.SQLITE_CORRUPT, "damaged"),
        (sqlite3.SQLITE_NOTADB, "not-a-campaign"),
        (sqlite3.SQLITE_BUSY, "locked"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "locked"),
    ],
)
@pytest.mark.parametrize("where", [1, 5, "COMMIT"])
def test_a_failure_of_the_disk_has_a_name(story: Story, where: int | str, code: int, name: str) -> None:
    db = failing(story)
    turn = Acceptance(7, (NewNode("narrator", "So."),), story.position)
    if isinstance(where, str):
        db.arm(0)
        commit.accept(story.store, turn)
        where = db.disarm()
        stand_again(story)
        turn = Acceptance(7, (NewNode("narrator", "So."),), story.position)
    db.arm(where, code)
    with pytest.raises(StoreError) as failure:
        commit.accept(story.store, turn)
    assert db.disarm() >= where
    assert failure.value.code == name
    assert "\n" not in failure.value.message
    assert isinstance(failure.value.__cause__, sqlite3.Error)


def stand_again(story: Story) -> None:
    story.go(story.node(7))


@pytest.mark.spec("T14", "S13")
def test_a_disk_that_is_full_loses_nothing(story: Story) -> None:
    """A real one: SQLite may not make the file longer. Shorter writes are still done, and the draft is there."""
    commit.send_draft(story.store, "I wait.", "do")
    story.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    pages = story.store.db.execute("PRAGMA page_count").fetchone()[0]
    story.store.db.execute(f"PRAGMA max_page_count = {pages}")
    before = seen(story)
    long = Acceptance(7, (NewNode("narrator", "So. " * 50_000),), story.position)
    for _ in range(3):
        with pytest.raises(StoreError) as full:
            commit.accept(story.store, long)
        assert full.value.code == "disk-full"
        assert full.value.hint
        assert seen(story) == before
        draft = reads.draft(story.store)
        assert draft is not None
        assert draft.text == "I wait."
    story.undo()
    story.redo()
    story.store.db.execute("PRAGMA max_page_count = 100000")
    commit.accept(story.store, Acceptance(7, long.nodes, story.position))
    assert verify_connection(story.store.db).problems == ()


@pytest.mark.spec("S12")
@pytest.mark.parametrize("moved", ["head", "tip", "anchor"])
def test_a_story_that_moved_under_a_turn_takes_nothing(story: Story, moved: str) -> None:
    expected = story.position
    anchor = 7
    if moved == "head":
        story.undo()
    elif moved == "tip":
        accept_turn(story, 9)
        expected = Position(story.head.id, expected.tip_id)
    else:
        anchor = 4711
    before = seen(story)
    with pytest.raises(Stale):
        commit.accept(story.store, Acceptance(anchor, (NewNode("narrator", "So."),), expected))
    assert seen(story) == before


@pytest.mark.spec("S16", "S12")
def test_a_move_of_what_moved_is_stale(story: Story) -> None:
    expected = story.position
    story.undo()
    before = seen(story)
    with pytest.raises(Stale):
        commit.move(story.store, Position(3, 8), expected=expected, remembers=True, has_place=True)
    assert seen(story) == before


@pytest.mark.spec("S16")
def test_selecting_a_take_writes_four_things_and_nothing_else(story: Story) -> None:
    before = rows(story.store.db)
    story.take(story.node(10))
    after = rows(story.store.db)
    changed = {name for name in before if before[name] != after[name]}
    assert changed - {"sqlite_sequence"} == {"campaign", "visits", "places"}
    columns = [row[1] for row in story.store.db.execute("PRAGMA table_info(campaign)")]
    moved = {c for c, old, new in zip(columns, before["campaign"][0], after["campaign"][0], strict=True) if old != new}
    assert moved == {"head_node_id", "tip_node_id", "revision", "visit_counter"}


@pytest.mark.spec("S26")
def test_a_clash_of_names_inside_the_transaction_is_refused(story: Story) -> None:
    before = seen(story)
    with pytest.raises(Refusal) as clash:
        commit.save_checkpoint(story.store, "The ford", 3)
    assert clash.value.code == "checkpoint-exists"
    assert seen(story) == before


@pytest.mark.spec("S7")
def test_ids_are_never_used_again(story: Story) -> None:
    highest = max(row[0] for row in story.store.db.execute("SELECT id FROM nodes"))
    hidden(story)
    commit.finalize(story.store)
    assert story.store.db.execute("SELECT max(id) FROM nodes").fetchone()[0] < highest
    branches = story.store.db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'branches'").fetchone()[0]
    assert accept_turn(story, 9, at=3)[0] == highest + 1
    story.fork(story.node(2))
    accept_turn(story, 9)
    assert max(b.id for b in story.store.forest) > branches


@pytest.mark.spec("T13")
def test_a_reader_writes_nothing(template: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(template, tmp_path / "copy.narrator"))
    story = open_story(path, read_only=True)
    try:
        before = rows(story.store.db)
        for verb, (_, act) in VERBS.items():
            if verb in ("forward", "redo", "finalize", "undelete", "undelete a branch", "delete-branch", "delete-take"):
                continue
            with pytest.raises(NarratorError) as refused:
                act(story)
            assert refused.value.code in ("read-only", "nothing-to-go-forward"), verb
        assert rows(story.store.db) == before
    finally:
        story.close()


@pytest.mark.spec("S46")
def test_an_interruption_inside_the_transaction_undoes_it(story: Story) -> None:
    """Ctrl+C can fall between any two instructions, also inside; it is no Exception."""
    before = seen(story)

    def write_half() -> None:
        with story.store.transaction() as db:
            db.execute("DELETE FROM state_events")
            placing.new_branch(story.store, 1, 3)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert seen(story) == before
    assert forest_of(story) == forest_in(story.store.db)
    accept_turn(story, 9)
    assert verify_connection(story.store.db).problems == ()


@pytest.mark.spec("S4")
def test_forking_again_and_again_grows_the_file_no_faster_than_its_nodes(tmp_path: Path) -> None:
    """A chain of forks and a line of as many nodes: the rows of each, beyond the nodes, are one a fork."""
    story = open_story(make(tmp_path / "forks.narrator"))
    story.store.db.execute("PRAGMA synchronous = OFF")
    counts = []
    for number in range(60):
        story.fork(story.head)
        accept_turn(story, number)
        sizes = {name: len(found) for name, found in rows(story.store.db).items()}
        counts.append(sizes["branches"] + sizes["nodes"] + sizes["visits"] + sizes["places"])
    steps = {b - a for a, b in itertools.pairwise(counts)}
    assert steps == {3}
    assert reads.end_of(story.store, story.head) == End(story.head.branch_id or 0, 121)
    assert verify_connection(story.store.db).problems == ()
    story.close()


@pytest.mark.spec("S12")
def test_the_connection_that_fails_counts_what_is_done() -> None:
    """The instrument itself."""
    db = sqlite3.connect(":memory:", isolation_level=None, factory=Failing)
    db.execute("CREATE TABLE t (a)")
    db.arm(2, sqlite3.SQLITE_FULL)
    db.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(sqlite3.OperationalError) as failure:
        db.execute("INSERT INTO t VALUES (2)")
    assert failure.value.sqlite_errorcode == sqlite3.SQLITE_FULL
    assert db.disarm() == 2
    assert db.execute("SELECT a FROM t").fetchall() == [(1,)]
    assert still() < "2027"


@pytest.mark.spec("S5", "X4", "S47")
def test_the_bulk_door_refuses_a_row_that_hangs_from_nothing(tmp_path: Path) -> None:
    """References are looked at all together, and are watched again afterwards."""
    with closing(create_file(tmp_path / "x.narrator", clock=still)) as store:
        with pytest.raises(Damaged, match="checkpoints"):
            commit.restore(store, [("checkpoints", [("dawn", 99, still())])])
        assert store.db.execute("SELECT count(*) FROM checkpoints").fetchone()[0] == 0
        assert store.db.execute("PRAGMA foreign_keys").fetchone()[0] == 1
