"""The Lantern Road alone: what the tide decides, what is asked twice, and what a reply has noticed."""

from __future__ import annotations

from collections import Counter

import pytest

from narrator.core.state import is_ended
from tests.core.samples.lantern_road import SAMPLE, games


@pytest.mark.spec("U23", "T18")
def test_there_is_no_dead_end() -> None:
    """From whatever a walk has come to, the tide decides the matter in the end: waiting reaches an ending."""
    endings: Counter[str] = Counter()
    for turn, game in enumerate(games(16)):
        if turn % 15 or is_ended(game.state):
            continue
        fork = game.fork()
        for _ in range(12):
            fork.play("wait")
            if is_ended(fork.state):
                break
        assert is_ended(fork.state), (fork.place, fork.answered_by[-3:])
        endings[fork.ending] += 1
    assert endings.keys() == {"tide", "tide-kept"}


@pytest.mark.spec("U23")
def test_after_high_water_the_lantern_can_still_be_lit_by_boat() -> None:
    game = SAMPLE.played([])
    game.play("look under the tarpaulin")
    for _ in range(8):
        if game.state.values.get("flags.tench_confessed"):
            break
        game.play("ask him about the oil")
    assert game.state.values["inventory.oil"] == "player"
    while not game.state.values.get("flags.road_drowned"):
        game.play("wait")
    game.play("row to the seventh lantern")
    assert (game.answered_by[-1], game.place) == ("the-road-goes-under", "ferry")
    for text in ("row to the seventh lantern", *["light the lantern"] * 8):
        if not is_ended(game.state):
            game.play(text)
    assert game.ending == "late"
    assert game.state.values["road.burning"] == 6


@pytest.mark.spec("U23")
def test_going_home_is_asked_twice() -> None:
    game = SAMPLE.played(["go home"])
    assert not game.ending
    game.play("go home")
    assert game.ending == "passenger"


@pytest.mark.spec("U23")
def test_a_name_is_given_twice() -> None:
    """An irrevocable deed is asked for again first: the place for a checkpoint."""
    game = SAMPLE.played(["go ashore", "go to the toll-house", "blame Loach"])
    assert not game.ending
    game.fork().play("leave")
    game.play("sign")
    assert game.ending == "keeper"


@pytest.mark.spec("U23")
def test_a_reply_has_noticed_what_was_done() -> None:
    """Things that were done are no longer there to do, and people know them."""
    game = SAMPLE.standing_in("lamp-store")
    game.play("bandage her knee")
    assert game.state.values["flags.loach_trusts"] is True
    game.play("bandage her knee")
    game.play("ask why the lanterns are out")
    game.play("take the oil")
    assert game.answered_by == ["loach-knee", "loach-knee-after", "loach-tells", "store-take-oil"]
    assert game.state.values["inventory.oil"] == "player"
    game.play("what do I have")
    assert game.answered_by[-1] == "any-inventory-oil"
