"""A turn of the scripted narrator without a file, a clock or a loop: what authors' checks and tests play with.

The same pure pieces in the same order as the engine: choose, roll, tick the clocks, tell, judge, advance.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from narrator.core.checks import clock_proposals, roll_check
from narrator.core.definition import Definition, Storylet
from narrator.core.referee import Refused, judge
from narrator.core.state import EMPTY, State, advance, initial_events, is_ended
from narrator.core.storylets import choose, tell


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a rehearsal stands: the state, and the chain that the dice hang on."""

    state: State
    chain: bytes

    @property
    def is_ended(self) -> bool:
        return is_ended(self.state)


@dataclass(frozen=True, slots=True)
class Turn:
    """One rehearsed turn: what came of it, who answered (and by which outcome of a check), what was refused.

    ``also``: who answered other clauses of the input; ``behind``: what came of itself behind the answer.
    """

    scene: Scene
    text: str
    storylet: Storylet
    outcome: str
    is_understood: bool
    refused: tuple[Refused, ...]
    behind: tuple[Storylet, ...] = ()
    also: tuple[Storylet, ...] = ()


def begin(definition: Definition, chain: bytes = b"the opening") -> Scene:
    """The opening of a campaign."""
    return Scene(advance(EMPTY, "opening", initial_events(definition)), chain)


def with_values(scene: Scene, **values: object) -> Scene:
    """The scene with other values in its state; ``__`` stands for the dot of a path."""
    changed = {path.replace("__", "."): value for path, value in values.items()}
    return replace(scene, state=replace(scene.state, values=dict(scene.state.values) | changed))


def rehearse(definition: Definition, scene: Scene, text: str, *, seed: int, mode: str = "do") -> Turn:
    """Play one input ('' goes on without one). Deterministic for scene, text, mode and seed."""
    before = advance(scene.state, "player", ())
    chain = hashlib.sha256(scene.chain + text.encode()).digest()
    choice = choose(definition, before, text, mode if text else None, seed=seed, chain_hash=chain, ordinal=0)
    rolled = []
    if choice.check is not None:
        skill, difficulty = choice.check.skill, choice.check.difficulty
        rolled.append(
            roll_check(definition, before, skill, difficulty, seed=seed, chain_hash=chain, ordinal=0, number=0)
        )
    telling = tell(choice, rolled, definition, before)
    ticked = judge(definition, before, clock_proposals(definition, before, rolled, telling.proposals), source="check")
    told = judge(definition, advance(before, "narrator", ticked.events), telling.proposals, source="storylet")
    after = advance(before, "narrator", (*ticked.events, *told.events))
    return Turn(
        Scene(after, hashlib.sha256(chain + telling.text.encode()).digest()),
        telling.text,
        choice.storylet,
        rolled[0].outcome if rolled else "",
        choice.is_understood,
        (*ticked.refused, *told.refused),
        telling.behind,
        telling.also,
    )
