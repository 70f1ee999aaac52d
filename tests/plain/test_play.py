"""The plain player as a process: exit codes, signals, streams, a terminal."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

DEFINITION = """
[campaign]
id = "ferry"
title = "The Ferry"
opening = "Rain."
"""
PLAY = [sys.executable, "-m", "narrator", "play"]
QUICK = "[scripted]\nwords_per_second = 0\n"
SLOW = "[scripted]\nwords_per_second = 2\n"


@pytest.fixture
def ferry(home: Path) -> Callable[[str], Path]:
    """Make the campaign ``ferry``, with these settings."""

    def make(settings: str) -> Path:
        from narrator.engine.story import create_campaign

        folder = home / "campaigns"
        folder.mkdir(parents=True)
        (home / "config.toml").write_text(settings)
        create_campaign(folder / "ferry.narrator", DEFINITION, seed=1)
        return folder / "ferry.narrator"

    return make


def run(*arguments: str, lines: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PLAY, *arguments],
        input=lines,
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.spec("U15")
def test_a_game_through_pipes(ferry: Callable[[str], Path]) -> None:
    ferry(QUICK)
    result = run("ferry", "--plain", lines="look\n/undo\n/redo\n/redo\n")
    assert result.returncode == 0
    told = "The Ferry. Told from written scenes; no model is needed.\n\nRain.\n"
    assert result.stdout.startswith(told)
    assert result.stdout.count("/narrator NAME") == 1, "how to name one, once"
    again = run("ferry", "--plain").stdout
    assert again.startswith(told.splitlines()[0])
    assert "/narrator NAME" not in again, "not in the way of whoever plays on"
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("narrator: line 4: ")
    strict = run("ferry", "--plain", "--strict", lines="/redo\nlook\n")
    assert strict.returncode == 1
    assert strict.stderr.startswith("narrator: line 1: ")


@pytest.mark.spec("U15", "W10")
def test_an_end_says_what_plays_on_and_what_begins_anew(home: Path) -> None:
    ends = home / "ends.toml"
    ends.parent.mkdir(parents=True, exist_ok=True)
    ends.write_text(DEFINITION + '\n[[endings]]\nid = "home"\nwhen = "true"\n')
    (home / "config.toml").write_text(QUICK)
    made = subprocess.run(
        [sys.executable, "-m", "narrator", "new", "--from", str(ends)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    told = run(made.stdout.strip(), "--plain", lines="look\n").stdout
    assert "/undo, /restore or /fork goes on from an earlier step; narrator new begins another." in told


@pytest.mark.spec("U15")
def test_what_cannot_be_opened_is_3_and_wrong_use_is_2(ferry: Callable[[str], Path]) -> None:
    path = ferry(QUICK)
    (path.parent / "broken.narrator").write_text("no database at all")
    broken = run("broken", "--json")
    assert broken.returncode == 3
    assert json.loads(broken.stdout)["code"] == "not-a-campaign"
    assert broken.stderr == ""
    missing = run("nowhere", "--plain")
    assert (missing.returncode, missing.stdout) == (3, "")
    assert missing.stderr.count("\n") == 1
    assert run("ferry", "--plain", "--seed", "3").returncode == 2


@pytest.mark.spec("U15")
def test_streams_are_utf8_in_any_locale(ferry: Callable[[str], Path]) -> None:
    ferry(QUICK)
    text = "雨 “é” 👩‍🚀"
    result = run("ferry", "--json", lines=f"/say {text}\n", LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    steps = [json.loads(line) for line in result.stdout.splitlines()]
    assert [step["text"] for step in steps if step.get("role") == "player"] == [text]


class Game:
    """A player process in the middle of a turn that is told slowly."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*PLAY, "ferry", "--json", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        self.type("look around")
        self.until("delta")

    def type(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def until(self, name: str) -> dict[str, object]:
        """Read to the next event of that name."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event: dict[str, object] = json.loads(line)
            if event["event"] == name:
                return event
        raise AssertionError(f"no {name} came")


@pytest.mark.spec("T3")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_stops_the_turn_keeps_the_draft_and_leaves(
    ferry: Callable[[str], Path], number: signal.Signals, code: int
) -> None:
    path = ferry(SLOW)
    game = Game()
    game.process.send_signal(number)
    _, err = game.process.communicate(timeout=10)
    assert (game.process.returncode, err) == (code, "")
    assert os.listdir(path.parent) == ["ferry.narrator"]
    ready = json.loads(run("ferry", "--json").stdout.splitlines()[0])
    assert ready["draft"] == "look around"


@pytest.mark.spec("T3", "U14")
def test_an_interrupt_stops_within_a_tenth_of_a_second_and_the_game_goes_on(ferry: Callable[[str], Path]) -> None:
    ferry(SLOW)
    game = Game()
    began = time.monotonic()
    game.process.send_signal(signal.SIGINT)
    error = game.until("error")
    took = time.monotonic() - began
    assert (error["code"], error["draft"]) == ("stopped", "look around")
    assert took < 1  # the loop's own share is below 0.1 s; the rest is for a busy machine
    game.type("/quit")
    game.process.communicate(timeout=10)
    assert game.process.returncode == 0


@pytest.mark.spec("U15")
def test_a_closed_output_ends_it_quietly(ferry: Callable[[str], Path]) -> None:
    path = ferry(SLOW)
    game = Game()
    assert game.process.stdout is not None
    game.process.stdout.close()
    assert game.process.stderr is not None
    assert game.process.stderr.read() == ""
    assert game.process.wait(10) == 0
    assert os.listdir(path.parent) == ["ferry.narrator"]


@pytest.mark.spec("U15")
def test_a_turn_that_loses_its_reader_ends_quietly_too(ferry: Callable[[str], Path]) -> None:
    ferry(SLOW)
    lines = subprocess.Popen(
        [*PLAY, "ferry", "--plain"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert lines.stdin is not None
    assert lines.stdout is not None
    assert lines.stderr is not None
    lines.stdin.write("look around\n")
    lines.stdin.flush()
    assert "Rain." in [line.strip() for line in (lines.stdout.readline() for _ in range(3))]
    lines.stdout.close()
    assert lines.stderr.read() == ""
    assert lines.wait(10) == 0


@pytest.mark.spec("U25", "U27")
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
def test_a_terminal_prompts_and_remembers_inputs(ferry: Callable[[str], Path], home: Path) -> None:
    ferry(QUICK)
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*PLAY, "ferry", "--plain"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
        start_new_session=True,
    )
    os.close(theirs)
    told = ""

    def until(text: str) -> None:
        nonlocal told
        while text not in told:
            assert select.select([ours], [], [], 10)[0], told
            told += os.read(ours, 65536).decode()
        told = told[told.index(text) + len(text) :]

    until("[Step 1.]\r\n")
    until("\r\n> ")
    os.write(ours, b"look about\n")
    until("\r\n> ")
    os.write(ours, b"\x1b[A\n")
    until("look about")
    until("\r\n> ")
    assert "\x1b" not in told
    os.write(ours, b"quit\n")
    assert process.wait(10) == 0
    os.close(ours)
    history = home / "inputs"
    assert history.read_text().splitlines()[0] == "look about"
    assert history.stat().st_mode & 0o777 == 0o600


@pytest.mark.spec("U24", "U21")
@pytest.mark.parametrize(
    "arguments", [["--version"], ["play", "ferry", "--plain"], ["play", "ferry", "--json"], ["--help"], ["list"]]
)
def test_nothing_heavy_is_imported(ferry: Callable[[str], Path], arguments: list[str]) -> None:
    ferry(QUICK)
    code = (
        "import sys; from narrator.cli import main; code = main(sys.argv[1:]);"
        "heavy = ('textual', 'openai', 'tiktoken', 'rich');"
        "print('\\n' + ' '.join(m for m in heavy if m in sys.modules)); sys.exit(code)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        input="look\n",
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == ""


@pytest.mark.spec("T13")
def test_a_campaign_that_is_open_elsewhere_can_be_read(ferry: Callable[[str], Path]) -> None:
    from narrator.engine.story import Story

    story = Story.open(ferry(QUICK))
    try:
        result = run("ferry", "--json", lines="/read\nlook\n/save here\n")
    finally:
        story.close()
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.returncode == 0
    assert events[0]["read_only"]
    assert str(os.getpid()) in next(event["text"] for event in events if event["event"] == "note")
    assert [event["ok"] for event in events if event["event"] == "done"] == [True, False, False]
    assert {event["code"] for event in events if event["event"] == "error"} == {"read-only"}


@pytest.mark.spec("U26")
def test_a_replay_with_a_seed_is_byte_equal(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text(QUICK)
    commands = tmp_path / "commands"
    commands.write_text(
        "look around\nask about the lantern\n/retry x2\n/undo\n/redo\n/takes\ngo ashore\n/stats\n/quit\n"
    )
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.toml").write_text(QUICK)
    arguments = ("lantern-road", "--plain", "--seed", "7", "--replay", str(commands))
    told = [run(*arguments, NARRATOR_HOME=str(place)) for place in (home, other)]
    assert told[0].stderr == ""
    assert told[0].stdout == told[1].stdout
    assert "> go ashore" in told[0].stdout


@pytest.mark.spec("T3", "S13")
def test_a_stop_behind_a_turn_stops_it_a_hundred_times_of_a_hundred(ferry: Callable[[str], Path]) -> None:
    """Against a narrator of 50 ms a word, the two lines in one write: ten processes of ten turns."""
    path = ferry("[scripted]\nwords_per_second = 20\n")
    for _ in range(10):
        told = run("ferry", "--json", lines="/do a\n/stop\n" * 10).stdout
        events = [json.loads(line) for line in told.splitlines()]
        assert [event["code"] for event in events if event["event"] == "error"] == ["stopped"] * 10
        assert [event["draft"] for event in events if event["event"] == "error"] == ["a"] * 10
        done = {event["line"]: event["ok"] for event in events if event["event"] == "done"}
        assert done == {line: line % 2 == 0 for line in range(1, 21)}
    from narrator.store.verify import verify

    report = verify(path)
    assert report.ok
    assert report.nodes == 1


@pytest.mark.spec("U26", "U15")
def test_a_replay_that_is_not_there_is_wrong_use(ferry: Callable[[str], Path], tmp_path: Path) -> None:
    ferry(QUICK)
    for wrong in (tmp_path / "none", tmp_path):
        result = run("ferry", "--plain", "--replay", str(wrong))
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.count("\n") == 1
        assert str(wrong) in result.stderr
    (tmp_path / "commands").write_text("/redo\n/status\n")
    strict = run("ferry", "--json", "--strict", "--replay", str(tmp_path / "commands"), lines="/status\n")
    assert strict.returncode == 1
    done = [event["command"] for line in strict.stdout.splitlines() if (event := json.loads(line))["event"] == "done"]
    assert done == ["redo"]


@pytest.mark.spec("U26")
def test_a_replay_may_quit(ferry: Callable[[str], Path], tmp_path: Path) -> None:
    ferry(QUICK)
    (tmp_path / "commands").write_text("look\n/quit\nwait\n")
    result = run("ferry", "--plain", "--replay", str(tmp_path / "commands"), lines="/status\n")
    assert result.returncode == 0
    assert "> wait" not in result.stdout
    assert "Step" not in result.stdout.split("> look")[1]


@pytest.mark.spec("U15")
@pytest.mark.parametrize("at", ["click", "narrator.config", "narrator.plain.loop", "narrator.engine.session"])
def test_an_interrupt_while_it_is_loaded_ends_it_without_a_traceback(ferry: Callable[[str], Path], at: str) -> None:
    ferry(QUICK)
    code = (
        "import os, runpy, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {at!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "sys.argv = ['narrator', 'play', 'ferry', '--plain']\n"
        "runpy.run_module('narrator', run_name='__main__', alter_sys=True)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], input="", capture_output=True, text=True, timeout=30, check=False
    )
    assert result.returncode == 130
    assert "Traceback" not in result.stderr
