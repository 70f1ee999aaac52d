"""The types of state values: what may be done to each, how a value that was meant is understood (W2, W4)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from narrator.core.definition import PLAYER, Band, Definition, Field
from narrator.core.field_labels import SCALE
from narrator.core.places import Created, Placed, Wrong, find_entity, is_hidden_entity, need_entity
from narrator.core.proposal import JSON, is_number
from narrator.core.state import State, is_same_fact

CERTAINTIES = ("certain", "likely", "rumoured", "doubted")
"""How sure a fact is (W1)."""

_YES, _NO = {"true", "yes", "on", "1"}, {"false", "no", "off", "0", ""}


@dataclass(frozen=True, slots=True)
class Typed:
    """An operation whose value has its type. ``number``: the value that a number would have, before any clamping."""

    op: str
    value: JSON
    number: float | None = None
    notes: tuple[str, ...] = ()
    created: tuple[Created, ...] = ()
    is_hidden: bool = False


def coerce(definition: Definition, state: State, placed: Placed) -> Typed:
    """The operation as its type understands it. Raises ``Wrong`` with rule ``type``."""
    return _TYPES[placed.field.type](definition, state, placed)


def _numeric(definition: Definition, state: State, placed: Placed) -> Typed:
    op, value, field = placed.proposal.op, placed.proposal.value, placed.field
    before = state.values.get(placed.path)
    if op not in {"set", "add", "relate", ""} or (op == "relate" and field.type != "relation"):
        raise _unfit(field, op)
    if op == "":
        op = "add" if isinstance(value, str) and re.fullmatch(r"\s*[+-]\s*\d.*", value) else "set"
    notes: tuple[str, ...] = ()
    if value is None and op == "set":
        return Typed("set", None)
    number = _number(value)
    if number is None and op != "add" and isinstance(value, str):
        number = _from_label(field, value, before)
    if number is None:
        raise Wrong("type", f"{field.path} is a number, not {value!r:.60}")
    if not isinstance(value, int | float):
        notes = (f"{value!r:.40} was read as {number:g}",)
    if op == "add":
        number += before if is_number(before) else 0
    return Typed("relate" if field.type == "relation" and op == "set" else op, number, number, notes)


def _number(value: JSON) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value if math.isfinite(value) else None
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\s*\d{1,15}([.,]\d+)?\s*", value):
        number = float(value.replace(" ", "").replace(",", "."))
        return int(number) if number.is_integer() else number
    return None


def _from_label(field: Field, text: str, before: JSON) -> float | None:
    """A band's label means the value of that band that is nearest to the present one: a model sees labels alone."""
    bands = field.bands
    if not bands and field.minimum is not None and field.maximum is not None:
        step = (field.maximum - field.minimum) / len(SCALE)
        bands = tuple(
            Band(math.ceil(field.minimum + step * at), math.floor(field.minimum + step * (at + 1)), name)
            for at, name in enumerate(SCALE)
        )
    for band in bands:
        if band.label.casefold() == text.strip().casefold():
            start = before if is_number(before) else band.low
            return min(max(start, band.low), band.high)
    return None


def _text(definition: Definition, state: State, placed: Placed) -> Typed:
    op, value, field = placed.proposal.op, placed.proposal.value, placed.field
    if op == "remove" or (value is None and op in {"set", "move", ""}):
        return Typed("set", None)
    if op not in {"set", ""} and not (op == "move" and placed.path == "location"):
        raise _unfit(field, op)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Wrong("type", f"{field.path} is a text, not {value!r:.60}")
    text = str(value).strip()
    if field.max_length is not None and len(text) > field.max_length:
        raise Wrong("type", f"{field.path} holds {field.max_length} characters at most, not {len(text)}")
    if field.choices:
        match = [choice for choice in field.choices if choice.casefold() == text.casefold()]
        if not match:
            raise Wrong("type", f"{field.path} is one of {', '.join(field.choices)}, not {text!r:.60}")
        text = match[0]
    if placed.path == "location":
        return _location(definition, state, op or "set", text)
    return Typed("set", text)


