"""Which parts make the prompt of a turn: story rows to ``PromptParts`` (C-layout, version 3).

``core.prompt`` lays parts out and ``core.budget`` measures them; this module knows where each comes from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from narrator.core import prompt
from narrator.core.prompt import Part, PromptParts
from narrator.core.state import State
from narrator.core.tree import Node
from narrator.core.view import projection, schema_lines, visibility
from narrator.engine.story import Story
from narrator.engine.turn import Plan
from narrator.narrators.port import Outcome
from narrator.store import reads
from narrator.store.parts import load_parts, part_hash

_INLINE = 96


def build_parts(story: Story, plan: Plan, state: State, outcomes: Sequence[Outcome]) -> PromptParts:
    """The prompt of a narration: history up to ``plan.history_end``, then the tail with the input last (S15, S20)."""
    return PromptParts(
        stable_prefix=stable_prefix(story, state),
        raw_tail=raw_tail(story, plan.history_end),
        dynamic_tail=prompt.dynamic_tail(
            state=projection(state, story.definition),
            input=plan.input,
            mode=plan.input_mode,
            corrections=corrections(story, plan.anchor),
            note=str(state.values.get("story.note") or ""),
            outcomes=outcomes,
            retry_note=plan.note,
            is_cut_off=_is_cut_off(story, plan),
            is_retold=plan.verb == "retell",
        ),
    )


def stable_prefix(story: Story, state: State) -> tuple[Part, ...]:
    """What every request of the campaign begins with (C10)."""
    definition = story.definition
    persona = state.values.get("story.persona")
    constant = [card for card in definition.cards if card.is_constant and card.is_enabled and card.when is None]
    return prompt.stable_prefix(
        definition,
        persona=str(persona) if persona is not None else None,
        constant_cards=constant,
        schema="\n".join(schema_lines(definition)) if definition.has_state else "",
    )


def raw_tail(story: Story, last: Node | None) -> tuple[Part, ...]:
    """The nodes of the path to ``last``, verbatim, oldest first."""
    if last is None:
        return ()
    end = reads.end_of(story.store, last)
    return tuple(as_part(node) for node in reads.window(story.store, end, 1, end.length))


def as_part(node: Node) -> Part:
    """One node as a part of the raw tail: a pure function of the row, so that a range is enough to keep (S25)."""
    return prompt.node_part(node.id, node.role, node.text, node.mode)


def corrections(story: Story, anchor: Node) -> list[str]:
    """The corrections on the path to the anchor, in words, without those of hidden paths (S23, C10)."""
    found = reads.corrections(story.store, reads.end_of(story.store, anchor))
    told = [
        prompt.describe_correction(node.text, lambda path: visibility(story.definition, path) != "hidden")
        for node in found
    ]
    return [each for each in told if each]


def _is_cut_off(story: Story, plan: Plan) -> bool:
    """Whether the narration that a continue goes on from ended for want of room (T7)."""
    if plan.input or plan.anchor.role != "narrator":
        return False
    row = story.store.db.execute("SELECT record FROM provenance WHERE node_id = ?", (plan.anchor.id,)).fetchone()
    return row is not None and json.loads(row[0]).get("finish") == "length"


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


def hashes_in(record: Mapping[str, Any]) -> list[str]:
    """The content hashes that a packed prompt names."""
    found = [record["prefix"], *(part["hash"] for part in record["tail"] if "hash" in part)]
    return [*found, record["checkpoint"]] if "checkpoint" in record else found


def unpack(story: Story, record: Mapping[str, Any]) -> PromptParts:
    """The prompt of a packed record, part for part as it was. Raises ``Damaged`` where something is missing."""
    texts = load_parts(story.store, [bytes.fromhex(each) for each in hashes_in(record)])

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
