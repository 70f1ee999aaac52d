"""A change of the state as a line for people: labels and names, no paths, and nothing that the prose has just told."""

from __future__ import annotations

from narrator.core.conditions import Facts
from narrator.core.definition import PLAYER, Definition, Field, find_field
from narrator.core.field_labels import label
from narrator.core.proposal import JSON, is_number
from narrator.core.state import ENDING, Event, value_after
from narrator.core.view import name_of

_TOLD_BY_PROSE = ("location", "time", "scene", "entities")


def phrase_change(definition: Definition, state: Facts, event: Event) -> str:
    """The line, or '' for what the prose has told (place, time, scene). ``state`` is the one after the event."""
    root, _, rest = event.path.partition(".")
    new = value_after(event)
    if root in _TOLD_BY_PROSE:
        return ""
    if event.path == ENDING:
        return _ending(definition, new)
    if root == "threads":
        return _thread(event.previous, new)
    if root == "facts":
        return f"Now known: {_fact(new)}" if new is not None else f"No longer held: {_fact(event.previous)}"
    if root == "inventory":
        return _owner(definition, state, rest, event.previous, new)
    field = find_field(definition, event.path)
    if field is not None and field.type == "relation":
        first, second = event.path.rsplit(".", 2)[1:]
        names = f"{name_of(state, definition, first)} towards {name_of(state, definition, second)}"
        return _capital(f"{names}: {label(field, new) or new}")
    title = field.label if field is not None and field.label else event.path.rpartition(".")[2].replace("_", " ")
    was = f" (was {_value(field, event.previous)})" if event.previous is not None else ""
    return _capital(f"{title}: {_value(field, new)}{was}")


def _ending(definition: Definition, value: JSON) -> str:
    title = next((each.title for each in definition.endings if each.id == value and each.title), "")
    return f"The end: {title}" if title else "The end"


def _thread(before: JSON, after: JSON) -> str:
    if isinstance(after, dict) and after.get("open"):
        return f"An open question: {after.get('text') or 'no words for it yet'}"
    text = after.get("text") if isinstance(after, dict) else None
    old = before.get("text") if isinstance(before, dict) else None
    return f"No longer open: {text or old or 'a question'}"


def _owner(definition: Definition, state: Facts, item: str, before: JSON, after: JSON) -> str:
    name = name_of(state, definition, item)
    if after == PLAYER:
        return f"You have {name}"
    if before == PLAYER:
        return f"You no longer have {name}"
    return _capital(f"{name_of(state, definition, after)} has {name}") if isinstance(after, str) else ""


def _value(field: Field | None, value: JSON) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(str(each) for each in value) or "nothing"
    if value is None:
        return "nothing"
    if is_number(value) and field is not None and field.bands:
        return f"{label(field, value)}, {value}"
    return str(value)


def _fact(value: JSON) -> str:
    return str(value.get("text", "")) if isinstance(value, dict) else str(value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
