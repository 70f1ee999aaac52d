"""The rules of the house that no linter knows: sizes, and words that may stand in one place alone.

Each rule is a function from source text to the breaches in it. One test runs it over the source; another feeds it a
bad snippet, so that a rule that has gone blind is noticed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "narrator"

MODULE_LINES = 600
APP_LINES = 300
FUNCTION_LINES = 60
FUNCTION_LINES_AT_MOST = 80

#: Functions between 60 and 80 lines, each with the reason why it is better whole.
LONG_FUNCTIONS: dict[str, str] = {}

#: Tables whose rows are the story (S5, S33): written in store/commit alone.
STORY_TABLES = (
    *("nodes", "branches", "campaign", "state_events", "checks", "provenance", "visits", "places", "checkpoints"),
    *("memories", "context_checkpoints", "draft", "deletions"),
)
WRITE = re.compile(
    rf"\b(?:INSERT(?:\s+OR\s+\w+)?\s+INTO|REPLACE\s+INTO|DELETE\s+FROM|UPDATE(?:\s+OR\s+\w+)?)\s+(?:{'|'.join(STORY_TABLES)})\b",
    re.IGNORECASE,
)
#: A recursion of one's own (one over a text of core/lineage.py reads `WITH RECURSIVE ?` here), or a range of depths.
PATH_CLAUSE = re.compile(r"\bWITH\s+RECURSIVE\s+(?!\?)|\bdepth\s*(?:BETWEEN\b|[<>])", re.IGNORECASE)
#: Statistics change query plans for the worse by a factor of thousands on a campaign of one long branch.
STATISTICS = re.compile(r"^\s*ANALYZE\b|\bPRAGMA\s+optimize\b", re.IGNORECASE)
BAD_NAME = re.compile(r"(?:Manager|Helper|Helpers|Utils|Util|Base)$")
MARKUP_WIDGETS = frozenset(
    {"Static", "Label", "Button", "Link", "Markdown", "Checkbox", "RadioButton", "OptionList", "Option"}
)
MARKUP_CALLS = frozenset({"from_markup", "to_content", "render_markup"})
MARKUP_MODULES = frozenset({"rich.markup", "textual.markup"})

Rule = Callable[[ast.Module, str], list[str]]


@dataclass(frozen=True)
class Breach:
    """A rule broken at a place."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


def sources(*, below: str = "", without: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Place (relative to the package) and text of every module below ``below``, apart from some files and folders."""
    for path in sorted((SOURCE / below).rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if not any(place == other or place.startswith(f"{other}/") for other in without):
            yield place, path.read_text(encoding="utf-8")


def breaches(rule: Rule, *, below: str = "", without: tuple[str, ...] = ()) -> list[str]:
    """Every breach of ``rule`` in the source, as ``place: what``."""
    return [
        str(Breach(place, what))
        for place, text in sources(below=below, without=without)
        for what in rule(ast.parse(text), text)
    ]


def found(rule: Rule, snippet: str) -> list[str]:
    """The breaches of ``rule`` in a snippet."""
    return rule(ast.parse(snippet), snippet)


def strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of every string constant that is no docstring; the parts of an f-string are joined by ``?``."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside.update(id(part) for part in node.values)
            parts = [str(part.value) if isinstance(part, ast.Constant) else "?" for part in node.values]
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings | inside:
            yield node.lineno, node.value


def called(tree: ast.Module) -> Iterator[tuple[ast.Call, str, str]]:
    """Every call with the last name of what is called (``print``, ``create_task``) and the name before it, or ''."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield node, node.func.id, ""
            elif isinstance(node.func, ast.Attribute):
                owner = node.func.value
                yield node, node.func.attr, owner.id if isinstance(owner, ast.Name) else ""


# -- the rules ---------------------------------------------------------------------------------------------------------


def long_module(limit: int) -> Rule:
    """Modules longer than ``limit`` lines."""

    def rule(tree: ast.Module, text: str) -> list[str]:
        lines = text.count("\n")
        return [f"{lines} lines"] if lines > limit else []

    return rule


def long_function(limit: int) -> Rule:
    """Functions longer than ``limit`` lines, from ``def`` to their last line, without the docstring."""

    def rule(tree: ast.Module, text: str) -> list[str]:
        bad = []
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0]
                is_documented = ast.get_docstring(node) is not None and first.end_lineno is not None
                docstring = first.end_lineno - first.lineno + 1 if is_documented and first.end_lineno else 0
                lines = (node.end_lineno or node.lineno) - node.lineno + 1 - docstring
                if lines > limit and node.name not in LONG_FUNCTIONS:
                    bad.append(f"{node.name} has {lines} lines")
        return bad

    return rule


def printing(tree: ast.Module, text: str) -> list[str]:
    """Calls of ``print``."""
    return [f"print in line {call.lineno}" for call, name, owner in called(tree) if name == "print" and not owner]


def story_writing(tree: ast.Module, text: str) -> list[str]:
    """SQL that writes rows of the story."""
    return [f"{hit[0]!r} in line {line}" for line, words in strings(tree) if (hit := WRITE.search(words))]


