"""Which cards trigger, and why (C26): story texts and a state in, cards with their reasons out; pure.

What is searched are the texts of the last nodes and the input, nothing else: no summary, no memory (C30). A plain key
is compared with case, diacritics, apostrophes and white space folded, as whole words, except in scripts that are
written without spaces, where it is found anywhere. An expression is given ``REGEX_SECONDS`` and no more; one that takes
longer counts as not found, and is named.

Sticky and cooldown count turns since the card last fired on the path; whoever calls reads that back from the nodes
(``engine.cards``), so they follow undo, takes and branches as the state does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import regex

from narrator.core.conditions import Facts, holds
from narrator.core.definition import Card, Definition

SCAN_DEPTH: Final = 4
"""How many nodes are searched for the keys of a card that names no depth of its own."""
REGEX_SECONDS: Final = 0.05
_MOST_SLOW: Final = 4

_SPACELESS: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_IN_WORD: Final = regex.compile(rf"[[\p{{L}}\p{{N}}\p{{M}}_]--[{_SPACELESS}]]", regex.V1)
_ACCENTS: Final = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u064b-\u065f\u0670]")
_ALIKE: Final = str.maketrans({"ı": "i", "’": "'", "‘": "'", "ʼ": "'", "\u2010": "-", "\u00ad": None})
_BETWEEN: Final = "\n\x1e\n"
"""Stands between two texts, so that no key is found across them."""


@dataclass(frozen=True, slots=True)
class CardEdit:
    """What the player has changed about a card of the definition; None leaves a field as it is (S35)."""

    is_enabled: bool | None = None
    text: str | None = None
    is_deleted: bool = False


@dataclass(frozen=True, slots=True)
class Triggered:
    """A card that goes into the tail; ``why`` names the key that matched. ``is_fired``: by itself, in this turn."""

    card: Card
    why: str
    is_fired: bool = True


@dataclass(frozen=True, slots=True)
class Triggering:
    """All that triggered, the most important first; ``slow`` names cards whose expression was broken off."""

    found: tuple[Triggered, ...] = ()
    slow: tuple[str, ...] = ()

    @property
    def fired(self) -> tuple[str, ...]:
        """The names that sticky and cooldown have to know of."""
        return tuple(each.card.name for each in self.found if each.is_fired and is_timed(each.card))


def edited(definition: Definition, edits: Mapping[str, CardEdit]) -> Definition:
    """The definition with the player's changes to its cards, by name."""
    if not edits:
        return definition
    cards: list[Card] = []
    for card in definition.cards:
        edit = edits.get(card.name)
        if edit is None:
            cards.append(card)
        elif not edit.is_deleted:
            is_enabled = card.is_enabled if edit.is_enabled is None else edit.is_enabled
            cards.append(replace(card, is_enabled=is_enabled, text=card.text if edit.text is None else edit.text))
    return replace(definition, cards=tuple(cards))


def is_in_prefix(card: Card) -> bool:
    """A constant card without a condition stands in the stable prefix, not in the tail (C10)."""
    return card.is_constant and card.is_enabled and card.when is None


def is_timed(card: Card) -> bool:
    """Whether it matters when the card last fired."""
    return not card.is_constant and bool(card.sticky or card.cooldown)


def turns_remembered(cards: Iterable[Card]) -> int:
    """How many turns back a firing can still matter."""
    return max((card.sticky + card.cooldown for card in cards if card.is_enabled and is_timed(card)), default=0)


def nodes_scanned(cards: Iterable[Card]) -> int:
    """How many of the last nodes any card looks at."""
    depths = (SCAN_DEPTH if card.scan_depth is None else card.scan_depth for card in cards if card.is_enabled)
    return max(depths, default=0)


def trigger(
    cards: Sequence[Card],
    story: Sequence[str],
    told: str,
    state: Facts,
    *,
    since: Mapping[str, int] = MappingProxyType({}),
) -> Triggering:
    """The cards for the tail of a prompt, by priority, then in their order (C26).

    ``story`` holds the texts of the last nodes, newest first; ``told`` is the input, '' for none. ``since`` says for
    cards that fired on the path how many turns ago that was, 0 in this turn. A card with ``recursive`` has its own text
    searched too, once: what it triggers triggers nothing more.
    """
    usable = [card for card in cards if card.is_enabled and not is_in_prefix(card) and holds(card.when, state)]
    search = _Search()
    found: dict[str, Triggered] = {}
    waiting: list[Card] = []
    for card in usable:
        ago = since.get(card.name) if is_timed(card) else None
        if card.is_constant:
            found[card.name] = Triggered(card, "constant", is_fired=False)
        elif ago is not None and card.sticky and ago <= card.sticky:
            found[card.name] = Triggered(card, f"sticky, fired {_turns(ago)}", is_fired=False)
        elif ago is not None and ago <= card.sticky + card.cooldown:
            continue
        elif not card.keys:
            if card.when is not None:
                found[card.name] = Triggered(card, "its condition holds")
        elif (why := search.reason(card, _texts(card, story, told))) is not None:
            found[card.name] = Triggered(card, why)
        else:
            waiting.append(card)
    for source in [each.card for each in found.values() if each.card.is_recursive]:
        for card in waiting:
            if card.name not in found and (why := search.reason(card, (source.text,))) is not None:
                found[card.name] = Triggered(card, f"{why}, in the card {source.name}")
    order = {card.name: at for at, card in enumerate(usable)}
    ranked = sorted(found.values(), key=lambda each: (-each.card.priority, order[each.card.name]))
    return Triggering(tuple(ranked), tuple(dict.fromkeys(search.slow)))


