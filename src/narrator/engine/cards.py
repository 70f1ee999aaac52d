"""The cards of a coming turn: what is searched for their keys, and when each last fired (C26, C30).

Searched are nodes and the input, read from the story itself: a context checkpoint or a memory triggers nothing. What
fired is kept in the provenance of the narration that it went into, and read back along the path for as many turns as
any card remembers. So it follows undo, takes and branches, and nothing counts.
"""

from __future__ import annotations

from narrator.core import cards
from narrator.core.cards import Triggering
from narrator.core.state import State
from narrator.core.tree import Node
from narrator.engine.story import Story
from narrator.engine.turn import Plan
from narrator.store import reads, sources

_WINDOW = 32
_LARGEST_WINDOW = 512


def trigger(story: Story, plan: Plan, state: State) -> Triggering:
    """The cards that go into the tail of a turn's prompt, with their reasons."""
    there = story.definition.cards
    if not any(card.is_enabled for card in there):
        return Triggering()
    told = _told(story, plan.history_end, cards.nodes_scanned(there))
    since = _since(story, plan, state)
    return cards.trigger(there, told, plan.input, state, since=since)


def _told(story: Story, last: Node | None, count: int) -> list[str]:
    """The texts of the last ``count`` nodes that tell something, newest first; corrections tell nothing."""
    found: list[str] = []
    if last is None or count == 0:
        return found
    end = reads.end_of(story.store, last)
    low, size = end.length + 1, min(count, _WINDOW)
    while low > 1 and len(found) < count:
        high, low = low - 1, max(1, low - size)
        nodes = reads.window(story.store, end, low, high)
        found += [node.text for node in reversed(nodes) if node.role != "correction"]
    return found[:count]


def _since(story: Story, plan: Plan, state: State) -> dict[str, int]:
    """How many turns ago each card fired last, as far back as any of them remembers; 0 is the turn that is told."""
    found: dict[str, int] = {}
    timed = {card.name for card in story.definition.cards if card.is_enabled and cards.is_timed(card)}
    most = cards.turns_remembered(story.definition.cards)
    end, turn = reads.end_of(story.store, plan.anchor), story.state(plan.anchor).turn
    low, size = end.length + 1, _WINDOW
    while low > 1 and state.turn - turn <= most and timed - found.keys():
        high, low, size = low - 1, max(1, low - size), min(2 * size, _LARGEST_WINDOW)
        nodes = reads.window(story.store, end, low, high)
        fired = sources.fired_cards(story.store, [node.id for node in nodes if node.role == "narrator"])
        for node in reversed(nodes):
            for name in fired.get(node.id, ()):
                found.setdefault(name, state.turn - turn)
            if node.role == "player":
                turn -= 1
    return found
