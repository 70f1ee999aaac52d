"""The panel by key and by mouse: state, histories, corrections, checks, memories, cards, saves, the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, Static

from narrator.core.tree import NewNode
from narrator.engine.memory import recall
from narrator.engine.turn import plan_input
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.port import Capabilities, Purpose, Usage
from narrator.store import commit
from narrator.store.commit import Acceptance
from narrator.tui.screens.correcting import Correcting
from narrator.tui.screens.dialogs import Page
from narrator.tui.widgets.bars import KeyLine, StatusLine
from narrator.tui.widgets.panel import Bar, Words
from tests.tui.playing import Play, make_campaign, playing

DEFINITION = """\
[campaign]
id = "ferry"
title = "The Ferry"
opening = "Rain falls on the ferry."
instructions = "Tell it."

[player]
name = "Ansa"

[start]
location = "ferry"
threads = { count = "Why seven?" }
facts = ["Seven lanterns stand."]

[entities.ferry]
name = "the ferry"
kind = "place"
visibility = "open"
[entities.landing]
name = "the landing"
kind = "place"
visibility = "open"

[state.player.nerve]
type = "number"
min = 0
max = 10
initial = 7
bands = [[0, 2, "shaking"], [3, 6, "wary"], [7, 10, "steady"]]
[state.road.burning]
type = "number"
label = "Lanterns burning"
initial = 5
[state.flags.bell_rung]
type = "flag"
initial = false
[state.flags.cursed]
type = "flag"
visibility = "hidden"
initial = true
[state.player.bag]
type = "list"
initial = ["rope"]
[state.player.hat]
type = "text"
choices = ["straw", "felt"]

[rules]
show_numbers = true
[rules.skills.climb]
field = "player.nerve"
[rules.difficulty]
hard = 14

[[cards]]
name = "Tench"
keys = ["tench"]
text = "The ferryman."
sticky = 2
cooldown = 3
[[cards]]
name = "Loach"
keys = ["loach"]
text = "The lamplighter."
"""


def teller() -> FakeNarrator:
    """Each turn: a check, Tench, and the player less brave by one."""
    fake = FakeNarrator()
    count = iter(range(1, 1000))
    fake.answer(Purpose.CHECK, {"check": {"skill": "climb", "difficulty": "hard"}})
    fake.answer(Purpose.NARRATE, lambda request: f"Answer {next(count)}: Tench nods.")
    change = {"op": "add", "path": "player.nerve", "value": -1, "why": "it is dark"}
    fake.answer(Purpose.EXTRACT, {"changes": [change]})
    return fake


def ferry(folder: Path, definition: str = DEFINITION) -> Path:
    return make_campaign(folder, definition=definition)


def listed(play: Play) -> list[str]:
    """The entries as they are read: text, two spaces, detail."""
    return [f"{entry.text}  {entry.detail}".rstrip() for entry in play.screen.panel.box.entries]


def told(play: Play) -> str:
    """What stands below the list."""
    return str(play.screen.panel.query_one("#about", Static).render())


def heading(play: Play) -> str:
    return str(play.screen.panel.query_one("#heading", Static).render())


def footer(play: Play) -> list[tuple[str, str]]:
    return list(play.screen.query_one(KeyLine).keys)


async def to(play: Play, text: str) -> None:
    """Walk down to the entry that begins so, by keys."""
    box = play.screen.panel.box
    await play.press("home")
    for _ in range(len(box.entries)):
        if box.entries[box.cursor].text.startswith(text):
            return
        await play.press("down")
    raise AssertionError(f"{text} is not in {listed(play)}")


async def tab(play: Play, name: str) -> None:
    for _ in range(5):
        if play.screen.panel.tab == name:
            return
        await play.press("right")


async def click(play: Play, text: str) -> None:
    """Click on the entry that begins so."""
    box = play.screen.panel.box
    row = next(at for at, entry in enumerate(box.entries) if entry.text.startswith(text))
    await play.pilot.click(box, offset=(4, row - box.scroll_offset.y))
    await play.settle()


async def click_hint(play: Play, want: str) -> None:
    """Click on a key at the panel's foot."""
    words = play.screen.panel.query_one("#hints", Words)
    y, x, _, _ = next(place for place in words._places if place[3] == want)
    await play.pilot.click(words, offset=(x + 1, y))
    await play.settle()


