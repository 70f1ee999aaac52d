"""The referee itself: the naive model keeps the invariants under any play, and reads the sequences of the page."""

from __future__ import annotations

import random
from copy import deepcopy

import pytest

from tests.model.naive import Model
from tests.model.play import Dice, play
from tests.model.tree import Refused, View


def told(model: Model) -> list[int]:
    view = model.view()
    assert isinstance(view, View)
    return view.ids


@pytest.mark.spec("S1", "S5", "S14", "S41", "S48")
@pytest.mark.parametrize("seed", range(40))
def test_any_play_keeps_the_invariants(seed: int) -> None:
    model = Model(openings=["Rain."] if seed % 4 else ["Rain.", "Sun.", "Snow."])
    dice = Dice(random.Random(seed))
    for _ in range(120):
        before = deepcopy(model.nodes)
        built_on = {n.parent for n in before.values() if n.parent is not None}
        verb, arguments = play(model, dice)
        model.perform(verb, *arguments)
        model.check_invariants()
        for node in before.values():
            now = model.nodes.get(node.id)
            if now is None:
                assert verb in ("prune", "reopen"), f"S1: {verb} removed {node.id}"
                continue
            assert (now.parent, now.role, now.text, now.changes) == (node.parent, node.role, node.text, node.changes)
            if node.id in built_on:
                assert (now.branch, now.depth) == (node.branch, node.depth), f"S14: {verb} moved {node.id}"


@pytest.mark.spec("S8", "S9", "S10")
def test_undo_and_redo_are_the_identity() -> None:
    model = Model()
    for n in range(5):
        model.turn(f"Step {n}.")
    before = model.view()
    model.undo(7)
    assert model.view().redo == 7
    model.redo(7)
    assert model.view() == before
    with pytest.raises(Refused, match="nothing-to-redo"):
        model.redo()


@pytest.mark.spec("S14")
def test_retries_that_nobody_builds_on_make_no_branch() -> None:
    model = Model()
    model.turn("Go.")
    model.retry(times=6)
    assert len(model.branches) == 1
    assert model.view().pager[-1] == (7, 7)
    model.turn("On.")
    assert len(model.branches) == 1
    assert told(model) == [1, 2, 9, 10, 11]
    assert model.nodes[3].branch is None


@pytest.mark.spec("S18")
def test_the_pager_counts_the_siblings_of_one_parent() -> None:
    model = Model()
    model.turn("Left.")  # 2, 3
    model.retry()  # 4
    model.undo(2)
    model.turn("Right.")  # 5, 6
    model.retry(times=2)  # 7, 8
    assert model.view().pager[-2:] == ((2, 2), (3, 3))


@pytest.mark.spec("S48")
def test_two_inputs_never_follow_each_other() -> None:
    model = Model()
    model.turn("Go.")  # 2, 3
    model.undo()
    model.correct("player.health", 7)  # 4
    model.turn("Stay.")  # 5, 6
    assert told(model) == [1, 5, 6]
    model.select(4)
    model.go_on()  # 7
    assert told(model) == [1, 2, 4, 7]
    assert model.nodes[7].mode is None


@pytest.mark.spec("S41")
def test_a_hidden_node_keeps_its_coordinate_until_it_is_displaced() -> None:
    model = Model()
    model.turn("Go.")  # 2, 3
    model.retry()  # 4, unplaced
    model.delete_take(3)
    assert model.nodes[3].branch == 1
    model.turn("On.")  # 4 takes the coordinate of 3
    assert model.nodes[3].branch is None
    model.undelete()
    assert model.pager(3) == (1, 2)
    model.check_invariants()
