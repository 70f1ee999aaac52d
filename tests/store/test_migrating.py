"""A campaign of an older program is brought up to date behind a backup, whole or not at all (U19, S25)."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from narrator.core.errors import StoreError
from narrator.core.prompt import encode
from narrator.engine import prompting
from narrator.engine.story import Story
from narrator.exchange.exporting import Wish, export
from narrator.store import open as opening
from narrator.store import reads, schema
from narrator.store.verify import verify
from tests.engine.playing import make, playing
from tests.engine.test_provenance import Remembering, told_nodes, wander
from tests.store.aging import make_older
from tests.store.making import rows, still


@pytest.fixture
async def older(tmp_path: Path) -> tuple[Path, Remembering]:
    """A story with forks, retries and edits as the program left it that kept records in words."""
    path = make(tmp_path)
    remembering = Remembering()
    async with playing(path, remembering.fake, answers="yes") as play:
        await wander(play, random.Random(8), 12)
    make_older(path)
    return path, remembering


def content(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as db:
        return rows(db)


@pytest.mark.spec("U19", "S25")
async def test_an_older_campaign_is_brought_up_to_date_behind_a_backup(older: tuple[Path, Remembering]) -> None:
    path, remembering = older
    before = content(path)
    with closing(Story.open(path, clock=still, backups=path.parent / "backups")) as story:
        assert story.store.db.execute("PRAGMA user_version").fetchone()[0] == schema.schema_version()
    (copy,) = (path.parent / "backups").iterdir()
    assert content(copy) == before
    assert verify(copy).ok
    assert verify(path).ok
    async with playing(path) as play:
        nodes = told_nodes(play)
        assert len(nodes) >= 12
        for node_id, text in nodes:
            record = reads.provenance(play.story.store, node_id)
            assert record is not None
            assert encode(prompting.unpack(play.story, record["prompt"])) == remembering.told[text.strip()].messages
        assert (await play.do("I go on.")).ok


@pytest.mark.spec("U19", "T13", "T14")
async def test_an_older_campaign_is_only_read_by_what_may_write(older: tuple[Path, Remembering]) -> None:
    path, _ = older
    before = path.read_bytes()
    for attempt in (
        lambda: Story.open(path, clock=still, read_only=True),
        lambda: export(path, path.parent / "x.json", Wish(), clock=still),
    ):
        with pytest.raises(StoreError) as refused:
            attempt()
        assert refused.value.code == "read-only"
        assert "older narrator" in refused.value.message
        assert "\n" not in refused.value.message
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.spec("U19", "S45")
async def test_a_migration_killed_at_any_statement_leaves_the_old_file_working(
    older: tuple[Path, Remembering], tmp_path: Path
) -> None:
    source, _ = older
    before = content(source)
    at = 0
    while True:
        at += 1
        folder = tmp_path / f"at-{at}"
        folder.mkdir()
        path = Path(shutil.copy(source, folder))
        is_over = killed_while_migrating(path, at)
        if is_over:
            break
        copies = sorted((folder / "backups").iterdir())
        assert [content(copy) for copy in copies] == [before]
        with closing(sqlite3.connect(path)) as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            found = rows(db)
        assert version in (5, schema.schema_version())
        assert {table: found[table] for table in found if table not in ("provenance", "_sqlite_migrations")} == {
            table: before[table] for table in before if table not in ("provenance", "_sqlite_migrations")
        }
        with closing(Story.open(path, clock=still)) as story:
            assert len(story.nodes()) == story.count
            kept = [node_id for (node_id,) in story.store.db.execute("SELECT node_id FROM provenance ORDER BY 1")]
            assert kept == sorted(row[0] for row in before["provenance"])
            assert all(reads.provenance(story.store, node_id) for node_id in kept)
        assert verify(path).ok
    assert at > 8


def killed_while_migrating(path: Path, at: int) -> bool:
    """Open in a child that is killed at the ``at``-th statement of the migration; whether it ended before that."""
    pid = os.fork()
    if pid == 0:
        count = 0

        def said(_: str) -> None:
            nonlocal count
            count += 1
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)

        migrate = schema.migrate

        def traced(connection: sqlite3.Connection) -> None:
            connection.set_trace_callback(said)
            migrate(connection)
            connection.set_trace_callback(None)

        try:
            opening.schema.migrate = traced
            opening.open_store(path, clock=still, backups=path.parent / "backups").close()
            os._exit(0)
        finally:
            os._exit(1)
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert ended in (0, -signal.SIGKILL)
    return ended == 0
