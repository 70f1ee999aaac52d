"""The time played: between two things done, capped where nobody was there, kept with the campaign (U13, X7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrator.config import Settings
from narrator.engine.events import StatsShown
from narrator.engine.played import IDLE_LIMIT, time_in_words
from narrator.engine.session import Session
from narrator.exchange.exporting import Wish, export
from narrator.narrators.fake import FakeNarrator
from narrator.store import reads
from tests.engine.playing import Play, numbered
from tests.exchange.bringing import bring
from tests.store.making import still


class Watch:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def begin(path: Path, watch: Watch, *, read_only: bool = False) -> Play:
    fake: FakeNarrator = numbered()
    session = await Session.open(
        path, settings=Settings(), narrator=fake, clock=still, ticks=watch, read_only=read_only
    )
    return Play(session, fake)


def content(path: Path) -> bytes:
    return path.read_bytes()


async def seconds(play: Play) -> float:
    (shown,) = (await play.do("/stats")).of(StatsShown)
    return shown.seconds


@pytest.mark.spec("U13")
async def test_the_time_between_two_things_done_is_counted_as_far_as_somebody_was_there(mill: Path) -> None:
    watch = Watch()
    play = await begin(mill, watch)
    assert await seconds(play) == 0
    watch.now += 20
    await play.do("I wait.")
    watch.now += 30
    assert await seconds(play) == 50
    watch.now += 10 * IDLE_LIMIT
    await play.do("/undo")
    assert await seconds(play) == 50 + IDLE_LIMIT
    watch.now -= 500  # no such clock; if there were one, nothing would be taken away
    assert await seconds(play) == 50 + IDLE_LIMIT
    watch.now += 40  # and then nothing more is done
    await play.aclose()
    play = await begin(mill, watch)
    watch.now += 5
    assert await seconds(play) == 55 + IDLE_LIMIT
    await play.aclose()


@pytest.mark.spec("U13", "S45")
async def test_it_is_written_once_a_minute_and_at_the_close(mill: Path) -> None:
    """So a kill loses a minute of it, and no key waits for a write of its own."""
    watch = Watch()
    play = await begin(mill, watch)
    store = play.story.store
    for _ in range(5):
        watch.now += 11
        await play.do("/undo")  # there is nothing to undo; a refusal is something done
    assert reads.played_seconds(store) == 0
    watch.now += 11
    await play.do("/undo")
    assert reads.played_seconds(store) == 66
    revision = play.story.revision
    watch.now += 3
    await play.do("/takes")
    await play.aclose()
    play = await begin(mill, watch)
    assert reads.played_seconds(play.story.store) == 69
    assert play.story.revision == revision
    await play.aclose()
    before = content(mill)
    play = await begin(mill, watch)
    await play.aclose()
    assert content(mill) == before, "nothing was done, so nothing is written"


@pytest.mark.spec("U13", "T13")
async def test_who_only_reads_counts_for_himself_alone(mill: Path) -> None:
    watch = Watch()
    before = content(mill)
    play = await begin(mill, watch, read_only=True)
    watch.now += 200
    await play.do("/takes")
    assert await seconds(play) == 200
    await play.aclose()
    assert content(mill) == before


@pytest.mark.spec("U13", "X7")
async def test_it_goes_along_with_a_bundle(mill: Path, tmp_path: Path) -> None:
    watch = Watch()
    play = await begin(mill, watch)
    watch.now += 123
    await play.do("I wait.")
    await play.aclose()
    export(mill, tmp_path / "one.json", Wish(), clock=still)
    report = bring(tmp_path / "shelf", tmp_path / "one.json")
    play = await begin(Path(report.campaigns[0]), watch)
    assert await seconds(play) == 123
    await play.aclose()


@pytest.mark.spec("U13")
def test_a_time_is_said_as_people_say_it() -> None:
    said = [time_in_words(each) for each in (0, 1, 59.4, 60, 119, 3540, 3600, 3661, 7325, 360_000)]
    assert said == [
        *("0 seconds", "1 second", "59 seconds", "1 minute", "2 minutes", "59 minutes", "1 hour", "1 hour 1 minute"),
        *("2 hours 2 minutes", "100 hours"),
    ]
