"""What is drawn with letters and blocks: the window of a prompt, and the statistics (C1, C29, U13); pure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrator.engine.events import PromptPart, PromptShown, StatsSpan
from narrator.tui import charts
from narrator.tui.budget_bar import Segment, bar, legend, rows, segments
from narrator.tui.wrap import cells

TERMS = {
    "window": 16_384, "requested_output": 1_024, "system_prompt": 700, "tool_schema": 0, "framing": 4,
    "check_reserve": 512, "margin": 164, "hard_input": 13_980, "high_watermark": 9_786, "low_watermark": 6_291,
}  # fmt: skip
PARTS = (
    PromptPart("rules", "instructions", 690, "", "…", "prefix"),
    PromptPart("checkpoint", "#1", 800, "", "…", "summary"),
    PromptPart("node", "#2", 3_000, "", "…", "history"),
    PromptPart("node", "#3", 2_000, "", "…", "history"),
    PromptPart("memory", "#1", 40, "pinned", "…", "tail"),
    PromptPart("card", "Tench", 60, "tench", "…", "tail"),
    PromptPart("input", "player", 10, "do", "…", "tail"),
    PromptPart("left-out", "card", 0, "Loach: loach", place="left-out"),
)
PROMPT = PromptShown((), PARTS, TERMS, "", counted=6_640)


@pytest.mark.spec("C1", "C29")
def test_the_segments_are_every_term_and_together_the_window() -> None:
    found = {each.letter: each.tokens for each in segments(PROMPT)}
    assert found == {
        "P": 700, "Z": 800, "H": 5_000, "M": 40, "C": 60, "I": 10, "F": 34, "·": 8_040, "S": 164, "R": 512, "O": 1_024,
    }  # fmt: skip
    assert sum(found.values()) == TERMS["window"]


@pytest.mark.spec("C29")
@pytest.mark.parametrize("width", [24, 36, 76, 120])
def test_every_part_has_a_cell_and_a_line_of_the_legend(width: int) -> None:
    parts = segments(PROMPT)
    drawn = rows(parts, width)
    assert all(len(row) == width for row in drawn)
    assert list(dict.fromkeys("".join(drawn))) == [part.letter for part in parts]
    lines = legend(parts, width)
    assert all(cells(line) <= width for line in lines)
    for part in parts:
        assert any(f"{part.letter} {part.name}" in line and f"{part.tokens:,}" in line for line in lines), part


@given(st.lists(st.integers(1, 100_000), min_size=1, max_size=14), st.integers(1, 200))
def test_a_bar_is_as_wide_as_it_is_to_be(tokens: list[int], width: int) -> None:
    parts = [Segment(chr(ord("A") + at), "x", each) for at, each in enumerate(tokens)]
    drawn = bar(parts, width)
    assert len(drawn) == width
    assert list(dict.fromkeys(drawn)) == sorted(set(drawn))
    if width >= len(parts):
        assert len(set(drawn)) == len(parts)


@pytest.mark.spec("U13")
def test_columns_show_the_course_of_a_story() -> None:
    assert charts.columns([0, 1, 50, 100], rows=1) == [" ▁▄█"]
    assert charts.columns([0, 0], rows=2) == ["  ", "  "]
    assert charts.columns([8, 16, 24], rows=3) == ["  █", " ██", "███"]
    spans = [StatsSpan(1, 2, 10, 0, 0, 0), StatsSpan(3, 4, 40, 0, 0, 2), StatsSpan(5, 5, 20, 0, 0, 1)]
    lines = charts.over_the_story(spans)
    assert lines[1] == "words: at most 40 in 2 steps, 70 in all"
    assert lines[2:6] == ["      ███", "      ███ ▄▄▄", "  ▆▆▆ ███ ███", "  1         5"]
    assert lines[7] == "takes: at most 2 in 2 steps, 3 in all"
    assert not any("tokens" in line for line in lines)
