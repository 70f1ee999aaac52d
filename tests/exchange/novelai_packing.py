"""Packs a document as NovelAI's newer editor does: records, bundled strings, sets, times and classes of its own."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

_IDLE = b"\x00"


class Packer:
    """Owns the records that were defined and the texts of the bundle: those beyond Latin first, then the others."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, ...], int] = {}
        self._texts = ["", ""]

    def pack(self, value: Any) -> bytes:
        """A value. Objects with names for keys become records, others maps."""
        if value is None:
            return b"\xd4\x00\x00"
        if isinstance(value, bool):
            return b"\xc3" if value else b"\xc2"
        if isinstance(value, float):
            return b"\xcb" + struct.pack(">d", value)
        if isinstance(value, int):
            return self._number(value)
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return bytes([0x90 + len(value)]) + b"".join(map(self.pack, value))
        if all(isinstance(key, str) for key in value):
            return self._record(value)
        pairs = b"".join(self.pack(key) + self.pack(inner) for key, inner in value.items())
        return b"\xde" + struct.pack(">H", len(value)) + pairs

    def _number(self, value: int) -> bytes:
        if 0 <= value < 0x40:
            return bytes([value])
        if -32 <= value < 0:
            return bytes([value & 0xFF])
        if abs(value) < 2**15:
            return b"\xd1" + struct.pack(">h", value)
        return b"\xcb" + struct.pack(">d", value)

    def _text(self, text: str) -> bytes:
        if len(text) < 4:
            data = text.encode()
            return bytes([0xA0 + len(data)]) + data
        units = len(text.encode("utf-16-le")) // 2
        is_latin = all(ord(sign) < 256 for sign in text)
        self._texts[is_latin] += text
        return b"\xc1" + self._number(units if is_latin else -units)

    def _record(self, value: dict[str, Any]) -> bytes:
        keys = tuple(value)
        head = b""
        if keys not in self._records:
            self._records[keys] = 0x40 + len(self._records)
            names = bytes([0x90 + len(keys)]) + b"".join(map(self._text, keys))
            head = b"\xd4\x72" + bytes([self._records[keys]]) + names
        else:
            head = bytes([self._records[keys]])
        return head + b"".join(map(self.pack, value.values()))

    def document(self, value: Any) -> bytes:
        """The whole: the bundle is announced before the first text and stands at the end."""
        body = self.pack(value)
        texts = b"".join(b"\xdb" + struct.pack(">I", len(each.encode())) + each.encode() for each in self._texts)
        return b"\xd4\x14\x00\xd6\x62" + struct.pack(">I", len(body) + 4) + body + texts


def section(text: str, origin: int) -> dict[str, Any]:
    """A paragraph, all of it from one hand: 1 typed, 2 told, 10 written as a prompt."""
    marks = [{"position": 0, "data": origin, "length": len(text)}] if text else []
    return {"type": 1, "text": text, "meta": {1: marks, 2: []}, "source": None}


def document(*paragraphs: tuple[str, int]) -> bytes:
    """A document of these paragraphs (text, where it comes from), in this order, with a history of two states."""
    numbers = [61534066042244 + 7 * n for n in range(len(paragraphs))]
    history = {"root": 12, "current": 13, "nodes": {12: {"id": 12, "parent": None}, 13: {"id": 13, "parent": 12}}}
    sections = {number: section(*each) for number, each in reversed(list(zip(numbers, paragraphs, strict=True)))}
    value = {"sections": sections, "order": numbers, "history": history, "dirtySections": {}, "step": 3}
    return Packer().document(value)


def container(packed: bytes) -> bytes:
    """A story file around a packed document."""
    metadata = {"storyMetadataVersion": 1, "title": "The Long Pier"}
    content = {"storyContentVersion": 7, "document": base64.b64encode(packed).decode()}
    content["context"] = [{"text": "It is low water."}, {"text": "Short sentences."}]  # type: ignore[assignment]
    return json.dumps({"storyContainerVersion": 1, "metadata": metadata, "content": content}).encode()


TALE = (
    ("The pier has no end tonight.", 10),
    ("Somebody has taken the last plank, and the lamp with it.", 2),
    ("You can hear it burning. “Где?” 👩‍🚀 漢字", 2),
    ("I step over the gap.", 1),
    ("", 0),
    ("There is no gap.", 2),
)
