"""A narrator that could not be made (a key that is not set, say): the story is open, and every request says why."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from narrator.core.errors import NarrationFailed, NarratorError
from narrator.core.prompt import Message
from narrator.narrators.port import Capabilities, Chunk, Completion, Request


class AbsentNarrator:
    """Stands in for the narrator ``name``. Owns nothing but the reason."""

    def __init__(self, name: str, reason: NarratorError) -> None:
        self.name = name
        self._reason = reason

    def _failure(self) -> NarrationFailed:
        hint = self._reason.hint or "Choose another narrator."
        return NarrationFailed(self._reason.code, self._reason.message, hint)

    async def capabilities(self) -> Capabilities:
        """Raises the reason."""
        raise self._failure()

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """Raises the reason."""
        raise self._failure()
        yield  # what makes this a generator, as the others are

    async def complete(self, request: Request) -> Completion:
        """Raises the reason."""
        raise self._failure()

    def count(self, messages: Sequence[Message]) -> int:
        """Bytes, which tokens never exceed (C4)."""
        return sum(len(message.content.encode("utf-8", "surrogatepass")) + 8 for message in messages)

    async def aclose(self) -> None:
        """Nothing is held."""
