"""Which cards trigger, and why (C26): every feature of a trigger, in a table, and what they do together."""

from __future__ import annotations

import time
import unicodedata
from typing import Any

import pytest

from narrator.core.budget import compute_budget, parts_within
from narrator.core.campaign import parse_definition
from narrator.core.cards import CardEdit, edited, nodes_scanned, trigger, turns_remembered
from narrator.core.conditions import parse_condition
from narrator.core.definition import Card
from narrator.core.prompt import card_part
from narrator.core.state import EMPTY, State
from narrator.narrators.tokens import count_bytes


def card(name: str = "Card", *keys: str, **rest: Any) -> Card:
    return Card(name, f"About {name}.", keys, **rest)


def why(each: Card, *story: str, told: str = "", state: State = EMPTY, **rest: Any) -> str | None:
    """Why this card triggers, story newest first; None where it does not."""
    found = trigger([each], story, told, state, **rest).found
    return found[0].why if found else None


def names(cards: list[Card], *story: str, told: str = "", **rest: Any) -> list[str]:
    return [each.card.name for each in trigger(cards, story, told, EMPTY, **rest).found]


# ----------------------------------------------------------------------------------------------------------- plain keys


@pytest.mark.spec("C26")
@pytest.mark.parametrize(
    ("key", "text", "triggers"),
    [
        ("art", "The art of the deal.", True),
        ("art", "ART!", True),
        ("art", "A party in the cart.", False),
        ("art", "The artful one.", False),
        ("art", "state_of_art", False),
        ("lantern road", "On the Lantern\nRoad again.", True),
        ("lantern road", "A lantern. Road dust.", False),
        ("C++", "He writes C++ all night.", True),
        ("Reeve's", "The Reeve’s dog barks.", True),
        ("灯", "他拿着灯走进雨里。", True),
        ("灯", "他走进雨里。", False),
        ("灯塔", "远处的灯塔亮了。", True),
        ("はか", "ばかな話だ", False),
        ("ผี", "บ้านผีสิง", True),
        ("왕", "왕이 웃었다", True),
        ("art", "现代art展", True),
        ("МОСКВА", "Дорога в Москва, ночь.", True),
        ("ёлка", "У ЕЛКИ и Елка", True),
        ("ışık", "IŞIK söndü", True),
        ("Istanbul", "ISTANBUL", True),
        ("istanbul", "İSTANBUL’da", True),
        ("İzmir", "izmir uzak", True),
        ("strasse", "Die Straße ist leer.", True),
        ("café", "Un cafe\N{COMBINING ACUTE ACCENT} noir.", True),
        (unicodedata.normalize("NFD", "Éloïse"), "Éloïse rit.", True),
        ("Éloïse", "Eloise laughs.", True),
        ("caf", "Un cafe\N{COMBINING ACUTE ACCENT} noir.", False),
        ("ΟΔΟΣ", "Η οδός είναι μακριά.", True),
        ("", "Anything.", False),
        ("  ", "Anything.", False),
    ],
)
def test_plain_keys_are_whole_words_in_any_case_and_script(key: str, text: str, triggers: bool) -> None:
    assert (why(card("Card", key), text) is not None) == triggers


@pytest.mark.spec("C26")
def test_case_and_substrings_are_switched_for_each_card() -> None:
    assert why(card("Card", "Will", is_case_sensitive=True), "Will waits.") == "Will"
    assert why(card("Card", "Will", is_case_sensitive=True), "I will wait.") is None
    assert why(card("Card", "Işık", is_case_sensitive=True), "isik") is None
    assert why(card("Card", "café", is_case_sensitive=True), "cafe\N{COMBINING ACUTE ACCENT}") == "café"
    assert why(card("Card", "art", is_whole_word=False), "A party.") == "art"
    assert why(card("Card", "Art", is_whole_word=False, is_case_sensitive=True), "A party.") is None


@pytest.mark.spec("C26", "C29")
def test_the_key_that_matched_is_the_reason() -> None:
    assert why(card("Card", "bell", "lamp"), "The lamp is out.") == "lamp"
    assert why(card("Card", "lamp", secondary=("tide", "reeve")), "The lamp, the Reeve.") == "lamp + reeve"
    assert why(card("Card", r"lamps?\b", is_regex=True), "Two lamps.") == r"/lamps?\b/"


@pytest.mark.spec("C26")
def test_a_key_is_not_found_across_two_steps() -> None:
    for story in (("road again", "a lantern"), ("a lantern", "road again")):
        assert why(card("Card", "lantern road"), *story) is None
    assert why(card("Card", "lantern road"), "road again", told="a lantern") is None
    assert why(card("Card", "lanternroad", is_whole_word=False), "a lantern", "road again") is None


