"""The player's verbs by example, over a real file: what each leaves behind and what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrator.engine.events import (
    BranchesListed,
    Found,
    HeadMoved,
    MemoriesListed,
    PromptShown,
    StateShown,
    StepShown,
    TakesListed,
)
from narrator.narrators.port import Purpose
from narrator.store import commit
from tests.engine.playing import numbered, playing


@pytest.mark.spec("S19", "S18")
async def test_another_action_at_a_point_is_a_take_of_the_first(mill: Path) -> None:
    async with playing(mill, numbered()) as play:
        await play.do("go left")
        await play.do("/undo 2")
        answer = await play.do("go right")
        first = answer.of(StepShown)[0]
        assert (first.role, first.text, first.take, first.takes) == ("player", "go right", 2, 2)
        listed = (await play.do("/takes 2")).of(TakesListed)[0]
        assert [(take.text, take.current) for take in listed.takes] == [("go left", False), ("go right", True)]


@pytest.mark.spec("S21", "S1", "S2")
async def test_an_edited_input_is_narrated_anew_and_the_old_story_is_kept(mill: Path) -> None:
    async with playing(mill, numbered()) as play:
        await play.do("accuse Mara")
        await play.do("wait")
        before = [(node.id, node.text) for node in play.story.nodes()]
        answer = await play.do("/edit 2 ask Mara quietly")
        assert [step.origin for step in answer.of(StepShown)] == ["edited", "generated"]
        edited = play.story.nodes()[1]
        assert (edited.text, edited.source_id, edited.mode) == ("ask Mara quietly", before[1][0], "do")
        assert play.story.count == 3
        await play.do("/take 1 2")
        assert [(node.id, node.text) for node in play.story.nodes()] == before


@pytest.mark.spec("S29", "S30", "S31")
async def test_the_rail_tells_where_each_branch_leaves_and_what_it_holds(mill: Path) -> None:
    async with playing(mill, numbered()) as play:
        for _ in range(3):
            await play.do("walk")
        await play.do("/save the bend")
        await play.do("/undo 4")
        await play.do("swim")
        await play.do("/retry")
        revision = play.story.revision
        root, second = (await play.do("/branches")).of(BranchesListed)[0].branches
        assert (root.parent, root.fork_position, root.steps, root.current, root.on_path) == (None, 0, 7, False, True)
        assert root.checkpoints == ("the bend",)
        assert root.unplaced == 0
        assert (second.parent, second.fork_position, second.steps, second.unplaced) == (root.id, 3, 2, 1)
        assert (second.current, second.label, second.name) == (True, "from step 3", None)
        assert play.story.revision == revision
        await play.do(f"/rename-branch #{second.id} the river")
        assert (await play.do("/switch the river")).ok
        assert (await play.do("/rename-branch #1 the river")).code == "branch-exists"
        assert (await play.do("/rename-branch #1 42")).code == "bad-value"


@pytest.mark.spec("S33", "S34", "S32", "C25")
async def test_a_memory_is_seen_exactly_where_its_step_is_on_the_path(mill: Path) -> None:
    async with playing(mill, numbered()) as play:
        await play.do("meet the spy")
        await play.do("/remember Mara is a spy")

        async def seen() -> list[str]:
            return [m.text for m in (await play.do("/memories")).of(MemoriesListed)[0].memories]

        assert await seen() == ["Mara is a spy"]
        await play.do("/undo 1")
        assert await seen() == []
        await play.do("/redo 1")
        assert await seen() == ["Mara is a spy"]
        await play.do("/retry")
        assert await seen() == []
        await play.do("go on")
        assert "Mara is a spy" not in str(play.narrator.requests[-1].messages)
        await play.do("/take 1 3")
        assert await seen() == ["Mara is a spy"]


@pytest.mark.spec("S32", "S6")
async def test_nothing_off_the_path_is_found_shown_or_sent(mill: Path) -> None:
    async with playing(mill, numbered()) as play:
        await play.do("say the word zyzzyva")
        await play.do("/undo 2")
        await play.do("keep quiet")
        assert (await play.do("/search zyzzyva")).of(Found)[0].found == ()
        assert "zyzzyva" not in " ".join(step.text for step in (await play.do("/read")).of(StepShown))
        await play.do("wait")
        sent = [str(request.messages) for request in play.narrator.requests[-3:]]
        assert all("zyzzyva" not in text for text in sent)
        shown = (await play.do("/prompt")).of(PromptShown)[0]
        assert "zyzzyva" not in str(shown.messages)


@pytest.mark.spec("C31", "S23")
async def test_the_authors_note_follows_undo(mill: Path) -> None:
    async with playing(mill, numbered()) as play:
        await play.do("walk")
        await play.do("/note Let it rain.")
        await play.do("walk on")
        narrated = [r for r in play.narrator.requests if r.purpose is Purpose.NARRATE]
        assert "Let it rain." in narrated[-1].messages[-1].content
        await play.do("/undo 3")
        await play.do("walk back")
        narrated = [r for r in play.narrator.requests if r.purpose is Purpose.NARRATE]
        assert "Let it rain." not in str(narrated[-1].messages)


@pytest.mark.spec("S36", "S38", "S40")
async def test_nothing_goes_by_itself_and_a_prune_only_what_was_set_aside(mill: Path) -> None:
    async with playing(mill, numbered()) as play:
        await play.do("walk")
        for _ in range(4):
            await play.do("/retry")
        await play.do("/pin 2 3")
        await play.do("/save-at #5 kept")
        await play.do("go on")
        assert len(play.story.takes(play.story.node(3))) == 5
        await play.do("/prune all")
        assert len(play.story.takes(play.story.node(3))) == 5, "the default answer destroys nothing"
    async with playing(mill, numbered(), answers="yes") as play:
        await play.do("/prune all")
        assert [take.id for take in play.story.takes(play.story.node(7))] == [4, 5, 7]
        assert (await play.do("/delete-take #4")).code == "take-pinned"
        assert (await play.do("/delete-take #5")).code == "take-has-checkpoint"
        assert (await play.do("/delete-take #7")).code == "take-in-use"


@pytest.mark.spec("S10", "W3")
async def test_the_state_goes_with_the_head(mill: Path) -> None:
    async with playing(mill, numbered()) as play:

        async def nerve() -> object:
            return (await play.do("/state player.nerve")).of(StateShown)[0].values["player.nerve"]

        seen = []
        for _ in range(3):
            await play.do("climb")
            seen.append(await nerve())
        assert seen == [6, 7, 8]
        await play.do("/undo 4")
        assert await nerve() == 6
        await play.do("/retry")
        assert await nerve() == 6
        await play.do("/take 1 3")
        assert await nerve() == 8
        assert (await play.do("/undo 99")).of(HeadMoved)[-1].position == 1
        assert await nerve() == 5


@pytest.mark.spec("U9", "S13")
async def test_an_input_that_was_stopped_and_deleted_does_not_come_back(mill: Path) -> None:
    async with playing(mill, numbered()) as play:
        commit.send_draft(play.story.store, "I climb.", "do")
        assert play.draft() == "I climb."
        await play.session.keep_draft("I climb. Slowly.")
        assert play.draft() == "I climb. Slowly."
        await play.session.keep_draft("")
        assert play.draft() is None
