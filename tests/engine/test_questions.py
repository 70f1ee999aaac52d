"""Questions: who answers them, what another verb does to one, and that the default destroys nothing (contract, T4)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from narrator.core.state import EMPTY, dump
from narrator.core.tree import NewNode
from narrator.engine.events import Asked, Done, Failed
from narrator.engine.session import Answers
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.port import Purpose
from narrator.store import commit, reads
from narrator.store.commit import Acceptance
from tests.core.test_referee import BROKEN as UNREADABLE
from tests.core.test_referee import ONE, UNDERSTOOD
from tests.engine.playing import BRAVER, Play, numbered, playing

BROKEN = "I would rather not."


def unreadable(*then: object) -> FakeNarrator:
    """Its extractions cannot be read, twice a try; then comes what is given."""
    fake = FakeNarrator({Purpose.NARRATE: "All is told."})
    fake.answer(Purpose.EXTRACT, BROKEN, BROKEN, *then or (BROKEN,))  # type: ignore[arg-type]
    return fake


async def asked_during(play: Play, line: str) -> tuple[object, Asked]:
    """Begin a verb that asks; the task and the question."""
    heard = len(play.heard)
    task = play.begin(line)
    return task, await play.asked(heard)


@pytest.mark.spec("T4", "U17")
@pytest.mark.parametrize(
    ("policy", "is_told"), [("default", False), ("no", False), ("yes", False)], ids=["default", "no", "yes"]
)
async def test_without_a_player_the_default_invents_nothing(mill: Path, policy: Answers, is_told: bool) -> None:
    async with playing(mill, unreadable(), answers=policy) as play:
        start = play.rows()
        answer = await play.do("I climb.")
        (question,) = answer.of(Asked)
        assert (question.what, question.choices, question.default) == (
            "extraction",
            ("accept", "again", "discard"),
            "discard",
        )
        assert answer.ok == is_told
        assert (answer.code, answer.draft) == ("extraction-failed", "I climb.")
        assert play.rows() == start
        assert play.draft() == "I climb."
        assert play.session.asking is None


@pytest.mark.spec("T4", "W5")
async def test_no_broken_answer_is_half_applied_or_told(mill: Path) -> None:
    """Each of the table, twice, behind a narration: nothing is written, and nothing of it is in the story."""
    assert len(UNDERSTOOD) + len(UNREADABLE) >= 40
    fake = FakeNarrator({Purpose.NARRATE: "All is told."})
    async with playing(mill, fake) as play:
        start = play.rows()
        for text in UNREADABLE:
            fake.answer(Purpose.EXTRACT, text, text)
        for text in UNREADABLE:
            answer = await play.do("I climb.")
            assert answer.code == "extraction-failed", text
            assert play.rows() == start, text
        assert fake.calls[Purpose.EXTRACT] == 2 * len(UNREADABLE)
        assert play.texts() == ["The wheel stands still."]


@pytest.mark.spec("T4", "W5")
async def test_an_answer_in_any_dress_is_applied_whole(mill: Path) -> None:
    """Each dress of one change: applied once, and nothing of the dress is in the story."""
    fake = FakeNarrator({Purpose.NARRATE: "All is told."})
    dressed = [text for text, expected in UNDERSTOOD if expected == ONE]
    assert len(dressed) > 15
    fake.answer(Purpose.EXTRACT, *dressed)
    async with playing(mill, fake) as play:
        for number, text in enumerate(dressed):
            before = play.story.state().values["player.nerve"]
            assert (await play.do(f"I climb, {number}.")).ok, text
            assert play.story.state().values["player.nerve"] == before - 1, text
            assert play.texts()[-1] == "All is told."
            await play.do("/correct player.nerve 5")
        assert fake.calls[Purpose.EXTRACT] == len(dressed)


@pytest.mark.spec("T4")
@pytest.mark.parametrize("choice", ["accept", "again", "discard"])
async def test_an_extraction_that_cannot_be_read_is_the_players_choice(mill: Path, choice: str) -> None:
    fake = unreadable(BRAVER)
    async with playing(mill, fake, answers="ask") as play:
        start = play.rows()
        heard = len(play.heard)
        task, question = await asked_during(play, "I climb.")
        assert play.session.asking == question
        assert play.rows() == start
        assert fake.calls[Purpose.EXTRACT] == 2, "one request, one repair"
        answer = await play.do(f"/answer {choice}")
        assert answer.ok
        ended = await play.finish(task, heard)  # type: ignore[arg-type]
        assert ended.ok == (choice != "discard")
        assert play.session.asking is None
        nerve = play.story.state().values["player.nerve"]
        assert nerve == {"accept": 5, "again": 6, "discard": 5}[choice]
        if choice == "discard":
            assert play.rows() == start
            assert play.draft() == "I climb."
            assert (await play.do("/keep")).ok, "the words are still there"
        else:
            assert play.draft() is None
            record = reads.provenance(play.story.store, play.story.head.id)
            assert record is not None
            assert ("accepted without changes of state" in record.get("remark", "")) == (choice == "accept")
        dones = [event.command for event in play.heard if isinstance(event, Done)]
        assert dones.index("do") < len(dones)


@pytest.mark.spec("T4")
async def test_a_wrong_answer_leaves_the_question(mill: Path) -> None:
    async with playing(mill, unreadable(), answers="ask") as play:
        assert (await play.do("/answer yes")).code == "bad-value"
        task, question = await asked_during(play, "I climb.")
        answer = await play.do("/answer yes")
        assert answer.code == "bad-value"
        assert play.session.asking == question
        assert not task.done()  # type: ignore[attr-defined]
        for look in ("/state", "/branches", "/read 1"):
            assert (await play.do(look)).ok
        assert play.session.asking == question
        assert (await play.do("/answer accept")).ok
        assert await task  # type: ignore[misc]
        assert (await play.do("/answer accept")).code == "bad-value"


@pytest.mark.spec("T4", "U17")
@pytest.mark.parametrize("verb", ["I wait.", "/undo", "/correct player.nerve 9", "/save here"])
async def test_another_verb_settles_it_by_the_default_and_is_then_done(mill: Path, verb: str) -> None:
    async with playing(mill, answers="ask") as play:
        await play.do("I sit.")
        play.session.narrator = fake = unreadable(BRAVER)
        heard = len(play.heard)
        task, _ = await asked_during(play, "I climb.")
        answer = await play.do(verb)
        assert answer.ok, answer.code
        assert await task is False  # type: ignore[misc]
        ends = [(e.command, e.ok) for e in play.heard[heard:] if isinstance(e, Done)]
        assert ends[0] == ("do", False)
        assert len(ends) == 2
        assert "I climb." not in play.texts()
        failed = [event for event in play.heard[heard:] if isinstance(event, Failed)]
        assert [(event.code, event.draft) for event in failed] == [("extraction-failed", "I climb.")]
        assert fake.calls[Purpose.NARRATE] == (2 if verb == "I wait." else 1)
        assert play.sound()


@pytest.mark.spec("T4", "T3")
@pytest.mark.parametrize("verb", ["/stop", "/keep"])
async def test_a_question_can_be_stopped(mill: Path, verb: str) -> None:
    async with playing(mill, unreadable(BRAVER), answers="ask") as play:
        start = play.rows()
        task, _ = await asked_during(play, "I climb.")
        assert (await play.do(verb)).ok
        assert await task is False  # type: ignore[misc]
        assert play.session.asking is None
        if verb == "/stop":
            assert play.rows() == start
        else:
            assert play.texts()[1:] == ["I climb.", "All is told."]
            assert play.story.state().values["player.nerve"] == 6


@pytest.mark.spec("T4", "T3")
async def test_the_question_of_a_keep_is_settled_by_another_verb(mill: Path) -> None:
    async with playing(mill, answers="ask") as play:
        play.session.narrator = fake = FakeNarrator({Purpose.NARRATE: Line("one two three", stall_at=2)})
        fake.answer(Purpose.EXTRACT, BROKEN)
        task = play.begin("I climb.")
        await fake.stalled.wait()
        await play.do("/stop")
        assert await task is False
        keeping, _ = await asked_during(play, "/keep")
        start = play.rows()
        assert (await play.do("/save here")).ok
        assert await keeping is False  # type: ignore[misc]
        assert play.rows(without=("draft", "checkpoints", "campaign", "sqlite_sequence")) == {
            name: found for name, found in start.items() if name not in ("checkpoints", "campaign", "sqlite_sequence")
        }


@pytest.mark.spec("U17", "S41", "S36")
@pytest.mark.parametrize("policy", ["default", "no", "yes", "ask"])
@pytest.mark.parametrize("line", ["/prune all", "/delete-checkpoint here", "/delete-branch #1", "/delete-take #4"])
async def test_a_confirmation_is_no_unless_somebody_says_yes(mill: Path, line: str, policy: Answers) -> None:
    async with playing(mill, numbered(), answers=policy) as play:
        # Two takes on branch 1, and a branch from the start where the story is.
        for each in ("I wait.", "/retry", "/take 1 3", "/undo 2", "/fork", "I climb.", "/save here"):
            assert (await play.do(each)).ok, each
        if line == "/delete-branch #1":  # The root lends its opening; one beside it can go.
            for each in ("/go 1", "/fork", "I run.", "/restore here"):
                assert (await play.do(each)).ok, each
            line = f"/delete-branch #{max(branch.id for branch in play.story.branches())}"
        start = play.rows()
        if policy == "ask":
            heard = len(play.heard)
            task, question = await asked_during(play, line)
            assert (question.choices, question.default) == (("yes", "no"), "no")
            assert play.rows() == start
            await play.do("/answer no")
            assert (await play.finish(task, heard)).ok  # type: ignore[arg-type]
            assert play.rows() == start
            task, _ = await asked_during(play, line)
            await play.do("/answer yes")
            assert await task  # type: ignore[misc]
        else:
            answer = await play.do(line)
            assert answer.ok, answer.code
        assert (play.rows() != start) == (policy in ("yes", "ask"))
        assert play.sound()


@pytest.mark.spec("S22", "W10")
@pytest.mark.parametrize(
    ("answer", "nerve"),
    [("worked-out", 6), ("keep", 6), ("none", 5), ('enter {"player.nerve": 40}', 40), ("cancel", None)],
)
async def test_an_edited_narration_asks_which_state_is_its_own(mill: Path, answer: str, nerve: int | None) -> None:
    async with playing(mill, numbered(), answers="ask") as play:
        await play.do("I wait.")
        start = play.rows()
        heard = len(play.heard)
        task, question = await asked_during(play, "/edit 3 All is still.")
        assert question.what == "edited-state"
        assert question.default == "worked-out"
        assert set(question.choices) == {"worked-out", "keep", "none", "enter", "cancel"}
        assert play.rows() == start
        assert (await play.do(f"/answer {answer}")).ok
        ended = await play.finish(task, heard)  # type: ignore[arg-type]
        if nerve is None:
            assert not ended.ok
            assert play.rows() == start
        else:
            assert ended.ok
            assert play.texts()[-1] == "All is still."
            assert play.story.state().values["player.nerve"] == nerve
            assert play.story.head.origin == "edited"
        assert play.sound()


@pytest.mark.spec("S22")
@pytest.mark.parametrize("policy", ["default", "no", "yes"])
async def test_an_edited_narration_takes_what_was_worked_out_by_default(mill: Path, policy: Answers) -> None:
    async with playing(mill, numbered(), answers=policy) as play:
        await play.do("I wait.")
        answer = await play.do("/edit 3 All is still.")
        assert answer.ok
        assert [question.default for question in answer.of(Asked)] == ["worked-out"]
        assert play.story.state().values["player.nerve"] == 6


@pytest.mark.spec("W10", "W12", "S22")
async def test_an_imported_narration_has_its_state_worked_out_by_telling_it_again(mill: Path) -> None:
    """The result is another take; the one that was imported stays as it came, its state unknown."""
    async with playing(mill, numbered()) as play:
        came = (NewNode("player", "I wait.", "do", "imported"), NewNode("narrator", "He waits.", None, "imported"))
        story = play.story
        write = Acceptance(
            1, tuple(replace(node, is_unknown=True) for node in came), story.position, state_at=lambda at: dump(EMPTY)
        )
        commit.accept(story.store, write)
        assert story.state().unknown
        assert story.state().values["player.nerve"] == 5
        answer = await play.do("/edit 3 He waits.")
        assert answer.ok
        assert story.state().values["player.nerve"] == 6
        assert (story.head.id, story.head.origin, story.head.parent_id) == (4, "edited", 2)
        assert story.node(3).text == "He waits."
        assert story.state(story.node(3)).values["player.nerve"] == 5
        assert play.sound()


@pytest.mark.spec("T4")
async def test_closing_answers_by_the_default(mill: Path) -> None:
    async with playing(mill, unreadable(), answers="ask") as play:
        task, _ = await asked_during(play, "I climb.")
        await play.aclose()
        assert await task is False  # type: ignore[misc]
    async with playing(mill, answers="ask") as play:
        assert play.story.count == 1
        assert play.draft() == "I climb."
        for line in ("I wait.", "/save here"):
            await play.do(line)
        task, _ = await asked_during(play, "/delete-checkpoint here")
        await play.aclose()
        await task  # type: ignore[misc]
    async with playing(mill) as play:
        assert play.story.checkpoint("here") == 3