@pytest.mark.spec("W7", "T8")
async def test_the_state_stands_under_headings_with_what_the_step_changed_and_why(tmp_path: Path) -> None:
    async with playing(ferry(tmp_path), teller(), size=(120, 40)) as play:
        await play.type("climb")
        shown = play.shown()
        assert "Nerve: wary, 6 (was steady, 7)" in shown
        assert "it is dark" not in shown  # why is for the panel, as it is for /state in plain mode
        await play.press("f3")
        assert heading(play) == "Step 3, where the story is"
        lines = listed(play)
        assert lines[:4] == [
            "Changed by this step", "Nerve: steady, 7 → wary, 6", "Decided by a check", next(
                line for line in lines if line.startswith("climb, hard  ")
            ),
        ]  # fmt: skip
        assert lines[4:] == [
            "Scene", "Place  The ferry", "Ansa (you)", "Bag  rope", "Nerve •  wary, 6", "Story", "Bell rung  no",
            "Lanterns burning  5", "Threads", "? Why seven?", "Facts", "Seven lanterns stand.",
        ]  # fmt: skip
        assert told(play) == "Nerve: steady, 7 → wary, 6\nadd by the narrator\nit is dark"
        await to(play, "climb, hard")
        assert "rolled " in told(play)
        assert "against 14" in told(play)
        assert ("c", "correct") in footer(play)
        assert "cursed" not in play.app.export_screenshot()


@pytest.mark.spec("T8")
async def test_what_fell_stays_hidden_where_the_campaign_hides_it(tmp_path: Path) -> None:
    hidden = DEFINITION.replace("show_numbers = true\n", "")
    async with playing(ferry(tmp_path, hidden), teller(), size=(120, 40)) as play:
        await play.type("climb")
        await play.press("f3")
        await to(play, "climb, hard")
        assert "rolled" not in told(play)
        assert "hidden" in told(play)


@pytest.mark.spec("W7")
async def test_stepping_through_history_and_takes_shows_the_state_of_that_step(tmp_path: Path) -> None:
    fake = teller()
    async with playing(ferry(tmp_path), fake, size=(120, 40)) as play:
        for text in ("one", "two"):
            await play.type(text)
        await play.press("f3", "escape", "ctrl+up", "up", "up")
        assert play.screen.transcript.selected == 3
        assert heading(play) == "Step 3 of 5"
        assert "Nerve: steady, 7 → wary, 6" in listed(play)
        await play.press("up")
        assert heading(play) == "Step 2 of 5"
        assert "Nerve  steady, 7" in listed(play)
        assert "Changed by this step" not in listed(play)
        await play.press("end", "escape")
        fake._answers[Purpose.EXTRACT].clear()
        fake.answer(Purpose.EXTRACT, {"changes": [{"op": "set", "path": "player.nerve", "value": 1, "why": ""}]})
        await play.press("ctrl+r")
        assert "Nerve: wary, 6 → shaking, 1" in listed(play)
        await play.press("escape", "escape", "left")
        assert "Nerve: wary, 6 → wary, 5" in listed(play)


@pytest.mark.spec("W12", "W7")
async def test_an_unknown_state_says_so(tmp_path: Path) -> None:
    async with playing(ferry(tmp_path), teller(), size=(120, 40)) as play:
        await play.type("one")
        story = play.screen.story
        told_elsewhere = NewNode("narrator", "Told elsewhere.", is_unknown=True)
        at = story.position
        commit.accept(story.store, Acceptance(at.head_id, (told_elsewhere,), at, state_at=story.snapshot_at))
        await play.press("f3")
        assert "Nobody knows the state here" in heading(play)


