"""Stand By, played by the pure core: it parses, it answers, it ends, and what was done is noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import pytest

from narrator.core.campaign import Definition
from narrator.core.state import is_ended
from narrator.core.storylets import suggestions
from tests.core import sample_play
from tests.core.sample_play import SEED, Game, sample

PLACES = ("ops", "plant", "quarters", "shed", "yard", "hut")

NEWCOMERS = {
    "ops": (
        "look around",
        "listen",
        "listen to the voice again",
        "call osgood",
        "ask osgood if he hears it",
        "is it just me?",
        "read the log",
        "answer the voice",
        "who is that",
        "turn off the radio",
        "examine the transmitter",
        "check the clock",
        "look at the chart",
        "go outside",
        "check the batteries",
        "read harbottle's log",
        "what did Harbottle hear?",
        "wait",
        "help",
        "hello?",
        "say hello",
        "record it",
        "triangulate the signal",
        "where is the relief boat",
        "what time is it",
        "am I going mad",
        "inventory",
        "fix the diesel",
        "smoke a cigarette",
        "say who are you",
        "ask about the marigold",
        "look out of the window",
        "turn the page",
        "turn back the page",
        "mayday",
        "check frequency",
        "rewind the tape",
        "is someone there",
        "pick up the pencil",
        "who is osgood",
        "call the coast guard",
        "find the source",
        "phone home",
        "open the door",
    ),
    "plant": (
        "look at the batteries",
        "play the tape",
        "lift the cloth",
        "what is this",
        "go back",
        "examine the box",
        "erase the tape",
        "read the labels",
        "open the box",
        "unlock",
        "destroy the box",
        "call osgood",
    ),
    "quarters": (
        "read Harbottle's log",
        "make some tea",
        "sleep",
        "look out the window",
        "eat something",
        "go to bed",
        "search the bunk",
        "sit down",
        "open the drawer",
        "what's out there",
        "leave",
    ),
    "shed": (
        "start the engine",
        "check the fuel",
        "examine the generator",
        "use the blowlamp",
        "kick it",
        "go back inside",
        "read the notice",
        "warm it up",
        "light a fire",
    ),
    "yard": (
        "climb the mast",
        "clear the ice",
        "follow the rope",
        "look north",
        "go in",
        "scream",
        "look at the sky",
        "jump off the cliff",
        "go to the cliff",
        "climb down",
    ),
    "hut": (
        "use the lamp",
        "look through the slot",
        "take a bearing",
        "listen",
        "read the wall",
        "signal sos",
        "go back",
        "sit on the stool",
        "send a message",
        "look for survivors",
    ),
}
"""What newcomers type, where it makes sense; some of it was found by playing, and is here because it had no answer."""

PIVOTS = {
    "ops": (
        "listen",
        "take a bearing",
        "report the position",
        "tell the truth",
        "unidentified",
        "go to the hut",
        "give tolley the position",
    ),
    "hut": ("take a bearing", "use the lamp", "go back"),
}
"""What moves the story, for the search."""

ENDINGS = {"stand-by", "record", "bearing", "north", "lamp", "nothing", "erased"}


def story() -> Definition:
    return sample("stand-by")


def at(place: str) -> Game:
    """A game that has come to this place, with nothing found out."""
    return sample_play.at(story(), place)


def played(inputs: Iterable[str]) -> Game:
    return sample_play.played(story(), inputs)


def walks(count: int) -> Iterator[Game]:
    return sample_play.walks(story(), PIVOTS, count)


def with_a_fix() -> Game:
    """A game at the desk, with both bearings taken and nothing said."""
    return at("ops").set(flags__heard_words=True, flags__bearing_one=True, flags__bearing_two=True)


# -- what is in it -------------------------------------------------------------------------------------------------


@pytest.mark.spec("U23")
def test_it_is_as_large_as_a_sample_should_be() -> None:
    definition = story()
    kinds = Counter(storylet.on for storylet in definition.storylets)
    assert kinds["input"] >= 90
    assert kinds["hint"] >= 12
    assert kinds["aside"] >= 6
    assert len(definition.cards) >= 7
    assert {ending.id for ending in definition.endings} == ENDINGS
    assert any(declared.visibility == "hidden" for declared in definition.fields.values())
    assert definition.rules is not None
    assert definition.rules.clocks["drain"].when_full


@pytest.mark.spec("U23", "T18")
def test_every_answer_has_two_wordings_for_each_outcome() -> None:
    poor = [
        (storylet.id, outcome.on)
        for storylet in story().storylets
        for outcome in storylet.outcomes
        if len(set(outcome.wordings)) < 2
    ]
    assert poor == []


@pytest.mark.spec("U23")
def test_the_opening_fits_on_one_screen_and_each_thing_it_names_can_be_done() -> None:
    lines = sum(-(-len(paragraph) // 76) if paragraph else 1 for paragraph in story().opening.split("\n"))
    assert lines <= 24
    for text, answer in {
        "listen out for it again": "listen-first",
        "call Osgood and ask whether it’s just me": "osgood-voice",
        "read what Harbottle heard": "go-quarters",
        "turn the page": "own-log",
    }.items():
        game = Game(story())
        game.play(text)
        assert game.answered_by == [answer], text


@pytest.mark.spec("U23")
def test_every_ending_belongs_to_a_storylet_and_every_place_has_things_to_do() -> None:
    told = {outcome.ending for storylet in story().storylets for outcome in storylet.outcomes if outcome.ending}
    assert told == ENDINGS
    for place in PLACES:
        here = [
            storylet
            for storylet in story().storylets
            if storylet.on == "input" and storylet.when is not None and f"'{place}'" in storylet.when.text
        ]
        assert len(here) >= 5, place
        assert any(outcome.effects for storylet in here for outcome in storylet.outcomes), place


# -- what newcomers type -------------------------------------------------------------------------------------------


@pytest.mark.spec("U23")
def test_newcomers_are_understood() -> None:
    inputs = [(place, text) for place in PLACES for text in NEWCOMERS[place]]
    assert len(inputs) >= 60
    missed = []
    for place, text in inputs:
        game = at(place)
        game.play(text)
        if not game.is_understood:
            missed.append((place, text))
    assert 1 - len(missed) / len(inputs) >= 0.85, missed


@pytest.mark.spec("U23")
def test_there_is_something_to_suggest_everywhere() -> None:
    for place in PLACES:
        ideas = suggestions(story(), at(place).state, seed=SEED, chain_hash=b"n" * 32)
        assert len(ideas) == 3
        for idea in ideas:
            game = at(place)
            game.play(idea)
            assert game.is_understood, (place, idea)


@pytest.mark.spec("U23")
def test_what_is_suggested_on_the_way_is_understood() -> None:
    wrong = []
    for turn, game in enumerate(walks(4)):
        if turn % 4 or game.ending:
            continue
        for idea in suggestions(story(), game.state, seed=SEED, chain_hash=b"s" * 32):
            fork = game.fork()
            fork.play(idea)
            if not fork.is_understood:
                wrong.append((game.place, idea, fork.answered_by[-1]))
    assert wrong == []


@pytest.mark.spec("U23", "T18")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", ["look", "zxqv", ""])
def test_no_answer_comes_twice_within_ten_turns(place: str, text: str) -> None:
    game = at(place)
    for _ in range(12):
        game.play(text)
    for first in range(len(game.said)):
        assert game.said[first] not in game.said[first + 1 : first + 11], (place, text, first)


# -- how it ends ---------------------------------------------------------------------------------------------------


@pytest.mark.spec("U23", "T18")
def test_a_search_finds_endings_within_25_turns_and_nothing_is_refused() -> None:
    found: Counter[str] = Counter()
    complaints: set[str] = set()
    wanted = {"record", "bearing", "stand-by"}
    for game in walks(80):
        complaints.update(game.complaints)
        if game.ending:
            found[game.ending] += 1
        if wanted <= found.keys():
            break
    assert wanted <= found.keys()
    assert complaints == set()


@pytest.mark.spec("U23", "T18")
def test_there_is_no_dead_end() -> None:
    """From whatever a walk has come to, the batteries decide the matter: waiting reaches an ending."""
    endings: Counter[str] = Counter()
    for turn, game in enumerate(walks(7)):
        if turn % 13 or is_ended(game.state):
            continue
        fork = game.fork()
        for _ in range(18):
            fork.play("wait")
            if is_ended(fork.state):
                break
        assert is_ended(fork.state), (fork.place, fork.answered_by[-3:])
        endings[fork.ending] += 1
    assert endings.keys() <= {"nothing", "north", "lamp", "bearing"}
    assert len(endings) >= 2


@pytest.mark.spec("U23")
@pytest.mark.parametrize(
    ("inputs", "ending"),
    [
        (["report the position to osgood", "tell him the truth"], "record"),
        (["report the position to osgood", "it's my own voice"], "record"),
        (["call osgood", "unidentified"], "bearing"),
        (["give tolley the position", "tell tolley the truth"], "stand-by"),
        (["call tolley", "only a signal"], "bearing"),
        (["tell osgood about tuesday", "report the position"], "record"),
    ],
)
def test_what_is_said_with_the_position_decides_how_it_ends(inputs: list[str], ending: str) -> None:
    game = with_a_fix()
    for text in inputs:
        assert not game.ending
        game.play(text)
    assert game.ending == ending, game.answered_by


@pytest.mark.spec("U23", "T18")
@pytest.mark.parametrize(
    ("inputs", "ending"),
    [
        (["go to the plant room", "look at the reels", "wipe the tape", "wipe the tape"], "erased"),
        (["wait"] * 20, "nothing"),
        (["go to the hut", *["wait"] * 20], "nothing"),
        (["go to the yard", *["wait"] * 20], "nothing"),
        (["listen", "tell osgood the truth", *["wait"] * 20], "north"),
        (["listen", "tell osgood the truth", "go to the hut", *["wait"] * 20], "north"),
    ],
)
def test_who_tells_nothing_or_only_half_comes_to_an_end_within_25_turns(inputs: list[str], ending: str) -> None:
    game = Game(story())
    for text in inputs:
        if not game.ending:
            game.play(text)
    assert game.ending == ending, game.answered_by
    assert len(game.said) <= 25
    assert game.complaints == []


@pytest.mark.spec("U23")
@pytest.mark.parametrize("confessed", [False, True])
@pytest.mark.parametrize("bearings", [0, 1, 2])
def test_the_lamp_says_what_is_known(bearings: int, confessed: bool) -> None:
    game = at("hut").set(
        flags__dark=True, flags__bearing_one=bearings > 0, flags__bearing_two=bearings > 1, flags__confessed=confessed
    )
    game.play("look around")
    game.play("look around")
    assert (game.answered_by, game.ending) == (["goes-dark-out", "dark-hut-look"], "")
    game.play("signal with the lamp")
    assert game.ending == "lamp"
    if confessed:
        assert game.answered_by[-1] == ("dark-lamp-told" if bearings else "dark-lamp-told-blind")
    else:
        assert game.answered_by[-1] == ("dark-lamp-blind", "dark-lamp-line", "dark-lamp-fix")[bearings]


@pytest.mark.spec("U23")
def test_a_position_that_was_given_counts_although_the_question_was_not_answered() -> None:
    game = with_a_fix()
    game.play("report the position")
    game.set(flags__dark=True)
    for text in ("look", "wait", "wait"):
        game.play(text)
    assert game.ending == "bearing"


@pytest.mark.spec("U23")
def test_a_tape_is_wiped_only_when_it_is_said_twice() -> None:
    """An irrevocable deed is asked for again first: the place for a checkpoint."""
    game = played(["go to the plant room", "look at the reels", "erase the tape"])
    assert not game.ending
    spared = game.fork()
    spared.play("play the tape")
    assert spared.state.values["flags.admitted"] is True
    spared = game.fork()
    spared.play("no")
    spared.play("wipe it")
    assert not spared.ending
    game.play("wipe it")
    assert game.ending == "erased"


@pytest.mark.spec("U23")
def test_after_dark_the_lamp_still_speaks_and_the_engine_brings_the_station_back() -> None:
    game = Game(story())
    while not game.state.values.get("flags.dark"):
        game.play("wait")
    game.play("look")
    game.play("call osgood")
    assert game.answered_by[-2:] == ["goes-dark", "dark-radio"]
    lamp = game.fork()
    for text in ("go to the hut", "signal with the lamp"):
        lamp.play(text)
    assert lamp.ending == "lamp"
    for text in ("go to the shed", "start the engine"):
        game.play(text)
    assert game.state.values["flags.dark"] is False
    game.play("go back")
    game.play("listen")
    assert game.answered_by[-1] == "listen-first"


@pytest.mark.spec("T18")
def test_the_same_words_tell_the_same_story() -> None:
    inputs = ["look", "listen", "take a bearing", "go to the quarters", "", "zxqv", "read harbottle’s log"]
    assert played(inputs).said == played(inputs).said


@pytest.mark.spec("U23")
def test_a_reply_has_noticed_what_was_done() -> None:
    game = played(["go to the quarters", "read Harbottle’s log", "read on", "read on"])
    assert game.answered_by[1:] == ["harbottle-first", "harbottle-second", "harbottle-third"]
    game = with_a_fix()
    game.play("look at the chart")
    assert game.answered_by[-1] == "chart-fix"
    game.set(flags__heard_breath=True)
    game.play("correct the log")
    game.play("read the log")
    assert game.answered_by[-2:] == ["correct-log", "log-is-true"]


@pytest.mark.spec("U23")
def test_being_asked_leads_to_a_second_lie_or_to_the_truth() -> None:
    game = Game(story())
    game.set(clocks__drain=9)
    game.play("look")
    assert game.answered_by == ["marle-asks"]
    lie, truth = game.fork(), game.fork()
    lie.play("nothing heard")
    assert lie.state.values["flags.lied_again"] is True
    lie.play("tell osgood the truth")
    assert lie.answered_by[-1] == "confess-after-lie"
    truth.play("yes")
    truth.play("tell him the truth")
    assert truth.state.values["flags.confessed"] is True
