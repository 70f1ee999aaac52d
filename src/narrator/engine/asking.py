"""The question that waits for the player: put, answered, or settled where nobody is there to answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from narrator.core.errors import Refusal
from narrator.engine import replaying
from narrator.engine.events import Asked

if TYPE_CHECKING:
    from narrator.engine.session import Session

Answers = Literal["ask", "yes", "no", "default"]


class Questions:
    """Owns the question that waits. ``answers`` is the policy: ask the player, or answer at once."""

    def __init__(self, session: Session, answers: Answers) -> None:
        self._session = session
        self._answers = answers
        self._waiting: tuple[Asked, asyncio.Future[tuple[str, Any]]] | None = None
        self._count = 0

    @property
    def asking(self) -> Asked | None:
        """The question that waits for ``/answer``."""
        return self._waiting[0] if self._waiting is not None else None

    async def ask(self, what: str, choices: tuple[str, ...], default: str, shows: Any) -> str:
        """Put a question to the player and wait for the choice; settled by policy where nobody is there to answer."""
        return (await self.ask_value(what, choices, default, shows))[0]

    async def ask_value(self, what: str, choices: tuple[str, ...], default: str, shows: Any) -> tuple[str, Any]:
        """The same for a question whose answer may carry a value (``/answer enter VALUE``)."""
        self._count += 1
        asked = Asked(self._count, what, choices, default, shows)
        self._session.publish(asked)
        if self._answers == "yes" and "yes" in choices:
            return "yes", None
        if self._answers != "ask":
            return default, None
        future: asyncio.Future[tuple[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting = (asked, future)
        try:
            played = replaying.current()
            if played is not None:
                await played.answer(self._session, asked, future)
            return await future
        finally:
            self._waiting = None

    def answer(self, choice: str, value: Any = None) -> None:
        """Answer the waiting question. Raises ``bad-value`` for a choice it does not have."""
        if self._waiting is None:
            raise Refusal("bad-value", "No question is waiting.")
        asked, future = self._waiting
        if choice not in asked.choices:
            raise Refusal("bad-value", f"{choice!r} is no choice here.", f"Choose {' or '.join(asked.choices)}.")
        if not future.done():
            future.set_result((choice, value))

    def settle(self) -> None:
        """Nobody will answer: the default."""
        if self._waiting is not None and not self._waiting[1].done():
            self._waiting[1].set_result((self._waiting[0].default, None))
