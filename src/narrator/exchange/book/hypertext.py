"""The body of a page: passages as XHTML, for the single page and the chapters of an EPUB alike."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from narrator.core.prose import DIALOGUE, EMPHASIS, STRONG, paragraphs
from narrator.exchange.book.pages import Chapter, Passage

STYLE = """
.input { font-style: italic; margin: 1.6em 0 1.6em 1.4em; padding-left: .8em; border-left: 2px solid; }
.note { font-size: .85em; margin: 1em 0 1em 1.4em; }
.dialogue { font-style: inherit; }
p { margin: 0 0 .9em; line-height: 1.55; overflow-wrap: anywhere; }
h1, h2 { line-height: 1.2; font-weight: normal; overflow-wrap: anywhere; }
h2 { margin-top: 3em; }
.beside { margin-top: 4em; padding-top: .5em; border-top: 1px solid; }
"""


def passage_html(passage: Passage) -> str:
    """One passage as paragraphs; a line end within one is a new line."""
    kind = ' class="note"' if passage.is_note else ' class="input"' if passage.is_input else ""
    found = []
    for paragraph in paragraphs(passage.text):
        runs = [_run(passage.text[run.start : run.end], run.marks) for run in paragraph.runs]
        inner = "".join(runs).strip("\n").replace("\n", "<br/>\n")
        if inner.strip():
            found.append(f"<p{kind}>{inner}</p>\n")
    return "".join(found)


def _run(text: str, marks: int) -> str:
    html = escape(text, quote=False)
    if marks & STRONG:
        html = f"<strong>{html}</strong>"
    if marks & EMPHASIS:
        html = f"<em>{html}</em>"
    return f'<span class="dialogue">{html}</span>' if marks & DIALOGUE else html


def chapter_html(chapter: Chapter, anchor: str, *, has_heading: bool = True) -> Iterator[str]:
    """A chapter with its heading, piece by piece; what stands beside the story is marked as that."""
    beside = ' class="beside"' if chapter.is_appendix else ""
    heading = f"<h2>{escape(chapter.title)}</h2>\n" if has_heading else ""
    yield f'<section id="{anchor}"{beside}>\n{heading}'
    for passage in chapter.passages():
        yield passage_html(passage)
    yield "</section>\n"