@pytest.mark.spec("W8")
@pytest.mark.parametrize("by", ["key", "mouse"])
async def test_a_field_opens_its_history_from_which_the_step_can_be_reached(tmp_path: Path, by: str) -> None:
    async with playing(ferry(tmp_path), teller(), size=(120, 40)) as play:
        for text in ("one", "two"):
            await play.type(text)
        await play.press("f3")
        if by == "key":
            await to(play, "Nerve •")
            await play.press("enter")
        else:
            await click(play, "Nerve •")
        assert heading(play) == "Nerve: how it changed"
        assert listed(play) == ["1: nothing → steady, 7", "3: steady, 7 → wary, 6", "5: wary, 6 → wary, 5"]
        assert told(play) == "Step 5: wary, 6 → wary, 5\nadd by the narrator\nit is dark"
        assert ("Esc", "back") in footer(play)
        if by == "key":
            await play.press("up", "enter")
        else:
            await click(play, "3: ")
        assert play.screen.transcript.selected == 3
        assert play.screen.story.count == 5, "showing a step moves nothing"
        if by == "key":
            await play.press("g")
        else:
            await click_hint(play, "go")
        assert play.screen.story.count == 3
        if by == "key":
            await play.press("escape")
        else:
            await click_hint(play, "back")
        assert "Nerve •  wary, 6" in listed(play)
        assert play.screen.panel.box.chosen == ("field", "player.nerve", ""), "back where the history was opened"


@pytest.mark.spec("S23", "W9", "U7")
@pytest.mark.parametrize("by", ["key", "mouse"])
async def test_a_field_is_corrected_in_place(tmp_path: Path, by: str) -> None:
    async with playing(ferry(tmp_path), teller(), size=(120, 40)) as play:
        await play.type("one")
        await play.press("f3")
        await to(play, "Nerve •")
        if by == "key":
            await play.press("c")
        else:
            await click_hint(play, "correct")
        dialog = play.app.screen
        assert isinstance(dialog, Correcting)
        shown = play.app.export_screenshot().replace("&#160;", " ")
        assert "A number from 0 to 10: shaking 0–2, wary 3–6, steady 7–10" in shown
        assert "Step 3 made it so; its text will go on saying so." in shown
        value, verdict = dialog.query_one("#value", Input), dialog.query_one("#verdict", Static)
        value.value = "blue"
        await play.settle()
        assert str(verdict.render()) == "! Nerve is a number, not 'blue'"
        await play.press("enter")
        assert play.app.screen is dialog, "what cannot be is not done"
        value.value = "40"
        await play.settle()
        assert str(verdict.render()).startswith("✓ Nerve becomes steady, 10 (")
        if by == "key":
            await play.press("down", "up")
        else:
            await play.pilot.click(dialog.query_one("#offers"), offset=(4, 0))
            await play.settle()
        assert value.value == ("wary" if by == "key" else "shaking")
        value.value = "2"
        await play.press("tab")
        dialog.query_one("#reason", Input).value = "he saw"
        await play.press("enter")
        assert play.screen.story.state().values["player.nerve"] == 2
        assert "✎ Nerve: shaking, 2 (was wary, 6), because he saw" in " ".join(play.shown().split())
        assert "Step 3 established the old value" in play.said()
        assert "Nerve: wary, 6 → shaking, 2" in listed(play)
        assert play.screen.place() == "panel"


@pytest.mark.spec("S23", "W9")
async def test_esc_leaves_a_correction_and_nothing_changes(tmp_path: Path) -> None:
    async with playing(ferry(tmp_path), size=(120, 40)) as play:
        await play.press("f3")
        await to(play, "Nerve")
        await play.press("c", "9", "escape")
        assert play.screen.story.count == 1
        assert play.screen.story.state().values["player.nerve"] == 7


