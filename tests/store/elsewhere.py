"""Work in a forked child: another process, and one that file modes apply to (root ignores them)."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NOBODY = 65534


def in_a_child(work: Callable[[], Any], *, as_nobody: bool = False) -> Any:
    """What ``work`` returns (as JSON), done in a process of its own. An exception comes back as its text."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reader)
            if as_nobody and os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            os.write(writer, json.dumps(work()).encode())
            status = 0
        except BaseException as error:
            os.write(writer, json.dumps(f"{type(error).__name__}: {error}").encode())
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(said)


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    """A folder where syncing costs nothing, on a machine that has one."""
    shm = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="narrator-", dir=shm if os.access(shm, os.W_OK) else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that everybody may go through, and that belongs to nobody."""
    folder = Path(tempfile.mkdtemp(prefix="narrator-modes-"))
    try:
        os.chmod(folder, 0o755)
        give(folder)
        yield folder
    finally:
        os.chmod(folder, 0o755)
        shutil.rmtree(folder)


def give(path: Path) -> None:
    """Make a file or folder nobody's own, where we may."""
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
