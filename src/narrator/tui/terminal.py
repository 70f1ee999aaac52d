"""The driver of a terminal that may go away or change: a hang-up ends the program, it never leaves it waiting (U9, T3).

Textual writes to the terminal from a thread over a queue of thirty. When the terminal is gone that thread dies, the
queue fills, and the whole program waits for ever. Here writing to nothing is nothing, and a reader that finds the
terminal gone tells the app, which keeps the draft and closes the file.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.driver import Driver


class Unbreakable:
    """A file whose end may be gone: from the first error on, what is written is dropped."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.is_gone = False

    def write(self, text: str) -> int:
        """Write, or drop."""
        if not self.is_gone:
            try:
                return self._file.write(text)
            except OSError:
                self.is_gone = True
        return len(text)

    def flush(self) -> None:
        """Flush, or nothing."""
        if not self.is_gone:
            try:
                self._file.flush()
            except OSError:
                self.is_gone = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def leave_on_signals(leave: Callable[[int], None]) -> None:
    """SIGTERM and SIGHUP call ``leave`` with the exit code that stands for them, in the running loop."""
    for name, code in (("SIGTERM", 143), ("SIGHUP", 129)):
        number = getattr(signal, name, None)
        if number is not None:
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                asyncio.get_running_loop().add_signal_handler(number, leave, code)


def terminal_driver() -> type[Driver] | None:
    """Textual's driver for this platform, made to survive a hang-up; None where it needs no help."""
    if sys.platform == "win32":
        return None
    from textual.drivers.linux_driver import LinuxDriver

    class TerminalDriver(LinuxDriver):
        """``LinuxDriver`` over a file that cannot break."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._file: Any = Unbreakable(self._file)

        def _get_terminal_size(self) -> tuple[int, int]:
            """What the terminal itself says: an exported COLUMNS or LINES knows no resize (U1)."""
            try:
                size = os.get_terminal_size(self.fileno)
            except OSError:
                return super()._get_terminal_size()
            return (size.columns, size.lines) if all(size) else super()._get_terminal_size()

        def _run_input_thread(self) -> None:
            try:
                self.run_input_thread()
            except OSError:
                self._file.is_gone = True
                hung_up = getattr(self._app, "hung_up", None)
                if hung_up is not None:
                    self._app.call_later(hung_up)

    return TerminalDriver
