"""Measure 13: what an engine reads anew a turn, with the small real model (``make test-embedded``), and without one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from narrator.bench import of_cache, run
from narrator.bench.of_cache import Turn


@pytest.mark.embedded
@pytest.mark.serial
@pytest.mark.spec("C11", "T17")
def test_the_engine_reads_next_to_nothing_twice(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In small: a story that fills a small window, and a few turns. The full measure is the bench's."""
    monkeypatch.setattr(of_cache, "WINDOW", 2_816)
    monkeypatch.setattr(of_cache, "ANSWER", 128)
    monkeypatch.setattr(of_cache, "TOLD_BEFORE", 14)
    monkeypatch.setattr(of_cache, "TURNS", 8)
    found: list[Turn] = []
    play = of_cache.play

    def kept(path: Path, model: Path) -> list[Turn]:
        found.extend(play(path, model))
        return found

    monkeypatch.setattr(of_cache, "play", kept)
    told, whole, summaries = of_cache.afresh(tmp_path, model)
    assert told.ratio is not None
    assert 0.9 < told.ratio <= 1.05, found
    assert told.met
    assert whole.value > told.value
    assert summaries.value == 1, found
    assert [turn.is_rotated for turn in found].index(True) > 0


@pytest.mark.parametrize("named", ["", "/nowhere/story.gguf"])
def test_without_a_model_it_says_what_it_needs(tmp_path: Path, named: str) -> None:
    said: list[str] = []
    assert run.run(tmp_path, only=["cache"], model=Path(named) if named else None, say=said.append) == []
    assert "embedded extra and a model" in said[-1]
    assert "NARRATOR_BENCH_MODEL" in said[-1]


def test_the_command_finds_a_model_of_the_players_own(tmp_path: Path) -> None:
    """Named by the environment, else the first in the settings; here neither file is there, and the name is said."""
    home = tmp_path / "own"
    home.mkdir()
    (home / "config.toml").write_text('[narrators.mine]\nkind = "embedded"\nmodel_path = "/nowhere/mine.gguf"\n')
    command = "import sys; from narrator.cli.bench import command; command(sys.argv[1:])"
    for named, expected in (("", "/nowhere/mine.gguf"), ("/nowhere/named.gguf", "/nowhere/named.gguf")):
        done = subprocess.run(
            [sys.executable, "-c", command, "--json", "--only", "cache"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env=os.environ | {"NARRATOR_HOME": str(home), "NARRATOR_BENCH_MODEL": named},
        )
        assert json.loads(done.stdout) == {}
        assert expected in done.stderr
