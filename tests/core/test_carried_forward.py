"""Carried Forward, played by the pure core: it answers, it can be solved and missed, it ends in eight ways, at five."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import pytest

from narrator.core.conditions import Condition, holds, parse_condition
from narrator.core.state import is_ended
from narrator.core.storylets import suggestions
from tests.core.sample_play import SEED, Game, at, played, sample

ANSTRY = sample("carried-forward")
COMPANY = {
    "quay": ["cobb"],
    "office": ["fell"],
    "long-room": ["orr"],
    "chapel": [],
    "marram-house": ["ida"],
    "breakwater": [],
    "post-office": ["budge"],
}
PLACES = tuple(COMPANY)

NEWCOMERS = {
    "quay": (
        "look around",
        "count the boats",
        "talk to the woman",
        "ask her about the ships",
        "ask the woman who pays the dues",
        "go to the harbour office",
        "enter office",
        "follow the smell of coffee",
        "read the postcard",
        "what do I have",
        "who am I",
        "help",
        "wait",
        "what time is it",
        "read the board",
        "look at the packet",
        "talk to the purser",
        "buy a herring",
        "go to the chapel",
        "go to the yellow house",
        "walk along the breakwater",
        "look at the hulk",
        "sign the certificate",
        "board the boat and leave",
        "sing a song",
        "check my notes",
        "where is the widow",
        "examine surroundings",
        "how long until the packet leaves",
        "ask the fisherman about the constant anne",
        "open my bag",
        "look for clues",
        "is anyone here",
        "steal a boat",
        "take off my hat",
    ),
    "office": (
        "look",
        "drink coffee",
        "ask about the coffee",
        "read the ledger",
        "talk to the harbormaster",
        "ask captain fell about the nine ships",
        "accuse him of fraud",
        "where are the ships",
        "look at the photographs",
        "burn the ledger",
        "go upstairs",
        "examine the tin",
        "ask him about the clerk",
        "threaten him",
        "steal the coffee",
        "show him the postcard",
        "refuse the coffee",
        "ask how many boats are in the harbour",
        "demand an explanation",
        "tell him I know they sank",
        "open the window",
        "thank him",
    ),
    "long-room": (
        "look around",
        "show her the postcard",
        "ask her who wrote the postcard",
        "did you write this?",
        "look out of the window",
        "read the book under the window",
        "examine the calendar",
        "open the red book",
        "ask about her father",
        "ask why the number is always forty",
        "count the boats with her",
        "go down",
        "ask about the captain",
        "what does she count",
        "ask her about mrs marram",
        "ask about the thursday basket",
        "examine the desk",
    ),
    "chapel": (
        "read the names",
        "look in the vestry",
        "pray",
        "ring the bell",
        "count the matches",
        "sit down",
        "leave",
    ),
    "marram-house": (
        "eat pie",
        "ask about her husband",
        "is your husband alive?",
        "examine the boots",
        "why is the door yellow",
        "look at the clock",
        "offer my condolences",
        "search the house",
        "where is he",
        "ask why she isn't in mourning",
        "look upstairs",
        "ask who brings the pies",
        "tell her she is lying",
    ),
    "breakwater": ("read the tablet", "look at the sea", "swim", "who paid for this", "examine the stone", "go back"),
    "post-office": (
        "send a telegram",
        "ask about the widow's letters",
        "talk to Mr Budge",
        "read the letters",
        "tell gault everything",
        "report fraud",
        "buy stamps",
    ),
}
"""What newcomers type, where it makes sense; some of it was found by playing, and is here because it had no answer."""

ERRANDS = (
    # where (* for anywhere), what a player comes to think of there, and what has to be so
    ("quay", "count the boats", "not flags.counted"),
    ("quay", "read the board of berths", "not flags.clue_night"),
    ("quay", "ask mrs cobb about the nine ships", "not flags.knows_roll"),
    ("quay", "count everything by section 2", "flags.read_act and flags.knows_roll and not flags.counted_all"),
    ("quay", "board the packet", "clocks.packet > 20 and not flags.knows_anne"),
    ("quay", "go aboard, yes", "fired('board-ask', 1)"),
    ("quay", "sign the certificate", "clocks.packet > 14"),
    ("quay", "report nine afloat", "clocks.packet > 14"),
    ("quay", "report everything", "flags.knows_roll and flags.knows_anne"),
    ("quay", "report the constant anne", "flags.knows_anne"),
    ("quay", "report forty", "flags.counted_all and flags.knows_anne and flags.ida_agrees and flags.did_sum"),
    ("quay", "yes, send it", "fired('sign-ask', 1) or fired('gault-ask', 1) or fired('exact-ask', 1)"),
    ("quay", "yes, send it", "fired('one-ask', 1) or fired('forty-ask', 1)"),
    ("office", "drink the coffee", "not fired('coffee-drink')"),
    ("office", "read the ledger", "not flags.saw_ledger"),
    ("office", "ask about the coffee", "not flags.clue_coffee"),
    ("office", "ask the captain about the constant anne", "flags.clue_tablet and not flags.knows_anne"),
    ("office", "burn the ledger", "clocks.packet > 22"),
    ("office", "yes, burn it", "fired('burn-ask', 1)"),
    ("long-room", "show her the postcard", "not flags.orr_wrote"),
    ("long-room", "ask why there must be forty", "not flags.knows_roll"),
    ("long-room", "look at the red book", "not flags.clue_night"),
    ("long-room", "read the act", "not flags.read_act"),
    ("long-room", "count with miss orr", "flags.read_act and flags.knows_roll and not flags.counted_all"),
    ("chapel", "read the board", "not flags.clue_board"),
    ("chapel", "look in the vestry", "not fired('vestry')"),
    ("marram-house", "look at the boots", "not flags.clue_boots and not flags.knows_anne"),
    ("marram-house", "ask if her husband is dead", "flags.clue_boots and not flags.knows_anne"),
    ("marram-house", "ask her to send for him", "flags.knows_anne and not flags.ida_agrees"),
    ("breakwater", "read the tablet", "not flags.clue_tablet"),
    ("breakwater", "work out the sum", "flags.clue_tablet and not flags.did_sum"),
    ("post-office", "ask about the danish letters", "not flags.clue_coffee"),
    ("*", "go to the harbour office", "location != 'office'"),
    ("*", "go up to the long room", "location != 'long-room'"),
    ("*", "go to the chapel", "location != 'chapel' and not flags.clue_board"),
    ("*", "go to the yellow door", "location != 'marram-house'"),
    ("*", "walk out along the breakwater", "location != 'breakwater' and not flags.did_sum"),
    ("*", "go down to the quay", "location != 'quay'"),
)

SOLVED = (
    "go to the harbour office",
    "drink the coffee",
    "go upstairs",
    "show her the postcard",
    "ask her why there must be forty",
    "read the act",
    "count the boats",
    "go to the breakwater",
    "read the tablet",
    "work out the sum",
    "go to the yellow door",
    "look at the boots",
)
"""A straight way through, up to the question that dice decide."""


@lru_cache(maxsize=64)
def condition(text: str) -> Condition:
    return parse_condition(text)


def errands(count: int, turns: int = 25) -> Iterator[Game]:
    """Games that run errands as they come to mind, each with dice of its own, yielded after every turn."""
    for number in range(count):
        chance = random.Random(number)
        game = Game(ANSTRY, chain=f"errand {number}".encode())
        while not is_ended(game.state) and len(game.said) < turns:
            open_here = [
                (place, text)
                for place, text, when in ERRANDS
                if place in ("*", game.place) and holds(condition(when), game.state)
            ]
            local = [(place, text) for place, text in open_here if place != "*"]
            _, text = chance.choice(local if local and chance.random() < 0.8 else open_here)
            game.play(text)
            yield game


def standing_in(place: str) -> Game:
    return at(ANSTRY, place, COMPANY[place])


# -- what is in it -------------------------------------------------------------------------------------------------


@pytest.mark.spec("U23")
def test_it_is_as_large_as_a_sample_should_be() -> None:
    kinds = Counter(storylet.on for storylet in ANSTRY.storylets)
    assert kinds["input"] >= 110
    assert kinds["hint"] >= 12
    assert kinds["aside"] >= 7
    assert kinds["any"] >= 3
    assert len(ANSTRY.cards) >= 8
    assert len(ANSTRY.endings) == 8
    assert any(declared.visibility == "hidden" for declared in ANSTRY.fields.values())
    assert ANSTRY.rules is not None
    assert ANSTRY.rules.clocks["packet"].when_full


@pytest.mark.spec("U23", "T18")
def test_every_answer_has_two_wordings_for_each_outcome() -> None:
    poor = [
        (storylet.id, outcome.on)
        for storylet in ANSTRY.storylets
        for outcome in storylet.outcomes
        if len(set(outcome.wordings)) < 2
    ]
    assert poor == []


@pytest.mark.spec("U23")
def test_the_opening_fits_on_one_screen_and_says_what_could_be_tried() -> None:
    lines = sum(-(-len(paragraph) // 76) if paragraph else 1 for paragraph in ANSTRY.opening.split("\n"))
    assert lines <= 24
    tried = {"go in": "go-office", "do as the postcard says": "quay-count", "ask the woman": "cobb-first"}
    for text, answer in tried.items():
        assert played(ANSTRY, [text]).answered_by == [answer]


@pytest.mark.spec("U23")
def test_every_ending_belongs_to_a_storylet_and_every_place_has_things_to_do() -> None:
    told = {outcome.ending for storylet in ANSTRY.storylets for outcome in storylet.outcomes if outcome.ending}
    assert told == {ending.id for ending in ANSTRY.endings}
    for place in PLACES:
        here = [
            storylet
            for storylet in ANSTRY.storylets
            if storylet.on == "input" and storylet.when is not None and f"'{place}'" in storylet.when.text
        ]
        assert len(here) >= 4, place
        assert any(outcome.effects for storylet in here for outcome in storylet.outcomes), place


@pytest.mark.spec("U23")
def test_the_sums_are_right() -> None:
    """The figures that the story turns on, as its wordings give them."""
    lost_in_the_gap = (3100, 2900, 3400, 2700, 3600, 3800, 3500, 3600)
    assert sum(lost_in_the_gap) == 26_600
    assert 26_600 + 4_800 == 31_400
    saved = 13 * 26_600 / 72 - 4_800
    pounds, shillings = int(saved), (saved - int(saved)) * 20
    assert (pounds, int(shillings), int(shillings % 1 * 12)) == (2, 15, 6)
    assert 31 + 8 + 1 == 40
    done = next(storylet for storylet in ANSTRY.storylets if storylet.id == "do-sum")
    texts = [text for outcome in done.outcomes if outcome.on == "success" for text in outcome.wordings]
    assert len(texts) == 2
    assert all("£26,600" in text and "£2 15s. 6d." in text for text in texts)


# -- what newcomers type -------------------------------------------------------------------------------------------


@pytest.mark.spec("U23")
def test_newcomers_are_understood() -> None:
    inputs = [(place, text) for place in PLACES for text in NEWCOMERS[place]]
    assert len(inputs) >= 60
    missed = []
    for place, text in inputs:
        game = standing_in(place)
        game.play(text)
        if not game.is_understood or game.answered_by[-1] == "any-go":
            missed.append((place, text))
    assert 1 - len(missed) / len(inputs) >= 0.9, missed


@pytest.mark.spec("U23")
def test_there_is_something_to_suggest_everywhere() -> None:
    for place in PLACES:
        ideas = suggestions(ANSTRY, standing_in(place).state, seed=SEED, chain_hash=b"n" * 32)
        assert len(ideas) == 3
        for idea in ideas:
            game = standing_in(place)
            game.play(idea)
            assert game.is_understood, (place, idea)


@pytest.mark.spec("U23", "T20")
def test_what_is_suggested_is_in_words() -> None:
    """The campaign's own names for groups of synonyms are not among them."""
    groups = {word for word in ANSTRY.synonyms if word.startswith("x")}
    knows = {"flags__knows_roll": True, "flags__knows_anne": True, "flags__ida_agrees": True}
    for place in PLACES:
        for game in (standing_in(place), standing_in(place).set(**knows)):
            ideas = suggestions(ANSTRY, game.state, seed=SEED, chain_hash=b"w" * 32, count=100)
            assert not [idea for idea in ideas if groups & set(idea.split())], place


