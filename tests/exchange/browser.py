"""A real Chromium over its debugging pipe, with the standard library alone: what a page asks for and looks like."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_LAUNCH = (
    "import fcntl, os, sys; ends = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]; "
    "os.dup2(ends[0], 3); os.dup2(ends[1], 4); os.execv(sys.argv[3], sys.argv[3:])"
)
"""The browser reads what it is asked from descriptor 3 and answers on 4."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """The browser that is installed and starts, or None."""
    for name in NAMES:
        path = shutil.which(name)
        if path is None:
            continue
        done = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
        if done.returncode == 0:
            return path
    return None


class Chromium:
    """One headless browser with one page. Owns the process and its pipes; ``events`` holds what it told unasked."""

    def __init__(self, path: str, profile: Path) -> None:
        to_read, self._out = os.pipe()
        self._in, to_write = os.pipe()
        options = [
            "--headless=new",
            "--remote-debugging-pipe",
            "--disable-gpu",
            "--no-first-run",
            f"--user-data-dir={profile}",
        ]
        options += ["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        launch = [sys.executable, "-c", _LAUNCH, str(to_read), str(to_write), path, *options, "about:blank"]
        null = subprocess.DEVNULL
        self._process = subprocess.Popen(launch, pass_fds=(to_read, to_write), stdin=null, stdout=null, stderr=null)
        os.close(to_read)
        os.close(to_write)
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[tuple[str, dict[str, Any]]] = []

    def __enter__(self) -> Self:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait(20)
        os.close(self._in)
        os.close(self._out)

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._in, 2**16)
            if not more:
                raise EOFError("the browser has gone")
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        if "method" in found:
            self.events.append((found["method"], found.get("params", {})))
        return found

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask for something and wait for the answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._hear()).get("id") != self._number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def open(self, url: str) -> None:
        """Show a page and wait until it is loaded."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(name == "Page.loadEventFired" for name, _ in self.events):
            self._hear()

    def asks(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def requested(self) -> list[str]:
        """What the page asked for since it was opened."""
        return [told["request"]["url"] for name, told in self.events if name == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """Errors, warnings, exceptions and dialogs since the page was opened."""
        names = (
            "Log.entryAdded",
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Page.javascriptDialogOpening",
        )
        return [f"{name}: {told}" for name, told in self.events if name in names]

    def resize(self, width: int, height: int) -> None:
        """As on a screen of this size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)


@contextmanager
def browsing(path: str, profile: Path) -> Iterator[Chromium]:
    """A browser with an empty profile."""
    with Chromium(path, profile) as browser:
        yield browser
