"""A small OpenAI-compatible server on loopback that says just what a test tells it to, down to the byte.

An *answer* is a coroutine function of one ``Exchange``; the functions below make the usual ones::

    async with FakeServer() as server:
        server.answer("narrate", say("The gate opens."))
        server.answer("extract", give({"changes": []}))
        ...
        assert server.requests[0].json["messages"][0]["role"] == "system"

Answers queue up by purpose (the header ``X-Narrator-Purpose``, else the path); the last one is kept for what comes
after it. A request with no answer gets a plain narration. Nothing here sleeps: a stall lasts until the client goes or
the test sets the event.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any


@dataclass
class Received:
    """One request as it came: every byte of it, and when the client went away (``time.perf_counter``)."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    raw: bytes
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    gone_at: float | None = None

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def purpose(self) -> str:
        return self.headers.get("x-narrator-purpose", "")


class Exchange:
    """One request with the pen to answer it. Owns the connection until the answer returns."""

    def __init__(self, request: Received, writer: asyncio.StreamWriter) -> None:
        self.request = request
        self._writer = writer
        self._is_chunked = False

    async def head(
        self, status: int = 200, content_type: str = "text/event-stream", headers: Mapping[str, str] | None = None
    ) -> None:
        """Send the status line and headers of a chunked answer."""
        self._is_chunked = True
        lines = [f"HTTP/1.1 {status} Whatever", f"Content-Type: {content_type}", "Transfer-Encoding: chunked"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        await self.raw(("\r\n".join([*lines, "Connection: close"]) + "\r\n\r\n").encode())

    async def send(self, data: bytes) -> None:
        """Send a piece of the body, at once."""
        if data:
            await self.raw(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        with contextlib.suppress(ConnectionError):
            self._writer.write(data)
            await self._writer.drain()

    async def event(self, value: object) -> None:
        """Send one server-sent event."""
        await self.send(b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n")

    async def delta(self, **delta: object) -> None:
        """Send one chunk of a streamed chat completion."""
        await self.event(chunk(delta))

    async def end(self) -> None:
        """End the body cleanly."""
        if self._is_chunked:
            await self.raw(b"0\r\n\r\n")

    async def stall(self, until: asyncio.Event | None = None) -> None:
        """Send nothing until the client has gone, or ``until`` is set."""
        waits = [asyncio.ensure_future(self.request.gone.wait())]
        if until is not None:
            waits.append(asyncio.ensure_future(until.wait()))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def cut(self) -> None:
        """Drop the connection without an end."""
        self._writer.transport.abort()


Answer = Callable[[Exchange], Awaitable[None]]


def chunk(delta: object, finish: str | None = None) -> dict[str, Any]:
    """A chunk of a streamed chat completion."""
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def usage_chunk(tokens_in: int, tokens_out: int, cached: int = 0) -> dict[str, Any]:
    """The last chunk: no choices, and the usage."""
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "choices": [],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }


def words(text: str) -> list[str]:
    """``text`` in pieces of a word with the space before it; joined they are the text again."""
    pieces = text.split(" ")
    return [piece if number == 0 else " " + piece for number, piece in enumerate(pieces)]


def say(
    text: str | Sequence[str],
    *,
    finish: str = "stop",
    reasoning: str = "",
    usage: tuple[int, int, int] | None = (100, 10, 60),
    stall_at: int | None = None,
    until: asyncio.Event | None = None,
    before: Callable[[int], None] | None = None,
) -> Answer:
    """A narration, streamed by the word (or by the pieces given).

    ``stall_at`` stops sending before that piece until ``until`` is set or the client goes; ``before`` is called with
    the number of each piece before it is sent.
    """
    pieces = words(text) if isinstance(text, str) else list(text)

    async def answer(exchange: Exchange) -> None:
        body = exchange.request.json if exchange.request.body else {}
        if not body.get("stream"):
            await whole(exchange, "".join(pieces), finish, usage)
            return
        await exchange.head()
        await exchange.delta(role="assistant", content="")
        if reasoning:
            await exchange.delta(reasoning_content=reasoning)
        for number, piece in enumerate(pieces):
            if before is not None:
                before(number)
            if number == stall_at:
                await exchange.stall(until)
                if exchange.request.gone.is_set():
                    return
            await exchange.delta(content=piece)
        await exchange.event(chunk({}, finish))
        if usage is not None:
            await exchange.event(usage_chunk(*usage))
        await exchange.send(b"data: [DONE]\n\n")
        await exchange.end()

    return answer


async def whole(exchange: Exchange, text: str, finish: str, usage: tuple[int, int, int] | None) -> None:
    """A completion in one piece, for a request that does not stream."""
    value: dict[str, Any] = {
        "id": "c1",
        "object": "chat.completion",
        "model": "fake",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
    }
    if usage is not None:
        value["usage"] = usage_chunk(*usage)["usage"]
    await exchange.head(content_type="application/json")
    await exchange.send(json.dumps(value).encode())
    await exchange.end()


def give(value: object, **options: Any) -> Answer:
    """An answer whose text is this value as JSON."""
    return say([json.dumps(value, ensure_ascii=False)], **options)


def call(name: str, arguments: str) -> Answer:
    """A tool call; the arguments come in two pieces, as servers send them."""
    half = len(arguments) // 2

    async def answer(exchange: Exchange) -> None:
        await exchange.head()
        first = {"index": 0, "id": "t1", "type": "function", "function": {"name": name, "arguments": arguments[:half]}}
        await exchange.delta(role="assistant", content=None, tool_calls=[first])
        await exchange.delta(tool_calls=[{"index": 0, "function": {"arguments": arguments[half:]}}])
        await exchange.event(chunk({}, "tool_calls"))
        await exchange.send(b"data: [DONE]\n\n")
        await exchange.end()

    return answer


def refuse(status: int, body: object = None, headers: Mapping[str, str] | None = None) -> Answer:
    """An HTTP status with an error body, the way OpenAI writes it unless told otherwise."""
    shown = {"error": {"message": f"status {status}", "type": "fake", "code": None}} if body is None else body

    async def answer(exchange: Exchange) -> None:
        data = shown.encode() if isinstance(shown, str) else json.dumps(shown).encode()
        await exchange.head(status, "text/html" if isinstance(shown, str) else "application/json", headers)
        await exchange.send(data)
        await exchange.end()

    return answer


def page(html: str = "<html><body>Please log in</body></html>") -> Answer:
    """A web page with status 200, as captive portals give it."""
    return refuse(200, html)


def pieces(*data: bytes | str, ends: bool = True, content_type: str = "text/event-stream") -> Answer:
    """A stream of just these bytes; then a clean end, or (``ends=False``) a dropped connection."""

    async def answer(exchange: Exchange) -> None:
        await exchange.head(content_type=content_type)
        for piece in data:
            await exchange.send(piece.encode() if isinstance(piece, str) else piece)
        if ends:
            await exchange.end()
        else:
            exchange.cut()

    return answer


def stall() -> Answer:
    """Take the request and say nothing, not even a status."""
    return lambda exchange: exchange.stall()


def cut() -> Answer:
    """Take the request and drop the connection."""

    async def answer(exchange: Exchange) -> None:
        exchange.cut()

    return answer


def flood(piece: bytes, count: int) -> Answer:
    """Send ``piece`` so many times, or until the client goes. ``piece`` is not parsed."""

    async def answer(exchange: Exchange) -> None:
        await exchange.head()
        for _ in range(count):
            await exchange.send(piece)
            if exchange.request.gone.is_set():
                return
        await exchange.end()

    return answer


def selfsigned() -> ssl.SSLContext:
    """TLS with a certificate that nobody trusts."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).with_name("selfsigned.pem"))
    return context


class FakeServer:
    """The server. Owns its socket, its connections and the record of what it was asked."""

    def __init__(
        self, answers: Mapping[str, Answer | Iterable[Answer]] | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self._tls = tls
        self.requests: list[Received] = []
        self._answers: dict[str, deque[Answer]] = {}
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._arrived = asyncio.Condition()
        for purpose, given in (answers or {}).items():
            self.answer(purpose, *((given,) if callable(given) else given))

    def answer(self, purpose: str, *answers: Answer) -> None:
        """Queue answers for a purpose, or for a path that begins with ``/``. The last one stays."""
        self._answers.setdefault(purpose, deque()).extend(answers)

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def base_url(self) -> str:
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self.port}/v1"

    def asked(self, purpose: str) -> list[Received]:
        """The requests of one purpose, oldest first."""
        return [request for request in self.requests if request.purpose == purpose]

    async def arrival(self, count: int = 1, purpose: str | None = None) -> Received:
        """Wait until so many requests (of the purpose) have come; the last of them."""

        def found() -> list[Received]:
            return self.requests if purpose is None else self.asked(purpose)

        async with self._arrived:
            await self._arrived.wait_for(lambda: len(found()) >= count)
        return found()[count - 1]

    async def __aenter__(self) -> FakeServer:
        await self._listen(0)
        return self

    async def _listen(self, port: int) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port, ssl=self._tls)

    @contextlib.asynccontextmanager
    async def away(self) -> AsyncIterator[None]:
        """Nobody listens on the port meanwhile: whoever connects is refused."""
        assert self._server is not None
        port = self.port
        self._server.close()
        try:
            yield
        finally:
            await self._listen(port)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readexactly(1)
        if not head.isalpha():
            return  # a TLS handshake, as a server that speaks none takes it
        head += await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        request = Received(method, path, headers, body, head + body)
        async with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()
        watcher = asyncio.ensure_future(self._watch(reader, request))
        try:
            await self._answer_for(request)(Exchange(request, writer))
        finally:
            watcher.cancel()

    @staticmethod
    async def _watch(reader: asyncio.StreamReader, request: Received) -> None:
        """Notice that the client has gone."""
        with contextlib.suppress(ConnectionError):
            await reader.read()
        request.gone_at = time.perf_counter()
        request.gone.set()

    def _answer_for(self, request: Received) -> Answer:
        queue = self._answers.get(request.purpose) or self._answers.get(request.path)
        if not queue:
            return say("The road goes on.") if request.purpose else refuse(404)
        return queue.popleft() if len(queue) > 1 else queue[0]
