"""Reading one large JSON object piece by piece, in bounded memory (X11).

The members of the object are read in turn; a member that is an array yields its elements one by one. Each piece goes
through the decoder of the standard library, so it costs what ``json.loads`` of the same text would.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from narrator.core.errors import BadImport
from narrator.exchange import limits
from narrator.exchange.decoding import without_surrogates

_SPACE = re.compile(r"[ \t\n\r]*")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_CHUNK = 2**18
_LONGEST_TOKEN = 400
"""A number or an escape that was cut off by the end of what was read goes wrong at most so far before it."""


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


@dataclass(frozen=True, slots=True)
class Piece:
    """An element of an array member (``index`` from 0), a whole other member, or the end of an array (``is_end``)."""

    key: str
    index: int | None
    value: Any
    is_end: bool = False

    @property
    def place(self) -> str:
        """As messages name it: ``nodes[17]``."""
        return self.key if self.index is None else f"{self.key}[{self.index}]"


class Pieces:
    """The pieces of one JSON object. Owns the text that was read and not yet used.

    ``surrogates`` counts the lone halves of a pair that were replaced (X2).
    """

    def __init__(self, read: Callable[[int], str]) -> None:
        """``read(n)`` gives up to n more characters, '' at the end."""
        self.surrogates = 0
        self._read = read
        self._text = ""
        self._at = 0
        self._line = 1
        self._is_over = False
        self._decode = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode

    def __iter__(self) -> Iterator[Piece]:
        self._expect("{")
        seen: set[str] = set()
        if self._take("}"):
            self._end()
            return
        while True:
            key = self._value("the name of a member")
            if not isinstance(key, str):
                raise self._broken("a name in quotes should stand here")
            if key in seen:
                raise BadImport(f"{key} stands twice in the file.")
            seen.add(key)
            self._expect(":")
            if self._take("["):
                yield from self._elements(key)
            else:
                yield Piece(key, None, self._value(key))
            if not self._take(","):
                break
        self._expect("}")
        self._end()

    def _elements(self, key: str) -> Iterator[Piece]:
        index = 0
        if not self._take("]"):
            while True:
                if index >= limits.ENTRIES:
                    raise BadImport(f"{key} has more than {limits.ENTRIES:,} entries.")
                yield Piece(key, index, self._value(f"{key}[{index}]"))
                index += 1
                if not self._take(","):
                    break
            self._expect("]")
        yield Piece(key, index, None, is_end=True)

    def _more(self) -> bool:
        """Read on. Text that was used is let go."""
        if self._is_over:
            return False
        size = max(_CHUNK, len(self._text) - self._at)
        chunk = self._read(size)
        if not chunk:
            self._is_over = True
            return False
        self._line += self._text.count("\n", 0, self._at)
        self._text = self._text[self._at :] + chunk
        self._at = 0
        return True

    def _skip(self) -> str:
        """Pass white space; the sign that comes next, '' at the end."""
        if self._at < len(self._text) and (sign := self._text[self._at]) > " ":
            return sign
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _take(self, sign: str) -> bool:
        if self._skip() != sign:
            return False
        self._at += 1
        return True

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise self._broken(f"{sign} should stand here" if self._at < len(self._text) else "the file ends too early")

    def _end(self) -> None:
        if self._skip():
            raise self._broken("something follows the end of the document")

    def _value(self, what: str) -> Any:
        """One value, as a whole. A number at the very end of what was read may go on: then more is read first."""
        self._skip()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except RecursionError:
                raise BadImport(f"{what} is nested too deeply.") from None
            except json.JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated") or error.pos > len(self._text) - _LONGEST_TOKEN
                if is_cut and self._more():
                    self._check_size(what)
                    continue
                line = self._line + self._text.count("\n", 0, error.pos)
                early = "the file ends too early" if error.pos >= len(self._text.rstrip()) else error.msg.lower()
                raise BadImport(f"{what}: this is no JSON ({early}, line {line}).") from None
            except ValueError as error:
                raise BadImport(f"{what}: {error}.") from None
            if end == len(self._text) and isinstance(value, int | float) and self._more():
                continue
            if _HALF.search(self._text, self._at, end):
                value, count = without_surrogates(value)
                self.surrogates += count
            self._at = end
            return value

    def _check_size(self, what: str) -> None:
        if len(self._text) - self._at > limits.PIECE_CHARACTERS:
            raise BadImport(f"{what} is longer than {limits.PIECE_CHARACTERS:,} characters.")

    def _broken(self, why: str) -> BadImport:
        line = self._line + self._text.count("\n", 0, self._at)
        return BadImport(f"This is no JSON: {why} (line {line}).")
