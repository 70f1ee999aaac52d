"""The time a player has spent with a campaign (U13): between two things done, and no longer than somebody reads.

It is counted in memory and written now and then and at the close, so that no key waits for it; a kill loses a minute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from narrator.core.errors import StoreError
from narrator.engine.story import Story
from narrator.store import commit, reads

IDLE_LIMIT: Final = 300.0
"""Seconds between two things done that count at most: who was away longer was away."""
_WRITE_EVERY: Final = 60.0


def time_in_words(seconds: float) -> str:
    """A time as people say it: seconds below a minute, then minutes, then hours and minutes."""
    if seconds < 60:
        return f"{round(seconds)} second{'' if round(seconds) == 1 else 's'}"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    parts = [f"{hours:,} hour{'' if hours == 1 else 's'}"] if hours else []
    parts += [f"{rest} minute{'' if rest == 1 else 's'}"] if rest or not hours else []
    return " ".join(parts)


class TimePlayed:
    """Counts by ``ticks``, a clock in seconds that never goes back. Owns what is not written yet."""

    def __init__(self, story: Story, ticks: Callable[[], float]) -> None:
        self._story = story
        self._ticks = ticks
        self._last = ticks()
        self._unwritten = 0.0

    def act(self) -> None:
        """The player has done something."""
        now = self._ticks()
        self._unwritten += min(max(0.0, now - self._last), IDLE_LIMIT)
        self._last = now

    @property
    def seconds(self) -> float:
        """All of it, in this session and before."""
        return reads.played_seconds(self._story.store) + self._unwritten

    def write(self, *, is_last: bool = False) -> None:
        """Keep what was counted, when it is worth a write. A campaign that cannot be written to goes without."""
        if self._story.is_read_only or self._unwritten < (1e-3 if is_last else _WRITE_EVERY):
            return
        try:
            commit.add_played(self._story.store, round(self._unwritten, 3))
        except StoreError:
            return
        self._unwritten = 0.0
