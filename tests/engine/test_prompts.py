"""What a narrator is sent: the right history for every verb, and nothing from anywhere else (S15, S20, S32)."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose, Request
from tests.engine.playing import BRAVER, CLIMB, Play, playing


def teller() -> FakeNarrator:
    """Tells "Telling 1.", "Telling 2." …, checks and extracts."""
    fake = FakeNarrator({Purpose.CHECK: CLIMB, Purpose.EXTRACT: BRAVER})
    fake.answer(Purpose.NARRATE, lambda request: f"Telling {fake.calls[Purpose.NARRATE]}.")
    return fake


def sent(play: Play, purpose: Purpose = Purpose.NARRATE) -> Request:
    """The latest request of a purpose."""
    return [request for request in play.narrator.requests if request.purpose is purpose][-1]


def words(request: Request) -> str:
    return "\n".join(message.content for message in request.messages)


@pytest.mark.spec("S15", "S32")
async def test_a_retry_sees_neither_the_take_it_replaces_nor_what_follows(mill: Path) -> None:
    async with playing(mill, teller()) as play:
        for line in ("I wait.", "I climb.", "I sing."):
            await play.do(line)
        await play.do("/retry 5 darker")
        text = words(sent(play))
        for seen in ("The wheel stands still.", "I wait.", "Telling 1.", "I climb.", "darker"):
            assert seen in text
        for unseen in ("Telling 2.", "I sing.", "Telling 3."):
            assert unseen not in text
        assert sent(play).take == 1
        assert sent(play).scene.ordinal == 1
        await play.do("I dance.")
        assert "darker" not in words(sent(play))


@pytest.mark.spec("S20", "T8")
async def test_a_retell_asks_once_and_shows_the_turn_as_settled(mill: Path) -> None:
    async with playing(mill, teller()) as play:
        await play.do("I wait.")
        await play.do("I climb.")
        before = dict(play.narrator.calls)
        rolled = play.story.store.db.execute("SELECT * FROM checks WHERE node_id = 5").fetchall()
        assert (await play.do("/retell 5")).ok
        assert play.narrator.calls[Purpose.CHECK] == before[Purpose.CHECK]
        assert play.narrator.calls[Purpose.EXTRACT] == before[Purpose.EXTRACT]
        request = sent(play)
        assert request.tools == ()
        assert "Telling 2." not in words(request)
        assert "Telling 1." in words(request)
        told = play.story.head
        copied = play.story.store.db.execute("SELECT * FROM checks WHERE node_id = ?", (told.id,)).fetchall()
        assert [row[1:8] for row in copied] == [row[1:8] for row in rolled]
        assert play.story.state(told) == play.story.state(play.story.node(5))
        assert (told.origin, told.source_id, told.parent_id) == ("retold", 5, 4)


@pytest.mark.spec("S22")
async def test_an_edited_narration_is_worked_out_from_its_own_words(mill: Path) -> None:
    async with playing(mill, teller()) as play:
        await play.do("I wait.")
        await play.do("I climb.")
        assert (await play.do("/edit 5 Snow falls.")).ok
        text = words(sent(play, Purpose.EXTRACT))
        assert "Snow falls." in text
        assert "Telling 2." not in text
        assert play.narrator.calls[Purpose.NARRATE] == 2


@pytest.mark.spec("S32", "S48")
async def test_no_canary_reaches_a_prompt(mill: Path) -> None:
    """From other branches, other takes, below the head, deleted ones: no request of any purpose says the word."""
    async with playing(mill, teller(), answers="yes") as play:
        for line in ("I wait.", "CANARY one.", "/assert CANARY two.", "/remember CANARY three.", "/note CANARY four."):
            assert (await play.do(line)).ok, line
        for line in ("/go 3", "/fork", "I sing."):
            assert (await play.do(line)).ok, line
        await play.do("/edit 4 CANARY five.")
        for line in ("/take 2 4", "/delete-take 3 4"):
            await play.do(line)
        assert "CANARY" not in "".join(play.texts())
        play.narrator.requests.clear()
        lines = ("I dance.", "/retry", "/continue", "/retell", "/undo", "I hum.", "/edit 2 I rest.", "/prompt")
        for line in lines:
            answer = await play.do(line)
            assert answer.ok, (line, answer.code)
            assert "CANARY" not in repr(answer.events)
        assert len(play.narrator.requests) > 12
        for request in play.narrator.requests:
            assert "CANARY" not in words(request)
            assert "CANARY" not in repr(request.scene.state.values)


@pytest.mark.spec("S48")
async def test_an_input_beside_one_that_stands_does_not_see_it(mill: Path) -> None:
    async with playing(mill, teller()) as play:
        await play.do("I wait.")
        await play.do("I climb.")
        await play.do("/undo")
        await play.do("I sing.")
        text = words(sent(play))
        assert "I climb." not in text
        assert text.count("I sing.") == 1
        await play.do("/undo")
        await play.do("/correct player.nerve 9")
        assert (await play.do("/continue")).ok
        text = words(sent(play))
        assert text.count("I sing.") == 1
        assert [node.role for node in play.story.nodes()][-3:] == ["player", "correction", "narrator"]
