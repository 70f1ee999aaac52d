"""Transcripts, recordings and replays on the screen (U26): the same files as in plain and JSON mode, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrator import paths
from narrator.engine.story import create_campaign
from narrator.narrators.scripted import ScriptedNarrator
from tests.plain.talk import hear
from tests.tui.playing import Play, make_campaign, playing


def lantern(folder: Path) -> Path:
    folder.mkdir()
    path = folder / "ferry.narrator"
    create_campaign(path, paths.samples()["lantern-road"].read_text(encoding="utf-8"), seed=7)
    return path


def quick() -> ScriptedNarrator:
    return ScriptedNarrator(words_per_second=0)


async def replayed(folder: Path, record: Path) -> tuple[bytes, list[str]]:
    """Replay on the screen: the transcript of it, and the story."""
    async with playing(lantern(folder), quick()) as play:
        await play.type(f"/script {folder}/told")
        await play.type(f"/replay {record}")
        return (folder / "told").read_bytes(), play.story()


@pytest.mark.spec("U26")
async def test_what_was_played_with_keys_is_replayed_byte_for_byte_everywhere(tmp_path: Path) -> None:
    record = tmp_path / "commands"
    async with playing(lantern(tmp_path / "first"), quick()) as play:
        await play.type(f"/record {record}")
        await play.press("f3")
        await play.type("look around")
        await play.type("Hello, 雨 🏮.\n{two}")
        await play.press("ctrl+r")
        await play.press("left")
        await play.press("ctrl+z", "ctrl+z")
        await play.press("ctrl+y")
        await play.type("/save here")
        await play.type("go ashore")
        await play.type("/record")
        story = play.story()
        looks = [line for line in record.read_text().splitlines() if line.startswith(("/state", "/prompt"))]
        assert looks == [], "what the screen asks for itself is in no recording"
    told, again = await replayed(tmp_path / "second", record)
    assert again == story
    assert (told, again) == await replayed(tmp_path / "third", record)
    assert "> Hello, 雨 🏮." in told.decode()
    for is_json in (False, True):
        (folder := tmp_path / f"json-{is_json}").mkdir()
        definition = paths.samples()["lantern-road"].read_text(encoding="utf-8")
        create_campaign(folder / "ferry.narrator", definition, seed=7)
        lines = (f"/script {folder}/told", f"/replay {record}")
        await hear(folder, *lines, is_json=is_json, narrator=quick())
        written = (folder / "told").read_bytes()
        # The line of the replay itself names the file, and stands in all of them.
        assert written == told


@pytest.mark.spec("U26", "U8")
async def test_a_replay_shows_how_far_it_is_and_is_stopped_with_esc(tmp_path: Path) -> None:
    record = tmp_path / "commands"
    record.write_text("wait\n" * 40)
    path = make_campaign(tmp_path / "ferry")
    async with playing(path, ScriptedNarrator(words_per_second=30)) as play:
        play.screen.composer.editor.insert(f"/replay {record}")
        await play.pilot.press("enter")
        await until(play, "Replaying: 1 of 40")
        assert "Esc stops it" in play.said()
        play.screen.composer.editor.insert("not lost")
        await play.pilot.press("enter")
        assert play.screen.composer.text == "not lost", "nothing is sent in between, and nothing typed is lost"
        await play.press("escape")
        await play.settle()
        assert not play.screen.is_busy
        assert len(play.story()) < 80
        assert play.screen.composer.text == "not lost"
        await play.press("enter")
        assert play.story()[-2] == "not lost"


@pytest.mark.spec("U26")
async def test_a_replay_that_quits_leaves_the_screen(tmp_path: Path) -> None:
    record = tmp_path / "commands"
    record.write_text("wait\n/quit\nwait\n")
    async with playing(make_campaign(tmp_path / "ferry")) as play:
        await play.type(f"/replay {record}")
        await play.pilot.pause()
    assert len(play.narrator.requests) == 1


@pytest.mark.spec("U26")
@pytest.mark.parametrize("verb", ["script", "record", "replay"])
async def test_a_wrong_path_is_one_line_in_the_notice(verb: str, tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path / "ferry")) as play:
        await play.type(f"/{verb} {tmp_path}/no/such")
        assert play.said().startswith(f"{tmp_path}/no/such cannot be ")
        assert "\n" not in play.said()


async def until(play: Play, words: str) -> None:
    while words not in play.said():
        await play.pilot.pause()
