"""Small charts of the statistics: a column a stretch of the story, in three rows of blocks (U13); pure."""

from __future__ import annotations

from collections.abc import Sequence

from narrator.engine.events import StatsSpan

ROWS = 3
WIDTH = 72
"""Cells that a chart may take."""
_BLOCKS = " ▁▂▃▄▅▆▇█"


def columns(values: Sequence[float], rows: int = ROWS) -> list[str]:
    """The values as columns, the highest ``rows`` cells high; what is more than nothing is seen. From the top down."""
    most = max(values, default=0)
    heights = [max(1, round(value / most * rows * 8)) if value > 0 and most > 0 else 0 for value in values]
    return ["".join(_BLOCKS[min(8, max(0, height - row * 8))] for height in heights) for row in reversed(range(rows))]


def _widened(row: str, by: int) -> str:
    """Each column so many cells wide, with a gap behind it where there is room for one."""
    return "".join(block * (by - 1) + " " if by > 1 else block for block in row).rstrip()


def over_the_story(spans: Sequence[StatsSpan]) -> list[str]:
    """Words, tokens and takes over the line, each with its highest column in figures; those of nothing left out."""
    first, last = spans[0].first, spans[-1].last
    by = max(1, min(4, WIDTH // len(spans)))
    width = max(len(spans) * by - (by > 1), len(f"{first:,}{last:,}") + 1)
    axis = f"{first:,}{f'{last:,}':>{width - len(f'{first:,}')}}"
    lines: list[str] = []
    for title, values in (
        ("words", [span.words for span in spans]),
        ("tokens in", [span.tokens_in for span in spans]),
        ("tokens out", [span.tokens_out for span in spans]),
        ("takes", [span.takes for span in spans]),
    ):
        if any(values):
            lines += ["", f"{title}: at most {max(values):,} in {_stretch(spans)}, {sum(values):,} in all"]
            lines += [f"  {_widened(row, by)}" for row in columns(values)]
            lines.append(f"  {axis}")
    return lines


def _stretch(spans: Sequence[StatsSpan]) -> str:
    size = spans[0].last - spans[0].first + 1
    return "a step" if size == 1 else f"{size:,} steps"
