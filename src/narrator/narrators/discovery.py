"""Which model servers run on this machine, found on the ports that they usually take (T19).

Loopback alone is asked, with a short time-out, by a bare HTTP request: this runs at the first start, before anything
heavy may be imported.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

PORTS: Final[Mapping[int, str]] = {
    11434: "Ollama",
    1234: "LM Studio",
    8080: "llama.cpp",
    5001: "KoboldCpp",
    8000: "vLLM",
    5000: "text-generation-webui",
    1337: "Jan",
}
"""Port → the program that usually listens there."""

_HOST: Final = "127.0.0.1"
_LARGEST: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """A server that answered. ``program`` is who usually has the port, '' where nobody does; it was not asked."""

    base_url: str
    port: int
    models: tuple[str, ...]
    program: str = ""


async def discover(ports: Sequence[int] = tuple(PORTS), timeout: float = 0.4) -> list[Found]:
    """The servers with at least one model, in the order of ``ports``. ``timeout`` is in seconds, for all together."""
    looks = [asyncio.ensure_future(_look(port)) for port in ports]
    try:
        done, _ = await asyncio.wait(looks, timeout=timeout) if looks else (set(), set())
    finally:
        for look in looks:
            look.cancel()
        await asyncio.gather(*looks, return_exceptions=True)
    found = [look.result() for look in looks if look in done]
    return [each for each in found if each is not None]


async def _look(port: int) -> Found | None:
    try:
        body = await _get(port, "/v1/models")
    except (OSError, ValueError, EOFError):
        return None
    models = _models_in(body)
    return Found(f"http://{_HOST}:{port}/v1", port, models, PORTS.get(port, "")) if models else None


async def _get(port: int, path: str) -> bytes:
    """The body of a small answer with status 200. Raises ``OSError`` or ``ValueError`` for any other."""
    reader, writer = await asyncio.open_connection(_HOST, port)
    try:
        # HTTP/1.0 asks for a body that ends with the connection, in one piece.
        writer.write(f"GET {path} HTTP/1.0\r\nHost: {_HOST}:{port}\r\nAccept: application/json\r\n\r\n".encode())
        await writer.drain()
        data = bytearray()
        while len(data) <= _LARGEST and (piece := await reader.read(65_536)):
            data += piece
    finally:
        writer.close()
    head, _, body = bytes(data).partition(b"\r\n\r\n")
    status, *lines = head.split(b"\r\n")
    if status.split(b" ")[1:2] != [b"200"] or len(data) > _LARGEST:
        raise ValueError("no answer to use")
    if any(line.lower().replace(b" ", b"") == b"transfer-encoding:chunked" for line in lines):
        return _unchunked(body)
    return body


def _unchunked(body: bytes) -> bytes:
    whole = bytearray()
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size.partition(b";")[0], 16)
        if length == 0:
            break
        whole += body[:length]
        body = body[length + 2 :]
    return bytes(whole)


def _models_in(body: bytes) -> tuple[str, ...]:
    try:
        listed = json.loads(body)["data"]
        return tuple(entry["id"] for entry in listed if isinstance(entry["id"], str))
    except (ValueError, TypeError, KeyError, RecursionError):
        return ()
