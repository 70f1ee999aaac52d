"""Cards out of the entries of other programs: World Info, lorebooks, story cards (C26).

What an entry says that a card cannot is kept with it for re-export (X6).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import regex

from narrator.core.definition import Card
from narrator.exchange import expressions, limits
from narrator.exchange.decoding import is_shallow
from narrator.exchange.fields import Fields, is_empty, is_secret, split_keys
from narrator.exchange.mending import number
from narrator.exchange.plan import FoundCard, renamed
from narrator.exchange.report import Notes

_SLASHED = re.compile(r"/(.+)/([a-z]*)$", re.DOTALL)
_LOGIC = ("any", "not-all", "none", "all")
_PATTERN_CHARACTERS = 1000


def without_secrets(notes: Notes, value: Any, where: str) -> Any:
    """A value without keys that name secrets; each is counted (X6). What nests too deeply is left out."""
    if not is_shallow(value):
        notes.dropped(where, "", f"it is nested more than {limits.PIECE_DEPTH} levels deep")
        return None
    return _scrubbed(notes, value, where)


def _scrubbed(notes: Notes, value: Any, where: str) -> Any:
    if isinstance(value, list):
        return [_scrubbed(notes, each, where) for each in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, inner in value.items():
        if is_secret(str(key)) and inner:
            notes.dropped(where, str(key), "a secret")
        else:
            found[key] = _scrubbed(notes, inner, where)
    return found


class Shelf:
    """The cards of one import. Owns the names that are taken."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.cards: list[FoundCard] = []
        self._taken: set[str] = set()

    def put(self, entry: Fields, name: str, text: str, keys: Iterable[str], **rest: Any) -> None:
        """Add a card; what nobody has read of its entry is kept with it."""
        card = make_card(entry.notes, entry.where, name, text, keys, **rest)
        extra = without_secrets(entry.notes, entry.unused(), entry.where) or {}
        if told := [key for key, each in extra.items() if not is_empty(each)]:
            entry.notes.kept(entry.where, ", ".join(told[:12]), "kept for re-export")
        self.cards.append(FoundCard(renamed(card, self._taken), extra))


def make_card(
    notes: Notes, where: str, name: str, text: str, keys: Iterable[str], *, is_regex: bool = False, **rest: Any
) -> Card:
    """A card. Keys in slashes are expressions; beside one, plain keys become expressions too."""
    whole_word = rest.get("is_whole_word", True)
    keys, secondary = list(keys), list(rest.pop("secondary", ()))
    has_pattern = is_regex or any(_SLASHED.match(key.strip()) for key in (*keys, *secondary))
    if has_pattern:
        keys = _patterns(notes, f"{where}.keys", keys, is_regex=is_regex, whole_word=whole_word)
        secondary = _patterns(notes, f"{where}.secondary", secondary, is_regex=is_regex, whole_word=whole_word)
    name = " ".join(name.split()) or (keys[0] if keys else text.split("\n")[0][:40]) or "Card"
    return Card(
        name=name[:110],
        text=text,
        keys=tuple(dict.fromkeys(key.strip() for key in keys if key.strip())),
        secondary=tuple(dict.fromkeys(key.strip() for key in secondary if key.strip())),
        is_regex=has_pattern,
        **rest,
    )


def _patterns(notes: Notes, where: str, keys: list[str], *, is_regex: bool, whole_word: bool) -> list[str]:
    found = []
    for key in keys:
        try:
            pattern = _pattern(key.strip(), is_regex=is_regex, whole_word=whole_word)
            if len(pattern) > _PATTERN_CHARACTERS:
                raise ValueError("it is too long")
            regex.compile(pattern)
        except (regex.error, ValueError, RecursionError, OverflowError) as error:
            notes.dropped(where, "keys", f"{key!r:.60} is no expression that can be used: {error}")
        else:
            found.append(pattern)
    return found


def _pattern(key: str, *, is_regex: bool, whole_word: bool) -> str:
    """The expression that a key is, or stands for. Raises ``ValueError``."""
    slashed = _SLASHED.match(key)
    if slashed is not None:
        return expressions.from_javascript(slashed[1], slashed[2])
    if is_regex:
        return key
    plain = str(regex.escape(key, special_only=True))
    return rf"\b{plain}\b" if whole_word else plain


def world_info(shelf: Shelf, entry: Fields) -> None:
    """One entry of SillyTavern's World Info."""
    keys, secondary = entry.words("key"), entry.words("keysecondary")
    is_selective = entry.truth("selective", default=True)
    logic = entry.whole("selectiveLogic")
    depth = entry.raw("scanDepth")
    case, whole = entry.raw("caseSensitive"), entry.raw("matchWholeWords")
    entry.skip("uid", "displayIndex", "addMemo", "vectorized")
    _note_chance(entry, entry.value)
    shelf.put(
        entry,
        entry.text("comment"),
        entry.text("content"),
        keys,
        secondary=secondary if is_selective else (),
        secondary_logic=_logic(entry, logic),
        is_enabled=not entry.truth("disable"),
        is_constant=entry.truth("constant"),
        priority=_bounded(entry.number("order", 100)),
        scan_depth=_depth(depth),
        is_case_sensitive=case is True,
        is_whole_word=whole is not False,
        sticky=entry.whole("sticky"),
        cooldown=entry.whole("cooldown"),
    )


