"""The bench itself: its campaigns are what play would have made, its numbers are what they say they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest

from narrator.bench import (
    fixtures,
    of_exchange,
    of_growth,
    of_keys,
    of_memory,
    of_reading,
    of_screen,
    of_turns,
    prose,
    report,
    run,
    sampling,
)
from narrator.core.errors import BadValue, NarratorError
from narrator.engine.story import Story
from narrator.store import state_reads
from narrator.store.verify import verify

pytestmark = pytest.mark.xdist_group("bench")
ROW_KEYS = {"value", "unit", "n", "median", "p95", "floor", "ratio", "goal"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The three small campaigns."""
    folder = tmp_path_factory.mktemp("bench")
    return {name: fixtures.build(name, folder) for name in fixtures.SMALL}


#: name → (nodes, branches, steps on the path); each has one more take of its last step.
SHAPES = {"flat-600": (601, 1, 600), "chain-200": (1001, 201, 600), "star-200": (602, 200, 4)}


@pytest.mark.parametrize("name", SHAPES)
def test_a_campaign_has_its_shape(files: dict[str, Path], name: str) -> None:
    nodes, branches, steps = SHAPES[name]
    found = verify(files[name])
    assert found.problems == ()
    assert (found.nodes, found.branches) == (nodes, branches)
    with closing(Story.open(files[name])) as story:
        assert story.count == steps
        assert story.redo_steps == 0
        assert len(story.takes(story.head)) == 2
        assert len(story.checkpoints()) == fixtures.CHECKPOINTS
        assert len(story.definition.cards) == fixtures.CARDS


def test_a_campaign_weighs_what_it_says(files: dict[str, Path]) -> None:
    with closing(Story.open(files["flat-600"])) as story:
        nodes = story.nodes()
        narrations = [len(node.text) for node in nodes if node.role == "narrator"]
        inputs = [len(node.text) for node in nodes if node.role == "player"]
        assert 1600 <= sum(narrations) / len(narrations) <= 1700
        assert 50 <= sum(inputs) / len(inputs) <= 110
        events = state_reads.events_of(story.store, [node.id for node in nodes[1:]])
        assert all(len(events[node.id]) == 2 for node in nodes[1:] if node.role == "narrator")
        assert len(story.memories()) == 600 // fixtures.NODES_A_MEMORY


def test_the_forest_nests_its_forks(tmp_path: Path) -> None:
    builder = fixtures.Builder(tmp_path / "forest.narrator", 1)
    fixtures._forest(builder, 3)
    builder.finish()
    assert verify(builder.story.path).problems == ()
    with closing(Story.open(builder.story.path)) as story:
        assert story.count == 1 + 3 * 89
        tip = story.tip
        assert tip.branch_id is not None
        assert len(story.store.forest.chain(tip.branch_id)) == 4
        takes = {
            position for position in range(2, story.count) if len(story.takes(story.nodes(position, position)[0])) > 1
        }
        assert set(range(10, story.count, 10)) <= takes


def test_equal_seeds_give_equal_rows(tmp_path: Path) -> None:
    paths = [fixtures.build("star-200", tmp_path / name, seed=3) for name in _folders(tmp_path, "a", "b")]
    hashes = []
    for path in paths:
        with closing(Story.open(path)) as story:
            hashes.append((story.head.id, story.head.chain_hash))
    assert hashes[0] == hashes[1]


def _folders(parent: Path, *names: str) -> tuple[str, ...]:
    for name in names:
        (parent / name).mkdir()
    return names


def test_text_is_seeded() -> None:
    assert prose.narration(Random(1)) == prose.narration(Random(1)) != prose.narration(Random(2))


def test_samples_are_taken_in_turn() -> None:
    order: list[str] = []

    def call(name: str) -> Callable[[], None]:
        return lambda: order.append(name)

    found = sampling.in_turn(3, {"a": call("a"), "b": call("b")}, warm_up=1)
    assert order == ["a", "b"] * 4
    assert {name: len(samples) for name, samples in found.items()} == {"a": 3, "b": 3}
    assert sampling.in_turn(2, {"own": lambda: 7.0})["own"] == [7.0, 7.0]


def test_a_row_judges_what_its_goal_speaks_of() -> None:
    samples = [float(number) for number in range(1, 101)]
    assert sampling.p95(samples) == 95
    row = sampling.row("x", samples, scale=1, floor=[10.0], goal=sampling.Goal(5, is_ratio=True))
    assert (row.median, row.p95, row.floor, row.ratio, row.met) == (50.5, 95, 10, 5.05, False)
    assert row.goal == "≤ 5 ×"
    high = sampling.row("x", samples, scale=1, goal=sampling.Goal(95), by_p95=True)
    assert (high.value, high.met, high.goal) == (95, True, "≤ 95 ms")
    assert sampling.row("x", [1.0]).met is None


