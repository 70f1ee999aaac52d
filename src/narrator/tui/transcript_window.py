"""The window of steps behind the transcript: exact rows near the eye, an estimate elsewhere; pure.

A story of any length costs the same: at most some hundred steps around the eye are read and wrapped. Their rows are
exact; before and after them each step counts ``rate`` rows, fixed until the width changes. A row number is therefore
only good for one state of the window. What lasts is a ``Place``: a step and a row inside it. ``slide`` and ``load``
say how the number of a row changes, never what is on it, so the picture stands still while the numbers move (U3).
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from narrator.tui.wrap import BLANK, MEASURE, Row, clip, wrap

CHUNK = 16
"""Steps read at a time."""
KEPT = 96
"""Steps kept, unless the screen is so high and they are so short that it needs more."""
NOTE_ROWS = 3
"""A correction takes no more rows than this, however long a persona may be."""
SLACK = 60
"""Exact rows wanted above and below the screen."""


class StepLine(Protocol):
    """What the transcript shows of a step; ``engine.events.StepShown`` is one. ``position`` counts from 1, ``words`` is
    a correction for people."""

    @property
    def id(self) -> int: ...
    @property
    def position(self) -> int: ...
    @property
    def role(self) -> str: ...
    @property
    def mode(self) -> str | None: ...
    @property
    def text(self) -> str: ...
    @property
    def take(self) -> int: ...
    @property
    def takes(self) -> int: ...
    @property
    def words(self) -> str: ...


class StepSource(Protocol):
    """The path, by position: ``read(first, last)`` gives the steps first..last, both included, from 1 to ``count``."""

    @property
    def count(self) -> int: ...
    def read(self, first: int, last: int) -> list[StepLine]: ...


class Line(NamedTuple):
    """One row of the transcript. ``kind``: prose, input, reply, note, pager, gap (each drawn in its own way)."""

    kind: str
    row: Row


@dataclass(slots=True)
class Laid:
    """A step in rows. ``drawn`` is room for the strips that a front end makes of the lines, by index."""

    step: StepLine
    lines: list[Line]
    drawn: dict[int, object]


class Place(NamedTuple):
    """A row of the story that survives a new window: step position (from 1) and row inside the step."""

    position: int
    row: int


GAP = Line("gap", BLANK)


def correction_words(text: str) -> str:
    """A correction's canonical JSON (S3) as one line of words; anything else as it stands."""
    try:
        entry = json.loads(text)
        path, old, new, reason = entry["path"], entry["old"], entry["new"], entry["reason"]
    except (ValueError, KeyError, TypeError):
        return text

    def say(value: object) -> str:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    if path == "facts":
        words = f"fact: {say(new)}" if old is None else f"no longer so: {say(old)}"
    else:
        words = f"{path}: {say(old)} → {say(new)}" if old is not None else f"{path} → {say(new)}"
    return f"{words} (because {say(reason)})" if reason else words


def pager_words(take: int, takes: int) -> str:
    """What the pager line says (U5)."""
    return f"◂ {take}/{takes} takes ▸"


def column(width: int) -> int:
    """Cells of prose in a transcript of ``width`` cells: two of gutter, one of margin, at most ``MEASURE``."""
    return max(2, min(MEASURE, width - 3))


def input_lines(text: str, mode: str | None, width: int) -> list[Line]:
    """A player's input: hanging under a mark that names its mode by shape, not by colour alone (U2)."""
    rows = wrap(text, column(width) - 2)
    kind = {"say": "say", "story": "tell"}.get(mode or "do", "do")
    return [Line(kind if index == 0 else "input", row) for index, row in enumerate(rows)]


def lay(step: StepLine, width: int) -> list[Line]:
    """The lines of one step at a transcript ``width``: its text, its takes, a gap."""
    if step.role == "player":
        lines = input_lines(step.text, step.mode, width)
    elif step.role == "correction":
        cells = column(width) - 2
        rows = wrap(clip(step.words or correction_words(step.text), NOTE_ROWS * cells), cells)[:NOTE_ROWS]
        lines = [Line("note-more" if at else "note", row) for at, row in enumerate(rows)]
    else:
        lines = [Line("prose", row) for row in wrap(step.text, column(width))]
    if step.takes > 1:
        lines.append(Line("pager", BLANK))
    lines.append(GAP)
    return lines


