"""Every await of a turn and every statement of its commit, failing one by one (S12, S13, S46, T2, T14)."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from narrator.core.errors import ContextTooLong, NarrationFailed
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.port import Purpose
from narrator.store.verify import verify_connection
from tests.engine.playing import (
    Pausing,
    drive_turns,
    make,
    numbered,
    playing,
    tell_in_numbers,
)
from tests.store.making import failing

TURNS: dict[str, tuple[list[str], str, str | None]] = {
    # Name: what comes before, the turn, the draft that comes back.
    "do": ([], "I climb the wheel.", "I climb the wheel."),
    "say": (["I wait."], "/say Hello?", "Hello?"),
    "another input where one stands": (["I wait.", "/undo"], "I climb.", "I climb."),
    "continue": (["I wait."], "/continue", None),
    "retry": (["I wait."], "/retry", None),
    "retry with a note": (["I wait."], "/retry darker", None),
    "retell": (["I wait."], "/retell", None),
    "edit an input": (["I wait."], "/edit 2 I run.", "I run."),
    "edit a narration": (["I wait."], "/edit 3 All is still.", "All is still."),
    "fork at an input": (["I wait."], "/fork 2", None),
}


@pytest.mark.spec("S12", "S13", "S46", "T2")
@pytest.mark.parametrize("name", TURNS)
async def test_a_cancellation_at_any_await_changes_nothing_or_comes_too_late(tmp_path: Path, name: str) -> None:
    before_it, turn, input_ = TURNS[name]
    async with playing(make(tmp_path), tell_in_numbers(Pausing())) as play:
        for line in before_it:
            assert (await play.do(line)).ok
        start, count = play.rows(), play.story.row.steps_written
        at = 0
        while True:
            at += 1
            seen = drive_turns(at)
            answer = await play.do(turn)
            assert play.sound()
            if answer.ok:
                assert len(seen) < at
                break
            assert answer.code == "stopped", at
            assert answer.draft == input_, at
            assert play.rows() == start, at
            if input_ is not None and name != "edit a narration":
                assert play.draft() == input_
        assert at > 5, "the turn has awaits to fail at"
        assert play.story.row.steps_written > count
        assert play.draft() is None


@pytest.mark.spec("S12", "S13", "S46")
async def test_a_caller_that_is_cancelled_takes_its_turn_with_it(mill: Path) -> None:
    """The one who awaits ``perform`` may go, at any time: the turn goes with it, or was accepted."""
    async with playing(mill, tell_in_numbers(Pausing())) as play:
        start = play.rows()
        for steps in range(200):
            task = play.begin("I climb.")
            for _ in range(steps):
                await asyncio.sleep(0)
            if task.done():
                break
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not play.session.is_turning
            if play.story.count == 1:
                assert play.rows() == start
            else:
                assert play.story.count == 3
                assert play.draft() is None
                play.story.undo(2)
                start = play.rows()
            assert play.sound()
        assert steps > 20
        assert (await play.do("I climb.")).ok


ERRORS: dict[str, Callable[[], BaseException]] = {
    "unreachable": lambda: NarrationFailed("narrator-unreachable", "Nobody answers."),
    "rate limit": lambda: NarrationFailed("narrator-rate-limited", "Wait a minute."),
    "too long": lambda: ContextTooLong("The window has 2,048 tokens."),
    "a bare OSError": lambda: OSError(104, "Connection reset by peer"),
    "bare JSON": lambda: json.JSONDecodeError("Expecting value", "<html>", 0),
    "bare UTF-8": lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    "a time-out": TimeoutError,
    "a plain mistake": lambda: KeyError("choices"),
}


@pytest.mark.spec("T11", "S13")
@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("purpose", [Purpose.CHECK, Purpose.NARRATE, Purpose.EXTRACT])
async def test_an_error_at_any_word_changes_nothing(mill: Path, kind: str, purpose: Purpose) -> None:
    fake = FakeNarrator()
    tell_in_numbers(fake)
    async with playing(mill, fake) as play:
        await play.do("I wait.")
        start = play.rows()
        for word in range(7):
            fresh = FakeNarrator()
            fresh.answer(purpose, Line("one two three four five six", fail_at=word, error=ERRORS[kind]()))
            tell_in_numbers(fresh)
            play.session.narrator = fresh
            answer = await play.do("I climb.")
            assert not answer.ok
            assert answer.code is not None
            assert answer.code != "stopped"
            assert answer.draft == "I climb."
            assert play.rows() == start
            assert play.draft() == "I climb."
            assert not play.session.is_turning
        play.session.narrator = numbered()
        assert (await play.do("I climb.")).ok
        assert play.sound()


@pytest.mark.spec("S12", "T14")
@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT])
async def test_a_disk_that_fails_at_any_statement_of_a_turn_changes_nothing(mill: Path, code: int) -> None:
    """All of a turn's statements, those that read before and after the commit among them."""
    names = {sqlite3.SQLITE_FULL: "disk-full", sqlite3.SQLITE_IOERR: "io-error", sqlite3.SQLITE_CORRUPT: "damaged"}
    async with playing(mill) as play:
        await play.do("I wait.")
        db = failing(play.story)
        start = play.rows()
        at = 0
        while True:
            at += 1
            play.session.narrator = numbered()
            db.arm(at, code)
            answer = await play.do("I climb.")
            if db.disarm() < at:
                break
            if answer.ok:  # The turn was whole; what failed was upkeep behind it.
                play.story.undo(2)
                start = play.rows()
                continue
            assert answer.code == names[code], at
            assert answer.draft == "I climb."
            assert verify_connection(db).problems == ()
            if play.rows() != start:  # It was accepted, and what came after it failed.
                assert play.story.count == 5
                play.story.undo(2)
                start = play.rows()
        assert answer.ok
        assert at > 40


