"""Cards beside the definition: those that imports brought, kept one by one with the keys of ``[[cards]]`` (S35, C26).

A definition is a text that an author writes and that is read as a whole. Thousands of imported cards in it would be
read again at every opening, and the whole text written again for every card that is added.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from narrator.core import door
from narrator.core.campaign import build_card
from narrator.core.definition import Card, Definition
from narrator.core.door import Problem
from narrator.core.errors import BadDefinition

_KEYS: Final[Mapping[str, str]] = {
    "text": "text",
    "keys": "keys",
    "kind": "kind",
    "enabled": "is_enabled",
    "constant": "is_constant",
    "priority": "priority",
    "scan_depth": "scan_depth",
    "case_sensitive": "is_case_sensitive",
    "whole_word": "is_whole_word",
    "regex": "is_regex",
    "secondary": "secondary",
    "secondary_logic": "secondary_logic",
    "recursive": "is_recursive",
    "sticky": "sticky",
    "cooldown": "cooldown",
}
_USUAL: Final = {key: getattr(Card("", ""), name) for key, name in _KEYS.items()}
_TYPES: Final = {key: int if key == "scan_depth" else type(usual) for key, usual in _USUAL.items()}


def card_keys(card: Card) -> dict[str, Any]:
    """The keys of a card that has no condition, without its name and without what has its usual value."""
    found = {key: getattr(card, name) for key, name in _KEYS.items()}
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in found.items()
        if key == "text" or value != _USUAL[key]
    }


def check_card(name: str, keys: Mapping[str, Any]) -> Card:
    """The card of these keys, checked as one of a definition is. Raises ``BadDefinition``."""
    problems: list[Problem] = []
    table = door.read(door.CardTable, {**keys, "name": name}, "", problems)
    card = build_card(table, "", problems) if table is not None else None
    if card is None or problems:
        raise BadDefinition(problems)
    return card


def read_card(name: str, body: str) -> Card:
    """A card out of the JSON that it is kept as. Raises ``BadDefinition``.

    It passed ``check_card`` before it was written, so its types alone are looked at: 5,000 take 40 ms.
    """
    try:
        keys = json.loads(body)
        if "when" in keys:
            return check_card(name, keys)
        values = {_KEYS[key]: _typed(key, value) for key, value in keys.items()}
        return Card(name, **values)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadDefinition([(f"the card {name!r}", f"cannot be read ({type(error).__name__})")]) from error


def _typed(key: str, value: Any) -> Any:
    if type(value) is list and _TYPES[key] is tuple and set(map(type, value)) <= {str}:
        return tuple(value)
    if type(value) is not _TYPES[key]:
        raise TypeError(key)
    return value


def add_cards(definition: Definition, cards: Iterable[Card]) -> Definition:
    """The definition with further cards behind its own; of two with one name the definition's counts."""
    own = {card.name for card in definition.cards}
    more = tuple(card for card in cards if card.name not in own)
    return replace(definition, cards=(*definition.cards, *more)) if more else definition
