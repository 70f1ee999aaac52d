"""How far long work is: a count, an estimate, a way to stop (U8)."""

from __future__ import annotations

import pytest

from narrator.engine.events import Progressed
from narrator.engine.listing import listed
from narrator.engine.progress import Pace, duration_words, progress_words


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.spec("U8")
def test_a_pace_says_how_far_and_how_long_still_and_not_too_often() -> None:
    clock = Clock()
    pace = Pace("export", clock=clock)
    assert pace.at(10, 1000) is None, "too soon"
    clock.now = 0.5
    assert pace.at(50, 1000) == Progressed("export", 50, 1000, None), "too early for an estimate"
    clock.now = 0.6
    assert pace.at(60, 1000) is None, "the last one is fresh"
    clock.now = 2.0
    assert pace.at(200, 1000) == Progressed("export", 200, 1000, 8.0)
    clock.now = 4.0
    assert pace.at(400, None) == Progressed("export", 400, None, None), "nobody knows the whole"


@pytest.mark.spec("U8")
def test_the_words_have_count_estimate_and_stop() -> None:
    told = progress_words(Progressed("export", 1200, 30000, 95.0), "Esc stops it")
    assert told == "Exporting: 1,200 of 30,000 steps, about 2 minutes left. Esc stops it."
    assert progress_words(Progressed("summary", 2, 9)) == "Summing up the story so far: 2 of 9 requests."
    assert progress_words(Progressed("something new", 7, None)) == "something new: 7."
    assert listed(Progressed("import", 3, 9, 4.0)) == [
        "[Importing: 3 of 9 steps, a few seconds left. /stop stops it.]",
    ]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(3, "a few seconds"), (44, "about 40 seconds"), (100, "about 2 minutes"), (7200, "about 2 hours")],
)
def test_durations_are_round(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words
