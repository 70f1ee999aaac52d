"""Counting tokens without ever counting too few (C4).

Exact where the model's own table lies on this disk; nothing here can download one: the file is read and checked, and
the encoding is built from it. Otherwise one token for each UTF-8 byte of the serialized message. All lengths are in
tokens, and every count is additive over messages.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from narrator.core.prompt import Message

if TYPE_CHECKING:
    from tiktoken import Encoding

FRAME: Final = 5
"""Tokens around one message in OpenAI's chat format: start, role, separator, end, and one to spare."""
MEASURED_RESERVE: Final = 1.2

_SOURCE: Final = "https://openaipublic.blob.core.windows.net/encodings/"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of merges: the file (``NAME.tiktoken``), its SHA-256, and how the encoding splits text into words."""

    name: str
    sha256: str
    pattern: str

    @property
    def url(self) -> str:
        """Where the table is published; its SHA-1 names the file in tiktoken's own cache."""
        return f"{_SOURCE}{self.name}.tiktoken"

    @property
    def file_names(self) -> tuple[str, str]:
        """How the file is called: by its own name, or in a cache of tiktoken's."""
        return f"{self.name}.tiktoken", hashlib.sha1(self.url.encode(), usedforsecurity=False).hexdigest()


_CONTRACTION: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_LEAD: Final = r"[^\r\n\p{L}\p{N}]?"
_UPPER: Final = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
_LOWER: Final = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"

O200K: Final = Table(
    "o200k_base",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "|".join(
        (
            f"{_LEAD}[{_UPPER}]*[{_LOWER}]+{_CONTRACTION}",
            f"{_LEAD}[{_UPPER}]+[{_LOWER}]*{_CONTRACTION}",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
)
CL100K: Final = Table(
    "cl100k_base",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "|".join(
        (
            r"'(?i:[sdmt]|ll|ve|re)",
            r"[^\r\n\p{L}\p{N}]?+\p{L}++",
            r"\p{N}{1,3}+",
            r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
            r"\s++$",
            r"\s*[\r\n]",
            r"\s+(?!\S)",
            r"\s",
        )
    ),
)
_TABLES: Final = (
    ("gpt-4o", O200K),
    ("gpt-4.", O200K),
    ("gpt-5", O200K),
    ("chatgpt-4o", O200K),
    ("o1", O200K),
    ("o3", O200K),
    ("o4", O200K),
    ("gpt-4", CL100K),
    ("gpt-3.5", CL100K),
)


def table_of(model: str) -> Table | None:
    """The table of one of OpenAI's own models, by its name (``openai/gpt-4o`` as well), or None."""
    name = model.rpartition("/")[2].lower()
    return next((table for prefix, table in _TABLES if name.startswith(prefix)), None)


def load_encoding(table: Table, folders: Sequence[Path] = ()) -> Encoding | None:
    """The encoding whose table lies whole in one of ``folders`` or in tiktoken's cache; None where it does not.

    Takes 0.3 s and 70 MB for the larger one: call it in a thread. Never opens a connection.
    """
    for folder in (*folders, Path(tempfile.gettempdir()) / "data-gym-cache"):
        for name in table.file_names:
            try:
                content = (folder / name).read_bytes()
            except OSError:
                continue
            if hashlib.sha256(content).hexdigest() == table.sha256:
                return _build(table, content)
    return None


def _build(table: Table, content: bytes) -> Encoding:
    import tiktoken

    lines = (line.split() for line in content.splitlines() if line)
    ranks = {base64.b64decode(piece): int(rank) for piece, rank in lines}
    return tiktoken.Encoding(table.name, pat_str=table.pattern, mergeable_ranks=ranks, special_tokens={})


def size(message: Message) -> int:
    """Bytes of one message as it is serialized; no tokenizer makes more tokens of it (C4)."""
    whole = json.dumps({"role": message.role, "content": message.content}, ensure_ascii=False, separators=(",", ":"))
    return len(whole.encode("utf-8", "surrogatepass"))


def count_bytes(messages: Sequence[Message]) -> int:
    """One token a byte."""
    return sum(map(size, messages))


def exact_counter(encoding: Encoding) -> Callable[[Sequence[Message]], int]:
    """A count by the model's own table, with the frame around each message."""

    def count(messages: Sequence[Message]) -> int:
        return sum(FRAME + len(encoding.encode_ordinary(message.content)) for message in messages)

    return count


class Measure:
    """The opt-in estimate of C4: the largest tokens-per-byte seen, plus a fifth. Owns that one number.

    Until the server has reported a usage it counts one token a byte.
    """

    def __init__(self) -> None:
        self.ratio: float | None = None

    def learn(self, tokens: int, size_in_bytes: int) -> None:
        """A server reported ``tokens`` for a prompt of so many bytes."""
        if size_in_bytes > 0 and tokens > 0:
            self.ratio = min(1.0, max(self.ratio or 0.0, tokens / size_in_bytes))

    def raise_ratio(self) -> None:
        """The server said that a prompt was too long: what was seen is too low by more than the reserve."""
        if self.ratio is not None:
            self.ratio = min(1.0, self.ratio * MEASURED_RESERVE)

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens, rounded up message by message."""
        if self.ratio is None:
            return count_bytes(messages)
        factor = min(1.0, self.ratio * MEASURED_RESERVE)
        return sum(math.ceil(size(message) * factor) for message in messages)
