"""The walls of the house: which floor may import what; asked of import-linter, of the source, of a running Python."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "narrator"

#: All that core may stand on: no clock, no I/O, no async.
CORE_LIBRARIES = frozenset({"pydantic", "pydantic_core", "regex", "snowballstemmer", "typing_extensions"})
CORE_STANDARD = frozenset(
    "__future__ abc bisect collections copy dataclasses datetime decimal difflib enum fractions functools graphlib "
    "hashlib hmac heapq html itertools json keyword math operator re string struct textwrap tomllib types typing "
    "unicodedata".split()
)

#: What a declared dependency is made of and hands out: openai's HTTP client, pydantic's core.
BROUGHT = frozenset({"httpx2", "pydantic_core", "typing_extensions"})

#: Floor → modules that must not be in memory when every module of the floor is.
NOT_LOADED = {
    "core": {"asyncio", "sqlite3", "sqlite_utils", "openai", "textual", "click", "tiktoken", "tomlkit", "platformdirs"},
    "store": {"openai", "textual", "tiktoken", "narrator.engine", "narrator.exchange", "narrator.narrators"},
    "narrators": {"sqlite3", "sqlite_utils", "textual", "click", "narrator.store", "narrator.engine"},
    "exchange": {"openai", "textual", "tiktoken", "narrator.engine", "narrator.narrators"},
    "engine": {"openai", "textual", "tiktoken", "xllamacpp", "narrator.plain", "narrator.tui"},
    "plain": {"openai", "textual", "tiktoken", "xllamacpp", "narrator.tui"},
    "tui": {"openai", "tiktoken", "xllamacpp", "narrator.plain", "narrator.cli"},
    "cli": {"openai", "textual", "tiktoken", "xllamacpp", "narrator.tui", "narrator.bench"},
    "config": {"sqlite3", "openai", "textual", "click", "narrator.store", "narrator.narrators"},
    "paths": {"sqlite3", "openai", "textual", "click", "narrator.config", "narrator.store"},
    "log": {"sqlite3", "openai", "textual", "click", "narrator.store", "narrator.narrators"},
}

#: Modules that are there to bring something heavy in: nothing else imports them before it is needed.
HEAVY = frozenset(
    {"narrator.narrators.openai_compatible", "narrator.narrators.engine_child", "narrator.narrators.embedded"}
)


def modules(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every module below ``folder`` with its dotted name."""
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imported(source: str) -> set[str]:
    """The top-level packages that this source imports, wherever in it the statement stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def strangers_in_core(source: str) -> set[str]:
    """What this source imports that a module of core may not."""
    return imported(source) - CORE_STANDARD - CORE_LIBRARIES - {"narrator"}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the clone in ``folder``."""
    call = (
        "import sys; sys.path.insert(0, 'src'); from importlinter.cli import lint_imports\n"
        "sys.exit(lint_imports(no_cache=True))"
    )
    return subprocess.run([sys.executable, "-c", call], cwd=folder, capture_output=True, text=True, timeout=120)


def loaded(names: list[str]) -> set[str]:
    """Import these modules in a Python of their own; the names of all modules then in memory."""
    call = (
        "import importlib, json, sys\n"
        "for name in json.loads(sys.argv[1]): importlib.import_module(name)\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", call, json.dumps(names)], capture_output=True, text=True, timeout=120, check=True
    )
    return set(json.loads(run.stdout.splitlines()[-1]))


def declared() -> set[str]:
    """The names under which the declared dependencies and extras are imported."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = (names for extra, names in project["optional-dependencies"].items() if extra != "dev")
    requirements = [name for names in (project["dependencies"], *extras) for name in names]
    return {re.split(r"[^\w.-]", name)[0].lower().replace("-", "_") for name in requirements}


def undeclared(source: str) -> set[str]:
    """What this source imports that nobody would install with narrator."""
    return imported(source) - sys.stdlib_module_names - declared() - BROUGHT - {"narrator"}


def test_what_is_imported_is_declared() -> None:
    found = {name: bad for name, path in modules(SOURCE) if (bad := undeclared(path.read_text(encoding="utf-8")))}
    assert found == {}
    assert undeclared("def f():\n    import scipy, pydantic") == {"scipy"}


@pytest.mark.spec("U24")
def test_import_linter_holds() -> None:
    run = lint(ROOT)
    assert run.returncode == 0, run.stdout


def test_import_linter_would_find_each_kind_of_breach(tmp_path: Path) -> None:
    """One bad line a contract, in a copy of the source: every contract is reported broken."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    bad = {
        "core/breach.py": "import narrator.store\n",
        "store/breach.py": "import narrator.paths\n",
        "engine/breach.py": "import textual\nimport sqlite3\n",
        "plain/breach.py": "import openai\nimport click\n",
    }
    for place, text in bad.items():
        (tmp_path / "src" / "narrator" / place).write_text(text)
    run = lint(tmp_path)
    assert run.returncode != 0
    assert "0 kept, 6 broken" in run.stdout, run.stdout


@pytest.mark.parametrize("floor", sorted(NOT_LOADED))
def test_a_floor_loads_nothing_from_above(floor: str) -> None:
    place = SOURCE / floor
    names = [name for name, _ in modules(place)] if place.is_dir() else [f"narrator.{floor}"]
    names = [name for name in names if name not in HEAVY]
    there = loaded(names)
    assert set(names) <= there
    assert NOT_LOADED[floor] & there == set()


@pytest.mark.spec("U24")
def test_the_library_is_light() -> None:
    heavy = {"textual", "openai", "tiktoken", "xllamacpp", "click", "rich"}
    assert loaded(["narrator"]) & heavy == set()


def test_core_stands_on_little() -> None:
    found = {name: bad for name, path in modules(SOURCE / "core") if (bad := strangers_in_core(path.read_text()))}
    assert found == {}


@pytest.mark.parametrize("line", ["import os", "from time import monotonic", "def f():\n    import asyncio"])
def test_core_would_be_found_out(line: str) -> None:
    assert strangers_in_core(line)


def test_loading_is_seen(tmp_path: Path) -> None:
    assert {"asyncio", "sqlite3"} <= loaded(["asyncio", "sqlite3"])
    assert "asyncio" not in loaded(["json"])
