"""A dialog that does long work in a thread: how far it is, an estimate, and a stop (U8).

The work is handed a function to report to; what that raises ends it. The screen stays alive meanwhile.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from narrator.core.errors import NarratorError
from narrator.engine.progress import Pace, progress_words
from narrator.exchange.progress import Progress
from narrator.tui.outside import plain
from narrator.tui.screens.dialogs import Dialog
from narrator.tui.widgets.listbox import ListBox

Result = TypeVar("Result")
Made = TypeVar("Made")


class Working(Dialog[Result]):
    """Owns the stop of what runs. Esc stops that first, and leaves the dialog when nothing runs."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+c", "leave", show=False)]
    DEFAULT_CSS = """
    Working > #box { height: auto; }
    Working #told { height: auto; max-height: 14; padding: 0 0 1 0; }
    Working #progress { height: auto; color: $margin; }
    Working ListBox { height: auto; max-height: 12; }
    """

    def __init__(self, title: str) -> None:
        super().__init__(classes="-wide")
        self._title = title
        self._stop: threading.Event | None = None
        self.is_gone = False
        """It was left. Not the opposite of mounted: work may end before a dialog counts as that."""

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static(plain(self._title), id="title")
            yield Static(plain(""), id="told")
            yield ListBox()
            yield Static(plain(""), id="progress")
            yield Static(plain("Enter chooses · Esc stops, or leaves"), id="keys")

    def on_mount(self) -> None:
        self.query_one(ListBox).focus()
        self.begin()

    def begin(self) -> None:
        """What is done, or shown, as soon as the dialog stands."""

    @property
    def is_working(self) -> bool:
        """Whether a thread is at work."""
        return self._stop is not None

    def tell_progress(self, words: str) -> None:
        """One line below the list."""
        self.query_one("#progress", Static).update(plain(words))

    async def labour(self, work: Callable[[Progress], Made]) -> Made:
        """Do the work in a thread. Raises what it raises, ``stopped`` where the player stopped it."""
        stop = self._stop = threading.Event()
        loop = asyncio.get_running_loop()
        pace = Pace()

        def progress(what: str, done: int, total: int) -> None:
            if stop.is_set():
                raise NarratorError("stopped", "Stopped; nothing was written.")
            if (event := pace.at(done, total or None, what)) is not None:
                loop.call_soon_threadsafe(self._tell, stop, progress_words(event, "Esc stops it"))

        try:
            return await asyncio.to_thread(work, progress)
        finally:
            stop.set()
            self._stop = None

    def _tell(self, stop: threading.Event, words: str) -> None:
        if not self.is_gone and not stop.is_set():
            self.tell_progress(words)

    def action_leave(self) -> None:
        if self._stop is not None:
            self._stop.set()
            self.tell_progress("Stopping …")
        else:
            self.dismiss(None)

    def on_unmount(self) -> None:
        self.is_gone = True
        if self._stop is not None:
            self._stop.set()