@pytest.mark.spec("S23", "W9")
async def test_every_type_is_corrected_by_what_it_may_be(tmp_path: Path) -> None:
    async with playing(ferry(tmp_path), size=(120, 40)) as play:
        values = lambda: play.screen.story.state().values  # noqa: E731
        await play.press("f3")
        for entry, keys, path, value in (
            ("Bell rung", ("c", "up", "enter"), "flags.bell_rung", True),
            ("Place", ("c", "down", "enter"), "location", "landing"),
            ("? Why", ("c", "down", "enter"), "threads.count", {"text": "Why seven?", "open": False, "outcome": ""}),
        ):
            await to(play, entry)
            await play.press(*keys)
            found = values()[path]
            assert found == value or (isinstance(found, dict) and found["open"] is False), (entry, found)
        await to(play, "Bag")
        await play.press("c")
        play.app.screen.query_one("#value", Input).value = "rope, lamp"
        await play.press("enter")
        assert values()["player.bag"] == ["rope", "lamp"]
        await to(play, "Seven lanterns")
        await play.press("c")
        play.app.screen.query_one("#value", Input).value = "Six lanterns stand."
        await play.press("enter")
        assert [fact["text"] for fact in values()["facts"]] == ["Six lanterns stand."]
        await to(play, "Six lanterns")
        await play.press("x")
        assert values()["facts"] == []
        await play.press("a", "h", "a", "t", "enter")
        assert isinstance(play.app.screen, Correcting)
        await play.press("down", "enter")
        assert values()["player.hat"] == "straw"


@pytest.mark.spec("S23", "W7")
async def test_a_correction_from_an_earlier_step_says_where_it_holds(tmp_path: Path) -> None:
    async with playing(ferry(tmp_path), teller(), size=(120, 40)) as play:
        for text in ("one", "two"):
            await play.type(text)
        await play.press("escape", "up", "up", "up", "p")
        assert heading(play) == "Step 3 of 5"
        await to(play, "Nerve •")
        await play.press("c")
        shown = play.app.export_screenshot().replace("&#160;", " ")
        assert "It holds from where the story is, not from this step." in shown
        assert "Nerve: wary, 5" in shown, "what is corrected is the value of now"


@pytest.mark.spec("C25", "S33", "S34")
async def test_the_memories_are_what_retrieval_sees_pinned_first(tmp_path: Path) -> None:
    async with playing(ferry(tmp_path), teller(), size=(120, 40)) as play:
        await play.type("/remember The bell is cracked.")
        await play.type("one")
        await play.type("/remember Tench lies.")
        await play.press("f3", "right")
        assert listed(play) == ["Found when the words fit", "Tench lies.", "The bell is cracked."]
        await to(play, "The bell")
        assert told(play) == "The bell is cracked.\nyours, of step 1"
        await play.press("p")
        assert listed(play)[:2] == ["Pinned: in every prompt", "★ The bell is cracked."]
        assert [row.is_pinned for row in play.screen.story.memories()] == [True, False]
        await play.press("e")
        play.app.screen.query_one(Input).value = "The bell is whole."
        await play.press("enter")
        assert "★ The bell is whole." in listed(play)
        await click(play, "Tench lies.")
        assert play.screen.transcript.selected == 3
        await click_hint(play, "forget")
        await play.press("enter")
        assert len(play.screen.story.memories()) == 2, "the safe answer stands first"
        await play.press("x", "down", "enter")
        assert listed(play) == ["Pinned: in every prompt", "★ The bell is whole."]
        await play.press("a")
        play.app.screen.query_one(Input).value = "The road floods."
        await play.press("enter")
        assert "The road floods." in listed(play)
        await play.press("f3", "escape")
        await play.type("/go 1")
        await play.press("f3")
        shown = {entry.key[1] for entry in play.screen.panel.box.entries if isinstance(entry.key, tuple)}
        assert shown == {row.id for row in play.screen.story.memories()}
        assert listed(play) == ["Pinned: in every prompt", "★ The bell is whole."], "not what hangs below"


