"""What comes of itself: behind the answer and not in its place; a hint costs nothing (T18, W11)."""

from __future__ import annotations

import pytest

from narrator.core.campaign import parse_definition
from narrator.core.errors import BadDefinition
from narrator.core.rehearsal import Turn, begin, rehearse
from narrator.core.storylets import choose_again, tell

TEXT = """
[campaign]
id = "night"
title = "The Night"
opening = "A lodge, a bell."

[start]
location = "lodge"
present = []

[rules.clocks.night]
size = 2
advances_when = "not story.ending"
when_full = [{ op = "set", path = "flags.late", value = true }]

[[storylets]]
id = "look"
keys = ["look"]
wordings = ["A lodge.", "Four walls.", "A stove."]

[[storylets]]
id = "clock"
keys = ["clock|time"]
free = true
wordings = ["It ticks.", "It goes on ticking."]

[[storylets]]
id = "listen"
keys = ["listen"]
free = "clocks.night >= 1"
wordings = ["Wind.", "More wind."]

[[storylets]]
id = "out"
keys = ["leave"]
effects = [{ op = "set", path = "location", value = "road" }]
wordings = ["You go.", "You are gone."]

[[storylets]]
id = "end"
keys = ["sleep"]
ending = "asleep"
wordings = ["You sleep.", "You lie down."]

[[storylets]]
id = "bell"
on = "after"
once = true
when = "flags.late and location == 'lodge'"
effects = [{ op = "set", path = "flags.rung", value = true }]
wordings = ["The bell rings.", "It is the bell."]

[[storylets]]
id = "dawn"
on = "after"
when = "fired('bell') and turns_since('bell') >= 2"
ending = "dawn"
wordings = ["It gets light.", "Day."]

[[hints]]
wordings = ["The stove hums.", "A log shifts."]

[[endings]]
id = "asleep"
[[endings]]
id = "dawn"
"""


def play(*inputs: str) -> list[Turn]:
    definition = parse_definition(TEXT)
    scene, turns = begin(definition), []
    for text in inputs:
        turns.append(rehearse(definition, scene, text, seed=7))
        scene = turns[-1].scene
    return turns


def clock(turn: Turn) -> object:
    return turn.scene.state.values["clocks.night"]


@pytest.mark.spec("T18", "W11")
def test_a_scene_comes_behind_the_answer_in_the_turn_that_fills_the_clock() -> None:
    first, second = play("look", "look")
    assert (first.behind, [each.id for each in second.behind]) == ((), ["bell"])
    answer, scene = second.text.split("\n\n")
    assert answer in second.storylet.outcomes[0].wordings
    assert scene in second.behind[0].outcomes[0].wordings
    assert second.storylet.id == "look"
    assert second.scene.state.values["flags.rung"] is True


@pytest.mark.spec("T18")
def test_it_is_asked_of_the_state_that_the_answer_leaves() -> None:
    *_, left, back = play("look", "leave", "look")
    assert (left.storylet.id, left.behind, back.behind) == ("out", (), ())


@pytest.mark.spec("T18", "W14")
def test_nothing_comes_behind_the_end() -> None:
    *_, slept = play("look", "sleep")
    assert (slept.behind, slept.scene.state.values["story.ending"]) == ((), "asleep")


@pytest.mark.spec("T18", "W14")
def test_it_may_end_the_story_behind_the_last_answer() -> None:
    turns = play("look", "look", "look", "look")
    assert [[each.id for each in turn.behind] for turn in turns] == [[], ["bell"], [], ["dawn"]]
    assert turns[-1].storylet.id == "look"
    assert turns[-1].scene.state.values["story.ending"] == "dawn"


@pytest.mark.spec("W11")
def test_neither_a_hint_nor_what_is_free_moves_a_clock() -> None:
    turns = play("look", "zxqv", "the clock", "fnord", "look")
    assert [clock(turn) for turn in turns] == [1, 1, 1, 1, 2]
    assert [turn.is_understood for turn in turns] == [True, False, True, False, True]


@pytest.mark.spec("W11")
def test_what_is_free_while_a_condition_holds_costs_before_that() -> None:
    assert [clock(turn) for turn in play("listen", "listen", "look", "listen")] == [1, 1, 2, 2]


@pytest.mark.spec("W11")
def test_a_condition_of_being_free_is_read_with_the_file() -> None:
    with pytest.raises(BadDefinition) as caught:
        parse_definition(TEXT.replace("clocks.night >= 1", "clocks.nihgt >= 1"))
    assert any("storylets[2].free" in str(problem) for problem in caught.value.problems)


@pytest.mark.spec("S20", "T18")
def test_a_retelling_tells_the_answer_and_what_came_behind_it() -> None:
    definition = parse_definition(TEXT)
    _, second = play("look", "look")
    for ordinal in (1, 2):
        choice = choose_again(
            definition, second.scene.state, "look", "do", seed=7, chain_hash=b"n" * 32, ordinal=ordinal
        )
        again = tell(choice, [], definition, second.scene.state)
        assert (choice.storylet.id, [each.id for each in again.behind]) == ("look", ["bell"])
        assert any(each in again.text for each in second.behind[0].outcomes[0].wordings)


@pytest.mark.spec("T18")
def test_a_retelling_of_a_later_turn_brings_no_earlier_scene_back() -> None:
    definition = parse_definition(TEXT)
    *_, third = play("look", "look", "look")
    choice = choose_again(definition, third.scene.state, "look", "do", seed=7, chain_hash=b"n" * 32, ordinal=1)
    assert tell(choice, [], definition, third.scene.state).behind == ()


@pytest.mark.spec("T18")
@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("when = \"flags.late and location == 'lodge'\"\n", "", ".when"),
        ("once = true\n", 'once = true\nkeys = ["bell"]\n', ".keys"),
        ("once = true\n", 'once = true\ncheck = { skill = "x", difficulty = "easy" }\n', ".check"),
    ],
)
def test_what_makes_no_sense_is_named(old: str, new: str, where: str) -> None:
    with pytest.raises(BadDefinition) as caught:
        parse_definition(TEXT.replace(old, new))
    assert any(where in place for place, _ in caught.value.problems)
