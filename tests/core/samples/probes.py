"""What a player may ask in a sample campaign, whom for and which way: the tables of ``test_sample_probes``.

Each names a kind of input, so that an answer which misses it is found in all four campaigns at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.core.sample_play import Sample
from tests.core.samples import (
    beginners_please,
    beginners_please_answers,
    carried_forward,
    carried_forward_answers,
    carried_forward_said,
    lantern_road,
    lantern_road_answers,
    lantern_road_said,
    stand_by,
    stand_by_answers,
    stand_by_said,
)

Values = Mapping[str, object]


@dataclass(frozen=True)
class Probes:
    """One campaign's tables.

    ``people``: names as they are typed, with the place where each is found ('' where nowhere). ``asked``: whom one can
    ask in a place, about any of ``things``, with nothing known and with each of ``knowing``. ``deeds``: answers that
    set something going, which a question never does; ``meant``: endings that telling somebody something is meant to
    reach. ``ways``: what is typed in a place, with the place that it leads to. ``answers``: what is typed in a place,
    with what was found out, and the storylet that answers. ``secrets``: words that no hint may use before anything
    was found out.
    """

    sample: Sample
    people: Mapping[str, str]
    asked: Mapping[str, Sequence[str]]
    things: Sequence[str]
    ways: Mapping[str, Mapping[str, str]]
    secrets: Sequence[str]
    knowing: Sequence[Values] = ()
    deeds: frozenset[str] = frozenset()
    meant: frozenset[str] = frozenset()
    answers: Sequence[tuple[str, Values, Mapping[str, str]]] = field(default=())


LANTERN_ROAD = Probes(
    sample=lantern_road.SAMPLE,
    people={
        "Tench": "ferry",
        "the ferryman": "ferry",
        "Reeve Pike": "toll-house",
        "the Reeve": "toll-house",
        "Sprat": "landing",
        "the boy": "landing",
        "Loach": "lamp-store",
        "the lamplighter": "lamp-store",
        "Mrs Dace": "far-shore",
        "the carters": "far-shore",
        "Minnow": "far-shore",
        "Perch": "far-shore",
        "Bailiff": "toll-house",
        "the goose": "toll-house",
    },
    asked={
        "ferry": ("Tench", "the ferryman"),
        "landing": ("Sprat", "the boy"),
        "toll-house": ("the Reeve", "Pike"),
        "lamp-store": ("Loach",),
        "far-shore": ("Mrs Dace",),
    },
    things=(
        *("the cask", "the ledger", "the string", "the lanterns", "the oil", "the letter", "the auditors", "Thursday"),
        *("the ghosts", "Saltmarket", "the law", "the tide", "the coal door", "the carts", "the job", "the slate"),
        *("the bell", "the roof", "the ladder", "her fall", "the Dip", "the cask on the ferry", "the seventh lantern"),
        *("Tench", "the Reeve", "Sprat", "Loach", "Mrs Dace", "the goose"),
    ),
    knowing=(
        {"flags.saw_cask": True},
        {"flags.saw_cask": True, "flags.saw_ledger": True, "flags.sprat_told": True, "flags.loach_told": True},
        {"flags.tench_confessed": True, "flags.dace_knows": True, "inventory.oil": "player"},
    ),
    deeds=frozenset({"ferry-jump", "ferry-attack", "landing-to-ferry", "any-inventory", "any-who-am-i"}),
    ways={
        "ferry": {
            "go ashore": "landing",
            "cross to the stage": "landing",
            "go up the steps": "landing",
            "get off the boat": "landing",
            "go to the hut": "landing",
            "go to the lantern": "landing",
        },
        "landing": {
            "go into the toll-house": "toll-house",
            "knock on the door": "toll-house",
            "go down the steps": "causeway",
            "go to the lamp-store": "causeway",
            "go to the hut": "causeway",
            "go to the Dip": "causeway",
            "walk east": "causeway",
            "get on the ferry": "ferry",
            "go home": "ferry",
            "talk to the ferryman": "ferry",
            "open the coal door": "landing",
            "go through the coal door": "landing",
            "climb in through the window": "landing",
        },
        "toll-house": {
            "go out the coal door": "landing",
            "leave by the coal door": "landing",
            "go through the back door": "landing",
            "open the coal door": "landing",
            "go out": "landing",
            "open the door": "landing",
            "go to the ferry": "landing",
            "climb out of the window": "toll-house",
        },
        "causeway": {
            "climb the rope ladder": "lamp-store",
            "go through the trapdoor": "lamp-store",
            "go to the lamp-store": "lamp-store",
            "go west": "landing",
            "go to the third lantern": "landing",
            "go to the toll-house": "landing",
            "go back to the ferry": "landing",
            "go north": "causeway",
        },
        "lamp-store": {
            "go through the trapdoor": "causeway",
            "open the trapdoor": "causeway",
            "climb out of the window": "causeway",
            "jump down": "causeway",
            "go down the rope ladder": "causeway",
            "go to the far shore": "causeway",
        },
        "seventh-lantern": {
            "go back": "causeway",
            "go to the sixth lantern": "causeway",
            "go to the Dip": "causeway",
        },
        "far-shore": {
            "go into the gap": "seventh-lantern",
            "go west": "seventh-lantern",
            "follow the track": "far-shore",
            "go to the salt pans": "far-shore",
            "climb onto the load": "far-shore",
        },
    },
    meant=frozenset({"end-reckoning"}),
    secrets=(
        "thirteen",
        "twelve casks",
        "Saltmarket",
        "Wellington",
        "Thursday",
        "forty-eight",
        "Hemming’s wrap",
        "Gudgeon",
        "with knots",
    ),
    answers=(
        (
            "lamp-store",
            {"flags.saw_cask": True},
            {
                "tell Loach about the cask on the ferry": "loach-told-cask",
                "tell her about the cask": "loach-told-cask",
                "tell Loach that Tench sold the oil": "loach-told-cask",
                "there is oil on the ferry": "loach-told-cask",
            },
        ),
        (
            "lamp-store",
            {"flags.saw_cask": True, "flags.loach_told": True},
            {"tell Loach about the cask on the ferry": "loach-told-cask-after"},
        ),
        ("lamp-store", {"flags.saw_ledger": True}, {"tell Loach about the ledger": "loach-told-ledger"}),
        ("lamp-store", {"flags.sprat_told": True}, {"tell Loach what Sprat saw": "loach-told-string"}),
        (
            "lamp-store",
            {},
            {
                "tell Loach about the ledger": "loach-told-little",
                "tell Loach about the cask on the ferry": "loach-told-little",
                "show Loach the letter": "loach-letter",
                "ask what happened to her knee": "loach-fall",
                "ask Loach about the ghosts": "loach-ghosts",
                "ask Loach about the law": "loach-law",
                "ask Loach about the tide": "loach-tide",
                "ask Loach about the crab": "loach-things",
                "tell Loach I am the new keeper": "loach-job",
                "look out of the window": "store-window",
            },
        ),
        ("landing", {"flags.saw_ledger": True}, {"tell Sprat about the ledger": "sprat-told-ledger"}),
        (
            "landing",
            {},
            {
                "look for Loach": "no-loach",
                "look for Tench": "landing-tench",
                "ask Loach about the lanterns": "no-loach",
                "look at the coal door": "landing-coal-door",
            },
        ),
        (
            "ferry",
            {},
            {
                "look for Loach": "no-loach",
                "ask Sprat about the string": "no-sprat",
                "tell Loach about the cask": "no-loach",
                "ask Tench about the roof": "ferry-things",
                "ask Tench about the ghosts": "ferry-ghosts",
            },
        ),
        (
            "toll-house",
            {},
            {
                "look at the coal door": "toll-coal-door-look",
                "look under the rug": "toll-coal-door-look",
                "look out of the window": "toll-window",
                "ask the Reeve about the ledger": "pike-ledger",
                "ask the Reeve about the law": "toll-law",
            },
        ),
        ("causeway", {}, {"look for Loach": "causeway-shout", "look for Sprat": "no-sprat"}),
        ("seventh-lantern", {}, {"look for Mrs Dace": "seventh-dace"}),
        (
            "far-shore",
            {"flags.saw_cask": True},
            {"tell Mrs Dace about the cask on the ferry": "dace-tell", "tell the carters about the cask": "dace-tell"},
        ),
        (
            "far-shore",
            {"flags.saw_cask": True, "flags.dace_knows": True},
            {"tell Mrs Dace about the cask on the ferry": "dace-told"},
        ),
        (
            "far-shore",
            {},
            {"find Perch": "far-perch", "look for Minnow": "far-child", "ask her about the salt": "dace-things"},
        ),
        *lantern_road_answers.ANSWERS,
        *lantern_road_said.ANSWERS,
    ),
)

STAND_BY = Probes(
    sample=stand_by.SAMPLE,
    people=dict.fromkeys(("Osgood", "Tolley", "Harbottle", "Robin", "the Marigold", "the relief boat", "the crew"), ""),
    asked={"ops": ("Osgood", "Tolley")},
    things=(
        *("the voice", "the Marigold", "Tuesday", "the box", "the tape", "the batteries", "the diesel", "the log"),
        *(
            "the relief boat",
            "Harbottle",
            "the ice",
            "Robin",
            "the Hens",
            "Amory",
            "the weather",
            "the lamp",
            "the hut",
        ),
        *("the search", "the chart", "the overdue board", "the rules", "the potatoes"),
    ),
    knowing=(
        {"flags.heard_words": True, "flags.knows_box": True},
        {"flags.heard_words": True, "flags.confessed": True},
    ),
    deeds=frozenset({"any-jump", "any-hello", "ops-look", "radio-off"}),
    ways={
        "ops": {
            "go to the plant room": "plant",
            "go through the door": "yard",
            "follow the rope": "hut",
            "go to the operations room": "ops",
            "go down the steps": "ops",
            "go onto the roof": "ops",
        },
        "plant": {"go to the plant room": "plant", "go back": "ops", "go down the steps": "plant", "go out": "yard"},
        "quarters": {"go to the quarters": "quarters", "go down the steps": "quarters", "leave": "ops"},
        "shed": {"go to the shed": "shed", "go to the yard": "yard", "go to the operations room": "ops"},
        "yard": {
            "go through the door": "ops",
            "go to the yard": "yard",
            "follow the rope": "hut",
            "go down to the landing": "yard",
            "go to the shed": "shed",
        },
        "hut": {"follow the rope": "yard", "go outside": "yard", "go to the hut": "hut", "go back": "ops"},
    },
    secrets=("parrot", "asleep", "slept", "Hens", "platform", "rock pool"),
    answers=(
        (
            "ops",
            {},
            {
                "find the relief boat": "where-they-are",
                "ask Osgood about the batteries": "osgood-station",
                "ask Osgood about the weather": "osgood-sea",
                "ask Tolley about the voice": "tolley-things",
                "ask Tolley about Harbottle": "tolley-things",
                "tell Tolley about the search": "tolley-things",
            },
        ),
        ("quarters", {}, {"look for Osgood": "where-they-are", "talk to Osgood": "to-ops-and-osgood"}),
        ("hut", {}, {"follow the rope back": "hut-back"}),
        *stand_by_answers.ANSWERS,
        *stand_by_said.SAID,
    ),
)

BEGINNERS_PLEASE = Probes(
    sample=beginners_please.SAMPLE,
    people={
        "Monty": "prompt-corner",
        "Oddy": "wings",
        "Perpetua": "dressing-rooms",
        "the understudy": "dressing-rooms",
        "Win": "stage-door",
        "Aubrey": "",
        "Desmond": "",
        "Bryn": "",
        "the Bishop": "",
    },
    asked={
        "prompt-corner": ("Monty",),
        "wings": ("Oddy",),
        "dressing-rooms": ("Perpetua",),
        "stage-door": ("Win",),
    },
    things=(
        *("Desmond", "the soup", "the mitre", "the slips of paper", "Harrogate", "Aubrey", "Perpetua", "Oddy", "Win"),
        *("Monty", "Bryn", "the curtain", "the script", "the teapot", "the telegram", "the cat", "the hoover"),
        *("the audience", "the trapdoor", "the headset", "the play", "Row C", "the cue book", "the toffee"),
    ),
    knowing=({"flags.saw_slip": True, "flags.knows_here": True}, {"flags.found": True, "flags.told": True}),
    deeds=frozenset({"cancel-ask", "any-front", "any-go", "soup-touch-ask"}),
    ways={
        "prompt-corner": {
            "go down the trap stairs": "under-stage",
            "leave by the stage door": "stage-door",
            "go out to the alley": "stage-door",
            "go onto the stage": "wings",
            "ask the understudy about the mitre": "dressing-rooms",
            "ask Win if he left": "stage-door",
            "go out front": "prompt-corner",
            "go through the curtain": "prompt-corner",
        },
        "wings": {"go down the trap stairs": "under-stage", "look for Monty": "prompt-corner", "go out front": "wings"},
        "dressing-rooms": {
            "go down the trap stairs": "under-stage",
            "knock on Two": "dressing-rooms",
            "go into Four": "dressing-rooms",
            "look for Win": "stage-door",
        },
        "stage-door": {"leave by the stage door": "stage-door", "look for the understudy": "dressing-rooms"},
        "under-stage": {"go down the trap stairs": "under-stage", "leave by the stage door": "stage-door"},
    },
    secrets=(
        "slips",
        "tidied",
        "tidying",
        "envelope",
        "listening at his door",
        "Monty says",
        "forty-one",
        "peppermint",
    ),
    answers=(
        (
            "prompt-corner",
            {},
            {
                "ask Monty about Oddy": "monty-people",
                "ask Monty about the soup": "monty-soup",
                "ask Monty about the telegram": "monty-things",
                "ask Aubrey about the soup": "corner-row-c",
            },
        ),
        ("wings", {}, {"tell Oddy about the audience": "oddy-things", "ask Oddy about Monty": "oddy-people"}),
        ("dressing-rooms", {}, {"tell Perpetua about Win": "vane-people", "talk to Aubrey": "any-aubrey"}),
        ("stage-door", {}, {"ask Win about Perpetua": "win-people", "find Win": "look-win", "go out": "door-leave"}),
        ("under-stage", {}, {"look for the Bishop": "under-clue"}),
        *beginners_please_answers.ANSWERS,
    ),
)

CARRIED_FORWARD = Probes(
    sample=carried_forward.SAMPLE,
    people={
        "Mrs Cobb": "quay",
        "Captain Fell": "office",
        "Miss Orr": "long-room",
        "the clerk": "long-room",
        "Mrs Marram": "marram-house",
        "Mr Budge": "post-office",
    },
    asked={
        "quay": ("Mrs Cobb",),
        "office": ("Captain Fell",),
        "long-room": ("Miss Orr",),
        "marram-house": ("Mrs Marram",),
        "post-office": ("Mr Budge",),
    },
    things=(
        *("the nine ships", "the dues", "the ledger", "the coffee", "the Constant Anne", "Daniel Marram", "the packet"),
        *(
            "the breakwater",
            "the tablet",
            "the Act",
            "the postcard",
            "Mr Gault",
            "the telegram",
            "the boots",
            "the pies",
        ),
        *("the chapel", "the board", "the lots", "the basket", "the insurance", "the doctor", "the light"),
        *("the yellow door", "the Danish letters"),
    ),
    knowing=({"flags.knows_roll": True}, {"flags.knows_roll": True, "flags.knows_anne": True}),
    deeds=frozenset(
        {
            *("gault-ask", "exact-ask", "exact-partial", "sign-ask", "one-ask", "burn-ask", "any-absent"),
            *("forty-ask", "absent-fell", "absent-orr", "absent-ida", "absent-cobb", "absent-budge"),
        }
    ),
    ways={
        "quay": {
            "go up the hill": "marram-house",
            "ask Captain Fell about the boats": "office",
            "ask the clerk about the boats": "long-room",
            "go into the vestry": "chapel",
        },
        "office": {"go to the harbour office": "office", "go upstairs": "long-room", "go outside": "quay"},
        "long-room": {"go downstairs": "office", "look for Mrs Cobb": "quay"},
        "marram-house": {"knock on the yellow door": "marram-house", "go outside": "quay"},
        "breakwater": {"walk along the breakwater": "breakwater", "look for Miss Orr": "long-room"},
        "post-office": {"go to the post office": "post-office", "look for the clerk": "long-room"},
    },
    secrets=("nineteen stairs", "section 2", "Esbjerg", "lots", "basket", "duty on it", "thirty-nine"),
    answers=(
        (
            "quay",
            {},
            {
                "find Mrs Cobb": "cobb-first",
                "where is Miss Orr": "where-people",
                "ask Mrs Cobb about the Act": "cobb-things",
            },
        ),
        ("office", {}, {"find Captain Fell": "fell-look", "ask Captain Fell about the insurance": "fell-things"}),
        ("long-room", {}, {"find the clerk": "orr-look", "tell Miss Orr about the Act": "act-read"}),
        ("marram-house", {}, {"ask Mrs Marram about Captain Fell": "ida-people", "where is Mrs Marram": "ida-look"}),
        ("breakwater", {}, {"where is Miss Orr": "where-people"}),
        ("post-office", {}, {"tell Mr Budge about the nine ships": "budge-talk", "find Mr Budge": "budge-look"}),
        *carried_forward_answers.ANSWERS,
        *carried_forward_said.ANSWERS,
    ),
)

ALL = (BEGINNERS_PLEASE, CARRIED_FORWARD, LANTERN_ROAD, STAND_BY)
