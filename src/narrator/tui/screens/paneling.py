"""What the panel shows and wants on the play screen: pages of the open story, and the verbs behind their keys.

Pages are read from the story when the step the player looks at, the revision or the tab is another; the prompt alone
is asked of the session, for it is measured.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import on

from narrator.core.definition import find_field
from narrator.core.errors import NarratorError
from narrator.core.places import slug
from narrator.core.titles import full_title
from narrator.engine import state_views
from narrator.engine.cards import listed, told_with
from narrator.engine.commands import Command, StepRef
from narrator.tui.actions import ACTIONS
from narrator.tui.panel_pages import fields_by_key, history_page, nothing, saves_page, state_page
from narrator.tui.prompt_pages import cards_page, memories_page, prompt_page, whole_prompt
from narrator.tui.screens.correcting import Corrected, Correcting
from narrator.tui.screens.dialogs import Chooser, Page, Typed
from narrator.tui.screens.entering import Entering, proposed
from narrator.tui.screens.marking import Marking
from narrator.tui.widgets.listbox import Entry
from narrator.tui.widgets.panel import Panel
from narrator.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from narrator.engine.events import Asked, AuditListed, PromptShown
    from narrator.engine.state_views import About, StateOfStep
    from narrator.tui.transcript_window import StepLine

PROMPT_TAG = "panel:prompt"
"""Goes with the panel's own question for a prompt, and comes back with the answer."""


