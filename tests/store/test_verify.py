"""``verify`` on damaged copies: each broken invariant is named with the node it was found at (S5, S47)."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from narrator.core.errors import Damaged, NarratorError, StoreError
from narrator.core.proposal import Proposal
from narrator.core.tree import NewNode
from narrator.engine.story import Story
from narrator.store import commit, reads, schema, state_reads
from narrator.store.commit import Acceptance
from narrator.store.verify import verify, verify_connection
from tests.store.making import accept_turn, deepen, make, open_story, stand


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1 ─ 2 … 41 on branch 1 (head and tip 41), 42 a take of 5; 43 and 44 on branch 2 below 3; 45 a correction."""
    path = make(tmp_path_factory.mktemp("sound") / "sound.narrator")
    story = open_story(path)
    deepen(story, 40)
    commit.accept(story.store, Acceptance(4, (NewNode("narrator", "Or so."),), story.position))
    accept_turn(story, 1, at=3)
    story.correct(Proposal("assert", "facts", "It rains."))
    stand(story, 41)
    story.save("The ford")
    story.remember("It rained.")
    story.close()
    assert verify(path).ok
    return path


def damaged(sound: Path, folder: Path, sql: str) -> Path:
    """A copy in which a statement was done that no verb does."""
    path = Path(shutil.copy(sound, folder / "damaged.narrator"))
    with closing(sqlite3.connect(path)) as db:
        db.executescript(sql)
    return path


DAMAGE = [
    # Invariant, node that it is found at, what was done.
    ("S5.1", 43, "DROP INDEX nodes_coordinate; UPDATE nodes SET branch_id = 1 WHERE id = 43"),
    ("S5.2", 7, "UPDATE nodes SET parent_id = 4 WHERE id = 7"),
    ("S5.2", 20, "UPDATE nodes SET parent_id = 18 WHERE id = 20"),
    ("S5.2", 43, "UPDATE nodes SET parent_id = 2 WHERE id = 43"),
    ("S5.2", 42, "UPDATE nodes SET depth = 9 WHERE id = 42"),
    ("S5.3", 20, "UPDATE nodes SET branch_id = NULL WHERE id = 20"),
    ("S5.4", 40, "UPDATE campaign SET tip_node_id = 40, head_node_id = 40"),
    ("S5.4", 41, "UPDATE campaign SET tip_node_id = 45"),
    ("S5.4", 99, "UPDATE campaign SET head_node_id = 99"),
    ("S5.4", None, "DELETE FROM campaign"),
    ("S5.4", 41, "INSERT INTO deletions VALUES (1, 'take', ''); UPDATE nodes SET hidden_by = 1 WHERE id = 41"),
    ("S5.5", None, "INSERT INTO branches VALUES (9, 1, 5, NULL, NULL, '')"),
    ("S5.5", 43, "UPDATE branches SET fork_depth = 2 WHERE id = 2"),
    ("S5.5", 43, "UPDATE branches SET parent_id = NULL WHERE id = 2"),
    ("S5.5", 43, "UPDATE branches SET fork_depth = 60 WHERE id = 2"),
    ("S5.5", 43, "DELETE FROM branches WHERE id = 2"),
    ("S5.5", 10, "UPDATE nodes SET depth = 99 WHERE id = 9"),
    ("S5.6", 12, "UPDATE nodes SET text = 'Something else.' WHERE id = 12"),
    ("S5.6", 12, "UPDATE nodes SET mode = 'say' WHERE id = 12"),
    ("S5.6", 13, "UPDATE nodes SET role = 'correction' WHERE id = 13"),
    ("S5.6", 1, "UPDATE nodes SET chain_hash = zeroblob(32) WHERE id = 1"),
    ("S5.7", 99, "INSERT INTO state_events VALUES (99, 0, 'set', 'a', '1', NULL, 'model', NULL, '')"),
    ("S5.7", 99, "INSERT INTO checks VALUES (99, 0, 'a', 'b', 'c', 1, 1, 1, NULL)"),
    ("S5.7", 99, "UPDATE memories SET node_id = 99"),
    ("S5.7", 99, "INSERT INTO provenance VALUES (99, x'7b7d')"),
    ("S5.7", 3, "INSERT INTO provenance VALUES (3, x'017b')"),
    ("S5.7", 3, "INSERT INTO provenance VALUES (3, x'5b5d')"),
    ("S5.7", 99, "INSERT INTO snapshots VALUES (99, '{}')"),
    ("S5.7", 99, "INSERT INTO visits VALUES (99, 41, 1, '', 1)"),
    ("S5.7", 99, "INSERT INTO visits VALUES (6, 99, 1, '', 1)"),
    ("S5.7", 99, "UPDATE checkpoints SET node_id = 99"),
    ("S5.8", 2, "UPDATE nodes SET role = 'opening' WHERE id = 2"),
    ("S5.8", 42, "UPDATE nodes SET parent_id = NULL WHERE id = 42"),
    ("S5.8", 42, "UPDATE nodes SET parent_id = 99 WHERE id = 42"),
    ("S5.8", 20, "UPDATE nodes SET parent_id = 21 WHERE id = 20"),
    ("S5.8", None, "DELETE FROM nodes"),
    ("S5.9", 32, "UPDATE snapshots SET state = replace(state, 'nerve', 'verve') WHERE node_id = 32"),
    ("S5.9", 3, "UPDATE state_events SET value = '{' WHERE node_id = 3"),
    ("S5.9", 32, "UPDATE state_events SET value = '77' WHERE node_id = 31"),
]


