"""Marks beside the tree: checkpoints, names, pins, memories, context checkpoints, drafts, settings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from narrator.core.cards import CardEdit
from narrator.core.errors import Refusal
from narrator.core.summary import ContextCheckpoint
from narrator.core.tree import Branch
from narrator.core.words import index_form
from narrator.store import reads
from narrator.store.commit.moving import touch
from narrator.store.open import Store


def spend(store: Store, narrator: str, cost: float) -> None:
    """Add to what a narrator has cost, in the currency of its price. No part of a story, it raises no revision."""
    with store.transaction() as db:
        db.execute(
            "INSERT INTO spending (narrator, cost) VALUES (?, ?)"
            " ON CONFLICT (narrator) DO UPDATE SET cost = cost + excluded.cost",
            (narrator, cost),
        )


def save_checkpoint(store: Store, name: str, node_id: int) -> None:
    """Name a node. The caller has checked the name; a clash is a ``Refusal`` all the same (S26)."""
    with store.transaction() as db:
        try:
            db.execute(
                "INSERT INTO checkpoints (name, node_id, created_at) VALUES (?, ?, ?)", (name, node_id, store.clock())
            )
        except sqlite3.IntegrityError:
            raise Refusal("checkpoint-exists", f"There is a checkpoint “{name}” already.") from None
        touch(store)


def rename_checkpoint(store: Store, checkpoint_id: int, name: str) -> None:
    """Change the label alone."""
    with store.transaction() as db:
        db.execute("UPDATE checkpoints SET name = ? WHERE id = ?", (name, checkpoint_id))
        touch(store)


def delete_checkpoint(store: Store, checkpoint_id: int) -> None:
    """Delete the pointer alone."""
    with store.transaction() as db:
        db.execute("DELETE FROM checkpoints WHERE id = ?", (checkpoint_id,))
        touch(store)


def rename_branch(store: Store, branch_id: int, name: str) -> None:
    """Name a branch."""
    with store.transaction() as db:
        db.execute("UPDATE branches SET name = ? WHERE id = ?", (name, branch_id))
        old = store.forest[branch_id]
        store.forest.add(Branch(old.id, old.parent_id, old.fork_depth, name, old.is_hidden))
        touch(store)


def pin(store: Store, node_id: int, *, is_pinned: bool) -> None:
    """Keep a take from every prune, or no longer."""
    with store.transaction() as db:
        db.execute("UPDATE nodes SET pinned = ? WHERE id = ?", (int(is_pinned), node_id))
        touch(store)


def _insert_memory(store: Store, node_id: int, text: str, source: str, first_depth: int | None = None) -> int:
    cursor = store.db.execute(
        "INSERT INTO memories (node_id, text, source, first_depth, created_at) VALUES (?, ?, ?, ?, ?)",
        (node_id, text, source, first_depth, store.clock()),
    )
    assert cursor.lastrowid is not None
    _index(store.db, [(cursor.lastrowid, text)])
    return cursor.lastrowid


def _index(db: sqlite3.Connection, memories: Iterable[tuple[int, str]]) -> None:
    """Put memories into the full-text index: (id, text)."""
    words = ((memory_id, index_form(text)) for memory_id, text in memories)
    db.executemany("INSERT OR REPLACE INTO memories_fts (rowid, words) VALUES (?, ?)", words)


def index_memories(store: Store) -> None:
    """Put the memories that the full-text index does not know into it: after a bulk write, or a loss."""
    with store.transaction() as db:
        unknown = db.execute("SELECT id, text FROM memories WHERE id NOT IN (SELECT rowid FROM memories_fts)")
        _index(db, unknown.fetchall())


def keep_memory(store: Store, node_id: int, text: str, first_depth: int) -> bool:
    """Hang a generated memory from the last node of its block; False where that node is gone by now (T1)."""
    with store.transaction():
        if reads.node(store, node_id) is None:
            return False
        _insert_memory(store, node_id, text, "generated", first_depth)
        touch(store)
    return True


def keep_vectors(store: Store, model: str, made: Sequence[tuple[int, str, bytes]]) -> None:
    """Keep the vectors of memories: (id, the text it was made from, vector). One whose text is another by now, or that
    is gone, is passed over. Derived, they raise no revision."""
    with store.transaction() as db:
        db.executemany(
            "INSERT OR REPLACE INTO memory_vectors (memory_id, model, vector)"
            " SELECT id, ?, ? FROM memories WHERE id = ? AND text = ?",
            [(model, vector, memory_id, text) for memory_id, text, vector in made],
        )


def keep_context_checkpoint(store: Store, made: ContextCheckpoint, *, replaces: Sequence[int] = ()) -> bool:
    """Keep a finished summary by its host, and delete those of the hosts that it replaces (C13, C20).

    False, and nothing is written, where a node that it names is gone by now (T1). It raises no revision: nothing that
    the player sees stands on it (C17).
    """
    with store.transaction() as db:
        named = {made.at_node_id, made.covered_through_node_id, made.retained_from_node_id or made.at_node_id}
        if any(reads.node(store, node_id) is None for node_id in named):
            return False
        db.executemany("DELETE FROM context_checkpoints WHERE at_node_id = ?", [(each,) for each in replaces])
        db.execute(
            "INSERT OR REPLACE INTO context_checkpoints (at_node_id, covered_through_node_id, retained_from_node_id,"
            " checkpoint_schema_version, prompt_schema_version, stable_prefix_hash, summary_json, source_hash,"
            " is_partial, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(made.at_node_id, made.covered_through_node_id, made.retained_from_node_id),
                *(made.checkpoint_schema_version, made.prompt_schema_version, made.stable_prefix_hash),
                *(made.summary_json, made.source_hash, int(made.is_partial), store.clock()),
            ),
        )
    return True


def agree_to_host(store: Store, host: str) -> None:
    """Remember that the player lets this host have the words of the campaign (T16)."""
    with store.transaction() as db:
        db.execute("INSERT OR IGNORE INTO agreed_hosts VALUES (?, ?)", (host, store.clock()))


def remember(store: Store, node_id: int, text: str, *, source: str = "typed", first_depth: int | None = None) -> int:
    """Hang a memory from a node (S33, S34). Returns its id."""
    with store.transaction():
        memory_id = _insert_memory(store, node_id, text, source, first_depth)
        touch(store)
    return memory_id


def change_memory(
    store: Store, memory_id: int, *, pinned: bool | None = None, forgotten: bool | None = None, text: str | None = None
) -> None:
    """Pin, forget or reword a memory; None leaves a field as it is."""
    with store.transaction() as db:
        db.execute(
            "UPDATE memories SET pinned = coalesce(?, pinned), forgotten = coalesce(?, forgotten),"
            " text = coalesce(?, text) WHERE id = ?",
            (pinned, forgotten, text, memory_id),
        )
        if text is not None:
            _index(db, [(memory_id, text)])
            db.execute("DELETE FROM memory_vectors WHERE memory_id = ?", (memory_id,))
        touch(store)


def edit_card(store: Store, name: str, edit: CardEdit) -> None:
    """Keep what the player changes about a card of the definition, on top of earlier changes to it (S35)."""
    with store.transaction() as db:
        db.execute(
            "INSERT INTO card_edits VALUES (:name, :enabled, :text, :deleted) ON CONFLICT (name) DO UPDATE SET"
            " enabled = coalesce(excluded.enabled, enabled), text = coalesce(excluded.text, text),"
            " deleted = max(excluded.deleted, deleted)",
            {"name": name, "enabled": edit.is_enabled, "text": edit.text, "deleted": int(edit.is_deleted)},
        )
        touch(store)


def switch_knowledge(store: Store, knowledge_id: int, *, is_enabled: bool) -> None:
    """Let prompts quote an imported source, or no longer (S35)."""
    with store.transaction() as db:
        db.execute("UPDATE knowledge SET enabled = ? WHERE id = ?", (int(is_enabled), knowledge_id))
        touch(store)


def remove_knowledge(store: Store, knowledge_id: int) -> None:
    """Remove an imported source with its passages. Final."""
    with store.transaction() as db:
        passages = "SELECT id FROM passages WHERE knowledge_id = ?"
        db.execute(f"DELETE FROM passages_fts WHERE rowid IN ({passages})", (knowledge_id,))
        db.execute("DELETE FROM passages WHERE knowledge_id = ?", (knowledge_id,))
        db.execute("DELETE FROM knowledge WHERE id = ?", (knowledge_id,))
        touch(store)


def index_passages(store: Store) -> None:
    """Put the passages that the full-text index does not know into it: after an import, or a loss."""
    with store.transaction() as db:
        unknown = db.execute("SELECT id, text FROM passages WHERE id NOT IN (SELECT rowid FROM passages_fts)")
        db.executemany(
            "INSERT INTO passages_fts (rowid, words) VALUES (?, ?)",
            [(passage_id, index_form(text)) for passage_id, text in unknown.fetchall()],
        )


def comment(store: Store, node_id: int, text: str) -> None:
    """Keep a private note of the player's with a step; it is in no prompt (U27)."""
    with store.transaction() as db:
        db.execute("INSERT INTO comments (node_id, text, created_at) VALUES (?, ?, ?)", (node_id, text, store.clock()))


