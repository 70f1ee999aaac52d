"""The form of “I will enter it”: the changes of an edited narration as lines, judged as they are written (S22)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from narrator.core.errors import NarratorError
from narrator.core.proposal import Proposal
from narrator.core.state import State
from narrator.core.titles import full_title
from narrator.engine import entering
from narrator.engine.state_views import as_typed, kind_words
from narrator.engine.story import Story
from narrator.tui.outside import plain
from narrator.tui.panel_pages import Hint, hint
from narrator.tui.screens.dialogs import Chooser, Dialog
from narrator.tui.widgets.listbox import Entry, ListBox
from narrator.tui.widgets.panel import Words


def proposed(shows: Any) -> list[Proposal]:
    """The changes that a question shows, as lines to begin with: those worked out anew, else those of the old text."""
    if not isinstance(shows, Mapping):
        return []
    found = shows.get("worked_out") or shows.get("kept") or ()
    return [Proposal(str(each["op"]), str(each["path"]), each.get("value")) for each in found if "op" in each]


class Changing(Dialog[Proposal]):
    """One change: how (↑ and ↓), the value, and what the referee makes of it."""

    DEFAULT_CSS = """
    Changing #kind { height: auto; color: $faint; }
    Changing #verdict { height: auto; min-height: 1; }
    """

    def __init__(self, story: Story, state: State, before: Sequence[Proposal], change: Proposal) -> None:
        super().__init__()
        self._story = story
        self._state = state
        self._before = list(before)
        self._change = change
        self._is_fine = False

    def compose(self) -> ComposeResult:
        definition, change = self._story.definition, self._change
        field = entering.field_of(definition, change.path)
        ops = entering.ops_of(field)
        ops = (*([change.op] if change.op and change.op not in ops else []), *ops)
        with Vertical(id="box"):
            yield Static(plain(full_title(definition, self._state, change.path)), id="title")
            yield Static(plain(kind_words(field)), id="kind")
            yield ListBox([Entry(op, op) for op in ops], id="ops")
            yield Input(as_typed(field, change.value), id="value", select_on_focus=True, compact=True)
            yield Static(plain(""), id="verdict")
            yield Static(plain("↑ ↓ how · Enter takes it · Esc leaves"), id="keys")

    def on_mount(self) -> None:
        box = self.query_one(ListBox)
        box.can_focus = False
        if self._change.op:
            box.show(box.entries, at=self._change.op)
        self.query_one(Input).focus()
        self._judge()

    def _written(self) -> Proposal:
        value = entering.read_value(self.query_one(Input).value)
        return Proposal(str(self.query_one(ListBox).chosen), self._change.path, None if value == "" else value)

    def _judge(self) -> None:
        judged = entering.judge_each(self._story, self._state, [*self._before, self._written()])[-1]
        self._is_fine = judged.is_fine
        words = f"{'✓' if judged.is_fine else '!'} {judged.words}"
        self.query_one("#verdict", Static).update(plain(words, "" if judged.is_fine else "$error"))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._judge()

    def on_list_box_moved(self, event: ListBox.Moved) -> None:
        event.stop()
        self._judge()

    def on_list_box_chosen(self, event: ListBox.Chosen) -> None:
        event.stop()
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._judge()
        if self._is_fine:
            self.dismiss(self._written())

    def on_key(self, event: events.Key) -> None:
        if event.key in ("up", "down"):
            self.query_one(ListBox).move(1 if event.key == "down" else -1)
            event.stop()
            event.prevent_default()


HINTS = (
    hint("enter", "edit", "edit", "Enter"),
    hint("a", "add", "add"),
    hint("x", "remove", "remove"),
    hint("d", "done", "done"),
    hint("escape", "back", "leave", "Esc"),
)


class Entering(Dialog[dict[str, Any]]):
    """All changes, one a line, each with what the referee makes of it. Done once there is nothing against any."""

    DEFAULT_CSS = """
    Entering ListBox { min-height: 3; }
    Entering #verdict { height: auto; min-height: 1; }
    """

    def __init__(self, story: Story, state: State, changes: Sequence[Proposal]) -> None:
        super().__init__()
        self._story = story
        self._state = state
        self.changes = list(changes)

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static(plain("What the new text changes"), id="title")
            yield ListBox(empty="Nothing; a adds a change.")
            yield Static(plain(""), id="verdict")
            yield Words(id="hints")

    def on_mount(self) -> None:
        self.query_one(Words).show([(each.want, _shown(each)) for each in HINTS])
        self._show()
        self.query_one(ListBox).focus()

    def _show(self, at: int = 0) -> None:
        self.judged = entering.judge_each(self._story, self._state, self.changes)
        definition = self._story.definition
        lines = []
        for number, (change, judged) in enumerate(zip(self.changes, self.judged, strict=True)):
            name = full_title(definition, self._state, change.path)
            words = judged.words if judged.is_fine else f"{name} {change.op} {change.value}"
            lines.append(Entry(number, f"{'✓' if judged.is_fine else '!'} {words}", change.op))
        self.query_one(ListBox).show(lines, at=min(at, len(lines) - 1) if lines else None)
        self._tell()

    def _tell(self) -> None:
        chosen = self.query_one(ListBox).chosen
        judged = self.judged[chosen] if isinstance(chosen, int) and chosen < len(self.judged) else None
        words = "" if judged is None else judged.words if judged.is_fine else f"! {judged.words}"
        style = "$error" if judged is not None and not judged.is_fine else ""
        self.query_one("#verdict", Static).update(plain(words, style))

    def on_list_box_moved(self, event: ListBox.Moved) -> None:
        event.stop()
        self._tell()

    def on_list_box_chosen(self, event: ListBox.Chosen) -> None:
        event.stop()
        self._do("edit")

    def on_words_clicked(self, event: Words.Clicked) -> None:
        event.stop()
        self._do(event.key)

    def on_key(self, event: events.Key) -> None:
        found = next((each for each in HINTS if each.key == event.key and each.want not in ("edit", "leave")), None)
        if found is not None:
            event.stop()
            event.prevent_default()
            self._do(found.want)

    def _do(self, want: str) -> None:
        chosen = self.query_one(ListBox).chosen
        number = chosen if isinstance(chosen, int) else None
        if want == "leave":
            self.dismiss(None)
        elif want == "add":
            self._add()
        elif want == "done":
            self._finish()
        elif number is not None and want == "remove":
            del self.changes[number]
            self._show(number)
        elif number is not None and want == "edit":
            self._edit(number, self.changes[number])

    def _add(self) -> None:
        there = entering.choices(self._story.definition, self._state)

        def chosen(path: Hashable | None) -> None:
            if isinstance(path, str):
                self._edit(len(self.changes), Proposal("", path))

        self.app.push_screen(Chooser("What changes?", [Entry(*each) for each in there]), chosen)

    def _edit(self, number: int, change: Proposal) -> None:
        def taken(found: Proposal | None) -> None:
            if found is not None:
                self.changes[number : number + 1] = [found]
                self._show(number)

        try:
            entering.field_of(self._story.definition, change.path)
        except NarratorError as error:
            self.query_one("#verdict", Static).update(plain(f"! {error.message}", "$error"))
            return
        self.app.push_screen(Changing(self._story, self._state, self.changes[:number], change), taken)

    def _finish(self) -> None:
        wrong = next((at for at, judged in enumerate(self.judged) if not judged.is_fine), None)
        if wrong is None:
            self.dismiss(entering.as_answer(self.changes))
        else:
            self._show(wrong)


def _shown(each: Hint) -> Content:
    return Content.assemble((each.label, "bold $chosen"), f" {each.word}")
