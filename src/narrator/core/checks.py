"""Hidden checks: seeded dice, outcome bands, clocks (T8, T9, W11).

A roll is a pure function of the campaign's seed, the chain hash of the node narrated upon, the count of narrator
children ever accepted there and the number of the check in the turn. Asking again, stopping and restarting therefore
roll the same; a retry, which raises the count, does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from narrator.core import neutral
from narrator.core.conditions import holds
from narrator.core.definition import Definition, Dice, Rules, Storylet
from narrator.core.errors import BadValue
from narrator.core.proposal import Proposal, is_number
from narrator.core.state import FIRED, State


@dataclass(frozen=True, slots=True)
class Check:
    """A check that was rolled. ``roll`` is the dice, ``total`` with skill and bonus, ``target`` what was to be met."""

    skill: str
    difficulty: str
    outcome: str
    roll: int
    total: int
    target: int


class Decided(Protocol):
    """Anything with an outcome: a ``Check``, or the ``Outcome`` of a request."""

    @property
    def outcome(self) -> str: ...


class UnknownSkill(BadValue):
    """A check of something that the campaign does not declare; the message names what it does (T8)."""


def roll_check(
    definition: Definition,
    state: State,
    skill: str,
    difficulty: str,
    *,
    seed: int,
    chain_hash: bytes,
    ordinal: int,
    number: int,
) -> Check:
    """Roll one check (T9). Raises ``UnknownSkill`` for a skill or difficulty that is not declared.

    ``ordinal``: narrator children ever accepted on the node narrated upon; ``number``: 0 for the turn's first check.
    Names are found in any spelling of capitals, spaces and hyphens.
    """
    rules = definition.rules
    if rules is None:
        raise UnknownSkill("This campaign has no rules, so nothing is checked.")
    name = _find(skill, rules.skills, "skill")
    level = _find(difficulty, rules.difficulty, "difficulty")
    declared = rules.skills[name]
    worth = state.values.get(declared.field) if declared.field else 0
    roll = sum(dice(rules.dice, seed=seed, chain_hash=chain_hash, ordinal=ordinal, number=number))
    total = roll + declared.bonus + (int(worth) if is_number(worth) else 0)
    target = rules.difficulty[level]
    return Check(name, level, outcome_of(rules, total - target), roll, total, target)


def dice(kind: Dice, *, seed: int, chain_hash: bytes, ordinal: int, number: int) -> tuple[int, ...]:
    """The faces, each 1 … sides and equally likely."""
    stream = _numbers(f"narrator roll 1|{seed}|{chain_hash.hex()}|{ordinal}|{number}")
    fair = (1 << 32) - (1 << 32) % kind.sides
    faces: list[int] = []
    while len(faces) < kind.count:
        drawn = next(stream)
        if drawn < fair:
            faces.append(drawn % kind.sides + 1)
    return tuple(faces)


def outcome_of(rules: Rules, margin: int) -> str:
    """The best outcome that this margin (total minus target) earns."""
    earned = [band.name for band in rules.outcomes if margin >= band.margin]
    return earned[-1] if earned else rules.outcomes[0].name


def clock_proposals(
    definition: Definition, state: State, outcomes: Iterable[Decided | str] = (), told: Iterable[Proposal] = ()
) -> tuple[Proposal, ...]:
    """How the clocks advance in a turn with these outcomes (W11): by one for each that a clock names, and by one where
    its own condition holds. What a full clock does follows in the referee.

    ``told``: what the turn's storylets change. Where the answer is free, as every hint is, no condition moves a clock;
    where several answer, all of them have to be.

    “failure” stands for a critical failure too, unless the clock names that one itself; so does “success”.
    """
    if definition.rules is None:
        return ()
    names = [outcome if isinstance(outcome, str) else outcome.outcome for outcome in outcomes]
    is_free = _is_free(definition, state, told)
    proposals: list[Proposal] = []
    for clock in definition.rules.clocks.values():
        steps = [name for name in names if _is_named(name, clock.advances_on)]
        reasons = [f"{name}" for name in steps]
        if clock.advances_when is not None and not is_free and holds(clock.advances_when, state):
            reasons.append("")  # A turn has passed: what the author wrote is nothing to read.
        at = state.values.get(f"clocks.{clock.id}", 0)
        left = clock.size - (at if is_number(at) else 0)
        proposals += [Proposal("add", f"clocks.{clock.id}", 1, why) for why in reasons[: max(int(left), 0)]]
    return tuple(proposals)


def _is_free(definition: Definition, state: State, told: Iterable[Proposal]) -> bool:
    fired = {str(each.value.get("id")) for each in told if each.path == FIRED and isinstance(each.value, dict)}
    free = {storylet.id for storylet in definition.storylets if _is_free_now(storylet, state)} | neutral.FREE
    answering = {storylet.id for storylet in definition.storylets if storylet.on == "input"}
    return not fired.isdisjoint(free) and fired & answering <= free


def _is_free_now(storylet: Storylet, state: State) -> bool:
    return storylet.is_free or (storylet.free_when is not None and holds(storylet.free_when, state))


def _is_named(outcome: str, names: tuple[str, ...]) -> bool:
    plain = outcome.removeprefix("critical ")
    return outcome in names or (plain in names and outcome != plain)


def _find(wanted: str, names: Iterable[str], what: str) -> str:
    known = list(names)
    for name in known:
        if _loose(name) == _loose(wanted):
            return name
    raise UnknownSkill(f"There is no {what} called {wanted!r:.60}.", f"There are: {', '.join(known)}." if known else "")


def _loose(text: str) -> str:
    return "-".join(text.casefold().replace("_", " ").replace("-", " ").split())


def _numbers(key: str) -> Iterator[int]:
    """An endless stream of 32-bit numbers that this text alone decides, the same on every machine."""
    block = 0
    while True:
        digest = hashlib.sha256(f"{key}|{block}".encode()).digest()
        for at in range(0, len(digest), 4):
            yield int.from_bytes(digest[at : at + 4], "big")
        block += 1
