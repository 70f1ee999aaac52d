"""The library: campaigns with when they were last played, and the samples that begin new ones (U1)."""

from __future__ import annotations

import asyncio
import shutil
import tomllib
from collections.abc import Callable, Hashable
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from textual.app import ComposeResult
from textual.widgets import Static

from narrator import paths
from narrator.core.errors import NarratorError
from narrator.engine.library import Book, books
from narrator.engine.story import create_campaign
from narrator.tui.actions import Now
from narrator.tui.outside import plain
from narrator.tui.screens.base import ActingScreen
from narrator.tui.screens.dialogs import Chooser, Typed
from narrator.tui.widgets.bars import KeyLine, Notice
from narrator.tui.widgets.listbox import Entry, ListBox

_SIDE_FILES = ("-wal", "-shm", ".lock")


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _when(stamp: str) -> str:
    """“30 Nov 2026” of a stamp; short, since the line has to hold more."""
    try:
        day = date.fromisoformat(stamp[:10])
    except ValueError:
        return stamp[:10]
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


class Sample(NamedTuple):
    """A definition that ships: its title, and what it says of itself."""

    name: str
    title: str
    blurb: str


def read_samples() -> list[Sample]:
    """The samples as they introduce themselves; one that cannot be read has its name."""
    found: list[Sample] = []
    for name, path in paths.samples().items():
        try:
            head = tomllib.loads(path.read_text(encoding="utf-8")).get("campaign", {})
        except (OSError, ValueError):
            head = {}
        title = str(head.get("title") or name.replace("-", " ").capitalize())
        found.append(Sample(name, title, str(head.get("blurb") or "")))
    return found


def shelf_entries(found: list[Book], samples: list[Sample]) -> list[Entry]:
    """Campaigns first, the last played at the top; below them what a new one can be made of."""
    entries: list[Entry] = []
    if found:
        entries.append(Entry(None, "Go on"))
    for book in found:
        if book.problem:
            entries.append(Entry(("book", str(book.path)), book.name, book.problem, is_faint=True))
            continue
        size = f"step {book.position:,} of {book.steps:,} · {book.words:,} words"
        entries.append(Entry(("book", str(book.path)), book.title or book.name, f"{size} · {_when(book.played_at)}"))
    if found:
        entries.append(Entry(None, ""))
    entries.append(Entry(None, "Begin a new story"))
    entries += [Entry(("sample", sample.name), sample.title, "a new game") for sample in samples]
    entries.append(Entry(("file", ""), "From a definition of your own …", ".toml"))
    entries.append(Entry(("import", ""), "Import from another program …", "stories, characters, cards, texts"))
    return entries


def make_campaign(source: Path, folder: Path) -> Path:
    """A new campaign from a definition, under a free name. Raises ``NarratorError``."""
    try:
        text = source.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise NarratorError("io-error", f"{source} cannot be read: {error}") from None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    number, path = 1, folder / f"{source.stem}{paths.SUFFIX}"
    while path.exists():
        number += 1
        path = folder / f"{source.stem}-{number}{paths.SUFFIX}"
    create_campaign(path, text)
    return path


def to_trash(path: Path) -> Path:
    """Move a campaign and what lies beside it to the trash folder; where it is then."""
    trash = paths.data_folder() / "trash"
    trash.mkdir(mode=0o700, parents=True, exist_ok=True)
    number, target = 1, trash / path.name
    while target.exists():
        number += 1
        target = trash / f"{path.stem}-{number}{path.suffix}"
    for side in _SIDE_FILES:
        beside = path.with_name(path.name + side)
        if beside.exists() and side != ".lock":
            shutil.move(beside, target.with_name(target.name + side))
    shutil.move(path, target)
    return target


