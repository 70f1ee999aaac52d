"""Words of a player's input and the keys that look for them, compared by their stems (T18).

A key is groups joined by ``+``, all of which must be found; a group is alternatives joined by ``|``, one of which must
be. An alternative is a word, a phrase whose words stand together (``pole-man``, ``look around``), or, with ``=`` before
it, the whole input (``=i``). A word that the campaign, or the list below, has synonyms for stands for all of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import snowballstemmer  # type: ignore[import-untyped]

SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "look": ("l", "look around", "survey", "view", "observe", "where am i"),
        "examine": ("x", "inspect", "study", "look at", "check", "check out", "investigate", "scrutinize"),
        "take": ("get", "grab", "pick up", "fetch", "steal", "pocket", "seize", "collect"),
        "drop": ("put down", "discard", "throw away", "let go"),
        "go": (
            *(
                "walk",
                "run",
                "head",
                "move",
                "step",
                "travel",
                "hurry",
                "follow",
                "proceed",
                "stroll",
                "wander",
                "trudge",
            ),
            *("stride", "amble", "saunter", "plod", "tramp", "hike", "make my way", "make your way"),
        ),
        "enter": ("go in", "go into", "go inside", "step in", "step into", "walk in", "walk into", "climb in"),
        "leave": ("exit", "go out", "get out", "step out", "walk out", "depart"),
        "talk": ("speak", "chat", "converse", "greet", "say", "hello", "hi", "tell"),
        "ask": ("question", "inquire", "enquire", "interrogate"),
        "give": ("offer", "hand", "hand over", "pass"),
        "show": ("present", "display", "hold out"),
        "attack": ("hit", "fight", "kill", "strike", "punch", "kick", "stab", "shoot", "hurt"),
        "break": ("smash", "destroy", "wreck", "force", "pry"),
        "wait": ("z", "rest", "pause", "linger", "stay", "do nothing", "sit"),
        "listen": ("hear", "eavesdrop"),
        "inventory": (
            "=i",
            "inv",
            "what do i have",
            "what have i got",
            "what am i carrying",
            "what do i carry",
            "my things",
        ),
        "help": ("what can i do", "what should i do", "what do i do", "what now", "hint", "stuck", "how do i play"),
        "yes": ("y", "yeah", "yep", "sure", "okay", "ok", "agree", "accept", "nod"),
        "no": ("n", "nope", "refuse", "decline", "never"),
    }
)
"""English words with those that are taken for them; ``[synonyms]`` of a campaign replaces an entry or adds one."""

_LANGUAGES = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian", "nl": "dutch"}
_MORE = {"pt": "portuguese", "sv": "swedish", "fi": "finnish", "da": "danish", "no": "norwegian", "ru": "russian"}

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile(r"['’ʼ`](?:s\b)?")

_TRIED = 4
"""Alternatives of one group that are tried in turn: a key of five groups is settled within a thousand steps."""

Stems = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """Words that stand together somewhere in the input, or are the whole of it.

    They are stemmed when the input has a word with the same first letter, and no sooner: a stem costs 0.1 ms, a
    campaign's keys have thousands of words, and the stemmers below change the ends of words alone.
    """

    words: Stems
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """How well a key fits: groups found, how many of the input's words they cover, how many of those were typed."""

    groups: int
    words: int
    typed: int


Pattern = tuple[tuple[Alternative, ...], ...]


def words(text: str) -> list[str]:
    """The words of a text, folded: case, accents and apostrophes (with an s behind) do not count."""
    plain = text.casefold()
    if not plain.isascii():
        parts = unicodedata.normalize("NFKD", plain)
        plain = "".join(sign for sign in parts if not unicodedata.combining(sign))
    return _WORD.findall(_APOSTROPHE.sub("", plain))


def stems(text: str, language: str = "en") -> Stems:
    """The stems of a text's words, in order."""
    return tuple(_stem(word, language) for word in words(text))


