"""What hangs from one take never shows on its sibling, by any route (S32, S33, W3), and moving asks nobody (S16)."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrator.config import ContextSettings, Settings
from narrator.core.errors import NarrationFailed
from narrator.engine.events import AuditListed, ChecksMade, MemoriesListed, PromptShown, StateShown
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose
from narrator.store import fold, reads
from narrator.store.rows import comments_of
from tests.engine.playing import CLIMB, numbered, playing, tell_in_numbers


@pytest.mark.spec("S32", "S33", "W3", "W8", "U27")
async def test_q_memory_check_snapshot_and_note_of_a_take_stay_there(mill: Path) -> None:
    """Take 1 of step 33 has a memory, a check, a change, a private note, a correction below it and a snapshot; take 2
    has none of them: not in any list, prompt, state or search."""
    fake = FakeNarrator()
    fake.answer(Purpose.CHECK, {"check": None})
    fake.answer(Purpose.NARRATE, lambda request: "So it was.")
    fake.answer(Purpose.EXTRACT, {"changes": []})
    async with playing(mill, fake, answers="yes") as play:
        for number in range(15):
            assert (await play.do(f"I wait, {number}.")).ok
        assert play.story.count == 31
        play.session.narrator = wild = FakeNarrator()
        wild.answer(Purpose.CHECK, CLIMB)
        wild.answer(Purpose.NARRATE, "You climb, and the wheelwright's daughter watches.")
        wild.answer(Purpose.EXTRACT, {"changes": [{"op": "add", "path": "player.nerve", "value": 7, "why": "so"}]})
        await play.do("I climb.")
        first = play.story.head
        assert play.story.count == 33
        await play.do("/remember Quicklime was in the bucket.")
        await play.do("* Xylophone: look this up.")
        await play.do("/correct player.nerve 400 because zinc")
        play.session.narrator = fake
        for number in range(16):
            await play.do(f"I go on, {number}.")
        snapshots = [row[0] for row in play.story.store.db.execute("SELECT node_id FROM snapshots")]
        on_first = [each for each in snapshots if play.story.node(each).depth > 33]
        assert on_first, "a snapshot lies below the take"

        assert (await play.do("/retry 33")).ok
        second = play.story.head
        assert second.parent_id == first.parent_id
        assert (await play.do("I look about.")).ok
        words = ("quicklime", "wheelwright", "xylophone", "zinc")
        heard = []
        for line in ("/memories", "/checks", "/state", "/audit player.nerve", "/prompt", "/read", "/takes last"):
            heard += (await play.do(line)).events
        told = str(heard).casefold()
        assert [word for word in words if word in told] == []
        for kind in (MemoriesListed, ChecksMade, StateShown, AuditListed, PromptShown):
            assert any(isinstance(event, kind) for event in heard), kind
        for word in words:
            assert play.story.search(word) == []
        assert play.story.state().values["player.nerve"] == 5
        path = [node.id for node in play.story.nodes()]
        assert list(fold.fold_from_nothing(play.story.store.db, path))[-1] == (path[-1], play.story.state())
        assert play.story.memories() == []
        assert not comments_of(play.story.store, [node.id for node in play.story.nodes()])

        assert (await play.do("/take 1 33")).ok
        assert play.story.state().values["player.nerve"] == 400
        assert [row.text for row in play.story.memories()] == ["Quicklime was in the bucket."]
        assert comments_of(play.story.store, [first.id]) == {first.id: ["Xylophone: look this up."]}
        assert play.sound()


@pytest.mark.spec("S16", "S22", "T1")
async def test_h_moves_marks_and_a_wording_ask_nobody_whatever_is_due(mill: Path) -> None:
    """Memories are due every two steps, and those of the line left were cancelled before they were made."""
    settings = Settings(context=ContextSettings(memory_every=2))
    fake = tell_in_numbers(FakeNarrator())
    async with playing(mill, fake, answers="yes", settings=settings) as play:
        for number in range(6):
            await play.do(f"I wait, {number}.")
        await play.do("/retry x2")
        await play.do("I go on.")
        await play.do("/save here")
        await play.do("/fork 5")
        await play.do("I turn back.")
        await play.session.kept_up()
        asked = len(fake.requests)
        db = play.story.store.db
        db.execute("DELETE FROM memory_vectors")
        db.execute("DELETE FROM memories WHERE source = 'generated'")  # all of them are due again
        for line in (
            *("/take 1 5", "/undo 2", "/redo", "/restore here", "/back", "/forward", "/go 3", "/switch #1"),
            *("/take 2 13", "/edit-wording 13 Only other words.", "/take 1 13", "/save there", "/pin 1 13"),
            *("/delete-take 3 13", "/undelete", "/undo-turn", "/redo 9"),
        ):
            await play.do(line)
            await play.session.kept_up()
            assert len(fake.requests) == asked, line
        assert play.sound()


@pytest.mark.spec("S13", "T11")
async def test_g_the_text_before_a_429_is_the_same_byte_for_byte(mill: Path) -> None:
    async with playing(mill, numbered()) as play:
        await play.do("I wait, ünïcode “and all”.")
        await play.do("I climb.")
        before = [text.encode() for text in play.texts()]
        rows = play.rows()
        play.session.narrator = FakeNarrator(
            {Purpose.CHECK: {"check": None}, Purpose.NARRATE: NarrationFailed("narrator-rate-limited", "Wait.")}
        )
        assert (await play.do("Too fast.")).code == "narrator-rate-limited"
        assert play.rows() == rows
        assert (await play.do("/undo")).ok
        assert [text.encode() for text in play.texts()] == before[:-1]
        assert reads.draft(play.story.store) is not None
