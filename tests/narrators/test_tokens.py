"""Counting: never fewer tokens than the model, and never a download."""

from __future__ import annotations

import base64
import hashlib
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrator.core.prompt import Message
from narrator.narrators import tokens
from narrator.narrators.tokens import CL100K, FRAME, O200K, Measure, Table, count_bytes, exact_counter, load_encoding

WORDS = r"\s?\S+|\s+"


def small_table(folder: Path, *, name: str = "small_base", in_cache: bool = False) -> Table:
    """A table of all bytes and two merges, on disk under the name that tiktoken or its cache gives it."""
    pieces = [bytes([value]) for value in range(256)] + [b"th", b"the"]
    content = b"".join(base64.b64encode(piece) + b" %d\n" % rank for rank, piece in enumerate(pieces))
    table = Table(name, hashlib.sha256(content).hexdigest(), WORDS)
    (folder / table.file_names[in_cache]).write_bytes(content)
    return table


@pytest.mark.spec("C4")
@given(st.text(max_size=200))
def test_one_token_a_byte_of_the_serialized_message(text: str) -> None:
    message = Message("user", text)
    assert count_bytes((message,)) >= len(text.encode()) + len('{"role":"user","content":""}')
    assert count_bytes((message, message)) == 2 * count_bytes((message,))


@pytest.mark.spec("C4")
@pytest.mark.parametrize("in_cache", [False, True])
def test_a_table_on_disk_counts_exactly(tmp_path: Path, in_cache: bool) -> None:
    encoding = load_encoding(small_table(tmp_path, in_cache=in_cache), (tmp_path,))
    assert encoding is not None
    count = exact_counter(encoding)
    assert count((Message("user", "the"),)) == FRAME + 1
    assert count((Message("user", "the thex"), Message("assistant", ""))) == 2 * FRAME + 1 + 3
    assert count((Message("user", "<|endoftext|>"),)) == FRAME + 13


@pytest.mark.spec("C4")
def test_a_table_that_is_missing_or_damaged_is_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: asked.append(args))
    assert load_encoding(Table("no-such-table", "0" * 64, WORDS), (tmp_path,)) is None
    table = small_table(tmp_path)
    path = tmp_path / table.file_names[0]
    path.write_bytes(path.read_bytes()[:-20])
    assert load_encoding(table, (tmp_path,)) is None
    assert asked == []


@pytest.mark.spec("C4")
@pytest.mark.parametrize(
    ("model", "table"),
    [
        ("gpt-4o-mini", O200K),
        ("openai/gpt-4.1", O200K),
        ("gpt-5", O200K),
        ("o3-mini", O200K),
        ("gpt-4-turbo", CL100K),
        ("gpt-3.5-turbo", CL100K),
        ("llama-3", None),
    ],
)
def test_the_table_of_a_model(model: str, table: Table | None) -> None:
    assert tokens.table_of(model) is table


def test_the_file_in_tiktokens_cache_is_named_by_its_address() -> None:
    assert CL100K.file_names == ("cl100k_base.tiktoken", "9b5ad71b2ce5302211f9c61530b329a4922fc6a4")


@pytest.mark.spec("C4")
def test_measured_is_the_largest_seen_and_a_fifth() -> None:
    measure, message = Measure(), Message("user", "x" * 972)
    assert measure.count((message,)) == count_bytes((message,)) == 1000
    measure.learn(200, 1000)
    measure.learn(100, 1000)
    assert measure.count((message,)) == 240
    measure.raise_ratio()
    assert measure.count((message,)) == 288
    for _ in range(50):
        measure.raise_ratio()
    assert measure.count((message,)) == 1000
