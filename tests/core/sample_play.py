"""A sample campaign, played by the pure core alone: what the tests of the samples share.

A turn here is what the runtime makes of it: ``choose``, the check, ``tell``, ``judge``, ``advance``. Nothing is rolled
but with seeds that stand in these files, so each run plays the same games.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from narrator.core.campaign import Definition, parse_definition
from narrator.core.conditions import Condition, holds, parse_condition
from narrator.core.rehearsal import Scene, begin, rehearse
from narrator.core.state import EMPTY, ENDING, State, is_ended

SAMPLES = Path(__file__).parents[2] / "sample_campaigns"
SEED = 7


@lru_cache(maxsize=8)
def sample(name: str) -> Definition:
    """The campaign in the file of this name, without ``.toml``."""
    return parse_definition((SAMPLES / f"{name}.toml").read_text(encoding="utf-8"))


@dataclass
class Game:
    """One playthrough. Owns the state, the chain that the dice hang on, and what was said."""

    definition: Definition
    state: State = EMPTY
    chain: bytes = b"the opening"
    said: list[str] = field(default_factory=list)
    answered_by: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    came: list[str] = field(default_factory=list)
    """What was told behind an answer."""

    def __post_init__(self) -> None:
        if self.state is EMPTY:
            self.state = begin(self.definition).state

    @property
    def place(self) -> str:
        return str(self.state.values["location"])

    @property
    def ending(self) -> str:
        return str(self.state.values.get(ENDING, ""))

    @property
    def is_understood(self) -> bool:
        """Whether the last answer was a storylet's own, not a hint or a standard one."""
        return not self.answered_by[-1].startswith(("~", "hint-"))

    def play(self, text: str) -> str:
        """One turn; the narration."""
        turn = rehearse(self.definition, Scene(self.state, self.chain), text, seed=SEED)
        self.state, self.chain = turn.scene.state, turn.scene.chain
        self.said.append(turn.text)
        self.answered_by.append(turn.storylet.id)
        self.came += [storylet.id for storylet in turn.behind]
        self.complaints += [f"{turn.storylet.id}: {refused.reason}" for refused in turn.refused]
        return turn.text

    def set(self, **values: object) -> Game:
        """This game with other values in its state; ``__`` stands for the dot of a path."""
        changed = {path.replace("__", "."): value for path, value in values.items()}
        self.state = replace(self.state, values=dict(self.state.values) | changed)
        return self

    def fork(self) -> Game:
        kept = (list(each) for each in (self.said, self.answered_by, self.complaints, self.came))
        return Game(self.definition, self.state, self.chain, *kept)


def at(definition: Definition, place: str, present: Sequence[str] = ()) -> Game:
    """A game that has come to this place, with nothing found out."""
    game = Game(definition)
    values = dict(game.state.values) | {"location": place, "scene.present": list(present)}
    game.state = replace(game.state, values=values)
    return game


def played(definition: Definition, inputs: Iterable[str]) -> Game:
    game = Game(definition)
    for text in inputs:
        assert not is_ended(game.state), f"ended as {game.ending} before {text!r}"
        game.play(text)
    return game


def walks(definition: Definition, pivots: Mapping[str, Sequence[str]], count: int, turns: int = 25) -> Iterator[Game]:
    """Games that wander over the pivots of each place, each with dice of its own, yielded after every turn."""
    for number in range(count):
        chance = random.Random(number)
        game, tried = Game(definition, chain=f"walk {number}".encode()), Counter[str]()
        for _ in range(turns):
            here = pivots[game.place]
            least = min(tried[text] for text in here)
            fresh = [text for text in here if tried[text] == least]
            text = chance.choice(fresh if chance.random() < 0.95 else here)
            tried[text] += 1
            game.play(text)
            yield game
            if is_ended(game.state):
                break


def errands(
    definition: Definition, known: Sequence[tuple[str, str, str]], count: int, *, local: float, turns: int = 25
) -> Iterator[Game]:
    """Games that run errands as they come to mind, each with dice of its own, yielded after every turn.

    An errand is (where, what to type, what has to be so); '' is anywhere, ``*`` anywhere and as near at hand as what
    belongs to the place. ``local`` is how often something near at hand is done before anything else.
    """
    for number in range(count):
        chance = random.Random(number)
        game = Game(definition, chain=f"errand {number}".encode())
        while not is_ended(game.state) and len(game.said) < turns:
            open_here = [
                (place, text)
                for place, text, when in known
                if place in ("", "*", game.place) and holds(condition(when), game.state)
            ]
            near = [(place, text) for place, text in open_here if place]
            _, text = chance.choice(near if near and chance.random() < local else open_here)
            game.play(text)
            yield game


@lru_cache(maxsize=256)
def condition(text: str) -> Condition:
    return parse_condition(text)


@dataclass(frozen=True)
class Sample:
    """What the tests know of a sample campaign.

    ``company``: who is in each place. ``newcomers``: what is typed there by people who do not know it. ``understood``:
    the share of that which meets an answer of its own (``misunderstood``: storylets that do not count as one).
    ``opening``: what the opening offers, with the storylet that answers it. ``least_here``: storylets that a place has
    to itself. ``games`` plays by itself; within ``tries`` games it comes to the endings ``found``. ``retold``: inputs
    that tell the same story twice.
    """

    name: str
    company: Mapping[str, Sequence[str]]
    newcomers: Mapping[str, Sequence[str]]
    understood: float
    opening: Mapping[str, str]
    least: Mapping[str, int]
    least_wordings: int
    least_here: int
    cards: int
    endings: int
    clock: str
    games: Callable[[int], Iterator[Game]]
    tries: int
    found: frozenset[str]
    retold: Sequence[str]
    misunderstood: frozenset[str] = frozenset()

    @property
    def definition(self) -> Definition:
        return sample(self.name)

    def standing_in(self, place: str) -> Game:
        """A game that has come to this place, with nothing found out and whoever belongs there present."""
        return at(self.definition, place, self.company[place])

    def played(self, inputs: Iterable[str]) -> Game:
        return played(self.definition, inputs)
