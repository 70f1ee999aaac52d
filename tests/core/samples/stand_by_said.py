"""Stand By: who is on the air and who is meant, what is only asked, and what has a deed behind the way there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.core.samples.stand_by_answers import CONFESSED, WORDS, told

TOLLEY: Mapping[str, object] = {**WORDS, "flags.tolley_on": True, "flags.tolley_called": True}
"""It was Tolley who spoke last."""
LINE: Mapping[str, object] = {**WORDS, "flags.bearing_one": True}

SAID: Sequence[tuple[str, Mapping[str, object], Mapping[str, str]]] = (
    (
        "ops",
        {},
        {
            "fill the kettle then": "to-quarters-and-stove",
            "could I have a cup of tea please?": "to-quarters-and-stove",
            "read Harbottle's log": "to-quarters-and-read",
            "what did Harbottle write?": "osgood-harbottle",
            "look under the cloth": "to-plant-and-lift-cloth",
            "play the tape": "to-plant-and-find-reel",
            "play the mouth organ": "any-mouth-organ",
            "what hut?": "hut-asked",
            "what's the rope?": "rope-asked",
            "should I go outside? is it far?": "outside-asked",
            "climb the mast? is that safe?": "mast-asked",
            "Osgood, who is Constance?": "osgood-tolley",
            "ask Osgood about Tolley": "osgood-tolley",
            "ask Tolley about Osgood": "tolley-about-osgood",
            "ask Osgood about the Hens": "osgood-rocks",
            "ask Osgood about the hut": "osgood-hut",
            "call Osgood, the diesel won't start": "osgood-diesel",
            "tell Tolley that I don't know yet, but I'll find out": "tolley-promise",
            "how are you, Osgood?": "osgood-out-of-it",
            "I'm not sure": "any-unsure",
        },
    ),
    ("ops", {"flags.read_harbottle": True}, {"read Harbottle's log": "to-quarters-and-read-on"}),
    (
        "ops",
        {"flags.read_harbottle": True, "flags.knows_box": True},
        {"read Harbottle's log": "to-quarters-and-read-more"},
    ),
    (
        "ops",
        told("marle-asks"),
        {
            "um, I'm not sure what to say": "osgood-stall",
            "I'd rather not answer that": "osgood-stall",
            "I don't know": "osgood-stall",
            "I can't answer that": "osgood-stall",
            "say nothing": "osgood-stall",
            "tell Osgood I'm not sure": "osgood-stall",
            "give me a moment, Osgood": "osgood-stall",
            "why do you ask?": "osgood-stall",
            "no, nothing heard": "say-nothing-heard",
            "no": "say-nothing-heard",
            "yes": "asked-yes",
        },
    ),
    (
        "ops",
        {**TOLLEY, **told("tolley-calls")},
        {
            "Who are you?": "tolley-on-who",
            "tell Tolley that I don't know yet, but I'll find out": "tolley-promise",
            "tell him I'll find his son": "tolley-on-promise",
            "tell him to go north": "tolley-on-north",
            "Osgood, who is Constance?": "osgood-tolley",
            "how long have you got?": "tolley-search",
            "how is the sea?": "tolley-on-things",
            "tell him about the voice": "tolley-on-things",
            "ask him about Robin": "tolley-on-robin",
            "I'm not sure": "tolley-stall",
            "I'm sorry": "tolley-stall",
            "yes": "tolley-yes",
            "no": "tolley-no",
            "tell him the truth": "tolley-on-confess",
            "tell Osgood the truth": "confess",
            "call Osgood and tell him I heard a voice": "osgood-voice",
        },
    ),
    (
        "ops",
        {**TOLLEY, **LINE, **told("call-tolley")},
        {
            "give him the bearing": "tolley-on-line",
            "ask him which rock he thinks": "tolley-on-line",
            "tell Tolley to try the Hens": "tolley-line",
            "call Osgood and give him the bearing": "report-line",
            "tell Osgood to send them to the Hens, that's my guess": "osgood-guess",
        },
    ),
    (
        "ops",
        {**TOLLEY, **LINE, "flags.bearing_two": True},
        {
            "give him the position": "tolley-on-fix",
            "tell him they're on the Hens": "tolley-on-fix",
            "call Osgood and give him the position": "report-fix",
            "tell Osgood to send them to the Hens": "report-fix",
        },
    ),
    (
        "ops",
        LINE,
        {
            "ask Osgood how to get a second line": "osgood-second",
            "how do I get a second bearing?": "second-asked",
            "ask Osgood about the Hens": "osgood-rocks-line",
            "tell Osgood to send them to the Hens, that's my guess": "osgood-guess",
            "call Tolley and give him the bearing": "tolley-line",
            "what hut?": "hut-asked",
        },
    ),
    (
        "ops",
        {**CONFESSED, "flags.bearing_one": True, "flags.diesel_runs": True},
        {
            "call Osgood, the diesel is running": "osgood-diesel-runs",
            "ask Osgood about the Hens": "osgood-rocks-line",
            "tell Osgood to send them to the Hens, that's my guess": "osgood-guess",
            "ask Osgood about Tolley": "osgood-tolley-told",
            "tell Tolley I'm sorry": "tolley-sorry-told",
        },
    ),
    (
        "quarters",
        {},
        {
            "look at the hooks": "quarters-hooks",
            "could I have a cup of tea please?": "quarters-tea",
            "eat something": "quarters-food",
            "warm my hands at the stove": "quarters-stove",
            "look at the kettle": "quarters-kettle",
            "call Osgood": "to-ops-and-osgood",
        },
    ),
    (
        "yard",
        {},
        {
            "climb the mast? is that safe?": "mast-asked",
            "climb the mast": "yard-charger",
            "should I climb the mast?": "mast-asked",
            "look at the thing that creaks": "yard-things",
        },
    ),
    (
        "yard",
        {"flags.charger_free": True, **told("yard-charger")},
        {"what was that spark?": "spark-asked", "who is out there?": "spark-asked", "climb down": "yard-things-free"},
    ),
    (
        "hut",
        LINE,
        {
            "look through the slot": "hut-slot",
            "sit on the stool and put on the earpiece": "hut-bearing",
            "listen with the hand loop": "hut-bearing",
            "sit on the stool": "hut-stool",
        },
    ),
    (
        "hut",
        {**LINE, "flags.dark": True, **told("goes-dark")},
        {"listen with the hand loop": "hut-bearing", "use the lamp to signal the boat": "dark-lamp-line-plain"},
    ),
    (
        "ops",
        {},
        {
            "is that my own handwriting on the board?": "board-hand",
            "who said that?": "voice-asked",
            "Osgood, did you catch that just now?": "osgood-voice",
            "what's on the reel marked blank?": "reel-asked",
            "give the bearing to both of them": "bearing-none",
            "give Osgood the position": "bearing-none",
            "what do you think happened, Osgood?": "osgood-thinks",
            "does Tolley know?": "tolley-knows",
            "I feel sick": "any-sick",
        },
    ),
    (
        "ops",
        {**WORDS, **told("call-osgood", "osgood-voice")},
        {
            "what do you mean, a flea?": "osgood-flea",
            "ask him if anyone else is up this late": "osgood-awake",
            "tell him I think it's coming from the north": "osgood-north",
            "ask Osgood whether Tolley can hear me too": "osgood-who-hears",
            "look at the wheel": "ops-loop-look",
            "turn the wheel until she goes quiet": "bearing-ops",
            "tell Osgood to send Tolley north": "osgood-rocks",
        },
    ),
    ("ops", {**WORDS, **told("marle-asks")}, {"I might have heard something": "asked-yes"}),
    (
        "ops",
        {**WORDS, "flags.admitted": True},
        {
            "tell Osgood he has to send everyone north": "osgood-north-known",
            "I fell asleep, Osgood. I'm so sorry.": "confess",
        },
    ),
    (
        "ops",
        {**TOLLEY, **told("tolley-calls")},
        {
            "I might have heard something. On Tuesday.": "tolley-on-half",
            "do you hate me?": "tolley-on-feel",
            "which way are you heading?": "tolley-search",
            "I fell asleep, Tolley. I'm so sorry.": "tolley-confess",
        },
    ),
    (
        "ops",
        {**CONFESSED, "flags.tolley_on": True},
        {
            "will you make it in time?": "tolley-told-time",
            "how long until Tolley gets there?": "tolley-told-time",
            "what are you thinking?": "tolley-told-things",
        },
    ),
    ("ops", LINE, {"tell them both what I've got": "report-line"}),
    ("ops", {**LINE, "flags.bearing_two": True}, {"it's the Hens, Osgood. Send Tolley.": "report-fix"}),
    (
        "hut",
        LINE,
        {"look at the dial on the loop": "hut-loop-look", "try to find where she goes quiet": "hut-bearing"},
    ),
    (
        "hut",
        {**LINE, "flags.bearing_two": True, "flags.seen_torch": True},
        {"did anybody see that?": "hut-who-saw"},
    ),
    (
        "ops",
        {},
        {
            "who else is listening on this channel?": "listening-asked",
            "could she have gone north instead?": "north-asked",
            "scratch out that line": "log-strike-early",
        },
    ),
    ("ops", told("call-osgood"), {"tell him good night": "osgood-thanks"}),
    (
        "ops",
        {**WORDS, **told("marle-asks")},
        {
            "I need to tell you something": "osgood-something",
            "it's about Tuesday night": "osgood-something",
            "I was the one who answered them": "confess",
        },
    ),
    (
        "ops",
        {**TOLLEY, **told("call-tolley")},
        {
            "I'm going to get you a position": "tolley-on-promise",
            "I need to tell you something": "tolley-on-half",
        },
    ),
)
