"""What a campaign has come to: words, steps, takes, tokens, time, cost, and how they came over the story (U13).

Counted when asked. Words and steps are of the line that is read, all else of the whole tree: a take that nobody reads
any more has cost what it has cost.
"""

from __future__ import annotations

import asyncio
from typing import Final

from narrator.engine.events import StatsShown, StatsSpan
from narrator.engine.story import Story
from narrator.store import reads

MOST_SPANS: Final = 48
"""The line is told in so many stretches of equal length at most."""
_READ_AT_ONCE: Final = 500
Tokens = tuple[int, int, int]
"""In, out, cached."""
_NOTHING: Final[Tokens] = (0, 0, 0)


async def count(story: Story, *, played: float, cost: float | None) -> StatsShown:
    """All figures. ``played`` is in seconds; ``cost`` is None where no narrator has a price and nothing was spent.

    A long story is read in pieces, between which everything else goes on.
    """
    totals = reads.totals(story.store)
    takes = reads.takes_by_parent(story.store)
    told = sum(takes.values())
    by_node, telling = await _tokens(story)
    size = -(-story.count // MOST_SPANS)
    spans: list[StatsSpan] = []
    steps = words = 0
    for low in range(1, story.count + 1, _READ_AT_ONCE):
        for node in story.nodes(low, min(low + _READ_AT_ONCE - 1, story.count)):
            said = len(node.text.split()) if node.role != "correction" else 0
            steps, words = steps + 1, words + said
            if node.depth > len(spans) * size:
                spans.append(StatsSpan(node.depth, node.depth, 0, 0, 0, 0))
            of_node = takes.get(node.parent_id, 1) if node.role == "narrator" else 0
            spans[-1] = _longer(spans[-1], node.depth, said, by_node.get(node.id, _NOTHING), of_node)
        await asyncio.sleep(0)
    return StatsShown(
        steps,
        words,
        totals.branches,
        totals.takes,
        sum(each[0] for each in by_node.values()),
        sum(each[1] for each in by_node.values()),
        sum(each[2] for each in by_node.values()),
        round(played, 3),
        cost,
        round(telling, 3),
        takes_per_step=round(told / len(takes), 2) if takes else 0.0,
        spans=tuple(spans),
    )


def _longer(span: StatsSpan, last: int, words: int, tokens: Tokens, takes: int) -> StatsSpan:
    return StatsSpan(
        span.first,
        last,
        span.words + words,
        span.tokens_in + tokens[0],
        span.tokens_out + tokens[1],
        span.takes + takes,
    )


async def _tokens(story: Story) -> tuple[dict[int, Tokens], float]:
    """(in, out, cached) by node, with the questions beside each narration; and the seconds of telling."""
    by_node: dict[int, Tokens] = {}
    telling, last = 0.0, 0
    while records := reads.records(story.store, last):
        last = records[-1][0]
        for node_id, found in records:
            spent = [0, 0, 0]
            for usage in (found.get("usage") or (), found.get("asides") or ()):
                for index, tokens in enumerate(usage[:3]):
                    spent[index] += tokens or 0
            by_node[node_id] = (spent[0], spent[1], spent[2])
            telling += found.get("seconds") or 0.0
        await asyncio.sleep(0)
    return by_node, telling
