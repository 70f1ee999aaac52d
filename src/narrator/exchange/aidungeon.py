"""AI Dungeon: story cards, world info, dumps of adventures and of scenarios."""

from __future__ import annotations

import re
from typing import Any

from narrator.core.errors import BadImport
from narrator.exchange.aidnd import told
from narrator.exchange.fields import Fields, moment
from narrator.exchange.lore import Shelf, story_card
from narrator.exchange.plan import Plan
from narrator.exchange.report import Notes

_PLACEHOLDER = re.compile(r"\$\{([^{}]{1,300})\}")


def read_cards(value: Any, notes: Notes) -> Plan:
    """The cards in a list of story cards."""
    plan = Plan("aidungeon-cards", is_addition=True)
    shelf = Shelf(notes)
    for entry in Fields(notes, {"cards": value}, "").rows("cards"):
        story_card(shelf, entry)
    plan.cards = shelf.cards
    return plan


def read_adventure(value: Any, notes: Notes) -> Plan:
    """The plan of an adventure or a scenario; a scenario has a prompt and no actions."""
    whole = Fields(notes, value, "")
    actions = list(whole.rows("actions"))
    plan = Plan("aidungeon-adventure" if actions else "aidungeon-scenario", whole.text("title"))
    plan.premise, plan.note = whole.text("memory", "plotEssentials"), whole.text("authorsNote")
    plan.instructions = whole.text("aiInstructions", "instructions")
    shelf = Shelf(notes)
    for key in ("storyCards", "worldInfo"):
        for entry in whole.rows(key):
            story_card(shelf, entry)
    plan.cards = shelf.cards
    at = 0
    for action in actions:
        at = _action(plan, action, at)
    if not actions:
        prompt = whole.text("prompt")
        if not prompt.strip():
            raise BadImport(f"{notes.file}: there is neither an action nor a prompt in it.")
        plan.add(0, "opening", prompt)
    plan.placeholders = placeholders(plan)
    whole.rest()
    return plan


def _action(plan: Plan, action: Fields, at: int) -> int:
    kind = action.text("type")
    text = action.text("text")
    if action.raw("undoneAt") or action.raw("deletedAt"):
        action.notes.dropped(action.where, "text", "it was undone")
        return at
    if not at or (kind == "story" and not text.lstrip().startswith(">")):
        kind = "start" if not at else "story"
    role, mode, told_text = told(kind, text)
    action.skip("id", "adventureId")
    created = moment(action.raw("createdAt"))
    action.rest()
    return plan.add(at, role, told_text if role == "player" else text.strip("\n"), mode, created_at=created)


def placeholders(plan: Plan) -> dict[str, str]:
    """What a scenario asks: each ``${question}`` of its texts, without an answer of its own."""
    texts = [step.text for step in plan.steps]
    texts += [plan.premise, plan.note, plan.instructions, *(each.card.text for each in plan.cards)]
    return {match[1]: "" for text in texts for match in _PLACEHOLDER.finditer(text)}
