"""Making context checkpoints: bounded chunks, each a request of its own, each kept when it is done (C15-C21).

A chunk is told to the model as a narration upon the same history begins: stable prefix, the summary so far, nodes
verbatim. Every covered node stands whole in one request. What a chunk answers is a summary of all before it, kept as a
context checkpoint of its own, so that a stop costs one chunk; the last one replaces those of the same run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from narrator.core import prompt
from narrator.core.budget import Budget, NeedsCompaction
from narrator.core.errors import NarrationFailed, NarratorError
from narrator.core.prompt import CONTINUE, Message, Part, PromptParts, encode
from narrator.core.questions import compact_prompt, shorten_prompt
from narrator.core.summary import (
    SUMMARY_SCHEMA,
    SUMMARY_SHARE,
    Summary,
    as_part,
    make_checkpoint,
    parse_summary,
    shorten,
    words_for,
)
from narrator.core.tree import Node
from narrator.engine import measuring, prompting, turn
from narrator.engine.events import Noted, Progressed
from narrator.engine.progress import Pace
from narrator.engine.prompting import History
from narrator.engine.teller import Teller, answer
from narrator.narrators.port import Capabilities, Purpose, Request, Scene
from narrator.store import commit, memory_reads, reads

MOST_UNASKED: Final = 50
"""More requests than this are made only after the player was asked (C20)."""
MOST_UNASKED_PAID: Final = 10
"""The same for a narrator that has a price (U13)."""
LEAST_ASKED: Final = 3
"""Fewer requests cost no more than a turn or two, and are not asked about whatever the limits are."""
_WINDOW: Final = 256
PROGRESS: Final = "summary"


@dataclass(frozen=True, slots=True)
class Job:
    """One compaction: the history that ends with ``last`` is to be covered from ``first_depth`` to ``covered_depth``.

    ``base`` is the summary of what lies before, or None.
    """

    last: Node
    base: Part | None
    first_depth: int
    covered_depth: int
    retained_id: int


def plan_job(teller: Teller, last: Node, history: History, needs: NeedsCompaction) -> Job:
    """What must be done so that the prompt upon ``last`` comes below its low watermark (C7)."""
    covered = reads.needed(teller.story.store, needs.covered_through)
    return Job(last, history.checkpoint, history.covered_depth + 1, covered.depth, needs.retained_from)


async def compact(
    teller: Teller,
    abilities: Capabilities,
    job: Job,
    prefix: tuple[Part, ...],
    *,
    summary_tokens: int,
    is_needed: bool,
) -> bool:
    """Cover what ``job`` says; True when it is done. Cancelled or failed at any await it has written whole chunks only.

    ``summary_tokens`` is the most that the summary may take. ``is_needed``: a turn waits for it, so it shows its
    progress, and asks where it takes many requests (C19, C20); in upkeep it leaves those for a turn to ask, and is
    silent. Raises ``NarrationFailed``, ``history-entry-too-large``.
    """
    work = _Work(
        teller, abilities, prefix, measuring.budget_of(teller, abilities, prefix, SUMMARY_SCHEMA), summary_tokens
    )
    total = await _estimate(work, job)
    if _is_large(work, total) and not (is_needed and await _is_agreed(work, job, total)):
        if is_needed:
            raise NarrationFailed(
                "context-too-long",
                "The story is longer than the narrator's window holds, and no summary of it was made.",
                "Send it again and agree, or choose a narrator with a larger window.",
            )
        return False
    so_far, first, done = job.base, job.first_depth, 0
    replaces, pace = _partial_hosts(teller, job.last), Pace(PROGRESS, every=0)
    while first <= job.covered_depth:
        if is_needed and (event := pace.at(done, max(total, done + 1))) is not None:
            teller.publish(event)
        chunk = await _next_chunk(work, so_far, job, first)
        summary = await _summarize(work, so_far, chunk)
        is_last = chunk[-1].depth == job.covered_depth
        host = _keep(work, job, chunk[-1], summary, replaces if is_last else (), is_partial=not is_last)
        if host is None:
            return False
        replaces.append(host)
        so_far, first, done = as_part(summary), chunk[-1].depth + 1, done + 1
    if is_needed:
        teller.publish(Progressed(PROGRESS, done, done))
    return True


async def estimate(teller: Teller, abilities: Capabilities) -> int:
    """How many requests the next compaction of the story takes where it stands; 0 where none is due (C10)."""
    plan = turn.plan_continue(teller.story)
    if not abilities.reads_messages or plan.history_end is None:
        return 0
    try:
        found = await measuring.measure(teller, plan, teller.story.state(plan.anchor), (), abilities)
    except NarratorError:
        return 0
    if found.needs is None:
        return 0
    prefix = found.parts.stable_prefix
    counted = measuring.budget_of(teller, abilities, prefix, SUMMARY_SCHEMA)
    work = _Work(teller, abilities, prefix, counted, summary_tokens(found.budget))
    return await _estimate(work, plan_job(teller, plan.history_end, found.history, found.needs))


@dataclass(frozen=True, slots=True)
class _Work:
    """What every chunk of one run is made with."""

    teller: Teller
    abilities: Capabilities
    prefix: tuple[Part, ...]
    budget: Budget
    summary_tokens: int

    @property
    def words(self) -> int:
        """How many words the model is told to write at most."""
        tokens = min(self.summary_tokens, self.budget.requested_output)
        return words_for(tokens, is_exact=self.abilities.counting != "bytes")

    def cost(self, message: Message) -> int:
        return self.teller.counter.one(message)


def _partial_hosts(teller: Teller, last: Node) -> list[int]:
    """The hosts of chunks that an earlier run left on this path."""
    store = teller.story.store
    hosts = memory_reads.context_checkpoint_hosts(store, reads.end_of(store, last))
    rows = (memory_reads.context_checkpoint(store, host) for host in hosts)
    return [row.at_node_id for row in rows if row is not None and row.is_partial]


def _keep(
    work: _Work, job: Job, covered: Node, summary: Summary, replaces: Sequence[int], *, is_partial: bool
) -> int | None:
    """Commit a chunk's summary; its host, or None where the story it was made from is gone."""
    story = work.teller.story
    if is_partial:
        end = reads.end_of(story.store, job.last)
        (retained,) = reads.window(story.store, end, covered.depth + 1, covered.depth + 1)
        retained_id = retained.id
    else:
        retained_id = job.retained_id
    made = make_checkpoint(
        summary,
        covered_id=covered.id,
        covered_chain_hash=covered.chain_hash,
        retained_id=retained_id,
        campaign_id=story.row.campaign_id,
        stable_prefix_hash=prompt.stable_prefix_hash(work.prefix),
        is_partial=is_partial,
    )
    return retained_id if commit.keep_context_checkpoint(story.store, made, replaces=replaces) else None


