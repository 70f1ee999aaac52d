"""What the usual servers answer, each in its own shapes: windows, counts, refusals, small print (T11, T16, C3, C4)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.narrators.port import Finish, Message
from tests.fake_server import Answer, Exchange, FakeServer, chunk, pieces, refuse, say
from tests.narrators.test_openai_compatible import failure, narrator, request, text_of, told

OLLAMA_MODELS = {
    "object": "list",
    "data": [
        {"id": "llama3.2:latest", "object": "model", "created": 1731000000, "owned_by": "library"},
        {"id": "qwen3:8b", "object": "model", "created": 1731000000, "owned_by": "library"},
    ],
}
OLLAMA_LOADED = {
    "models": [
        {"name": "qwen3:8b", "model": "qwen3:8b", "size": 1, "details": {}, "context_length": 40960},
        {"name": "llama3.2:latest", "model": "llama3.2:latest", "size": 1, "details": {}, "context_length": 4096},
    ]
}
LM_STUDIO_MODELS = {"data": [{"id": "some-model", "object": "model", "owned_by": "organization_owner"}] * 2}
LM_STUDIO_LOADED = {
    "object": "list",
    "data": [
        {"id": "other", "type": "llm", "state": "not-loaded", "max_context_length": 131072},
        {
            "id": "some-model",
            "type": "llm",
            "state": "loaded",
            "max_context_length": 32768,
            "loaded_context_length": 4096,
        },
    ],
}
LLAMA_CPP_MODELS = {
    "models": [{"name": "some-model", "model": "some-model", "capabilities": ["completion"]}],
    "object": "list",
    "data": [
        {
            "id": "some-model",
            "object": "model",
            "owned_by": "llamacpp",
            "meta": {"vocab_type": 2, "n_vocab": 128256, "n_ctx_train": 131072, "n_embd": 4096, "size": 4912898304},
        }
    ],
}
LLAMA_CPP_PROPS = {"default_generation_settings": {"id": 0, "n_ctx": 8192, "params": {}}, "total_slots": 1}
KOBOLD_MODELS = {"object": "list", "data": [{"id": "koboldcpp/Some-Model", "object": "model", "owned_by": "koboldcpp"}]}
VLLM_MODELS = {
    "object": "list",
    "data": [{"id": "some-model", "object": "model", "owned_by": "vllm", "root": "x", "max_model_len": 4096}],
}
OPENROUTER_MODELS = {
    "data": [
        {"id": "other", "context_length": 8192, "top_provider": {"context_length": 8192}},
        {
            "id": "some-model",
            "context_length": 131072,
            "top_provider": {"context_length": 32768, "max_completion_tokens": 8192, "is_moderated": True},
        },
    ]
}


def as_json(value: object) -> Answer:
    return pieces(json.dumps(value), content_type="application/json")


def counted(key: str) -> Answer:
    """An address that counts words."""

    async def answer(exchange: Exchange) -> None:
        body = exchange.request.json
        number = len((body.get("prompt") or body["content"]).split())
        counts = {"count": number, "max_model_len": 4096, "tokens": [0] * number, "value": number}
        await as_json({key: counts[key]})(exchange)

    return answer


@asynccontextmanager
async def serving(paths: Mapping[str, Any], **options: Any) -> AsyncIterator[tuple[FakeServer, OpenAICompatible]]:
    """A server with these answers, and a narrator that knows nothing else of it."""
    answers = {
        path: each if callable(each) or isinstance(each, tuple) else as_json(each) for path, each in paths.items()
    }
    async with FakeServer(answers) as server:
        teller = narrator(server, **{"retries": 0, **options})
        yield server, teller
        await teller.aclose()


@pytest.mark.spec("T16", "C3", "C4")
@pytest.mark.parametrize(
    ("paths", "model", "window", "counting"),
    [
        ({"/v1/models": OLLAMA_MODELS, "/api/ps": OLLAMA_LOADED}, "llama3.2", 4096, "bytes"),
        ({"/v1/models": OLLAMA_MODELS, "/api/ps": OLLAMA_LOADED}, "qwen3:8b", 40960, "bytes"),
        (
            {
                "/v1/models": LM_STUDIO_MODELS,
                "/props": {"error": "Unexpected endpoint or method. (GET /props)"},
                "/tokenize": {"error": "Unexpected endpoint or method. (POST /tokenize)"},
                "/api/v0/models": LM_STUDIO_LOADED,
            },
            "some-model",
            4096,
            "bytes",
        ),
        (
            {"/v1/models": LLAMA_CPP_MODELS, "/props": LLAMA_CPP_PROPS, "/tokenize": counted("tokens")},
            "some-model",
            8192,
            "exact",
        ),
        (
            {
                "/v1/models": KOBOLD_MODELS,
                "/api/extra/true_max_context_length": {"value": 6144},
                "/api/extra/tokencount": counted("value"),
            },
            "whatever",
            6144,
            "exact",
        ),
        ({"/v1/models": VLLM_MODELS, "/tokenize": counted("count")}, "some-model", 4096, "exact"),
        ({"/v1/models": OPENROUTER_MODELS}, "some-model", 32768, "bytes"),
    ],
    ids=["Ollama", "Ollama with a tag", "LM Studio", "llama.cpp", "KoboldCpp", "vLLM", "OpenRouter"],
)
async def test_each_server_tells_its_window_and_counts_in_its_own_way(
    paths: Mapping[str, Any], model: str, window: int, counting: str
) -> None:
    async with serving(paths, model=model) as (_, teller):
        found = await teller.capabilities()
        assert (found.window, found.window_source) == (window, "reported")
        long = (Message("user", "word " * 300),)
        await teller.count_ahead(long)
        assert (await teller.capabilities()).counting == counting
        assert (teller.count(long) < 400) is (counting == "exact")


@pytest.mark.spec("T16", "C3")
async def test_a_window_that_is_known_when_the_model_is_loaded_is_asked_for_once_more() -> None:
    """Ollama and LM Studio load a model at its first request, and say nothing of it before."""
    async with serving(
        {"/v1/models": OLLAMA_MODELS, "/api/ps": {"models": []}, "narrate": say("The gate.")}, model="qwen3:8b"
    ) as (server, teller):
        assert (await teller.capabilities()).window_source == "assumed"
        asked = len(server.requests)
        assert (await teller.capabilities()).window_source == "assumed"
        assert len(server.requests) == asked
        server.answer("/api/ps", as_json(OLLAMA_LOADED))
        server._answers["/api/ps"].popleft()
        async for _ in teller.stream(request()):
            pass
        found = await teller.capabilities()
        assert (found.window, found.window_source) == (40960, "reported")
        asked = len(server.requests)
        async for _ in teller.stream(request()):
            pass
        await teller.capabilities()
        assert len(server.requests) == asked + 1


@pytest.mark.spec("T11", "T16")
@pytest.mark.parametrize(
    ("status", "body", "code", "said", "hint"),
    [
        (
            404,
            {"error": {"message": 'model "some-model" not found, try pulling it first', "type": "api_error"}},
            "narrator-refused",
            "try pulling it first",
            "Check model",
        ),
        (
            400,
            {"error": "The number of tokens to keep from the initial prompt is greater than the context length."},
            "context-too-long",
            "greater than the context length",
            "what the server really has",
        ),
        (
            503,
            {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}},
            "narrator-unreachable",
            "Loading model",
            "Try again later",
        ),
        (
            400,
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size, try increasing it",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 9000,
                    "n_ctx": 4096,
                }
            },
            "context-too-long",
            "exceeds the available context size",
            "context_window = 4096",
        ),
        (
            503,
            {"detail": {"msg": "Server is busy; please try again later.", "type": "service_unavailable"}},
            "narrator-unreachable",
            "Server is busy",
            "Try again later",
        ),
        (
            400,
            {
                "object": "error",
                "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
                "type": "BadRequestError",
                "code": 400,
            },
            "context-too-long",
            "maximum context length",
            "context_window = 4096",
        ),
        (
            402,
            {"error": {"message": "Insufficient credits. Add more at …", "code": 402}},
            "narrator-rate-limited",
            "no credit left",
            "Top it up",
        ),
        (
            403,
            {"error": {"message": "Your input was flagged", "code": 403, "metadata": {"reasons": ["violence"]}}},
            "narrator-filtered",
            "content filter",
            "word it differently",
        ),
        (
            429,
            {"error": {"message": "You exceeded your current quota", "type": "insufficient_quota"}},
            "narrator-rate-limited",
            "no credit left",
            "Top it up",
        ),
    ],
    ids=[
        "Ollama: no such model",
        "LM Studio: too long",
        "llama.cpp: loading",
        "llama.cpp: too long",
        "KoboldCpp: busy",
        "vLLM: too long",
        "OpenRouter: no credit",
        "OpenRouter: moderation",
        "OpenAI: quota",
    ],
)
async def test_each_server_refuses_in_its_own_words(
    status: int, body: dict[str, Any], code: str, said: str, hint: str
) -> None:
    async with serving({"narrate": refuse(status, body)}) as (_, teller):
        error, _ = await failure(teller)
        assert error.code == code
        assert said in error.message
        assert hint in error.hint


@pytest.mark.spec("T11", "T16")
async def test_openrouter_keeps_the_line_open_with_comments_and_fails_inside() -> None:
    waits = ": OPENROUTER PROCESSING\n\n" * 3
    broken = chunk({"content": ""}, "error") | {"error": {"code": 502, "message": "Provider returned error"}}
    good = "".join(f"data: {json.dumps(chunk(*each))}\n\n" for each in (({"content": "The gate."},), ({}, "stop")))
    async with serving(
        {"narrate": (pieces(waits, good, "data: [DONE]\n\n"), pieces(waits, f"data: {json.dumps(broken)}\n\n"))}
    ) as (_, teller):
        chunks = [each async for each in teller.stream(request())]
        assert text_of(chunks) == "The gate."
        assert isinstance(chunks[-1], Finish)
        error, _ = await failure(teller)
        assert "Provider returned error" in error.message


@pytest.mark.spec("T11")
async def test_a_model_that_is_loading_is_waited_for() -> None:
    loading = refuse(503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})
    async with FakeServer({"narrate": (loading, loading, say("The gate."))}) as server:
        assert text_of(await told(narrator(server, retries=2))) == "The gate."
