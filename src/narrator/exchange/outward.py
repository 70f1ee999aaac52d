"""Back to other programs (X10): SillyTavern chats and World Info, AI Dungeon story cards.

What an import kept of a card for this moment is put back.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from narrator.core.campaign import parse_definition
from narrator.core.definition import Card
from narrator.core.tree import Node
from narrator.exchange.expressions import to_javascript
from narrator.exchange.progress import Progress, silent
from narrator.store import reads, rows, sources
from narrator.store.open import Store

_WINDOW = 200
_LOGIC = {"any": 0, "not-all": 1, "none": 2, "all": 3}


def write_chat(store: Store, write: Callable[[str], object], progress: Progress = silent) -> None:
    """The path to the head as a SillyTavern chat; takes of the same role are swipes. Corrections stay out."""
    row = reads.campaign(store)
    definition = parse_definition(reads.definition_source(store)[1])
    player = definition.player_name or "You"
    header = {"user_name": player, "character_name": row.title, "create_date": row.created_at, "chat_metadata": {}}
    write(_line(header))
    end = reads.end_of(store, reads.needed(store, row.head_id))
    for low in range(1, end.length + 1, _WINDOW):
        progress("export", low - 1, end.length)
        for node in reads.window(store, end, low, min(low + _WINDOW - 1, end.length)):
            if node.role != "correction":
                write(_line(_message(store, node, player, row.title)))


def _message(store: Store, node: Node, player: str, title: str) -> dict[str, Any]:
    is_user = node.role == "player"
    message: dict[str, Any] = {
        "name": player if is_user else title,
        "is_user": is_user,
        "is_system": False,
        "send_date": node.created_at,
        "mes": node.text,
        "extra": {},
    }
    takes = [reads.needed(store, each) for each in reads.siblings(store, node.parent_id)]
    takes = [take for take in takes if take.role == node.role]
    if len(takes) > 1 or not is_user:
        message["swipes"] = [take.text for take in takes]
        message["swipe_id"] = [take.id for take in takes].index(node.id)
    return message


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def _cards(store: Store) -> list[tuple[Card, dict[str, Any]]]:
    kept = {name: json.loads(body) for name, body in rows.kept(store, "card")}
    cards = sources.definition(store).cards
    return [(card, kept.get(card.name) or {}) for card in cards]


def world_info(store: Store) -> str:
    """The cards as SillyTavern's World Info."""
    entries = {str(uid): _entry(uid, card, extra) for uid, (card, extra) in enumerate(_cards(store))}
    return json.dumps({"entries": entries}, ensure_ascii=False, indent=1) + "\n"


def _entry(uid: int, card: Card, extra: dict[str, Any]) -> dict[str, Any]:
    def key(text: str) -> str:
        return to_javascript(text) if card.is_regex else text

    return {
        **extra,
        "uid": uid,
        "key": [key(each) for each in card.keys],
        "keysecondary": [key(each) for each in card.secondary],
        "comment": card.name,
        "content": card.text,
        "constant": card.is_constant,
        "selective": bool(card.secondary),
        "selectiveLogic": _LOGIC[card.secondary_logic],
        "order": card.priority,
        "position": extra.get("position", 0),
        "disable": not card.is_enabled,
        "scanDepth": card.scan_depth,
        "caseSensitive": card.is_case_sensitive,
        "matchWholeWords": card.is_whole_word,
        "sticky": card.sticky,
        "cooldown": card.cooldown,
    }


def story_cards(store: Store) -> str:
    """The cards as AI Dungeon's story cards; it knows neither expressions nor secondary keys, which stay out."""
    found = []
    for card, extra in _cards(store):
        keys = "" if card.is_regex else ", ".join(card.keys)
        body = {"keys": keys or card.name, "value": card.text, "type": extra.get("type") or "other", "title": card.name}
        body |= {"description": extra.get("description") or "", "useForCharacterCreation": False}
        found.append({**body, **{key: value for key, value in extra.items() if key in ("useForCharacterCreation",)}})
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"
