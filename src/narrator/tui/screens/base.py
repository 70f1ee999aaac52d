"""What all full screens share: keys become actions of the registry, and what cannot be done says so (U6, U7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from textual import events
from textual.screen import Screen

from narrator.tui.actions import ACTIONS, Action, Now
from narrator.tui.keymap import show_key
from narrator.tui.screens.dialogs import Chooser
from narrator.tui.widgets.listbox import Entry

if TYPE_CHECKING:
    from narrator.tui.app import NarratorApp


class ActingScreen(Screen[None]):
    """A screen whose keys are the registry's. ``now`` says what it knows; ``acts`` maps action ids to what is done."""

    AUTO_FOCUS = None

    @property
    def narrator_app(self) -> NarratorApp:
        return cast("NarratorApp", self.app)

    def now(self) -> Now:
        """What this moment allows."""
        return Now()

    def acts(self) -> dict[str, Callable[[], Any]]:
        """What each action does here."""
        app = self.narrator_app
        return {
            "screen.palette": self.open_palette,
            "screen.redraw": self.redraw,
            "screen.settings": app.open_settings,
            "screen.theme": app.open_themes,
            "screen.import": app.open_import,
            "story.help": app.open_help,
            "story.quit": app.leave,
        }

    def say(self, words: str) -> None:
        """One line for the player."""

    def redraw(self) -> None:
        """Paint all of it again."""
        self.refresh(layout=True, repaint=True)
        for widget in self.query("*"):
            widget.refresh()

    def action_of(self, event: events.Key) -> str | None:
        """The action a key stands for here and now, or None: the key goes on to the focused widget."""
        return self.narrator_app.keymap.keys.get(event.key)

    async def on_key(self, event: events.Key) -> None:
        """A key that no widget took."""
        found = self.action_of(event)
        if found is None:
            return
        event.stop()
        event.prevent_default()
        await self.act(found)

    def is_here(self, action: Action) -> bool:
        """Whether the action belongs to this screen."""
        return action.is_library

    async def act(self, action_id: str) -> bool:
        """Do an action, or say in one line why not."""
        action = ACTIONS[action_id]
        if not self.is_here(action):
            self.say(f"“{action.title}” works in a campaign; open one first.")
            return False
        reason = action.reason(self.now())
        if reason:
            self.say(reason)
            return False
        result = self.acts()[action_id]()
        if result is not None and hasattr(result, "__await__"):
            await result
        return True

    def footer(self, order: list[str]) -> list[tuple[str, str]]:
        """Keys and words of those actions that can be done now."""
        now, keymap = self.now(), self.narrator_app.keymap
        shown: list[tuple[str, str]] = []
        for action_id in order:
            action = ACTIONS[action_id]
            label = keymap.label(action_id, is_letter=now.place == "transcript" and bool(action.letters))
            label = {"←": "←→", "[": "[ ]"}.get(label, label)
            if label and not action.reason(now):
                shown.append((label, action.footer or action.title.lower()))
        return shown

    def open_palette(self) -> None:
        """All actions of this screen, with their keys."""
        keymap, now = self.narrator_app.keymap, self.now()
        entries = []
        for action in ACTIONS.values():
            if not self.is_here(action) or action.id == "screen.palette":
                continue
            keys = " ".join(show_key(key) for key in keymap.of_action.get(action.id, ()))
            word = f"/{action.verb}" if action.verb else ""
            detail = "  ".join(part for part in (word, keys) if part)
            is_faint = bool(action.reason(now))
            text = f"{action.title}: {action.help}"
            entries.append(Entry(action.id, text, detail, is_faint=is_faint, words=action.words))

        def chosen(key: object) -> None:
            if isinstance(key, str):
                self.call_later(self.act, key)

        self.app.push_screen(Chooser("All commands", entries, is_wide=True), chosen)