@pytest.mark.spec("C26", "S35")
async def test_the_cards_say_what_fired_and_why_and_how_long_they_stay(tmp_path: Path) -> None:
    async with playing(ferry(tmp_path), teller(), size=(120, 40)) as play:
        await play.type("greet tench")
        await play.press("f3", "right", "right")
        assert listed(play) == ["In the prompt", "● Tench  stays 2", "Waiting", "○ Loach"]
        await to(play, "● Tench")
        assert told(play).splitlines()[1:] == [
            "in by: sticky, fired in this turn", "stays for 2 turns more", "keys: tench", "The ferryman.",
        ]  # fmt: skip
        await play.press("down", "o")
        assert listed(play)[-2:] == ["Off", "– Loach"]
        assert "off in the whole campaign" in told(play)
        await click_hint(play, "toggle")
        assert listed(play)[-2:] == ["Waiting", "○ Loach"]
        await play.press("e")
        play.app.screen.query_one(Input).value = "The old lamplighter."
        await play.press("enter")
        assert "The old lamplighter." in told(play)
        await play.press("enter")
        assert isinstance(play.app.screen, Page)
        await play.press("escape", "escape", "ctrl+up")
        assert heading(play) == "What step 3 was told with"
        await play.press("p")
        await to(play, "● Tench")
        assert "in by: tench" in told(play)


@pytest.mark.spec("S26", "S28")
async def test_saved_places_are_saved_reached_and_deleted(tmp_path: Path) -> None:
    async with playing(ferry(tmp_path), teller(), size=(120, 40)) as play:
        await play.press("f3")
        await tab(play, "checkpoints")
        await play.press("s")
        play.app.screen.query_one(Input).value = "the start"
        await play.press("enter")
        assert listed(play) == ["the start  step 1"]
        await play.type("one")
        await play.press("f3", "enter")
        assert play.screen.story.count == 1
        await play.press("x", "down", "enter")
        assert listed(play) == []


@pytest.mark.spec("C29", "C1")
async def test_the_prompt_is_shown_part_by_part_beside_what_was_reported(tmp_path: Path) -> None:
    fake = teller()
    fake._answers[Purpose.NARRATE].clear()
    fake.answer(Purpose.NARRATE, Line("Tench nods.", usage=Usage(120, 30, 90)))
    async with playing(ferry(tmp_path), fake, size=(120, 40)) as play:
        await play.type("greet tench")
        await play.press("f3")
        await tab(play, "prompt")
        assert heading(play) == "The prompt of the next turn"
        groups = [entry.text for entry in play.screen.panel.box.entries if entry.key is None]
        assert groups == [
            "The window", "System prompt", "The story, word for word", "For this turn", "Tokens", "Budget",
        ]  # fmt: skip
        bar = "".join(play.screen.panel.query_one(Bar).rows(36))
        letters = {entry.text[0] for entry in play.screen.panel.box.entries if entry.key and entry.key[0] == "segment"}  # type: ignore[index]
        assert letters == set(bar)
        await to(play, "card · Tench")
        assert "why: sticky, fired in this turn" in told(play)
        await play.press("enter")
        assert isinstance(play.app.screen, Page)
        assert "The ferryman." in play.app.export_screenshot().replace("&#160;", " ")
        await play.press("escape", "w")
        assert "system" in play.app.export_screenshot()
        await play.press("escape", "escape", "ctrl+up")
        assert heading(play) == "The prompt of step 3"
        lines = listed(play)
        assert "reported by the server  120" in lines
        assert "of that from its cache  90, 75%" in lines
        assert any(line.startswith("counted here  ") for line in lines)
        await play.press("up")
        assert heading(play) == "The prompt of the next turn", "an input has no prompt of its own"


@pytest.mark.spec("U6", "U1")
async def test_the_panel_is_gone_through_and_left_by_keys_and_by_mouse(tmp_path: Path) -> None:
    async with playing(ferry(tmp_path), size=(80, 24)) as play:
        await play.press("f3")
        assert play.screen.place() == "panel"
        for name in ("memories", "cards", "checkpoints", "prompt", "state"):
            await play.press("right")
            assert play.screen.panel.tab == name
        await play.press("left")
        assert play.screen.panel.tab == "prompt"
        tabs = play.screen.panel.query_one("#tabs", Words)
        assert tabs.size.height == 1, "all tabs on one row of the narrow panel"
        y, x, _, _ = tabs._places[0]
        await play.pilot.click(tabs, offset=(x + 1, y))
        await play.settle()
        assert play.screen.panel.tab == "state"
        await play.press("escape")
        assert play.screen.place() == "composer"
        assert play.screen.panel.display
        await play.press("f3")
        assert play.screen.place() == "panel"
        await play.press("f3")
        assert not play.screen.panel.display
        assert play.screen.place() == "composer"


