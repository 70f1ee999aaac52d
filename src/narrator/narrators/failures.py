"""What went wrong with a request, in one plain sentence and a hint (T11).

Pure functions from a status, a body or an exception to a ``Failure``: the error that the player sees, and whether the
same request may be sent again. A server's own words are shown shortened, on one line and without the key.
"""

from __future__ import annotations

import errno
import json
import re
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Final

from narrator.core.errors import ContextTooLong, NarrationFailed

LONGEST_QUOTE: Final = 200
_TOO_LONG: Final = re.compile(
    r"context.{0,3}(length|size|window)|exceed.{0,3}context|maximum context|n_ctx|prompt is too long|too many tokens"
    r"|input is too long|max_model_len",
    re.IGNORECASE,
)
_OUT_OF_CREDIT: Final = re.compile(r"insufficient.(quota|credit|balance|funds)|billing", re.IGNORECASE)
_FLAGGED: Final = re.compile(r"flagged|moderation|content.policy", re.IGNORECASE)
_WINDOW: Final = re.compile(
    r"(?:context (?:length|size|window)[ (]*(?:is|of|:)?|n_ctx\W{1,4})\s*(\d{3,7}|\d{1,3}(?:,\d{3})+)\b",
    re.IGNORECASE,
)
_REWORD: Final = "Send it again, or word it differently."
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")

_NO_NETWORK: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})

Scrub = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Failure:
    """An error for the player; ``is_transient`` where the same request may succeed later, ``wait`` as the server asks.

    ``wait`` is in seconds.
    """

    error: NarrationFailed
    is_transient: bool = False
    wait: float | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """Who failed: the narrator's name, the host, the model, how to take the key out of a text, whether there is one."""

    name: str
    host: str
    model: str
    scrub: Scrub
    has_key: bool = True

    def quote(self, text: str) -> str:
        """A server's own words: one line, short, without the key."""
        plain = _CONTROLS.sub(" ", self.scrub(text)).strip()
        return plain if len(plain) <= LONGEST_QUOTE else plain[: LONGEST_QUOTE - 1] + "…"


def failed(
    code: str, message: str, hint: str = "", *, is_transient: bool = False, wait: float | None = None
) -> Failure:
    """A failure in the making."""
    return Failure(NarrationFailed(code, message, hint), is_transient, wait)


def explain_status(server: Server, status: int, headers: Mapping[str, str], body: bytes) -> Failure:
    """An answer with an HTTP status that is no success."""
    said = server.quote(_message_in(body, headers.get("content-type", "")))
    said_so = quoted(said)
    host = server.host
    if status in (400, 413, 422) and _TOO_LONG.search(said):
        return _too_long(server, said_so, body)
    if status == 402 or (status in (400, 403) and _OUT_OF_CREDIT.search(said)):
        return _without_credit(server, status, said_so)
    if status == 403 and _FLAGGED.search(said):
        return failed("narrator-filtered", f"A content filter of {host} stopped the request{said_so}", _REWORD)
    if status in (401, 403) and not server.has_key:
        return failed(
            "narrator-auth",
            f"{host} wants a key, and none was sent (HTTP {status}){said_so}",
            "Name the variable that holds it as api_key_env for this narrator in config.toml.",
        )
    if status in (401, 403):
        return failed(
            "narrator-auth",
            f"{host} did not accept the key (HTTP {status}){said_so}",
            "Check what api_key_env or api_key_command in config.toml leads to.",
        )
    if status == 404:
        return failed(
            "narrator-refused",
            f"{host} does not know the model “{server.model}” or this address (HTTP 404){said_so}",
            "Check model and base_url in config.toml; base_url usually ends with /v1.",
        )
    if status == 429:
        return _explain_rate(server, headers, said, said_so)
    if status == 408:
        return failed(
            "narrator-timeout", f"{host} gave up waiting (HTTP 408){said_so}", "Try again.", is_transient=True
        )
    if status == 409:
        return failed(
            "narrator-refused", f"{host} is busy with a conflict (HTTP 409){said_so}", "Try again.", is_transient=True
        )
    if 300 <= status < 400:
        return failed(
            "narrator-refused",
            f"{host} sends on to another address (HTTP {status}).",
            "Write the address that it really has into base_url.",
        )
    if status >= 500:
        return failed(
            "narrator-unreachable",
            f"{host} is in trouble (HTTP {status}){said_so}",
            "Try again later, or choose another narrator.",
            is_transient=True,
            wait=wait_asked(headers),
        )
    return failed(
        "narrator-refused", f"{host} refused the request (HTTP {status}){said_so}", "See its own log for more."
    )