def _turns(ago: int) -> str:
    return "in this turn" if ago == 0 else "1 turn ago" if ago == 1 else f"{ago} turns ago"


def _texts(card: Card, story: Sequence[str], told: str) -> tuple[str, ...]:
    depth = SCAN_DEPTH if card.scan_depth is None else card.scan_depth
    return (told, *story[:depth]) if told else tuple(story[:depth])


@dataclass(slots=True)
class _Search:
    """One search for all keys. Remembers folded texts, and how many expressions were too slow."""

    slow: list[str] = field(default_factory=list)
    folded: dict[tuple[str, bool], str] = field(default_factory=dict)
    joined: dict[tuple[tuple[str, ...], bool], str] = field(default_factory=dict)

    def reason(self, card: Card, texts: tuple[str, ...]) -> str | None:
        """The key of a card that stands in these texts and passes its secondary keys, or None."""
        key = next((each for each in card.keys if self._has(card, each, texts)), None)
        if key is None:
            return None
        shown = f"/{key}/" if card.is_regex else key
        if not card.secondary:
            return shown
        if card.secondary_logic == "any":
            second = next((each for each in card.secondary if self._has(card, each, texts)), None)
            return None if second is None else f"{shown} + {second}"
        there = [self._has(card, each, texts) for each in card.secondary]
        passes = {"all": all(there), "none": not any(there), "not-all": not all(there)}[card.secondary_logic]
        return shown if passes else None

    def _has(self, card: Card, key: str, texts: tuple[str, ...]) -> bool:
        if card.is_regex:
            return self._matches(card, key, texts)
        wanted = _folded_key(key, card.is_case_sensitive)
        if not wanted:
            return False
        text = self._folded(texts, card.is_case_sensitive)
        return _stands_alone(wanted, text) if card.is_whole_word else wanted in text

    def _folded(self, texts: tuple[str, ...], is_case_sensitive: bool) -> str:
        """The texts as one, folded; each is folded once, whatever the depths of the cards."""
        whole = self.joined.get((texts, is_case_sensitive))
        if whole is None:
            for each in texts:
                if (each, is_case_sensitive) not in self.folded:
                    self.folded[each, is_case_sensitive] = fold_key(each, is_case_sensitive=is_case_sensitive)
            whole = _BETWEEN.join(self.folded[each, is_case_sensitive] for each in texts)
            self.joined[texts, is_case_sensitive] = whole
        return whole

    def _matches(self, card: Card, pattern: str, texts: tuple[str, ...]) -> bool:
        """Whether an expression matches. After a few that were too slow no other is tried, so that a turn waits a
        fifth of a second at most; each is named."""
        compiled = _compiled(pattern, card.is_case_sensitive)
        if compiled is None:
            return False
        if len(self.slow) >= _MOST_SLOW:
            self.slow.append(card.name)
            return False
        try:
            return compiled.search("\n".join(texts), timeout=REGEX_SECONDS) is not None
        except TimeoutError:
            self.slow.append(card.name)
            return False


def fold_key(text: str, *, is_case_sensitive: bool = False) -> str:
    """A key or a text as keys are compared: one space between words, straight apostrophes, composed characters.

    Without ``is_case_sensitive`` case and diacritics are folded, and the four letters i of Turkish are one. Marks that
    make another sound of a letter (of Kana, Thai …) stay.
    """
    if not text.isascii():
        if is_case_sensitive:
            text = unicodedata.normalize("NFKC", text)
        else:
            text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
            text = unicodedata.normalize("NFC", text)
        text = text.translate(_ALIKE if not is_case_sensitive else _ALIKE_IN_CASE)
    elif not is_case_sensitive:
        text = text.lower()
    return " ".join(text.split())


@lru_cache(maxsize=32_768)
def _folded_key(key: str, is_case_sensitive: bool) -> str:
    return fold_key(key, is_case_sensitive=is_case_sensitive)


_ALIKE_IN_CASE: Final = {sign: other for sign, other in _ALIKE.items() if sign != ord("ı")}


def _stands_alone(key: str, text: str) -> bool:
    """Whether a folded key stands between edges of words; a sign of a script without spaces is an edge by itself."""
    has_start, has_end = _is_in_word(key[0]), _is_in_word(key[-1])
    at = text.find(key)
    while at >= 0:
        end = at + len(key)
        is_begun = has_start and at > 0 and _is_in_word(text[at - 1])
        if not is_begun and not (has_end and end < len(text) and _is_in_word(text[end])):
            return True
        at = text.find(key, at + 1)
    return False


@lru_cache(maxsize=4096)
def _is_in_word(sign: str) -> bool:
    return _IN_WORD.match(sign) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str, is_case_sensitive: bool) -> regex.Pattern[str] | None:
    """An expression, or None for one that is none: those of an import were tried, those of an older file may not be."""
    try:
        return regex.compile(pattern, 0 if is_case_sensitive else regex.IGNORECASE)
    except (regex.error, ValueError, RecursionError, OverflowError):
        return None
