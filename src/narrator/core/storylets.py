"""The scene → one choice: which authored answer meets the player's words, and in which wording (T18).

Everything here is pure. ``choose`` and ``tell`` get the same scene for the check, the narration and the extraction of a
turn and answer the same each time; a retry, which raises ``ordinal``, gets another wording or another outcome.

Kinds of storylets (``on``): **input** meets words by its keys; **continue** goes on where the player says nothing;
**any** comes before all others as soon as its condition holds; a **hint** (``[[hints]]``) is said where no storylet
understands the input; **after** comes behind whatever answered, as soon as its condition holds in the state that the
turn leaves; an **aside** (``[[asides]]``) is a sentence of the place, put behind a wording that would otherwise be
heard twice within ten turns; **left** (``[[left]]``) is said where the player says only what they do not do. A campaign
without hints, asides or those gets the ones of ``neutral``.

Among storylets that fit, the one with more of its groups found comes first, then the one that covers more of the words,
then one with a condition before one without, then the one that covers more of what was typed; among equals chance
decides, by weight, the same for a seed. A question is answered and not done, and what is said to be left undone is left
(``manner``). Of several deeds in one input each is answered (``halves``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from narrator.core import neutral
from narrator.core.checks import clock_proposals
from narrator.core.definition import Definition, Storylet, StoryletCheck
from narrator.core.fitting import best, hear_input, is_heard, is_ready, of_kind
from narrator.core.halves import NO_REST, Rest, answers, parted, told_behind
from narrator.core.manner import Heard
from narrator.core.proposal import Proposal
from narrator.core.referee import judge
from narrator.core.state import ENDING, FIRED, State, advance, is_ended
from narrator.core.stems import words
from narrator.core.wordings import Decided, draw_chance, fired_record, is_worn, key, outcome_of, wording_of

_VERBS = {
    "look": "look at",
    "examine": "examine",
    "inspect": "inspect",
    "read": "read",
    "open": "open",
    "take": "take",
    "search": "search",
    "light": "light",
    "ask": "ask about",
    "talk": "talk to",
    "listen": "listen to",
    "go": "go to",
    "climb": "climb",
    "enter": "enter",
    "follow": "follow",
}
_NO_NOUNS = {"around", "about", "here", "i", "am", "you", "nothing", "out", "back", "up", "down", "it", "on"}


_WAYS = {
    *("outside", "inside", "ashore", "home", "upstairs", "downstairs", "aboard", "away", "backstage"),
    *("north", "south", "east", "west", "forward", "onstage"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """The storylet that answers. ``index`` counts the retries that fell to it; ``draw`` is what chance hangs on.

    ``rest``: what of the input is to be answered by others, in the same turn. ``also`` and ``behind``: those that did
    so, and what came of itself, in the turn that is retold; None where that is still to be found. ``rolled``: the one
    of those others that wants a roll, where this storylet wants none.
    """

    storylet: Storylet
    index: int
    draw: str
    is_understood: bool = True
    behind: tuple[Storylet, ...] | None = None
    rest: Rest = NO_REST
    also: tuple[Storylet, ...] | None = None
    rolled: Storylet | None = None

    @property
    def check(self) -> StoryletCheck | None:
        """The check that the turn wants: one at most."""
        return self.storylet.check or (self.rolled.check if self.rolled is not None else None)


@dataclass(frozen=True, slots=True)
class Telling:
    """What is told, what it changes (as proposals with the source ``storylet``), and the ending that it reaches.

    ``also``: the storylets that answered other clauses of the input; ``behind``: those that came of themselves.
    """

    text: str
    proposals: tuple[Proposal, ...]
    ending: str = ""
    behind: tuple[Storylet, ...] = ()
    also: tuple[Storylet, ...] = ()


def choose(
    definition: Definition, state: State, text: str, mode: str | None, *, seed: int, chain_hash: bytes, ordinal: int
) -> Choice:
    """Which storylet answers this input ('' and None: the player says nothing). Always answers with one."""
    draw = f"{seed}|{chain_hash.hex()}"
    ready = [storylet for storylet in definition.storylets if is_ready(storylet, state)]
    for kind, found, rest in (("any", of_kind(ready, "any"), NO_REST), *_fitting(definition, state, ready, text, mode)):
        if found:
            choice = _walk(_shuffled(found, state, draw), ordinal, draw, is_understood=kind != "hint")
            choice = replace(choice, rest=rest)
            return replace(choice, rolled=_tell_others(choice, (), definition, state)[1]) if rest.clauses else choice
    if not text.strip():
        return Choice(neutral.PASSING, ordinal, draw, is_understood=False)
    return Choice(neutral.hint(_ideas(definition, state, ready)), ordinal, draw, is_understood=False)


def tell(choice: Choice, outcomes: Iterable[Decided], definition: Definition, state: State) -> Telling:
    """The wording and the effects of a choice, with the outcomes that were rolled for it.

    No wording of a storylet comes twice before all have been used on this path, and no answer twice within ten turns.
    """
    decided = tuple(outcomes)
    own, _ = _tell_others(choice, decided, definition, state)
    behind = choice.behind
    if behind is None:
        left = _state_left(own, decided, definition, state)
        after = of_kind(definition.storylets, "after")
        due = [] if is_ended(left) else [each for each in after if is_ready(each, left)]
        behind = tuple(_shuffled(due, left, choice.draw)[:1])
    for storylet in behind:
        own = replace(_joined(own, _tell_more(choice, storylet, (), definition, state)), behind=behind)
    return own


def _tell_others(
    choice: Choice, decided: Sequence[Decided], definition: Definition, state: State
) -> tuple[Telling, Storylet | None]:
    """What answers the input, clause by clause, and who could not go on without a roll. Nothing is told behind an end,
    nor where something comes first of itself; and what would need a second roll is not yet done."""
    own = _tell_one(choice, decided, definition, state, has_asides=not choice.also)
    is_spent = choice.storylet.check is not None
    seen = decided if is_spent else ()
    for storylet in choice.also or ():
        more = _tell_more(choice, storylet, decided, definition, state, has_asides=not own.also)
        own = replace(_joined(own, more), also=choice.also or ())
    for clause in choice.rest.clauses if choice.also is None else ():
        left = _state_left(own, seen, definition, state)
        if is_ended(left) or any(is_ready(each, left) for each in of_kind(definition.storylets, "any")):
            break
        found = _shuffled(answers(definition, left, clause, choice.rest), left, choice.draw)[:1]
        for storylet in (each for each in found if each not in (choice.storylet, *own.also)):
            if storylet.check is not None:
                if is_spent or not decided:
                    return own, None if is_spent else storylet
                is_spent, seen = True, decided
            if not own.also:  # one aside for all: behind what comes next
                own = _tell_one(choice, decided, definition, state, has_asides=False)
            more = _tell_more(choice, storylet, decided, definition, left, has_asides=not own.also)
            own = replace(_joined(own, more), also=(*own.also, storylet))
    return own, None


def _tell_more(
    choice: Choice,
    storylet: Storylet,
    decided: Sequence[Decided],
    definition: Definition,
    state: State,
    *,
    has_asides: bool = False,
) -> Telling:
    """What another storylet of the same turn tells."""
    wanted = decided if storylet.check is not None else ()
    return _tell_one(replace(choice, storylet=storylet), wanted, definition, state, has_asides=has_asides)


def _joined(own: Telling, more: Telling) -> Telling:
    """One telling behind another. What is told again is the turn's answer, so that one fires last."""
    effects, fired = _parted(own.proposals)
    return replace(
        own,
        text=f"{own.text}\n\n{more.text}",
        proposals=(*effects, *more.proposals, *fired),
        ending=own.ending or more.ending,
    )