class LibraryScreen(ActingScreen):
    """Enter opens or begins; x deletes to the trash folder, after a question."""

    def __init__(self) -> None:
        super().__init__()
        self._samples: list[Sample] = []

    def compose(self) -> ComposeResult:
        yield Static(plain("narrator · stories that lose no word"), id="title")
        yield ListBox(id="shelf")
        yield Static(plain(""), id="about")
        yield Notice(id="notice")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        self.box.focus()
        self.query_one(KeyLine).show(
            [
                *(("↑↓", "choose"), ("Enter", "open"), ("i", "import"), ("e", "export"), ("x", "delete")),
                *self.footer(["screen.settings"]),
            ],
            self.footer(["story.help", "screen.palette", "story.quit"]),
        )
        self.call_after_refresh(self.narrator_app.first_frame_is_drawn)
        self.read_shelf()
        for words in self.narrator_app.notes_of_start():
            self.say(words)

    def on_screen_resume(self) -> None:
        if self.is_mounted:
            self.read_shelf()

    def read_shelf(self) -> None:
        """Read the campaigns anew; a reading that was begun before is given up."""
        self.run_worker(self.refresh_shelf(), exclusive=True, group="shelf")

    async def refresh_shelf(self) -> None:
        """Read the campaigns in a thread; each has its own connection."""
        if not self._samples:
            self._samples = await asyncio.to_thread(read_samples)
            self.box.show(shelf_entries([], self._samples))
        found = await asyncio.to_thread(books, paths.campaigns_folder())
        entries = shelf_entries(found, self._samples)
        is_untouched = self.box.cursor <= 1
        first = next((entry.key for entry in entries if entry.key is not None), None)
        self.box.show(entries, at=first if is_untouched else None)

    def on_list_box_moved(self, event: ListBox.Moved) -> None:
        """What the sample under the cursor says of itself."""
        name = event.key[1] if isinstance(event.key, tuple) and event.key[0] == "sample" else ""
        blurb = next((sample.blurb for sample in self._samples if sample.name == name), "")
        self.query_one("#about", Static).update(plain(blurb))

    @property
    def box(self) -> ListBox:
        return self.query_one("#shelf", ListBox)

    def now(self) -> Now:
        return Now(place="library")

    def say(self, words: str) -> None:
        self.query_one(Notice).say(words)

    def acts(self) -> dict[str, Callable[[], Any]]:
        return {**super().acts(), "story.export": self.export}

    def on_list_box_chosen(self, event: ListBox.Chosen) -> None:
        if isinstance(event.key, tuple):
            kind, value = event.key
            if kind == "book":
                self._open(Path(value))
            elif kind == "sample":
                self._begin(paths.samples()[value])
            elif kind == "import":
                self.narrator_app.open_import()
            else:
                self._ask_file()

    def _open(self, path: Path) -> None:
        try:
            self.narrator_app.play(path)
        except NarratorError as error:
            self.say(str(error))

    def _begin(self, source: Path) -> None:
        try:
            path = make_campaign(source, paths.campaigns_folder())
        except NarratorError as error:
            self.say(str(error))
            return
        self._open(path)

    def _ask_file(self) -> None:
        def typed(name: str | None) -> None:
            if name is not None:
                self._begin(paths.expand(name.strip()))

        self.app.push_screen(Typed("The file of a campaign's definition (.toml)"), typed)

    def export(self) -> None:
        """Write the campaign under the cursor to a file."""
        chosen = self.box.chosen
        if not (isinstance(chosen, tuple) and chosen[0] == "book"):
            self.say("Choose a campaign above; what is not begun has nothing to export.")
            return
        title = next((entry.text for entry in self.box.entries if entry.key == chosen), "")
        self.narrator_app.open_export(Path(chosen[1]), title)

    def delete(self) -> None:
        """To the trash folder, after a question whose safe answer stands first."""
        chosen = self.box.chosen
        if not (isinstance(chosen, tuple) and chosen[0] == "book"):
            self.say("Only a story that you have begun can be deleted.")
            return
        path = Path(chosen[1])

        def answered(key: Hashable | None) -> None:
            if key == "yes":
                self.run_worker(self._delete(path))

        entries = [Entry("no", "No"), Entry("yes", "Yes, move it to the trash folder")]
        self.app.push_screen(Chooser(f"Delete “{path.stem}”?", entries), answered)

    async def _delete(self, path: Path) -> None:
        try:
            target = await asyncio.to_thread(to_trash, path)
            self.say(f"It lies in {target} now.")
        except OSError as error:
            self.say(f"It could not be moved: {error.strerror}")
        self.read_shelf()

    def action_of(self, event: Any) -> str | None:
        if event.key in ("x", "delete"):
            self.delete()
            return None
        keymap = self.narrator_app.keymap
        own = {"q": "story.quit", "i": "screen.import", "e": "story.export"}
        if event.key in own:
            return own[event.key]
        found = keymap.keys.get(event.key) or keymap.letters.get(event.key)
        return None if found in ("screen.escape", "screen.next-pane", "screen.previous-pane") else found
