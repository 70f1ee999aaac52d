"""The scripted narrator as the engine meets it: one scene, several purposes, a stream that can be stopped."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from narrator.core.campaign import minimal_definition
from narrator.core.checks import roll_check
from narrator.core.referee import judge, parse_check, parse_proposals
from narrator.core.state import EMPTY
from narrator.narrators.port import Delta, Finish, Message, Narrator, Outcome, Purpose, Request, Scene
from narrator.narrators.scripted import ScriptedNarrator
from tests.core.small_campaign import small, start


def scene(text: str = "look", **changed: Any) -> Scene:
    definition = small()
    made = Scene(definition, start(definition), 7, b"n" * 32, 0, text, "do" if text else None)
    return replace(made, **changed)


def request(purpose: Purpose, at: Scene, *messages: Message) -> Request:
    return Request(purpose, messages, at, 500)


async def told(narrator: ScriptedNarrator, at: Scene) -> list[Any]:
    return [chunk async for chunk in narrator.stream(request(Purpose.NARRATE, at))]


async def answer(purpose: Purpose, at: Scene, *messages: Message) -> Any:
    return json.loads((await ScriptedNarrator(0).complete(request(purpose, at, *messages))).text)


@pytest.mark.spec("T15", "T18")
async def test_it_is_a_narrator_that_needs_no_message() -> None:
    narrator = ScriptedNarrator(0)
    assert isinstance(narrator, Narrator)
    known = await narrator.capabilities()
    assert known.window_source == "built in"
    assert known.host == ""
    assert narrator.count([Message("user", "é")]) >= 2
    await narrator.aclose()


@pytest.mark.spec("T18")
async def test_it_streams_word_by_word_and_ends_with_a_finish() -> None:
    chunks = await told(ScriptedNarrator(0), scene("yodel"))
    deltas = [chunk.text for chunk in chunks if isinstance(chunk, Delta)]
    assert len(deltas) > 3
    assert isinstance(chunks[-1], Finish)
    assert chunks[-1].reason == "stop"
    assert "".join(deltas) in {"The miller waits to be asked.", "There is a ladder to the loft."}


@pytest.mark.spec("T18")
async def test_paragraphs_survive_the_stream() -> None:
    text = "One two.\n\n“Three,” said four.\n\nFive."
    definition = small()
    first = replace(definition.storylets[0].outcomes[0], wordings=(text,))
    definition = replace(definition, storylets=(replace(definition.storylets[0], outcomes=(first,)),))
    chunks = await told(ScriptedNarrator(0), scene("look", definition=definition))
    assert "".join(chunk.text for chunk in chunks if isinstance(chunk, Delta)) == text


@pytest.mark.spec("T18")
async def test_check_narration_and_extraction_of_a_turn_agree() -> None:
    at = scene("ask the miller")
    asked = parse_check(json.dumps(await answer(Purpose.CHECK, at)))
    assert asked == ("persuade", "hard")
    rolled = roll_check(
        at.definition, at.state, *asked, seed=at.seed, chain_hash=at.chain_hash, ordinal=at.ordinal, number=0
    )
    at = replace(at, outcomes=(Outcome(rolled.skill, rolled.difficulty, rolled.outcome),))
    assert await answer(Purpose.CHECK, at) == {"check": None}
    text = "".join(chunk.text for chunk in await told(ScriptedNarrator(0), at) if isinstance(chunk, Delta))
    is_success = "success" in rolled.outcome
    assert text in ({"He nods.", "He tells you."} if is_success else {"He shrugs.", "He counts."})
    at = replace(at, narration=text)
    proposals = parse_proposals(json.dumps(await answer(Purpose.EXTRACT, at)))
    verdict = judge(at.definition, at.state, proposals, source="storylet")
    assert not verdict.refused
    assert verdict.events[0].path == ("flags.secret" if is_success else "player.nerve")
    assert verdict.events[-1].path == "story.fired"


@pytest.mark.spec("T18")
async def test_nothing_is_kept_between_requests() -> None:
    narrator, at = ScriptedNarrator(0), scene("look")
    first = await told(narrator, at)
    await told(narrator, scene("yodel"))
    assert await told(narrator, at) == first
    assert await told(ScriptedNarrator(0), at) == first


@pytest.mark.spec("T18", "S15")
async def test_a_retry_is_told_otherwise() -> None:
    first = await told(ScriptedNarrator(0), scene("look"))
    assert await told(ScriptedNarrator(0), scene("look", ordinal=1)) != first


@pytest.mark.spec("T3")
async def test_it_can_be_cancelled_at_every_word() -> None:
    whole = await told(ScriptedNarrator(0), scene("yodel"))
    for at in range(len(whole)):
        stream = ScriptedNarrator(0).stream(request(Purpose.NARRATE, scene("yodel")))
        heard = [await anext(stream) for _ in range(at)]
        await stream.aclose()  # type: ignore[attr-defined]
        assert heard == whole[:at]
        with pytest.raises(StopAsyncIteration):
            await anext(stream)


@pytest.mark.spec("T3", "T18")
async def test_a_slow_pace_is_cancelled_at_once() -> None:
    task = asyncio.ensure_future(told(ScriptedNarrator(0.001), scene("yodel")))
    await asyncio.sleep(0)
    loop = asyncio.get_running_loop()
    began = loop.time()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert loop.time() - began < 0.1


@pytest.mark.spec("T18")
async def test_the_pace_is_words_a_second() -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    chunks = await told(ScriptedNarrator(100), scene("yodel"))
    assert loop.time() - began >= (len(chunks) - 1) / 100 * 0.9


@pytest.mark.spec("T20")
async def test_it_suggests_three_things() -> None:
    ideas = (await answer(Purpose.SUGGEST, scene("")))["suggestions"]
    assert len(set(ideas)) == 3


@pytest.mark.spec("C21", "C23")
async def test_summaries_and_memories_quote_the_public_text() -> None:
    messages = (
        Message("system", "Rules. Hidden: the plan."),
        Message("user", "I ask the miller."),
        Message("assistant", "He shrugs. Then he counts."),
        Message("user", "I wait."),
        Message("assistant", "The wheel turns! It has begun."),
        Message("user", "Summarize. Answer with JSON."),
    )
    summary = await answer(Purpose.COMPACT, scene(""), *messages)
    assert summary["events"] == ["He shrugs.", "The wheel turns!"]
    assert summary["choices"] == ["I ask the miller.", "I wait."]
    assert set(summary) == {"events", "choices", "facts", "conflicts", "goals", "mood"}
    memory = (await answer(Purpose.MEMORY, scene(""), *messages))["memory"]
    assert memory == "He shrugs. The wheel turns!"
    assert "plan" not in json.dumps(summary) + memory


@pytest.mark.spec("T18")
async def test_a_campaign_without_storylets_is_answered_too() -> None:
    plain = scene("hello", definition=minimal_definition("T", "O"), state=EMPTY)
    assert len(await told(ScriptedNarrator(0), plain)) > 3
    assert await answer(Purpose.CHECK, plain) == {"check": None}
