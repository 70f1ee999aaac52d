"""From bytes to text, and from text to JSON values (X2, X3).

UTF-8 with or without a mark, UTF-16 by its mark, else cp1252. What is packed is unpacked up to a limit. JSON that is
nested deeper than the standard library reads is read by ijson, which does not recurse.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from narrator.core.errors import BadImport
from narrator.exchange import limits
from narrator.exchange.report import Notes

_SURROGATES = re.compile("[\ud800-\udfff]")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<half>u[dD][89a-fA-F]..)|.)", re.DOTALL)
GZIP_MAGIC = b"\x1f\x8b"


def read_file(path: Path) -> bytes:
    """The bytes of a file, unpacked where it is a gzip. Raises ``BadImport``, also beyond the limits."""
    try:
        if path.stat().st_size > limits.FILE_BYTES:
            raise BadImport(f"{path.name} is larger than {limits.FILE_BYTES // 2**20} MB.")
        data = path.read_bytes()
    except OSError as error:
        raise BadImport(f"{path.name} cannot be read: {error.strerror}.") from None
    if data.startswith(GZIP_MAGIC):
        data = unpack_gzip(data, path.name)
    return data


def unpack_gzip(data: bytes, name: str) -> bytes:
    """The content of a gzip, at most ``limits.FILE_BYTES``."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            found = file.read(limits.FILE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadImport(f"{name} is a damaged gzip file: {error}.") from None
    if len(found) > limits.FILE_BYTES:
        raise BadImport(f"{name} unpacks to more than {limits.FILE_BYTES // 2**20} MB.")
    return found


def codec_of(start: bytes) -> str | None:
    """The codec that a byte order mark names, or None."""
    if start.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return None


def decode(data: bytes, notes: Notes) -> str:
    """The text in these bytes (X2)."""
    codec = codec_of(data)
    try:
        text = data.decode(codec or "utf-8")
    except UnicodeDecodeError:
        if codec is not None:
            text = data.decode(codec, errors="replace")
            notes.changed("", "encoding", "some bytes were not of the encoding that the file names; they were replaced")
        else:
            text = data.decode("cp1252", errors="replace")
            notes.changed("", "encoding", "it is not UTF-8 and was read as cp1252")
    return plain_text(text, notes)


def plain_text(text: str, notes: Notes) -> str:
    """The text without lone surrogates, which are counted."""
    clean, count = _SURROGATES.subn("\ufffd", text)
    if count:
        notes.changed("", "text", f"{count} lone surrogates were replaced")
    return clean


def without_surrogates(value: Any) -> tuple[Any, int]:
    """A JSON value with every lone surrogate replaced, and how many there were. Walks without recursion."""
    count = 0

    def clean(text: str) -> str:
        nonlocal count
        if text.isascii():
            return text
        fixed, found = _SURROGATES.subn("\ufffd", text)
        count += found
        return fixed

    if isinstance(value, str):
        value = clean(value)
        return value, count
    waiting = [value]
    while waiting:
        at = waiting.pop()
        if isinstance(at, dict):
            for key in list(at):
                inner = at[key]
                fixed_key = clean(key)
                if fixed_key != key:
                    del at[key]
                at[fixed_key] = clean(inner) if isinstance(inner, str) else inner
                if isinstance(inner, dict | list):
                    waiting.append(inner)
        elif isinstance(at, list):
            for index, inner in enumerate(at):
                if isinstance(inner, str):
                    at[index] = clean(inner)
                elif isinstance(inner, dict | list):
                    waiting.append(inner)
    return value, count


def parse_json(text: str, notes: Notes) -> Any:
    """The value in a JSON text. Of a key that stands twice in one object the last is read, noted. Raises ``BadImport``
    with the place."""
    twice = 0

    def holder(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal twice
        found = dict(pairs)
        twice += len(pairs) - len(found)
        return found

    try:
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=holder)
    except RecursionError:
        value = _parse_deep(text, notes)
    except json.JSONDecodeError as error:
        cut = " (the file ends too early)" if error.pos >= len(text.rstrip()) else ""
        raise BadImport(f"{notes.file}: no JSON at line {error.lineno}, column {error.colno}{cut}.") from None
    except ValueError as error:
        raise BadImport(f"{notes.file}: {error}.") from None
    # What stood in the text itself was replaced when it was decoded: only escapes can make new ones.
    value, count = without_surrogates(value) if _HALF.search(text) else (value, 0)
    if count:
        notes.changed("", "text", f"{count} lone surrogates were replaced")
    if twice:
        notes.dropped("", "keys", f"{twice} keys stand twice in one object; the last of each is read")
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _parse_deep(text: str, notes: Notes) -> Any:
    """JSON that nests thousands of levels deep. Its parser knows no lone surrogates: those are replaced before."""
    import ijson

    name, count = notes.file, 0

    def whole(escape: re.Match[str]) -> str:
        nonlocal count
        count += escape["half"] is not None
        return escape[0] if escape["half"] is None else "\\ufffd"

    if _HALF.search(text):
        text = _ESCAPE.sub(whole, text)
    if count:
        notes.changed("", "text", f"{count} lone surrogates were replaced")
    builder = ijson.ObjectBuilder()
    depth = 0
    try:
        for event, value in ijson.basic_parse(io.BytesIO(text.encode("utf-8", "replace")), use_float=True):
            depth += (event in ("start_map", "start_array")) - (event in ("end_map", "end_array"))
            if depth > limits.DEPTH:
                raise BadImport(f"{name} is nested more than {limits.DEPTH:,} levels deep.")
            builder.event(event, value)
    except ijson.JSONError as error:
        raise BadImport(f"{name}: no JSON ({error}).") from None
    return builder.value


def is_shallow(value: Any, most: int = limits.PIECE_DEPTH) -> bool:
    """Whether a value nests at most ``most`` levels, so that it may be written as JSON again."""
    level = [value]
    for _ in range(most + 1):
        level = [inner for each in level for inner in _within(each)]
        if not level:
            return True
    return False


def _within(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
