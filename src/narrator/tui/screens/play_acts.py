"""What the actions do on the play screen: each verb of the table by key, word and palette.

A verb whose arguments the screen knows (the selected step, a name from a list) is performed; one that needs words puts
itself into the composer. Verbs that only move or mark are performed at once, the others as workers.
"""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import SuspendNotSupported

from narrator import paths
from narrator.core.errors import Refusal
from narrator.engine.commands import Command, StepRef, TakeRef
from narrator.engine.verbs import COMMANDS
from narrator.tui import clipboard, remembered
from narrator.tui.actions import ACTIONS, Action
from narrator.tui.screens.dialogs import Chooser
from narrator.tui.screens.paneling import Paneling
from narrator.tui.widgets.listbox import Entry

if TYPE_CHECKING:
    from textual import events

    from narrator.exchange.importing import Prepared

HELD_SECONDS = 0.6
"""Presses closer than this are one held key: they never cross from the text to the story (U6)."""
RAIL_COLUMNS = 120
"""From here on the rail is open by itself (U18); where there are fewer, it stands in the story's way."""
_WANT_WORDS = ("prune", "script", "record")
"""Nothing has to be said with them, and yet most who choose them want to."""
_ABOUT_A_STEP = ("retell", "fork", "prompt", "takes")


def _written(text: str) -> Path:
    handle, name = tempfile.mkstemp(suffix=".txt", prefix="narrator-")
    path = Path(name)
    with open(handle, "wb") as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    return path


def _edited(editor: str, text: str) -> str:
    """The text as the player's editor left it. Blocks until the editor ends; raises ``OSError``, ``ValueError``."""
    path = _written(text)
    try:
        subprocess.run([*shlex.split(editor), str(path)], check=False)
        return path.read_text(encoding="utf-8", errors="replace").removesuffix("\n")
    finally:
        path.unlink(missing_ok=True)


