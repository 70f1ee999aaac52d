"""Words of a player's input and the keys that look for them, compared by their stems (T18).

A key is groups joined by ``+``, all of which must be found; a group is alternatives joined by ``|``, one of which must
be. An alternative is a word, a phrase whose words stand together (``pole-man``, ``look around``), or, with ``=`` before
it, the whole input (``=i``). A word that the campaign, or the list below, has synonyms for stands for all of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
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
        "go": ("walk", "run", "head", "move", "step", "travel", "hurry", "follow", "proceed"),
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

Stems = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """Stems that stand together somewhere in the input, or are the whole of it."""

    stems: Stems
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """How well a key fits: groups found, and how many of the input's words they cover."""

    groups: int
    words: int


Pattern = tuple[tuple[Alternative, ...], ...]


def words(text: str) -> list[str]:
    """The words of a text, folded: case, accents and apostrophes do not count."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(sign for sign in folded if not unicodedata.combining(sign))
    return re.findall(r"[^\W_]+", re.sub(r"['’ʼ`]", "", plain))


def stems(text: str, language: str = "en") -> Stems:
    """The stems of a text's words, in order."""
    return tuple(_stem(word, language) for word in words(text))


def match(pattern: Pattern, spoken: Stems) -> Match | None:
    """How well this key fits the stems of an input; None where one of its groups is not found."""
    covered: set[int] = set()
    for group in pattern:
        best: tuple[int, int] | None = None
        for alternative in group:
            at = _find(alternative, spoken, covered)
            if at is not None and (best is None or len(alternative.stems) > best[1]):
                best = at, len(alternative.stems)
        if best is None:
            return None
        covered.update(range(best[0], best[0] + best[1]))
    return Match(len(pattern), len(covered))


def parse_key(key: str, language: str = "en", synonyms: Mapping[str, Sequence[str]] = SYNONYMS) -> Pattern:
    """The pattern of one key. A key without a word in it gives the empty pattern, which fits nothing."""
    groups: list[tuple[Alternative, ...]] = []
    for group in key.split("+"):
        found: dict[Alternative, None] = {}
        for option in group.split("|"):
            for text in (option, *synonyms.get(" ".join(words(option)), ())):
                parsed = stems(text, language)
                if parsed:
                    found[Alternative(parsed, text.strip().startswith("="))] = None
        if not found:
            return ()
        groups.append(tuple(found))
    return tuple(groups)


def all_synonyms(language: str, own: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """The synonyms of a campaign in this language: the list above for English, then its own."""
    base = dict(SYNONYMS) if language.startswith("en") else {}
    return base | {" ".join(words(word)): tuple(others) for word, others in own.items()}


def _find(alternative: Alternative, spoken: Stems, covered: set[int]) -> int | None:
    """Where the alternative stands, best where no other group has been found; one word may not serve two groups."""
    wanted = alternative.stems
    if alternative.is_whole:
        return 0 if spoken == wanted else None
    for at in range(len(spoken) - len(wanted) + 1):
        if spoken[at : at + len(wanted)] == wanted and not covered.intersection(range(at, at + len(wanted))):
            return at
    return None


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
