"""The library: what it lists, opens, begins, deletes; and campaigns that cannot be opened (U1, U15)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input
from textual.worker import WorkerCancelled

from narrator import paths
from narrator.config import ScriptedSettings, Settings
from narrator.tui.app import NarratorApp
from narrator.tui.screens.dialogs import Chooser
from narrator.tui.screens.library import LibraryScreen
from narrator.tui.screens.play import PlayScreen
from narrator.tui.widgets.bars import Notice
from narrator.tui.widgets.listbox import ListBox
from tests.tui.playing import DEFINITION, make_campaign, playing

Shelf = tuple[NarratorApp, Pilot[int]]


@asynccontextmanager
async def library() -> AsyncIterator[Shelf]:
    """The app as ``narrator`` alone opens it, once the shelf was read."""
    app = NarratorApp(settings=Settings(scripted=ScriptedSettings(words_per_second=0)))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        yield app, pilot


async def settle(app: NarratorApp, pilot: Pilot[int]) -> None:
    for _ in range(2):
        await pilot.pause()
        if isinstance(app.screen, LibraryScreen):
            with suppress(WorkerCancelled):
                await app.workers.wait_for_complete()
    await pilot.pause()


def keys(app: NarratorApp) -> list[object]:
    """The keys of the entries that can be chosen."""
    return [entry.key for entry in app.screen.query_one("#shelf", ListBox).entries if entry.key is not None]


@pytest.mark.spec("U1")
async def test_it_lists_campaigns_and_samples_and_opens_one(home: Path) -> None:
    path = make_campaign(home / "campaigns", title="The [/] Ferry")
    async with library() as (app, pilot):
        found = keys(app)
        assert found[0] == ("book", str(path))
        assert {("sample", name) for name in paths.samples()} <= set(found)
        text = app.export_screenshot()
        assert "Ferry" in text
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, PlayScreen)
        await app.screen.act("screen.library")
        await settle(app, pilot)
        assert isinstance(app.screen, LibraryScreen)


@pytest.mark.spec("U1", "U23")
async def test_a_sample_begins_a_new_story_and_every_time_another(home: Path) -> None:
    name = next(iter(paths.samples()))
    for expected in (f"{name}.narrator", f"{name}-2.narrator"):
        async with library() as (app, pilot):
            box = app.screen.query_one("#shelf", ListBox)
            box.show(box.entries, at=("sample", name))
            await pilot.press("enter")
            async with asyncio.timeout(20):
                while not isinstance(app.screen, PlayScreen) or app.screen.session is None:
                    await pilot.pause()
        assert (home / "campaigns" / expected).exists()


@pytest.mark.spec("U1")
async def test_a_file_of_ones_own_and_one_that_is_wrong(home: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(DEFINITION)
    (tmp_path / "bad.toml").write_text("[campaign]\ntitel = 1\n")
    async with library() as (app, pilot):
        for name, is_good in (("bad.toml", False), ("missing.toml", False), ("mine.toml", True)):
            box = app.screen.query_one("#shelf", ListBox)
            box.show(box.entries, at=("file", ""))
            await pilot.press("enter")
            await pilot.pause()
            app.screen.query_one(Input).value = str(tmp_path / name)
            await pilot.press("enter")
            await pilot.pause()
            assert isinstance(app.screen, PlayScreen) is is_good
            if not is_good:
                assert app.screen.query_one(Notice).words
    assert (home / "campaigns" / "mine.narrator").exists()
    assert not (home / "campaigns" / "bad.narrator").exists()


@pytest.mark.spec("U1")
async def test_delete_asks_and_moves_to_the_trash_folder(home: Path) -> None:
    path = make_campaign(home / "campaigns")
    async with library() as (app, pilot):
        await pilot.press("x")
        await pilot.pause()
        assert isinstance(app.screen, Chooser)
        await pilot.press("enter")
        await pilot.pause()
        assert path.exists(), "the safe answer stands first"
        await pilot.press("x")
        await pilot.pause()
        await pilot.press("down", "enter")
        await settle(app, pilot)
        assert not path.exists()
        assert (home / "trash" / "ferry.narrator").exists()
        assert ("book", str(path)) not in keys(app)
        assert "trash" in app.screen.query_one(Notice).words


@pytest.mark.spec("U1", "T14")
async def test_a_damaged_file_is_a_line_in_the_library(home: Path) -> None:
    (home / "campaigns").mkdir(parents=True)
    (home / "campaigns" / "broken.narrator").write_bytes(b"no database [/]" * 100)
    async with library() as (app, pilot):
        assert keys(app)[0] == ("book", str(home / "campaigns" / "broken.narrator"))
        await pilot.press("enter")
        await settle(app, pilot)
        assert isinstance(app.screen, LibraryScreen)
        assert app.screen.query_one(Notice).words


@pytest.mark.spec("U15")
async def test_a_campaign_that_cannot_be_opened_is_exit_code_3(tmp_path: Path) -> None:
    path = tmp_path / "broken.narrator"
    path.write_bytes(b"no database" * 100)
    app = NarratorApp(path)
    async with app.run_test() as pilot, asyncio.timeout(10):
        while app.return_code is None:
            await pilot.pause()
    assert app.return_code == 3


@pytest.mark.spec("T13")
async def test_a_campaign_open_elsewhere_can_be_read_and_follows(tmp_path: Path) -> None:
    path = make_campaign(tmp_path)
    async with playing(path) as writer, playing(path) as reader:
        assert reader.screen.story.is_read_only
        await reader.press("ctrl+n")
        assert "Somebody else has this campaign open" in reader.said()
        await writer.type("look")
        async with asyncio.timeout(10):
            while "Answer 1." not in reader.shown():
                await reader.pilot.pause(0.05)


@pytest.mark.spec("U6", "U21")
async def test_keys_of_the_library(home: Path) -> None:
    async with library() as (app, pilot):
        await pilot.press("f4")
        await pilot.pause()
        assert isinstance(app.screen, Chooser)
        await pilot.press("escape")
        await pilot.press("ctrl+z")
        await pilot.pause()
        assert "works in a campaign" in app.screen.query_one(Notice).words
        await pilot.press("ctrl+q")
    assert app.return_code == 0
