"""What is true in the story now (W1): values by dotted path, folded from the events along a path (W3).

::

    location                    text                scene.present   list of entity ids
    player.nerve                7                   facts           [{"text": …, "certainty": …}, …]
    threads.the-dark-lantern    {"text": …, "open": true}
    inventory.oil               "player"            entities.ferryman.name   "Orre"
    trust.ferryman.player       -2 (a relation declared at ``trust``)
    story.fired                 {storylet: {"times", "last", "order", "wording", "told": {wording: [times, turn]}}}

The fold trusts its events: the referee has judged them. It never raises, so that a story written under another
definition still opens (W13). A ``State`` is frozen; whoever folds gets a new one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from narrator.core.definition import PLAYER, Definition
from narrator.core.errors import Damaged
from narrator.core.proposal import JSON, is_number
from narrator.core.view import Projection, name_of, open_values, project, projection, public, schema_lines, visibility

__all__ = [
    "EMPTY",
    "ENDING",
    "FIRED",
    "REST",
    "Event",
    "Projection",
    "State",
    "advance",
    "apply",
    "dump",
    "initial_events",
    "is_ended",
    "is_same_fact",
    "load",
    "name_of",
    "open_values",
    "project",
    "projection",
    "public",
    "schema_lines",
    "value_after",
    "visibility",
]

_NOTHING: Mapping[str, JSON] = MappingProxyType({})
FIRED = "story.fired"
ENDING = "story.ending"
REST = 10
"""No answer comes twice within this many turns (U23)."""
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Event:
    """A change that happened, on the node that caused it (W3).

    ``previous`` is the value at the path before. ``source``: model, check, storylet, player, import. ``source_node_id``
    is the node that first caused it, where it was copied (S20). ``note`` is the reason, and what was clamped.
    """

    op: str
    path: str
    value: JSON
    previous: JSON
    source: str
    source_node_id: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """The fold at one node.

    ``turn``: player inputs so far. ``changed``: the turn of the last change by path, for cooldowns. ``spent``: by how
    much a number has moved in this turn, for the largest change a turn. ``unknown``: nobody knows (W12); the values are
    the last known.
    """

    values: Mapping[str, JSON] = field(default_factory=lambda: _NOTHING)
    turn: int = 0
    changed: Mapping[str, int] = field(default_factory=lambda: _NOTHING)
    unknown: bool = False
    spent: Mapping[str, float] = field(default_factory=lambda: _NOTHING)


EMPTY = State()


def initial_events(definition: Definition) -> tuple[Event, ...]:
    """The values that a campaign begins with, as events on its opening (W1)."""
    start = definition.start
    pairs: list[tuple[str, JSON]] = []
    player = definition.entities.get(PLAYER)
    if definition.is_state_declared:
        name = definition.player_name or (player.name if player else "")
        pairs += [(f"entities.{PLAYER}.name", name)] if name else []
    for entity in definition.entities.values():
        given = {"name": entity.name, "kind": entity.kind, "text": entity.text}
        pairs += [(f"entities.{entity.id}.{key}", text) for key, text in given.items() if text]
    pairs += [("location", start.location), ("time", start.time), ("scene.mood", start.mood)]
    pairs += [("scene.present", list(start.present))]
    pairs += [(f"inventory.{item}", owner) for item, owner in start.inventory.items()]
    for declared in definition.fields.values():
        if declared.initial is not None and declared.type == "relation":
            pairs += _initial_relations(declared.path, declared.initial)
        elif declared.initial is not None:
            pairs.append((declared.path, declared.initial))
    seen: dict[str, JSON] = {path: value for path, value in pairs if value not in ("", [])}
    events = [Event("set", path, value, None, "storylet", note="start") for path, value in seen.items()]
    events += [Event("assert", "facts", _fact(text), None, "storylet", note="start") for text in start.facts]
    events += [
        Event("open", f"threads.{name}", text, None, "storylet", note="start") for name, text in start.threads.items()
    ]
    return tuple(events)


def advance(state: State, role: str, events: Iterable[Event], unknown: bool = False) -> State:
    """The state after one more node (S10, W3).

    A ``player`` node begins a turn. ``unknown`` says that nobody knows what this node changed (W12): the mark stays
    until an import tells the state again. Values of an opening and corrections start no cooldown.
    """
    events = tuple(events)
    turn = state.turn + (role == "player")
    if not events and role != "player" and not unknown:
        return state
    values = dict(state.values)
    changed = dict(state.changed)
    spent = {} if role == "player" else dict(state.spent)
    for event in events:
        before = values.get(event.path)
        _fold(values, event, turn)
        if role not in {"opening", "correction"}:
            changed[event.path] = turn
            after = values.get(event.path)
            if is_number(before) and is_number(after):
                spent[event.path] = spent.get(event.path, 0) + after - before
    known_again = any(event.source == "import" for event in events)
    return State(values, turn, changed, unknown or (state.unknown and not known_again), spent)


def apply(state: State, event: Event) -> State:
    """The state after one more event of the node that is being judged."""
    return advance(state, "narrator", (event,))


def value_after(event: Event) -> JSON:
    """The value at the path after an event, for whoever shows old and new (W7, W8): of ``add`` the sum, not what was
    added; of a list the whole list; of a fact the fact, None where it was retracted."""
    if event.op in {"assert", "retract"} or event.path == FIRED:
        return None if event.op == "retract" else event.value
    values = {} if event.previous is None else {event.path: event.previous}
    _fold(values, event, 0)
    return values.get(event.path)


def dump(state: State) -> str:
    """Canonical JSON, for snapshots: equal states give equal text."""
    return json.dumps(
        {
            "format": _FORMAT,
            "values": dict(state.values),
            "turn": state.turn,
            "changed": dict(state.changed),
            "unknown": state.unknown,
            "spent": dict(state.spent),
        },
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )


def load(text: str) -> State:
    """The state in a snapshot. Raises ``Damaged`` for a text that ``dump`` did not write."""
    try:
        data = json.loads(text)
        if data["format"] != _FORMAT:
            raise ValueError(f"format {data['format']}")
        values, changed, spent = dict(data["values"]), dict(data["changed"]), dict(data["spent"])
        return State(values, int(data["turn"]), changed, bool(data["unknown"]), spent)
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"A snapshot of the state cannot be read: {error}", invariant="S47") from error


def is_ended(state: State) -> bool:
    """Whether an ending was reached (T18)."""
    return bool(state.values.get(ENDING))


def without_mark(state: State) -> State:
    """The same values, known: what a correction or a fresh extraction stands on."""
    return replace(state, unknown=False)


def _fold(values: dict[str, JSON], event: Event, turn: int) -> None:
    """Apply one event. Values are never changed in place: a state that shares them stays what it was."""
    path, value, before = event.path, event.value, values.get(event.path)
    if path == FIRED:
        values[path] = _record(before, value, turn)
    elif event.op == "add":
        values[path] = _sum(before, value)
    elif event.op == "append":
        values[path] = [*(before if isinstance(before, list) else []), value]
    elif event.op == "remove" and isinstance(before, list):
        values[path] = _without(before, value)
    elif event.op == "remove":
        values.pop(path, None)
    elif event.op == "assert":
        fact = _fact(value)
        values[path] = [*_other_facts(before, fact["text"]), fact]
    elif event.op == "retract":
        values[path] = _other_facts(before, _fact(value)["text"])
    elif event.op == "open":
        values[path] = {"text": value if isinstance(value, str) else "", "open": True}
    elif event.op == "close":
        text = before.get("text", "") if isinstance(before, dict) else ""
        values[path] = {"text": text, "open": False, **({"outcome": value} if value else {})}
    elif value is None:
        values.pop(path, None)
    else:
        values[path] = value


def _record(before: JSON, value: JSON, turn: int) -> dict[str, JSON]:
    """``story.fired`` as a record by storylet: it stays as small as the campaign, however long the story gets.

    ``order`` counts everything that fired, so that the latest can be told (S20); ``wording`` is the latest one.
    """
    record = dict(before) if isinstance(before, dict) else {}
    if isinstance(value, dict) and isinstance(value.get("id"), str):
        old = record.get(value["id"]) or {"times": 0, "told": {}}
        told, wording = dict(old["told"]), str(value.get("wording", ""))
        told[wording] = [told.get(wording, [0])[0] + 1, turn]
        _shed(told, turn)
        order = 1 + max((one.get("order", 0) for one in record.values()), default=0)
        record[value["id"]] = {
            "times": old["times"] + 1,
            "last": turn,
            "order": order,
            "wording": wording,
            "told": told,
        }
    return record


def _shed(told: dict[str, list[int]], turn: int) -> None:
    """A wording with asides behind it matters for ten turns; later it counts as the wording alone."""
    for name in [name for name, (_, last) in told.items() if "+" in name and turn - last > REST]:
        times, last = told.pop(name)
        base = name.partition("+")[0]
        before, at = told.get(base, [0, last])
        told[base] = [before + times, max(at, last)]


def _sum(before: JSON, value: JSON) -> JSON:
    if not is_number(value):
        return before
    total = (before if is_number(before) else 0) + value
    return int(total) if isinstance(total, float) and total.is_integer() else total


def _without(items: list[JSON], value: JSON) -> list[JSON]:
    at = next((at for at, item in enumerate(items) if item == value), None)
    return items if at is None else items[:at] + items[at + 1 :]


def _fact(value: JSON) -> dict[str, JSON]:
    if isinstance(value, Mapping):
        return {"text": str(value.get("text", "")), "certainty": str(value.get("certainty") or "certain")}
    return {"text": str(value), "certainty": "certain"}


def _other_facts(facts: JSON, text: str) -> list[JSON]:
    known = facts if isinstance(facts, list) else []
    return [fact for fact in known if not (isinstance(fact, dict) and is_same_fact(str(fact.get("text", "")), text))]


def is_same_fact(left: str, right: str) -> bool:
    """Whether two sentences are one fact: case and a full stop at the end do not count."""
    return left.strip().rstrip(".").casefold() == right.strip().rstrip(".").casefold()


def _initial_relations(path: str, initial: JSON) -> list[tuple[str, JSON]]:
    """``initial = [["ferryman", "player", -2], …]`` of a relation field."""
    rows = initial if isinstance(initial, list) else []
    return [(f"{path}.{row[0]}.{row[1]}", row[2]) for row in rows if isinstance(row, list) and len(row) == 3]
