"""Cards in play: what triggers stands in the tail, follows the path, and is changed for the whole campaign (C26)."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrator.core.cards import CardEdit
from narrator.engine import cards as triggering
from narrator.engine import turn
from narrator.engine.events import CardsListed, PromptShown
from narrator.engine.story import utc_now
from narrator.exchange.exporting import Wish, export
from narrator.exchange.importing import Surroundings, import_files
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose
from narrator.store import sources
from tests.engine.long_stories import keeps, lengthen, small, text_of
from tests.engine.playing import Play, make, playing
from tests.store.making import open_story

LAMP = '[[cards]]\nname = "Lamp"\nkeys = ["lamp"]\ntext = "The lamp burns whale oil."\n'
MILL = """
[campaign]
id = "mill"
title = "The Mill"
opening = "The wheel stands still. A heron waits."

[state.flags.dark]
type = "flag"

[[cards]]
name = "Heron"
keys = ["heron"]
text = "The heron is the miller's sister."
priority = 3

[[cards]]
name = "Night Watch"
keys = ["watch"]
when = "flags.dark"
text = "They walk in threes."

[[cards]]
name = "Bell"
keys = ["bell"]
text = "The bell rings by itself."
sticky = 1
cooldown = 1

[[cards]]
name = "World"
constant = true
text = "There are two moons."
"""


def telling(window: int = 1_000_000) -> FakeNarrator:
    fake = FakeNarrator(capabilities=small(window))
    fake.answer(Purpose.NARRATE, lambda request: "Nothing stirs.")
    fake.answer(Purpose.EXTRACT, {"changes": []})
    return fake


def told(play: Play) -> str:
    """The last message of the latest narration's request."""
    return [each for each in play.narrator.requests if each.purpose is Purpose.NARRATE][-1].messages[-1].content


def fired(play: Play) -> bool:
    return "rings by itself" in told(play)


async def cards(play: Play, line: str = "/cards") -> dict[str, tuple[bool, bool, str]]:
    (listed,) = (await play.do(line)).of(CardsListed)
    return {each.name: (each.enabled, each.triggered, each.text) for each in listed.cards}


@pytest.mark.spec("C26", "C29")
async def test_what_triggers_stands_in_the_tail_with_its_reason(tmp_path: Path) -> None:
    async with playing(make(tmp_path, MILL + LAMP), telling()) as play:
        assert (await play.do("I light the Lamp.")).ok
        assert "Card (canon), Lamp: The lamp burns whale oil." in told(play)
        assert "miller's sister" in told(play)
        assert told(play).index("miller's sister") < told(play).index("whale oil")
        assert "two moons" not in told(play)
        assert "two moons" in play.narrator.requests[-1].messages[0].content
        (shown,) = (await play.do("/prompt last")).of(PromptShown)
        assert {(p.source, p.why) for p in shown.parts if p.kind == "card"} == {("Heron", "heron"), ("Lamp", "lamp")}


@pytest.mark.spec("C26", "C30")
async def test_memories_and_corrections_trigger_nothing(tmp_path: Path) -> None:
    async with playing(make(tmp_path, MILL + LAMP), telling()) as play:
        assert (await play.do("/remember There was a lamp.")).ok
        assert (await play.do("/note Mention no lamp.")).ok
        assert (await play.do("I wait.")).ok
        assert "whale oil" not in told(play)


@pytest.mark.spec("C30")
async def test_a_summary_triggers_nothing(tmp_path: Path) -> None:
    path = make(tmp_path, MILL)
    story = open_story(path)
    lengthen(story, 40, size=400)
    story.close()
    fake = telling(8192)
    fake.answer(Purpose.COMPACT, keeps("heron"))
    async with playing(path, fake, answers="yes") as play:
        assert (await play.do("I wait.")).ok
        request = [each for each in fake.requests if each.purpose is Purpose.NARRATE][-1]
        assert "heron" in text_of(request)
        assert "miller's sister" not in text_of(request)
        assert (await play.do("I look for the heron.")).ok
        assert "miller's sister" in told(play)


@pytest.mark.spec("C26", "W14")
async def test_a_condition_on_the_state_holds_a_card_back(tmp_path: Path) -> None:
    async with playing(make(tmp_path, MILL), telling()) as play:
        assert (await play.do("I hear the watch.")).ok
        assert "in threes" not in told(play)
        assert (await play.do("/correct flags.dark true")).ok
        assert (await play.do("I hear the watch.")).ok
        assert "in threes" in told(play)
        assert (await play.do("/undo 3")).ok
        assert (await play.do("I hear the watch again.")).ok
        assert "in threes" not in told(play)