def _location(definition: Definition, state: State, op: str, text: str) -> Typed:
    """A place that is declared goes by its id; where places are declared and entities closed, no other is known."""
    if not any(entity.kind == "place" for entity in definition.entities.values()):
        return Typed(op, find_entity(definition, state, text) or text)
    found, created = need_entity(definition, state, text, "place")
    return Typed(op, found, created=created, is_hidden=is_hidden_entity(definition, found))


def _flag(definition: Definition, state: State, placed: Placed) -> Typed:
    op, value, field = placed.proposal.op, placed.proposal.value, placed.field
    if op in {"open", "close"}:
        return Typed("set", op == "open")
    if op not in {"set", ""}:
        raise _unfit(field, op)
    if value is None:
        return Typed("set", None)
    word = str(value).strip().casefold()
    if word not in _YES | _NO:
        raise Wrong("type", f"{field.path} is true or false, not {value!r:.60}")
    return Typed("set", word in _YES)


def _list(definition: Definition, state: State, placed: Placed) -> Typed:
    op, value, field = placed.proposal.op, placed.proposal.value, placed.field
    if op == "add":
        op = "append"
    if op not in {"set", "append", "remove", ""}:
        raise _unfit(field, op)
    if op == "":
        op = "set" if isinstance(value, list) else "append"
    items = value if isinstance(value, list) else [value]
    if op != "set" and len(items) != 1:
        raise Wrong("type", f"{field.path}: {op} takes one item at a time")
    created: tuple[Created, ...] = ()
    out: list[JSON] = []
    for item in items:
        if isinstance(item, bool) or not isinstance(item, str | int | float) or (item == "" and op != "set"):
            raise Wrong("type", f"{field.path} holds texts and numbers, not {item!r:.60}")
        if placed.path == "scene.present":
            item, new = need_entity(definition, state, str(item), "character")
            created += new
        out.append(item)
    is_hidden = any(is_hidden_entity(definition, str(item)) for item in out) and placed.path == "scene.present"
    if op == "set":
        return Typed("set", list(dict.fromkeys(out)), created=created, is_hidden=is_hidden)
    before = state.values.get(placed.path)
    known = before if isinstance(before, list) else []
    if op == "remove" and out[0] not in known:
        raise Wrong("type", f"{out[0]!r:.60} is not in {field.path}")
    if op == "append" and out[0] in known and placed.path == "scene.present":
        return Typed("set", list(known), is_hidden=is_hidden)
    return Typed(op, out[0], created=created, is_hidden=is_hidden)


def _milestone(definition: Definition, state: State, placed: Placed) -> Typed:
    op, value, field = placed.proposal.op, placed.proposal.value, placed.field
    if op not in {"set", ""}:
        raise _unfit(field, op)
    if value is None or value is False:
        return Typed("set", None)
    if not isinstance(value, str | bool) or value == "":
        raise Wrong("type", f"{field.path} is a milestone: true or a word, not {value!r:.60}")
    return Typed("set", True if isinstance(value, str) and value.casefold() == "true" else value)


def _facts(definition: Definition, state: State, placed: Placed) -> Typed:
    op, value, field = placed.proposal.op, placed.proposal.value, placed.field
    op = {"": "assert", "set": "assert", "append": "assert", "add": "assert", "remove": "retract"}.get(op, op)
    if op not in {"assert", "retract"}:
        raise _unfit(field, op)
    text = value.get("text") if isinstance(value, Mapping) else value
    certainty = value.get("certainty") if isinstance(value, Mapping) else None
    if not isinstance(text, str) or not text.strip():
        raise Wrong("type", f"a fact is a text, not {value!r:.60}")
    if field.max_length is not None and len(text) > field.max_length:
        raise Wrong("type", f"a fact holds {field.max_length} characters at most, not {len(text)}")
    if certainty is not None and certainty not in CERTAINTIES:
        raise Wrong("type", f"a fact is {', '.join(CERTAINTIES)}, not {certainty!r:.60}")
    if op == "retract":
        return Typed("retract", _known_fact(state, text))
    is_doubted = certainty not in {None, "certain"}
    return Typed("assert", {"text": text.strip(), "certainty": certainty} if is_doubted else text.strip())


