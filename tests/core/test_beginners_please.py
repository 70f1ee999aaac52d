"""Beginners, Please alone: it is short, it can be gone through straight, and time runs out."""

from __future__ import annotations

import pytest

from narrator.core.state import is_ended
from tests.core.samples.beginners_please import SAMPLE, games

HOUSE = SAMPLE.definition
standing_in = SAMPLE.standing_in
played = SAMPLE.played

PLAYED_BY = {
    "nobody yet": "management",
    "Desmond, with a headset": "headset",
    "Desmond, with his slips": "slips",
    "Desmond and Aubrey": "two-bishops",
    "Perpetua Vane": "understudy",
    "Aubrey Fitch": "row-c",
    "you": "deputy",
}
"""How it ends when time runs out, by whose name is in the book."""


@pytest.mark.spec("U23")
def test_it_is_for_a_lunch_break() -> None:
    """Most answers are heard in ten seconds, and an ending in half a minute."""
    for storylet in HOUSE.storylets:
        for outcome in storylet.outcomes:
            longest = 190 if outcome.ending else 125
            assert all(len(text.split()) <= longest for text in outcome.wordings), storylet.id


@pytest.mark.spec("U23")
def test_what_a_storylet_suggests_is_answered_by_that_storylet() -> None:
    """The suggestion is typed where the storylet answers, with what its condition asks for."""
    tried: dict[str, tuple[str, dict[str, object], str]] = {
        "Ask Perpetua about the slips of paper": ("dressing-rooms", {"flags__saw_slip": True}, "vane-slips"),
        "Ask Perpetua to go on as the Bishop": ("dressing-rooms", {"flags__told": True}, "vane-terms"),
        "Search among the dust sheets": ("under-stage", {}, "under-clue"),
        "Look for Desmond among the dust sheets": ("under-stage", {"flags__knows_here": True}, "under-find"),
        "Ask Desmond what the matter is": ("under-stage", {"flags__found": True}, "desmond-talk"),
        "Take Aubrey down to Desmond": (
            "stage-door",
            {"flags__fitch_here": True, "flags__told": True},
            "fitch-bring",
        ),
        "Ask Aubrey what happened at Harrogate": ("stage-door", {"flags__fitch_here": True}, "fitch-harrogate"),
        "Ask Aubrey to go on as the Bishop": ("stage-door", {"flags__fitch_here": True}, "fitch-ask"),
        "Put the slips back on the set": (
            "wings",
            {"inventory__slips": "player", "flags__told": True},
            "set-slips",
        ),
        "Put a headset inside the mitre for Desmond": (
            "under-stage",
            {"inventory__mitre": "player", "flags__found": True, "flags__told": True},
            "desmond-headset",
        ),
    }
    for text, (place, values, answer) in tried.items():
        game = standing_in(place).set(**values)
        game.play(text)
        assert game.answered_by == [answer], text


@pytest.mark.spec("U23", "T18")
def test_there_is_no_dead_end() -> None:
    """From whatever a walk has come to, the clock decides in the end; the whole takes 25 turns at most."""
    for turn, game in enumerate(games(8)):
        assert len(game.said) <= 25
        if turn % 9 or is_ended(game.state):
            continue
        fork = game.fork()
        for _ in range(25):
            fork.play("wait")
            if is_ended(fork.state):
                break
        cast = str(game.state.values["show.bishop"])
        assert fork.ending == PLAYED_BY[cast], (cast, fork.place, fork.answered_by[-3:])
        assert len(fork.said) <= 25


@pytest.mark.spec("U23")
@pytest.mark.parametrize(
    ("inputs", "ending"),
    [
        (
            [
                "read the sheet at the stage door",
                "read the sheet",
                "go down under the stage",
                "search",
                "ask him what is wrong",
                "get the mitre",
                "go back to Desmond",
                "put the headset in the mitre",
                "go to the corner",
                "call beginners",
                "call beginners",
            ],
            "headset",
        ),
        (
            [
                "look at the teapot",
                "go to the dressing rooms",
                "ask Perpetua about the slips",
                "ask her to go on",
                "yes, I promise",
                "back to the prompt corner",
                "go",
                "go",
            ],
            "understudy",
        ),
        (["cancel the show", "cancel the show"], "money-back"),
        ([*["wait"] * 7, "I'll go on myself", "I'll go on myself", "call beginners", "yes"], "deputy"),
    ],
)
def test_the_straight_ways_through(inputs: list[str], ending: str) -> None:
    assert played(inputs).ending == ending


