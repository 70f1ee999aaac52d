"""Opening a campaign file: what it is, who may write, which schema it has, and the connection itself.

While a process has a campaign open nothing in it may open that file but SQLite: closing any other handle on it would
drop SQLite's locks. So what a file is, SQLite is asked; this module never opens one itself.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from narrator.core.errors import Damaged, StoreError
from narrator.core.lineage import Forest
from narrator.store import lock, schema

Clock = Callable[[], str]


class Store:
    """One open campaign file. Owns the connection, the writer's lock and the branch rows in memory."""

    def __init__(self, path: Path, db: sqlite3.Connection, clock: Clock, held: lock.WriterLock | None) -> None:
        self.path = path
        self.db = db
        self.clock = clock
        self._lock = held
        self._forest_version = -1
        self.forest = Forest(())

    @property
    def is_read_only(self) -> bool:
        return self._lock is None

    def load_forest(self) -> None:
        """Read the branch rows (half a millisecond a thousand)."""
        rows = self.db.execute(
            "SELECT id, parent_id, fork_depth, name, hidden_by IS NOT NULL FROM branches ORDER BY id"
        )
        self.forest = Forest.of_rows(rows)

    @contextmanager
    def looking(self) -> Iterator[None]:
        """One look at the file as it is at one instant, branches and nodes of the same story (T13).

        A reader beside a writer needs it around whatever it reads together; for the writer itself nothing is done.
        """
        if not self.is_read_only or self.db.in_transaction:
            yield
            return
        with translated(self.path):
            self.db.execute("BEGIN")
            try:
                self.db.execute("SELECT 1 FROM campaign").fetchone()  # From here on the file stands still.
                version = self.db.execute("PRAGMA data_version").fetchone()[0]
                if version != self._forest_version:
                    self.load_forest()
                    self._forest_version = version
                yield
            finally:
                if self.db.in_transaction:
                    self.db.execute("COMMIT")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One synchronous transaction, all or nothing, also on BaseException (S46). Never await inside it."""
        if self.is_read_only:
            raise StoreError("read-only", f"{self.path.name} is open for reading only.")
        with translated(self.path):
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield self.db
                self.db.execute("COMMIT")
            except BaseException:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                self.load_forest()
                raise

    def close(self) -> None:
        """Close the connection (the last one folds the WAL into the file), then let the lock go."""
        try:
            self.db.close()
        finally:
            if self._lock is not None:
                self._lock.release()
                self._lock = None
            else:
                fold_wal(self.path)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into named ones (T14). The original is chained for the log."""
    try:
        yield
    except sqlite3.Error as error:
        raise _named(path, error) from error


def _named(path: Path, error: sqlite3.Error) -> StoreError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    name = path.name
    if code == sqlite3.SQLITE_FULL:
        return StoreError("disk-full", f"There is no room to write {name}.", "Free some space and send it again.")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        return StoreError("read-only", f"{name} cannot be written to or opened here.")
    if code == sqlite3.SQLITE_NOTADB:
        return StoreError("not-a-campaign", f"{name} is no SQLite file.")
    if code == sqlite3.SQLITE_CORRUPT:
        return Damaged(f"{name} is damaged: {error}.")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError("locked", f"{name} is being written to by another process.", "Try again.")
    return StoreError("io-error", f"{name}: {error}.")


def inspect_file(path: Path) -> None:
    """Look at a path without opening it. Raises no-such-campaign, not-a-campaign, read-only, io-error."""
    try:
        is_folder = stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(
            "no-such-campaign", f"There is no campaign {path}.", "See `narrator list` for what there is."
        ) from None
    except PermissionError as error:
        raise StoreError("read-only", f"{path} may not be read.") from error
    except OSError as error:
        raise StoreError("io-error", f"{path}: {error.strerror}.") from error
    if is_folder:
        raise StoreError("not-a-campaign", f"{path} is a folder.")
    if not os.access(path, os.R_OK):
        raise StoreError("read-only", f"{path} may not be read.")


def open_store(path: Path, *, clock: Clock, read_only: bool = False, backups: Path | None = None) -> Store:
    """Open a campaign. ``backups`` is where a copy goes before a migration (U19); beside the file where None.

    Raises ``StoreError``: no-such-campaign, not-a-campaign, locked, read-only, newer-schema, damaged, io-error.
    """
    inspect_file(path)
    if not read_only and not os.access(path, os.W_OK):
        raise StoreError("read-only", f"{path.name} may not be written to.", "It can still be read.")
    held = None if read_only else lock.acquire(path, since=clock())
    is_alone = not _has_wal(path)
    try:
        with translated(path):
            db = connect(path, read_only=read_only)
            try:
                _check_schema(path, db, read_only=read_only, backups=backups, clock=clock)
                store = Store(path, db, clock, held)
                store.load_forest()
            except BaseException:
                db.close()
                raise
            return store
    except BaseException:
        if held is not None:
            held.release()
        elif is_alone:
            fold_wal(path)
        raise


