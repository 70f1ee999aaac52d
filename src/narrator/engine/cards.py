"""The cards of a coming turn: what is searched for their keys, and when each last fired (C26, C30).

Searched are nodes and the input, read from the story itself: a context checkpoint or a memory triggers nothing. What
fired is kept in the provenance of the narration that it went into, and read back along the path for as many turns as
any card remembers. So it follows undo, takes and branches, and nothing counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from narrator.core import cards
from narrator.core.cards import Triggering
from narrator.core.state import State
from narrator.core.tree import Node
from narrator.engine.events import CardListed
from narrator.engine.story import Story
from narrator.engine.turn import Plan, plan_continue
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


@dataclass(frozen=True, slots=True)
class Timing:
    """In turns: how long a card still stays in the prompt without a key, and how long it then rests."""

    sticky_left: int
    cooldown_left: int


@dataclass(frozen=True, slots=True)
class Standing:
    """The cards as the coming turn has them: those that trigger, with why, and what still stays or rests."""

    why: Mapping[str, str]
    timing: Mapping[str, Timing]


def standing(story: Story, plan: Plan, state: State) -> Standing:
    """How all cards stand before a turn (C26)."""
    found = {each.card.name: each.why for each in trigger(story, plan, state).found}
    found |= {card.name: "always" for card in story.definition.cards if cards.is_in_prefix(card)}
    since = _since(story, plan, state)
    timing: dict[str, Timing] = {}
    for card in story.definition.cards:
        ago = since.get(card.name)
        if ago is not None and card.is_enabled and cards.is_timed(card):
            stays = max(0, card.sticky - ago)
            timing[card.name] = Timing(stays, 0 if stays else max(0, card.sticky + card.cooldown - ago))
    return Standing(found, timing)


def listed(story: Story) -> tuple[CardListed, ...]:
    """All cards as the coming turn has them."""
    plan = plan_continue(story)
    now = standing(story, plan, story.state(plan.anchor))
    at_rest = Timing(0, 0)
    return tuple(
        CardListed(
            card.name,
            card.keys,
            card.kind,
            card.is_enabled,
            card.name in now.why,
            why=now.why.get(card.name, ""),
            sticky_left=now.timing.get(card.name, at_rest).sticky_left,
            cooldown_left=now.timing.get(card.name, at_rest).cooldown_left,
        )
        for card in story.definition.cards
    )


def told_with(story: Story, node: Node) -> tuple[dict[str, str], dict[str, str]] | None:
    """(fired, without room): the cards of a past take by name, each with why; None where no prompt was sent (S25)."""
    record = reads.provenance(story.store, node.id) or {}
    if "prompt" not in record:
        return None
    fired = {str(part.get("source")): str(part.get("why", "")) for part in record["prompt"]["tail"] if _is_card(part)}
    fired |= {card.name: "always" for card in story.definition.cards if cards.is_in_prefix(card)}
    lines = [str(line).partition(": ") for kind, line in record.get("crowded_out") or () if kind == "card"]
    return fired, {name: why for name, _, why in lines}


def _is_card(part: Mapping[str, Any]) -> bool:
    return part.get("kind") == "card"


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