class Window:
    """Owns the laid steps around the eye, and the arithmetic from rows to steps and back.

    Steps are counted from 0 here: ``first`` to ``last`` (not included) are laid. Rows count from the top of the whole
    transcript; ``tail`` rows (a turn in flight, notes) follow the last step.
    """

    def __init__(self, source: StepSource, width: int) -> None:
        self.source = source
        self.width = width
        self.count = source.count
        self.first = self.last = 0
        self.laid: list[Laid] = []
        self.starts: list[int] = [0]
        self.rate = 1.0
        self.tail = 0
        self._known: OrderedDict[tuple[int, int, int], Laid] = OrderedDict()
        self.load(self.count)
        self._fix_rate()

    # -- measures ---------------------------------------------------------------------------------------------------

    @property
    def top(self) -> int:
        """Rows before the first laid step (estimated unless it is the first of all)."""
        return round(self.first * self.rate)

    @property
    def exact(self) -> int:
        """Rows of the laid steps."""
        return self.starts[-1]

    @property
    def end(self) -> int:
        """The row after the last step; the tail begins here."""
        return self.top + self.exact + round((self.count - self.last) * self.rate)

    @property
    def rows(self) -> int:
        """All rows."""
        return self.end + self.tail

    def _fix_rate(self) -> None:
        if self.laid:
            self.rate = max(1.0, self.exact / len(self.laid))

    # -- reading ----------------------------------------------------------------------------------------------------

    def _read(self, first: int, last: int) -> list[Laid]:
        if first >= last:
            return []
        found: list[Laid] = []
        for step in self.source.read(first + 1, last):
            key = (step.id, step.take, step.takes)
            laid = self._known.get(key)
            if laid is None:
                laid = Laid(step, lay(step, self.width), {})
                self._known[key] = laid
                if len(self._known) > 4 * KEPT:
                    self._known.popitem(last=False)
            else:
                self._known.move_to_end(key)
                if laid.step.position != step.position:
                    laid.step = step
                    laid.drawn.clear()
            found.append(laid)
        return found

    def _index(self) -> None:
        starts, total = [0], 0
        for laid in self.laid:
            total += len(laid.lines)
            starts.append(total)
        self.starts = starts

    def load(self, around: int) -> None:
        """Lay the steps around index ``around`` (from 0) and forget the others."""
        around = max(0, min(around, self.count))
        self.first = max(0, min(around - CHUNK // 2, self.count - CHUNK))
        self.last = min(self.count, self.first + CHUNK)
        self.laid = self._read(self.first, self.last)
        self._index()

    def _grow(self, before: bool) -> None:
        if before:
            first = max(0, self.first - CHUNK)
            self.laid = self._read(first, self.first) + self.laid
            self.first = first
        else:
            last = min(self.count, self.last + CHUNK)
            self.laid = self.laid + self._read(self.last, last)
            self.last = last
        self._index()

    def _trim(self, y: int, height: int) -> None:
        """Forget what is further than the slack from the eye, once more than ``KEPT`` steps are laid."""
        over = len(self.laid) - KEPT
        if over <= 0:
            return
        head = 0
        while head < over and self.top + self.starts[head + 1] < y - SLACK:
            head += 1
        foot = len(self.laid)
        while len(self.laid) - foot + head < over and self.top + self.starts[foot - 1] > y + height + SLACK:
            foot -= 1
        if head or foot < len(self.laid):
            self.laid = self.laid[head:foot]
            self.last = self.first + foot
            self.first += head
            self._index()

    def slide(self, y: int, height: int) -> int:
        """Make the rows around the screen exact; the new number of the row that had number ``y``.

        Reads ``CHUNK`` steps a time where the slack is short; where ``y`` lies outside of what is laid, loads around
        the step it is estimated to be in.
        """
        y = max(0, y)
        if self.count and not self.top <= y < self.top + self.exact and y < self.end:
            guess = int(y / self.rate) if y < self.top else self.last + int((y - self.top - self.exact) / self.rate)
            guess = max(0, min(guess, self.count - 1))
            self.load(guess)
            y = self.top + self.starts[guess - self.first]
        while self.first and y - self.top < SLACK:
            within = y - self.top
            before = self.exact
            self._grow(before=True)
            y = self.top + within + self.exact - before
        while self.last < self.count and self.top + self.exact - (y + height) < SLACK:
            self._grow(before=False)
        place = self.place(y)
        beyond = y - self.row_of(place)
        self._trim(y, height)
        return self.row_of(place) + beyond

    # -- places -----------------------------------------------------------------------------------------------------

    def place(self, y: int) -> Place:
        """The place at row ``y``; rows beyond the laid steps give the nearest, ``y`` in the tail counts on."""
        if not self.laid:
            return Place(1, y)
        within = y - self.top
        if within >= self.exact:
            index = len(self.laid) - 1
        else:
            low, high = 0, len(self.laid) - 1
            while low < high:
                middle = (low + high + 1) // 2
                if self.starts[middle] <= within:
                    low = middle
                else:
                    high = middle - 1
            index = low
        return Place(self.first + index + 1, max(0, within - self.starts[index]))

    def row_of(self, place: Place) -> int:
        """The number of a place's row, exact where its step is laid."""
        index = place.position - 1 - self.first
        if 0 <= index < len(self.laid):
            return self.top + self.starts[index] + place.row
        if index < 0:
            return max(0, round((place.position - 1) * self.rate)) + place.row
        return self.top + self.exact + round((place.position - 1 - self.last) * self.rate) + place.row

    def anchor(self, y: int) -> Place:
        """The place of a row, also in the tail: there it counts on from the step that is yet to be."""
        return Place(self.count + 1, y - self.end) if y >= self.end else self.place(y)

    def reach_end(self) -> None:
        """Lay the last steps, so that the end is exact."""
        if self.count - self.last > 2 * CHUNK:
            self.load(self.count)
        while self.last < self.count:
            self._grow(before=False)

    def line_at(self, y: int) -> tuple[Laid, int] | None:
        """The laid step and its line at row ``y``, or None outside of what is laid."""
        within = y - self.top
        if not 0 <= within < self.exact:
            return None
        place = self.place(y)
        return self.laid[place.position - 1 - self.first], place.row

    def laid_at(self, position: int) -> Laid | None:
        """The laid step at a position (from 1), if it is near the eye."""
        index = position - 1 - self.first
        return self.laid[index] if 0 <= index < len(self.laid) else None

    def row_of_character(self, position: int, character: int) -> int:
        """The row inside its step that shows the character at this offset; loads around the step where needed."""
        laid = self.laid_at(position)
        if laid is None:
            self.load(position - 1)
            laid = self.laid_at(position)
        found = 0
        for index, line in enumerate(laid.lines if laid else ()):
            if 0 <= line.row.start <= character:
                found = index
        return found

    def forget_drawn(self) -> None:
        """What was drawn is no longer right: a theme, a highlight."""
        for laid in self._known.values():
            laid.drawn.clear()
        for laid in self.laid:
            laid.drawn.clear()

    # -- changes ----------------------------------------------------------------------------------------------------

    def resize(self, width: int, place: Place, height: int) -> int:
        """Wrap for another width; the new number of the place's row (the same share of its step)."""
        laid = self.laid_at(place.position)
        share = place.row / len(laid.lines) if laid else 0.0
        beyond = place.row - len(laid.lines) if laid and place.row >= len(laid.lines) else None
        self.width = width
        self._known.clear()
        self.load(max(0, place.position - 1))
        self._fix_rate()
        laid = self.laid_at(place.position)
        length = len(laid.lines) if laid else 0
        row = length + beyond if beyond is not None else int(share * length)
        return self.slide(self.row_of(Place(place.position, row)), height)

    def refresh(self) -> None:
        """Read again after the path changed: the same stretch of positions, as far as it still exists."""
        self.count = self.source.count
        size = max(CHUNK, self.last - self.first)
        if self.first >= self.count or self.last > self.count or self.first == 0:
            self.first = max(0, min(self.first, self.count - size))
        self.last = min(self.count, self.first + min(size, KEPT))
        self.laid = self._read(self.first, self.last)
        self._index()
