"""Which known name somebody who mistyped one may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is spelt most like ``name``, '' where none is close."""
    from difflib import get_close_matches  # a start without a mistake does not wait for it

    return next(iter(get_close_matches(name, list(known), n=1)), "")
