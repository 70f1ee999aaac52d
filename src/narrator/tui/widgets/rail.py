"""The rail: saved places, and the branches as a tree, each with its takes (S29).

Entries from values; it asks the screen to act. Below a branch that has takes stands one line for them; Enter, a click
or Right unfolds it to the steps that have several, each take a line with its beginning, and Left folds it again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from narrator.engine.events import BranchListed, CheckpointListed, StepTakes
from narrator.tui.widgets.listbox import Entry, ListBox

DEEPEST = 6
"""Levels of indentation shown; deeper forks stand under the last."""


TakesOn = Callable[[int], Sequence[StepTakes]]
"""The takes of a branch, by its id."""


def branch_entries(
    branches: Sequence[BranchListed], takes_on: TakesOn | None = None, unfolded: Collection[int] = ()
) -> list[Entry]:
    """The branches as a tree, each under its parent, in order of their forks. Never recursive.

    With ``takes_on``, takes stand below the branches: one line, or all of those that are unfolded.
    """
    children: dict[int | None, list[BranchListed]] = {}
    known = {branch.id for branch in branches}
    for branch in branches:
        children.setdefault(branch.parent if branch.parent in known else None, []).append(branch)
    for below in children.values():
        below.sort(key=lambda each: (each.fork_position, each.id), reverse=True)
    entries: list[Entry] = []
    stack = [(branch, 0) for branch in children.get(None, [])]
    while stack:
        branch, depth = stack.pop()
        name = branch.name or branch.label
        mark = "● " if branch.current else "○ " if branch.on_path else "· "
        detail = f"{branch.steps} step{'' if branch.steps == 1 else 's'}"
        saved = f"⚑{len(branch.checkpoints)} " if branch.checkpoints else ""
        entries.append(
            Entry(
                ("branch", branch.id),
                "  " * min(depth, DEEPEST) + mark + name,
                saved + detail,
                is_strong=branch.current,
                is_faint=not branch.on_path,
                more=f"read {branch.last_read[:10]}" if branch.last_read and not branch.current else "",
            )
        )
        below = children.get(branch.id, [])
        others = branch.unplaced + sum(_is_take(branch, child) for child in below)
        if takes_on is not None and others:
            is_open = branch.id in unfolded
            indent = "  " * min(depth + 1, DEEPEST)
            entries.append(Entry(("takes", branch.id), f"{indent}{'−' if is_open else '+'} takes", f"{others} more"))
            entries += _take_entries(takes_on(branch.id)) if is_open else []
        stack += [(child, depth + 1) for child in below]
    return entries


def _is_take(branch: BranchListed, child: BranchListed) -> bool:
    """Whether a branch begins with another take of a step that its parent has, and does not go on from its end."""
    return child.fork_position < branch.fork_position + branch.steps


def _take_entries(steps: Sequence[StepTakes]) -> list[Entry]:
    """Each step a heading, each take a line; indented alike at any depth, to leave room for the text."""
    entries: list[Entry] = []
    for step in steps:
        entries.append(Entry(None, f"    step {step.position}", is_faint=True))
        for take in step.takes:
            mark = "●" if take.current else " "
            text = f"  {mark}{take.take} {' '.join(take.text.split())}"
            entries.append(Entry(("take", take.id), text, "pinned" if take.pinned else "", is_faint=not take.current))
    return entries


def checkpoint_entries(checkpoints: Sequence[CheckpointListed]) -> list[Entry]:
    """The saved places, the latest first."""
    return [
        Entry(("save", each.name), f"⚑ {each.name}", f"step {each.position}", is_faint=not each.on_path)
        for each in reversed(checkpoints)
    ]


class Rail(Vertical):
    """Saved places above, branches and their takes below. Enter goes there; r names, x deletes, z brings back, s saves.

    Owns which branches show their takes.
    """

    DEFAULT_CSS = """
    Rail { width: 32; background: $surface; display: none; border-right: solid $panel; }
    Rail ListBox { height: 1fr; }
    Rail #keys { height: auto; max-height: 3; color: $faint; padding: 0 1; }
    """

    class Wanted(Message):
        """Something is to be done with an entry: go, rename, delete, undelete, save, unfold."""

        def __init__(self, what: str, kind: str, key: object) -> None:
            super().__init__()
            self.what = what
            self.kind = kind
            self.key = key

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.revision = -1
        self._unfolded: set[int] = set()
        self._turned: tuple[str, int] | None = None
        self._current: tuple[str, int] | None = None

    def compose(self) -> ComposeResult:
        yield ListBox(id="rail-list")
        yield Static(Content("Enter go  r name  x delete\n→ takes  s save  z undelete"), id="keys")

    @property
    def box(self) -> ListBox:
        return self.query_one(ListBox)

    def to_current(self) -> None:
        """The cursor to where the story is."""
        self.box.show(self.box.entries, at=self._current)

    def unfold(self, branch_id: int) -> None:
        """Show the takes of a branch, or no longer, at the next ``show``."""
        self._unfolded ^= {branch_id}
        self._turned = ("takes", branch_id)

    def show(
        self,
        revision: int,
        checkpoints: Sequence[CheckpointListed],
        branches: Sequence[BranchListed],
        takes_on: TakesOn,
    ) -> None:
        """What stands at a revision (S31)."""
        self.revision = revision
        self._unfolded &= {branch.id for branch in branches}
        saved = checkpoint_entries(checkpoints)
        entries = [Entry(None, "Saved places"), *saved]
        if not saved:
            entries.append(Entry(None, "  none yet", is_faint=True))
        current = next((("branch", each.id) for each in branches if each.current), None)
        entries += [Entry(None, ""), Entry(None, "Branches"), *branch_entries(branches, takes_on, self._unfolded)]
        self._current = current
        self.box.show(entries, at=self._turned or self.box.chosen or current)
        self._turned = None

    def on_list_box_chosen(self, event: ListBox.Chosen) -> None:
        event.stop()
        self._want("unfold" if isinstance(event.key, tuple) and event.key[0] == "takes" else "go")

    def _want(self, what: str) -> None:
        chosen = self.box.chosen
        kind, key = chosen if isinstance(chosen, tuple) else ("", None)
        self.post_message(self.Wanted(what, str(kind), key))

    def on_key(self, event: events.Key) -> None:
        if event.key in ("right", "left"):
            event.stop()
            event.prevent_default()
            self._fold(is_open=event.key == "right")
            return
        wants = {"r": "rename", "x": "delete", "delete": "delete", "z": "undelete", "s": "save"}
        if event.key in wants:
            event.stop()
            event.prevent_default()
            self._want(wants[event.key])

    def _fold(self, *, is_open: bool) -> None:
        """Show or hide the takes of the branch that the cursor is on or in."""
        key = self._takes_here()
        if key is not None and (key[1] in self._unfolded) != is_open:
            self.post_message(self.Wanted("unfold", *key))

    def _takes_here(self) -> tuple[str, int] | None:
        """The line of takes that the cursor stands on, above it in its branch, or below it among them."""
        at, entries = self.box.cursor, self.box.entries
        kind = str(self.box.chosen[0]) if isinstance(self.box.chosen, tuple) else ""
        places = {"branch": range(at + 1, at + 2), "takes": range(at, at + 1), "take": range(at, -1, -1)}
        for index in places.get(kind, range(0)):
            key = entries[index].key if index < len(entries) else None
            if isinstance(key, tuple) and key[0] == "takes":
                return key
        return None
