"""What could ever come about: the values that a campaign's outcomes can set, and how many of them that takes at least.

Reasoning over conditions, without play. Whatever an outcome does is taken as gained and never lost again, so that what
cannot be had even so can be had by nobody: that is proof. What can be had so may still be out of reach, since one
thing may undo another; the number of outcomes it takes then says how near a state is to it, and leads a search there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from narrator.core.checks import Check, outcome_of
from narrator.core.conditions import Compare, Condition, Literal, Path
from narrator.core.definition import Clock, Definition, Field, Storylet, StoryletOutcome, find_field
from narrator.core.field_types import coerce
from narrator.core.needs import (
    ANY,
    NO_WAY,
    Cost,
    Possible,
    conjuncts,
    fires,
    need,
    plain,
    reads_of,
    spelled,
)
from narrator.core.places import Wrong, place
from narrator.core.proposal import JSON, Proposal, is_number
from narrator.core.state import ENDING, State
from narrator.core.wordings import outcome_of as told_outcome

_STEP, _TICK = 10, 1
"""What an outcome costs, and what time that passes by itself."""
_MANY = 300
"""Values of one number that are told apart; of more, any may come."""


@dataclass(frozen=True, slots=True)
class Change:
    """One effect: ``kind`` is set, add or any."""

    kind: str
    path: str
    value: JSON = None


@dataclass(frozen=True, slots=True)
class Deed:
    """One outcome of a storylet, what a clock does, or an ending: what it needs, changes and looks at.

    ``needs`` have to be met all, each with the words for it. ``rolled`` are the outcomes of a check that lead to it.
    """

    needs: tuple[tuple[str, Cost], ...]
    changes: tuple[Change, ...]
    reads: frozenset[str]
    storylet: Storylet | None = None
    outcome: StoryletOutcome | None = None
    clock: Clock | None = None
    rolled: tuple[str, ...] = ()

    @property
    def adds(self) -> tuple[str, ...]:
        """The paths that it adds to."""
        return tuple(change.path for change in self.changes if change.kind == "add")

    @property
    def weight(self) -> int:
        return _TICK if self.clock is not None else _STEP

    def cost(self, possible: Possible) -> int:
        return min(sum(met(possible) for _, met in self.needs), NO_WAY)


def deeds_of(definition: Definition, state: State) -> list[Deed]:
    """All that can change something or be told. ``state`` is that of the opening."""
    found = [deed for storylet in definition.storylets for deed in _deeds(definition, state, storylet)]
    clocks = definition.rules.clocks.values() if definition.rules is not None else ()
    for clock in clocks:
        path = f"clocks.{clock.id}"
        tick = (Change("add", path, 1),)
        if clock.advances_when is not None:
            found.append(Deed(_needs(clock.advances_when), tick, reads_of(clock.advances_when), clock=clock))
        for deed in [each for each in found if each.storylet is not None and _ticks(clock, each.rolled)]:
            found.append(Deed(deed.needs, tick, deed.reads, clock=clock))
        full = Compare(">=", Path(path), Literal(clock.size))
        changes = tuple(_change(definition, state, effect) for effect in clock.when_full)
        found.append(Deed((("", need(full, wanted=True)),), changes, frozenset({path}), clock=clock))
    for ending in definition.endings:
        if ending.when is not None:
            reached = (Change("set", ENDING, ending.id),)
            found.append(Deed(_needs(ending.when), reached, reads_of(ending.when)))
    return found


def _ticks(clock: Clock, rolled: Iterable[str]) -> bool:
    return any(name in clock.advances_on or name.removeprefix("critical ") in clock.advances_on for name in rolled)


def _needs(condition: Condition) -> tuple[tuple[str, Cost], ...]:
    return tuple((spelled(part), need(part, wanted=True)) for part in conjuncts(condition.root))


def _deeds(definition: Definition, state: State, storylet: Storylet) -> Iterator[Deed]:
    needs = _needs(storylet.when) if storylet.when is not None else ()
    reads = reads_of(storylet.when) if storylet.when is not None else frozenset()
    for outcome in storylet.outcomes:
        ends = [Change("set", ENDING, outcome.ending)] if outcome.ending else []
        changes = (*(_change(definition, state, effect) for effect in outcome.effects), *ends)
        if storylet.check is None or definition.rules is None:
            if told_as(definition, storylet, "") is outcome:
                yield Deed(needs, changes, reads, storylet, outcome)
            continue
        rolled, roll = _rolled(definition, storylet, outcome)
        backing = {definition.rules.skills[storylet.check.skill].field} - {""}
        words = f"a roll of {storylet.check.skill} for it"
        yield Deed((*needs, (words, roll)), changes, reads | backing, storylet, outcome, rolled=rolled)


def _rolled(definition: Definition, storylet: Storylet, outcome: StoryletOutcome) -> tuple[tuple[str, ...], Cost]:
    """The outcomes of the check that are told as this one, and what it costs that one of them can be rolled."""
    assert definition.rules is not None
    assert storylet.check is not None
    rolled = tuple(
        band.name for band in definition.rules.outcomes if told_as(definition, storylet, band.name) is outcome
    )
    path = definition.rules.skills[storylet.check.skill].field

    def cost(possible: Possible) -> int:
        worths = possible.of(path) if path else {0: 0}
        able = (
            price
            for worth, price in worths.items()
            if worth is ANY or not set(rolled).isdisjoint(possible_rolls(definition, storylet, worth))
        )
        return min(able, default=NO_WAY)

    return rolled, cost


def told_as(definition: Definition, storylet: Storylet, rolled: str) -> StoryletOutcome:
    """Which of its outcomes a storylet tells for this outcome of its check."""
    skill = storylet.check.skill if storylet.check is not None else ""
    outcomes = [Check(skill, "", rolled, 0, 0, 0)] if rolled else []
    return told_outcome(storylet, outcomes, definition.rules)


def possible_rolls(definition: Definition, storylet: Storylet, worth: JSON) -> tuple[str, ...]:
    """The outcomes of its check that the dice can give where the skill's field has this value, from the lowest roll."""
    rules, check = definition.rules, storylet.check
    assert rules is not None
    assert check is not None
    start = (
        rules.skills[check.skill].bonus + (int(worth) if is_number(worth) else 0) - rules.difficulty[check.difficulty]
    )
    dice = rules.dice
    return tuple(
        dict.fromkeys(outcome_of(rules, start + roll) for roll in range(dice.count, dice.count * dice.sides + 1))
    )


