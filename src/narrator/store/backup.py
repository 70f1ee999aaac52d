"""Backups by SQLite's backup interface: made on a connection of their own, verified, rotated (U22, U19)."""

from __future__ import annotations

import errno
import glob
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from narrator.core.errors import StoreError
from narrator.store.open import reading, translated

KEPT = 10


def copy_campaign(source: Path, target: Path) -> None:
    """Copy a campaign, open or not, to ``target`` (mode 0600) and check the copy. Raises ``StoreError``.

    What stood at ``target`` is replaced when the copy has passed its check, not before.
    """
    partial = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial.unlink(missing_ok=True)
        try:
            os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with translated(source):
                answer = _copy(source, partial)
            if answer != "ok":
                raise StoreError("damaged", f"The backup of {source.name} did not pass its check: {answer}.")
            os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        code = "disk-full" if is_full else "read-only" if isinstance(error, PermissionError) else "io-error"
        raise StoreError(code, f"{source.name} could not be backed up: {target}: {error.strerror}.") from error


def _copy(source: Path, partial: Path) -> str:
    """Copy the pages; what ``quick_check`` says of the copy."""
    with reading(source) as reader, closing(sqlite3.connect(partial)) as writer:
        reader.backup(writer)
        writer.execute("PRAGMA journal_mode = DELETE")
        return str(writer.execute("PRAGMA quick_check").fetchone()[0])


def backups_of(campaign: Path, folder: Path) -> list[Path]:
    """The backups of a campaign, newest first."""
    found = folder.glob(f"{glob.escape(campaign.stem)}--*.narrator")
    return sorted((path for path in found if "--" not in f"-{_stamp(campaign, path)}"), reverse=True)


def _stamp(campaign: Path, found: Path) -> str:
    """What stands behind the campaign's name and ``--``. Of another campaign, whose name only begins so, it begins with
    a hyphen or holds two."""
    return found.stem.removeprefix(f"{campaign.stem}--")


def back_up(campaign: Path, folder: Path, *, stamp: str) -> Path:
    """Make ``STEM--STAMP.narrator`` in ``folder`` and keep the newest ten. ``stamp`` sorts by time."""
    target = folder / f"{campaign.stem}--{stamp}.narrator"
    copy_campaign(campaign, target)
    for old in backups_of(campaign, folder)[KEPT:]:
        old.unlink(missing_ok=True)
    return target


def is_due(campaign: Path, folder: Path, *, day: str) -> bool:
    """Whether no backup of that day (YYYY-MM-DD) exists."""
    return not any(_stamp(campaign, found).startswith(day) for found in backups_of(campaign, folder))