@pytest.mark.spec("T14")
@pytest.mark.parametrize("line", ["/undo", "/branches", "/save here", "/takes", "/search wheel", "/prune all", "/map"])
async def test_a_disk_that_fails_at_a_verb_is_one_named_error(mill: Path, line: str) -> None:
    async with playing(mill, answers="yes") as play:
        for each in ("I wait.", "/retry", "I climb.", "/undo 2", "/take 1 3"):
            await play.do(each)
        db = failing(play.story)
        db.arm(1)
        answer = await play.do(line)
        db.disarm()
        assert (answer.ok, answer.code) == (False, "io-error")
        assert (await play.do(line)).ok


@pytest.mark.spec("S12", "T14")
async def test_a_disk_that_fills_up_keeps_the_draft_and_the_words(mill: Path) -> None:
    fake = numbered()
    fake.answer(Purpose.NARRATE, "Long. " * 60_000)
    async with playing(mill, fake) as play:
        await play.do("I wait.")
        db = play.story.store.db
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0] + 1}")
        fake.answer(Purpose.NARRATE, "Long. " * 60_000)
        start = play.rows()
        fresh = FakeNarrator({Purpose.NARRATE: "Long. " * 30_000})
        play.session.narrator = fresh
        answer = await play.do("I climb.")
        assert (answer.code, answer.draft) == ("disk-full", "I climb.")
        assert play.rows() == start
        assert play.draft() == "I climb."
        db.execute("PRAGMA max_page_count = 1000000")
        assert (await play.do("/keep")).ok
        assert play.texts()[-1].startswith("Long. Long.")
        assert play.draft() is None
        assert fresh.calls[Purpose.NARRATE] == 1


@pytest.mark.spec("S12")
async def test_a_story_that_moved_under_a_turn_is_stale(mill: Path) -> None:
    fake = numbered()
    gate = asyncio.Event()
    async with playing(mill, fake) as play:
        await play.do("I wait.")
        play.session.narrator = held = FakeNarrator()
        held.answer(Purpose.NARRATE, Line("one two three", stall_at=2, until=gate))
        task = play.begin("I climb.")
        await held.stalled.wait()
        play.story.undo()
        start = play.rows()
        gate.set()
        answer = await play.finish(task, len(play.heard))
        assert not answer.ok
        failed = [event for event in play.heard if getattr(event, "code", None) == "stale"]
        assert [event.draft for event in failed] == ["I climb."]  # type: ignore[union-attr]
        assert play.rows() == start
        assert play.draft() == "I climb."
