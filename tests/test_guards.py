"""The watchers of tests/conftest.py, tried: a guard that cannot fail guards nothing."""

from __future__ import annotations

import gc
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import OWN, Watch, watch

BAD = """
import contextlib, subprocess, sys

def test_swallows():
    with contextlib.suppress(OSError):
        open(OWN).close()

def test_child():
    subprocess.run([sys.executable, "-c", "import sys; open(sys.argv[1], 'a').write('x')", OWN], check=True)
"""


@pytest.fixture
def trespasses() -> Iterator[list[str]]:
    """What the watch has seen in this test; emptied afterwards, so that the test that provoked it passes."""
    yield watch.trespasses
    watch.trespasses.clear()


@pytest.mark.spec("S45")
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_a_connected_campaign_may_not_be_opened(tmp_path: Path, trespasses: list[str], suffix: str) -> None:
    path = tmp_path / "x.narrator"
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE t (x)")
    with pytest.raises(PermissionError, match="while SQLite has it open"):
        (tmp_path / f"x.narrator{suffix}").read_bytes()
    with pytest.raises(PermissionError):
        os.open(tmp_path / f"x.narrator{suffix}", os.O_RDONLY)
    assert len(trespasses) == 2
    db.close()
    assert path.read_bytes().startswith(b"SQLite format 3")
    assert len(trespasses) == 2


def test_the_last_connection_counts(tmp_path: Path, trespasses: list[str]) -> None:
    path = tmp_path / "x.narrator"
    first, second = sqlite3.connect(path), sqlite3.connect(f"file:{path}?mode=rwc", uri=True)
    first.close()
    with pytest.raises(PermissionError):
        path.read_bytes()
    del second  # not closed, but collected (it lies in a circle of its own)
    gc.collect()
    path.read_bytes()
    assert len(trespasses) == 1


def test_other_files_are_free(tmp_path: Path, trespasses: list[str]) -> None:
    db = sqlite3.connect(tmp_path / "x.narrator")
    (tmp_path / "x.narrator.lock").write_text("1")
    (tmp_path / "y.narrator").write_text("2")
    db.close()
    assert trespasses == []


def test_the_players_own_folders_are_closed(tmp_path: Path) -> None:
    own = Watch((str(tmp_path / "own"),))
    own("open", (str(tmp_path / "other"), "r", 0))
    for event in ("open", "sqlite3.connect", "os.mkdir"):
        with pytest.raises(PermissionError, match="the player's own"):
            own(event, (str(tmp_path / "own" / "config.toml"),))
    assert len(own.trespasses) == 3
    assert OWN
    assert not any(os.environ["NARRATOR_HOME"].startswith(folder) for folder in OWN)


def test_a_trespass_fails_the_run(tmp_path: Path) -> None:
    """Two bad tests in a run of their own: one swallows the error, one starts a child with a bare environment."""
    player = tmp_path / "player"
    player.mkdir()
    (player / "config.toml").write_text("")
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "conftest.py").write_text(Path(__file__).with_name("conftest.py").read_text())
    (folder / "test_bad.py").write_text(BAD.replace("OWN", repr(str(player / "config.toml"))))
    env = {k: v for k, v in os.environ.items() if not k.startswith(("NARRATOR_", "PYTEST_"))}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)],
        cwd=tmp_path,
        env=env | {"NARRATOR_HOME": str(player)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode != 0
    assert "that is the player's own" in run.stdout
    assert "2 passed, 1 error" in run.stdout
    assert "touched files of the player's own" in run.stderr
