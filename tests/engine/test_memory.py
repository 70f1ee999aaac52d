"""Memories: made once for a block of the path, found along all of it, read by narration alone (C23-C25, C30)."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from narrator.config import ContextSettings, Settings
from narrator.core.errors import NarrationFailed
from narrator.engine.events import MemoriesListed
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose, Request
from narrator.narrators.scripted import ScriptedNarrator
from narrator.store import commit
from tests.engine.long_stories import keeps, lengthen, narration, small, text_of
from tests.engine.playing import PLAIN, Play, make, playing
from tests.store.making import open_story

NARROW = Settings(context=ContextSettings(memory_every=6, memories_in_prompt=3))


def remembering(window: int = 1_000_000) -> FakeNarrator:
    """A fake whose memories say which narrations they tell of."""
    fake = FakeNarrator(capabilities=small(window))
    count = itertools.count(10_000)
    fake.answer(Purpose.NARRATE, lambda request: narration(next(count), 200))
    fake.answer(Purpose.COMPACT, keeps())

    def remember(request: Request) -> str:
        told = [line for line in text_of(request).split() if line.rstrip(".").isdigit()]
        return json.dumps({"memory": f"They passed {told[0] if told else 'nothing'}"})

    fake.answer(Purpose.MEMORY, remember)
    return fake


def memories(play: Play) -> list[tuple[int, int | None, str]]:
    """(depth of the last node, first depth, text) of all generated memories."""
    sql = (
        "SELECT n.depth, m.first_depth, m.text FROM memories m JOIN nodes n ON n.id = m.node_id"
        " WHERE m.source = 'generated' ORDER BY m.id"
    )
    return list(play.story.store.db.execute(sql))


async def turns(play: Play, count: int) -> None:
    for _ in range(count):
        assert (await play.do(f"I walk on from {play.story.count}, said twice {play.story.count}.")).ok
        await play.session.kept_up()


def told(fake: FakeNarrator) -> str:
    """The tail of the latest narration's request: its last message."""
    return [request for request in fake.requests if request.purpose is Purpose.NARRATE][-1].messages[-1].content


@pytest.mark.spec("C23")
async def test_every_six_nodes_become_a_memory_once_something_is_below_them(tmp_path: Path) -> None:
    fake = remembering()
    async with playing(make(tmp_path, PLAIN, "ferry"), fake, settings=NARROW) as play:
        await turns(play, 2)
        assert memories(play) == []
        await turns(play, 1)
        assert [row[:2] for row in memories(play)] == [(6, 1)]
        await turns(play, 6)
        assert [row[:2] for row in memories(play)] == [(6, 1), (12, 7), (18, 13)]
        block = [request for request in fake.requests if request.purpose is Purpose.MEMORY][1]
        for node in play.story.nodes(7, 12):
            assert node.text in text_of(block)
        assert play.story.nodes(6, 6)[0].text not in text_of(block)
        assert play.story.nodes(13, 13)[0].text not in text_of(block)


@pytest.mark.spec("C23", "S33")
async def test_six_retries_and_then_one_chosen_make_one_memory(tmp_path: Path) -> None:
    fake = remembering()
    settings = Settings(context=ContextSettings(memory_every=5))
    async with playing(make(tmp_path, PLAIN, "ferry"), fake, settings=settings) as play:
        await turns(play, 2)
        for _ in range(6):
            assert (await play.do("/retry")).ok
            await play.session.kept_up()
        assert memories(play) == []
        chosen = play.story.head.id
        await turns(play, 1)
        assert [row[:2] for row in memories(play)] == [(5, 1)]
        assert fake.calls[Purpose.MEMORY] == 1
        assert play.story.store.db.execute("SELECT node_id FROM memories").fetchone()[0] == chosen


