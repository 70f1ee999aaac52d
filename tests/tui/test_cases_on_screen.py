"""Cases (f) and (j) on the screen: a held key, and a switch between lines of equal length (S8, S9, S31)."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Static

from narrator.engine.story import Story
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose
from narrator.tui.widgets.bars import StatusLine
from tests.tui.playing import Play, make_campaign, playing

DEFINITION = """
[campaign]
id = "ferry"
title = "The Ferry"
opening = "Rain falls on the ferry."

[start]
location = "ferry"

[state.player.nerve]
type = "number"
min = 0
max = 1000
initial = 5
"""


def at_rest(path: Path) -> tuple[list[str], int]:
    """The texts on the path, and how many steps redo holds, as the file has them."""
    story = Story.open(path, read_only=True)
    try:
        return [node.text for node in story.nodes()], story.redo_steps
    finally:
        story.close()


@pytest.mark.spec("S8", "S9", "S11", "U7")
async def test_f_a_held_undo_and_then_all_redo(tmp_path: Path) -> None:
    """Forty presses without a pause between them; at every rest the screen says what the file says."""
    path = make_campaign(tmp_path)
    async with playing(path) as play:
        for number in range(20):
            await play.type(f"wait {number}")
        whole = play.story()
        assert len(whole) == 41
        await play.press("escape")
        await play.press(*["ctrl+z"] * 40)
        assert (play.story(), play.screen.story.redo_steps) == at_rest(path) == (whole[:1], 40)
        assert "redo holds 40 steps" in play.shown()
        assert "wait 0" not in play.shown()
        await play.press("ctrl+z")
        assert play.said() == "This is the opening; there is nothing to undo."
        await play.press(*["ctrl+y"] * 40)
        assert (play.story(), play.screen.story.redo_steps) == at_rest(path) == (whole, 0)
        assert whole[-1] in play.shown()
        await play.press("ctrl+y")
        assert play.said() == "There is nothing to redo."
    async with playing(path) as play:
        assert play.story() == whole


def seen(play: Play) -> dict[str, str]:
    """What each part of the screen shows."""
    rail, panel = play.screen.rail.box, play.screen.panel
    listed = [f"{entry.text} {entry.detail}" for entry in panel.box.entries]
    words = [str(panel.query_one(name, Static).render()) for name in ("#heading", "#about")]
    return {
        "transcript": play.shown(),
        "rail": "\n".join(rail.render_line(y).text for y in range(rail.size.height)),
        "panel": "\n".join([*words, *listed]),
        "status": str(play.screen.query_one(StatusLine).render()),
    }


@pytest.mark.spec("S31", "S30")
async def test_j_every_part_of_the_screen_follows_a_switch_between_lines_of_equal_length(tmp_path: Path) -> None:
    fake = FakeNarrator()
    count = iter(range(1, 100))
    fake.answer(Purpose.NARRATE, lambda request: f"Answer {next(count)}.")

    def changes(request: object) -> dict[str, object]:
        text = request.scene.narration  # type: ignore[attr-defined]
        place = "mill" if "Answer 1" in text else "well"
        nerve = 3 if "Answer 1" in text else 9
        return {
            "changes": [
                {"op": "set", "path": "location", "value": place, "why": "so"},
                {"op": "add", "path": "player.nerve", "value": nerve, "why": "so"},
            ]
        }

    fake.answer(Purpose.EXTRACT, changes)
    async with playing(make_campaign(tmp_path, definition=DEFINITION), fake, size=(180, 40)) as play:
        await play.type("go to the mill")
        await play.type("/remember The mill stands.")
        await play.type("/save at the mill")
        await play.type("/fork 1")
        await play.type("go to the well")
        await play.type("/remember The well is dry.")
        tabs: dict[str, list[dict[str, dict[str, str]]]] = {}
        for line in ("/switch #1", "/switch #2", "/switch #1"):
            await play.type(line)
            assert len(play.story()) == 3
            found = {}
            await play.press("f3")
            assert play.screen.place() == "panel"
            while play.screen.panel.tab not in found:
                found[play.screen.panel.tab] = seen(play)
                await play.press("right")
            tabs.setdefault(line, []).append(found)
        (first, again), (second,) = tabs["/switch #1"], tabs["/switch #2"]
        assert len(first) >= 5
        assert first == again
        for tab in first:
            for part in ("transcript", "rail", "status"):
                assert first[tab][part] != second[tab][part], (tab, part)
        different = [tab for tab in first if first[tab]["panel"] != second[tab]["panel"]]
        told = "\n".join(first[tab]["panel"] for tab in first), "\n".join(second[tab]["panel"] for tab in second)
        assert "The mill stands." in told[0]
        assert "The mill stands." not in told[1]
        assert "The well is dry." in told[1]
        assert len(different) >= 3, different
