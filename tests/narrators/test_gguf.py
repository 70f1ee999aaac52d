"""What the header of a model file says, and headers that say nothing."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrator.core.errors import BadValue
from narrator.narrators.gguf import SMALL, Model, read_model
from tests.gguf_file import header, make_gguf


@pytest.mark.spec("T17")
def test_a_header_is_read(tmp_path: Path) -> None:
    path = make_gguf(tmp_path / "tale.gguf", shapes=((8, 4), (100,)))
    assert read_model(path) == Model("A Tale Teller", "llama", 4096, 132, path.stat().st_size)
    assert read_model(path).is_small


@pytest.mark.spec("T17")
def test_what_a_header_leaves_out_is_not_guessed(tmp_path: Path) -> None:
    found = read_model(make_gguf(tmp_path / "tale.gguf", name=None, window=None, shapes=((SMALL, 1),)))
    assert (found.name, found.window, found.is_small) == ("tale", 0, False)


@pytest.mark.spec("T17")
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no model"),
        (b"<html></html>", "no model"),
        (b"GGUF", "damaged"),
        (header()[:-1], "damaged"),
        (header()[:60], "damaged"),
        (b"GGUF\x01\0\0\0" + header()[8:], "version 1"),
        (b"GGUF\x03\0\0\0" + b"\xff" * 64, "damaged"),
    ],
)
def test_what_is_no_model_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(content)
    with pytest.raises(BadValue, match=words) as caught:
        read_model(path)
    assert "bad.gguf" in caught.value.message
    assert caught.value.hint


@pytest.mark.spec("T17")
@given(where=st.integers(0, len(header()) - 1), byte=st.integers(0, 255))
def test_a_damaged_header_is_read_or_named(tmp_path_factory: pytest.TempPathFactory, where: int, byte: int) -> None:
    whole = bytearray(header())
    whole[where] = byte
    path = tmp_path_factory.getbasetemp() / "one-byte.gguf"
    path.write_bytes(whole)
    with contextlib.suppress(BadValue):
        assert read_model(path).size == len(whole)
