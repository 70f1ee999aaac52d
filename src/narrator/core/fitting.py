"""Which storylets understand the words of an input best (T18)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from narrator.core.conditions import holds
from narrator.core.definition import PLAYER, Definition, Storylet
from narrator.core.manner import Heard, hear
from narrator.core.state import State
from narrator.core.stems import Match, Pattern, all_synonyms, match, parse_key
from narrator.core.view import name_of
from narrator.core.wordings import fired_record

HEARD = 600
"""Characters of an input that are matched: a key is about a sentence, and a page of text must not stop the program."""

Limit = Callable[[frozenset[int]], bool]
"""Whether a key may take the words at these places together."""


def is_ready(storylet: Storylet, state: State) -> bool:
    """Whether its condition holds, and neither once-only nor its cooldown stand against it."""
    record = fired_record(state, storylet.id)
    if record is not None:
        if storylet.is_once:
            return False
        if storylet.cooldown and state.turn - int(record["last"]) <= storylet.cooldown:
            return False
    return holds(storylet.when, state)


def of_kind(storylets: Iterable[Storylet], kind: str) -> list[Storylet]:
    """Those with this ``on``."""
    return [storylet for storylet in storylets if storylet.on == kind]


def hear_input(definition: Definition, state: State, text: str, mode: str | None) -> Heard:
    """The input as keys meet it."""
    present = state.values.get("scene.present")
    others = [name for name in (present if isinstance(present, list) else []) if name != PLAYER]
    company = f"{others[0]} {name_of(state, definition, str(others[0]))}" if len(others) == 1 else ""
    return hear(text[:HEARD], definition.language, company=company, is_said=mode == "say")


def best(
    definition: Definition, ready: Sequence[Storylet], heard: Heard, mode: str | None, limit: Limit | None = None
) -> list[Storylet]:
    """Those that understand the input best, equals all; [] where none does. ``limit``: which words they may take.

    Where nothing is about telling somebody to do a thing, what is about the thing itself answers, unless it is the end.
    """
    scores: dict[tuple[int, int, bool, int], list[Storylet]] = {}
    for storylet in of_kind(ready, "input"):
        if storylet.modes and (mode or "do") not in storylet.modes:
            continue
        found = fits(definition, storylet, heard, limit)
        if found:
            groups, count, typed = max((fit.groups, fit.words, fit.typed) for fit in found)
            scores.setdefault((groups, count, storylet.when is not None, typed), []).append(storylet)
    if not scores and heard.ordered:
        unsettled = (*heard.unsettled, *heard.ordered)
        return best(definition, ready, replace(heard, ordered=(), unsettled=unsettled), mode, limit)
    return scores[max(scores)] if scores else []


def fits(definition: Definition, storylet: Storylet, heard: Heard, limit: Limit | None = None) -> list[Match]:
    """How well the keys of a storylet fit what was heard, of those that do."""

    def admits(covered: frozenset[int]) -> bool:
        return heard.admits(covered, is_deed=deed, is_final=final) and (limit is None or limit(covered))

    deed, final = _is_deed(storylet), ends(storylet)
    found = (match(each, heard.stems, count=heard.count, admits=admits) for each in _keys_of(definition, storylet))
    return [fit for fit in found if fit is not None]


def is_heard(keys: Sequence[str], heard: Heard) -> bool:
    """Whether one of these English keys fits what was heard."""
    patterns = _patterns(tuple(keys), "en", ())
    return any(match(each, heard.stems, count=heard.count, admits=heard.admits) for each in patterns)


def goes(storylet: Storylet) -> bool:
    """Whether it moves the player."""
    return bool(leads_to(storylet))


def leads_to(storylet: Storylet) -> frozenset[str]:
    """The places that it moves the player to."""
    effects = (effect for outcome in storylet.outcomes for effect in outcome.effects)
    return frozenset(str(effect.value) for effect in effects if effect.path == "location")


def only_goes(storylet: Storylet) -> bool:
    """Whether all that it does is to move the player, and to say who is there."""
    effects = [effect for outcome in storylet.outcomes for effect in outcome.effects]
    return goes(storylet) and not ends(storylet) and all(each.path in ("location", "scene.present") for each in effects)


def ends(storylet: Storylet) -> bool:
    """Whether it may end the story."""
    return any(outcome.ending for outcome in storylet.outcomes)


def _is_deed(storylet: Storylet) -> bool:
    """Whether it is only done, and never said: by its modes, or since it goes somewhere."""
    return goes(storylet) or (bool(storylet.modes) and "say" not in storylet.modes)


Own = tuple[tuple[str, tuple[str, ...]], ...]


def _keys_of(definition: Definition, storylet: Storylet) -> tuple[Pattern, ...]:
    return _patterns(storylet.keys, definition.language, tuple(definition.synonyms.items()))


@lru_cache(maxsize=4096)
def _patterns(keys: tuple[str, ...], language: str, own: Own) -> tuple[Pattern, ...]:
    synonyms = _synonyms(language, own)
    return tuple(pattern for pattern in (parse_key(key, synonyms) for key in keys) if pattern)


@lru_cache(maxsize=64)
def _synonyms(language: str, own: Own) -> dict[str, tuple[str, ...]]:
    return all_synonyms(language, dict(own))
