"""What is derived may be lost at any moment: summaries, snapshots, the full-text index, vectors (C17, W3, C24)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from narrator.config import ContextSettings, Settings
from narrator.exchange.importing import import_files
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose, Request
from tests.engine.long_stories import keeps, narration, small, text_of
from tests.engine.playing import DEFINITION, Play, make, playing
from tests.exchange.bringing import around

DERIVED = ("context_checkpoints", "snapshots", "memories_fts", "passages_fts", "memory_vectors")
SETTINGS = Settings(context=ContextSettings(memory_every=4, memories_in_prompt=2))
LORE = (
    "# Bread\n\nBread is baked on the third day.\n\n# Ships\n\nNo ship has a bell.\n\n# Tides\n\nThe tide comes twice."
)
LINES = (
    *(f"I turn the wheel, {number}." for number in range(18)),
    "/retry",
    "/retry darker",
    "/take 1",
    *(f"I count the sacks, {number}." for number in range(8)),
    "/save here",
    "/undo 9",
    "I ask about the bread.",
    "/retell",
    "/correct player.nerve 77",
    *(f"I wait at the wheel, {number}." for number in range(6)),
    "/restore here",
    "/edit 40 I ask about the tide.",
    "/fork",
    "I sit down by the wheel.",
    "/back",
    "/continue",
)


def teller() -> FakeNarrator:
    """Tells by the number of the call, and remembers what it reads: the same for the same play."""
    fake = FakeNarrator(capabilities=small(12_000))
    fake.answer(Purpose.CHECK, {"check": {"skill": "climb", "difficulty": "hard"}})
    fake.answer(Purpose.NARRATE, lambda request: narration(fake.calls[Purpose.NARRATE], 260))
    fake.answer(Purpose.EXTRACT, {"changes": [{"op": "add", "path": "player.nerve", "value": 1, "why": "so"}]})
    fake.answer(Purpose.COMPACT, keeps())
    fake.answer(Purpose.MEMORY, remember)
    return fake


def remember(request: Request) -> str:
    return json.dumps({"memory": f"By the wheel they counted {sum(map(ord, text_of(request)))}."})


def seen(play: Play) -> list[Any]:
    """Everything that a player sees of a story."""
    story = play.story
    return [
        story.steps(1, story.count),
        story.takes(story.head),
        story.state().values,
        story.branches(),
        story.checkpoints(),
        [(row.node_id, row.text, row.is_pinned) for row in story.memories()],
        story.where(),
    ]


async def played(path: Path, *, is_spoilt: bool) -> tuple[list[Any], list[Request]]:
    """What the player saw after every line, and what the narrator was asked."""
    saw: list[Any] = []
    fake = teller()
    async with playing(path, fake, answers="yes", settings=SETTINGS) as play:
        for line in LINES:
            if is_spoilt:
                before = seen(play)
                for table in DERIVED:
                    play.story.store.db.execute(f"DELETE FROM {table}")
                play.story._states.clear()
                assert seen(play) == before
            assert (await play.do(line)).ok, line
            await play.session.kept_up()
            saw.append(seen(play))
        assert play.sound()
    return saw, [request for request in fake.requests if request.purpose is Purpose.NARRATE]


@pytest.mark.spec("C17", "W3", "C24", "C28", "S10")
async def test_play_goes_on_whatever_is_lost_between_two_turns(tmp_path: Path) -> None:
    results = []
    for name, is_spoilt in (("whole", False), ("spoilt", True)):
        path = make(tmp_path, DEFINITION, name)
        (tmp_path / "lore.md").write_text(LORE)
        import_files([tmp_path / "lore.md"], around(tmp_path), as_format="canon", into=path)
        results.append(await played(path, is_spoilt=is_spoilt))
    (whole, asked), (spoilt, asked_when_spoilt) = results
    assert whole == spoilt
    assert len(asked) == len(asked_when_spoilt)
    for requests in (asked, asked_when_spoilt):
        told = [text_of(request) for request in requests]
        assert any("The story so far:" in text for text in told)
        assert any("Remembered from earlier" in text for text in told)
        assert any("Bread is baked" in text for text in told)


@pytest.mark.spec("C24", "C28", "C17")
async def test_an_index_that_lost_a_part_is_whole_again_before_it_is_asked(tmp_path: Path) -> None:
    path = make(tmp_path, DEFINITION, "mill")
    (tmp_path / "lore.md").write_text(LORE)
    import_files([tmp_path / "lore.md"], around(tmp_path), as_format="canon", into=path)
    fake = teller()
    async with playing(path, fake, settings=SETTINGS) as play:
        for text in ("Ottoline hid a key.", "Magda owes silver.", "The bell is cracked."):
            assert (await play.do(f"/remember {text}")).ok
        db = play.story.store.db
        db.execute("DELETE FROM memories_fts WHERE rowid < 3")
        db.execute("DELETE FROM passages_fts WHERE rowid = 1")
        assert (await play.do("/remember A heron waits.")).ok
        assert (await play.do("I ask for the key of Ottoline, and for bread.")).ok
        told = text_of([request for request in fake.requests if request.purpose is Purpose.NARRATE][-1])
        assert "Ottoline hid a key." in told
        assert "Bread is baked" in told
