"""The transcript as a widget over a story of any length: what it reads, selection by mouse, search marks (U3)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.selection import Selection

from narrator.core.prose import visible
from narrator.tui.theming import with_story_colours
from narrator.tui.widgets.transcript import Transcript
from tests.tui.playing import make_campaign, playing
from tests.tui.story_source import MadeStory, prose


class Bare(App[None]):
    """A transcript and nothing else."""

    def get_css_variables(self) -> dict[str, str]:
        return with_story_colours(super().get_css_variables())

    def compose(self) -> ComposeResult:
        yield Transcript()


def shown(transcript: Transcript) -> list[str]:
    return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]


@pytest.mark.spec("U3")
async def test_a_hundred_thousand_steps_are_read_as_a_hundred_are() -> None:
    read: dict[int, list[int]] = {}
    for count in (101, 100_001):
        app = Bare()
        async with app.run_test(size=(100, 30)) as pilot:
            transcript = app.query_one(Transcript)
            story = MadeStory(count)
            reads = read.setdefault(count, [])

            def took(story: MadeStory = story, reads: list[int] = reads) -> None:
                reads.append(sum(last - first + 1 for first, last in story.reads))
                story.reads.clear()

            transcript.open_story(story)
            await pilot.pause()
            took()
            for _ in range(3):
                transcript.page(-1)
            took()
            await pilot.resize_terminal(70, 24)
            await pilot.pause()
            took()
            transcript.to_end()
            transcript.begin("look", "do")
            for _ in range(20):
                transcript.grow(prose(3, 60) + " ")
                transcript.flush()
            took()
            transcript.show_position(50)
            took()
    short, long = read[101], read[100_001]
    assert all(b <= a + 32 for a, b in zip(short, long, strict=True)), read
    assert max(long) <= 96


@pytest.mark.spec("U3")
async def test_streaming_keeps_the_picture_of_who_reads_above() -> None:
    app = Bare()
    async with app.run_test(size=(90, 20)) as pilot:
        transcript = app.query_one(Transcript)
        transcript.open_story(MadeStory(301))
        await pilot.pause()
        transcript.begin("look", "do")
        transcript.page(-3)
        before = shown(transcript)
        for number in range(60):
            transcript.grow(prose(number, 80) + " ")
            transcript.flush()
            assert shown(transcript) == before
        transcript.page(-1)
        transcript.page(1)
        assert shown(transcript) == before


@pytest.mark.spec("U3", "U12")
async def test_a_selection_is_characters_of_steps_whatever_the_window_does() -> None:
    app = Bare()
    async with app.run_test(size=(60, 20)) as pilot:
        transcript = app.query_one(Transcript)
        story = MadeStory(201)
        transcript.open_story(story)
        await pilot.pause()
        first, last = story.step(199).text, story.step(201).text
        selection = Selection(Offset(10, 199), Offset(25, 201))
        found = transcript.get_selection(selection)
        assert found is not None
        assert found[0] == "\n\n".join([first[10:], story.step(200).text, last[:25]])
        transcript.to_start()
        await pilot.pause()
        assert transcript.get_selection(selection) == found


@pytest.mark.spec("U3")
async def test_text_is_selected_with_the_mouse_and_copied_as_it_is_stored(tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path)) as play:
        await play.type("say *hello* to 漢字 now")
        rows = play.shown().splitlines()
        row = next(index for index, text in enumerate(rows) if "hello" in text)
        await play.pilot.mouse_down(Transcript, offset=(4, row))
        await play.pilot.hover(Transcript, offset=(30, row))
        await play.pilot.mouse_up(Transcript, offset=(30, row))
        async with asyncio.timeout(5):
            while not play.screen.selections:
                await play.pilot.pause()
        await play.press("ctrl+c")
        assert "hello" in play.app.clipboard
        assert play.app.clipboard in visible("say *hello* to 漢字 now")
        assert play.said().startswith("Copied")
        await play.press("escape")
        assert not play.screen.selections


@pytest.mark.spec("U6")
async def test_found_words_are_marked_by_more_than_colour() -> None:
    app = Bare()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.query_one(Transcript)
        transcript.open_story(MadeStory(51))
        await pilot.pause()
        transcript.show_match(31, "lantern harbour")
        await pilot.pause()
        marked = [
            segment.text
            for y in range(transcript.size.height)
            for segment in transcript.render_line(y)
            if segment.style is not None and segment.style.underline
        ]
        assert marked
        assert {text.lower() for text in marked} <= {"lantern", "harbour"}
