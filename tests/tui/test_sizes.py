"""Every size of a terminal, without an exception, whatever stands on the screen (U1).

Held in each run: all widths from 1 to 200 and all heights from 1 to 60 with nothing open and with both sides open; what
else can be open shares them out, and meets the smallest sizes itself. The whole grid for each is ``make sizes``, which
sets ``NARRATOR_TEST_SIZES=all``.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from narrator.config import Settings
from narrator.tui.app import NarratorApp
from narrator.tui.screens.first_page import FirstPage
from tests.tui.playing import Play, make_campaign, numbered, playing

WIDTHS, HEIGHTS = 200, 60
TINY = [(1, 1), (2, 1), (1, 3), (3, 2), (5, 4), (9, 3)]
WHOLE = ("nothing", "rail and panel")
"""States that meet all widths and heights; the others share them out."""


def sizes(state: str) -> Iterator[tuple[int, int]]:
    """The sizes that are tried in this state."""
    if os.environ.get("NARRATOR_TEST_SIZES") == "all":
        for width in range(1, WIDTHS + 1):
            yield from ((width, height) for height in range(1, HEIGHTS + 1))
        return
    way = NAMES.index(state)
    yield from TINY
    step = 1 if state in WHOLE else 7
    # Neither 37 nor 7 has a factor in common with 60: 60 widths in a row meet all heights, and so do 60 steps of seven.
    for width in range(1 if step == 1 else 1 + way % step, WIDTHS + 1, step):
        yield width, 1 + (37 * width + 7 * way) % HEIGHTS


def test_all_widths_and_heights_are_tried() -> None:
    for states in (*([state] for state in WHOLE), [name for name in NAMES if name not in WHOLE]):
        tried = [size for state in states for size in sizes(state)]
        assert {width for width, _ in tried} == set(range(1, WIDTHS + 1))
        assert {height for _, height in tried} == set(range(1, HEIGHTS + 1))


async def nothing(play: Play) -> None:
    """The story, a note, half an input and the selection."""
    play.screen.transcript.note("An error of some length that must wrap as well.", is_error=True)
    play.screen.composer.editor.insert("half an input 漢字 that wraps in any narrow place")
    await play.press("escape", "up")


async def completing(play: Play) -> None:
    play.screen.composer.editor.insert("/re")
    await play.pilot.pause()


async def rail(play: Play) -> None:
    await play.press("f2")


async def map_of_the_story(play: Play) -> None:
    await play.press("f2", "f2")


async def panel(play: Play) -> None:
    await play.press("f3")


async def rail_and_panel(play: Play) -> None:
    await play.press("f2", "f3", "f3")


def opened(action: str) -> Callable[[Play], Awaitable[None]]:
    async def act(play: Play) -> None:
        await play.screen.act(action)
        await play.pilot.pause()

    return act


async def question(play: Play) -> None:
    await play.press("ctrl+r")
    await play.type("/delete-take 1")


async def edit_of_a_narration(play: Play) -> None:
    await play.press("escape", "up", "e")


async def story_read(play: Play) -> None:
    await play.type("/read")


STATES: dict[str, Callable[[Play], Awaitable[None]]] = {
    "nothing": nothing,
    "completing": completing,
    "rail": rail,
    "map": map_of_the_story,
    "panel": panel,
    "rail and panel": rail_and_panel,
    "help": opened("story.help"),
    "palette": opened("screen.palette"),
    "settings": opened("screen.settings"),
    "theme": opened("screen.theme"),
    "narrators": opened("story.narrator"),
    "save": opened("story.save"),
    "search": opened("story.search"),
    "export": opened("story.export"),
    "import": opened("screen.import"),
    "question": question,
    "edit": edit_of_a_narration,
    "page": story_read,
    "library": opened("screen.library"),
}


NAMES = (*STATES, "first page")


@pytest.mark.spec("U1", "U3")
@pytest.mark.parametrize("state", STATES)
async def test_every_size(state: str, tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path), numbered(), size=(80, 24)) as play:
        await play.type("A rather long input 漢字漢字 that wraps, and wraps, and wraps again in any narrow place.")
        await play.type("/save a place")
        await STATES[state](play)
        for width, height in sizes(state):
            await play.pilot.resize_terminal(width, height)
            await play.pilot.pause()
            assert play.app.is_running, (width, height)
        await play.pilot.resize_terminal(80, 24)
        await play.pilot.pause()
        if play.app.play_screens():
            assert "Answer" in "\n".join(play.story())


@pytest.mark.spec("U1")
@pytest.mark.parametrize("size", [(1, 1), (2, 2), (10, 3), (30, 8), (200, 60)])
async def test_all_opens_at_any_size(size: tuple[int, int], tmp_path: Path) -> None:
    """The first frame, and whatever is opened at that size; not only what is made smaller later."""
    async with playing(make_campaign(tmp_path), size=size) as play:
        for action in ("screen.palette", "story.help", "screen.settings", "screen.theme", "story.save", "story.search"):
            await play.screen.act(action)
            await play.pilot.pause()
            assert play.app.screen is not play.screen
            await play.press("escape")
            await play.pilot.pause()
        for _ in range(3):
            await play.press("f2", "f3")
        await play.screen.act("screen.library")
        await play.pilot.pause()


@pytest.mark.spec("U1")
async def test_the_first_page_at_every_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # It stands for as long as the test needs it.
    monkeypatch.setattr(FirstPage, "_begin", lambda page: None)
    app = NarratorApp(make_campaign(tmp_path), settings=Settings())
    async with app.run_test(size=(80, 24)) as pilot:
        assert isinstance(app.screen, FirstPage)
        for width, height in sizes("first page"):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            assert app.is_running, (width, height)
