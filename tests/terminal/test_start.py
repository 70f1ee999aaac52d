"""The first moments in a terminal: what is typed or sent before the first page is drawn waits for it (U9)."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from narrator.engine.story import Story, create_campaign
from narrator.store import reads

DEFINITION = '[campaign]\nid = "ferry"\ntitle = "The Ferry"\nopening = "Rain falls on the ferry."\n'
PATIENCE = 60.0


class Begun:
    """A narrator of which nothing but the switch to its screen has been seen."""

    def __init__(self, path: Path, home: Path) -> None:
        environment = {**os.environ, "NARRATOR_HOME": str(home), "TERM": "xterm-256color"}
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(sys.executable, [sys.executable, "-m", "narrator", "play", str(path)], environment)
        self.seen = b""
        self.wait_for(b"\x1b[?1049h")

    def wait_for(self, words: bytes) -> None:
        deadline = time.monotonic() + PATIENCE
        while words not in self.seen:
            assert time.monotonic() < deadline, self.seen[-400:]
            if select.select([self.terminal], [], [], 0.1)[0]:
                self.seen += os.read(self.terminal, 65536)

    def exit_code(self) -> int:
        """Read on until the program has ended."""
        deadline = time.monotonic() + PATIENCE
        while not (ended := os.waitpid(self.pid, os.WNOHANG))[0]:
            assert time.monotonic() < deadline, self.seen[-400:]
            if select.select([self.terminal], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.terminal, 65536)
                except OSError:
                    time.sleep(0)
        return os.waitstatus_to_exitcode(ended[1])


@contextmanager
def begun(folder: Path) -> Iterator[Begun]:
    path = folder / "ferry.narrator"
    create_campaign(path, DEFINITION, seed=7)
    program = Begun(path, folder / "home")
    try:
        yield program
    finally:
        os.close(program.terminal)


def draft(folder: Path) -> str:
    story = Story.open(folder / "ferry.narrator")
    kept = reads.draft(story.store)
    story.close()
    return kept.text if kept is not None else ""


@pytest.mark.spec("U9")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_at_the_very_start_gives_the_terminal_back(tmp_path: Path, number: int, code: int) -> None:
    with begun(tmp_path) as program:
        os.kill(program.pid, number)
        assert program.exit_code() == code
        assert b"\x1b[?1049l" in program.seen


@pytest.mark.spec("U9")
def test_quitting_at_the_very_start_is_no_fault(tmp_path: Path) -> None:
    with begun(tmp_path) as program:
        os.write(program.terminal, b"\x11")
        assert program.exit_code() == 0
        assert b"a fault of the program" not in program.seen
    assert "ERROR" not in (tmp_path / "home" / "logs" / "narrator.log").read_text()


@pytest.mark.spec("U9")
@pytest.mark.parametrize("typed", [b"six", b"\x1b[200~six\x1b[201~", b"wrong\x15six", b"sick\x7f\x7fx"])
def test_what_is_typed_at_the_very_start_is_kept(tmp_path: Path, typed: bytes) -> None:
    with begun(tmp_path) as program:
        os.write(program.terminal, typed + b"\x11")
        assert program.exit_code() == 0
    assert draft(tmp_path) == "six"
