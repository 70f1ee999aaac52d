"""Who tells the story: what is configured, the servers found on this machine, and a test of each (T19)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from narrator.config import Settings
from narrator.core.errors import NarratorError
from narrator.engine.casting import candidates
from narrator.engine.commands import Command
from narrator.tui.outside import plain
from narrator.tui.screens.base import ActingScreen
from narrator.tui.screens.dialogs import Chooser
from narrator.tui.widgets.listbox import Entry, ListBox

if TYPE_CHECKING:
    from narrator.tui.app import NarratorApp


_LOOK_SECONDS = 3.0
"""Nobody waits for this look: the list stands there already."""


class TryButton(Static):
    """Can be clicked; Ctrl+T does the same."""

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(TellerChooser.Wanted())


class TellerChooser(Chooser):
    """The narrators. Those on this machine are looked for while the list stands there already.

    ``settings`` grows by what is found; whoever takes the choice takes them too.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+t", "try", show=False, priority=True)]
    DEFAULT_CSS = """
    TellerChooser #test { width: auto; color: $primary; text-style: underline; }
    TellerChooser #result { height: auto; max-height: 8; }
    """

    class Wanted(events.Event):
        """The button was clicked."""

    def __init__(self, settings: Settings, told_by: str | None) -> None:
        super().__init__(
            "Who tells the story",
            _entries(settings),
            keys="type to narrow · Enter chooses · ^T tests · Esc leaves",
            at=told_by,
            is_wide=False,
        )
        self.settings = settings
        self._agreed = ""

    def compose(self) -> ComposeResult:
        yield from super().compose()

    def on_mount(self) -> None:
        super().on_mount()
        box = self.query_one("#box", Vertical)
        box.mount(TryButton(plain("Test this one (^T)"), id="test"), Static(plain(""), id="result"))
        self._look_around()

    @work(group="look")
    async def _look_around(self) -> None:
        from narrator.engine.offering import find_servers

        self.settings, added = await find_servers(self.settings, _LOOK_SECONDS)
        if added:
            self._all = _entries(self.settings, found=tuple(added))
            box = self.query_one(ListBox)
            box.show(self._all, at=box.chosen)

    def on_teller_chooser_wanted(self) -> None:
        self.action_try()

    def action_try(self) -> None:
        """Test the narrator that the cursor stands on; another machine is sent something only when asked twice."""
        from narrator.engine.trying import elsewhere

        name = self.query_one(ListBox).chosen
        if not isinstance(name, str):
            return
        try:
            host = elsewhere(self.settings, name)
        except NarratorError as error:
            self._tell(str(error))
            return
        if host and self._agreed != host:
            self._agreed = host
            self._tell(f"{host} is another machine. ^T again sends it a sentence of ours, nothing of your story.")
            return
        self._tell(f"Testing {name} …")
        self._try(name)

    @work(group="try", exclusive=True)
    async def _try(self, name: str) -> None:
        from narrator.engine.trying import try_narrator

        self._tell(f"{name}: {await try_narrator(self.settings, name)}")

    def _tell(self, words: str) -> None:
        self.query_one("#result", Static).update(plain(words))


def _entries(settings: Settings, found: tuple[str, ...] = ()) -> list[Entry]:
    """The narrators by name, with what each is."""
    entries = []
    for each in candidates(settings):
        chosen = settings.narrators.get(each.name)
        model = (chosen.model or Path(chosen.model_path or "").name) if chosen is not None else ""
        where = "found here" if each.name in found else each.base_url or each.kind
        entries.append(Entry(each.name, each.name, " · ".join(part for part in (model, where) if part)))
    return entries


def choose_narrator(app: NarratorApp) -> None:
    """Who tells the story: for this campaign from the next turn on, else the default of the config."""
    screens = app.play_screens()
    session = screens[-1].session if screens else None
    chooser = TellerChooser(
        session.settings if session is not None else app.settings,
        session.narrator.name if session is not None else app.settings.narrator,
    )

    async def write(name: str) -> None:
        chosen, problem = chooser.settings.narrators.get(name), ""
        if chosen is not None and name not in app.settings.narrators:
            found = {"kind": chosen.kind, "base_url": chosen.base_url, "model": chosen.model}
            problem = await app.remember_setting(("narrators", name), found)
        problem = problem or await app.remember_setting(("narrator",), name)
        app.settings = replace(chooser.settings, narrator=name)
        screen = app.screen
        if isinstance(screen, ActingScreen):
            screen.say(problem or f"{name} tells new campaigns from now on.")

    def chosen(key: Hashable | None) -> None:
        if not isinstance(key, str):
            return
        if session is not None and screens:
            session.settings = chooser.settings
            screens[-1].perform(Command("narrator", {"name": key}))
        else:
            app.call_later(write, key)

    app.push_screen(chooser, chosen)
