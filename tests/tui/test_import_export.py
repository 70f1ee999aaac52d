"""Import and export in the app: from choosing a file to what was written, stops, failures and hostile names."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import threading
import zipfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from narrator.config import ScriptedSettings, Settings
from narrator.engine import progress
from narrator.engine.events import Progressed
from narrator.engine.progress import progress_words
from narrator.engine.story import Story
from narrator.exchange.report import Report
from narrator.store import reads
from narrator.store.verify import verify
from narrator.tui.app import NarratorApp
from narrator.tui.screens import working
from narrator.tui.screens.bringing import Bringing
from narrator.tui.screens.dialogs import Chooser, Page, Typed
from narrator.tui.screens.library import LibraryScreen
from narrator.tui.screens.picking import PickFiles, fitting, read_folder, typed_path
from narrator.tui.screens.play import PlayScreen
from narrator.tui.screens.taking_out import TakingOut
from narrator.tui.screens.working import Working
from narrator.tui.widgets.bars import Notice
from narrator.tui.widgets.listbox import ListBox
from tests.store.making import deepen
from tests.tui.playing import Play, make_campaign, numbered, playing
from tests.tui.test_hostile import CORPUS, assert_safe

SAMPLES = Path(__file__).parents[1] / "exchange" / "samples"


@pytest.fixture(autouse=True)
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder the program was started in: three samples and a folder of chats."""
    folder = tmp_path / "away"
    folder.mkdir()
    for name in ("card-v2.json", "novelai.scenario", "aidungeon-cards.json"):
        shutil.copy(SAMPLES / name, folder)
    shutil.copytree(SAMPLES / "sillytavern-branch", folder / "chats")
    monkeypatch.chdir(folder)
    return folder


