"""What the scripted narrator says where a campaign gives it nothing to say: short, true of any scene, no promise.

Second person, present tense, English. The ids begin with ``~`` so that no campaign's storylet can be called so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from narrator.core.conditions import Facts
from narrator.core.definition import PLAYER, Definition, Storylet, StoryletOutcome
from narrator.core.stems import Stems, stems
from narrator.core.view import name_of, open_values, visibility

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

_CARRYING = (
    "You go through what you have: {items}.",
    "You carry {items}. It has not grown heavier, nor lighter.",
    "By touch, without looking down, you count it over: {items}.",
)
_EMPTY_HANDED = (
    "You have nothing but what you stand up in.",
    "Your hands are empty, and so are your pockets.",
    "You search yourself from top to bottom. Nothing.",
)
_STANDING = (
    "You take a slow look about you. This is {place}.",
    "You are still at the same spot, {place}.",
    "You turn once all the way round. It is {place}, whichever way you face.",
)
_SEEING = (
    "You look closely. {text}",
    "{text} That is what there is to see.",
    "You give it the time it wants. {text}",
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
    """An answer to what nobody understood, naming two things that can be done; without any, what is always true."""
    if not ideas:
        return Storylet("~silent", (StoryletOutcome("", _SILENT),), on="hint", is_free=True)
    first = ideas[0]
    second = next((idea for idea in (*ideas[1:], *IDEAS) if idea != first), IDEAS[0])
    filled = tuple(text.format(first=_small(first), second=_small(second), First=_gerund(first)) for text in _HINTS)
    return Storylet("~hint", (StoryletOutcome("", filled),), on="hint", is_free=True)


FREE = frozenset({"~hint", "~silent"})
"""Ids of the answers here that move no clock."""

_LEFT = (
    "You leave it as it is.",
    "So you don’t. It stays undone, and nobody asks you why.",
    "You keep from it, which takes a little more than it looks.",
    "It’s left alone. That is done quickly.",
    "You think of it and don’t. There is something to be said for that.",
    "Your hands stay where they are. The moment for it goes by.",
    "You hold back. Everything else goes on as it was.",
    "No, not that. You turn your mind to the rest of it.",
)
LEFT = Storylet("~left", (StoryletOutcome("", _LEFT),))
"""What is said where the player says only what they do not do, and the campaign has no ``[[left]]``."""

PASSING = Storylet("~passing", (StoryletOutcome("", _PASSING),), on="continue")
"""What is said when the player says nothing and the campaign has nothing either."""


def _inventory(definition: Definition, state: Facts, spoken: Stems) -> Storylet | None:
    """What the player has, by name."""
    items = [
        path.partition(".")[2]
        for path, owner in state.values.items()
        if path.startswith("inventory.") and owner == PLAYER
    ]
    names = [
        name_of(state, definition, item) for item in items if visibility(definition, f"inventory.{item}") == "open"
    ]
    if not names:
        return _answer("~inventory", _EMPTY_HANDED) if definition.is_state_declared else None
    return _answer("~inventory", tuple(text.format(items=_and(names)) for text in _CARRYING))


def _place(definition: Definition, state: Facts, spoken: Stems) -> Storylet | None:
    """Where the player is, who is there: what the open part of the state says."""
    place = state.values.get("location")
    if not isinstance(place, str) or visibility(definition, f"entities.{place}.name") == "hidden":
        return None
    entity = definition.entities.get(place)
    text = f" {entity.text}" if entity is not None and entity.text and entity.visibility == "open" else ""
    present = open_values(state, definition).get("scene.present")
    others = [name for name in present if name != PLAYER] if isinstance(present, list) else []
    names = [name_of(state, definition, name) for name in others]
    company = f" {_and(names)} {'is' if len(names) == 1 else 'are'} here." if names else ""
    name = name_of(state, definition, place)
    return _answer("~place", tuple(text_.format(place=name) + text + company for text_ in _STANDING))


def _thing(definition: Definition, state: Facts, spoken: Stems) -> Storylet | None:
    """An entity in plain sight that the input names: present, carried, or the place itself."""
    present = state.values.get("scene.present")
    here = [state.values.get("location"), *(present if isinstance(present, list) else []), *_carried(state)]
    for entity in definition.entities.values():
        if entity.visibility != "open" or not entity.text or entity.id not in here:
            continue
        for name in (entity.id, entity.name, *entity.aliases):
            bare = tuple(stem for stem in stems(name, "en") if stem not in {"the", "a", "an", "of"})
            if bare and all(stem in spoken for stem in bare):
                return _answer(f"~thing-{entity.id}", tuple(text.format(text=entity.text) for text in _SEEING))
    return None


STANDARD: tuple[tuple[tuple[str, ...], Callable[[Definition, Facts, Stems], Storylet | None]], ...] = (
    (("examine|look|read|search|what",), _thing),
    (("inventory", "what + carry|have|own|hold + i", "what + pocket"), _inventory),
    (("look", "where + i|we"), _place),
)
"""Keys, and the answer that the state gives; the first that has one is taken."""


def _carried(state: Facts) -> list[str]:
    items = [path for path, owner in state.values.items() if owner == PLAYER and path.startswith("inventory.")]
    return [path.partition(".")[2] for path in items]


def _answer(storylet_id: str, wordings: tuple[str, ...]) -> Storylet:
    return Storylet(storylet_id, (StoryletOutcome("", wordings),))


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _small(idea: str) -> str:
    return (idea[:1].lower() + idea[1:]).rstrip(".!?")


def _gerund(idea: str) -> str:
    return "To " + _small(idea)
