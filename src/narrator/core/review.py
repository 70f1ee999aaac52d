"""The author's check: what a campaign holds that no player can meet, found by playing it with its own keys (U23).

The review plays short games with the campaign's own keys: what was tried least, and often what changes something.
They begin at the opening, or where few games began: a situation is a place, flags, belongings, stages of the clocks.
What never came up is named by key path: storylets and outcomes that never fire, endings never reached, effects that are
refused, and states where no storylet is left and the story has not ended. It proves nothing about what it did not
meet; the more turns, the surer. Deterministic for a seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from narrator.core.conditions import holds
from narrator.core.definition import PLAYER, Definition, Storylet
from narrator.core.proposal import Proposal, is_number
from narrator.core.rehearsal import Scene, Turn, begin, rehearse
from narrator.core.state import ENDING, State

Finding = tuple[str, str]
Kind = frozenset[tuple[str, object]]
_T = TypeVar("_T")
TURNS = 2500
_LONGEST = 12
"""Turns of one game."""
_GOES_ON = 0.9
"""How many of the games do not begin at the opening."""
_CHANGES = 0.35
"""How many of the turns are for storylets that have effects, whatever was tried before."""
_STAGES = 4


class Chance(Protocol):
    """Where the review's choices come from: a seeded generator, passed in."""

    def random(self) -> float: ...
    def choice(self, seq: Sequence[_T], /) -> _T: ...
    def randbytes(self, n: int, /) -> bytes: ...


@dataclass(slots=True)
class _Played:
    """What the review has met so far.

    ``starts`` are scenes to go on from, one of each kind; ``begun`` counts the games that began at a kind.
    """

    tried: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    told: Counter[tuple[str, str]] = field(default_factory=Counter)
    endings: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    stuck: dict[str, str] = field(default_factory=dict)
    starts: dict[Kind, Scene] = field(default_factory=dict)
    begun: Counter[Kind] = field(default_factory=Counter)
    turns: int = 0


def review(definition: Definition, chance: Chance, *, turns: int = TURNS, seed: int = 7) -> list[Finding]:
    """(key path, what is wrong), in the order of the file. ``seed`` is that of the campaign's dice."""
    played = _Played()
    first = begin(definition)
    played.starts[kind_of(definition, first.state)] = first
    while played.turns < turns:
        kind = _least_begun(played, chance)
        played.begun[kind] += 1
        scene = played.starts[kind] if chance.random() < _GOES_ON else first
        _walk(definition, played, Scene(scene.state, chance.randbytes(8)), chance, seed, turns)
    return _report(definition, played)


def _least_begun(played: _Played, chance: Chance) -> Kind:
    """The situation to go on from: one that games began at least, every other time the one that was met last."""
    kinds = list(played.starts)
    if chance.random() < 0.5:
        kinds.reverse()
        return min(kinds, key=lambda kind: played.begun[kind])
    return min(kinds, key=lambda kind: (played.begun[kind], chance.random()))


def kind_of(definition: Definition, state: State) -> Kind:
    """What tells one situation from another: place, flags and words, what the player has, how far the clocks are."""
    clocks = definition.rules.clocks if definition.rules is not None else {}
    known: list[tuple[str, object]] = []
    for path, value in state.values.items():
        head, _, name = path.partition(".")
        if head == "clocks" and name in clocks and is_number(value):
            known.append((path, int(_STAGES * value / clocks[name].size)))
        elif head == "inventory":
            known.append((path, value == PLAYER))
        elif path == "location" or value is True:
            known.append((path, value))
    return frozenset(known)


def _walk(definition: Definition, played: _Played, scene: Scene, chance: Chance, seed: int, turns: int) -> None:
    """One game of some turns; wherever a situation is met for the first time a later game may begin."""
    for _ in range(_LONGEST):
        if scene.is_ended or played.turns >= turns:
            return
        wanted = _next(definition, played, scene, chance)
        if wanted is None:
            place = str(scene.state.values.get("location") or "this place")
            played.stuck.setdefault(place, f"none is left at {place} after {scene.state.turn} turns: a dead end")
        turn = rehearse(definition, scene, input_for(wanted, chance) if wanted is not None else "", seed=seed)
        _note(played, turn)
        scene = turn.scene
        if not scene.is_ended:
            played.starts.setdefault(kind_of(definition, scene.state), scene)


