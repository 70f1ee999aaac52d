"""What it costs that a condition comes to hold: of the values that each path may come to have, which would do.

``reachable`` finds those values. A cost of 0 is what holds already, ``NO_WAY`` what cannot come about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from narrator.core.conditions import (
    NEVER,
    Both,
    Call,
    Compare,
    Condition,
    Either,
    Expression,
    Literal,
    Not,
    Path,
    holds,
    parts,
)
from narrator.core.proposal import JSON, is_number
from narrator.core.state import FIRED, State
from narrator.core.wordings import fired_record

NO_WAY = 1_000_000
"""The cost of what cannot come about."""
_FAR = 300
"""Turns that are told apart where a condition does not say how many."""


class _Any:
    """A value that may be whatever a condition asks of it."""


ANY = _Any()
Cost = Callable[["Possible"], int]


@dataclass(slots=True)
class Possible:
    """The values that each path may come to have from ``state``, each with what it costs, in outcomes.

    ``fired`` is what it costs that a storylet fires.
    """

    state: State
    values: dict[str, dict[JSON, int]] = field(default_factory=dict)
    fired: dict[str, int] = field(default_factory=dict)

    def of(self, path: str) -> dict[JSON, int]:
        known = self.values.get(path)
        if known is None:
            known = self.values[path] = {plain(self.state.values.get(path)): 0}
        return known

    def since(self, name: str) -> int:
        record = fired_record(self.state, name)
        return self.state.turn - int(record["last"]) if record is not None else NEVER


def plain(value: JSON) -> JSON:
    """A value as it is told apart: a thread by whether it is open; of a list that holds something, nothing is said."""
    if isinstance(value, dict):
        return bool(value["open"]) if "open" in value else ANY
    return ANY if isinstance(value, list | tuple) else value


def reads_of(condition: Condition) -> frozenset[str]:
    """The paths that a condition looks at; of a storylet that fires, ``story.fired.ID``."""
    found: set[str] = set()
    for part in parts(condition):
        if isinstance(part, Path):
            found.add(part.name)
        elif isinstance(part, Call):
            values = [str(argument.value) for argument in part.arguments]
            found.add(f"inventory.{values[1]}" if part.name == "has" else fires(values[0]))
    return frozenset(found)


def spans_of(condition: Condition | None) -> Iterator[tuple[str, int]]:
    """How far back a condition looks for a storylet: its id, and turns."""
    for part in parts(condition) if condition is not None else ():
        if isinstance(part, Call) and part.name == "fired" and len(part.arguments) == 2:
            yield str(part.arguments[0].value), int(part.arguments[1].value)
        elif isinstance(part, Compare) and any(isinstance(side, Call) for side in (part.left, part.right)):
            sides = [part.left, part.right]
            bounds = [int(side.value) for side in sides if isinstance(side, Literal) and is_number(side.value)]
            calls = [side for side in sides if isinstance(side, Call) and side.name == "turns_since"]
            for call in calls:
                yield str(call.arguments[0].value), bounds[0] + 1 if bounds else _FAR


def conjuncts(part: Expression) -> list[Expression]:
    """What all has to hold for an expression to hold."""
    return [*conjuncts(part.left), *conjuncts(part.right)] if isinstance(part, Both) else [part]


def spelled(part: Expression) -> str:
    """An expression as it is written."""
    if isinstance(part, Literal):
        if part.value is None or isinstance(part.value, bool):
            return "null" if part.value is None else str(part.value).lower()
        return repr(list(part.value) if isinstance(part.value, tuple) else part.value)
    if isinstance(part, Path):
        return part.name
    if isinstance(part, Call):
        return f"{part.name}({', '.join(spelled(argument) for argument in part.arguments)})"
    if isinstance(part, Not):
        return f"not {_within(part.inner)}"
    sign = part.sign if isinstance(part, Compare) else "and" if isinstance(part, Both) else "or"
    return f"{_within(part.left)} {sign} {_within(part.right)}"


def _within(part: Expression) -> str:
    return f"({spelled(part)})" if isinstance(part, Both | Either | Compare | Not) else spelled(part)


def fires(name: str) -> str:
    """The path that stands for a storylet's having fired."""
    return f"{FIRED}.{name}"