class Paneling(Marking):
    """Owns which field's history is open, and what of the story the panel shows."""

    def __init__(self) -> None:
        super().__init__()
        self._history: str | None = None
        self._came_from: Hashable | None = None
        self._seen_state: StateOfStep | None = None
        self._seen_history: AuditListed | None = None
        self._seen_prompt: PromptShown | None = None
        self._filled: tuple[object, ...] = ()

    # -- filling ----------------------------------------------------------------------------------------------------

    @on(Panel.Filled)
    def _turned(self, event: Panel.Filled) -> None:
        event.stop()
        self._history = None
        self.fill_panel()

    @on(Transcript.Moved)
    def _looked_elsewhere(self) -> None:
        """Another step may be selected: the panel shows that one (W7)."""
        if self.panel.display and self.story is not None and self._filled != self._wanted_page():
            self.fill_panel()

    def _wanted_page(self) -> tuple[object, ...]:
        return (self.panel.tab, self._history, self.transcript.selected, self.story.revision)

    def fill_panel(self) -> None:
        """Show what stands now behind the panel's tab."""
        self._filled = self._wanted_page()
        fill = {
            "state": self._show_state,
            "memories": self._show_memories,
            "cards": self._show_cards,
            "checkpoints": self._show_saves,
            "prompt": self._ask_prompt,
        }[self.panel.tab]
        try:
            with self.story.looking():
                fill()
        except NarratorError as error:
            self.panel.show(nothing(str(error)))
        self.show_keys()

    def _show_state(self) -> None:
        if self._history is None:
            self._seen_state = state_views.of_step(self.story, self.transcript.selected)
            page = state_page(self._seen_state)
            came_from, self._came_from = self._came_from, None
            if any(entry.key == came_from for entry in page.entries if came_from is not None):
                page = replace(page, at=came_from)
            self.panel.show(page)
            return
        chosen = self.panel.box.chosen
        is_open = isinstance(chosen, tuple) and chosen[0] == "audit"
        self._seen_history = state_views.history(self.story, self._history)
        self.panel.show(history_page(self._seen_history), keeps_cursor=is_open)

    def _show_memories(self) -> None:
        self.panel.show(memories_page(self.story.memories()))

    def _show_saves(self) -> None:
        self.panel.show(saves_page(self.story.checkpoints()))

    def _show_cards(self) -> None:
        step = self._chosen_step()
        told = told_with(self.story, self.story.node(step.id)) if step is not None else None
        texts = {card.name: card.text for card in self.story.definition.cards}
        words = f"step {step.position:,}" if step is not None else ""
        self.panel.show(cards_page(listed(self.story), texts, step=words, told=told))

    def _chosen_step(self) -> StepLine | None:
        """The narration that the player has selected; None while none is."""
        step = self.acting_step() if self.transcript.selected is not None else None
        return step if step is not None and step.role == "narrator" else None

    def _ask_prompt(self) -> None:
        """The prompt is measured by the session; it comes back as an answer."""
        if self.session is None:
            self.panel.show(nothing("The narrator is being woken."))
            return
        step = self._chosen_step()
        args = {"step": StepRef(node_id=step.id)} if step is not None else {}
        self.perform(Command("prompt", args, tag=PROMPT_TAG))

    def show_prompt(self, prompt: PromptShown) -> None:
        """The answer to ``_ask_prompt``: its parts, and the window as a bar."""
        if self.panel.tab == "prompt":
            step = self._chosen_step()
            self._seen_prompt = prompt
            if prompt.of is None:
                self._show_gauge(prompt)
            is_past = step is not None and prompt.of == step.id
            self.panel.show(prompt_page(prompt, step=f"step {step.position:,}" if is_past and step is not None else ""))
            self.show_keys()

    def _show_gauge(self, prompt: PromptShown) -> None:
        """The budget in the status line, and what has no room in it (C27)."""
        raise NotImplementedError

    def prompt_failed(self, words: str) -> None:
        """There is none: the step was told without one, or nothing fits."""
        if self.panel.tab == "prompt":
            self._seen_prompt = None
            self.panel.show(nothing(words))

    # -- what its keys want -------------------------------------------------------------------------------------------

    @on(Panel.Wanted)
    def _panel_wants(self, event: Panel.Wanted) -> None:
        event.stop()
        try:
            {
                "state": self._state_wants,
                "memories": self._memory_wants,
                "cards": self._card_wants,
                "checkpoints": self._save_wants,
                "prompt": self._prompt_wants,
            }[self.panel.tab](event.want, event.key)
        except NarratorError as error:
            self.say(str(error))

    def _is_refused(self, verb: str) -> bool:
        """Whether a verb cannot be done now; it is said why (U7)."""
        reason = ACTIONS[f"story.{verb}"].reason(self.now())
        if reason:
            self.say(reason)
        return bool(reason)

    def _state_wants(self, want: str, key: Hashable | None) -> None:
        if want == "back":
            self._history = None
            self.fill_panel()
        elif want == "add":
            self._add()
        elif isinstance(key, tuple) and key[0] == "audit" and self._seen_history is not None:
            entry = self._seen_history.audit[key[1]]
            if want == "choose":
                self.transcript.select(entry.position)
            elif want == "go" and not self._is_refused("go"):
                self.perform(Command("go", {"step": StepRef(position=entry.position)}))
            elif want == "correct":
                self.correct(entry.path)
        elif (found := self._path_of(key)) is not None:
            path, words = found
            if want == "choose":
                self._history, self._came_from = path, key
                self.fill_panel()
            elif want == "correct":
                self.correct(path, words)
            elif want == "retract" and path == "facts":
                self._retract(words)

    def _path_of(self, key: Hashable | None) -> tuple[str, str] | None:
        """(path, words) of the entry under the cursor."""
        shown = self._seen_state
        match key:
            case ("field", *_) if shown is not None and key in (fields := fields_by_key(shown)):
                return fields[key].path, fields[key].words
            case ("change", int(number)) if shown is not None:
                return shown.changes[number].path, shown.changes[number].became
        self.say("Choose a value first: ↑ and ↓.")
        return None

    # -- correcting ---------------------------------------------------------------------------------------------------

    def correct(self, path: str, words: str = "") -> None:
        """Ask for the right value of a field, and correct it (S23). Raises ``bad-value``."""
        if self._is_refused("correct"):
            return
        if path == "facts":
            self._correct_fact(words)
            return
        about = state_views.about(self.story, path)
        field = find_field(self.story.definition, path)
        assert field is not None

        def verdict(text: str) -> tuple[str, bool]:
            return state_views.verdict(self.story, path, state_views.read_typed(field, text))

        def typed(found: Corrected | None) -> None:
            if found is not None:
                args = {"path": path, "value": state_views.read_typed(field, found.text)}
                self.perform(Command("correct", args | ({"reason": found.reason} if found.reason else {})))

        self.app.push_screen(Correcting(about, verdict, notice=self._notice_of_place()), typed)

    def _notice_of_place(self) -> str:
        """A correction stands where the story is, whichever step is looked at."""
        is_here = self.transcript.selected in (None, self.story.count)
        return "" if is_here else "It holds from where the story is, not from this step."

    def _correct_fact(self, old: str) -> None:
        """Say a fact otherwise: the old one is taken back, the new one holds from here."""
        about = self._about_fact(old)

        def typed(found: Corrected | None) -> None:
            if found is not None:
                retract = [Command("retract", {"fact": old})] if old else []
                self._perform_all([*retract, Command("assert", {"text": found.text})])

        def verdict(text: str) -> tuple[str, bool]:
            return (f"Now known: {text.strip()}", True) if text.strip() else ("It says nothing.", False)

        self.app.push_screen(Correcting(about, verdict, notice=self._notice_of_place()), typed)

    def enter_changes(self, asked: Asked) -> None:
        """Let the player enter what an edited narration changes (S22); Esc goes back to the question."""
        flight = self.session.in_flight if self.session is not None else None
        if flight is None or flight.state is None:
            return

        def entered(found: dict[str, Any] | None) -> None:
            if found is not None:
                self.perform(Command("answer", {"choice": "enter", "value": found}))
            else:
                self._ask(asked)

        self.app.push_screen(Entering(self.story, flight.state, proposed(asked.shows)), entered)

    def _ask(self, asked: Asked) -> None:
        """Put a question that waits to the player."""
        raise NotImplementedError

    def _about_fact(self, old: str) -> About:
        kind = "A sentence that holds from here on"
        return state_views.About("facts", "Fact", kind, old or "a new one", old, (), None)

    def _retract(self, fact: str) -> None:
        if not self._is_refused("retract"):
            self.perform(Command("retract", {"fact": fact}))

    def _perform_all(self, commands: list[Command]) -> None:
        """One after another; the first that cannot be done ends it."""
        session = self.session
        if session is None:
            self.say("One moment: the narrator is being woken.")
            return

        async def perform() -> None:
            for command in commands:
                self._in_hand.add(command.name)
                if not await session.perform(command):
                    return

        self.run_worker(perform(), exit_on_error=False, group="perform", name=commands[0].name)

    def _add(self) -> None:
        """A fact, a question, or a field that has no value yet."""
        if self._is_refused("correct"):
            return
        story, shown = self.story, self._seen_state
        state = story.state()
        known = {each.path for each in shown.fields} if shown is not None else set()
        unset = [
            Entry(path, full_title(story.definition, state, path), "not set")
            for path, field in story.definition.fields.items()
            if path not in known and field.type != "relation" and state_views.is_shown(story.definition, path)
        ]
        entries = [Entry("fact", "A fact"), Entry("thread", "An open question"), *unset]

        def chosen(key: Hashable | None) -> None:
            if key == "fact":
                self._correct_fact("")
            elif key == "thread":
                self.app.push_screen(Typed("What is open?"), self._ask_open)
            elif isinstance(key, str):
                self.correct(key)

        self.app.push_screen(Chooser("Add to the state", entries), chosen)

    def _ask_open(self, text: str | None) -> None:
        if text is not None:
            name = slug(text)[:40].strip("-") or "question"
            self.perform(Command("correct", {"path": f"threads.{name}", "value": text}))

    # -- memories -----------------------------------------------------------------------------------------------------

    def _memory_wants(self, want: str, key: Hashable | None) -> None:
        if want == "add":
            self._type_and("remember", {}, "Remember", "")
            return
        found = key[1] if isinstance(key, tuple) and key[0] == "memory" else None
        memory = next((row for row in self.story.memories() if row.id == found), None)
        if memory is None:
            self.say("Choose a memory first: ↑ and ↓.")
        elif want == "choose":
            self.transcript.select(memory.depth)
        elif want == "pin" and not self._is_refused("pin-memory"):
            self.perform(Command("pin-memory", {"id": memory.id}))
        elif want == "edit":
            self._type_and("edit-memory", {"id": memory.id}, "Write the memory anew", memory.text)
        elif want == "forget":
            command = Command("forget-memory", {"id": memory.id})
            self._after_question(f"Forget “{memory.text[:60]}” for good?", "Forget it", command)

    def _type_and(self, verb: str, args: dict[str, object], title: str, text: str) -> None:
        """Ask for a line and do a verb with it."""
        if self._is_refused(verb):
            return

        def typed(found: str | None) -> None:
            if found is not None and found != text:
                self.perform(Command(verb, {**args, "text": found}))

        self.app.push_screen(Typed(title, text), typed)

    def _after_question(self, question: str, yes: str, command: Command) -> None:
        """Do what cannot be taken back once the player has said so; the safe answer stands first."""
        if self._is_refused(command.name):
            return

        def chosen(key: Hashable | None) -> None:
            if key == "yes":
                self.perform(command)

        self.app.push_screen(Chooser(question, [Entry("no", "Leave it as it is"), Entry("yes", yes)]), chosen)

    # -- cards --------------------------------------------------------------------------------------------------------

    def _card_wants(self, want: str, key: Hashable | None) -> None:
        name = key[1] if isinstance(key, tuple) and key[0] == "card" else None
        card = next((each for each in self.story.definition.cards if each.name == name), None)
        if card is None:
            self.say("Choose a card first: ↑ and ↓.")
        elif want == "choose":
            told = list(self.panel.page.detail(key)) if self.panel.page is not None else []
            self.app.push_screen(Page(card.name, told))
        elif want == "edit":
            self._type_and("card", {"name": card.name, "action": "edit"}, f"The text of {card.name}", card.text)
        elif not self._is_refused("card"):
            action = "delete" if want == "delete" else "off" if card.is_enabled else "on"
            self.perform(Command("card", {"name": card.name, "action": action}))

    # -- saved places, the prompt -------------------------------------------------------------------------------------

    def _save_wants(self, want: str, key: Hashable | None) -> None:
        name = key[1] if isinstance(key, tuple) and key[0] == "save" else None
        verb = {"save": "save", "rename": "rename-checkpoint", "delete": "delete-checkpoint"}.get(want, "restore")
        if want != "save" and name is None:
            self.say("Choose a saved place first: ↑ and ↓.")
        elif self._is_refused(verb):
            return
        elif want == "save":
            self.save()
        else:
            self.do_with_checkpoint(verb, str(name))

    def _prompt_wants(self, want: str, key: Hashable | None) -> None:
        prompt = self._seen_prompt
        if prompt is None:
            return
        if want == "whole":
            self.app.push_screen(Page("What the narrator is told", whole_prompt(prompt)))
        elif isinstance(key, tuple) and key[0] == "part":
            part = prompt.parts[key[1]]
            self.app.push_screen(Page(f"{part.kind} {part.source}", [part.text or part.why]))
