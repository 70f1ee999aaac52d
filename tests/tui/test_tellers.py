"""The list of who could tell: what is found on this machine is in it, and each can be tested from it (T19)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from narrator import config, paths
from narrator.config import NarratorSettings, Settings
from narrator.narrators import discovery
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.tui.app import NarratorApp
from narrator.tui.screens.tellers import TellerChooser, TryButton, choose_narrator
from narrator.tui.widgets.listbox import ListBox
from tests.fake_server import FakeServer, pieces, refuse, say
from tests.tui.playing import make_campaign, playing


def a_server() -> FakeServer:
    listing = json.dumps({"data": [{"id": "small", "max_model_len": 9000}, {"id": "large"}]})
    models = pieces(listing, content_type="application/json")
    return FakeServer({"/v1/models": models, "suggest": (say("The ferryman rows."), refuse(500))})


async def until(app: NarratorApp, pilot: Pilot[int], words: str) -> str:
    """Until the words stand in the list or below it."""
    async with asyncio.timeout(20):
        while words not in (seen := shown(app)):
            await pilot.pause(0.01)
    return seen


def shown(app: NarratorApp) -> str:
    entries = [f"{entry.text} {entry.detail}" for entry in app.screen.query_one(ListBox).entries]
    result = app.screen.query(Static).filter("#result")
    return "\n".join([*entries, *(str(each.render()) for each in result)])


@pytest.mark.spec("T19")
async def test_a_server_that_is_found_is_tested_and_chosen(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_server() as server, playing(make_campaign(tmp_path)) as play:
        monkeypatch.setattr(discovery, "PORTS", {server.port: "Ollama"})
        choose_narrator(play.app)
        await play.pilot.pause()
        assert isinstance(play.app.screen, TellerChooser)
        seen = await until(play.app, play.pilot, "ollama-large")
        assert "small · found here" in seen
        assert "scripted" in seen
        await play.pilot.press(*"ollama", "ctrl+t")
        seen = await until(play.app, play.pilot, "It answered after")
        assert "“The ferryman rows.” Its window is 9,000 tokens, reported." in seen
        await play.pilot.click(TryButton)
        await until(play.app, play.pilot, "is in trouble (HTTP 500)")
        await play.press("enter")
        assert "ollama tells the story" in play.said()
        assert play.screen.session is not None
        assert play.screen.session.narrator.name == "ollama"


@pytest.mark.spec("T16", "T19")
async def test_another_machine_is_sent_nothing_unasked(home: Path, tmp_path: Path) -> None:
    far = NarratorSettings(kind="openai-compatible", base_url="http://no-such-host.invalid/v1", model="m", retries=0)
    async with playing(make_campaign(tmp_path), settings=Settings(narrators={"far": far})) as play:
        choose_narrator(play.app)
        await play.pilot.pause()
        await play.pilot.press(*"far", "ctrl+t")
        await until(play.app, play.pilot, "no-such-host.invalid is another machine. ^T again sends it")
        await play.pilot.press("ctrl+t")
        await until(play.app, play.pilot, "is a name that nobody knows")


@pytest.mark.spec("T19")
async def test_from_the_library_a_server_becomes_the_default(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_server() as server:
        monkeypatch.setattr(discovery, "PORTS", {server.port: "Ollama"})
        app = NarratorApp(settings=Settings())
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            choose_narrator(app)
            await pilot.pause()
            await until(app, pilot, "ollama-large")
            await pilot.press(*"ollama-large", "enter")
            async with asyncio.timeout(20):
                while config.read(paths.config_file())[0].narrator != "ollama-large":
                    await pilot.pause(0.01)
            settings, problems = config.read(paths.config_file())
            assert problems == ()
            assert settings.narrators["ollama-large"].model == "large"
            assert settings.narrators["ollama-large"].base_url == server.base_url


@pytest.mark.spec("T12")
async def test_a_wait_is_told_until_words_come(tmp_path: Path) -> None:
    """The wait and its reason stand in the notice, the wait first; with the first word that is past."""
    goes_on = asyncio.Event()
    told = say("The ferry comes at last.", stall_at=2, until=goes_on)
    async with FakeServer({"narrate": (refuse(429, headers={"Retry-After": "1.2"}), told)}) as server:
        teller = OpenAICompatible("mine", base_url=server.base_url, model="m", context_window=50_000)
        async with playing(make_campaign(tmp_path), teller) as play:  # type: ignore[arg-type]
            play.screen.composer.editor.insert("I wait.")
            await play.pilot.press("enter")
            async with asyncio.timeout(20):
                while "Trying again" not in play.said():
                    await play.pilot.pause(0.01)
                assert play.said().startswith("Trying again in 1.2 seconds: 127.0.0.1")
                while "The ferry" not in play.shown():
                    await play.pilot.pause(0.01)
            assert play.said() == ""
            goes_on.set()
            await play.settle()
