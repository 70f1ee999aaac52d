"""A model's window as a bar of letters: what each part of a prompt takes, and what is left (C1, C29).

A letter is a part, so that the bar reads without colour; every part that takes anything has a cell at least. All terms
of the budget are in it, and together they are the window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from narrator.engine.events import PromptShown

FREE: Final = "·"


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the window: its letter, what it is, its tokens."""

    letter: str
    name: str
    tokens: int


_TAIL: Final = {
    "memory": ("M", "memories"),
    "card": ("C", "cards"),
    "knowledge": ("K", "knowledge"),
    "state": ("T", "state"),
}
_ORDER: Final = (
    ("P", "system prompt"),
    ("A", "answer schema"),
    ("Z", "summary"),
    ("H", "history"),
    ("M", "memories"),
    ("C", "cards"),
    ("K", "knowledge"),
    ("T", "state"),
    ("I", "input and notes"),
    ("F", "frames"),
    (FREE, "free"),
    ("S", "safety margin"),
    ("R", "check reserve"),
    ("O", "answer"),
)


def segments(prompt: PromptShown) -> tuple[Segment, ...]:
    """The whole window in stretches, those of nothing left out. What is too much makes ``free`` nothing."""
    budget = prompt.budget
    taken = dict.fromkeys((letter for letter, _ in _ORDER), 0)
    for part in prompt.parts:
        if part.place in ("summary", "history"):
            taken["Z" if part.place == "summary" else "H"] += part.tokens
        elif part.place == "tail":
            taken[_TAIL.get(part.kind, ("I", ""))[0]] += part.tokens
    taken["P"] = budget["system_prompt"]
    taken["A"] = budget["tool_schema"]
    told = sum(taken[letter] for letter in "ZHMCKTI")
    taken["F"] = budget["framing"] + max(0, prompt.counted - budget["system_prompt"] - told)
    taken["S"], taken["R"], taken["O"] = budget["margin"], budget["check_reserve"], budget["requested_output"]
    taken[FREE] = max(0, budget["window"] - sum(taken.values()))
    return tuple(Segment(letter, name, taken[letter]) for letter, name in _ORDER if taken[letter])


def bar(parts: Sequence[Segment], width: int) -> str:
    """``width`` letters: each part's share of the window, one cell at least for each while there are enough cells."""
    total = sum(part.tokens for part in parts)
    if not total or width <= 0:
        return ""
    kept = sorted(parts, key=lambda part: -part.tokens)[:width]
    shares = {part.letter: max(1, part.tokens * width // total) for part in kept}
    spare = width - sum(shares.values())
    by_rest = sorted(kept, key=lambda part: (part.tokens * width % total) / total, reverse=True)
    while spare > 0:
        for part in by_rest[:spare]:
            shares[part.letter] += 1
            spare -= 1
    while spare < 0:
        widest = max(shares, key=lambda letter: shares[letter])
        shares[widest] -= 1
        spare += 1
    return "".join(part.letter * shares.get(part.letter, 0) for part in parts)


def rows(parts: Sequence[Segment], width: int) -> list[str]:
    """The bar; where it is narrow, over two rows, so that small parts are told apart."""
    if width >= 40:
        return [bar(parts, width)]
    whole = bar(parts, width * 2)
    return [whole[:width], whole[width:]]


def runs(row: str) -> list[str]:
    """A row in stretches of one letter."""
    return ["".join(same) for _, same in groupby(row)]


def legend(parts: Sequence[Segment], width: int) -> list[str]:
    """What the letters mean, with tokens at the right; two beside each other where ``width`` has room for them."""
    column = width if width < 56 else (width - 2) // 2
    lines = [_line(part, column) for part in parts]
    if column == width:
        return lines
    half = -(-len(lines) // 2)
    return [f"{left}  {right}".rstrip() for left, right in zip(lines[:half], [*lines[half:], ""][:half], strict=True)]


def _line(part: Segment, width: int) -> str:
    tokens = f"{part.tokens:,}"
    room = max(1, width - len(tokens) - 3)
    name = part.name if len(part.name) <= room else part.name[: room - 1] + "…"
    return f"{part.letter} {name:<{room}} {tokens}"
