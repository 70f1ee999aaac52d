"""The document of NovelAI's newer editor: base64 of MessagePack, with extensions of the JavaScript packer *msgpackr*.

Beyond plain MessagePack it has records (``r``: the keys of an object once, its values after), bundled strings (``b``:
all texts run together at the end, cut by their length in UTF-16 units) and wrappers whose value simply follows. Only
what that editor writes is read; anything else is refused. Nothing is built but numbers, texts, lists and dicts.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from narrator.core.errors import BadImport
from narrator.exchange import limits
from narrator.exchange.fields import Fields
from narrator.exchange.report import Notes

_HINT = "Export it from there as plain text."
_RECORD, _BUNDLE, _TIME, _NOTHING = 0x72, 0x62, 0xFF, 0x00
_FOLLOWED = frozenset((20, 30, 31, 40, 41, 42, 0x73))
"""Extensions of one idle byte whose value follows: the editor's own classes, and sets."""
_NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
    0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
_SIZES = {
    0xC4: 1,
    0xC5: 2,
    0xC6: 4,
    0xC7: 1,
    0xC8: 2,
    0xC9: 4,
    0xD9: 1,
    0xDA: 2,
    0xDB: 4,
    0xDC: 2,
    0xDD: 4,
    0xDE: 2,
    0xDF: 4,
}
_FIXED = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}
_MINE, _TOLD = frozenset((1, 10)), 2
"""Where a stretch of text comes from: typed, or written at the beginning as a prompt; told by the model."""


class _Unreadable(Exception):
    """The bytes are no document of that editor."""


