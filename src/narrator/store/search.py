"""Search along the path (S32): a plain scan, windows at a time, case and diacritics folded.

It finds any substring, and so a word of any script. Offsets count characters of the text as it stands.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from narrator.core.lineage import End
from narrator.store import reads
from narrator.store.open import Store

_WINDOW = 500
_AROUND = 40


@dataclass(frozen=True, slots=True)
class Hit:
    """A step whose text holds all the words; ``excerpt`` is cut around the first."""

    node_id: int
    position: int
    excerpt: str


def fold_text(text: str) -> str:
    """Case and diacritics folded; the length may change."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in decomposed if not unicodedata.combining(each))


def search(store: Store, end: End, words: str, limit: int) -> list[Hit]:
    """The first ``limit`` steps of the path that hold every word, in order of the path; corrections are no prose."""
    wanted = [folded for word in words.split() if (folded := fold_text(word))]
    found: list[Hit] = []
    if not wanted:
        return found
    for first in range(1, end.length + 1, _WINDOW):
        for offset, node in enumerate(reads.window(store, end, first, min(first + _WINDOW - 1, end.length))):
            if node.role == "correction":
                continue
            folded = fold_text(node.text)
            if all(word in folded for word in wanted):
                found.append(Hit(node.id, first + offset, _excerpt(node.text, wanted[0])))
                if len(found) == limit:
                    return found
    return found


def _excerpt(text: str, word: str) -> str:
    """The text around the first place where the folded word stands."""
    flat = " ".join(text.split())
    at = 0
    folded = ""
    for index, each in enumerate(flat):
        folded += fold_text(each)
        if word in folded:
            at = max(0, index - len(word) + 1)
            break
    start, stop = max(0, at - _AROUND), min(len(flat), at + len(word) + _AROUND)
    return ("…" if start else "") + flat[start:stop] + ("…" if stop < len(flat) else "")
