"""Stop and keep, at every stage of a turn (T2, T3, S13)."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from narrator.engine.events import Done, Failed, Noted, StepShown
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.narrators.port import Purpose
from narrator.store import reads, state_reads
from tests.engine.playing import BRAVER, CLIMB, Play, numbered, playing, tell_in_numbers
from tests.fake_server import FakeServer, refuse

WORDS = 60
SECONDS = 0.1


def stalling(purpose: Purpose, at: int, *, words: int = WORDS) -> FakeNarrator:
    """A fake that stalls for ever before a word of its next answer for a purpose; then it tells as usual."""
    text = " ".join(f"w{n}" for n in range(1, words + 1))
    fake = FakeNarrator()
    fake.answer(purpose, Line(text, stall_at=at))
    for other, answer in ((Purpose.CHECK, CLIMB), (Purpose.EXTRACT, BRAVER), (Purpose.NARRATE, text)):
        fake.answer(other, answer)
    return fake


async def stall_and_stop(play: Play, purpose: Purpose, at: int, verb: str = "/stop") -> tuple[float, list[object]]:
    """One input whose answer stalls, stopped: seconds from the stop to its answer, and the events."""
    play.session.narrator = fake = stalling(purpose, at)
    heard = len(play.heard)
    task = play.begin("I climb.")
    await fake.stalled.wait()
    began = time.perf_counter()
    await play.do(verb)
    took = time.perf_counter() - began
    assert task.done()
    assert fake.closed >= 1
    return took, list(play.heard[heard:])


@pytest.mark.spec("T3", "S13", "T2")
@pytest.mark.parametrize(
    ("purpose", "at"),
    [
        (Purpose.CHECK, 0),
        (Purpose.CHECK, 1),
        (Purpose.NARRATE, 0),
        (Purpose.NARRATE, 1),
        (Purpose.NARRATE, 5),
        (Purpose.NARRATE, 50),
        (Purpose.NARRATE, WORDS),
        (Purpose.EXTRACT, 0),
        (Purpose.EXTRACT, 1),
    ],
)
async def test_a_stop_leaves_the_story_row_for_row(mill: Path, purpose: Purpose, at: int) -> None:
    async with playing(mill) as play:
        await play.do("I wait.")
        start = play.rows()
        for _ in range(20):
            _, events = await stall_and_stop(play, purpose, at)
            stopped = [event for event in events if isinstance(event, Failed)]
            assert [(event.code, event.draft) for event in stopped] == [("stopped", "I climb.")]
            dones = [(event.command, event.ok) for event in events if isinstance(event, Done)]
            assert dones == [("do", False), ("stop", True)]
            assert play.rows() == start
            assert play.draft() == "I climb."
            assert not play.session.is_turning
        play.session.narrator = numbered()
        assert (await play.do("I climb.")).ok
        assert play.draft() is None
        assert play.sound()


@pytest.mark.serial
@pytest.mark.spec("T3")
@pytest.mark.parametrize(("purpose", "at"), [(Purpose.CHECK, 0), (Purpose.NARRATE, 50), (Purpose.EXTRACT, 1)])
async def test_a_stop_is_answered_within_a_tenth_of_a_second(mill: Path, purpose: Purpose, at: int) -> None:
    async with playing(mill) as play:
        times = sorted([(await stall_and_stop(play, purpose, at))[0] for _ in range(20)])
        assert times[len(times) // 2] < SECONDS


@pytest.mark.spec("T3")
@pytest.mark.parametrize(
    ("purpose", "at", "kept"),
    [(Purpose.NARRATE, 1, 1), (Purpose.NARRATE, 50, 50), (Purpose.NARRATE, WORDS, WORDS), (Purpose.EXTRACT, 0, WORDS)],
)
async def test_keep_after_a_stop_takes_what_was_told(mill: Path, purpose: Purpose, at: int, kept: int) -> None:
    async with playing(mill) as play:
        await stall_and_stop(play, purpose, at)
        before = play.session.narrator.calls[Purpose.NARRATE]  # type: ignore[attr-defined]
        answer = await play.do("/keep")
        assert answer.ok
        assert [step.role for step in answer.of(StepShown)] == ["player", "narrator"]
        assert play.texts() == ["The wheel stands still.", "I climb.", " ".join(f"w{n}" for n in range(1, kept + 1))]
        assert play.story.state().values["player.nerve"] == 6
        assert [check.skill for _, check in state_reads.checks_on(play.story.store, play.story.end)] == ["climb"]
        record = reads.provenance(play.story.store, play.story.head.id)
        assert record is not None
        assert record["finish"] == "kept"
        assert play.draft() is None
        assert play.session.narrator.calls[Purpose.NARRATE] == before  # type: ignore[attr-defined]
        again = await play.do("/keep")
        assert again.code == "nothing-to-keep"
        assert play.sound()


@pytest.mark.spec("T3")
async def test_keep_during_the_stream_stops_first(mill: Path) -> None:
    async with playing(mill) as play:
        _, events = await stall_and_stop(play, Purpose.NARRATE, 5, "/keep")
        assert [event.code for event in events if isinstance(event, Failed)] == ["stopped"]
        assert [(e.command, e.ok) for e in events if isinstance(e, Done)] == [("do", False), ("keep", True)]
        assert play.texts()[1:] == ["I climb.", "w1 w2 w3 w4 w5"]
        assert play.draft() is None


@pytest.mark.spec("T3")
@pytest.mark.parametrize(("purpose", "at"), [(Purpose.CHECK, 0), (Purpose.CHECK, 1), (Purpose.NARRATE, 0)])
async def test_before_the_first_word_there_is_nothing_to_keep(mill: Path, purpose: Purpose, at: int) -> None:
    async with playing(mill) as play:
        start = play.rows()
        _, events = await stall_and_stop(play, purpose, at, "/keep")
        assert [e.code for e in events if isinstance(e, Failed)] == ["stopped", "nothing-to-keep"]
        assert [(e.command, e.ok) for e in events if isinstance(e, Done)] == [("do", False), ("keep", False)]
        assert play.rows() == start
        assert (await play.do("/keep")).code == "nothing-to-keep"


@pytest.mark.spec("T3")
@pytest.mark.parametrize("verb", ["/undo", "I wait.", "/correct player.nerve 9", "/go 1", "/retry"])
async def test_after_another_verb_there_is_nothing_to_keep(mill: Path, verb: str) -> None:
    async with playing(mill) as play:
        await play.do("I wait.")
        await stall_and_stop(play, Purpose.NARRATE, 5)
        play.session.narrator = numbered()
        await play.do(verb)
        start = play.rows()
        assert (await play.do("/keep")).code == "nothing-to-keep"
        assert play.rows() == start


@pytest.mark.spec("T3")
@pytest.mark.parametrize("verb", ["/branches", "/state", "/read 3", "/status", "/save here", "/help"])
async def test_a_look_around_leaves_the_partial_text(mill: Path, verb: str) -> None:
    async with playing(mill) as play:
        await stall_and_stop(play, Purpose.NARRATE, 5)
        assert (await play.do(verb)).ok
        assert (await play.do("/keep")).ok
        assert play.texts()[-1] == "w1 w2 w3 w4 w5"


@pytest.mark.spec("T3")
async def test_with_nothing_told_nothing_stops_and_nothing_is_kept(mill: Path) -> None:
    async with playing(mill) as play:
        assert (await play.do("/stop")).code == "nothing-to-stop"
        assert (await play.do("/keep")).code == "nothing-to-keep"
        await play.do("I wait.")
        assert (await play.do("/stop")).code == "nothing-to-stop"
        assert (await play.do("/keep")).code == "nothing-to-keep"


@pytest.mark.spec("T3", "T11")
async def test_what_a_failed_narration_told_may_be_kept(mill: Path) -> None:
    fake = FakeNarrator({Purpose.NARRATE: Line("one two three", fail_at=2, error=OSError("gone"))})
    async with playing(mill, fake) as play:
        assert not (await play.do("I climb.")).ok
        assert (await play.do("/keep")).ok
        assert play.texts()[1:] == ["I climb.", "one two"]


@pytest.mark.spec("T3")
async def test_a_keep_can_be_stopped_and_done_again(mill: Path) -> None:
    """Its extraction is a request like any other; the verb that comes meanwhile is busy, the stop waits for its end."""
    async with playing(mill) as play:
        await stall_and_stop(play, Purpose.NARRATE, 5)
        play.session.narrator = fake = stalling(Purpose.EXTRACT, 0)
        start, heard = play.rows(), len(play.heard)
        task = play.begin("/keep")
        await fake.stalled.wait()
        assert (await play.do("/undo")).code == "busy"
        assert (await play.do("I wait.")).code == "busy"
        await play.do("/stop")
        assert task.done()
        dones = [(e.command, e.ok) for e in play.heard[heard:] if isinstance(e, Done)]
        assert dones[-2:] == [("keep", False), ("stop", True)]
        assert play.rows() == start
        assert play.draft() == "I climb."
        play.session.narrator = numbered()
        assert (await play.do("/keep")).ok
        assert play.texts()[1:] == ["I climb.", "w1 w2 w3 w4 w5"]


@pytest.mark.spec("S15", "T3")
@pytest.mark.parametrize("done_before", [0, 1, 2, 4])
async def test_a_retry_many_times_keeps_what_was_accepted(mill: Path, done_before: int) -> None:
    """Five are asked for; it is stopped while one is told."""
    async with playing(mill) as play:
        await play.do("I wait.")
        play.session.narrator = fake = FakeNarrator()
        lines = [Line(f"Take {n}.") for n in range(done_before)]
        fake.answer(Purpose.NARRATE, *lines, Line("w1 w2 w3", stall_at=2), "Too far.")
        fake.answer(Purpose.EXTRACT, BRAVER)
        task = play.begin("/retry x5")
        await fake.stalled.wait()
        held = play.rows()
        await play.do("/stop")
        assert await task is False
        assert play.rows() == held
        texts = [play.story.node(i).text for i in reads.siblings(play.story.store, 2)]
        assert texts[1:] == [f"Take {n}." for n in range(done_before)]
        assert play.story.head.text == (texts[-1])
        assert (await play.do("/keep")).ok
        assert play.texts()[-1] == "w1 w2"
        assert play.sound()


@pytest.mark.spec("S15", "T3")
async def test_between_two_takes_a_retry_is_busy_and_can_be_stopped(mill: Path) -> None:
    """The instant after one take was accepted, before the next begins, belongs to the retry as well."""
    async with playing(mill) as play:
        await play.do("I wait.")
        play.session.narrator = tell_in_numbers(FakeNarrator())
        task = play.begin("/retry x3")
        codes: list[str | None] = []
        siblings: list[int] = []
        while not task.done():
            if not play.session.is_turning and len(reads.siblings(play.story.store, 2)) > 1:
                siblings = reads.siblings(play.story.store, 2)
                codes.append((await play.do("/undo")).code)
                await play.do("/stop")
                break
            await asyncio.sleep(0)
        assert codes == ["busy"]
        assert await task is False
        assert len(siblings) < 4
        assert reads.siblings(play.story.store, 2) == siblings
        assert play.sound()


@pytest.mark.spec("T3", "T1")
@pytest.mark.parametrize("yields", range(12))
async def test_a_stop_at_any_instant_is_before_the_commit_or_after_it(mill: Path, yields: int) -> None:
    """Where the turn was faster there was nothing to stop, and it was accepted; never both, never neither."""
    async with playing(mill) as play:
        task = play.begin("I climb.")
        for _ in range(yields):
            await asyncio.sleep(0)
        stop = await play.do("/stop")
        is_told = await task
        assert is_told == (play.story.count == 3)
        assert stop.ok == (not is_told)
        if not stop.ok:
            assert stop.code == "nothing-to-stop"
        assert (play.draft() is None) == is_told or yields == 0


@pytest.mark.spec("T3")
async def test_closing_stops_the_turn_and_keeps_the_draft(mill: Path) -> None:
    async with playing(mill) as play:
        await play.do("I wait.")
        play.session.narrator = fake = stalling(Purpose.NARRATE, 5)
        task = play.begin("I climb.")
        await fake.stalled.wait()
        began = time.perf_counter()
        await play.aclose()
        assert time.perf_counter() - began < 1
        assert await task is False
        ends = [event for event in play.heard if isinstance(event, Done | Failed)][-2:]
        assert [(getattr(e, "code", None), getattr(e, "draft", None)) for e in ends] == [
            ("stopped", "I climb."),
            (None, None),
        ]
        await play.session.aclose()
    async with playing(mill) as play:
        assert play.draft() == "I climb."
        assert play.story.count == 3
        assert play.sound()
    assert sorted(each.name for each in mill.parent.iterdir()) == ["mill.narrator"]


@pytest.mark.spec("T1")
@pytest.mark.parametrize(
    "verb", ["/undo", "I wait.", "/save here", "/correct player.nerve 2", "/track on", "/prune all"]
)
async def test_a_verb_that_writes_is_busy_during_a_turn_and_a_look_is_not(mill: Path, verb: str) -> None:
    async with playing(mill) as play:
        await play.do("I wait.")
        play.session.narrator = fake = stalling(Purpose.NARRATE, 5)
        task = play.begin("I climb.")
        await fake.stalled.wait()
        start = play.rows()
        busy = await play.do(verb)
        assert (busy.code, busy.draft) == ("busy", None if verb.startswith("/") else verb)
        assert play.rows() == start
        for look in ("/branches", "/state", "/read 2", "/takes", "/map", "/search wheel", "/prompt", "/stats"):
            assert (await play.do(look)).ok, look
        assert not task.done()
        assert (await play.do("/stop")).ok
        assert not any(isinstance(event, Noted) and "wrong" in event.text for event in play.heard)


@pytest.mark.spec("U9", "S45")
async def test_what_is_composed_during_a_turn_does_not_take_the_place_of_what_was_sent(mill: Path) -> None:
    async with playing(mill) as play:
        play.session.narrator = fake = stalling(Purpose.NARRATE, 5)
        task = play.begin("I climb.")
        await fake.stalled.wait()
        await play.session.keep_draft("I climb. Then I rest.")
        assert play.draft() == "I climb.\nI climb. Then I rest."
        await play.do("/stop")
        assert await task is False
        await play.session.keep_draft("I climb. Then I rest.")
        assert play.draft() == "I climb. Then I rest."
        play.session.narrator = numbered()
        assert (await play.do("I climb.")).ok
        assert play.draft() is None
        await play.session.keep_draft("I wa")
        assert (await play.do("/retry")).ok
        assert play.draft() == "I wa", "a retry takes nothing out of the composer"


@pytest.mark.spec("T3", "T12")
async def test_a_wait_before_another_attempt_is_seen_and_stopped(ferry: Path) -> None:
    """Over real HTTP: the server asks to wait for twenty seconds, and nobody has to."""
    async with FakeServer({"narrate": refuse(429, headers={"Retry-After": "20"})}) as server:
        teller = OpenAICompatible("mine", base_url=server.base_url, model="m", context_window=50_000)
        async with playing(ferry, teller) as play:  # type: ignore[arg-type]
            start = len(play.heard)
            turn = play.begin("I wait for the ferry.")
            await play.until(
                lambda event: isinstance(event, Noted) and event.text.startswith("Trying again in 20.0 seconds"), start
            )
            assert (await play.do("/stop")).ok
            answer = await play.finish(turn, start)
            assert (answer.ok, answer.code, answer.draft) == (False, "stopped", "I wait for the ferry.")
            assert play.draft() == "I wait for the ferry."
            assert play.story.count == 1
            assert len(server.asked("narrate")) == 1
