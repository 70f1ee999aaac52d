"""What every request of a turn is made with: the scene behind it, and a question beside the narration, measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from narrator.core import budget, prompt
from narrator.core.prompt import PromptParts
from narrator.core.state import State
from narrator.engine import measuring
from narrator.engine.draft import InFlight
from narrator.engine.teller import Teller, answer
from narrator.narrators import port
from narrator.narrators.port import Outcome, Purpose, Request, Scene, Tool


def outcomes_of(flight: InFlight) -> tuple[Outcome, ...]:
    """The checks of a turn as the narrator may know them: words alone (T8)."""
    return tuple(Outcome(each.skill, each.difficulty, each.outcome) for each in flight.checks)


def state_of(flight: InFlight) -> State:
    """The state that the turn begins with."""
    assert flight.state is not None
    return flight.state


def scene_of(teller: Teller, flight: InFlight) -> Scene:
    """The facts behind the messages of a turn's requests (T15)."""
    story, plan = teller.story, flight.plan
    return Scene(
        story.definition,
        state_of(flight),
        story.row.seed,
        plan.narrated_hash,
        plan.ordinal,
        plan.input,
        plan.input_mode,
        outcomes_of(flight),
        flight.text,
        is_retold=plan.verb == "retell",
    )


async def ask(
    teller: Teller,
    flight: InFlight,
    purpose: Purpose,
    parts: PromptParts | None,
    abilities: port.Capabilities,
    schema: Mapping[str, Any] | None,
    tool: Tool | None = None,
) -> port.Completion:
    """A question beside the narration, measured first (C1, C8). Raises the named errors of the budget.

    It is answered in the shape of ``schema``, or by a call of ``tool``.
    """
    messages: tuple[prompt.Message, ...] = ()
    asked = budget.requested_output(abilities.window, abilities.max_output_tokens)
    if parts is not None:
        shape = schema if tool is None else tool.parameters
        fitted, counted = await measuring.measure_question(teller, parts, abilities, shape)
        messages, asked = fitted.messages, counted.requested_output
        if fitted.parts.raw_tail != parts.raw_tail and fitted.parts.raw_tail:
            flight.record.setdefault("read_from", {})[purpose.value] = fitted.parts.raw_tail[0].node_id
    request = Request(
        purpose,
        messages,
        scene_of(teller, flight),
        asked,
        schema=schema,
        tools=(tool,) if tool is not None else (),
        take=flight.plan.ordinal,
    )
    completion = await answer(teller, request)
    flight.spend(completion.finish.usage, of="asides")
    return completion
