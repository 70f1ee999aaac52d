"""Standard input as numbered lines, read beside a running loop.

A daemon thread reads the descriptor itself and hands each line to the loop with ``call_soon_threadsafe``: a pipe, a
file and a terminal all work, nothing holds the exit, and the terminal's own mode is left alone. On a terminal the
prompt goes through readline while nothing runs (U25); while a turn runs lines are read as the terminal gives them.
"""

from __future__ import annotations

import os
import queue
import select
import sys
import threading
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

HISTORY_LENGTH = 1000


class Line(NamedTuple):
    """A line without its end; ``number`` counts from 1; ``is_clean`` unless bytes that are no UTF-8 were replaced."""

    number: int
    text: str
    is_clean: bool = True


class Source(Protocol):
    """Where lines come from. ``begin`` is called once; ``expect`` tells whether the next line is prompted for."""

    def begin(self, loop: AbstractEventLoop, on_line: Callable[[Line], None], on_end: Callable[[], None]) -> None: ...

    def expect(self, prompt: str | None) -> None: ...

    def close(self) -> None: ...


class Splitter:
    """Bytes into lines, at line feeds alone; a carriage return before one goes too, and a first byte order mark."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._number = 0

    def feed(self, data: bytes) -> list[Line]:
        """The lines that ``data`` completes."""
        self._rest += data
        if b"\n" not in data:
            return []
        *whole, rest = self._rest.split(b"\n")
        self._rest = rest
        return [self._line(bytes(raw)) for raw in whole]

    def finish(self) -> list[Line]:
        """A last line without an end."""
        raw, self._rest = bytes(self._rest), bytearray()
        return [self._line(raw)] if raw else []

    def add(self, text: str) -> Line:
        """A line that came as text."""
        self._number += 1
        return Line(self._number, text.encode("utf-8", "replace").decode("utf-8"))

    def _line(self, raw: bytes) -> Line:
        self._number += 1
        raw = raw.removesuffix(b"\r")
        if self._number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            return Line(self._number, raw.decode("utf-8"))
        except UnicodeDecodeError:
            return Line(self._number, raw.decode("utf-8", "replace"), is_clean=False)


class StreamSource:
    """Lines of a descriptor that is no terminal, or of a terminal without prompts. Owns its thread."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor

    def begin(self, loop: AbstractEventLoop, on_line: Callable[[Line], None], on_end: Callable[[], None]) -> None:
        """Start reading; both callables run in the loop."""

        def read() -> None:
            splitter = Splitter()
            # A closed loop refuses what comes after the end; nobody waits for it.
            with suppress(RuntimeError):
                while data := self._read():
                    for line in splitter.feed(data):
                        loop.call_soon_threadsafe(on_line, line)
                for line in splitter.finish():
                    loop.call_soon_threadsafe(on_line, line)
                loop.call_soon_threadsafe(on_end)

        threading.Thread(target=read, name="standard input", daemon=True).start()

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, 65536)
        except OSError:
            # A terminal that hung up, a descriptor that was closed: the end of input.
            return b""

    def expect(self, prompt: str | None) -> None:
        """Nothing is prompted for."""

    def close(self) -> None:
        """The thread ends with the process."""


class TerminalSource:
    """Lines of a terminal, prompted for through readline while nothing runs. Owns its thread and the history.

    ``flush`` returns when all output has been written.
    """

    def __init__(self, history: Path | None = None, flush: Callable[[], None] = lambda: None) -> None:
        self._history = history
        self._flush = flush
        self._is_prompting = False
        self._wanted: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._wake_out, self._wake_in = os.pipe()
        self._modes: list[object] | None = None
        self._readline = _load_readline(history)

    def begin(self, loop: AbstractEventLoop, on_line: Callable[[Line], None], on_end: Callable[[], None]) -> None:
        """Start the thread; it reads nothing before ``expect``."""
        import termios

        with suppress(termios.error):
            self._modes = list(termios.tcgetattr(0))
        splitter = Splitter()

        def read() -> None:
            with suppress(RuntimeError):
                while True:
                    prompt = self._latest()
                    lines = self._prompt(splitter, prompt) if prompt is not None else self._listen(splitter)
                    if lines is None:
                        break
                    for line in lines:
                        loop.call_soon_threadsafe(on_line, line)
                loop.call_soon_threadsafe(on_end)

        threading.Thread(target=read, name="terminal", daemon=True).start()

    def _prompt(self, splitter: Splitter, prompt: str) -> list[Line] | None:
        # readline writes for itself: what was told has to stand there first.
        self._flush()
        self._is_prompting = True
        try:
            line = splitter.add(input(prompt))
        except (EOFError, OSError):
            return None
        finally:
            self._is_prompting = False
        # What was expected meanwhile is past: this line changes it.
        while not self._wanted.empty():
            self._wanted.get()
        return [line]

    def _latest(self) -> str | None:
        """What is expected now; waits where nothing is."""
        wanted = self._wanted.get()
        while not self._wanted.empty():
            wanted = self._wanted.get()
        return wanted

    def _listen(self, splitter: Splitter) -> list[Line] | None:
        """Lines until somebody expects something else. None at the end of input."""
        found: list[Line] = []
        while not found and self._wanted.empty():
            readable, _, _ = select.select([0, self._wake_out], [], [])
            if self._wake_out in readable:
                os.read(self._wake_out, 1024)
                continue
            try:
                data = os.read(0, 65536)
            except OSError:
                data = b""
            if not data:
                return None
            found = splitter.feed(data)
        return found

    def expect(self, prompt: str | None) -> None:
        """Prompt for the next line, or (None) read it without a prompt."""
        self._wanted.put(prompt)
        os.write(self._wake_in, b".")

    def close(self) -> None:
        """Keep the inputs for the next session, and leave the terminal as it was found."""
        if self._readline is not None and self._history is not None:
            with suppress(OSError):
                self._history.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.close(os.open(self._history, os.O_WRONLY | os.O_CREAT, 0o600))
                self._readline.write_history_file(str(self._history))
                self._history.chmod(0o600)
        if self._is_prompting:
            with suppress(OSError):
                os.write(1, b"\n")
        if self._modes is not None:
            import termios

            with suppress(termios.error):
                termios.tcsetattr(0, termios.TCSADRAIN, self._modes)  # type: ignore[arg-type]


def _load_readline(history: Path | None) -> Any:
    try:
        import readline
    except ImportError:
        return None
    readline.set_history_length(HISTORY_LENGTH)
    # It would write escapes around every prompt.
    readline.parse_and_bind("set enable-bracketed-paste off")
    if history is not None:
        with suppress(OSError):
            readline.read_history_file(str(history))
    reconfigure = getattr(sys.stdin, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="replace")
    return readline
