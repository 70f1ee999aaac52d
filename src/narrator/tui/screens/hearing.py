"""What is heard on the play screen: each event of the session, and what it changes on the screen."""

from __future__ import annotations

from dataclasses import replace

from narrator.engine import events as e
from narrator.engine.commands import Command
from narrator.engine.progress import Pace, progress_words
from narrator.engine.state_views import place_name
from narrator.engine.teller import TRYING_AGAIN
from narrator.engine.verbs import COMMANDS, Effect, Verb
from narrator.tui.actions import BEING_TOLD
from narrator.tui.answers import ANSWERS, check_words, end_words, page, step_shown
from narrator.tui.screens.dialogs import Page, Question
from narrator.tui.screens.drafting import Drafting
from narrator.tui.screens.paneling import PROMPT_TAG
from narrator.tui.widgets.bars import Notice, Standing, StatusLine

_PAPERS = {
    "script": "The transcript is being written; /unscript ends it.",
    "unscript": "The transcript has ended.",
    "record": "What you do is recorded from here; /record alone ends it.",
}


class Hearing(Drafting):
    """The listening half of the play screen. Owns what was heard of the command in hand, and what the status says."""

    def __init__(self) -> None:
        super().__init__()
        self._answers: list[e.Event] = []
        self._steps: list[e.StepShown] = []
        self._where: e.HeadMoved | None = None
        self._standing = Standing()
        self._told_since = 0.0
        self._told_bytes = 0
        self._input_back = ""
        self._has_prompts = True
        self._pace: Pace | None = None

    @property
    def notice(self) -> Notice:
        raise NotImplementedError

    def refresh_sides(self) -> None:
        """The rail and the panel, where they are open."""
        raise NotImplementedError

    def hear(self, event: e.Event) -> None:
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
                    if change.phrase:  # what clamped it is a note by itself
                        self.transcript.note(change.phrase)
            case e.ChecksMade(checks=checks) if "checks" not in self._in_hand:
                for check in checks:
                    self.transcript.note(check_words(check))
            case e.Noted(text=text):
                self.say(text)
                if self.session is not None and self.session.told_by != self._standing.narrator:
                    self.run_worker(self.stand_narrator(), exit_on_error=False, exclusive=True, group="narrator")
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
        self.stand(narrator=ready.narrator)
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
            self.stand(rate=round(self._told_bytes / 4 / seconds), is_telling=True)

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
        self.show_standing(where)
        self.refresh_sides()

    def _failed(self, failed: e.Failed) -> None:
        words = f"{failed.message} {failed.hint}".strip()
        is_turn = failed.draft is not None or failed.code == "stopped"
        self._told_bytes = 0
        if is_turn or self.transcript.draft is not None:
            has_partial = self.transcript.stop_draft()
            more = " Ctrl+K keeps what was told." if has_partial else ""
            retry = " Enter sends it again." if failed.draft else ""
            self.transcript.note(f"{words}{more}{retry}", is_error=failed.code != "stopped")
            if failed.draft and not self._is_replaying and self._edit_sent is None:
                self.composer.give_back(failed.draft)
                self._input_back = failed.draft
            self.say("")
        else:
            self.say(words)
        self.stand(rate=0.0, is_telling=False)

    @property
    def _is_replaying(self) -> bool:
        return "replay" in self._in_hand

    def _ask(self, asked: e.Asked) -> None:
        def answered(choice: str | None) -> None:
            if choice == "enter":
                self.enter_changes(asked)
            else:
                self.perform(Command("answer", {"choice": choice or asked.default}))

        self.show_keys()
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
        self._told_done(done, verb)

    def _told_done(self, done: e.Done, verb: Verb) -> None:
        """What else changes with the answer to a command."""
        if done.ok and done.command in ("save", "save-at"):
            self.say(f"{self.notice.words} {self.narrator_app.keymap.label('story.restore')} goes back there.".strip())
        if done.command == "quit":
            self.narrator_app.leave()  # the last line of a replay
        if done.command in _PAPERS and done.ok:
            self.say(_PAPERS[done.command])
        if done.command in ("edit", "edit-wording") and self._edit_sent is not None:
            sent, self._edit_sent = self._edit_sent, None
            if not done.ok:
                self.give_back(sent)
        if done.command == "keep" and done.ok and self._input_back:
            self.composer.put(self.composer.text.removeprefix(self._input_back).removeprefix("\n"))
        if done.ok and verb.effect in (Effect.TURN, Effect.MOVE, Effect.WRITE):
            self._input_back = ""
        if done.command == "narrator" and self.session is not None:
            self.stand(narrator=self.session.told_by)
        now = self.now()
        if not now.is_turn and self.notice.words == BEING_TOLD:
            self.say("What you typed meanwhile is here still: Enter sends it." if now.has_text else "")
        self.stand(rate=self._standing.rate if now.is_turn else 0.0, is_telling=now.is_turn)
        if done.ok and verb.effect is Effect.TURN:
            self.perform(Command("prompt", tag="gauge"))
        if verb.effect in (Effect.MARK, Effect.WRITE, Effect.SETTING) and done.ok:
            self.refresh_sides()

    async def stand_narrator(self) -> None:
        """Who tells the story now, and the host that gets the words (T16); no budget for one that reads no prompt."""
        session = self.session
        if session is None:
            return
        abilities = await session.abilities()
        self._has_prompts = abilities.reads_messages
        share = self._standing.share if self._has_prompts else None
        self.stand(host=abilities.host, narrator=session.told_by, share=share)

    def _show_gauge(self, prompt: e.PromptShown) -> None:
        if not self._has_prompts:
            return
        window = prompt.budget.get("window")
        if isinstance(window, int) and window > 0:
            self.stand(share=prompt.counted / window)
        left_out = sum(part.kind == "left-out" and part.source in ("card", "knowledge") for part in prompt.parts)
        self.stand(crowded_out=left_out, is_assumed=prompt.budget.get("source") == "assumed")

    def show_standing(self, where: e.HeadMoved) -> None:
        self._where = where
        self.stand(
            campaign=self.story.row.title,
            place=place_name(self.story),
            position=where.position,
            redo=where.redo,
            is_read_only=self.story.is_read_only,
        )

    @property
    def is_window_assumed(self) -> bool:
        """Whether nobody knows how much the narrator can read (C3)."""
        return self._standing.is_assumed

    def stand(self, **changes: object) -> None:
        self._standing = replace(self._standing, **changes)  # type: ignore[arg-type]
        self.query_one(StatusLine).show(self._standing)
        self.show_keys()
