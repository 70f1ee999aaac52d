"""The Lantern Road alone: what the tide decides, what is asked twice, and what a reply has noticed."""

from __future__ import annotations

from collections import Counter

import pytest

from narrator.core.conditions import holds
from narrator.core.state import is_ended
from tests.core.sample_play import Game
from tests.core.samples.lantern_road import COMPANY, SAMPLE, games
from tests.core.samples.lantern_road_answers import DROWNED


@pytest.mark.spec("U23", "T18")
def test_there_is_no_dead_end() -> None:
    """From whatever a walk has come to, the tide decides the matter in the end: waiting reaches an ending."""
    endings: Counter[str] = Counter()
    for turn, game in enumerate(games(16)):
        if turn % 15 or is_ended(game.state):
            continue
        for has_told in (False, True):
            fork = game.fork().set(flags__dace_knows=has_told)
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


def after_the_flood(place: str, **known: object) -> Game:
    drowned = {path.replace(".", "__"): value for path, value in DROWNED.items()}
    return SAMPLE.standing_in(place).set(**drowned, **known)


@pytest.mark.spec("U23", "T18")
@pytest.mark.parametrize(
    "plea",
    [
        "row me to the last lantern now",
        "you carried their oil, and the children are over there",
        "so Tench, what did she pay you for carrying the casks?",
        "Will you take me to the seventh? There are children on the far side.",
        "confess, Tench: whose oil is it?",
        "please help me",
    ],
)
@pytest.mark.parametrize("has_seen", [True, False])
def test_after_the_flood_any_plea_moves_the_ferryman(plea: str, has_seen: bool) -> None:
    game = after_the_flood("ferry", flags__saw_cask=has_seen)
    if has_seen:
        game.set(**{"threads.the-cask": {"text": "Whose oil?", "open": True}})
    game.play(plea)
    assert game.complaints == []
    assert game.state.values["flags.tench_confessed"] is True, game.answered_by
    game.play("take some of the oil")
    assert game.state.values["inventory.oil"] == "player"
    for text in ("row me to the seventh lantern", "climb the ladder", "try the ladder again", *["light the lamp"] * 2):
        if not is_ended(game.state):
            game.play(text)
    assert game.ending == "late"


@pytest.mark.spec("U23", "T18")
def test_whoever_has_fallen_off_the_ladder_once_gets_up_it() -> None:
    fell = 0
    for number in range(12):
        game = SAMPLE.standing_in("seventh-lantern").set(inventory__oil="player", player__warmth=1)
        game.chain = f"ladder {number}".encode()
        game.play("climb the ladder")
        if not game.state.values.get("flags.up_ladder"):
            fell += 1
            game.play("try the ladder again, holding the left rail")
        assert game.state.values["flags.up_ladder"] is True, game.answered_by
    assert fell


@pytest.mark.spec("U23", "T18")
@pytest.mark.parametrize("text", ["sit down", "say nothing", "stay here", "wait a minute"])
@pytest.mark.parametrize("place", COMPANY)
def test_nothing_but_waiting_for_it_brings_the_morning(place: str, text: str) -> None:
    game = after_the_flood(place)
    game.play(text)
    assert game.ending == ""


@pytest.mark.spec("U23", "T18")
@pytest.mark.parametrize("place", COMPANY)
@pytest.mark.parametrize("is_drowned", [False, True])
def test_what_is_put_behind_a_repeat_belongs_to_the_place(place: str, is_drowned: bool) -> None:
    """Enough of it, and none that is true somewhere else, or was true an hour ago."""
    elsewhere = {
        "ferry": ("mud", "rug", "stage you", "Dip"),
        "landing": ("drip lands", "rug", "Dip"),
        "toll-house": ("mud", "collar", "lantern dips", "drip lands", "Dip", "foam"),
        "causeway": ("drip lands", "rug"),
        "lamp-store": ("mud", "collar", "lantern dips", "drip lands", "foam"),
        "seventh-lantern": ("mud knows", "drip lands", "rug", "frying"),
        "far-shore": ("mud knows", "drip lands", "rug", "frying"),
    }[place]
    gone = ("Dip", "on to the rug", "whip", "marker post") if is_drowned else ("oar",)
    state = (after_the_flood(place) if is_drowned else SAMPLE.standing_in(place)).state
    behind = [
        text
        for storylet in SAMPLE.definition.storylets
        if storylet.on == "aside" and holds(storylet.when, state)
        for text in storylet.outcomes[0].wordings
    ]
    assert len(behind) >= 4
    assert [text for text in behind if any(word in text for word in (*elsewhere, *gone))] == []


@pytest.mark.spec("U23", "T18")
def test_a_drip_stops_when_the_roof_is_mended() -> None:
    game = SAMPLE.standing_in("ferry").set(flags__roof_mended=True)
    for _ in range(14):
        game.play("look around")
    assert not [said for said in game.said if "The drip lands" in said]
