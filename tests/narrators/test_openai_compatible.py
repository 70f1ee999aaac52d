"""The narrator behind an OpenAI-compatible server, over real HTTP on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import socket
import time
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from narrator.core.definition import Definition
from narrator.core.errors import BadValue, ContextTooLong, NarrationFailed
from narrator.core.prompt import Message
from narrator.core.state import State
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.narrators.port import (
    Chunk,
    Delta,
    Finish,
    Narrator,
    Purpose,
    Request,
    Scene,
    Tool,
    ToolCall,
    Usage,
    Waiting,
)
from narrator.narrators.secret import Secret
from tests.fake_server import (
    Answer,
    Exchange,
    FakeServer,
    call,
    chunk,
    cut,
    flood,
    give,
    page,
    pieces,
    refuse,
    say,
    stall,
    usage_chunk,
    words,
)

KEY = "sk-canary-4f1c9e77d2"
DEFINITION = Definition(id="x", title="The Ferry", opening="Rain.", player_name="Ansa")
SCENE = Scene(definition=DEFINITION, state=State(), seed=1, chain_hash=b"", ordinal=0)
MESSAGES = (Message("system", "Tell it."), Message("user", "[do] open the gate"))


def request(purpose: Purpose = Purpose.NARRATE, **options: Any) -> Request:
    return Request(purpose, MESSAGES, SCENE, 100, **options)


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as running:
        yield running


def narrator(server: FakeServer | str, **options: Any) -> OpenAICompatible:
    base_url = server if isinstance(server, str) else server.base_url
    settings: dict[str, Any] = {"model": "some-model", "api_key": Secret(KEY), "timeout": 5, "backoff": 0.001}
    return OpenAICompatible("mine", base_url=base_url, **{**settings, **options})


async def told(teller: OpenAICompatible, asked: Request | None = None) -> list[Chunk]:
    try:
        return [each async for each in teller.stream(asked or request())]
    finally:
        await teller.aclose()


def text_of(chunks: Sequence[Chunk]) -> str:
    return "".join(each.text for each in chunks if isinstance(each, Delta))


async def failure(teller: OpenAICompatible, asked: Request | None = None) -> tuple[NarrationFailed, list[Chunk]]:
    """The error of a request that must fail, and what came before it. The key may be nowhere in it."""
    chunks: list[Chunk] = []

    async def tell() -> None:
        async with aclosing(teller.stream(asked or request())) as stream:
            async for each in stream:
                chunks.append(each)

    with pytest.raises(NarrationFailed) as caught:
        await tell()
    await teller.aclose()
    error = caught.value
    shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    for place in (str(error), error.hint, repr(error), shown, repr(chunks)):
        assert KEY not in place
    assert error.__cause__ is None
    assert error.__context__ is None
    assert "\n" not in error.message
    return error, chunks


# ------------------------------------------------------------------------------------------------------ what goes well


@pytest.mark.spec("T15", "T16")
async def test_a_narration_streams_with_its_purpose_and_usage(server: FakeServer) -> None:
    server.answer("narrate", say("The gate opens.\n\nBehind it, rain.", usage=(120, 7, 80)))
    teller = narrator(server)
    assert isinstance(teller, Narrator)
    chunks = await told(teller)
    assert text_of(chunks) == "The gate opens.\n\nBehind it, rain."
    assert chunks[-1] == Finish("stop", Usage(120, 7, 80))
    (sent,) = server.requests
    assert (sent.method, sent.path) == ("POST", "/v1/chat/completions")
    assert sent.headers["x-narrator-purpose"] == "narrate"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.json == {
        "model": "some-model",
        "messages": [{"role": m.role, "content": m.content} for m in MESSAGES],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 100,
    }


@pytest.mark.spec("T16")
async def test_without_a_key_none_is_sent_and_the_environment_adds_nothing(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "OPENAI_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "canary-env: canary-env")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    await told(narrator(server, api_key=None))
    (sent,) = server.requests
    assert "authorization" not in sent.headers
    assert b"canary-env" not in sent.raw
    assert not [name for name in sent.headers if name.startswith("openai-")]


@pytest.mark.spec("T16")
@pytest.mark.parametrize("purpose", list(Purpose))
async def test_every_purpose_is_in_the_header(server: FakeServer, purpose: Purpose) -> None:
    server.answer(purpose, give({"changes": []}))
    completion = await narrator(server).complete(request(purpose))
    assert json.loads(completion.text) == {"changes": []}
    assert server.requests[0].purpose == purpose.value


@pytest.mark.spec("T16")
async def test_samplers_go_as_they_stand_and_the_seed_moves_with_the_take(server: FakeServer) -> None:
    teller = narrator(server, sampling={"temperature": 0.9, "min_p": 0.05, "seed": 40})
    for take in (0, 2):
        async for _ in teller.stream(request(take=take, sampling={"temperature": 0.5})):
            pass
    await teller.aclose()
    sent = [each.json for each in server.requests]
    assert [(each["temperature"], each["min_p"], each["seed"]) for each in sent] == [(0.5, 0.05, 40), (0.5, 0.05, 42)]


def test_a_sampler_setting_may_not_replace_the_messages() -> None:
    with pytest.raises(BadValue, match="messages"):
        narrator("http://127.0.0.1:1/v1", sampling={"messages": []})
    with pytest.raises(BadValue, match="base_url"):
        narrator("127.0.0.1:8080")


@pytest.mark.spec("T4")
async def test_a_schema_goes_along_and_is_left_out_where_the_server_refuses_it(server: FakeServer) -> None:
    server.answer(
        "extract", refuse(400, {"error": {"message": "response_format json_schema is not supported"}}), give({"a": 1})
    )
    teller = narrator(server, context_window=8192)
    assert (await teller.capabilities()).json_schema
    asked = request(Purpose.EXTRACT, schema={"type": "object"})
    assert json.loads((await teller.complete(asked)).text) == {"a": 1}
    await teller.complete(asked)
    assert not (await teller.capabilities()).json_schema
    await teller.aclose()
    formats = [each.json.get("response_format") for each in server.requests]
    assert formats[0]["json_schema"]["schema"] == {"type": "object"}
    assert formats[1:] == [None, None]


@pytest.mark.spec("T8", "T15")
async def test_a_tool_call_comes_whole(server: FakeServer) -> None:
    server.answer("narrate", call("request_check", '{"skill": "persuade", "difficulty": "hard"}'))
    tool = Tool("request_check", "Ask for a check.", {"type": "object"})
    chunks = await told(narrator(server, tools="on"), request(tools=(tool,)))
    assert chunks[0] == ToolCall("request_check", {"skill": "persuade", "difficulty": "hard"}, "t1")
    assert isinstance(chunks[1], Finish)
    assert chunks[1].reason == "tool"
    assert server.requests[0].json["tools"][0]["function"]["name"] == "request_check"


@pytest.mark.spec("T7")
async def test_length_is_a_finish_and_keeps_the_space_at_the_end(server: FakeServer) -> None:
    server.answer("narrate", say(["The gate ", "opens and "], finish="length"))
    chunks = await told(narrator(server))
    assert text_of(chunks) == "The gate opens and "
    assert isinstance(chunks[-1], Finish)
    assert chunks[-1].reason == "length"


@pytest.mark.spec("T6")
async def test_reasoning_is_no_story(server: FakeServer) -> None:
    server.answer("narrate", say(["<th", "ink>canary", " plans</thi", "nk>\n\nThe", " gate."], reasoning="canary"))
    chunks = await told(narrator(server))
    assert text_of(chunks) == "The gate."


@pytest.mark.spec("T6")
async def test_a_cut_ends_the_request_with_a_note(server: FakeServer) -> None:
    server.answer("narrate", say(["The gate opens.", "\n\n>", " go in", "\nYou go", " in."], stall_at=4))
    chunks = await told(narrator(server))
    assert text_of(chunks) == "The gate opens."
    assert isinstance(chunks[-1], Finish)
    assert chunks[-1].reason == "cut"
    assert "player's marker" in chunks[-1].notes[0]
    async with asyncio.timeout(5):
        await server.requests[0].gone.wait()


async def test_a_server_that_does_not_stream_is_understood(server: FakeServer) -> None:
    body = {"choices": [{"message": {"content": "The gate."}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9}}
    server.answer("narrate", pieces(json.dumps(body), content_type="application/json"))
    chunks = await told(narrator(server))
    assert text_of(chunks) == "The gate."
    assert chunks[-1] == Finish("stop", Usage(9, None, None))


async def test_a_server_that_never_closes_after_the_end_does_not_hold_the_turn(server: FakeServer) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.delta(content="The gate.")
        await exchange.event(chunk({}, "stop"))
        await exchange.stall()

    server.answer("narrate", answer)
    chunks = await told(narrator(server, timeout=1))
    assert text_of(chunks) == "The gate."


# -------------------------------------------------------------------------------------------------------- what is wrong


def sse(*values: object) -> str:
    return "".join(f"data: {json.dumps(value)}\n\n" for value in values)


BEGUN = sse(chunk({"content": "The gate opens"}))
DONE = "data: [DONE]\n\n"
FILTERED = sse(chunk({"content": "The"}), chunk({}, "content_filter"))
TOO_LONG = {
    "error": {"message": "This model's maximum context length is 8192 tokens", "code": "context_length_exceeded"}
}


@pytest.mark.spec("T6", "T11")
@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (refuse(400), "narrator-refused", "HTTP 400"),
        (refuse(400, TOO_LONG), "context-too-long", "8192"),
        (refuse(400, {"error": {"type": "exceed_context_size_error", "message": "too big"}}), "context-too-long", ""),
        (refuse(401, {"error": {"message": f"Incorrect API key {KEY}"}}), "narrator-auth", "HTTP 401"),
        (refuse(403), "narrator-auth", "HTTP 403"),
        (refuse(404), "narrator-refused", "some-model"),
        (refuse(302, "", {"Location": "https://elsewhere.invalid/"}), "narrator-refused", "another address"),
        (refuse(408), "narrator-timeout", "HTTP 408"),
        (refuse(409), "narrator-refused", "HTTP 409"),
        (refuse(429, headers={"Retry-After": "90"}), "narrator-rate-limited", "wait 90 s"),
        (refuse(500), "narrator-unreachable", "HTTP 500"),
        (refuse(503, "<html>Bad gateway</html>"), "narrator-unreachable", "HTTP 503"),
        (cut(), "narrator-unreachable", "dropped the connection"),
        (page(), "narrator-malformed", "web page"),
        (pieces(BEGUN, ends=False), "narrator-broke-off", "broke off"),
        (pieces(BEGUN), "narrator-broke-off", "before the answer was whole"),
        (pieces(BEGUN, DONE), "narrator-broke-off", "before the answer was whole"),
        (pieces(BEGUN, 'data: {"choices": [\n\n'), "narrator-malformed", "no chat completion"),
        (pieces(BEGUN, "garbage\n\n"), "narrator-malformed", "no event"),
        (pieces(sse({"choices": "none"})), "narrator-malformed", "no chat completion"),
        (pieces(sse([1, 2])), "narrator-malformed", "no chat completion"),
        (pieces(b'data: {"choices": [{"delta": {"content": "\xff\xfe"}}]}\n\n'), "narrator-malformed", "UTF-8"),
        (pieces(b"\x00\x01\x02" * 50, b"\n"), "narrator-malformed", "no event"),
        (pieces(sse({"choices": []}), DONE), "narrator-empty", "no choices"),
        (pieces(DONE), "narrator-empty", "no choices"),
        (pieces(""), "narrator-empty", "no choices"),
        (pieces(BEGUN, sse({"error": {"message": "out of memory"}})), "narrator-broke-off", "out of memory"),
        (pieces(BEGUN, sse({"error": "boom"})), "narrator-broke-off", "boom"),
        (pieces(sse({"error": {"message": "slow down", "code": 429}})), "narrator-rate-limited", "slow down"),
        (pieces(FILTERED, DONE), "narrator-filtered", "content filter"),
        (call("delete_everything", "{}"), "narrator-malformed", "delete_everything"),
        (call("request_check", "{"), "narrator-malformed", "cannot be read"),
        (say(""), "narrator-empty", "nothing"),
        (say("  \n\n "), "narrator-empty", "nothing"),
        (say("", reasoning="I plan."), "narrator-empty", "reasoning alone"),
        (say("<think>I plan.</think>\n"), "narrator-empty", "reasoning alone"),
        (say("", finish="length"), "narrator-empty", "limit"),
        (say("I plan.</think> The gate."), "narrator-malformed", "reasoning"),
        (say("> go north"), "narrator-empty", "player's marker"),
        (say("I'm sorry, but I can't help with that."), "narrator-refused", "refused"),
        (pieces(sse(chunk({"refusal": "I would rather not."}), chunk({}, "stop")), DONE), "narrator-refused", "rather"),
        (flood(b": " + b"x" * 65_536 + b"\n", 1600), "narrator-malformed", "more than 16 MB"),
        (flood(b"x" * 65_536, 1600), "narrator-malformed", "a line without an end"),
        (flood(b"data: " + b"x" * 65_536 + b"\n", 1600), "narrator-malformed", "an event without an end"),
        (refuse(500, {"error": {"message": "m" * 3_000_000}}), "narrator-unreachable", "HTTP 500"),
    ],
)
async def test_each_failure_has_a_code_and_one_plain_line(
    server: FakeServer, answer: Answer, code: str, said: str
) -> None:
    server.answer("narrate", answer)
    error, _ = await failure(narrator(server, retries=0))
    assert error.code == code
    assert said in error.message
    assert error.hint
    assert len(error.message) < 400
    assert len(server.requests) == 1
    assert isinstance(error, ContextTooLong) == (code == "context-too-long")


@pytest.mark.spec("T11")
async def test_damaged_bytes_are_a_story_or_a_named_failure(server: FakeServer) -> None:
    chance = random.Random(11)
    good = (sse(*(chunk({"content": word}) for word in words("Rain falls."))) + sse(chunk({}, "stop")) + DONE).encode()
    teller = narrator(server, retries=0)
    for _ in range(80):
        data = bytearray(good)
        for _ in range(chance.randint(1, 3)):
            start, size = chance.randrange(len(data)), chance.randint(0, 40)
            data[start : start + size] = chance.randbytes(chance.choice([0, 1, 8]))
        server.answer("narrate", pieces(bytes(data), ends=chance.random() < 0.8))
    for _ in range(80):
        with contextlib.suppress(NarrationFailed):
            async for each in teller.stream(request()):
                assert isinstance(each, Delta | Finish)
    await teller.aclose()
    assert len(server.requests) == 80


@pytest.mark.spec("T3", "T11")
async def test_what_came_before_a_failure_is_not_lost(server: FakeServer) -> None:
    server.answer("narrate", pieces(BEGUN + "garbage\n\n"))
    error, chunks = await failure(narrator(server))
    assert error.code == "narrator-malformed"
    assert text_of(chunks) == "The gate opens"


@pytest.mark.spec("T11")
async def test_a_refused_connection(server: FakeServer) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    error, chunks = await failure(narrator(f"http://127.0.0.1:{port}/v1"))
    assert error.code == "narrator-unreachable"
    assert "refuses connections" in error.message
    assert [type(each) for each in chunks] == [Waiting, Waiting]


@pytest.mark.spec("T11")
async def test_a_name_that_nobody_knows() -> None:
    error, _ = await failure(narrator("http://no-such-host.invalid/v1", retries=0))
    assert error.code == "narrator-unreachable"
    assert "name that nobody knows" in error.message


@pytest.mark.spec("T11")
async def test_tls_where_none_is_spoken(server: FakeServer) -> None:
    error, chunks = await failure(narrator(server.base_url.replace("http:", "https:")))
    assert error.code == "narrator-unreachable"
    assert "TLS" in error.message
    assert chunks == []


@pytest.mark.spec("T11")
async def test_silence_before_the_first_token(server: FakeServer) -> None:
    server.answer("narrate", stall())
    error, chunks = await failure(narrator(server, timeout=0.05))
    assert error.code == "narrator-timeout"
    assert "did not answer within 0.05 s" in error.message
    assert chunks == []


@pytest.mark.spec("T11")
async def test_silence_between_tokens(server: FakeServer) -> None:
    server.answer("narrate", say("The gate opens slowly.", stall_at=2))
    error, chunks = await failure(narrator(server, timeout=1))
    assert error.code == "narrator-timeout"
    assert "stopped in the middle" in error.message
    assert text_of(chunks) == "The gate"


@pytest.mark.spec("T11")
async def test_comments_are_no_sign_of_life(server: FakeServer) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.head()
        while not exchange.request.gone.is_set():
            await exchange.send(b": still here\n\n")
            await asyncio.sleep(0.01)

    server.answer("narrate", answer)
    error, _ = await failure(narrator(server, timeout=0.1))
    assert error.code == "narrator-timeout"


@pytest.mark.spec("T11", "T16")
async def test_a_failure_is_in_no_log(server: FakeServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.answer("narrate", refuse(401, {"error": {"message": f"bad key {KEY}"}}), refuse(500), say("The gate."))
    await failure(narrator(server))
    await told(narrator(server))
    assert KEY not in caplog.text
    assert "open the gate" not in caplog.text
    assert KEY not in repr(narrator(server))
    assert KEY not in repr(vars(narrator(server)))


@pytest.mark.spec("T16")
async def test_offline_asks_no_host_but_loopback(server: FakeServer) -> None:
    teller = narrator("https://api.example.invalid/v1", offline=True)
    assert not teller.is_loopback
    assert (await teller.capabilities()).window_source == "assumed"
    error, _ = await failure(teller)
    assert error.code == "offline"
    assert text_of(await told(narrator(server, offline=True))) == "The road goes on."


# ------------------------------------------------------------------------------------------------------ retry and stop


@pytest.mark.spec("T12")
@pytest.mark.parametrize("answer", [refuse(408), refuse(409), refuse(429), refuse(500), refuse(503), cut()])
async def test_what_may_pass_is_tried_again_and_seen(server: FakeServer, answer: Answer) -> None:
    server.answer("narrate", answer, answer, say("The gate."))
    chunks = await told(narrator(server))
    assert text_of(chunks) == "The gate."
    waits = [each for each in chunks if isinstance(each, Waiting)]
    assert [each.seconds for each in waits] == [0.001, 0.002]
    assert all(each.reason for each in waits)


@pytest.mark.spec("T12")
async def test_retries_are_bounded(server: FakeServer) -> None:
    server.answer("narrate", refuse(503))
    await failure(narrator(server, retries=2))
    assert len(server.requests) == 3


@pytest.mark.spec("T12")
@pytest.mark.parametrize("answer", [refuse(400), refuse(401), refuse(404), page(), say("")])
async def test_what_will_not_pass_is_not_tried_again(server: FakeServer, answer: Answer) -> None:
    server.answer("narrate", answer)
    _, chunks = await failure(narrator(server))
    assert len(server.requests) == 1
    assert not [each for each in chunks if isinstance(each, Waiting)]


@pytest.mark.spec("T12")
async def test_after_the_first_token_nothing_is_tried_again(server: FakeServer) -> None:
    server.answer("narrate", pieces(BEGUN, ends=False), say("Another beginning."))
    error, chunks = await failure(narrator(server))
    assert error.code == "narrator-broke-off"
    assert text_of(chunks) == "The gate opens"
    assert len(server.requests) == 1


@pytest.mark.spec("T12")
async def test_reasoning_counts_as_begun(server: FakeServer) -> None:
    server.answer("narrate", pieces(sse(chunk({"reasoning_content": "Hm"})), ends=False))
    await failure(narrator(server))
    assert len(server.requests) == 1


@pytest.mark.spec("T11", "T12")
async def test_a_wait_that_the_server_asks_for_is_kept(server: FakeServer) -> None:
    server.answer("narrate", refuse(429, headers={"Retry-After": "0.02"}), say("The gate."))
    chunks = await told(narrator(server))
    assert isinstance(chunks[0], Waiting)
    assert chunks[0].seconds == 0.02


@pytest.mark.spec("T12")
async def test_a_wait_can_be_stopped(server: FakeServer) -> None:
    server.answer("narrate", refuse(429, headers={"Retry-After": "20"}))
    teller = narrator(server)
    waiting = asyncio.Event()

    async def tell() -> None:
        async for each in teller.stream(request()):
            assert isinstance(each, Waiting)
            waiting.set()

    task = asyncio.ensure_future(tell())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await teller.aclose()


@pytest.mark.spec("T3")
@pytest.mark.parametrize(
    ("stage", "how"),
    [
        ("before-status", "cancel"),
        ("before-first-token", "cancel"),
        ("between-tokens", "cancel"),
        ("between-tokens", "aclose"),
    ],
)
async def test_stop_closes_the_stream_within_100_ms(server: FakeServer, stage: str, how: str) -> None:
    silent_from = {"before-first-token": 0, "between-tokens": 1}
    server.answer("narrate", say("The gate.", stall_at=silent_from[stage]) if stage in silent_from else stall())
    teller = narrator(server)
    stream = teller.stream(request())
    first = asyncio.Event()

    async def tell() -> None:
        async for _ in stream:
            first.set()
            if how == "aclose":
                return

    task = asyncio.ensure_future(tell())
    arrived = await server.arrival()
    if stage == "between-tokens":
        await first.wait()
    stopped = time.perf_counter()
    if how == "cancel":
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        await task
        await stream.aclose()
    async with asyncio.timeout(5):
        await arrived.gone.wait()
    assert arrived.gone_at is not None
    assert arrived.gone_at - stopped < 0.1
    await teller.aclose()


# -------------------------------------------------------------------------------------------------- window and counting


@pytest.mark.spec("C3")
@pytest.mark.parametrize(
    ("path", "body", "window"),
    [
        ("/v1/models", {"data": [{"id": "other"}, {"id": "some-model", "max_model_len": 12_000}]}, 12_000),
        ("/v1/models", {"data": [{"id": "some-model", "context_length": 64_000}]}, 64_000),
        ("/props", {"default_generation_settings": {"n_ctx": 4_096}}, 4_096),
        ("/api/extra/true_max_context_length", {"value": 8_192}, 8_192),
        ("/api/v0/models", {"data": [{"id": "some-model", "loaded_context_length": 6_000}]}, 6_000),
        ("/api/ps", {"models": [{"name": "some-model", "context_length": 5_000}]}, 5_000),
    ],
)
async def test_the_window_is_asked_of_the_server_once(
    server: FakeServer, path: str, body: dict[str, Any], window: int
) -> None:
    server.answer(path, pieces(json.dumps(body), content_type="application/json"))
    teller = narrator(server)
    found = await teller.capabilities()
    assert (found.window, found.window_source, found.counting) == (window, "reported", "bytes")
    asked = len(server.requests)
    assert await teller.capabilities() == found
    assert len(server.requests) == asked
    await teller.aclose()


@pytest.mark.spec("C3")
async def test_a_configured_window_asks_nobody_and_an_unknown_one_is_assumed(server: FakeServer) -> None:
    configured = await narrator(server, context_window=32_768, max_output_tokens=500).capabilities()
    assert (configured.window, configured.window_source) == (32_768, "configured")
    assert configured.max_output_tokens == 500
    assert server.requests == []
    teller = narrator(server)
    assumed = await teller.capabilities()
    assert (assumed.window, assumed.window_source) == (16_384, "assumed")
    assert assumed.host == f"127.0.0.1:{server.port}"
    await teller.aclose()
    unreachable = await narrator("http://127.0.0.1:1/v1").capabilities()
    assert unreachable.window_source == "assumed"


def tokenizer(count: Callable[[Any], object]) -> Answer:
    """An address that counts: ``count`` makes its answer of the body."""

    async def answer(exchange: Exchange) -> None:
        await exchange.head(content_type="application/json")
        await exchange.send(json.dumps(count(exchange.request.json)).encode())
        await exchange.end()

    return answer


@pytest.mark.spec("C4")
@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("/tokenize", lambda body: {"tokens": body["content"].split()}),
        ("/tokenize", lambda body: {"count": len(body["prompt"].split()), "max_model_len": 8192}),
        ("/api/extra/tokencount", lambda body: {"value": len(body["prompt"].split())}),
    ],
)
async def test_the_servers_own_tokenizer_counts_ahead(
    server: FakeServer, path: str, counts: Callable[[Any], object]
) -> None:
    server.answer(path, tokenizer(counts))
    teller = narrator(server)
    long = (Message("user", "word " * 400), Message("assistant", "word " * 300), Message("user", "word " * 300))
    assert (await teller.capabilities()).counting == "bytes"
    frames = teller.count([Message(each.role, "") for each in long])
    assert teller.count(long) == frames + 5000
    await teller.count_ahead(long)
    assert teller.count(long) == frames + 1000
    assert (await teller.capabilities()).counting == "exact"
    asked = len(server.requests)
    await teller.count_ahead(long)
    assert len(server.requests) == asked
    assert teller.count((Message("user", "unknown"),)) == len('{"role":"user","content":"unknown"}')
    assert b"narrate" not in server.requests[-1].raw
    await teller.aclose()


@pytest.mark.spec("C4")
@pytest.mark.parametrize(
    "lie", [refuse(404), tokenizer(lambda body: {"count": 0}), tokenizer(lambda body: {"count": 9**9})]
)
async def test_a_server_without_a_tokenizer_is_asked_once(server: FakeServer, lie: Answer) -> None:
    server.answer("/tokenize", lie)
    teller = narrator(server)
    before = teller.count(MESSAGES)
    await teller.count_ahead(MESSAGES)
    await teller.count_ahead(MESSAGES)
    assert [each.path for each in server.requests] == ["/tokenize", "/api/extra/tokencount"]
    assert teller.count(MESSAGES) == before
    await teller.aclose()


@pytest.mark.spec("C4")
async def test_measured_counting_learns_and_rises(server: FakeServer) -> None:
    size = narrator(server).count(MESSAGES)
    server.answer("narrate", say("The gate.", usage=(size // 4, 2, 0)), refuse(400, TOO_LONG))
    teller = narrator(server, counting="measured")
    assert teller.count(MESSAGES) == size
    async for _ in teller.stream(request()):
        pass
    learned = teller.count(MESSAGES)
    assert size // 4 < learned < size // 2
    error, _ = await failure(teller)
    assert isinstance(error, ContextTooLong)
    assert teller.count(MESSAGES) > learned


async def test_usage_without_details_and_from_llama_cpp(server: FakeServer) -> None:
    last = {**usage_chunk(50, 5), "timings": {"cache_n": 41}}
    del last["usage"]["prompt_tokens_details"]
    server.answer("narrate", pieces(BEGUN, sse(chunk({}, "stop"), last), DONE))
    chunks = await told(narrator(server))
    assert chunks[-1] == Finish("stop", Usage(50, 5, 41))
