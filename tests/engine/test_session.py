"""The session as a whole: one answer a command, one owner of every task, nothing left open (S31, T13, architecture)."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from narrator.config import Settings
from narrator.core.errors import NarratorError
from narrator.engine.commands import Command, parse_line
from narrator.engine.events import Delta, Done, Failed, HeadMoved, Ready, StepShown
from narrator.engine.feed import Feed
from narrator.engine.handlers import HANDLERS
from narrator.engine.jobs import Lanes
from narrator.engine.session import Session
from narrator.engine.verbs import COMMANDS, Effect
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.port import Purpose
from narrator.store.lock import lock_path
from tests.engine.playing import numbered, playing
from tests.store.making import open_story, still

EVERY = [
    *("I climb.", "/say Hello.", "/story It rains.", "/continue", "/retry", "/retell", "/undo", "/redo", "/undo-turn"),
    *("/edit 2 I run.", "/edit-wording 3 So it was.", "/fork", "/takes", "/take 1", "/go 2", "/back", "/forward"),
    *("/switch from the start", "/save here", "/restore here", "/checkpoints", "/rename-checkpoint here there"),
    *("/delete-checkpoint there", "/branches", "/rename-branch #1 main", "/delete-branch #1", "/pin 1", "/unpin 1"),
    *("/delete-take 1", "/undelete", "/prune all", "/state", "/track on", "/audit player.nerve", "/checks"),
    *("/memories", "/remember It rained.", "/cards", "/note Terse.", "/persona A miller.", "/correct player.nerve 3"),
    *("/assert It rains.", "/retract It rains.", "/search wheel", "/stats", "/map", "/status", "/narrator", "/help"),
    *("/prompt", "/read 3", "/stop", "/keep", "/answer yes", "/go 99", "/take 99", "/switch nowhere", "/restore no"),
]


@pytest.mark.spec("T1", "U16")
@pytest.mark.parametrize("first", [[], ["I wait."], ["I wait.", "/retry", "/undo 2"]])
async def test_every_command_is_answered_once_and_last(mill: Path, first: list[str]) -> None:
    async with playing(mill, answers="yes") as play:
        for line in (*first, *EVERY):
            answer = await play.do(line)
            dones = answer.of(Done)
            assert len(dones) == 1, line
            assert answer.events[-1] is dones[0], line
            assert dones[0].ok == answer.ok
            assert (answer.code is None) == answer.ok, line
            assert answer.code != "internal-error", line
            assert play.sound(), line


@pytest.mark.spec("U16")
def test_every_verb_has_a_handler() -> None:
    assert set(COMMANDS) - set(HANDLERS) == set()


@pytest.mark.spec("S31")
async def test_the_revision_rises_with_every_write_and_move(mill: Path) -> None:
    async with playing(mill, answers="yes") as play:
        for line in (
            "I wait.",
            "/retry",
            "/undo",
            "/redo",
            "/go 1",
            "/back",
            "/save here",
            "/pin 1 3",
            "/fork 1",
            "I run.",
        ):
            before = play.story.revision
            assert (await play.do(line)).ok, line
            assert play.story.revision > before, line
        for line in ("/state", "/branches", "/read 5", "/prompt", "/stats", "/map"):
            before = play.story.revision
            assert (await play.do(line)).ok, line
            assert play.story.revision == before, line


@pytest.mark.spec("T14")
async def test_a_mistake_in_a_verb_is_an_event_and_the_session_goes_on(
    mill: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(session: Session, command: Command) -> None:
        raise ZeroDivisionError("secret words")

    monkeypatch.setitem(HANDLERS, "undo", broken)  # type: ignore[arg-type]
    async with playing(mill) as play:
        await play.do("I wait.")
        answer = await play.do("/undo")
        assert (answer.ok, answer.code) == (False, "internal-error")
        (failed,) = answer.of(Failed)
        assert "secret words" not in failed.message + failed.hint
        assert "ZeroDivisionError" in caplog.text
        assert (await play.do("I climb.")).ok


@pytest.mark.spec("S11", "U9")
async def test_a_greeting_tells_where_the_story_stands(mill: Path) -> None:
    async with playing(mill) as play:
        for _ in range(12):
            await play.do("I wait.")
        await play.do("/undo 3")
        await play.session.keep_draft("I wa")
    async with playing(mill) as play:
        await play.session.greet()
        await play.until(lambda event: isinstance(event, HeadMoved))
        ready = play.heard[0]
        assert isinstance(ready, Ready)
        assert (ready.campaign.title, ready.narrator, ready.draft, ready.read_only) == (
            "The Mill",
            "fake",
            "I wa",
            False,
        )
        steps = [event for event in play.heard if isinstance(event, StepShown)]
        assert [step.position for step in steps] == list(range(3, 23))
        (head,) = [event for event in play.heard if isinstance(event, HeadMoved)]
        assert (head.position, head.redo) == (22, 3)


@pytest.mark.spec("T13")
async def test_a_reader_reads_and_writes_nothing(mill: Path) -> None:
    async with playing(mill) as writer:
        await writer.do("I wait.")
        async with playing(mill, read_only=True) as reader:
            for line in ("/read 9", "/state", "/branches", "/takes", "/search wheel", "/prompt"):
                assert (await reader.do(line)).ok, line
            for verb in COMMANDS.values():
                if verb.effect in (Effect.TURN, Effect.MOVE, Effect.WRITE, Effect.MARK):
                    args = {"text": "x", "name": "x", "old": "x", "new": "x", "path": "player.nerve", "value": 1}
                    await reader.session.perform(Command(verb.name, args))
                    failed = [event for event in reader.heard if isinstance(event, Failed)]
                    await asyncio.sleep(0)
                    assert all(event.code == "read-only" for event in failed), verb.name
            await reader.session.keep_draft("lost")
            assert reader.rows() == writer.rows()
            assert writer.draft() is None
            await writer.do("I climb.")
            reader.story.refresh()
            assert reader.texts() == writer.texts()
            for line in ("/fork 3", "I sing.", "/retry", "I dance."):
                await writer.do(line)
            answer = await reader.do("/read")
            assert [step.text for step in answer.of(StepShown)] == writer.texts()
            assert (await reader.do("/branches")).ok
        assert (await writer.do("I sing.")).ok


@pytest.mark.spec("T13", "T14")
async def test_what_cannot_be_opened_leaves_nothing_open(mill: Path) -> None:
    with pytest.raises(NarratorError) as unknown:
        await Session.open(mill, settings=Settings(), narrator="nobody", clock=still)
    assert unknown.value.code == "no-such-narrator"
    assert not lock_path(mill).exists()
    async with playing(mill):
        with pytest.raises(NarratorError) as locked:
            await Session.open(mill, settings=Settings(), narrator=numbered(), clock=still)
        assert locked.value.code == "locked"
    db = sqlite3.connect(mill)
    db.execute("UPDATE definitions SET source = 'nonsense ['")
    db.commit()
    db.close()
    with pytest.raises(NarratorError) as broken:
        await Session.open(mill, settings=Settings(), narrator=numbered(), clock=still)
    assert broken.value.code == "bad-definition"
    assert sorted(each.name for each in mill.parent.iterdir()) == [mill.name]


@pytest.mark.spec("T1")
async def test_closing_ends_every_task_and_every_subscription(mill: Path) -> None:
    before = asyncio.all_tasks()
    async with playing(mill) as play:
        play.session.narrator = fake = FakeNarrator({Purpose.NARRATE: Line("one two", stall_at=1)})
        task = play.begin("I climb.")
        await fake.stalled.wait()
        another = play.session.events()
        await play.aclose()
        await play.aclose()
        assert [event async for event in another][-1] == Done("do", None, False, None)
        assert await task is False
    assert asyncio.all_tasks() == before
    story = open_story(mill)
    assert story.count == 1
    story.close()


@pytest.mark.spec("T1")
async def test_a_narrator_that_will_not_be_cancelled_holds_the_close_up_for_two_seconds_at_most(mill: Path) -> None:
    class Stubborn(FakeNarrator):
        async def _before(self, number: int, line: Line) -> None:
            self.stalled.set()
            while not done.is_set():
                try:
                    await done.wait()
                except asyncio.CancelledError:
                    continue

    done = asyncio.Event()
    async with playing(mill, Stubborn({Purpose.CHECK: {"check": None}})) as play:
        task = play.begin("I climb.")
        await play.narrator.stalled.wait()
        began = asyncio.get_running_loop().time()
        await play.session.aclose()
        assert asyncio.get_running_loop().time() - began < 3
        done.set()
        await asyncio.wait({task})
    story = open_story(mill)
    assert story.count == 1
    story.close()


@pytest.mark.spec("T3")
async def test_a_slow_listener_gets_the_newest_text_and_not_a_queue_of_words() -> None:
    feed = Feed()
    slow = feed.subscribe()
    for word in ("a", " b", " c"):
        feed.publish(Delta(word))
    feed.publish(Done("do", None, True, None))
    feed.publish(Delta("d"))
    feed.close()
    assert [event async for event in slow] == [Delta("a b c"), Done("do", None, True, None), Delta("d")]


@pytest.mark.spec("T1")
async def test_who_stops_listening_is_not_told_any_more() -> None:
    """Else what nobody fetches would be kept for as long as the session lives."""
    feed = Feed()
    events = feed.subscribe()
    feed.publish(Delta("a"))
    assert await anext(events) == Delta("a")
    await events.aclose()  # type: ignore[attr-defined]
    feed.publish(Delta("b"))
    assert feed._subscriptions == []
    feed.close()


@pytest.mark.spec("T1")
async def test_two_verbs_at_once_are_done_one_after_the_other(mill: Path) -> None:
    async with playing(mill) as play:
        for _ in range(3):
            await play.do("I wait.")
        results = await asyncio.gather(*(play.session.perform(parse_line("/undo")) for _ in range(4)))
        assert results == [True] * 4
        assert play.story.count == 3
        told = await asyncio.gather(*(play.session.perform(parse_line("I climb.")) for _ in range(4)))
        assert sorted(told) == [False, False, False, True]
        codes = [event.code for event in play.heard if isinstance(event, Failed)]
        assert codes == ["busy"] * 3
        assert play.sound()


@pytest.mark.spec("T1")
async def test_upkeep_that_was_cancelled_starts_again_also_while_it_still_closes_up() -> None:
    """A turn may be over before the cancelled request has let its connection go."""
    lanes = Lanes(on_failure=lambda error: None)
    closing, told, at_work = asyncio.Event(), asyncio.Event(), asyncio.Event()
    begun: list[int] = []

    async def step() -> bool:
        begun.append(len(begun))
        at_work.set()
        if len(begun) > 1:
            told.set()
            return False
        try:
            await asyncio.Event().wait()
        finally:
            await closing.wait()
        return True

    async def turn() -> None:
        await asyncio.sleep(0)

    lanes.keep_up(step)
    await asyncio.sleep(0)
    assert not begun, "what was told goes out first"
    async with asyncio.timeout(5):
        await at_work.wait()
    await lanes.begin_turn(turn())
    lanes.keep_up(step)
    await asyncio.sleep(0)
    assert begun == [0], "one piece at a time"
    closing.set()
    async with asyncio.timeout(5):
        await told.wait()
    await lanes.aclose()
    assert begun == [0, 1]
