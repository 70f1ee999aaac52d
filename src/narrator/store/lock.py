"""One writer a campaign (T13): ``flock`` on NAME.narrator.lock beside the file.

The kernel drops the lock with its process, so a lock left by a dead one is taken over without asking. The lock file is
removed while it is held at a clean close; its inode is compared after acquiring, so that nobody holds a lock on a name
that was removed in between.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from narrator.core.errors import StoreError


@dataclass(slots=True)
class WriterLock:
    """A held lock. Owns its file descriptor until ``release``."""

    path: Path
    descriptor: int

    def release(self) -> None:
        """Remove the lock file, then let go. Safe to call twice."""
        if self.descriptor < 0:
            return
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            pass
        finally:
            os.close(self.descriptor)
            self.descriptor = -1


def lock_path(campaign: Path) -> Path:
    """Where the lock of a campaign file lies."""
    return campaign.with_name(campaign.name + ".lock")


def acquire(campaign: Path, *, since: str) -> WriterLock:
    """Take the writer's lock. Raises ``StoreError`` ``locked`` (who holds it) or ``read-only`` (folder or file)."""
    path = lock_path(campaign)
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _named(campaign, path, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise _locked(campaign, path) from None
        try:
            is_current = os.fstat(descriptor).st_ino == os.stat(path).st_ino
        except FileNotFoundError:
            is_current = False
        if is_current:
            break
        os.close(descriptor)
    held = WriterLock(path, descriptor)
    holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": since}
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, json.dumps(holder).encode())
    except OSError as error:
        held.release()
        raise _named(campaign, path, error) from error
    return held


def _named(campaign: Path, path: Path, error: OSError) -> StoreError:
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return StoreError("read-only", f"{campaign.parent} cannot be written to.", "It can still be read.")
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return StoreError("disk-full", f"There is no room to write {path.name}.", "Free some space and try again.")
    return StoreError("io-error", f"{path}: {error.strerror}.")


def _locked(campaign: Path, path: Path) -> StoreError:
    try:
        holder = json.loads(path.read_text())
        who = f"process {holder['pid']} on {holder['host']} since {holder['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        who = "another process"
    return StoreError("locked", f"{campaign.name} is open for writing in {who}.", "It can be read but not written to.")
