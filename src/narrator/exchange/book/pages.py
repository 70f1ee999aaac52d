"""The story as a book: the current path in chapters, other branches behind it (X9). Read in windows, so of any length.

A chapter begins at a checkpoint. Corrections are no prose and stay out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from narrator.core.campaign import parse_definition
from narrator.core.lineage import End
from narrator.core.prose import visible
from narrator.core.tree import Node
from narrator.exchange.progress import Progress, silent
from narrator.store import reads, rows
from narrator.store.open import Store

Inputs = Literal["apart", "woven", "out"]
_WINDOW = 200
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Style:
    """How a book is made: player input set apart, woven in or left out; every branch; the player's private notes;
    colours by their name in a theme."""

    inputs: Inputs = "apart"
    has_branches: bool = False
    has_comments: bool = False
    colours: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of prose: of the narrator's (``is_input`` False), of the player's, or a private note (``is_note``)."""

    text: str
    is_input: bool = False
    is_note: bool = False


@dataclass(frozen=True, slots=True)
class Chapter:
    """``passages`` reads the chapter when it is asked for. ``is_appendix``: a branch beside the current path."""

    title: str
    passages: Callable[[], Iterator[Passage]]
    is_appendix: bool = False


@dataclass(frozen=True, slots=True)
class Book:
    """A book; ``modified`` is when it was last played."""

    campaign_id: str
    title: str
    language: str
    modified: str
    chapters: tuple[Chapter, ...]


def open_book(store: Store, style: Style, progress: Progress = silent) -> Book:
    """The book of a campaign's current path. ``progress`` hears of each window; what it raises goes through."""
    row = reads.campaign(store)
    definition = parse_definition(reads.definition_source(store)[1])
    end = reads.end_of(store, reads.needed(store, row.head_id))
    source = _Source(store, style, progress)
    title = _title(row.title)
    chapters = [*_chapters(source, end, title)]
    if style.has_branches:
        chapters += _appendix(source, end)
    return Book(row.campaign_id, title, definition.language, row.played_at, tuple(chapters))


@dataclass(slots=True)
class _Source:
    """Where the passages of a book come from. Owns the count of steps that were read."""

    store: Store
    style: Style
    progress: Progress
    done: int = 0
    total: int = 0


def _chapters(source: _Source, end: End, title: str) -> Iterator[Chapter]:
    store, starts = source.store, dict[int, str]()
    for checkpoint in reads.checkpoints(store):
        node = reads.node(store, checkpoint.node_id)
        if node is not None and reads.is_on_path(store, node, end):
            starts[node.depth] = f"{starts[node.depth]}; {checkpoint.name}" if node.depth in starts else checkpoint.name
    starts.setdefault(1, title)
    begins = sorted(starts)
    for index, first in enumerate(begins):
        last = begins[index + 1] - 1 if index + 1 < len(begins) else end.length
        yield Chapter(_title(starts[first]), _reader(source, end, first, last))


def _appendix(source: _Source, end: End) -> Iterator[Chapter]:
    """Each branch that holds something beside the path: its own nodes from where it parts with the path."""
    store = source.store
    segments = store.forest.segments(end.branch_id, end.depth) if end.depth else ()
    on_path = {segment.branch_id: segment.last for segment in segments}
    for branch in store.forest:
        deepest = None if branch.is_hidden else reads.deepest(store, branch.id)
        if deepest is None:
            continue
        first = on_path.get(branch.id, branch.fork_depth) + 1
        if first <= deepest.depth:
            line = reads.end_of(store, deepest)
            title = f"Another line: {branch.label}" if branch.name is None else branch.name
            yield Chapter(_title(title), _reader(source, line, first, deepest.depth), is_appendix=True)


def _reader(source: _Source, end: End, first: int, last: int) -> Callable[[], Iterator[Passage]]:
    source.total += last - first + 1
    store, style = source.store, source.style

    def read() -> Iterator[Passage]:
        for low in range(first, last + 1, _WINDOW):
            source.progress("export", source.done, source.total)
            nodes = reads.window(store, end, low, min(low + _WINDOW - 1, last))
            source.done += len(nodes)
            notes = rows.comments_of(store, [node.id for node in nodes]) if style.has_comments else {}
            for node in nodes:
                yield from _passages(node, style)
                for note in notes.get(node.id, ()):
                    yield Passage(clean(note), is_note=True)

    return read


def _passages(node: Node, style: Style) -> Iterator[Passage]:
    if node.role == "correction" or not node.text.strip():
        return
    if node.role != "player":
        yield Passage(clean(node.text))
    elif style.inputs != "out":
        text = f"“{node.text.strip()}”" if node.mode == "say" else node.text.strip()
        yield Passage(clean(text), is_input=style.inputs == "apart")


def _title(text: str) -> str:
    """A title of one line that every page may hold."""
    return " ".join(clean(text).split()) or "Untitled"


def clean(text: str) -> str:
    """Text that a page may hold: controls made visible (U10), nothing that XML forbids."""
    return _NOT_XML.sub("\ufffd", visible(text))
