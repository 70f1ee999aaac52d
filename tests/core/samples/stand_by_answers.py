"""Stand By: what strangers typed where, and which storylet answers it; with what they had found out by then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def told(*names: str) -> Mapping[str, object]:
    """That these storylets have been told, a turn ago."""
    records = {name: {"order": at + 1, "last": 0, "count": 1, "told": {}} for at, name in enumerate(names)}
    return {"story.fired": records}


WORDS: Mapping[str, object] = {"flags.heard_words": True}
CONFESSED: Mapping[str, object] = {
    **WORDS,
    "flags.heard_breath": True,
    "flags.admitted": True,
    "flags.confessed": True,
}
DARK: Mapping[str, object] = {
    **CONFESSED,
    "flags.dark": True,
    "flags.diesel_runs": True,
    "flags.relit": True,
    **told("goes-dark", "goes-dark-again"),
}
"""After the engine has run dry."""

ANSWERS: Sequence[tuple[str, Mapping[str, object], Mapping[str, str]]] = (
    (
        "ops",
        {},
        {
            "what did the voice sound like? was it my own voice?": "voice-asked",
            "who is Størmer?": "osgood-stormer",
            "Osgood, what are you chewing?": "osgood-eats",
            "tell Osgood I don't want to use the loop, I'm frightened of what it'll point at": "osgood-afraid",
            "don't listen. take the headphones off and stay silent": "listen-not",
            "is Amory coming back?": "amory-back",
            "put my coat on the spare chair's occupant, i.e. talk to her": "chair-talk",
            "don't call Osgood, go and sleep": "to-quarters-and-bunk",
            "how is Tolley taking it, with his lad aboard?": "tolley-boy",
            "who are the three people aboard the Marigold?": "who-is-cargill",
            "Who's Ivo Cargill? Do I know him?": "who-is-cargill",
            "tear out the page": "log-destroy",
            "don't turn the loop": "loop-not",
        },
    ),
    (
        "ops",
        WORDS,
        {
            "tell Osgood I don't want to use the loop, I'm frightened of what it'll point at": "osgood-afraid",
            "ask Osgood what the hurry was": "osgood-hurry",
            "what do you mean, a flea?": "osgood-flea",
            "call Tolley and tell him his boy may be alive": "tolley-boy",
            "ask Osgood why he trusts me": "osgood-trust",
            "nothing for you, Osgood. What's the tremble you hear?": "osgood-tremble",
            "why did I wipe the board on Wednesday?": "board-wiped",
            "don't tell Osgood about the voice, ask him about Harbottle instead": "osgood-harbottle",
            "don't listen. take the headphones off and stay silent": "listen-not",
            "say to the Marigold on the air: hold on, we are coming to you": "answer-marigold",
            "could I signal with the lamp? what's the lamp for?": "lamp-asked",
            "go out to the hut": "go-hut",
        },
    ),
    ("ops", told("osgood-relief"), {"how did I arrange it?": "how-arranged"}),
    ("ops", told("osgood-voice"), {"what do you mean, Osgood?": "osgood-mean", "call Osgood": "osgood-still"}),
    ("ops", told("call-tolley"), {"what do you mean, Tolley? what kind of place?": "tolley-place"}),
    ("ops", {**WORDS, "flags.heard_breath": True}, {"who was breathing? is it a child?": "breath-asked"}),
    (
        "ops",
        {**WORDS, "flags.bearing_one": True},
        {
            "tell Osgood the truth about Tuesday night": "confess-line",
            "ask Osgood if he hears the voice": "osgood-voice-line",
            "follow the handline to the hut and take a bearing with the hand loop": "to-hut-and-loop",
        },
    ),
    (
        "ops",
        {**CONFESSED, "flags.knows_box": True},
        {
            "squeeze the key and say: Marigold, Gannet Head, I am here, I'm awake this time": "answer-marigold",
            "tell Osgood that Tolley's lad is aboard, the boy who brings my post. He's seventeen": "osgood-robin",
            "what does Osgood think of me now? ask him if he's angry": "osgood-trust-told",
            "look for Harbottle. is he still somewhere on the island?": "osgood-harbottle-told",
        },
    ),
    (
        "ops",
        {**CONFESSED, "flags.bearing_one": True},
        {
            "tell him I've already got one: three four two": "report-line",
            "don't go to the point yet: ask him what happens if Tolley picks the wrong rock": "osgood-confessed-line",
        },
    ),
    (
        "quarters",
        {"flags.read_harbottle": True},
        {
            "burn Harbottle's ledger in the stove": "ledger-burn",
            "don't read any more, put it back on the shelf": "ledger-shut",
            "no, I haven't the stomach. close it": "ledger-shut",
            "what box? a box that only talks when it's wet?": "box-asked-early",
            "so Harbottle was mad? did he really leave or did he die here?": "harbottle-asked",
            "go to the radio room and ask Osgood what became of Harbottle": "go-ops",
            "go to the radio room and turn the big loop until she fades out": "to-ops-and-loop",
            "why do I say good evening to a towel?": "towel",
            "sit down by the stove and sing to keep awake": "quarters-stove",
            "look for Amory's things in the quarters": "to-quarters-and-amory",
        },
    ),
    (
        "quarters",
        {"flags.read_harbottle": True, "flags.knows_box": True},
        {"don't read any more, put it back on the shelf": "ledger-shut"},
    ),
    (
        "hut",
        {**WORDS, "flags.bearing_one": True},
        {
            "take the sock off the lamp": "hut-sock",
            "could I signal with the lamp? what's the lamp for?": "hut-lamp-asked",
            "don't light the lamp yet, just look at it and at the sock": "hut-lamp-asked",
            "point the lamp north and flash: MARIGOLD I AM HERE DO YOU SEE ME": "hut-lamp",
            "who could see it from out there? is anybody looking?": "hut-who-sees",
        },
    ),
    (
        "hut",
        DARK,
        {
            "who could see it from out there? is anybody looking?": "dark-who-sees",
            "point the lamp north and flash: MARIGOLD I AM HERE DO YOU SEE ME": "dark-lamp-north",
            "flash the lamp at the Constance: MARIGOLD IS NORTH OF ME": "dark-lamp-told-blind",
            "could I signal with the lamp? what's the lamp for?": "hut-lamp-asked",
        },
    ),
    (
        "ops",
        DARK,
        {
            "could I signal with the lamp? what's the lamp for?": "lamp-asked",
            "is there any other fuel? paraffin for the stove? look for some": "dark-fuel-none",
        },
    ),
    (
        "plant",
        {},
        {"go outside and climb the mast to break the ice off the wind charger": "to-yard-and-mast"},
    ),
    (
        "ops",
        {},
        {
            "Who is the woman I heard on the radio?": "voice-asked",
            "what is a silence period?": "silence-asked",
            "How do you swallow the front half of a callsign?": "callsign-asked",
            "please could you tell me why I've been alone for thirty-one days?": "alone-asked",
            "tell Osgood I haven't slept since Tuesday": "osgood-tired",
            "why don't I want to look at Tuesday's page?": "log-asked",
            "is anybody else on the station with me?": "where-they-are",
            "rub the name off the board": "board-rub",
            "what are the Hens?": "rocks-asked-early",
            "thank you, Osgood": "osgood-thanks",
            "how long have you got, Tolley?": "tolley-search",
            "tell Tolley he's looking in the wrong place": "tolley-wrong",
            "will they put me in prison?": "future-asked",
            "put the coat on": "any-coat",
        },
    ),
    ("ops", told("osgood-voice"), {"why do you ask about my sleep?": "osgood-why-sleep"}),
    (
        "ops",
        {**WORDS, **told("marle-asks")},
        {
            "Osgood, yes. I heard my own voice telling the Marigold to stand by.": "asked-yes",
            "Could that be a recording? Who would have recorded me?": "recording-asked",
        },
    ),
    (
        "ops",
        {**WORDS, "flags.heard_breath": True},
        {"pick the pencil up and write down exactly what I heard": "write-heard"},
    ),
    (
        "ops",
        {**WORDS, "flags.bearing_one": True},
        {
            "who could be on those rocks?": "rocks-asked",
            "what if he picks the wrong rock?": "rock-wrong",
            "why can't Tolley try all three?": "rock-wrong",
        },
    ),
    (
        "ops",
        {**WORDS, "flags.bearing_one": True, "flags.bearing_two": True, "flags.tolley_waits": True},
        {
            "I don't want to lie to him, but I'm afraid": "waits-torn",
            "what will he think of me?": "waits-torn",
            "it is my voice": "truth-to-tolley",
            "I'm afraid it was me": "truth-to-tolley",
            "I don't know": "lie-to-tolley",
        },
    ),
    (
        "quarters",
        {"flags.read_harbottle": True},
        {
            "look at the calendar on the wall": "calendar",
            'what does he mean by "heard self"?': "ledger-meaning",
            "why has Tuesday been gone over?": "calendar",
        },
    ),
    (
        "plant",
        {},
        {
            "what are the two screws for?": "plant-screws",
            "what happened to number 1?": "plant-number-one",
            "which reel is Tuesday's?": "plant-reel",
            "why did I lock this door on Wednesday?": "plant-lock-asked",
            "I can't bear it, turn it off": "plant-stop",
        },
    ),
    ("shed", {}, {"warm the bowl with the blowlamp and then turn the crank": "shed-warm-early"}),
    (
        "hut",
        {**WORDS, "flags.bearing_one": True, "flags.bearing_two": True, "flags.seen_torch": True},
        {
            "shine the lamp at the Hens and ask who they are": "hut-lamp-again",
            "tell them that help is coming": "hut-lamp-again",
            "is it Robin?": "rocks-fixed",
        },
    ),
    (
        "ops",
        DARK,
        {
            "where's the torch? turn it on": "dark-torch",
            "what still works?": "dark-works",
            "is the clock still going?": "dark-clock",
            "ask Tolley how much fuel he has left": "dark-radio",
        },
    ),
    (
        "ops",
        {},
        {
            "What's the matter with the diesel?": "diesel-asked",
            "I would rather not read the log. Call Marle instead.": "call-osgood",
            "ask Osgood to send someone": "osgood-send",
            "make myself a cup of tea": "to-quarters-and-stove",
            "are they dead?": "alive-asked",
            "what happens now?": "future-asked",
        },
    ),
    ("ops", told("osgood-voice"), {"no, I'm not ill": "osgood-fine"}),
    ("ops", {**WORDS, "flags.knows_box": True}, {"who spoke to them last?": "who-last"}),
    ("ops", CONFESSED, {"why didn't you shout at me?": "osgood-still-told"}),
    (
        "quarters",
        {},
        {
            "who is in the window?": "window-who",
            "read the titles on the shelf": "quarters-shelf",
            "take the ledger with me": "ledger-take",
        },
    ),
    (
        "plant",
        {"flags.tape_found": True},
        {"why is one of them blank?": "blank-asked", "hide the reel under the bench": "plant-hide"},
    ),
    (
        "plant",
        {**WORDS, "flags.tape_found": True, "flags.admitted": True},
        {"how long did I sleep?": "sleep-asked", "who was the man on the tape?": "plant-man-asked"},
    ),
    ("hut", {**WORDS, "flags.bearing_one": True}, {"who is shining that light?": "light-asked"}),
    (
        "ops",
        {},
        {
            "could I trouble you to look at your own receiver at seven o'clock?": "osgood-voice",
            "why are there question marks after Skelling Bank?": "board-marks",
            'what does "nothing heard" mean?': "nothing-asked",
            "I don't want to turn the page": "left-undone",
            "look in the drawer for batteries": "any-drawers",
            "turn down the lights to save the batteries": "any-volts",
            "did she say my name?": "voice-asked",
            "that isn't me": "not-me",
        },
    ),
    ("ops", {"flags.read_log": True}, {"close the log": "log-shut", "who wrote that line?": "log-who"}),
    (
        "ops",
        {**WORDS, "flags.read_log": True},
        {
            "tell Osgood it's me": "osgood-its-me",
            "tell Osgood there's a light in the north": "osgood-light",
            "tell Tolley I saw a light": "tolley-light",
        },
    ),
    ("yard", {}, {"come down carefully": "yard-things"}),
    (
        "ops",
        {},
        {
            "is the wind getting worse?": "any-weather",
            "why are the batteries so low?": "any-volts",
            "what would you do, Osgood?": "osgood-advice",
        },
    ),
    (
        "ops",
        {},
        {
            "this is Gannet Head, go ahead": "answer-voice-early",
            "go ahead, caller": "answer-voice-early",
            "thaw the wind charger": "go-yard",
            "how long have they been searching?": "osgood-how-long",
            "ask Osgood how long the Marigold has been missing": "osgood-how-long",
        },
    ),
    (
        "ops",
        {"flags.confessed": True},
        {"how long have they been looking for the Marigold?": "osgood-how-long-told"},
    ),
    (
        "ops",
        {"flags.bearing_one": True, "flags.bearing_two": True, "flags.confessed": True},
        {
            "tell Osgood they are at Long Tom": "wrong-rock",
            "send Tolley to the Calf": "wrong-rock",
            "tell Osgood it's the Hens and not Long Tom": "report-fix-confessed",
        },
    ),
    (
        "ops",
        {"flags.confessed": True},
        {
            "I'm sorry": "osgood-sorry",
            "write to my mother": "any-letter",
            "correct the log": "correct-log-told",
        },
    ),
    ("ops", {"flags.confessed": True, "flags.tolley_on": True}, {"I'm sorry": "tolley-sorry"}),
    ("quarters", {}, {"I'm sorry": "any-sorry", "write a letter home": "any-letter"}),
    (
        "ops",
        {**WORDS, "flags.heard_breath": True},
        {
            "what time is it? how long until the next green?": "green-until",
            "how long until the silence period?": "green-until",
            "what happens next?": "future-asked",
            "remember what I said to the Marigold on Tuesday night": "ops-remember",
        },
    ),
    (
        "ops",
        {**WORDS, "flags.heard_breath": True, "flags.knows_box": True, "flags.confessed": True},
        {
            "tell Osgood what the box is: a tape loop of my own voice, running slower as its cell fails": (
                "osgood-harbottle-told"
            ),
            "work out how many of the fifty hours are left since Tuesday night": "hours-left",
            "how many hours are left?": "hours-left",
            "ask Osgood if he thinks the lad is still alive": "osgood-think-alive",
            "remember what I said to the Marigold on Tuesday night": "ops-remember",
        },
    ),
    (
        "ops",
        {"flags.bearing_one": True, "flags.bearing_two": True, "flags.confessed": True, "flags.knows_box": True},
        {
            "tell Osgood: they are on the Hens, at the beacon tower. Two bearings, and a torch answered my lamp": (
                "report-fix-confessed"
            ),
        },
    ),
    (
        "hut",
        {"flags.bearing_one": True, "flags.bearing_two": True, "flags.confessed": True, "flags.knows_box": True},
        {
            "go back along the rope as fast as I can and give Osgood the position: the beacon tower on the Hens": (
                "report-from-away"
            ),
            "take the sock off the lamp and signal to the beacon tower: WE HEAR YOU": "hut-lamp",
            "I laugh or cry, I do not know which, and flash back: STAND BY. no - flash HELP COMING": "hut-lamp",
        },
    ),
    (
        "ops",
        WORDS,
        {"wait for the green with my hand on the loop and find where she is silent": "bearing-ops"},
    ),
    (
        "plant",
        WORDS,
        {
            "go and take a bearing on her": "to-ops-and-loop",
            "wet the contacts of this box under the tap and see what it does": "plant-box-test",
            "put a wet finger across the contacts": "plant-box-test",
        },
    ),
    ("plant", {"flags.tape_found": True, "flags.admitted": True}, {"listen to all eleven minutes": "reel-rest"}),
    ("hut", {"flags.bearing_one": True}, {"take it": "hut-bearing"}),
    (
        "hut",
        {"flags.bearing_one": True, "flags.bearing_two": True, "flags.confessed": True},
        {"go back and radio the fix to Osgood": "report-from-away"},
    ),
    (
        "ops",
        {"flags.bearing_one": True, "flags.bearing_two": True, "flags.confessed": True},
        {
            "the beacon tower on the Hens. 342 from here, 353 from the point": "report-fix-confessed",
            "342 and 353": "report-fix-confessed",
            "they're on the Hens": "report-fix-confessed",
        },
    ),
    ("ops", {"flags.bearing_one": True, "flags.bearing_two": True}, {"they're on the Hens": "report-fix"}),
    ("hut", {"flags.bearing_one": True, "flags.seen_torch": True}, {"laugh out loud": "hut-torch-feel"}),
)
