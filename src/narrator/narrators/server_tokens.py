"""Counting by the server's own tokenizer, where it has an address for that: llama.cpp, vLLM, KoboldCpp (C4).

Counting must not wait, so texts are counted ahead: ``learn`` asks for those that are not known yet, ``count`` answers
from what is known and with one token a byte for the rest. The frame around a message depends on the model's chat
template; where that was not measured it counts one token a byte of the serialized frame, which is more than any
template takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from narrator.core.prompt import Message
from narrator.narrators.tokens import size

Ask = Callable[[str, object], Awaitable[Any]]
"""The JSON that a path below the server's root answers to a body; None where it answers nothing of use."""

_MOST_AT_ONCE: Final = 4
_MOST_KNOWN: Final = 20_000


def _in_tokenize(answer: Any) -> int | None:
    if not isinstance(answer, dict):
        return None
    count, listed = answer.get("count"), answer.get("tokens")
    return count if isinstance(count, int) else len(listed) if isinstance(listed, list) else None


def _in_kobold(answer: Any) -> int | None:
    value = answer.get("value") if isinstance(answer, dict) else None
    return value if isinstance(value, int) else None


class ServerTokenizer:
    """A server's tokenizer at a distance. Owns what it has told so far, and which of its addresses tells it."""

    def __init__(self, ask: Ask, model: str, frames: Mapping[str, int] | None = None) -> None:
        self._ask = ask
        self._frames = frames or {}
        self._model = model
        self._known: dict[str, int] = {}
        self._way: int | None = None
        self._is_missing = False

    @property
    def is_there(self) -> bool:
        """Whether the server has counted for us."""
        return self._way is not None

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of these messages, never fewer than the model counts."""
        return sum(self._one(message) for message in messages)

    def _one(self, message: Message) -> int:
        known = self._known.get(message.content)
        if known is None:
            return size(message)
        return known + self._frames.get(message.role, size(Message(message.role, "")))

    async def learn(self, messages: Sequence[Message]) -> None:
        """Ask for the counts of those that are not known. A server without such an address is asked once."""
        wanted = list(dict.fromkeys(each.content for each in messages if each.content not in self._known))
        if self._is_missing or not wanted:
            return
        if self._way is None and not await self._find_way(wanted[0]):
            self._is_missing = True
            return
        if len(self._known) + len(wanted) > _MOST_KNOWN:
            self._known.clear()
        gate = asyncio.Semaphore(_MOST_AT_ONCE)

        async def learn_one(text: str) -> None:
            async with gate:
                counted = await self._count_by(self._way or 0, text)
            if counted is not None:
                self._known[text] = counted

        await asyncio.gather(*(learn_one(text) for text in wanted))

    async def _find_way(self, text: str) -> bool:
        for way in range(len(_WAYS)):
            counted = await self._count_by(way, text)
            if counted is not None:
                self._known[text] = counted
                self._way = way
                return True
        return False

    async def _count_by(self, way: int, text: str) -> int | None:
        path, body, look = _WAYS[way]
        counted = look(await self._ask(path, body(self._model, text)))
        # A text has at least one token, and none has more than its bytes: anything else is a misunderstanding.
        return counted if counted is not None and bool(text) <= counted <= len(text.encode("utf-8")) else None


def _tokenize_body(model: str, text: str) -> object:
    """llama.cpp reads ``content``, vLLM ``model`` and ``prompt``; each passes over what is the other's."""
    return {"content": text, "add_special": False, "model": model, "prompt": text, "add_special_tokens": False}


_WAYS: Final[Sequence[tuple[str, Callable[[str, str], object], Callable[[Any], int | None]]]] = (
    ("/tokenize", _tokenize_body, _in_tokenize),
    ("/api/extra/tokencount", lambda model, text: {"prompt": text}, _in_kobold),
)