def path_clause(tree: ast.Module, text: str) -> list[str]:
    """SQL that walks the tree or selects along a path by its own words."""
    return [f"{hit[0]!r} in line {line}" for line, words in strings(tree) if (hit := PATH_CLAUSE.search(words))]


def task_making(tree: ast.Module, text: str) -> list[str]:
    """Tasks begun: ``create_task``, ``ensure_future``, task groups, ``gather`` of coroutines."""
    names = {"create_task", "ensure_future", "TaskGroup", "run_coroutine_threadsafe"}
    return [f"{name} in line {call.lineno}" for call, name, _ in called(tree) if name in names]


def swallowing_wait(tree: ast.Module, text: str) -> list[str]:
    """``wait_for``, which on Python 3.11 can lose a cancellation; ``asyncio.timeout`` does not."""
    return [f"{name} in line {call.lineno}" for call, name, _ in called(tree) if name == "wait_for"]


def statistics(tree: ast.Module, text: str) -> list[str]:
    """SQL that makes SQLite gather statistics."""
    return [f"{hit[0]!r} in line {line}" for line, words in strings(tree) if (hit := STATISTICS.search(words))]


def looking_at_the_clock(tree: ast.Module, text: str) -> list[str]:
    """Calls that ask what time it is."""
    names = {"now", "utcnow", "today", "time", "time_ns", "monotonic", "perf_counter"}
    owners = {"datetime", "date", "time"}
    return [
        f"{owner}.{name} in line {call.lineno}"
        for call, name, owner in called(tree)
        if name in names and owner in owners
    ]


def environment(tree: ast.Module, text: str) -> list[str]:
    """Looks into the environment."""
    bad = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv", "putenv"}:
            bad.append(f"{node.attr} in line {node.lineno}")
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            bad.extend(f"{a.name} in line {node.lineno}" for a in node.names if a.name in {"environ", "getenv"})
    return bad


def markup(tree: ast.Module, text: str) -> list[str]:
    """Constructors of Textual that read their text as markup, given anything but a literal, and markup parsers."""
    bad = []
    for call, name, _ in called(tree):
        if name in MARKUP_CALLS:
            bad.append(f"{name} in line {call.lineno}")
        is_plain = any(
            word.arg == "markup" and isinstance(word.value, ast.Constant) and word.value.value is False
            for word in call.keywords
        )
        if name in MARKUP_WIDGETS and call.args and not is_plain and not is_safe(call.args[0]):
            bad.append(f"{name}({ast.unparse(call.args[0])}) in line {call.lineno}")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in MARKUP_MODULES:
            bad.append(f"{node.module} in line {node.lineno}")
    return bad


def is_safe(argument: ast.expr) -> bool:
    """Whether a widget's first argument cannot be markup from outside: a literal, or a ``Content`` made on the spot."""
    if isinstance(argument, ast.Constant):
        return True
    if isinstance(argument, ast.Call):
        name = argument.func
        last = name.attr if isinstance(name, ast.Attribute) else name.id if isinstance(name, ast.Name) else ""
        return last in {"Content", "plain", "styled", "assemble", "content"}
    return False


def empty_names(tree: ast.Module, text: str) -> list[str]:
    """Classes named Manager, Helper, Utils, Base."""
    return [n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and BAD_NAME.search(n.name)]


def broad_except(tree: ast.Module, text: str) -> list[str]:
    """``except:`` and ``except BaseException`` that do not raise again."""
    bad = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            is_bare = node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "BaseException")
            if is_bare and not any(isinstance(inner, ast.Raise) for inner in ast.walk(node)):
                bad.append(f"line {node.lineno}")
    return bad


def undocumented(tree: ast.Module, text: str) -> list[str]:
    """A module without a docstring."""
    return [] if ast.get_docstring(tree) or not text.strip() else ["no docstring"]


# -- the rules over the source -----------------------------------------------------------------------------------------


def test_modules_are_short() -> None:
    assert breaches(long_module(MODULE_LINES)) == []


def test_the_app_is_short() -> None:
    assert [bad for bad in breaches(long_module(APP_LINES), below="tui") if bad.startswith("tui/app.py")] == []


def test_functions_are_short() -> None:
    assert breaches(long_function(FUNCTION_LINES)) == []


def test_no_function_is_very_long() -> None:
    assert set(LONG_FUNCTIONS.values()) & {""} == set()
    over = long_function(FUNCTION_LINES_AT_MOST)
    names = dict(LONG_FUNCTIONS)
    LONG_FUNCTIONS.clear()
    try:
        assert breaches(over) == []
    finally:
        LONG_FUNCTIONS.update(names)


def test_only_the_edges_print() -> None:
    assert breaches(printing, without=("cli", "plain", "bench", "__main__.py")) == []


@pytest.mark.spec("S12")
def test_story_rows_are_written_in_one_file() -> None:
    # The bench writes the same rows on a bare copy, to measure what that alone costs.
    assert breaches(story_writing, without=("store/commit", "store/schema.py", "bench/of_turns.py")) == []


