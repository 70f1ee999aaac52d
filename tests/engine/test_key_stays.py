"""A key is in the request and nowhere else: searched for in all that is left behind after every failure (T16)."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import traceback
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.traceback import Traceback

from narrator import config, log, paths
from narrator.cli import main
from narrator.core.errors import NarratorError
from narrator.engine import casting
from narrator.engine.commands import parse_line
from narrator.engine.session import Session
from narrator.exchange.exporting import FORMS
from narrator.narrators.port import Narrator, Purpose
from narrator.store.verify import verify
from tests.engine.failures_page import BEGUN, WAYS
from tests.engine.playing import PLAIN, make
from tests.fake_server import Answer, Exchange, FakeServer, chunk, say
from tests.narrators.test_openai_compatible import request

KEY = "canary.4f1d9c2a77b0"
"""Nothing about it looks like a key, so that no pattern finds it by its shape."""


def echoing(status: int, content_type: str, body: str) -> Answer:
    """An answer that gives the key back, as servers and proxies in between do: ``KEY`` in ``body``."""

    async def answer(exchange: Exchange) -> None:
        assert exchange.request.headers["authorization"] == f"Bearer {KEY}"
        await exchange.head(status, content_type, {"X-Echo": KEY, "WWW-Authenticate": f"Bearer {KEY}"})
        await exchange.send(body.replace("KEY", KEY).encode())
        await exchange.end()

    return answer


def _inside(value: Any) -> str:
    return f"{BEGUN}data: {json.dumps(value)}\n\n"


ECHOES = {
    "401": echoing(401, "application/json", '{"error": {"message": "Incorrect API key provided: KEY."}}'),
    "403, in plain words": echoing(403, "text/plain", "Bearer KEY may not"),
    "400": echoing(400, "application/json", '{"error": "KEY", "authorization": "Bearer KEY"}'),
    "500, a page": echoing(500, "text/html", "<html>Authorization: Bearer KEY</html>"),
    "a story": echoing(200, "text/event-stream", _inside(chunk({"content": "It says KEY on the door."}))),
    "302": echoing(302, "text/plain", "KEY"),
    "a page": echoing(200, "text/html", "<html>KEY</html>"),
    "no JSON": echoing(200, "application/json", "KEY"),
    "no events": echoing(200, "text/event-stream", "KEY\n\n"),
    "malformed": echoing(200, "text/event-stream", BEGUN + 'data: {"KEY\n\n'),
    "an error inside": echoing(200, "text/event-stream", _inside({"error": {"message": "bad KEY", "code": 401}})),
    "a refusal": echoing(200, "text/event-stream", _inside(chunk({"refusal": "Not with KEY."}, "stop"))),
    "a tool": echoing(
        200,
        "text/event-stream",
        _inside(chunk({"tool_calls": [{"index": 0, "function": {"name": "KEY", "arguments": "{}"}}]}, "tool_calls")),
    ),
}


def files_with(folder: Path, word: str) -> list[str]:
    """The files below a folder that hold a word, in whatever encoding a program would write it."""
    wanted = [word.encode(), word.encode("utf-16-le"), word.encode().hex().encode()]
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and any(each in path.read_bytes() for each in wanted):
            found.append(str(path.relative_to(folder)))
    return found


def shown(error: BaseException) -> str:
    """An error as tracebacks show it: the interpreter's and a crash screen's, both with every variable."""
    plain = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    console = Console(file=io.StringIO(), width=500)
    console.print(Traceback.from_exception(type(error), error, error.__traceback__, show_locals=True))
    assert isinstance(console.file, io.StringIO)
    return plain + console.file.getvalue() + repr(error) + repr(error.__dict__)


async def fail_in(session: Session, line: str) -> None:
    assert not await session.perform(parse_line(line))


def configure(base_url: str) -> None:
    paths.config_file().write_text(
        f'[narrators.mine]\nkind = "openai-compatible"\nbase_url = "{base_url}"\nmodel = "m"\n'
        'api_key_env = "CANARY_KEY"\ntimeout = 1.5\nretries = 0\ncontext_window = 50000\n',
        encoding="utf-8",
    )


@pytest.mark.spec("T11", "T16")
async def test_the_key_is_found_nowhere_after_any_failure(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CANARY_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    handler = log.start(paths.log_folder(), level=logging.DEBUG, has_story_text=True)
    ways = {**WAYS, **ECHOES}
    seen: list[str] = []
    try:
        async with FakeServer() as server:
            configure(server.base_url)
            settings, problems = config.read(paths.config_file())
            assert problems == ()
            paths.campaigns_folder().mkdir()
            path = make(paths.campaigns_folder(), PLAIN, "ferry")
            session = await Session.open(path, settings=settings, narrator="mine", answers="yes")
            events = session.events()
            server.answer("narrate", *ways.values(), say("It works."))
            server.answer("extract", *ways.values())
            for way in ways:
                before = session.story.count
                await fail_in(session, f"I try {way}.")
                assert session.story.count == before
            for line in ("I go on.", "/prompt", "/prompt 3", "/stats", "/status", "/narrator"):
                assert await session.perform(parse_line(line)), line
            seen += [repr(vars(session.narrator)), repr(session.narrator), repr(session.settings)]
            await session.aclose()
            seen += [repr(event) async for event in events]
            seen += await tracebacks(settings, len(ways))
            # The words were there to be found: each request carried the key.
            asked = [request for request in server.requests if request.purpose]
            assert len(asked) > len(ways)
            assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in asked)
            assert not any(KEY.encode() in request.body for request in server.requests)
    finally:
        log.stop(handler)
    assert verify(path).ok
    export_all(path, home / "out")
    assert await asyncio.to_thread(main, ["doctor"]) in (0, 1)
    seen += [caplog.text, *capsys.readouterr()]
    assert len(seen) > 2 * len(ways)
    assert [each for each in seen if KEY in each] == []
    assert files_with(home, KEY) == []
    assert files_with(home, "It works") != []


async def tracebacks(settings: config.Settings, count: int) -> list[str]:
    """The errors of a narrator as the engine builds it, asked directly, as tracebacks would show them."""
    teller = casting.build(settings, "mine")
    found = [await traceback_of(teller) for _ in range(count)]
    await teller.aclose()
    assert sum(bool(each) for each in found) > count - 8, "most ways of failing a narration fail a question too"
    return found


async def traceback_of(teller: Narrator) -> str:
    """One of them. Nothing but the narrator is held here: a traceback shows the variables of this frame too."""
    try:
        await teller.complete(request(Purpose.EXTRACT))
    except NarratorError as error:
        return shown(error)
    return ""


def export_all(path: Path, folder: Path) -> None:
    """Every form that a story is written in."""
    folder.mkdir()
    for form in FORMS:
        assert main(["export", str(path), str(folder / form), "--as", form]) == 0, form