def _logic(entry: Fields, number: int) -> str:
    """How secondary keys join, by SillyTavern's number."""
    if number < len(_LOGIC):
        return _LOGIC[number]
    entry.notes.changed(entry.place("selectiveLogic"), "selectiveLogic", f"there is no logic {number}; any is taken")
    return _LOGIC[0]


def _note_chance(entry: Fields, holder: Mapping[str, Any]) -> None:
    """A chance below a hundred is not thrown here: the card is there whenever its keys are met."""
    chance = number(holder.get("probability"))
    if chance is not None and chance < 100 and holder.get("useProbability") is not False:
        reason = f"the chance of {chance} in 100 is not thrown: the card comes whenever its keys do; kept for re-export"
        entry.notes.dropped(entry.where, "probability", reason)


def book_entry(shelf: Shelf, entry: Fields) -> None:
    """One entry of a character book or a lorebook_v3, decorators taken off its text."""
    text, decorators = _undecorated(entry.text("content"))
    keys = entry.words("keys")
    is_selective = entry.truth("selective")
    secondary = entry.words("secondary_keys")
    extensions = entry.value.get("extensions")
    # Read beside the rest, and kept whole with it: the fields that SillyTavern puts where the format has no place.
    more = Fields(entry.notes, extensions if isinstance(extensions, dict) else {}, entry.place("extensions"))
    depth = more.raw("scan_depth")
    _note_chance(entry, more.value)
    name, comment = entry.text("name"), entry.text("comment")
    entry.skip("id")
    before = len(shelf.cards)
    shelf.put(
        entry,
        name or comment,
        text,
        keys,
        is_regex=entry.truth("use_regex"),
        secondary=secondary if is_selective else (),
        secondary_logic=_logic(more, more.whole("selectiveLogic")),
        is_enabled=entry.truth("enabled", default=True) and "dont_activate" not in decorators,
        is_constant=entry.truth("constant") or "constant" in decorators,
        priority=_bounded(entry.number("priority", entry.number("insertion_order"))),
        scan_depth=_depth(decorators.get("scan_depth", depth)),
        is_case_sensitive=entry.truth("case_sensitive") or more.truth("case_sensitive"),
        is_whole_word=more.truth("match_whole_words", default=True),
        sticky=more.whole("sticky"),
        cooldown=more.whole("cooldown"),
    )
    if decorators:
        shelf.cards[before].extra["decorators"] = decorators
        entry.notes.kept(entry.where, ", ".join(decorators), "decorators, kept for re-export")


def _undecorated(text: str) -> tuple[str, dict[str, str]]:
    found: dict[str, str] = {}
    lines = text.split("\n")
    while lines and lines[0].lstrip().startswith("@@"):
        name, _, value = lines.pop(0).strip().lstrip("@").partition(" ")
        found.setdefault(name, value.strip())
    return "\n".join(lines), found


def _bounded(value: float) -> int:
    return int(max(-(2**31), min(2**31, value)))


def _depth(value: Any) -> int | None:
    try:
        return max(0, min(10_000, int(value))) if value is not None else None
    except (TypeError, ValueError):
        return None


def story_card(shelf: Shelf, entry: Fields) -> None:
    """One of AI Dungeon's story cards, or a world info entry of its older dumps; of AI-DnD too."""
    keys = entry.words("keys")
    entry.skip("id")
    shelf.put(entry, entry.text("title", "name"), entry.text("value", "entry"), keys)


def kobold_entry(shelf: Shelf, entry: Fields) -> None:
    """One entry of KoboldAI's world info, version 1 or 2."""
    keys, secondary = entry.words("key"), entry.words("keysecondary")
    is_selective = entry.truth("selective")
    logic = "any"
    if not (is_selective and secondary):
        secondary = tuple(each.strip() for each in split_keys(entry.text("keyanti")) if each.strip())
        logic = "none"
    entry.skip("uid", "token_length", "used_in_game")
    shelf.put(
        entry,
        entry.text("title", "comment"),
        entry.text("content"),
        keys,
        secondary=secondary,
        secondary_logic=logic if secondary else "any",
        is_enabled=not entry.truth("widisabled"),
        is_constant=entry.truth("constant"),
    )


def novel_entry(shelf: Shelf, entry: Fields, off: set[str]) -> None:
    """One entry of a NovelAI lorebook; ``off`` are the categories that are switched off."""
    keys = entry.words("keys")
    context = entry.value.get("contextConfig")
    priority = context.get("budgetPriority", 0) if isinstance(context, dict) else 0
    category = entry.text("category")
    entry.skip("id", "lastUpdatedAt")
    shelf.put(
        entry,
        entry.text("displayName"),
        entry.text("text"),
        keys,
        is_enabled=entry.truth("enabled", default=True) and category not in off,
        is_constant=entry.truth("forceActivation"),
        priority=_bounded(priority) if isinstance(priority, int) else 0,
    )


def mikupad_entry(shelf: Shelf, entry: Fields) -> None:
    """One entry of Mikupad's world info."""
    shelf.put(entry, entry.text("displayName"), entry.text("text"), entry.words("keys"))
