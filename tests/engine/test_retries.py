"""Retries cost what one turn costs: a cooldown counts inputs, a clock ticks once, a quiver loses one arrow (W2, T9)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from narrator.core.proposal import JSON
from narrator.core.state import State
from narrator.engine.story import Story
from narrator.narrators.scripted import ScriptedNarrator
from narrator.store import state_reads
from tests.engine.playing import make, playing
from tests.store.making import open_story

BUTTS = """
[campaign]
id = "butts"
title = "The Butts"
opening = "A quiver of five, and a straw man."

[state.player.arrows]
type = "number"
min = 0
max = 5
initial = 5
max_change = 1
[state.player.aim]
type = "text"
choices = ["high", "low", "true"]
initial = "true"
cooldown = 3

[rules]
dice = "6d1000"
[rules.skills.shoot]
[rules.difficulty]
far = 3000
[rules.clocks.dusk]
size = 8
visibility = "open"
advances_on = ["failure", "success", "critical failure", "critical success"]

[[storylets]]
id = "shoot"
keys = ["shoot"]
check = { skill = "shoot", difficulty = "far" }
effects = [{ op = "add", path = "player.arrows", value = -1 }, { op = "set", path = "player.aim", value = "low" }]
[[storylets.outcomes]]
on = "success"
wordings = ["Straw flies.", "You hit him in the hat.", "The string sings, and he leans."]
[[storylets.outcomes]]
on = "failure"
wordings = ["It goes over.", "The grass has it.", "It was a good arrow."]
[[storylets]]
id = "aim"
keys = ["aim"]
wordings = ["You aim high.", "Higher."]
effects = [{ op = "set", path = "player.aim", value = "high" }]
[[storylets]]
id = "wait"
keys = ["wait"]
wordings = ["You wait.", "A lark.", "Wind.", "Nothing."]
"""


def values(state: State) -> dict[str, JSON]:
    return {path: state.values[path] for path in ("player.arrows", "player.aim", "clocks.dusk")}


def takes_of_the_shot(story: Story) -> list[int]:
    """The narrations below the player's first input."""
    rows = story.store.db.execute("SELECT id FROM nodes WHERE parent_id = 2 ORDER BY id")
    return [row[0] for row in rows]


@pytest.mark.spec("W2", "T9", "S15")
async def test_six_retries_and_one_chosen_are_one_step_of_every_cooldown_and_one_roll_a_take(tmp_path: Path) -> None:
    async with playing(make(tmp_path, BUTTS), ScriptedNarrator(0)) as play:  # type: ignore[arg-type]
        for line in ("shoot", "/retry x6", "/take 3"):
            assert (await play.do(line)).ok
        takes = takes_of_the_shot(play.story)
        assert len(takes) == 7
        assert play.story.head.id == takes[2]
        rolls = state_reads.checks_of(play.story.store, takes)
        assert [len(rolls[take]) for take in takes] == [1] * 7
        assert len({rolls[take][0].roll for take in takes}) == 7
        for take in takes:
            state = play.story.state(play.story.node(take))
            assert (state.turn, values(state)["clocks.dusk"], values(state)["player.arrows"]) == (1, 1, 4)
        # The aim was set in the first turn and may be set again in the fourth, however often the first was told.
        aimed = []
        for line in ("aim", "aim", "aim"):
            assert (await play.do(line)).ok
            aimed.append(values(play.story.state())["player.aim"])
        assert aimed == ["low", "low", "high"]
        assert play.story.state().turn == 4
        assert play.sound()


@pytest.mark.spec("T9", "S12", "S15", "S45")
async def test_ten_retries_with_the_program_restarted_between_them_shoot_one_arrow(tmp_path: Path) -> None:
    """Every time another session over the file, three times another process."""
    path = make(tmp_path, BUTTS)
    for number, line in enumerate(["shoot", *["/retry"] * 10]):
        if number % 5 == 0:
            done = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.engine.retried", str(path), line, stderr=asyncio.subprocess.PIPE
            )
            assert await done.communicate() == (None, b"")
            assert done.returncode == 0
        else:
            async with playing(path, ScriptedNarrator(0)) as play:  # type: ignore[arg-type]
                assert (await play.do(line)).ok
        story = open_story(path)
        try:
            assert values(story.state()) == {"player.arrows": 4, "player.aim": "low", "clocks.dusk": 1}
        finally:
            story.close()
    story = open_story(path)
    try:
        takes = takes_of_the_shot(story)
        assert len(takes) == 11
        assert story.head.id == takes[-1]
        rolls = [state_reads.checks_of(story.store, [take])[take][0].roll for take in takes]
        assert len(set(rolls)) == 11
        assert story.state().turn == 1
    finally:
        story.close()
