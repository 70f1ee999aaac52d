"""What the narrator is told, laid open: of the coming turn or a past take, part by part, with all that it costs (C29).

A part's tokens are its text's; what the frames around messages and the marks between parts take is the rest of
``counted``. A past prompt is rebuilt from what is stored (S25) and measured as the narrator of now counts, beside what
the server reported then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from narrator.core.budget import Budget
from narrator.core.errors import BadValue
from narrator.core.prompt import Message, Part, PromptParts, encode
from narrator.core.tree import Node
from narrator.engine import measuring, prompting, telling, turn
from narrator.engine.events import Noted, PromptPart, PromptShown, Reported
from narrator.engine.teller import Teller
from narrator.store import reads

if TYPE_CHECKING:
    from narrator.engine.session import Session

LEFT_OUT = "left-out"


async def coming(session: Session) -> PromptShown:
    """The prompt of a turn that goes on from here, as it would be sent now."""
    story, teller = session.story, session.teller()
    plan = turn.plan_continue(story)
    found = await measuring.measure(teller, plan, story.state(plan.anchor), (), await session.abilities())
    left_out = [("state", line) for line in found.left_out]
    left_out += [(part.kind, f"{part.source}: {part.why}") for part in found.crowded_out]
    if not found.fits:
        session.publish(Noted("This is more than the window holds: the next turn makes a summary first."))
    return _shown(teller, found.parts, found.budget, left_out)


async def past(session: Session, node: Node) -> PromptShown:
    """The prompt of a take. Raises ``bad-value`` where none was sent for it."""
    teller = session.teller()
    record = reads.provenance(session.story.store, node.id) or {}
    if "prompt" not in record:
        raise BadValue(f"No prompt was sent for step #{node.id}.", "The scripted narrator needs none.")
    parts = prompting.unpack(session.story, record["prompt"])
    abilities = await session.abilities()
    abilities = replace(abilities, window=int(record.get("window") or abilities.window))
    counted = measuring.budget_of(teller, abilities, parts.stable_prefix)
    left_out = [(str(kind), str(line)) for kind, line in record.get("crowded_out") or ()]
    return replace(_shown(teller, parts, counted, left_out), of=node.id, reported=_reported(record.get("usage")))


def _reported(usage: Any) -> Reported | None:
    return Reported(*usage) if isinstance(usage, list) and len(usage) == 3 else None


def _shown(teller: Teller, parts: PromptParts, budget: Budget, left_out: Iterable[tuple[str, str]]) -> PromptShown:
    messages = encode(parts)
    empty = teller.counter.one(Message("user", ""))
    shown = [
        PromptPart(
            part.kind,
            part.source or (f"#{part.node_id}" if part.node_id is not None else ""),
            max(0, teller.counter.one(Message("user", part.text)) - empty),
            part.why,
            part.text,
            place,
        )
        for place, part in _placed(parts)
    ]
    shown += [PromptPart(LEFT_OUT, kind, 0, line, place=LEFT_OUT) for kind, line in left_out]
    body = tuple({"role": message.role, "content": message.content} for message in messages)
    counted = teller.counter(messages)
    return PromptShown(body, tuple(shown), budget.to_json(), telling.messages_hash(parts), counted)


def _placed(parts: PromptParts) -> Iterator[tuple[str, Part]]:
    """Every part that makes words of a message, with its place. A correction among the nodes makes none (S23)."""
    yield from (("prefix", part) for part in parts.stable_prefix)
    if parts.checkpoint is not None:
        yield "summary", parts.checkpoint
    yield from (("history", part) for part in parts.raw_tail if part.role != "correction")
    yield from (("tail", part) for part in (*parts.dynamic_tail, *parts.follow_up))
