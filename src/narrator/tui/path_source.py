"""The path of an open story as a ``StepSource``: positions to steps, counted once a revision."""

from __future__ import annotations

from narrator.engine.story import Story
from narrator.tui.transcript_window import StepLine


class PathSource:
    """Reads steps of the path that is being read. ``count`` is looked up again when the revision is another (S31)."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._revision = -1
        self._count = 0

    @property
    def count(self) -> int:
        """Steps on the path."""
        revision = self._story.revision
        if revision != self._revision:
            self._revision = revision
            self._count = self._story.count
        return self._count

    def read(self, first: int, last: int) -> list[StepLine]:
        """Steps first..last, both included."""
        return list(self._story.steps(first, last))