@pytest.mark.spec("C23", "S33", "S32")
async def test_a_fork_in_mid_block_tells_no_block_twice_and_loses_none(tmp_path: Path) -> None:
    fake = remembering()
    async with playing(make(tmp_path, PLAIN, "ferry"), fake, settings=NARROW) as play:
        await turns(play, 7)
        fork = play.story.nodes(9, 9)[0]
        await play.do({"command": "go", "step": {"id": fork.id}})
        await turns(play, 3)
        assert [row[:2] for row in memories(play)] == [(6, 1), (12, 7), (12, 7)]
        assert fake.calls[Purpose.MEMORY] == 3
        here = (await play.do("/memories")).of(MemoriesListed)[0].memories
        assert len(here) == 2
        await play.do("/back")
        assert len((await play.do("/memories")).of(MemoriesListed)[0].memories) == 2
        await turns(play, 1)
        assert fake.calls[Purpose.MEMORY] == 3


@pytest.mark.spec("C24", "S33")
async def test_retrieval_sees_the_whole_path_and_no_other(tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, "ferry")
    story = open_story(path)
    ids = lengthen(story, 60)
    commit.remember(
        story.store, ids[3], "Ottoline hid the brass key below the ferry.", source="generated", first_depth=1
    )
    for at in range(9, 90, 6):
        commit.remember(story.store, ids[at], f"They walked past stone {at}.", source="generated", first_depth=at - 4)
    fork = story.node(ids[49])
    story.go(fork)
    other = lengthen(story, 60, first=500)
    commit.remember(story.store, other[5], "Ottoline drowned with the brass key.", source="generated", first_depth=52)
    story.go(story.node(ids[-1]))
    story.close()
    fake = remembering(16_384)
    async with playing(path, fake, settings=NARROW) as play:
        assert (await play.do("I look for the brass key of Ottoline.")).ok
        assert "Remembered from earlier in the story: Ottoline hid the brass key below the ferry." in told(fake)
        assert "drowned" not in told(fake)
        assert told(fake).count("Remembered from earlier") <= 3
        await play.do({"command": "go", "step": {"id": other[-1]}})
        await play.do("I look for the brass key of Ottoline.")
        assert "drowned with the brass key" in told(fake)


@pytest.mark.spec("C24")
async def test_what_the_raw_tail_shows_is_not_told_twice(tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, "ferry")
    story = open_story(path)
    ids = lengthen(story, 10)
    commit.remember(story.store, ids[5], "They met Ottoline.", source="generated", first_depth=1)
    commit.remember(story.store, ids[5], "Ottoline limps.")
    story.close()
    fake = remembering()
    async with playing(path, fake, settings=NARROW) as play:
        await play.do("I ask for Ottoline.")
        assert "They met Ottoline." not in told(fake)
        assert "Ottoline limps." in told(fake)


@pytest.mark.spec("C24", "C25")
async def test_pinned_memories_come_first_and_forgotten_ones_never(tmp_path: Path) -> None:
    fake = remembering()
    async with playing(make(tmp_path, PLAIN, "ferry"), fake, settings=NARROW) as play:
        await play.do("/remember Ottoline keeps the ferry.")
        await play.do("/remember The tide turns at dusk.")
        await play.do("/remember Ottoline owes a debt.")
        await play.do("/pin-memory 2")
        await play.do("/forget-memory 3")
        await play.do("I ask Ottoline.")
        tail = told(fake)
        assert tail.index("The tide turns at dusk.") < tail.index("Ottoline keeps the ferry.")
        assert "debt" not in tail
        listed = (await play.do("/memories")).of(MemoriesListed)[0].memories
        assert [each.id for each in listed] == [1, 2]
        await play.do("/edit-memory 1 Magda keeps the ferry.")
        await play.do("I ask Magda.")
        assert "Magda keeps the ferry." in told(fake)


@pytest.mark.spec("C24")
async def test_pinned_memories_take_their_places_from_those_that_are_found(tmp_path: Path) -> None:
    async with playing(make(tmp_path, PLAIN, "ferry"), remembering(), settings=NARROW) as play:
        for number in range(5):
            await play.do(f"/remember Ottoline keeps ferry number {number}.")
        for pinned, found in ((1, 2), (2, 1), (3, 0), (4, 0)):
            await play.do(f"/pin-memory {pinned}")
            assert (await play.do("I ask Ottoline.")).ok
            tail = told(play.narrator)
            assert tail.count("Remembered from earlier") == pinned + found
            await play.do("/undo-turn")


