"""Whether the names in a definition refer to something: skills, paths, storylets, entities, endings, outcomes.

``dangling`` answers with (key path, what is wrong) for every one that does not, with a near match where there is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from narrator.core.conditions import Call, Compare, Condition, Literal, Path, parts
from narrator.core.definition import BUILT_IN, PLAYER, Definition, Field, Storylet, find_field
from narrator.core.door import Problem, near
from narrator.core.field_types import coerce
from narrator.core.places import Placed, Wrong
from narrator.core.proposal import Proposal
from narrator.core.state import EMPTY

_OF_WHAT_IS_THERE = {"close", "remove", "retract"}
"""Operations whose value depends on the state they meet: nothing can be said of them here."""
_KINDS = {
    **dict.fromkeys(("input", "continue", "any", "after"), "storylets"),
    "hint": "hints",
    "aside": "asides",
    "left": "left",
}
"""The table that each kind of storylet stands in."""


def dangling(definition: Definition) -> list[Problem]:
    """Every reference to something that is not there, and every name used twice."""
    problems = list(_start(definition))
    problems += _fields(definition)
    problems += _rules(definition)
    for at, card in enumerate(definition.cards):
        problems += _condition(definition, card.when, f"cards[{at}].when")
    for at, ending in enumerate(definition.endings):
        problems += _condition(definition, ending.when, f"endings[{at}].when")
    seen: Counter[str] = Counter()
    for storylet in definition.storylets:
        kind = _KINDS[storylet.on]
        problems += _storylet(definition, storylet, f"{kind}[{seen[kind]}]")
        seen[kind] += 1
    problems += _twice("storylets", (storylet.id for storylet in definition.storylets))
    problems += _twice("cards", (card.name for card in definition.cards))
    problems += _twice("endings", (ending.id for ending in definition.endings))
    return problems


def _start(definition: Definition) -> Iterator[Problem]:
    start = definition.start
    places = _of_kind(definition, "place")
    if places and start.location and start.location not in places:
        yield "start.location", f"no place is called {start.location!r}{near(start.location, places)}"
    known = [PLAYER, *definition.entities]
    if definition.entities:
        for at, name in enumerate(start.present):
            if name not in known:
                yield f"start.present[{at}]", f"no entity is called {name!r}{near(name, known)}"
    if _of_kind(definition, "thing"):
        for item, owner in start.inventory.items():
            if item not in known:
                yield f"start.inventory.{item}", f"no entity is called {item!r}{near(item, known)}"
            if owner not in known:
                yield f"start.inventory.{item}", f"no entity is called {owner!r}{near(owner, known)}"


def _fields(definition: Definition) -> Iterator[Problem]:
    for path, field in definition.fields.items():
        where = f"state.{path}"
        if path in BUILT_IN or path.partition(".")[0] in {"story", "entities", "threads", "inventory", "facts"}:
            yield where, "is a path that every campaign has already"
        if field.minimum is not None and field.maximum is not None and field.minimum > field.maximum:
            yield f"{where}.min", "is above max"
        if field.bands and field.type not in {"number", "counter", "relation"}:
            yield f"{where}.bands", f"mean nothing for type {field.type}"
        if field.choices and field.type != "text":
            yield f"{where}.choices", f"mean nothing for type {field.type}"
        yield from _initial(definition, field, where)


def _initial(definition: Definition, field: Field, where: str) -> Iterator[Problem]:
    """Initial values come to the state without a referee, so their types are asked here."""
    if field.initial is None:
        return
    if field.type != "relation":
        yield from _value(definition, field, Proposal("set", field.path, field.initial), f"{where}.initial")
        return
    rows = field.initial if isinstance(field.initial, list) else [field.initial]
    for at, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != 3 or not all(isinstance(name, str) for name in row[:2]):
            yield f"{where}.initial[{at}]", 'should be ["from", "to", number]'
        else:
            yield from _value(definition, field, Proposal("set", field.path, row[2]), f"{where}.initial[{at}]")


def _value(definition: Definition, field: Field, proposal: Proposal, where: str) -> Iterator[Problem]:
    try:
        typed = coerce(definition, EMPTY, Placed(proposal, field.path, field))
    except Wrong as wrong:
        yield where, str(wrong)
        return
    if typed.notes:
        yield where, typed.notes[0]
    if typed.number is not None and field.minimum is not None and typed.number < field.minimum:
        yield where, f"is below {field.minimum:g}"
    if typed.number is not None and field.maximum is not None and typed.number > field.maximum:
        yield where, f"is above {field.maximum:g}"


def _rules(definition: Definition) -> Iterator[Problem]:
    rules = definition.rules
    if rules is None:
        return
    for skill in rules.skills.values():
        field = find_field(definition, skill.field) if skill.field else None
        if skill.field and field is None:
            yield f"rules.skills.{skill.name}.field", _unknown_path(definition, skill.field)
        elif field is not None and field.type not in {"number", "counter"}:
            yield f"rules.skills.{skill.name}.field", f"{skill.field} is {field.type}, a skill needs a number"
    outcomes = [band.name for band in rules.outcomes]
    for clock in rules.clocks.values():
        where = f"rules.clocks.{clock.id}"
        for at, outcome in enumerate(clock.advances_on):
            if outcome not in outcomes:
                yield f"{where}.advances_on[{at}]", f"no outcome is called {outcome!r}{near(outcome, outcomes)}"
        yield from _condition(definition, clock.advances_when, f"{where}.advances_when")
        yield from _effects(definition, clock.when_full, f"{where}.when_full")


def _storylet(definition: Definition, storylet: Storylet, where: str) -> Iterator[Problem]:
    yield from _condition(definition, storylet.when, f"{where}.when")
    yield from _condition(definition, storylet.free_when, f"{where}.free")
    if storylet.id.startswith("~"):
        yield f"{where}.id", "may not begin with ~"
    if storylet.on == "any" and storylet.when is None:
        yield f"{where}.when", "is missing: it would answer everything"
    if storylet.on == "after" and storylet.when is None:
        yield f"{where}.when", "is missing: it would come behind everything"
    rules = definition.rules
    if storylet.check is not None:
        skills = list(rules.skills) if rules else []
        levels = list(rules.difficulty) if rules else []
        if storylet.check.skill not in skills:
            yield (
                f"{where}.check.skill",
                f"no skill is called {storylet.check.skill!r}{near(storylet.check.skill, skills)}",
            )
        if storylet.check.difficulty not in levels:
            wanted = storylet.check.difficulty
            yield f"{where}.check.difficulty", f"no difficulty is called {wanted!r}{near(wanted, levels)}"
    bands = [band.name for band in rules.outcomes] if rules else []
    endings = [ending.id for ending in definition.endings]
    at = -1
    for outcome in storylet.outcomes:
        at += 1
        place = f"{where}.outcomes[{at}]" if outcome.on else where
        if outcome.on and storylet.check is not None and outcome.on not in bands:
            yield f"{place}.on", f"no outcome is called {outcome.on!r}{near(outcome.on, bands)}"
        if outcome.ending and endings and outcome.ending not in endings:
            yield f"{place}.ending", f"no ending is called {outcome.ending!r}{near(outcome.ending, endings)}"
        yield from _effects(definition, outcome.effects, f"{place}.effects")


def _effects(definition: Definition, effects: Iterable[Proposal], where: str) -> Iterator[Problem]:
    for at, effect in enumerate(effects):
        field = find_field(definition, effect.path)
        if field is None:
            yield f"{where}[{at}].path", _unknown_path(definition, effect.path)
        elif effect.path == "story.fired":
            yield f"{where}[{at}].path", "story.fired is kept by the program"
        elif effect.op not in _OF_WHAT_IS_THERE:
            try:
                coerce(definition, EMPTY, Placed(effect, field.path, field))
            except Wrong as wrong:
                yield f"{where}[{at}]", str(wrong)


def _condition(definition: Definition, condition: Condition | None, where: str) -> Iterator[Problem]:
    if condition is None:
        return
    storylets = [storylet.id for storylet in definition.storylets]
    places, things = _of_kind(definition, "place"), _of_kind(definition, "thing")
    for part in parts(condition):
        if isinstance(part, Path) and find_field(definition, part.name) is None:
            yield where, _unknown_path(definition, part.name)
        elif isinstance(part, Call) and part.name in {"fired", "turns_since"}:
            name = str(part.arguments[0].value)
            if name not in storylets:
                yield where, f"no storylet is called {name!r}{near(name, storylets)}"
        elif isinstance(part, Call) and part.name == "has" and things:
            item = str(part.arguments[1].value)
            if item not in things:
                yield where, f"no thing is called {item!r}{near(item, things)}"
        elif isinstance(part, Compare) and part.left == Path("location") and isinstance(part.right, Literal) and places:
            named = part.right.value if isinstance(part.right.value, tuple) else (part.right.value,)
            for place in named:
                if isinstance(place, str) and place not in places:
                    yield where, f"no place is called {place!r}{near(place, places)}"


def _unknown_path(definition: Definition, path: str) -> str:
    known = [*definition.fields, *BUILT_IN]
    hint = near(path, known)
    return f"nothing is declared at {path!r}{hint}"


def _of_kind(definition: Definition, kind: str) -> list[str]:
    return [entity.id for entity in definition.entities.values() if entity.kind == kind]


def _twice(where: str, names: Iterable[str]) -> Iterator[Problem]:
    for name, count in Counter(names).items():
        if count > 1:
            yield where, f"{name!r} is there {count} times"
