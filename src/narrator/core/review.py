"""The author's check: what a campaign holds that no player can meet, found by playing it with its own keys (U23).

The review plays from the opening, and from every kind of state it has come to, always with what was least heard, for so
many turns. What never came up is named by key path: storylets and outcomes that never fire, endings never reached,
effects that are refused, and states where no storylet is left and the story has not ended. It proves nothing about what
it did not meet; the more turns, the surer. Deterministic for a seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from narrator.core.conditions import holds
from narrator.core.definition import Definition, Storylet
from narrator.core.proposal import Proposal
from narrator.core.rehearsal import Scene, Turn, begin, rehearse
from narrator.core.state import ENDING

Finding = tuple[str, str]
_T = TypeVar("_T")
TURNS = 2500
_LONGEST = 40
_BRANCHES_KEPT = 400


class Chance(Protocol):
    """Where the review's choices come from: a seeded generator, passed in."""

    def random(self) -> float: ...
    def choice(self, seq: Sequence[_T], /) -> _T: ...
    def randbytes(self, n: int, /) -> bytes: ...


@dataclass(slots=True)
class _Played:
    """What the review has met so far."""

    fired: Counter[str] = field(default_factory=Counter)
    outcomes: set[tuple[str, str]] = field(default_factory=set)
    told: Counter[tuple[str, str]] = field(default_factory=Counter)
    endings: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    stuck: dict[str, str] = field(default_factory=dict)
    turns: int = 0


def review(definition: Definition, chance: Chance, *, turns: int = TURNS, seed: int = 7) -> list[Finding]:
    """(key path, what is wrong), in the order of the file. ``seed`` is that of the campaign's dice."""
    played = _Played()
    starts = [begin(definition)]
    while played.turns < turns:
        scene = starts[0] if chance.random() < 0.3 else chance.choice(starts)
        _walk(definition, played, starts, Scene(scene.state, chance.randbytes(8)), chance, seed, turns)
    return _report(definition, played)


def _walk(
    definition: Definition,
    played: _Played,
    starts: list[Scene],
    scene: Scene,
    chance: Chance,
    seed: int,
    turns: int,
) -> None:
    """One game of at most forty turns; where something new was met a later game may begin."""
    for _ in range(_LONGEST):
        if scene.is_ended or played.turns >= turns:
            return
        wanted = _least_heard(definition, played, scene, chance)
        if wanted is None:
            place = str(scene.state.values.get("location") or "this place")
            played.stuck.setdefault(place, f"none is left at {place} after {scene.state.turn} turns: a dead end")
        turn = rehearse(definition, scene, input_for(wanted, chance) if wanted is not None else "", seed=seed)
        is_new = _note(played, turn)
        scene = turn.scene
        if is_new and not scene.is_ended:
            starts.append(scene)
            if len(starts) > _BRANCHES_KEPT:
                starts.pop(1)


def _least_heard(definition: Definition, played: _Played, scene: Scene, chance: Chance) -> Storylet | None:
    """A storylet whose condition holds here, of those that answered least so far."""
    ready = [
        each
        for each in definition.storylets
        if each.on == "input" and each.keys and (each.when is None or holds(each.when, scene.state))
    ]
    if not ready:
        return None
    tried = [(played.fired[each.id], chance.random(), each) for each in ready]
    return min(tried, key=lambda each: each[:2])[2] if chance.random() < 0.8 else chance.choice(ready)


def input_for(storylet: Storylet, chance: Chance) -> str:
    """Words that the storylet's own keys understand."""
    groups = chance.choice(storylet.keys).split("+")
    return " ".join(chance.choice(group.split("|")).strip().lstrip("=") for group in groups)


def _note(played: _Played, turn: Turn) -> bool:
    """Take in one turn; whether it met a storylet, an outcome or an ending for the first time."""
    played.turns += 1
    name = turn.storylet.id
    ending = str(turn.scene.state.values.get(ENDING) or "")
    is_new = not played.fired[name] or (name, turn.outcome) not in played.outcomes
    is_new = is_new or (bool(ending) and ending not in played.endings)
    played.fired[name] += 1
    played.outcomes.add((name, turn.outcome))
    played.told[name, turn.text] += 1
    if ending:
        played.endings.add(ending)
    for refused in turn.refused:
        played.refused.setdefault(f"{name}: {refused.proposal.op} {refused.proposal.path}", refused.reason)
    return is_new


def _report(definition: Definition, played: _Played) -> list[Finding]:
    found: list[Finding] = []
    for storylet in definition.storylets:
        if storylet.on not in ("input", "any"):
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
        missing = [each for each in wordings if not any(text.startswith(each) for text, _ in told)]
        came = sum(times for text, times in told if text.startswith(tuple(wordings)))
        if not came:
            found.append((f"{where}.outcomes.{outcome.on or 'always'}", "never came"))
        elif missing and came > 6 * len(wordings):
            found.append((f"{where}.outcomes.{outcome.on or 'always'}.wordings", f"{len(missing)} never used"))
    return found


def _endings(storylets: Sequence[Storylet]) -> list[str]:
    """The endings that storylets name themselves, by outcome or by an effect on ``story.ending``."""
    named = [outcome.ending for each in storylets for outcome in each.outcomes if outcome.ending]
    effects: list[Proposal] = [effect for each in storylets for outcome in each.outcomes for effect in outcome.effects]
    return named + [str(each.value) for each in effects if each.path == ENDING]
