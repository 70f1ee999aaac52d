"""From the body of an answer to chunks: a stream of events, or one completion in JSON (T11)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from narrator.narrators import failures
from narrator.narrators.answers import Answer
from narrator.narrators.failures import Server
from narrator.narrators.sse import EventReader, Malformed
from narrator.narrators.telling import Telling
from narrator.narrators.transport import LARGEST_BODY, Broken

if TYPE_CHECKING:
    from httpx2 import Response

_LINGER_SECONDS: Final = 2.0


async def read_answers(
    server: Server, response: Response, telling: Telling, timeout: float
) -> AsyncGenerator[Answer, None]:
    """The chunks in the body of ``response``. Raises ``Broken``, and ``TimeoutError`` after ``timeout`` s without one.

    Comments that keep the line open are no signs of life. Once ``telling`` is finished nothing is waited for long.
    """
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml"):
        raise Broken(failures.explain_bytes(server, "a web page"))
    is_whole = kind == "application/json"
    reader, whole, size = EventReader(), bytearray(), 0
    clock = asyncio.get_running_loop().time
    deadline = clock() + timeout
    pieces = response.aiter_bytes()
    while True:
        async with asyncio.timeout_at(deadline):
            piece = await anext(pieces, None)
        size += len(piece or b"")
        if size > LARGEST_BODY:
            raise Broken(failures.explain_bytes(server, f"more than {LARGEST_BODY >> 20} MB"))
        if is_whole:
            whole += piece or b""
            if piece is not None:
                continue
            yield _answer_in(server, bytes(whole).decode("utf-8", "surrogateescape"))
            return
        events, problem = _events_in(reader, piece)
        for event in events:
            if event.strip() == "[DONE]":
                return
            yield _answer_in(server, event)
        if problem:
            raise Broken(failures.explain_bytes(server, problem))
        if piece is None:
            return
        if events:
            deadline = clock() + (min(_LINGER_SECONDS, timeout) if telling.is_finished else timeout)


def _events_in(reader: EventReader, piece: bytes | None) -> tuple[list[str], str]:
    """The events that ``piece`` (None: the end) completes, and what is wrong behind them or ''."""
    events: list[str] = []
    try:
        for event in reader.finish() if piece is None else reader.feed(piece):
            events.append(event)
    except Malformed as malformed:
        return events, str(malformed)
    return events, ""


def _answer_in(server: Server, text: str) -> Answer:
    """One chunk through the door, without the key if the server gave it back. An error inside the stream is
    ``Broken``, and so is what is no chunk.
    """
    try:
        answer = Answer.model_validate_json(server.scrub(text).encode("utf-8", "surrogateescape"))
    except ValidationError:
        raise Broken(failures.explain_bytes(server, "something that is no chat completion")) from None
    if answer.error:
        raise Broken(failures.explain_error_inside(server, answer.error))
    return answer
