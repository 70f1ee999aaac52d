"""The first frame: the story as it stands and a line to type on, drawn before the engine is loaded.

It needs the file, the transcript and the composer, and nothing that knows what a definition, a state or a session is.
While the player reads, a thread loads the rest; then the play screen stands in its place, with the open file and with
everything that was typed, pressed and sent here.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Static

from narrator.core.errors import NarratorError
from narrator.store import reads
from narrator.tui import remembered
from narrator.tui.transcript_window import StepLine
from narrator.tui.widgets.bars import KeyLine, Notice, Standing, StatusLine
from narrator.tui.widgets.composer import MODES, Composer, Input
from narrator.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from narrator.store.open import Store
    from narrator.tui.app import NarratorApp

RAIL_COLUMNS = 120
_UNTIL_DRAWN = 0.02
"""Seconds that the first frame has for reaching the terminal before the rest is loaded."""
_LOADED_MEANWHILE = ("narrator.engine.session", "narrator.tui.screens.play")


class _Shown(NamedTuple):
    """A step as the transcript draws it."""

    id: int
    position: int
    role: str
    mode: str | None
    text: str
    take: int
    takes: int
    words: str = ""


class FileSource:
    """The steps of the path of an open file; nothing moves while this page stands."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._end = reads.end_of(store, reads.head(store))

    @property
    def count(self) -> int:
        """Steps on the path."""
        return self._end.length

    def read(self, first: int, last: int) -> list[StepLine]:
        """The steps first … last, both included."""
        found = reads.steps(self._store, self._end, first, last)
        return [
            _Shown(step.id, position, step.role, step.mode, step.text, step.take, step.takes)
            for position, step in enumerate(found, first)
        ]


@dataclass(slots=True)
class Handed:
    """What the first page leaves to the play screen: the open file, the text and mode of the composer, keys, a line."""

    store: Store
    text: str
    mode: str
    keys: list[events.Key]
    sent: Input | None


class FirstPage(Screen[None]):
    """Owns the open file until it is handed on."""

    AUTO_FOCUS = None

    def __init__(self, path: Path, *, narrator: str | None = None) -> None:
        super().__init__()
        self.path = path
        self.asked_narrator = narrator
        self.store: Store | None = None
        self._draft = ""
        self._keys: list[events.Key] = []
        self._sent: Input | None = None

    @property
    def narrator_app(self) -> NarratorApp:
        return cast("NarratorApp", self.app)

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)

    def compose(self) -> ComposeResult:
        with Horizontal(id="middle"):
            yield Static(id="rail-room")
            with Vertical(id="centre"):
                yield Transcript(id="transcript")
                yield Notice(id="notice")
                yield Composer(id="composer")
        yield StatusLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        width, height = self.app.size
        wanted = remembered.recall("rail")
        has_rail = wanted if isinstance(wanted, bool) else width >= RAIL_COLUMNS
        self.query_one("#rail-room").display = has_rail and width >= 44
        for kind, least in ((KeyLine, 8), (StatusLine, 6), (Notice, 4)):
            self.query_one(kind).display = height >= least
        self.query_one(Transcript).stops_at_unread = self.narrator_app.settings.reading.stop_at_unread
        try:
            self.store = self.narrator_app.open_file(self.path)
            self._show(self.store)
        except NarratorError:
            # What is wrong is said by the screen that can say it.
            self._close()
        self.set_focus(self.composer.editor)
        self.call_after_refresh(self._begin)

    def _show(self, store: Store) -> None:
        source, row, kept = FileSource(store), reads.campaign(store), reads.draft(store)
        if kept is not None and kept.text:
            self._draft = kept.text
            self.composer.put(kept.text)
            if kept.mode in MODES:
                self.composer.mode = kept.mode
                self.composer.show_mode()
        self.query_one(Transcript).open_story(source)
        redo = reads.end_of(store, reads.needed(store, row.tip_id)).length - source.count
        self.query_one(StatusLine).show(Standing(campaign=row.title, position=source.count, redo=redo))

    def _begin(self) -> None:
        self.narrator_app.first_frame_is_drawn()
        # The terminal's writer is a thread too, and would share its time with the load.
        self.set_timer(_UNTIL_DRAWN, self._start_load)

    def _start_load(self) -> None:
        self.run_worker(self._load(), name="load")

    async def _load(self) -> None:
        """Load the rest in a thread, then turn the page."""
        for name in _LOADED_MEANWHILE:
            await asyncio.to_thread(import_module, name)
        # Keys wait in the app from here on; those before are worked off from the editor upwards, then the page turns.
        self.narrator_app.hold_keys()
        composer = self.composer
        composer.editor.call_later(composer.call_later, self.call_later, self._turn)

    def _turn(self) -> None:
        if self.app.screen is not self:
            self.narrator_app.release_keys()
            return
        from narrator.tui.screens.play import PlayScreen

        self.app.push_screen(PlayScreen(self.path, narrator=self.asked_narrator, handed=self._hand_over()))
        self.remove_children()

    def _hand_over(self) -> Handed | None:
        store, self.store = self.store, None
        if store is None:
            return None
        return Handed(store, self.composer.text, self.composer.mode, self._keys, self._sent)

    @on(Composer.Sent)
    def _send(self, event: Composer.Sent) -> None:
        event.stop()
        if self._sent is None:
            self._sent = Input(event.text, event.mode)
        else:
            self.composer.give_back(event.text)

    def on_key(self, event: events.Key) -> None:
        """A key that is no text: the play screen will know what it means."""
        event.stop()
        event.prevent_default()
        self._keys.append(events.Key(event.key, event.character))

    async def close_story(self) -> None:
        """Keep what was typed and close the file, where the player leaves before the page was turned (U9)."""
        store = self.store
        if store is None:
            return  # never opened, or handed on: the page is turned
        typed = self.composer.text
        sent = self._sent.text if self._sent is not None else ""
        text = "\n".join(part for part in (sent, typed) if part)
        if not store.is_read_only and text != self._draft:
            from narrator.store import commit

            commit.keep_draft(store, text, self.composer.mode)
        self.query_one(Transcript).window = None  # a last drawing must not read a closed file
        self._close()

    def _close(self) -> None:
        if self.store is not None:
            self.store.close()
            self.store = None

    async def on_unmount(self) -> None:
        if self.store is not None and self.query(Composer):
            await self.close_story()
        self._close()
