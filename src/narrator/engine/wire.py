"""Events as JSON objects and back, and their JSON Schema: the door to whoever reads JSON (contract).

Each object carries its event's name under ``event``. The fields are those of the dataclasses in ``events``; pydantic
makes both the objects and the schema from them, so neither can drift.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from narrator.core.errors import BadValue
from narrator.engine import events
from narrator.engine.events import Done, Event, Failed

_CLASSES: tuple[type[Any], ...] = get_args(Event)


_ADAPTERS: dict[str, TypeAdapter[Any]] = {}


def _adapter(event_class: Any) -> TypeAdapter[Any]:
    """The adapter of a class, made when it is first needed: all of them take some tens of milliseconds."""
    name: str = event_class.__name__
    if name not in _ADAPTERS:
        _ADAPTERS[name] = TypeAdapter(event_class)
    return _ADAPTERS[name]


def as_object(event: Event) -> dict[str, Any]:
    """The object of an event. A tag or a draft that is not there has no key."""
    fields: dict[str, Any] = _adapter(type(event)).dump_python(event, mode="json")
    if isinstance(event, Done) and event.tag is None:
        del fields["tag"]
    if isinstance(event, Failed) and event.draft is None:
        del fields["draft"]
    return {"event": event.wire_name, **fields}


def as_json(event: Event) -> str:
    """One line of JSON, without its end. Other scripts stand in it as they are; line ends of Unicode are escaped."""
    line = json.dumps(as_object(event), ensure_ascii=False, separators=(", ", ": "))
    # Readers that split at every line end of Unicode would see two halves.
    return line.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085")


def from_object(obj: Mapping[str, Any]) -> Event:
    """The event of an object: for front ends and tests that read the stream. Raises ``bad-value``."""
    name = obj.get("event")
    fields = {key: value for key, value in obj.items() if key != "event"}
    candidates = [c for c in _CLASSES if c.wire_name == name]
    if name == events.StateShown.wire_name:
        candidates = [events.StateShown if "values" in fields else events.StateChanged]
    if not candidates:
        raise BadValue(f"There is no event {name!r}.")
    try:
        event: Event = _adapter(candidates[0]).validate_json(json.dumps(fields))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadValue(f"{name}: {where}: {first['msg']}") from None
    return event


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of any event: one shape a class, told apart by ``event``."""
    keyed = [(event_class.__name__, "serialization", _adapter(event_class)) for event_class in _CLASSES]
    refs, shared = TypeAdapter.json_schemas(keyed)  # type: ignore[arg-type]
    definitions: dict[str, Any] = shared.get("$defs", {})
    for event_class in _CLASSES:
        shape = definitions[event_class.__name__]
        shape["properties"] = {"event": {"const": event_class.wire_name}, **shape.get("properties", {})}
        always = [name for name in shape["properties"] if name not in _absent(event_class)]
        shape["required"] = always
        shape["description"] = (event_class.__doc__ or "").strip()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Narrator events",
        "oneOf": [refs[(event_class.__name__, "serialization")] for event_class in _CLASSES],
        "$defs": definitions,
    }


def _absent(event_class: type[Any]) -> frozenset[str]:
    """Fields that ``as_object`` may leave out."""
    return {Done: frozenset({"tag"}), Failed: frozenset({"draft"})}.get(event_class, frozenset())
