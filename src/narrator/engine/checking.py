"""Whether a turn hangs on a skill, and what the dice say (T8, T9).

The model asks for a check by naming skill and difficulty: by a call of ``request_check`` where it can call tools, by
one JSON object where it cannot. The runtime rolls. A name that the campaign does not know is refused to the model once,
and then passed over with a note.
"""

from __future__ import annotations

from narrator.core import answers, checks, questions
from narrator.core.checks import UnknownSkill
from narrator.core.definition import Rules
from narrator.core.errors import NarrationFailed
from narrator.core.prompt import PromptParts
from narrator.engine.draft import InFlight
from narrator.engine.events import Noted
from narrator.engine.requesting import ask, state_of
from narrator.engine.story import Story
from narrator.engine.teller import Teller
from narrator.narrators import port
from narrator.narrators.port import Purpose, Tool
from narrator.store import state_reads

MOST_CHECKS = 3
"""In one turn; a model may call its tool several times in one answer."""

Wanted = tuple[str, str]


async def check(teller: Teller, flight: InFlight, abilities: port.Capabilities) -> None:
    """Ask whether the turn hangs on a skill, and roll (T8, T9). A retell keeps what was rolled (S20).

    Where the rules do not let a retry roll anew, neither does telling the same input again by another verb: the count
    of narrations is left out of the roll.
    """
    story, rules = teller.story, teller.story.definition.rules
    kept = _kept_checks(story, flight)
    if kept is not None:
        flight.checks = kept
        return
    if rules is None or not rules.skills or not flight.plan.input:
        return
    refused: tuple[str, str] | None = None
    for is_last in (False, True):
        wanted = await _wanted(teller, flight, abilities, rules, refused)
        unknown = _roll(story, flight, rules, wanted)
        if unknown is None:
            return
        refused = (questions.told_of_checks(wanted), f"{unknown.message} {unknown.hint}".strip())
        if is_last:
            teller.publish(Noted(unknown.message))


def _roll(story: Story, flight: InFlight, rules: Rules, wanted: tuple[Wanted, ...]) -> UnknownSkill | None:
    """Roll what can be rolled; the first name that the campaign does not know."""
    plan = flight.plan
    rolled: list[checks.Check] = []
    unknown: UnknownSkill | None = None
    for skill, difficulty in dict.fromkeys(wanted):
        try:
            made = checks.roll_check(
                story.definition,
                state_of(flight),
                skill,
                difficulty,
                seed=story.row.seed,
                chain_hash=plan.narrated_hash,
                ordinal=plan.ordinal if rules.retry == "reroll" else 0,
                number=len(rolled),
            )
        except UnknownSkill as error:
            unknown = unknown or error
        else:
            if len(rolled) < MOST_CHECKS:
                rolled.append(made)
    flight.checks = tuple(rolled)
    return None if rolled else unknown


async def _wanted(
    teller: Teller,
    flight: InFlight,
    abilities: port.Capabilities,
    rules: Rules,
    refused: tuple[str, str] | None,
) -> tuple[Wanted, ...]:
    """The checks that the narrator asks for. An answer that is none asks for none, and is noted."""
    skills, levels = tuple(rules.skills), tuple(rules.difficulty)
    if not abilities.tools or flight.prompt is None:
        asked = questions.check_prompt(flight.prompt, skills, levels, refused=refused) if flight.prompt else None
        completion = await ask(teller, flight, Purpose.CHECK, asked, abilities, answers.CHECK_SCHEMA)
        return _read(teller, completion)
    tool = Tool(questions.CHECK_TOOL, questions.CHECK_TOOL_SAYS, answers.check_parameters(skills, levels))
    return await _called(teller, flight, abilities, flight.prompt, tool, refused)


async def _called(
    teller: Teller,
    flight: InFlight,
    abilities: port.Capabilities,
    parts: PromptParts,
    tool: Tool,
    refused: tuple[str, str] | None,
) -> tuple[Wanted, ...]:
    """The calls of the tool. A model that calls nothing may also say nothing: both mean that nothing is checked."""
    lists = tool.parameters["properties"]
    asked = questions.check_prompt(
        parts, lists["skill"]["enum"], lists["difficulty"]["enum"], has_tool=True, refused=refused
    )
    try:
        completion = await ask(teller, flight, Purpose.CHECK, asked, abilities, None, tool)
    except NarrationFailed as error:
        if error.code != "narrator-empty":
            raise
        return ()
    named = [(call.arguments.get("skill"), call.arguments.get("difficulty")) for call in completion.calls]
    return tuple((str(skill).strip(), str(level or "").strip()) for skill, level in named if skill)


def _read(teller: Teller, completion: port.Completion) -> tuple[Wanted, ...]:
    try:
        wanted = answers.parse_check(completion.text)
    except NarrationFailed:
        teller.publish(Noted("Whether a skill decides this was not understood; it is told without a check."))
        return ()
    return () if wanted is None else (wanted,)


def _kept_checks(story: Story, flight: InFlight) -> tuple[checks.Check, ...] | None:
    """The checks of the take that is retold, or retried where the rules keep what fell; None: roll anew."""
    plan, rules = flight.plan, story.definition.rules
    if plan.replaced is None:
        return None
    keeps = plan.verb == "retell" or (rules is not None and rules.retry == "keep")
    return state_reads.checks_of(story.store, [plan.replaced.id]).get(plan.replaced.id, ()) if keeps else None
