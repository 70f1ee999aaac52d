"""The Lantern Road: who is where, what newcomers type, what moves the story, how large it has to be."""

from __future__ import annotations

from collections.abc import Iterator

from tests.core.sample_play import Game, Sample, sample, walks

COMPANY = {
    "ferry": ("tench",),
    "landing": ("sprat",),
    "toll-house": ("pike", "bailiff"),
    "causeway": (),
    "lamp-store": ("loach",),
    "seventh-lantern": (),
    "far-shore": ("dace",),
}

NEWCOMERS = {
    "ferry": (
        "look around",
        "examine the lantern",
        "talk to the ferryman",
        "who are you",
        "go on",
        "take the oil",
        "wait",
        "what do I have",
        "jump into the water",
        "help",
        "sing a song",
        "attack him",
        "ask about the light",
        "follow the road",
        "sleep",
        "hide",
        "pray",
        "give him money",
        "what is this place?",
        "stand up",
        "steal the boat",
        "I don't believe you",
        "examine rope",
    ),
    "landing": (
        "run back",
        "open the door",
        "talk to the boy",
        "ring the bell",
        "read the slate",
        "spy on the reeve",
        "where is the reeve",
        "pick up the pail",
        "play with the boy",
        "ask what happened",
    ),
    "toll-house": (
        "examine the desk",
        "pet the goose",
        "steal the ledger",
        "ask about the job",
        "distract her",
        "leave",
        "refuse",
        "threaten her",
    ),
    "causeway": ("look up", "climb the ladder", "light the lantern", "dig", "who lives here", "go east"),
    "lamp-store": ("hug her", "look out of the window", "ask how she fell", "blame her", "drink tea", "take the can"),
    "seventh-lantern": ("light it", "shout for help", "swim", "try the door", "turn back", "hold on"),
    "far-shore": ("pet the dog", "tell them about the reeve", "get some oil", "count the carts", "show them the way"),
}
"""What newcomers type, where it makes sense; some of it was found by playing, and is here because it had no answer."""

PIVOTS = {
    "ferry": (
        "look under the tarpaulin",
        "ask him about the oil",
        "mend the roof",
        "take the oil",
        "go ashore",
        "row to the seventh lantern",
        "go home",
    ),
    "landing": ("ask the boy about his string", "go to the toll-house", "follow the road", "back to the ferry"),
    "toll-house": (
        "feed the goose",
        "read the ledger",
        "accuse the reeve",
        "warm my hands",
        "blame loach",
        "go outside",
    ),
    "causeway": ("climb the ladder", "go east", "go west"),
    "lamp-store": ("help her with her knee", "ask about the lanterns", "take the oil", "climb down"),
    "seventh-lantern": ("tie up the ladder", "climb the ladder", "light the lantern", "cross the gap", "wait"),
    "far-shore": ("tell her the truth", "ask for oil", "lead the carts across", "go back", "wait"),
}
"""What moves the story, for the search."""


def games(count: int) -> Iterator[Game]:
    return walks(sample("lantern-road"), PIVOTS, count)


SAMPLE = Sample(
    name="lantern-road",
    company=COMPANY,
    newcomers=NEWCOMERS,
    understood=0.85,
    opening={
        "ask him about the lanterns": "ask-the-ferryman",
        "look under the tarpaulin": "ferry-tarpaulin",
        "go ashore": "go-ashore",
    },
    least={"input": 150, "hint": 12, "aside": 7},
    least_wordings=500,
    least_here=8,
    cards=8,
    endings=9,
    clock="tide",
    games=games,
    tries=150,
    found=frozenset({"relit", "witnessed", "reckoning", "by-hand"}),
    retold=("look", "ask about the lanterns", "mend the roof", "go ashore", "", "zxqv", "follow the road"),
)