def _parted(proposals: Sequence[Proposal]) -> tuple[list[Proposal], list[Proposal]]:
    """What changes the story, and what only says that something was told."""
    return [each for each in proposals if each.path != FIRED], [each for each in proposals if each.path == FIRED]


def _state_left(telling: Telling, outcomes: Sequence[Decided], definition: Definition, state: State) -> State:
    """The state that a turn leaves, with its clocks."""
    clocks = clock_proposals(definition, state, outcomes, telling.proposals)
    ticked = advance(state, "narrator", judge(definition, state, clocks, source="check").events)
    return advance(ticked, "narrator", judge(definition, ticked, telling.proposals, source="storylet").events)


def _tell_one(
    choice: Choice, outcomes: Sequence[Decided], definition: Definition, state: State, *, has_asides: bool
) -> Telling:
    """What one storylet tells and changes."""
    storylet = choice.storylet
    outcome = outcome_of(storylet, outcomes, definition.rules)
    at, asides = wording_of(storylet, outcome, definition, state, index=choice.index, draw=choice.draw)
    asides = asides if has_asides else ()
    fired: list[Proposal] = []
    parts = [outcome.wordings[at].strip()]
    for aside, number in asides:
        parts.append(aside.outcomes[0].wordings[number].strip())
        fired.append(Proposal("append", FIRED, {"id": aside.id, "wording": key("", number, ())}))
    fired.append(Proposal("append", FIRED, {"id": storylet.id, "wording": key(outcome.on, at, asides)}))
    ends = [Proposal("set", ENDING, outcome.ending)] if outcome.ending else []
    return Telling("\n\n".join(parts), (*outcome.effects, *fired, *ends), outcome.ending)


