"""Choosing files from folders: a line that is typed or completed, and the folder it names as a list below (U1).

What the line holds narrows the list; a path typed or pasted into it leads there. Several files can be marked.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Hashable
from pathlib import Path
from typing import ClassVar, NamedTuple
from urllib.parse import unquote, urlsplit

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from narrator import paths
from narrator.tui.outside import line, plain
from narrator.tui.screens.dialogs import Dialog
from narrator.tui.widgets.listbox import Entry, ListBox

MOST = 5000
"""Entries of a folder that are listed; typing finds the others by their beginning."""
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


class Place(NamedTuple):
    """A file or folder: whether it is one, and its size in bytes."""

    path: Path
    is_folder: bool
    size: int = 0


def spelled_size(size: int) -> str:
    """Bytes as a player reads them."""
    value, unit = float(size), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.0f} {_UNITS[unit]}" if unit < 2 else f"{value:.1f} {_UNITS[unit]}"


def read_folder(folder: Path) -> list[Place]:
    """Folders first, then files, by name; hidden ones too. Raises ``OSError``."""
    found: list[Place] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                is_folder = entry.is_dir()
                if is_folder or entry.is_file():
                    found.append(Place(Path(entry.path), is_folder, 0 if is_folder else entry.stat().st_size))
            except OSError:
                continue
    return sorted(found, key=lambda place: (not place.is_folder, place.path.name.casefold(), place.path.name))


def typed_path(text: str, folder: Path) -> tuple[Path, str] | None:
    """The folder and the beginning of a name that a typed or pasted path means; None for the beginning of a name."""
    text = text.strip()
    if text.startswith("file://"):
        text = unquote(urlsplit(text).path)
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    if text == "~":
        return paths.expand("~"), ""
    if "/" not in text and os.sep not in text:
        return None
    try:
        path = folder / paths.expand(text)
    except (ValueError, RuntimeError):
        return None
    if text.endswith(("/", os.sep)):
        return Path(os.path.normpath(path)), ""
    return Path(os.path.normpath(path.parent)), path.name


def fitting(places: list[Place], beginning: str) -> list[Place]:
    """Those whose names begin so, then those that hold it; hidden ones only where a dot was typed."""
    wanted = beginning.casefold()
    shown = [place for place in places if beginning.startswith(".") or not place.path.name.startswith(".")]
    first = [place for place in shown if place.path.name.casefold().startswith(wanted)]
    others = [place for place in shown if wanted and wanted in place.path.name.casefold() and place not in first]
    return [*first, *others]


class PickFiles(Dialog[tuple[Path, ...]]):
    """Gives the files chosen, or a folder, which stands for its files. ``begin`` is the folder it opens with."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+c", "leave", show=False)]
    DEFAULT_CSS = """
    PickFiles #folder { height: 1; color: $margin; }
    PickFiles #why { height: auto; color: $margin; }
    """

    def __init__(self, title: str, begin: Path) -> None:
        super().__init__(classes="-wide")
        self._title = title
        self._folder = begin
        self._places: list[Place] = []
        self._marked: dict[Path, None] = {}

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static(plain(self._title), id="title")
            yield Static(plain(self._folder), id="folder")
            yield Input(compact=True, placeholder="")
            yield ListBox(empty="There is nothing here that fits.")
            yield Static(plain(""), id="why")
            yield Static(
                plain("type or paste a path · Tab completes · Enter opens · Ctrl+T marks · Esc leaves"), id="keys"
            )

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.go(self._folder)

    @property
    def box(self) -> ListBox:
        return self.query_one(ListBox)

    @property
    def folder(self) -> Path:
        """The folder that is shown."""
        return self._folder

    def say(self, words: str) -> None:
        """One line below the list."""
        self.query_one("#why", Static).update(plain(words))

    def go(self, folder: Path, beginning: str = "") -> None:
        """Show another folder; it is read in a thread."""
        self.run_worker(self._go(folder, beginning), exclusive=True, group="folder")

    async def _go(self, folder: Path, beginning: str) -> None:
        try:
            places = await asyncio.to_thread(read_folder, folder)
        except (OSError, ValueError) as error:
            self.say(f"{folder} cannot be read: {getattr(error, 'strerror', None) or error}.")
            return
        self._folder, self._places = folder, places
        self.query_one("#folder", Static).update(line(folder, max(1, self.query_one("#folder").size.width)))
        box = self.query_one(Input)
        if box.value != beginning:
            with self.prevent(Input.Changed):
                box.value = beginning
                box.cursor_position = len(beginning)
        self.say("")
        self._show(beginning)

    def _show(self, beginning: str, at: Hashable | None = None) -> None:
        found = fitting(self._places, beginning)
        entries = [Entry(place, self._named(place), self._detail(place)) for place in found[:MOST]]
        if not beginning:
            files = sum(not place.is_folder for place in found)
            above = Place(self._folder.parent, True)
            entries.insert(0, Entry(above, "..", "the folder above"))
            if files > 1:
                entries.insert(1, Entry(self._folder, f"all {files:,} files of this folder", "as one import"))
        first = next((entry.key for entry in entries if isinstance(entry.key, Place) and entry.text != ".."), None)
        self.box.show(entries, at=at or first)

    def _named(self, place: Place) -> str:
        mark = "● " if place.path in self._marked else ""
        return f"{mark}{place.path.name}{'/' if place.is_folder else ''}"

    @staticmethod
    def _detail(place: Place) -> str:
        return "" if place.is_folder else spelled_size(place.size)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        meant = typed_path(event.value, self._folder)
        if meant is not None:
            self.go(*meant)
        else:
            self._show(event.value.strip())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._open(self.box.chosen)

    def on_list_box_chosen(self, event: ListBox.Chosen) -> None:
        self._open(event.key)

    def _open(self, key: Hashable | None) -> None:
        if isinstance(key, Place) and key.is_folder:
            self.go(key.path)
        elif isinstance(key, Place):
            self.dismiss(tuple(dict.fromkeys((*self._marked, key.path))))
        elif isinstance(key, Path):
            self.dismiss((key,))
        else:
            self.say("There is no such file.")

    def mark(self) -> None:
        """Mark the file under the cursor, or take its mark away; Enter then goes on with all that are marked."""
        place = self.box.chosen
        if not isinstance(place, Place) or place.is_folder:
            self.say("Only files are marked; “all files of this folder” takes a folder.")
            return
        if place.path in self._marked:
            del self._marked[place.path]
        else:
            self._marked[place.path] = None
        self._show(self.query_one(Input).value.strip(), at=place)
        self.box.move(1)
        count = len(self._marked)
        self.say(f"{count} file{'' if count == 1 else 's'} marked." if count else "")

    def complete(self) -> None:
        """Into the folder under the cursor, or the whole name of the file."""
        place = self.box.chosen
        if isinstance(place, Place) and place.is_folder:
            self.go(place.path)
        elif isinstance(place, Place):
            self.go(self._folder, place.path.name)

    def on_key(self, event: events.Key) -> None:
        """The list moves while the line is typed."""
        page = max(1, self.box.size.height - 1)
        steps = {"up": -1, "down": 1, "pageup": -page, "pagedown": page}
        if event.key in steps:
            self.box.move(steps[event.key])
        elif event.key in ("ctrl+t", "insert"):
            self.mark()
        elif event.key == "tab":
            self.complete()
        else:
            return
        event.stop()
        event.prevent_default()
