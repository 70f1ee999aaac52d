"""The author's check: what a campaign holds that no player can meet, found by playing it with its own keys (U23).

The review plays short games with the campaign's own keys: what was tried least, and often what changes something.
They begin at the opening, or where few games began: a situation is a place, flags, belongings, stages of the clocks.
What they did not meet is sought (``seeking``): most of it is then met, and of the rest it is known why it cannot be.
Named by key path are storylets and outcomes that never fire, endings never reached, effects that are refused, and
states where no storylet is left and the story has not ended. Deterministic for a seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from narrator.core.conditions import holds
from narrator.core.definition import PLAYER, Definition, Storylet
from narrator.core.needs import Possible
from narrator.core.proposal import Proposal, is_number
from narrator.core.reachable import Deed, deeds_of, lacking, possible_from, told_as
from narrator.core.rehearsal import Scene, Turn, begin, rehearse
from narrator.core.seeking import Goal, Means, Sought, is_end, seek
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
_WORDS = 24
"""Inputs that are tried for a storylet that is sought."""
_STATES, _AT_MOST, _AT_LEAST = 3000, 1500, 100
"""States that are looked at for all that is sought in vain; for each."""
_MET_BY = ("input", "any", "after", "continue")


class Chance(Protocol):
    """Where the review's choices come from: a seeded generator, passed in."""

    def random(self) -> float: ...
    def choice(self, seq: Sequence[_T], /) -> _T: ...
    def randbytes(self, n: int, /) -> bytes: ...


@dataclass(slots=True)
class _Played:
    """What the review has met so far.

    ``starts`` are scenes to go on from, one of each kind; ``begun`` counts the games that began at a kind. ``reasons``
    says of what was sought in vain why it cannot be met.
    """

    tried: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    told: Counter[tuple[str, str]] = field(default_factory=Counter)
    outcomes: Counter[tuple[str, int]] = field(default_factory=Counter)
    endings: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    stuck: dict[str, str] = field(default_factory=dict)
    starts: dict[Kind, Scene] = field(default_factory=dict)
    begun: Counter[Kind] = field(default_factory=Counter)
    turns: int = 0
    reasons: dict[Goal, str] = field(default_factory=dict)


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
    _seek(definition, played, [first, *played.starts.values()], chance, seed)
    return _report(definition, played)


def _seek(definition: Definition, played: _Played, scenes: list[Scene], chance: Chance, seed: int) -> None:
    """Look for what was not met. ``scenes`` are what a search may go on from, the opening first."""
    deeds = deeds_of(definition, scenes[0].state)
    possible = possible_from(definition, scenes[0].state, deeds)

    def typed(storylet: Storylet) -> Iterator[str]:
        return (input_for(storylet, chance) for _ in range(_WORDS))

    means, left = Means(typed, lambda: chance.randbytes(8), seed), _STATES
    for goal in _goals(definition):
        if _is_met(goal, played):
            continue
        ways = [deed for deed in deeds if is_end(deed, goal)]
        reason = _reason(goal, ways, possible, played)
        if reason is None:
            sought = seek(definition, deeds, goal, scenes, means, min(max(left, _AT_LEAST), _AT_MOST))
            left -= 0 if sought.is_met else sought.states
            for turn in sought.turns:
                _note(definition, played, turn)
                scenes.append(turn.scene)
            reason = "" if sought.is_met else _in_vain(sought)
        played.reasons[goal] = reason


def _goals(definition: Definition) -> Iterator[Goal]:
    """All that a play should come to."""
    for storylet in definition.storylets:
        if storylet.on in _MET_BY:
            yield from (Goal(storylet.id, at) for at in range(len(storylet.outcomes)))
    named = {each.id for each in definition.endings} | set(_endings(definition.storylets))
    yield from (Goal(ending=ending) for ending in sorted(named))


def _is_met(goal: Goal, played: _Played) -> bool:
    return goal.ending in played.endings if goal.ending else bool(played.outcomes[goal.storylet, goal.outcome])


def _reason(goal: Goal, ways: list[Deed], possible: Possible, played: _Played) -> str | None:
    """Why it cannot be met, as far as that is known without a search; None where a search may tell.

    Of an ending to which only storylets lead that were sought in vain, no more is known than of those.
    """
    lacks = [lacking(deed, possible) for deed in ways]
    if all(lacks):
        is_one = bool(lacks) and not goal.ending
        return f"nothing brings about “{lacks[0][0]}”" if is_one else "nothing that can come about leads to it"
    told = [Goal(deed.storylet.id, _number(deed)) for deed in ways if deed.storylet is not None]
    if not goal.ending or len(told) < len(ways) or any(_is_met(each, played) for each in told):
        return None
    reasons = [played.reasons.get(each, "") for each in told]
    return "what leads to it can never come" if all(reasons) else ""


