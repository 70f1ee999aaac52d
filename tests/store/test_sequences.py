"""The sequences that a letter-perfect reading of the page once got wrong, on the model and on the program alike.

T is a turn of two nodes; the opening is 1, the first T is 2 and 3, the next 4 and 5. The ids that a player must see
are written out. Each test runs twice: the referee must read the page as the test does, and so must the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.model.adapter import ModelTale, Program, Tale


@pytest.fixture(params=["model", "program"])
def tale(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Tale]:
    """A story that has an opening and nothing else."""
    if request.param == "model":
        yield ModelTale()
        return
    program = Program(tmp_path / "sequence.narrator")
    yield program
    program.close()


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """The real program alone, for what the model knows nothing of: requests, streams, files."""
    program = Program(tmp_path / "case.narrator")
    yield program
    program.close()


def turns(tale: Tale, n: int = 1) -> None:
    for _ in range(n):
        done(tale, "turn", "Go on.")


def done(tale: Tale, verb: str, *arguments: object) -> None:
    assert tale.do(verb, *arguments) is None, (verb, arguments)


def at(tale: Tale) -> tuple[list[int], int, int]:
    """Ids on the path, head and tip."""
    view = tale.view()
    return view.ids, view.head, view.tip


def steps_of(tale: Tale) -> dict[int, tuple[int | None, int, int]]:
    """Each branch: parent, fork depth, placed steps."""
    return {b.id: (b.parent, b.fork, b.steps) for b in tale.rail()}


@pytest.mark.spec("S17")
def test_1_stepping_to_a_take_that_was_left_shows_all_of_it(tale: Tale) -> None:
    turns(tale, 4)
    done(tale, "undo", 6)
    turns(tale)
    assert at(tale) == ([1, 2, 3, 10, 11], 11, 11)
    done(tale, "select", 4)
    assert at(tale) == ([1, 2, 3, 4, 5, 6, 7, 8, 9], 9, 9)


@pytest.mark.spec("S30", "S17")
@pytest.mark.parametrize("by_take", [True, False])
def test_2_switching_to_the_root_branch_shows_nine_steps(tale: Tale, by_take: bool) -> None:
    turns(tale, 4)
    done(tale, "undo", 6)
    turns(tale)
    if by_take:
        done(tale, "select", 4)
    done(tale, "switch", 1)
    assert at(tale) == ([1, 2, 3, 4, 5, 6, 7, 8, 9], 9, 9)
    assert steps_of(tale) == {1: (None, 0, 9), 2: (1, 3, 2)}


@pytest.mark.spec("S14")
def test_3_continuing_again_and_again_makes_one_branch(tale: Tale) -> None:
    turns(tale)
    done(tale, "go_on")
    for _ in range(5):
        done(tale, "undo", 1)
        done(tale, "go_on")
    assert at(tale) == ([1, 2, 3, 9], 9, 9)
    assert steps_of(tale) == {1: (None, 0, 4)}
    assert tale.view().pager[-1] == (6, 6)


@pytest.mark.spec("S5", "S14")
def test_4_a_branch_forks_from_a_node_that_its_parent_owns(tale: Tale) -> None:
    turns(tale, 3)
    done(tale, "undo", 4)
    turns(tale)
    assert at(tale) == ([1, 2, 3, 8, 9], 9, 9)
    done(tale, "undo", 4)
    turns(tale)
    assert at(tale) == ([1, 10, 11], 11, 11)
    assert tale.problems() == []
    assert steps_of(tale) == {1: (None, 0, 7), 2: (1, 3, 2), 3: (1, 1, 2)}


@pytest.mark.spec("S24")
def test_5_a_fork_at_the_tip_opens_a_branch_of_two_steps(tale: Tale) -> None:
    turns(tale)
    done(tale, "fork", None)
    assert at(tale) == ([1, 2, 3], 3, 3)
    turns(tale)
    assert at(tale) == ([1, 2, 3, 4, 5], 5, 5)
    assert steps_of(tale) == {1: (None, 0, 3), 2: (1, 3, 2)}


@pytest.mark.spec("S15", "S17")
def test_6_a_line_left_by_a_retry_is_remembered_at_its_tip(tale: Tale) -> None:
    turns(tale, 5)
    done(tale, "undo", 2)
    done(tale, "retry", 5, 1)
    assert at(tale) == ([1, 2, 3, 4, 12], 12, 12)
    turns(tale)
    assert at(tale) == ([1, 2, 3, 4, 12, 13, 14], 14, 14)
    done(tale, "select", 5)
    assert at(tale) == ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], 11, 11)


@pytest.mark.spec("S40", "S41", "S14")
def test_7_prune_retry_delete_and_undelete_leave_a_sound_tree(tale: Tale) -> None:
    turns(tale, 2)
    done(tale, "undo", 2)
    turns(tale)
    assert at(tale) == ([1, 2, 3, 6, 7], 7, 7)
    done(tale, "prune", 0)
    assert steps_of(tale) == {1: (None, 0, 3), 2: (1, 3, 2)}
    done(tale, "retry", 3, 1)
    assert at(tale) == ([1, 2, 8], 8, 8)
    turns(tale)
    assert at(tale) == ([1, 2, 8, 9, 10], 10, 10)
    assert steps_of(tale) == {1: (None, 0, 3), 2: (1, 3, 2), 3: (1, 2, 3)}
    assert tale.do("delete_branch", 3) == "branch-in-use"
    done(tale, "delete_branch", 2)
    assert tale.problems() == []
    done(tale, "undelete")
    assert tale.problems() == []
    assert steps_of(tale) == {1: (None, 0, 3), 2: (1, 3, 2), 3: (1, 2, 3)}
    done(tale, "select", 3)
    assert at(tale) == ([1, 2, 3, 6, 7], 7, 7)


@pytest.mark.spec("S41")
def test_8_a_branch_of_three_thousand_steps_is_deleted(program: Program) -> None:
    turns(program)  # 2, 3
    done(program, "fork", 1)
    program.grow(3000)
    assert steps_of(program) == {1: (None, 0, 3), 2: (1, 1, 3000)}
    done(program, "select", 2)
    assert at(program) == ([1, 2, 3], 3, 3)
    done(program, "delete_branch", 2)
    assert steps_of(program) == {1: (None, 0, 3)}
    done(program, "undelete")
    assert steps_of(program) == {1: (None, 0, 3), 2: (1, 1, 3000)}
    done(program, "delete_branch", 2)
    done(program, "reopen")
    assert steps_of(program) == {1: (None, 0, 3)}
    assert program.problems() == []


@pytest.mark.spec("S14", "S17")
def test_9_a_promoted_take_retried_while_the_first_is_built_on(tale: Tale) -> None:
    turns(tale, 2)  # 2, 3; 4, 5
    done(tale, "retry", 3, 1)  # 6, a take of 3
    turns(tale)  # 7, 8: 6 has a branch of its own
    assert at(tale) == ([1, 2, 6, 7, 8], 8, 8)
    done(tale, "retry", 6, 1)  # 9, a third take
    assert at(tale) == ([1, 2, 9], 9, 9)
    assert tale.view().pager[-1] == (3, 3)
    done(tale, "select", 3)
    assert at(tale) == ([1, 2, 3, 4, 5], 5, 5)
    turns(tale)  # 10, 11
    assert at(tale) == ([1, 2, 3, 4, 5, 10, 11], 11, 11)
    done(tale, "select", 6)
    assert at(tale) == ([1, 2, 6, 7, 8], 8, 8)
    done(tale, "select", 9)
    assert at(tale) == ([1, 2, 9], 9, 9)
    done(tale, "select", 3)
    assert at(tale) == ([1, 2, 3, 4, 5, 10, 11], 11, 11)
    assert tale.problems() == []


# ---------------------------------------------------------------------- the cases


@pytest.mark.spec("S14", "S24")
def test_a_a_take_of_a_fork_never_takes_nodes_from_the_first_line(tale: Tale) -> None:
    turns(tale)  # 2, 3 is C0
    done(tale, "retry", None, 1)  # 4 is C1
    turns(tale)  # 5, 6 on C1
    done(tale, "fork", 3)
    turns(tale)  # 7, 8 on C0
    done(tale, "retry", 3, 1)  # 9 is C2
    done(tale, "select", 3)
    assert at(tale) == ([1, 2, 3, 7, 8], 8, 8)
    turns(tale)  # 10, 11
    done(tale, "select", 4)
    assert at(tale) == ([1, 2, 4, 5, 6], 6, 6)
    assert tale.takes(4) == [3, 4, 9]
    assert tale.problems() == []


@pytest.mark.spec("S17", "S18")
def test_b_choosing_a_take_on_another_branch_shortens_nothing(tale: Tale) -> None:
    turns(tale, 3)  # to 7
    done(tale, "retry", 5, 1)  # 8
    turns(tale)  # 9, 10 on a branch
    done(tale, "select", 5)
    assert at(tale) == ([1, 2, 3, 4, 5, 6, 7], 7, 7)
    done(tale, "select_number", 2, 5)
    assert at(tale) == ([1, 2, 3, 4, 8, 9, 10], 10, 10)
    done(tale, "undo", 2)
    done(tale, "select", 5)
    done(tale, "select", 8)
    assert at(tale) == ([1, 2, 3, 4, 8], 8, 10)
    assert tale.view().redo == 2


@pytest.mark.spec("S13", "T11")
def test_c_a_failed_retry_in_mid_story_leaves_head_and_rail(tale: Tale) -> None:
    turns(tale, 3)
    done(tale, "undo", 2)
    before, rail = tale.view(), tale.rail()
    tale.fail_next("narrator-unreachable")
    assert tale.do("retry", 3, 1) == "narrator-unreachable"
    assert (tale.view(), tale.rail()) == (before, rail)
    assert tale.view().redo == 2
    assert tale.problems() == []


@pytest.mark.spec("S8", "S24")
def test_d_undo_goes_on_through_a_fork_point(tale: Tale) -> None:
    turns(tale, 2)  # to 5
    done(tale, "fork", 3)
    turns(tale)  # 6, 7
    done(tale, "undo", 3)
    assert at(tale) == ([1, 2], 2, 7)
    done(tale, "undo", 1)
    assert tale.do("undo", 1) == "nothing-to-undo"
    done(tale, "redo", 9)
    assert at(tale) == ([1, 2, 3, 6, 7], 7, 7)
    done(tale, "switch", 1)
    # The turn left that line, and a line left by a write is remembered at its tip.
    assert at(tale) == ([1, 2, 3, 4, 5], 5, 5)


@pytest.mark.spec("S13", "S15", "T3")
def test_e_a_stopped_retry_and_one_that_ends_make_one_take(program: Program) -> None:
    turns(program)
    assert program.stopped("retry", None, 1) == "stopped"
    assert program.takes(3) == [3]
    done(program, "retry", None, 1)
    done(program, "undo", 1)
    done(program, "redo", 1)
    assert program.takes(3) == [3, 4]
    assert at(program) == ([1, 2, 4], 4, 4)
    assert program.problems() == []


@pytest.mark.spec("S8", "S9", "S10", "S11")
def test_f_forty_undos_and_all_redo(tale: Tale) -> None:
    turns(tale, 20)
    before = tale.view()
    for n in range(40):
        done(tale, "undo", 1)
        assert tale.view().redo == n + 1
    assert tale.view().ids == [1]
    done(tale, "reopen")
    done(tale, "redo", 40)
    assert tale.view() == before
    done(tale, "reopen")
    assert tale.view() == before


@pytest.mark.spec("T11", "S13")
def test_g_undo_after_a_429_leaves_the_text_as_it_was(tale: Tale) -> None:
    turns(tale, 2)
    before = tale.view()
    tale.fail_next("narrator-rate-limited")
    assert tale.do("turn", "Too fast.") == "narrator-rate-limited"
    assert tale.view() == before
    done(tale, "undo", 1)
    assert tale.view().path == before.path[:-1]


@pytest.mark.spec("S16", "S28", "S30")
def test_h_moving_asks_no_narrator(program: Program) -> None:
    turns(program)
    done(program, "retry", None, 2)
    turns(program)
    done(program, "save", "here", None)
    done(program, "fork", 3)
    turns(program)
    asked = program.requests()
    for take in (3, 4, 5, 3):
        done(program, "select", take)
    done(program, "restore", "here")
    for branch in program.rail():
        done(program, "switch", branch.id)
    for verb in ("back", "back", "forward"):
        done(program, verb)
    done(program, "undo", 1)
    done(program, "redo", 1)
    assert program.requests() == asked


@pytest.mark.spec("S38", "S41", "S27")
def test_i_nothing_resolves_what_was_deleted(tale: Tale) -> None:
    turns(tale, 2)  # to 5
    done(tale, "save", "mark", 3)
    done(tale, "restore", "mark")
    done(tale, "delete_checkpoint", "mark")
    for verb in ("restore", "delete_checkpoint"):
        assert tale.do(verb, "mark") == "no-such-checkpoint"
    assert tale.do("rename_checkpoint", "mark", "other") == "no-such-checkpoint"
    done(tale, "redo", 2)
    done(tale, "retry", None, 1)  # 6
    done(tale, "delete_take", 5)
    for finality in (False, True):
        if finality:
            done(tale, "reopen")
            assert tale.do("undelete") == "nothing-to-undelete"
        for verb, *rest in (("select",), ("pin",), ("unpin",), ("delete_take",)):
            assert tale.do(verb, 5, *rest) in ("no-such-take", "no-such-step"), verb
        for verb, *rest in (("go",), ("retry", 1), ("retell",), ("fork",), ("edit_wording", "Rain again.")):
            assert tale.do(verb, 5, *rest) == "no-such-step", verb
        assert tale.do("save", "gone", 5) == "no-such-step"
        assert tale.view().pager[-1] == (1, 1)
    done(tale, "undo", 2)
    turns(tale)  # 7, 8
    done(tale, "undo", 2)
    turns(tale)  # 9, 10
    dead = next(b.id for b in tale.rail() if b.parent == 1 and not b.on_line)
    done(tale, "delete_branch", dead)
    for verb, *rest in (("switch",), ("delete_branch",), ("rename_branch", "ghost")):
        assert tale.do(verb, dead, *rest) == "no-such-branch"
    for _ in range(12):
        if tale.do("back") is not None:
            break
        assert tale.problems() == []
    assert tale.problems() == []


@pytest.mark.spec("S31", "S30")
def test_j_a_switch_between_branches_of_equal_length_raises_the_revision(tale: Tale) -> None:
    turns(tale, 2)
    done(tale, "undo", 2)
    turns(tale)
    assert len(tale.view().ids) == 5
    seen = [tale.revision()]
    for branch in (1, 2, 1):
        done(tale, "switch", branch)
        assert len(tale.view().ids) == 5
        seen.append(tale.revision())
    assert seen == sorted(set(seen))


@pytest.mark.spec("S10", "S16", "W3")
def test_k_paging_takes_shows_the_state_of_each(tale: Tale) -> None:
    turns(tale)  # N1 costs five of health
    done(tale, "retry", None, 1)  # N2 brings a sword
    states = []
    for number in (1, 2, 1):
        done(tale, "select_number", number, tale.view().head)
        states.append((tale.view().state["player.health"], tale.view().state["player.weapon"]))
    assert states == [(995, "none"), (1000, "sword of N2"), (995, "none")]


@pytest.mark.spec("S15", "S24")
def test_l_retrying_a_continuation_leaves_the_text_before_it(tale: Tale) -> None:
    turns(tale)
    done(tale, "go_on")  # 4
    before = tale.view().path[:3]
    done(tale, "retry", None, 1)  # 5
    for number, node in ((1, 4), (2, 5)):
        done(tale, "select_number", number, tale.view().head)
        assert tale.view().ids == [1, 2, 3, node]
        assert tale.view().path[:3] == before
        assert tale.view().path[3][2] == "continue"


@pytest.mark.spec("S12", "T1")
def test_m_a_move_during_a_turn_is_busy_and_a_moved_head_makes_it_stale(program: Program) -> None:
    turns(program, 2)
    done(program, "undo", 2)
    turns(program)
    assert program.while_streaming("switch", 1) == ("busy", None)
    before = program.view()
    assert program.moved_under("My own words.") == ("stale", "My own words.")
    assert program.view().ids == before.ids[:-1]
    assert program.problems() == []


ODD_NAMES = ['the "old" gate', "a/b\\c", "🌊🌊", "شاطئ البحر", "it's", "#7x", "x" * 120, "last", "é"]


@pytest.mark.spec("S26", "S30")
@pytest.mark.parametrize("name", ODD_NAMES)
def test_n_odd_names_are_names(tale: Tale, name: str) -> None:
    turns(tale)
    done(tale, "save", name, 2)
    assert tale.saved() == {name: 2}
    assert tale.do("save", f"  {name} ", None) == "checkpoint-exists"
    done(tale, "restore", name)
    assert at(tale) == ([1, 2], 2, 3)
    done(tale, "rename_branch", 1, name)
    assert tale.rail()[0].name == name
    done(tale, "reopen")
    assert tale.saved() == {name: 2}
    done(tale, "delete_checkpoint", name)
    assert tale.saved() == {}


@pytest.mark.spec("S26")
@pytest.mark.parametrize("name", ["", "   ", "7", "0012", "x" * 300])
def test_n_what_is_no_name(tale: Tale, name: str) -> None:
    assert tale.do("save", name, 1) == "bad-value"
    assert tale.do("rename_branch", 1, name) == "bad-value"
    assert tale.saved() == {}


@pytest.mark.spec("S26", "U10")
def test_n_control_characters_are_refused_or_kept(program: Program) -> None:
    name = "bell\x07 and \x1b[31mred"
    code = program.do("save", name, 1)
    assert code in (None, "bad-value")
    assert program.saved() == ({name: 1} if code is None else {})
    if code is None:
        done(program, "restore", name)


@pytest.mark.spec("S26", "S28")
def test_o_saving_under_the_name_just_restored(tale: Tale) -> None:
    turns(tale, 2)
    done(tale, "save", "dawn", 3)
    done(tale, "restore", "dawn")
    assert at(tale) == ([1, 2, 3], 3, 5)
    assert tale.do("save", "dawn", None) == "checkpoint-exists"
    turns(tale)
    assert tale.do("save", "dawn", None) == "checkpoint-exists"
    assert tale.saved() == {"dawn": 3}
    done(tale, "delete_checkpoint", "dawn")
    done(tale, "save", "dawn", None)
    assert tale.saved() == {"dawn": 7}


@pytest.mark.spec("S22", "S1")
def test_p_an_edit_of_a_take_leaves_every_other_as_it_was(tale: Tale) -> None:
    turns(tale)
    done(tale, "retry", None, 2)  # 4, 5
    done(tale, "select", 4)
    done(tale, "edit_wording", 4, "My own words.")  # 6
    assert at(tale) == ([1, 2, 6], 6, 6)
    texts = {}
    for take in tale.takes(6):
        done(tale, "select", take)
        texts[take] = tale.view().path[-1][3]
    assert texts == {3: "N1", 4: "N2", 5: "N3", 6: "My own words."}
    done(tale, "select", 4)
    state = tale.view().state
    done(tale, "select", 6)
    assert tale.view().state == state


# ---------------------------------------------------------------------- what else the page says in one sentence


@pytest.mark.spec("S30")
def test_a_branch_goes_by_its_name_or_its_label_unless_that_is_ambiguous(program: Program) -> None:
    turns(program)
    for _ in range(3):
        turns(program)
        done(program, "undo", 2)
    turns(program)
    labels = {b.id: b.label for b in program.story.branches()}
    assert len(labels) == 4
    assert labels[2] == labels[3] == labels[4] != labels[1]
    assert program.switch_by_name(labels[2]) == "ambiguous"
    done(program, "rename_branch", 2, "shore")
    assert program.switch_by_name("shore") is None
    assert program.rail()[1].current
    assert program.switch_by_name(labels[4]) == "ambiguous"
    done(program, "rename_branch", 3, "hill")
    assert program.switch_by_name(labels[4]) is None
    assert program.rail()[3].current
    assert program.switch_by_name("nowhere") == "no-such-branch"
    done(program, "reopen")
    assert {b.id: b.name for b in program.rail()} == {1: None, 2: "shore", 3: "hill", 4: None}


@pytest.mark.spec("S16", "S1")
def test_selecting_a_take_writes_nothing_but_where_one_stands(program: Program) -> None:
    turns(program)
    done(program, "retry", None, 2)
    turns(program)
    done(program, "save", "here", None)
    asked = program.requests()
    before, revision = program.untouched_rows(), program.revision()
    done(program, "select", 3)
    assert program.untouched_rows() == before
    assert program.revision() > revision
    revision = program.revision()
    done(program, "select", 2)
    assert program.revision() == revision, "a take that is on the path already does nothing"
    assert program.requests() == asked


@pytest.mark.spec("S15", "S48")
def test_what_is_left_behind_is_said(program: Program) -> None:
    turns(program)
    done(program, "correct", "player.health", 7)
    assert program.notes("retry", None, 1), "a correction is left behind by a retry"
    done(program, "undo", 1)
    done(program, "correct", "player.health", 8)
    assert program.notes("turn", "Something else."), "a correction is left behind by a new input"
    assert program.notes("turn", "And on.") == []


@pytest.mark.spec("S23", "W9")
def test_a_correction_to_what_is_so_already_is_refused(tale: Tale) -> None:
    """Also where a turn has brought about what was corrected before."""
    turns(tale)
    done(tale, "correct", "player.health", 2000)
    turns(tale)  # N2 brings a sword and leaves health alone
    assert tale.do("correct", "player.health", 2000) == "bad-value"
    done(tale, "assert_fact", "It rains.")
    assert tale.do("assert_fact", "It rains.") == "bad-value"
    assert tale.view().ids == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.spec("S37", "S24")
def test_what_moves_nothing_is_no_place(tale: Tale) -> None:
    turns(tale)
    done(tale, "save", "here", None)
    done(tale, "restore", "here")
    done(tale, "go", 3)
    done(tale, "fork", None)
    assert tale.do("back") == "nothing-to-go-back"
    done(tale, "retry", None, 1)  # 4
    done(tale, "fork", None)
    done(tale, "back")
    assert at(tale) == ([1, 2, 3], 3, 3)
    assert tale.do("back") == "nothing-to-go-back"
    done(tale, "forward")
    assert at(tale) == ([1, 2, 4], 4, 4)


@pytest.mark.spec("S24", "S37")
def test_a_wish_for_a_branch_outlives_a_move_of_the_tip_alone(tale: Tale) -> None:
    """Going back to the same head on another line: the head has not moved, so what is written there opens a branch."""
    turns(tale)  # 2, 3
    done(tale, "undo_turn")
    done(tale, "retry", 2, 1)  # 4, another take of 3
    done(tale, "undo_turn")
    done(tale, "fork", None)
    done(tale, "back")
    assert at(tale) == ([1], 1, 3)
    done(tale, "go_on")  # 5
    assert steps_of(tale) == {1: (None, 0, 3), 2: (1, 1, 1)}


@pytest.mark.spec("S37", "S28")
def test_a_place_whose_tip_was_built_on_keeps_the_line_that_is_read(tale: Tale) -> None:
    turns(tale)  # 2, 3
    turns(tale)  # 4, 5
    done(tale, "fork", 3)
    turns(tale)  # 6, 7: the line to 5 was read
    done(tale, "go", 3)
    done(tale, "redo", 2)
    turns(tale)  # 8, 9 below 7
    done(tale, "back")
    assert at(tale) == ([1, 2, 3, 6, 7], 7, 9)


@pytest.mark.spec("S40", "S41")
def test_a_prune_makes_what_was_deleted_before_it_final(tale: Tale) -> None:
    turns(tale)
    done(tale, "retry", None, 2)  # 4, 5
    done(tale, "delete_take", 3)
    done(tale, "prune", 0)
    assert tale.takes(5) == [5]
    assert tale.do("undelete") == "nothing-to-undelete"
    assert steps_of(tale) == {1: (None, 0, 3)}, "5 takes the coordinate that was freed"
    assert tale.problems() == []


@pytest.mark.spec("S40")
def test_a_node_never_read_counts_its_age_from_when_it_was_made(tale: Tale) -> None:
    turns(tale, 2)  # 2, 3; 4, 5
    done(tale, "undo", 2)
    turns(tale)  # 6, 7
    done(tale, "delete_take", 5)
    done(tale, "reopen")
    done(tale, "prune", 4)  # three steps were written since 4
    assert tale.takes(6) == [4, 6]
    done(tale, "prune", 3)
    assert tale.takes(6) == [6]
