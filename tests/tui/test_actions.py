"""Every action of the registry, done by its key, its letter or its word, on a real story (U6, U14, U16)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.widgets import Input

from narrator.engine.verbs import COMMANDS
from narrator.tui.actions import ACTIONS
from narrator.tui.screens.dialogs import Chooser, Page, Question, Typed
from narrator.tui.screens.library import LibraryScreen
from narrator.tui.screens.picking import PickFiles
from narrator.tui.screens.taking_out import TakingOut
from narrator.tui.widgets.listbox import ListBox
from tests.tui.playing import Play, make_campaign, playing

Scene = Callable[[Play], Awaitable[None]]
SCENES: dict[str, Scene] = {}

DEFINITION = """\
[campaign]
id = "ferry"
title = "The Ferry"
opening = "Rain falls on the ferry."
instructions = "Tell it."

[state.player.nerve]
type = "number"
min = 0
max = 10
initial = 7

[[cards]]
name = "Tench"
keys = ["tench"]
text = "The ferryman."
"""


def scene(*ids: str) -> Callable[[Scene], Scene]:
    """What shows that these actions work; it finds a story of two turns."""

    def add(function: Scene) -> Scene:
        for each in ids:
            assert each not in SCENES, each
            SCENES[each] = function
        return function

    return add


async def read(play: Play) -> None:
    """From typing to reading, the last narration selected."""
    await play.press("escape", "up")


async def choose(play: Play, text: str = "") -> None:
    """Choose from the list that is open, narrowed by a text."""
    assert isinstance(play.app.screen, Chooser), play.app.screen
    if text:
        play.app.screen.query_one(Input).value = text
        await play.pilot.pause()
    await play.press("enter")


async def answer(play: Play, choice: str) -> None:
    """Answer the question that is open."""
    assert isinstance(play.app.screen, Question), (play.app.screen, play.said())
    box = play.app.screen.query_one(ListBox)
    box.show(box.entries, at=choice)
    await play.press("enter")


async def page_of(play: Play, command: str) -> str:
    """What the page shows that a command opens."""
    await play.type(command)
    assert isinstance(play.app.screen, Page), (command, play.app.screen, play.said())
    text = str(play.app.screen.query_one("#text").render())
    await play.press("escape")
    assert play.app.screen is play.screen
    return text


@scene("story.do", "story.say", "story.story", "screen.mode")
async def input_in_every_mode(play: Play) -> None:
    await play.press("ctrl+t")
    await play.type("hello")
    await play.press("ctrl+t")
    await play.type("the lamp goes out")
    await play.press("ctrl+t")
    await play.type("wait")
    await play.type("/say hm")
    steps = play.screen.story.steps(6, 13)
    assert [(s.mode, s.text) for s in steps if s.role == "player"] == [
        ("say", "hello"),
        ("story", "the lamp goes out"),
        ("do", "wait"),
        ("say", "hm"),
    ]
    assert "“ hm" in play.shown()


@scene("story.continue")
async def go_on(play: Play) -> None:
    await play.press("ctrl+n")
    assert play.story()[-1] == "Answer 3."
    await play.press("escape", "c")
    assert play.story()[-1] == "Answer 4."
    await play.press("escape")
    await play.press("enter")
    assert play.story()[-1] == "Answer 5."


@scene("story.undo", "story.redo")
async def undo_and_redo(play: Play) -> None:
    await play.press("ctrl+z")
    assert len(play.story()) == 4
    await read(play)
    await play.press("u", "u")
    assert len(play.story()) == 2
    assert "redo holds 3 steps" in play.shown()
    await play.press("d")
    assert len(play.story()) == 3
    await play.press("ctrl+y", "ctrl+y", "ctrl+y")
    assert len(play.story()) == 5
    assert play.said() == "There is nothing to redo."


@scene("story.undo-turn")
async def undo_turn(play: Play) -> None:
    await play.type("/undo-turn")
    assert len(play.story()) == 3


@scene("story.retry", "screen.previous-take", "screen.next-take", "story.takes", "story.take")
async def retry_and_page(play: Play) -> None:
    await play.press("ctrl+r")
    assert play.story()[-1] == "Answer 3."
    await play.press("left")
    assert play.story()[-1] == "Answer 2."
    await play.press("right")
    assert play.story()[-1] == "Answer 3."
    await read(play)
    await play.press("left_square_bracket")
    assert play.story()[-1] == "Answer 2."
    await play.press("right_square_bracket", "r")
    assert play.story()[-1] == "Answer 4."
    assert "Answer 3." in await page_of(play, "/takes")
    await play.screen.act("story.take")
    await play.pilot.pause()
    await choose(play, "Answer 2")
    assert play.story()[-1] == "Answer 2."


@scene("story.retell")
async def retell(play: Play) -> None:
    await play.type("/retell")
    assert play.story()[-1] == "Answer 3."
    assert "2/2 takes" in play.shown()


@scene("story.edit")
async def edit_an_input(play: Play) -> None:
    await play.press("ctrl+o")
    composer = play.screen.composer
    assert (composer.text, composer.editing) == ("second", 4)
    composer.put("another second")
    await play.press("enter")
    assert play.story()[3:] == ["another second", "Answer 3."]
    await play.press("escape", "up", "up", "e")
    assert composer.editing == 4
    await play.press("escape")
    assert composer.editing is None


@scene("story.save", "story.restore", "story.checkpoints")
async def save_and_restore(play: Play) -> None:
    await play.press("ctrl+s")
    assert isinstance(play.app.screen, Typed)
    play.app.screen.query_one(Input).value = "the ferry"
    await play.press("enter")
    await play.press("ctrl+z", "ctrl+z")
    await play.press("ctrl+g")
    await choose(play)
    assert len(play.story()) == 5
    await play.press("escape", "s")
    assert isinstance(play.app.screen, Typed)
    await play.press("escape")
    assert "the ferry: step 5" in await page_of(play, "/checkpoints")
    await play.type("/undo 4")
    await play.type("/restore the ferry")
    assert len(play.story()) == 5


@scene("story.save-at")
async def save_a_selected_step(play: Play) -> None:
    await read(play)
    await play.press("up", "up", "ctrl+s")
    play.app.screen.query_one(Input).value = "earlier"
    await play.press("enter")
    assert [(c.name, c.position) for c in play.screen.story.checkpoints()] == [("earlier", 3)]


@scene("story.rename-checkpoint", "story.delete-checkpoint")
async def rename_and_delete_a_checkpoint(play: Play) -> None:
    await play.type("/save one")
    await play.screen.act("story.rename-checkpoint")
    await play.pilot.pause()
    await choose(play)
    play.app.screen.query_one(Input).value = "two"
    await play.press("enter")
    assert [c.name for c in play.screen.story.checkpoints()] == ["two"]
    await play.screen.act("story.delete-checkpoint")
    await play.pilot.pause()
    await choose(play)
    await play.press("escape")
    assert len(play.screen.story.checkpoints()) == 1, "Esc is the safe answer"
    await play.type("/delete-checkpoint two")
    await answer(play, "yes")
    assert play.screen.story.checkpoints() == []


@scene("story.back", "story.forward", "story.go")
async def back_and_forward(play: Play) -> None:
    await play.type("/go 2")
    assert len(play.story()) == 2
    await play.press("alt+left")
    assert len(play.story()) == 5
    await play.press("alt+right")
    assert len(play.story()) == 2
    await read(play)
    await play.press("less_than_sign")
    assert len(play.story()) == 5
    await play.press("greater_than_sign")
    assert len(play.story()) == 2


@scene("story.fork", "story.switch", "story.branches", "story.rename-branch", "story.delete-branch", "story.undelete")
async def branches(play: Play) -> None:
    await play.type("/fork 3")
    await play.type("elsewhere")
    assert play.story()[3:] == ["elsewhere", "Answer 3."]
    assert len(play.screen.story.branches()) == 2
    assert "elsewhere" not in await page_of(play, "/branches")
    await play.screen.act("story.switch")
    await play.pilot.pause()
    await choose(play)
    assert play.story()[3:] == ["second", "Answer 2."]
    branch = max(b.id for b in play.screen.story.branches())
    await play.type(f"/rename-branch #{branch} the other way")
    assert "the other way" in [b.name for b in play.screen.story.branches()]
    await play.type("/delete-branch the other way")
    await answer(play, "yes")
    assert len(play.screen.story.branches()) == 1
    await play.type("/undelete")
    assert len(play.screen.story.branches()) == 2


@scene("screen.rail")
async def rail(play: Play) -> None:
    await play.type("/save here")
    assert not play.screen.rail.display
    await play.press("f2")
    assert play.screen.rail.display
    keys = [entry.key for entry in play.screen.rail.box.entries]
    assert ("save", "here") in keys
    await play.press("f2")
    assert not play.screen.rail.display
    await play.press("escape", "b")
    assert play.screen.rail.display


@scene("screen.panel", "story.state", "story.memories", "story.cards", "story.prompt")
async def panel(play: Play) -> None:
    assert "Nerve: 7" in await page_of(play, "/state")
    assert "Tench" in await page_of(play, "/cards")
    assert "Rain falls" in await page_of(play, "/prompt")
    await play.type("/remember Tench lies.")
    assert "Tench lies." in await page_of(play, "/memories")
    await play.press("f3")
    assert play.screen.panel.display
    assert play.screen.place() == "panel"
    assert any(entry.text == "Nerve" for entry in play.screen.panel.box.entries)
    await play.press("right")
    assert any(entry.text == "Tench lies." for entry in play.screen.panel.box.entries)
    await play.press("f3")
    assert not play.screen.panel.display
    await play.press("escape", "p")
    assert play.screen.place() == "panel"


@scene("story.remember", "story.pin-memory", "story.forget-memory", "story.edit-memory")
async def memories(play: Play) -> None:
    await play.type("/remember The bell is cracked.")
    (memory,) = play.screen.story.memories()
    assert memory.text == "The bell is cracked."
    for word in ("pin-memory", "edit-memory", "forget-memory"):
        await by_palette(play, word)


@scene("story.search", "screen.next-match", "screen.previous-match")
async def search(play: Play) -> None:
    await play.press("ctrl+f")
    play.app.screen.query_one(Input).value = "answer"
    await play.press("enter")
    assert play.said().startswith("2 of 2: step 5")
    await play.press("upper_n")
    assert play.said().startswith("1 of 2: step 3")
    await play.press("n")
    assert play.said().startswith("2 of 2: step 5")
    await play.press("slash")
    assert isinstance(play.app.screen, Typed)
    await play.press("escape")


@scene("story.help")
async def help_page(play: Play) -> None:
    await play.press("f1")
    assert isinstance(play.app.screen, Page)
    text = str(play.app.screen.query_one("#text").render())
    for verb in COMMANDS.values():
        assert verb.usage in text
        assert verb.help in text
    await play.press("escape")
    await play.press("escape", "question_mark")
    assert isinstance(play.app.screen, Page)
    await play.press("escape")
    await play.type("/help retell")
    assert "told differently" in str(play.app.screen.query_one("#text").render())


@scene("screen.palette")
async def palette(play: Play) -> None:
    await play.press("ctrl+p")
    assert isinstance(play.app.screen, Chooser)
    listed = {entry.key for entry in play.app.screen.query_one(ListBox).entries}
    assert listed == set(ACTIONS) - {"screen.palette"}
    await choose(play, "undo the turn")
    await play.settle()
    assert len(play.story()) == 3
    await play.press("escape", "colon")
    assert isinstance(play.app.screen, Chooser)


@scene("screen.settings", "screen.theme")
async def theme(play: Play) -> None:
    await play.press("f4")
    await choose(play, "theme")
    await play.press("down")
    assert play.app.theme != "dark", "seen at once"
    await play.press("escape")
    assert play.app.theme == "dark"
    await play.screen.act("screen.theme")
    await play.pilot.pause()
    await choose(play, "paper")
    assert play.app.theme == "paper"
    await play.settle()
    from narrator import config, paths

    assert config.read(paths.config_file())[0].theme == "paper"
    await play.press("escape", "comma")
    assert isinstance(play.app.screen, Chooser)


@scene("story.narrator")
async def narrator(play: Play) -> None:
    await play.type("/narrator")
    await choose(play, "scripted")
    await play.settle()
    assert play.screen.session is not None
    assert play.screen.session.narrator.name == "scripted"


@scene("screen.select-up", "screen.select-down")
async def select(play: Play) -> None:
    await play.press("escape", "up")
    assert play.screen.transcript.selected == 5
    await play.press("k", "k")
    assert play.screen.transcript.selected == 3
    await play.press("j", "down")
    assert play.screen.transcript.selected == 5
    await play.press("escape")
    assert play.screen.transcript.selected is None
    await play.press("x")
    assert play.screen.composer.text == "x", "a letter that is no command goes to the composer"


@scene("screen.page-up", "screen.page-down", "screen.to-start", "screen.to-end")
async def scroll(play: Play) -> None:
    for number in range(8):
        await play.type(f"turn {number}")
    transcript = play.screen.transcript
    end = transcript.scroll_offset.y
    assert end > 0
    await play.press("pageup")
    assert transcript.scroll_offset.y < end
    await play.press("pagedown")
    assert transcript.scroll_offset.y == end
    await play.press("ctrl+home")
    assert transcript.scroll_offset.y == 0
    await play.press("ctrl+end")
    assert transcript.scroll_offset.y == end
    await play.press("home")
    assert transcript.scroll_offset.y == 0
    await play.press("end")
    assert transcript.scroll_offset.y == end


@scene("screen.next-pane", "screen.previous-pane")
async def panes(play: Play) -> None:
    assert play.screen.place() == "composer"
    await play.press("tab")
    assert play.screen.place() == "transcript"
    await play.press("shift+tab")
    assert play.screen.place() == "composer"
    play.screen.composer.editor.insert("/unde")
    await play.pilot.pause()
    await play.press("tab")
    assert play.screen.composer.text == "/undelete"


@scene("screen.escape")
async def escape(play: Play) -> None:
    play.screen.composer.editor.insert("/re")
    await play.pilot.pause()
    assert play.screen.composer.is_completing
    await play.press("escape")
    assert not play.screen.composer.is_completing
    await play.press("escape")
    assert play.screen.place() == "transcript"
    await play.press("escape")
    assert play.screen.place() == "composer"


@scene("screen.copy")
async def copy(play: Play) -> None:
    await play.press("ctrl+c")
    assert "Ctrl+Q quits" in play.said()
    await read(play)
    await play.press("ctrl+c")
    assert play.app.clipboard == "Answer 2."


@scene("screen.redraw")
async def redraw(play: Play) -> None:
    before = play.shown()
    await play.press("ctrl+l")
    assert play.shown() == before


@scene("screen.library")
async def library(play: Play) -> None:
    await play.screen.act("screen.library")
    await play.pilot.pause()
    assert isinstance(play.app.screen, LibraryScreen)


@scene("story.quit")
async def quit_(play: Play) -> None:
    await play.press("ctrl+q")
    assert play.app.return_code == 0


@scene("story.stop", "story.keep")
async def stop_and_keep(play: Play) -> None:
    await play.screen.act("story.stop")
    assert play.said() == "Nothing is being told."
    await play.press("ctrl+k")
    assert play.said() == "There is nothing told that is not in the story already."


@scene("story.pin", "story.unpin", "story.delete-take")
async def takes(play: Play) -> None:
    await play.press("ctrl+r")
    await play.screen.act("story.pin")
    await play.pilot.pause()
    await choose(play, "Answer 2")
    (pinned,) = [t for t in play.screen.story.takes(play.screen.story.head) if t.pinned]
    assert pinned.text == "Answer 2."
    await play.type("/unpin 1")
    await play.type("/delete-take 1")
    await answer(play, "yes")
    assert len(play.screen.story.takes(play.screen.story.head)) == 1


@scene("story.correct", "story.assert", "story.retract", "story.note", "story.persona", "story.audit")
async def corrections(play: Play) -> None:
    await play.type("/correct player.nerve 5 because the fall")
    assert "✎ Nerve: 5 (was 7), because the fall" in play.shown()
    await play.type("/assert The bell is cracked.")
    assert "✎ Now known: The bell is cracked." in play.shown()
    await play.type("/retract The bell is cracked.")
    await play.type("/note Slower.")
    await play.type("/persona A tired woman.")
    assert "step 6: 7 → 5" in await page_of(play, "/audit player.nerve")


@scene("story.comment", "story.card", "story.knowledge", "story.track", "story.edit-wording", "story.answer")
async def words_that_need_more(play: Play) -> None:
    for word in ("comment", "card", "track", "edit-wording", "answer"):
        await by_palette(play, word)


async def by_palette(play: Play, word: str) -> None:
    """Chosen in the palette, a verb that needs words stands in the composer with its usage beside it."""
    await play.screen.act(f"story.{word}")
    await play.pilot.pause()
    assert play.screen.composer.text.startswith(f"/{word} ")
    assert COMMANDS[word].usage in play.said()
    play.screen.composer.clear()


@scene("story.read", "story.stats", "story.status", "story.map", "story.checks")
async def pages(play: Play) -> None:
    assert "> second" in await page_of(play, "/read")
    assert "5 steps" in await page_of(play, "/stats")
    assert "step 5" in await page_of(play, "/status")
    assert "5 steps" in await page_of(play, "/map")
    assert "No checks." in await page_of(play, "/checks")


@scene("story.suggest")
async def suggest(play: Play) -> None:
    play.narrator.answer("suggest", {"suggestions": ["Ring the bell", "Wait", "Row"]})
    await play.type("/suggest")
    await choose(play)
    assert play.screen.composer.text == "Ring the bell"


@scene("story.prune")
async def prune(play: Play) -> None:
    await play.press("ctrl+r")
    await play.screen.act("story.prune")
    assert play.screen.composer.text == "/prune "
    play.screen.composer.clear()
    await play.type("/prune all")
    assert isinstance(play.app.screen, Question)
    assert play.app.screen.query_one(ListBox).chosen == "no", "the safe answer stands first"
    await answer(play, "yes")
    assert "takes ▸" not in play.shown()


@scene("story.export", "screen.import")
async def out_and_in(play: Play) -> None:
    for action, dialog in (("story.export", TakingOut), ("screen.import", PickFiles)):
        await play.screen.act(action)
        await play.pilot.pause()
        assert isinstance(play.app.screen, dialog)
        await play.press("escape")
        assert play.app.screen is play.screen


@scene("story.replay")
async def replay(play: Play) -> None:
    await by_palette(play, "replay")
    commands = play.screen.path.parent / "commands"
    commands.write_text("third\n/status\n/undo\n/no-such-word\n")
    await play.type(f"/replay {commands}")
    assert play.app.screen is play.screen, "nothing that a replay shows lies over the story"
    assert play.said() == "Played 4 lines. 1 of them failed."
    assert len(play.story()) == 6
    await play.type(f"/replay {commands}-elsewhere")
    assert play.said() == f"{commands}-elsewhere cannot be read: No such file or directory."


@scene("story.script", "story.unscript", "story.record")
async def papers(play: Play) -> None:
    for word in ("script", "record"):
        await by_palette(play, word)
    folder = play.screen.path.parent
    await play.type(f"/script {folder}/told.txt all")
    await play.type(f"/record {folder}/commands")
    await play.type("third")
    await play.screen.act("story.unscript")
    await play.settle()
    assert "has ended" in play.said()
    await play.type("/record")
    told = (folder / "told.txt").read_text()
    assert told.index("Rain") < told.index("> first") < told.index("> third") < told.index("Answer 3.")
    assert (folder / "commands").read_text() == "third\n/unscript\n"


@pytest.mark.spec("U6", "U16")
def test_every_action_has_a_scene() -> None:
    assert set(ACTIONS) - set(SCENES) == set()
    assert set(SCENES) - set(ACTIONS) == set()


@pytest.mark.spec("U16")
def test_every_command_has_an_action_and_every_action_of_the_story_a_command() -> None:
    assert {action.verb for action in ACTIONS.values() if action.verb} == set(COMMANDS)
    assert all(action.id.startswith("screen.") for action in ACTIONS.values() if not action.verb)


@pytest.mark.spec("U6", "U14")
@pytest.mark.parametrize("action", sorted({f.__name__: i for i, f in SCENES.items()}.values()))
async def test_action(action: str, tmp_path: Path) -> None:
    async with playing(make_campaign(tmp_path, definition=DEFINITION)) as play:
        await play.type("first")
        await play.type("second")
        assert len(play.story()) == 5
        await SCENES[action](play)
