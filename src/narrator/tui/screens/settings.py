"""Settings: theme with preview, how reading stops. Written to config.toml, whose comments stay."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING

from narrator import paths
from narrator.tui.screens.base import ActingScreen
from narrator.tui.screens.dialogs import Chooser
from narrator.tui.screens.tellers import choose_narrator
from narrator.tui.widgets.listbox import Entry

if TYPE_CHECKING:
    from narrator.tui.app import NarratorApp


def _say(app: NarratorApp, words: str) -> None:
    screen = app.screen
    if isinstance(screen, ActingScreen):
        screen.say(words)


def choose_theme(app: NarratorApp) -> None:
    """A list of themes; each is seen while the cursor stands on it, Esc brings the old one back."""
    before = app.theme
    own = [theme.name for theme in app.own_themes]
    others = sorted(name for name in app.available_themes if name not in own)
    entries = [Entry(name, name, "" if name in own else "Textual") for name in [*own, *others]]

    def preview(key: Hashable | None) -> None:
        if isinstance(key, str) and key in app.available_themes:
            app.theme = key

    async def write(name: str) -> None:
        problem = await app.remember_setting(("theme",), name)
        _say(app, problem or f"The theme is {name}.")

    def chosen(key: Hashable | None) -> None:
        if isinstance(key, str):
            app.theme = key
            app.settings = replace(app.settings, theme=key)
            app.call_later(write, key)
        else:
            app.theme = before

    keys = "↑ ↓ look · Enter takes it · Esc: as it was"
    app.push_screen(Chooser("Theme", entries, preview=preview, at=before, keys=keys), chosen)


def choose_setting(app: NarratorApp) -> None:
    """The settings that have a screen; the rest stand in config.toml."""
    stops = app.settings.reading.stop_at_unread
    teller = app.settings.narrator or "chosen by what is there"
    if any(screen.is_window_assumed for screen in app.play_screens()[-1:]):
        teller += "; its window is assumed (context_window says better)"
    entries = [
        Entry("theme", "Theme", app.theme),
        Entry("narrator", "Narrator", teller),
        Entry("unread", "Stop at the first unread line of a long narration", "on" if stops else "off"),
        Entry("keys", "Keys", "[keys] in config.toml"),
        Entry("file", "All settings", str(paths.config_file())),
    ]

    async def write_unread(value: bool) -> None:
        problem = await app.remember_setting(("reading", "stop_at_unread"), value)
        _say(app, problem or f"A long narration {'stops' if value else 'does not stop'} at its first unread line.")

    def chosen(key: Hashable | None) -> None:
        if key == "theme":
            choose_theme(app)
        elif key == "narrator":
            choose_narrator(app)
        elif key == "unread":
            app.settings = replace(app.settings, reading=replace(app.settings.reading, stop_at_unread=not stops))
            for screen in app.play_screens():
                screen.transcript.stops_at_unread = not stops
            app.call_later(write_unread, not stops)
        elif key == "keys":
            _say(app, f'"story.undo" = "f9" under [keys] in {paths.config_file()}; the palette names the actions.')
        elif key == "file":
            _say(app, f"The settings are in {paths.config_file()}.")

    app.push_screen(Chooser("Settings", entries), chosen)
