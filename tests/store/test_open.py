"""Opening: what is no campaign, what may not be written, who reads beside a writer (T13, T14, U19, U22)."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from narrator.core.errors import NarratorError, StoreError
from narrator.core.proposal import Proposal
from narrator.core.tree import NewNode
from narrator.engine.story import Story, create_campaign
from narrator.store import commit, reads, schema, state_reads
from narrator.store import open as opening
from narrator.store.commit import Acceptance
from narrator.store.verify import verify
from tests.store.elsewhere import folder_in_memory, give, in_a_child, open_folder
from tests.store.making import DEFINITION, Failing, accept_turn, make, open_story, rows, still


def attempt(path: Path, *, read_only: bool = False) -> str:
    """Open and close: '' or the code of the error."""
    try:
        story = Story.open(path, clock=still, read_only=read_only)
    except NarratorError as error:
        return error.code if "\n" not in error.message else error.message
    try:
        story.nodes()
        return ""
    finally:
        story.close()


def other_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1); PRAGMA user_version = 3;")


def in_wal_mode(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1);")


NOT_CAMPAIGNS: dict[str, Callable[[Path], object]] = {
    "text": lambda path: path.write_text("Call me Ishmael. " * 100),
    "a short text": lambda path: path.write_text("x"),
    "an empty file": lambda path: path.touch(),
    "another database": other_database,
    "another database in WAL mode": in_wal_mode,
    "a zip": lambda path: path.write_bytes(b"PK\x03\x04" + bytes(2000)),
    "the head of a database and no more": lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(40)),
}


@pytest.mark.spec("T14")
@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("kind", NOT_CAMPAIGNS)
def test_what_is_no_campaign_is_left_as_it_is(tmp_path: Path, kind: str, read_only: bool) -> None:
    path = tmp_path / "x.narrator"
    NOT_CAMPAIGNS[kind](path)
    before = path.read_bytes()
    assert attempt(path, read_only=read_only) == "not-a-campaign"
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.spec("T14")
@pytest.mark.parametrize("read_only", [False, True])
def test_a_folder_and_a_missing_file_are_named(tmp_path: Path, read_only: bool) -> None:
    folder = tmp_path / "folder.narrator"
    folder.mkdir()
    assert attempt(folder, read_only=read_only) == "not-a-campaign"
    assert attempt(tmp_path / "missing.narrator", read_only=read_only) == "no-such-campaign"
    assert attempt(tmp_path / "no folder" / "missing.narrator", read_only=read_only) == "no-such-campaign"
    assert attempt(folder / "below a folder.narrator", read_only=read_only) == "no-such-campaign"
    file = tmp_path / "file"
    file.touch()
    assert attempt(file / "below a file.narrator", read_only=read_only) == "no-such-campaign"
    assert attempt(tmp_path / ("x" * 300), read_only=read_only) in ("no-such-campaign", "io-error")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "folder.narrator"]


@pytest.mark.spec("T14", "U19")
@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_newer_schema_is_left_as_it_is(tmp_path: Path, read_only: bool, mode: str) -> None:
    path = make(tmp_path / "newer.narrator")
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {schema.schema_version() + 1}")
        db.execute(f"PRAGMA journal_mode = {mode}")
    before = path.read_bytes()
    assert attempt(path, read_only=read_only) == "newer-schema"
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.spec("U19")
def test_a_migration_that_fails_leaves_the_old_file_and_a_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make(tmp_path / "old.narrator")
    before = rows_of(path)

    def m999_broken(db: object) -> None:
        connection = db.conn  # type: ignore[attr-defined]
        connection.execute("UPDATE nodes SET text = 'gone'")
        connection.execute("SELECT nothing FROM nowhere")

    monkeypatch.setattr(schema, "_MIGRATIONS", (*schema._MIGRATIONS, m999_broken))
    backups = tmp_path / "backups"
    with pytest.raises(StoreError):
        opening.open_store(path, clock=still, backups=backups)
    monkeypatch.undo()
    assert rows_of(path) == before
    (copy,) = backups.iterdir()
    assert rows_of(copy) == before
    assert attempt(path) == ""
    assert verify(copy).ok


def rows_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as db:
        return rows(db)


@pytest.mark.spec("T14", "T13")
def test_a_file_that_may_not_be_written_is_read_only(tmp_path: Path) -> None:
    with open_folder() as folder:
        path = Path(shutil.copy(make(tmp_path / "x.narrator"), folder / "x.narrator"))
        give(path)
        os.chmod(path, 0o444)
        before = path.read_bytes()
        assert in_a_child(lambda: attempt(path), as_nobody=True) == "read-only"
        assert in_a_child(lambda: attempt(path, read_only=True), as_nobody=True) == ""
        assert path.read_bytes() == before


@pytest.mark.spec("T14", "T13")
def test_a_folder_that_may_not_be_written_is_read_only(tmp_path: Path) -> None:
    with open_folder() as folder:
        path = Path(shutil.copy(make(tmp_path / "x.narrator"), folder / "x.narrator"))
        give(path)
        os.chmod(folder, 0o555)
        assert in_a_child(lambda: attempt(path), as_nobody=True) == "read-only"
        assert in_a_child(lambda: attempt(path, read_only=True), as_nobody=True) == ""
        assert in_a_child(lambda: [verify(path).ok], as_nobody=True) == [True]
        assert [each.name for each in folder.iterdir()] == ["x.narrator"]
        assert in_a_child(lambda: code_of_creating(folder / "y.narrator"), as_nobody=True) == "read-only"


@pytest.mark.spec("T14")
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    with open_folder() as folder:
        path = Path(shutil.copy(make(tmp_path / "x.narrator"), folder / "x.narrator"))
        give(path)
        os.chmod(path, 0)
        assert in_a_child(lambda: attempt(path), as_nobody=True) == "read-only"
        assert in_a_child(lambda: attempt(path, read_only=True), as_nobody=True) == "read-only"


def code_of_creating(path: Path) -> str:
    try:
        create_campaign(path, DEFINITION, seed=1, clock=still)
    except NarratorError as error:
        return error.code
    return ""


@pytest.mark.spec("T14", "U22")
def test_making_a_campaign(tmp_path: Path) -> None:
    path = tmp_path / "x.narrator"
    assert code_of_creating(path) == ""
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    assert code_of_creating(path) == "io-error"
    assert path.read_bytes() == before
    assert code_of_creating(tmp_path / "no folder" / "x.narrator") == "io-error"
    assert code_of_creating(tmp_path / "bad.narrator") == ""
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bad.narrator", "x.narrator"]


@pytest.mark.spec("S43", "T14")
def test_a_campaign_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(NarratorError):
        create_campaign(tmp_path / "x.narrator", "[campaign]\nid = 3\n", seed=1, clock=still)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spec("T14")
def test_a_disk_that_fails_while_a_campaign_is_made_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """At every statement from the first pragma to the last commit."""
    made: list[Failing] = []
    connect = sqlite3.connect
    at = 0

    def connected(*args: object, **rest: object) -> sqlite3.Connection:
        db = connect(*args, **{**rest, "factory": Failing})  # type: ignore[call-overload]
        db.arm(at, sqlite3.SQLITE_FULL)
        made.append(db)
        return db  # type: ignore[no-any-return]

    monkeypatch.setattr(sqlite3, "connect", connected)
    with folder_in_memory() as folder:
        path = folder / "x.narrator"
        while True:
            at += 1
            code = code_of_creating(path)
            if made[-1].count < at:
                break
            made.clear()
            assert code == "disk-full", at
            assert list(folder.iterdir()) == [], at
        monkeypatch.undo()
        assert code == ""
        assert at > 30
        assert verify(path).ok


@pytest.mark.spec("T13")
def test_a_reader_beside_a_writer_sees_what_was_committed_and_refreshes(tmp_path: Path) -> None:
    path = make(tmp_path / "x.narrator")
    writer = open_story(path)
    reader = open_story(path, read_only=True)
    try:
        assert reader.is_read_only
        assert not writer.is_read_only
        assert not reader.refresh()
        accept_turn(writer, 1)
        assert reader.refresh()
        assert not reader.refresh()
        assert [node.text for node in reader.nodes()] == [node.text for node in writer.nodes()]
        writer.fork(writer.node(2))
        accept_turn(writer, 2)
        writer.correct(Proposal("assert", "facts", "It rains."))
        assert reader.refresh()
        assert reader.branches() == writer.branches()
        assert reader.where() == writer.where()
        assert reader.state().values == writer.state().values
        with pytest.raises(StoreError) as refused:
            reader.undo()
        assert refused.value.code == "read-only"
        assert writer.position == reader.position
    finally:
        reader.close()
        writer.close()
    assert attempt(path) == ""
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.spec("T13", "S47")
def test_a_reader_sees_whole_instants_of_a_story_that_is_being_written(tmp_path: Path) -> None:
    """A writer that forks, promotes and jumps as fast as it can: what a reader looks at together belongs together."""
    path = make(tmp_path / "x.narrator")
    pid = os.fork()
    if pid == 0:
        try:
            play_wildly(path)
        finally:
            os._exit(0)
    reader = open_story(path, read_only=True)
    looks, seen = 0, set()
    try:
        while os.waitpid(pid, os.WNOHANG) == (0, 0):
            with reader.looking():
                nodes = reader.nodes()
                where = reader.where()
                assert nodes[-1].id == where.id
                assert len(nodes) == where.position
                assert where.branch in {branch.id for branch in reader.branches() if branch.on_path}
                assert reader.state().values["player.nerve"] == 5 + sum(
                    len(events) for events in state_reads.events_of(reader.store, [n.id for n in nodes[1:]]).values()
                )
                assert [step.id for step in reader.steps(1, len(nodes))] == [node.id for node in nodes]
            looks += 1
            seen.add(where)
    finally:
        reader.close()
    assert looks > 20
    assert len(seen) > 10


def play_wildly(path: Path) -> None:
    """Turns, takes, forks and jumps for a while."""
    story = open_story(path)
    story.store.db.execute("PRAGMA synchronous = OFF")
    chance = random.Random(1)
    for number in range(400):
        verb = chance.choice(["turn", "turn", "take", "undo", "fork", "go"])
        if verb == "turn":
            accept_turn(story, number)
        elif verb == "take" and story.head.role == "narrator" and story.head.parent_id is not None:
            write = Acceptance(story.head.parent_id, (NewNode("narrator", "Or so."),), story.position)
            commit.accept(story.store, write)
        elif verb == "undo" and story.count > 4:
            story.undo(3)
        elif verb == "fork" and story.head.role != "player":
            story.fork(story.head)
        elif verb == "go":
            story.go(chance.choice(story.nodes()))
    story.close()


@pytest.mark.spec("T13")
def test_a_reader_in_another_process_takes_no_lock(tmp_path: Path) -> None:
    path = make(tmp_path / "x.narrator")
    writer = open_story(path)
    accept_turn(writer, 1)
    count = in_a_child(lambda: [len(open_story(path, read_only=True).nodes())])
    assert count == [3]
    accept_turn(writer, 2)
    writer.close()
    assert attempt(path) == ""
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.spec("S41", "S11")
def test_reopening_resumes_where_it_was(tmp_path: Path) -> None:
    path = make(tmp_path / "x.narrator")
    story = open_story(path)
    accept_turn(story, 1)
    accept_turn(story, 2)
    story.undo(3)
    seen = (story.position, story.redo_steps, story.branches(), story.state())
    story.close()
    again = open_story(path)
    assert (again.position, again.redo_steps, again.branches(), again.state()) == seen
    again.redo(3)
    assert again.count == 5
    again.close()


@pytest.mark.spec("T14")
def test_names_that_a_uri_would_misread_are_names(tmp_path: Path) -> None:
    for name in (
        "what?.narrator",
        "100%.narrator",
        "a#b.narrator",
        "a b&mode=memory.narrator",
        "%41.narrator",
        "ü漢.narrator",
    ):
        path = make(tmp_path / name)
        story = open_story(path)
        accept_turn(story, 1)
        story.close()
        assert attempt(path, read_only=True) == ""
        assert verify(path).nodes == 3
    assert len(list(tmp_path.glob("*.narrator"))) == 6


@pytest.mark.spec("T14")
def test_the_connection_is_as_the_page_wants_it(tmp_path: Path) -> None:
    story = open_story(make(tmp_path / "x.narrator"))
    asked = {
        name: story.store.db.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "foreign_keys", "recursive_triggers")
    }
    assert asked == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "recursive_triggers": 0}
    assert reads.data_version(story.store) > 0
    commit.add_played(story.store, 1.0)
    story.close()