class Gate:
    """Holds the thread at its second look at how far it is, while it is shut: long work as long as a test needs it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._open = threading.Event()
        self._open.set()
        self.looks = 0
        monkeypatch.setattr(progress, "EVERY", 0)
        monkeypatch.setattr(working, "progress_words", self._words)

    def shut(self) -> None:
        self.looks = 0
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    def _words(self, event: Progressed, stop: str) -> str:
        self.looks += 1
        if self.looks > 2:
            assert self._open.wait(90)
        return progress_words(event, stop)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    return Gate(monkeypatch)


class Shown:
    """What stands in the dialog on top."""

    def __init__(self, app: NarratorApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def top(self) -> Any:
        return self.app.screen

    def told(self) -> str:
        return self._line("#told")

    def _line(self, name: str) -> str:
        return "".join(str(each.visual) for each in self.top.query(name).results(Static))

    def entries(self) -> dict[object, str]:
        return {each.key: f"{each.text} {each.detail}".strip() for each in self.top.query_one(ListBox).entries}

    async def until(self, holds: Callable[[], bool], what: str = "") -> None:
        async with asyncio.timeout(60):
            while not holds():
                await self.pilot.pause(0.01)

    async def ready(self, kind: type) -> None:
        """Until the dialog of this kind is on top and no thread is at work."""
        await self.until(lambda: isinstance(self.top, kind) and self.top.is_mounted)
        if isinstance(self.top, Working):
            await self.until(lambda: not self.top.is_working and bool(self.top.query_one(ListBox).entries))
        elif isinstance(self.top, PickFiles):
            await self.until(lambda: bool(self.top.query_one(ListBox).entries))
        await self.pilot.pause()

    def move_to(self, key: object) -> None:
        """Move to the entry."""
        box = self.top.query_one(ListBox)
        box.show(box.entries, at=key)
        assert box.chosen == key, (key, [each.key for each in box.entries])

    async def choose(self, key: object) -> None:
        """Move to the entry and press Enter, once the keys go there."""
        await self.until(lambda: isinstance(self.top.focused, ListBox | Input))
        self.move_to(key)
        await self.pilot.press("enter")
        await self.pilot.pause()

    async def stop_in(self, key: object, words: str, gate: Gate) -> None:
        """Begin long work with Enter and stop it with Esc, once the line of progress says ``words``.

        The keys are sent without the pilot, which would wait until the process is idle, so until the work is done.
        """
        if key is not None:
            await self.until(lambda: isinstance(self.top, Working) and isinstance(self.top.focused, ListBox))
            self.move_to(key)
        gate.shut()
        self.app.simulate_key("enter")
        await self.until(lambda: isinstance(self.top, Working) and words in self.progress())
        assert self.top.is_working
        self.app.simulate_key("escape")
        await self.until(lambda: "Stopping" in self.progress() or "Stopped" in self.told())
        gate.open()
        await self.ready(type(self.top))
        assert "Stopped" in self.told()

    def progress(self) -> str:
        return self._line("#progress")

    async def narrow(self, text: str) -> None:
        """Type or paste a path into the picker, until the cursor stands on such a file."""
        await self.ready(PickFiles)
        self.top.query_one(Input).value = text
        name = text.rpartition("/")[2]
        await self.until(lambda: name in getattr(self.top.box.chosen, "path", Path()).name)

    async def pick(self, text: str) -> None:
        """The same, and take it."""
        await self.narrow(text)
        await self.pilot.press("enter")
        await self.ready(Bringing)


@asynccontextmanager
async def library() -> AsyncIterator[Shown]:
    app = NarratorApp(settings=Settings(scripted=ScriptedSettings(words_per_second=0)))
    async with app.run_test(size=(100, 30)) as pilot:
        shown = Shown(app, pilot)
        await shown.until(lambda: isinstance(app.screen, LibraryScreen))
        await shown.until(lambda: bool(app.screen.query_one("#shelf", ListBox).entries))
        await pilot.pause()
        yield shown


def campaigns(home: Path) -> list[str]:
    folder = home / "campaigns"
    return sorted(each.name for each in folder.iterdir()) if folder.exists() else []


# --------------------------------------------------------------------------------------------------------------- import


@pytest.mark.spec("X1", "X4", "U1", "U8")
async def test_a_card_from_the_library_is_previewed_imported_and_opened(home: Path) -> None:
    async with library() as shown:
        await shown.pilot.press("i")
        await shown.pick("card-v2")
        assert "Odile Marsh: read as character-card-v2; 3 steps, 3 cards." in shown.told()
        assert campaigns(home) == []
        await shown.choose("import")
        await shown.ready(Bringing)
        await shown.until(lambda: "Made:" in shown.told())
        assert campaigns(home) == ["odile-marsh.narrator"]
        made = home / "campaigns" / "odile-marsh.narrator"
        assert verify(made).problems == ()
        await shown.choose(("open", str(made)))
        await shown.until(lambda: isinstance(shown.top, PlayScreen) and shown.top.session is not None)
        assert "visitors' book" in shown.top.story.head.text


@pytest.mark.spec("X1", "X5")
async def test_several_files_another_format_and_what_a_scenario_asks(home: Path, away: Path) -> None:
    async with library() as shown:
        await shown.pilot.press("i")
        await shown.narrow("card-v2")
        await shown.pilot.press("ctrl+t")
        await shown.narrow("scenario")
        await shown.pilot.press("enter")
        await shown.ready(Bringing)
        assert "Odile Marsh" in shown.told()
        assert "Night Clerk at the Brine Court" in shown.told()
        assert shown.entries()[("ask", "name")] == "name: Tace"
        await shown.choose(("ask", "name"))
        assert isinstance(shown.top, Typed)
        shown.top.query_one(Input).value = "Ondine"
        await shown.pilot.press("enter")
        await shown.ready(Bringing)
        await shown.choose("import")
        await shown.until(lambda: "Made:" in shown.told())
        assert len(campaigns(home)) == 2
        with closing(
            Story.open(home / "campaigns" / "night-clerk-at-the-brine-court.narrator", read_only=True)
        ) as story:
            assert story.head.text.startswith("Your name is Ondine, and")
        await shown.choose("again")
        await shown.pick(str(away / "card-v2.json"))
        await shown.choose("as")
        assert isinstance(shown.top, Chooser)
        await shown.choose("canon")
        await shown.ready(Bringing)
        assert "read as text" in shown.told()
        assert "1 source of knowledge" in shown.told()
        await shown.choose("as")
        await shown.choose("kobold")
        await shown.ready(Bringing)
        assert shown.told().count("\n") == 0
        assert "neither a prompt nor an action" in shown.told()
        assert "import" not in shown.entries()


@pytest.mark.spec("X4")
async def test_a_folder_is_one_import_and_the_whole_report_can_be_read(home: Path) -> None:
    async with library() as shown:
        await shown.choose(("import", ""))
        await shown.ready(PickFiles)
        shown.top.query_one(Input).value = "chats/"
        await shown.until(lambda: shown.top.folder.name == "chats")
        await shown.choose(shown.top.folder)
        await shown.ready(Bringing)
        assert "15 steps, 2 lines, 1 checkpoint" in shown.told()
        await shown.choose("lines")
        assert isinstance(shown.top, Page)
        await shown.pilot.press("escape")
        await shown.pilot.press("escape")
        await shown.until(lambda: isinstance(shown.top, LibraryScreen))
        assert campaigns(home) == []


@pytest.mark.spec("X6", "W13")
async def test_cards_are_added_to_the_campaign_that_is_played(tmp_path: Path, home: Path) -> None:
    path = make_campaign(tmp_path)
    async with playing(path) as play:
        shown = Shown(play.app, play.pilot)
        before = play.screen.story.store.db.execute("SELECT * FROM nodes").fetchall()
        await play.screen.act("screen.import")
        await shown.pick("aidungeon-cards.json")
        await shown.choose("into")
        await shown.choose(path)
        await shown.ready(Bringing)
        assert shown.entries()["import"] == "Import this campaign"
        await shown.choose("import")
        await shown.until(lambda: "Added to" in shown.told())
        await shown.choose("leave")
        await play.settle()
        assert "Maud Perrin" in {card.name for card in play.screen.story.definition.cards}
        assert play.screen.story.store.db.execute("SELECT * FROM nodes").fetchall() == before
        await play.type("look around")
        assert play.story()[-1] == "Answer 1."
    assert verify(path).problems == ()
    assert campaigns(home) == []


@pytest.mark.spec("U1", "U9", "X6")
async def test_what_was_imported_in_play_is_opened_and_the_other_campaign_closed(tmp_path: Path, home: Path) -> None:
    path = make_campaign(tmp_path)
    async with playing(path) as play:
        shown = Shown(play.app, play.pilot)
        await play.type("look")
        play.screen.composer.put("half a thought")
        await play.screen.act("screen.import")
        await shown.pick("card-v2")
        await shown.choose("import")
        await shown.until(lambda: "Made:" in shown.told())
        await shown.choose(("open", str(home / "campaigns" / "odile-marsh.narrator")))
        await shown.until(lambda: isinstance(shown.top, PlayScreen) and shown.top.path != path)
        await shown.until(lambda: shown.top.session is not None)
        assert len(play.app.play_screens()) == 1
    with closing(Story.open(path)) as story:
        assert story.head.text == "Answer 1."
        kept = reads.draft(story.store)
        assert kept is not None
        assert kept.text == "half a thought"


@pytest.mark.spec("X11", "U8")
async def test_a_long_import_tells_how_far_it_is_and_stops(home: Path, away: Path, gate: Gate) -> None:
    history = {"internal": [[f"go {n}", f"You go {n}."] for n in range(1500)], "visible": []}
    (away / "long.json").write_text(json.dumps(history))
    async with library() as shown:
        await shown.pilot.press("i")
        await shown.narrow("long.json")
        await shown.stop_in(None, " of 3,000 steps", gate)
        gate.looks = 0
        await shown.choose("as")
        await shown.choose("")
        await shown.until(lambda: gate.looks > 6)
        await shown.ready(Bringing)
        assert "3,000 steps" in shown.told()
        await shown.stop_in("import", "Importing: ", gate)
        assert "import" in shown.entries()
    assert campaigns(home) == []


@pytest.mark.spec("X3", "U10")
@pytest.mark.parametrize("text", CORPUS, ids=ascii)
async def test_hostile_names_of_files_and_reports(text: str, home: Path, away: Path) -> None:
    name = text.replace("/", "∕").replace("\0", "")[:80].encode("utf-8", "replace").decode()
    folder = away / "hostile"
    folder.mkdir()
    value = {"messages": [{"msg": f"Hello {text}", text: {"a": 1}}], "name": text, "scenario": text}
    (folder / f"{name}.json").write_text(json.dumps(value))
    (folder / f"{name}.broken").write_text('{"' + text.replace("\ud800", "") + '": ')
    async with library() as shown:
        play = Play(shown.app, shown.pilot, numbered())
        await shown.pilot.press("i")
        await shown.ready(PickFiles)
        shown.top.go(folder)
        await shown.until(lambda: shown.top.folder == folder)
        await shown.pilot.pause()
        assert_safe(play)
        places = {key.path.suffix: key for key in shown.entries() if getattr(key, "path", folder).parent == folder}
        await shown.choose(places[".json"])
        await shown.ready(Bringing)
        assert "read as agnai-chat" in shown.told()
        assert_safe(play)
        await shown.choose("lines")
        assert_safe(play)
        await shown.pilot.press("escape")
        await shown.choose("import")
        await shown.until(lambda: "Made:" in shown.told())
        assert_safe(play)
        await shown.choose("again")
        await shown.ready(PickFiles)
        await shown.choose(places[".broken"])
        await shown.ready(Bringing)
        assert_safe(play)
        assert len(shown.told().splitlines()) == 1


def test_the_picker_reads_paths_as_they_are_typed_and_pasted(tmp_path: Path) -> None:
    here = tmp_path / "here"
    (here / "Deep er").mkdir(parents=True)
    (here / ".hidden.json").touch()
    (here / "Story.json").touch()
    (here / "my story.txt").touch()
    (here / "gone").symlink_to(here / "nowhere")
    places = read_folder(here)
    assert [place.path.name for place in fitting(places, "")] == ["Deep er", "my story.txt", "Story.json"]
    assert [place.path.name for place in fitting(places, "story")] == ["Story.json", "my story.txt"]
    assert [place.path.name for place in fitting(places, ".h")] == [".hidden.json"]
    assert typed_path("Sto", here) is None
    assert typed_path("Deep er/", here) == (here / "Deep er", "")
    assert typed_path("../he", here) == (tmp_path, "he")
    assert typed_path(f"'{here}/Story.json'", tmp_path) == (here, "Story.json")
    assert typed_path(f"file://{here}/my%20story.txt", tmp_path) == (here, "my story.txt")
    assert typed_path("~", here) == (Path.home(), "")
    with pytest.raises(OSError, match=r"\S"):
        read_folder(here / "absent")


# --------------------------------------------------------------------------------------------------------------- export


@pytest.mark.spec("X9", "U1", "U8")
async def test_every_form_is_written_from_the_library(home: Path, away: Path) -> None:
    make_campaign(home / "campaigns", title="The [/] Ferry")
    async with library() as shown:
        await shown.pilot.press("e")
        await shown.ready(TakingOut)
        for form, ending in (
            ("epub", ".epub"), ("html", ".html"), ("markdown", ".md"), ("text", ".txt"), ("bundle", ".json"),
            ("sillytavern", ".jsonl"), ("world-info", ".worldinfo.json"), ("story-cards", ".cards.json"),
        ):  # fmt: skip
            await shown.choose("form")
            await shown.choose(form)
            await shown.choose("write")
            await shown.until(lambda: "Written to" in shown.told())
            target = away / f"ferry{ending}"
            assert str(target) in shown.told().replace("\n", "")
            assert target.stat().st_size > 2
            await shown.choose("more")
    with zipfile.ZipFile(away / "ferry.epub") as book:
        assert b"Rain falls" in book.read("OEBPS/chapter1.xhtml")


@pytest.mark.spec("X9", "U27")
async def test_options_of_a_book_in_play(tmp_path: Path, away: Path) -> None:
    async with playing(make_campaign(tmp_path)) as play:
        shown = Shown(play.app, play.pilot)
        await play.type("first way")
        await play.type("* a private word")
        await play.press("ctrl+z")
        await play.type("second way")
        await play.screen.act("story.export")
        await shown.ready(TakingOut)
        await shown.choose("form")
        await shown.choose("markdown")
        await shown.choose("write")
        await shown.until(lambda: "Written to" in shown.told())
        plain = (away / "ferry.md").read_text()
        assert "second way" in plain
        assert "first way" not in plain
        assert "private word" not in plain
        await shown.choose("more")
        for key in ("inputs", "branches", "comments", "replaces"):
            await shown.choose(key)
        await shown.choose("write")
        await shown.until(lambda: "Written to" in shown.told())
        full = (away / "ferry.md").read_text()
        assert "first way" in full
        assert "> second way" in plain
        assert "> second way" not in full
        assert "private word" in full
        await shown.choose("leave")
        await play.type("third")
        assert play.story()[-1].startswith("Answer")


@pytest.mark.spec("X9", "U11")
async def test_place_theme_and_a_file_that_is_there(home: Path, away: Path) -> None:
    make_campaign(home / "campaigns")
    async with library() as shown:
        await shown.pilot.press("e")
        await shown.ready(TakingOut)
        await shown.choose("place")
        shown.top.query_one(Input).value = str(away / "sub.html")
        await shown.pilot.press("enter")
        await shown.pilot.pause()
        await shown.choose("theme")
        await shown.choose("phosphor")
        await shown.choose("write")
        await shown.until(lambda: "Written to" in shown.told())
        first = (away / "sub.html").read_text()
        assert "#f4ecd8" not in first
        await shown.choose("more")
        await shown.choose("write")
        await shown.until(lambda: "is there already" in shown.told())
        assert len(shown.told().splitlines()) == 1
        await shown.choose("replaces")
        await shown.choose("write")
        await shown.until(lambda: "Written to" in shown.told())
        await shown.choose("more")
        await shown.choose("place")
        shown.top.query_one(Input).value = str(away / "no" / "such" / "folder.html")
        await shown.pilot.press("enter")
        await shown.pilot.pause()
        await shown.choose("write")
        await shown.until(lambda: "cannot be written" in shown.told())
        assert len(shown.told().splitlines()) == 1
        await shown.pilot.press("escape")
        await shown.until(lambda: isinstance(shown.top, LibraryScreen))


@pytest.mark.spec("X11", "U8")
@pytest.mark.parametrize("form", ["bundle", "html"])
async def test_a_long_export_tells_how_far_it_is_and_stops(form: str, home: Path, away: Path, gate: Gate) -> None:
    path = make_campaign(home / "campaigns")
    with closing(Story.open(path)) as story:
        deepen(story, 3000)
    async with library() as shown:
        await shown.pilot.press("e")
        await shown.ready(TakingOut)
        await shown.choose("form")
        await shown.choose(form)
        await shown.stop_in("write", " of 3,001 steps", gate)
    assert not [name for name in os.listdir(away) if "ferry" in name or "exporting" in name]


@pytest.mark.spec("U10")
@pytest.mark.parametrize("text", CORPUS, ids=ascii)
async def test_hostile_titles_and_places(text: str, home: Path, away: Path) -> None:
    stored = text.replace("\ud800", "").replace("\0", "")
    path = make_campaign(home / "campaigns", title=stored.strip() or "empty")
    async with library() as shown:
        play = Play(shown.app, shown.pilot, numbered())
        shown.app.push_screen(TakingOut(path, text, away))
        await shown.ready(TakingOut)
        assert_safe(play)
        await shown.choose("form")
        assert_safe(play)
        await shown.choose("markdown")
        await shown.choose("place")
        shown.top.query_one(Input).value = f"{away}/{' '.join(stored.split())[:60]}/x.md"
        await shown.pilot.press("enter")
        await shown.pilot.pause()
        assert_safe(play)
        await shown.choose("write")
        await shown.until(lambda: "cannot be written" in shown.told() or "Written to" in shown.told())
        assert len(shown.told().splitlines()) == 1
        assert_safe(play)


@pytest.mark.spec("U7")
async def test_what_is_no_campaign_cannot_be_exported(home: Path) -> None:
    async with library() as shown:
        await shown.pilot.press("e")
        await shown.pilot.pause()
        assert "nothing to export" in shown.top.query_one(Notice).words


def test_the_headline_of_a_report() -> None:
    report = Report("text", "T", nodes=1, branches=2, cards=1, memories=2, knowledge=1, checkpoints=["a"])
    told = "1 step, 2 branches, 1 card, 2 memories, 1 source of knowledge, 1 checkpoint"
    assert report.headline() == f"T: read as text; {told}."
    assert Report("text").headline() == "Cards: read as text; nothing to count."
