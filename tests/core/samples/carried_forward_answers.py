"""Carried Forward: what strangers typed where, and which storylet answers it; with what they had found out by then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

NEARLY: Mapping[str, object] = {
    **dict.fromkeys(
        (f"flags.{name}" for name in ("saw_ledger", "counted", "knows_roll", "orr_wrote", "read_act")), True
    ),
    **dict.fromkeys((f"flags.{name}" for name in ("counted_all", "clue_tablet", "knows_anne", "ida_agrees")), True),
}
"""Everything but the sum."""
READY: Mapping[str, object] = {**NEARLY, "flags.did_sum": True}
KNOWS: Mapping[str, object] = {"flags.knows_roll": True, "flags.read_act": True, "flags.knows_anne": True}


def after(*storylets: str) -> Mapping[str, object]:
    """The state right after these were told."""
    told = {name: {"order": at, "last": 0, "count": 1, "told": {}} for at, name in enumerate(storylets, 1)}
    return {"story.fired": told}


ANSWERS: Sequence[tuple[str, Mapping[str, object], Mapping[str, str]]] = (
    # one report is not another: whoever says forty, by the Act or the true roll, does not mean nine, one or everything
    (
        "quay",
        READY,
        {
            "the fortieth is the Constant Anne": "forty-ask",
            "report forty vessels, all counted": "forty-ask",
            "wire Gault: forty vessels, eight lost, Constant Anne is the fortieth and coming in": "forty-ask",
            "send a wire to Gault: forty vessels, all counted": "forty-ask",
            "write the report: by the Act, thirty-nine and Dan make forty": "forty-ask",
            "I certify that there are forty vessels within section 2": "forty-ask",
            "report that the roll is truly forty: thirty-one, eight harbour craft, and the Constant Anne": "forty-ask",
            "send the report of the forty: the roll as Miss Orr wrote it, with the Constant Anne": "forty-ask",
            "no, not that report. The Act report: they are forty by section 2": "forty-ask",
            "tell the whole truth: count the boats, all forty of them": "forty-ask",
            "write the corrected roll": "forty-ask",
            "enter the eight harbour craft on the roll and strike off the eight lost ships": "forty-ask",
            "sign the true roll: thirty-one, eight and one": "forty-ask",
            "report everything": "exact-ask",
            "report everything, the roll as well": "exact-ask",
            "report that the roll of forty vessels is false": "exact-ask",
            "report thirty-one boats": "exact-ask",
            "report only the Constant Anne": "one-ask",
            "report nine afloat": "gault-ask",
            "sign the certificate": "sign-ask",
            "what can I report?": "report-ready",
            "what shall I write?": "report-ready",
            "send Mrs Marram's telegram now: come in by daylight": "daylight-agreed",
            "can I still change my mind?": "draft-none",
        },
    ),
    # the refusal names what is missing
    ("quay", {}, {"report forty": "forty-no-act"}),
    ("quay", {"flags.read_act": True}, {"report forty vessels": "forty-no-count"}),
    ("quay", {"flags.read_act": True, "flags.counted_all": True}, {"report thirty-nine": "forty-no-anne"}),
    ("post-office", {**NEARLY, "flags.ida_agrees": False}, {"the fortieth is the Constant Anne": "forty-no-ida"}),
    ("quay", NEARLY, {"I certify that there are forty vessels": "forty-no-sum", "report forty": "forty-no-sum"}),
    # a no to the report in hand
    (
        "quay",
        {**READY, "case.draft": "exact", **after("exact-ask")},
        {
            "no, not that report. The Act report: they are forty by section 2": "forty-ask",
            "no. report that the roll is truly forty": "forty-ask",
            "no": "draft-tear",
            "don't send that": "draft-tear",
            "no, tear it up": "draft-tear",
            "wait, let me read it again": "draft-read",
            "who will it hurt?": "draft-cost",
            "yes, send it": "end-exact",
        },
    ),
    (
        "quay",
        {**READY, "case.draft": "forty", **after("forty-ask")},
        {
            "no. report that the roll is truly forty": "forty-again",
            "yes, send the report of forty": "end-forty",
        },
    ),
    # what was just said, and not an introduction
    (
        "quay",
        {},
        {
            "who haven't I asked you about?": "cobb-who-not",
            "ask the fisherman why he changed eight to nine": "quay-eight",
            "what wall did Miss Anne pay for?": "cobb-wall",
            "ask Mrs Cobb about the Constant Anne": "cobb-constant",
            "what do you mean, you've been told that you are thieves?": "cobb-ask",
            "are you married?": "cobb-life",
            "Good morning, madam. I'm the auditor from the Provident Hull.": "cobb-first",
            "walk to the end of the quay where the boat ties up at night and read the board": "quay-berths",
            "is the tar still wet?": "quay-berths",
            "read the card at the gangway": "quay-packet",
            "ask the purser if he knows anything about the nine ships": "purser-ask",
            "where can I find Budge?": "where-people",
            "where is the chapel?": "where-places",
            "where am I?": "quay-look",
            "how long do I have?": "time-morning",
        },
    ),
    ("quay", after("quay-count"), {"what do you mean, 'Ah', old man?": "quay-ah"}),
    ("quay", after("cobb-basket-early"), {"who can't get out?": "cobb-who-out"}),
    ("office", after("telegram-comes"), {"call after the boy: which ship was your uncle on?": "boy-uncle"}),
    (
        "office",
        {},
        {
            "why did you cover the list?": "fell-list",
            "What does the certificate say?": "fell-certificate",
            "ask him about the Act": "fell-act-unread",
            "how many boats are there in the harbour, captain?": "fell-how-many",
            "who is the laughing man in the picture?": "fell-photo",
            "is the dog in the photograph yours?": "office-things",
            "I don't believe you, captain": "any-doubt",
            "tell me the truth about the coffee": "coffee-ask",
        },
    ),
    (
        "office",
        {**KNOWS, "flags.saw_ledger": True},
        {
            "how many boats has the wall saved since it was built?": "fell-wall",
            "show him section 2 of the Act: any craft in the service of a harbour is a vessel": "fell-act",
            "go out and count again, this time every craft: the coal hulk, the dredger": "go-count-all",
            "what if she came in by daylight?": "daylight-ask",
            "who wrote the other receipts?": "fell-hand",
            "why did you write that one yourself?": "fell-blot",
            "what would happen to you if I reported it?": "fell-happen-known",
        },
    ),
    (
        "long-room",
        {"flags.knows_roll": True, "flags.read_act": True, "flags.orr_wrote": True},
        {
            "look": "long-look-after",
            "Who takes the basket of fish on Thursdays?": "orr-basket",
            "why did you let go of the sash?": "orr-sash",
            "is the breakwater long enough to count as a craft?": "orr-breakwater-craft",
            "is the lifeboat a vessel?": "orr-is-vessel",
            "suggest to Miss Orr that we find nine other craft to make up the forty": "count-all",
            "don't tell Captain Fell about this": "orr-secret",
            "don't eat the biscuit": "left-any",
            "ask to see the red memorandum book": "orr-night",
            "whose washing is that on the coal hulk?": "orr-washing",
            "what happens if there are only thirty-nine?": "orr-consequences",
            "isn't that perjury?": "orr-swears",
            "make up the honest roll of forty with Miss Orr": "roll-write-early",
        },
    ),
    (
        "long-room",
        READY,
        {"sign the true roll: thirty-one, eight and one": "roll-write", "show her the sum": "orr-sum"},
    ),
    (
        "long-room",
        {},
        {
            "suggest to Miss Orr that we find nine other craft": "orr-other-craft",
            "would the hulk count as a vessel?": "orr-hulk",
            "may I borrow the book that holds up the window?": "act-read",
            "what are you writing?": "orr-writing",
            "how long have you worked here?": "orr-life",
            "thank you, Miss Orr, you have been very helpful": "orr-thanks",
        },
    ),
    (
        "marram-house",
        {},
        {
            "his widow? you say it as if it were a joke": "ida-widow",
            "what do the cards say?": "ida-cards",
            "who makes all these pies?": "ida-pies",
            "who told you I was coming?": "ida-life",
            "look behind the clock": "ida-clock",
        },
    ),
    (
        "marram-house",
        KNOWS,
        {
            "his widow? you say it as if it were a joke": "ida-widow-known",
            "would you want him home for good, even if it meant prison?": "ida-want",
            "back to Captain Fell: I know where your coffee comes from": "go-office",
            "when will he come back?": "ida-when",
            "how did they choose him?": "ida-lots",
            "do you still love him?": "ida-love",
            "what does he bring the captain?": "ida-bring",
            "I won't tell anyone": "ida-secret",
        },
    ),
    (
        "office",
        {"flags.saw_ledger": True},
        {
            "I would rather not have any coffee": "coffee-refuse",
            "I'd rather not go upstairs just yet": "left-any",
            "where did the Patience go down?": "fell-ships",
            "where does that stair lead?": "office-stairs",
            "look out of the window": "office-window",
            "what are you hiding?": "fell-afraid",
            "where is Daniel Marram now?": "where-dan",
            "what shall I do, captain?": "advice",
            "sorry, I did not mean to shout": "any-thanks",
        },
    ),
    (
        "long-room",
        {"flags.orr_wrote": True},
        {
            "is there a law about it?": "orr-act-where",
            "use the ruler to cut the pages": "act-read",
            "why do you need forty boats?": "orr-why-open",
            "why didn't you sign it?": "orr-why-wrote",
            "did you see it happen?": "orr-saw",
            "are you not afraid of losing your post?": "orr-afraid",
        },
    ),
    (
        "marram-house",
        KNOWS,
        {
            "then he was here last night": "ida-here",
            "don't be afraid, I won't have him arrested": "ida-reassure",
            "does the captain know what he has done to you?": "ida-captain",
            "what would make it come right?": "ida-right",
            "no pie for me, thanks, I have just eaten": "house-pie-no",
        },
    ),
    ("chapel", {}, {"is the Constant Anne among the names?": "board-read", "why is one match broken?": "vestry"}),
    (
        "breakwater",
        {"flags.clue_tablet": True, "flags.counted_all": True},
        {
            "Miss C. Anne is the Constant Anne!": "tablet-guess",
            "who is Miss C. Anne?": "tablet-again",
            "how long is the new part?": "break-size",
            "which one are we missing?": "what-fortieth",
        },
    ),
    (
        "marram-house",
        {**KNOWS, "flags.did_sum": True},
        {
            "look around": "house-look-after",
            "may I look at his boots?": "ida-boots-known",
            "here is the sum, please look at it": "ida-home-sum",
            "I brought you no card, Mrs Marram": "ida-cards",
        },
    ),
    # the sum, where its date is
    ("breakwater", {}, {"work out what the breakwater has saved": "sum-at-the-stone"}),
    ("breakwater", {"flags.knows_anne": True}, {"work out what the breakwater has saved": "sum-at-the-stone"}),
    ("quay", {"flags.knows_anne": True}, {"work out what the breakwater has saved": "sum-no-date"}),
    ("breakwater", {"flags.clue_tablet": True}, {"work out what the breakwater has saved": "do-sum"}),
    ("chapel", {}, {"is anybody here?": "alone", "who is Captain Fell?": "who-is-who", "ring the bell": "chapel-bell"}),
    (
        "post-office",
        {},
        {
            "is there anything for me?": "budge-mail",
            "hello, are you the postmaster?": "budge-talk",
            "who writes from Denmark?": "budge-letters",
            "why do eight of them have black cards?": "budge-rack",
            "tell Mr Budge not to read my telegrams": "budge-reads",
            "go to the post office": "post-here",
        },
    ),
    ("post-office", after("telegram-send"), {"what does he answer?": "telegram-answer"}),
)
