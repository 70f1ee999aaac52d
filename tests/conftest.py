"""What every test stands on: a scratch home, and two watchers that fail a test which goes where it must not.

The home is set here, before narrator is imported for the first time. The watchers are audit hooks: they see every
``open`` of the process, whoever calls it, also where the caller swallows the error.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import hypothesis
import platformdirs
import pytest

if "narrator" in sys.modules:
    raise pytest.UsageError("narrator was imported before tests/conftest.py could set NARRATOR_HOME.")


# A busy machine is no failure: what takes long is found by the benchmarks.
hypothesis.settings.register_profile(
    "narrator", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.load_profile("narrator")


def _own_folders() -> tuple[str, ...]:
    """The folders that hold the player's own campaigns, settings and logs, as they were before this run."""
    folders = [
        platformdirs.user_config_dir("narrator", appauthor=False),
        platformdirs.user_data_dir("narrator", appauthor=False),
        platformdirs.user_log_dir("narrator", appauthor=False),
        platformdirs.user_state_dir("narrator", appauthor=False),
        platformdirs.user_cache_dir("narrator", appauthor=False),
    ]
    # A worker of pytest-xdist inherits the scratch home of the run; that one is not the player's.
    if (home := os.environ.get("NARRATOR_HOME")) and "NARRATOR_TEST_RUN" not in os.environ:
        folders.append(home)
    return tuple(os.path.realpath(folder) for folder in folders)


OWN = _own_folders()
SCRATCH = Path(tempfile.mkdtemp(prefix="narrator-tests-"))
os.environ["NARRATOR_HOME"] = str(SCRATCH / "home")
os.environ["NARRATOR_TEST_RUN"] = "1"
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)


class Watch:
    """Sees every file that is opened. Owns the list of trespasses and the set of campaigns that SQLite has open.

    ``own`` are folders that nothing may open anything in. A campaign counts as connected from the moment
    ``sqlite3.connect`` returns until its last connection is closed or collected; while it does, an ``open`` of it or
    of its ``-wal`` or ``-shm`` is a trespass: closing that handle would drop SQLite's locks.
    """

    PATHS = frozenset(
        {
            "open",
            "sqlite3.connect",
            "os.mkdir",
            "os.rename",
            "os.remove",
            "os.rmdir",
            "os.listdir",
            "os.scandir",
            "os.chmod",
        }
    )

    def __init__(self, own: tuple[str, ...]) -> None:
        self.own = own
        self.trespasses: list[str] = []
        self._connected: dict[int, str] = {}
        self._opening = threading.local()

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if event == "sqlite3.connect/handle":
            path = getattr(self._opening, "path", None)
            if path is not None:
                self._connected[id(args[0])] = path
            return
        if event not in self.PATHS or not args or not isinstance(args[0], str | bytes | os.PathLike):
            return
        path = self._plain(os.fsdecode(args[0]))
        if event == "sqlite3.connect":
            self._opening.path = path
        if self.own and any(path == folder or path.startswith(folder + os.sep) for folder in self.own):
            self._refuse(f"{event} of {path}: that is the player's own")
        if event == "open" and self._connected:
            campaign = path.removesuffix("-wal").removesuffix("-shm")
            if campaign in self._connected.values() and self.is_connected(campaign):
                self._refuse(f"open of {path} while SQLite has it open")

    @staticmethod
    def _plain(path: str) -> str:
        if path.startswith("file:"):
            path = unquote(path[5:].split("?", 1)[0])
        # Not realpath: it would ask the disk at each of the thousands of openings of a run.
        return os.path.abspath(path)

    def _refuse(self, what: str) -> None:
        self.trespasses.append(what)
        raise PermissionError(what)

    def is_connected(self, path: str) -> bool:
        """Whether a connection to ``path`` is alive. Closed and collected ones are forgotten here."""
        for connection in gc.get_objects():
            # By type, not isinstance: proxies among the objects would answer with code of their own.
            if issubclass(type(connection), sqlite3.Connection) and self._connected.get(id(connection)) == path:
                try:
                    assert connection.total_changes >= 0
                except sqlite3.ProgrammingError:
                    del self._connected[id(connection)]
                else:
                    return True
        self._connected = {key: value for key, value in self._connected.items() if value != path}
        return False


watch = Watch(OWN)
sys.addaudithook(watch)


@pytest.fixture(autouse=True)
def _watched() -> Iterator[None]:
    """Fail the test that opened a player's own file, or a campaign file behind SQLite's back."""
    watch.trespasses.clear()
    yield
    trespasses, watch.trespasses = watch.trespasses, []
    assert not trespasses, "; ".join(trespasses)


def _own_state() -> dict[str, tuple[int, int] | None]:
    """Size and time of every file of the player's own: what a child process with another environment would change."""
    found: dict[str, tuple[int, int] | None] = {}
    for folder in OWN:
        for root, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(root, name)
                try:
                    status = os.stat(path, follow_symlinks=False)
                except OSError:
                    continue
                found[path] = (status.st_size, status.st_mtime_ns)
    return found


def pytest_sessionstart(session: pytest.Session) -> None:
    watch.own = ()  # looking at them is what this does itself
    session.config.stash[_BEFORE] = _own_state()
    watch.own = OWN


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    watch.own = ()
    changed = session.config.stash[_BEFORE].items() ^ _own_state().items()
    if changed and not hasattr(session.config, "workerinput"):
        names = ", ".join(sorted({path for path, _ in changed})[:5])
        sys.stderr.write(f"\nThis run touched files of the player's own: {names}\n")
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR


_BEFORE: pytest.StashKey[dict[str, tuple[int, int] | None]] = pytest.StashKey()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh NARRATOR_HOME for this test alone."""
    folder = tmp_path / "home"
    monkeypatch.setenv("NARRATOR_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def model() -> Path:
    """The small real model that ``make test-embedded`` has fetched; for tests that are marked ``embedded``."""
    path = os.environ.get("NARRATOR_TEST_MODEL", "")
    assert path, "NARRATOR_TEST_MODEL names no model: run `make test-embedded`."
    return Path(path)


@pytest.fixture
def clock() -> Callable[[], str]:
    """A clock that stands still at 2026-01-02T03:04:05Z."""
    return lambda: "2026-01-02T03:04:05Z"


@pytest.fixture
def ticking_clock() -> Callable[[], str]:
    """A clock that is a second later at each look, from 2026-01-02T00:00:00Z on (for a day)."""
    seconds = iter(range(24 * 60 * 60))

    def tick() -> str:
        now = next(seconds)
        return f"2026-01-02T{now // 3600:02}:{now // 60 % 60:02}:{now % 60:02}Z"

    return tick
