"""What a key costs: every statement by its index, the same work at any depth, and nothing that recurses (S4, S41)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from narrator.core.proposal import Proposal
from narrator.core.tree import Coordinate
from narrator.engine.story import Story
from narrator.store import fold, lines, reads, state_reads
from narrator.store.removal import Age
from narrator.store.verify import verify_connection
from tests.store.making import accept_turn, deepen, make, open_story

FORKS = 200
NODES = 3_000

# What may be gone through from end to end: one row, or what the player saved, deleted or read by hand.
SMALL = {"campaign", "checkpoints", "deletions", "draft", "definitions", "doomed", "temp.doomed"}


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """A path of 2,600 nodes through 200 forks, each of which leaves a turn behind; a memory and a take now and then."""
    story = open_story(make(tmp_path_factory.mktemp("plans") / "forest.narrator"))
    story.store.db.execute("PRAGMA synchronous = OFF")
    for number in range(FORKS):
        accept_turn(story, number)
        story.undo(2)
        story.fork(story.head)
        deepen(story, 13)
        if number % 10 == 0:
            story.remember(f"It rained {number} times.")
            story.correct(Proposal("assert", "facts", f"It rained {number} times."))
            story.save(f"Place {number}")
    story.save("The end")
    assert story.store.db.execute("SELECT count(*) FROM nodes").fetchone()[0] >= NODES
    yield story
    story.close()


@pytest.fixture
def forest(grown: Story) -> Story:
    """The same, standing at the end of the path."""
    grown.restore("The end")
    return grown


def on_path(story: Story, position: int) -> Any:
    return story.nodes(position, position)[0]


KEYS: dict[str, Callable[[Story], object]] = {
    "window": lambda s: reads.window(s.store, s.end, 900, 960),
    "tail": lambda s: reads.tail(s.store, s.head.id, 32),
    "steps with their takes": lambda s: s.steps(s.count - 31, s.count),
    "where": lambda s: s.where(),
    "undo": lambda s: s.undo(),
    "redo": lambda s: (s.undo(), s.redo()),
    "undo-turn": lambda s: s.undo_turn(),
    "go": lambda s: s.go(on_path(s, s.count // 2)),
    "take": lambda s: s.take(s.node(reads.siblings(s.store, on_path(s, 14).id)[0])),
    "switch": lambda s: s.switch(s.store.forest[FORKS]),
    "back": lambda s: s.back(),
    "forward": lambda s: (s.back(), s.forward()),
    "takes": lambda s: s.takes(s.head),
    "siblings of openings": lambda s: reads.siblings(s.store, None),
    "holder": lambda s: reads.holder(s.store, Coordinate(100, 700)),
    "children": lambda s: reads.has_child(s.store, s.head.id, even_hidden=True),
    "line": lambda s: lines.tip_through(s.store, on_path(s, 20)),
    "line that ends on a branch": lambda s: lines.line_ending_on(s.store, 3, placed_only=True),
    "state from a snapshot": lambda s: fold.state_at(s.store, s.head),
    "memories": lambda s: s.memories(),
    "corrections": lambda s: reads.corrections(s.store, s.end),
    "rail": lambda s: s.branches(),
    "takes on the rail": lambda s: s.takes_on(1),
    "audit": lambda s: state_reads.audit(s.store, s.end, "player.nerve"),
    "checks": lambda s: state_reads.checks_on(s.store, s.end),
    "save": lambda s: (s.save("Here"), s.delete_checkpoint("Here")),
    "correct": lambda s: s.correct(Proposal("assert", "facts", "It snows.")),
    "turn": lambda s: accept_turn(s, 7),
    "fork": lambda s: s.fork(on_path(s, 30)),
    "turn that opens a branch": lambda s: (s.fork(on_path(s, 40)), accept_turn(s, 8)),
}


def statements(story: Story, act: Callable[[Story], object]) -> list[str]:
    """What SQLite was asked, its values filled in."""
    said: list[str] = []
    story.store.db.set_trace_callback(said.append)
    try:
        act(story)
    finally:
        story.store.db.set_trace_callback(None)
    return [sql for sql in said if sql.split()[0] not in ("BEGIN", "COMMIT", "PRAGMA", "--")]


def plan(story: Story, sql: str) -> list[str]:
    return [row[3] for row in story.store.db.execute(f"EXPLAIN QUERY PLAN {sql}")]


def table_of(story: Story, sql: str, alias: str) -> str:
    """The table that a name in a plan stands for; a common table expression stands for itself."""
    words = sql.replace(",", " ").split()
    tables = {row[0] for row in story.store.db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for table, name in pairwise(words):
        if table in tables and name == alias:
            return table
    return alias


@pytest.mark.spec("S4", "S6")
@pytest.mark.parametrize("key", KEYS)
def test_every_statement_behind_a_key_goes_by_an_index(forest: Story, key: str) -> None:
    said = statements(forest, KEYS[key])
    assert said
    for sql in said:
        for line in plan(forest, sql):
            if not line.startswith("SCAN"):
                assert "AUTOMATIC" not in line, (sql, line)
                continue
            table = table_of(forest, sql, line.split()[1])
            is_by_index = table in ("visits", "nodes", "branches") and (
                "visits_counter" in line or "nodes_corrections" in line or "nodes_unplaced" in line
            )
            # Lists of all there is, looked up in the branches in memory.
            is_list = (table in ("visits", "branches") and key == "rail") or (table, key) == ("memories", "memories")
            assert table in SMALL or is_by_index or is_list or table in ("line", "path", "tail"), (sql, line)


@pytest.mark.spec("S4")
@pytest.mark.parametrize(
    ("key", "index"),
    [
        ("window", "nodes_coordinate (branch_id=? AND depth>? AND depth<?)"),
        ("holder", "nodes_coordinate (branch_id=? AND depth=?)"),
        ("tail", "nodes_parent (parent_id=? AND hidden_by=?)"),
        ("steps with their takes", "nodes_parent (parent_id=? AND hidden_by=? AND rowid<?)"),
        ("siblings of openings", "nodes_parent (parent_id=? AND hidden_by=?)"),
        ("children", "nodes_parent (parent_id=?)"),
        ("state from a snapshot", "nodes_coordinate (branch_id=? AND depth=?)"),
        ("tail", "INTEGER PRIMARY KEY"),
        ("memories", "INTEGER PRIMARY KEY"),
        ("line that ends on a branch", "nodes_coordinate (branch_id=?)"),
    ],
)
def test_the_index_is_the_named_one(forest: Story, key: str, index: str) -> None:
    plans = [line for sql in statements(forest, KEYS[key]) for line in plan(forest, sql)]
    assert any(index in line for line in plans), plans


@pytest.mark.spec("S30", "S4")
def test_a_long_branch_is_asked_by_its_visits_and_answers_the_same(
    forest: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [(branch.id, placed_only) for branch in forest.store.forest for placed_only in (False, True)]
    by_steps = [lines.line_ending_on(forest.store, branch, placed_only=only) for branch, only in asked]
    monkeypatch.setattr(lines, "_SHORT_BRANCH", 0)
    by_visits = [lines.line_ending_on(forest.store, branch, placed_only=only) for branch, only in asked]
    assert by_steps == by_visits
    assert len(set(by_steps)) > FORKS // 2
    said = statements(forest, lambda story: lines.line_ending_on(story.store, FORKS, placed_only=False))
    assert any("visits_counter" in line for sql in said for line in plan(forest, sql))


@pytest.mark.spec("S4")
def test_there_are_no_statistics_that_could_change_a_plan(forest: Story) -> None:
    names = {row[0] for row in forest.store.db.execute("SELECT name FROM sqlite_schema")}
    assert "sqlite_stat1" not in names
    source = "\n".join(path.read_text() for path in Path(reads.__file__).parent.glob("*.py"))
    assert "ANALYZE" not in source
    assert "PRAGMA optimize" not in source
    assert "CREATE TRIGGER" not in source
    assert "ON DELETE CASCADE" not in source


def work(story: Story, act: Callable[[Story], object]) -> int:
    """How many instructions SQLite's machine runs: no clock, the same on a busy machine."""
    count = 0

    def step() -> None:
        nonlocal count
        count += 1

    story.store.db.set_progress_handler(step, 1)
    try:
        act(story)
    finally:
        story.store.db.set_progress_handler(None, 1)
    return count


