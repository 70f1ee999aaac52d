"""Backups by SQLite's backup interface: made on a connection of their own, verified, rotated (U22, U19)."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from narrator.core.errors import StoreError

KEPT = 10


def copy_campaign(source: Path, target: Path) -> None:
    """Copy a campaign, open or not, to ``target`` (mode 0600) and check the copy. Raises ``StoreError``."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = target.with_name(target.name + ".part")
    partial.unlink(missing_ok=True)
    try:
        reader = sqlite3.connect(f"file:{_quoted(source)}?mode=ro", uri=True)
        try:
            writer = sqlite3.connect(partial)
            try:
                os.chmod(partial, 0o600)
                reader.backup(writer)
                writer.execute("PRAGMA journal_mode = DELETE")
                answer = writer.execute("PRAGMA quick_check").fetchone()[0]
            finally:
                writer.close()
        finally:
            reader.close()
        if answer != "ok":
            raise StoreError("damaged", f"The backup of {source.name} did not pass its check: {answer}.")
        os.replace(partial, target)
    except sqlite3.Error as error:
        raise StoreError("io-error", f"{source.name} could not be backed up: {error}.") from error
    finally:
        partial.unlink(missing_ok=True)


def backups_of(campaign: Path, folder: Path) -> list[Path]:
    """The backups of a campaign, newest first."""
    return sorted(folder.glob(f"{_glob_safe(campaign.stem)}--*.narrator"), reverse=True)


def back_up(campaign: Path, folder: Path, *, stamp: str) -> Path:
    """Make ``STEM--STAMP.narrator`` in ``folder`` and keep the newest ten. ``stamp`` sorts by time."""
    target = folder / f"{campaign.stem}--{stamp}.narrator"
    copy_campaign(campaign, target)
    for old in backups_of(campaign, folder)[KEPT:]:
        old.unlink(missing_ok=True)
    return target


def is_due(campaign: Path, folder: Path, *, day: str) -> bool:
    """Whether no backup of that day (YYYY-MM-DD) exists."""
    return not any(day in found.name for found in backups_of(campaign, folder))


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(str(path.absolute()))


def _glob_safe(text: str) -> str:
    import glob

    return glob.escape(text)
