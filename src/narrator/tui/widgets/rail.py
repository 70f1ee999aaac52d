"""The rail: saved places, and the branches as a tree (S29). Entries from values; it asks the screen to act."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from narrator.engine.events import BranchListed, CheckpointListed
from narrator.tui.widgets.listbox import Entry, ListBox

DEEPEST = 6
"""Levels of indentation shown; deeper forks stand under the last."""


def branch_entries(branches: Sequence[BranchListed]) -> list[Entry]:
    """The branches as a tree, each under its parent, in order of their forks. Never recursive."""
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
        saved = f" ⚑{len(branch.checkpoints)}" if branch.checkpoints else ""
        entries.append(
            Entry(
                ("branch", branch.id),
                "  " * min(depth, DEEPEST) + mark + name + saved,
                detail,
                is_strong=branch.current,
                is_faint=not branch.on_path,
            )
        )
        stack += [(child, depth + 1) for child in children.get(branch.id, [])]
    return entries


def checkpoint_entries(checkpoints: Sequence[CheckpointListed]) -> list[Entry]:
    """The saved places, the latest first."""
    return [
        Entry(("save", each.name), f"⚑ {each.name}", f"step {each.position}", is_faint=not each.on_path)
        for each in reversed(checkpoints)
    ]


class Rail(Vertical):
    """Saved places above, branches below. Enter goes there; r names, x deletes, z brings back, s saves."""

    DEFAULT_CSS = """
    Rail { width: 32; background: $surface; display: none; border-right: solid $panel; }
    Rail ListBox { height: 1fr; }
    Rail #keys { height: auto; max-height: 3; color: $faint; padding: 0 1; }
    """

    class Wanted(Message):
        """Something is to be done with an entry: go, rename, delete, undelete, save."""

        def __init__(self, what: str, kind: str, key: object) -> None:
            super().__init__()
            self.what = what
            self.kind = kind
            self.key = key

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.revision = -1
        self._current: tuple[str, int] | None = None

    def compose(self) -> ComposeResult:
        yield ListBox(id="rail-list")
        yield Static(Content("Enter go  r rename  x delete\nz undelete  s save"), id="keys")

    @property
    def box(self) -> ListBox:
        return self.query_one(ListBox)

    def to_current(self) -> None:
        """The cursor to where the story is."""
        self.box.show(self.box.entries, at=self._current)

    def show(self, revision: int, checkpoints: Sequence[CheckpointListed], branches: Sequence[BranchListed]) -> None:
        """What stands at a revision (S31)."""
        self.revision = revision
        saved = checkpoint_entries(checkpoints)
        entries = [Entry(None, "Saved places"), *saved]
        if not saved:
            entries.append(Entry(None, "  none yet", is_faint=True))
        current = next((("branch", each.id) for each in branches if each.current), None)
        entries += [Entry(None, ""), Entry(None, "Branches"), *branch_entries(branches)]
        self._current = current
        self.box.show(entries, at=self.box.chosen or current)

    def on_list_box_chosen(self, event: ListBox.Chosen) -> None:
        event.stop()
        self._want("go")

    def _want(self, what: str) -> None:
        chosen = self.box.chosen
        kind, key = chosen if isinstance(chosen, tuple) else ("", None)
        self.post_message(self.Wanted(what, str(kind), key))

    def on_key(self, event: events.Key) -> None:
        wants = {"r": "rename", "x": "delete", "delete": "delete", "z": "undelete", "s": "save"}
        if event.key in wants:
            event.stop()
            event.prevent_default()
            self._want(wants[event.key])
