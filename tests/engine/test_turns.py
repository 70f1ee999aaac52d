"""Turns from input to accepted node: what rolls and what does not, what a turn writes, what it refuses (T6-T9, S12)."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrator.core.checks import Check
from narrator.core.tree import Node, Position
from narrator.engine.draft import InFlight
from narrator.engine.events import ChecksMade, HeadMoved, Noted, StateChanged, StepShown
from narrator.engine.turn import Plan
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.port import Capabilities, Purpose
from narrator.store import reads, state_reads
from narrator.store.removal import Age
from tests.engine.playing import BRAVER, CLIMB, DEFINITION, Play, make, numbered, playing


def rolled(play: Play, node_id: int | None = None) -> tuple[Check, ...]:
    """The checks on a node (the head)."""
    at = node_id if node_id is not None else play.story.head.id
    return state_reads.checks_of(play.story.store, [at]).get(at, ())


async def rolls_of(play: Play, *lines: str) -> list[tuple[Check, ...]]:
    found = []
    for line in lines:
        assert (await play.do(line)).ok, line
        found.append(rolled(play))
    return found


def rolling(rule: str = "") -> str:
    return DEFINITION.replace('dice = "1d20"', f'dice = "6d1000"\n{rule}')


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """Dice of so many sides that two rolls are never equal by chance."""
    return make(tmp_path, rolling())


# ---------------------------------------------------------------------------------------------------------------- dice


@pytest.mark.spec("T9")
async def test_a_stop_a_failure_and_a_restart_roll_the_same(wide: Path, tmp_path: Path) -> None:
    """Each asks the narrator again; what was rolled stands before the first word of the story."""
    twin = make(tmp_path, rolling(), "twin")
    async with playing(twin) as play:
        (expected,) = await rolls_of(play, "I climb.")
    async with playing(wide) as play:
        for purpose in (Purpose.NARRATE, Purpose.EXTRACT):
            play.session.narrator = fake = FakeNarrator({Purpose.CHECK: CLIMB})
            fake.answer(purpose, Line("one two three", stall_at=1))
            task = play.begin("I climb.")
            await fake.stalled.wait()
            assert play.session.in_flight is not None
            assert play.session.in_flight.checks == expected
            await play.do("/stop")
            assert await task is False
        play.session.narrator = FakeNarrator({Purpose.CHECK: CLIMB, Purpose.NARRATE: OSError("gone")})
        assert not (await play.do("I climb.")).ok
    async with playing(wide) as play:
        assert await rolls_of(play, "I climb.") == [expected]


@pytest.mark.spec("T9")
async def test_undoing_and_asking_the_same_again_rolls_the_same(wide: Path) -> None:
    async with playing(wide) as play:
        (first,) = await rolls_of(play, "I climb.")
        assert (await play.do("/undo 2")).ok
        assert await rolls_of(play, "I climb.") == [first]
        assert (await play.do("/undo-turn")).ok
        (other,) = await rolls_of(play, "I climb higher.")
        assert other != first


@pytest.mark.spec("T9")
async def test_each_retry_rolls_anew_also_when_the_takes_before_are_gone(wide: Path, tmp_path: Path) -> None:
    twin = make(tmp_path, rolling(), "twin")
    async with playing(twin) as play:
        expected = await rolls_of(play, "I climb.", "/retry", "/retry", "/retry", "/retry")
        assert len(set(expected)) == 5
    async with playing(wide, answers="yes") as play:
        found = await rolls_of(play, "I climb.", "/retry")
        assert (await play.do("/delete-take 1 3")).ok
        found += await rolls_of(play, "/retry")
        play.story.prune(play.story.plan_prune(Age("all")))
        found += await rolls_of(play, "/retry")
    async with playing(wide) as play:
        found += await rolls_of(play, "/retry")
    assert found == expected


@pytest.mark.spec("T9", "S20")
async def test_a_retell_does_not_roll(wide: Path) -> None:
    async with playing(wide) as play:
        (first,) = await rolls_of(play, "I climb.")
        calls = play.narrator.calls[Purpose.CHECK]
        assert await rolls_of(play, "/retell", "/retell") == [first, first]
        assert play.narrator.calls[Purpose.CHECK] == calls


@pytest.mark.spec("T9")
async def test_keep_and_never_say_what_a_retry_may_do(tmp_path: Path) -> None:
    async with playing(make(tmp_path, rolling('retry = "keep"'), "keep")) as play:
        (first,) = await rolls_of(play, "I climb.")
        assert await rolls_of(play, "/retry", "/retry") == [first, first]
    async with playing(make(tmp_path, rolling('retry = "never"'), "never")) as play:
        await play.do("I climb.")
        start = play.rows()
        assert (await play.do("/retry")).code == "retry-not-allowed"
        assert play.rows() == start
        assert (await play.do("/retell")).ok
        unchecked = FakeNarrator({Purpose.EXTRACT: BRAVER})
        play.session.narrator = unchecked
        await play.do("I wait.")
        assert (await play.do("/retry")).ok, "a turn that rolled nothing may be retried"


@pytest.mark.spec("T9")
@pytest.mark.parametrize("rule", ["keep", "never"])
async def test_keep_and_never_hold_on_every_way_to_narrate_an_input_again(tmp_path: Path, rule: str) -> None:
    """After one undo the input stands there, narrated once already: telling it again is a retry by another name."""
    async with playing(make(tmp_path, rolling(f'retry = "{rule}"'))) as play:
        (first,) = await rolls_of(play, "I climb.")
        for way in ("/continue", "/retry", "/fork"):
            assert (await play.do("/go 2")).ok
            assert (await play.do(way)).ok
            assert rolled(play) == first


@pytest.mark.spec("T8")
async def test_no_number_reaches_the_story_or_a_prompt(wide: Path) -> None:
    async with playing(wide) as play:
        answer = await play.do("I climb.")
        (check,) = rolled(play)
        (made,) = answer.of(ChecksMade)
        assert [(each.skill, each.difficulty, each.outcome) for each in made.checks] == [
            (check.skill, check.difficulty, check.outcome)
        ]
        await play.do("I wait.")
        for request in play.narrator.requests:
            said = "".join(message.content for message in request.messages)
            for number in (check.roll, check.total):
                assert str(number) not in said


@pytest.mark.spec("T8")
@pytest.mark.parametrize(
    "wanted",
    [
        {"check": {"skill": "juggle", "difficulty": "hard"}},
        {"check": {"skill": "climb", "difficulty": "absurd"}},
        {"check": None},
        "I would rather not say.",
        {"check": {"difficulty": "hard"}},
    ],
)
async def test_a_check_that_means_nothing_is_no_check(mill: Path, wanted: object) -> None:
    fake = FakeNarrator({Purpose.CHECK: wanted, Purpose.EXTRACT: BRAVER})  # type: ignore[dict-item]
    async with playing(mill, fake) as play:
        answer = await play.do("I climb.")
        assert answer.ok
        assert rolled(play) == ()
        assert bool(answer.of(Noted)) == (wanted != {"check": None})


# --------------------------------------------------------------------------------------------------- what a turn writes


@pytest.mark.spec("S12")
async def test_a_turn_tells_what_it_wrote_in_order(mill: Path) -> None:
    async with playing(mill) as play:
        answer = await play.do("I climb.")
        kinds = [type(event) for event in answer.events if isinstance(event, StepShown | StateChanged | ChecksMade)]
        assert kinds == [StepShown, StepShown, StateChanged, ChecksMade]
        (head,) = answer.of(HeadMoved)
        assert (head.id, head.position, head.tip, head.redo) == (3, 3, 3, 0)
        steps = answer.of(StepShown)
        assert [(step.id, step.position, step.role, step.take, step.takes) for step in steps] == [
            (2, 2, "player", 1, 1),
            (3, 3, "narrator", 1, 1),
        ]
        (changed,) = answer.of(StateChanged)
        assert [(c.path, c.old, c.new) for c in changed.changes] == [("player.nerve", 5, 6)]
        assert (await play.do("/continue")).of(HeadMoved)[0].position == 4


@pytest.mark.spec("T6")
@pytest.mark.parametrize("text", ["", "   \n\t ", "\N{NO-BREAK SPACE}"])
async def test_nothing_is_no_take(mill: Path, text: str) -> None:
    async with playing(mill, FakeNarrator({Purpose.NARRATE: text})) as play:
        start = play.rows()
        answer = await play.do("I climb.")
        assert (answer.code, answer.draft) == ("narrator-empty", "I climb.")
        assert play.rows() == start


@pytest.mark.spec("T7")
async def test_a_narration_that_ran_out_of_room_is_marked_and_continued(ferry: Path) -> None:
    fake = FakeNarrator({Purpose.NARRATE: [Line("The ferry turns and", finish="length"), "comes about."]})
    async with playing(ferry, fake) as play:
        answer = await play.do("I row.")
        assert answer.ok
        assert any("room" in note for note in answer.notes)
        cut = play.story.head.id
        assert (await play.do("/continue")).ok
        assert play.story.head.mode == "continue"
        assert play.story.head.parent_id == cut
        asked = "".join(message.content for message in fake.requests[-1].messages)
        await play.do("/continue")
        asked_then = "".join(message.content for message in fake.requests[-1].messages)
        assert asked != asked_then


@pytest.mark.spec("T11")
async def test_a_window_that_is_too_small_is_named(mill: Path) -> None:
    small = FakeNarrator(capabilities=Capabilities(300, "configured"))
    async with playing(mill, small) as play:
        start = play.rows()
        answer = await play.do("I climb. " * 200)
        assert answer.code in (
            "window-too-small",
            "dynamic-tail-too-large",
            "context-too-long",
            "history-entry-too-large",
        )
        assert answer.draft is not None
        assert play.rows() == start


@pytest.mark.spec("T11", "U9")
@pytest.mark.parametrize("text", ["\ud800", "a \udcff b", "\x00", "\x1b[31mred", "\U0010ffff", "e" * 100_000])
async def test_an_input_of_any_characters_is_told_or_refused(mill: Path, text: str) -> None:
    async with playing(mill) as play:
        answer = await play.do({"command": "do", "text": text})
        assert answer.ok or answer.code in ("bad-value", "dynamic-tail-too-large"), answer.code
        assert play.sound()
        assert (await play.do("I wait.")).ok


@pytest.mark.spec("T11", "T6")
@pytest.mark.parametrize("text", ["lone \ud83d half", "\udcff", "nul \x00 byte"])
async def test_a_narration_of_any_characters_is_told(mill: Path, text: str) -> None:
    """Half of an emoji is what a server sends that cuts between two UTF-16 units."""
    fake = FakeNarrator({Purpose.NARRATE: f"So: {text}", Purpose.EXTRACT: {"changes": []}})
    async with playing(mill, fake) as play:
        answer = await play.do("I climb.")
        assert answer.ok, answer.code
        assert play.texts()[-1].startswith("So: ")
        assert play.sound()
        assert (await play.do("/retry")).ok


@pytest.mark.spec("T6")
@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["\ud83d", "\ude00 ha"], "\U0001f600 ha"),
        (["a\ud83d", "", "\ude00"], "a\U0001f600"),
        (["a\ud83d", "b"], "a\N{REPLACEMENT CHARACTER}b"),
        (["\ude00", "\ud83d"], "\N{REPLACEMENT CHARACTER}"),
        (["plain", " text"], "plain text"),
    ],
)
def test_a_character_that_was_cut_in_two_is_whole_again(pieces: list[str], text: str) -> None:
    node = Node(1, None, 1, 1, "opening", None, "", "typed", None, b"", "")
    flight = InFlight(Plan("do", Position(1, 1), node, None))
    shown = "".join(flight.hear(piece) for piece in pieces)
    assert shown == flight.text == text


@pytest.mark.spec("S13", "S15")
async def test_earlier_takes_stay_when_a_retry_fails(mill: Path) -> None:
    async with playing(mill) as play:
        for line in ("I climb.", "/retry", "/retry"):
            await play.do(line)
        takes = reads.siblings(play.story.store, 2)
        play.session.narrator = FakeNarrator({Purpose.NARRATE: OSError("gone")})
        for line in ("/retry", "/retry x4", "/retell"):
            assert not (await play.do(line)).ok
            assert reads.siblings(play.story.store, 2) == takes
            assert play.story.head.id == takes[-1]


@pytest.mark.spec("S14", "S15")
async def test_retries_that_nobody_builds_on_make_no_branch(mill: Path) -> None:
    async with playing(mill) as play:
        await play.do("I climb.")
        assert (await play.do("/retry x6")).ok
        assert len(play.story.branches()) == 1
        assert play.story.where().position == 3
        assert (await play.do("/takes")).ok
        assert (await play.do("I sing.")).ok
        assert len(play.story.branches()) == 1
        assert play.sound()


@pytest.mark.spec("T19")
async def test_another_narrator_tells_the_next_turn(mill: Path) -> None:
    async with playing(mill) as play:
        await play.do("I climb.")
        answer = await play.do("/narrator scripted")
        assert answer.ok
        assert play.story.row.narrator == "scripted"
        assert (await play.do("/narrator nobody")).code == "no-such-narrator"
        assert play.session.narrator.name == "scripted"
    async with playing(mill, numbered()) as play:
        assert play.story.row.narrator == "scripted"
