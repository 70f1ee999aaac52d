"""Moves of head and tip by compare-and-swap, and what a move leaves behind: visits and places (S16, S17, S37)."""

from __future__ import annotations

from collections.abc import Iterable

from narrator.core.errors import Stale
from narrator.core.tree import Node, Position
from narrator.store.commit.placing import place
from narrator.store.open import Store

PLACES_KEPT = 1000


def move(
    store: Store, to: Position, *, expected: Position, remembers: bool, has_place: bool = False, fork: bool = False
) -> None:
    """Move head and tip: nothing is written but head, tip, visit, place, fork wish and revision (S16)."""
    with store.transaction():
        if remembers:
            remember_position(store, expected)
        if has_place:
            push_place(store, expected)
        _swap(store, to, expected, fork=fork)


def _swap(store: Store, to: Position, expected: Position, *, fork: bool = False) -> None:
    # The wish for a branch ends when the head moves (S24), not when the tip alone does.
    wish = "?" if fork or to.head_id != expected.head_id else "coalesce(?, fork_node_id)"
    moved = store.db.execute(
        f"UPDATE campaign SET head_node_id = ?, tip_node_id = ?, fork_node_id = {wish}, revision = revision + 1,"
        " played_at = ? WHERE id = 1 AND head_node_id = ? AND tip_node_id = ?",
        (to.head_id, to.tip_id, to.head_id if fork else None, store.clock(), expected.head_id, expected.tip_id),
    ).rowcount
    if moved != 1:
        raise Stale


def fork_at(store: Store, node: Node, to: Position, *, expected: Position) -> None:
    """Give an unplaced take a branch of its own and stand on it (S24)."""
    with store.transaction():
        if to != expected:
            remember_position(store, expected)
            push_place(store, expected)
        place(store, node, own_branch=True)
        _swap(store, to, expected)


def move_along_places(store: Store, to: Position, *, expected: Position, back: bool, passed: Iterable[int]) -> None:
    """Back or forward (S37): the present position goes on the other stack; ``passed`` places are gone (seq)."""
    with store.transaction() as db:
        remember_position(store, expected)
        for seq in passed:
            db.execute("DELETE FROM places WHERE seq = ?", (seq,))
        db.execute(
            "INSERT INTO places (stack, head_node_id, tip_node_id) VALUES (?, ?, ?)",
            ("forward" if back else "back", expected.head_id, expected.tip_id),
        )
        _swap(store, to, expected)


def remember_position(store: Store, position: Position) -> None:
    store.db.execute("UPDATE campaign SET visit_counter = visit_counter + 1")
    store.db.execute(
        "INSERT OR REPLACE INTO visits SELECT ?, ?, visit_counter, ?, steps_written FROM campaign",
        (position.tip_id, position.head_id, store.clock()),
    )


def push_place(store: Store, position: Position) -> None:
    db = store.db
    db.execute("DELETE FROM places WHERE stack = 'forward'")
    cursor = db.execute(
        "INSERT INTO places (stack, head_node_id, tip_node_id) VALUES ('back', ?, ?)",
        (position.head_id, position.tip_id),
    )
    assert cursor.lastrowid is not None
    db.execute("DELETE FROM places WHERE stack = 'back' AND seq <= ?", (cursor.lastrowid - PLACES_KEPT,))


def touch(store: Store) -> None:
    store.db.execute("UPDATE campaign SET revision = revision + 1")
