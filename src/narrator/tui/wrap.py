"""Text → rows of terminal cells; the only place of the interface that counts lines.

A row is made of pieces; a piece is text as it is shown, the marks on it and the offset of its first character in the
source. Within a piece one shown character is one source character, so a place on the screen leads back to a character
of the stored text, and selection, search and copy need no second measure.

What terminals disagree about is not shown: variation selectors, joiners and skin tones have no agreed width, so the
parts of such an emoji stand side by side, each of a width that all terminals share (U12). The source keeps them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from rich.cells import get_character_cell_size

from narrator.core.prose import Paragraph, paragraphs, visible

MEASURE = 76
"""The widest column of prose, in cells (U2)."""

_NARROW = re.compile("[\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u2010-\u2027\u2030-\u205e]*")
_DISPUTED = frozenset(map(ord, "\xad\u034f\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")) | frozenset(
    [*range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400), *range(0xE0100, 0xE01F0)]
)
_CLOSING = "，、。！？：；）」』】》”’…,.!?:;)"


class Piece(NamedTuple):
    """Shown text, its marks (see ``prose``), and the source offset of its first character."""

    text: str
    marks: int
    start: int


class Row(NamedTuple):
    """One line of cells. ``width`` is exact; ``end`` is the source offset after its last character."""

    pieces: tuple[Piece, ...]
    width: int
    start: int
    end: int


BLANK = Row((), 0, -1, -1)


def is_disputed(character: str) -> bool:
    """Whether terminals disagree about the width of this character, so that it is not shown."""
    return ord(character) in _DISPUTED


def shown(text: str) -> str:
    """Text as one line of labels and names shows it: controls visible, nothing of disputed width."""
    text = visible(text)
    if _NARROW.fullmatch(text):
        return text
    return "".join(character for character in text if ord(character) not in _DISPUTED)


def cells(text: str) -> int:
    """The width of ``text`` as it stands, in cells."""
    if _NARROW.fullmatch(text):
        return len(text)
    return sum(get_character_cell_size(character) for character in text)


def clip(text: str, width: int) -> str:
    """``text`` on one line of at most ``width`` cells, cut with an ellipsis where it is longer."""
    text = shown(text).replace("\n", " ")
    if width <= 0:
        return ""
    if cells(text) <= width:
        return text
    room, kept = width - 1, []
    for character in text:
        room -= get_character_cell_size(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def _narrow_breaks(text: str, width: int) -> list[tuple[int, int]]:
    """Where to break a text whose characters are one cell each; greedy, at spaces, long words cut."""
    spans: list[tuple[int, int]] = []
    at, length = 0, len(text)
    while length - at > width:
        cut = text.rfind(" ", at, at + width + 1)
        if cut <= at:
            spans.append((at, at + width))
            at += width
            continue
        end = cut
        while end > at and text[end - 1] == " ":
            end -= 1
        spans.append((at, end))
        at = cut
        while at < length and text[at] == " ":
            at += 1
    spans.append((at, length))
    return spans


def _wide_breaks(text: str, width: int) -> list[tuple[int, int]]:
    """The same for any text: also between wide characters, never before a character without a width."""
    spans: list[tuple[int, int]] = []
    at = 0
    used = 0
    chance = -1
    index, length = 0, len(text)
    while index < length:
        character = text[index]
        size = 0 if ord(character) in _DISPUTED else get_character_cell_size(character)
        if used + size > width and index > at and size:
            if character == " ":
                cut = index
            elif chance > at:
                cut = chance
            else:
                cut = index
            end = cut
            while end > at and text[end - 1] == " ":
                end -= 1
            spans.append((at, end))
            while cut < length and text[cut] == " ":
                cut += 1
            at = index = cut
            used, chance = 0, -1
            continue
        used += size
        index += 1
        if character == " " or (size == 2 and text[index : index + 1] not in _CLOSING):
            chance = index
    if at < length or not spans:
        spans.append((at, length))
    return spans


def _pieces(text: str, source: int, size: int, marks: int) -> list[Piece]:
    """The shown pieces of ``text[source : source + size]``: all of it, but for characters of disputed width."""
    part = text[source : source + size]
    if _NARROW.fullmatch(part):
        return [Piece(part, marks, source)]
    pieces: list[Piece] = []
    at = 0
    for index, character in enumerate(part):
        if ord(character) in _DISPUTED:
            if index > at:
                pieces.append(Piece(part[at:index], marks, source + at))
            at = index + 1
    if at < size:
        pieces.append(Piece(part[at:], marks, source + at))
    return pieces


def _mixed_rows(text: str, paragraph: Paragraph, spans: list[tuple[int, int]], is_narrow: bool) -> list[Row]:
    """The rows for spans of the joined runs; runs and spans are walked once, side by side."""
    rows: list[Row] = []
    runs = paragraph.runs
    at, base = 0, 0
    for first, last in spans:
        pieces: list[Piece] = []
        while at < len(runs) and base + runs[at].end - runs[at].start <= first:
            base += runs[at].end - runs[at].start
            at += 1
        here, begin = at, base
        while here < len(runs) and begin < last:
            run = runs[here]
            length = run.end - run.start
            low, high = max(first, begin) - begin, min(last, begin + length) - begin
            if low < high:
                source = run.start + low
                if is_narrow:
                    pieces.append(Piece(text[source : source + high - low], run.marks, source))
                else:
                    pieces.extend(_pieces(text, source, high - low, run.marks))
            begin += length
            here += 1
        if pieces:
            width = last - first if is_narrow else sum([cells(piece.text) for piece in pieces])
            final = pieces[-1]
            rows.append(Row(tuple(pieces), width, pieces[0].start, final.start + len(final.text)))
        else:
            rows.append(Row((), 0, paragraph.start, paragraph.start))
    return rows


def wrap_paragraph(text: str, paragraph: Paragraph, width: int) -> list[Row]:
    """The rows of one paragraph of ``text`` (which is ``visible`` already), each at most ``width`` cells (least 2)."""
    width = max(2, width)
    if len(paragraph.runs) == 1:
        run = paragraph.runs[0]
        joined = text[run.start : run.end]
        if _NARROW.fullmatch(joined):
            start, marks = run.start, run.marks
            return [
                Row((Piece(joined[a:b], marks, start + a),) if a < b else (), b - a, start + a, start + b)
                for a, b in _narrow_breaks(joined, width)
            ]
    else:
        joined = "".join([text[run.start : run.end] for run in paragraph.runs])
    is_narrow = _NARROW.fullmatch(joined) is not None
    breaks = _narrow_breaks if is_narrow else _wide_breaks
    return _mixed_rows(text, paragraph, breaks(joined, width), is_narrow)


def wrap(text: str, width: int) -> list[Row]:
    """Prose in rows of at most ``width`` cells, a blank row between paragraphs (U2). Empty text has one empty row.

    A width under 2 counts as 2, the width of the widest character.
    """
    text = visible(text)
    rows: list[Row] = []
    for paragraph in paragraphs(text):
        if paragraph.apart:
            rows.append(BLANK)
        rows.extend(wrap_paragraph(text, paragraph, width))
    return rows or [Row((), 0, 0, 0)]


class Growing:
    """Prose that is still being written: owns its text and its rows, wraps the last paragraph alone again.

    ``append`` costs the length of the last paragraph at most, mostly that of its last rows.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.text = ""
        self._settled: list[Row] = []
        self._settled_end = 0
        self._has_paragraph = False
        self.rows: list[Row] = []

    def append(self, piece: str) -> None:
        """Take more text; ``rows`` is whole again afterwards."""
        self.text += piece
        self._lay()

    def resize(self, width: int) -> None:
        """Wrap all of it to another width."""
        if width != self.width:
            self.width = width
            self._settled, self._settled_end, self._has_paragraph = [], 0, False
            self._lay()

    def _lay(self) -> None:
        open_text = visible(self.text[self._settled_end :])
        found = paragraphs(open_text)
        rows: list[Row] = []
        base = self._settled_end
        for index, paragraph in enumerate(found):
            apart = paragraph.apart or (
                index == 0 and self._has_paragraph and open_text.count("\n", 0, paragraph.start) > 1
            )
            made = [BLANK] if apart else []
            made += [_shift(row, base) for row in wrap_paragraph(open_text, paragraph, self.width)]
            if index < len(found) - 1:
                self._settled.extend(made)
                self._settled_end = base + paragraph.end
                self._has_paragraph = True
            else:
                rows = self._settle_rows(made, open_text[paragraph.start : paragraph.end])
        self.rows = [*self._settled, *rows]

    def _settle_rows(self, rows: list[Row], paragraph: str) -> list[Row]:
        """Settle all rows of the last paragraph but its last, where nothing that follows can change them.

        More text only moves the last row's end, unless a marker stands open whose other half may yet come, or the last
        row begins inside a quotation, which its own text does not tell.
        """
        last = rows[-1]
        if len(rows) < 3 or "*" in paragraph or "_" in paragraph or not last.pieces or last.pieces[0].marks:
            return rows
        self._settled.extend(rows[:-1])
        self._settled_end = last.start
        self._has_paragraph = True
        return [last]


def _shift(row: Row, by: int) -> Row:
    if not by or row.start < 0:
        return row
    pieces = tuple(Piece(piece.text, piece.marks, piece.start + by) for piece in row.pieces)
    return Row(pieces, row.width, row.start + by, row.end + by)
