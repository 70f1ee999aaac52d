"""THE prompt arithmetic: what a request may hold, and whether it does (C1-C8, C18).

``compute_budget`` makes one ``Budget`` with every term in it; ``fit`` measures a prompt against it. History is never
shortened here: what does not fit is answered by ``NeedsCompaction``, a value, or by a named error. Counting belongs to
the narrator; this module adds message by message through a ``Counter`` that remembers, so that a long history is
counted once and not every turn.

Every length here is in tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from narrator.core.errors import NarratorError
from narrator.core.prompt import CONTINUE, Message, Part, PromptParts, branch_messages, encode, system_message

Count = Callable[[Sequence[Message]], int]

ASSUMED_WINDOW: Final = 16_384
LARGEST_OUTPUT: Final = 4_096
SMALLEST_HARD_INPUT: Final = 1_024
CHECK_RESERVE: Final = 512
SMALLEST_MARGIN: Final = 64
HIGH_WATERMARK: Final = 0.70
LOW_WATERMARK: Final = 0.45
_SUMMARY_SHARE: Final = 8
_STATE_SHARE: Final = 5
CARD_SHARE: Final = 4
KNOWLEDGE_SHARE: Final = 8
_REMEMBERED_MESSAGES: Final = 20_000


class Counter:
    """A narrator's ``count`` with a memory, one message at a time; owns nothing but that memory.

    A message is counted once however many turns it stays in the history. Where a narrator's count is not additive (a
    fixed cost for a request), adding message by message counts more, never less (C4).
    """

    def __init__(self, count: Count) -> None:
        self._count = count
        self._known: dict[Message, int] = {}

    def __call__(self, messages: Sequence[Message]) -> int:
        return sum(map(self.one, messages))

    def forget(self) -> None:
        """Count anew from now on: the narrator counts otherwise than before."""
        self._known.clear()

    def one(self, message: Message) -> int:
        """Tokens of one message with the frame around it."""
        known = self._known.get(message)
        if known is None:
            if len(self._known) >= _REMEMBERED_MESSAGES:
                self._known.clear()
            known = self._known[message] = self._count((message,))
        return known


@dataclass(frozen=True, slots=True)
class Budget:
    """Every term of C1. ``hard_input`` is what branch context and dynamic tail may hold together.

    ``framing`` is the frame of the answer that the chat template opens; the frame of each message is counted with it.
    ``high_watermark`` and ``low_watermark`` are tokens of the hard input (C7).
    """

    window: int
    window_source: str
    requested_output: int
    system_prompt: int
    tool_schema: int
    framing: int
    check_reserve: int
    margin: int
    hard_input: int
    high_watermark: int
    low_watermark: int

    def to_json(self) -> dict[str, Any]:
        """The object of the ``prompt`` event (contract); ``source`` is where the window is known from."""
        whole = asdict(self)
        whole["source"] = whole.pop("window_source")
        return whole


@dataclass(frozen=True, slots=True)
class NeedsCompaction:
    """The prompt is past its high watermark: what a context checkpoint would have to cover (C7, C18).

    ``covered_through`` and ``retained_from`` are node ids: the last node to be covered and the first that stays
    verbatim. ``fits`` tells whether the prompt would still go out whole as it is (due, not yet needed).
    """

    covered_through: int
    retained_from: int
    covered_nodes: int
    context_and_tail: int
    hard_input: int
    fits: bool


@dataclass(frozen=True, slots=True)
class Fitted:
    """A prompt that goes out, with its measures. ``due`` is set where compaction ahead of need is due (C7, C19)."""

    parts: PromptParts
    messages: tuple[Message, ...]
    tokens: int
    context_and_tail: int
    due: NeedsCompaction | None = None


def requested_output(window: int, max_output_tokens: int | None) -> int:
    """Tokens asked of the narrator: at most 4,096, its own maximum, and a quarter of the window (C2)."""
    return max(1, min(max_output_tokens or LARGEST_OUTPUT, LARGEST_OUTPUT, window // 4))


def compute_budget(
    *,
    window: int,
    window_source: str,
    max_output_tokens: int | None,
    stable_prefix: Sequence[Part],
    count: Count,
    tool_schema: str = "",
    has_rules: bool = False,
    high_watermark: float = HIGH_WATERMARK,
    low_watermark: float = LOW_WATERMARK,
) -> Budget:
    """The budget of one request (C1). ``tool_schema`` is the JSON of tools or answer schema that go with it.

    Raises ``window-too-small`` with every term named where the hard input is under 1,024 (C2).
    """
    output = requested_output(window, max_output_tokens)
    system = count((system_message(stable_prefix),))
    tools = count((Message("system", tool_schema),)) if tool_schema else 0
    framing = count((Message("assistant", ""),))
    reserve = CHECK_RESERVE if has_rules else 0
    margin = max(SMALLEST_MARGIN, -(-window // 100))
    hard = window - output - system - tools - framing - reserve - margin
    budget = Budget(
        window=window,
        window_source=window_source,
        requested_output=output,
        system_prompt=system,
        tool_schema=tools,
        framing=framing,
        check_reserve=reserve,
        margin=margin,
        hard_input=hard,
        high_watermark=int(hard * high_watermark),
        low_watermark=int(hard * min(low_watermark, high_watermark)),
    )
    if hard < SMALLEST_HARD_INPUT:
        raise NarratorError("window-too-small", _too_small(budget), "Choose a narrator with a larger window.")
    return budget


def _too_small(budget: Budget) -> str:
    return (
        f"The window of {budget.window:,} tokens ({budget.window_source}) leaves {budget.hard_input:,} for the story; "
        f"{SMALLEST_HARD_INPUT:,} are needed. Requested output {budget.requested_output:,}, system prompt "
        f"{budget.system_prompt:,}, tool schema {budget.tool_schema:,}, framing {budget.framing:,}, check reserve "
        f"{budget.check_reserve:,}, margin {budget.margin:,}."
    )


def state_within(
    scene: Sequence[str], rest: Sequence[str], budget: Budget, count: Count
) -> tuple[str, tuple[str, ...]]:
    """The state that a model may see as one text, and the lines that found no room (C12).

    ``scene`` is never left out; ``rest``, most important first, has a fifth of the hard input. What is left out is
    counted in the text.
    """
    empty = count((Message("user", ""),))
    room, shown = budget.hard_input // _STATE_SHARE, 0
    for line in rest:
        room -= count((Message("user", line),)) - empty + 1
        if room < 0:
            break
        shown += 1
    left_out = tuple(rest[shown:])
    more = [f"+ {len(left_out)} older facts"] if left_out else []
    return "\n".join((*scene, *rest[:shown], *more)), left_out


def parts_within(
    parts: Sequence[Part], share: int, budget: Budget, count: Count
) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """The parts that one in ``share`` of the hard input holds, the most important of ``parts`` first; and the others.

    Where one is too large for what room is left, a smaller one behind it may still go in (C27).
    """
    empty = count((Message("user", ""),))
    room = budget.hard_input // share
    kept: list[Part] = []
    left_out: list[Part] = []
    for part in parts:
        cost = count((Message("user", part.text),)) - empty + 2
        if cost <= room:
            room -= cost
            kept.append(part)
        else:
            left_out.append(part)
    return tuple(kept), tuple(left_out)


def fit(parts: PromptParts, budget: Budget, count: Count) -> Fitted | NeedsCompaction:
    """Measure ``parts`` against ``budget``: the messages that go out, or what must be compacted first.

    The dynamic tail comes first (C5), then the last narration and the input it answers (C6), then all. Exactly
    ``hard_input`` goes out; one token more does not (C8). Without a context checkpoint the high watermark is the limit
    as long as there is something that could be covered (C18). Raises ``dynamic-tail-too-large`` and
    ``history-entry-too-large``; text is never cut.
    """
    _require_tail(parts, budget, count)
    kept = _kept_from(parts.raw_tail)
    _require_last_exchange(parts, kept, budget, count)
    whole = _measured(parts, count)
    used = whole.context_and_tail
    is_high = used > budget.high_watermark
    needed = _what_to_cover(parts, kept, used, budget, count) if is_high else None
    if used > budget.hard_input or (needed is not None and parts.checkpoint is None):
        if needed is None:
            raise _entry_too_large(parts.raw_tail[kept:], used, budget, count)
        return needed
    return replace(whole, due=needed)


def fit_question(parts: PromptParts, budget: Budget, count: Count) -> Fitted:
    """Measure a request that asks about the story and does not tell it (check, extract, suggest).

    No context checkpoint may stand in for what it does not see (C30), so no compaction could help it: where the whole
    raw tail does not fit, the oldest nodes stay away, never those of the last exchange. No watermark applies. Raises
    as ``fit`` does.
    """
    _require_tail(parts, budget, count)
    raw = parts.raw_tail
    kept = _kept_from(raw)
    _require_last_exchange(parts, kept, budget, count)
    whole = _measured(parts, count)
    if whole.context_and_tail <= budget.hard_input:
        return whole
    room = budget.hard_input - _measured(replace(parts, raw_tail=raw[kept:]), count).context_and_tail
    first = kept
    while first > 0 and (room := room - _cost(raw[first - 1], count)) >= 0:
        first -= 1
    first = next((at for at in range(first, kept) if raw[at].role == "player"), kept)
    return _measured(replace(parts, raw_tail=raw[first:]), count)


def _measured(parts: PromptParts, count: Count) -> Fitted:
    messages = encode(parts)
    total = count(messages)
    return Fitted(parts, messages, total, total - count(messages[:1]))


def _cost(part: Part, count: Count) -> int:
    """The most that one more node can add to a request: its message, and the wish to go on that may precede it."""
    said = branch_messages(PromptParts((), None, (part,)))
    return count(said[-1:]) + (count((Message("user", CONTINUE),)) if said and said[-1].role == "assistant" else 0)


def _tail_messages(parts: PromptParts) -> tuple[Message, ...]:
    """Dynamic tail and follow-up alone, as messages."""
    return encode(PromptParts((), None, (), parts.dynamic_tail, parts.follow_up))[1:]


def _require_tail(parts: PromptParts, budget: Budget, count: Count) -> None:
    size = count(_tail_messages(parts))
    if size <= budget.hard_input:
        return
    sized = sorted(
        ((count((Message("user", part.text),)), part) for part in parts.dynamic_tail), key=lambda each: -each[0]
    )
    largest = ", ".join(f"{_named(part)} {tokens:,}" for tokens, part in sized[:3])
    raise NarratorError(
        "dynamic-tail-too-large",
        f"What this turn adds takes {size:,} tokens, {budget.hard_input:,} are there. Largest: {largest}.",
        "Shorten or switch off what is named, or choose a narrator with a larger window.",
    )


def _named(part: Part) -> str:
    return f"{part.kind} “{part.source}”" if part.source and part.source != part.kind else part.kind


def _kept_from(raw_tail: Sequence[Part]) -> int:
    """Index of the first node that C6 keeps verbatim: the input that the last narration answers, or that narration."""
    index = len(raw_tail) - 1
    while index > 0 and raw_tail[index].role not in ("narrator", "opening"):
        index -= 1
    while index > 0 and raw_tail[index - 1].role in ("player", "correction"):
        index -= 1
        if raw_tail[index].role == "player":
            break
    return max(index, 0)


def _require_last_exchange(parts: PromptParts, kept: int, budget: Budget, count: Count) -> None:
    last = parts.raw_tail[kept:]
    if not last:
        return
    alone = PromptParts((), None, last, parts.dynamic_tail, parts.follow_up)
    size = count(encode(alone)[1:])
    if size > budget.hard_input:
        raise _entry_too_large(last, size, budget, count)


def _entry_too_large(entries: Sequence[Part], size: int, budget: Budget, count: Count) -> NarratorError:
    largest = max(entries, key=lambda part: count((Message("user", part.text),)))
    return NarratorError(
        "history-entry-too-large",
        f"The last exchange with what this turn adds takes {size:,} tokens, {budget.hard_input:,} are there. "
        f"Largest: the {largest.role} text of #{largest.node_id}, {count((Message('user', largest.text),)):,}.",
        "Choose a narrator with a larger window, shorten that step with /edit, or go on from an earlier step.",
    )


def _what_to_cover(parts: PromptParts, kept: int, used: int, budget: Budget, count: Count) -> NeedsCompaction | None:
    """The least that must be covered to come below the low watermark, or all that C6 allows; None where nothing is.

    Room is left for a summary of an eighth of the hard input (C21). The first node that stays is a player's where
    one is to be had, so that no exchange is torn.
    """
    raw = parts.raw_tail
    if kept <= 0:
        return None
    room = budget.low_watermark - budget.hard_input // _SUMMARY_SHARE - count(_tail_messages(parts))
    first = len(raw)
    while first > 0:
        room -= _cost(raw[first - 1], count)
        if room < 0:
            break
        first -= 1
    first = min(first, kept)
    while 0 < first < kept and raw[first].role != "player":
        first += 1
    first = max(first, 1)
    covered, retained = raw[first - 1].node_id, raw[first].node_id
    if covered is None or retained is None:
        return None
    return NeedsCompaction(covered, retained, first, used, budget.hard_input, used <= budget.hard_input)
