"""A book as plain text: no marks but an indent before what the player typed. Lines are as long as their paragraphs."""

from __future__ import annotations

from collections.abc import Callable

from narrator.exchange.book.pages import Book, Passage


def write_text(book: Book, write: Callable[[str], object]) -> None:
    """Write the book piece by piece; chapters after the first stand under their title."""
    write(f"{_line(book.title)}\n{'=' * len(_line(book.title))}\n")
    is_first = True
    for chapter in book.chapters:
        title = _line(chapter.title)
        if not (is_first and chapter.title == book.title):
            write(f"\n\n{title}\n{'-' * len(title)}\n")
        is_first = False
        for passage in chapter.passages():
            write(f"\n{passage_text(passage)}\n")


def passage_text(passage: Passage) -> str:
    """One passage; what the player typed begins with ``> ``, a private note with ``* ``, as in plain mode."""
    text = passage.text.strip("\n")
    mark = "* " if passage.is_note else "> " if passage.is_input else ""
    return "\n".join(f"{mark}{line}".rstrip() for line in text.split("\n"))


def _line(text: str) -> str:
    return " ".join(text.split())
