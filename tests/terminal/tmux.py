"""A real terminal: narrator in a tmux session of its own, seen and typed at as a player would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from types import TracebackType

PATIENCE = 60.0


class Tmux:
    """Owns one tmux server (its own socket) and ends it. ``home`` is the player's folder."""

    def __init__(self, folder: Path, *, width: int = 80, height: int = 24, escape_time: int = 0) -> None:
        self._folder = folder
        self.socket = self._free_socket()
        self.home = folder / "home"
        self.config = folder / "tmux.conf"
        self.config.write_text(
            f"set -s escape-time {escape_time}\nset -g mouse on\nset -g remain-on-exit on\n"
            "set -g default-terminal tmux-256color\nset -g status off\n"
        )
        self.size = (width, height)
        self.environment: dict[str, str] = {}
        self._ended = folder / "exit-code"

    def __enter__(self) -> Tmux:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            error.add_note("The screen at the end:\n" + self.screen())
        self.end()

    def _free_socket(self) -> Path:
        return next(path for n in count() if not (path := self._folder / f"tmux-{n}").exists())

    def end(self) -> None:
        """End the server; the next start has another, so that none waits for one that is going."""
        self._tmux("kill-server", check=False)
        self.socket = self._free_socket()

    def _tmux(self, *arguments: str, check: bool = True) -> str:
        command = ["tmux", "-S", str(self.socket), "-f", str(self.config), *arguments]
        # A library of this process may have set a size in its environment; that of `os` is as it was.
        done = subprocess.run(command, capture_output=True, check=False, env=dict(os.environ))
        if check and done.returncode:
            raise RuntimeError(done.stderr.decode())
        return done.stdout.decode("utf-8", "replace")

    def start(self, *arguments: str, command: str | None = None) -> None:
        """Run ``narrator ARGUMENTS`` in a new session."""
        env = {"NARRATOR_HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1", "COLORTERM": "truecolor"}
        env |= self.environment
        given = [part for name, value in env.items() for part in ("-e", f"{name}={value}")]
        self._ended.unlink(missing_ok=True)
        # The shell stays as the parent and writes the exit code down: tmux does not always come to know it.
        line = command or " ".join(
            [sys.executable, "-m", "narrator", *arguments, ";", "echo", "$?", ">", str(self._ended)]
        )
        width, height = self.size
        self._tmux("new-session", "-d", "-x", str(width), "-y", str(height), *given, line)

    def keys(self, *keys: str) -> None:
        """Keys by tmux's names (``C-z``, ``Enter``)."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """A text as it stands."""
        self._tmux("send-keys", "-l", text)

    def bytes(self, data: bytes) -> None:
        """Bytes as a terminal would send them."""
        self._tmux("send-keys", "-H", *[f"{each:02x}" for each in data])

    def paste(self, text: str, folder: Path) -> None:
        """A bracketed paste."""
        file = folder / "paste"
        file.write_text(text, encoding="utf-8")
        self._tmux("load-buffer", str(file))
        self._tmux("paste-buffer", "-p")

    def resize(self, width: int, height: int) -> None:
        """Another size of the window."""
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def screen(self) -> str:
        """What is on the screen."""
        return self._tmux("capture-pane", "-p", check=False)

    def wait(self, words: str, patience: float = PATIENCE) -> str:
        """Until the words are on the screen, which is returned."""
        deadline = time.monotonic() + patience
        while words not in (seen := self.screen()):
            if time.monotonic() > deadline:
                raise AssertionError(f"{words!r} never came:\n{seen}")
            rest()
        return seen

    def wait_gone(self, words: str, patience: float = PATIENCE) -> str:
        """Until the words are no longer on the screen."""
        deadline = time.monotonic() + patience
        while words in (seen := self.screen()):
            if time.monotonic() > deadline:
                raise AssertionError(f"{words!r} stayed:\n{seen}")
            rest()
        return seen

    def value(self, what: str) -> str:
        """A tmux format, such as ``#{pane_dead_status}``."""
        return self._tmux("display-message", "-p", what).strip()

    @property
    def pid(self) -> int:
        """Narrator itself: the child of the shell in the pane."""
        shell = self.value("#{pane_pid}")
        found = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        return int(found[0] if found else shell)

    def wait_dead(self, patience: float = PATIENCE) -> None:
        """Until the program of the pane has ended."""
        deadline = time.monotonic() + patience
        while self.value("#{pane_dead}") != "1":
            if time.monotonic() > deadline:
                raise AssertionError("It is still there:\n" + self.screen())
            rest()

    @property
    def exit_code(self) -> str:
        """The exit code of the program that has ended."""
        deadline = time.monotonic() + PATIENCE
        while not (code := self._ended.read_text().strip() if self._ended.exists() else ""):
            if time.monotonic() > deadline:
                break
            rest()
        return code

    def signal(self, number: int) -> None:
        """A signal to narrator."""
        os.kill(self.pid, number)


def rest() -> None:
    """A terminal has no event to wait for: look again soon."""
    time.sleep(0.03)


def is_there() -> bool:
    """Whether tmux is installed."""
    return shutil.which("tmux") is not None
