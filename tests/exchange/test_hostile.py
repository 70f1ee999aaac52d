"""Broken and hostile files: each a clear message or a note, never a campaign, a hang or a traceback (X2-X6)."""

from __future__ import annotations

import base64
import io
import json
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from narrator.core.errors import BadImport, BadValue, NarratorError
from narrator.exchange import limits
from narrator.exchange.exporting import Wish, export
from narrator.exchange.importing import import_files
from narrator.exchange.plan import in_order
from narrator.store import reads
from narrator.store.verify import verify
from tests.exchange.bringing import SAMPLES, around, bring, still, story_of, whole_file

ROOT = Path(__file__).parents[2]
PNG = b"\x89PNG\r\n\x1a\n"


def write(tmp_path: Path, name: str, data: Any) -> Path:
    path = tmp_path / name
    if isinstance(data, bytes):
        path.write_bytes(data)
    else:
        path.write_text(data if isinstance(data, str) else json.dumps(data, ensure_ascii=True), encoding="utf-8")
    return path


def refused(tmp_path: Path, path: Path, **rest: Any) -> str:
    """The message of a refusal; nothing was made."""
    shelf = tmp_path / "shelf"
    with pytest.raises(NarratorError) as refusal:
        import_files([path], around(shelf), **rest)
    assert not shelf.exists() or not list(shelf.iterdir())
    assert "\n" not in refusal.value.message
    return refusal.value.message


JSON_SAMPLES = sorted(path for path in SAMPLES.iterdir() if path.is_file() and ".expect." not in path.name)


@pytest.mark.spec("X3", "X4", "S43")
@pytest.mark.parametrize("sample", JSON_SAMPLES, ids=lambda path: path.name)
def test_every_sample_cut_short_is_refused_or_smaller(tmp_path: Path, sample: Path) -> None:
    data = sample.read_bytes()
    for share in (0.02, 0.3, 0.6, 0.95):
        path = write(tmp_path, f"{share}{sample.suffix}", data[: int(len(data) * share)])
        try:
            report = bring(tmp_path / f"shelf{share}", path)
        except BadImport:
            continue
        assert sample.suffix in (".jsonl", ".md", ".txt", ".png", ".charx")
        assert verify(Path(report.campaigns[0])).problems == ()


def spoiled(value: Any, number: int) -> Any:
    """The value with every third plain value made something else."""
    wrong = ([7], None, {"a": 1}, "", "100", 1.0, True, [], {}, "x" * 50, -1, 10**30)
    count = 0

    def walk(each: Any) -> Any:
        nonlocal count
        if isinstance(each, dict):
            return {key: walk(inner) for key, inner in each.items()}
        if isinstance(each, list):
            return [walk(inner) for inner in each]
        count += 1
        return wrong[(count + number) % len(wrong)] if count % 3 == number % 3 else each

    return walk(value)


@pytest.mark.spec("X5")
@pytest.mark.parametrize(
    "sample",
    [p for p in JSON_SAMPLES if p.suffix in (".json", ".story", ".scenario", ".lorebook")],
    ids=lambda p: p.name,
)
def test_wrong_types_everywhere_are_coerced_or_refused(tmp_path: Path, sample: Path) -> None:
    value = json.loads(sample.read_bytes())
    for number in range(4):
        path = write(tmp_path, f"{number}.json", spoiled(value, number))
        try:
            report = bring(tmp_path / "shelf", path)
        except BadImport:
            continue
        assert verify(Path(report.campaigns[0])).problems == ()


@pytest.mark.spec("X5")
def test_numbers_as_text_and_nulls_are_noted(tmp_path: Path) -> None:
    value = json.loads((SAMPLES / "aidnd-v2.json").read_bytes())
    value["headBranch"] = "0"
    value["actions"][9]["live"] = "true"
    value["actions"][3]["depth"] = 3.0
    value["actions"][4]["depth"] = "4"
    value["actions"][2]["createdAt"] = None
    value["storyCards"][0]["keys"] = None
    report = bring(tmp_path, write(tmp_path, "a.json", value))
    assert report.nodes == 18
    assert report.steps_on_path == 9
    assert report.counts["changed"] >= 3


