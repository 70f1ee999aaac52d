"""Walls of the interface: what it imports and when, and that no text from outside can be read as markup (U10)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import narrator.tui

SOURCE = Path(narrator.tui.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
_MARKUP = {"from_markup", "notify", "Label", "Markdown", "RichLog", "Button", "from_text"}
_SAFE_MAKERS = {"Content", "plain", "line", "join", "styled", "assemble"}


def name_of(call: ast.Call) -> str:
    """The last part of what is called."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def is_content(node: ast.expr) -> bool:
    """Made by the helper or by ``Content`` itself, or kept under a name that says so."""
    if isinstance(node, ast.Call):
        return name_of(node) in _SAFE_MAKERS
    return isinstance(node, ast.Attribute) and node.attr == "_text"


@pytest.mark.spec("U10")
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_reads_a_variable_as_markup(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = name_of(node)
        assert name not in _MARKUP, f"{path.name}:{node.lineno} {name}"
        if name == "Static" and node.args:
            assert is_content(node.args[0]), f"{path.name}:{node.lineno} a Static of something that is no Content"
        if name == "update" and isinstance(node.func, ast.Attribute) and node.args:
            is_set = isinstance(node.args[0], ast.GeneratorExp)
            is_words = isinstance(node.args[0], ast.Name) and node.args[0].id == "words"
            assert is_set or is_words or is_content(node.args[0]) or "join" in ast.unparse(node.args[0]), (
                f"{path.name}:{node.lineno} an update with something that is no Content"
            )


@pytest.mark.spec("U1", "U24")
def test_the_first_frame_needs_no_model_no_session_and_no_plain_player() -> None:
    code = (
        "import sys, narrator.cli.play, narrator.tui.app, narrator.tui.screens.play\n"
        "heavy = {'openai', 'tiktoken', 'httpx2', 'xllamacpp', 'wordllama', 'narrator.engine.session', "
        "'narrator.plain.play', 'narrator.narrators.openai_compatible', 'sqlite_utils'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.spec("U1", "U24")
def test_the_first_frame_knows_no_definition_no_state_and_no_events() -> None:
    """What the first page needs is loaded before it is drawn; the engine is loaded behind it."""
    code = (
        "import sys, narrator.cli.play, narrator.tui.app, narrator.tui.screens.first_page\n"
        "late = {'pydantic', 'regex', 'narrator.core.campaign', 'narrator.core.state', "
        "'narrator.engine.verbs', 'narrator.engine.story', "
        "'narrator.engine.events', 'narrator.store.commit', 'narrator.tui.screens.play'}\n"
        "print(sorted(late & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.spec("U1")
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_here_makes_tasks_or_sleeps(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            assert name_of(node) not in {"create_task", "ensure_future", "sleep", "print"}, f"{path.name}:{node.lineno}"