@pytest.mark.spec("S4")
@pytest.mark.parametrize("key", ["window of 32", "tail", "undo and redo", "where", "turn", "state", "screen"])
def test_a_key_costs_the_same_at_depth_3000_as_at_depth_50(tmp_path: Path, key: str) -> None:
    costs = []
    for depth in (50, 3_000):
        story = open_story(make(tmp_path / f"deep{depth}.narrator"))
        story.store.db.execute("PRAGMA synchronous = OFF")
        deepen(story, depth - 1)
        acts: dict[str, Callable[[Story], object]] = {
            "window of 32": lambda s: reads.window(s.store, s.end, s.count - 31, s.count),
            "tail": lambda s: reads.tail(s.store, s.head.id, 32),
            "undo and redo": lambda s: (s.undo(), s.redo()),
            "where": lambda s: s.where(),
            "turn": lambda s: accept_turn(s, 1),
            "state": lambda s: fold.state_at(s.store, s.node(s.head.id)),
            "screen": lambda s: s.steps(s.count - 40, s.count),
        }
        story.state()
        costs.append(work(story, acts[key]))
        story.close()
    shallow, deep = costs
    assert deep <= shallow * 1.3 + 200, costs


@pytest.mark.spec("S4")
def test_a_window_and_a_tail_cost_no_more_through_200_forks(forest: Story, tmp_path: Path) -> None:
    flat = open_story(make(tmp_path / "flat.narrator"))
    deepen(flat, 600)
    for act, factor in (
        (lambda s: reads.tail(s.store, s.head.id, 32), 1.2),
        (lambda s: reads.window(s.store, s.end, s.count - 31, s.count), 1.6),
    ):
        assert work(forest, act) <= work(flat, act) * factor + 100
    flat.close()


