"""The schema of a campaign file, as append-only migrations. Each runs in its own transaction.

``SCHEMA_VERSION`` (PRAGMA user_version) counts the migrations; a file with a higher one was made by a newer program.
Ids are never reused (S7: AUTOINCREMENT). Derived rows hang from nodes; coordinates are an index over them (S4).
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from narrator.store.records import pack_text

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION_ID = 0x4E415252  # "NARR"

_STORY = """
CREATE TABLE campaign (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    campaign_id TEXT NOT NULL,
    title TEXT NOT NULL,
    seed INTEGER NOT NULL,
    head_node_id INTEGER REFERENCES nodes(id),
    tip_node_id INTEGER REFERENCES nodes(id),
    revision INTEGER NOT NULL DEFAULT 0,
    visit_counter INTEGER NOT NULL DEFAULT 0,
    steps_written INTEGER NOT NULL DEFAULT 0,
    fork_node_id INTEGER REFERENCES nodes(id),
    narrator TEXT,
    is_tracking INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    played_at TEXT NOT NULL,
    played_seconds REAL NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE definitions (
    version INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE branches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    parent_id INTEGER REFERENCES branches(id),
    fork_depth INTEGER NOT NULL,
    name TEXT,
    hidden_by INTEGER REFERENCES deletions(id),
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX branches_parent ON branches(parent_id);

CREATE TABLE nodes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    parent_id INTEGER REFERENCES nodes(id),
    branch_id INTEGER REFERENCES branches(id),
    depth INTEGER NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('opening', 'player', 'narrator', 'correction')),
    mode TEXT CHECK (mode IN ('do', 'say', 'story', 'continue')),
    text TEXT NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('typed', 'generated', 'edited', 'retold', 'imported')),
    source_id INTEGER,
    chain_hash BLOB NOT NULL,
    created_at TEXT NOT NULL,
    pinned INTEGER NOT NULL DEFAULT 0,
    rolls INTEGER NOT NULL DEFAULT 0,
    unknown INTEGER NOT NULL DEFAULT 0,
    written INTEGER NOT NULL DEFAULT 0,
    hidden_by INTEGER REFERENCES deletions(id)
) STRICT;
CREATE UNIQUE INDEX nodes_coordinate ON nodes(branch_id, depth);
CREATE INDEX nodes_parent ON nodes(parent_id, hidden_by);
CREATE INDEX nodes_unplaced ON nodes(id) WHERE branch_id IS NULL;
CREATE INDEX nodes_hidden ON nodes(hidden_by) WHERE hidden_by IS NOT NULL;
CREATE INDEX nodes_corrections ON nodes(branch_id, depth) WHERE role = 'correction';
CREATE INDEX nodes_source ON nodes(source_id) WHERE source_id IS NOT NULL;

