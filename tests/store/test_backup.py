"""Backups: whole, checked, kept apart by campaign, ten of them (U19, U22)."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from narrator.core.errors import StoreError
from narrator.engine.story import Story
from narrator.store import backup
from narrator.store.verify import verify
from tests.store.elsewhere import give, in_a_child, open_folder
from tests.store.making import accept_turn, make, open_story, rows


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    story = open_story(make(tmp_path / "foo.narrator"))
    accept_turn(story, 1)
    yield story
    story.close()


@pytest.mark.spec("U22")
def test_a_backup_of_an_open_campaign_is_whole_and_its_own(story: Story, tmp_path: Path) -> None:
    copy = backup.back_up(story.path, tmp_path / "new folder" / "backups", stamp="2026-01-02T030405")
    assert copy.name == "foo--2026-01-02T030405.narrator"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert copy.parent.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in copy.parent.iterdir()] == [copy.name]
    with closing(sqlite3.connect(copy)) as db:
        assert rows(db) == rows(story.store.db)
    accept_turn(story, 2)
    assert verify(copy).nodes == 3
    assert story.count == 5


@pytest.mark.spec("U22")
def test_the_newest_ten_are_kept(story: Story, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    for day in range(1, 14):
        backup.back_up(story.path, folder, stamp=f"2026-01-{day:02}T000000")
    found = backup.backups_of(story.path, folder)
    assert [each.stem[-9:-7] for each in found] == [f"{day:02}" for day in range(13, 3, -1)]
    assert len(list(folder.iterdir())) == 10


@pytest.mark.spec("U22")
@pytest.mark.parametrize("other", ["foo--bar", "foo--", "foo-", "foo2", "fo", "foo--2026-01-01T000000", "[f]oo", "f*"])
def test_campaigns_whose_names_begin_alike_keep_their_backups_apart(story: Story, tmp_path: Path, other: str) -> None:
    folder = tmp_path / "backups"
    path = make(tmp_path / f"{other}.narrator")
    theirs = backup.back_up(path, folder, stamp="2020-01-01T000000")
    for day in range(1, 14):
        backup.back_up(story.path, folder, stamp=f"2026-01-{day:02}T000000")
    assert theirs.exists()
    assert backup.backups_of(path, folder) == [theirs]
    assert theirs not in backup.backups_of(story.path, folder)
    assert len(backup.backups_of(story.path, folder)) == 10


@pytest.mark.spec("U22")
def test_one_a_day_is_due_whatever_the_campaign_is_called(story: Story, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    path = make(tmp_path / "2026-01-02.narrator")
    assert backup.is_due(path, folder, day="2026-01-02")
    backup.back_up(path, folder, stamp="2026-01-01T000000")
    assert backup.is_due(path, folder, day="2026-01-02")
    backup.back_up(path, folder, stamp="2026-01-02T000000")
    assert not backup.is_due(path, folder, day="2026-01-02")
    assert backup.is_due(path, folder, day="2026-01-03")
    assert backup.is_due(story.path, folder, day="2026-01-02")


@pytest.mark.spec("U22", "T14")
def test_a_backup_that_cannot_be_made_leaves_the_old_one(story: Story, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    copy = backup.back_up(story.path, folder, stamp="1")
    before = copy.read_bytes()
    for bad, code in ((tmp_path, "not-a-campaign"), (tmp_path / "missing.narrator", "read-only")):
        with pytest.raises(StoreError) as refused:
            backup.copy_campaign(bad, copy)
        assert refused.value.code in (code, "io-error", "read-only")
    text = tmp_path / "text.narrator"
    text.write_text("Call me Ishmael. " * 99)
    with pytest.raises(StoreError) as refused:
        backup.copy_campaign(text, copy)
    assert refused.value.code == "not-a-campaign"
    assert copy.read_bytes() == before
    assert [each.name for each in folder.iterdir()] == [copy.name]
    with pytest.raises(StoreError):
        backup.copy_campaign(story.path, text / "below a file" / "x.narrator")


@pytest.mark.spec("U22", "T14")
def test_a_damaged_campaign_makes_no_backup(tmp_path: Path) -> None:
    path = make(tmp_path / "x.narrator")
    body = bytearray(path.read_bytes())
    for page in range(2, len(body) // 4096):
        body[page * 4096 : page * 4096 + 4096] = b"\xa5" * 4096
    path.write_bytes(body)
    folder = tmp_path / "backups"
    with pytest.raises(StoreError) as refused:
        backup.back_up(path, folder, stamp="1")
    assert refused.value.code == "damaged"
    assert list(folder.iterdir()) == []


@pytest.mark.spec("U22", "T14")
def test_folders_that_may_not_be_written(tmp_path: Path) -> None:
    """A campaign on a read-only medium can be backed up; a backup into a folder that may not be written is named."""
    with open_folder() as folder:
        source = folder / "source"
        target = folder / "target"
        for each in (source, target):
            each.mkdir()
            give(each)
        path = Path(shutil.copy(make(tmp_path / "x.narrator"), source / "x.narrator"))
        give(path)
        os.chmod(source, 0o555)
        made = in_a_child(lambda: str(backup.back_up(path, target, stamp="1")), as_nobody=True)
        assert made == str(target / "x--1.narrator")
        os.chmod(target, 0o555)

        def refused() -> list[str]:
            with pytest.raises(StoreError) as error:
                backup.back_up(path, target, stamp="2")
            return [error.value.code]

        assert in_a_child(refused, as_nobody=True) == ["read-only"]
        assert [each.name for each in target.iterdir()] == ["x--1.narrator"]
        os.chmod(source, 0o755)
        os.chmod(target, 0o755)
