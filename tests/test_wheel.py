"""What a player gets by `pip install`: the wheel, built from the source distribution, with themes and samples in it."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.xdist_group("wheel")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def build(what: str, source: Path, target: Path) -> Path:
    """Build an sdist or a wheel without isolation, so without a network; the file that was made."""
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{what}", "--outdir", str(target), str(source)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stdout + run.stderr
    (made,) = target.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, from an unpacked source distribution: what is missing in the one is missing in the other."""
    sdist = build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    (source,) = unpacked.iterdir()
    return build("wheel", source, tmp_path_factory.mktemp("wheel"))


def shipped(kind: str) -> set[str]:
    """The files of the clone's folder ``kind``, by path in it."""
    files = (path for path in (ROOT / kind).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT / kind).as_posix() for path in files if not path.name.startswith(".")}


@pytest.mark.spec("U23")
@pytest.mark.parametrize("kind", ["themes", "sample_campaigns"])
def test_the_wheel_ships(wheel: Path, kind: str) -> None:
    prefix = f"narrator/shipped/{kind}/"
    with zipfile.ZipFile(wheel) as archive:
        there = {name.removeprefix(prefix) for name in archive.namelist() if name.startswith(prefix)}
    assert shipped(kind)
    assert shipped(kind) <= there


def test_the_wheel_has_every_module_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        there = {name for name in archive.namelist() if ".dist-info/" not in name and "/shipped/" not in name}
    folder = ROOT / "src"
    ours = (path for path in (folder / "narrator").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert there == {path.relative_to(folder).as_posix() for path in ours}


@pytest.mark.spec("U21")
def test_the_installed_command_starts(wheel: Path, tmp_path: Path) -> None:
    """Unpacked as an installer would: the entry point exists and answers, and finds what was shipped."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    (info,) = tmp_path.glob("narrator-*.dist-info")
    assert "narrator = narrator.__main__:run" in (info / "entry_points.txt").read_text()
    assert (info / "licenses" / "LICENSE").exists()
    env = os.environ | {"PYTHONPATH": str(tmp_path), "NARRATOR_HOME": str(tmp_path / "home")}

    def start(code: str) -> str:
        run = subprocess.run(
            [sys.executable, "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
        )
        return run.stdout.strip()

    import narrator

    version = narrator.__version__
    code = "import sys; sys.argv = ['narrator', '--version']; from narrator.cli import main; sys.exit(main())"
    assert version in start(code)
    assert start("import narrator; print(narrator.__file__)").startswith(str(tmp_path))
    for kind in ("themes", "sample_campaigns"):
        listed = start(f"from narrator import paths; print(paths.shipped({kind!r}))")
        assert listed.startswith(str(tmp_path))
        assert any(Path(listed).iterdir())


def test_every_dependency_has_its_licence_written_down() -> None:
    listed = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8").lower()
    groups = [PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"].values()]
    names = {requirement.split("[")[0].split("=")[0].split(">")[0].strip() for group in groups for requirement in group}
    assert {name for name in names if f"| {name.lower()} |" not in listed} == set()
