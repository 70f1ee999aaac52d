"""Cards beside the definition: what is kept of them, and what comes back (S35, C26)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrator.core.campaign import parse_definition
from narrator.core.cards import trigger
from narrator.core.definition import Card
from narrator.core.errors import BadDefinition
from narrator.core.kept_cards import add_cards, card_keys, check_card, read_card
from narrator.core.state import EMPTY, State

words = st.text(min_size=1, max_size=12)
cards = st.builds(
    Card,
    name=words,
    text=st.text(max_size=40),
    keys=st.lists(words, max_size=3).map(tuple),
    kind=st.sampled_from(["canon", "reference", "inspiration"]),
    is_enabled=st.booleans(),
    is_constant=st.booleans(),
    priority=st.integers(-9, 9),
    scan_depth=st.none() | st.integers(0, 9),
    is_case_sensitive=st.booleans(),
    is_whole_word=st.booleans(),
    secondary=st.lists(words, max_size=3).map(tuple),
    secondary_logic=st.sampled_from(["any", "all", "none", "not-all"]),
    is_recursive=st.booleans(),
    sticky=st.integers(0, 9),
    cooldown=st.integers(0, 9),
)


@pytest.mark.spec("S35", "C26")
@given(cards)
def test_a_card_comes_back_as_it_was(card: Card) -> None:
    keys = card_keys(card)
    assert read_card(card.name, json.dumps(keys)) == card
    assert check_card(card.name, keys) == card


@pytest.mark.spec("S35", "W14")
def test_a_condition_is_read_with_it() -> None:
    card = read_card("Lamp", '{"text": "It burns.", "keys": ["lamp"], "when": "flags.dark"}')
    assert trigger([card], ["The lamp."], "", EMPTY).found == ()
    assert trigger([card], ["The lamp."], "", State(values={"flags.dark": True})).found[0].card == card


@pytest.mark.spec("S35")
@pytest.mark.parametrize(
    "body",
    [
        "{",
        "[]",
        '"text"',
        '{"text": 7}',
        '{"text": "x", "keys": "lamp"}',
        '{"text": "x", "keys": [7]}',
        '{"text": "x", "sticky": true}',
        '{"text": "x", "weather": 1}',
        '{"keys": ["lamp"]}',
        '{"text": "x", "when": "flags. =="}',
    ],
)
def test_what_is_no_card_is_said(body: str) -> None:
    with pytest.raises(BadDefinition):
        read_card("Lamp", body)


@pytest.mark.spec("S35", "S43")
@pytest.mark.parametrize(
    "keys", [{}, {"text": "x", "regex": True, "keys": ["("]}, {"text": "x", "scan_depth": -1}, {"text": "x", "a": 1}]
)
def test_what_comes_from_outside_is_checked_as_a_definition_is(keys: dict[str, Any]) -> None:
    with pytest.raises(BadDefinition):
        check_card("Lamp", keys)


@pytest.mark.spec("S35")
def test_of_two_with_one_name_the_definitions_counts() -> None:
    definition = parse_definition(
        '[campaign]\nid = "a"\ntitle = "A"\nopening = "O"\n[[cards]]\nname = "Lamp"\ntext = "Its own."\n'
    )
    found = add_cards(definition, [Card("Lamp", "Another."), Card("Bell", "It rings.")])
    assert [(card.name, card.text) for card in found.cards] == [("Lamp", "Its own."), ("Bell", "It rings.")]
    assert add_cards(definition, [Card("Lamp", "Another.")]) is definition
