"""Telling a turn: check, narrate, extract, referee, commit (turn.md's pipeline).

Everything before ``commit`` awaits and can be cancelled at every await; the commit is a plain function with none (S46).
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from narrator.core import answers, checks, questions
from narrator.core.definition import Definition
from narrator.core.errors import ContextTooLong, NarrationFailed, Refusal, Stopped
from narrator.core.phrases import phrase_change
from narrator.core.prompt import PromptParts, encode
from narrator.core.proposal import Proposal
from narrator.core.referee import Verdict, judge
from narrator.core.state import State, advance, dump, is_ended, value_after
from narrator.core.tree import NewNode
from narrator.core.view import visibility
from narrator.engine import checking, compaction, measuring, prompting, state_views
from narrator.engine.draft import InFlight
from narrator.engine.events import Delta, Noted
from narrator.engine.progress import ReadingNote
from narrator.engine.requesting import ask, outcomes_of, scene_of, state_of
from narrator.engine.story import Story
from narrator.engine.teller import Teller, abilities_of, stream, tell_wait
from narrator.narrators import port
from narrator.narrators.port import Purpose, Request
from narrator.store import commit, sources, state_reads
from narrator.store.commit import Acceptance

_MOST_COMPACTIONS = 3
SUGGEST_SCHEMA = {
    "type": "object",
    "properties": {"suggestions": {"type": "array", "items": {"type": "string"}}},
    "required": ["suggestions"],
    "additionalProperties": False,
}
EXTRACTION_CHOICES = ("accept", "again", "discard")


@dataclass(frozen=True, slots=True)
class Judged:
    """What a narration did to the state, after the referee."""

    verdict: Verdict
    remark: str = ""


async def tell(teller: Teller, flight: InFlight) -> None:
    """Check and narrate; ``flight`` holds what there is whenever it ends. Raises ``NarrationFailed``."""
    story, plan = teller.story, flight.plan
    state = story.state(plan.anchor)
    if plan.player is not None:
        state = advance(state, "player", ())
    if plan.verb == "retell":
        assert plan.replaced is not None
        state = story.state(plan.replaced)
    elif is_ended(state):
        raise Refusal("story-ended", "This story has ended.", "/undo, /restore or /fork goes on from an earlier step.")
    flight.state = state
    flight.record = {"narrator": teller.narrator.name, "purpose": "narrate"}
    started = time.monotonic()
    abilities = await abilities_of(teller)
    if isinstance(teller.narrator, port.Loads) and not teller.narrator.is_loaded:
        teller.publish(Noted("Loading the model …"))
    flight.record |= {"model": abilities.model, "window": abilities.window, "sampling": dict(abilities.sampling)}
    await _prepare(teller, flight, abilities)
    await checking.check(teller, flight, abilities)
    flight.stage = "narrate"
    await _narrate(teller, flight, abilities)
    flight.record["seconds"] = round(time.monotonic() - started, 3)


async def _prepare(teller: Teller, flight: InFlight, abilities: port.Capabilities) -> None:
    """Make the narration's prompt and see that it fits; where it does not, the turn waits for a summary (C18, C19)."""
    if not abilities.reads_messages:
        return
    for _ in range(_MOST_COMPACTIONS):
        found = await measuring.measure(teller, flight.plan, state_of(flight), outcomes_of(flight), abilities)
        flight.prompt, flight.asked_output = found.parts, found.budget.requested_output
        if found.fits:
            _record_cards(flight, found)
            return
        assert found.needs is not None
        assert flight.plan.history_end is not None
        job = compaction.plan_job(teller, flight.plan.history_end, found.history, found.needs)
        prefix, room = found.parts.stable_prefix, compaction.summary_tokens(found.budget)
        await compaction.compact(teller, abilities, job, prefix, summary_tokens=room, is_needed=True)
    raise NarrationFailed(
        "context-too-long",
        f"The story does not fit the narrator's window, not with a summary of it either ({found.tokens:,} tokens).",
        "Choose a narrator with a larger window.",
    )


