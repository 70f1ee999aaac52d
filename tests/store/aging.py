"""A campaign file as an older program left it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from narrator.store.records import unpack_record

_IN_WORDS = "CREATE TABLE provenance (node_id INTEGER PRIMARY KEY REFERENCES nodes(id), record TEXT NOT NULL) STRICT"


def make_older(path: Path) -> dict[int, str]:
    """Take the sixth migration back, and no other: records in words. Returns them, by node; the campaign is closed."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        records = {
            node_id: json.dumps(unpack_record(node_id, packed), ensure_ascii=False, separators=(",", ":"))
            for node_id, packed in db.execute("SELECT node_id, record FROM provenance ORDER BY 1")
        }
        db.execute("BEGIN")
        db.execute("DROP TABLE provenance")
        db.execute(_IN_WORDS)
        db.executemany("INSERT INTO provenance VALUES (?, ?)", records.items())
        db.execute("DELETE FROM _sqlite_migrations WHERE name = 'm006_records'")
        db.execute("PRAGMA user_version = 5")
        db.execute("COMMIT")
    return records