@pytest.mark.spec("X3")
def test_a_tree_of_five_thousand_levels(tmp_path: Path) -> None:
    deep = 5_000
    text = '{"root": ' + "".join(f'{{"text": "a{n} ", "children": [' for n in range(deep)) + "]}" * deep + "}"
    report = bring(tmp_path, write(tmp_path, "deep.json", text))
    assert report.nodes == report.steps_on_path == deep
    with story_of(report) as story:
        line = reads.end_of(story.store, story.tip)
        assert reads.window(story.store, line, deep, deep)[0].text == f"a{deep - 1} "


@pytest.mark.spec("X3")
@pytest.mark.parametrize(
    "frame",
    [
        '{{"format": "ai-dnd-adventure-v2", "actions": {}}}',
        '{{"entries": {{"0": {{"key": ["a"], "content": "b", "x": {}}}}}}}',
    ],
)
def test_nesting_without_end(tmp_path: Path, frame: str) -> None:
    path = write(tmp_path, "a.json", frame.format("[" * 20_000 + "]" * 20_000))
    started = time.monotonic()
    try:
        report = bring(tmp_path / "shelf", path)
    except BadImport:
        pass
    else:
        assert report.counts["dropped"] >= 1
    assert time.monotonic() - started < 20


@pytest.mark.spec("X3")
def test_a_bundle_that_nests_too_deeply(tmp_path: Path) -> None:
    text = '{"format":"narrator-campaign-v1","campaign":' + "[" * 100_000
    assert "deep" in refused(tmp_path, write(tmp_path, "a.json", text))


@pytest.mark.spec("X2")
def test_encodings(tmp_path: Path) -> None:
    text = "Ein Gruß — “nach Hause”."
    for name, data in (
        ("bom", text.encode("utf-8-sig")),
        ("wide", text.encode("utf-16")),
        ("old", text.encode("cp1252")),
    ):
        report = bring(tmp_path / "shelf", write(tmp_path, f"{name}.txt", data))
        with story_of(report) as story:
            assert story.head.text == text
        assert bool(report.counts["changed"]) == (name == "old")


