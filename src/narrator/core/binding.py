"""The player's corrections that bind a narrator, in the words in which it reads the state (S23, C10, W6).

A correction binds while what it says is so: a later one of the same path, or a change that the story made since, ends
that. Note and persona have places of their own in a prompt. Hidden paths, hidden entities and the numbers behind labels
are in none of the lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from narrator.core.conditions import Facts
from narrator.core.definition import Definition, find_field
from narrator.core.proposal import JSON
from narrator.core.state import is_same_fact
from narrator.core.tree import decode_correction
from narrator.core.view import is_shown, name_of, seen, visibility, without_hidden, words_of


def binding(corrections: Iterable[str], state: Facts, definition: Definition) -> list[str]:
    """What of these corrections (their texts, in the order of the path) holds in a state, one line each."""
    latest: dict[tuple[str, str], dict[str, Any]] = {}
    for text in corrections:
        told = decode_correction(text)
        about = _fact(told).strip().rstrip(".").casefold() if told["path"] == "facts" else ""
        latest.pop((told["path"], about), None)
        latest[told["path"], about] = told
    lines = [_line(told, state, definition) for told in latest.values() if _holds(told, state)]
    return [line for line in lines if line]


def _holds(told: dict[str, Any], state: Facts) -> bool:
    path, new = told["path"], told["new"]
    if path != "facts":
        return not path.startswith("story.") and bool(state.values.get(path) == new)
    known = state.values.get("facts")
    texts = [str(each.get("text")) for each in (known if isinstance(known, list) else []) if isinstance(each, dict)]
    is_known = any(is_same_fact(text, _fact(told)) for text in texts)
    return is_known if new is not None else not is_known


def _fact(told: dict[str, Any]) -> str:
    """The sentence of an asserted or retracted fact."""
    fact = told["old"] if told["new"] is None else told["new"]
    return str(fact.get("text", "")) if isinstance(fact, dict) else str(fact)


def _line(told: dict[str, Any], state: Facts, definition: Definition) -> str:
    """One correction as a sentence; '' for one that a model may not see."""
    path, old, new, reason = told["path"], told["old"], told["new"], told["reason"]
    if path == "facts":
        said = f"it is {'true' if new is not None else 'not true'} that: {_fact(told)}"
    elif visibility(definition, path) == "hidden" or not is_shown(definition, path, new):
        return ""
    else:
        now = _value(definition, state, path, new)
        before = _value(definition, state, path, old) if old is not None and is_shown(definition, path, old) else now
        said = f"{_name(definition, state, path)}: {now}" + (f", not {before}" if before != now else "")
    return said + (f" ({reason})" if reason else "")


def _name(definition: Definition, state: Facts, path: str) -> str:
    """What the state calls a path: “Ansa: nerve”, “Orrin Vale towards Ansa: trust”, “a lamp: with”."""
    field, (root, _, rest) = find_field(definition, path), path.partition(".")
    if field is not None and field.type == "relation":
        stem, first, second = path.rsplit(".", 2)
        names = f"{name_of(state, definition, first)} towards {name_of(state, definition, second)}"
        return f"{names}: {field.label or words_of(stem)}"
    if root == "inventory":
        return f"{name_of(state, definition, rest)}: with"
    if root == "entities":
        owner, _, attribute = rest.partition(".")
        return f"{name_of(state, definition, owner)}: {words_of(attribute)}"
    words = field.label if field is not None and field.label else words_of(path)
    is_owned = root in definition.entities or root == "player" or f"entities.{root}.name" in state.values
    return f"{name_of(state, definition, root)}: {words}" if is_owned and rest else words


def _value(definition: Definition, state: Facts, path: str, value: JSON) -> str:
    root = path.partition(".")[0]
    if value is None:
        return "nobody" if root == "inventory" else "nothing"
    if isinstance(value, str) and (root == "inventory" or path == "location"):
        return name_of(state, definition, value)
    if path == "scene.present" and isinstance(value, list):
        there = without_hidden(definition, path, value)
        return ", ".join(name_of(state, definition, str(each)) for each in there) or "nobody"
    return seen(definition, find_field(definition, path), value) or "nothing"
