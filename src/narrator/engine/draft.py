"""Text in flight: what a turn has told so far and no one has accepted (T2, T3). It is no node and in no file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from narrator.core.checks import Check
from narrator.core.prompt import Part, PromptParts
from narrator.core.state import State
from narrator.engine.turn import Plan
from narrator.narrators.port import Usage


@dataclass(slots=True)
class InFlight:
    """One turn while it is told. Owned by the session's turn lane; kept after a stop until the next verb.

    ``stage`` is check, narrate, extract or commit. ``state`` is the one the turn begins with, ``asked_output`` the
    tokens that the narration may take, ``record`` what the provenance will say (S25). ``crowded_out`` are triggered
    cards and found passages without room, ``slow_cards`` those whose expression was broken off (C26, C27).
    """

    plan: Plan
    stage: str = "check"
    text: str = ""
    checks: tuple[Check, ...] = ()
    state: State | None = None
    prompt: PromptParts | None = None
    asked_output: int = 0
    finish: str = ""
    crowded_out: tuple[Part, ...] = ()
    slow_cards: tuple[str, ...] = ()
    record: dict[str, Any] = field(default_factory=dict)
    _half: str = ""

    def hear(self, text: str) -> str:
        """Add a piece of the narration; returns what of it may be shown.

        A server may cut a character in two: its first half waits for the other. A half that finds none becomes ``�``,
        since no file could hold it.
        """
        whole, self._half = self._half + text, ""
        if whole and "\ud800" <= whole[-1] <= "\udbff":
            whole, self._half = whole[:-1], whole[-1]
        told = whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        self.text += told
        return told

    def spend(self, usage: Usage, *, of: str = "usage") -> None:
        """Add the tokens that a request of this turn took to the record; ``asides`` are its questions (S25)."""
        found = (usage.tokens_in, usage.tokens_out, usage.tokens_cached)
        if any(count is not None for count in found):
            before = self.record.get(of) or [0, 0, 0]
            self.record[of] = [had + (count or 0) for had, count in zip(before, found, strict=True)]

    @property
    def has_text(self) -> bool:
        return bool(self.text.strip())
