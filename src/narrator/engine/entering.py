"""Changes of the state that the player enters by hand for an edited narration (S22), judged before the commit.

A line is ``NAME VALUE`` or ``NAME OP VALUE``, the name a path or what people call it, in double quotes where it holds a
space: ``nerve 5``, ``"lanterns burning" add -1``, ``present append tench``. Nothing here writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from narrator.core.definition import Definition, Field, find_field
from narrator.core.errors import BadValue
from narrator.core.proposal import JSON, OPS, Proposal
from narrator.core.referee import judge
from narrator.core.state import State, apply, value_after
from narrator.core.titles import full_title, in_titles, value_words
from narrator.engine import state_views
from narrator.engine.state_views import is_shown
from narrator.engine.story import Story

_LINE: Final = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|(\S+))\s+(\S.*)', re.DOTALL)
_OPS_OF: Final[dict[str, tuple[str, ...]]] = {
    "number": ("set", "add"),
    "counter": ("set", "add"),
    "relation": ("set", "add"),
    "list": ("set", "append", "remove"),
    "facts": ("assert", "retract"),
    "thread": ("open", "close"),
    "owner": ("move",),
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the referee makes of one change: in words, and whether it is accepted."""

    words: str
    is_fine: bool


def ops_of(field: Field) -> tuple[str, ...]:
    """What may be done to a field, the usual first."""
    return _OPS_OF.get(field.type, ("set",))


def read_change(story: Story, line: str) -> Proposal:
    """The change that a line means. Raises ``bad-value`` for a line without a value."""
    found = _LINE.fullmatch(line.strip())
    if found is None:
        raise BadValue("A change is a name and a value.", 'For example: nerve 5, or "lanterns burning" add 1.')
    quoted, word, rest = found.groups()
    name = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else word
    op, _, value = rest.partition(" ")
    if op not in OPS or not (value.strip() or op == "close"):
        op, value = "", rest
    return Proposal(op, state_views.resolve(story, name), read_value(value))


def read_value(text: str) -> JSON:
    """JSON where it is JSON, else the text."""
    text = text.strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def as_answer(changes: Sequence[Proposal]) -> dict[str, Any]:
    """The changes as the value of ``/answer enter`` (contract)."""
    return {"changes": [{"op": c.op, "path": c.path, "value": c.value, "why": c.why} for c in changes]}


def judge_each(story: Story, state: State, changes: Sequence[Proposal]) -> list[Judgement]:
    """Each change in its turn, on the state that those before it leave; ``state`` is the one before the narration."""
    definition = story.definition
    found: list[Judgement] = []
    for change in changes:
        judged = judge(definition, state, [change], source="player")
        if judged.refused:
            reason = in_titles(definition, state, judged.refused[0].reason, [change.path])
            found.append(Judgement(reason, False))
            continue
        told = []
        for event in judged.events:
            words = value_words(definition, state, event.path, event.previous)
            became = value_words(definition, state, event.path, value_after(event))
            if is_shown(definition, event.path):
                told.append(f"{full_title(definition, state, event.path)}: {words} → {became}")
            state = apply(state, event)
        notes = [in_titles(definition, state, note, [change.path]) for note in judged.notes]
        found.append(Judgement("; ".join([*told, *notes]), True))
    return found


def choices(definition: Definition, state: State) -> list[tuple[str, str, str]]:
    """(path, title, value in words) of every field that the player may set, in the order of the panel."""
    shown = state_views.outline_of(definition, state)
    known = [(each.path, full_title(definition, state, each.path), each.words) for each in shown if each.title]
    there = {path for path, _, _ in known}
    unset = [
        (path, full_title(definition, state, path), "not set")
        for path, field in definition.fields.items()
        if path not in there and field.type != "relation" and is_shown(definition, path)
    ]
    return [*known, *unset, ("facts", "A fact", "")]


def field_of(definition: Definition, path: str) -> Field:
    """The field at a path. Raises ``bad-value``."""
    field = find_field(definition, path)
    if field is None:
        raise BadValue(f"Nothing can be changed at {path}.")
    return field