@pytest.mark.spec("C26")
async def test_sticky_and_cooldown_follow_the_path(tmp_path: Path) -> None:
    deep = MILL.replace('keys = ["bell"]', 'keys = ["bell"]\nscan_depth = 0')
    async with playing(make(tmp_path, deep), telling()) as play:
        seen = []
        for line in ("I ring the bell.", "I wait.", "I ring the bell.", "I ring the bell."):
            assert (await play.do(line)).ok
            seen.append(fired(play))
        assert seen == [True, True, False, True]
        assert (await play.do("/continue")).ok
        assert fired(play)
        # Undone, what fired there has not fired; the cooldown of the first turn is over on neither path.
        assert (await play.do("/go 3")).ok
        assert (await play.do("I sit.")).ok
        assert fired(play)
        assert (await play.do("/go 1")).ok
        assert (await play.do("I sit down.")).ok
        assert not fired(play)
        assert (await play.do("I ring the bell.")).ok
        assert fired(play)


@pytest.mark.spec("C26", "S15", "S20")
async def test_a_retry_and_a_retelling_see_what_the_first_telling_saw(tmp_path: Path) -> None:
    async with playing(make(tmp_path, MILL), telling()) as play:
        assert (await play.do("I ring the bell.")).ok
        first = told(play)
        assert (await play.do("/retry")).ok
        assert told(play) == first
        assert (await play.do("/retell")).ok
        assert fired(play)
        assert (await play.do("/edit-wording last It rang.")).ok
        assert (await play.do("I wait.")).ok
        assert "sticky, fired 1 turn ago" in str((await play.do("/prompt last")).of(PromptShown)[0].parts)


@pytest.mark.spec("C27")
async def test_what_has_no_room_is_told_listed_and_kept(tmp_path: Path) -> None:
    many = "".join(
        f'[[cards]]\nname = "Card {n}"\nkeys = ["wheel"]\npriority = {n}\ntext = "{f"Text {n} " * 60}"\n'
        for n in range(8)
    )
    async with playing(make(tmp_path, MILL + many), telling(8192)) as play:
        answer = await play.do("I turn the wheel.")
        assert answer.ok
        kept = [n for n in range(8) if f"Text {n} " in told(play)]
        assert kept == list(range(8 - len(kept), 8))
        assert 0 < len(kept) < 8
        assert any("no room in the prompt" in note and "“Card 0”" in note for note in answer.notes)
        for line in ("/prompt", "/prompt last"):
            (shown,) = (await play.do(line)).of(PromptShown)
            left = [part.why for part in shown.parts if part.kind == "left-out" and part.source == "card"]
            assert left == [f"Card {n}: wheel" for n in range(7 - len(kept), -1, -1)]


@pytest.mark.spec("C26")
async def test_an_expression_without_end_costs_a_moment_and_is_named(tmp_path: Path) -> None:
    slow = '[[cards]]\nname = "Slow"\nregex = true\nkeys = ["(a|aa)+$"]\ntext = "Never."\n'
    async with playing(make(tmp_path, MILL + slow), telling()) as play:
        answer = await play.do("I say " + "a" * 500 + "b")
        assert answer.ok
        assert any("took too long" in note and "“Slow”" in note for note in answer.notes)


@pytest.mark.spec("S35", "U14")
async def test_cards_are_listed_shown_and_changed_for_the_whole_campaign(tmp_path: Path) -> None:
    path = make(tmp_path, MILL)
    async with playing(path, telling(), answers="yes") as play:
        assert await cards(play) == {
            "Heron": (True, True, ""),
            "Night Watch": (True, False, ""),
            "Bell": (True, False, ""),
            "World": (True, True, ""),
        }
        assert await cards(play, "/card heron") == {"Heron": (True, True, "The heron is the miller's sister.")}
        revision = play.story.revision
        answer = await play.do("/card Heron off")
        assert answer.ok
        assert any("whole campaign" in note for note in answer.notes)
        assert play.story.revision > revision
        assert (await play.do("I look at the heron.")).ok
        assert "sister" not in told(play)
        assert (await play.do("/card Heron on")).ok
        assert (await play.do("/card Heron edit The heron is a heron.")).ok
        assert (await play.do("/undo 2")).ok
        assert (await play.do("I look at the heron.")).ok
        assert "The heron is a heron." in told(play)
        assert (await play.do("/card night delete")).ok
        assert play.sound()
    async with playing(path, telling()) as play:
        assert list(await cards(play)) == ["Heron", "Bell", "World"]
        assert (await cards(play, "/card Heron"))["Heron"][2] == "The heron is a heron."


