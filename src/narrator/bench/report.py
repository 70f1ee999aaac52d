"""Rows as a table for people, or as the JSON of the contract."""

from __future__ import annotations

import json
from collections.abc import Sequence

from narrator.bench.sampling import Row

_HEADS = ("measure", "value", "unit", "n", "median", "p95", "floor", "ratio", "goal", "")


def as_json(rows: Sequence[Row]) -> str:
    """``{"name": {"value", "unit", "n", "median", "p95", "floor", "ratio", "goal"}}``."""
    found = {
        row.name: {
            "value": _rounded(row.value),
            "unit": row.unit,
            "n": row.n,
            "median": _rounded(row.median),
            "p95": _rounded(row.p95),
            "floor": _rounded(row.floor),
            "ratio": _rounded(row.ratio),
            "goal": row.goal,
        }
        for row in rows
    }
    return json.dumps(found, indent=2, ensure_ascii=False)


def as_table(rows: Sequence[Row]) -> str:
    """A table of plain text; the last column says whether the goal was met on this machine."""
    cells = [_HEADS, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADS))]
    text = []
    for number, line in enumerate(cells):
        columns = [
            cell.ljust(width) if column in (0, 2, 8, 9) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        text.append("  ".join(columns).rstrip())
        if number == 0:
            text.append("  ".join("-" * width for width in widths[:-1]))
    return "\n".join(text)


def _cells(row: Row) -> tuple[str, ...]:
    verdict = "" if row.met is None else "met" if row.met else "not met"
    numbers = (row.value, row.median, row.p95, row.floor, row.ratio)
    value, middle, high, floor, ratio = (_shown(number) for number in numbers)
    return (row.name, value, row.unit, str(row.n), middle, high, floor, ratio, row.goal, verdict)


def _shown(number: float | None) -> str:
    if number is None:
        return "–"
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def _rounded(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.6g}")
