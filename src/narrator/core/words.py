"""Words of any script, as a full-text index keeps them and a query asks for them (C24, C32).

Case and diacritics are folded. A script that is written without spaces has no words that a program could find, so each
of its characters counts as a word, and a run of them is looked for as a phrase: one or two Han characters inside a
sentence are found as well as a whole English word is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Final

import regex

_SPACELESS: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_RUN: Final = regex.compile(rf"[{_SPACELESS}][{_SPACELESS}\p{{M}}]*|(?:(?![{_SPACELESS}])[\p{{L}}\p{{N}}])+")
_ASCII_WORD: Final = re.compile("[a-z0-9]+")
_IS_HAN: Final = regex.compile(r"\p{Han}")
_IS_SPACELESS: Final = regex.compile(rf"[{_SPACELESS}]")


def fold(text: str) -> str:
    """Case and diacritics folded; a syllable of Hangul stays whole. The length may change."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(each for each in decomposed if not unicodedata.combining(each))
    return unicodedata.normalize("NFC", bare)


@lru_cache(maxsize=1024)
def terms(text: str) -> tuple[tuple[str, ...], ...]:
    """The words of a text in order, each as the tokens that stand for it: one, or one a character."""
    folded = fold(text)
    if folded.isascii():
        return tuple((word,) for word in _ASCII_WORD.findall(folded))
    found: list[tuple[str, ...]] = []
    for run in _RUN.findall(folded):
        if _IS_SPACELESS.match(run):
            found.append(tuple(each for each in run if not unicodedata.category(each).startswith("M")))
        else:
            found.append((run,))
    return tuple(found)


def index_form(text: str) -> str:
    """What an index keeps of a text: its tokens with a space between them."""
    return " ".join(" ".join(tokens) for tokens in terms(text))


def phrases(text: str) -> tuple[str, ...]:
    """What a query looks for, each once: words; of a run without spaces its pairs and each Han character."""
    found: dict[str, None] = {}
    for tokens in terms(text):
        if len(tokens) <= 2:
            found[" ".join(tokens)] = None
        else:
            found.update((f"{one} {two}", None) for one, two in pairwise(tokens))
            found.update((each, None) for each in tokens if _IS_HAN.match(each))
    return tuple(found)


def match_any(wanted: Iterable[str]) -> str:
    """A query of FTS5 that finds any of these phrases."""
    return " OR ".join(f'"{each}"' for each in wanted)
