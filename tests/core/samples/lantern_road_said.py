"""The Lantern Road: whole sentences that strangers said there, and which storylet answers each.

What follows from what somebody has just said; feelings, thanks and favours; two things in one breath.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def _fired(*storylets: str) -> Mapping[str, object]:
    """That these were told, in this order."""
    return {each: {"order": at + 1, "last": 0, "count": 1, "told": {}} for at, each in enumerate(storylets)}


ANSWERS: Sequence[tuple[str, Mapping[str, object], Mapping[str, str]]] = (
    (
        "ferry",
        {},
        {
            "I count five. Count again, Tench?": "ferry-count-you",
            "Excuse me, could I possibly sit somewhere that is not under the hole?": "ferry-seat",
            "I reread the letter before the ink is gone": "any-letter",
            "Why would anyone put them out? What do you think, Tench?": "ferry-think",
            "A goose? What does the road want with a goose?": "ferry-goose",
            "Stew doesn't glup like that, Tench. Give me a spoonful.": "ferry-soup",
            "That was no bait. Bait doesn't have a tap. Whose oil is it?": "ferry-ask-tarpaulin",
            "Do you have children, Tench?": "ferry-children",
            "I try the peek again, when he looks at a sandbar": "ferry-tarpaulin",
            "Hm. Who told you that I'd had my journey for nothing?": "ferry-journey",
            "You've got the dry half of the roof, haven't you, you old rogue": "ferry-seat",
        },
    ),
    (
        "ferry",
        {"flags.roof_mended": True},
        {
            "You owe me the truth about the lanterns. Nothing more.": "ferry-truth",
            "While he hums I lift the tarpaulin with my toe and have a peek": "ferry-tarpaulin",
        },
    ),
    (
        "ferry",
        {"flags.saw_cask": True, "flags.tench_confessed": True, "inventory.oil": "player"},
        {
            "What wet men? You never told me about any wet men.": "ferry-ghosts-after",
            "Would you be so kind as to row me to the far lantern right now, and wait for me?": "row-to-the-seventh",
        },
    ),
    (
        "seventh-lantern",
        {
            "flags.saw_cask": True,
            "flags.seen_seventh": True,
            "flags.tench_confessed": True,
            "inventory.oil": "player",
            "story.fired": _fired("row-to-the-seventh"),
        },
        {
            "Thank you, Tench. Hold the ladder for me, will you?": "seventh-tench-gone",
        },
    ),
    (
        "seventh-lantern",
        {"flags.saw_cask": True, "flags.seen_seventh": True, "flags.tench_confessed": True, "inventory.oil": "player"},
        {
            "How many minutes have we got before the water comes back?": "any-tide-early",
            "I'm not sure I want to do this. What if I just sit on the bottom rung and cry a bit?": "seventh-doubt",
            "I walk back along the causeway to that lit hut on legs; Loach should hear of it": "seventh-back",
            "What do they call the woman in charge of the carts?": "seventh-dace-name",
            "Whistle a hornpipe to keep my spirits up": "seventh-whistle",
            "I lick the lamp glass to see if it's clean": "seventh-lick",
            "Before I climb: is there anything wrong with the lantern itself? I peer up at it": "seventh-peer",
            "What's in the bag for L? I should have asked": "seventh-bag",
            "Keep going east": "seventh-east-warn",
        },
    ),
    (
        "lamp-store",
        {
            "flags.loach_told": True,
            "flags.loach_trusts": True,
            "flags.saw_cask": True,
            "flags.seen_seventh": True,
            "flags.tench_confessed": True,
            "inventory.oil": "player",
        },
        {
            "Don't you hate the Reeve for selling your oil?": "loach-feel-pike",
            "Why didn't you write to somebody about it? A magistrate, say": "loach-magistrate",
            "May I read your lamp-book? And could I have a sip of something hot?": "store-book-and-tea",
            "You look cold too. Shall I put the kettle on for both of us?": "store-kettle",
            "Who was the boy you found under the coat in the ferry?": "loach-boy",
            "Right, wish me luck. Which way do I go from the bottom of the ladder?": "store-which-way",
            "I climb down and go to see the lantern at the landing, where that boy is": "walk-to-landing",
        },
    ),
    (
        "causeway",
        {
            "flags.loach_told": True,
            "flags.loach_trusts": True,
            "flags.saw_cask": True,
            "flags.seen_seventh": True,
            "flags.tench_confessed": True,
            "inventory.oil": "player",
        },
        {
            "I stroll west to the landing": "causeway-back-first",
        },
    ),
    (
        "landing",
        {
            "flags.loach_told": True,
            "flags.loach_trusts": True,
            "flags.saw_cask": True,
            "flags.seen_seventh": True,
            "flags.tench_confessed": True,
            "inventory.oil": "player",
        },
        {
            "What do you mean, she's asked the slate?": "sprat-asked-slate",
            "What else goes in at the back, besides coal?": "sprat-mostly",
            "Would you carry a message to Loach for me, Sprat?": "sprat-errand",
            "She sounds like a good mother. Do you want to see her again tonight?": "sprat-see-loach",
            "I knock at the toll-house. Good evening, Reeve; you were asking for me?": "go-toll-house",
        },
    ),
    (
        "landing",
        {
            "flags.loach_told": True,
            "flags.loach_trusts": True,
            "flags.saw_cask": True,
            "flags.seen_seventh": True,
            "flags.tench_confessed": True,
            "inventory.oil": "player",
            "story.fired": _fired("landing-bell"),
        },
        {
            "Oh no. Quick, how do I tell them to stop? Ring it the other way?": "landing-bell-undo",
        },
    ),
    (
        "toll-house",
        {
            "flags.loach_told": True,
            "flags.loach_trusts": True,
            "flags.saw_cask": True,
            "flags.seen_seventh": True,
            "flags.tench_confessed": True,
            "inventory.oil": "player",
        },
        {
            "I have walked a mile in the wet; may I have some bread and a moment by the stove?": "toll-bread-stove",
            "Reeve, may I see the entries for oil in that ledger?": "pike-ledger-asked",
            "Bribe Bailiff with bread from the tin, then read over her shoulder": "toll-bribe-goose",
        },
    ),
    (
        "seventh-lantern",
        {
            "flags.fell_once": True,
            "flags.ladder_tied": True,
            "flags.saw_cask": True,
            "flags.seen_seventh": True,
            "flags.tench_confessed": True,
            "inventory.oil": "player",
        },
        {
            "Up again, slowly, staying left": "climb-seventh-second",
        },
    ),
    (
        "seventh-lantern",
        {
            "flags.saw_cask": True,
            "flags.seen_seventh": True,
            "flags.tench_confessed": True,
            "flags.up_ladder": True,
            "inventory.oil": "player",
        },
        {
            "Do I have matches, or did they get wet?": "any-tinder",
            "Actually no. I refuse to light it until the Reeve pays me for eleven weeks": "seventh-refuse-up",
            "Sprat? Are you down there, lad? Pass me a light, would you": "no-sprat",
        },
    ),
    (
        "far-shore",
        {
            "flags.dace_knows": True,
            "flags.met_dace": True,
            "flags.saw_cask": True,
            "flags.seen_seventh": True,
            "flags.tench_confessed": True,
            "inventory.oil": "player",
        },
        {
            "Could you spare a blanket and tell me which of these is your youngest?": "far-blanket-youngest",
            "Neither, for a moment. I'm afraid of the water, to be honest": "far-neither",
            "Who's Duchess? A horse?": "far-duchess",
            "I ask one of the children what she's carrying in her blanket": "far-child-carries",
            "All right. I'll walk ahead of Duchess with a light": "lead-the-carts",
            "Sorry. I apologise to Duchess and everyone": "far-sorry",
            "I take the lantern oil they offered, wade back, and light the big one instead": "far-oil-have",
        },
    ),
    (
        "landing",
        {},
        {
            "Can you whistle, Sprat? I never learned": "sprat-can",
            "Which lamps have gone out, and did you see anyone at night?": "sprat-lanterns",
            "Hey Tench! I've a question for you!": "landing-hail",
            "I whistle for the ferry and ask Tench to take me home after all": "landing-hail-home",
        },
    ),
    (
        "landing",
        {"flags.sprat_told": True},
        {
            "Thank you for trusting me, Sprat. That was brave": "sprat-thanks",
        },
    ),
    (
        "ferry",
        {"story.fired": _fired("end-passenger-ask")},
        {
            "Yes, I'm sure. Cast off.": "end-passenger",
            "No, no, I meant you do it. I want to go home.": "end-passenger",
            "Take me home, Tench": "end-passenger",
        },
    ),
    (
        "lamp-store",
        {},
        {
            "I take my leave of Loach and promise her I'll be careful": "loach-leave-taking",
            "How far is it to the next lamp?": "store-far",
            "I follow the road east, keeping to the stones": "store-leave",
        },
    ),
    (
        "causeway",
        {"flags.saw_cask": True, "flags.seen_seventh": True, "flags.tench_confessed": True, "inventory.oil": "player"},
        {
            "Sneak a bit of my own oil into the fourth, just enough to see by": "causeway-oil-in",
        },
    ),
    (
        "causeway",
        {"flags.seen_seventh": True},
        {
            "I walk on towards the Dip, singing to keep the dead off": "go-seventh-again",
        },
    ),
    (
        "ferry",
        {},
        {
            "Good evening, Tench. Miserable weather for a crossing, isn't it?": "ferry-weather",
            "How long have you been doing this?": "ferry-how-long",
            "I don't believe in ghosts, Tench, I believe in people": "ferry-ghosts",
        },
    ),
    (
        "landing",
        {},
        {
            "Hello there, young man. What are you doing out so late?": "sprat-late",
            "Do you like the Reeve?": "sprat-like",
            "I give him half my biscuit because he looks hungry": "landing-biscuit",
            "Is anybody in at the toll-house?": "sprat-anybody-in",
        },
    ),
    (
        "toll-house",
        {},
        {
            "When exactly did you write it?": "pike-letter-when",
            "I feed the goose some bread and lean over to read the book": "toll-bribe-goose",
            "On second thoughts I'd better go and find Loach first": "toll-leave",
        },
    ),
    (
        "lamp-store",
        {},
        {
            "Sorry to disturb you. I'm Ansa": "loach-intro",
            "How many casks should you have had?": "loach-casks",
            "Will you be all right on your own?": "loach-tired",
            "I'd better go now, before the tide turns": "loach-leave-taking",
            "What can I do to help?": "loach-help",
        },
    ),
)
"""What was said where, with what was known by then, and the storylet that answers."""
