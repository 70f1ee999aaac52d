"""The campaign that docs/authoring.md prints is whole: it parses, nothing in it is out of reach, both ends are."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from narrator.core.campaign import Definition, parse_definition
from narrator.core.review import review
from tests.core.sample_play import played

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
