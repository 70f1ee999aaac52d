"""A book as EPUB 3: a zip of XHTML, one file a chapter. Equal campaigns give equal bytes."""

from __future__ import annotations

import uuid
import zipfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

from narrator.exchange.book.hypertext import STYLE, chapter_html
from narrator.exchange.book.pages import Book, Chapter

_TIME = (1980, 1, 1, 0, 0, 0)
_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_CONTAINER = (
    _HEAD + '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">\n<rootfiles>\n'
    '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/>\n</rootfiles>\n</container>\n'
)


def write_epub(book: Book, path: Path) -> None:
    """Write the file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry("mimetype", zipfile.ZIP_STORED), "application/epub+zip")
        _put(archive, "META-INF/container.xml", [_CONTAINER])
        _put(archive, "OEBPS/style.css", [STYLE])
        for number, chapter in enumerate(book.chapters, 1):
            _put(archive, f"OEBPS/chapter{number}.xhtml", _chapter(book, chapter, number))
        _put(archive, "OEBPS/nav.xhtml", [_nav(book)])
        _put(archive, "OEBPS/content.opf", [_package(book)])


def _entry(name: str, kind: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _TIME)
    entry.compress_type = kind
    entry.external_attr = 0o644 << 16
    return entry


def _put(archive: zipfile.ZipFile, name: str, pieces: list[str] | Iterator[str]) -> None:
    with archive.open(_entry(name), "w", force_zip64=True) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8", "replace"))


def _page(book: Book, title: str) -> str:
    language = escape(book.language)
    return (
        f'{_HEAD}<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops" lang="{language}" xml:lang="{language}">\n<head>\n'
        f'<title>{escape(title)}</title>\n<link rel="stylesheet" type="text/css" href="style.css"/>\n</head>\n<body>\n'
    )


def _chapter(book: Book, chapter: Chapter, number: int) -> Iterator[str]:
    yield _page(book, chapter.title)
    yield from chapter_html(chapter, f"c{number}")
    yield "</body>\n</html>\n"


def _nav(book: Book) -> str:
    items = "".join(
        f'<li><a href="chapter{number}.xhtml">{escape(chapter.title)}</a></li>\n'
        for number, chapter in enumerate(book.chapters, 1)
    )
    inner = f'<nav epub:type="toc" id="toc">\n<h1>{escape(book.title)}</h1>\n<ol>\n{items}</ol>\n</nav>\n'
    return f"{_page(book, book.title)}{inner}</body>\n</html>\n"


def _package(book: Book) -> str:
    numbers = range(1, len(book.chapters) + 1)
    manifest = "".join(
        f'<item id="c{n}" href="chapter{n}.xhtml" media-type="application/xhtml+xml"/>\n' for n in numbers
    )
    spine = "".join(f'<itemref idref="c{n}"/>\n' for n in numbers)
    return (
        f'{_HEAD}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">\n'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">\n'
        f'<dc:identifier id="id">{_identifier(book)}</dc:identifier>\n<dc:title>{escape(book.title)}</dc:title>\n'
        f"<dc:language>{escape(book.language)}</dc:language>\n"
        f'<meta property="dcterms:modified">{_modified(book)}</meta>\n</metadata>\n<manifest>\n'
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>\n'
        f'<item id="css" href="style.css" media-type="text/css"/>\n{manifest}</manifest>\n'
        f"<spine>\n{spine}</spine>\n</package>\n"
    )


def _identifier(book: Book) -> str:
    try:
        return f"urn:uuid:{uuid.UUID(book.campaign_id)}"
    except ValueError:
        return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'narrator:{book.campaign_id}')}"


def _modified(book: Book) -> str:
    """A time as EPUB wants it: UTC to the second."""
    time = book.modified[:19]
    return f"{time}Z" if len(time) == 19 and time[10] == "T" else "2000-01-01T00:00:00Z"
