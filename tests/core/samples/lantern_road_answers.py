"""The Lantern Road: what strangers typed where, and which storylet answers it; with what they had found out by then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

DROWNED: Mapping[str, object] = {
    "flags.road_drowned": True,
    "story.fired": {
        "go-ashore": {"order": 1, "last": 0, "count": 1, "told": {}},
        "the-road-goes-under": {"order": 2, "last": 0, "count": 1, "told": {}},
    },
}
"""After the flood, and after that was told."""

ANSWERS: Sequence[tuple[str, Mapping[str, object], Mapping[str, str]]] = (
    (
        "ferry",
        {},
        {
            "how do you know there are seven if you didn't look?": "ferry-how-known",
            "what are you humming?": "ferry-hum",
            "don't look under the tarpaulin": "ferry-leave-it",
            "offer Tench a coin to take me back to the far bank": "end-passenger-ask",
            "let the ferry land and see who's on the stage": "go-ashore",
            "why won't you turn round when you talk to me?": "ferry-turn",
            "hold the pole for him while he rests": "ferry-pole",
            "what did you owe, and to whom?": "ferry-owe",
            "who are you working for, Tench?": "ferry-reeve",
            "come with me": "ferry-come",
            "when do the carts cross?": "ferry-when",
            "how do I get back?": "ferry-way",
            "who was the boy's mother?": "ferry-mother",
        },
    ),
    (
        "ferry",
        {"flags.saw_cask": True},
        {
            "tell him I saw the Reeve's mark on that cask and ask him to explain": "ferry-confront",
            "count the lights again myself": "any-count",
        },
    ),
    (
        "landing",
        {"flags.saw_cask": True},
        {
            "examine the chalk marks": "landing-slate",
        },
    ),
    (
        "landing",
        {"flags.saw_cask": True, "flags.sprat_told": True},
        {
            "peer in through the toll-house window": "landing-window",
            "wave to Tench and shout that I know about his oil": "landing-hail",
        },
    ),
    (
        "toll-house",
        {"flags.saw_cask": True, "flags.sprat_told": True},
        {
            "I'm sorry, I'm late because of the ferryman": "pike-late",
        },
    ),
    (
        "toll-house",
        {"flags.goose_fed": True, "flags.saw_cask": True, "flags.saw_ledger": True, "flags.sprat_told": True},
        {
            "open the blue bread tin": "toll-tin",
        },
    ),
    (
        "landing",
        {"flags.saw_cask": True, "flags.saw_ledger": True, "flags.sprat_told": True},
        {
            "tell the boy that the Reeve wrote the casks off as spilt": "sprat-told-ledger",
        },
    ),
    (
        "causeway",
        {"flags.saw_cask": True, "flags.saw_ledger": True, "flags.sprat_told": True},
        {
            "hold my lantern up and look around me": "any-own-light",
        },
    ),
    (
        "seventh-lantern",
        {"flags.saw_cask": True, "flags.saw_ledger": True, "flags.sprat_told": True},
        {
            "listen to what they're saying over there": "seventh-listen",
            "is it safe to cross?": "seventh-safe",
        },
    ),
    (
        "far-shore",
        {
            "flags.dace_knows": True,
            "flags.met_dace": True,
            "flags.saw_cask": True,
            "flags.saw_ledger": True,
            "flags.seen_seventh": True,
            "flags.sprat_told": True,
        },
        {
            "climb the bad ladder carefully and try the lamp": "far-seventh",
            "turn back to the hut on stilts": "far-back",
            "climb up to the old woman": "far-loach",
            "I'll come back with a light. How do I get back from here?": "far-way",
        },
    ),
    (
        "far-shore",
        {
            "flags.dace_knows": True,
            "flags.met_dace": True,
            "flags.saw_cask": True,
            "flags.saw_ledger": True,
            "flags.seen_seventh": True,
            "flags.sprat_told": True,
            "inventory.oil": "player",
        },
        {
            "light the seventh lantern": "far-seventh",
        },
    ),
    (
        "lamp-store",
        {
            "flags.dace_knows": True,
            "flags.loach_told": True,
            "flags.loach_trusts": True,
            "flags.met_dace": True,
            "flags.saw_cask": True,
            "flags.saw_ledger": True,
            "flags.seen_seventh": True,
            "flags.sprat_told": True,
            "inventory.oil": "player",
        },
        {
            "tell her what I read in the ledger about Thursday": "loach-told-ledger",
            "ask what happened to her leg": "loach-fall",
            "so you saved the oil? where is it hidden?": "loach-where-oil-two",
            "help me light the seventh tonight with this can": "loach-come",
        },
    ),
    (
        "landing",
        {},
        {
            "I am not the new anything. Who told you that?": "sprat-told-new",
            "what's your name, boy?": "sprat-name",
            "why do you sit on a pail?": "sprat-pail",
            "look for a way round behind the toll-house": "landing-coal-door",
            "call for Mrs Dace": "no-dace",
            "put out the first lantern": "landing-put-out",
            "accuse the boy of putting out the lanterns": "sprat-accused",
            "will you help me?": "sprat-come",
            "what time do the carts cross?": "sprat-when",
            "how do I get back?": "landing-way",
            "who was your mother?": "sprat-mother",
            "who are the auditors?": "sprat-thursday",
            "check my pockets": "any-inventory",
        },
    ),
    (
        "landing",
        {"flags.sprat_told": True},
        {
            "shout for Loach": "no-loach",
            "warm my hands at the lantern": "landing-warm",
            "what is it that I would have to sign?": "sprat-sign",
            "look for Tench": "landing-tench",
            "look for footprints in the mud": "landing-prints",
            "who are you hiding from?": "sprat-hiding",
            "why is the splint made from a ladder rung?": "sprat-leg",
            "look inside the barrels": "landing-barrels",
            "why is one of the knots different?": "sprat-string-again",
        },
    ),
    (
        "toll-house",
        {"flags.sprat_told": True},
        {
            "what's in the letter under the blotter?": "toll-blotter",
            "hide behind the coal door and listen": "toll-hide",
            "tell her I'd rather not sign anything yet": "pike-refuse",
            "ask her about the goose's seal": "toll-seal",
        },
    ),
    (
        "causeway",
        {"flags.sprat_told": True},
        {
            "what do you mean, you've got hands?": "causeway-mean",
            "confront the Reeve: I know about the twelve casks": "no-pike",
        },
    ),
    (
        "lamp-store",
        {"flags.sprat_told": True},
        {
            "why is the splint made from a ladder rung?": "loach-fall",
            "how can I prove in ink that the oil was stolen?": "loach-proof",
            "tell her that the Reeve had me nearly sign against her": "loach-people",
        },
    ),
    (
        "lamp-store",
        {"flags.loach_trusts": True, "flags.sprat_told": True},
        {
            "borrow the book as evidence": "store-book-take",
            "offer her half a ginger biscuit": "store-biscuit",
            "what time do the carts cross?": "loach-when",
            "who was the boy's mother?": "loach-mother",
            "why did you save three gills?": "loach-tells",
        },
    ),
    (
        "lamp-store",
        {"flags.loach_told": True, "flags.loach_trusts": True, "flags.sprat_told": True, "inventory.oil": "player"},
        {
            "may I have your letters from the Reeve?": "loach-letters",
            "down the ladder and back to the landing": "walk-to-landing",
            "leave the hut and go east with the can to the seventh lantern": "store-towards-seventh",
        },
    ),
    (
        "landing",
        {"flags.loach_told": True, "flags.loach_trusts": True, "flags.sprat_told": True, "inventory.oil": "player"},
        {
            "ask Sprat to come and stand beside me and count": "sprat-come",
        },
    ),
    (
        "toll-house",
        {
            "flags.loach_told": True,
            "flags.loach_trusts": True,
            **DROWNED,
            "flags.sprat_told": True,
            "inventory.oil": "player",
        },
        {
            "give the can to the Reeve": "toll-give-can-drowned",
            "burn the ledger in the stove": "toll-burn-drowned",
            "run to Tench's boat": "toll-leave-drowned",
        },
    ),
    (
        "landing",
        {
            "flags.loach_told": True,
            "flags.loach_trusts": True,
            **DROWNED,
            "flags.sprat_told": True,
            "inventory.oil": "player",
        },
        {
            "take me across to the carts with this can, Tench, for the children's sake": "landing-hail",
            "Tench, I know what you carried. Sprat counted.": "landing-hail",
        },
    ),
    (
        "ferry",
        {
            "flags.loach_told": True,
            "flags.loach_trusts": True,
            **DROWNED,
            "flags.sprat_told": True,
            "inventory.oil": "player",
        },
        {
            "row me and this oil round to the dark lantern, you owe them that much": "ferry-plead",
            "you carried their oil four times, and the children are over there now": "ferry-plead",
            "untie the rope and push off myself": "ferry-steal",
        },
    ),
    (
        "ferry",
        {
            "flags.loach_told": True,
            "flags.loach_trusts": True,
            **DROWNED,
            "flags.roof_mended": True,
            "flags.sprat_told": True,
            "inventory.oil": "player",
        },
        {
            "so Tench, what did she pay you for carrying the casks?": "ferry-plead",
            "Now will you take me to the seventh? There are children on the far side.": "ferry-plead",
            "climb the seventh ladder with the can": "ferry-far-drowned",
            "confess, Tench: whose oil is it under your tarpaulin?": "ferry-plead",
            "row me to the last lantern now": "ferry-plead",
            "climb up with the can and light it": "ferry-far-drowned",
            "ask Tench about the oil": "ferry-plead",
        },
    ),
    (
        "seventh-lantern",
        {
            **DROWNED,
            "flags.saw_cask": True,
            "flags.sprat_told": True,
            "flags.tench_confessed": True,
            "inventory.oil": "player",
        },
        {
            "try the ladder again, holding the left rail": "climb-seventh",
            "try the ladder again": "climb-seventh",
        },
    ),
    (
        "seventh-lantern",
        {"flags.sprat_told": True},
        {
            "answer the child: not yet": "seventh-shout",
        },
    ),
    (
        "causeway",
        {"flags.sprat_told": True, "inventory.oil": "player"},
        {
            "pour the oil in, let the wick drink, count a hundred, light it": "causeway-light-lantern",
        },
    ),
    (
        "ferry",
        {**DROWNED},
        {
            "sit down": "drowned-sit",
            "say nothing": "drowned-sit",
            "go home": "ferry-home-drowned",
            "what should I do?": "help-drowned",
            "go ashore": "go-ashore-drowned",
        },
    ),
    (
        "landing",
        {**DROWNED},
        {
            "stay here": "drowned-sit",
            "wait": "end-tide",
            "go to the toll-house": "go-toll-house-drowned",
            "walk east": "go-causeway-drowned",
            "ring the bell": "landing-bell-drowned",
        },
    ),
    (
        "toll-house",
        {},
        {
            "come with me": "pike-come",
            "when do the carts cross?": "pike-when",
            "how do I get back?": "toll-way",
            "I won't sign the ledger": "pike-refuse",
            "what would I be signing?": "pike-sign",
            "read my letter": "any-letter",
            "what time is it?": "pike-when",
            "what is that smell?": "toll-smell",
        },
    ),
    (
        "lamp-store",
        {},
        {
            "will you help me?": "loach-come",
            "how do I get back?": "store-way",
            "look at her knee": "loach-knee-look",
            "bind her knee": "loach-knee",
            "what happens on Thursday?": "loach-law",
        },
    ),
    (
        "far-shore",
        {},
        {
            "will you help me?": "dace-come",
            "when do you cross?": "dace-when",
            "how do I get back?": "far-way",
            "look for Loach": "far-loach",
            "let's go": "far-go",
        },
    ),
    (
        "causeway",
        {},
        {
            "when do the carts cross?": "any-when",
            "how do I get back?": "causeway-way",
            "I'm cold": "any-cold",
        },
    ),
    (
        "seventh-lantern",
        {},
        {
            "how do I get back?": "seventh-way",
        },
    ),
    (
        "far-shore",
        {**DROWNED},
        {
            "how do I get back?": "far-way-drowned",
            "talk to Mrs Dace": "dace-drowned",
        },
    ),
    (
        "lamp-store",
        {"flags.loach_told": True, "flags.loach_trusts": True},
        {
            "where is the oil hidden?": "loach-where-oil",
        },
    ),
    (
        "toll-house",
        {**DROWNED},
        {
            "ask the Reeve about the carts": "pike-drowned",
        },
    ),
    (
        "causeway",
        {**DROWNED},
        {
            "go back to the landing": "causeway-back-drowned",
        },
    ),
    (
        "seventh-lantern",
        {**DROWNED},
        {
            "shout to them to stop": "seventh-shout-drowned",
        },
    ),
    (
        "ferry",
        {"flags.saw_cask": True, "flags.tench_confessed": True},
        {
            "give me some of the oil": "ferry-oil-given",
        },
    ),
    (
        "far-shore",
        {"flags.saw_ledger": True, "flags.sprat_told": True, "inventory.oil": "player"},
        {
            "the Reeve sold your oil. I've read it in her book, and the boy counted the casks": "dace-tell",
            "can you tell me what you are carrying?": "dace-things",
        },
    ),
    (
        "seventh-lantern",
        {},
        {
            "read what is written on the post": "seventh-lantern",
            "who is that over there?": "seventh-dace",
            "shout that I have oil": "seventh-shout",
        },
    ),
    (
        "toll-house",
        {"flags.saw_ledger": True, "flags.sprat_told": True},
        {
            "why did you write spilt four times?": "pike-spilt",
            "who bought the oil at Saltmarket?": "pike-spilt",
            "where's your proof that Loach did it?": "pike-proof",
            "good evening, I'm the lampwright. You sent for me.": "pike-intro",
        },
    ),
    (
        "landing",
        {},
        {
            "did you see the boat go out at night?": "sprat-string",
            "climb up to the hut": "go-causeway",
            "tell me why they're out": "sprat-lanterns",
        },
    ),
    (
        "ferry",
        {"flags.saw_cask": True},
        {"now tell me what you're hiding": "ferry-confront", "Nice hat.": "ferry-things"},
    ),
    (
        "lamp-store",
        {"flags.loach_told": True, "flags.sprat_told": True},
        {
            "who taught Sprat to tie knots?": "loach-told-string",
            "what's the best way up the seventh ladder?": "loach-fall",
        },
    ),
    (
        "lamp-store",
        {"flags.seen_seventh": True},
        {
            "go down and walk east to the seventh lantern": "walk-to-seventh",
            "go to the seventh lantern": "walk-to-seventh",
            "no, the other ladder, at the seventh lantern": "walk-to-seventh",
            "climb the left side of the ladder with the oil": "rope-no-side",
            "go back to the landing": "walk-to-landing",
        },
    ),
    (
        "lamp-store",
        {},
        {
            "go down and walk east to the seventh lantern": "store-towards-seventh",
            "go to the seventh lantern": "store-towards-seventh",
            "ask Loach to come with me to Pike": "loach-come-pike",
            "would you swear to that in front of the Reeve?": "loach-swear",
            "ask for some rope or wire to tie up the rung": "store-rope",
            "look under the bunk": "store-bunk",
        },
    ),
    (
        "lamp-store",
        {"flags.tench_confessed": True, "inventory.oil": "player"},
        {
            "tell Loach that Tench confessed and will swear to it": "loach-told-tench",
            "look under the bunk": "store-bunk-after",
        },
    ),
    (
        "landing",
        {"flags.seen_seventh": True},
        {
            "go to the seventh lantern": "walk-to-seventh",
        },
    ),
    (
        "causeway",
        {"flags.seen_seventh": True},
        {
            "go to the seventh lantern": "walk-to-seventh",
            "no, the other ladder, at the seventh lantern": "walk-to-seventh",
            "climb the left side of the ladder with the oil": "rope-no-side",
        },
    ),
    (
        "seventh-lantern",
        {"flags.seen_seventh": True},
        {
            "go back to the landing": "walk-to-landing",
            "tie the third rung with a wick": "seventh-tie",
            "tie the third rung with my coat": "seventh-tie",
            "tie the rung with string": "seventh-tie",
            "lash the third rung with rope": "seventh-tie",
            "look around for Loach": "no-loach",
        },
    ),
    (
        "seventh-lantern",
        {"flags.seen_seventh": True, "flags.up_ladder": True, "flags.met_dace": True, "inventory.oil": "player"},
        {
            "don't light it yet; go back down and wade over to Dace": "seventh-down-and-over",
        },
    ),
    (
        "far-shore",
        {"flags.met_dace": True, "flags.seen_seventh": True},
        {
            "go back to the landing": "far-to-landing",
            "will you cross if I light the seventh?": "dace-will-cross",
        },
    ),
    (
        "ferry",
        {"flags.tench_confessed": True},
        {
            "ask him to put me at the landing": "go-ashore",
            "the landing": "go-ashore",
            "who is Loach?": "ferry-who-loach",
            "who is Dace, and why does she carry a whip?": "ferry-who-dace",
            "what would Loach want with the oil she saves?": "ferry-why-save",
            "would you swear to that?": "ferry-swear",
        },
    ),
    (
        "ferry",
        {},
        {
            "who is Loach?": "ferry-who-loach",
            "who is Dace?": "ferry-who-dace",
        },
    ),
    (
        "landing",
        {},
        {
            "put the fourth and seventh right on the slate with the chalk": "landing-slate-write",
            "what do you mean, mended with wick?": "sprat-wick",
            "look around for Loach": "no-loach",
            "would you swear to that?": "sprat-swear",
        },
    ),
    (
        "toll-house",
        {},
        {
            "Why are all seven ticked when two are dark?": "pike-ticked",
            "ask her what Loach earns": "pike-loach-wage",
            "don't trust her; leave without saying a word": "toll-leave-silent",
        },
    ),
    (
        "toll-house",
        {"flags.saw_cask": True},
        {
            "tell her I saw the road's cask on the ferry": "pike-told-cask",
        },
    ),
    (
        "ferry",
        {"flags.tench_confessed": True},
        {
            "put me by the seventh": "row-to-the-seventh",
            "the far lamp, please": "row-to-the-seventh",
        },
    ),
    (
        "ferry",
        {},
        {
            "would you swear to that?": "ferry-swear-no",
        },
    ),
    (
        "landing",
        {},
        {
            "why are all seven ticked when two are dark?": "sprat-ticked",
        },
    ),
    (
        "lamp-store",
        {},
        {
            "look behind the boots": "store-bunk",
            "steal the can": "store-steal-oil",
            "Loach, come with me to the Reeve": "loach-come-pike",
            "kneel down and redo the splint": "loach-knee",
        },
    ),
    (
        "lamp-store",
        {"flags.loach_trusts": True, "flags.loach_told": True},
        {
            "look under the bunk": "store-bunk-told",
        },
    ),
    (
        "seventh-lantern",
        {},
        {
            "pick up the half button": "seventh-button",
            "tie it with wick": "seventh-tie",
        },
    ),
    (
        "seventh-lantern",
        {"flags.seen_seventh": True, "flags.met_dace": True},
        {
            "don't light it yet; go back down and wade over to Dace": "go-far-shore-again",
        },
    ),
    (
        "seventh-lantern",
        {"flags.seen_seventh": True, "flags.up_ladder": True, "inventory.oil": "player"},
        {
            "don't light it yet; go back down and wade over to Dace": "go-far-shore",
        },
    ),
    (
        "far-shore",
        {"flags.dace_knows": True, "flags.met_dace": True},
        {
            "would you swear to that?": "dace-swear",
        },
    ),
    (
        "ferry",
        {"flags.tench_confessed": True},
        {
            "go to the seventh lantern": "row-to-the-seventh",
            "go back to the landing": "go-ashore",
            "who is Pike?": "ferry-who-pike",
            "who is Sprat?": "ferry-who-sprat",
        },
    ),
    (
        "toll-house",
        {"flags.seen_seventh": True, "flags.tench_confessed": True},
        {
            "go to the seventh lantern": "walk-to-seventh",
            "leave quietly": "toll-leave-silent",
            "say nothing and go": "toll-leave-silent",
            "tell her that Tench confessed": "pike-told-tench",
        },
    ),
    (
        "landing",
        {"flags.tench_confessed": True},
        {
            "tell Sprat that Tench confessed": "sprat-told-tench",
        },
    ),
    (
        "lamp-store",
        {"flags.seen_seventh": True},
        {
            "go to the carts": "walk-to-seventh",
        },
    ),
    (
        "far-shore",
        {},
        {
            "go to Loach's hut": "far-to-hut",
        },
    ),
    (
        "ferry",
        {},
        {
            "I won't tell the Reeve, I promise": "ferry-promise",
            "I can keep a secret": "ferry-promise",
            "taste the oil": "ferry-taste",
            "who lives in the hut?": "hut-who-lives",
            "who lives here?": "ferry-look",
        },
    ),
    (
        "toll-house",
        {},
        {
            "tell the Reeve that only five are burning": "pike-five",
            "tell her that two lanterns are out": "pike-five",
            "I counted five": "pike-five",
            "what do you want me to do?": "pike-job",
            "what will I be doing?": "pike-job",
            "who lives in the lamp-store?": "pike-who-lives",
            "ask the Reeve about the lanterns": "pike-oil",
        },
    ),
    (
        "landing",
        {},
        {
            "light the fourth lantern": "landing-light-far",
            "look at the dark lantern": "landing-light-far",
            "light the lantern": "landing-lantern",
            "who lives in the hut on stilts?": "hut-who-lives",
        },
    ),
    (
        "causeway",
        {},
        {
            "wave the carts off": "causeway-wave",
            "warn the carters": "causeway-wave",
            "ring the bell": "causeway-bell",
        },
    ),
    (
        "lamp-store",
        {},
        {
            "I won't take your job": "loach-refuse-job",
            "I'm not a clerk": "loach-not-clerk",
            "who took it?": "loach-who-took",
            "I don't want the post": "loach-refuse-job",
        },
    ),
    (
        "ferry",
        {"flags.saw_cask": True},
        {
            'who is "her"?': "ferry-who-pike",
            "and what did you get out of it, Tench? A share?": "ferry-share",
            "what do you get for it?": "ferry-share",
            "under the goose?": "ferry-goose",
        },
    ),
    (
        "landing",
        {},
        {
            "What do you mean, the new Loach? What has happened to the old one, Sprat?": "sprat-new-loach",
            "what happened to Loach?": "sprat-new-loach",
            "so who goes up and down the ladder of an evening?": "sprat-leg",
            "all right. what is in the blue tin?": "sprat-tin",
            "share my bread with him": "landing-biscuit",
            "nobody will be angry with you": "sprat-comfort",
            "tell him that I am somebody to tell": "sprat-comfort",
        },
    ),
    (
        "toll-house",
        {},
        {
            "How did you know you would need me?": "pike-knew",
            "you sold the oil, and it was never spilt": "accuse-pike-nothing",
            "go out by the coal door": "toll-coal-door-out",
        },
    ),
    (
        "toll-house",
        {"flags.saw_ledger": True},
        {
            "I will not sign that. Twelve casks were not spilt, they went out by your coal door in threes, and a boy "
            "counted them.": "accuse-pike-alone",
            '"The casks were never spilt. You sold them," I say, and push the ledger back across the desk.': (
                "accuse-pike-alone"
            ),
        },
    ),
    (
        "ferry",
        {},
        {
            "move out from under the hole and count the lanterns again, slowly, noting which are dark": "ferry-seat",
            "look under it": "ferry-tarpaulin",
            "nod to Tench": "any-nod",
        },
    ),
    (
        "lamp-store",
        {},
        {
            "swear to Loach on my lamp tools that I will not tell the Reeve": "loach-oath",
            "To me. I came for work, not for her. I give you my word it goes no further than here.": "loach-oath",
            "You turned the fourth down yourself. Why?": "loach-lanterns",
            "would you swear to it?": "loach-swear",
        },
    ),
    (
        "ferry",
        {},
        {
            "what are you afraid of, Tench?": "ferry-afraid",
            "I tell Tench to turn the boat round: I have changed my mind about this job": "end-passenger-ask",
        },
    ),
    ("toll-house", {"flags.saw_ledger": True}, {"Ask Pike about the forty-eight pounds for sundries": "pike-sundries"}),
    (
        "seventh-lantern",
        {"inventory.oil": "player"},
        {
            "button my coat, wait for a lull and climb again with the can tied on my back": "climb-seventh",
            "wait for the lull between gusts, then climb": "climb-seventh",
        },
    ),
)
"""What strangers typed, where, with what found out, and the storylet that answers them."""
