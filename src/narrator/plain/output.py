"""Standard output and standard error as one ordered stream of text, written by a thread of its own.

A pipe that nobody empties must not stop the loop from hearing ``/stop`` or a signal. Always UTF-8, whatever the locale.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import Protocol


class Sink(Protocol):
    """Takes text in order; ``is_error`` sends it to standard error."""

    def write(self, text: str, *, is_error: bool = False) -> None: ...


class Output:
    """Owns the writing thread. ``on_closed`` is called in that thread, once, when nobody reads standard output."""

    def __init__(self, on_closed: Callable[[], None], out: int = 1, err: int = 2) -> None:
        self._on_closed = on_closed
        self._descriptors = (out, err)
        self._pieces: queue.SimpleQueue[tuple[int, bytes] | threading.Event | None] = queue.SimpleQueue()
        self._is_open = [True, True]
        self._thread = threading.Thread(target=self._run, name="standard output", daemon=True)
        self._thread.start()

    def write(self, text: str, *, is_error: bool = False) -> None:
        """Queue the text; returns at once."""
        if text:
            self._pieces.put((int(is_error), text.encode("utf-8", "replace")))

    def flush(self) -> None:
        """Return when all that was queued has been written."""
        written = threading.Event()
        self._pieces.put(written)
        while self._thread.is_alive() and not written.wait(0.2):
            continue

    def close(self, seconds: float | None = None) -> None:
        """Write what is queued; give up after ``seconds`` (None: never)."""
        self._pieces.put(None)
        self._thread.join(seconds)

    def _run(self) -> None:
        while (piece := self._pieces.get()) is not None:
            if isinstance(piece, threading.Event):
                piece.set()
                continue
            which, data = piece
            if not self._is_open[which]:
                continue
            try:
                while data:
                    data = data[os.write(self._descriptors[which], data) :]
            except OSError:
                self._is_open[which] = False
                if which == 0:
                    # It ends quietly (contract): what stops now is not worth a word on standard error either.
                    self._is_open[1] = False
                    self._on_closed()