@pytest.mark.spec("U23")
def test_what_cannot_be_undone_is_asked_twice() -> None:
    """Beginners, the refund, the soup: the places for a checkpoint."""
    assert not played(["cancel the show", "look", "ask monty about desmond", "look", "cancel it"]).ending
    game = standing_in("prompt-corner").set(show__bishop="Perpetua Vane")
    game.play("call beginners")
    assert not game.ending
    game.play("yes")
    assert game.ending == "understudy"
    game = standing_in("wings")
    game.play("touch the soup")
    assert not game.state.values.get("flags.custard")
    game.play("touch the soup")
    assert game.state.values["flags.custard"] is True
    assert game.state.values["flags.knows_here"] is True


@pytest.mark.spec("U23")
def test_the_understudy_does_not_go_on_over_his_head() -> None:
    game = played(["go to the dressing rooms", "ask her to go on"])
    assert game.answered_by[-1] == "vane-not-yet"
    game.set(flags__told=True).play("ask her to go on")
    assert game.answered_by[-1] == "vane-terms"


@pytest.mark.spec("U23")
def test_what_is_not_understood_costs_no_minute() -> None:
    game = played(["ask monty about desmond"])
    assert game.state.values["clocks.minutes"] == 1
    for text in ("zxqv", "fnord", "what now", "what time is it"):
        game.play(text)
    assert game.answered_by[-4:-2] == ["hint-corner", "hint-corner"]
    assert game.state.values["clocks.minutes"] == 1
    game.play("go to the wings")
    assert game.state.values["clocks.minutes"] == 2


@pytest.mark.spec("U23")
def test_at_half_past_there_is_a_last_chance() -> None:
    game = standing_in("stage-door").set(clocks__minutes=19)
    game.play("have some tea")
    assert (game.answered_by[-1], game.came, game.place) == ("win-tea", ["late-dash"], "stage-door")
    for text in ("I'll go on myself", "yes", "call beginners"):
        game.play(text)
    assert game.ending == "deputy"


@pytest.mark.spec("U23")
def test_half_past_seven_swallows_nothing() -> None:
    game = standing_in("prompt-corner").set(clocks__minutes=19, show__bishop="Aubrey Fitch")
    game.play("call beginners")
    assert (game.answered_by, game.came, game.place) == (["call-ask"], ["late-strikes"], "prompt-corner")
    game.play("call beginners")
    assert game.ending == "row-c"


@pytest.mark.spec("U23")
def test_whoever_dawdles_after_half_past_gets_the_management() -> None:
    game = standing_in("prompt-corner").set(clocks__minutes=19)
    for text in ("look around", *["wait"] * 4):
        game.play(text)
        assert not game.ending
    game.play("wait")
    assert game.ending == "management"
    countdown = [f"late-{left}-left" for left in ("four", "three", "two", "one")]
    assert game.came == ["late-strikes", *countdown, "end-management"]


@pytest.mark.spec("U23")
@pytest.mark.parametrize("cast", PLAYED_BY)
def test_whoever_was_cast_plays_when_time_runs_out(cast: str) -> None:
    """Wherever one is; and what is said, asked or thanked for meanwhile costs nothing."""
    game = standing_in("wings").set(flags__late=True, clocks__minutes=20, show__bishop=cast, flags__told=True)
    for text in ("thank you, Oddy", "where is Monty?", "what's the secret?", "who plays the bishop?", "look around"):
        game.play(text)
        assert (game.state.values["clocks.parking"], game.ending) == (0, ""), text
    for _ in range(5):
        assert not game.ending
        game.play("wait")
    assert game.ending == PLAYED_BY[cast]


@pytest.mark.spec("U23")
@pytest.mark.parametrize("text", ["start the show", "go to the corner and say go", "beginners, please", "go"])
@pytest.mark.parametrize("cast", [each for each in PLAYED_BY if each != "nobody yet"])
def test_after_half_past_the_word_is_given_from_anywhere(cast: str, text: str) -> None:
    game = standing_in("wings").set(flags__late=True, clocks__minutes=20, show__bishop=cast)
    game.play(text)
    assert game.ending == PLAYED_BY[cast]


@pytest.mark.spec("U23")
def test_a_reply_has_noticed_what_was_done() -> None:
    game = played(["touch the soup", "touch the soup", "touch the soup", "follow the laugh", "go to the corner"])
    assert game.answered_by[-2:] == ["go-under-custard", "go-corner-custard"]
    assert game.state.values["flags.found"] is True
    game.set(show__bishop="Perpetua Vane").play("tell Monty who plays the Bishop")
    assert game.answered_by[-1] == "monty-hears-vane"
