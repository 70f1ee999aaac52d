"""Carried Forward: whole sentences that strangers said there, and which storylet answers each.

What follows from what somebody has just said, news told to people, who is where, and the hulk that is no packet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.core.samples.carried_forward_answers import KNOWS, NEARLY, READY, after

COUNTED: Mapping[str, object] = {
    "flags.saw_ledger": True, "flags.counted": True, "flags.knows_roll": True, "flags.read_act": True,
    "flags.counted_all": True,
}  # fmt: skip

ANSWERS: Sequence[tuple[str, Mapping[str, object], Mapping[str, str]]] = (
    # somebody spoken to for the first time says who they are; what they have just said can be asked back
    (
        "quay",
        {},
        {
            "talk to the woman": "cobb-first",
            "speak to the woman gutting herring": "cobb-first",
            "what do you mean, lost but not hid?": "cobb-hid",
            "ask her who Budge is": "cobb-budge",
            "who is Budge?": "cobb-budge",
            "who is Miss Orr?": "cobb-clerk",
            "ask her about the captain": "cobb-captain",
            "is Budge here?": "here-budge",
            "is the captain here?": "here-fell",
            "where is everyone?": "where-people",
            "who is the man with the biscuit?": "quay-packet",
            "who is the doctor?": "any-doctor",
            "is there a constable?": "any-constable",
            "what does Lady Day mean?": "any-lady-day",
            "how many lives have been lost?": "any-lives",
            "where can I get something to eat?": "any-eat",
            "can I trust you?": "any-trust",
            "stroke the cat": "quay-cat",
            "I want to help you": "any-offer",
            "count the boats": "quay-count",
            # the hulk is not the packet
            "go aboard the hulk": "quay-hulk",
            "board the hulk": "quay-hulk",
            "go to the coal hulk": "quay-hulk",
            "climb aboard the dredger": "quay-craft",
            "what is the dredger called?": "craft-names",
            "go aboard": "board-ask",
            "I give up, I'll just board the packet and go home": "board-ask",
            # somebody elsewhere: one goes and puts it to them
            "ask the captain what he says to that": "ask-away-fell",
            "ask Budge what he knows": "ask-away-budge",
            "ask Miss Orr to count with me": "go-long-room-first",
            "take me to the captain": "go-office",
        },
    ),
    ("quay", {"flags.counted": True}, {"count the boats": "quay-recount", "count them again": "quay-recount"}),
    ("quay", after("cobb-first"), {"talk to the woman": "cobb-talk", "who are you then?": "cobb-who"}),
    ("quay", after("cobb-ida"), {"who was it that went?": "cobb-went", "who went?": "cobb-went"}),
    ("quay", after("cobb-basket-early"), {"who is it for?": "cobb-who-out"}),
    ("quay", after("cobb-constant"), {"what happened to him?": "cobb-him", "was there a storm?": "cobb-him"}),
    (
        "quay",
        after("board-ask"),
        {"no, I meant the coal hulk": "quay-hulk", "the coal hulk, not the packet": "quay-hulk", "no": "board-not"},
    ),
    ("quay", KNOWS, {"tell Mrs Cobb that Dan is alive": "cobb-news", "Dan is alive": "cobb-news"}),
    (
        "office",
        KNOWS,
        {"tell the captain that Dan is alive": "fell-news", "ask the captain about the wall": "fell-after"},
    ),
    ("post-office", KNOWS, {"tell Budge that Dan Marram is alive": "budge-news"}),
    (
        "long-room",
        {**NEARLY, **after("go-marram-first")},
        {
            "the fortieth is the Constant Anne, tell Miss Orr that Dan is alive": "orr-news",
            "Dan Marram is alive": "orr-news",
            "tell her about the lots": "orr-news",
            "go to Mrs Marram and ask her to send for Dan": "go-marram",
            "ask Mrs Marram to send for Dan": "ask-away-ida",
            "ask Captain Fell what he says to that": "ask-away-fell",
            "go down to the coal hulk": "go-hulk",
            "is Budge here?": "here-budge",
        },
    ),
    (
        "long-room",
        {"flags.knows_roll": True, "flags.read_act": True},
        {"look out of the window and count what counts": "count-all", "what is the dredger called?": "craft-names"},
    ),
    (
        "long-room",
        {},
        {
            "who is Budge?": "orr-budge",
            "who is Mrs Cobb?": "orr-cobb",
            "who is the captain?": "orr-people",
            "look under the window": "act-read",
            "take the book out from under the window": "act-read",
        },
    ),
    ("long-room", after("orr-night"), {"which boat was it?": "orr-which"}),
    ("long-room", {"flags.orr_wrote": True}, {"what do you want me to do?": "orr-help", "I will help you": "orr-help"}),
    # a list is of groceries only until it is of boats
    ("office", {}, {"look at the list": "fell-list", "tell me about the breakwater": "fell-wall-early"}),
    (
        "office",
        {"flags.knows_anne": True},
        {
            "so which eight more are there? let's make a list together": "fell-eight",
            "where would I get eight more?": "fell-eight",
        },
    ),
    ("office", KNOWS, {"which eight more?": "fell-eight-act", "list the eight": "fell-eight-act"}),
    ("office", NEARLY, {"which eight more?": "fell-eight-done"}),
    ("office", after("fell-wall-early"), {"may I see the drawings?": "fell-drawings"}),
    (
        "office",
        {"flags.saw_ledger": True},
        {
            "why is there a blot?": "fell-blot",
            "who is Miss Orr?": "fell-clerk",
            "who is Mr Budge?": "fell-budge",
            "who is Mrs Cobb?": "fell-people",
            "are you a sailor?": "fell-life",
            "what is the schedule?": "fell-act-unread",
        },
    ),
    # the packet lies at the quay, and giving up leads there from anywhere
    *(
        (
            place,
            known,
            {
                "I give up, I'll just board the packet and go home": "go-packet",
                "go aboard the packet": "go-packet",
                "go home": "go-packet",
                "I give up": "go-packet",
            },
        )
        for place in ("office", "long-room", "chapel", "marram-house", "breakwater", "post-office")
        for known in ({}, READY)
    ),
    ("marram-house", {}, {"go upstairs": "house-upstairs", "is the captain here?": "here-fell"}),
    ("marram-house", after("house-feet"), {"who was the last one?": "ida-last", "what last one?": "ida-last"}),
    (
        "marram-house",
        {"flags.knows_anne": True, **after("house-feet")},
        {
            "who was the last one?": "ida-last-known",
            "is he here?": "ida-here",
            "wipe my feet": "house-feet-known",
            "when did you last see him?": "ida-here",
        },
    ),
    (
        "marram-house",
        {},
        {
            "you don't look sad": "ida-sad",
            "were you happy?": "ida-sad",
            "when did you last see him?": "ida-see",
            "I'm sorry for your loss": "ida-sorry",
            "do you get letters?": "ida-letters",
            "who is Miss Orr?": "ida-clerk",
            "who is Budge?": "ida-budge",
            "whose chair is that?": "house-boots",
        },
    ),
    (
        "chapel",
        {},
        {
            "what are the flowers?": "chapel-flowers",
            "read the hymn numbers": "chapel-hymns",
            "is the minister here?": "chapel-minister",
            "what's in the vestry?": "vestry",
            "look for the Constant Anne": "board-read",
            "is Budge here?": "here-budge",
        },
    ),
    (
        "chapel",
        {"flags.knows_anne": True},
        {"read the board": "board-read-known", "read the names": "board-read-known"},
    ),
    (
        "breakwater",
        {**KNOWS, "flags.clue_tablet": True},
        {
            "does that mean nobody has been lost since the wall was built?": "wall-saved",
            "has anybody been lost since?": "wall-saved",
        },
    ),
    (
        "breakwater",
        {"flags.clue_tablet": True},
        {"has anybody been lost since?": "wall-since", "is it a pun?": "tablet-guess"},
    ),
    (
        "breakwater",
        {},
        {"who laid the stone?": "tablet", "when was it built?": "tablet", "is Budge here?": "here-budge"},
    ),
    (
        "post-office",
        {},
        {
            "who sends letters to Mrs Marram?": "budge-letters",
            "read the blotter": "budge-blotter",
            "what is that noise?": "post-key",
            "how do you know so much?": "budge-reads",
        },
    ),
    # what newcomers said next
    (
        "quay",
        {},
        {
            "excuse me, is this Anstry?": "any-anstry",
            "do you know who wrote this postcard?": "cobb-postcard",
            "show her the postcard": "cobb-postcard",
        },
    ),
    (
        "office",
        {"flags.clue_coffee": True},
        {
            "is it Danish?": "coffee-known",
            "who is your friend?": "coffee-known",
            "what time does he come?": "coffee-known",
        },
    ),
    ("office", KNOWS, {"does anybody else know?": "fell-knows", "read the ledger": "ledger-read-known"}),
    ("office", {}, {"read the ledger": "ledger-read"}),
    ("long-room", {"flags.read_act": True}, {"what does it say about hulks?": "act-again"}),
    (
        "long-room",
        {**KNOWS, "flags.knows_anne": False, "flags.counted_all": True},
        {"what is missing?": "what-fortieth"},
    ),
    (
        "marram-house",
        {"flags.clue_rope": True},
        {
            "hello Mrs Marram, may I come in?": "ida-in",
            "why did you paint your door yellow?": "ida-door",
            "is he alive?": "ida-alive",
        },
    ),
    (
        "marram-house",
        KNOWS,
        {
            "why did you paint your door yellow?": "ida-door",
            "is Dan alive?": "ida-alive-known",
            "does anybody else know?": "ida-knows",
            "what would happen to him if he came home?": "ida-happen",
        },
    ),
    (
        "breakwater",
        {**READY, **after("go-marram-first", "go-long-room-first")},
        {
            "show Mrs Marram the sum": "ask-away-ida",
            "go and tell the captain": "ask-away-fell",
            "show Miss Orr the postcard": "ask-away-orr",
        },
    ),
    (
        "quay",
        {},
        {
            "morning! lovely day": "cobb-first",
            "what are you gutting?": "cobb-gutting",
            "I'm here about the nine ships": "cobb-ships",
            "why would a dead ship pay?": "cobb-ships",
            "what can you tell me about the man in the office?": "cobb-captain",
            "tip my hat": "any-hat",
        },
    ),
    ("quay", after("quay-people"), {"ask him what he knows": "quay-people-more"}),
    (
        "chapel",
        {"flags.clue_board": True},
        {"who was W. Orr?": "chapel-orr", "which ship is missing?": "board-missing", "take off my hat": "any-hat"},
    ),
    ("chapel", {"flags.clue_board": True, "flags.knows_anne": True}, {"which ship is missing?": "board-missing-known"}),
    (
        "marram-house",
        {"flags.clue_rope": True},
        {
            "sorry to disturb you": "any-thanks",
            "what's your first name?": "ida-name",
            "do you live alone?": "ida-alone",
            "I saw the tar on his ring": "ida-alive",
        },
    ),
    (
        "marram-house",
        KNOWS,
        {
            "where is the money?": "ida-money",
            "I won't betray him": "ida-secret",
            "could he not just come back?": "ida-want",
            "how do I reach him?": "ida-where",
            "have you got a photograph of him?": "house-photo",
            "tell me what to do": "advice",
        },
    ),
    # a thing named is that thing: the hulk's bell, the tin in the hand, the cards of the rack; and who is elsewhere
    ("quay", after("quay-hulk"), {"ring the bell": "quay-bell", "strike the bell": "quay-bell"}),
    ("office", {}, {"take the tin": "tin-take", "pick up the tin": "tin-take", "look at the tin": "coffee-ask"}),
    (
        "post-office",
        {},
        {
            "read the black-edged cards": "budge-black-cards",
            "read the postcard": "postcard-look",
            "ask if the boy on the bicycle is here": "boy-where",
            "ask where Mr Gault is": "gault-where",
        },
    ),
    ("long-room", {}, {"ask where Mr Gault is": "gault-where", "is Mr Gault here?": "gault-where"}),
    # how somebody is, whose side one is on, what they will do, and where the money comes from
    (
        "office",
        {},
        {
            "are you all right, Captain?": "fell-well",
            "what's the matter?": "fell-well",
            "I'm on your side": "fell-side",
            "tell him I will not report this": "fell-side",
            "what will you do now?": "fell-do",
            "where does the money come from?": "fell-money",
            "go upstairs and ask Miss Orr how she is": "go-long-room-first",
        },
    ),
    (
        "long-room",
        {},
        {
            "are you all right, Miss Orr?": "orr-well",
            "we are on the same side": "orr-side",
            "what are you going to do?": "orr-do",
            "who gave you the money?": "orr-money",
            "ask Miss Orr who gave her the money": "orr-money",
            "how many boats must there be?": "orr-how-many",
            "how many boats are there?": "long-count",
            "go to the office and ask Captain Fell about the blot": "go-office",
        },
    ),
    (
        "quay",
        {},
        {"are you all right, Mrs Cobb?": "cobb-well", "what will you do?": "cobb-do"},
    ),
    # the fortieth is asked for of everybody, and what the text offers can be touched
    (
        "quay",
        COUNTED,
        {
            "ask Mrs Cobb what else floats in Anstry": "cobb-fortieth",
            "ask Mrs Cobb where the fortieth boat is": "cobb-fortieth",
            "ask the old man why he pities me for making it thirty-one": "quay-old-man",
        },
    ),
    (
        "long-room",
        COUNTED,
        {
            "lay the postcard on her desk and ask if she wrote it": "orr-postcard",
            "Is there any other boat in Anstry, Miss Orr? In a shed, perhaps, or on the hard?": "orr-other-boat",
            "ask Miss Orr where the fortieth vessel might be": "orr-other-boat",
        },
    ),
    (
        "long-room",
        {**COUNTED, "flags.knows_anne": True, "flags.orr_wrote": True},
        {
            "ask Miss Orr whether the Anna of Esbjerg could be entered as the fortieth": "orr-fortieth",
            "is there any other boat, in a shed perhaps?": "orr-other-known",
        },
    ),
    (
        "office",
        COUNTED,
        {
            "ask Captain Fell for the fortieth": "fell-fortieth",
            "put section 2 in front of him again: eight more, your launch among them": "fell-act",
        },
    ),
    (
        "marram-house",
        {},
        {
            "ask about the key on the nail": "ida-key",
            "hang my coat on the tall man's hook": "ida-key",
            "ask her what she misses most": "ida-misses",
        },
    ),
    ("chapel", {}, {"look for her brother Cobb among the names and touch his patch of polish": "board-read"}),
    (
        "breakwater",
        {},
        {"look back at the harbour from here: is there any craft I have not counted?": "wall-look-back"},
    ),
    (
        "quay",
        {},
        {
            "take up a spare knife and gut herring beside her for a while": "cobb-gut",
            "ask her about her brother, gently": "cobb-brother",
        },
    ),
    (
        "long-room",
        COUNTED,
        {
            "ask her whether the packet herself could be on the roll": "orr-packet",
            "take her hand": "orr-hand",
        },
    ),
    ("office", {"flags.knows_anne": True}, {"ask him whether Ida knows that Dan is alive": "fell-ida-knows"}),
)
