"""What the scripted narrator says where a campaign gives it nothing to say: short, true of any scene, no promise.

Second person, present tense, English. The ids begin with ``~`` so that no campaign's storylet can be called so.
"""

from __future__ import annotations

from collections.abc import Sequence

from narrator.core.conditions import Facts
from narrator.core.definition import Definition, Storylet, StoryletOutcome

IDEAS = ("look around", "wait and see what happens", "take stock of what you carry")
"""Suggestions that fit anywhere."""

_HINTS = (
    "You try it, and the moment lets it pass. You could {first}, though, or {second}.",
    "Nothing here answers to that. What does lie within reach: {first}, or {second}.",
    "The thought comes and goes and leaves everything as it was. You might {first}. You might {second}.",
    "That leads nowhere that you can see from here. {First} would; so would something simpler: {second}.",
    "You weigh it and put it by. There is a better use for the next minute: {first}, say, or {second}.",
    "It makes no difference to anyone. It might, if you were to {first}, or to {second}.",
    "Not that; not now. Closer to hand you could {first}, or else {second}.",
    "The world takes no notice. It would have to, if you were to {first}; or {second}, come to that.",
    "You get no further with it. From where you stand you can still {first}, or {second}.",
    "It comes to nothing, quietly. You are free to {first} all the same, or to {second}.",
    "There is no way to do that here that would change anything. You can {first}; you can {second}.",
    "For a breath it seems a good idea, and then it is gone. What remains is to {first}, or to {second}.",
)
_SILENT = (
    "You do it, and nothing comes of it yet. The scene stays as it was, and waits for you.",
    "The moment holds. Whatever might have answered keeps still, and so does everything else.",
    "It is done, and it changes nothing that you can see. Nobody remarks on it.",
    "You go through with it. Around you all things keep their places.",
    "Nothing takes up the thread. It is still in your hand.",
    "You wait for what follows, and nothing follows. That too is an answer of a kind.",
    "As far as you can tell, the world is of no opinion.",
    "It leaves no mark. You might as well have only thought of it.",
    "The story has nothing to set against that, and lets you have it.",
    "You have done what you set out to do. The rest stays quiet.",
    "All is as it was a moment ago, except that you have tried this now.",
    "There is no reply, from anyone or anything. You are where you were.",
)
_PASSING = (
    "A moment passes, and is like the one before it.",
    "Time goes on a little. Nothing presses you.",
    "You let it be, and it lets you be.",
    "Nothing happens, at some length.",
    "The next thing, it seems, is yours to begin.",
    "For a while everything simply stays where it is.",
    "You stand still, and the scene stands still with you.",
    "A little later it is a little later. That is all.",
    "What was going on goes on. What was quiet is quiet.",
    "You wait. So does whatever comes next.",
    "The moment stretches and does not break.",
    "No one speaks, and you find that you can bear it.",
)

ASIDES = Storylet(
    "~aside",
    (
        StoryletOutcome(
            "",
            (
                "It is no different for having been looked at twice.",
                "Nothing else moves for the space of a breath.",
                "You have the sense of having been here before, and you have.",
                "That has not changed. You did not think it had.",
                "A little time has gone by since; it shows in nothing but that.",
                "It is still so.",
            ),
        ),
    ),
    on="aside",
)
"""Sentences to put behind a wording that was heard before."""


def hint(ideas: Sequence[str]) -> Storylet:
    """An answer to what nobody understood, naming two things that can be done here; without any, see ``silence``."""
    if not ideas:
        return Storylet("~silent", (StoryletOutcome("", _SILENT),), on="hint")
    first = ideas[0]
    second = next((idea for idea in (*ideas[1:], *IDEAS) if idea != first), IDEAS[0])
    filled = tuple(text.format(first=_small(first), second=_small(second), First=_gerund(first)) for text in _HINTS)
    return Storylet("~hint", (StoryletOutcome("", filled),), on="hint")


def silence(definition: Definition, state: Facts) -> Storylet:
    """What is said when the player says nothing and the campaign has nothing either."""
    return Storylet("~passing", (StoryletOutcome("", _PASSING),), on="continue")


def _small(idea: str) -> str:
    return (idea[:1].lower() + idea[1:]).rstrip(".!?")


def _gerund(idea: str) -> str:
    return "To " + _small(idea)
