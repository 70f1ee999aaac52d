"""Prompts of a turn against the budget: what goes out, what must be compacted first (C1-C8, C12, C18).

A narration's prompt is read back from the story only as far as the window could hold it, so that a long story costs
what its prompt costs. Where one token a byte says that it does not fit and the server has a tokenizer, the texts are
counted there and the prompt is measured again (C4).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from narrator.core import budget, prompt
from narrator.core.budget import Budget, Fitted, NeedsCompaction
from narrator.core.errors import NarratorError
from narrator.core.prompt import Message, Part, PromptParts, encode
from narrator.core.state import State
from narrator.core.summary import SUMMARY_SHARE, Summary, as_part
from narrator.core.view import Projection, project
from narrator.core.words import phrases
from narrator.engine import cards, knowledge, memory, prompting
from narrator.engine.prompting import History
from narrator.engine.teller import Teller
from narrator.engine.turn import Plan
from narrator.narrators.port import Capabilities, CountsAhead, Outcome

_READ_BEYOND: Final = 1.25
"""How much more than the hard input is read back before a prompt is known not to fit."""
_MOST_LEARNINGS: Final = 6


@dataclass(frozen=True, slots=True)
class Measured:
    """A narration's prompt with its measures. ``needs`` is set where compaction is due or needed (C7, C18).

    ``left_out`` are the lines of the state that found no room (C12); ``crowded_out`` the cards that triggered and the
    passages that were found, and have none (C27). ``fired`` names the cards that a later turn has to know of (C26).
    """

    parts: PromptParts
    budget: Budget
    history: History
    tokens: int
    needs: NeedsCompaction | None
    left_out: tuple[str, ...]
    crowded_out: tuple[Part, ...] = ()
    fired: tuple[str, ...] = ()
    slow_cards: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether it goes out whole as it is."""
        return self.needs is None or self.needs.fits


def budget_of(
    teller: Teller, abilities: Capabilities, prefix: Sequence[Part], schema: Mapping[str, Any] | None = None
) -> Budget:
    """The budget of one request (C1). Raises ``window-too-small``."""
    return budget.compute_budget(
        window=abilities.window,
        window_source=abilities.window_source,
        max_output_tokens=abilities.max_output_tokens,
        stable_prefix=prefix,
        count=teller.counter,
        tool_schema=json.dumps(dict(schema)) if schema is not None else "",
        has_rules=teller.story.definition.has_rules,
        high_watermark=teller.context.high_watermark,
        low_watermark=teller.context.low_watermark,
    )


def summary_room(teller: Teller, counted: Budget) -> Callable[[Summary], bool]:
    """Whether a summary is small enough: at most an eighth of the hard input (C21)."""
    most = counted.hard_input // SUMMARY_SHARE
    return lambda summary: teller.counter.one(Message("user", as_part(summary).text)) <= most


async def measure(
    teller: Teller, plan: Plan, state: State, outcomes: Sequence[Outcome], abilities: Capabilities
) -> Measured:
    """The prompt of a narration, measured. Raises the named errors of the budget."""
    await teller.by_meaning.wake()
    prefix = prompting.stable_prefix(teller.story, state)
    share = 1.0
    for _ in range(_MOST_LEARNINGS):
        if abilities.counting == "measured":
            teller.counter.forget()
        found: Measured | None = None
        failure: NarratorError | None = None
        texts: Sequence[Message]
        try:
            found = _measure(teller, plan, state, outcomes, abilities, prefix, share)
            texts = encode(found.parts)
        except NarratorError as error:
            failure = error
            texts = _all_texts(teller, plan, state, outcomes, prefix)
        if found is not None and found.needs is None:
            return found
        ratio = await learn(teller, texts)
        if ratio is None:
            break
        share = min(share, ratio)
    if found is None:
        assert failure is not None
        raise failure
    return found


def _measure(
    teller: Teller,
    plan: Plan,
    state: State,
    outcomes: Sequence[Outcome],
    abilities: Capabilities,
    prefix: tuple[Part, ...],
    share: float,
) -> Measured:
    """One round. ``share`` is what an exact count made of the bytes last time: so much further is read back."""
    story, counted = teller.story, budget_of(teller, abilities, prefix)
    room = counted.hard_input * _READ_BEYOND / share

    def is_enough(parts: Sequence[Part]) -> bool:
        nonlocal room
        room -= teller.counter([Message("user", part.text) for part in parts])
        return room < 0

    history = prompting.read_history(
        story, plan.history_end, prompt.stable_prefix_hash(prefix), summary_room(teller, counted), is_enough
    )
    shown_state, left_out = _state_within(teller, plan, state, history, counted)
    lore = _lore_within(teller, plan, state, counted)
    parts = prompting.build_parts(
        story,
        plan,
        state,
        outcomes,
        prefix=prefix,
        history=history,
        shown_state=shown_state,
        cards=lore.cards,
        knowledge=lore.knowledge,
        memories=memory.recall(
            story, plan, state, history.first_depth, teller.context.memories_in_prompt, teller.by_meaning
        ),
        is_for_small=abilities.is_small,
    )
    fitted = budget.fit(parts, counted, teller.counter)
    if isinstance(fitted, Fitted):
        tokens, needs = fitted.tokens, fitted.due
    else:
        tokens, needs = counted.system_prompt + fitted.context_and_tail, fitted
    return Measured(*(parts, counted, history, tokens, needs, left_out), lore.crowded_out, lore.fired, lore.slow_cards)