@pytest.mark.spec("S5", "S47")
@pytest.mark.parametrize(("invariant", "node", "sql"), DAMAGE)
def test_each_broken_invariant_is_named_with_its_node(
    sound: Path, tmp_path: Path, invariant: str, node: int | None, sql: str
) -> None:
    report = verify(damaged(sound, tmp_path, sql))
    assert not report.ok
    named = {(problem.invariant, problem.node) for problem in report.problems}
    assert (invariant, node) in named or (node is None and invariant in {each for each, _ in named})
    for problem in report.problems:
        assert problem.text
        if problem.node is not None and problem.invariant != "S5.4":
            assert f"#{problem.node}" in problem.text or "Branch" in problem.text, problem


@pytest.mark.spec("S5")
def test_a_sound_file_has_no_problem_and_is_left_as_it_was(sound: Path) -> None:
    before = sound.read_bytes()
    report = verify(sound)
    assert (report.ok, report.nodes, report.branches) == (True, 45, 2)
    assert sound.read_bytes() == before


@pytest.mark.spec("S5", "T14")
def test_damaged_pages_are_reported(sound: Path, tmp_path: Path) -> None:
    """Whichever page it is: the file opens or not, and verify says so without a traceback."""
    size = 4096
    pages = len(sound.read_bytes()) // size
    reported = 0
    for page in range(1, pages, 3):
        path = tmp_path / f"page{page}.narrator"
        body = bytearray(sound.read_bytes())
        body[page * size : page * size + size] = b"\xa5" * size
        path.write_bytes(body)
        report = verify(path)
        reported += not report.ok
        assert all(problem.invariant and problem.text for problem in report.problems)
    assert reported >= (pages - 1) // 3 - 2


@pytest.mark.spec("T14", "S47")
def test_a_first_page_that_is_damaged_is_no_campaign(sound: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(sound, tmp_path / "page.narrator"))
    body = bytearray(path.read_bytes())
    body[:100] = b"\xa5" * 100
    path.write_bytes(body)
    assert not verify(path).ok
    with pytest.raises(StoreError) as refused:
        Story.open(path)
    assert refused.value.code == "not-a-campaign"


@pytest.mark.spec("T14")
@pytest.mark.parametrize("kind", ["folder", "text", "empty", "another database", "nothing"])
def test_what_is_no_campaign_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.narrator"
    if kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("Call me Ishmael. " * 100)
    elif kind == "empty":
        path.touch()
    elif kind == "another database":
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE t (a)")
    if kind == "text":
        assert [problem.invariant for problem in verify(path).problems] == ["file"]
        return
    with pytest.raises(NarratorError) as refused:
        verify(path)
    assert refused.value.code == ("no-such-campaign" if kind == "nothing" else "not-a-campaign")


@pytest.mark.spec("S47", "S5")
@pytest.mark.parametrize(
    ("sql", "at"),
    [
        ("UPDATE nodes SET parent_id = 99 WHERE id = 42", 99),
        ("DELETE FROM nodes WHERE id = 30", 31),
        ("UPDATE nodes SET branch_id = NULL WHERE id = 20", None),
        ("UPDATE branches SET parent_id = 7 WHERE id = 2", None),
        ("UPDATE branches SET parent_id = 2 WHERE id = 2", None),
        ("UPDATE state_events SET value = '{' WHERE node_id = 39", 39),
        ("UPDATE snapshots SET state = '{' WHERE node_id = 32", 32),
        ("UPDATE campaign SET head_node_id = 99", 99),
        ("DELETE FROM campaign", None),
        ("DELETE FROM definitions", None),
    ],
)
def test_what_is_broken_is_a_named_error_where_it_is_met(sound: Path, tmp_path: Path, sql: str, at: int | None) -> None:
    """Never a missing cache, never another story: every read either tells the truth or says what is broken."""
    path = damaged(sound, tmp_path, sql)

    def look() -> None:
        story = open_story(path, read_only=True)
        try:
            for node_id in (41, 42, 45):
                node = story.node(node_id)
                assert story.head
                story.takes(node)
                texts = [each.text for each in story.nodes()]
                assert len(texts) == 41
                story.state(node)
                story.branches()
                story.search("rains")
                end = reads.end_of(story.store, node)
                assert len(reads.window(story.store, end, 1, end.length)) == end.length
                state_reads.snapshot_before(story.store, end)
        finally:
            story.close()

    with pytest.raises(Damaged) as broken:
        look()
    if at is not None:
        assert broken.value.node_id == at


@pytest.mark.spec("S5")
def test_a_verification_beside_a_story_sees_what_is_committed(tmp_path: Path) -> None:
    path = make(tmp_path / "open.narrator")
    story = open_story(path)
    accept_turn(story, 1)
    assert verify(path).nodes == 3
    assert verify_connection(story.store.db).nodes == 3
    story.close()
    assert schema.schema_version() >= 1
