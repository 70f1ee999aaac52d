"""A JSON Schema made so narrow that an answer comes to its end within its tokens (T17).

A grammar holds a small model to the shape of an answer, not to an end of it: it goes on listing until its tokens are
used up, and half an object is no answer. Lists and texts without a bound get one here, each its share of the room.
Pure; nothing else of a schema changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_CHARACTERS_A_TOKEN: Final = 2.5
"""English has four; brackets, quotes and indentation take the rest."""
_ENTRY: Final = 160
"""Characters that an entry of a list is given, where there is room for more than one."""
_SHORTEST: Final = 24
_LONGEST: Final = 400


def bounded(schema: Mapping[str, Any], tokens: int) -> dict[str, Any]:
    """The schema with bounds for an answer of so many tokens."""
    return _bounded(schema, int(tokens * _CHARACTERS_A_TOKEN))


def _bounded(schema: Mapping[str, Any], room: int) -> dict[str, Any]:
    """``room`` is in characters."""
    found = dict(schema)
    properties, items = found.get("properties"), found.get("items")
    if isinstance(properties, Mapping) and properties:
        share = room // len(properties)
        found["properties"] = {
            name: _bounded(each, share - len(name) - 6) if isinstance(each, Mapping) else each
            for name, each in properties.items()
        }
    elif isinstance(items, Mapping):
        entry = min(room, _ENTRY)
        found.setdefault("maxItems", max(1, room // max(1, entry)))
        found["items"] = _bounded(items, room // int(found["maxItems"]) - 4)
    elif "string" in _types(found) and not found.keys() & {"enum", "const", "pattern", "format"}:
        found.setdefault("maxLength", max(_SHORTEST, min(_LONGEST, room)))
    return found


def _types(schema: Mapping[str, Any]) -> list[Any]:
    named = schema.get("type")
    return named if isinstance(named, list) else [named]
