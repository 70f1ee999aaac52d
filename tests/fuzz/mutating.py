"""Changes to a file that keep it a file of its kind: a value becomes another, a key goes, a branch is repeated.

A pure function of the bytes and a seed. What is no JSON any more is left to whoever changes bytes.
"""

from __future__ import annotations

import base64
import copy
import json
import random
import re
import struct
import zipfile
from io import BytesIO
from typing import Any

from tests.fuzz.readers import PNG, Reader

_NUMBERS = (0, -1, 1, 2, 3, 0.5, -0.0, 1e308, 2**31, 2**53, 2**63, -(2**63), 10**30, 1e-320, True, False)
_TEXTS = (
    *("", " ", "0", "100", "-1", "1.0", "1e999", "true", "null", "NaN", "[]", "{", "x" * 3000, "a\nb\r\n\nc", "\0"),
    *(
        "\x1b[31m",
        "\x1b]0;t\x07",
        "[/b] [@click=x]",
        "<script>alert(1)</script>",
        "{{user}} {{char}}",
        "{{//}}",
        "${a}",
    ),
    *("${${a}}", "../../x", "/(a+)+$/", "/[/", "/a/i, b", ",,,", "\u202e\u2066", "e\u0301" * 50, "👩‍🚀", "\ud800"),
    *("\ud83d\ude00", "\ufeff", "\u2028", "@@depth 4\nb", "{{[INPUT]}}x{{[OUTPUT]}}", '> You say "x"', "2026-01-02"),
    *("March 2, 2026 6:00pm", "0000-00-00T00:00:00Z", "9999-12-31T23:59:59+23:59", "chara_card_v3", "lorebook_v3"),
    *("ai-dnd-adventure-v2", "narrator-campaign-v1", "api_key", "'" * 4, '"""', "\\", "story.note", "a.b.c"),
)
_ODD: tuple[Any, ...] = (
    None,
    [],
    {},
    [None],
    [[]],
    [{}],
    {"": {}},
    {"a": None},
    {"0": "a", "1": "b"},
    ["a", 1, None, {}],
)


def mutate(reader: Reader, data: bytes, seed: int) -> bytes | None:
    """The file with one to four things in it changed; None where nothing in it is understood."""
    if reader.is_prose:
        return None
    try:
        return _mutated(reader, data, random.Random(seed))
    except RecursionError:
        return None


def _mutated(reader: Reader, data: bytes, chance: random.Random) -> bytes | None:
    text = unwrap(data)
    if text is None:
        return None
    try:
        if reader.has_lines:
            values = [json.loads(line) for line in text.split(b"\n") if line.strip()]
        else:
            values = [json.loads(text)]
    except ValueError:
        return None
    holder = _changed(values if reader.has_lines else values[0], chance)
    try:
        if reader.has_lines and isinstance(holder, list):
            out = b"\n".join(_dump(each, chance) for each in holder)
        else:
            out = _dump(holder, chance)
    except ValueError:
        return None
    return reader.wrap(out)


def _dump(value: Any, chance: random.Random) -> bytes:
    text = json.dumps(value, ensure_ascii=chance.random() < 0.7)
    if not chance.randrange(12) and '": ' in text:
        # A key twice, which no dict can hold.
        places = [match.start() for match in re.finditer(r'"\w+": (?:"[^"\\]*"|\d+)', text)]
        if places:
            at = chance.choice(places)
            found = re.match(r'"\w+": (?:"[^"\\]*"|\d+)', text[at:])
            if found is not None:
                text = f"{text[:at]}{found[0]}, {text[at:]}"
    return text.encode("utf-8", "surrogatepass" if chance.random() < 0.2 else "replace")


def unwrap(data: bytes) -> bytes | None:
    """The JSON text in a file: of a picture or an archive what is packed there."""
    if data.startswith(PNG):
        at = len(PNG)
        while at + 8 <= len(data):
            (size,) = struct.unpack_from(">I", data, at)
            if data[at + 4 : at + 8] == b"tEXt":
                try:
                    return base64.b64decode(data[at + 8 : at + 8 + size].partition(b"\0")[2])
                except ValueError:
                    return None
            at += 12 + size
        return None
    if data.startswith(b"PK"):
        try:
            with zipfile.ZipFile(BytesIO(data)) as file, file.open("card.json") as card:
                return card.read(2**20)
        except Exception:
            return None
    return data


def _changed(value: Any, chance: random.Random) -> Any:
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        places = _places(value)
        if not places:
            return _other(value, chance)
        holder, key = chance.choice(places)
        _change(value, holder, key, places, chance)
    return value


def _places(value: Any) -> list[tuple[Any, Any]]:
    """(holder, key or index) of everything inside."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        at = waiting.pop()
        pairs = at.items() if isinstance(at, dict) else enumerate(at) if isinstance(at, list) else ()
        for key, inner in pairs:
            found.append((at, key))
            waiting.append(inner)
    return found


def _change(whole: Any, holder: Any, key: Any, places: list[tuple[Any, Any]], chance: random.Random) -> None:
    kind = chance.randrange(8)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(chance.randint(0, len(holder)), copy.deepcopy(holder[key]))
    elif kind == 1:
        holder[chance.choice((f"{key}2", "", "x", str(key).upper(), "id", "name", "text"))] = holder[key]
    elif kind == 2 and isinstance(holder, dict):
        holder[chance.choice(_TEXTS)] = holder.pop(key)
    elif kind == 3:
        other, name = chance.choice(places)
        if key in (holder if isinstance(holder, dict) else range(len(holder))):
            try:
                holder[key] = copy.deepcopy(other[name])
            except (KeyError, IndexError):
                return
    elif kind == 4:
        inner: Any = holder[key]
        for _ in range(chance.choice((1, 5, 60, 300))):
            inner = [inner] if chance.random() < 0.5 else {chance.choice(("a", "children", "entries", "data")): inner}
        holder[key] = inner
    elif kind == 5 and isinstance(holder[key], list) and holder[key]:
        items = holder[key]
        if len(items) < 200:
            items *= chance.choice((2, 3, 10))
        chance.shuffle(items)
    else:
        holder[key] = _other(holder[key], chance)


def _other(value: Any, chance: random.Random) -> Any:
    if isinstance(value, str) and chance.random() < 0.4:
        at = chance.randint(0, len(value))
        return value[:at] + chance.choice(_TEXTS) + value[at:]
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**60 and chance.random() < 0.5:
        return chance.choice((value + 1, value - 1, -value, value * 2, str(value), float(value)))
    return copy.deepcopy(chance.choice((*_NUMBERS, *_TEXTS, *_ODD)))
