"""A proposed change of the state, before anyone has judged it (W4).

Everyone who wants something changed says it in this one form: a model, a storylet, a check, the player, an import. The
referee turns proposals into events or refusals; nothing else reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeGuard, get_args

JSON = Any
"""A value that JSON can hold: None, bool, int, float, str, list, dict."""

Op = Literal["set", "add", "append", "remove", "assert", "retract", "open", "close", "relate", "move"]
OPS: tuple[str, ...] = get_args(Op)
Source = Literal["model", "check", "storylet", "player", "import"]
SOURCES: tuple[str, ...] = get_args(Source)


@dataclass(frozen=True, slots=True)
class Proposal:
    """``op`` on ``path`` with ``value``; ``op`` is '' where the proposer left it open, and the type then decides."""

    op: str
    path: str
    value: JSON = None
    why: str = ""


def is_number(value: JSON) -> TypeGuard[int | float]:
    """Whether this is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
