"""The HTTP client below the SDK: who gets the key, what is never followed, and how much of a body is read (T11, T16).

httpx2 is imported where it is needed and not before: it comes with the SDK.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from narrator.narrators.failures import Failure, Server, explain_status
from narrator.narrators.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Generator

    from httpx2 import AsyncClient, Response

LARGEST_BODY: Final = 16 << 20
"""Bytes of an answer that are read; a long one with its reasoning is some 5 MB."""
LIBRARIES: Final = ("openai", "httpx2", "httpcore2", "h11")
_LARGEST_ERROR: Final = 64 << 10
_LARGEST_LISTING: Final = 4 << 20
_CONNECT_SECONDS: Final = 10.0
_HEADERS: Final = frozenset(
    {
        "host",
        "connection",
        "accept",
        "accept-encoding",
        "content-type",
        "content-length",
        "user-agent",
        "x-narrator-purpose",
    }
)
_ASKING: Final = {"is_asking": True}


class Broken(Exception):
    """A request that failed; carries the failure and nothing of the request."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.error.code)
        self.failure = failure


def make_http(server: Server, key: Secret | None, timeout: float, *, is_loopback: bool) -> AsyncClient:
    """The client. ``timeout`` is in seconds and bounds the connection alone; silence is the reader's to notice.

    No proxy stands between a program and its own machine. No redirect is followed: the words go to the host that was
    named. The key is put in here; but for it just the headers of the contract go out, whatever the SDK finds in its
    environment or tells of this machine.
    """
    import httpx2

    for name in LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)

    class Headers(httpx2.Auth):
        def auth_flow(self, request: Any) -> Generator[Any, Any, None]:
            for name in [name for name in request.headers if name not in _HEADERS]:
                del request.headers[name]
            if key is not None:
                request.headers["Authorization"] = f"Bearer {key.reveal()}"
            yield request

    async def refuse_bad_status(response: Response) -> None:
        if response.is_success or response.request.extensions.get("is_asking"):
            return
        body = await _beginning(response)
        raise Broken(explain_status(server, response.status_code, response.headers, body))

    return httpx2.AsyncClient(
        auth=Headers(),
        timeout=httpx2.Timeout(None, connect=min(_CONNECT_SECONDS, timeout)),
        follow_redirects=False,
        trust_env=not is_loopback,
        event_hooks={"response": [refuse_bad_status]},
    )


async def _beginning(response: Response) -> bytes:
    """The beginning of an error's body, and no more of it."""
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) >= _LARGEST_ERROR:
            break
    await response.aclose()
    return bytes(body[:_LARGEST_ERROR])


async def fetch_small(http: AsyncClient, address: str, body: object = None) -> tuple[int, bytes]:
    """A question beside the requests to the model, a POST where it has a body: status and answer, up to 4 MB.

    Raises ``OSError`` where nothing came.
    """
    import httpx2

    data = bytearray()
    method = "GET" if body is None else "POST"
    try:
        async with http.stream(method, address, json=body, extensions=_ASKING) as response:
            async for piece in response.aiter_bytes():
                data += piece
                if len(data) > _LARGEST_LISTING:
                    raise OSError("a body without an end")
            return response.status_code, bytes(data)
    except (httpx2.HTTPError, httpx2.InvalidURL):
        pass
    raise OSError("no answer")