def choose_again(
    definition: Definition, state: State, text: str, mode: str | None, *, seed: int, chain_hash: bytes, ordinal: int
) -> Choice:
    """The storylet that fired last in this state, for another telling of what it told (S20).

    ``state`` is the state after the turn that is retold, so its conditions need not hold any more.
    """
    fired = state.values.get(FIRED)
    records = fired if isinstance(fired, dict) else {}
    latest = max(records, key=lambda name: int(records[name]["order"]), default="")
    known = [
        *definition.storylets,
        neutral.PASSING,
        *_standard(definition, state, definition.storylets, hear_input(definition, state, text, mode)),
    ]
    known.append(neutral.hint(_ideas(definition, state, definition.storylets)))
    storylet = next((one for one in known if one.id == latest), None)
    if storylet is None:
        return choose(definition, state, text, mode, seed=seed, chain_hash=chain_hash, ordinal=ordinal)
    behind = tuple(each for each in of_kind(definition.storylets, "after") if _is_of_turn(each, records, state))
    before = [each for each in definition.storylets if each.id != latest and _is_of_turn(each, records, state)]
    before.sort(key=lambda each: -int(records[each.id]["order"]))
    also = told_behind(definition, state, text, mode, before)
    rolled = next((each for each in also if each.check is not None), None) if storylet.check is None else None
    return Choice(storylet, max(ordinal - 1, 0), f"{seed}|{chain_hash.hex()}", behind=behind, also=also, rolled=rolled)


def _is_of_turn(storylet: Storylet, records: Mapping[str, Any], state: State) -> bool:
    return bool(records.get(storylet.id, {}).get("last") == state.turn)


def suggestions(
    definition: Definition, state: State, *, seed: int, chain_hash: bytes, count: int = 3
) -> tuple[str, ...]:
    """What the player might do here, from the storylets that could answer; those never heard come first (T20)."""
    ready = [storylet for storylet in definition.storylets if is_ready(storylet, state)]
    ideas = [*_ideas(definition, state, _shuffled(of_kind(ready, "input"), state, f"{seed}|{chain_hash.hex()}"))]
    texts = dict.fromkeys(idea[:1].upper() + idea[1:] for idea in (*ideas, *neutral.IDEAS))
    return tuple(texts)[:count]


def _fitting(
    definition: Definition, state: State, ready: Sequence[Storylet], text: str, mode: str | None
) -> Iterator[tuple[str, list[Storylet], Rest]]:
    """The candidates in order of preference: those that understand the input best, else the hints; and what of the
    input is left to others."""
    if not text.strip():
        yield "continue", of_kind(ready, "continue"), NO_REST
        return
    heard = hear_input(definition, state, text, mode)
    found = best(definition, ready, heard, mode)
    yield "input", *parted(definition, state, text, mode, heard, found)
    yield "standard", [] if found else _standard(definition, state, ready, heard), NO_REST
    yield "hint", _nearest(ready, "hint"), NO_REST