def _record_cards(flight: InFlight, found: measuring.Measured) -> None:
    """What a later turn and the inspector have to know of the cards and passages of this one (C26, C27, S25)."""
    flight.record["fired"] = list(found.fired) or None
    flight.record["crowded_out"] = [[part.kind, f"{part.source}: {part.why}"] for part in found.crowded_out] or None
    flight.crowded_out, flight.slow_cards = found.crowded_out, found.slow_cards


def _tell_crowded_out(teller: Teller, flight: InFlight) -> None:
    """Say what triggered or was found and is not in the prompt (C27)."""
    cards = [f"“{part.source}”" for part in flight.crowded_out if part.kind == "card"]
    passages = len(flight.crowded_out) - len(cards)
    if cards:
        verb = "card has" if len(cards) == 1 else "cards have"
        teller.publish(Noted(f"{len(cards)} triggered {verb} no room in the prompt: {', '.join(cards)}."))
    if passages:
        teller.publish(
            Noted(f"{passages} passage{'s' if passages > 1 else ''} of knowledge found no room in the prompt.")
        )
    if flight.slow_cards:
        named = ", ".join(f"“{name}”" for name in flight.slow_cards)
        teller.publish(Noted(f"The expressions of these cards took too long and were not used: {named}."))


async def _narrate(teller: Teller, flight: InFlight, abilities: port.Capabilities) -> None:
    """Stream the narration. Where counting is measured and the server says that it is too long, once more (C4)."""
    if flight.checks:
        await _prepare(teller, flight, abilities)  # the outcomes stand in the tail now
    _tell_crowded_out(teller, flight)
    try:
        await _stream(teller, flight)
    except ContextTooLong:
        before = flight.prompt
        if abilities.counting != "measured" or flight.text:
            raise
        await _prepare(teller, flight, abilities)
        if flight.prompt == before:
            raise
        await _stream(teller, flight)
    if not flight.has_text:
        raise NarrationFailed(
            "narrator-empty", "The narrator answered with nothing.", "Send it again, or choose another."
        )
    if not flight.finish:
        raise NarrationFailed(
            "narrator-broke-off", "The narration broke off before its end.", "Send it again, or keep it."
        )
    if flight.finish == "length":
        teller.publish(Noted("The narration ran out of room; continue goes on from there."))


async def _stream(teller: Teller, flight: InFlight) -> None:
    messages = encode(flight.prompt) if flight.prompt is not None else ()
    request = Request(
        Purpose.NARRATE, messages, scene_of(teller, flight), flight.asked_output, take=flight.plan.ordinal
    )
    usage, reading = port.Usage(), ReadingNote()
    async with aclosing(stream(teller, request)) as chunks:
        async for chunk in chunks:
            match chunk:
                case port.Delta(text=text):
                    if told := flight.hear(text):
                        teller.publish(Delta(told))
                case port.Waiting():
                    tell_wait(teller, chunk)
                case port.Reading(done=done, total=total):
                    if note := reading.at(done, total):
                        teller.publish(Noted(note))
                case port.Finish(reason=reason, usage=usage, notes=notes):
                    flight.finish = reason
                    for note in notes:
                        teller.publish(Noted(note))
    flight.spend(usage)


async def work_out(teller: Teller, flight: InFlight) -> Judged:
    """What the finished text changes: extraction, one repair, then the player's choice (T4, T5).

    Raises ``NarrationFailed`` ``extraction-failed`` where the player discards.
    """
    story, state = teller.story, state_of(flight)
    flight.stage = "extract"
    abilities = await abilities_of(teller)
    outcomes = [each.outcome for each in flight.checks]
    clocks = _clocks(story.definition, state, outcomes)
    if not (story.definition.has_state or story.row.is_tracking or abilities.proposes_as == "storylet"):
        return Judged(clocks)
    while True:
        proposals = await _extract(teller, flight, abilities)
        if proposals is not None:
            if abilities.proposes_as == "storylet":
                clocks = _clocks(story.definition, state, outcomes, proposals)
            after = advance(state, "narrator", clocks.events)
            verdict = judge(story.definition, after, proposals, source=abilities.proposes_as)
            whole = Verdict(
                clocks.events + verdict.events, clocks.refused + verdict.refused, clocks.notes + verdict.notes
            )
            return Judged(whole)
        choice = await teller.ask("extraction", EXTRACTION_CHOICES, "discard", {"text": flight.text})
        if choice == "accept":
            return Judged(clocks, "accepted without changes of state")
        if choice != "again":
            raise NarrationFailed(
                "extraction-failed", "What the narration changed could not be worked out.", "Send it again, or keep it."
            )