@pytest.mark.spec("X2", "X5")
def test_lone_surrogates_in_a_foreign_file(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", '{"messages": [{"msg": "One \\ud83d and \\ude00\\ud83d."}]}')
    report = bring(tmp_path, path)
    with story_of(report) as story:
        assert story.head.text == "One � and ��."
    assert any("surrogates" in each.reason for each in report.details)


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(*chunks: bytes) -> bytes:
    return PNG + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + b"".join(chunks) + chunk(b"IEND", b"")


CARD = {"spec": "chara_card_v3", "spec_version": "3.0", "data": {"name": "Ada", "first_mes": "Hello from three."}}


@pytest.mark.spec("X3")
def test_texts_of_a_picture(tmp_path: Path) -> None:
    newer = base64.b64encode(json.dumps(CARD).encode())
    older = base64.b64encode(json.dumps({"name": "Ada", "first_mes": "Hello from one."}).encode())
    packed = chunk(b"zTXt", b"ccv3\0\0" + zlib.compress(newer))
    wide = chunk(b"iTXt", b"ccv3\0\1\0\0\0" + zlib.compress(newer))
    for body in (packed, wide, chunk(b"tEXt", b"ccv3\0" + newer)):
        data = png(chunk(b"tEXt", b"chara\0" + older), body)
        report = bring(tmp_path / "shelf", write(tmp_path, "a.png", data))
        with story_of(report) as story:
            assert story.head.text == "Hello from three."


@pytest.mark.spec("X3")
def test_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FILE_BYTES", 2**20)
    zeros = b"0" * 2**22
    bomb = png(chunk(b"zTXt", b"chara\0\0" + zlib.compress(zeros)))
    assert "unpacks to more" in refused(tmp_path, write(tmp_path, "a.png", bomb))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("card.json", zeros)
    assert "unpacks to more" in refused(tmp_path, write(tmp_path, "a.charx", buffer.getvalue()))
    import gzip

    assert "unpacks to more" in refused(tmp_path, write(tmp_path, "a.json.gz", gzip.compress(zeros)))
    assert "larger than" in refused(tmp_path, write(tmp_path, "a.txt", b"x" * 2**21))


@pytest.mark.spec("X3")
def test_a_bundle_that_is_one_endless_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PIECE_CHARACTERS", 2**20)
    text = '{"format":"narrator-campaign-v1","campaign":"' + "x" * 2**22
    assert "longer than" in refused(tmp_path, write(tmp_path, "a.json", text))


@pytest.mark.spec("X3")
def test_paths_of_an_archive_lead_nowhere(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("card.json", json.dumps(CARD))
        archive.writestr("../../escaped.txt", "out")
        archive.writestr("/absolute.txt", "out")
    report = bring(tmp_path / "in" / "shelf", write(tmp_path, "a.charx", buffer.getvalue()))
    assert report.counts["dropped"] >= 2
    assert not list(tmp_path.rglob("*escaped*"))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.charx", "in"]


@pytest.mark.spec("X3")
def test_expressions_that_explode(tmp_path: Path) -> None:
    keys = [
        "/(a+)+$/",
        "/(?:a{1,1000}){1,1000}/i",
        "/" + "(" * 400 + "a" + ")" * 400 + "/",
        "/[/",
        "/" + "a" * 5000 + "/",
    ]
    value = {"entries": {"0": {"key": keys, "content": "Text.", "comment": "Bomb"}}}
    started = time.monotonic()
    report = bring(tmp_path, write(tmp_path, "a.json", value))
    assert time.monotonic() - started < 10
    assert report.cards == 1
    assert report.counts["dropped"] >= 2


@pytest.mark.spec("X6")
def test_secrets_are_dropped_and_counted(tmp_path: Path) -> None:
    card = {
        "spec": "chara_card_v2",
        "data": {
            "name": "Ada",
            "first_mes": "Hello.",
            "extensions": {"api_key": "SECRET-1", "kept": {"deep": [{"Authorization": "SECRET-2"}]}},
        },
    }
    report = bring(tmp_path, write(tmp_path, "a.json", card))
    whole = whole_file(Path(report.campaigns[0]))
    assert "SECRET" not in whole
    assert '"deep"' in whole
    assert sum(each.reason == "a secret" for each in report.details) == 2


@pytest.mark.spec("X6")
def test_the_same_file_twice_makes_two_campaigns(tmp_path: Path) -> None:
    made = {bring(tmp_path, SAMPLES / "agnai-chat.json").campaigns[0] for _ in range(3)}
    assert len(made) == 3


@pytest.mark.spec("X1")
def test_the_name_of_a_file_says_nothing(tmp_path: Path) -> None:
    for sample in ("card-v2.png", "aidnd-v1.json", "novelai.story", "sillytavern-chat.jsonl"):
        path = write(tmp_path, "note.txt", (SAMPLES / sample).read_bytes())
        assert bring(tmp_path / "shelf", path).format != "text"


@pytest.mark.spec("X1", "X3")
def test_what_nobody_knows(tmp_path: Path) -> None:
    assert "no known format" in refused(tmp_path, write(tmp_path, "a.json", {"hello": "world"}))
    assert "no JSON" in refused(tmp_path, write(tmp_path, "a.json", '{"hello": '))
    assert "database" in refused(tmp_path, write(tmp_path, "a.db", b"SQLite format 3\0" + bytes(100)))
    assert "empty" in refused(tmp_path, write(tmp_path, "a.txt", "  \n"))
    refused(tmp_path, write(tmp_path, "a.json", "[]"))
    refused(tmp_path, write(tmp_path, "a.png", PNG + b"\0\0\0\xffIDAT"))
    refused(tmp_path, write(tmp_path, "a.charx", b"PK\x03\x04nothing"))
    refused(tmp_path, tmp_path / "absent.json")
    with pytest.raises(BadValue):
        bring(tmp_path, SAMPLES / "plain.txt", as_format="scroll")


@pytest.mark.spec("X3")
def test_circles_are_left_out() -> None:
    assert in_order([0, 1, 4, 3, 2]) == [0, 1, 4]
    assert in_order([2, 0]) == [1, 0]


@pytest.mark.spec("X3")
def test_branches_in_a_circle(tmp_path: Path) -> None:
    value = json.loads((SAMPLES / "aidnd-v2.json").read_bytes())
    value["branches"][1]["parent"] = 2
    value["branches"][2]["parent"] = 1
    value["branches"][1]["forkDepth"] = value["branches"][2]["forkDepth"] = 0
    message = refused(tmp_path, write(tmp_path, "a.json", value))
    assert "circle" in message


@pytest.mark.spec("X6")
def test_secrets_in_what_is_left_out_are_counted(tmp_path: Path) -> None:
    value = json.loads((SAMPLES / "kobold-lite.json").read_bytes())
    value["savedsettings"] = {"my_api_key": "SECRET-1", "saved_openai": {"access_token": "SECRET-2", "speed": 3}}
    report = bring(tmp_path, write(tmp_path, "a.json", value))
    assert sum(each.reason == "a secret" for each in report.details) == 2
    assert "SECRET" not in whole_file(Path(report.campaigns[0]))
    assert "SECRET" not in json.dumps(report.to_json())


@pytest.mark.spec("X1")
def test_what_belongs_elsewhere_says_so(tmp_path: Path) -> None:
    newer = {"format": "narrator-campaign-v2", "campaign": {}}
    assert "newer narrator" in refused(tmp_path, write(tmp_path, "a.json", newer))
    definition = '[campaign]\nid = "a"\ntitle = "A"\nopening = "Rain."\n'
    assert "definition" in refused(tmp_path, write(tmp_path, "a.toml", definition))


@pytest.mark.spec("X4", "X11")
def test_what_a_killed_import_left_is_cleared_away(tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    call = (
        "import os, sys; from pathlib import Path; from tests.exchange.bringing import around; "
        "from narrator.exchange.importing import import_files; "
        "import narrator.exchange.campaign_file as made; made._give_name = lambda *a: os._exit(9); "
        "import_files([Path(sys.argv[1])], around(Path(sys.argv[2])))"
    )
    sample = SAMPLES / "agnai-chat.json"
    run = subprocess.run([sys.executable, "-c", call, str(sample), str(shelf)], cwd=ROOT, check=False, timeout=60)
    assert run.returncode == 9
    assert [each.suffix for each in shelf.iterdir()] == [".importing"]
    report = bring(shelf, sample)
    assert [str(each) for each in shelf.iterdir()] == report.campaigns


LONG = 40_000


@pytest.mark.spec("X3")
@pytest.mark.parametrize(
    "value",
    [
        {"name": "Ada", "first_mes": "{{//" * LONG, "description": "{{" * LONG},
        {"title": "S", "prompt": "${" * LONG},
        {"messages": [{"msg": "Hi."}, {"msg": "-\n" * LONG + "x"}, {"msg": "*_" * LONG + '"“' * LONG}]},
        {"entries": {"0": {"key": "/," * LONG, "content": "x"}}},
        {"entries": {"0": {"key": ["/" * LONG + "!"], "content": "x"}}},
    ],
    ids=["comments", "placeholders", "marks", "keys", "slashes"],
)
def test_texts_that_are_hard_to_read_are_read_in_time(tmp_path: Path, value: Any) -> None:
    started = time.process_time()
    report = bring(tmp_path, write(tmp_path, "a.json", value))
    for name in ("a.md", "a.html"):
        export(Path(report.campaigns[0]), tmp_path / name, Wish(), clock=still)
    assert time.process_time() - started < 10


@pytest.mark.spec("X3")
def test_prose_that_is_hard_to_read_is_read_in_time(tmp_path: Path) -> None:
    started = time.process_time()
    for number, text in enumerate(("# a" + " " * LONG + "x", "#" * LONG, "\n \n" * LONG + "x", "> " * LONG)):
        bring(tmp_path / "shelf", write(tmp_path, f"{number}.txt", text))
        bring(tmp_path / "shelf", write(tmp_path, f"{number}.txt", text), as_format="canon")
    assert time.process_time() - started < 10
