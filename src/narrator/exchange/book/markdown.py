"""A book as Markdown. What stands in the story stays text: it opens no heading, quotation or tag."""

from __future__ import annotations

import re
from collections.abc import Callable

from narrator.exchange.book.pages import Book, Passage

_BLOCK = re.compile(r"^([ \t]{0,3})(#{1,6}(?=\s|$)|>|(?:[-=*_][ \t]*){3,}$|```|~~~)", re.MULTILINE)


def write_markdown(book: Book, write: Callable[[str], object]) -> None:
    """Write the book piece by piece."""
    write(f"# {_line(book.title)}\n")
    is_first = True
    for chapter in book.chapters:
        if not (is_first and chapter.title == book.title):
            write(f"\n## {_line(chapter.title)}\n")
        is_first = False
        for passage in chapter.passages():
            write(f"\n{passage_text(passage)}\n")


def passage_text(passage: Passage) -> str:
    """One passage; what the player typed is a quotation, a private note a marked one."""
    text = _BLOCK.sub(r"\1\\\2", passage.text.replace("<", "\\<")).strip("\n")
    if passage.is_note:
        return "\n".join(f"> *{line}*" if line.strip() else ">" for line in f"Note: {text}".split("\n"))
    if passage.is_input:
        return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
    return text


def _line(text: str) -> str:
    return " ".join(text.replace("<", "\\<").split())
