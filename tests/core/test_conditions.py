"""The language of conditions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrator.core.conditions import BadCondition, holds, parse_condition
from narrator.core.errors import BadValue
from narrator.core.state import State

STATE = State(
    {
        "location": "ferry",
        "player.nerve": 3,
        "flags.lit": True,
        "flags.dark": False,
        "scene.present": ["tench", "sprat"],
        "inventory.oil": "player",
        "inventory.rope": "tench",
        "threads.cask": {"text": "Why?", "open": True},
        "threads.old": {"text": "Who?", "open": False},
        "story.fired": {"ask": {"times": 2, "last": 4, "told": {}}},
        "name": "O'Hara",
    },
    turn=6,
)


@pytest.mark.spec("W14")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("location == 'ferry'", True),
        ('location == "ferry"', True),
        ("location != 'ferry'", False),
        ("player.nerve < 4", True),
        ("player.nerve <= 3 and player.nerve >= 3", True),
        ("player.nerve > 3", False),
        ("player.nerve == 3.0", True),
        ("3 == player.nerve", True),
        ("-1 < player.nerve", True),
        ("flags.lit", True),
        ("flags.dark", False),
        ("not flags.dark", True),
        ("not not flags.lit", True),
        ("flags.lit == true", True),
        ("flags.lit == 1", False),
        ("flags.never == false", True),
        ("flags.never == null", True),
        ("flags.never == 'x'", False),
        ("flags.never != 'x'", True),
        ("flags.never < 3", False),
        ("flags.never > 3", False),
        ("location < 3", False),
        ("'tench' in scene.present", True),
        ("'loach' in scene.present", False),
        ("'loach' not in scene.present", True),
        ("location in ['ferry', 'landing']", True),
        ("location in []", False),
        ("'err' in location", True),
        ("has('player', 'oil')", True),
        ("has('player', 'rope')", False),
        ("has('tench', 'rope')", True),
        ("has('player', 'nothing')", False),
        ("fired('ask')", True),
        ("fired('ask', 2)", True),
        ("fired('ask', 1)", False),
        ("fired('other')", False),
        ("turns_since('ask') == 2", True),
        ("turns_since('other') > 1000", True),
        ("threads.cask", True),
        ("threads.old", False),
        ("flags.dark or flags.lit and location == 'ferry'", True),
        ("(flags.dark or flags.lit) and location == 'x'", False),
        ("flags.lit or flags.dark and flags.dark", True),
        ("not flags.dark and not flags.never", True),
        ("name == 'O\\'Hara'", True),
        ("scene.present == ['tench', 'sprat']", True),
    ],
)
def test_what_holds(text: str, expected: bool) -> None:
    assert holds(parse_condition(text), STATE) is expected


@pytest.mark.spec("W14")
def test_no_condition_always_holds() -> None:
    assert holds(None, STATE)


@pytest.mark.spec("W14")
@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        ("location ==", 12),
        ("location = 'x'", 10),
        ("and x", 1),
        ("a b", 3),
        ("(a", 3),
        ("a)", 2),
        ("hass('a', 'b')", 1),
        ("has('a')", 8),
        ("has('a', b)", 10),
        ("fired('a', 'b')", 12),
        ("a == 'open", 6),
        ("a in ['x' 'y']", 11),
        ("a $ b", 3),
        ("not", 4),
    ],
)
def test_an_error_has_its_column(text: str, column: int) -> None:
    with pytest.raises(BadCondition) as caught:
        parse_condition(text)
    assert caught.value.column == column
    assert isinstance(caught.value, BadValue)


@pytest.mark.spec("W14")
@given(st.text(alphabet="ab.'\"()[]<>=!,09 andortif_-", max_size=40))
def test_any_text_parses_or_is_an_error_with_a_place(text: str) -> None:
    column = 1
    try:
        condition = parse_condition(text)
    except BadCondition as error:
        condition, column = None, error.column
    before = dict(STATE.values)
    assert holds(condition, STATE) in {True, False}
    assert dict(STATE.values) == before
    assert 1 <= column <= len(text) + 1
