"""Text of a step → paragraphs and runs for the eye; pure, and the same for every front end.

Two jobs. ``visible`` makes what a terminal would obey visible instead (U10), one character for one, so that offsets
into the shown text are offsets into the stored one. ``paragraphs`` finds where emphasis and dialogue stand (U2):
markers are left out of the runs, the text between them is marked; nothing is rewritten, nothing is stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import regex

EMPHASIS = 1
STRONG = 2
DIALOGUE = 4

_UNSAFE = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_LINE_ENDS = frozenset("\x0b\x0c\x85\u2028\u2029")


def _shown(match: re.Match[str]) -> str:
    character = match.group()
    if character == "\t":
        return " "
    if character == "\r":
        return " " if match.string[match.end() : match.end() + 1] == "\n" else "\n"
    if character in _LINE_ENDS:
        return "\n"
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\N{SYMBOL FOR DELETE}"
    return _REPLACEMENT


def visible(text: str) -> str:
    """The text with every control character made visible, of the same length (U10).

    C0 controls become their pictures (ESC is ``␛``), tabs a space, every kind of line end a line feed; C1 controls,
    directional overrides, interlinear and tag characters and lone surrogates become ``�``.
    """
    return _UNSAFE.sub(_shown, text) if _UNSAFE.search(text) else text


class Run(NamedTuple):
    """``text[start:end]`` with the same marks (EMPHASIS | STRONG | DIALOGUE)."""

    start: int
    end: int
    marks: int


class Paragraph(NamedTuple):
    """One line of the source without its end; ``apart`` when a blank line stands before it."""

    start: int
    end: int
    apart: bool
    runs: tuple[Run, ...]


_PARAGRAPH = re.compile(r"[^\n]*[^\s][^\n]*")
_MARKED = (
    r"(?<![\w*])\*\*(?=[^\s*])(?P<strong>[^*\n]*[^\s*])\*\*(?![\w*])"
    r"|(?<![\w*])\*(?=[^\s*])(?P<star>[^*\n]*[^\s*])\*(?![\w*])"
    r"|(?<![\w_])_(?=[^\s_])(?P<under>[^_\n]*[^\s_])_(?![\w_])"
)
_SPOKEN = re.compile(r"“[^”\n]*”?|\"[^\"\n]*\"?|«[^»\n]*»?|„[^“”\n]*[“”]?|「[^」\n]*」?|『[^』\n]*』?")


@cache
def _marked() -> regex.Pattern[str]:
    """``_MARKED``, by a library that counts combining marks as part of their word; most texts need none of it."""
    import regex

    return regex.compile(_MARKED)


def _marks(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """(at, bit, +1 | -1) for each place where a mark begins or ends, and hidden markers as bit 0."""
    has_markers = text.find("*", start, end) >= 0 or text.find("_", start, end) >= 0
    for match in _marked().finditer(text, start, end) if has_markers else ():
        group = match.lastgroup or "star"
        inner_start, inner_end = match.span(group)
        bit = STRONG if group == "strong" else EMPHASIS
        yield match.start(), 0, 1
        yield inner_start, 0, -1
        yield inner_start, bit, 1
        yield inner_end, bit, -1
        yield inner_end, 0, 1
        yield match.end(), 0, -1
    for match in _SPOKEN.finditer(text, start, end):
        yield match.start(), DIALOGUE, 1
        yield match.end(), DIALOGUE, -1


def _runs(text: str, start: int, end: int) -> tuple[Run, ...]:
    changes = sorted(_marks(text, start, end))
    if not changes:
        return (Run(start, end, 0),)
    runs: list[Run] = []
    marks, hidden, at = 0, 0, start
    for place, bit, step in changes:
        if place > at:
            if not hidden:
                runs.append(Run(at, place, marks))
            at = place
        if bit:
            marks = marks | bit if step > 0 else marks & ~bit
        else:
            hidden += step
    if end > at:
        runs.append(Run(at, end, marks))
    return tuple(runs)


def paragraphs(text: str) -> list[Paragraph]:
    """The paragraphs of ``text`` in order. A line end alone makes a new line (verse), blank lines set one apart.

    Marks never cross a paragraph: an open quotation ends with it. Linear in the length of the text.
    """
    found: list[Paragraph] = []
    last_end = 0
    for match in _PARAGRAPH.finditer(text):
        start, end = match.span()
        end = start + len(match.group().rstrip())
        apart = bool(found) and text.count("\n", last_end, start) > 1
        found.append(Paragraph(start, end, apart, _runs(text, start, end)))
        last_end = end
    return found
