"""The rail: every branch with its steps, takes, last reading and checkpoints, and a way to each of them (S29, U5)."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.geometry import Offset

from narrator.engine.events import BranchListed, StepTakes, TakeListed
from narrator.tui.widgets.rail import branch_entries
from tests.tui.playing import Play, make_campaign, playing

BRANCHES = (
    BranchListed(1, None, "from the opening", None, 0, 9, True, True, "2026-11-30T18:00:00+00:00", ("dawn",), 2),
    BranchListed(2, "the well", "at step 4", 1, 3, 12, False, False, "2026-11-28T09:30:00+00:00", (), 0),
    BranchListed(3, None, "at step 10", 1, 9, 2, False, False, None, (), 0),
)
TAKES = (
    StepTakes(
        5,
        (
            TakeListed(5, 1, "narrator", True, False, "She turns away from the water and says nothing.", 1),
            TakeListed(9, 2, "narrator", False, True, "The lamp goes out.\n\nNobody lights it.", 1),
            TakeListed(11, 3, "narrator", False, False, "Ξένος " * 20, 1),
        ),
    ),
)


async def drawn(folder: Path, width: int) -> list[str]:
    """The branches with the takes of the first, in a rail of so many columns."""
    entries = branch_entries(BRANCHES, lambda branch_id: TAKES, {1})
    async with playing(make_campaign(folder), size=(160, 30)) as play:
        rail = play.screen.rail
        rail.styles.width = width + 1  # its edge
        rail.box.show(entries)
        await play.pilot.pause()
        lines = [rail.box.render_line(y) for y in range(len(entries))]
        assert {line.cell_length for line in lines} == {width}
        return [line.text.rstrip() for line in lines]


@pytest.mark.spec("S29")
async def test_it_reads_well_at_24_columns(tmp_path: Path) -> None:
    assert await drawn(tmp_path, 24) == [
        "▸ ● from the… ⚑1 9 steps",
        "    − takes       3 more",
        "    step 5",
        "    ●1 She turns away f…",
        "     2 The lamp…  pinned",
        "     3 Ξένος Ξένος Ξένο…",
        "    · the well  12 steps",
        "    · at step 10 2 steps",
    ]


@pytest.mark.spec("S29")
async def test_it_reads_well_at_60_columns(tmp_path: Path) -> None:
    assert await drawn(tmp_path, 60) == [
        "▸ ● from the opening                              ⚑1 9 steps",
        "    − takes                                           3 more",
        "    step 5",
        "    ●1 She turns away from the water and says nothing.",
        "     2 The lamp goes out. Nobody lights it.           pinned",
        "     3 Ξένος Ξένος Ξένος Ξένος Ξένος Ξένος Ξένος Ξένος Ξένο…",
        "    · the well                    read 2026-11-28 · 12 steps",
        "    · at step 10                                     2 steps",
    ]


def keys(play: Play) -> list[object]:
    return [entry.key for entry in play.screen.rail.box.entries if entry.key is not None]


async def forked(play: Play) -> None:
    """A turn below the take 3, and one below 7 on a branch of its own; 6 lies between them. The rail is open."""
    await play.type("look around")
    await play.type("stay")
    await play.type("/retry 3 x2")
    await play.type("go on")
    if not play.screen.rail.display:
        await play.press("f2")
    play.screen.rail.box.focus()
    await play.settle()


@pytest.mark.spec("S29", "S16", "U5", "U6")
@pytest.mark.parametrize("size", [(60, 24), (80, 24), (130, 30)])
async def test_takes_are_reached_by_keys(tmp_path: Path, size: tuple[int, int]) -> None:
    async with playing(make_campaign(tmp_path), size=size) as play:
        await forked(play)
        assert keys(play) == [("branch", 1), ("takes", 1), ("branch", 2)]
        await play.press("home", "right")
        assert keys(play) == [("branch", 1), ("takes", 1), ("take", 3), ("take", 6), ("take", 7), ("branch", 2)]
        assert play.screen.rail.box.chosen == ("takes", 1)
        await play.press("down", "enter")
        assert play.story()[2:] == ["Answer 1.", "stay", "Answer 2."]
        assert play.screen.rail.box.chosen == ("take", 3)
        await play.press("down", "down", "enter")
        assert play.story()[2:] == ["Answer 4.", "go on", "Answer 5."]
        await play.press("down", "left")
        assert ("take", 3) in keys(play), "a branch without takes has nothing to fold"
        await play.press("up", "left")
        assert keys(play) == [("branch", 1), ("takes", 1), ("branch", 2)]
        assert play.screen.rail.box.chosen == ("takes", 1)
        await play.press("enter")
        assert ("take", 6) in keys(play)
        await play.press("left", "up", "right")
        assert ("take", 6) in keys(play)
        assert play.narrator.calls["narrate"] == 5, "no take was told again"


@pytest.mark.spec("S29", "S16")
async def test_takes_are_reached_by_mouse(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), size=(130, 30)) as play:
        await forked(play)

        async def click(key: object) -> None:
            box = play.screen.rail.box
            row = [entry.key for entry in box.entries].index(key) - box.scroll_offset.y
            await play.pilot.click(box, Offset(6, row))
            await play.settle()

        await click(("takes", 1))
        await click(("take", 6))
        assert play.story()[2:] == ["Answer 3."]
        await click(("takes", 1))
        assert ("take", 6) not in keys(play)


@pytest.mark.spec("S18", "U7", "U14")
async def test_a_typed_take_names_its_own_step(tmp_path: Path) -> None:
    """The last step has one take; the command is about another."""
    async with playing(make_campaign(tmp_path)) as play:
        await forked(play)
        await play.type("/take 1 3")
        assert play.story()[2:] == ["Answer 1.", "stay", "Answer 2."]
        await play.type("/take #6")
        assert play.story()[2:] == ["Answer 3."]
        await play.type("/take 4")
        assert "take 4" in play.said().lower() or "takes" in play.said().lower(), play.said()


@pytest.mark.spec("S38", "S41", "U7")
async def test_a_take_is_deleted_from_the_rail_and_is_gone_from_it(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), size=(130, 30)) as play:
        await forked(play)
        await play.press("home", "right", "down", "down", "x")
        await play.press("down", "enter")  # the question: no stands first
        assert keys(play) == [("branch", 1), ("takes", 1), ("take", 3), ("take", 7), ("branch", 2)]
        await play.press("z")
        assert ("take", 6) in keys(play)
        play.screen.rail.box.show(play.screen.rail.box.entries, at=("take", 6))
        await play.press("r")
        assert play.said() == "There is nothing to do that with."


@pytest.mark.spec("S31", "S29")
async def test_a_branch_that_goes_takes_its_takes_along(tmp_path: Path) -> None:
    """What was unfolded and is deleted is forgotten; other moves leave what is unfolded as it is."""
    async with playing(make_campaign(tmp_path), size=(130, 30)) as play:
        await forked(play)
        await play.press("home", "right")
        await play.type("/retry last")
        await play.type("/undo")
        assert ("take", 6) in keys(play)
        await play.type("/take 1 3")
        await play.type("/delete-branch #2")
        await play.press("down", "enter")
        assert ("branch", 2) not in keys(play)
        assert ("take", 3) in keys(play)