def quoted(said: str) -> str:
    """The end of a sentence that quotes what a server said, if it said anything."""
    return f": {said}" + ("" if said[-1:] in ".!?…" else ".") if said else "."


def _explain_rate(server: Server, headers: Mapping[str, str], said: str, said_so: str) -> Failure:
    wait = wait_asked(headers)
    if _OUT_OF_CREDIT.search(said):
        return _without_credit(server, 429, said_so)
    asks = f" and asks to wait {_spoken(wait)}" if wait is not None and wait >= 1 else ""
    return failed(
        "narrator-rate-limited",
        f"{server.host} takes no more requests for now (HTTP 429){asks}{said_so}",
        "Wait a little and send it again, or choose another narrator.",
        is_transient=True,
        wait=wait,
    )


def _spoken(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def _without_credit(server: Server, status: int, said_so: str) -> Failure:
    return failed(
        "narrator-rate-limited",
        f"{server.host} has no credit left (HTTP {status}){said_so}",
        "Top it up, or choose another narrator.",
    )


def _too_long(server: Server, said_so: str, body: bytes = b"") -> Failure:
    """A prompt that the server takes for longer than its window, with the window where it says that."""
    found = _WINDOW.search(said_so) or _WINDOW.search(body.decode("utf-8", "replace"))
    window = int(found.group(1).replace(",", "")) if found else None
    return Failure(ContextTooLong(f"{server.host} says that the prompt is too long{said_so}", window))


def wait_asked(headers: Mapping[str, str]) -> float | None:
    """Seconds that ``Retry-After`` asks for; a date is read against the server's own clock."""
    if milliseconds := headers.get("retry-after-ms", ""):
        try:
            return max(0.0, float(milliseconds) / 1000)
        except ValueError:
            return None
    asked = headers.get("retry-after", "")
    try:
        return max(0.0, float(asked))
    except ValueError:
        pass
    try:
        then, now = parsedate_to_datetime(asked), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError):
        return None


def _message_in(body: bytes, content_type: str) -> str:
    """The message in an error body, '' where there is none that a player could read."""
    text = body.decode("utf-8", "replace")
    try:
        return message_of(json.loads(text))
    except (ValueError, RecursionError):
        return "" if "html" in content_type or text.lstrip().startswith("<") else text


def message_of(value: Any) -> str:
    """The message in an error object, however deep the server wraps it."""
    for _ in range(4):
        if not isinstance(value, Mapping):
            break
        inner = next((value[key] for key in ("error", "message", "detail", "msg") if value.get(key)), "")
        kind = value.get("type") or value.get("code")
        if isinstance(inner, str) and isinstance(kind, str) and kind not in inner:
            return f"{inner.rstrip('.')} ({kind})"
        value = inner
    if isinstance(value, list) and value:
        return message_of(value[0])
    return value if isinstance(value, str) else ""


def explain_error_inside(server: Server, error: Any) -> Failure:
    """An ``{"error": …}`` inside a stream that began well."""
    said = server.quote(message_of({"error": error}))
    code = error.get("code") if isinstance(error, Mapping) else None
    status = int(code) if isinstance(code, int | str) and str(code).isdigit() else 0
    if status in (401, 402, 403, 404, 408, 409, 429) or (status in (400, 413, 422) and _TOO_LONG.search(said)):
        return explain_status(server, status, {}, json.dumps({"error": said}).encode())
    if _TOO_LONG.search(said):
        return _too_long(server, quoted(said))
    said_so = quoted(said)
    return failed(
        "narrator-broke-off",
        f"{server.host} reported an error instead of going on{said_so}",
        "Try again.",
        is_transient=status >= 500 or status == 0,
    )