# ---------------------------------------------------------------------------------------------------------- expressions


@pytest.mark.spec("C26")
def test_expressions_match_in_any_case_unless_switched() -> None:
    assert why(card("Card", r"\bree(ve|d)\b", is_regex=True), "The REED bends.")
    assert why(card("Card", r"\bree(ve|d)\b", is_regex=True, is_case_sensitive=True), "The REED bends.") is None
    assert why(card("Card", r"lamp", is_regex=True, secondary=("ti.e",)), "lamp and tide")


@pytest.mark.spec("C26")
def test_an_expression_is_bounded_in_time_and_named() -> None:
    slow = [card(f"Slow {n}", "(a|aa)+$", is_regex=True) for n in range(40)]
    begun = time.process_time()
    found = trigger([*slow, card("Lamp", "lamp")], ["a" * 400 + "b", "the lamp"], "", EMPTY)
    assert time.process_time() - begun < 2, "a few of 50 ms, and no other is tried"
    assert [each.card.name for each in found.found] == ["Lamp"]
    assert found.slow == tuple(each.name for each in slow)


@pytest.mark.spec("C26")
def test_what_is_no_expression_matches_nothing() -> None:
    assert why(card("Card", "(", is_regex=True), "(") is None


# ------------------------------------------------------------------------------------------------------- secondary keys


@pytest.mark.spec("C26")
@pytest.mark.parametrize(
    ("logic", "none", "one", "both"),
    [
        ("any", False, True, True),
        ("all", False, False, True),
        ("none", True, False, False),
        ("not-all", True, True, False),
    ],
)
def test_secondary_keys(logic: str, none: bool, one: bool, both: bool) -> None:
    each = card("Card", "lamp", secondary=("tide", "reeve"), secondary_logic=logic)
    assert (why(each, "The lamp.") is not None) == none
    assert (why(each, "The lamp, the tide.") is not None) == one
    assert (why(each, "The lamp, the tide, the Reeve.") is not None) == both
    assert why(each, "The tide and the Reeve.") is None


# ---------------------------------------------------------------------------------------- constant, switched, condition


@pytest.mark.spec("C26", "C10")
def test_constant_cards_without_a_condition_stand_in_the_prefix_alone() -> None:
    assert why(card("Card", is_constant=True), "Anything.") is None
    ferry = State(values={"location": "ferry"})
    each = card("Card", is_constant=True, when=parse_condition("location == 'ferry'"))
    assert why(each, "Anything.", state=ferry) == "constant"
    assert why(each, "Anything.") is None


@pytest.mark.spec("C26", "S35")
def test_a_card_that_is_off_or_whose_condition_fails_is_silent() -> None:
    assert why(card("Card", "lamp", is_enabled=False), "The lamp.") is None
    dark = card("Card", "lamp", when=parse_condition("flags.dark"))
    assert why(dark, "The lamp.") is None
    assert why(dark, "The lamp.", state=State(values={"flags.dark": True})) == "lamp"
    assert why(dark, "The lamp.", since={"Card": 0}) is None


@pytest.mark.spec("C26", "C10")
def test_a_condition_alone_is_enough_and_is_not_told() -> None:
    each = card("Card", when=parse_condition("flags.secret_door"))
    assert why(each, "Anything.", state=State(values={"flags.secret_door": True})) == "its condition holds"
    assert why(card("Card"), "Anything.") is None


# --------------------------------------------------------------------------------------------------- depth and priority


@pytest.mark.spec("C26")
def test_scan_depth() -> None:
    story = ["newest", "second", "third", "fourth lamp", "fifth bell"]
    assert why(card("Card", "lamp"), *story) == "lamp"
    assert why(card("Card", "bell"), *story) is None
    assert why(card("Card", "bell", scan_depth=5), *story) == "bell"
    assert why(card("Card", "second", scan_depth=1), *story) is None
    assert why(card("Card", "newest", scan_depth=0), *story) is None
    assert why(card("Card", "newest", scan_depth=0), *story, told="The newest one.") == "newest"
    assert nodes_scanned([card("a", scan_depth=9), card("b"), card("c", scan_depth=90, is_enabled=False)]) == 9


@pytest.mark.spec("C26")
def test_cards_go_by_priority_then_as_they_stand() -> None:
    cards = [card("a", "lamp"), card("b", "lamp", priority=5), card("c", "lamp", priority=-1), card("d", "lamp")]
    assert names(cards, "The lamp.") == ["b", "a", "d", "c"]