def keep_draft(store: Store, text: str, mode: str, *, is_telling: bool = False) -> None:
    """Save what stands in the composer (U9); empty text clears it. No revision: the story is the same.

    An input that was sent and came back into the composer is kept there from now on, or was deleted there; while it
    ``is_telling``, the composer holds something else, whatever its words.
    """
    with store.transaction() as db:
        _write_draft(store, "composed", text, mode)
        if not is_telling:
            db.execute("DELETE FROM draft WHERE slot = 'sent' AND (? = '' OR instr(?, text))", (text, text))


def send_draft(store: Store, text: str, mode: str) -> None:
    """The input of a turn leaves the composer; it is kept until the turn is accepted."""
    with store.transaction():
        _write_draft(store, "composed", "", mode)
        _write_draft(store, "sent", text, mode)


def _write_draft(store: Store, slot: str, text: str, mode: str) -> None:
    if text:
        store.db.execute("INSERT OR REPLACE INTO draft VALUES (?, ?, ?, ?)", (slot, text, mode, store.clock()))
    else:
        store.db.execute("DELETE FROM draft WHERE slot = ?", (slot,))


def choose_narrator(store: Store, name: str | None) -> None:
    """Remember which narrator the player chose for this campaign."""
    with store.transaction() as db:
        db.execute("UPDATE campaign SET narrator = ?", (name,))


def set_tracking(store: Store, is_on: bool) -> None:
    """Turn the tracking of state on or off for a campaign that declares none (T4)."""
    with store.transaction() as db:
        db.execute("UPDATE campaign SET is_tracking = ?", (int(is_on),))


def add_played(store: Store, seconds: float) -> None:
    """Add to the time played."""
    with store.transaction() as db:
        db.execute("UPDATE campaign SET played_seconds = played_seconds + ?", (seconds,))
