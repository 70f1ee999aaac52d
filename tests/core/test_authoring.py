"""The campaign that docs/authoring.md prints is whole: it parses, nothing in it is out of reach, both ends are."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from narrator.core.campaign import Definition, parse_definition
from narrator.core.errors import NarratorError
from narrator.core.review import review
from narrator.core.state import State
from narrator.core.stems import SYNONYMS, match, parse_key, stems
from narrator.core.titles import title
from tests.core.sample_play import Game, played

PAGE = Path(__file__).parents[2] / "docs" / "authoring.md"


@pytest.fixture(scope="module")
def printed() -> Definition:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return parse_definition(text)


@pytest.mark.spec("U23", "T18")
def test_the_printed_campaign_has_nothing_out_of_reach(printed: Definition) -> None:
    assert review(printed, Random(7), turns=600) == []


@pytest.mark.spec("U23", "T18")
@pytest.mark.parametrize(("last", "ending"), [("open the door", "opened"), ("go home", "left")])
def test_it_is_played_to_both_of_its_ends(printed: Definition, last: str, ending: str) -> None:
    inputs = ["look around", "ask about the bottles", "look at the lock", "ask her who is inside", last]
    game = played(printed, inputs)
    assert game.ending == ending
    assert game.is_understood
    assert game.complaints == []


# -- the five things that surprise ---------------------------------------------------------------------------------

MILL = """
[campaign]
id = "mill"
title = "The Mill"
opening = "The wheel stands still."

[rules.clocks.last_train]
size = 9
visibility = "open"
advances_when = "fired('wait', 1)"

[[storylets]]
id = "wait"
keys = ["wait"]
wordings = ["You wait.", "You wait on."]
[[storylets]]
id = "one"
keys = ["look"]
wordings = ["One.", "And one."]
[[storylets]]
id = "two"
keys = ["look"]
wordings = ["Two.", "And two."]
[[storylets]]
id = "whistle"
on = "any"
when = "clocks.last_train >= 1"
once = true
wordings = ["A whistle.", "That was the train."]
"""


def answers_to(*inputs: str, chain: bytes = b"the opening") -> Game:
    game = Game(parse_definition(MILL), chain=chain)
    for text in inputs:
        game.play(text)
    return game


@pytest.mark.spec("T18")
def test_chance_settles_equal_matches_the_same_for_the_same_story() -> None:
    first = {chain: answers_to("look", chain=bytes([chain])).answered_by for chain in range(30)}
    assert {answer for (answer,) in first.values()} == {"one", "two"}
    assert first == {chain: answers_to("look", chain=bytes([chain])).answered_by for chain in range(30)}


@pytest.mark.spec("T18", "W11")
def test_any_swallows_the_input_and_a_clock_is_asked_before_the_answer() -> None:
    game = answers_to("wait")
    assert game.state.values["clocks.last_train"] == 0
    game.play("look")
    assert game.state.values["clocks.last_train"] == 1
    game.play("look")
    assert game.answered_by[-1] == "whistle"
    game.play("look")
    assert game.answered_by[-1] in ("one", "two")


@pytest.mark.spec("T18")
def test_a_whole_input_stands_for_its_synonyms_anywhere() -> None:
    assert match(parse_key("=go"), stems("go")) is not None
    assert match(parse_key("=go"), stems("go to the mill")) is None
    assert match(parse_key("=go"), stems("walk to the mill")) is not None
    assert match(parse_key("=go", {**SYNONYMS, "go": ()}), stems("walk to the mill")) is None


@pytest.mark.spec("W11")
def test_a_clock_has_no_label_and_goes_by_its_id() -> None:
    definition = parse_definition(MILL)
    assert title(definition, State(), "clocks.last_train") == "Last train"
    with pytest.raises(NarratorError, match="label"):
        parse_definition(MILL.replace("size = 9", 'size = 9\nlabel = "Train"'))