@dataclass(frozen=True, slots=True)
class _Lore:
    """Cards and passages that have room in the tail, and what has none."""

    cards: tuple[Part, ...]
    knowledge: tuple[Part, ...]
    crowded_out: tuple[Part, ...]
    fired: tuple[str, ...]
    slow_cards: tuple[str, ...]


def _lore_within(teller: Teller, plan: Plan, state: State, counted: Budget) -> _Lore:
    """The cards that trigger and the passages that are found, by priority, each kind within its share (C27)."""
    triggered = cards.trigger(teller.story, plan, state)
    all_cards = [prompt.card_part(each.card.name, each.card.text, each.why, each.card.kind) for each in triggered.found]
    shown, crowded = budget.parts_within(all_cards, budget.CARD_SHARE, counted, teller.counter)
    passages = knowledge.consult(teller.story, plan, state)
    quoted, unquoted = budget.parts_within(passages, budget.KNOWLEDGE_SHARE, counted, teller.counter)
    return _Lore(shown, quoted, crowded + unquoted, triggered.fired, triggered.slow)


def _state_within(
    teller: Teller, plan: Plan, state: State, history: History, counted: Budget
) -> tuple[str, tuple[str, ...]]:
    """The state that the model may see, within its share, what the input or the last narration names first (C12)."""
    seen = project(state, teller.story.definition)
    shown, left_out = budget.state_within(seen.scene, seen.rest, counted, teller.counter)
    if not left_out:
        return shown, left_out
    last = history.raw_tail[-1].text if history.raw_tail else ""
    return budget.state_within(seen.scene, _by_mention(seen, f"{plan.input}\n{last}"), counted, teller.counter)


def _by_mention(seen: Projection, text: str) -> list[str]:
    """The lines of the rest: those that name what the text names come first, each group in its order."""
    named = {word for word in phrases(text) if len(word) > 3}
    return sorted(seen.rest, key=lambda line: named.isdisjoint(phrases(line)))


def _all_texts(
    teller: Teller, plan: Plan, state: State, outcomes: Sequence[Outcome], prefix: tuple[Part, ...]
) -> Sequence[Message]:
    """What the smallest prompt would hold: prefix, last exchange, tail. Counted where even that seemed too much."""
    story = teller.story
    history = prompting.read_history(story, plan.history_end, b"", lambda _: False, lambda _: True)
    seen = project(state, story.definition)
    whole = "\n".join((*seen.scene, *seen.rest))
    parts = prompting.build_parts(story, plan, state, outcomes, prefix=prefix, history=history, shown_state=whole)
    return encode(parts)


async def learn(teller: Teller, messages: Sequence[Message]) -> float | None:
    """Have the server count these where it can. What it made of the former count as a share, or None for no change."""
    narrator = teller.narrator
    if not isinstance(narrator, CountsAhead):
        return None
    before = narrator.count(messages)
    await narrator.count_ahead(messages)
    after = narrator.count(messages)
    if after >= before:
        return None
    teller.counter.forget()
    return after / before


async def measure_question(
    teller: Teller, parts: PromptParts, abilities: Capabilities, schema: Mapping[str, Any] | None
) -> tuple[Fitted, Budget]:
    """A request that asks about the story and tells nothing of it (check, extract, suggest).

    It reads no summary (C30), so of a history that does not fit beside the question it reads the latest nodes, whole:
    it is about the newest narration or the coming one. From where it read is in the provenance.
    """

    def fit() -> tuple[Fitted, Budget]:
        counted = budget_of(teller, abilities, parts.stable_prefix, schema)
        return budget.fit_question(parts, counted, teller.counter), counted

    try:
        fitted, counted = fit()
        if fitted.parts.raw_tail == parts.raw_tail:
            return fitted, counted
    except NarratorError:
        if await learn(teller, encode(parts)) is None:
            raise
        return fit()
    return (fitted, counted) if await learn(teller, encode(parts)) is None else fit()