# --------------------------------------------------------------------------------------------------------------- chunks


def _fixed(work: _Work, so_far: Part | None) -> int:
    """Tokens of what every chunk's request holds beside the nodes."""
    parts = compact_prompt(work.prefix, so_far, (), words=work.words)
    return work.teller.counter(encode(parts)[1:])


def _node_cost(work: _Work, node: Node, before: str) -> int:
    """Tokens that a node adds behind one of the role ``before`` ('' for none)."""
    if node.role == "correction":
        return 0
    if node.role == "player":
        return work.cost(Message("user", prompt.phrase_input(node.text, node.mode)))
    wish = work.cost(Message("user", CONTINUE)) if before in ("narrator", "opening", "") else 0
    return work.cost(Message("assistant", node.text)) + wish


async def _windows(work: _Work, job: Job, first: int) -> list[Node]:
    """The next nodes to be covered, counted by the server where it can count."""
    store = work.teller.story.store
    if reads.node(store, job.retained_id) is None:
        raise NarrationFailed("stale", "The story that was to be summarized is gone.")
    end = reads.end_of(store, job.last)
    nodes = reads.window(store, end, first, min(first + _WINDOW - 1, job.covered_depth))
    await measuring.learn(work.teller, [Message("user", node.text) for node in nodes])
    await asyncio.sleep(0)
    return nodes


async def _estimate(work: _Work, job: Job) -> int:
    """How many requests it takes, each chunk as full as it can be beside a summary of full size."""
    room_first = work.budget.hard_input - _fixed(work, job.base)
    room_later = work.budget.hard_input - _fixed(work, None) - work.summary_tokens
    requests, room, before = 1, room_first, ""
    first = job.first_depth
    while first <= job.covered_depth:
        for node in await _windows(work, job, first):
            cost = _node_cost(work, node, before)
            if cost > room and before:
                requests, room, before = requests + 1, room_later, ""
                cost = _node_cost(work, node, before)
            room -= cost
            before = node.role if node.role != "correction" else before
            first = node.depth + 1
    return requests


async def _next_chunk(work: _Work, so_far: Part | None, job: Job, first: int) -> list[Node]:
    """As many nodes from the depth ``first`` on as one request holds. Raises ``history-entry-too-large``."""
    room = work.budget.hard_input - _fixed(work, so_far)
    chunk: list[Node] = []
    before = ""
    while first <= job.covered_depth:
        for node in await _windows(work, job, first):
            room -= _node_cost(work, node, before)
            if room < 0:
                if not chunk:
                    raise _too_large(work, node)
                return chunk
            chunk.append(node)
            before = node.role if node.role != "correction" else before
            first = node.depth + 1
    return chunk


