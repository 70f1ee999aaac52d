"""Hidden checks: what a roll depends on, what outcome it earns, how clocks advance."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from narrator.core.campaign import minimal_definition, parse_definition
from narrator.core.checks import Check, UnknownSkill, clock_proposals, dice, outcome_of, roll_check
from narrator.core.definition import Dice
from narrator.core.referee import judge
from narrator.core.state import Event, advance
from tests.core.small_campaign import TEXT, small, start

AT: dict[str, Any] = {"seed": 1, "chain_hash": b"h" * 32, "ordinal": 0, "number": 0}


def roll(**changed: Any) -> Check:
    definition = small()
    return roll_check(definition, start(definition), "persuade", "hard", **(AT | changed))


@pytest.mark.spec("T9")
def test_a_roll_is_the_same_however_often_it_is_asked_for() -> None:
    assert len({roll() for _ in range(20)}) == 1


@pytest.mark.spec("T9")
@pytest.mark.parametrize(
    ("what", "values"),
    [
        ("seed", range(40)),
        ("chain_hash", [bytes([at]) * 32 for at in range(40)]),
        ("ordinal", range(40)),
        ("number", range(40)),
    ],
)
def test_a_roll_hangs_on_each_of_its_four_grounds(what: str, values: Any) -> None:
    assert len({roll(**{what: value}).roll for value in values}) > 8


@pytest.mark.spec("T9")
def test_a_roll_hangs_on_nothing_else() -> None:
    definition = small()
    state = start(definition)
    richer = advance(state, "narrator", [Event("set", "player.title", "Dame", None, "model")])
    unknown = replace(richer, turn=99, unknown=True)
    first = roll_check(definition, state, "persuade", "hard", **AT)
    for other in (richer, unknown):
        assert roll_check(definition, other, "persuade", "hard", **AT) == first
    assert roll_check(definition, state, "persuade", "easy", **AT).roll == first.roll
    assert roll_check(definition, state, "Persuade ", "HARD", **AT) == first


@pytest.mark.spec("T9", "W11")
def test_the_roll_of_a_seed_never_changes() -> None:
    """A known value: a change of the recipe would roll anew what has been rolled in stories that exist."""
    assert dice(Dice(3, 6), **AT) == dice(Dice(3, 6), **AT)
    assert [dice(Dice(1, 20), **(AT | {"number": number}))[0] for number in range(6)] == [9, 15, 15, 4, 20, 13]


@pytest.mark.spec("W11")
def test_the_field_behind_a_skill_is_added() -> None:
    definition = small()
    check = roll()
    assert check.total == check.roll + 5
    assert check.target == 14
    braver = advance(start(definition), "narrator", [Event("set", "player.nerve", 9, 5, "player")])
    assert roll_check(definition, braver, "persuade", "hard", **AT).total == check.roll + 9


@pytest.mark.spec("W11")
def test_dice_are_fair() -> None:
    faces = Counter(face for at in range(3000) for face in dice(Dice(1, 6), **(AT | {"ordinal": at})))
    assert set(faces) == {1, 2, 3, 4, 5, 6}
    assert max(faces.values()) - min(faces.values()) < 150


@pytest.mark.spec("W11")
@pytest.mark.parametrize(
    ("margin", "name"),
    [
        (-50, "critical failure"),
        (-10, "critical failure"),
        (-9, "failure"),
        (-1, "failure"),
        (0, "success"),
        (9, "success"),
        (10, "critical success"),
        (99, "critical success"),
    ],
)
def test_the_outcome_goes_by_the_margin(margin: int, name: str) -> None:
    rules = small().rules
    assert rules is not None
    assert outcome_of(rules, margin) == name


@pytest.mark.spec("T8")
def test_an_unknown_skill_is_an_error_that_names_the_known_ones() -> None:
    definition = small()
    for skill, difficulty in (("dance", "hard"), ("persuade", "absurd")):
        with pytest.raises(UnknownSkill) as caught:
            roll_check(definition, start(definition), skill, difficulty, **AT)
        assert caught.value.hint
    plain = minimal_definition("T", "O")
    with pytest.raises(UnknownSkill):
        roll_check(plain, start(plain), "persuade", "hard", **AT)


@pytest.mark.spec("W11")
def test_a_clock_advances_on_its_outcomes_and_does_its_work_when_full() -> None:
    definition = small()
    state = start(definition)
    assert clock_proposals(definition, state, ["success"]) == ()
    for outcome in ("failure", "critical failure", "failure"):
        check = replace(roll(), outcome=outcome)
        verdict = judge(definition, state, clock_proposals(definition, state, [check]), source="check")
        state = advance(state, "narrator", verdict.events)
    assert state.values["clocks.fire"] == 3
    assert state.values["flags.burnt"] is True
    assert verdict.events[-1].source == "check"
    assert clock_proposals(definition, state, ["failure"]) == ()


@pytest.mark.spec("W11", "W14")
def test_a_clock_can_have_a_condition() -> None:
    definition = parse_definition(TEXT.replace('advances_on = ["failure"]', "advances_when = \"location == 'loft'\""))
    state = start(definition)
    assert clock_proposals(definition, state) == ()
    there = advance(state, "narrator", [Event("set", "location", "loft", "yard", "storylet")])
    assert [proposal.path for proposal in clock_proposals(definition, there)] == ["clocks.fire"]
