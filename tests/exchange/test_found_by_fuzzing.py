"""What ``make fuzz`` has found: each file here once made a traceback, a message of several lines or half an import."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

from narrator.core.errors import BadImport
from tests.exchange.bringing import bring, story_of
from tests.exchange.novelai_packing import Packer, container, section


def write(tmp_path: Path, data: Any, name: str = "a.json") -> Path:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    return path


@pytest.mark.spec("X3", "U10")
def test_a_name_of_several_lines_stays_in_a_message_of_one(tmp_path: Path) -> None:
    name = 'cam"\nopening = "Odile\r\n\u2028' + "x" * 5000
    text = json.dumps({"format": "narrator-campaign-v1", name: []}, ensure_ascii=False)
    with pytest.raises(BadImport) as refusal:
        bring(tmp_path, write(tmp_path, (text[:-1] + f", {json.dumps(name)}: []}}").encode()))
    assert len(refusal.value.message.splitlines()) == 1
    assert len(refusal.value.message) < 600


@pytest.mark.spec("X8")
@pytest.mark.parametrize("key", ["format", "campaign", "prompts"])
@pytest.mark.parametrize("value", [[], [None], ["narrator-campaign-v1"]], ids=str)
def test_a_list_where_a_bundle_has_one_value(tmp_path: Path, key: str, value: Any) -> None:
    bundle = {"format": "narrator-campaign-v1", "definitions": [], "branches": [], "nodes": [], key: value}
    with pytest.raises(BadImport, match=r"one value belongs here|is missing|no known format|format is"):
        bring(tmp_path, write(tmp_path, bundle), as_format="narrator")


def archive(**changed: int) -> bytes:
    """A charx archive whose directory has other numbers in it, by their offset from its beginning."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("card.json", json.dumps({"spec": "chara_card_v3", "data": {"name": "A", "first_mes": "B"}}))
    data = bytearray(buffer.getvalue())
    at = data.index(b"PK\x01\x02")
    for place, value in changed.items():
        struct.pack_into("<I", data, at + int(place.removeprefix("at")), value)
    return bytes(data)


@pytest.mark.spec("X3")
@pytest.mark.parametrize("place", [8, 10, 16, 20, 24, 28, 32, 36, 38, 42])
@pytest.mark.parametrize("value", [0xFFFFFFFF, 0xFFFFFF6B, 0x80000000, 0x00630063, 0])
def test_an_archive_whose_directory_is_made_up(tmp_path: Path, place: int, value: int) -> None:
    path = write(tmp_path, archive(**{f"at{place}": value}), "a.charx")
    try:
        report = bring(tmp_path / "shelf", path)
    except BadImport:
        return
    assert report.title == "A"


@pytest.mark.spec("X3")
def test_an_archive_that_begins_before_its_file(tmp_path: Path) -> None:
    data = archive()
    at = data.index(b"PK\x05\x06")
    moved = bytearray(data)
    struct.pack_into("<I", moved, at + 16, struct.unpack_from("<I", data, at + 16)[0] + 149)
    with pytest.raises(BadImport, match="damaged"):
        bring(tmp_path, write(tmp_path, bytes(moved), "a.charx"))


@pytest.mark.spec("X3")
def test_an_archive_with_a_name_that_is_no_text(tmp_path: Path) -> None:
    """Once the local name says that it is UTF-8 and is not, once the one in the directory."""
    data = archive()
    for mark, flags, name in ((b"PK\x03\x04", 6, 30), (b"PK\x01\x02", 8, 46)):
        broken = bytearray(data)
        at = data.index(mark)
        struct.pack_into("<H", broken, at + flags, 0x800)
        broken[at + name : at + name + 4] = b"\xff\xfe\xfd\xfc"
        with pytest.raises(BadImport, match=r"damaged|no card\.json"):
            bring(tmp_path, write(tmp_path, bytes(broken), "a.charx"))


@pytest.mark.spec("X3", "X5")
def test_numbers_for_keys_in_a_packed_document(tmp_path: Path) -> None:
    numbers = {1: "a", 2.5: {3: None}, 7: {8: [{9: 1}]}}
    value = {"sections": {4: section("One.", 2)}, "order": [4], "history": numbers, "step": numbers, "more": numbers}
    report = bring(tmp_path / "shelf", write(tmp_path, container(Packer().document(value)), "a.story"))
    assert report.nodes == 1
    assert "more" in {each.field for each in report.details}


@pytest.mark.spec("X2")
def test_half_a_letter_in_the_inner_text_of_a_session(tmp_path: Path) -> None:
    value = {"endpointAPI": "0", "name": '"Mill"', "prompt": '[{"type": "user", "content": "One \\\\ud83d."}]'}
    text = json.dumps(value).replace("\\\\\\\\ud83d", "\\\\ud83d")
    report = bring(tmp_path / "shelf", write(tmp_path, text.encode()))
    assert any("surrogates" in each.reason for each in report.details)
    assert report.nodes == 1


@pytest.mark.spec("X3", "U10")
@pytest.mark.parametrize(
    ("escape", "read"),
    [
        (r"\ud800", "\ufffd"),
        (r"\uDC00", "\ufffd"),
        (r"\uD800\u0041", "\ufffdA"),
        (r"\ud83d\ude00", "\N{GRINNING FACE}"),
        (r"\\ud800", r"\ud800"),
    ],
)
@pytest.mark.parametrize("depth", [2, 5000])
def test_half_a_character_is_read_alike_however_deeply_its_file_nests(
    tmp_path: Path, depth: int, escape: str, read: str
) -> None:
    book = '{"name": "Point", "entries": {"0": {"key": ["lamp"], "content": "The lamp ESCAPE.", "x": DEEP}}}'
    data = book.replace("ESCAPE", escape).replace("DEEP", "[" * depth + "]" * depth)
    report = bring(tmp_path / "shelf", write(tmp_path, data.encode()), as_format="sillytavern-worldinfo")
    with story_of(report) as story:
        assert [card.text for card in story.definition.cards] == [f"The lamp {read}."]
    assert any("surrogates" in each.reason for each in report.details) is ("\ufffd" in read)