def explain_connection(server: Server, error: BaseException, *, has_begun: bool) -> Failure:
    """A connection that was not made or did not last; looks for the reason along the chain of causes."""
    chain = list(_chain(error))
    if has_begun:
        return failed(
            "narrator-broke-off", f"The connection to {server.host} broke off.", "Try again.", is_transient=True
        )
    reason, hint, is_transient = _by_kind(chain) or _by_words(chain)
    return failed("narrator-unreachable", f"{server.host} {reason}.", hint, is_transient=is_transient)


_Reason = tuple[str, str, bool]
"""What is wrong, what to do, and whether the same may succeed later."""
_UNKNOWN_NAME: Final[_Reason] = (
    "is a name that nobody knows",
    "Check base_url in config.toml, and the network.",
    True,
)
_REFUSED: Final[_Reason] = ("refuses connections", "Is the server running, and base_url right?", True)


def _by_kind(chain: list[BaseException]) -> _Reason | None:
    """The reason, where an exception of its kind is in the chain."""
    for cause in chain:
        if isinstance(cause, socket.gaierror):
            return _UNKNOWN_NAME
        if isinstance(cause, ssl.SSLCertVerificationError):
            hint = "Check base_url and the clock of this computer; to a server of your own on this machine use http://."
            return "shows a certificate that is not trusted", hint, False
        if isinstance(cause, OSError) and cause.errno in _NO_NETWORK:
            return "cannot be reached from here", "Check the network, or choose a narrator on this machine.", True
        if isinstance(cause, ConnectionRefusedError):
            return _REFUSED
    return None


def _by_words(chain: list[BaseException]) -> _Reason:
    """The reason by what the exceptions say, for the libraries that wrap and for other systems' words."""
    said = " ".join(str(cause).lower() for cause in chain)
    if "name or service" in said or "getaddrinfo" in said or "nodename" in said:
        return _UNKNOWN_NAME
    if "certificate" in said or "ssl" in said or any(isinstance(cause, ssl.SSLError) for cause in chain):
        hint = "Check that base_url begins with the right http:// or https://, and the clock of this computer."
        return "could not be trusted: the TLS handshake failed", hint, False
    if "refused" in said or "all connection attempts failed" in said:
        return _REFUSED
    if "disconnected" in said or "reset" in said or "closed" in said:
        return "dropped the connection without an answer", "Try again; the server's own log may say why.", True
    return "could not be reached", "Is the server running, and base_url right?", True


def _chain(error: BaseException | None) -> list[BaseException]:
    """An exception with all that it came from, the members of groups among them."""
    found: list[BaseException] = []
    left = [error]
    while left and len(found) < 24:
        each = left.pop(0)
        if each is None or each in found:
            continue
        found.append(each)
        left += [*(each.exceptions if isinstance(each, BaseExceptionGroup) else ()), each.__cause__, each.__context__]
    return found


def explain_silence(server: Server, seconds: float, *, has_begun: bool) -> Failure:
    """Nothing came for the whole time-out."""
    what = "stopped in the middle: nothing came" if has_begun else "did not answer"
    return failed(
        "narrator-timeout",
        f"{server.host} {what} within {seconds:g} s.",
        "Try again, or raise timeout in config.toml for a slow model.",
    )


def explain_bytes(server: Server, what: str) -> Failure:
    """An answer that is not what such a server sends."""
    return failed(
        "narrator-malformed",
        f"{server.host} answered with {what}.",
        "Check that base_url leads to an OpenAI-compatible server; it usually ends with /v1.",
    )
