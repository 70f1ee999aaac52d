"""Server-sent events out of a stream of bytes: only as much of the format as chat completions use.

``EventReader`` is fed bytes and gives the data of whole events. It is strict where leniency would hide a broken
server: bytes that are no UTF-8 and lines that belong to no event are errors, and nothing is kept without a bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

LONGEST_LINE: Final = 1 << 20
_LINE_END: Final = re.compile(rb"\r\n|\n|\r(?!\Z)")
_FIELDS: Final = frozenset({b"data", b"event", b"id", b"retry"})


class Malformed(Exception):
    """The bytes are no event stream; the text says why, without quoting them."""


class EventReader:
    """Splits bytes into events. Owns the unfinished line and the unfinished event."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0
        self._is_first = True

    def feed(self, data: bytes) -> Iterator[str]:
        """The data of each event that ``data`` completes. Raises ``Malformed``."""
        buffer = self._rest + data
        if self._is_first and len(buffer) >= 3:
            buffer = buffer.removeprefix(b"\xef\xbb\xbf")
            self._is_first = False
        start = 0
        for end in _LINE_END.finditer(buffer):
            line, start = buffer[start : end.start()], end.end()
            event = self._take(line)
            if event is not None:
                yield event
        self._rest = buffer[start:]
        if len(self._rest) > LONGEST_LINE:
            raise Malformed("a line without an end")

    def finish(self) -> Iterator[str]:
        """What stands after the last line end, where the stream ended without one."""
        line, self._rest = self._rest.rstrip(b"\r"), b""
        if line:
            self._take(line)
        event = self._take(b"")
        if event is not None:
            yield event

    def _take(self, line: bytes) -> str | None:
        if not line:
            if not self._data:
                return None
            whole, self._data, self._size = b"\n".join(self._data), [], 0
            try:
                return whole.decode("utf-8")
            except UnicodeDecodeError:
                raise Malformed("bytes that are not UTF-8") from None
        name, _, value = line.partition(b":")
        if name == b"":
            return None
        if name not in _FIELDS:
            raise Malformed("a line that is no event")
        if name == b"data":
            self._size += len(value)
            if self._size > LONGEST_LINE:
                raise Malformed("an event without an end")
            self._data.append(value.removeprefix(b" "))
        return None
