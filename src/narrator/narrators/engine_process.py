"""The child process that holds the engine, as its parent sees it: started, asked where it listens, ended (T17).

It is a fresh interpreter and no fork, in a session of its own, so that Ctrl+C in the terminal is not its business. The
model's path and the secret go to it through a pipe; nothing of them is in its arguments.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path
from typing import Any, Final

from narrator.core.errors import NarrationFailed

CHILD: Final = Path(__file__).with_name("engine_child.py")


class EngineProcess:
    """A running engine. Owns the process; ``address`` is where it listens on this machine."""

    def __init__(self, process: Process, address: str) -> None:
        self._process = process
        self._is_killed = False
        self.address = address

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return not self._is_killed and self._process.returncode is None

    def kill(self) -> None:
        """End it now, whatever it does. Waits for nothing."""
        self._is_killed = True
        _kill(self._process)

    async def ended(self) -> None:
        """Wait until it has ended and its memory is free."""
        await self._process.wait()


def _kill(process: Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        # Popen's own kill looks first whether the process has ended, and so takes its end away from asyncio.
        if os.name == "posix":
            os.kill(process.pid, signal.SIGKILL)
        else:
            process.kill()


async def start(name: str, orders: dict[str, Any]) -> EngineProcess:
    """Start an engine and wait until its model is loaded. Cancelled, it ends. Raises ``NarrationFailed``."""
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", str(CHILD)), stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True
        )
    except OSError as error:
        raise NarrationFailed(
            "narrator-unreachable", f"The engine for “{name}” cannot be started: {error.strerror}.", "Try again."
        ) from None
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with contextlib.suppress(ConnectionError):
            process.stdin.write(json.dumps(orders).encode() + b"\n")
            await process.stdin.drain()
        said = _parsed(await process.stdout.readline())
    except BaseException:
        _kill(process)
        raise
    if "address" in said:
        return EngineProcess(process, str(said["address"]))
    process.stdin.close()
    await process.wait()
    raise _explain(name, str(said.get("error", "")))


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def not_installed(name: str) -> NarrationFailed:
    """The extra is missing."""
    return NarrationFailed(
        "narrator-unreachable",
        f"The engine for “{name}” is not installed.",
        "Install narrator with its extra: pip install 'narrator[embedded]'.",
    )


def _explain(name: str, error: str) -> NarrationFailed:
    """Why no engine came up: what it said, or that it ended without a word."""
    if error.startswith(("ModuleNotFoundError", "ImportError")):
        return not_installed(name)
    if not error or error.startswith("MemoryError"):
        return NarrationFailed(
            "narrator-unreachable",
            f"The engine for “{name}” ended while it loaded the model: most likely there is too little memory.",
            "Choose a smaller model or a smaller context_window, or close other programs.",
        )
    return NarrationFailed(
        "narrator-unreachable",
        f"The model of “{name}” cannot be loaded: the file is damaged, of a kind that the engine does not know, or too"
        " large for the memory.",
        "Fetch the file again, or try another with narrator models try.",
    )
