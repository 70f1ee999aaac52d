"""``narrator import`` and ``export``, and ``/export`` in play (X1, X4, U8, U21)."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
from pathlib import Path

import pytest

from narrator.cli import main
from narrator.engine.events import Failed, Noted
from tests.engine.playing import make as make_mill
from tests.engine.playing import playing
from tests.exchange.bringing import SAMPLES
from tests.store.making import deepen


@pytest.fixture(autouse=True)
def at_home(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return home


@pytest.mark.spec("X1", "X5", "U21")
def test_import_says_what_it_took_the_file_for(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    assert main(["import", str(SAMPLES / "aidnd-v2.json")]) == 0
    told = capsys.readouterr().out
    assert "Causeway Lamp: read as aidnd-v2; 18 steps, 3 branches, 2 cards, 2 memories." in told
    assert "scripts are never run" in told
    assert (home / "campaigns" / "causeway-lamp.narrator").is_file()
    assert main(["verify", "causeway-lamp"]) == 0


@pytest.mark.spec("X4", "X5")
def test_import_as_json_and_dry(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    assert main(["import", "--json", "--dry-run", str(SAMPLES / "sillytavern-branch")]) == 0
    report = json.loads(capsys.readouterr().out)
    contract = {"format", "title", "campaigns", "steps_on_path", "nodes", "branches", "cards", "checkpoints"}
    assert contract | {"notes", "details"} <= set(report)
    assert (report["nodes"], report["campaigns"], report["checkpoints"]) == (15, [], ["The dry culvert"])
    assert set(report["details"][0]) == {"kind", "file", "where", "field", "reason"}
    assert not (home / "campaigns").exists()
    files = [str(SAMPLES / name) for name in ("card-v1.json", "card-v2.png")]
    assert main(["import", "--json", *files]) == 0
    assert [each["title"] for each in json.loads(capsys.readouterr().out)] == ["Ansel of the Ferry", "Corvin Ash"]


def test_import_into_and_placeholders(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    assert main(["import", str(SAMPLES / "novelai.scenario"), "--set", "name=Ondine"]) == 0
    assert main(["import", str(SAMPLES / "aidungeon-cards.json"), "--into", "night-clerk"]) == 0
    assert "Added to" in capsys.readouterr().out
    assert main(["export", "night-clerk", "a.md"]) == 0
    assert "Your name is Ondine" in Path("a.md").read_text()
    assert main(["export", "night-clerk", "a.cards.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"form": "story-cards", "path": "a.cards.json"}
    assert len(json.loads(Path("a.cards.json").read_text())) == 5


def test_errors_are_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"a": [1,\n')
    for arguments, code in (
        (["import", "bad.json"], 1),
        (["import", str(SAMPLES / "plain.md"), "--as", "scroll"], 2),
        (["import", "absent.json"], 2),
        (["export", "absent"], 1),
    ):
        assert main(arguments) == code
        told = capsys.readouterr().err
        assert told.startswith("narrator: ")
        assert told.count("\n") == 1


@pytest.mark.spec("U10", "X2")
def test_escapes_of_a_file_are_shown_not_obeyed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    value = {"messages": [{"msg": "Hello.", "\x1b[31mred": {"a": 1}}], "name": "Blood \x1b]0;x\x07"}
    (tmp_path / "a.json").write_text(json.dumps(value))
    (tmp_path / "b.json").write_text('{"format":"narrator-campaign-v1","\\u001b[31m":[1,,]}')
    assert main(["import", "a.json"]) == 0
    assert main(["import", "b.json"]) == 1
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
    assert "␛" in told.out


@pytest.mark.spec("X7", "X9")
def test_export_to_standard_output_and_over_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(SAMPLES / "agnai-chat.json")]) == 0
    capsys.readouterr()
    assert main(["export", "exported"]) == 0
    out = capsys.readouterr().out
    assert json.loads(out)["format"] == "narrator-campaign-v1"
    assert main(["export", "exported", "a.json.gz"]) == 0
    assert gzip.decompress(Path("a.json.gz").read_bytes()).decode() == out
    assert main(["export", "exported", "a.json.gz"]) == 1
    assert main(["export", "exported", "a.json.gz", "--force", "--without-prompts"]) == 0
    assert main(["export", "exported", "a.html", "--theme", "paper"]) == 0
    assert main(["export", "exported", "b.html", "--theme", "nowhere"]) == 2
    assert main(["import", "a.json.gz"]) == 0
    capsys.readouterr()


def test_the_schema_of_a_bundle(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "bundle"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert {"format", "campaign", "nodes", "provenance"} <= set(schema["properties"])


@pytest.mark.spec("U8", "X7", "X9")
async def test_export_in_play(tmp_path: Path) -> None:
    async with playing(make_mill(tmp_path)) as play:
        await play.do("I try the door.")
        for name in ("a.json", "a.md", "a.epub"):
            answer = await play.do(f"/export {tmp_path / name}")
            assert answer.ok
            (told,) = answer.of(Noted)
            assert name in told.text
            assert (tmp_path / name).stat().st_size > 50
        assert (await play.do(f"/export {tmp_path / 'a.md'}")).code == "io-error"
        assert (await play.do(f"/export {tmp_path / 'a.pdf'}")).code == "bad-value"
        assert (await play.do("I try another door.")).ok
        assert play.sound()


@pytest.mark.spec("U8", "X11")
async def test_an_export_in_play_can_be_stopped(tmp_path: Path) -> None:
    async with playing(make_mill(tmp_path)) as play:
        deepen(play.story, 3000)
        start = len(play.heard)
        task = play.begin(f"/export {tmp_path / 'a.json'}")
        await asyncio.sleep(0)
        assert (await play.do("/stop")).ok
        await task
        codes = [each.code for each in play.heard[start:] if isinstance(each, Failed)]
        assert codes == ["stopped"]
        assert play.sound()
    assert not [name for name in os.listdir(tmp_path) if "json" in name or "exporting" in name]
