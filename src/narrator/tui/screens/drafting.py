"""What the player types, on its way: kept in the file, sent, held until the narrator is awake, given back (U9).

Nothing typed is lost here. A line that is sent is kept beside the composer until it is accepted; one that cannot be
sent yet waits and can be taken back; one that failed is in the composer again, an edit as an edit of the same step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.timer import Timer

from narrator.core.errors import NarratorError
from narrator.engine.commands import Command, StepRef, parse_line
from narrator.engine.completion import parse_if_word
from narrator.engine.story import Story
from narrator.engine.verbs import COMMANDS
from narrator.store import commit, reads
from narrator.tui.actions import reason_for_typed
from narrator.tui.screens.dialogs import Chooser
from narrator.tui.screens.play_acts import PlayActs
from narrator.tui.widgets.composer import MODES, Composer, Input
from narrator.tui.widgets.listbox import Entry
from narrator.tui.wrap import clip

if TYPE_CHECKING:
    from narrator.tui.screens.first_page import Handed

DRAFT_SECONDS = 0.3
_WITHOUT_NARRATOR = ("quit", "help")
_MEANINGS = (
    Entry("edit", "Work out anew what it changes", "the narrator is asked; you choose what holds"),
    Entry("edit-wording", "The wording alone is new", "all that it changed stays"),
)


class Drafting(PlayActs):
    """The composer's way to the session and to the file. Owns the line that waits and the edit that was sent."""

    def __init__(self) -> None:
        super().__init__()
        self._draft_timer: Timer | None = None
        self._typed_last = ("", "do")
        self._has_text = False
        self._waiting: Input | None = None
        self._edit_sent: Input | None = None
        self._given_back = ""

    # -- sending ------------------------------------------------------------------------------------------------------

    @on(Composer.Sent)
    def _send(self, event: Composer.Sent) -> None:
        """Enter: an input, a command, an edit, or nothing, which is to go on (S48)."""
        event.stop()
        self.offer(Input(event.text, event.mode, self.composer.editing))

    def offer(self, line: Input) -> None:
        """Submit a line that was taken out of the composer; one that is not accepted stands there again."""
        before = self.composer.text
        if self.submit(line) or line.editing is not None:
            return
        if before and before == self._given_back:
            self.composer.put(f"{before}\n{line.text}")  # two lines in one breath: the first is back already
        else:
            self.give_back(line)
        self._given_back = self.composer.text

    def submit(self, line: Input) -> bool:
        """Send a line or hold it back while nobody listens; False where it is said why it cannot be sent."""
        try:
            command = self._command_of(line)
        except NarratorError as error:
            self.say(str(error))
            return False
        if self.session is None and command.name not in _WITHOUT_NARRATOR:
            return self._hold_back(line)
        reason = reason_for_typed(command.name, self.now())
        if reason and command.name not in ("answer",):
            self.say(reason)
            if self.now().is_ended and COMMANDS[command.name].is_turn and line.text.strip() and line.editing is None:
                # It can wait for nothing: what is typed next must not stand behind it.
                self.say(f"{reason} ↑ brings your line back.")
                return True
            return False
        if command.name == "edit" and self._is_narration(line.editing):
            self._edit_narration(line)
            return True
        if line.editing is None and command.name in ("do", "say", "story"):
            self._last_input = command
        self._go(line, command)
        return True

    def _go(self, line: Input, command: Command) -> None:
        self._edit_sent = line if line.editing is not None else None
        self.composer.take_out(line)
        self.run_command(command)

    def _command_of(self, line: Input) -> Command:
        text = line.text
        if line.editing is not None:
            return Command("edit", {"step": StepRef(position=line.editing), "text": text})
        if not text.strip():
            return Command("continue")
        if text.startswith(("/", "*")):
            return parse_line(text)
        if self.narrator_app.settings.reading.if_words:
            found = parse_if_word(text, last_input=self._last_input)
            if found is not None:
                if not self._has_said_if_word:
                    self._has_said_if_word = True
                    self.call_later(self.say, f"“{text.strip()}” alone is a command; /do {text.strip()} says it.")
                return found
        return Command(line.mode, {"text": text})

    # -- editing a narration (S22) ------------------------------------------------------------------------------------

    def _is_narration(self, position: int | None) -> bool:
        return position is not None and any(s.role == "narrator" for s in self.story.steps(position, position))

    def _edit_narration(self, line: Input) -> None:
        """A new text may mean another state: the player says which. Where there is none, the wording is all."""
        step = next(s for s in self.story.steps(line.editing or 1, line.editing or 1))
        if not line.text.strip():
            self.say("The new text is empty.")
        elif line.text == step.text:
            self.composer.leave_edit()
            self.say("The text is as it was; nothing changed.")
        elif self.story.definition.has_state or self.story.row.is_tracking:
            self.app.push_screen(
                Chooser("What does the new text mean for the state of the story?", _MEANINGS, is_wide=True),
                lambda key: self._go(line, self._edit_as(str(key), line)) if key is not None else None,
            )
        else:
            self._go(line, self._edit_as("edit-wording", line))

    def _edit_as(self, verb: str, line: Input) -> Command:
        return Command(verb, {"step": StepRef(position=line.editing), "text": line.text})

    # -- waiting and coming back --------------------------------------------------------------------------------------

    def _hold_back(self, line: Input) -> bool:
        """Nobody listens yet: the line waits beside the composer (U9). False where one waits already."""
        if self._waiting is not None:
            self.say("One line waits for the narrator already; Esc takes it back.")
            return False
        self._waiting = line
        self.composer.take_out(line)
        self._remember_typed(self.composer)
        shown = clip(" ".join(line.text.split()), 30) or "Going on"
        self.say(f"“{shown}” waits for the narrator to wake, and is sent then; Esc takes it back.")
        return True

    def send_waiting(self) -> None:
        """The narrator is awake."""
        line, self._waiting = self._waiting, None
        if line is not None:
            self.say("")
            self._last_try(line)

    def _last_try(self, line: Input) -> None:
        """Send what waited; what cannot be sent is in the composer again."""
        if line.editing is not None:
            self.give_back(line)
        self.offer(line)

    def take_back(self) -> bool:
        """The line that waits goes back into the composer; False where none does."""
        line, self._waiting = self._waiting, None
        if line is None:
            return False
        self.give_back(line)
        return True

    def give_back(self, line: Input) -> None:
        """A line that was not accepted is in the composer again, above what has been typed since."""
        if line.editing is not None and self.composer.editing is None:
            self.composer.edit_step(line.editing, line.text, begun="")
            return
        self.composer.give_back(line.text)
        if line.mode in MODES and line.editing is None and self.composer.editing is None:
            self.composer.mode = line.mode
            self.composer.show_mode()

    # -- the draft ----------------------------------------------------------------------------------------------------

    def restore_draft(self, story: Story, handed: Handed | None = None) -> None:
        """What was typed and not sent, or sent and not accepted, before anything of the new composer is kept (U9).

        The first page has shown that already; what was typed on it since is ``handed`` on.
        """
        kept = reads.draft(story.store)
        if handed is not None:
            self.composer.put(handed.text)
            self._typed_last = (handed.text, handed.mode)
            self.composer.mode = handed.mode
            self.composer.show_mode()
            if kept is not None and kept.text:
                self.say("What you had typed is back.")
            return
        if kept is not None and kept.text:
            self.composer.put(kept.text)
            if kept.mode in MODES:
                self.composer.mode = kept.mode
                self.composer.show_mode()
            self.say("What you had typed is back.")

    @on(Composer.Changed)
    def _typed(self, event: Composer.Changed) -> None:
        event.stop()
        self._remember_typed(self.composer)
        if bool(self.composer.text) != self._has_text:
            self._has_text = not self._has_text
            self.show_keys()
        if self._draft_timer is not None:
            self._draft_timer.reset()
            self._draft_timer.resume()

    def _remember_typed(self, composer: Composer) -> None:
        waiting = self._waiting.text if self._waiting is not None else ""
        text = "\n".join(part for part in (waiting, composer.text_to_keep) if part)
        self._typed_last = (text, composer.mode)

    async def write_draft(self) -> None:
        """Keep what is typed (U9); what was sent is kept beside it until it is accepted."""
        if self._draft_timer is not None:
            self._draft_timer.pause()
        composer = next(iter(self.query(Composer)), None)
        if composer is not None:
            self._remember_typed(composer)
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
            self.call_later(self.write_draft)
