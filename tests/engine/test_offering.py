"""The first start: servers on this machine are offered, and narrators say what should be known of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from narrator.config import NarratorSettings, Settings
from narrator.core.prompt import FOR_SMALL
from narrator.engine import casting
from narrator.engine.events import Noted
from narrator.engine.progress import ReadingNote
from narrator.engine.session import Session
from narrator.engine.trying import elsewhere, try_narrator
from narrator.narrators import discovery
from narrator.narrators.discovery import Found
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.narrators.port import Capabilities, Delta, Message, Purpose, Reading, Request
from tests.engine.playing import Play, playing, still
from tests.fake_server import FakeServer, chunk, pieces, refuse, say
from tests.gguf_file import make_gguf
from tests.narrators.test_openai_compatible import SCENE


async def start(path: Path, settings: Settings | None = None, narrator: str | None = None) -> Play:
    session = await Session.open(
        path, settings=settings or Settings(), narrator=narrator, clock=still, looks_around=True
    )
    play = Play(session, session.narrator)  # type: ignore[arg-type]
    await session.greet()
    return play


def notes(play: Play) -> list[str]:
    return [each.text for each in play.heard if isinstance(each, Noted)]


def a_server() -> FakeServer:
    listing = json.dumps({"data": [{"id": "some-model"}]})
    models = pieces(listing, content_type="application/json")
    return FakeServer({"/v1/models": models, "narrate": say("The server tells.")})


@pytest.mark.spec("T19")
async def test_a_server_is_offered_and_goes_on_telling(ferry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_server() as server:
        monkeypatch.setattr(discovery, "PORTS", {server.port: "llama.cpp"})
        play = await start(ferry)
        found = await play.until(lambda event: isinstance(event, Noted) and "Found" in event.text)
        assert isinstance(found, Noted)
        assert "llama-cpp (some-model)" in found.text
        assert "Written scenes tell the story" in found.text
        assert play.session.narrator.name == "scripted"
        assert (await play.do("/narrator llama-cpp")).ok
        assert (await play.do("I wait.")).ok
        assert play.texts()[-1] == "The server tells."
        await play.aclose()
        play = await start(ferry)
        await play.until(lambda event: isinstance(event, Noted) and "tells the story" in event.text)
        assert play.session.narrator.name == "llama-cpp"
        await play.aclose()
        play = await start(ferry, narrator="scripted")
        assert not play.session._lanes._beside
        await play.aclose()


@pytest.mark.spec("T19")
async def test_nothing_is_asked_where_something_is_configured(ferry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_server() as server:
        monkeypatch.setattr(discovery, "PORTS", {server.port: "llama.cpp"})
        mine = NarratorSettings(kind="openai-compatible", base_url="http://127.0.0.1:1/v1", model="x")
        for settings in (Settings(narrators={"mine": mine}), Settings(narrator="scripted")):
            play = await start(ferry, settings)
            assert not play.session._lanes._beside
            await play.aclose()
        assert server.requests == []


@pytest.mark.spec("T19")
async def test_a_start_does_not_wait_for_silent_servers(ferry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeServer({"/v1/models": lambda exchange: exchange.stall()}) as server:
        monkeypatch.setattr(discovery, "PORTS", {server.port: "llama.cpp"})
        play = await start(ferry)
        assert (await play.do("/status")).ok
        await play.aclose()
        assert not any("Found" in note for note in notes(play))


@pytest.mark.spec("T19")
def test_found_servers_are_named_and_replace_nobody() -> None:
    mine = NarratorSettings(kind="scripted")
    found = [
        Found("http://127.0.0.1:1/v1", 1, ("a", "b"), "LM Studio"),
        Found("http://127.0.0.1:2/v1", 2, ("c",)),
        Found("http://127.0.0.1:3/v1", 3, ("d",), "Ollama"),
    ]
    settings, added = casting.with_found(Settings(narrators={"ollama": mine}), found)
    assert added == {"lm-studio": "a", "lm-studio-b": "b", "port-2": "c"}
    assert settings.narrators["ollama"] is mine
    assert settings.narrators["lm-studio"].base_url == "http://127.0.0.1:1/v1"


@pytest.mark.spec("T17")
async def test_a_small_model_is_called_small(ferry: Path, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    file = make_gguf(tmp_path / "tale.gguf")
    tiny = NarratorSettings(kind="embedded", model_path=str(file))
    lost = NarratorSettings(kind="embedded", model_path=str(tmp_path / "none.gguf"))
    play = await start(ferry, Settings(narrators={"tiny": tiny, "lost": lost}, narrator="tiny"))
    assert play.session.told_by == "tiny (small model)"
    assert (await play.do("/narrator scripted")).ok
    assert play.session.told_by == "scripted"
    (said,) = [note for note in notes(play) if "small model" in note]
    assert "tiny" in said
    lost_notes = (await play.do("/narrator lost")).notes
    assert any("No such file" in note for note in lost_notes)
    failed = await play.do("I wait.")
    assert (failed.code, failed.draft) == ("narrator-unreachable", "I wait.")
    assert (await play.do("/narrator tiny")).notes[0] == said
    await play.aclose()


@pytest.mark.spec("T17", "C12")
@pytest.mark.parametrize("is_small", [True, False])
async def test_a_small_model_is_told_the_most_needful_last(ferry: Path, is_small: bool) -> None:
    fake = FakeNarrator(capabilities=Capabilities(16_000, "reported", json_schema=True, is_small=is_small))
    async with playing(ferry, fake) as play:
        assert (await play.do("I wait.")).ok
        assert (await play.do("/suggest")).ok
    told, suggested = fake.requests
    assert (FOR_SMALL in told.messages[-1].content) is is_small
    assert told.messages[-1].content.endswith("I wait.")
    assert FOR_SMALL not in "".join(message.content for message in suggested.messages)


@pytest.mark.spec("T19")
def test_each_model_of_a_server_can_be_chosen_and_none_twice() -> None:
    mine = NarratorSettings(kind="openai-compatible", base_url="http://127.0.0.1:11434/v1", model="a")
    found = [Found("http://127.0.0.1:11434/v1", 11434, ("nomic-embed-text", "a", "b:8b", "B 8b"), "Ollama")]
    _, added = casting.with_found(Settings(), found)
    assert added == {"ollama": "a", "ollama-b-8b": "b:8b"}
    _, added = casting.with_found(Settings(narrators={"mine": mine}), found)
    assert added == {"ollama-b-8b": "b:8b"}


@pytest.mark.spec("T19", "T16")
async def test_a_narrator_is_tried_before_it_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    async with FakeServer() as server:
        server.answer("suggest", say("The ferryman rows."), refuse(404, {"error": {"message": "model 'm' not found"}}))
        mine = NarratorSettings(kind="openai-compatible", base_url=server.base_url, model="m", retries=0)
        settings = Settings(
            narrators={
                "mine": mine,
                "far": replace(mine, base_url="https://models.example/v1"),
                "keyless": replace(mine, api_key_env="NO_SUCH_KEY"),
                "nobody": replace(mine, base_url="http://127.0.0.1:9/v1"),
                "gone": NarratorSettings(kind="embedded", model_path="/nowhere/gone.gguf"),
            },
            offline=True,
        )
        said = await try_narrator(settings, "mine")
        assert "It answered after" in said
        assert "“The ferryman rows.”" in said
        assert "16,384 tokens, assumed: context_window in config.toml says better" in said
        assert b"ferry in the rain" not in server.asked("suggest")[0].body
        assert "does not know the model" in await try_narrator(settings, "mine")
    assert "always there" in await try_narrator(settings, "scripted")
    assert "refuses connections" in await try_narrator(settings, "nobody")
    assert "offline is on" in await try_narrator(settings, "far")
    assert "holds no key" in await try_narrator(settings, "keyless")
    assert "gone.gguf" in await try_narrator(settings, "gone")
    assert [elsewhere(settings, name) for name in ("mine", "far", "scripted", "gone")] == ["", "models.example", "", ""]


@pytest.mark.spec("U8", "T17")
def test_a_long_reading_is_told_once_with_an_estimate() -> None:
    now = iter((0.0, 0.5, 2.0, 3.0, 0.0, 2.0))
    note = ReadingNote(lambda: next(now))
    assert note.at(500, 4500) is None, "500 were remembered"
    assert note.at(550, 4500) is None, "too soon to know"
    assert note.at(900, 4500) == "Reading the story first: 900 of 4,500 tokens, about 20 seconds left."
    assert note.at(1200, 4500) is None
    short = ReadingNote(lambda: next(now))
    assert [short.at(0, 900), short.at(800, 900)] == [None, None], "that is soon over"


@pytest.mark.spec("U8", "T17")
async def test_an_engine_that_reads_long_says_so(ferry: Path) -> None:
    """As llama.cpp tells it, over HTTP: events beside the words, before the first of them."""

    def read(done: int) -> str:
        progress = {"total": 4000, "cache": 0, "processed": done, "time_ms": 1}
        return f"data: {json.dumps({'choices': [], 'prompt_progress': progress})}\n\n"

    told = "".join(f"data: {json.dumps(chunk(*each))}\n\n" for each in (({"content": "Rain."}, None), ({}, "stop")))
    async with FakeServer({"narrate": pieces(read(0), read(512), told)}) as server:
        teller = OpenAICompatible("mine", base_url=server.base_url, model="m", context_window=50_000)
        request = Request(Purpose.NARRATE, (Message("user", "x"),), SCENE, 10)
        found = [each async for each in teller.stream(request)]
        assert found[:3] == [Reading(0, 4000), Reading(512, 4000), Delta("Rain.")]
        async with playing(ferry, teller) as play:  # type: ignore[arg-type]
            assert (await play.do("I wait.")).ok
