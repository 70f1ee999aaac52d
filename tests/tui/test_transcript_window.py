"""The window of steps: what is on a row never changes while its number does (U3)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narrator.tui.transcript_window import CHUNK, KEPT, SLACK, Place, Window, correction_words, lay
from tests.tui.story_source import MadeStory, Step


def screen(window: Window, y: int, height: int) -> list[tuple[int, int] | None]:
    """(position, row) of every row on the screen."""
    seen = []
    for row in range(y, y + height):
        found = window.line_at(row)
        seen.append((found[0].step.position, found[1]) if found else None)
    return seen


@pytest.mark.spec("U3")
@pytest.mark.parametrize("count", [0, 1, 2, 33, 97, 1000, 100_000])
def test_all_rows_of_a_story_come_in_order(count: int) -> None:
    story = MadeStory(count, size=200)
    window = Window(story, 40)
    height = 20
    y = window.slide(max(0, window.rows - height), height)
    if count == 0:
        assert window.rows == 0
        return
    expected = [(s.position, r) for s in story.read(max(1, count - 30), count) for r in range(len(lay(s, 40)))]
    assert [place for place in screen(window, y, height) if place] == expected[-height:]
    for _ in range(60):
        before = screen(window, y, height)
        new = window.slide(max(0, y - 7), height)
        after = screen(window, new, height)
        moved = min(7, y)
        assert after[moved:] == before[: height - moved]
        y = new


@pytest.mark.spec("U3")
@given(st.lists(st.integers(-400, 400), min_size=1, max_size=40), st.integers(1, 70))
@settings(max_examples=60, deadline=None)
def test_scrolling_moves_the_picture_by_what_was_asked(moves: list[int], height: int) -> None:
    window = Window(MadeStory(700, size=300), 50)
    y = window.slide(max(0, window.rows - height), height)
    for move in moves:
        bounded = max(0, min(y + move, window.rows - height))
        if not window.top <= bounded < window.top + window.exact:
            y = window.slide(bounded, height)
            continue
        expected = screen(window, bounded, height)
        y = window.slide(bounded, height)
        seen = screen(window, y, height)
        assert all(a == b for a, b in zip(expected, seen, strict=True) if a is not None)
        assert None not in seen or window.last == window.count
        assert len(window.laid) <= KEPT + CHUNK


@pytest.mark.spec("U3")
def test_a_jump_reads_around_its_target_alone() -> None:
    story = MadeStory(100_000)
    window = Window(story, 80)
    story.reads.clear()
    y = window.slide(window.rows // 2, 40)
    assert abs(window.place(y).position - 50_000) < 200
    assert sum(last - first + 1 for first, last in story.reads) <= KEPT + CHUNK
    assert window.line_at(y)
    assert window.line_at(y + 39)
    assert y - window.top >= SLACK


@pytest.mark.spec("U3")
def test_a_resize_keeps_the_step_and_its_share() -> None:
    window = Window(MadeStory(5000), 100)
    y = window.slide(window.rows // 3, 40)
    place = window.place(y)
    laid = window.laid_at(place.position)
    assert laid
    share = place.row / len(laid.lines)
    new = window.resize(30, place, 40)
    again = window.place(new)
    narrow = window.laid_at(again.position)
    assert again.position == place.position
    assert narrow
    assert abs(again.row / len(narrow.lines) - share) < 0.1


@pytest.mark.spec("U3")
def test_what_is_known_is_not_wrapped_again() -> None:
    story = MadeStory(500)
    window = Window(story, 80)
    laid = window.laid_at(490)
    story.count = 460
    window.refresh()
    story.count = 500
    window.refresh()
    window.load(499)
    assert window.laid_at(490) is laid


@pytest.mark.spec("U3")
def test_search_leads_to_the_row_of_a_character() -> None:
    story = MadeStory(300)
    window = Window(story, 60)
    for position in (3, 151, 299):
        text = story.step(position).text
        chance = random.Random(position)
        at = text.index(" ", chance.randrange(len(text) // 2)) + 1
        row = window.row_of_character(position, at)
        laid = window.laid_at(position)
        assert laid
        line = laid.lines[row].row
        assert line.start <= at <= line.end
        assert window.place(window.row_of(Place(position, row))) == Place(position, row)


@pytest.mark.spec("S23")
def test_a_correction_is_a_few_rows_of_words() -> None:
    text = '{"new":5,"old":7,"path":"player.nerve","reason":"the fall"}'
    assert correction_words(text) == "player.nerve: 7 → 5 (because the fall)"
    assert correction_words('{"new":"It rains.","old":null,"path":"facts","reason":null}') == "fact: It rains."
    assert correction_words("[/]") == "[/]"
    lines = lay(Step(1, 2, "correction", None, text, words="Nerve: wary, 5 (was steady, 7), because of the fall"), 40)
    assert [line.kind for line in lines] == ["note", "note-more", "gap"]
    assert len(lay(Step(1, 2, "correction", None, text * 99), 40)) == 4
