"""Export: a campaign to a bundle, to a book, to a file of another program (X7, X9, X10, X11).

The file is written aside and given its name when it is complete, so a stop or a full disk leaves nothing behind.
"""

from __future__ import annotations

import gzip
import io
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from narrator.core.errors import BadValue, NarratorError
from narrator.exchange import outward
from narrator.exchange.book.epub import write_epub
from narrator.exchange.book.markdown import write_markdown
from narrator.exchange.book.page import write_page
from narrator.exchange.book.pages import Style, open_book
from narrator.exchange.book.text import write_text
from narrator.exchange.bundle_export import write_bundle
from narrator.exchange.progress import Progress, silent
from narrator.store import rows
from narrator.store.open import Clock, Store, open_store, translated

#: What a form is called, and the endings of a name that mean it; the first that fits counts.
FORMS: dict[str, tuple[str, ...]] = {
    "world-info": (".worldinfo.json",),
    "story-cards": (".cards.json",),
    "bundle": (".json", ".json.gz", ".gz"),
    "markdown": (".md", ".markdown"),
    "text": (".txt", ".text"),
    "html": (".html", ".htm", ".xhtml"),
    "epub": (".epub",),
    "sillytavern": (".jsonl",),
}


_BESIDE = ("", "-wal", "-shm", ".lock")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of an export; ``form`` '' is told by the name of the file."""

    form: str = ""
    with_prompts: bool = True
    style: Style = field(default_factory=Style)
    replaces: bool = False


def form_of(name: str, form: str = "") -> str:
    """The form of a file. Raises ``BadValue`` for a name whose ending says nothing."""
    if form:
        if form not in FORMS:
            raise BadValue(f"There is no form {form!r}.", f"One of {', '.join(FORMS)}.")
        return form
    for known, endings in FORMS.items():
        if name.casefold().endswith(endings):
            return known
    endings_ = ", ".join(ending for endings in FORMS.values() for ending in endings)
    raise BadValue(f"{name}: its ending does not say in which form.", f"One of {endings_}.")


def export(campaign: Path, target: Path, wish: Wish, *, clock: Clock, progress: Progress = silent) -> str:
    """Write a campaign to a file, also beside a session that plays it; the form comes back.

    A name that ends in ``.gz`` is packed. Raises ``BadValue``, ``StoreError``, ``io-error`` where something of that
    name is there, and whatever ``progress`` raises; nothing is left behind then.
    """
    form = form_of(target.name, wish.form)
    _refuse_campaign(campaign, target)
    if target.exists() and not wish.replaces:
        raise NarratorError("io-error", f"{target} is there already.", "Choose another name.")
    aside = target.with_name(f".{secrets.token_hex(8)}.exporting")
    try:
        if form == "epub":
            with _reading(campaign, clock) as store:
                write_epub(open_book(store, wish.style, progress), aside)
        else:
            with _text_file(aside, is_packed=target.name.casefold().endswith(".gz")) as write:
                write_form(campaign, form, write, wish, clock=clock, progress=progress)
        os.replace(aside, target)
    except OSError as error:
        raise NarratorError("io-error", f"{target} cannot be written: {error.strerror or error}.") from error
    finally:
        aside.unlink(missing_ok=True)
    return form


def _refuse_campaign(campaign: Path, target: Path) -> None:
    """A campaign, or what lies beside one, is never written over."""
    own = {campaign.with_name(campaign.name + end).resolve() for end in _BESIDE}
    if target.resolve() in own or target.name.endswith(tuple(f".narrator{end}" for end in _BESIDE)):
        raise BadValue(f"{target} is a campaign.", "Choose another name.")


def write_form(
    campaign: Path,
    form: str,
    write: Callable[[str], object],
    wish: Wish,
    *,
    clock: Clock,
    progress: Progress = silent,
) -> None:
    """Write a campaign in any form but epub, piece by piece, to wherever ``write`` leads."""
    if form == "bundle":
        with rows.settled(campaign, clock=clock) as found:
            write_bundle(found, write, with_prompts=wish.with_prompts, progress=progress)
        return
    with _reading(campaign, clock) as store:
        if form == "markdown":
            write_markdown(open_book(store, wish.style, progress), write)
        elif form == "text":
            write_text(open_book(store, wish.style, progress), write)
        elif form == "html":
            write_page(open_book(store, wish.style, progress), write, wish.style.colours)
        elif form == "sillytavern":
            outward.write_chat(store, write, progress)
        elif form == "world-info":
            write(outward.world_info(store))
        elif form == "story-cards":
            write(outward.story_cards(store))
        else:
            raise BadValue(f"{form} cannot be written to a stream.", "Name a file.")


@contextmanager
def _reading(path: Path, clock: Clock) -> Iterator[Store]:
    """One unchanging view of a campaign, on a connection of its own."""
    store = open_store(path, clock=clock, read_only=True)
    try:
        with translated(path):
            store.db.execute("BEGIN")
            store.load_forest()
            yield store
    finally:
        store.close()


@contextmanager
def _text_file(path: Path, *, is_packed: bool) -> Iterator[Callable[[str], object]]:
    """UTF-8 with line feeds; a packed one holds no time and no name, so equal text gives equal bytes."""
    with path.open("xb") as file:
        if is_packed:
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as packed:
                yield from _writer(packed)  # type: ignore[arg-type]
        else:
            yield from _writer(file)


def _writer(file: IO[bytes]) -> Iterator[Callable[[str], object]]:
    text = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="\n", write_through=False)
    yield text.write
    text.flush()
    text.detach()