def test_reading_is_measured(files: dict[str, Path]) -> None:
    rows = [*of_reading.window(files, n=2), *of_reading.moves(files, n=2), *of_reading.opening(files, n=2)]
    names = [row.name for row in rows]
    for verb in ("window", "undo", "redo", "take", "restore", "open"):
        assert {f"{verb}/{name}" for name in SHAPES} <= set(names)
    assert {"switch/chain-200", "switch/star-200", "window/chain-200 to flat-600"} <= set(names)
    assert len(names) == len(set(names))
    assert all(row.value > 0 for row in rows)
    for path in files.values():
        assert verify(path).problems == ()


def test_turns_are_measured(files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_turns, "WINDOW", 1_000_000)
    monkeypatch.setattr(of_turns, "TURNS_WEIGHED", 2)
    before = {name: path.read_bytes() for name, path in files.items()}
    rows = [*of_turns.turns(files, tmp_path, n=2), *of_turns.turn_bytes(files, tmp_path)]
    names = {row.name for row in rows}
    assert {f"turn/{name}" for name in SHAPES} | {f"weight/{name}" for name in SHAPES} <= names
    assert all(row.value > 0 for row in rows)
    assert all(row.ratio is not None and row.ratio > 1 for row in rows if row.name.startswith(("turn/flat", "weight")))
    assert {name: path.read_bytes() for name, path in files.items()} == before, "turns are told on copies"


def test_retrieval_and_summaries_are_measured(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_memory, "SUMMARIZED", 600)
    assert [row.name for row in of_memory.retrieval(files, n=2)] == [f"recall/{name}" for name in SHAPES]
    names = [row.name for row in of_memory.retrieval_by_meaning(files, tmp_path, n=2)]
    assert names == ([f"recall by meaning/{name}" for name in SHAPES] if find_spec("wordllama") else [])
    requests, seconds = of_memory.first_summary(tmp_path)
    assert requests.floor is not None
    assert requests.value >= requests.floor > 1
    assert seconds.value > 0


def test_a_bundle_out_and_in_is_measured(files: dict[str, Path], tmp_path: Path, home: Path) -> None:
    rows = of_exchange.bundle({"forest-100k": files["chain-200"]}, tmp_path)
    assert [row.name.split("/")[0] for row in rows] == ["export"] * 3 + ["import"] * 3
    assert all(row.value > 0 for row in rows)
    (made,) = (home / "campaigns").iterdir()
    assert verify(made).nodes == SHAPES["chain-200"][0]


def test_processor_time_can_be_counted() -> None:
    try:
        sampling.count_processor_time(True)
        waited = sampling.timed(lambda: threading.Event().wait(0.05))
    finally:
        sampling.count_processor_time(False)
    assert waited < 0.04 < sampling.timed(lambda: threading.Event().wait(0.05))


def test_redrawing_is_measured(files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_screen, "SHORT", 100)
    rows = of_screen.redrawing({"long-100k": files["flat-600"]}, n=2)
    assert len(rows) == 3 * len(of_screen.ACTS)
    assert all(row.value > 0 for row in rows)


def test_a_terminal_sees_what_is_drawn() -> None:
    with closing(of_screen.Terminal(["-c", of_screen.BARE])) as terminal:
        terminal.wait_for(b"heron")
    with (
        closing(of_screen.Terminal(["-c", "print('nothing')"])) as terminal,
        pytest.raises(NarratorError, match="heron"),
    ):
        terminal.wait_for(b"heron")


def test_an_echo_is_measured(files: dict[str, Path], tmp_path: Path) -> None:
    (row,) = of_keys.echo(files, tmp_path, n=3)
    assert row.n == 3
    assert row.value > 0


@pytest.mark.spec("S4")
def test_a_fork_adds_next_to_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_growth, "FORKS", 300)
    (row,) = of_growth.fork_bytes(tmp_path)
    assert row.unit == "B"
    assert row.value <= 150


def test_an_unknown_measure_is_named() -> None:
    with pytest.raises(BadValue, match="nonsense"):
        run.chosen(["window", "nonsense"])
    assert [measure.name for measure in run.chosen(["win"])] == ["window"]


@pytest.mark.spec("U21")
def test_the_command_prints_the_contract(tmp_path: Path) -> None:
    home = tmp_path / "own"
    command = "import sys; from narrator.cli.bench import command; command(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", command, "--json", "--small", "--only", "window"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env=os.environ | {"NARRATOR_HOME": str(home)},
    )
    found = json.loads(done.stdout)
    assert set(found["window/flat-600"]) == ROW_KEYS
    assert all(set(row) == ROW_KEYS for row in found.values())
    assert "Measuring window" in done.stderr
    assert not home.exists()


def test_the_table_has_a_line_a_row() -> None:
    rows = [sampling.row("a", [0.001], goal=sampling.Goal(2)), sampling.row("b", [0.001], floor=[0.0005])]
    lines = report.as_table(rows).splitlines()
    assert len(lines) == 4
    assert lines[2].endswith("≤ 2 ms  met")
    assert " 2" in lines[3]
