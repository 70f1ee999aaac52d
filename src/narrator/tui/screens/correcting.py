"""Dialogs that set the state right: one value with its type checked as it is typed (S23, W9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from narrator.engine.state_views import About
from narrator.tui.outside import plain
from narrator.tui.screens.dialogs import Dialog
from narrator.tui.widgets.listbox import Entry, ListBox

Verdict = Callable[[str], tuple[str, bool]]
"""What is typed → what it would come to in words, and whether it may be done."""


class Corrected(NamedTuple):
    """What the player typed: the value as a line, and why ('' for no reason)."""

    text: str
    reason: str


class Correcting(Dialog[Corrected]):
    """A value and a reason. ↑ and ↓ go through what may be chosen; Enter does it once the referee agrees."""

    DEFAULT_CSS = """
    Correcting #kind, Correcting #origin { height: auto; color: $faint; }
    Correcting #verdict { height: auto; min-height: 1; }
    Correcting ListBox { max-height: 8; }
    Correcting .label { height: 1; }
    """

    def __init__(self, about: About, verdict: Verdict, *, notice: str = "") -> None:
        super().__init__()
        self.about = about
        self._verdict = verdict
        self._notice = notice
        self._is_fine = False
        self._is_among = False

    def compose(self) -> ComposeResult:
        about = self.about
        with Vertical(id="box"):
            yield Static(plain(f"{about.title}: {about.words}"), id="title")
            yield Static(plain(about.kind), id="kind")
            yield Static(plain("becomes"), classes="label")
            yield Input(about.value, id="value", select_on_focus=True, compact=True)
            yield ListBox([Entry(value, words) for value, words in about.offers], id="offers")
            yield Static(plain("because (you may leave this empty)"), classes="label")
            yield Input("", id="reason", compact=True)
            yield Static(plain(""), id="verdict")
            yield Static(plain(self._origin()), id="origin")
            yield Static(plain(f"{self._offered()}Enter corrects · Tab to the reason · Esc leaves"), id="keys")

    def _offered(self) -> str:
        return "↑ ↓ choose · " if self.about.offers else ""

    def _origin(self) -> str:
        """Where the value was told: the prose there stays as it is (S23)."""
        origin = self.about.origin
        told = f"Step {origin:,} made it so; its text will go on saying so." if origin is not None else ""
        return " ".join(part for part in (self._notice, told) if part)

    def on_mount(self) -> None:
        box, words = self.query_one("#offers", ListBox), self.about.words
        box.display, box.can_focus = bool(self.about.offers), False
        now = next((v for v, _ in self.about.offers if v == self.about.value or words.startswith(f"{v},")), None)
        self._is_among = now is not None
        box.show(box.entries, at=now)
        self.query_one("#origin").display = bool(self._origin())
        self.query_one("#value", Input).focus()
        self._judge()

    def _judge(self) -> None:
        text = self.query_one("#value", Input).value
        is_same = text.strip() == self.about.value.strip()
        words, self._is_fine = ("It is so now.", False) if is_same else self._verdict(text)
        mark = "✓" if self._is_fine else "·" if is_same else "!"
        style = "" if self._is_fine else "$faint" if is_same else "$error"
        self.query_one("#verdict", Static).update(plain(f"{mark} {words}", style))

    @on(Input.Changed, "#value")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._judge()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._judge()
        if self._is_fine:
            values = (self.query_one(f"#{name}", Input).value.strip() for name in ("value", "reason"))
            self.dismiss(Corrected(*values))

    def on_list_box_chosen(self, event: ListBox.Chosen) -> None:
        event.stop()
        self._take(str(event.key))

    def _take(self, text: str) -> None:
        line = self.query_one("#value", Input)
        line.value = text
        line.cursor_position = len(text)
        line.focus()

    def on_key(self, event: events.Key) -> None:
        if event.key not in ("up", "down") or not self.about.offers:
            return
        box = self.query_one("#offers", ListBox)
        if self._is_among:
            box.move(1 if event.key == "down" else -1)
        self._is_among = True
        self._take(str(box.chosen))
        event.stop()
        event.prevent_default()
