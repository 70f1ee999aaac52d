"""What ``narrator doctor`` says of narrators: every assumption by name, and no word to another machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from narrator.config import NarratorSettings, Settings
from narrator.engine.doctor import Finding, assumptions, examine
from narrator.narrators import discovery
from narrator.narrators.port import Capabilities
from tests.fake_server import FakeServer, pieces
from tests.gguf_file import make_gguf


def looked(narrators: Mapping[str, NarratorSettings]) -> dict[str, Finding]:
    return {each.what: each for each in examine(Settings(narrators=narrators), [], {}, is_dumb=False)}


def a_server(base_url: str, **options: Any) -> NarratorSettings:
    return NarratorSettings(kind="openai-compatible", base_url=base_url, model="some-model", **options)


@pytest.mark.spec("T19", "C3", "C4")
async def test_a_server_on_this_machine_is_asked_what_it_can() -> None:
    listing = json.dumps({"data": [{"id": "some-model", "meta": {"n_ctx": 8192}}]})
    async with FakeServer({"/v1/models": pieces(listing, content_type="application/json")}) as server:
        found = await asyncio.to_thread(looked, {"mine": a_server(server.base_url)})
        assert {request.method for request in server.requests} == {"GET"}
    text = found["narrator mine"].text
    assert found["narrator mine"].is_well
    for words in ("some-model", "8,192 tokens, reported", "one a byte", "no tools"):
        assert words in text


@pytest.mark.spec("T19", "C3")
async def test_a_window_that_is_assumed_is_called_so() -> None:
    async with FakeServer() as server:
        found = await asyncio.to_thread(looked, {"mine": a_server(server.base_url, json_schema="off")})
    assert "16,384 tokens, assumed" in found["narrator mine"].text
    assert "context_window" in found["narrator mine"].text
    assert "no JSON schema" in found["narrator mine"].text


@pytest.mark.spec("T19")
async def test_a_server_that_nobody_named_is_found_and_without_one_the_way_to_a_model_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listing = json.dumps({"data": [{"id": "some-model"}]})
    async with FakeServer({"/v1/models": pieces(listing, content_type="application/json")}) as server:
        port = urlsplit(server.base_url).port
        monkeypatch.setattr(discovery, "PORTS", {port: "ollama"})
        found = await asyncio.to_thread(looked, {})
    (name,) = (what for what in found if what.startswith("narrator ") and what != "narrator scripted")
    assert "some-model" in found[name].text
    assert "narrator model" not in found
    monkeypatch.setattr(discovery, "PORTS", {})
    found = await asyncio.to_thread(looked, {})
    assert found["narrator model"].is_well
    assert "`narrator models add FILE`" in found["narrator model"].text


@pytest.mark.spec("T16", "T19")
def test_what_cannot_tell_is_named(tmp_path: Path) -> None:
    with_key = a_server("http://127.0.0.1:9/v1", api_key_env="NO_SUCH_KEY_HERE")
    found = looked(
        {
            "gone": a_server("http://127.0.0.1:9/v1"),
            "far": a_server("https://models.example/v1", context_window=5000),
            "keyless": with_key,
            "lost": NarratorSettings(kind="embedded", model_path=str(tmp_path / "none.gguf")),
        }
    )
    assert not found["narrator gone"].is_well
    assert "127.0.0.1:9" in found["narrator gone"].text
    assert found["narrator far"].is_well
    assert "not asked" in found["narrator far"].text
    assert "5,000 tokens, configured" in found["narrator far"].text
    assert not found["narrator keyless"].is_well
    assert "NO_SUCH_KEY_HERE" in found["narrator keyless"].text
    assert not found["narrator lost"].is_well


@pytest.mark.spec("T17", "T19")
def test_a_model_of_ones_own_is_described(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    found = looked({"tiny": NarratorSettings(kind="embedded", model_path=str(make_gguf(tmp_path / "tale.gguf")))})
    assert found["narrator tiny"].is_well
    assert "4,096 tokens, reported" in found["narrator tiny"].text
    assert "small model" in found["narrator tiny"].text


@pytest.mark.spec("C4")
def test_each_way_of_counting_has_its_words() -> None:
    told = {assumptions(Capabilities(1000, "configured", counting=each))[1] for each in ("exact", "bytes", "measured")}
    assert len(told) == 3