@pytest.mark.spec("U23")
def test_what_a_storylet_suggests_is_answered_by_that_storylet() -> None:
    """The suggestion is typed where the storylet answers, with what its condition asks for."""
    knows = {"flags__knows_roll": True, "flags__knows_anne": True}
    tried = {
        "Count again, by section 2": ("quay", {"flags__read_act": True, "flags__knows_roll": True}, "count-all"),
        "Ask the captain about the Constant Anne": ("office", {"flags__clue_tablet": True}, "fell-anne"),
        "Ask who pays for the lost ships": ("office", {}, "fell-ships"),
        "Ask where the coffee comes from": ("office", {}, "coffee-ask"),
        "Show Miss Orr the postcard": ("long-room", {}, "orr-postcard"),
        "Ask the clerk why the lost ships pay": ("long-room", {}, "orr-why"),
        "Ask the clerk why there must be forty": ("long-room", {"flags__orr_wrote": True}, "orr-why-open"),
        "Read the Act that props the window": ("long-room", {}, "act-read"),
        "Ask about the red memorandum book": ("long-room", {}, "orr-night"),
        "Read the painted board": ("chapel", {}, "board-read"),
        "Look at the boots on the mat": ("marram-house", {}, "house-boots"),
        "Ask Mrs Marram whether her husband is dead": ("marram-house", {"flags__clue_boots": True}, "ida-alive"),
        "Ask her to send for him by daylight": ("marram-house", knows, "ida-home"),
        "Show her the sum, and ask her to send for him": (
            "marram-house",
            {**knows, "flags__did_sum": True},
            "ida-home-sum",
        ),
        "Read the bronze tablet": ("breakwater", {}, "tablet"),
        "Work out what the breakwater has saved": ("breakwater", {"flags__clue_tablet": True}, "do-sum"),
        "Ask about the Danish letters": ("post-office", {}, "budge-letters"),
        "Report forty vessels, truly counted": (
            "quay",
            {**knows, "flags__counted_all": True, "flags__ida_agrees": True, "flags__did_sum": True},
            "forty-ask",
        ),
    }
    for text, (place, values, answer) in tried.items():
        game = standing_in(place).set(**values)
        game.play(text)
        assert game.answered_by == [answer], text