def _known_fact(state: State, text: str) -> str:
    facts = state.values.get("facts")
    for fact in facts if isinstance(facts, list) else []:
        if isinstance(fact, dict) and is_same_fact(str(fact.get("text", "")), text):
            return str(fact["text"])
    raise Wrong("type", f"no such fact is known: {text!r:.80}")


def _thread(definition: Definition, state: State, placed: Placed) -> Typed:
    op, value, field = placed.proposal.op, placed.proposal.value, placed.field
    if op in {"set", ""}:
        is_closing = value is False or (isinstance(value, str) and value.casefold() in {"closed", "done", "resolved"})
        op = "close" if is_closing else "open"
        value = "" if is_closing else value
    if op in {"assert", "append", "add"}:
        op = "open"
    if op in {"retract", "remove"}:
        op, value = "close", ""
    if op not in {"open", "close"}:
        raise _unfit(field, op)
    text = value if isinstance(value, str) else ""
    if field.max_length is not None and len(text) > field.max_length:
        raise Wrong("type", f"a thread holds {field.max_length} characters at most, not {len(text)}")
    before = state.values.get(placed.path)
    if op == "close" and not isinstance(before, dict):
        raise Wrong("type", f"no thread is called {placed.path.partition('.')[2]!r}")
    if op == "open" and not text:
        raise Wrong("type", f"{field.path} wants a text that says what is open")
    if op == "close" and isinstance(before, dict) and not before.get("open"):
        return Typed("close", before.get("outcome", ""))
    return Typed(op, text)


def _owner(definition: Definition, state: State, placed: Placed) -> Typed:
    op, value, field = placed.proposal.op, placed.proposal.value, placed.field
    if op == "remove" or (value in (None, "") and op in {"set", "move", ""}):
        return Typed("move", None)
    if op not in {"set", "move", "add", "append", ""}:
        raise _unfit(field, op)
    if not isinstance(value, str):
        is_taken = value is True or (isinstance(value, int | float) and value > 0)
        if not is_taken:
            raise Wrong("type", f"{field.path} has an owner, not {value!r:.60}")
        return Typed("move", PLAYER)
    here = state.values.get("location")
    if isinstance(here, str) and value.strip().casefold() == here.casefold():
        return Typed("move", here)
    owner, created = need_entity(definition, state, value, "character")
    return Typed("move", owner, created=created, is_hidden=is_hidden_entity(definition, owner))


def _fired(definition: Definition, state: State, placed: Placed) -> Typed:
    op, value = placed.proposal.op, placed.proposal.value
    if op != "append" or not isinstance(value, dict) or not isinstance(value.get("id"), str):
        raise _unfit(placed.field, op)
    return Typed("append", {"id": value["id"], "wording": str(value.get("wording", ""))})


def _unfit(field: Field, op: str) -> Wrong:
    return Wrong(
        "type", f"{op or 'that'} cannot be done to {field.path}, which is {_ARTICLES.get(field.type, field.type)}"
    )


_ARTICLES = {
    "number": "a number",
    "counter": "a counter",
    "relation": "a relation",
    "text": "a text",
    "flag": "a flag",
    "list": "a list",
    "milestone": "a milestone",
    "facts": "a list of facts",
    "thread": "a thread",
    "owner": "somebody's",
    "fired": "kept by the program",
}
_TYPES: Mapping[str, Callable[[Definition, State, Placed], Typed]] = {
    "number": _numeric,
    "counter": _numeric,
    "relation": _numeric,
    "text": _text,
    "flag": _flag,
    "list": _list,
    "milestone": _milestone,
    "facts": _facts,
    "thread": _thread,
    "owner": _owner,
    "fired": _fired,
}
