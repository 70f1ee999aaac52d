"""Every way in which a request fails, and the page that tells of them: ``python -m tests.engine.failures_page``.

The page is made by failing: each way is played through a session, and what the player is told is written down.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from narrator.config import LimitSettings, NarratorSettings, PriceSettings, Settings
from narrator.engine.events import Failed
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.narrators.secret import Secret
from tests.engine.playing import PLAIN, make, playing
from tests.fake_server import Answer, FakeServer, call, chunk, cut, flood, page, pieces, refuse, say, selfsigned, stall

PAGE = Path(__file__).parent.parent.parent / "docs" / "failures.md"
TIMEOUT, PATIENCE = 0.5, 20
LINE = "I wait."

ERROR = {"error": {"message": "the model fell over", "code": 500}}
TOO_LONG = {
    "error": {"message": "This model's maximum context length is 8192 tokens.", "type": "invalid_request_error"}
}
BEGUN = f"data: {json.dumps(chunk({'content': 'The wheel'}))}\n\n"

WAYS: Mapping[str, Answer] = {
    "400": refuse(400),
    "400, too long": refuse(400, TOO_LONG),
    "401": refuse(401),
    "403": refuse(403),
    "403, flagged": refuse(403, {"error": {"message": "Your input was flagged.", "code": 403}}),
    "404, no such model": refuse(404),
    "402": refuse(402),
    "408": refuse(408),
    "409": refuse(409),
    "429": refuse(429, headers={"Retry-After": "0.01"}),
    "429, for an hour": refuse(429, headers={"Retry-After": "3600"}),
    "500": refuse(500),
    "503": refuse(503),
    "silence": stall(),
    "silence in the middle": say("The wheel turns and", stall_at=2),
    "a dropped connection": cut(),
    "a drop in the middle": pieces(BEGUN, ends=False),
    "an early end": pieces(BEGUN),
    "an end before the beginning": pieces(),
    "malformed events": pieces(BEGUN, "data: {not json}\n\n"),
    "no choices": pieces('data: {"id": "c1", "choices": []}\n\n', "data: [DONE]\n\n"),
    "an error inside": pieces(BEGUN, f"data: {json.dumps(ERROR)}\n\n"),
    "a filter": say("The wheel", finish="content_filter"),
    "a tool that was not offered": call("delete_all", '{"really": true}'),
    "a page": page(),
    "bytes that are no UTF-8": pieces(BEGUN, b'data: {"choices": [{"delta": {"content": "\xff\xfe"}}]}\n\n'),
    "a body without an end": flood(b"x" * (1 << 20), 100),
    "nothing": say(""),
    "white space": say("  \n\n "),
    "reasoning alone": say("", reasoning="Let me think."),
    "a refusal": say("I'm sorry, but I can't help with that request."),
}


@dataclass(frozen=True)
class Seen:
    """What a failure looked like: the error of the contract, and the text that had been told when it came."""

    way: str
    code: str
    message: str
    hint: str
    told: str
    is_unchanged: bool


async def fail(folder: Path, way: str, base_url: str, settings: Settings | None = None, **options: object) -> Seen:
    """Play one turn that fails."""
    path = make(folder, PLAIN, f"ferry-{abs(hash(way))}")
    wanted = {
        "model": "some-model",
        "timeout": TIMEOUT if "silence" in way else PATIENCE,
        "retries": 0,
        "context_window": 50_000,
        "api_key": Secret("canary.77b0"),
        **options,
    }
    teller = OpenAICompatible("mine", base_url=base_url, **wanted)  # type: ignore[arg-type]
    async with playing(path, teller, answers="yes", settings=settings) as play:  # type: ignore[arg-type]
        before = play.rows()
        before.pop("agreed_hosts", None)
        answer = await play.do(LINE)
        (failed,) = answer.of(Failed)
        after = play.rows()
        after.pop("agreed_hosts", None)
        kept = failed.draft == LINE == play.draft() and before == after
        told = play.session.in_flight.text if play.session.in_flight is not None else ""
        message = re.sub(r"127\.0\.0\.1:\d+", "HOST", failed.message)
        return Seen(way, failed.code, message, failed.hint, told, kept)


async def all_failures() -> list[Seen]:
    """Every way, in order."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, seen = Path(scratch), []
        for way, answer in WAYS.items():
            async with FakeServer({"narrate": answer}) as server:
                seen.append(await fail(folder, way, server.base_url))
        async with FakeServer({"narrate": refuse(401)}) as server:
            seen.append(await fail(folder, "401, and no key was sent", server.base_url, api_key=None))
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            seen.append(await fail(folder, "nobody listens", f"http://127.0.0.1:{port}/v1"))
        seen.append(await fail(folder, "a name that nobody knows", "http://no-such-host.invalid/v1"))
        async with FakeServer() as server:
            address = server.base_url.replace("http:", "https:")
            seen.append(await fail(folder, "no TLS", address))
        async with FakeServer(tls=selfsigned()) as server:
            seen.append(await fail(folder, "a certificate that nobody trusts", server.base_url))
        seen.append(await fail(folder, "no network", "http://255.255.255.255/v1"))
        seen.append(await fail(folder, "offline = true", "https://models.example/v1", offline=True))
        price = PriceSettings(input=1.0, output=1.0)
        mine = NarratorSettings(kind="openai-compatible", base_url="http://127.0.0.1:9/v1", price=price)
        limited = Settings(narrators={"mine": mine}, limits=LimitSettings(per_session=0.0))
        seen.append(await fail(folder, "a limit of cost", "http://127.0.0.1:9/v1", limited))
        return seen


INTRODUCTION = """\
# When the narrator fails

Whatever happens to a request, the story is what it was before it, and your input is back in the composer. What had been
told by then stays on the screen, dimmed, until your next command; where it says *text* below, `/keep` takes it into the
story. A failure that may pass is tried again first (`retries` in `config.toml`), as long as no word has come; each wait
is announced and can be stopped.

This page is made by the tests, which fail in each of these ways (`python -m tests.engine.failures_page`).

| what happens | error | what you see | kept |
|---|---|---|---|
"""


def _named(way: str) -> str:
    return f"HTTP {way}" if way[0].isdigit() else way


def written(seen: list[Seen]) -> str:
    """The page."""
    rows = []
    for each in seen:
        said = f"{each.message} {each.hint}".replace("|", "\\|")
        kept = "input, *text*" if each.told.strip() else "input"
        rows.append(f"| {_named(each.way)} | `{each.code}` | {said} | {kept} |")
    return INTRODUCTION + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(written(asyncio.run(all_failures())), encoding="utf-8")
