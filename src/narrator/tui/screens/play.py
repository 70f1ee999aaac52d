"""The play screen: transcript, composer, rail, panel and the lines at the foot, over one session.

It owns the session while it is shown. One worker hears the session's events; each command that lasts is a worker of its
own, so that no key ever waits for one. What the keys and words do stands in ``play_acts``.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.worker import Worker, WorkerState

from narrator import paths
from narrator.core.errors import NarratorError
from narrator.engine import events as e
from narrator.engine.commands import Command
from narrator.engine.progress import Pace, progress_words
from narrator.engine.teller import TRYING_AGAIN
from narrator.engine.verbs import COMMANDS, Effect
from narrator.store import commit, reads
from narrator.tui import remembered
from narrator.tui.actions import Action, Now
from narrator.tui.answers import ANSWERS, change_words, check_words, end_words, page, step_shown
from narrator.tui.path_source import PathSource
from narrator.tui.screens.dialogs import Page, Question
from narrator.tui.screens.paneling import PROMPT_TAG
from narrator.tui.screens.play_acts import RAIL_COLUMNS, PlayActs
from narrator.tui.transcript_window import Place
from narrator.tui.widgets.bars import KeyLine, Notice, Standing, StatusLine
from narrator.tui.widgets.composer import MODES, Composer, Editor
from narrator.tui.widgets.panel import Panel
from narrator.tui.widgets.rail import Rail
from narrator.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from narrator.engine.session import Session
    from narrator.engine.story import Story

DRAFT_SECONDS = 0.3
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
)
"""Footer order while typing."""
_PAPERS = {
    "script": "The transcript is being written; /unscript ends it.",
    "unscript": "The transcript has ended.",
    "record": "What you do is recorded from here; /record alone ends it.",
}
_AT_WORK = ("story.keep", "screen.page-down")
_READING = (
    "story.undo", "story.redo", "story.retry", "screen.previous-take", "story.edit", "story.save", "story.restore",
    "story.search", "story.continue",
)  # fmt: skip


class PlayScreen(PlayActs):
    """One campaign being played. ``open`` reads it before the first frame; ``start`` gives it a voice after it."""

    def __init__(self, path: Path, *, narrator: str | None = None) -> None:
        super().__init__()
        self.path = path
        self.asked_narrator = narrator
        self.session: Session | None = None
        self._answers: list[e.Event] = []
        self._steps: list[e.StepShown] = []
        self._where: e.HeadMoved | None = None
        self._standing = Standing()
        self._draft_timer: Timer | None = None
        self._told_since = 0.0
        self._told_bytes = 0
        self._kept_place: Place | None = None
        self._revision = -1
        self._typed_last = ("", "do")
        self._input_back = ""
        self._is_closed = False
        self._has_prompts = True
        self._has_text = False
        self._pace: Pace | None = None

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
        self._draft_timer = self.set_interval(DRAFT_SECONDS, self._write_draft, pause=True)
        self.transcript.stops_at_unread = self.narrator_app.settings.reading.stop_at_unread
        wanted = remembered.recall("rail")
        self._rail_wanted = wanted if isinstance(wanted, bool) else None
        self._fit()
        try:
            story = self.narrator_app.open_story(self.path)
        except NarratorError as error:
            self.narrator_app.open_failed(error)
            return
        self._restore_draft(story)
        self.story = story
        self.transcript.open_story(PathSource(story), end_words(story.where(), story))
        self._show_standing(story.where())
        self.composer.editor.focus()
        self.call_after_refresh(self._start)

    def _restore_draft(self, story: Story) -> None:
        """What was typed and not sent, or sent and not accepted, before anything of the new composer is kept (U9)."""
        kept = reads.draft(story.store)
        if kept is not None and kept.text:
            self.composer.put(kept.text)
            if kept.mode in MODES:
                self.composer.mode = kept.mode
                self.composer.show_mode()
            self.say("What you had typed is back.")

    def _start(self) -> None:
        """After the first frame: the narrator is imported and the session begins."""
        self.run_worker(self._live(), exit_on_error=False, name="live", group="live")

    async def _live(self) -> None:
        """Open the session, then hear its events until it closes: the one worker of this screen."""
        app = self.narrator_app
        narrator = await asyncio.to_thread(app.cast, self.story, self.asked_narrator)
        from narrator.engine.session import Session

        looks_around = self.asked_narrator is None and app.chooses_narrator
        self.session = Session(self.story, narrator, app.settings, "ask", app.version, looks_around=looks_around)
        if not self.story.is_read_only:
            self.session.back_up_daily(paths.backups_folder())
        heard = self.session.events()
        await self.session.greet()
        if self.story.is_read_only:
            self.set_interval(WATCH_SECONDS, self._watch)
        await self._stand_narrator()
        self.composer.history = self._earlier_inputs()
        for words in app.notes_of_start():
            self.transcript.note(words)
        async for event in heard:
            self._hear(event)

    async def _stand_narrator(self) -> None:
        """Who tells the story now, and the host that gets the words (T16); no budget for one that reads no prompt."""
        session = self.session
        if session is None:
            return
        abilities = await session.abilities()
        self._has_prompts = abilities.reads_messages
        share = self._standing.share if self._has_prompts else None
        self._stand(host=abilities.host, narrator=session.told_by, share=share)

    def _earlier_inputs(self) -> list[str]:
        count = self.story.count
        steps = self.story.steps(max(1, count - 199), count)
        return [*(step.text for step in steps if step.role == "player"), *self.composer.history]

    @on(Worker.StateChanged)
    def _worker_ended(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.broke(event.worker.name, event.worker.error)

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

    def _show_standing(self, where: e.HeadMoved) -> None:
        self._where = where
        place = str(self.story.state().values.get("location") or "")
        self._stand(
            campaign=self.story.row.title,
            place=place,
            position=where.position,
            redo=where.redo,
            is_read_only=self.story.is_read_only,
        )

    @property
    def is_window_assumed(self) -> bool:
        """Whether nobody knows how much the narrator can read (C3)."""
        return self._standing.is_assumed

    def _stand(self, **changes: object) -> None:
        from dataclasses import replace

        self._standing = replace(self._standing, **changes)  # type: ignore[arg-type]
        self.query_one(StatusLine).show(self._standing)
        self.show_keys()

    def show_keys(self) -> None:
        """The footer, for this moment."""
        now = self.now()
        if now.is_turn:
            keys = [("Esc", "stop"), *self.footer(list(_AT_WORK))]
        elif now.place == "transcript":
            keys = [("↑↓", "select"), *self.footer(list(_READING)), ("Esc", "type")]
        elif now.place == "panel" and self.panel.page is not None:
            hints = [(each.label, each.word) for each in self.panel.page.hints]
            keys = [*hints, ("←→", "tabs"), *([] if any(key == "Esc" for key, _ in hints) else [("Esc", "out")])]
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
        self.query_one(Notice).show_below(self.transcript.below)
        self.show_keys()

    def on_descendant_focus(self) -> None:
        self.composer.set_away(self.place() == "transcript", self.place() != "composer")
        self.show_keys()

    # -- events -----------------------------------------------------------------------------------------------------

    def _hear(self, event: e.Event) -> None:
        match event:
            case e.Delta(text=text):
                if self.notice.words.startswith(TRYING_AGAIN):
                    self.say("")
                self._begin_turn()
                self._told(text)
            case e.HeadMoved():
                self._moved(event)
            case e.StepShown():
                self._steps.append(event)
            case e.Ready():
                self._greeted(event)
            case e.StateChanged(changes=changes):
                for change in changes:
                    if words := change_words(change):
                        self.transcript.note(words)
            case e.ChecksMade(checks=checks) if "checks" not in self._in_hand:
                for check in checks:
                    self.transcript.note(check_words(check))
            case e.Noted(text=text):
                self.say(text)
                if self.session is not None and self.session.told_by != self._standing.narrator:
                    self.run_worker(self._stand_narrator(), exit_on_error=False, exclusive=True, group="narrator")
                if any(COMMANDS[name].is_turn for name in self._in_hand):
                    self.transcript.note(text)
            case e.Suggested(suggestions=suggestions):
                self.offer_suggestions(suggestions)
            case e.Progressed():
                self.say(progress_words(event, "Esc stops it"))
            case e.Replayed():
                self._replayed(event)
            case e.Failed():
                self._failed(event)
            case e.Asked():
                self._ask(event)
            case e.Done():
                self._done(event)
            case _ if isinstance(event, ANSWERS):
                self._answers.append(event)

    def _replayed(self, line: e.Replayed) -> None:
        """A line of a recording is performed like one that was given here; its progress stands in the notice."""
        if self._pace is None or line.number == 1:
            self._pace = Pace("replay", every=0)
        verb = COMMANDS.get(line.command)
        if verb is not None:
            self._in_hand.add(verb.name)
            if verb.effect in (Effect.TURN, Effect.MOVE, Effect.WRITE):
                self.transcript.clear_notes()
        if (event := self._pace.at(line.number - 1, line.total)) is not None:
            self.say(progress_words(event, "Esc stops it"))

    def _greeted(self, ready: e.Ready) -> None:
        self._stand(narrator=ready.narrator)
        if ready.read_only:
            self.say("Somebody else has this campaign open; you can read it, and it follows.")

    def _told(self, text: str) -> None:
        now = self.narrator_app.clock()
        if not self._told_bytes:
            self._told_since = now
        self._told_bytes += len(text.encode("utf-8", "replace"))
        self.transcript.grow(text)
        seconds = now - self._told_since
        if seconds > 0.5:
            self._stand(rate=round(self._told_bytes / 4 / seconds), is_telling=True)

    def _moved(self, where: e.HeadMoved) -> None:
        told, self._steps = self._steps, []
        if where == self._where and not self._in_hand:
            return  # the greeting says what is on the screen already
        is_told = any(COMMANDS[name].is_turn or name == "keep" for name in self._in_hand) and 0 < len(told) <= 2
        if is_told:
            self._told_bytes = 0
            self.transcript.accept_story(told[0].position, ends=end_words(where, self.story))
        else:
            self.transcript.refresh_story(keep=self._kept_place, ends=end_words(where, self.story))
        self._kept_place = None
        self._show_standing(where)
        self._refresh_sides()

    def _failed(self, failed: e.Failed) -> None:
        words = f"{failed.message} {failed.hint}".strip()
        is_turn = failed.draft is not None or failed.code == "stopped"
        self._told_bytes = 0
        if is_turn or self.transcript.draft is not None:
            has_partial = self.transcript.stop_draft()
            more = " Ctrl+K keeps what was told." if has_partial else ""
            retry = " Enter sends it again." if failed.draft else ""
            self.transcript.note(f"{words}{more}{retry}", is_error=failed.code != "stopped")
            if failed.draft and not self._is_replaying:
                typed = self.composer.text
                self.composer.put(failed.draft if not typed else f"{failed.draft}\n{typed}")
                self._input_back = failed.draft
            self.say("")
        else:
            self.say(words)
        self._stand(rate=0.0, is_telling=False)

    @property
    def _is_replaying(self) -> bool:
        return "replay" in self._in_hand

    def _ask(self, asked: e.Asked) -> None:
        def answered(choice: str | None) -> None:
            self.perform(Command("answer", {"choice": choice or asked.default}))

        if self.session is not None and self.session.asking is not None:
            self.app.push_screen(Question(asked), answered)

    def _done(self, done: e.Done) -> None:
        steps, self._steps = self._steps, []
        answers, self._answers = self._answers, []
        self._in_hand.discard(done.command)
        tag = done.tag if isinstance(done.tag, str) else ""
        if done.command not in COMMANDS:
            return  # a line of a replay that says nothing
        verb = COMMANDS[done.command]
        if self._is_replaying:
            answers = []  # a page for each look would lie one above the other
        elif done.command == "read" and steps:
            self.app.push_screen(Page("The story", step_shown(steps)))
        for answer in answers:
            title, lines = page(answer)
            if tag == PROMPT_TAG and isinstance(answer, e.PromptShown):
                self.show_prompt(answer)
            elif tag == "gauge" and isinstance(answer, e.PromptShown):
                self._show_gauge(answer)
            elif isinstance(answer, e.Found):
                self.found(answer)
            elif not tag:
                self.app.push_screen(Page(title, lines))
        if tag == PROMPT_TAG and not done.ok:
            self.prompt_failed("No prompt to show; the line below the story says why.")
        if done.ok and done.command in ("save", "save-at"):
            self.say(f"{self.notice.words} {self.narrator_app.keymap.label('story.restore')} goes back there.".strip())
        if done.command == "quit":
            self.narrator_app.leave()  # the last line of a replay
        if done.command in _PAPERS and done.ok:
            self.say(_PAPERS[done.command])
        if done.command == "keep" and done.ok and self._input_back:
            self.composer.put(self.composer.text.removeprefix(self._input_back).removeprefix("\n"))
        if done.ok and verb.effect in (Effect.TURN, Effect.MOVE, Effect.WRITE):
            self._input_back = ""
        if done.command == "narrator" and self.session is not None:
            self._stand(narrator=self.session.told_by)
        self._stand(rate=0.0 if not self.now().is_turn else self._standing.rate, is_telling=self.now().is_turn)
        if done.ok and verb.effect is Effect.TURN:
            self.perform(Command("prompt", tag="gauge"))
        if verb.effect in (Effect.MARK, Effect.WRITE, Effect.SETTING) and done.ok:
            self._refresh_sides()

    def _show_gauge(self, prompt: e.PromptShown) -> None:
        if not self._has_prompts:
            return
        window = prompt.budget.get("window")
        if isinstance(window, int) and window > 0:
            self._stand(share=prompt.counted / window)
        left_out = sum(part.kind == "left-out" and part.source in ("card", "knowledge") for part in prompt.parts)
        self._stand(crowded_out=left_out, is_assumed=prompt.budget.get("source") == "assumed")

    def _refresh_sides(self) -> None:
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
            self._show_standing(where)
            self._refresh_sides()

    # -- the draft --------------------------------------------------------------------------------------------------

    @on(Composer.Changed)
    def _typed(self, event: Composer.Changed) -> None:
        event.stop()
        self._typed_last = (self.composer.text_to_keep, self.composer.mode)
        if bool(self.composer.text) != self._has_text:
            self._has_text = not self._has_text
            self.show_keys()
        if self._draft_timer is not None:
            self._draft_timer.reset()
            self._draft_timer.resume()

    async def _write_draft(self) -> None:
        """Keep what is typed (U9); what was sent is kept beside it until it is accepted."""
        if self._draft_timer is not None:
            self._draft_timer.pause()
        composer = next(iter(self.query(Composer)), None)
        if composer is not None:
            self._typed_last = (composer.text_to_keep, composer.mode)
        if self.story is None or self.story.is_read_only:
            return
        text, mode = self._typed_last
        is_telling = self.session is not None and self.session.is_turning
        try:
            commit.keep_draft(self.story.store, text, mode, is_telling=is_telling)
        except NarratorError as error:
            self.say(f"What you type cannot be kept: {error.message}")

    def on_descendant_blur(self) -> None:
        if self._draft_timer is not None:
            self.call_later(self._write_draft)

    async def close_story(self) -> None:
        """Stop what runs, keep the draft, close the file. Safe to call twice."""
        if self._is_closed:
            return
        self._is_closed = True
        await self._write_draft()
        session, self.session = self.session, None
        if session is not None:
            await session.aclose()
        elif self.story is not None:
            self.story.close()

    async def on_unmount(self) -> None:
        await self.close_story()
