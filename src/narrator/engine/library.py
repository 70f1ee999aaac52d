"""The campaigns of a folder, as a library shows them (U1). Reads each file through SQLite and changes none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from narrator.core.errors import NarratorError
from narrator.engine.story import Story
from narrator.store import reads

SUFFIX = ".narrator"


@dataclass(frozen=True, slots=True)
class Book:
    """One campaign: steps and words of the line, branches and takes of the tree; ``problem``: it cannot be read."""

    path: Path
    title: str = ""
    played_at: str = ""
    position: int = 0
    steps: int = 0
    words: int = 0
    branches: int = 0
    takes: int = 0
    problem: str = ""

    @property
    def name(self) -> str:
        """What the command line calls it."""
        return self.path.name.removesuffix(SUFFIX)


def books(folder: Path) -> list[Book]:
    """The campaigns of a folder, the last played first; those that cannot be read at the end."""
    found = [read_book(path) for path in sorted(folder.glob(f"*{SUFFIX}"))] if folder.is_dir() else []
    found.sort(key=lambda book: book.played_at, reverse=True)
    return found


def read_book(path: Path) -> Book:
    """What a library says of one file. Raises nothing."""
    try:
        story = Story.open(path, read_only=True)
    except NarratorError as error:
        return Book(path, problem=error.message)
    try:
        with story.looking():
            row, totals = story.row, reads.totals(story.store)
            line = reads.end_of(story.store, story.tip)
            texts = (node.text for node in reads.window(story.store, line, 1, line.length))
            words = sum(len(text.split()) for text in texts)
            return Book(path, row.title, row.played_at, story.count, line.length, words, totals.branches, totals.takes)
    except NarratorError as error:
        return Book(path, problem=error.message)
    finally:
        story.close()
