"""Lists to choose from, made of a story's values."""

from __future__ import annotations

from collections.abc import Sequence

from narrator.engine.events import Match
from narrator.engine.story import Story
from narrator.tui.widgets.listbox import Entry
from narrator.tui.widgets.rail import branch_entries


def checkpoint_choices(story: Story) -> list[Entry]:
    """Saved places by name, the latest first."""
    return [
        Entry(each.name, each.name, f"step {each.position}{'' if each.on_path else ', elsewhere'}")
        for each in reversed(story.checkpoints())
    ]


def branch_choices(story: Story) -> list[Entry]:
    """Branches by id, as a tree."""
    return [
        Entry(
            entry.key[1] if isinstance(entry.key, tuple) else None,
            entry.text,
            entry.detail,
            entry.is_strong,
            entry.is_faint,
        )
        for entry in branch_entries(story.branches())
    ]


def take_choices(story: Story, node_id: int) -> list[Entry]:
    """The takes of a step by node id."""
    return [
        Entry(
            take.id,
            f"{take.take}{'●' if take.current else ' '} {' '.join(take.text[:200].split())}",
            "pinned" if take.pinned else "",
            is_strong=take.current,
        )
        for take in story.takes(story.node(node_id))
    ]


def match_choices(matches: Sequence[Match]) -> list[Entry]:
    """Places found, by their number."""
    return [Entry(index, f"{match.position}: {match.excerpt}") for index, match in enumerate(matches)]
