"""The scripted narrator: a game in its own right, and the default without a model (T18).

It reads ``Request.scene`` alone; the choice of ``core.storylets`` is pure, so the check, the narration and the
extraction of one turn agree without anything being kept between them. It streams like a model, word by word, at a pace
that can be set. What it changes has the source ``storylet``.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence

from narrator.core.proposal import Proposal
from narrator.core.storylets import Choice, Telling, choose, choose_again, suggestions, tell
from narrator.narrators.port import Capabilities, Chunk, Completion, Delta, Finish, Message, Purpose, Request, Scene

WINDOW = 1_000_000
"""Tokens. It reads no messages, so any prompt fits; the budget wants a number."""

MEMORY_CHARACTERS = 400
_QUOTED = 12


class ScriptedNarrator:
    """Tells a campaign's storylets. Holds its name and pace, and nothing else.

    ``words_per_second``: 0 for at once (still in several pieces).
    """

    def __init__(self, words_per_second: float = 12, name: str = "scripted") -> None:
        self.name = name
        self.words_per_second = words_per_second

    async def capabilities(self) -> Capabilities:
        return Capabilities(
            window=WINDOW,
            window_source="built in",
            json_schema=True,
            model="storylets",
            counting="bytes",
            reads_messages=False,
            proposes_as="storylet",
        )

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """The telling, a word at a time; can be cancelled at every word."""
        pause = 1 / self.words_per_second if self.words_per_second > 0 else 0
        for word in re.findall(r"\s*\S+\s*?(?=\s|$)", self._text(request)):
            await asyncio.sleep(pause)
            yield Delta(word)
        yield Finish("stop")

    async def complete(self, request: Request) -> Completion:
        """A whole answer, of every purpose."""
        await asyncio.sleep(0)
        return Completion(self._text(request), Finish("stop"))

    def count(self, messages: Sequence[Message]) -> int:
        """Bytes, which tokens never exceed (C4)."""
        return sum(len(message.content.encode("utf-8", "surrogatepass")) + 8 for message in messages)

    async def aclose(self) -> None:
        """Nothing is held."""

    def _text(self, request: Request) -> str:
        scene = request.scene
        if request.purpose is Purpose.NARRATE:
            return telling(scene).text
        if request.purpose is Purpose.CHECK:
            return _json({"check": _check(scene)})
        if request.purpose is Purpose.EXTRACT:
            return _json({"changes": [_change(proposal) for proposal in telling(scene).proposals]})
        if request.purpose is Purpose.SUGGEST:
            ideas = suggestions(scene.definition, scene.state, seed=scene.seed, chain_hash=scene.chain_hash)
            return _json({"suggestions": list(ideas)})
        if request.purpose is Purpose.MEMORY:
            return _json({"memory": _memory(request.messages)})
        return _json(_summary(request.messages))


def telling(scene: Scene) -> Telling:
    """What the scene's turn tells and changes."""
    return tell(_choice(scene), scene.outcomes, scene.definition, scene.state)


def _choice(scene: Scene) -> Choice:
    choosing = choose_again if scene.is_retold else choose
    return choosing(
        scene.definition,
        scene.state,
        scene.input,
        scene.mode,
        seed=scene.seed,
        chain_hash=scene.chain_hash,
        ordinal=scene.ordinal,
    )


def _check(scene: Scene) -> dict[str, str] | None:
    """The check that the choice wants, as long as it has no outcome."""
    check = _choice(scene).check
    if check is None or not scene.definition.has_rules or any(one.skill == check.skill for one in scene.outcomes):
        return None
    return {"skill": check.skill, "difficulty": check.difficulty}


def _change(proposal: Proposal) -> dict[str, object]:
    return {"op": proposal.op, "path": proposal.path, "value": proposal.value, "why": proposal.why}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _passages(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """(role, text) of what was told: no system text, and not the question at the end."""
    told = [(message.role, message.content.strip()) for message in messages if message.role != "system"]
    return [passage for passage in (told[:-1] if len(told) > 1 else told) if passage[1]]


def _memory(messages: Sequence[Message]) -> str:
    """The first sentence of the first and of the last passage told: quoted, not interpreted."""
    told = [text for role, text in _passages(messages) if role == "assistant"] or [
        text for _, text in _passages(messages)
    ]
    sentences = dict.fromkeys(_first_sentence(text) for text in (told[:1] + told[-1:]))
    return " ".join(sentences)[:MEMORY_CHARACTERS]


def _summary(messages: Sequence[Message]) -> dict[str, object]:
    """The summary object of C21 in the story's own words: first sentences of what was told, and what the player did."""
    passages = _passages(messages)
    events = [_first_sentence(text) for role, text in passages if role == "assistant"]
    choices = [_first_sentence(text) for role, text in passages if role == "user"]
    if not events:
        events, choices = choices, []
    return {
        "events": _spread(events),
        "choices": _spread(choices),
        "facts": [],
        "conflicts": [],
        "goals": [],
        "mood": "",
    }


def _spread(items: Sequence[str]) -> list[str]:
    """At most a dozen, evenly from the whole."""
    kept = [item for item in items if item]
    if len(kept) <= _QUOTED:
        return kept
    return [kept[at * (len(kept) - 1) // (_QUOTED - 1)] for at in range(_QUOTED)]


def _first_sentence(text: str) -> str:
    plain = " ".join(text.split())
    end = re.search(r"[.!?…]['\"”’)]*(?=\s|$)", plain)
    return (plain[: end.end()] if end else plain)[:240]
