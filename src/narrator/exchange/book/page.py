"""A book as one self-contained HTML page: style, contents and text in a single file that asks for nothing else.

Its policy forbids it to: no script runs in it and nothing is fetched, whatever the text says.
"""

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
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,20}")


def write_page(book: Book, write: Callable[[str], object], colours: Mapping[str, str]) -> None:
    """Write the page piece by piece. ``colours`` are those of a theme; what it lacks is as on paper."""
    title = escape(book.title)
    write('<!DOCTYPE html>\n<html lang="' + escape(book.language) + '">\n<head>\n<meta charset="utf-8"/>\n')
    write(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"/>\n')
    write('<meta name="viewport" content="width=device-width, initial-scale=1"/>\n')
    write(
        f"<title>{title}</title>\n<style>{_colours(colours)}{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    )
    if len(book.chapters) > 1:
        _write_contents(book, write)
    for number, chapter in enumerate(book.chapters, 1):
        for piece in chapter_html(chapter, f"c{number}", has_heading=number > 1 or chapter.title != book.title):
            write(piece)
    write("</main>\n</body>\n</html>\n")


def _write_contents(book: Book, write: Callable[[str], object]) -> None:
    """The chapters, then what stands beside them."""
    numbered = list(enumerate(book.chapters, 1))
    write("<nav>\n")
    for kind, is_appendix in (("story", False), ("others", True)):
        links = [
            f'<li><a href="#c{number}">{escape(chapter.title)}</a></li>\n'
            for number, chapter in numbered
            if chapter.is_appendix == is_appendix
        ]
        if links:
            write(f'<ol class="{kind}">\n{"".join(links)}</ol>\n')
    write("</nav>\n")


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
.input .dialogue {{ color: inherit; }}
.beside {{ border-color: {found["faint"]}; }}
nav {{ margin-bottom: 2.5em; }}
nav ol {{ padding-left: 1.4em; line-height: 1.8; }}
nav .others {{ list-style: none; font-style: italic; }}
@media print {{
  html {{ background: none; color: #000; }}
  nav {{ display: none; }}
  section + section {{ break-before: page; }}
}}
"""
