"""The first page: the story is there before the engine is, and nothing typed or pressed on it is lost (U1, U9)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import narrator.tui.app
from narrator.config import Settings
from narrator.engine.story import Story
from narrator.store import reads
from narrator.tui.app import NarratorApp
from narrator.tui.screens.first_page import FirstPage
from narrator.tui.widgets.bars import StatusLine
from narrator.tui.widgets.transcript import Transcript
from tests.tui.playing import Play, make_campaign, numbered, playing


class Held(FirstPage):
    """A first page that stands until it is told to go on."""

    def _start_load(self) -> None:
        """Nothing is loaded yet."""

    def go_on(self) -> None:
        super()._start_load()


class HeldApp(NarratorApp):
    """An app whose first page is held."""

    CSS_PATH = Path(narrator.tui.app.__file__).with_name("narrator.tcss")

    def get_default_screen(self) -> Held:
        page = super().get_default_screen()
        assert isinstance(page, FirstPage)
        return Held(page.path, narrator=page.asked_narrator)


@asynccontextmanager
async def first_page(path: Path) -> AsyncIterator[tuple[Play, Held]]:
    fake = numbered()
    app = HeldApp(path, settings=Settings(), casting=lambda story, asked: fake)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        page = app.screen
        assert isinstance(page, Held)
        yield Play(app, pilot, fake), page


async def turned(play: Play, page: Held) -> None:
    """Until the play screen is there and awake."""
    page.go_on()
    async with asyncio.timeout(10):
        while not play.app.play_screens() or play.app.play_screens()[0].session is None:
            await play.pilot.pause()
    await play.settle()


def rows(page: Held) -> str:
    transcript = page.query_one(Transcript)
    return "\n".join(transcript.render_line(y).text.rstrip() for y in range(transcript.size.height))


async def played(path: Path) -> None:
    async with playing(path) as play:
        await play.type("first")
        await play.type("second")
        await play.press("ctrl+z")
        play.screen.composer.editor.insert("a draft")
        await play.pilot.pause()


@pytest.mark.spec("U1", "U9")
async def test_it_shows_the_story_the_draft_and_where_it_stands_as_the_play_screen_does(tmp_path: Path) -> None:
    path = make_campaign(tmp_path)
    await played(path)
    async with first_page(path) as (play, page):
        assert "> second" in rows(page)
        assert page.composer.text == "a draft"
        standing = page.query_one(StatusLine).standing
        assert (standing.campaign, standing.position, standing.redo) == ("The Ferry", 4, 1)
        before = rows(page)
        await turned(play, page)
        assert play.shown().split("  ── ")[0].rstrip() == before.rstrip()
        assert play.screen.composer.text == "a draft"
        assert "is back" in play.said() or not play.said()


@pytest.mark.spec("U9")
async def test_a_page_that_is_turned_has_nothing_left_to_close(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with playing(make_campaign(tmp_path)) as play:
        play.app.leave()
        await play.pilot.pause()
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


@pytest.mark.spec("U9")
async def test_what_is_typed_pressed_and_sent_on_it_is_typed_pressed_and_sent(tmp_path: Path) -> None:
    async with first_page(make_campaign(tmp_path)) as (play, page):
        await play.pilot.press("l", "o", "o", "k", "enter")
        await play.pilot.press("n", "e", "x", "t")
        await play.pilot.press("ctrl+t")
        assert page.composer.text == "next"
        await turned(play, page)
        assert play.story() == ["Rain falls on the ferry.", "look", "Answer 1."]
        assert (play.screen.composer.text, play.screen.composer.mode) == ("next", "say")


@pytest.mark.spec("U9")
async def test_keys_that_come_while_the_page_is_turned_are_not_lost(tmp_path: Path) -> None:
    async with first_page(make_campaign(tmp_path)) as (play, page):
        page.go_on()
        typed = ""
        async with asyncio.timeout(10):
            for letter in "abcdefghijklmnopqrstuvwxyz" * 40:
                play.app.simulate_key(letter)
                typed += letter
                if play.app.play_screens() and play.app.play_screens()[0].session is not None:
                    break
                await asyncio.sleep(0)
        await play.settle()
        await play.pilot.pause()
        assert play.screen.composer.text == typed


@pytest.mark.spec("U9")
async def test_leaving_before_it_is_turned_keeps_what_was_typed(tmp_path: Path) -> None:
    path = make_campaign(tmp_path)
    async with first_page(path) as (play, _):
        await play.pilot.press("h", "m", "enter", "s", "o")
        play.app.leave()
        await play.pilot.pause()
    story = Story.open(path)
    try:
        draft = reads.draft(story.store)
        assert draft is not None
        assert draft.text == "hm\nso"
    finally:
        story.close()


@pytest.mark.spec("U15", "T13")
async def test_what_cannot_be_opened_and_what_is_open_elsewhere_is_said_by_the_play_screen(tmp_path: Path) -> None:
    broken = tmp_path / "broken.narrator"
    broken.write_text("no database")
    app = NarratorApp(broken, settings=Settings())
    async with app.run_test() as pilot:
        async with asyncio.timeout(10):
            while app.return_code is None:
                await pilot.pause()
    assert app.return_code == 3
    path = make_campaign(tmp_path)
    story = Story.open(path)
    try:
        async with playing(path) as play:
            assert play.screen.story.is_read_only
            assert any("open" in words for words in (play.said(), play.shown()))
    finally:
        story.close()


@pytest.mark.spec("U9")
@pytest.mark.parametrize("is_taken_away", [False, True])
async def test_what_waits_for_the_line_is_done_once_also_where_the_line_is_taken_away(
    tmp_path: Path, is_taken_away: bool
) -> None:
    async with playing(make_campaign(tmp_path)) as play:
        done: list[str] = []

        def act() -> None:
            done.append("left")

        editor = play.screen.composer.editor
        assert play.app.focused is editor
        play.app.behind_keys(act)
        if is_taken_away:
            editor._message_queue.get_nowait()  # what waited there goes with it
        async with asyncio.timeout(10):
            while not done:
                await play.pilot.pause()
        play.app.behind_keys(act)
        await play.pilot.pause()
        assert done == ["left"]
