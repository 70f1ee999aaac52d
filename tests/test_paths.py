"""Where things live."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from narrator import paths


@pytest.mark.spec("U22")
def test_a_home_holds_everything_and_nothing_is_made(home: Path) -> None:
    assert paths.config_file() == home / "config.toml"
    assert paths.campaigns_folder() == home / "campaigns"
    assert paths.log_folder() == home / "logs"
    assert paths.backups_folder() == home / "backups"
    assert paths.own_themes() == home / "themes"
    assert not home.exists()


@pytest.mark.spec("U22")
def test_without_a_home_they_are_the_platform_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NARRATOR_HOME")
    for folder in (paths.config_folder(), paths.data_folder(), paths.log_folder()):
        assert folder.is_absolute()
        assert "narrator" in folder.parts
    assert paths.campaigns_folder() == paths.data_folder() / "campaigns"


def test_a_relative_home_is_where_the_program_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NARRATOR_HOME", "here")
    assert paths.config_file() == tmp_path / "here" / "config.toml"


@pytest.mark.spec("U23", "U11")
def test_what_is_shipped_is_found() -> None:
    assert "lantern-road" in paths.samples()
    assert all(path.suffix == ".toml" and path.is_file() for path in paths.samples().values())
    assert list(paths.shipped("themes").glob("*.toml"))


@pytest.mark.spec("U23", "U11")
def test_a_wheel_from_the_sdist_has_what_is_shipped(tmp_path: Path) -> None:
    clone = Path(__file__).parent.parent
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path / "dist"), str(clone)]
    subprocess.run(build, check=True, capture_output=True, timeout=120)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    code = "from narrator import paths; print(paths.shipped('themes')); print(*paths.samples())"
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout.splitlines()
    assert found[0] == str((installed / "narrator" / "shipped" / "themes").resolve())
    assert found[1].split() == list(paths.samples())
    assert {path.name for path in Path(found[0]).glob("*.toml")} == {
        path.name for path in paths.shipped("themes").glob("*.toml")
    }
