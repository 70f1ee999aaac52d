"""Dialogs: a question with a safe default, a line to type, a list to choose from, a page to read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from narrator.engine.events import Asked
from narrator.tui.answers import spelled
from narrator.tui.outside import plain
from narrator.tui.widgets.listbox import Entry, ListBox

Result = TypeVar("Result")

QUESTIONS = {
    "confirm-delete": "Delete this?",
    "confirm-prune": "Delete all this for good?",
    "edited-state": "What does the new text mean for the state of the story?",
    "extraction": "What the narrator says has changed cannot be read. What now?",
    "confirm-host": "The words of this story will be sent to this host. Is that right?",
    "confirm-compaction": "Sum up the older part of the story first?",
}
CHOICES = {
    "yes": "Yes",
    "no": "No",
    "accept": "Accept the text, without changes to the state",
    "again": "Ask again",
    "discard": "Discard the text",
    "worked-out": "As worked out anew",
    "keep": "Keep what the old text did",
    "none": "It changes nothing",
    "enter": "I will enter it",
    "cancel": "Leave all as it was",
}


class Dialog(ModalScreen[Result]):
    """A box over the screen; Esc leaves it with nothing done."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", show=False),
    ]
    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 60%; }
    Dialog > #box {
        width: 64; max-width: 100%; height: auto; max-height: 90%; background: $surface;
        border: round $primary; padding: 0 1;
    }
    Dialog #title { height: auto; text-style: bold; color: $chosen; }
    Dialog #shows { height: auto; max-height: 12; }
    Dialog #keys { height: auto; color: $faint; }
    Dialog ListBox { height: auto; max-height: 16; }
    Dialog Input { border: none; height: 1; padding: 0; background: $panel; }
    Dialog.-wide > #box { width: 90; height: 90%; }
    Dialog.-wide ListBox { height: 1fr; max-height: 100%; }
    """

    def action_leave(self) -> None:
        self.dismiss(None)


class Question(Dialog[str]):
    """A question of the session. The default stands first and is what Esc answers."""

    def __init__(self, asked: Asked) -> None:
        super().__init__()
        self.asked = asked

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static(plain(QUESTIONS.get(self.asked.what, self.asked.what)), id="title")
            yield Static(plain("\n".join(self._shown())), id="shows")
            ordered = [self.asked.default, *(c for c in self.asked.choices if c != self.asked.default)]
            yield ListBox([Entry(choice, CHOICES.get(choice, choice)) for choice in ordered])
            yield Static(
                plain(f"Enter chooses · Esc: {CHOICES.get(self.asked.default, self.asked.default)}"), id="keys"
            )

    def _shown(self) -> list[str]:
        shows = self.asked.shows
        if isinstance(shows, Mapping):
            return [f"{str(key).replace('_', ' ')}: {_in_words(value)}" for key, value in shows.items() if value]
        if isinstance(shows, Sequence) and not isinstance(shows, str):
            return [spelled(each) for each in shows]
        return [] if shows is None else [spelled(shows)]

    def on_list_box_chosen(self, event: ListBox.Chosen) -> None:
        self.dismiss(str(event.key))

    def action_leave(self) -> None:
        self.dismiss(self.asked.default)


def _in_words(value: object) -> str:
    """Changes of the state in words, anything else as it stands."""
    if isinstance(value, Sequence) and all(isinstance(each, Mapping) and "words" in each for each in value):
        return "; ".join(str(each["words"] or each["path"]) for each in value)
    return spelled(value)


class Typed(Dialog[str]):
    """One line to type; ``value`` stands there already. Enter takes it, Esc leaves."""

    def __init__(self, title: str, value: str = "", keys: str = "Enter takes it · Esc leaves") -> None:
        super().__init__()
        self._title = title
        self._value = value
        self._keys = keys

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static(plain(self._title), id="title")
            yield Input(self._value, select_on_focus=True, compact=True)
            yield Static(plain(self._keys), id="keys")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self.dismiss(event.value)
        else:
            self.dismiss(None)


class Chooser(Dialog[Hashable]):
    """A list that typing narrows. ``preview`` hears of every entry the cursor stands on."""

    def __init__(
        self,
        title: str,
        entries: Sequence[Entry],
        *,
        preview: Callable[[Hashable | None], None] | None = None,
        keys: str = "type to narrow · Enter chooses · Esc leaves",
        at: Hashable | None = None,
        is_wide: bool = False,
        empty: str = "Nothing fits.",
    ) -> None:
        super().__init__(classes="-wide" if is_wide else "")
        self._title = title
        self._all = list(entries)
        self._preview = preview
        self._keys = keys
        self._at = at
        self._empty = empty

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static(plain(self._title), id="title")
            yield Input(compact=True, placeholder="")
            yield ListBox(self._all, empty=self._empty)
            yield Static(plain(self._keys), id="keys")

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        box = self.query_one(ListBox)
        if self._at is not None:
            box.show(self._all, at=self._at)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        words = event.value.casefold().split()
        fitting = [
            entry
            for entry in self._all
            if not words or (entry.key is not None and all(word in _searched(entry) for word in words))
        ]
        if words:
            fitting.sort(key=lambda entry: _rank(entry, words[0]))
        box = self.query_one(ListBox)
        first = next((entry.key for entry in fitting if entry.key is not None), None)
        box.show(fitting, at=first if words else self._at)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(self.query_one(ListBox).chosen)

    def on_list_box_chosen(self, event: ListBox.Chosen) -> None:
        self.dismiss(event.key)

    def on_list_box_moved(self, event: ListBox.Moved) -> None:
        if self._preview is not None:
            self._preview(event.key)

    def on_key(self, event: events.Key) -> None:
        """The list moves while the line is typed."""
        if event.key in ("up", "down", "pageup", "pagedown"):
            box = self.query_one(ListBox)
            page = max(1, box.size.height - 1)
            box.move({"up": -1, "down": 1, "pageup": -page, "pagedown": page}[event.key])
            event.stop()
            event.prevent_default()


def _searched(entry: Entry) -> str:
    return f"{entry.text} {entry.detail} {entry.words}".casefold()


def _rank(entry: Entry, word: str) -> int:
    """How near an entry is to a word: its name begins so, a word of its name does, another word of it does, or none."""
    text = entry.text.casefold().lstrip("▸● ")
    name = text.partition(":")[0]
    if text.startswith(word):
        return 0
    ranked = (name, entry.words.casefold(), f"{text} {entry.detail}".casefold())
    return next((at for at, each in enumerate(ranked, 1) if f" {word}" in f" {each}"), len(ranked) + 1)


class Page(Dialog[None]):
    """Something to read: a list, the state, the help. Any arrow scrolls, Esc or q closes."""

    DEFAULT_CSS = """
    Page VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; }
    Page #text { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,enter,space", "leave", show=False)]

    def __init__(self, title: str, lines: Sequence[str] | Content) -> None:
        super().__init__(classes="-wide")
        self._title = title
        self._lines = [lines] if isinstance(lines, Content) else [plain(each) for each in lines]

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static(plain(self._title), id="title")
            with VerticalScroll(can_focus=True):
                yield Static(Content("\n").join(self._lines), id="text", markup=False)
            yield Static(plain("↑ ↓ PgUp PgDn scroll · Esc closes"), id="keys")
