"""What goes out fits the window, turn after turn, and holds what the story needs (C1-C8, C18)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from narrator.config import ContextSettings, Settings
from narrator.core.prompt import Message
from narrator.engine.commands import parse_line
from narrator.engine.events import Asked, Failed, Noted
from narrator.engine.session import Session
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.narrators.port import Capabilities, Purpose, Request
from narrator.store import reads
from tests.engine.long_stories import EMPTY, keeps, lengthen, narration, small, text_of
from tests.engine.playing import PLAIN, make, numbered, playing
from tests.fake_server import Exchange, FakeServer, give, refuse, say
from tests.store.making import open_story

FEW_MEMORIES = Settings(context=ContextSettings(memory_every=5000))


# ------------------------------------------------------------------------------------------- what is counted, and how


def fake_with(**abilities: Any) -> FakeNarrator:
    fake = FakeNarrator(capabilities=small(16_384, **abilities))
    fake.answer(Purpose.NARRATE, narration(1, 200))
    fake.answer(Purpose.COMPACT, keeps())
    return fake


def narrated(fake: FakeNarrator) -> list[Request]:
    return [request for request in fake.requests if request.purpose is Purpose.NARRATE]


@pytest.mark.spec("C8", "C18")
async def test_the_boundary_is_exact_and_a_smaller_model_is_measured_anew(tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, "ferry")
    story = open_story(path)
    lengthen(story, 12)
    story.close()
    probe = fake_with()
    async with playing(path, probe) as play:
        await play.do("I go on.")
        await play.do("/undo-turn")
    (request,) = narrated(probe)
    used = probe.count(request.messages) + probe.count([Message("assistant", "")])
    for spare, compactions in ((0, 0), (-1, 1)):
        window = next(
            w for w in range(used, used + 8000) if w - min(512, w // 4) - max(64, -(-w // 100)) >= used + spare
        )
        fake = FakeNarrator(capabilities=small(window))
        fake.answer(Purpose.NARRATE, narration(1, 200))
        fake.answer(Purpose.COMPACT, keeps())
        copy = Path(shutil.copy(path, tmp_path / f"copy{spare}.narrator"))
        async with playing(copy, fake) as play:
            assert (await play.do("I go on.")).ok
            needed = fake.requests[: fake.requests.index(narrated(fake)[0])]
            assert len(needed) >= compactions
            assert bool(needed) == bool(compactions)


@pytest.mark.spec("C2", "C5", "C6", "T11")
@pytest.mark.parametrize(
    ("window", "line", "code", "named"),
    [
        (1_500, "I go on.", "window-too-small", ("1,500", "Requested output 375", "margin 64")),
        (12_000, "x" * 12_000, "dynamic-tail-too-large", ("Largest: input “player” 12,0",)),
        (12_000, "I go on.", "history-entry-too-large", ("the narrator text of #3, 15,0", "takes 15,")),
    ],
)
async def test_what_cannot_fit_is_refused_before_anything_is_asked(
    tmp_path: Path, window: int, line: str, code: str, named: tuple[str, ...]
) -> None:
    path = make(tmp_path, PLAIN, "ferry")
    story = open_story(path)
    lengthen(story, 1, size=15_000 if code == "history-entry-too-large" else 100)
    story.close()
    fake = FakeNarrator(capabilities=small(window))
    async with playing(path, fake) as play:
        before = play.rows()
        answer = await play.do(line)
        assert (answer.ok, answer.code, answer.draft) == (False, code, line)
        (failed,) = answer.of(Failed)
        assert all(each in failed.message for each in named), failed.message
        assert failed.hint
        assert fake.requests == []
        assert play.rows() == before


@pytest.mark.spec("C4")
async def test_measured_counting_rebuilds_and_sends_once_more(tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, "ferry")
    story = open_story(path)
    lengthen(story, 4)
    story.close()
    async with FakeServer() as server:
        too_long = refuse(
            400, {"error": {"message": "maximum context length exceeded", "code": "context_length_exceeded"}}
        )
        server.answer("narrate", say("First.", usage=(500, 5, 0)), too_long, say("Then it fits.", usage=None))
        server.answer("compact", give({**EMPTY, "events": ["They went on."]}))
        narrator = OpenAICompatible(
            "m", base_url=server.base_url, model="fake", context_window=9000, counting="measured", retries=0
        )
        session = await Session.open(path, settings=FEW_MEMORIES, narrator=narrator)
        try:
            assert await session.perform(parse_line("I go on."))
            await session.kept_up()
            lengthen(session.story, 70, first=100, size=300)
            events = session.events()
            ok = await session.perform(parse_line("I go further."))
        finally:
            await session.aclose()
        assert ok, [event async for event in events if isinstance(event, Failed | Noted)]
        first, second, third = (len(request.body) for request in server.asked("narrate"))
        assert third < second
        assert first


@pytest.mark.spec("C4")
async def test_a_server_that_counts_is_asked_where_bytes_do_not_fit(tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, "ferry")
    story = open_story(path)
    lengthen(story, 60)
    story.close()

    async def count(exchange: Exchange) -> None:
        tokens = max(1, len(exchange.request.json["content"].encode()) // 4)
        await refuse(200, {"tokens": list(range(tokens))})(exchange)

    async with FakeServer() as server:
        server.answer("/tokenize", count)
        server.answer("narrate", say("It goes on."))
        server.answer("memory", give({"memory": "They walked."}))
        narrator = OpenAICompatible("m", base_url=server.base_url, model="fake", context_window=16_384, retries=0)
        session = await Session.open(path, settings=Settings(), narrator=narrator)
        try:
            assert await session.perform(parse_line("I go on."))
        finally:
            await session.aclose()
        assert server.asked("compact") == []
        assert "Rain falls on the ferry." in server.asked("narrate")[0].body.decode()


@pytest.mark.spec("C18", "C30")
async def test_a_question_reads_the_latest_nodes_whole_and_the_record_says_from_where(tmp_path: Path) -> None:
    path = make(tmp_path)
    story = open_story(path)
    lengthen(story, 30)
    story.close()
    fake = numbered()
    fake._capabilities = small(16_384)
    fake.answer(Purpose.COMPACT, keeps())
    async with playing(path, fake) as play:
        lengthen(play.story, 8, first=100, size=500)
        assert (await play.do("I go on.")).ok
        record = reads.provenance(play.story.store, play.story.head.id)
        assert record is not None
        for request in fake.requests:
            if request.purpose in (Purpose.CHECK, Purpose.EXTRACT):
                assert "The story so far:" not in text_of(request)
                assert "They went on." not in text_of(request)
                assert fake.count(request.messages) + request.max_output_tokens < 16_384
                first = record.get("read_from", {}).get(request.purpose.value)
                if first is not None:
                    assert play.story.node(first).text in text_of(request)


@pytest.mark.spec("T12")
async def test_every_wait_is_told_with_its_tenths(tmp_path: Path) -> None:
    async with FakeServer() as server:
        busy = refuse(503, {"error": {"message": "busy"}})
        server.answer("check", busy, give({"check": None}))
        server.answer("narrate", busy, say("It goes on."))
        server.answer("extract", busy, give({"changes": []}))
        narrator = OpenAICompatible("m", base_url=server.base_url, model="fake", context_window=32_000, backoff=0.1)
        session = await Session.open(make(tmp_path), settings=Settings(), narrator=narrator)
        events = session.events()
        try:
            assert await session.perform(parse_line("I climb."))
        finally:
            await session.aclose()
        waits = [event.text async for event in events if isinstance(event, Noted) and "Trying again" in event.text]
        assert len(waits) == 3
        assert all("in 0.1 seconds" in wait for wait in waits)


# ----------------------------------------------------------------------------------------------------- a host elsewhere


class Elsewhere(FakeNarrator):
    """A fake that says it is on another machine; it notes whether it was asked what it can do."""

    host = "models.example.org"
    is_loopback = False
    was_asked = False

    async def capabilities(self) -> Capabilities:
        self.was_asked = True
        return await super().capabilities()


@pytest.mark.spec("T16")
async def test_a_host_elsewhere_is_asked_for_once_and_not_spoken_to_before(tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, "ferry")
    fake = Elsewhere()
    async with playing(path, fake) as play:
        for looking in ("/status", "/prompt"):
            assert (await play.do(looking)).ok
        answer = await play.do("I go on.")
        assert (answer.ok, answer.code, answer.draft) == (False, "narrator-refused", "I go on.")
        question = answer.of(Asked)[0]
        assert (question.what, question.default) == ("confirm-host", "no")
        assert question.shows["host"] == "models.example.org"
        assert not fake.was_asked
        assert fake.requests == []
    async with playing(path, Elsewhere(), answers="yes") as play:
        assert (await play.do("I go on.")).of(Asked)
        assert (await play.do("I go on.")).of(Asked) == []
    async with playing(path, Elsewhere()) as play:
        assert (await play.do("I go on.")).ok
    async with playing(path, Elsewhere(), answers="yes", settings=Settings(offline=True)) as play:
        assert (await play.do("I go on.")).code == "offline"


# ------------------------------------------------------------------------------------------------------------- reading


@pytest.mark.spec("C17", "C20")
async def test_what_a_summary_covers_is_not_read_again(tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, "ferry")
    story = open_story(path)
    lengthen(story, 400, size=100)
    story.close()
    fake = fake_with()
    async with playing(
        path, fake, answers="yes", settings=Settings(context=ContextSettings(memory_every=5000))
    ) as play:
        assert (await play.do("I go on.")).ok
        await play.session.kept_up()
        read: list[str] = []
        play.story.store.db.set_trace_callback(read.append)
        assert (await play.do("I go further.")).ok
        play.story.store.db.set_trace_callback(None)
        covered = play.story.node(
            play.story.store.db.execute("SELECT covered_through_node_id FROM context_checkpoints").fetchone()[0]
        )
        ranges = [sql for sql in read if "depth BETWEEN" in sql and "INDEXED BY nodes_coordinate" in sql]
        assert ranges
        firsts = [int(sql.rpartition("BETWEEN ")[2].split(" ")[0]) for sql in ranges]
        assert min(firsts) > covered.depth, sorted(firsts)
        assert covered.depth > 600