@pytest.mark.spec("U23", "T18")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", ["look", "zxqv", ""])
def test_no_answer_comes_twice_within_ten_turns(place: str, text: str) -> None:
    game = standing_in(place)
    for _ in range(12):
        game.play(text)
    for first in range(len(game.said)):
        assert game.said[first] not in game.said[first + 1 : first + 11], (place, text, first)


# -- how it ends ---------------------------------------------------------------------------------------------------


@pytest.mark.spec("U23", "T18")
def test_a_search_finds_the_endings_within_25_turns_and_nothing_is_refused() -> None:
    found: dict[str, int] = {}
    complaints: set[str] = set()
    wanted = {"exact", "instructed", "nine-afloat", "certified", "burned"}
    for game in errands(80):
        complaints.update(game.complaints)
        if game.ending:
            found[game.ending] = min(len(game.said), found.get(game.ending, 99))
        if wanted <= found.keys():
            break
    assert wanted <= found.keys(), found
    assert max(found.values()) <= 25
    assert complaints == set()


@pytest.mark.spec("U23", "T18")
def test_the_count_can_be_made_to_come_out() -> None:
    """The best ending: what was found out is put together, and only one question needs luck."""
    game = played(ANSTRY, SOLVED)
    for _ in range(6):
        if not game.state.values.get("flags.knows_anne"):
            game.play("ask her if her husband is dead")
    for text in ("show her the sum", "go to the quay", "write my report", "report forty"):
        game.play(text)
    assert not game.ending
    assert game.state.values["case.accounted"] == 1
    assert "forty" in game.said[-2].casefold()
    game.play("yes, send it")
    assert (game.ending, game.complaints) == ("forty", [])
    assert len(game.said) <= 25