@pytest.mark.spec("S35")
async def test_a_card_is_deleted_after_a_question_alone(tmp_path: Path) -> None:
    async with playing(make(tmp_path, MILL), telling()) as play:
        assert (await play.do("/card Bell delete")).ok
        assert "Bell" in await cards(play)


@pytest.mark.spec("U14")
@pytest.mark.parametrize(
    ("line", "code"),
    [("/card Owl", "no-such-card"), ("/card Owl off", "no-such-card"), ("/card Heron edit", "bad-value")],
)
async def test_a_card_that_is_not_there(tmp_path: Path, line: str, code: str) -> None:
    async with playing(make(tmp_path, MILL), telling()) as play:
        assert (await play.do(line)).code == code


@pytest.mark.spec("U14")
async def test_a_name_that_may_be_two(tmp_path: Path) -> None:
    two = "".join(f'[[cards]]\nname = "Reeve {n}"\nkeys = ["reeve"]\ntext = "x"\n' for n in "ab")
    async with playing(make(tmp_path, MILL + two), telling()) as play:
        assert (await play.do("/card reeve off")).code == "ambiguous"
        assert (await play.do("/card reeve B off")).ok
        assert (await cards(play))["Reeve b"][0] is False


@pytest.mark.spec("C10", "S35")
async def test_a_constant_card_that_is_switched_off_leaves_the_prefix(tmp_path: Path) -> None:
    async with playing(make(tmp_path, MILL), telling()) as play:
        assert (await play.do("/card World off")).ok
        assert (await play.do("I wait.")).ok
        assert "two moons" not in "".join(m.content for m in play.narrator.requests[-1].messages)


@pytest.mark.spec("T13", "S35")
async def test_a_reader_beside_a_writer_sees_the_changes(tmp_path: Path) -> None:
    path = make(tmp_path, MILL)
    async with playing(path, telling()) as play, playing(path, telling(), read_only=True) as beside:
        assert (await play.do("/card Heron off")).ok
        beside.story.refresh()
        assert (await cards(beside))["Heron"][0] is False
        assert (await beside.do("/card Heron on")).code == "read-only"


@pytest.mark.spec("C26")
def test_what_fired_is_read_back_only_as_far_as_it_matters(tmp_path: Path) -> None:
    story = open_story(make(tmp_path, MILL))
    try:
        lengthen(story, 300)
        plan = turn.plan_continue(story)
        state = story.state()
        read: list[str] = []
        story.store.db.set_trace_callback(read.append)
        triggering.trigger(story, plan, state)
        story.store.db.set_trace_callback(None)
        assert len(read) < 12
    finally:
        story.close()


@pytest.mark.spec("S35")
def test_changes_add_up(tmp_path: Path) -> None:
    story = open_story(make(tmp_path, MILL))
    try:
        story.edit_card(story.card("Bell"), CardEdit(is_enabled=False))
        story.edit_card(story.card("Bell"), CardEdit(text="Cracked."))
        assert sources.card_edits(story.store) == {"Bell": CardEdit(False, "Cracked.")}
        story.edit_card(story.card("Bell"), CardEdit(is_deleted=True))
        assert [card.name for card in sources.definition(story.store).cards] == ["Heron", "Night Watch", "World"]
    finally:
        story.close()


@pytest.mark.spec("X7", "S35")
def test_a_bundle_carries_the_changes(tmp_path: Path) -> None:
    path = make(tmp_path, MILL)
    story = open_story(path)
    story.edit_card(story.card("Bell"), CardEdit(is_enabled=False, text="Cracked."))
    story.edit_card(story.card("Heron"), CardEdit(is_deleted=True))
    story.close()
    (tmp_path / "lore.md").write_text("# Bells\n\nBells answer.\n")
    around = Surroundings(tmp_path / "copies", utc_now, lambda: "id", lambda: 7)
    import_files([tmp_path / "lore.md"], around, as_format="canon", into=path, condition="flags.dark")
    export(path, tmp_path / "first.json", Wish(), clock=utc_now)
    (report,) = import_files([tmp_path / "first.json"], around)
    export(Path(report.campaigns[0]), tmp_path / "second.json", Wish(), clock=utc_now)
    assert (tmp_path / "first.json").read_bytes() == (tmp_path / "second.json").read_bytes()
    copy = open_story(Path(report.campaigns[0]))
    try:
        assert [(card.name, card.is_enabled, card.text) for card in copy.definition.cards][1] == (
            "Bell",
            False,
            "Cracked.",
        )
        assert [row.condition for row in sources.knowledge(copy.store)] == ["flags.dark"]
        assert not sources.has_unindexed_passages(copy.store)
    finally:
        copy.close()