# ------------------------------------------------------------------------------------------------------------ recursion


@pytest.mark.spec("C26")
def test_one_level_of_recursion_where_it_is_asked_for() -> None:
    lamp = Card("Lamp", "The lamp was made by the smith.", ("lamp",), is_recursive=True)
    smith = Card("Smith", "The smith fears the fen.", ("smith",), is_recursive=True)
    fen = Card("Fen", "Black water.", ("fen",))
    assert names([lamp, smith, fen], "The lamp.") == ["Lamp", "Smith"]
    found = trigger([fen, smith, lamp], ["The lamp."], "", EMPTY).found
    assert {each.card.name: each.why for each in found} == {"Lamp": "lamp", "Smith": "smith, in the card Lamp"}
    assert names([Card("Lamp", lamp.text, ("lamp",)), smith], "The lamp.") == ["Lamp"]
    assert names([lamp, Card("Smith", "", ("smith",), is_enabled=False)], "The lamp.") == ["Lamp"]


# -------------------------------------------------------------------------------------------------- sticky and cooldown


@pytest.mark.spec("C26")
@pytest.mark.parametrize(
    ("sticky", "cooldown", "ago", "silent", "spoken"),
    [
        (0, 0, 0, None, "lamp"),
        (2, 0, 0, "sticky, fired in this turn", "sticky, fired in this turn"),
        (2, 0, 1, "sticky, fired 1 turn ago", "sticky, fired 1 turn ago"),
        (2, 0, 2, "sticky, fired 2 turns ago", "sticky, fired 2 turns ago"),
        (2, 0, 3, None, "lamp"),
        (0, 2, 0, None, None),
        (0, 2, 2, None, None),
        (0, 2, 3, None, "lamp"),
        (1, 2, 1, "sticky, fired 1 turn ago", "sticky, fired 1 turn ago"),
        (1, 2, 2, None, None),
        (1, 2, 3, None, None),
        (1, 2, 4, None, "lamp"),
    ],
)
def test_sticky_and_cooldown_in_turns(
    sticky: int, cooldown: int, ago: int, silent: str | None, spoken: str | None
) -> None:
    each = card("Card", "lamp", sticky=sticky, cooldown=cooldown)
    assert why(each, "Nothing.", since={"Card": ago}) == silent
    assert why(each, "The lamp.", since={"Card": ago}) == spoken


@pytest.mark.spec("C26")
def test_only_what_fired_by_itself_counts_as_fired() -> None:
    cards = [card("a", "lamp", sticky=2), card("b", "lamp"), card("c", "lamp", sticky=3)]
    assert trigger(cards, ["The lamp."], "", EMPTY, since={"c": 1}).fired == ("a",)
    assert (
        turns_remembered([*cards, card("d", "x", sticky=2, cooldown=4), card("e", cooldown=99, is_enabled=False)]) == 6
    )


# -------------------------------------------------------------------------------------------------- changes, and budget


@pytest.mark.spec("S35")
def test_changes_of_the_player_lie_over_the_definition() -> None:
    definition = parse_definition(
        '[campaign]\nid = "a"\ntitle = "A"\nopening = "O"\n'
        + "".join(f'[[cards]]\nname = "{name}"\ntext = "{name}"\nkeys = ["lamp"]\n' for name in "abcd")
    )
    edits = {"a": CardEdit(is_enabled=False), "b": CardEdit(text="new"), "c": CardEdit(is_deleted=True)}
    cards = {each.name: each for each in edited(definition, {**edits, "z": CardEdit(text="nobody")}).cards}
    assert list(cards) == ["a", "b", "d"]
    assert not cards["a"].is_enabled
    assert cards["b"].text == "new"
    assert cards["b"].keys == ("lamp",)
    assert edited(definition, {}) is definition


@pytest.mark.spec("C27")
def test_a_share_of_the_budget_goes_by_priority_and_nothing_is_lost() -> None:
    counted = compute_budget(
        window=4096,
        window_source="configured",
        max_output_tokens=1024,
        stable_prefix=(),
        count=count_bytes,
    )
    parts = [card_part(str(n), "x" * size, "lamp") for n, size in enumerate((300, 600, 90_000, 20))]
    kept, left_out = parts_within(parts, 4, counted, count_bytes)
    assert [part.source for part in kept] == ["0", "3"]
    assert [part.source for part in left_out] == ["1", "2"]
    assert sum(len(part.text.encode()) for part in kept) <= counted.hard_input // 4
    everything, nothing = parts_within(parts, 4, counted, lambda messages: 0)
    assert (everything, nothing) == (tuple(parts), ())
