"""A campaign's definition as TOML, written from what an import found; and more cards for one that is there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from narrator.core.definition import BUILT_IN, Card

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quoted(text: str) -> str:
    """A TOML basic string."""
    return '"' + "".join(_ESCAPES.get(s) or (s if s.isprintable() else f"\\U{ord(s):08X}") for s in text) + '"'


def slug(title: str) -> str:
    """An id out of a title."""
    return re.sub(r"[^\w]+", "-", title.casefold()).strip("-")[:100] or "campaign"


def write_definition(
    *,
    title: str,
    opening: str,
    premise: str = "",
    instructions: str = "",
    persona: str = "",
    player_name: str = "",
    fields: Mapping[str, str] = {},
    cards: Sequence[Card] = (),
) -> str:
    """The TOML. An empty opening stands as a space, since a definition needs one; the story has its own."""
    lines = ["[campaign]", f"id = {quoted(slug(title))}", f"title = {quoted(title)}"]
    lines.append(f"opening = {quoted(opening if opening.strip() else ' ')}")
    lines += [f"{key} = {quoted(text)}" for key, text in (("premise", premise), ("instructions", instructions)) if text]
    if player_name or persona:
        lines += ["", "[player]"]
        lines += [f"{key} = {quoted(text)}" for key, text in (("name", player_name), ("persona", persona)) if text]
    if fields:
        lines += ["", "[state]", "open_entities = true"]
    for path, kind in fields.items():
        if path not in BUILT_IN:
            place = ".".join(quoted(part) for part in path.split("."))
            lines += ["", f"[state.{place}]", f"type = {quoted(kind)}"]
    return "\n".join(lines) + "\n" + write_cards(cards)


def write_cards(cards: Iterable[Card]) -> str:
    """The tables of these cards, to stand at the end of a definition."""
    return "".join("\n[[cards]]\n" + "\n".join(_card(card)) + "\n" for card in cards)


def _card(card: Card) -> list[str]:
    lines = [f"name = {quoted(card.name)}", f"text = {quoted(card.text)}"]
    if card.keys:
        lines.append(f"keys = {_list(card.keys)}")
    if card.secondary:
        lines.append(f"secondary = {_list(card.secondary)}")
        lines.append(f"secondary_logic = {quoted(card.secondary_logic)}")
    if card.kind != "canon":
        lines.append(f"kind = {quoted(card.kind)}")
    switches = {
        "enabled": (card.is_enabled, True),
        "constant": (card.is_constant, False),
        "case_sensitive": (card.is_case_sensitive, False),
        "whole_word": (card.is_whole_word, True),
        "regex": (card.is_regex, False),
        "recursive": (card.is_recursive, False),
    }
    lines += [f"{key} = {str(value).lower()}" for key, (value, usual) in switches.items() if value != usual]
    numbers = {"priority": card.priority, "sticky": card.sticky, "cooldown": card.cooldown}
    lines += [f"{key} = {value}" for key, value in numbers.items() if value]
    if card.scan_depth is not None:
        lines.append(f"scan_depth = {card.scan_depth}")
    return lines


def _list(texts: Iterable[str]) -> str:
    return "[" + ", ".join(quoted(each) for each in texts) + "]"
