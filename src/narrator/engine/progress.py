"""How far long work is: when to say so, how long it may still take, and the words for it (U8).

``Pace`` watches one piece of work and makes its events; ``progress_words`` is the one text of them, for the screen, for
lines and for the command line alike. How it is stopped differs from place to place and is handed in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType

from narrator.engine.events import Progressed

EVERY = 0.2
"""Seconds between two events of one piece of work."""
KNOWN_AFTER = 1.0
"""Seconds of work after which an estimate is worth saying."""

WORTH_SAYING = 3.0
"""Seconds that the reading of a prompt must still take to be told of."""

_NAMES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "export": ("Exporting", "steps"),
        "import": ("Importing", "steps"),
        "check": ("Checking", "steps"),
        "summary": ("Summing up the story so far", "requests"),
        "transcript": ("Writing the transcript", "steps"),
        "replay": ("Replaying", "lines"),
    }
)


class Pace:
    """One piece of work, from now on. ``clock`` in seconds; ``every``: no event sooner after the last one.

    Work in several parts hands the name of the part to ``at``; each part has a pace of its own.
    """

    def __init__(
        self, what: str = "", *, every: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._what = what
        self._every = EVERY if every is None else every
        self._clock = clock
        self._begun = clock()
        self._told = self._begun

    def at(self, done: int, total: int | None, what: str | None = None) -> Progressed | None:
        """So much is done, of ``total`` where it is known: the event for it, or None while the last one is fresh."""
        now = self._clock()
        if what is not None and what != self._what:
            self._what, self._begun = what, now
        if now - self._told < self._every:
            return None
        self._told = now
        return Progressed(self._what, done, total, self._left(now, done, total))

    def _left(self, now: float, done: int, total: int | None) -> float | None:
        """Seconds, at the pace so far."""
        if not total or done <= 0 or now - self._begun < KNOWN_AFTER:
            return None
        return round((now - self._begun) / done * max(0, total - done), 1)


def progress_words(event: Progressed, stop: str = "") -> str:
    """A line without its end: what, how far, how long still, how to stop (``stop``: "Esc stops it")."""
    name, noun = _NAMES.get(event.what, (event.what, ""))
    of = f" of {event.total:,}" if event.total else ""
    words = f"{name}: {event.done:,}{of}{f' {noun}' if noun else ''}"
    if event.left is not None:
        words += f", {duration_words(event.left)} left"
    return f"{words}. {stop}." if stop else f"{words}."


def duration_words(seconds: float) -> str:
    """About how long: to ten seconds, minutes, then hours."""
    if seconds < 10:
        return "a few seconds"
    if seconds < 90:
        return f"about {round(seconds, -1):.0f} seconds"
    if seconds < 90 * 60:
        return f"about {round(seconds / 60)} minutes"
    return f"about {round(seconds / 3600)} hours"


class ReadingNote:
    """What is told of an engine that reads a long prompt before its first word: a line, once it is known that it takes
    a while. ``clock`` in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: tuple[float, int] | None = None
        self._is_told = False

    def at(self, done: int, total: int) -> str | None:
        """So many tokens of so many are read: the line for it, or None."""
        now = self._clock()
        begun, before = self._first = self._first or (now, done)
        if self._is_told or now - begun < KNOWN_AFTER or done <= before:
            return None
        left = (now - begun) / (done - before) * (total - done)
        if left < WORTH_SAYING:
            return None
        self._is_told = True
        return f"Reading the story first: {done:,} of {total:,} tokens, {duration_words(left)} left."