def called(path: str) -> str:
    """The storylet that a path of ``reads_of`` is about; '' for a path of the state."""
    start = fires("")
    return path.removeprefix(start) if path.startswith(start) else ""


@lru_cache(maxsize=4096)
def need(part: Expression, *, wanted: bool) -> Cost:
    """What it costs that an expression comes to hold, or not to."""
    if isinstance(part, Not):
        return need(part.inner, wanted=not wanted)
    if isinstance(part, Both | Either):
        left, right = need(part.left, wanted=wanted), need(part.right, wanted=wanted)
        if isinstance(part, Both) == wanted:
            return lambda possible: left(possible) + right(possible)
        return lambda possible: min(left(possible), right(possible))
    if isinstance(part, Call):
        if part.name == "has":
            owner, item = (argument.value for argument in part.arguments)
            return need(Compare("==", Path(f"inventory.{item}"), Literal(owner)), wanted=wanted)
        return _fires(part, wanted=wanted) if part.name == "fired" else lambda possible: 0
    if isinstance(part, Compare):
        return _compares(part, wanted=wanted)
    if isinstance(part, Path):
        name = part.name
        return lambda possible: min(
            (cost for value, cost in possible.of(name).items() if value is ANY or bool(value) == wanted), default=NO_WAY
        )
    return lambda possible: 0 if bool(part.value) == wanted else NO_WAY


def _fires(call: Call, *, wanted: bool) -> Cost:
    name = str(call.arguments[0].value)
    within = int(call.arguments[1].value) if len(call.arguments) == 2 else NEVER - 1

    def cost(possible: Possible) -> int:
        since = possible.since(name)
        if (since <= within) == wanted:
            return 0
        if wanted:
            return possible.fired.get(name, NO_WAY)
        return within - since + 1 if len(call.arguments) == 2 else NO_WAY

    return cost


def _compares(part: Compare, *, wanted: bool) -> Cost:
    left, right = part.left, part.right
    if any(isinstance(side, Call) for side in (left, right)):
        return _waits(part, wanted=wanted)
    if not all(isinstance(side, Path | Literal) for side in (left, right)):
        return lambda possible: 0
    known: dict[tuple[JSON, ...], bool] = {}

    def fits(first: JSON, second: JSON) -> bool:
        if first is ANY or second is ANY:
            return True
        key = (type(first), first, type(second), second)
        if key not in known:
            compared = Condition("", Compare(part.sign, Literal(first), Literal(second)))
            known[key] = holds(compared, State()) == wanted
        return known[key]

    def cost(possible: Possible) -> int:
        firsts = possible.of(left.name) if isinstance(left, Path) else {_constant(left): 0}
        seconds = possible.of(right.name) if isinstance(right, Path) else {_constant(right): 0}
        sums = (a + b for first, a in firsts.items() for second, b in seconds.items() if fits(first, second))
        return min(sums, default=NO_WAY)

    return cost


def _constant(part: Expression) -> JSON:
    return part.value if isinstance(part, Literal) else ANY


def _waits(part: Compare, *, wanted: bool) -> Cost:
    """A comparison of ``turns_since`` with a number; of anything else with a call, nothing is said."""
    call, number = (part.left, part.right) if isinstance(part.left, Call) else (part.right, part.left)
    if not (isinstance(call, Call) and call.name == "turns_since"):
        return lambda possible: 0
    if not (isinstance(number, Literal) and is_number(number.value)):
        return lambda possible: 0
    name, bound, is_left = str(call.arguments[0].value), number.value, part.left is call

    def is_met(turns: int) -> bool:
        sides = (turns, bound) if is_left else (bound, turns)
        compared = Compare(part.sign, Literal(sides[0]), Literal(sides[1]))
        return holds(Condition("", compared), State()) == wanted

    met = [turns for turns in sorted({0, 1, *(max(int(bound) + more, 0) for more in (-1, 0, 1, 2))}) if is_met(turns)]

    def cost(possible: Possible) -> int:
        since, fires = possible.since(name), possible.fired.get(name, NO_WAY)
        if is_met(since):
            return 0
        waited = [turns - since for turns in met if since <= turns < NEVER and since < NEVER]
        return min([*waited, *(fires + turns for turns in met)], default=NO_WAY)

    return cost