def _clocks(definition: Definition, state: State, outcomes: Sequence[str], told: Sequence[Proposal] = ()) -> Verdict:
    """How the clocks advance. ``told``: what the storylets of the turn change."""
    return judge(definition, state, checks.clock_proposals(definition, state, outcomes, told), source="check")


def carry(teller: Teller, flight: InFlight) -> Judged:
    """The changes of the replaced take, with the node that first caused them as their source (S20, S22)."""
    source = flight.plan.replaced
    assert source is not None
    copied = state_reads.events_of(teller.story.store, [source.id]).get(source.id, ())
    events = (replace(event, source_node_id=event.source_node_id or source.id) for event in copied)
    return Judged(Verdict(tuple(events)), "carried")


async def work_out_edit(teller: Teller, flight: InFlight) -> Judged:
    """What an edited narration changes, worked out again, shown and chosen (S22). Raises ``Stopped`` for cancel.

    Where the narrator cannot read the text, the choice is between the original's changes, none, and the player's own.
    """
    story, plan = teller.story, flight.plan
    assert plan.replaced is not None
    state = story.state(plan.anchor)
    flight.state, flight.stage = state, "extract"
    flight.checks = state_reads.checks_of(story.store, [plan.replaced.id]).get(plan.replaced.id, ())
    flight.finish = "edited"
    abilities = await abilities_of(teller)
    kept = carry(teller, flight)
    worked: Judged | None = None
    if abilities.proposes_as == "model" and (story.definition.has_state or story.row.is_tracking):
        found = await measuring.measure(teller, plan, state, outcomes_of(flight), abilities)
        flight.prompt = found.parts
        proposals = await _extract(teller, flight, abilities)
        flight.prompt = None
        if proposals is not None:
            worked = Judged(judge(story.definition, state, proposals, source="model"), "worked out again")
    if worked is None and not kept.verdict.events and not story.definition.has_state:
        return kept
    choices = (*(("worked-out",) if worked is not None else ()), "keep", "none", "enter", "cancel")
    shows = {"worked_out": _told(story, worked), "kept": _told(story, kept)}
    choice, entered = await teller.ask_value("edited-state", choices, choices[0], shows)
    while choice == "enter":
        judged = _judge_entered(teller, state, entered)
        if judged is not None:
            return judged
        choice, entered = await teller.ask_value("edited-state", choices, choices[0], shows)
    if choice == "cancel":
        raise Stopped
    if choice == "none":
        return Judged(Verdict(), "without changes of state")
    return worked if choice == "worked-out" and worked is not None else kept


def _judge_entered(teller: Teller, state: State, entered: Any) -> Judged | None:
    """What the player entered, once the referee has nothing against any of it; else why not, and None (S22)."""
    try:
        wanted = answers.parse_proposals(json.dumps(entered if entered is not None else {}))
    except NarrationFailed:
        teller.publish(Noted('What was entered is no object of changes, such as {"player.nerve": 5}.'))
        return None
    verdict = judge(teller.story.definition, state, wanted, source="player")
    for refused in verdict.refused:
        teller.publish(Noted(state_views.refusal(teller.story, refused)))
    return None if verdict.refused else Judged(verdict, "entered")


def _told(story: Story, judged: Judged | None) -> list[dict[str, Any]] | None:
    """The changes as the question shows them: what the player may see (W2)."""
    if judged is None:
        return None
    return [
        {
            "path": event.path,
            "old": event.previous,
            "new": value_after(event),
            "source": event.source,
            "op": event.op,
            "value": event.value,
            "words": phrase_change(story.definition, story.state(), event),
        }
        for event in judged.verdict.events
        if visibility(story.definition, event.path) == "open"
    ]