class PlayActs(Paneling):
    """The deeds of the play screen. See ``play`` for what it owns and hears."""

    def __init__(self) -> None:
        super().__init__()
        self._rail_wanted: bool | None = None
        self._is_panel_open = False
        self._undo_held: tuple[float, str] = (0.0, "")

    def _fit(self) -> None:
        raise NotImplementedError

    def take_back(self) -> bool:
        """A line that waits goes back into the composer; False where none does."""
        raise NotImplementedError

    # -- keys -------------------------------------------------------------------------------------------------------

    def action_of(self, event: events.Key) -> str | None:
        """A key's action where the focus is; line editing and lists keep their own keys (U6)."""
        keymap, place = self.narrator_app.keymap, self.place()
        key = event.key
        if place == "transcript":
            if key in keymap.letters:
                return keymap.letters[key]
            if event.is_printable and event.character:
                self.composer.editor.focus()
                self.composer.editor.insert(event.character)
                return None
            if key == "enter":
                return "screen.next-pane"
        found = keymap.keys.get(key)
        if found is None:
            return None
        if place == "composer" and self.composer.text and key in ("left", "right", "home", "end"):
            return None
        if place in ("rail", "panel") and key in ("left", "right", "up", "down", "home", "end"):
            return None
        return found

    def is_here(self, action: Action) -> bool:
        return True

    # -- acts -------------------------------------------------------------------------------------------------------

    def acts(self) -> dict[str, Callable[[], Any]]:
        acts: dict[str, Callable[[], Any]] = {f"story.{name}": partial(self.by_word, name) for name in COMMANDS}
        acts |= super().acts()
        acts |= {
            "story.do": lambda: self._to_mode("do"),
            "story.say": lambda: self._to_mode("say"),
            "story.story": lambda: self._to_mode("story"),
            "story.undo": lambda: self.undo_or_redo("undo"),
            "story.redo": lambda: self.undo_or_redo("redo"),
            "story.retry": self.retry,
            "story.edit": self.edit,
            "story.save": self.save,
            "story.save-at": self.save,
            "story.restore": self.restore,
            "story.search": self.ask_search,
            "story.take": lambda: self.with_take("take"),
            "story.delete-take": lambda: self.with_take("delete-take"),
            "story.pin": lambda: self.with_take("pin"),
            "story.unpin": lambda: self.with_take("unpin"),
            "story.switch": lambda: self.with_branch("switch"),
            "story.delete-branch": lambda: self.with_branch("delete-branch"),
            "story.rename-branch": lambda: self.with_branch("rename-branch"),
            "story.delete-checkpoint": lambda: self.with_checkpoint("delete-checkpoint"),
            "story.rename-checkpoint": lambda: self.with_checkpoint("rename-checkpoint"),
            "story.narrator": self.narrator_app.open_narrators,
            "story.export": lambda: self.narrator_app.open_export(self.path, self.story.row.title),
            "screen.import": lambda: self.narrator_app.open_import(self.path, self.add_imported),
            "screen.mode": self.composer.next_mode,
            "screen.previous-take": lambda: self.page_take(-1),
            "screen.next-take": lambda: self.page_take(1),
            "screen.select-up": lambda: self.select(-1),
            "screen.select-down": lambda: self.select(1),
            "screen.page-up": lambda: self.transcript.page(-1),
            "screen.page-down": lambda: self.transcript.page(1),
            "screen.to-start": self.transcript.to_start,
            "screen.to-end": self.transcript.to_end,
            "screen.next-match": lambda: self.next_match(1),
            "screen.previous-match": lambda: self.next_match(-1),
            "screen.rail": self.toggle_rail,
            "screen.panel": self.toggle_panel,
            "screen.next-pane": lambda: self.next_pane(1),
            "screen.previous-pane": lambda: self.next_pane(-1),
            "screen.escape": self.escape,
            "screen.copy": self.copy,
            "screen.library": self.narrator_app.to_library,
        }
        return acts

    def by_word(self, name: str) -> None:
        """A verb without anything to fill in is performed; one that needs words goes into the composer."""
        verb = COMMANDS[name]
        needed = [argument for argument in verb.arguments if not argument.is_optional]
        if not needed and name not in _WANT_WORDS:
            args = self._step_args() if name in _ABOUT_A_STEP else {}
            self.run_command(Command(name, args))
            return
        step = self.acting_step()
        words = f"/{name} "
        if needed and needed[0].name == "step" and step is not None:
            words += f"{step.position} "
        if name == "edit-wording" and step is not None:
            words += step.text
        self.composer.leave_edit()
        self.composer.put(words)
        self.composer.editor.focus()
        self.say(f"{verb.help}  {verb.usage}")

    def _to_mode(self, mode: str) -> None:
        self.composer.mode = mode
        self.composer.show_mode()
        self.composer.editor.focus()

    def undo_or_redo(self, name: str) -> None:
        """Of the text while there is text, else of the story; a held key stays where it began (U6)."""
        editor = self.composer.editor
        is_typing = self.place() == "composer"
        about = "text" if is_typing and (editor.text or (name == "redo" and editor.has_redo)) else "story"
        last, where = self._undo_held
        now = self.narrator_app.clock()
        self._undo_held = (now, where if now - last < HELD_SECONDS and where else about)
        if now - last < HELD_SECONDS and where and where != about:
            self.say(f"Press again to {name} in the {about}.")
            return
        if about == "text":
            if name == "undo":
                editor.undo()
            else:
                editor.redo()
            return
        reason = ACTIONS[f"story.{name}"].reason(self.now())
        if reason:
            self.say(reason)
            return
        self.transcript.selected = None
        self.perform(Command(name))

    async def act(self, action_id: str) -> bool:
        if action_id in ("story.undo", "story.redo"):
            # Whether it is the story's or the text's is found out first: only the story's can be refused.
            self.acts()[action_id]()
            return True
        if action_id == "story.edit" and self._is_text_at_hand:
            # About the text, not about the story: it works while a turn is told.
            self.call_later(self._edit_outside)
            return True
        return await super().act(action_id)

    @property
    def _is_text_at_hand(self) -> bool:
        return self.composer.editing is not None or (self.place() == "composer" and bool(self.composer.text))

    def retry(self) -> None:
        """Another outcome of the selected step, else of the last narration."""
        self.perform(Command("retry", self._step_args()))

    def edit(self) -> None:
        """Edit the selected step (the last input without one); again: $VISUAL or $EDITOR."""
        step = self.acting_step()
        if self.transcript.selected is None:
            count = self.transcript.window.count if self.transcript.window else 0
            recent = self.story.steps(max(1, count - 9), count) if count else []
            step = next((s for s in reversed(recent) if s.role == "player"), step)
        if step is None or step.role not in ("player", "narrator"):
            self.say("Only an input or a narration can be edited.")
            return
        self.composer.edit_step(step.position, step.text)
        what = "tells it anew" if step.role == "player" else "takes it"
        self.say(f"Enter {what}, the old take is kept; Esc leaves it; Ctrl+O opens your editor.")

    async def _edit_outside(self) -> None:
        editor = paths.editor()
        if not editor:
            self.say("Set $VISUAL or $EDITOR to edit in a program of your own.")
            return
        try:
            # Nothing is drawn while the terminal is the editor's; a turn goes on being told meanwhile.
            with self.app.batch_update(), self.app.suspend():
                text = await asyncio.to_thread(_edited, editor, self.composer.text)
            self.composer.put(text, is_new=False)
        except (OSError, ValueError) as error:
            self.say(f"{editor} did not work: {error}")
        except SuspendNotSupported:
            self.say("This terminal cannot be lent to another program.")
        self.redraw()

    def page_take(self, by: int) -> None:
        """The next or previous take of the step; the text below follows (U5)."""
        step = self.acting_step()
        if step is None:
            return
        number = (step.take - 1 + by) % step.takes + 1
        self._kept_place = self._held(step.position)
        args = {"n": TakeRef(number=number), "step": StepRef(node_id=step.id)}
        self.perform(Command("take", args))

    def select(self, by: int) -> None:
        """Select the step above or below; the transcript has the focus then."""
        self.transcript.focus()
        self.transcript.select_next(by)

    # -- panes ------------------------------------------------------------------------------------------------------

    def toggle_rail(self) -> None:
        """Open or close the rail; the choice is remembered (U18)."""
        is_open = not self.rail.display
        self._rail_wanted = is_open
        remembered.remember("rail", is_open)
        self._fit()
        if self.rail.display:
            self.rail.to_current()
            self.rail.box.focus()
        else:
            self.composer.editor.focus()
            if is_open:
                self.say("The window is too narrow for it.")

    def toggle_panel(self) -> None:
        """Open the panel and go into it; from outside go in again; from inside close it."""
        if self._is_panel_open and self.place() == "panel":
            self._is_panel_open = False
            self._fit()
            self.composer.editor.focus()
            return
        was_open, self._is_panel_open = self._is_panel_open, True
        self._fit()
        if not self.panel.display:
            self.say("The window is too narrow for it.")
            return
        if not was_open:
            self.panel.open(self.panel.tab)
        self.panel.box.focus()

    def next_pane(self, by: int) -> None:
        """The next pane that is open; an open completion list first."""
        if self.place() == "composer" and by > 0 and self.composer.complete():
            return
        panes: list[Any] = [self.composer.editor, self.transcript]
        if self.rail.display:
            panes.append(self.rail.box)
        if self.panel.display:
            panes.append(self.panel.box)
        at = next((i for i, pane in enumerate(panes) if pane.has_focus), 0)
        panes[(at + by) % len(panes)].focus()

    def escape(self) -> None:
        """One thing a press (U6)."""
        session, transcript = self.session, self.transcript
        if self.composer.shut_menu():
            return
        if self.composer.editing is not None:
            self.composer.leave_edit()
            self.say("The edit was left; nothing changed.")
        elif self.take_back():
            self.say("The line is back; nothing was sent.")
        elif session is not None and (session.is_turning or session.is_working):
            self.perform(Command("stop"))
        elif self.selections:
            self.clear_selection()
        elif transcript.selected is not None and self.place() == "transcript":
            transcript.selected = None
            transcript.highlight("")
        elif self.place() == "transcript":
            self.composer.editor.focus()
        elif not self._leave_side():
            transcript.focus()
            self.say("↑ ↓ select a step; ? lists the letters.")

    def _leave_side(self) -> bool:
        """Out of rail or panel to typing; a rail that stands in the story's way closes. False: neither has the keys."""
        place = self.place()
        if place == "rail" and self.app.size.width < RAIL_COLUMNS:
            self.toggle_rail()
        elif place in ("rail", "panel"):
            self.composer.editor.focus()
        return place in ("rail", "panel")

    def copy(self) -> None:
        """Ctrl+C: stop a turn; copy what is selected; else say how to quit."""
        if self.session is not None and (self.session.is_turning or self.session.replay is not None):
            self.perform(Command("stop"))
            return
        editor = self.composer.editor
        text = editor.selected_text if self.place() == "composer" else ""
        text = text or self.get_selected_text() or ""
        step = self.acting_step() if not text and self.transcript.selected is not None else None
        text = text or (step.text if step is not None else "")
        if text:
            self.say(clipboard.copy(self.app, text))
        else:
            self.say("Ctrl+Q quits; there is nothing to save.")

    def add_imported(self, prepared: Sequence[Prepared]) -> None:
        """Add cards and knowledge to this campaign, which is open here. Raises ``NarratorError``."""
        if self.story.is_read_only:
            raise Refusal("read-only", "Somebody else has this campaign open; nothing can be added to it from here.")
        if self.session is not None and self.session.is_turning:
            raise Refusal("busy", "The story is being told.", "Stop it, or wait for its end.")
        for one in prepared:
            one.add_to(self.story.store)
        self.story.read_definition()

    def offer_suggestions(self, suggestions: Sequence[str]) -> None:
        """Take one into the composer (T20)."""

        def chosen(key: object) -> None:
            if isinstance(key, int):
                self.composer.put(suggestions[key])
                self.composer.editor.focus()

        entries = [Entry(index, text) for index, text in enumerate(suggestions)]
        self.app.push_screen(Chooser("You might", entries, is_wide=True), chosen)
