"""What a GGUF file says of the model in it, read from its header alone: name, window, parameters.

A header is some megabytes at most, most of it the vocabulary, which is passed over. What is no GGUF file, or one cut
off in its header, is told here, before an engine is started on it.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from narrator.core.errors import BadValue

SMALL: Final = 3_000_000_000
"""Parameters below which a model is called small: it writes fluently and loses the thread."""

_MAGIC: Final = b"GGUF"
_NUMBERS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _LIST = 8, 9
_MOST_ENTRIES: Final = 1 << 24
_LONGEST_TEXT: Final = 1 << 26


@dataclass(frozen=True, slots=True)
class Model:
    """A model file. ``window`` is what it was trained for, in tokens, 0 where it does not say; ``size`` in bytes."""

    name: str
    architecture: str
    window: int
    parameters: int
    size: int

    @property
    def is_small(self) -> bool:
        """Whether it is too small to tell a story well."""
        return self.parameters < SMALL


def read_model(path: Path) -> Model:
    """The model in a file. Raises ``bad-value`` where there is none."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            return _read(file, path, size)
    except (struct.error, UnicodeDecodeError, _Unreadable):
        raise BadValue(f"{path.name} is damaged: its header cannot be read.", "Fetch the file again.") from None
    except OSError as error:
        raise BadValue(f"{path} cannot be read: {error.strerror}.", "Check the path.") from None


class _Unreadable(Exception):
    """A header that says what no header says."""


def _read(file: BinaryIO, path: Path, size: int) -> Model:
    if file.read(4) != _MAGIC:
        raise BadValue(f"{path.name} is no model in the GGUF format.", "Models for llama.cpp end with .gguf.")
    (version,) = _unpack(file, "I")
    if version not in (2, 3):
        raise BadValue(f"{path.name} is in version {version} of the GGUF format, which is not known.", "Convert it.")
    tensors, entries = _unpack(file, "QQ")
    if tensors > _MOST_ENTRIES or entries > _MOST_ENTRIES:
        raise _Unreadable
    said: dict[str, Any] = {}
    for _ in range(entries):
        key = _text(file)
        said[key] = _value(file, _unpack(file, "I")[0])
    parameters = 0
    for _ in range(tensors):
        _text(file)
        (dimensions,) = _unpack(file, "I")
        if dimensions > 8:
            raise _Unreadable
        parameters += math.prod(_unpack(file, f"{dimensions}Q"))
        _unpack(file, "IQ")
    architecture = str(said.get("general.architecture", ""))
    window = said.get(f"{architecture}.context_length")
    name = str(said.get("general.name") or path.stem)
    return Model(name, architecture, window if isinstance(window, int) else 0, parameters, size)


def _unpack(file: BinaryIO, form: str) -> tuple[Any, ...]:
    form = f"<{form}"
    return struct.unpack(form, file.read(struct.calcsize(form)))


def _text(file: BinaryIO) -> str:
    (length,) = _unpack(file, "Q")
    if length > _LONGEST_TEXT:
        raise _Unreadable
    found = file.read(length)
    if len(found) < length:
        raise _Unreadable
    return found.decode("utf-8", "replace")


def _value(file: BinaryIO, kind: int, depth: int = 0) -> Any:
    """A value; of a list nothing is kept."""
    if kind in _NUMBERS:
        return _unpack(file, _NUMBERS[kind])[0]
    if kind == _STRING:
        return _text(file)
    if kind != _LIST or depth > 4:
        raise _Unreadable
    inner, count = _unpack(file, "IQ")
    if count > _MOST_ENTRIES:
        raise _Unreadable
    if inner in _NUMBERS:
        file.seek(count * struct.calcsize(f"<{_NUMBERS[inner]}"), 1)
        return None
    for _ in range(count):
        _value(file, inner, depth + 1)
    return None