@pytest.mark.spec("S6")
def test_the_path_is_selected_in_one_file() -> None:
    """store/reads.py puts the ranges that core/lineage.py names into queries; nobody else does."""
    assert breaches(path_clause, without=("core/lineage.py", "store/reads.py")) == []


@pytest.mark.spec("T1")
def test_tasks_belong_to_the_session() -> None:
    # discovery.py looks at several ports at once and awaits all of its looks before it returns.
    owners = ("engine/session.py", "engine/jobs.py", "narrators/discovery.py")
    assert breaches(task_making, without=owners) == []


@pytest.mark.spec("T16")
def test_the_environment_is_read_in_three_places() -> None:
    assert breaches(environment, without=("cli", "paths.py", "narrators/secret.py", "__main__.py")) == []


@pytest.mark.spec("T3")
def test_no_cancellation_is_lost() -> None:
    """The benches wait for nobody's stop; their terminals have a method of that name."""
    assert breaches(swallowing_wait, without=("bench",)) == []


def test_no_statistics_are_gathered() -> None:
    assert breaches(statistics) == []


def test_core_has_no_clock() -> None:
    assert breaches(looking_at_the_clock, below="core") == []


@pytest.mark.spec("U10")
def test_outside_text_is_never_markup() -> None:
    assert breaches(markup, below="tui") == []


def test_names_say_something() -> None:
    assert breaches(empty_names) == []


def test_no_failure_is_swallowed_whole() -> None:
    assert breaches(broad_except) == []


def test_every_module_says_its_idea() -> None:
    assert breaches(undocumented) == []


# -- the rules themselves ----------------------------------------------------------------------------------------------

LONG = "def f():\n" + "    x = 1\n" * 61
SNIPPETS: list[tuple[Rule, str]] = [
    (long_module(3), "x = 1\n" * 4),
    (long_function(60), LONG),
    (long_function(60), "class A:\n    async def g(self):\n" + "        x = 1\n" * 61),
    (printing, "def f():\n    print('x')"),
    (story_writing, "db.execute('INSERT INTO nodes VALUES (1)')"),
    (story_writing, "db.execute(f'insert or ignore into state_events ({names}) VALUES (1)')"),
    (story_writing, "db.execute('''UPDATE campaign\n SET head_node_id = ?''')"),
    (story_writing, "db.execute('DELETE  FROM\\n branches')"),
    (path_clause, "SQL = 'WITH RECURSIVE up(id) AS (SELECT 1)'"),
    (path_clause, "SQL = f'SELECT id FROM nodes WHERE branch_id = {x} AND depth BETWEEN ? AND ?'"),
    (path_clause, "SQL = 'SELECT id FROM nodes WHERE branch_id = ? AND depth <= ?'"),
    (task_making, "asyncio.create_task(f())"),
    (task_making, "async def f():\n    async with asyncio.TaskGroup() as g: pass"),
    (swallowing_wait, "async def f():\n    await asyncio.wait_for(g(), 1)"),
    (statistics, "db.execute('ANALYZE nodes')"),
    (statistics, "db.execute('PRAGMA optimize')"),
    (looking_at_the_clock, "x = datetime.now(UTC)"),
    (looking_at_the_clock, "x = time.monotonic()"),
    (environment, "import os\nx = os.environ['HOME']"),
    (environment, "from os import environ"),
    (environment, "import os\nx = os.getenv('HOME')"),
    (markup, "Static(title)"),
    (markup, "Label(f'{name}: [b]{x}[/b]')"),
    (markup, "Content.from_markup(text)"),
    (markup, "from rich.markup import escape"),
    (empty_names, "class TaskManager: pass"),
    (broad_except, "try:\n    f()\nexcept BaseException:\n    pass"),
    (undocumented, "x = 1"),
]
FINE: list[tuple[Rule, str]] = [
    (long_function(60), 'def f():\n    """' + "words\n" * 40 + '"""\n' + "    x = 1\n" * 50),
    (printing, "console.print('x')"),
    (story_writing, '"""INSERT INTO nodes is done elsewhere."""\ndb.execute("SELECT 1 FROM nodes")'),
    (story_writing, "db.execute('INSERT INTO prompt_parts VALUES (1)')"),
    (path_clause, "SQL = f'WITH RECURSIVE {LINE} SELECT 1 FROM line'"),
    (path_clause, "SQL = 'SELECT id FROM nodes WHERE branch_id = ? AND depth = ?'"),
    (markup, "pattern = regex.escape(word)"),
    (markup, "Static('[b]Ready[/b]')\nStatic(Content(title))\nStatic(title, markup=False)"),
    (broad_except, "try:\n    f()\nexcept BaseException:\n    undo()\n    raise"),
]


@pytest.mark.parametrize(("rule", "snippet"), SNIPPETS)
def test_a_breach_is_found(rule: Rule, snippet: str) -> None:
    assert found(rule, snippet)


@pytest.mark.parametrize(("rule", "snippet"), FINE)
def test_what_is_fine_passes(rule: Rule, snippet: str) -> None:
    assert found(rule, snippet) == []
