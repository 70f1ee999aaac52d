"""A change of the state as a line for people: labels and names, no paths, and nothing that the prose has just told."""

from __future__ import annotations

from collections.abc import Mapping

from narrator.core.conditions import Facts
from narrator.core.definition import PLAYER, Definition
from narrator.core.proposal import JSON, is_number
from narrator.core.state import ENDING, Event, value_after
from narrator.core.titles import full_title, value_words
from narrator.core.view import name_of

_TOLD_BY_PROSE = ("location", "time", "scene", "entities")


def phrase_change(definition: Definition, state: Facts, event: Event) -> str:
    """The line, or '' for what the prose has told (place, time, scene) and for what cannot be seen.

    ``state`` is the one after the event.
    """
    root, _, rest = event.path.partition(".")
    new = value_after(event)
    if root in _TOLD_BY_PROSE:
        return ""
    if event.path == ENDING:
        return ending_words(definition, new)
    if root == "threads":
        return _thread(event.previous, new)
    if root == "facts":
        return f"Now known: {_fact(new)}" if new is not None else f"No longer held: {_fact(event.previous)}"
    if root == "inventory":
        return _owner(definition, state, rest, event.previous, new)
    shown = value_words(definition, state, event.path, new)
    # A clock goes on by a step at a time: where it was is no news.
    before = None if root == "clocks" else event.previous
    if before is not None and value_words(definition, state, event.path, before) == shown:
        return ""  # it moved inside a band, and the number is not for the player
    return f"{full_title(definition, state, event.path)}: {shown}{_was(definition, state, event.path, before, shown)}"


def phrase_correction(definition: Definition, state: Facts, told: Mapping[str, JSON]) -> str:
    """A correction (its four keys, S23) as a line: what it is now, what it was, why."""
    path, old, new, reason = (told.get(key) for key in ("path", "old", "new", "reason"))
    because = f", because {reason}" if reason else ""
    if path == "facts":
        words = f"Now known: {_fact(new)}" if new is not None else f"No longer held: {_fact(old)}"
        return f"{words}{because}"
    shown = value_words(definition, state, str(path), new)
    was = _was(definition, state, str(path), old, shown)
    return f"{full_title(definition, state, str(path))}: {shown}{was}{because}"


def ending_words(definition: Definition, value: JSON) -> str:
    """That the story has ended, and how: by the title of the ending, where it has one."""
    title = next((each.title for each in definition.endings if each.id == value and each.title), "")
    return f"The end: {title}" if title else "The end"


def _was(definition: Definition, state: Facts, path: str, before: JSON, shown: str) -> str:
    """What it was before, behind what it is now; a band that is the same is not said again (“wary, 4 (was 5)”)."""
    if before is None:
        return ""
    was = value_words(definition, state, path, before)
    band, comma, _ = shown.rpartition(", ")
    if is_number(before) and comma:
        was = was.removeprefix(f"{band}, ")
    return f" (was {was})"


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


def _fact(value: JSON) -> str:
    return str(value.get("text", "")) if isinstance(value, dict) else str(value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
