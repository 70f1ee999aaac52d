"""Statistics: what a campaign has come to, and how it came over the story (U13)."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrator.core.tree import NewNode
from narrator.engine.events import StatsShown
from narrator.engine.statistics import MOST_SPANS, count
from narrator.engine.story import Story
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.port import Purpose, Usage
from narrator.store import commit
from narrator.store.commit import Acceptance
from tests.engine.playing import PLAIN, make, playing
from tests.store.making import still


@pytest.mark.spec("U13")
async def test_words_takes_tokens_and_their_course(tmp_path: Path) -> None:
    fake = FakeNarrator()
    fake.answer(Purpose.NARRATE, Line("One two three.", usage=Usage(100, 10, 50)))
    path = make(tmp_path, PLAIN, name="ferry")
    async with playing(path, fake) as play:
        for line in ("I wait.", "/retry", "/retry", "I look up."):
            await play.do(line)
        (stats,) = (await play.do("/stats")).of(StatsShown)
    assert (stats.steps, stats.words) == (5, 5 + 2 + 3 + 3 + 3)
    assert stats.takes_per_step == 2.0, "three takes of one narration, one of the other"
    assert (stats.tokens_in, stats.tokens_out, stats.tokens_cached) == (400, 40, 200)
    assert [(span.first, span.last) for span in stats.spans] == [(n, n) for n in range(1, 6)]
    assert [span.words for span in stats.spans] == [5, 2, 3, 3, 3]
    assert [span.tokens_in for span in stats.spans] == [0, 0, 100, 0, 100]
    assert [span.takes for span in stats.spans] == [0, 0, 3, 0, 1]


@pytest.mark.spec("U13")
async def test_a_long_line_is_told_in_stretches(tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, name="ferry")
    story = Story.open(path, clock=still)
    for number in range(100):
        at = story.position
        node = NewNode("narrator", f"Word {number}.")
        commit.accept(story.store, Acceptance(at.head_id, (node,), at, state_at=story.snapshot_at))
    stats = await count(story, played=60, cost=None)
    story.close()
    assert stats.seconds == 60
    assert len(stats.spans) <= MOST_SPANS
    assert (stats.spans[0].first, stats.spans[-1].last) == (1, 101)
    assert sum(span.words for span in stats.spans) == stats.words
    assert [a.last + 1 for a in stats.spans[:-1]] == [b.first for b in stats.spans[1:]]
