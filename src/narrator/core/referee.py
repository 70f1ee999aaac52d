"""The one door for proposed changes (W4): whoever proposes, the same order of questions, operation by operation.

known path → type → visibility → cooldown → counter and milestone → largest change (clamped, noted) → minimum and
maximum (clamped, noted). A proposal becomes an event, or is refused with its reason; the rest are applied together
(T5). The player's corrections and an import go through the same types without cooldown and largest change, and may set
anything but the history (W9). What follows of itself follows here: a clock that fills, an ending whose condition holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from narrator.core.answers import CHECK_SCHEMA, EXTRACTION_SCHEMA, parse_check, parse_proposals
from narrator.core.conditions import holds
from narrator.core.definition import FACTS, Definition, Field
from narrator.core.field_types import Typed, coerce
from narrator.core.places import Placed, Wrong, is_hidden_entity, place
from narrator.core.proposal import JSON, OPS, Proposal, is_number
from narrator.core.state import ENDING, FIRED, Event, State, apply, is_same_fact
from narrator.core.titles import full_title, value_words
from narrator.core.view import visibility

__all__ = [
    "CHECK_SCHEMA",
    "EXTRACTION_SCHEMA",
    "Proposal",
    "Refused",
    "Verdict",
    "judge",
    "parse_check",
    "parse_proposals",
]

_UNBOUND = {"player", "import"}
_SEEING_PART = {"player", "model"}
_OWN = {"storylet", "check"}
"""The campaign itself: it may ask for more than there is room for, and need not be told so. Its event says it."""
_NEVER_UNSET = {"number", "counter", "relation", "flag"}


@dataclass(frozen=True, slots=True)
class Refused:
    """A proposal that was refused. ``rule``: path, type, visibility, cooldown, counter, milestone; of a
    correction also same (it is so already)."""

    proposal: Proposal
    reason: str
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """``events`` in order, ready to commit; ``refused`` one by one; ``notes`` (clamped, coerced) as lines to show."""

    events: tuple[Event, ...] = ()
    refused: tuple[Refused, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Bench:
    """The judging of one batch: the state as it was, as it becomes, and what came of it."""

    definition: Definition
    before: State
    now: State
    events: list[Event]
    notes: list[str]

    def accept(self, event: Event) -> None:
        self.events.append(event)
        self.now = apply(self.now, event)


def judge(definition: Definition, state: State, proposals: Iterable[Proposal], *, source: str) -> Verdict:
    """Judge proposals against the state of the node that is being written (W4). Never raises for a proposal.

    ``source``: model, check, storylet, player or import. Values that are already so make no event;
    of a correction that is a refusal, for the player asked for something to happen.
    """
    bench = _Bench(definition, state, state, [], [])
    refused: list[Refused] = []
    for proposal in proposals:
        try:
            _judge_one(bench, proposal, source)
        except Wrong as wrong:
            refused.append(Refused(proposal, _reason(definition, proposal, wrong, source), wrong.rule))
    if source not in _UNBOUND:
        _end(bench)
    return Verdict(tuple(bench.events), tuple(refused), tuple(bench.notes))


def _reason(definition: Definition, proposal: Proposal, wrong: Wrong, source: str) -> str:
    """The reason as it is shown. What the campaign itself does unseen is not given away by failing."""
    if source in _OWN and visibility(definition, proposal.path) != "open":
        return "something that the campaign keeps to itself could not change"
    return str(wrong)


def _as_typed(proposal: Proposal) -> Proposal:
    """A correction is typed on one line: ``null`` unsets, and brackets make a list."""
    value = proposal.value
    if isinstance(value, str) and value.strip().casefold() == "null":
        return replace(proposal, value=None)
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            return replace(proposal, value=json.loads(value))
        except ValueError:
            return proposal
    return proposal


def _judge_one(bench: _Bench, proposal: Proposal, source: str) -> None:
    if proposal.op and proposal.op not in OPS:
        raise Wrong("type", f"{proposal.op!r} is no operation")
    if source == "player":
        proposal = _as_typed(proposal)
    placed = place(bench.definition, bench.now, proposal)
    typed = coerce(bench.definition, bench.now, placed)
    if typed.value is None and placed.field.type in _NEVER_UNSET and source not in _UNBOUND:
        raise Wrong("type", f"{placed.path} has a value; it cannot be taken away")
    _visible(bench, placed, typed, source)
    if source in _SEEING_PART:
        typed = _with_unseen(bench, placed, typed)
    if source not in _UNBOUND:
        _cooled(bench.before, placed.field)
    if source not in _UNBOUND:
        _sticky(bench.now, placed.field, typed)
    notes = list(typed.notes)
    if typed.number is not None:
        typed = _clamped(bench.now, placed.field, typed, notes, is_bound=source not in _UNBOUND)
    for created in (*placed.created, *typed.created):
        for key, text in (("name", created.name), ("kind", created.kind)):
            bench.accept(Event("set", f"entities.{created.id}.{key}", text, None, source, note=proposal.why))
    before = bench.now.values.get(placed.path)
    note = "; ".join(part for part in (proposal.why, *notes) if part)
    event = Event(typed.op, placed.path, typed.value, _previous(placed.path, typed, before), source, note=note)
    after = apply(bench.now, event)
    if placed.field.visibility == "open" and source not in _OWN:
        bench.notes += [f"{placed.path}: {text}" for text in notes]
    if after.values.get(placed.path) == before and placed.path != FIRED:
        if source == "player":
            raise Wrong("same", _already(bench, placed.path, typed.op, before))
        return
    bench.accept(event)
    if source not in _UNBOUND:
        _fill(bench, placed.path, before)


def _already(bench: _Bench, path: str, op: str, value: JSON) -> str:
    """That a correction asks for what is so, in words."""
    if path == FACTS.path:
        return "That is held to be so already."
    if path.startswith("threads."):
        return f"That question is {'open' if op == 'open' else 'closed'} already."
    words = value_words(bench.definition, bench.now, path, value)
    return f"That is so already. {full_title(bench.definition, bench.now, path)}: {words}."


def _previous(path: str, typed: Typed, before: JSON) -> JSON:
    """The value before, as an event keeps it. Of what grows with the story only the item concerned: else every event
    would hold the whole."""
    if path == FIRED:
        return None
    if path != FACTS.path:
        return before
    text = typed.value["text"] if isinstance(typed.value, dict) else typed.value
    known = before if isinstance(before, list) else []
    return next((fact for fact in known if isinstance(fact, dict) and is_same_fact(str(fact.get("text")), text)), None)


def _visible(bench: _Bench, placed: Placed, typed: Typed, source: str) -> None:
    """A model may not write what it does not see. The reason says no more than that of an unknown path."""
    field = placed.field
    if field.type == "fired" and source != "storylet":
        raise Wrong("visibility", "what was told cannot be changed")
    if source == "model" and (field.visibility == "hidden" or field.is_authored or placed.is_hidden or typed.is_hidden):
        raise Wrong("visibility", f"nothing can be changed at {placed.path!r}")


def _with_unseen(bench: _Bench, placed: Placed, typed: Typed) -> Typed:
    """Who lists everybody that is there lists those that can be seen; the hidden stay where they are."""
    if placed.path != "scene.present" or typed.op != "set" or not isinstance(typed.value, list):
        return typed
    before = bench.now.values.get(placed.path)
    unseen = (
        [name for name in before if is_hidden_entity(bench.definition, str(name))] if isinstance(before, list) else []
    )
    return replace(typed, value=list(dict.fromkeys([*typed.value, *unseen])))


def _cooled(state: State, field: Field) -> None:
    changed = state.changed.get(field.path)
    if field.cooldown and changed is not None and state.turn - changed < field.cooldown:
        left = field.cooldown - (state.turn - changed)
        raise Wrong("cooldown", f"{field.path} changed lately; it rests for {left} more turn{'s' * (left != 1)}")


def _sticky(state: State, field: Field, typed: Typed) -> None:
    before = state.values.get(field.path)
    if field.type == "counter" and typed.number is not None and is_number(before) and typed.number < before:
        raise Wrong("counter", f"{field.path} is a counter and never falls")
    if field.type == "milestone" and before and typed.value != before:
        raise Wrong("milestone", f"{field.path} is reached and stays as it is")


def _clamped(state: State, field: Field, typed: Typed, notes: list[str], *, is_bound: bool) -> Typed:
    """The number inside the largest change a turn and the range; what was cut is noted."""
    before = state.values.get(field.path)
    start = before if is_number(before) else 0
    target = wanted = typed.number or 0
    if is_bound and field.max_change is not None and is_number(before):
        turn_start = start - state.spent.get(field.path, 0)
        target = min(max(target, turn_start - field.max_change), turn_start + field.max_change)
        if target != wanted:
            notes.append(
                f"{_plain(target)} instead of {_plain(wanted)}, which is more than {_plain(field.max_change)} in a turn"
            )
    inside = target
    if field.minimum is not None:
        inside = max(inside, field.minimum)
    if field.maximum is not None:
        inside = min(inside, field.maximum)
    if inside != target:
        bound = "below the least" if inside > target else "above the most"
        notes.append(f"{_plain(inside)} instead of {_plain(target)}, which is {bound} it can be")
    inside = _plain(inside)
    return Typed(typed.op, _plain(inside - start) if typed.op == "add" else inside, inside, created=typed.created)


def _fill(bench: _Bench, path: str, before: JSON) -> None:
    """A clock that has just filled does what it says, with the source ``check``."""
    rules = bench.definition.rules
    head, _, name = path.partition(".")
    clock = rules.clocks.get(name) if rules and head == "clocks" else None
    if clock is None or (is_number(before) and before >= clock.size):
        return
    filled = bench.now.values.get(path)
    if not is_number(filled) or filled < clock.size:
        return
    for effect in clock.when_full:
        try:
            _judge_one(bench, effect, "check")
        except Wrong as wrong:
            bench.notes += [f"{effect.path}: {wrong}"] if wrong.rule != "visibility" else []


def _end(bench: _Bench) -> None:
    """The first ending whose condition now holds is reached (W14); a story that has ended stays so."""
    for ending in bench.definition.endings:
        if ending.when is not None and not bench.now.values.get(ENDING) and holds(ending.when, bench.now):
            bench.accept(Event("set", ENDING, ending.id, None, "storylet", note=ending.title))


def _plain(value: float) -> int | float:
    return int(value) if float(value).is_integer() else value
