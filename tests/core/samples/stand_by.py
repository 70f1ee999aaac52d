"""Stand By: what newcomers type, what moves the story, how large it has to be. Nobody else is at the station."""

from __future__ import annotations

from collections.abc import Iterator

from tests.core.sample_play import Game, Sample, sample, walks

COMPANY: dict[str, tuple[str, ...]] = dict.fromkeys(("ops", "plant", "quarters", "shed", "yard", "hut"), ())

NEWCOMERS = {
    "ops": (
        "look around",
        "listen",
        "listen to the voice again",
        "call osgood",
        "ask osgood if he hears it",
        "is it just me?",
        "read the log",
        "answer the voice",
        "who is that",
        "turn off the radio",
        "examine the transmitter",
        "check the clock",
        "look at the chart",
        "go outside",
        "check the batteries",
        "read harbottle's log",
        "what did Harbottle hear?",
        "wait",
        "help",
        "hello?",
        "say hello",
        "record it",
        "triangulate the signal",
        "where is the relief boat",
        "what time is it",
        "am I going mad",
        "inventory",
        "fix the diesel",
        "smoke a cigarette",
        "say who are you",
        "ask about the marigold",
        "look out of the window",
        "turn the page",
        "turn back the page",
        "mayday",
        "check frequency",
        "rewind the tape",
        "is someone there",
        "pick up the pencil",
        "who is osgood",
        "call the coast guard",
        "find the source",
        "phone home",
        "open the door",
    ),
    "plant": (
        "look at the batteries",
        "play the tape",
        "lift the cloth",
        "what is this",
        "go back",
        "examine the box",
        "erase the tape",
        "read the labels",
        "open the box",
        "unlock",
        "destroy the box",
        "call osgood",
    ),
    "quarters": (
        "read Harbottle's log",
        "make some tea",
        "sleep",
        "look out the window",
        "eat something",
        "go to bed",
        "search the bunk",
        "sit down",
        "open the drawer",
        "what's out there",
        "leave",
    ),
    "shed": (
        "start the engine",
        "check the fuel",
        "examine the generator",
        "use the blowlamp",
        "kick it",
        "go back inside",
        "read the notice",
        "warm it up",
        "light a fire",
    ),
    "yard": (
        "climb the mast",
        "clear the ice",
        "follow the rope",
        "look north",
        "go in",
        "scream",
        "look at the sky",
        "jump off the cliff",
        "go to the cliff",
        "climb down",
    ),
    "hut": (
        "use the lamp",
        "look through the slot",
        "take a bearing",
        "listen",
        "read the wall",
        "signal sos",
        "go back",
        "sit on the stool",
        "send a message",
        "look for survivors",
    ),
}
"""What newcomers type, where it makes sense; some of it was found by playing, and is here because it had no answer."""

PIVOTS = {
    "ops": (
        "listen",
        "take a bearing",
        "report the position",
        "tell the truth",
        "unidentified",
        "go to the hut",
        "give tolley the position",
    ),
    "hut": ("take a bearing", "use the lamp", "go back"),
}
"""What moves the story, for the search."""


def games(count: int) -> Iterator[Game]:
    return walks(sample("stand-by"), PIVOTS, count)


SAMPLE = Sample(
    name="stand-by",
    company=COMPANY,
    newcomers=NEWCOMERS,
    understood=0.85,
    opening={
        "listen out for it again": "listen-first",
        "call Osgood and ask whether it’s just me": "osgood-voice",
        "read what Harbottle heard": "to-quarters-and-read",
        "turn the page": "own-log",
    },
    least={"input": 90, "hint": 12, "aside": 6},
    least_wordings=250,
    least_here=5,
    cards=7,
    endings=7,
    clock="drain",
    games=games,
    tries=80,
    found=frozenset({"record", "bearing", "stand-by"}),
    retold=("look", "listen", "take a bearing", "go to the quarters", "", "zxqv", "read harbottle’s log"),
    misunderstood=frozenset({"any-question", "any-question-dark"}),
)
