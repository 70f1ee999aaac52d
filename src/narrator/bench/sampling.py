"""Samples, taken in turn: what is compared is measured at the same time, so a noisy moment of the machine hits all."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time

WARM_UP = 3

Sample = Callable[[], object]

_clock: Callable[[], float] = perf_counter


def now() -> float:
    """Seconds by the clock of this run: that of the wall, unless it was told to count processor time."""
    return _clock()


def count_processor_time(is_on: bool) -> None:
    """Count the processor time of this process instead: for a machine that is busy with other things."""
    global _clock
    _clock = process_time if is_on else perf_counter


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    ``value`` in ``unit`` is what the goal speaks of; ``floor`` what it is compared with, in the same unit, None where
    nothing is; ``ratio`` their quotient. ``n`` samples had this ``median`` and ``p95``. ``met`` is None without a goal.
    """

    name: str
    value: float
    unit: str
    n: int
    median: float
    p95: float
    floor: float | None
    ratio: float | None
    goal: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class Goal:
    """What a row ought to reach: ``limit`` on its value or, where ``is_ratio``, on its ratio to the floor."""

    limit: float
    is_ratio: bool = False

    def text(self, unit: str) -> str:
        return f"≤ {self.limit:g} ×" if self.is_ratio else f"≤ {self.limit:g} {unit}".rstrip()


def is_processor_time() -> bool:
    """Whether ``now`` counts processor time."""
    return _clock is process_time


def p95(samples: Sequence[float]) -> float:
    """The 95th percentile, the nearest sample that is not below it."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, -(-len(ordered) * 95 // 100) - 1)]


def in_turn(n: int, calls: Mapping[str, Sample], *, warm_up: int = WARM_UP) -> dict[str, list[float]]:
    """Call each of ``calls`` ``n`` times, one after the other, round by round; seconds by name.

    A call that returns a number is a sample of its own (it did some work that does not count, and took the time
    itself). The collector of garbage waits meanwhile.
    """
    found: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.disable()
    try:
        for turn in range(n + warm_up):
            for name, call in calls.items():
                begun = now()
                own = call()
                taken = now() - begun
                if turn >= warm_up:
                    found[name].append(own if isinstance(own, float) else taken)
    finally:
        gc.enable()
    return found


def timed(call: Sample) -> float:
    """Seconds that one call takes."""
    begun = now()
    call()
    return now() - begun


def row(
    name: str,
    samples: Sequence[float],
    *,
    unit: str = "ms",
    scale: float = 1000,
    floor: Sequence[float] | None = None,
    goal: Goal | None = None,
    by_p95: bool = False,
) -> Row:
    """A row from samples; ``scale`` turns them into ``unit``. ``by_p95``: the goal speaks of the 95th percentile."""
    middle, high = median(samples) * scale, p95(samples) * scale
    value = high if by_p95 else middle
    base = median(floor) * scale if floor else None
    ratio = middle / base if base else None
    judged = (ratio if goal.is_ratio else value) if goal else None
    met = judged <= goal.limit if goal and judged is not None else None
    return Row(name, value, unit, len(samples), middle, high, base, ratio, goal.text(unit) if goal else "", met)
