"""Imported knowledge for a coming turn: the passages that input and scene ask for (C28)."""

from __future__ import annotations

from typing import Final

from narrator.core import prompt
from narrator.core.conditions import BadCondition, holds, parse_condition
from narrator.core.prompt import Part
from narrator.core.state import State
from narrator.core.view import name_of
from narrator.core.words import match_any, phrases
from narrator.engine.story import Story
from narrator.engine.turn import Plan
from narrator.store import commit, sources

MOST_PASSAGES: Final = 4
_MOST_PHRASES: Final = 12
_MOST_COUNTED: Final = 32
_ORDER: Final = {"canon": 0, "reference": 1, "inspiration": 2}


def consult(story: Story, plan: Plan, state: State) -> tuple[Part, ...]:
    """The passages for the tail of a prompt, the most binding first, each with how well it matches.

    Looked for are the words of the input (of the last narration where there is none) and of the scene, in the sources
    that are switched on and whose condition holds.
    """
    rows = [row for row in sources.knowledge(story.store) if row.is_enabled and _is_open(row.condition, state)]
    if not rows:
        return ()
    if sources.has_unindexed_passages(story.store) and not story.is_read_only:
        commit.index_passages(story.store)
    wanted = sources.telling_phrases(story.store, _wanted(story, plan, state), _MOST_PHRASES)
    if not wanted:
        return ()
    found = sources.ranked_passages(story.store, match_any(wanted), MOST_PASSAGES, [row.id for row in rows])
    found.sort(key=lambda each: _ORDER[each.kind])
    return tuple(prompt.knowledge_part(each.title, each.kind, each.text, f"score {each.score:.2f}") for each in found)


def _is_open(condition: str, state: State) -> bool:
    """A condition that no longer parses keeps its source shut: what it was to keep back stays back."""
    try:
        return not condition or holds(parse_condition(condition), state)
    except BadCondition:
        return False


def _wanted(story: Story, plan: Plan, state: State) -> list[str]:
    """The phrases of input and scene, the longest first."""
    text = plan.input
    if not text and plan.history_end is not None and plan.history_end.role != "correction":
        text = plan.history_end.text
    values = state.values
    present = values.get("scene.present")
    scene = [values.get("location"), *(present if isinstance(present, list) else [])]
    names = [name_of(state, story.definition, each) for each in scene if isinstance(each, str)]
    return sorted(phrases("\n".join((text, *names))), key=len, reverse=True)[:_MOST_COUNTED]
