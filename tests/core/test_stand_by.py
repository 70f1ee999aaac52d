"""Stand By alone: what is said with the position decides how it ends, and so do the batteries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from narrator.core.state import is_ended
from tests.core.sample_play import Game
from tests.core.samples.stand_by import SAMPLE, games


def at(place: str) -> Game:
    return SAMPLE.standing_in(place)


def with_a_fix() -> Game:
    """A game at the desk, with both bearings taken and nothing said."""
    return at("ops").set(flags__heard_words=True, flags__bearing_one=True, flags__bearing_two=True)


@pytest.mark.spec("U23", "T18")
def test_there_is_no_dead_end() -> None:
    """From whatever a walk has come to, the batteries decide the matter: waiting reaches an ending."""
    endings: Counter[str] = Counter()
    for turn, game in enumerate(games(7)):
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
    game = SAMPLE.played([])
    for text in inputs:
        if not game.ending:
            game.play(text)
    assert game.ending == ending, game.answered_by
    assert len(game.said) <= 25
    assert game.complaints == []


@pytest.mark.spec("U23")
@pytest.mark.parametrize("confessed", [False, True])
@pytest.mark.parametrize("bearings", [0, 1, 2])
@pytest.mark.parametrize("admitted", [False, True])
def test_the_lamp_says_what_is_known(bearings: int, confessed: bool, admitted: bool) -> None:
    """What she has not owned to herself she does not send in Morse either."""
    game = at("hut").set(
        flags__dark=True, flags__bearing_one=bearings > 0, flags__bearing_two=bearings > 1, flags__confessed=confessed
    )
    game.set(flags__admitted=admitted or confessed)
    game.play("look around")
    assert (game.answered_by, game.came, game.ending) == (["dark-hut-look"], ["goes-dark-out"], "")
    game.play("signal with the lamp")
    assert game.ending == "lamp"
    if confessed:
        assert game.answered_by[-1] == ("dark-lamp-told" if bearings else "dark-lamp-told-blind")
    else:
        known = ("dark-lamp-blind", "dark-lamp-line", "dark-lamp-fix")[bearings]
        assert game.answered_by[-1] == (known if admitted else f"{known}-plain")


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
    game = SAMPLE.played(["go to the plant room", "look at the reels", "erase the tape"])
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
    game = SAMPLE.played([])
    while not game.state.values.get("flags.dark"):
        assert "goes-dark" not in game.came
        game.play("wait")
    assert (game.answered_by[-1], game.came[-1]) == ("any-wait", "goes-dark"), "told in the turn that the clock fills"
    game.play("call osgood")
    assert game.answered_by[-1] == "dark-radio"
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


@pytest.mark.spec("U23")
def test_a_reply_has_noticed_what_was_done() -> None:
    game = SAMPLE.played(["go to the quarters", "read Harbottle’s log", "read on", "read on"])
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
    game = SAMPLE.played([])
    game.set(clocks__drain=9)
    game.play("look")
    assert (game.answered_by, game.came) == (["ops-look"], ["marle-asks"])
    lie, truth = game.fork(), game.fork()
    lie.play("nothing heard")
    assert lie.state.values["flags.lied_again"] is True
    lie.play("tell osgood the truth")
    assert lie.answered_by[-1] == "confess-after-lie"
    truth.play("yes")
    truth.play("tell him the truth")
    assert truth.state.values["flags.confessed"] is True


@pytest.mark.spec("U23", "T18")
@pytest.mark.parametrize(
    ("known", "came"),
    [
        ({"clocks.drain": 7}, "marle-asks"),
        ({"clocks.drain": 12, "flags.lied_again": True}, "tolley-calls"),
        ({"clocks.drain": 15, "flags.heard_breath": True, "flags.tolley_called": True}, "voice-sinks"),
        ({"clocks.drain": 31}, "goes-dark"),
    ],
)
def test_what_the_batteries_bring_on_swallows_nothing(known: Mapping[str, object], came: str) -> None:
    """Each is told behind what was typed, and the turn that tells of the dark is the turn that it gets dark in."""
    game = at("ops").set(**{path.replace(".", "__"): value for path, value in known.items()})
    if came != "marle-asks":
        game.set(story__fired={"marle-asks": {"order": 1, "last": -9, "count": 1, "told": {}}})
    game.play("look at the chart")
    assert game.answered_by == ["chart-plain"]
    assert game.came == [came]
    assert bool(game.state.values.get("flags.dark")) is (came == "goes-dark")


@pytest.mark.spec("U23")
def test_nobody_asks_for_a_bearing_that_was_given() -> None:
    """Once the line from the station is on Osgood's chart, he wants the other one and says so."""
    game = at("ops").set(flags__heard_words=True, flags__bearing_one=True)
    for text in ("tell osgood the truth about tuesday", "call osgood", "call osgood", "call osgood"):
        game.play(text)
        assert "wo bearings" not in game.said[-1]
        assert "Get me a bearing" not in game.said[-1]
    assert game.state.values["flags.line_given"] is True