def create_file(path: Path, *, clock: Clock) -> Store:
    """Make a new, empty campaign file (0600). Raises ``StoreError`` where something is there already.

    Where it cannot be finished nothing is left of it.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise StoreError("io-error", f"{path} is there already.", "Choose another name.") from None
    except PermissionError as error:
        raise StoreError("read-only", f"{path.parent} cannot be written to.") from error
    except OSError as error:
        raise StoreError("io-error", f"{path}: {error.strerror}.") from error
    held: lock.WriterLock | None = None
    db: sqlite3.Connection | None = None
    try:
        held = lock.acquire(path, since=clock())
        with translated(path):
            db = connect(path, read_only=False)
            _use_wal(db)
            db.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
            schema.migrate(db)
            store = Store(path, db, clock, held)
            store.load_forest()
            return store
    except BaseException:
        if db is not None:
            db.close()
        remove_file(path)
        if held is not None:
            held.release()
        raise


def remove_file(path: Path) -> None:
    """Remove a campaign that could not be finished, closed before, and what SQLite may have left beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """A connection with the pragmas of this program. In a folder that cannot be written to, without a WAL beside the
    file, SQLite needs ``immutable`` to read a WAL file."""
    if not read_only:
        uri = f"file:{quote(str(path.absolute()))}?mode=rw"
    else:
        is_immutable = not _has_wal(path) and not os.access(path.parent, os.W_OK)
        mode = "immutable=1" if is_immutable else "mode=ro"
        uri = f"file:{quote(str(path.absolute()))}?{mode}"
    db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=2.0, check_same_thread=False)
    try:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA recursive_triggers = OFF")
        db.execute("PRAGMA cache_size = -16000")
    except BaseException:
        db.close()
        raise
    return db


def _has_wal(path: Path) -> bool:
    return path.with_name(path.name + "-wal").exists()


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that reads, for a moment; a file that was single before is so afterwards, whatever was found in it.

    Raises ``not-a-campaign``, and what SQLite raises.
    """
    is_alone = not _has_wal(path)
    db = connect(path, read_only=True)
    try:
        require_campaign(path, db)
        is_alone = True
        yield db
    finally:
        db.close()
        if is_alone:
            fold_wal(path)


def fold_wal(path: Path) -> None:
    """After a reader's close: a campaign is a single file again (contract), unless somebody has it open.

    SQLite makes ``-wal`` and ``-shm`` for a reader too, and only a connection that may write takes them away.
    """
    if not _has_wal(path) or not os.access(path, os.W_OK):
        return
    try:
        held = lock.acquire(path, since="")
    except StoreError:
        return
    try:
        db = connect(path, read_only=False)
        try:
            db.execute("SELECT 1 FROM sqlite_schema").fetchone()
        finally:
            db.close()
    except sqlite3.Error:
        return
    finally:
        held.release()


def _use_wal(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")


def _check_schema(path: Path, db: sqlite3.Connection, *, read_only: bool, backups: Path | None, clock: Clock) -> None:
    require_campaign(path, db)
    found = db.execute("PRAGMA user_version").fetchone()[0]
    known = schema.schema_version()
    if found > known:
        raise StoreError("newer-schema", f"{path.name} was made by a newer narrator.", "Update narrator to open it.")
    if not read_only:
        _use_wal(db)
    if found < known:
        if read_only:
            raise StoreError(
                "read-only",
                f"{path.name} is from an older narrator; playing it brings it up to date, behind a backup.",
            )
        from narrator.store.backup import back_up  # It copies by a connection of this module.

        folder = backups if backups is not None else path.parent
        back_up(path, folder, stamp=f"{clock()[:10]}-before-schema-{known}")
        schema.migrate(db)


def require_campaign(path: Path, db: sqlite3.Connection) -> None:
    """Raises ``not-a-campaign`` where the file is some other database, or empty."""
    if db.execute("PRAGMA application_id").fetchone()[0] != schema.APPLICATION_ID:
        raise StoreError("not-a-campaign", f"{path} is no narrator campaign.")
