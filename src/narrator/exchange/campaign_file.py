"""A new campaign file out of rows: written aside, complete, and only then given its name (X4, S43).

Whatever goes wrong, a stop among it, leaves nothing behind; a library never shows half a campaign.
"""

from __future__ import annotations

import os
import secrets
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from narrator.core.errors import BadImport, StoreError
from narrator.exchange.growth import Batch
from narrator.store import commit, lock
from narrator.store import rows as rows_of
from narrator.store.open import Clock, create_file

SUFFIX = ".narrator"
_NAME_BYTES = 120
_BESIDE = ("", "-wal", "-shm", "-journal")


def file_name(title: str) -> str:
    """A name for a campaign's file out of any text: letters, digits and dashes."""
    plain = unicodedata.normalize("NFC", title).casefold()
    words = "".join(sign if sign.isalnum() else " " for sign in plain).split()
    name = "-".join(words)
    while len(name.encode()) > _NAME_BYTES:
        name = name[:-1]
    return name.strip("-") or "imported"


def make_campaign(folder: Path, name: str, rows: Iterable[Batch], *, clock: Clock) -> Path:
    """Write a campaign of these rows into ``folder``, named ``name`` or with a number where that is taken."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError("read-only", f"{folder} cannot be made: {error.strerror}.") from error
    _sweep(folder)
    aside = folder / f".{secrets.token_hex(8)}.importing"
    try:
        store = create_file(aside, clock=clock)
        try:
            rows_of.write_straight(store)
            commit.restore(store, rows)
        finally:
            store.close()
        return _give_name(aside, folder, name)
    finally:
        for end in (*_BESIDE, ".lock"):
            aside.with_name(aside.name + end).unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Clear away what an import that was killed has left; one that still runs holds its lock."""
    for left in folder.glob(".*.importing"):
        try:
            held = lock.acquire(left, since="")
        except StoreError:
            continue
        for end in _BESIDE:
            left.with_name(left.name + end).unlink(missing_ok=True)
        held.release()


def _give_name(aside: Path, folder: Path, name: str) -> Path:
    for number in range(1, 100_000):
        path = folder / (f"{name}{SUFFIX}" if number == 1 else f"{name}-{number}{SUFFIX}")
        try:
            os.link(aside, path)
        except FileExistsError:
            continue
        except OSError:
            # A file system without hard links: the name is taken by making the file, then the content replaces it.
            if path.exists():
                continue
            os.replace(aside, path)
        return path
    raise BadImport(f"There are too many campaigns named {name}.")