def _number(deed: Deed) -> int:
    """Which of its storylet's outcomes it is."""
    outcomes = deed.storylet.outcomes if deed.storylet is not None else ()
    return next(at for at, outcome in enumerate(outcomes) if outcome is deed.outcome)


def _in_vain(sought: Sought) -> str:
    """Why a search found nothing; '' where it cannot tell."""
    if sought.instead:
        names = " and ".join(f"“{name}”" for name, _ in sought.instead.most_common(2))
        return f"its own keys are answered by {names} where it could"
    return "no play comes to where it could" if sought.is_hopeless else ""


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
        _note(definition, played, turn)
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


def _note(definition: Definition, played: _Played, turn: Turn) -> None:
    """Take in one turn."""
    played.turns += 1
    name = turn.storylet.id
    ending = str(turn.scene.state.values.get(ENDING) or "")
    played.fired[name] += 1
    played.told[name, turn.text] += 1
    played.outcomes[name, _told(definition, turn.storylet, turn.outcome)] += 1
    for each in turn.behind:
        played.fired[each.id] += 1
        played.told[each.id, turn.text] += 1
        played.outcomes[each.id, _told(definition, each, "")] += 1
    if ending:
        played.endings.add(ending)
    for refused in turn.refused:
        played.refused.setdefault(f"{name}: {refused.proposal.op} {refused.proposal.path}", refused.reason)


def _told(definition: Definition, storylet: Storylet, rolled: str) -> int:
    """Which of its outcomes a storylet tells for this outcome of its check."""
    told = told_as(definition, storylet, rolled)
    return next(at for at, outcome in enumerate(storylet.outcomes) if outcome is told)


def _report(definition: Definition, played: _Played) -> list[Finding]:
    found: list[Finding] = []
    for storylet in definition.storylets:
        if storylet.on not in _MET_BY:
            continue
        where = f"storylets.{storylet.id}"
        if not played.fired[storylet.id]:
            goals = [Goal(storylet.id, at) for at in range(len(storylet.outcomes))]
            goal = min(goals, key=lambda each: bool(played.reasons.get(each)))
            found.append((where, _missed("can never fire", "not met", goal, played)))
        else:
            found.extend(_unheard(where, storylet, played))
    for goal in _goals(definition):
        if goal.ending and not _is_met(goal, played):
            found.append((f"endings.{goal.ending}", _missed("can never be reached", "not reached", goal, played)))
    found += [(f"storylets.{where}", f"refused: {reason}") for where, reason in played.refused.items()]
    found += [("storylets", text) for text in played.stuck.values()]
    return found


def _missed(never: str, not_yet: str, goal: Goal, played: _Played) -> str:
    """What is said of a goal that was sought in vain: only what is known."""
    reason = played.reasons.get(goal, "")
    if reason:
        return f"{never}: {reason}"
    return f"{not_yet} in {played.turns} turns of play, though nothing rules it out"


def _unheard(where: str, storylet: Storylet, played: _Played) -> list[Finding]:
    """Outcomes that never came, and wordings that were not heard although their outcome came more often than it has
    wordings."""
    found: list[Finding] = []
    told = [text for name, text in played.told if name == storylet.id]
    for at, outcome in enumerate(storylet.outcomes):
        path = f"{where}.outcomes.{outcome.on or 'always'}"
        wordings = [each.strip() for each in outcome.wordings]
        missing = [each for each in wordings if not any(_tells(text, each) for text in told)]
        came = played.outcomes[storylet.id, at]
        if not came:
            found.append((path, _missed("can never come", "not met", Goal(storylet.id, at), played)))
        elif missing and came > 6 * len(wordings):
            found.append((f"{path}.wordings", f"{len(missing)} never used"))
    return found


def _tells(text: str, wording: str) -> bool:
    """Whether a turn's text has this wording: at its beginning, or behind the answer."""
    return text.startswith(wording) or f"\n\n{wording}" in text


def _endings(storylets: Sequence[Storylet]) -> list[str]:
    """The endings that storylets name themselves, by outcome or by an effect on ``story.ending``."""
    named = [outcome.ending for each in storylets for outcome in each.outcomes if outcome.ending]
    effects: list[Proposal] = [effect for each in storylets for outcome in each.outcomes for effect in outcome.effects]
    return named + [str(each.value) for each in effects if each.path == ENDING]
