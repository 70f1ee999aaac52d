"""Importing into a campaign of an older program, one open elsewhere, one that nobody may write to (U19)."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from narrator.cli import main
from narrator.core.errors import NarratorError
from narrator.engine.story import Story
from narrator.store.verify import verify
from tests.exchange.bringing import SAMPLES, bring
from tests.store.aging import make_older
from tests.store.elsewhere import give, in_a_child, open_folder
from tests.store.making import make


@pytest.fixture(autouse=True)
def at_home(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return home


@pytest.mark.spec("U19", "T13", "T14", "X4", "U21")
def test_importing_into_a_campaign_of_an_older_program(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    """What only reads at first leaves it alone and says in one line what to do; playing does it, behind a backup."""
    assert main(["import", str(SAMPLES / "novelai.scenario"), "--set", "name=Ondine"]) == 0
    (path,) = (home / "campaigns").glob("*.narrator")
    make_older(path)
    before = path.read_bytes()
    cards = str(SAMPLES / "aidungeon-cards.json")
    for arguments in (["export", path.stem, "a.json"], ["import", cards, "--into", path.stem]):
        capsys.readouterr()
        assert main(arguments) == 1
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        assert "is from an older narrator; playing it brings it up to date, behind a backup" in told
    assert path.read_bytes() == before
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name]
    Story.open(path, backups=home / "backups").close()
    assert main(["import", cards, "--into", path.stem]) == 0
    assert "Added to" in capsys.readouterr().out
    assert verify(path).ok
    (copy,) = (home / "backups").iterdir()
    assert verify(copy).ok


@pytest.mark.spec("T13", "T14", "X4", "U21")
def test_importing_into_what_cannot_be_written_is_one_line(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    """Open in another window, on a medium that cannot be written, of a newer program, none at all."""
    assert main(["import", str(SAMPLES / "novelai.scenario"), "--set", "name=Ondine"]) == 0
    (path,) = (home / "campaigns").glob("*.narrator")
    cards = str(SAMPLES / "aidungeon-cards.json")

    def refused() -> str:
        capsys.readouterr()
        assert main(["import", cards, "--into", str(path)]) == 1
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("narrator: ")
        assert told.err.count("\n") == 1
        return told.err

    with closing(Story.open(path)):
        assert "open" in refused()
    with closing(sqlite3.connect(path)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        db.execute(f"PRAGMA user_version = {version + 1}")
    assert "newer narrator" in refused()
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {version}")
    path.write_text("Call me Ishmael.")
    assert "no SQLite file" in refused()


@pytest.mark.spec("T14", "X4")
def test_importing_into_a_file_that_may_not_be_written(tmp_path: Path) -> None:
    with open_folder() as folder:
        path = Path(shutil.copy(make(tmp_path / "x.narrator"), folder / "x.narrator"))
        cards = Path(shutil.copy(SAMPLES / "aidungeon-cards.json", folder / "cards.json"))
        give(path)
        os.chmod(path, 0o444)
        before = path.read_bytes()

        def refused() -> list[str]:
            try:
                bring(folder / "shelf", cards, into=path)
            except NarratorError as error:
                return [error.code, error.message]
            return ["", ""]

        code, message = in_a_child(refused, as_nobody=True)
        assert code == "read-only"
        assert "\n" not in message
        assert path.read_bytes() == before