class Unpacker:
    """Reads one value out of packed bytes. Owns the place, the records that were defined and the bundled texts."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._records: dict[int, tuple[str, ...]] = {}
        self._bundle: list[bytes] | None = None
        self._cut = [0, 0]
        self._left = limits.ENTRIES

    def read(self, depth: int = 0) -> Any:
        """The next value. Raises what ``unpack`` turns into a refusal."""
        self._left -= 1
        if depth > limits.PIECE_DEPTH or self._left < 0:
            raise _Unreadable("it is nested too deeply or too large")
        token = self._take(1)[0]
        if token < 0x80 or token >= 0xE0:
            keys = self._records.get(token)
            if keys is not None:
                return {key: self.read(depth + 1) for key in keys}
            return token if token < 0x80 else token - 0x100
        if token < 0x90:
            return self._map(token & 0x0F, depth)
        if token < 0xA0:
            return [self.read(depth + 1) for _ in range(token & 0x0F)]
        if token < 0xC0:
            return self._text(token & 0x1F)
        if token in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[token]
        if token == 0xC1:
            return self._bundled(depth)
        if token in _NUMBERS:
            (number,) = struct.unpack(_NUMBERS[token], self._take(struct.calcsize(_NUMBERS[token])))
            return int(number) if isinstance(number, float) and number.is_integer() else number
        if token in _FIXED:
            return self._extension(_FIXED[token], depth)
        return self._sized(token, depth)

    def _take(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        if len(found) < size:
            raise _Unreadable("it ends too early")
        self._at += size
        return found

    def _sized(self, token: int, depth: int) -> Any:
        size = int.from_bytes(self._take(_SIZES[token]), "big")
        if token in (0xC7, 0xC8, 0xC9):
            return self._extension(size, depth)
        if token >= 0xDE:
            return self._map(size, depth)
        if token >= 0xDC:
            return [self.read(depth + 1) for _ in range(size)]
        if token >= 0xD9:
            return self._text(size)
        self._take(size)
        return None

    def _text(self, size: int) -> str:
        return self._take(size).decode("utf-8", "replace")

    def _map(self, size: int, depth: int) -> dict[str, Any]:
        """An object; keys are texts, as in JSON, also where they were numbers."""
        found = {}
        for _ in range(size):
            key = self.read(depth + 1)
            if not isinstance(key, str | int | float):
                raise _Unreadable("a key is neither a text nor a number")
            found[str(key)] = self.read(depth + 1)
        return found

    def _extension(self, size: int, depth: int) -> Any:
        kind, data = self._take(1)[0], self._take(size)
        if kind == _NOTHING:
            return None
        if kind == _RECORD and size == 1:
            keys = self.read(depth + 1)
            if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
                raise _Unreadable("a record has no names")
            self._records[data[0]] = tuple(keys)
            return {key: self.read(depth + 1) for key in keys}
        if kind == _BUNDLE and size == 4:
            return self._begin_bundle(int.from_bytes(data, "big"), depth)
        if kind in _FOLLOWED and size == 1:
            return self.read(depth + 1)
        if kind == _TIME:
            return _moment(data)
        raise _Unreadable(f"it has an extension {kind}")

    def _begin_bundle(self, size: int, depth: int) -> Any:
        """The texts stand ``size`` bytes on, counted from this size itself; then reading goes on here."""
        here = self._at
        self._at += size - 4
        if self._bundle is not None or size < 4:
            raise _Unreadable("its texts are bundled twice")
        texts = [self.read(depth + 1), self.read(depth + 1)]
        if not all(isinstance(text, str) for text in texts):
            raise _Unreadable("its texts are missing")
        self._bundle = [text.encode("utf-16-le", "surrogatepass") for text in texts]
        self._at = here
        return self.read(depth + 1)

    def _bundled(self, depth: int) -> str:
        """The next text of the bundle; those beyond Latin letters stand in the first, with a length below zero."""
        length = self.read(depth + 1)
        if self._bundle is None or not isinstance(length, int):
            raise _Unreadable("a text is missing")
        which, size = (1, 2 * length) if length > 0 else (0, -2 * length)
        begin = self._cut[which]
        self._cut[which] += size
        found = self._bundle[which][begin : begin + size]
        if len(found) < size:
            raise _Unreadable("a text is missing")
        return found.decode("utf-16-le", "replace")


def _moment(data: bytes) -> str:
    """A time of 4, 8 or 12 bytes; '' where nobody can say which."""
    if len(data) == 8:
        data = (int.from_bytes(data, "big") & (2**34 - 1)).to_bytes(8, "big")
    elif len(data) == 12:
        data = data[4:]
    try:
        return datetime.fromtimestamp(int.from_bytes(data, "big", signed=True), UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return ""


def unpack(text: str, notes: Notes) -> dict[str, Any]:
    """The document in a base64 text. Raises ``BadImport`` with a hint."""
    try:
        value = Unpacker(base64.b64decode(text, validate=True)).read()
        if not isinstance(value, dict):
            raise _Unreadable("there is no document in it")
    except (_Unreadable, binascii.Error, ValueError, RecursionError) as error:
        raise BadImport(f"{notes.file}: the story of the newer editor cannot be read: {error}.", _HINT) from None
    return value


def paragraphs(document: Fields, notes: Notes) -> Iterator[tuple[bool, str]]:
    """(was it typed, text) of each paragraph, in the order of the document."""
    sections = document.raw("sections")
    sections = sections if isinstance(sections, dict) else {}
    for index, number in enumerate(document.items("order")):
        section = sections.get(str(number)) if isinstance(number, str | int | float) else None
        text = section.get("text") if isinstance(section, dict) else None
        if isinstance(section, dict) and isinstance(text, str):
            yield _is_typed(section), text
        else:
            notes.dropped(f"document.order[{index}]", "order", "there is no paragraph of text there")


def _is_typed(section: dict[str, Any]) -> bool:
    """Whether most of a paragraph was typed."""
    marks = section.get("meta")
    stretches = marks.get("1") if isinstance(marks, dict) else None
    told = mine = 0.0
    for each in stretches if isinstance(stretches, list) else ():
        length = each.get("length") if isinstance(each, dict) else None
        if isinstance(length, int | float) and not isinstance(length, bool):
            kind = each.get("data")
            mine += length if isinstance(kind, int) and kind in _MINE else 0
            told += length if kind == _TOLD else 0
    return mine > told
