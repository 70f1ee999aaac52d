"""The sample campaigns, played at random: whatever was undone, retaken or switched to, each node has its own state."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from narrator.config import ContextSettings, Settings
from narrator.core.state import EMPTY, State, advance
from narrator.engine.commands import parse_line
from narrator.engine.session import Session
from narrator.narrators.scripted import ScriptedNarrator
from narrator.store import fold, state_reads
from narrator.store.verify import verify_connection
from tests.core.sample_play import SAMPLES as FOLDER
from tests.core.sample_play import Sample
from tests.core.samples import SAMPLES
from tests.engine.playing import make
from tests.store.making import still

TURNS = 300
QUIET = Settings(context=ContextSettings(memory_every=1000))
MOVES = {
    "/undo": 6,
    "/undo {few}": 4,
    "/redo": 4,
    "/redo {few}": 2,
    "/take {take}": 6,
    "/switch #{branch}": 4,
    "/save {name}": 3,
    "/restore {saved}": 4,
    "/retry": 8,
    "/retry {step}": 2,
    "/back": 4,
    "/forward": 3,
    "/continue": 3,
    "{typed}": 47,
}


def next_line(session: Session, sample: Sample, dice: random.Random, before: str) -> str:
    """Something to do here: a move, or what a newcomer types, wherever it makes sense. Forward goes only after back."""
    story = session.story
    if before == "/back" and dice.random() < 0.5:
        return "/forward"
    saved = [point.name for point in story.checkpoints()] or ["nothing"]
    line = dice.choices(list(MOVES), list(MOVES.values()))[0]
    return line.format(
        few=dice.randint(2, 9),
        take=dice.randint(1, 3),
        branch=dice.choice([branch.id for branch in story.branches()]),
        name=f"point {dice.randint(1, 9)}",
        saved=dice.choice(saved),
        step=dice.randint(1, story.count),
        typed=dice.choice(sample.newcomers[dice.choice(list(sample.company))]),
    )


def folded_from_nothing(session: Session) -> Iterator[tuple[int, State]]:
    """The state of every node, from the rows of its events alone: no snapshot, nothing remembered."""
    store = session.story.store
    states: dict[int, State] = {}
    rows = store.db.execute("SELECT id, parent_id, role, unknown FROM nodes ORDER BY id").fetchall()
    events = state_reads.events_of(store, [row[0] for row in rows])
    for node_id, parent_id, role, unknown in rows:
        before = EMPTY if parent_id is None else states[parent_id]
        states[node_id] = advance(before, role, events.get(node_id, ()), bool(unknown))
        yield node_id, states[node_id]


def compare(session: Session, every: int = 1) -> None:
    """What the file gives with its snapshots, and what the story shows, is what the events add up to."""
    story = session.story
    for node_id, wanted in folded_from_nothing(session):
        if node_id % every == 0 or node_id == story.head.id:
            node = story.node(node_id)
            assert fold.state_at(story.store, node) == wanted, node_id
            assert story.state(node) == wanted, node_id


@pytest.mark.spec("S5", "S10", "W3")
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
async def test_every_node_keeps_its_state_whatever_is_played(tmp_path: Path, sample: Sample) -> None:
    dice = random.Random(sample.name)
    path = make(tmp_path, (FOLDER / f"{sample.name}.toml").read_text(encoding="utf-8"), sample.name)
    session = await Session.open(path, settings=QUIET, narrator=ScriptedNarrator(0), clock=still)
    db = session.story.store.db
    db.execute("PRAGMA synchronous = OFF")
    done: set[str] = set()
    line = ""
    try:
        for turn in range(1, TURNS + 1):
            line = next_line(session, sample, dice, line)
            if await session.perform(parse_line(line)):
                done.add(line.split()[0] if line.startswith("/") else "typed")
            if turn % 50 == 0:
                compare(session, every=11)
        assert done == {line.split()[0] if line.startswith("/") else "typed" for line in MOVES}
        assert len(session.story.branches()) > 5
        (deepest,) = db.execute("SELECT max(depth) FROM nodes").fetchone()
        assert db.execute("SELECT count(*) FROM snapshots").fetchone()[0] > 0 or deepest < 33
        compare(session)
        assert verify_connection(db).problems == ()
        db.execute("DELETE FROM snapshots")
        session.story._states.clear()
        compare(session)
    finally:
        await session.aclose()
