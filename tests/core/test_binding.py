"""Which corrections bind, and in which words (S23, W6, C10)."""

from __future__ import annotations

import pytest

from narrator.core.binding import binding
from narrator.core.proposal import JSON
from narrator.core.state import State
from narrator.core.tree import encode_correction
from tests.core.small_campaign import small

STATE: dict[str, JSON] = {
    "entities.player.name": "Ada",
    "location": "loft",
    "player.nerve": 9,
    "player.title": "Dame",
    "trust.miller.player": 4,
    "inventory.key": "miller",
    "inventory.sack": "rat",
    "flags.gate_open": True,
    "flags.secret": True,
    "miller.plan": "burn the mill",
    "facts": [{"text": "The wheel turns.", "certainty": "certain"}],
    "scene.present": ["miller", "rat"],
    "story.note": "Slowly.",
    "story.persona": "A diver.",
}


def told(*corrections: str, **changed: JSON) -> list[str]:
    values = {**STATE, **{path.replace("__", "."): value for path, value in changed.items()}}
    return binding(corrections, State(values=values), small())


@pytest.mark.spec("S23", "W6")
@pytest.mark.parametrize(
    ("path", "old", "new", "reason", "said"),
    [
        ("player.nerve", 1, 9, None, "Ada: nerve: steady, not shaking"),
        ("player.nerve", 8, 9, "she rests", "Ada: nerve: steady (she rests)"),
        ("trust.miller.player", -2, 4, None, "Orrin Vale towards Ada: trust: warm, not cold"),
        ("player.title", None, "Dame", None, "Ada: title: Dame"),
        ("location", "yard", "loft", None, "Place: the loft, not the yard"),
        ("inventory.key", "player", "miller", None, "a brass key: with: Orrin Vale, not Ada"),
        ("flags.gate_open", False, True, None, "gate open: yes, not no"),
        ("scene.present", ["miller"], ["miller", "rat"], None, "Present: Orrin Vale"),
        ("facts", None, "The wheel turns.", None, "it is true that: The wheel turns."),
        ("facts", "The miller limps.", None, None, "it is not true that: The miller limps."),
    ],
)
def test_a_correction_in_the_words_of_the_state(path: str, old: JSON, new: JSON, reason: str | None, said: str) -> None:
    assert told(encode_correction(path, old, new, reason)) == [said]


@pytest.mark.spec("C10", "C22", "C31")
@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("flags.secret", False, True),
        ("miller.plan", None, "burn the mill"),
        ("inventory.sack", "miller", "rat"),
        ("story.note", None, "Slowly."),
        ("story.persona", None, "A diver."),
        ("nobody.knows", None, 3),
    ],
)
def test_what_is_hidden_or_has_its_own_place_is_no_line(path: str, old: JSON, new: JSON) -> None:
    assert told(encode_correction(path, old, new, None)) == []


@pytest.mark.spec("S23")
def test_what_the_story_changed_since_binds_no_longer() -> None:
    lines = [encode_correction("player.nerve", 5, 9, None), encode_correction("facts", None, "The wheel turns.", None)]
    assert len(told(*lines)) == 2
    assert told(*lines, player__nerve=4, facts=[]) == []


@pytest.mark.spec("S23")
def test_of_two_of_one_path_the_later_one_binds() -> None:
    first, second = encode_correction("player.nerve", 5, 1, None), encode_correction("player.nerve", 1, 9, "better")
    assert told(first, second) == ["Ada: nerve: steady, not shaking (better)"]
    gone, back = (
        encode_correction("facts", "The wheel turns.", None, None),
        encode_correction("facts", None, "the wheel turns", None),
    )
    assert told(gone, back) == ["it is true that: the wheel turns"]
