"""The play screen: transcript, composer, rail, panel and the lines at the foot, over one session.

It owns the session while it is shown. One worker hears the session's events; each command that lasts is a worker of its
own, so that no key ever waits for one. What the keys and words do stands in ``play_acts``, what is typed goes through
``drafting``, what is heard changes the screen in ``hearing``.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.worker import Worker, WorkerFailed, WorkerState

from narrator import paths
from narrator.core.errors import NarratorError
from narrator.tui import remembered
from narrator.tui.actions import Action, Now
from narrator.tui.answers import end_words
from narrator.tui.path_source import PathSource
from narrator.tui.screens.drafting import DRAFT_SECONDS
from narrator.tui.screens.hearing import Hearing
from narrator.tui.screens.play_acts import RAIL_COLUMNS
from narrator.tui.widgets.bars import KeyLine, Notice, StatusLine
from narrator.tui.widgets.composer import Composer, Editor
from narrator.tui.widgets.panel import Panel
from narrator.tui.widgets.rail import Rail
from narrator.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from narrator.engine.session import Session
    from narrator.tui.screens.first_page import Handed

WATCH_SECONDS = 1.0
NARROW_COLUMNS = 100
ROOMY_COLUMNS = 150
TYPING = (
    "story.continue",
    "story.undo",
    "story.redo",
    "story.retry",
    "screen.previous-take",
    "story.save",
    "story.restore",
    "screen.rail",
)
"""Footer order while typing."""
_AT_WORK = ("story.keep", "screen.page-down")
_READING = (
    "story.undo", "story.redo", "story.retry", "screen.previous-take", "story.edit", "story.save", "story.restore",
    "story.search", "story.continue",
)  # fmt: skip


class PlayScreen(Hearing):
    """One campaign being played, from its file or from what the first page has ``handed`` on."""

    def __init__(self, path: Path, *, narrator: str | None = None, handed: Handed | None = None) -> None:
        super().__init__()
        self._handed = handed
        self.path = path
        self.asked_narrator = narrator
        self.session: Session | None = None
        self._revision = -1
        self._is_closed = False

    # -- the screen -------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        with Horizontal(id="middle"):
            yield Rail(id="rail")
            with Vertical(id="centre"):
                yield Transcript(id="transcript")
                yield Notice(id="notice")
                yield Composer(id="composer")
            yield Panel(id="panel")
        yield StatusLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        self._draft_timer = self.set_interval(DRAFT_SECONDS, self.write_draft, pause=True)
        self.transcript.stops_at_unread = self.narrator_app.settings.reading.stop_at_unread
        wanted = remembered.recall("rail")
        self._rail_wanted = wanted if isinstance(wanted, bool) else None
        self._fit()
        handed, self._handed = self._handed, None
        try:
            story = self.narrator_app.open_story(self.path, handed.store if handed is not None else None)
        except NarratorError as error:
            self.narrator_app.release_keys()
            self.narrator_app.open_failed(error)
            return
        self.restore_draft(story, handed)
        self.story = story
        self.transcript.open_story(PathSource(story), end_words(story.where(), story))
        self.show_standing(story.where())
        self.set_focus(self.composer.editor)
        if handed is not None:
            if handed.sent is not None:
                self.offer(handed.sent)
            for key in handed.keys:
                self.post_message(key)
        self.call_later(self.narrator_app.release_keys)
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        """After the first frame: the narrator is imported and the session begins."""
        self.narrator_app.first_frame_is_drawn()
        self.run_worker(self._live(), exit_on_error=False, name="live", group="live")

    async def _live(self) -> None:
        """Open the session, then hear its events until it closes: the one worker of this screen."""
        app = self.narrator_app
        told_before = self.story.row.narrator
        narrator = await asyncio.to_thread(app.cast, self.story, self.asked_narrator, told_before)
        if self._is_closed:
            await narrator.aclose()
            return
        from narrator.engine.session import Session

        looks_around = self.asked_narrator is None and app.chooses_narrator
        self.session = Session(self.story, narrator, app.settings, "ask", app.version, looks_around=looks_around)
        if not self.story.is_read_only:
            self.session.back_up_daily(paths.backups_folder())
        heard = self.session.events()
        await self.session.greet()
        if self.story.is_read_only:
            self.set_interval(WATCH_SECONDS, self._watch)
        self.composer.history = self._earlier_inputs()
        for words in app.notes_of_start():
            self.transcript.note(words)
        self.send_waiting()
        self.run_worker(self._meet(), exit_on_error=False, name="meet", group="live")
        async for event in heard:
            self.hear(event)

    async def _meet(self) -> None:
        """Learn what the narrator can do, beside the telling: it may have to be asked over a wire."""
        try:
            await self.stand_narrator()
        except NarratorError as error:
            self.say(str(error))

    def _earlier_inputs(self) -> list[str]:
        count = self.story.count
        steps = self.story.steps(max(1, count - 199), count)
        return [*(step.text for step in steps if step.role == "player"), *self.composer.history]

    @on(Worker.StateChanged)
    def _worker_ended(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            if event.worker.name == "live" and self.session is not None:
                # Nobody hears the session any more: the player would wait for ever.
                self.app._handle_exception(WorkerFailed(event.worker.error))
                return
            self.broke(event.worker.name, event.worker.error)
            if self.session is None:
                self.take_back()

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)

    @property
    def rail(self) -> Rail:
        return self.query_one(Rail)

    @property
    def panel(self) -> Panel:
        return self.query_one(Panel)

    @property
    def notice(self) -> Notice:
        return self.query_one(Notice)

    def say(self, words: str) -> None:
        self.notice.say(words)

    def on_resize(self, event: events.Resize) -> None:
        self._fit()

    def _fit(self) -> None:
        """What there is room for (U18)."""
        width, height = self.app.size
        is_wide = width >= RAIL_COLUMNS if self._rail_wanted is None else self._rail_wanted
        self.rail.display = is_wide and width >= 44
        self.panel.display = self._is_panel_open and width >= 44
        self.set_class(width < NARROW_COLUMNS, "-narrow")
        self.set_class(width >= ROOMY_COLUMNS, "-roomy")
        self.query_one(KeyLine).display = height >= 8
        self.query_one(StatusLine).display = height >= 6
        self.query_one(Notice).display = height >= 4
        if self.rail.display and self.story is not None:
            self.show_rail()

    @property
    def is_busy(self) -> bool:
        """A command is on its way or a turn is being told."""
        if self.session is None or self.session.asking is not None:
            return False
        return bool(self._in_hand) or self.session.is_turning

    # -- what there is to say about now -------------------------------------------------------------------------------

    def place(self) -> str:
        """Where the keys go."""
        focused = self.focused
        if focused is None or isinstance(focused, Transcript):
            return "transcript"
        if isinstance(focused, Editor):
            return "composer"
        return "rail" if self.rail in focused.ancestors_with_self else "panel"

    def now(self) -> Now:
        """The facts that the registry decides by; nothing is read from the file for them."""
        session, window = self.session, self.transcript.window
        where = self._where
        step = self.acting_step()
        return Now(
            position=where.position if where else 1,
            redo=where.redo if where else 0,
            takes=step.takes if step else 1,
            is_turn=session is not None and (session.is_turning or session.replay is not None),
            has_partial=bool(self.transcript.partial.strip()),
            is_asking=session is not None and session.asking is not None,
            is_typing=self.place() == "composer",
            has_text=bool(self.composer.text),
            is_read_only=self.story is not None and self.story.is_read_only,
            is_ended=where.ended if where else False,
            has_narration=bool(window and window.count > 1),
            has_player_step=bool(window and window.count > 1),
            place=self.place(),
        )

    def is_here(self, action: Action) -> bool:
        return True

    def show_keys(self) -> None:
        """The footer, for this moment."""
        now = self.now()
        if now.is_turn:
            keys = [("Esc", "stop"), *self.footer(list(_AT_WORK))]
        elif now.place == "transcript":
            keys = [("↑↓", "select"), *self.footer(list(_READING)), ("Esc", "type")]
        elif now.place == "panel" and self.panel.page is not None:
            hints = [(each.label, each.word) for each in self.panel.page.hints]
            out = [] if any(key == "Esc" for key, _ in hints) else [("Esc", "out")]
            keys = [*hints, ("←→", "tabs"), *out, (self.narrator_app.keymap.label("screen.panel"), "close")]
        elif now.place == "rail":
            keys = [("Enter", "go there"), ("Tab", "next pane"), ("Esc", "back")]
        else:
            first = [("Enter", "send" if now.has_text else "go on")] if now.has_text or not now.is_ended else []
            kept = self.footer(["story.keep"]) if now.has_partial else []
            keys = [
                *first,
                *kept,
                *self.footer([i for i in TYPING if i != "story.continue" or now.has_text]),
                ("Esc", "read"),
            ]
        self.query_one(KeyLine).show(keys, self.footer(["story.help", "screen.palette"]))

    @on(Transcript.Moved)
    def _eye_moved(self) -> None:
        self.query_one(Notice).show_below(self.transcript.told_below)
        self.show_keys()

    def on_descendant_focus(self) -> None:
        self.composer.set_away(self.place() == "transcript", self.place() != "composer")
        self.show_keys()

    # -- the sides ---------------------------------------------------------------------------------------------------

    def refresh_sides(self) -> None:
        if self.rail.display:
            self.show_rail()
        if self.panel.display:
            self.fill_panel()
        self.composer.names = self.known_names()

    def show_rail(self) -> None:
        """The rail, as the story is now."""
        revision = self.story.revision
        self.rail.show(revision, self.story.checkpoints(), self.story.branches(), self.story.takes_on)

    def _watch(self) -> None:
        """Read only: somebody else plays; follow when the file has changed (T13)."""
        revision = self.story.revision
        if revision != self._revision:
            self._revision = revision
            where = self.story.where()
            self.transcript.refresh_story(ends=end_words(where, self.story))
            self.show_standing(where)
            self.refresh_sides()

    # -- the end -----------------------------------------------------------------------------------------------------

    async def close_story(self) -> None:
        """Stop what runs, keep the draft, close the file. Safe to call twice."""
        if self._is_closed:
            return
        self._is_closed = True
        await self.write_draft()
        for transcript in self.query(Transcript):
            transcript.window = None  # a last drawing must not read a closed file
        session, self.session = self.session, None
        if session is not None:
            await session.aclose()
        elif self.story is not None:
            self.story.close()

    async def on_unmount(self) -> None:
        await self.close_story()
