"""What strangers typed in “Beginners, Please”, and what answers it: see ``samples.probes``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def told(*ids: str) -> dict[str, object]:
    """A state in which these storylets were the last to be told."""
    record = {"times": 1, "last": 0, "wording": "told/0", "told": {"told/0": [1, 0]}}
    return {"story.fired": {each: record | {"order": at} for at, each in enumerate(ids, 1)}}


SEEN = {"flags.saw_slip": True, **told("set-look")}
HEARD = {"flags.saw_slip": True, "flags.knows_here": True, **told("oddy-desmond", "oddy-slips")}
GIVEN = {"flags.saw_slip": True, "flags.vane_told": True, "inventory.slips": "player"}
FOUND = {"flags.found": True, "flags.knows_here": True, "scene.present": ["desmond"]}
CONFIDED = {**FOUND, "flags.told": True}
MARKED = {**GIVEN, **CONFIDED, **told("desmond-slips-given"), "scene.present": ["oddy"]}
TERMS = {**GIVEN, **told("vane-terms")}
CAST = {**GIVEN, "show.bishop": "Perpetua Vane"}
LATE = {"flags.late": True, "clocks.minutes": 20}
HOME = {**FOUND, "flags.told": True, "show.bishop": "Desmond, with his slips", "scene.present": ["oddy"]}
ROUND = {"flags.fitch_called": True, "flags.fitch_here": True, "scene.present": ["win", "fitch"]}

ANSWERS: Sequence[tuple[str, Mapping[str, object], Mapping[str, str]]] = (
    (
        "dressing-rooms",
        TERMS,
        {
            # a no is a no, in whatever words
            "no": "vane-decline",
            "no, it isn't all right": "vane-decline",
            "I'd rather you didn't, Perpetua.": "vane-decline",
            "Don't go on tonight": "vane-decline",
            "Don't go on tonight, Perpetua, let Desmond have his part": "vane-decline",
            "don't agree to it yet, tell Perpetua to wait": "vane-decline",
            "Not yet, Perpetua. Hold on while I look for Desmond.": "vane-decline",
            "I don't agree": "vane-decline",
            "I can't promise that": "vane-decline",
            "refuse": "vane-decline",
            "let me think about it": "vane-decline",
            "tell her she can't have the hat speech": "vane-decline",
            "Desmond should play it": "vane-decline",
            # a yes is a yes
            "yes": "vane-agree",
            "of course, it's all right": "vane-agree",
            # a question is neither
            "What is the hat speech?": "vane-hat-speech",
            "What are your terms?": "vane-hat-speech",
            "Why do you want it whole?": "vane-hat-speech",
            "are you sure?": "vane-sure",
            "is it all right?": "vane-sure",
            "I'm not sure. Would Desmond mind?": "vane-mind",
            "leave Perpetua and go down to Desmond": "go-under",
        },
    ),
    (
        "dressing-rooms",
        {**TERMS, "flags.vane_off": True},
        {"ask Perpetua to go on": "vane-terms", "actually, could you go on after all?": "vane-terms"},
    ),
    (
        "dressing-rooms",
        {**GIVEN, "flags.vane_off": True, **told("vane-terms", "vane-decline")},
        {"no, not yet": "vane-declined"},
    ),
    (
        "dressing-rooms",
        CAST,
        {
            "No! I said don't. I take it back, you are not going on": "vane-take-back",
            "I've changed my mind, Perpetua": "vane-take-back",
            "don't go on after all": "vane-take-back",
            "ask her to step down": "vane-take-back",
        },
    ),
    ("prompt-corner", {"show.bishop": "you"}, {"I've changed my mind": "deputy-take-back"}),
    (
        "stage-door",
        {**ROUND, "flags.fitch_here": False, "scene.present": ["win"], "show.bishop": "Aubrey Fitch"},
        {"No, actually I don't want you to, Aubrey": "fitch-take-back"},
    ),
    # a favour asked of somebody who is there
    (
        "wings",
        MARKED,
        {
            "Oddy, please set these where it says": "set-slips",
            "will you put these slips back": "set-slips",
            "Oddy, will you put these slips back where Desmond had them?": "set-slips",
            "could you help me put these back?": "set-slips",
            "let's put everything back where it was": "set-slips",
            "What's 'IN LEG'?": "set-addresses",
            "where do these go?": "set-addresses",
        },
    ),
    ("wings", GIVEN, {"Oddy, please set these where it says": "set-slips-early"}),
    # somebody who is not there
    (
        "prompt-corner",
        {},
        {
            "is Win here?": "where-win",
            "Is Oddy here?": "where-oddy",
            "Is Perpetua here?": "where-vane",
            "where is Perpetua?": "where-vane",
            "Where's Monty?": "look-monty",
            "I'd like a word with Win": "go-door",
            "I want to speak to Perpetua": "go-dressing",
            "go to Perpetua": "go-dressing",
            "take me to Oddy": "go-wings",
            "search for Desmond below the stage": "go-under",
            "look for Desmond in his dressing room": "go-dressing",
            "Where is everybody?": "any-where-people",
            "who is Perpetua?": "who-vane",
            "who is Win?": "who-win",
            "who is Oddy?": "who-oddy",
            "Has anyone checked the toilets?": "any-checked",
        },
    ),
    (
        "wings",
        HEARD,
        {
            "where is Perpetua?": "where-vane",
            "Where's Monty?": "where-monty",
            "is Win here?": "where-win",
            "I want to find Perpetua and ask for that envelope": "go-dressing",
            "go to Perpetua": "go-dressing",
            "What sort of shouting was on them?": "oddy-shouting",
            "creaked down? how far down?": "oddy-creaked",
            "Don't worry, Oddy, it's not your fault": "oddy-comfort",
            "I won't touch the soup, I promise": "oddy-trusts",
            # what was only told of cannot be read
            "read the slip of paper": "oddy-slip-read",
        },
    ),
    ("prompt-corner", {"flags.late": True}, {"Where's Monty? Is he making that up?": "where-monty-late"}),
    # what was just said, or what the prose names
    (
        "prompt-corner",
        {},
        {
            "What ideas does the understudy have?": "monty-vane",
            "What's wrong with having ideas?": "monty-vane",
            "Why not let Perpetua play it?": "monty-vane",
            "What was that about a shepherd?": "monty-shepherd",
            "What's a bungalow?": "monty-shepherd",
            "Monty, what do you mean he's come to watch us die?": "monty-watch-us-die",
            "What happened at Harrogate?": "monty-fitch",
            "Monty, did Desmond seem ill to you?": "monty-desmond",
            "Please stay calm, Monty. I'll find him.": "monty-talk",
            "what is the quarter?": "any-theatre-words",
            "Why is nobody allowed to touch the soup?": "any-why-soup",
            "go on stage and look inside the teapot": "set-look",
            "What's in the letter?": "letter-elsewhere",
            "don't send for Fitch, please": "~left",
        },
    ),
    ("prompt-corner", SEEN, {"show the slip to Monty": "monty-shown", "Whose handwriting is that?": "any-slip-known"}),
    ("prompt-corner", HEARD, {"read the slip of paper": "any-slip-heard"}),
    ("prompt-corner", told("any-headset"), {"Why didn't she answer?": "any-win-silent"}),
    (
        "dressing-rooms",
        {},
        {
            "Given what back?": "vane-given-back",
            "Whose feet were you watching?": "vane-feet",
            "He'd stopped? Why did he stop?": "vane-stopped",
            "Don't hide them from me, Perpetua": "vane-apron",
            "Don't go on tonight": "vane-stay",
        },
    ),
    (
        "dressing-rooms",
        SEEN,
        {
            "Perpetua, what did you do with the envelope Oddy saw you fill?": "vane-slips",
            "Don't hide them from me, Perpetua": "vane-slips",
            "Please give it to me": "vane-slips",
        },
    ),
    (
        "dressing-rooms",
        told("room-one"),
        {
            "who are the two men in the photograph?": "one-photo",
            "Why are there bits of gum round the mirror?": "one-gum",
            "what's in the drawer?": "one-drawer",
            "is this his coat?": "one-coat",
        },
    ),
    (
        "stage-door",
        {},
        {
            "Win, why didn't you answer the headset?": "win-headset",
            "Whose feet stand at the top of the trap stairs?": "win-feet",
            "Win, show me the signing-out book": "door-sheet",
            "Is there a way out to the alley?": "door-way-out",
            "where is Oddy?": "where-oddy",
        },
    ),
    (
        "stage-door",
        ROUND,
        {
            "What's in the letter? Who is the girl?": "fitch-letter",
            "Why did you come tonight?": "fitch-letter",
            "What other thing?": "fitch-other-thing",
            "He's not ill, I think he's forgetting his lines": "fitch-hears",
            "Come with me, Aubrey, we'll find him together": "fitch-bring-no",
            "Mr Fitch, would you like to see Desmond?": "fitch-bring-no",
            "No, actually I don't want you to, Aubrey": "fitch-no-need",
            "Will you wait here while I find Desmond?": "fitch-wait",
            "May I have a toffee?": "fitch-talk",
        },
    ),
    (
        "under-stage",
        {**FOUND, "flags.saw_slip": True},
        {
            "show him the card with the colonel's leg": "desmond-slips",
            "are you forgetting your lines?": "desmond-slips",
            "I know about the slips": "desmond-slips",
            "where is Monty?": "where-monty",
            "Is Win here?": "where-win",
        },
    ),
    ("under-stage", {**FOUND, **told("desmond-talk")}, {"It isn't your throat, is it?": "desmond-throat"}),
    (
        "under-stage",
        CONFIDED,
        {
            "How long has it been, did you say?": "desmond-how-long",
            "Why are you hiding down here, Desmond?": "desmond-why-down-here",
            "What's the matter?": "desmond-told",
            "Do you want Perpetua to do it instead?": "desmond-vane",
        },
    ),
    ("wings", CONFIDED, {"Why can't we just wait for Desmond? He's under the stage": "any-cannot-wait"}),
    # what was asked for twice can be left
    (
        "prompt-corner",
        told("cancel-ask"),
        {"no, don't cancel": "cancel-no", "no, stop": "cancel-no", "no": "cancel-no"},
    ),
    (
        "prompt-corner",
        {"show.bishop": "Perpetua Vane", **told("call-ask")},
        {"no, not yet": "call-no", "wait": "call-no", "don't call it yet": "call-no"},
    ),
    ("wings", told("soup-touch-ask"), {"no, leave it alone": "soup-leave", "no": "soup-leave"}),
    ("prompt-corner", told("deputy-early"), {"No, I didn't mean that": "deputy-no"}),
    # somebody is asked to come along
    ("dressing-rooms", {}, {"Could you come with me to find him?": "vane-come", "don't be upset": "vane-comfort"}),
    ("wings", {}, {"will you help me look for Desmond?": "oddy-come"}),
    ("stage-door", {}, {"come with me, Win": "win-come"}),
    ("prompt-corner", {}, {"come with me, Monty": "monty-come", "Can you help me look for him?": "monty-come"}),
    (
        "prompt-corner",
        {},
        {
            "I'd rather not use the understudy": "monty-vane",
            "Why does he hate Desmond?": "monty-fitch",
            "Is Aubrey Fitch allowed backstage?": "corner-row-c",
            "What page is the hat scene?": "any-book",
            "How many people are out there?": "corner-row-c",
            "Can you tell me what Desmond was wearing?": "monty-desmond",
        },
    ),
    ("wings", HEARD, {"Did you tidy the set today?": "oddy-slips", "Can I see one?": "oddy-slip-read"}),
    ("dressing-rooms", {**GIVEN, **told("vane-guess")}, {"What's that about a cow?": "vane-cow"}),
    (
        "under-stage",
        CONFIDED,
        {"Wait here, I'll be back in two minutes": "desmond-wait", "That was Perpetua, she saved them": "desmond-vane"},
    ),
    ("wings", {**CONFIDED, "scene.present": ["oddy"]}, {"Is Desmond ready?": "desmond-elsewhere"}),
    (
        "dressing-rooms",
        GIVEN,
        {
            "How long have you known?": "vane-known",
            "Why didn't you tell anyone?": "vane-why-not",
            "Why couldn't you put them back?": "vane-why-not",
            "Why did you write to Aubrey Fitch?": "vane-wrote",
        },
    ),
    (
        "dressing-rooms",
        {},
        {
            "What does the notice say?": "dressing-things",
            "Is that his mitre?": "mitre-asked",
            "Is Perpetua here?": "look-vane",
            "Why is there an envelope in your apron?": "vane-apron",
            "hello": "vane-talk",
        },
    ),
    (
        "stage-door",
        {},
        {
            "What's in the telegram?": "win-telegram",
            "Can I have the telegram?": "win-telegram",
            "Win, what's that you're making?": "win-sock",
            "Who is it for?": "win-sock",
            "Why purple?": "win-sock",
        },
    ),
    (
        "under-stage",
        {**CONFIDED, "flags.fitch_called": True, "flags.fitch_here": True},
        {
            # a question about him does not send for him
            "Are you scared of Aubrey?": "desmond-fitch-feels",
            "Will Oddy help us?": "desmond-oddy",
            "What's the throne from?": "under-look-found",
        },
    ),
    (
        "under-stage",
        {**FOUND, **GIVEN, "scene.present": ["desmond"]},
        {"I've got your slips here, all forty-one": "desmond-slips-given"},
    ),
    ("under-stage", FOUND, {"Why are you sitting down here in the dark?": "desmond-talk"}),
    ("wings", HEARD, {"Who took it away?": "oddy-slips"}),
    ("prompt-corner", {}, {"hello": "monty-talk", "Let me see the set, please": "set-look"}),
    (
        "prompt-corner",
        {},
        {"Is the understudy any good?": "monty-vane", "Would she do it if I asked her?": "monty-vane"},
    ),
    (
        "dressing-rooms",
        {},
        {
            "Have you been in his room?": "vane-talk",
            "Perpetua, you're hiding something from me": "vane-apron",
            "I'm not accusing you of anything": "vane-comfort",
            "So he hasn't left the building?": "vane-desmond",
        },
    ),
    ("dressing-rooms", SEEN, {"How many of them are there?": "vane-slips", "Have you seen Desmond?": "vane-desmond"}),
    ("dressing-rooms", GIVEN, {"Where do you think he is?": "vane-guess", "do you love Desmond?": "vane-love"}),
    ("stage-door", {}, {"Is that the cat?": "win-tea"}),
    (
        "prompt-corner",
        {},
        {
            "Leave him for now. Where is Win?": "where-win",
            "Who's the man with the toffee?": "monty-fitch",
            "Is Monty here?": "look-monty",
        },
    ),
    (
        "dressing-rooms",
        {},
        {
            "May I search it?": "room-one",
            "Is that his room over there?": "dressing-look",
            "What's a structural error?": "vane-talk",
            "Is Aubrey here because of you?": "vane-fitch",
        },
    ),
    (
        "under-stage",
        FOUND,
        {
            # “alarmed” rings no alarm
            "Desmond, don't be alarmed": "desmond-talk",
            "How can I help?": "desmond-talk",
            "Could Aubrey help you?": "desmond-fitch",
        },
    ),
    # after half past: thanks and questions, the word from anywhere, and a name that is called
    (
        "wings",
        {**HOME, **LATE},
        {
            "thank you Oddy, you're a hero": "oddy-thanked-set",
            "go to the corner and say go": "end-slips",
            "start the show": "end-slips",
            "wait, what about Desmond?": "desmond-ready",
        },
    ),
    (
        "prompt-corner",
        {**LATE, **FOUND, "scene.present": []},
        {
            "let Perpetua play the Bishop": "late-vane",
            "put Perpetua on": "late-vane",
            "no, not me. Perpetua!": "late-vane",
            "wait, what about Desmond?": "desmond-put-untold",
            "put Desmond on": "desmond-put-untold",
            "let Aubrey play the Bishop": "fitch-call",
            "let Monty play the Bishop": "late-monty-on",
            "I'll play the Bishop": "deputy-ask",
        },
    ),
    (
        "prompt-corner",
        {**LATE, **FOUND, **GIVEN, "scene.present": []},
        {"put Desmond on and give him the slips": "slips-down", "run down and give Desmond the envelope": "slips-down"},
    ),
    ("prompt-corner", {**LATE, **CONFIDED, **GIVEN, "scene.present": []}, {"put Desmond on": "desmond-put-slips"}),
    ("prompt-corner", {**LATE, **CONFIDED, "scene.present": []}, {"what about Desmond?": "desmond-put-told"}),
    ("dressing-rooms", LATE, {"go to the corner": "late-go-corner", "thank you, Perpetua": "vane-thanked"}),
    (
        "stage-door",
        {**LATE, **ROUND},
        {"put Aubrey on": "fitch-ask", "thank you for coming, Mr Fitch": "fitch-thanked"},
    ),
    ("stage-door", {**LATE, **ROUND, "flags.told": True}, {"take Aubrey down to Desmond": "fitch-bring-late"}),
    # two things at once
    (
        "under-stage",
        {**CONFIDED, **GIVEN},
        {
            "run to the wings and give Oddy the slips": "set-slips-away",
            "ask Oddy to put the slips back where they live": "set-slips-away",
        },
    ),
    (
        "under-stage",
        {**FOUND, **GIVEN, "inventory.mitre": "player"},
        {"give him the mitre and the envelope": "desmond-both", "give Desmond the envelope": "desmond-slips-given"},
    ),
    (
        "under-stage",
        CONFIDED,
        {"run up to Room One and grab the mitre": "fetch-mitre", "what's the secret?": "desmond-secret"},
    ),
    ("dressing-rooms", CONFIDED, {"take the mitre": "take-mitre-meant"}),
    # said in the dark
    (
        "under-stage",
        {**GIVEN, "flags.knows_here": True},
        {"say gently that Perpetua sent me with his slips": "under-said-slips"},
    ),
    ("under-stage", {**FOUND, **GIVEN}, {"say gently that Perpetua sent me with his slips": "desmond-slips-given"}),
    ("under-stage", {}, {"Desmond? Are you there?": "under-called"}),
    (
        "under-stage",
        {"flags.knows_here": True},
        {
            "tell him he has nothing to be ashamed of": "under-spoken",
            "sit down quietly and wait": "under-wait",
            "lift the dust sheet": "under-find",
        },
    ),
    # where, why and whom
    (
        "prompt-corner",
        {},
        {
            "why was he looking under the sandwiches?": "monty-sandwiches",
            "where would an old actor go to sit down?": "any-sit",
            "what's the secret?": "any-secret",
        },
    ),
    (
        "wings",
        {},
        {
            "why are you holding a hoover?": "oddy-hoover",
            "what paper?": "oddy-slips",
            "read one of the hats": "oddy-hats",
        },
    ),
    (
        "dressing-rooms",
        {},
        {"where would an old actor go to sit down?": "any-sit", "where do you think he is?": "vane-guess"},
    ),
    ("stage-door", ROUND, {"do you miss Desmond?": "fitch-love"}),
    (
        "under-stage",
        CONFIDED,
        {"do you miss Aubrey?": "desmond-fitch-feels", "do you miss the theatre?": "desmond-love"},
    ),
    (
        "prompt-corner",
        {**LATE, **FOUND, "scene.present": []},
        {
            "what do I do now?": "help-late",
            "who can play the bishop?": "who-plays",
            "how long have I got?": "any-time-over",
            "Bryn, can you stall?": "late-stall",
            "tell Monty to keep talking": "late-stall",
            "what happens if I do nothing?": "late-what-if",
            "give the cue": "late-nobody",
            "they're waiting": "any-waiting",
            "oh no": "any-oh-no",
        },
    ),
    ("prompt-corner", {**LATE, "clocks.parking": 3, "scene.present": []}, {"how long have I got?": "late-time-two"}),
    (
        "prompt-corner",
        {**LATE, **FOUND, "show.bishop": "Perpetua Vane", "scene.present": []},
        {
            "is she ready?": "cast-ready",
            "no wait, Desmond": "desmond-put-untold",
            "what happens if I do nothing?": "late-what-if-cast",
            "is everyone ready?": "headset-cast",
            "what now?": "help-late-cast",
            "give the cue": "end-understudy",
        },
    ),
    ("under-stage", {**LATE, **CONFIDED}, {"please, they're waiting": "desmond-waiting"}),
    ("under-stage", {**LATE, **HOME, "scene.present": ["desmond"]}, {"Will you be all right?": "desmond-ready-here"}),
    ("stage-door", {**LATE, **ROUND}, {"Mr Fitch, we've no time, will you do it?": "fitch-ask"}),
    ("dressing-rooms", {}, {"hurry up Oddy": "any-hurry", "is the hat in there?": "mitre-asked"}),
    ("dressing-rooms", {}, {"has anyone been under the stage?": "any-checked"}),
    (
        "prompt-corner",
        {**LATE, "show.bishop": "you", "scene.present": []},
        {
            "who's going to call it?": "who-calls-cast",
            "when do I call beginners?": "who-calls-cast",
            "should I say go now?": "who-calls-cast",
            "do it": "help-late-cast",
            "and... go": "end-deputy",
        },
    ),
    ("prompt-corner", LATE, {"who says go?": "who-calls", "when do I start the show?": "who-calls"}),
    ("prompt-corner", {}, {"Monty, who wrote this play?": "any-author"}),
    (
        "under-stage",
        {**LATE, **CONFIDED},
        {
            "fetch Perpetua": "late-vane",
            "Where are the slips?": "slips-where-told",
            "take Desmond by the hand and lead him up": "desmond-lead",
            "just go on without a hat": "desmond-without-hat",
            "Don't be silly, you're brilliant": "desmond-praise",
        },
    ),
    ("under-stage", {**CONFIDED, **told("oddy-slips")}, {"Where are the slips?": "slips-where"}),
    (
        "stage-door",
        {**ROUND, "scene.present": ["win"]},
        {"is he here yet?": "fitch-arrived", "Mr Fitch, save us": "fitch-ask"},
    ),
    ("dressing-rooms", {**SEEN, "flags.told": True}, {"Perpetua, he needs his papers": "vane-slips"}),
    (
        "stage-door",
        {**LATE, "show.bishop": "Aubrey Fitch"},
        {
            "does he know the lines?": "cast-knows",
            "is Aubrey dressed?": "cast-ready",
            "stand by everyone": "cast-standby",
            "lights go": "end-row-c",
        },
    ),
    ("wings", {**LATE, **GIVEN}, {"give Oddy the slips": "set-slips-early", "what do they mean?": "any-slips"}),
    ("wings", {**LATE, **MARKED}, {"give Oddy the slips": "set-slips"}),
    (
        "under-stage",
        {**LATE, **CONFIDED},
        {
            "back up to the corner": "late-go-corner",
            "back up to the wings": "go-wings",
            "run up to the stage door": "go-door",
        },
    ),
    (
        "under-stage",
        {**LATE, **CONFIDED, "show.bishop": "Desmond, with a headset"},
        {
            "how does that feel?": "desmond-worn",
            "can you hear me?": "desmond-worn",
            "I'm so proud of you": "desmond-praise-cast",
        },
    ),
    (
        "prompt-corner",
        {**LATE, **HOME, "scene.present": []},
        {
            "don't start the show": "late-not-yet",
            "I can't start the show yet": "late-not-yet",
            "do we start the show?": "who-calls-cast",
            "is it time for curtain up?": "who-calls-cast",
        },
    ),
    ("prompt-corner", LATE, {"run to the dressing rooms and ask Perpetua to go on": "late-vane"}),
    ("under-stage", {**LATE, **CONFIDED, **GIVEN}, {"take them to Oddy": "set-slips-away"}),
    (
        "prompt-corner",
        {},
        {
            "ask Monty where the lead is": "monty-desmond",
            "go to the stage": "set-look",
        },
    ),
    (
        "dressing-rooms",
        {},
        {
            "I need you to go on tonight": "vane-not-yet",
            "go to the stage": "go-stage",
            "go to the stage door": "go-door",
            "eat a peppermint": "no-peppermint",
        },
    ),
    (
        "under-stage",
        CONFIDED,
        {
            "give him a peppermint": "desmond-peppermint",
            "tell him I would never laugh at him": "desmond-kind",
            "I would never laugh at you": "desmond-kind",
            "tell him that I get frightened too": "desmond-fright",
            "would you rather not go on?": "desmond-rather-not",
            "you don't have to do this": "desmond-rather-not",
            "do you want to go on?": "desmond-rather-not",
        },
    ),
    (
        "wings",
        {},
        {
            "ask Oddy about the extra line on the floor": "oddy-extra-line",
            "tell Oddy gently that it is not his fault, he only did his job": "oddy-comfort",
        },
    ),
    (
        "under-stage",
        FOUND,
        {"sit down on the cow beside him and ask him what has happened, gently": "desmond-talk"},
    ),
    (
        "under-stage",
        {**CONFIDED, "flags.fitch_called": True, "flags.fitch_here": True},
        {
            "ask Desmond what happened in Harrogate": "desmond-harrogate",
            "Desmond, how long have you been losing your lines?": "desmond-how-long",
        },
    ),
    ("prompt-corner", {}, {"ask Monty what happened between Fitch and Desmond at Harrogate": "monty-fitch"}),
    (
        "stage-door",
        {"flags.fitch_here": True},
        {
            "refuse to go looking: tell Mr Fitch he should have come round years ago": "fitch-reproach",
            "ask Win if Desmond has gone out past her door": "door-sheet",
        },
    ),
)
"""What strangers typed, where, with what found out, and the storylet that answers them."""
