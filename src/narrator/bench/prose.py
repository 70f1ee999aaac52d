"""Seeded text that looks like a story: sentences of plain words, so that lengths, wrapping and search behave."""

from __future__ import annotations

from random import Random

_SUBJECTS = (
    "the ferryman",
    "a lantern",
    "the reeve",
    "your shadow",
    "the tide",
    "an old door",
    "the third bell",
    "a heron",
)
_VERBS = (
    "waits for",
    "turns from",
    "remembers",
    "leans on",
    "will not look at",
    "counts",
    "follows",
    "has no word for",
)
_OBJECTS = (
    "the drowned road",
    "a cold lamp",
    "your hand",
    "the far bank",
    "seven stones",
    "the rain",
    "the key",
    "its name",
)
_ENDS = (
    "before the light goes",
    "as it did last year",
    "and says nothing",
    "under the alders",
    "without hurry",
    "again",
)
_INPUTS = ("ask {0} about {1}", "look for {1} behind {0}", "follow {0} towards {1}", "wait until {0} has passed {1}")


def sentence(random: Random) -> str:
    """One sentence of about 60 characters."""
    words = f"{random.choice(_SUBJECTS)} {random.choice(_VERBS)} {random.choice(_OBJECTS)} {random.choice(_ENDS)}"
    return words[0].upper() + words[1:] + "."


def narration(random: Random, size: int = 1700) -> str:
    """Paragraphs of four sentences, about ``size`` bytes."""
    paragraphs: list[str] = []
    length = 0
    while length < size:
        paragraph = " ".join(sentence(random) for _ in range(4))
        paragraphs.append(paragraph)
        length += len(paragraph) + 2
    return "\n\n".join(paragraphs)[:size].rstrip()


def player_input(random: Random) -> str:
    """What a player types, about 60 bytes."""
    said = random.choice(_INPUTS).format(random.choice(_SUBJECTS), random.choice(_OBJECTS))
    return f"{said} and then go on {random.choice(_ENDS)}"


def memory(random: Random) -> str:
    """A remembered fact, one or two sentences."""
    return f"{sentence(random)} {sentence(random)}"