CREATE TABLE deletions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE checkpoints (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    node_id INTEGER NOT NULL REFERENCES nodes(id),
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX checkpoints_node ON checkpoints(node_id);

CREATE TABLE visits (
    tip_node_id INTEGER PRIMARY KEY REFERENCES nodes(id),
    head_node_id INTEGER NOT NULL REFERENCES nodes(id),
    counter INTEGER NOT NULL,
    visited_at TEXT NOT NULL,
    written INTEGER NOT NULL
) STRICT;
CREATE INDEX visits_counter ON visits(counter);
CREATE INDEX visits_head ON visits(head_node_id);

CREATE TABLE places (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    stack TEXT NOT NULL CHECK (stack IN ('back', 'forward')),
    head_node_id INTEGER NOT NULL,
    tip_node_id INTEGER NOT NULL
) STRICT;
CREATE INDEX places_stack ON places(stack, seq);
CREATE INDEX places_head ON places(head_node_id);

CREATE TABLE state_events (
    node_id INTEGER NOT NULL REFERENCES nodes(id),
    seq INTEGER NOT NULL,
    op TEXT NOT NULL,
    path TEXT NOT NULL,
    value TEXT,
    previous TEXT,
    source TEXT NOT NULL,
    source_node_id INTEGER,
    note TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (node_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE checks (
    node_id INTEGER NOT NULL REFERENCES nodes(id),
    seq INTEGER NOT NULL,
    skill TEXT NOT NULL,
    difficulty TEXT NOT NULL,
    outcome TEXT NOT NULL,
    roll INTEGER NOT NULL,
    total INTEGER NOT NULL,
    target INTEGER NOT NULL,
    source_node_id INTEGER,
    PRIMARY KEY (node_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshots (
    node_id INTEGER PRIMARY KEY REFERENCES nodes(id),
    state TEXT NOT NULL
) STRICT;

CREATE TABLE memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id INTEGER NOT NULL REFERENCES nodes(id),
    text TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('typed', 'generated', 'imported')),
    first_depth INTEGER,
    pinned INTEGER NOT NULL DEFAULT 0,
    forgotten INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX memories_node ON memories(node_id);
CREATE INDEX memories_pinned ON memories(node_id) WHERE pinned = 1;
CREATE VIRTUAL TABLE memories_fts USING fts5(words, tokenize = 'porter unicode61');

CREATE TABLE comments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id INTEGER NOT NULL REFERENCES nodes(id),
    text TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX comments_node ON comments(node_id);

CREATE TABLE context_checkpoints (
    at_node_id INTEGER PRIMARY KEY REFERENCES nodes(id),
    covered_through_node_id INTEGER NOT NULL REFERENCES nodes(id),
    retained_from_node_id INTEGER REFERENCES nodes(id),
    checkpoint_schema_version INTEGER NOT NULL,
    prompt_schema_version INTEGER NOT NULL,
    stable_prefix_hash BLOB NOT NULL,
    summary_json TEXT NOT NULL,
    source_hash BLOB NOT NULL,
    is_partial INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX context_checkpoints_covered ON context_checkpoints(covered_through_node_id);
CREATE INDEX context_checkpoints_retained ON context_checkpoints(retained_from_node_id);

CREATE TABLE provenance (
    node_id INTEGER PRIMARY KEY REFERENCES nodes(id),
    record TEXT NOT NULL
) STRICT;

CREATE TABLE parts (
    hash BLOB PRIMARY KEY,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE card_edits (
    name TEXT PRIMARY KEY,
    enabled INTEGER,
    text TEXT,
    deleted INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE agreed_hosts (
    host TEXT PRIMARY KEY,
    agreed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE draft (
    slot TEXT PRIMARY KEY CHECK (slot IN ('composed', 'sent')),
    text TEXT NOT NULL,
    mode TEXT NOT NULL,
    saved_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""


def m001_story(db: Database) -> None:
    """The tree and all that hangs from its nodes."""
    for statement in _STORY.split(";"):
        if statement.strip():
            db.conn.execute(statement)


_KEPT = """
CREATE TABLE kept (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT
"""


def m002_kept(db: Database) -> None:
    """What imports brought that this program does not use: fields of cards, scripts (X6)."""
    db.conn.execute(_KEPT)


_KNOWLEDGE = (
    """
CREATE TABLE knowledge (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('canon', 'reference', 'inspiration')),
    enabled INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    condition TEXT NOT NULL DEFAULT ''
) STRICT
""",
    """
CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    knowledge_id INTEGER NOT NULL REFERENCES knowledge(id),
    text TEXT NOT NULL
) STRICT
""",
    "CREATE INDEX passages_knowledge ON passages(knowledge_id, id)",
    "CREATE VIRTUAL TABLE passages_fts USING fts5(words, tokenize = 'porter unicode61')",
)


def m003_knowledge(db: Database) -> None:
    """Imported sources in passages; they belong to the campaign, not to a path (S35, C28)."""
    for statement in _KNOWLEDGE:
        db.conn.execute(statement)


_SPENDING = """
CREATE TABLE spending (
    narrator TEXT PRIMARY KEY,
    cost REAL NOT NULL
) STRICT, WITHOUT ROWID
"""


def m004_spending(db: Database) -> None:
    """What each narrator has cost in this campaign, whatever became of its answers (U13)."""
    db.conn.execute(_SPENDING)


_VECTORS = """
CREATE TABLE memory_vectors (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL UNIQUE REFERENCES memories(id),
    model TEXT NOT NULL,
    vector BLOB NOT NULL
) STRICT
"""


def m005_vectors(db: Database) -> None:
    """What memories mean, as vectors: derived, disposable, made again in upkeep (C24)."""
    db.conn.execute(_VECTORS)


_RECORDS = """
CREATE TABLE provenance (
    node_id INTEGER PRIMARY KEY REFERENCES nodes(id),
    record BLOB NOT NULL
) STRICT
"""


def m006_records(db: Database) -> None:
    """Records of requests take a third of the room when they are packed (S25)."""
    connection = db.conn
    connection.execute("ALTER TABLE provenance RENAME TO provenance_in_words")
    connection.execute(_RECORDS)
    connection.executemany(
        "INSERT INTO provenance VALUES (?, ?)",
        (
            (node_id, pack_text(record))
            for node_id, record in connection.execute("SELECT node_id, record FROM provenance_in_words ORDER BY 1")
        ),
    )
    connection.execute("DROP TABLE provenance_in_words")


_CARDS = """
CREATE TABLE cards (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
) STRICT
"""


def m007_cards(db: Database) -> None:
    """Cards that imports brought, beside the definition: JSON of the keys of ``[[cards]]`` (S35)."""
    db.conn.execute(_CARDS)


_MIGRATIONS = (m001_story, m002_kept, m003_knowledge, m004_spending, m005_vectors, m006_records, m007_cards)


def schema_version() -> int:
    """How many migrations this program knows."""
    return len(_MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a file up to date. What runs them is imported when there is something to run."""
    from sqlite_utils import Database, Migrations

    migrations = Migrations("narrator")
    for each in _MIGRATIONS:
        migrations()(each)
    migrations.apply(Database(connection, execute_plugins=False))
    connection.execute(f"PRAGMA user_version = {schema_version()}")
