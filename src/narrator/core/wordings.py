"""How a storylet is told: which outcome, which wording of it, and which asides keep it from being heard twice (T18).

``story.fired`` in the state says what has been told on this path. A wording goes by a key, ``success/0`` or
``told/2``, and with asides behind it by theirs too: ``told/2+aside-1/0``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Protocol

from narrator.core import neutral
from narrator.core.conditions import holds
from narrator.core.definition import Definition, Rules, Storylet, StoryletOutcome
from narrator.core.proposal import JSON
from narrator.core.state import FIRED, REST, State


class Decided(Protocol):
    """An outcome that is fixed, by skill: ``narrators.port.Outcome``, ``checks.Check``."""

    @property
    def skill(self) -> str: ...

    @property
    def outcome(self) -> str: ...


def is_worn(storylet: Storylet, state: State) -> bool:
    """Whether all that it could say was heard within ten turns."""
    told = _told(state, storylet.id)
    if not told:
        return False
    keys = [key(outcome.on, at, ()) for outcome in storylet.outcomes for at in range(len(outcome.wordings))]
    turns = [_last_told(state, storylet.id, name) for name in keys]
    return all(turn is not None and state.turn - turn <= REST for turn in turns)


def outcome_of(storylet: Storylet, outcomes: Iterable[Decided], rules: Rules | None) -> StoryletOutcome:
    """What the storylet has for the outcome of its check: that one, else the nearest on the same side, else any."""
    plain = next((outcome for outcome in storylet.outcomes if not outcome.on), None)
    if storylet.check is None:
        return plain or storylet.outcomes[0]
    rolled = next((one.outcome for one in outcomes if one.skill == storylet.check.skill), None)
    if rolled is None:
        rolled = "failure"
        if plain is not None:
            return plain
    bands = [band.name for band in rules.outcomes] if rules is not None else []
    told = {outcome.on: outcome for outcome in storylet.outcomes if outcome.on}
    if rolled in told:
        return told[rolled]
    if rolled not in bands:
        return plain or storylet.outcomes[0]
    at, middle = bands.index(rolled), _middle(rules)
    same = [band for band in bands if band in told and (bands.index(band) >= middle) == (at >= middle)]
    if not same and plain is not None:
        return plain
    near = min(same or [band for band in bands if band in told], key=lambda band: abs(bands.index(band) - at))
    return told[near]


def _middle(rules: Rules | None) -> int:
    """The index of the first outcome that is no failure."""
    bands = rules.outcomes if rules is not None else ()
    return next((at for at, band in enumerate(bands) if band.margin >= 0), len(bands))


Asides = tuple[tuple[Storylet, int], ...]


def wording_of(
    storylet: Storylet, outcome: StoryletOutcome, definition: Definition, state: State, *, index: int, draw: str
) -> tuple[int, Asides]:
    """The number of the wording, and the asides that keep it from being heard twice.

    ``index`` counts retries, ``draw`` is what chance hangs on.
    """
    count = len(outcome.wordings)
    used = [_times_told(state, storylet.id, key(outcome.on, at, ())) for at in range(count)]

    def order(at: int) -> tuple[int, float, float]:
        last = _last_told(state, storylet.id, key(outcome.on, at, ()))
        if storylet.id.startswith("~"):
            return used[at], -1 if last is None else last, (at - state.turn) % count
        return used[at], -1 if last is None else last, draw_chance(draw, storylet.id, outcome.on, at)

    numbers = sorted(range(count), key=order)
    at = numbers[index % count]
    round_ = index // count
    is_recent = _is_recent(state, storylet.id, key(outcome.on, at, ()))
    if round_ == 0 and not is_recent:
        return at, ()
    behind = [
        asides
        for asides in _asides(definition, state, draw)
        if not _is_recent(state, storylet.id, key(outcome.on, at, asides))
    ]
    return at, behind[(round_ - (not is_recent)) % len(behind)] if behind else ()


def _asides(definition: Definition, state: State, draw: str) -> list[Asides]:
    """Single asides, those not heard for longest first, then pairs of them."""
    own = [one for one in definition.storylets if one.on == "aside" and holds(one.when, state)]
    singles = [
        (storylet, at) for storylet in (*own, neutral.ASIDES) for at in range(len(storylet.outcomes[0].wordings))
    ]

    def order(one: tuple[Storylet, int]) -> tuple[bool, float, float]:
        storylet, at = one
        last = _last_told(state, storylet.id, key("", at, ()))
        return storylet is neutral.ASIDES, -1 if last is None else last, draw_chance(draw, storylet.id, at)

    singles.sort(key=order)
    pairs = [(first, second) for first in singles for second in singles if first != second]
    return [*((one,) for one in singles), *pairs]


def key(on: str, at: int, asides: Asides) -> str:
    """What a wording is called in ``story.fired``: outcome and number, and the asides behind it."""
    return "+".join((f"{on or 'told'}/{at}", *(f"{aside.id}/{number}" for aside, number in asides)))


def fired_record(state: State, storylet_id: str) -> dict[str, JSON] | None:
    """What the state knows of a storylet that has fired, None where it has not."""
    fired = state.values.get(FIRED)
    record = fired.get(storylet_id) if isinstance(fired, dict) else None
    return record if isinstance(record, dict) else None


def _told(state: State, storylet_id: str) -> dict[str, list[int]]:
    record = fired_record(state, storylet_id)
    told = record.get("told") if record is not None else None
    return told if isinstance(told, dict) else {}


def _times_told(state: State, storylet_id: str, key: str) -> int:
    told = _told(state, storylet_id)
    return sum(times for name, (times, _) in told.items() if name == key or name.startswith(key + "+"))


def _last_told(state: State, storylet_id: str, key: str) -> int | None:
    """The turn in which this wording was last heard, with whatever behind it."""
    told = _told(state, storylet_id)
    turns = [turn for name, (_, turn) in told.items() if name == key or name.startswith(key + "+")]
    return max(turns, default=None)


def _is_recent(state: State, storylet_id: str, key: str) -> bool:
    """Whether exactly this was heard within ten turns."""
    record = _told(state, storylet_id).get(key)
    return record is not None and state.turn - record[1] <= REST


def draw_chance(*parts: object) -> float:
    """A number from 0 to below 1 that these parts alone decide."""
    digest = hashlib.sha256("|".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:7], "big") / (1 << 56)
