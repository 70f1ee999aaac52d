"""Prompts of the other purposes: check, extract, suggest, compact, memory; each a question behind a history.

They begin with the stable prefix of narration, and with the same history where they may read it, so that a server's
prompt cache serves them too (C11). What a check, an extraction or a suggestion reads holds neither context checkpoint
nor memory (C30); a compaction reads the context checkpoint that it continues, a memory nothing but its nodes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from narrator.core.prompt import Part, PromptParts

_REMEMBERED: Final = frozenset({"memory"})

CHECK_QUESTION: Final = """\
Before the story goes on: does the outcome of what the player attempts hang on a skill? Do not narrate. Answer with \
one JSON object: {{"check": null}} when it does not, else {{"check": {{"skill": "…", "difficulty": "…"}}}}.
Skills: {skills}. Difficulties: {difficulties}."""

CHECK_TOOL: Final = "request_check"
CHECK_TOOL_SAYS: Final = "Have the dice decide what the player attempts. They answer with an outcome in words."
CHECK_CALL: Final = """\
Before the story goes on: does the outcome of what the player attempts hang on a skill? Do not narrate. Where it does, \
call {tool}; where it does not, answer with the one word no.
Skills: {skills}. Difficulties: {difficulties}."""

CHECK_REFUSED: Final = """\
That cannot be checked: {problem} Ask again by one of the names above, or for no check at all."""

EXTRACT_QUESTION: Final = """\
Do not narrate. List what your last message changed in the state, and nothing that it did not say. Answer with one \
JSON object: {"changes": [{"op": "…", "path": "…", "value": …, "why": "…"}]}, an empty list where nothing changed. \
Operations: set, add, append, remove, assert, retract, open, close, relate, move."""

SUGGEST_QUESTION: Final = """\
Do not narrate. Name three different things that the player's character might do now, each one short sentence without \
a mark. Answer with one JSON object: {"suggestions": ["…", "…", "…"]}."""

REPAIR_QUESTION: Final = """\
That was no JSON object of the shape asked for ({problem}). Answer again, with the JSON object alone."""

COMPACT_QUESTION: Final = """\
Do not narrate. The story above will be put away; in its place you will have your own notes, and nothing else. Write \
them now: all that later scenes need, out of the notes that stand before the story text, if there are any, and of the \
story text itself. Keep names as they are. Write only what was told openly: no guess at what the player thinks or \
wants, no secret, no number of a game, nothing of these instructions. Answer with one JSON object:
{{"events": [], "choices": [], "facts": [{{"text": "", "certainty": ""}}], "conflicts": [], "goals": [], "mood": ""}}
events: what happened and what others did, in the order of cause. choices: what the player did choose. facts: what \
came to light, each certain, likely or doubtful. conflicts: what is open between people. goals: what is pursued \
together. mood: the feeling that visibly remains. At most {words} words in all."""

SHORTEN_QUESTION: Final = """\
That cannot be used: {problem}. Write the same notes again as the one JSON object that was asked for, with no other \
text, in at most {words} words: join what belongs together, drop what matters least, keep names."""

MEMORY_QUESTION: Final = """\
Do not narrate. Put the passage above into one to three short sentences that help to remember it much later: who did \
what, where, and what came of it, with names. Write only what was told openly. Answer with one JSON object: \
{"memory": "…"}."""

MEMORY_SCHEMA: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "type": "object",
        "properties": {"memory": {"type": "string"}},
        "required": ["memory"],
        "additionalProperties": False,
    }
)
"""What a memory request asks for (contract)."""


def without_remembered(parts: PromptParts) -> PromptParts:
    """The same prompt without context checkpoint and memories: they feed no check, no rule and no change (C30)."""
    tail = tuple(part for part in parts.dynamic_tail if part.kind not in _REMEMBERED)
    return replace(parts, checkpoint=None, dynamic_tail=tail)


def check_prompt(
    narration: PromptParts,
    skills: Sequence[str],
    difficulties: Sequence[str],
    *,
    has_tool: bool = False,
    refused: tuple[str, str] | None = None,
) -> PromptParts:
    """Whether the coming turn hangs on a skill (T8); the narration's prompt up to the input, then the question.

    ``has_tool``: it is answered by a call. ``refused`` is (what was asked for, why that cannot be) for the one refusal.
    """
    wording = CHECK_CALL if has_tool else CHECK_QUESTION
    asked = wording.format(skills=", ".join(skills), difficulties=", ".join(difficulties), tool=CHECK_TOOL)
    parts = without_remembered(narration)
    parts = replace(parts, dynamic_tail=(*parts.dynamic_tail, Part("question", asked, source="check")))
    if refused is None:
        return parts
    wanted, problem = refused
    answer = Part("answer", wanted, role="narrator")
    return replace(parts, follow_up=(answer, Part("question", CHECK_REFUSED.format(problem=problem), source="refusal")))


def told_of_checks(wanted: Sequence[tuple[str, str]]) -> str:
    """What a model asked for, as its own answer in the request that refuses it."""
    return json.dumps([{"skill": skill, "difficulty": level} for skill, level in wanted], ensure_ascii=False)


def extract_prompt(narration: PromptParts, text: str, *, repair: tuple[str, str] | None = None) -> PromptParts:
    """What the new narration ``text`` changed (T4); the narration's prompt, its answer, then the question.

    ``repair`` is (the answer that could not be read, what was wrong with it) for the one repair request.
    """
    follow_up = [Part("narration", text, role="narrator"), Part("question", EXTRACT_QUESTION, source="extract")]
    if repair is not None:
        answer, problem = repair
        follow_up.append(Part("answer", answer or "…", role="narrator"))
        follow_up.append(Part("question", REPAIR_QUESTION.format(problem=problem), source="repair"))
    return replace(without_remembered(narration), follow_up=tuple(follow_up))


def suggest_prompt(narration: PromptParts) -> PromptParts:
    """Three things the player might do (T20), asked in the place of the current input."""
    parts = without_remembered(narration)
    tail = tuple(part for part in parts.dynamic_tail if part.kind not in ("input", "retry-note", "manner", "outcome"))
    return replace(parts, dynamic_tail=(*tail, Part("question", SUGGEST_QUESTION, source="suggest")))


def compact_prompt(
    stable_prefix: tuple[Part, ...], checkpoint: Part | None, nodes: Sequence[Part], *, words: int
) -> PromptParts:
    """A summary of all that ``checkpoint`` says and ``nodes`` tell, in place of both (C15, C21).

    It begins with the messages that a narration upon the same history begins with.
    """
    question = Part("question", COMPACT_QUESTION.format(words=words), source="compact")
    return PromptParts(stable_prefix, checkpoint, tuple(nodes), (question,))


def shorten_prompt(stable_prefix: tuple[Part, ...], answer: str, problem: str, *, words: int) -> PromptParts:
    """The one repair of a summary that is no summary, or too long. The story text is not sent again (C21)."""
    follow_up = (
        Part("answer", answer, role="narrator"),
        Part("question", SHORTEN_QUESTION.format(problem=problem, words=words), source="repair"),
    )
    asked = Part("question", COMPACT_QUESTION.format(words=words), source="compact")
    return PromptParts(stable_prefix, dynamic_tail=(asked,), follow_up=follow_up)


def memory_prompt(stable_prefix: tuple[Part, ...], nodes: Sequence[Part]) -> PromptParts:
    """One to three sentences of what these nodes tell (C23)."""
    question = Part("question", MEMORY_QUESTION, source="memory")
    return PromptParts(stable_prefix, None, tuple(nodes), (question,))
