"""Lines → strips: how each kind of line of the transcript is drawn, and nothing about where it stands.

Every shown character of the story carries its (offset, position) as Textual's selection meta, so that a selection is a
range of characters of steps, whatever the window does under it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from narrator.core.prose import DIALOGUE, EMPHASIS, STRONG
from narrator.tui.transcript_window import Line, StepLine, column, pager_words
from narrator.tui.wrap import Piece, cells

MARKS = {"do": "> ", "say": "“ ", "tell": "~ "}
"""What stands before a player's input: done, said, told. Shapes, because a colour alone says nothing."""


BESIDE = {"note": "✎ ", "note-more": "  ", "remark": "· ", "remark-more": "  ", "error": "! ", "error-more": "  "}
"""What stands before a line that is no story: a correction, a remark, an error, and their further rows."""


class Ink(NamedTuple):
    """The styles of the transcript, resolved for a theme."""

    prose: Style
    dialogue: Style
    input: Style
    note: Style
    error: Style
    faint: Style
    pager: Style
    chosen: Style
    selection: Style
    found: Style


class Overlay(NamedTuple):
    """A style over the characters start..end of one step (end excluded, -1: to the end)."""

    start: int
    end: int
    style: Style


def _mark_style(ink: Ink, base: Style, marks: int) -> Style:
    style = base
    if marks & DIALOGUE:
        style = style + ink.dialogue
    if marks & EMPHASIS:
        style = style + Style(italic=True)
    if marks & STRONG:
        style = style + Style(bold=True)
    return style


def _cut(piece: Piece, style: Style, overlays: Sequence[Overlay]) -> Iterable[tuple[str, Style, int]]:
    """The piece in stretches of one style."""
    if not overlays:
        yield piece.text, style, piece.start
        return
    end = piece.start + len(piece.text)
    bounds = {piece.start, end}
    for overlay in overlays:
        stop = end if overlay.end < 0 else overlay.end
        bounds.update(place for place in (overlay.start, stop) if piece.start < place < end)
    ordered = sorted(bounds)
    for first, last in pairwise(ordered):
        over = style
        for overlay in overlays:
            if overlay.start <= first and (overlay.end < 0 or last <= overlay.end):
                over = over + overlay.style
        yield piece.text[first - piece.start : last - piece.start], over, first


def draw(
    line: Line,
    width: int,
    ink: Ink,
    *,
    step: StepLine | None = None,
    is_chosen: bool = False,
    is_faint: bool = False,
    overlays: Sequence[Overlay] = (),
) -> Strip:
    """One line in ``width`` cells. ``step`` gives the offsets for selection; without it nothing is selectable."""
    gutter = Segment("▌ ", ink.chosen) if is_chosen and line.kind != "gap" else Segment("  ", ink.prose)
    segments = [gutter]
    used = 2
    base = ink.prose
    if line.kind in MARKS or line.kind == "input":
        base = ink.faint + Style(bold=True) if is_faint else ink.input
        segments.append(Segment(MARKS.get(line.kind, "  "), base))
        used += 2
    elif line.kind in BESIDE:
        base = ink.error if line.kind.startswith("error") else ink.note
        segments.append(Segment(BESIDE[line.kind], base))
        used += 2
    elif line.kind == "redo":
        base = ink.faint
    elif line.kind == "pager" and step is not None:
        words = pager_words(step.take, step.takes)
        pad = max(0, column(width) - len(words))
        segments += [Segment(" " * pad, ink.prose), Segment(words, ink.chosen if is_chosen else ink.pager)]
        used += pad + len(words)
    elif is_faint:
        base = ink.faint
    for piece in line.row.pieces:
        style = _mark_style(ink, base, piece.marks) if piece.marks and not is_faint else base
        for text, over, start in _cut(piece, style, overlays):
            if step is not None:
                over = over + Style.from_meta({"offset": (start, step.position)})
            segments.append(Segment(text, over))
    used += line.row.width if line.row.width else sum(cells(piece.text) for piece in line.row.pieces)
    if used < width:
        segments.append(Segment(" " * (width - used), ink.prose))
    strip = Strip(segments, max(used, width))
    return strip.crop(0, width) if used > width else strip
