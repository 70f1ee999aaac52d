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
(``manner``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from narrator.core import neutral
from narrator.core.checks import clock_proposals
from narrator.core.conditions import holds
from narrator.core.definition import PLAYER, Definition, Storylet, StoryletCheck
from narrator.core.manner import Heard, hear
from narrator.core.proposal import Proposal
from narrator.core.referee import judge
from narrator.core.state import ENDING, FIRED, State, advance, is_ended
from narrator.core.stems import Match, Pattern, all_synonyms, match, parse_key, words
from narrator.core.view import name_of
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


_HEARD = 600
"""Characters of an input that are matched: a key is about a sentence, and a page of text must not stop the program."""

_WAYS = {
    *("outside", "inside", "ashore", "home", "upstairs", "downstairs", "aboard", "away", "backstage"),
    *("north", "south", "east", "west", "forward", "onstage"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """The storylet that answers. ``index`` counts the retries that fell to it; ``draw`` is what chance hangs on.

    ``behind``: what came behind the answer in the turn that is retold, None where that is still to be found.
    """

    storylet: Storylet
    index: int
    draw: str
    is_understood: bool = True
    behind: tuple[Storylet, ...] | None = None

    @property
    def check(self) -> StoryletCheck | None:
        """The check that it wants."""
        return self.storylet.check


@dataclass(frozen=True, slots=True)
class Telling:
    """What is told, what it changes (as proposals with the source ``storylet``), and the ending that it reaches.

    ``behind``: the storylets that came behind the answer.
    """

    text: str
    proposals: tuple[Proposal, ...]
    ending: str = ""
    behind: tuple[Storylet, ...] = ()


def choose(
    definition: Definition, state: State, text: str, mode: str | None, *, seed: int, chain_hash: bytes, ordinal: int
) -> Choice:
    """Which storylet answers this input ('' and None: the player says nothing). Always answers with one."""
    draw = f"{seed}|{chain_hash.hex()}"
    ready = [storylet for storylet in definition.storylets if is_ready(storylet, state)]
    for kind, found in (("any", _of(ready, "any")), *_fitting(definition, state, ready, text, mode)):
        if found:
            return _walk(_shuffled(found, state, draw), ordinal, draw, is_understood=kind != "hint")
    if not text.strip():
        return Choice(neutral.PASSING, ordinal, draw, is_understood=False)
    return Choice(neutral.hint(_ideas(definition, state, ready)), ordinal, draw, is_understood=False)


def tell(choice: Choice, outcomes: Iterable[Decided], definition: Definition, state: State) -> Telling:
    """The wording and the effects of a choice, with the outcomes that were rolled for it.

    No wording of a storylet comes twice before all have been used on this path, and no answer twice within ten turns.
    """
    decided = tuple(outcomes)
    own = _tell_one(choice, decided, definition, state)
    behind = choice.behind
    if behind is None:
        left = _state_left(own, decided, definition, state)
        due = [] if is_ended(left) else [each for each in _of(definition.storylets, "after") if is_ready(each, left)]
        behind = tuple(_shuffled(due, left, choice.draw)[:1])
    for storylet in behind:
        more = _tell_one(replace(choice, storylet=storylet), (), definition, state)
        # What is told again is the turn's answer, so that one fires last.
        effects, fired = _parted(own.proposals)
        own = Telling(
            f"{own.text}\n\n{more.text}", (*effects, *more.proposals, *fired), own.ending or more.ending, behind
        )
    return own


def _parted(proposals: Sequence[Proposal]) -> tuple[list[Proposal], list[Proposal]]:
    """What changes the story, and what only says that something was told."""
    return [each for each in proposals if each.path != FIRED], [each for each in proposals if each.path == FIRED]


def _state_left(telling: Telling, outcomes: Sequence[Decided], definition: Definition, state: State) -> State:
    """The state that a turn leaves, with its clocks."""
    clocks = clock_proposals(definition, state, outcomes, telling.proposals)
    ticked = advance(state, "narrator", judge(definition, state, clocks, source="check").events)
    return advance(ticked, "narrator", judge(definition, ticked, telling.proposals, source="storylet").events)


def _tell_one(choice: Choice, outcomes: Sequence[Decided], definition: Definition, state: State) -> Telling:
    """What one storylet tells and changes."""
    storylet = choice.storylet
    outcome = outcome_of(storylet, outcomes, definition.rules)
    at, asides = wording_of(storylet, outcome, definition, state, index=choice.index, draw=choice.draw)
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
        *_standard(definition, state, definition.storylets, _hear(definition, state, text, mode)),
    ]
    known.append(neutral.hint(_ideas(definition, state, definition.storylets)))
    storylet = next((one for one in known if one.id == latest), None)
    if storylet is None:
        return choose(definition, state, text, mode, seed=seed, chain_hash=chain_hash, ordinal=ordinal)
    behind = tuple(
        each for each in _of(definition.storylets, "after") if records.get(each.id, {}).get("last") == state.turn
    )
    return Choice(storylet, max(ordinal - 1, 0), f"{seed}|{chain_hash.hex()}", behind=behind)


def suggestions(
    definition: Definition, state: State, *, seed: int, chain_hash: bytes, count: int = 3
) -> tuple[str, ...]:
    """What the player might do here, from the storylets that could answer; those never heard come first (T20)."""
    ready = [storylet for storylet in definition.storylets if is_ready(storylet, state)]
    ideas = [*_ideas(definition, state, _shuffled(_of(ready, "input"), state, f"{seed}|{chain_hash.hex()}"))]
    texts = dict.fromkeys(idea[:1].upper() + idea[1:] for idea in (*ideas, *neutral.IDEAS))
    return tuple(texts)[:count]


def is_ready(storylet: Storylet, state: State) -> bool:
    """Whether its condition holds, and neither once-only nor its cooldown stand against it."""
    record = fired_record(state, storylet.id)
    if record is not None:
        if storylet.is_once:
            return False
        if storylet.cooldown and state.turn - int(record["last"]) <= storylet.cooldown:
            return False
    return holds(storylet.when, state)


def _fitting(
    definition: Definition, state: State, ready: Sequence[Storylet], text: str, mode: str | None
) -> Iterator[tuple[str, list[Storylet]]]:
    """The candidates in order of preference: those that understand the input best, else the hints."""
    if not text.strip():
        yield "continue", _of(ready, "continue")
        return
    heard = _hear(definition, state, text, mode)
    own = tuple(definition.synonyms.items())
    scores: dict[tuple[int, int, bool, int], list[Storylet]] = {}
    for storylet in _of(ready, "input"):
        if storylet.modes and (mode or "do") not in storylet.modes:
            continue
        patterns = _patterns(storylet.keys, definition.language, own)
        is_final = any(outcome.ending for outcome in storylet.outcomes)
        fits = _fits(patterns, heard, is_deed=_is_deed(storylet), is_final=is_final)
        if fits:
            groups, count, typed = max((fit.groups, fit.words, fit.typed) for fit in fits)
            scores.setdefault((groups, count, storylet.when is not None, typed), []).append(storylet)
    if scores:
        yield "input", scores[max(scores)]
    yield "standard", [] if scores else _standard(definition, state, ready, heard)
    yield "hint", _nearest(ready, "hint")


def _fits(patterns: Iterable[Pattern], heard: Heard, *, is_deed: bool = False, is_final: bool = False) -> list[Match]:
    """How well each of these keys fits what was heard, of those that do."""
    admits = partial(heard.admits, is_deed=is_deed, is_final=is_final)
    found = (match(pattern, heard.stems, count=heard.count, admits=admits) for pattern in patterns)
    return [fit for fit in found if fit is not None]


def _is_deed(storylet: Storylet) -> bool:
    """Whether it is only done, and never said: by its modes, or since it goes somewhere."""
    goes = any(effect.path == "location" for outcome in storylet.outcomes for effect in outcome.effects)
    return goes or (bool(storylet.modes) and "say" not in storylet.modes)


def _nearest(ready: Iterable[Storylet], kind: str) -> list[Storylet]:
    """Those of a kind that hold here and now; those that hold anywhere where there are none."""
    found = _of(ready, kind)
    return [each for each in found if each.when is not None] or found


def _standard(definition: Definition, state: State, ready: Sequence[Storylet], heard: Heard) -> list[Storylet]:
    """What any campaign can answer from its state: the place, what the player carries, a thing in plain sight; and
    that what was only said to be left undone was left so."""
    if not definition.language.startswith("en"):
        return []
    for keys, answer in neutral.STANDARD:
        told = answer(definition, state, heard.stems) if _fits(_patterns(keys, "en", ()), heard) else None
        if told is not None:
            return [told]
    return (_nearest(ready, "left") or [neutral.LEFT]) if heard.is_left_undone else []


def _hear(definition: Definition, state: State, text: str, mode: str | None) -> Heard:
    """The input as keys meet it."""
    present = state.values.get("scene.present")
    others = [name for name in (present if isinstance(present, list) else []) if name != PLAYER]
    company = f"{others[0]} {name_of(state, definition, str(others[0]))}" if len(others) == 1 else ""
    return hear(text[:_HEARD], definition.language, company=company, is_said=mode == "say")


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
    for storylet in _of(ready, "input"):
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


def _of(storylets: Iterable[Storylet], kind: str) -> list[Storylet]:
    return [storylet for storylet in storylets if storylet.on == kind]


Own = tuple[tuple[str, tuple[str, ...]], ...]


@lru_cache(maxsize=4096)
def _patterns(keys: tuple[str, ...], language: str, own: Own) -> tuple[Pattern, ...]:
    synonyms = _synonyms(language, own)
    return tuple(pattern for pattern in (parse_key(key, synonyms) for key in keys) if pattern)


@lru_cache(maxsize=64)
def _synonyms(language: str, own: Own) -> dict[str, tuple[str, ...]]:
    return all_synonyms(language, dict(own))