def _change(definition: Definition, state: State, effect: Proposal) -> Change:
    """An effect as it is understood; one that is refused, or hangs on what is there, may come to anything."""
    try:
        placed = place(definition, state, effect)
        if placed.field.max_change is not None:
            return Change("any", placed.path)
        if placed.field.type in {"number", "counter", "relation"} and effect.op == "add" and is_number(effect.value):
            return Change("add", placed.path, effect.value)
        if placed.field.type == "thread":
            return Change("set", placed.path, effect.op not in {"close", "retract", "remove"} and bool(effect.value))
        if placed.field.type in {"list", "facts", "fired"}:
            return Change("any", placed.path)
        typed = coerce(definition, state, placed)
    except Wrong:
        return Change("any", effect.path)
    return Change("set", placed.path, typed.value if typed.number is None else _inside(placed.field, typed.number))


def possible_from(definition: Definition, state: State, deeds: Iterable[Deed]) -> Possible:
    """What could come about from ``state`` by these deeds, at what cost."""
    possible = Possible(state)
    readers: dict[str, dict[int, None]] = {}
    every = list(deeds)
    for at, deed in enumerate(every):
        for path in (*deed.reads, *deed.adds):
            readers.setdefault(path, {})[at] = None
    done = [NO_WAY] * len(every)
    waiting = dict.fromkeys(range(len(every)))
    while waiting:
        at = next(iter(waiting))
        del waiting[at]
        deed = every[at]
        cost = deed.cost(possible)
        if cost < done[at] or (cost < NO_WAY and deed.adds):
            done[at] = min(cost, done[at])
            for path in _do(definition, possible, deed, cost + deed.weight):
                waiting.update(readers.get(path, {}))
    return possible


def _do(definition: Definition, possible: Possible, deed: Deed, cost: int) -> list[str]:
    """Do what a deed does; the paths with something new."""
    changed = [each.path for each in deed.changes if _gain(definition, possible, each, cost, deed.weight)]
    if deed.storylet is not None and cost < possible.fired.get(deed.storylet.id, NO_WAY):
        possible.fired[deed.storylet.id] = cost
        changed.append(fires(deed.storylet.id))
    return changed


def _gain(definition: Definition, possible: Possible, change: Change, cost: int, weight: int) -> bool:
    """Whether a change brings a value that was not there, or brings it for less. What adds may add again and again."""
    known = possible.of(change.path)
    if change.kind != "add":
        value = ANY if change.kind == "any" else plain(change.value)
        is_better = cost < known.get(value, NO_WAY)
        if is_better:
            known[value] = cost
        return is_better
    declared = find_field(definition, change.path)
    waiting, is_better = list(known.items()), False
    while waiting:
        value, price = waiting.pop()
        number: JSON = _inside(declared, (value if is_number(value) else 0) + change.value)
        number = ANY if len(known) > _MANY else number
        price = max(price + weight, cost)
        if price < known.get(number, NO_WAY):
            known[number] = price
            is_better = True
            waiting.append((number, price))
    return is_better


def _inside(declared: Field | None, number: float) -> float:
    if declared is not None and declared.minimum is not None:
        number = max(number, declared.minimum)
    if declared is not None and declared.maximum is not None:
        number = min(number, declared.maximum)
    return number


def lacking(deed: Deed, possible: Possible) -> list[str]:
    """What a deed needs that cannot come about, as it is written."""
    return [words for words, met in deed.needs if met(possible) >= NO_WAY]
