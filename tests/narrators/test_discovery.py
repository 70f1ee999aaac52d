"""Servers on this machine are found, and nothing that is not one."""

from __future__ import annotations

import json
import socket
import time

import pytest

from narrator.narrators.discovery import PORTS, Found, discover
from tests.fake_server import FakeServer, cut, page, pieces, refuse, stall


def listing(*models: str) -> str:
    return json.dumps({"object": "list", "data": [{"id": model} for model in models]})


@pytest.mark.spec("T19")
async def test_servers_with_models_are_found_in_order() -> None:
    async with FakeServer() as first, FakeServer() as second, FakeServer() as silent:
        first.answer("/v1/models", pieces(listing("a", "b"), content_type="application/json"))
        second.answer("/v1/models", pieces(listing("c"), content_type="application/json"))
        silent.answer("/v1/models", stall())
        found = await discover((second.port, silent.port, first.port))
        assert found == [Found(second.base_url, second.port, ("c",)), Found(first.base_url, first.port, ("a", "b"))]
        assert [request.body for request in first.requests] == [b""]


@pytest.mark.spec("T19")
@pytest.mark.parametrize(
    "answer",
    [
        page(),
        cut(),
        refuse(404),
        refuse(500),
        pieces("{", content_type="application/json"),
        pieces('{"data": []}', content_type="application/json"),
        pieces('{"data": [{"name": 1}]}', content_type="application/json"),
        pieces(b"\xff" * 2_000_000),
    ],
)
async def test_what_is_no_model_server_is_passed_over(answer: object) -> None:
    async with FakeServer() as server:
        server.answer("/v1/models", answer)  # type: ignore[arg-type]
        assert await discover((server.port,)) == []


@pytest.mark.spec("T19")
async def test_silence_costs_one_short_time_out() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        async with FakeServer() as first, FakeServer() as second:
            for server in (first, second):
                server.answer("/v1/models", stall())
            started = time.perf_counter()
            assert await discover((unused.getsockname()[1], first.port, second.port), timeout=0.05) == []
            assert time.perf_counter() - started < 1
    assert await discover(()) == []


@pytest.mark.spec("T19")
def test_the_usual_ports() -> None:
    assert {11434, 1234, 8080, 5001, 8000} <= set(PORTS)
