"""The state machine: every verb on the real program and on the naive model, compared after each step (S5)."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.model.machine import OPENINGS, Match, fated_step
from tests.model.play import DECK, arguments_of


class Drawn:
    """Choices by Hypothesis, so that what fails can be shortened."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data

    def number(self, low: int, high: int) -> int:
        return self.data.draw(st.integers(low, high))


class StoryMachine(RuleBasedStateMachine):
    """Verbs come in any order. Owns a campaign file in a folder of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="narrator-machine-"))
        self.match: Match | None = None

    @initialize(count=st.sampled_from((1, 1, 1, 3)), turns=st.sampled_from((0, 0, 0, 17)))
    def begin(self, count: int, turns: int) -> None:
        """Most stories have one opening; an imported one may have several takes of it. Some are deep already."""
        self.match = Match(self.folder / "story.narrator", OPENINGS[:count])
        self.match.begin(turns)

    @rule(verb=st.sampled_from(DECK), fate=st.integers(0, 19), data=st.data())
    def perform(self, verb: str, fate: int, data: st.DataObject) -> None:
        """A verb with arguments that mostly mean something; a narration in twenty fails, one is stopped and kept."""
        assert self.match
        arguments = arguments_of(verb, self.match.model, Drawn(data))
        fated_step(self.match, fate, verb, arguments)

    def teardown(self) -> None:
        if self.match:
            self.match.close()
        shutil.rmtree(self.folder, ignore_errors=True)


HOLDS = pytest.mark.spec("S5", "S8", "S9", "S11", "S13", "S14", "S17", "S24", "S30", "S37", "S40", "S41", "T3", "T9")
TestStory: Any = pytest.mark.timeout(900)(HOLDS(StoryMachine.TestCase))
TestStory.settings = settings(
    max_examples=125,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
