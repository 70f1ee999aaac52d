"""The chain hash: its worked example, what its encoding can tell apart, and what it does not look at (S3)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrator.core.tree import Branch, Coordinate, Node, chain_hash, decode_correction, encode_correction

GOLDEN = "a59b0befac46017fcec6161a2f2643ae76dcfbcca7c15fb826df21ad65f2af42"

fields = st.text(max_size=12)
encodings = st.tuples(
    st.sampled_from(["opening", "player", "narrator", "correction"]),
    st.sampled_from([None, "do", "say", "story", "continue"]),
    fields,
)
parents = st.none() | st.binary(min_size=32, max_size=32)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def spelled(parent: bytes | None, role: str, mode: str | None, text: str) -> bytes:
    """The page, read letter by letter."""
    whole = (parent or b"\0" * 32) + b"\x01"
    for field in (role, mode or "", text):
        raw = field.encode("utf-8")
        whole += bytes.fromhex(f"{len(raw):016x}") + raw
    return hashlib.sha256(whole).digest()


@pytest.mark.spec("S3")
def test_the_worked_example_of_the_contract() -> None:
    assert chain_hash(None, "opening", None, "Rain.").hex() == GOLDEN


@pytest.mark.spec("S3")
def test_no_parent_is_thirty_two_zero_bytes() -> None:
    assert chain_hash(bytes(32), "opening", None, "Rain.").hex() == GOLDEN


@pytest.mark.spec("S3")
@given(parents, encodings)
def test_the_encoding_is_the_one_on_the_page(parent: bytes | None, node: tuple[str, str | None, str]) -> None:
    found = chain_hash(parent, *node)
    assert found == spelled(parent, *node)
    assert len(found) == 32


@pytest.mark.spec("S3")
@given(parents, encodings, encodings)
def test_different_fields_have_different_hashes(
    parent: bytes | None, one: tuple[str, str | None, str], other: tuple[str, str | None, str]
) -> None:
    """Lengths go before the fields, so what ends one field can never begin the next."""
    assert (chain_hash(parent, *one) == chain_hash(parent, *other)) == (one == other)


@pytest.mark.spec("S3")
@given(encodings, parents, parents)
def test_another_past_is_another_hash(
    node: tuple[str, str | None, str], one: bytes | None, other: bytes | None
) -> None:
    is_same = (one or bytes(32)) == (other or bytes(32))
    assert (chain_hash(one, *node) == chain_hash(other, *node)) == is_same


@pytest.mark.spec("S3")
def test_length_is_counted_in_bytes_and_not_in_characters() -> None:
    texts = ["é", "e\N{COMBINING ACUTE ACCENT}", "\U0001f409", "漢字", "a\0b", "", "x" * 70_000]
    assert len({chain_hash(None, "narrator", None, text) for text in texts}) == len(texts)
    for text in texts:
        assert chain_hash(None, "narrator", None, text) == spelled(None, "narrator", None, text)


@pytest.mark.spec("S3", "S23")
@given(st.text(max_size=10), json_values, json_values, st.none() | st.text(max_size=10))
def test_the_text_of_a_correction_is_canonical(path: str, old: Any, new: Any, reason: str | None) -> None:
    text = encode_correction(path, old, new, reason)
    assert decode_correction(text) == {"path": path, "old": old, "new": new, "reason": reason}
    assert list(json.loads(text)) == ["new", "old", "path", "reason"]
    assert encode_correction(path, old, new, reason) == text


@pytest.mark.spec("S3", "S23")
def test_a_correction_spells_out_what_is_absent() -> None:
    assert encode_correction("facts", None, "Der Mühlstein dreht.", None) == (
        '{"new":"Der Mühlstein dreht.","old":null,"path":"facts","reason":null}'
    )
    assert encode_correction("facts", "It rains.", None, "no") == (
        '{"new":null,"old":"It rains.","path":"facts","reason":"no"}'
    )
    assert encode_correction("a", {"b": 1, "a": [1, 2]}, 1, None) == (
        '{"new":1,"old":{"a":[1,2],"b":1},"path":"a","reason":null}'
    )


@pytest.mark.spec("S4")
def test_an_unplaced_take_owns_no_coordinate() -> None:
    placed = Node(1, None, 3, 7, "narrator", None, "", "generated", None, b"", "")
    loose = Node(2, None, None, 7, "narrator", None, "", "generated", None, b"", "")
    assert placed.coordinate == Coordinate(3, 7)
    assert placed.is_placed
    assert loose.coordinate is None
    assert not loose.is_placed


@pytest.mark.spec("S30")
def test_a_label_is_derived_where_there_is_no_name() -> None:
    assert Branch(2, 1, 5, None).label == "from step 5"
    assert Branch(1, None, 0, None).label == "from the start"
    assert Branch(2, 1, 5, "the ferry").label == "the ferry"