def _nearest(ready: Iterable[Storylet], kind: str) -> list[Storylet]:
    """Those of a kind that hold here and now; those that hold anywhere where there are none."""
    found = of_kind(ready, kind)
    return [each for each in found if each.when is not None] or found


def _standard(definition: Definition, state: State, ready: Sequence[Storylet], heard: Heard) -> list[Storylet]:
    """What any campaign can answer from its state: the place, what the player carries, a thing in plain sight; and
    that what was only said to be left undone was left so."""
    if not definition.language.startswith("en"):
        return []
    for keys, answer in neutral.STANDARD:
        told = answer(definition, state, heard.stems) if is_heard(keys, heard) else None
        if told is not None:
            return [told]
    return (_nearest(ready, "left") or [neutral.LEFT]) if heard.is_left_undone else []


def _walk(candidates: Sequence[Storylet], ordinal: int, draw: str, *, is_understood: bool) -> Choice:
    """Retries go through the wordings of the first candidate, then the next one's, and then around again.

    A storylet with a check keeps its retries: each of them rolls anew.
    """
    left = ordinal
    for storylet in candidates:
        count = len(storylet.outcomes[0].wordings)
        if storylet.check is not None or left < count:
            return Choice(storylet, left, draw, is_understood)
        left -= count
    return Choice(candidates[0], ordinal, draw, is_understood)


def _shuffled(storylets: Sequence[Storylet], state: State, draw: str) -> list[Storylet]:
    """By chance and weight, those that have nothing fresh to say last."""

    def order(storylet: Storylet) -> tuple[bool, float]:
        chance = draw_chance(draw, storylet.id)
        return is_worn(storylet, state), -math.log(1.0 - chance) / storylet.weight

    return sorted(storylets, key=order)


def _ideas(definition: Definition, state: State, ready: Iterable[Storylet]) -> list[str]:
    """What could be done, in words: first what was never heard, and of that, what the campaign suggests itself."""
    ideas: dict[str, tuple[bool, bool]] = {}
    for storylet in of_kind(ready, "input"):
        text = storylet.suggest or _idea(definition, storylet)
        if text:
            was_heard = fired_record(state, storylet.id) is not None or ideas.get(text, (False, True))[0]
            ideas[text] = was_heard, not storylet.suggest
    return sorted(ideas, key=lambda text: ideas[text])


def _idea(definition: Definition, storylet: Storylet) -> str:
    """“ask the ferryman” from ``ask|question + ferryman|pole-man``; '' where the words would not make a sentence."""
    groups = [group.split("|")[0].strip(" =") for group in storylet.keys[0].split("+")] if storylet.keys else []
    if (
        len(groups) != 2
        or groups[0] not in _VERBS
        or groups[1] in _NO_NOUNS
        or not definition.language.startswith("en")
    ):
        return ""
    verb, noun = groups
    if noun in _WAYS:
        return f"go {noun}" if verb == "go" else ""
    if noun in definition.synonyms and not _is_said(definition, noun):
        return ""  # a name that the author made up for a group of words
    people = [entity for entity in definition.entities.values() if entity.kind == "character"]
    names = {word for entity in people for name in (entity.id, entity.name, *entity.aliases) for word in words(name)}
    if noun in names:
        proper = {word for entity in people for word in entity.name.split() if word[:1].isupper()}
        called = next((word for word in proper if word.casefold() == noun), f"the {noun}")
        return f"{'talk to' if verb == 'talk' else verb} {called}" if verb in {"ask", "talk"} else ""
    return f"{_VERBS[verb]} the {noun}" if verb != "talk" else ""


def _is_said(definition: Definition, word: str) -> bool:
    """Whether a word stands anywhere in the campaign's own prose."""
    texts = [definition.opening, *(text for each in definition.storylets for o in each.outcomes for text in o.wordings)]
    return any(word in text.casefold() and word in words(text) for text in texts)
