"""How far a long import or export is (U8)."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Told (what, done, total) now and then; total is 0 where nobody knows it. What it raises stops the work."""


def silent(what: str, done: int, total: int) -> None:
    """Nobody wants to know how far it is."""
