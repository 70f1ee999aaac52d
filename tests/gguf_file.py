"""A model file with nothing but a header, for tests that start no engine."""

from __future__ import annotations

import struct
from pathlib import Path


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def header(
    *, name: str | None = "A Tale Teller", window: int | None = 4096, shapes: tuple[tuple[int, ...], ...] = ((8, 4),)
) -> bytes:
    """The header of a model with tensors of these shapes, and a vocabulary that has to be passed over."""
    words = ("a", "b", "ü")
    entries = [
        _text("general.architecture") + struct.pack("<I", 8) + _text("llama"),
        _text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, len(words)) + b"".join(map(_text, words)),
        _text("tokenizer.ggml.scores") + struct.pack("<IIQ3f", 9, 6, 3, 0.0, 1.0, 2.0),
        _text("general.quantized") + struct.pack("<I?", 7, True),
    ]
    if name is not None:
        entries.append(_text("general.name") + struct.pack("<I", 8) + _text(name))
    if window is not None:
        entries.append(_text("llama.context_length") + struct.pack("<II", 4, window))
    tensors = [
        _text(f"blk.{number}") + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, 0)
        for number, shape in enumerate(shapes)
    ]
    return b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entries + tensors)


def make_gguf(path: Path, **options: object) -> Path:
    """Write such a file."""
    path.write_bytes(header(**options))  # type: ignore[arg-type]
    return path