@pytest.mark.spec("U23", "T18")
def test_there_is_no_dead_end() -> None:
    """From whatever a walk has come to, the packet leaves at five (here it is a quarter to four already)."""
    endings: Counter[str] = Counter()
    for turn, game in enumerate(errands(12)):
        if turn % 17 or is_ended(game.state):
            continue
        fork = game.fork().set(clocks__packet=50)
        for _ in range(6):
            fork.play("wait")
            if is_ended(fork.state):
                break
        assert is_ended(fork.state), (fork.place, fork.answered_by[-3:])
        endings[fork.answered_by[-1]] += 1
    assert endings.keys() == {"packet-sails", "packet-sails-knowing"}


@pytest.mark.spec("U23")
@pytest.mark.parametrize(
    ("place", "text", "again", "ending"),
    [
        ("quay", "board the packet", "go aboard", "no-opinion"),
        ("quay", "sign the certificate", "sign", "certified"),
        ("post-office", "report nine afloat", "send it", "nine-afloat"),
        ("post-office", "report everything", "yes", "exact"),
        ("quay", "report the Constant Anne", "yes", "instructed"),
        ("office", "burn the ledger", "burn it", "burned"),
    ],
)
def test_what_cannot_be_undone_is_asked_twice(place: str, text: str, again: str, ending: str) -> None:
    """The place for a checkpoint; and after the first asking one may think better of it."""
    game = standing_in(place).set(flags__knows_roll=True, flags__knows_anne=True)
    game.play(text)
    assert not game.ending
    other = game.fork()
    other.play("no")
    assert (other.ending, other.is_understood) == ("", True)
    game.play(again)
    assert game.ending == ending