@pytest.mark.spec("C24", "C32")
@pytest.mark.parametrize(
    ("memory", "words"),
    [
        ("她把铜钥匙藏在渡船下面。", "我找钥匙"),
        ("彼女は渡し舟の下に鍵を隠した。", "鍵はどこ"),
        ("เธอซ่อนกุญแจไว้ใต้เรือ", "กุญแจอยู่ไหน"),
        ("그녀는 열쇠를 배 밑에 숨겼다.", "열쇠를 찾는다"),
        ("Ödön a kompon hagyta a kulcsát.", "Megkeresem ODON kulcsat"),
        ("Она спрятала ключи под паромом.", "Ищу КЛЮЧИ"),
    ],
)
async def test_memories_are_found_in_every_script(tmp_path: Path, memory: str, words: str) -> None:
    fake = remembering()
    async with playing(make(tmp_path, PLAIN, "ferry"), fake, settings=NARROW) as play:
        await play.do(f"/remember {memory}")
        await play.do(words)
        assert memory in told(fake)
        await play.do("I sing.")
        assert memory not in told(fake)


@pytest.mark.spec("C30")
async def test_a_memory_is_made_from_its_nodes_alone_and_read_by_narration_alone(tmp_path: Path) -> None:
    from tests.engine.playing import DEFINITION

    fake = remembering()
    fake.answer(Purpose.CHECK, {"check": None})
    async with playing(make(tmp_path), fake, settings=NARROW) as play:
        assert "skills" in DEFINITION
        await play.do("/remember Canary sings for Ottoline.")
        await turns(play, 4)
        fake.requests.clear()
        await play.do("I ask Ottoline.")
        await play.do("/suggest")
        seen = {request.purpose: "Canary" in text_of(request) for request in fake.requests}
        assert seen == {
            Purpose.CHECK: False,
            Purpose.NARRATE: True,
            Purpose.EXTRACT: False,
            Purpose.SUGGEST: False,
        } | {purpose: False for purpose in seen if purpose is Purpose.MEMORY}


@pytest.mark.spec("T1", "C23")
async def test_a_memory_that_cannot_be_read_is_said_once_and_left(tmp_path: Path) -> None:
    fake = remembering()
    fake._answers[Purpose.MEMORY].clear()
    fake.answer(Purpose.MEMORY, "nothing of use")
    async with playing(make(tmp_path, PLAIN, "ferry"), fake, settings=NARROW) as play:
        await turns(play, 5)
        assert memories(play) == []
        assert fake.calls[Purpose.MEMORY] == 1
    fake = remembering()
    fake._answers[Purpose.MEMORY].clear()
    fake.answer(Purpose.MEMORY, NarrationFailed("narrator-timeout", "Nothing came."), {"memory": "They went."})
    async with playing(tmp_path / "ferry.narrator", fake, settings=NARROW) as play:
        await turns(play, 2)
        assert [row[:2] for row in memories(play)] == [(6, 1), (12, 7)] or len(memories(play)) == 2


@pytest.mark.spec("C23", "T18")
async def test_the_scripted_narrator_makes_none(tmp_path: Path) -> None:
    from narrator.engine.commands import parse_line
    from narrator.engine.session import Session

    session = await Session.open(make(tmp_path, PLAIN, "ferry"), settings=NARROW, narrator=ScriptedNarrator(0))
    for _ in range(5):
        assert await session.perform(parse_line("I look around."))
    await session.kept_up()
    assert session.story.memories() == []
    await session.aclose()


@pytest.mark.spec("C23")
async def test_a_changed_size_of_blocks_tells_nothing_twice(tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, "ferry")
    async with playing(path, remembering(), settings=NARROW) as play:
        await turns(play, 6)
    settings = Settings(context=ContextSettings(memory_every=4))
    async with playing(path, remembering(), settings=settings) as play:
        await turns(play, 2)
        told_depths = [depth for last, first, _ in memories(play) for depth in range(first or 0, last + 1)]
        assert sorted(told_depths) == list(range(1, 17))
