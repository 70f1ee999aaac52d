"""Texts of prompts, kept once by their content (S25): what a hundred prompts share is stored once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from narrator.core.errors import Damaged
from narrator.store.open import Store

_HASH = re.compile("[0-9a-f]{64}")
#: What a part of a prompt says in words; a hash is none of these.
_WORDS = {"kind", "text", "source", "why"}


def part_hash(text: str) -> bytes:
    """SHA-256 of the text, the name under which it is kept."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def load_parts(store: Store, hashes: Iterable[bytes]) -> dict[bytes, str]:
    """The texts of these parts. Raises ``Damaged`` where one is missing."""
    found: dict[bytes, str] = {}
    for each in hashes:
        if each in found:
            continue
        row = store.db.execute("SELECT text FROM parts WHERE hash = ?", (each,)).fetchone()
        if row is None:
            raise Damaged(f"The prompt part {each.hex()[:12]} is missing.")
        found[each] = row[0]
    return found


def named_in(record: Mapping[str, Any]) -> list[str]:
    """The hashes, in hexadecimal, of the parts that the prompt of a provenance record names, in its order."""
    found: list[str] = []
    waiting: list[Any] = [record.get("prompt")]
    while waiting:
        at = waiting.pop()
        if isinstance(at, str):
            found += [at] if _HASH.fullmatch(at) else []
        elif isinstance(at, dict):
            waiting.extend(value for key, value in reversed(at.items()) if key not in _WORDS)
        elif isinstance(at, list):
            waiting.extend(reversed(at))
    return found


def known(store: Store, digest: bytes) -> bool:
    """Whether a part is kept already."""
    return store.db.execute("SELECT 1 FROM parts WHERE hash = ?", (digest,)).fetchone() is not None