@pytest.mark.spec("S41", "S40")
def test_3000_nodes_deep_nothing_recurses(tmp_path: Path) -> None:
    """Deleting the branch, bringing it back, deleting it for good, pruning, verifying: by id set."""
    story = open_story(make(tmp_path / "deep.narrator"))
    story.store.db.execute("PRAGMA synchronous = OFF")
    accept_turn(story, 1)
    deepen(story, NODES)
    story.undo(NODES + 5)
    story.fork(story.head)
    accept_turn(story, 2)
    assert story.count == 3
    first = story.node(2)
    story.take(first)
    assert story.count == NODES + 3
    story.back()
    plan_all = story.plan_prune(Age("all"))
    assert len(plan_all.node_ids) == NODES + 2
    assert reads.has_child(story.store, first.id)
    story.prune(plan_all)
    assert story.store.db.execute("SELECT count(*) FROM nodes").fetchone()[0] == 3
    assert verify_connection(story.store.db).ok
    story.close()


@pytest.mark.spec("S41")
def test_a_branch_of_3000_nodes_goes_and_comes_back(tmp_path: Path) -> None:
    story = open_story(make(tmp_path / "deep.narrator"))
    story.store.db.execute("PRAGMA synchronous = OFF")
    accept_turn(story, 1)
    story.undo(2)
    story.fork(story.head)
    deepen(story, NODES)
    branch = story.store.forest[2]
    story.take(story.node(2))
    plan_branch = story.plan_delete_branch(branch)
    assert (plan_branch.steps, plan_branch.takes, plan_branch.dependents) == (NODES, 0, 0)
    story.delete(plan_branch, "branch")
    assert [each.id for each in story.branches()] == [1]
    assert verify_connection(story.store.db).ok
    story.undelete()
    assert [each.steps for each in story.branches()] == [3, NODES]
    story.delete(story.plan_delete_branch(branch), "branch")
    story.close()
    story = open_story(story.path)
    assert story.store.db.execute("SELECT count(*) FROM nodes").fetchone()[0] == 3
    assert verify_connection(story.store.db).ok
    story.close()