@pytest.mark.spec("U23")
def test_yes_means_the_report_that_was_last_drafted() -> None:
    game = standing_in("quay").set(flags__knows_roll=True, flags__knows_anne=True)
    for text in ("report nine afloat", "sign the certificate", "report everything", "yes"):
        game.play(text)
    assert game.ending == "exact"


@pytest.mark.spec("U23")
def test_a_reply_has_noticed_what_was_done() -> None:
    """Knowing better than before, one counts differently; and people know what they have said."""
    game = standing_in("long-room")
    for text in ("show her the postcard", "show her the postcard", "ask why forty", "ask why forty"):
        game.play(text)
    assert game.answered_by == ["orr-postcard", "orr-postcard-after", "orr-why-open", "orr-why-after"]
    counting = []
    for changed in ({}, {"flags__read_act": True}, {"flags__knows_anne": True}):
        game.set(**changed).play("count the boats")
        counting.append(game.answered_by[-1])
    assert counting == ["long-count", "count-all", "count-forty"]


@pytest.mark.spec("U23")
def test_the_telegram_comes_once_and_can_be_read_again() -> None:
    game = standing_in("quay").set(clocks__packet=9)
    for text in ("look", "look", "read the telegram"):
        game.play(text)
    assert game.answered_by == ["telegram-comes", "quay-look", "telegram-read"]


@pytest.mark.spec("T18")
def test_the_same_words_tell_the_same_story() -> None:
    inputs = [*SOLVED, "", "zxqv", "look"]
    assert played(ANSTRY, inputs).said == played(ANSTRY, inputs).said
