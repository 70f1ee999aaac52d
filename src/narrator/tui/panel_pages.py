"""What stands on the panel: values of a story → a list to walk through, what is told of its entries, and keys.

A page is pure and costs what its list costs; the widget draws only the rows that are seen. Keys of entries are tuples:
what the entry is, then which one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from narrator.core.titles import FACTS, THREADS, Shown
from narrator.engine import events as e
from narrator.engine.state_views import SOURCES, Change, StateOfStep
from narrator.tui.budget_bar import Segment
from narrator.tui.widgets.listbox import Entry

CHANGED = " •"
"""Behind what the step has changed."""
Detail = Callable[[Hashable | None], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Hint:
    """A key of the panel: Textual's name of it, what is shown of it, the word beside it, what it wants."""

    key: str
    label: str
    word: str
    want: str


def hint(key: str, word: str, want: str, label: str = "") -> Hint:
    """A key that is shown as it is named, unless ``label`` says otherwise."""
    return Hint(key, label or key, word, want)


@dataclass(frozen=True, slots=True)
class PanelPage:
    """One page. ``heading`` stands above the list, ``empty`` instead of it; ``at`` is where the cursor begins,
    ``bar`` is drawn between heading and list."""

    heading: str
    entries: Sequence[Entry]
    detail: Detail
    hints: tuple[Hint, ...]
    empty: str = ""
    at: Hashable | None = None
    bar: tuple[Segment, ...] = ()


def step_words(position: int, count: int) -> str:
    """Which step is shown: the last one is where the story stands."""
    return f"Step {position:,}, where the story is" if position == count else f"Step {position:,} of {count:,}"


def nothing(words: str) -> PanelPage:
    """A page that says why there is none."""
    return PanelPage(words, (), lambda key: (), ())


# ---------------------------------------------------------------------------------------------------------------- state

RETRACT = hint("x", "take back", "retract")
STATE_HINTS = (hint("enter", "history", "choose", "Enter"), hint("c", "correct", "correct"), hint("a", "add", "add"))


def state_page(shown: StateOfStep) -> PanelPage:
    """The state after a step, with what that step changed and checked first (W7, T8)."""
    heading = step_words(shown.position, shown.count)
    if shown.unknown:
        heading += "\nNobody knows the state here: this is the last that was known."
    entries: list[Entry] = []
    if shown.changes:
        entries.append(Entry(None, "Changed by this step"))
        entries += [Entry(("change", n), change_line(each)) for n, each in enumerate(shown.changes)]
    if shown.checks:
        entries.append(Entry(None, "Decided by a check"))
        entries += [
            Entry(("check", n), f"{each.skill}, {each.difficulty}", each.outcome) for n, each in enumerate(shown.checks)
        ]
    changed = {each.path for each in shown.changes}
    fields = fields_by_key(shown)
    group = ""
    for key, each in fields.items():
        if each.group != group:
            group = each.group
            entries.append(Entry(None, group))
        entries.append(_field_entry(key, each, each.path in changed))
    at = ("change", 0) if shown.changes else next(iter(fields), None)
    hints = (*STATE_HINTS, RETRACT) if any(each.group == FACTS for each in shown.fields) else STATE_HINTS
    return PanelPage(heading, entries, _state_detail(shown, fields), hints, "This campaign keeps no state.", at)


def fields_by_key(shown: StateOfStep) -> dict[Hashable, Shown]:
    """The fields by the key of their entry, the same for a field whichever step is shown; facts go by their words."""
    return {("field", each.path, each.words if each.group == FACTS else ""): each for each in shown.fields}


def _field_entry(key: Hashable, field: Shown, is_changed: bool) -> Entry:
    mark = CHANGED if is_changed else ""
    if field.group == FACTS:
        return Entry(key, field.words)
    if field.group == THREADS:
        return Entry(key, f"{'?' if field.is_open else '✓'} {field.words}{mark}", is_faint=not field.is_open)
    return Entry(key, f"{field.title}{mark}", field.words)


def change_line(change: Change) -> str:
    """A change in one line; a fact or a question by its own words."""
    if change.path == "facts":
        return f"+ {change.became}" if change.op == "assert" else f"− {change.was}"
    if change.path.startswith("threads."):
        return f"{'?' if change.op == 'open' else '✓'} {change.became}"
    return f"{change.title}: {change.was} → {change.became}"


def _state_detail(shown: StateOfStep, fields: Mapping[Hashable, Shown]) -> Detail:
    def detail(key: Hashable | None) -> Sequence[str]:
        match key:
            case ("change", int(number)):
                return change_detail(shown.changes[number])
            case ("check", int(number)):
                check = shown.checks[number]
                told = [f"{check.skill}, {check.difficulty}: {check.outcome}"]
                return [*told, check.rolled or "What fell stays hidden in this campaign."]
            case ("field", *_) if key in fields:
                field = fields[key]
                told = [f"{field.title}: {field.words}" if field.title else field.words]
                for change in shown.changes:
                    if change.path == field.path:
                        told += change_detail(change)[1:]
                return told
        return []

    return detail


def change_detail(change: Change) -> list[str]:
    """A change in full: the operation, who says so, and why (W7)."""
    who = SOURCES.get(change.source, change.source)
    told = [change_line(change), f"{change.op} by {who}"]
    return [*told, change.reason] if change.reason else told


# -------------------------------------------------------------------------------------------------------------- history

HISTORY_HINTS = (
    hint("enter", "show the step", "choose", "Enter"),
    hint("g", "go there", "go"),
    hint("c", "correct", "correct"),
    hint("escape", "back", "back", "Esc"),
)


def history_page(listed: e.AuditListed) -> PanelPage:
    """Every change of one field along the path (W8): step, old, new, source, reason."""
    entries = [Entry(("audit", n), f"{each.position:,}: {_became(each)}") for n, each in enumerate(listed.audit)]

    def detail(key: Hashable | None) -> Sequence[str]:
        match key:
            case ("audit", int(number)):
                each = listed.audit[number]
                who = SOURCES.get(each.source, each.source)
                told = [f"Step {each.position:,}: {each.was} → {each.became}", f"{each.op} by {who}"]
                return [*told, each.reason] if each.reason else told
        return []

    last = ("audit", len(entries) - 1) if entries else None
    return PanelPage(f"{listed.label}: how it changed", entries, detail, HISTORY_HINTS, "It has never changed.", last)


def _became(entry: e.AuditEntry) -> str:
    if entry.path == "facts":
        return f"+ {entry.became}" if entry.op == "assert" else f"− {entry.was}"
    return f"{entry.was} → {entry.became}"


# ---------------------------------------------------------------------------------------------------------------- saves

SAVE_HINTS = (
    hint("enter", "go there", "choose", "Enter"),
    hint("s", "save", "save"),
    hint("r", "rename", "rename"),
    hint("x", "delete", "delete"),
)


def saves_page(saved: Sequence[e.CheckpointListed]) -> PanelPage:
    """Saved places, the latest first."""
    entries = [
        Entry(("save", each.name), each.name, f"step {each.position:,}", is_faint=not each.on_path)
        for each in reversed(saved)
    ]
    by_name = {each.name: each for each in saved}

    def detail(key: Hashable | None) -> Sequence[str]:
        match key:
            case ("save", str(name)) if name in by_name:
                each = by_name[name]
                where = "on the way the story went" if each.on_path else "elsewhere in the story"
                return [each.name, f"step {each.position:,}, {where}; saved {each.created_at[:16].replace('T', ' ')}"]
        return []

    return PanelPage("Saved places", entries, detail, SAVE_HINTS, "Nothing is saved yet; s saves this place.")
