"""Which parts make the prompt of a turn: story rows to ``PromptParts`` (C-layout, version 3).

``core.prompt`` lays parts out and ``core.budget`` measures them; this module knows where each comes from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from narrator.core import prompt
from narrator.core.binding import binding
from narrator.core.cards import is_in_prefix
from narrator.core.lineage import End
from narrator.core.prompt import Part, PromptParts
from narrator.core.state import State
from narrator.core.summary import Place, Summary, keeps_last_exchange, read_checkpoint
from narrator.core.summary import as_part as as_summary_part
from narrator.core.tree import Node
from narrator.core.view import schema_lines
from narrator.engine.story import Story
from narrator.engine.turn import Plan
from narrator.narrators.port import Outcome
from narrator.store import memory_reads, reads
from narrator.store.parts import load_parts, named_in, part_hash

_INLINE: Final = 96
_FIRST_WINDOW: Final = 32
_LARGEST_WINDOW: Final = 512


def build_parts(
    story: Story,
    plan: Plan,
    state: State,
    outcomes: Sequence[Outcome],
    *,
    prefix: tuple[Part, ...],
    history: History,
    shown_state: str,
    memories: Sequence[Part] = (),
    cards: Sequence[Part] = (),
    knowledge: Sequence[Part] = (),
    is_for_small: bool = False,
) -> PromptParts:
    """The prompt of a narration: history up to ``plan.history_end``, then the tail with the input last (S15, S20)."""
    return PromptParts(
        stable_prefix=prefix,
        checkpoint=history.checkpoint,
        raw_tail=history.raw_tail,
        dynamic_tail=prompt.dynamic_tail(
            state=shown_state,
            input=plan.input,
            mode=plan.input_mode,
            memories=memories,
            cards=cards,
            knowledge=knowledge,
            corrections=corrections(story, plan.anchor, state),
            note=str(state.values.get("story.note") or ""),
            outcomes=outcomes,
            retry_note=plan.note,
            is_cut_off=_is_cut_off(story, plan),
            is_retold=plan.verb == "retell",
            is_for_small=is_for_small,
        ),
    )


def stable_prefix(story: Story, state: State) -> tuple[Part, ...]:
    """What every request of the campaign begins with (C10)."""
    definition = story.definition
    persona = state.values.get("story.persona")
    constant = [card for card in definition.cards if is_in_prefix(card)]
    return prompt.stable_prefix(
        definition,
        persona=str(persona) if persona is not None else None,
        constant_cards=constant,
        schema="\n".join(schema_lines(definition)) if definition.has_state else "",
    )


@dataclass(frozen=True, slots=True)
class History:
    """The branch context of a prompt: a context checkpoint or None, and the nodes behind it.

    ``first_depth`` is that of the first node in ``raw_tail``. ``is_whole`` is False where reading back was broken off,
    since what was read is more than a prompt can hold: such a history measures what must be covered, and is not sent.
    """

    checkpoint: Part | None
    raw_tail: tuple[Part, ...]
    first_depth: int
    covered_depth: int
    is_whole: bool


NO_HISTORY: Final = History(None, (), 1, 0, True)


def read_history(
    story: Story,
    last: Node | None,
    prefix_hash: bytes,
    has_room: Callable[[Summary], bool],
    is_enough: Callable[[Sequence[Part]], bool],
) -> History:
    """The branch context that ends with ``last``: the nearest usable context checkpoint, then the nodes (C13-C17).

    Nodes are read newest first, in windows that grow; ``is_enough`` is asked of each window and ends the reading.
    """
    if last is None:
        return NO_HISTORY
    end = reads.end_of(story.store, last)
    for host_id in memory_reads.context_checkpoint_hosts(story.store, end):
        found = _usable(story, host_id, end, prefix_hash, has_room)
        if found is None:
            continue
        part, covered = found
        nodes, is_whole = _read_back(story, end, covered.depth + 1, is_enough)
        if is_whole and not keeps_last_exchange([node.role for node in nodes], covered.role):
            continue
        first = nodes[0].depth if nodes else covered.depth + 1
        return History(part, tuple(map(as_part, nodes)), first, covered.depth, is_whole)
    nodes, is_whole = _read_back(story, end, 1, is_enough)
    return History(None, tuple(map(as_part, nodes)), nodes[0].depth, 0, is_whole)


def _usable(
    story: Story, host_id: int, end: End, prefix_hash: bytes, has_room: Callable[[Summary], bool]
) -> tuple[Part, Node] | None:
    """The summary part of a context checkpoint and its covered node, where it may be used on this path."""
    row = memory_reads.context_checkpoint(story.store, host_id)
    if row is None:
        return None
    ids = (row.at_node_id, row.covered_through_node_id, row.retained_from_node_id)
    host, covered, retained = (reads.node(story.store, each) if each is not None else None for each in ids)
    summary = read_checkpoint(
        row,
        *(_place(story, each, end) for each in (host, covered, retained)),
        campaign_id=story.row.campaign_id,
        stable_prefix_hash=prefix_hash,
        has_room=has_room,
    )
    return (as_summary_part(summary, host_id), covered) if summary is not None and covered is not None else None


def _place(story: Story, node: Node | None, end: End) -> Place | None:
    if node is None or not reads.is_on_path(story.store, node, end):
        return None
    return Place(node.id, node.depth, node.chain_hash)


def _read_back(
    story: Story, end: End, first: int, is_enough: Callable[[Sequence[Part]], bool]
) -> tuple[list[Node], bool]:
    found: list[list[Node]] = []
    last, size = end.length, _FIRST_WINDOW
    while last >= first:
        low = max(first, last - size + 1)
        nodes = reads.window(story.store, end, low, last)
        found.append(nodes)
        last, size = low - 1, min(size * 2, _LARGEST_WINDOW)
        if last >= first and is_enough([as_part(node) for node in nodes]):
            break
    return [node for nodes in reversed(found) for node in nodes], last < first


def as_part(node: Node) -> Part:
    """One node as a part of the raw tail: a pure function of the row, so that a range is enough to keep (S25)."""
    return prompt.node_part(node.id, node.role, node.text, node.mode)


def corrections(story: Story, anchor: Node, state: State) -> list[str]:
    """The corrections on the path to the anchor that still bind in a state, in words (S23, C10)."""
    found = reads.corrections(story.store, reads.end_of(story.store, anchor))
    return binding([node.text for node in found], state, story.definition)


def _is_cut_off(story: Story, plan: Plan) -> bool:
    """Whether the narration that a continue goes on from ended for want of room (T7)."""
    if plan.input or plan.anchor.role != "narrator":
        return False
    record = reads.provenance(story.store, plan.anchor.id)
    return record is not None and record.get("finish") == "length"


# ------------------------------------------------------------------------------------------- prompts kept and rebuilt


def pack(parts: PromptParts) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A prompt as a small record and the texts to be kept by content (S25): the history is a range of nodes."""
    prefix = json.dumps([part.to_json() for part in parts.stable_prefix], ensure_ascii=False, separators=(",", ":"))
    texts = [prefix]
    tail = []
    for part in parts.dynamic_tail:
        body = part.to_json()
        if len(part.text) > _INLINE:
            texts.append(body.pop("text"))
            body["hash"] = part_hash(part.text).hex()
        tail.append(body)
    record: dict[str, Any] = {"prefix": part_hash(prefix).hex(), "tail": tail}
    if parts.checkpoint is not None:
        summary = json.dumps(parts.checkpoint.to_json(), ensure_ascii=False, separators=(",", ":"))
        texts.append(summary)
        record["checkpoint"] = part_hash(summary).hex()
    if parts.raw_tail:
        record["history"] = [parts.raw_tail[0].node_id, parts.raw_tail[-1].node_id]
    return record, tuple(texts)


def unpack(story: Story, record: Mapping[str, Any]) -> PromptParts:
    """The prompt of a packed record, part for part as it was. Raises ``Damaged`` where something is missing."""
    texts = load_parts(story.store, [bytes.fromhex(each) for each in named_in({"prompt": record})])

    def text_of(hashed: str) -> str:
        return texts[bytes.fromhex(hashed)]

    tail = []
    for body in record["tail"]:
        whole = dict(body)
        if "hash" in whole:
            whole["text"] = text_of(whole.pop("hash"))
        tail.append(Part(**whole))
    checkpoint = Part(**json.loads(text_of(record["checkpoint"]))) if "checkpoint" in record else None
    return PromptParts(
        stable_prefix=tuple(Part(**each) for each in json.loads(text_of(record["prefix"]))),
        checkpoint=checkpoint,
        raw_tail=_history(story, record.get("history")),
        dynamic_tail=tuple(tail),
    )


def _history(story: Story, span: Sequence[int] | None) -> tuple[Part, ...]:
    if span is None:
        return ()
    last = reads.needed(story.store, span[1])
    first = reads.needed(story.store, span[0])
    end = reads.end_of(story.store, last)
    return tuple(as_part(node) for node in reads.window(story.store, end, first.depth, end.length))