def _too_large(work: _Work, node: Node) -> NarratorError:
    return NarratorError(
        "history-entry-too-large",
        f"Step {node.depth} (#{node.id}) alone takes {_node_cost(work, node, ''):,} tokens; a request for a summary of"
        f" the story holds {work.budget.hard_input - _fixed(work, None):,}.",
        "Choose a narrator with a larger window, or shorten that step with /edit.",
    )


# ------------------------------------------------------------------------------------------------------------- requests


async def _summarize(work: _Work, so_far: Part | None, chunk: Sequence[Node]) -> Summary:
    """One request, and one repair of its answer; then the least entries go, and the player is told."""
    nodes = tuple(prompting.as_part(node) for node in chunk)
    said = await _ask(work, compact_prompt(work.prefix, so_far, nodes, words=work.words), chunk[-1])
    has_room = _has_room(work)
    problem = ""
    summary: Summary | None = None
    try:
        summary = parse_summary(said)
        problem = "" if has_room(summary) else "it is too long"
    except NarrationFailed as error:
        problem = error.message
    if problem:
        shorter = shorten_prompt(work.prefix, _cut_to(work, said), problem.rstrip("."), words=work.words)
        try:
            summary = parse_summary(await _ask(work, shorter, chunk[-1]))
        except NarrationFailed as error:
            if summary is None or error.code != "narrator-malformed":
                raise
    assert summary is not None
    summary, gone = shorten(summary, has_room)
    if not has_room(summary):
        raise NarrationFailed("narrator-malformed", "The summary of the story so far is too long to be used.")
    if gone:
        work.teller.publish(
            Noted(f"The summary of the story so far was too long; {gone} of its entries were left out.")
        )
    return summary


def _has_room(work: _Work) -> Callable[[Summary], bool]:
    return lambda summary: work.cost(Message("user", as_part(summary).text)) <= work.summary_tokens


def _cut_to(work: _Work, said: str) -> str:
    """An answer that goes back for repair: what of it is certain to fit. It is no text of the story."""
    room = work.budget.hard_input // 2
    return said.encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore").strip() or "…"


async def _ask(work: _Work, parts: PromptParts, last: Node) -> str:
    """Send one compaction request, just measured (C1). Returns the text of the answer."""
    story = work.teller.story
    messages = encode(parts)
    if work.teller.counter(messages[1:]) > work.budget.hard_input:
        # Nodes were counted one by one; beside a question or a summary they are a message of another text.
        await measuring.learn(work.teller, messages[1:])
    if work.teller.counter(messages[1:]) > work.budget.hard_input:
        raise NarrationFailed(
            "context-too-long", "A request for a summary does not fit the window.", "Choose a larger one."
        )
    scene = Scene(story.definition, story.state(last), story.row.seed, last.chain_hash, last.rolls)
    request = Request(Purpose.COMPACT, messages, scene, work.budget.requested_output, schema=SUMMARY_SCHEMA)
    return (await answer(work.teller, request)).text


def _cost(work: _Work, requests: int) -> float | None:
    """What so many requests cost at most, None without a price."""
    output = work.budget.requested_output
    tokens_in = requests * (work.budget.window - work.budget.margin - output)
    is_in_bytes = work.abilities.counting == "bytes"
    return work.teller.spending.foresee(
        work.teller.narrator.name, tokens_in, requests * output, is_in_bytes=is_in_bytes
    )


def _is_large(work: _Work, requests: int) -> bool:
    """Whether the player is asked first: for the time that it takes, or for what it costs."""
    cost = _cost(work, requests)
    if cost is None or requests < LEAST_ASKED:
        return requests > MOST_UNASKED
    return requests > MOST_UNASKED_PAID or work.teller.spending.is_much(cost)


async def _is_agreed(work: _Work, job: Job, requests: int) -> bool:
    """Ask before many requests, with an estimate of what they take and cost (C20, U13)."""
    tokens = requests * (work.budget.window - work.budget.margin)
    cost = _cost(work, requests)
    shows = {
        "requests": requests,
        "nodes": job.covered_depth - job.first_depth + 1,
        "tokens": tokens,
        "narrator": work.teller.narrator.name,
        **({} if cost is None else {"cost_at_most": round(cost, 4)}),
    }
    return await work.teller.ask("confirm-compaction", ("yes", "no"), "no", shows) == "yes"


def summary_tokens(counted: Budget) -> int:
    """The most that a summary may take in a narration of this budget (C21)."""
    return counted.hard_input // SUMMARY_SHARE