@pytest.mark.spec("C27")
async def test_what_has_no_room_is_flagged_in_the_status_line_and_listed(tmp_path: Path) -> None:
    cards = "".join(
        f'[[cards]]\nname = "{name}"\nkeys = ["tench"]\ntext = "{name} {"and so on " * 90}"\n'
        for name in ("Oil", "Cask")
    )
    fake = FakeNarrator(capabilities=Capabilities(8_000, "configured", json_schema=True))
    fake.answer(Purpose.NARRATE, "Tench nods.")
    async with playing(ferry(tmp_path, f"{DEFINITION.partition('[rules]')[0]}{cards}"), fake, size=(120, 40)) as play:
        await play.type("greet tench")
        assert play.screen.query_one(StatusLine).standing.crowded_out == 1
        assert "1 without room" in str(play.screen.query_one(StatusLine).render())
        await play.press("f3", "right", "right")
        assert "No room for" not in listed(play), "the next turn is not told yet what it will hold"
        await tab(play, "prompt")
        lines = listed(play)
        assert lines[lines.index("No room for") + 1] == "card: Cask: tench"
        await play.press("escape", "ctrl+up", "p")
        await tab(play, "cards")
        assert heading(play) == "What step 3 was told with"
        assert listed(play)[:4] == ["It was told with", "● Oil", "No room for", "○ Cask"]
        await to(play, "○ Cask")
        assert "no room, though in by: tench" in told(play)


@pytest.mark.spec("U14", "W7")
async def test_a_command_is_completed_with_what_people_call_a_field(tmp_path: Path) -> None:
    async with playing(ferry(tmp_path), size=(100, 30)) as play:
        await play.type("/save here")
        editor = play.screen.composer.editor
        editor.insert("/correct lan")
        await play.settle()
        await play.press("tab")
        assert play.screen.composer.text == '/correct "Lanterns burning" '
        play.screen.composer.clear()
        await play.type("/audit Nerve")
        assert isinstance(play.app.screen, Page)


@pytest.mark.spec("C25", "C24")
async def test_the_memories_shown_are_those_that_a_prompt_can_hold_on_every_line(tmp_path: Path) -> None:
    async with playing(ferry(tmp_path), teller(), size=(120, 40)) as play:
        await play.type("/remember The bell is cracked.")
        await play.type("one")
        for text in ("Tench lies about the bell.", "The bell was sold.", "The bell came back."):
            await play.type(f"/remember {text}")
        await play.type("/forget-memory 3")
        await play.type("/pin-memory 4")
        await play.type("/go 1")
        await play.type("/fork")
        await play.type("two")
        await play.type("/remember The bell rings here alone.")
        await play.press("f3", "right")
        story = play.screen.story
        for line in ("here", "/switch #1"):
            if line.startswith("/"):
                await play.press("f3")
                await play.type(line)
                await play.press("f3")
            shown = [entry.key[1] for entry in play.screen.panel.box.entries if isinstance(entry.key, tuple)]
            plan = plan_input(story, "ring the bell", "do", "do")
            parts = recall(story, plan, story.state(), 10**9, 100)
            assert {int(part.source.removeprefix("#")) for part in parts} == set(shown), line
            assert shown[: len([part for part in parts if part.why == "pinned"])] == [
                int(part.source.removeprefix("#")) for part in parts if part.why == "pinned"
            ]
        assert 3 not in shown


@pytest.mark.spec("U6")
async def test_the_help_names_every_key_of_the_panel(tmp_path: Path) -> None:
    async with playing(ferry(tmp_path), size=(120, 40)) as play:
        await play.press("f3", "f1", "end")
        text = str(play.app.screen.query_one("#text", Static).render())
        for _ in range(5):
            hints = play.screen.panel.page.hints if play.screen.panel.page else ()
            assert hints
            assert " · ".join(f"{hint.label} {hint.word}" for hint in hints if hint.want != "retract") in text
            await play.press("escape", "right", "f1")
