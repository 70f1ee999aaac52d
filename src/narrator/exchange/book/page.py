"""A book as one self-contained HTML page: style, contents and text in a single file that asks for nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape

from narrator.exchange.book.hypertext import STYLE, chapter_html
from narrator.exchange.book.pages import Book

_PAPER = {
    "background": "#f4ecd8",
    "foreground": "#33291c",
    "accent": "#8f3b1b",
    "input": "#2f5a5e",
    "faint": "#73654c",
    "dialogue": "#33291c",
}
_COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,20}")


def write_page(book: Book, write: Callable[[str], object], colours: Mapping[str, str]) -> None:
    """Write the page piece by piece. ``colours`` are those of a theme; what it lacks is as on paper."""
    title = escape(book.title)
    write('<!DOCTYPE html>\n<html lang="' + escape(book.language) + '">\n<head>\n<meta charset="utf-8"/>\n')
    write('<meta name="viewport" content="width=device-width, initial-scale=1"/>\n')
    write(
        f"<title>{title}</title>\n<style>{_colours(colours)}{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    )
    if len(book.chapters) > 1:
        write("<nav>\n<ol>\n")
        for number, chapter in enumerate(book.chapters, 1):
            write(f'<li><a href="#c{number}">{escape(chapter.title)}</a></li>\n')
        write("</ol>\n</nav>\n")
    for number, chapter in enumerate(book.chapters, 1):
        for piece in chapter_html(chapter, f"c{number}"):
            write(piece)
    write("</main>\n</body>\n</html>\n")


def _colours(given: Mapping[str, str]) -> str:
    found = {name: given.get(name, usual) for name, usual in _PAPER.items()}
    found = {name: value if _COLOUR.fullmatch(value) else _PAPER[name] for name, value in found.items()}
    return f"""
html {{ background: {found["background"]}; color: {found["foreground"]}; }}
body {{ font: 1.1rem Georgia, "Times New Roman", serif; margin: 0; }}
main {{ max-width: 38em; margin: 0 auto; padding: 3em 1.2em 6em; }}
h1, h2, a {{ color: {found["accent"]}; }}
.input {{ color: {found["input"]}; border-color: {found["faint"]}; }}
.note {{ color: {found["faint"]}; }}
.dialogue {{ color: {found["dialogue"]}; }}
"""