def _next(definition: Definition, played: _Played, scene: Scene, chance: Chance) -> Storylet | None:
    """A storylet whose condition holds here: mostly what was tried least, and often what changes something."""
    ready = [
        each
        for each in definition.storylets
        if each.on == "input" and each.keys and (each.when is None or holds(each.when, scene.state))
    ]
    if not ready:
        return None
    changing = [each for each in ready if any(outcome.effects or outcome.ending for outcome in each.outcomes)]
    if changing and chance.random() < _CHANGES:
        return chance.choice(changing)
    tried = [(played.tried[each.id], chance.random(), each) for each in ready]
    wanted = min(tried, key=lambda each: each[:2])[2]
    played.tried[wanted.id] += 1
    return wanted


def input_for(storylet: Storylet, chance: Chance) -> str:
    """Words that the storylet's own keys understand."""
    groups = chance.choice(storylet.keys).split("+")
    return " ".join(chance.choice(group.split("|")).strip().lstrip("=") for group in groups)


def _note(played: _Played, turn: Turn) -> None:
    """Take in one turn."""
    played.turns += 1
    name = turn.storylet.id
    ending = str(turn.scene.state.values.get(ENDING) or "")
    played.fired[name] += 1
    played.told[name, turn.text] += 1
    for each in turn.behind:
        played.fired[each.id] += 1
        played.told[each.id, turn.text] += 1
    if ending:
        played.endings.add(ending)
    for refused in turn.refused:
        played.refused.setdefault(f"{name}: {refused.proposal.op} {refused.proposal.path}", refused.reason)


def _report(definition: Definition, played: _Played) -> list[Finding]:
    found: list[Finding] = []
    for storylet in definition.storylets:
        if storylet.on not in ("input", "any", "after"):
            continue
        where = f"storylets.{storylet.id}"
        if not played.fired[storylet.id]:
            found.append((where, f"not met in {played.turns} turns of play with the campaign's own keys"))
        else:
            found.extend(_unheard(where, storylet, played))
    endings = {each.id for each in definition.endings} | set(_endings(definition.storylets))
    found += [(f"endings.{each}", f"not reached in {played.turns} turns") for each in sorted(endings - played.endings)]
    found += [(f"storylets.{where}", f"refused: {reason}") for where, reason in played.refused.items()]
    found += [("storylets", text) for text in played.stuck.values()]
    return found


def _unheard(where: str, storylet: Storylet, played: _Played) -> list[Finding]:
    """Wordings that were not heard although their outcome came more often than it has wordings."""
    found: list[Finding] = []
    told = [(text, times) for (name, text), times in played.told.items() if name == storylet.id]
    for outcome in storylet.outcomes:
        wordings = [each.strip() for each in outcome.wordings]
        missing = [each for each in wordings if not any(_tells(text, each) for text, _ in told)]
        came = sum(times for text, times in told if any(_tells(text, each) for each in wordings))
        if not came:
            found.append((f"{where}.outcomes.{outcome.on or 'always'}", "never came"))
        elif missing and came > 6 * len(wordings):
            found.append((f"{where}.outcomes.{outcome.on or 'always'}.wordings", f"{len(missing)} never used"))
    return found


def _tells(text: str, wording: str) -> bool:
    """Whether a turn's text has this wording: at its beginning, or behind the answer."""
    return text.startswith(wording) or f"\n\n{wording}" in text


def _endings(storylets: Sequence[Storylet]) -> list[str]:
    """The endings that storylets name themselves, by outcome or by an effect on ``story.ending``."""
    named = [outcome.ending for each in storylets for outcome in each.outcomes if outcome.ending]
    effects: list[Proposal] = [effect for each in storylets for outcome in each.outcomes for effect in outcome.effects]
    return named + [str(each.value) for each in effects if each.path == ENDING]
