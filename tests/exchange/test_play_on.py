"""What was imported is a story like any other: every verb works on it, and a turn is told (S8, S9, S17, S30)."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from narrator.core.errors import BadImport
from narrator.exchange.exporting import Wish, export
from narrator.store import reads
from narrator.store.verify import verify
from tests.engine.playing import make, playing
from tests.exchange.bringing import SAMPLES, bring, still

STORIES = sorted(p for p in SAMPLES.iterdir() if ".expect." not in p.name and p.suffix not in (".lorebook", ".charx"))


@pytest.mark.spec("S8", "S9", "S17", "S30", "T1")
@pytest.mark.parametrize("sample", STORIES, ids=lambda path: path.name)
async def test_an_imported_story_is_played_on(tmp_path: Path, sample: Path) -> None:
    report = bring(tmp_path, sample)
    async with playing(Path(report.campaigns[0])) as play:
        story = play.story
        length = story.count
        if length > 1:
            assert (await play.do("/undo 999")).ok
            assert story.count == 1
            assert (await play.do("/redo 999")).ok
            assert story.count == length
        for (node_id,) in story.store.db.execute("SELECT id FROM nodes ORDER BY id").fetchall():
            assert (await play.do({"command": "take", "n": {"id": node_id}})).ok
            assert reads.is_on_path(story.store, story.node(node_id), story.end)
        for branch in list(story.store.forest):
            assert (await play.do({"command": "switch", "branch": {"id": branch.id}})).ok
        before = story.count
        assert (await play.do("I look around.")).ok
        assert story.count >= before
        assert (await play.do("/retry")).ok
        assert play.sound()


def spots(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every place in a JSON value: (holder, key)."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        found.append((value, key))
        spots(value[key], found)
    return found


WRONG = (
    None,
    "",
    "100",
    1.0,
    True,
    False,
    [],
    {},
    "x",
    -1,
    0,
    1,
    2,
    3,
    5,
    10**30,
    "\ud800",
    ["a"],
    "opening",
    "player",
)


@pytest.mark.spec("X3", "X4", "X5", "X8")
async def test_a_bundle_with_anything_changed_is_refused_or_sound(tmp_path: Path) -> None:
    chance = random.Random(11)
    mill = make(tmp_path)
    async with playing(mill, answers="yes") as play:
        for verb in (
            "I go.",
            "/retry",
            "I stay.",
            "/undo 2",
            "/save dawn",
            "I run.",
            "/take 1",
            "/undo",
            "/remember It.",
        ):
            await play.do(verb)
        export(mill, tmp_path / "one.json", Wish(), clock=still)
    whole = (tmp_path / "one.json").read_text(encoding="utf-8")
    sound = 0
    for number in range(60):
        value = json.loads(whole)
        for _ in range(chance.choice((1, 1, 2, 4))):
            holder, key = chance.choice(spots(value, []))
            if chance.random() < 0.7:
                holder[key] = chance.choice(WRONG)
            else:
                del holder[key]
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(value))
        try:
            report = bring(tmp_path / "shelf", path)
        except BadImport:
            continue
        sound += 1
        assert verify(Path(report.campaigns[0])).problems == ()
    assert 10 < sound < 50
