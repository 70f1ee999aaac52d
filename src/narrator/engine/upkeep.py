"""Upkeep: what is done for a story while no turn runs, one piece after another (T1, C19, C23).

First vectors of memories that lack them, where the extra is installed (C24), then a context checkpoint that is due,
then memories, the latest block first. Each piece of the latter asks the narrator once or more and ends with one commit
against its host node; cancelled before that it has written nothing. A narrator that reads the scene alone has no use
for any of it.
"""

from __future__ import annotations

from typing import Final

from narrator.core.errors import NarrationFailed, NarratorError
from narrator.core.prompt import encode
from narrator.core.questions import MEMORY_SCHEMA, memory_prompt
from narrator.core.tree import Node
from narrator.engine import compaction, measuring, memory, prompting, turn
from narrator.engine.memory import Block
from narrator.engine.teller import Teller, abilities_of, answer, may_ask
from narrator.narrators.port import Capabilities, Purpose, Request, Scene
from narrator.store import commit, reads
from narrator.store.open import translated

_MEMORY_OUTPUT: Final = 256
_MOST_IMPORTED: Final = 50
"""So many blocks that an import brought become memories in one session, so that a long import is no flood."""


class Upkeep:
    """What a session remembers of its upkeep. Owns nothing but that.

    ``_remembered`` is (branch, size of blocks, how many blocks of it have their memory).
    """

    def __init__(self) -> None:
        self._compacted: tuple[int, str] | None = None
        self._remembered = (0, 0, 0)
        self._given_up: set[Block] = set()
        self._imported = 0

    async def step(self, teller: Teller) -> bool:
        """Do one piece; whether another may be due. Raises ``NarrationFailed`` where the narrator fails."""
        if teller.story.is_read_only:
            return False
        with translated(teller.story.path):
            if not may_ask(teller.story, teller.narrator):
                return False
            abilities = await abilities_of(teller)
            if not abilities.reads_messages:
                return False
            if await teller.by_meaning.keep_up():
                return True
            return await self._compact(teller, abilities) or await self._remember(teller, abilities)

    async def _compact(self, teller: Teller, abilities: Capabilities) -> bool:
        """Cover the oldest of the story ahead of need, once for every state of the story."""
        story = teller.story
        looked_at = (story.revision, teller.narrator.name)
        if self._compacted == looked_at:
            return False
        plan = turn.plan_continue(story)
        state = story.state(plan.anchor)
        try:
            found = await measuring.measure(teller, plan, state, (), abilities)
        except NarratorError:
            found = None  # what does not fit is said by the turn that needs it
        if found is None or found.needs is None or plan.history_end is None:
            self._compacted = looked_at
            return False
        job = compaction.plan_job(teller, plan.history_end, found.history, found.needs)
        done = await compaction.compact(
            teller,
            abilities,
            job,
            found.parts.stable_prefix,
            summary_tokens=compaction.summary_tokens(found.budget),
            is_needed=False,
        )
        self._compacted = looked_at
        return done

    async def _remember(self, teller: Teller, abilities: Capabilities) -> bool:
        """Condense one block of the path to a memory."""
        story, every = teller.story, teller.context.memory_every
        end = story.end
        branch, size, done = self._remembered
        done = min(done, (end.length - 1) // every) if (branch, size) == (end.branch_id, every) else 0
        block = memory.due_block(story, end, every, self._given_up, done)
        nodes = reads.window(story.store, end, block.first, block.last) if block is not None else []
        if block is None or (nodes[-1].origin == "imported" and self._imported >= _MOST_IMPORTED):
            self._remembered = (end.branch_id, every, (end.length - 1) // every)
            return False
        text = await self._condense(teller, abilities, block, nodes)
        if text is None:
            self._given_up.add(block)
            return True
        told, nodes = text
        self._imported += nodes[-1].origin == "imported"
        if commit.keep_memory(story.store, nodes[-1].id, told, nodes[0].depth):
            teller.by_meaning.tell_missing()
        return True

    async def _condense(
        self, teller: Teller, abilities: Capabilities, block: Block, nodes: list[Node]
    ) -> tuple[str, list[Node]] | None:
        """The memory of as many of the nodes as one request holds, from the first on; None where not even one does."""
        story = teller.story
        last = nodes[-1]
        prefix = prompting.stable_prefix(story, story.state())
        counted = measuring.budget_of(teller, abilities, prefix, MEMORY_SCHEMA)
        while nodes:
            parts = memory_prompt(prefix, [prompting.as_part(node) for node in nodes])
            messages = encode(parts)
            if teller.counter(messages[1:]) <= counted.hard_input:
                break
            nodes = nodes[:-1]
        if not any(node.role != "correction" and node.text.strip() for node in nodes):
            return None
        scene = Scene(story.definition, story.state(last), story.row.seed, last.chain_hash, last.rolls)
        output = min(_MEMORY_OUTPUT, counted.requested_output)
        request = Request(Purpose.MEMORY, messages, scene, output, schema=MEMORY_SCHEMA)
        try:
            return memory.parse_memory((await answer(teller, request)).text), nodes
        except NarrationFailed as error:
            if error.code == "narrator-malformed":
                self._given_up.add(block)
            raise
