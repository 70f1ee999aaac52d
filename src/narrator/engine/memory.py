"""Memories: which of them a prompt holds, and how a block of the path becomes one (C23, C24, S33).

Blocks go by depth: with six nodes to a block the first ends at depth 6. The memory of a block hangs from its last
node, once something is written below that, so that every path through the node has it and no other path does. What a
memory tells of is known by depths, so that a block is told once also where the size of blocks was changed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from narrator.core import prompt
from narrator.core.answers import NotAnObject, parse_object
from narrator.core.errors import NarrationFailed
from narrator.core.lineage import End
from narrator.core.prompt import Part
from narrator.core.state import State
from narrator.core.view import name_of
from narrator.core.words import match_any, phrases
from narrator.engine.meaning import VectorIndex
from narrator.engine.story import Story
from narrator.engine.turn import Plan
from narrator.store import commit, memory_reads, reads
from narrator.store.memory_reads import MemoryRow

_MOST_PHRASES: Final = 12
_MOST_COUNTED: Final = 24
_MOST_FUSED: Final = 50
_RANK_CONSTANT: Final = 60
"""The k of reciprocal rank fusion: how little the first rank is worth over the next."""
_MOST_SENTENCES: Final = 3
_MOST_CHARACTERS: Final = 600
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…。！？])[\"'”’»)]*\s+|(?<=[。！？])")


# ------------------------------------------------------------------------------------------------------------ retrieval


def recall(
    story: Story,
    plan: Plan,
    state: State,
    shown_from: int,
    limit: int,
    by_meaning: VectorIndex | None = None,
) -> tuple[Part, ...]:
    """The memories for the tail of a prompt: pinned ones first, then the best found, at most ``limit`` (C24).

    Looked for are the words of the input (of the last narration where there is none) and of the scene, and the meaning
    of the former, along the whole path; both rankings are fused. What the raw tail shows from the depth ``shown_from``
    on is not told a second time, unless it is pinned.
    """
    end = reads.end_of(story.store, plan.anchor)
    pinned = [
        prompt.memory_part(row.text, f"#{row.id}", "pinned") for row in memory_reads.pinned_memories(story.store, end)
    ]
    room = limit - len(pinned)
    if room <= 0:
        return tuple(pinned)
    text = _asked(plan)
    wanted = _wanted(story, text, state)
    in_words: list[tuple[MemoryRow, float]] = []
    alike: list[tuple[MemoryRow, float]] = []
    if by_meaning is not None and by_meaning.is_awake:
        limit = max(room, _MOST_FUSED)
        alike = by_meaning.rank(end, text, limit, shown_from=shown_from)
    else:
        limit = room
    if wanted:
        in_words = memory_reads.ranked_memories(story.store, end, match_any(wanted), limit, shown_from=shown_from)
    why: dict[int, list[str]] = {}
    for row, score in in_words:
        why.setdefault(row.id, []).append(f"words (score {score:.2f})")
    for row, likeness in alike:
        why.setdefault(row.id, []).append(f"meaning (likeness {likeness:.2f})")
    best = fuse([row for row, _ in in_words], [row for row, _ in alike])[:room]
    return (*pinned, *(prompt.memory_part(row.text, f"#{row.id}", ", ".join(why[row.id])) for row in best))


def fuse(*rankings: Sequence[MemoryRow]) -> list[MemoryRow]:
    """Several rankings as one, by the sum of the reciprocals of 60 + rank; of equals, the first ranking's first."""
    scores: dict[MemoryRow, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking, start=1):
            scores[row] = scores.get(row, 0.0) + 1 / (_RANK_CONSTANT + rank)
    return sorted(scores, key=lambda row: -scores[row])


def _asked(plan: Plan) -> str:
    """What the player has said, or else what was told last."""
    text = plan.input
    if not text and plan.history_end is not None and plan.history_end.role != "correction":
        text = plan.history_end.text
    return text


def _wanted(story: Story, text: str, state: State) -> list[str]:
    """The rarest phrases of a text and the scene that any memory holds."""
    if memory_reads.has_unindexed_memories(story.store) and not story.is_read_only:
        commit.index_memories(story.store)
    values = state.values
    present = values.get("scene.present")
    scene = [values.get("location"), *(present if isinstance(present, list) else [])]
    names = [name_of(state, story.definition, each) for each in scene if isinstance(each, str)]
    longest = sorted(phrases("\n".join((text, *names))), key=len, reverse=True)[:_MOST_COUNTED]
    return memory_reads.rarest_phrases(story.store, longest, _MOST_PHRASES)


# --------------------------------------------------------------------------------------------------------------- making


@dataclass(frozen=True, slots=True)
class Block:
    """Nodes of a path that no memory tells of yet, from the depth ``first`` to the depth ``last``."""

    first: int
    last: int


def due_block(story: Story, end: End, every: int, given_up: Collection[Block], done: int = 0) -> Block | None:
    """The latest block of a path that is due, or None. Something stands below its last node (S33).

    The first ``done`` blocks are known to be told.
    """
    latest = (end.length - 1) // every
    if latest <= done:
        return None
    told: dict[int, list[tuple[int, int]]] = {}
    for low, high in memory_reads.told_blocks(story.store, end, done * every + 1):
        for number in range((low - 1) // every + 1, (high - 1) // every + 2):
            told.setdefault(number, []).append((low, high))
    for number in range(latest, done, -1):
        block = _uncovered((number - 1) * every + 1, number * every, told.get(number, ()))
        if block is not None and block not in given_up:
            return block
    return None


def _uncovered(first: int, last: int, covering: Sequence[tuple[int, int]]) -> Block | None:
    """The first run of depths that no memory tells of."""
    free = [depth for depth in range(first, last + 1) if not any(low <= depth <= high for low, high in covering)]
    if not free:
        return None
    run = 1
    while run < len(free) and free[run] == free[run - 1] + 1:
        run += 1
    return Block(free[0], free[run - 1])


def parse_memory(text: str) -> str:
    """The memory in a model's answer: one to three sentences. Raises ``NarrationFailed`` (``narrator-malformed``)."""
    try:
        found = parse_object(text).get("memory")
    except NotAnObject as error:
        raise NarrationFailed("narrator-malformed", f"A memory could not be read: {error}.") from error
    told = " ".join(found.split()) if isinstance(found, str) else ""
    if not told:
        raise NarrationFailed("narrator-malformed", "A memory was empty.")
    sentences = [each for each in _SENTENCE_END.split(told) if each.strip()]
    kept = " ".join(each.strip() for each in sentences[:_MOST_SENTENCES])
    return kept if len(kept) <= _MOST_CHARACTERS else kept[:_MOST_CHARACTERS].rsplit(" ", 1)[0] + "…"