async def _extract(teller: Teller, flight: InFlight, abilities: port.Capabilities) -> tuple[Any, ...] | None:
    """The proposals of the narration, after one repair request; None where neither answer could be read."""
    repair: tuple[str, str] | None = None
    for _ in range(2):
        parts = questions.extract_prompt(flight.prompt, flight.text, repair=repair) if flight.prompt else None
        completion = await ask(teller, flight, Purpose.EXTRACT, parts, abilities, answers.EXTRACTION_SCHEMA)
        try:
            return answers.parse_proposals(completion.text)
        except NarrationFailed as error:
            repair = (completion.text, error.message)
    return None


async def suggest(teller: Teller, flight: InFlight) -> tuple[str, ...]:
    """Three things that the player might do (T20). Raises ``NarrationFailed``."""
    flight.state = teller.story.state(flight.plan.anchor)
    abilities = await abilities_of(teller)
    asked: PromptParts | None = None
    if abilities.reads_messages:
        found = await measuring.measure(teller, flight.plan, state_of(flight), (), abilities)
        asked = questions.suggest_prompt(found.parts)
    completion = await ask(teller, flight, Purpose.SUGGEST, asked, abilities, SUGGEST_SCHEMA)
    suggested = answers.parse_object(completion.text).get("suggestions")
    if not isinstance(suggested, list):
        raise NarrationFailed("narrator-malformed", "The narrator suggested nothing that could be read.", "Ask again.")
    return tuple(str(each).strip() for each in suggested if str(each).strip())[:3]


def accept(teller: Teller, flight: InFlight, judged: Judged) -> list[int]:
    """Commit the turn: one synchronous transaction, or nothing (S12). Raises ``Stale``."""
    story, plan = teller.story, flight.plan
    flight.stage = "commit"
    record = _provenance(flight, judged)
    if plan.origin == "edited" and plan.replaced is not None:
        # A reworded turn is the same turn: what fired in it goes on counting.
        fired = sources.fired_cards(story.store, [plan.replaced.id]).get(plan.replaced.id)
        record |= {"fired": fired} if fired else {}
    packed, texts = prompting.pack(flight.prompt) if flight.prompt is not None else ({}, ())
    if packed:
        record["prompt"] = packed
    narration = NewNode(
        "narrator",
        flight.text,
        plan.narration_mode,
        plan.origin,
        source_id=plan.replaced.id if plan.replaced is not None and plan.origin in ("retold", "edited") else None,
        events=judged.verdict.events,
        checks=flight.checks,
        provenance=record,
    )
    nodes = (plan.player, narration) if plan.player is not None else (narration,)
    write = Acceptance(
        plan.anchor.id,
        nodes,
        plan.expected,
        left=plan.left,
        is_fork=plan.is_fork,
        has_place=plan.has_place,
        narrated=len(nodes) - 1,
        parts=texts,
        state_at=lambda index: dump(_state_below(story, flight, index)),
        expected_revision=plan.expected_revision,
    )
    return commit.accept(story.store, write)


def _state_below(story: Story, flight: InFlight, index: int) -> State:
    """The state at the parent of the turn's node ``index``."""
    state = story.state(flight.plan.anchor)
    return advance(state, "player", ()) if index else state


def _provenance(flight: InFlight, judged: Judged) -> dict[str, Any]:
    record = {key: value for key, value in flight.record.items() if value not in (None, "", {})}
    record["finish"] = flight.finish
    if flight.plan.note:
        record["note"] = flight.plan.note
    if judged.remark:
        record["remark"] = judged.remark
    if judged.verdict.refused:
        record["refused"] = [
            {"op": r.proposal.op, "path": r.proposal.path, "value": r.proposal.value, "reason": r.reason}
            for r in judged.verdict.refused
        ]
    if judged.verdict.notes:
        record["notes"] = list(judged.verdict.notes)
    if flight.prompt is not None:
        record["prompt_hash"] = messages_hash(flight.prompt)
    return record


def messages_hash(parts: PromptParts) -> str:
    """SHA-256 over the messages as compact JSON: what the inspector and the provenance call a prompt by."""
    body = [[message.role, message.content] for message in encode(parts)]
    return hashlib.sha256(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