def match(
    pattern: Pattern,
    spoken: Stems,
    language: str = "en",
    *,
    count: int | None = None,
    admits: Callable[[frozenset[int]], bool] = lambda covered: True,
) -> Match | None:
    """How well this key fits the stems of an input; None where one of its groups is not found.

    ``count``: how many of the stems were typed (all). ``admits`` says whether a key may take words at these places
    together; it takes others where it may not.

    A group takes the longest of its alternatives that stands in the input, clear of what other groups have taken; it
    takes a shorter one where the rest of the key would find nothing left: with “go out” for leaving, ``go|leave + out``
    still fits “go out”.
    """
    look = _Look(spoken, len(spoken) if count is None else count, language, admits)
    covered = _cover(pattern, look, frozenset())
    if covered is None:
        return None
    return Match(len(pattern), len(covered), sum(at < look.count for at in covered))


@dataclass(frozen=True, slots=True)
class _Look:
    """What a key is held against."""

    spoken: Stems
    count: int
    language: str
    admits: Callable[[frozenset[int]], bool]


def _cover(pattern: Pattern, look: _Look, covered: frozenset[int]) -> frozenset[int] | None:
    """The words that a key's groups take together; None where they cannot all be found, or may not be taken."""
    if not pattern:
        return covered if look.admits(covered) else None
    for at, count in _found(pattern[0], look, covered):
        rest = _cover(pattern[1:], look, covered | set(range(at, at + count)))
        if rest is not None:
            return rest
    return None


def _found(group: tuple[Alternative, ...], look: _Look, covered: frozenset[int]) -> list[tuple[int, int]]:
    """Where a group stands, as (first word, number of words): the longest first, few enough to try them all."""
    places: dict[tuple[int, int], None] = {}
    for alternative in group:
        for at in _find(alternative, look, covered):
            places[at, len(alternative.words)] = None
    return sorted(places, key=lambda place: -place[1])[:_TRIED]


def parse_key(key: str, synonyms: Mapping[str, Sequence[str]] = SYNONYMS) -> Pattern:
    """The pattern of one key. A key without a word in it gives the empty pattern, which fits nothing."""
    groups: list[tuple[Alternative, ...]] = []
    for group in key.split("+"):
        found: dict[Alternative, None] = {}
        for option in group.split("|"):
            for text in (option, *synonyms.get(_folded(option), ())):
                alternative = _alternative(text)
                if alternative is not None:
                    found[alternative] = None
        if not found:
            return ()
        groups.append(tuple(found))
    return tuple(groups)


def all_synonyms(language: str, own: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """The synonyms of a campaign in this language: the list above for English, then its own."""
    base = dict(SYNONYMS) if language.startswith("en") else {}
    return base | {" ".join(words(word)): tuple(others) for word, others in own.items()}


@lru_cache(maxsize=8192)
def _alternative(text: str) -> Alternative | None:
    """An alternative as it is written; None where there is no word in it. The same few come in many keys."""
    parsed = tuple(words(text))
    return Alternative(parsed, text.strip().startswith("=")) if parsed else None


@lru_cache(maxsize=8192)
def _folded(text: str) -> str:
    return " ".join(words(text))


def _find(alternative: Alternative, look: _Look, covered: frozenset[int]) -> Iterator[int]:
    """Where the alternative stands, clear of what other groups have found: one word may not serve two."""
    wanted, spoken = alternative.words, look.spoken
    if alternative.is_whole and look.count != len(wanted):
        return
    initial = wanted[0][0]
    for at in range(len(spoken) - len(wanted) + 1):
        is_free = spoken[at][0] == initial and covered.isdisjoint(range(at, at + len(wanted)))
        if is_free and _is_at(wanted, spoken, at, look.language):
            yield at


def _is_at(wanted: Stems, spoken: Stems, at: int, language: str) -> bool:
    return all(_stem(word, language) == spoken[at + more] for more, word in enumerate(wanted))


@lru_cache(maxsize=8192)
def _stem(word: str, language: str) -> str:
    code = language.partition("-")[0].casefold()
    name = _LANGUAGES.get(code) or _MORE.get(code)
    if name is None:
        return word
    return str(_stemmer(name).stemWord(word))


@lru_cache(maxsize=16)
def _stemmer(name: str) -> Any:
    return snowballstemmer.stemmer(name)
