"""Context checkpoints over a real campaign: what is asked, what is kept, which path may use it (C7, C11-C21, C30)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from narrator.config import ContextSettings, Settings
from narrator.core.errors import NarrationFailed
from narrator.core.prompt import Message, stable_prefix_hash
from narrator.core.summary import Summary, make_checkpoint
from narrator.core.tree import NewNode
from narrator.engine import jobs, prompting
from narrator.engine.events import Asked, Progressed, PromptShown
from narrator.engine.story import Story
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.narrators.port import Purpose, Request
from narrator.store import commit
from narrator.store.commit import Acceptance
from narrator.store.verify import verify_connection
from tests.engine.long_stories import EMPTY, keeps, lengthen, narration, small, text_of
from tests.engine.playing import PLAIN, Pausing, Play, drive_turns, make, playing
from tests.fake_server import Exchange, FakeServer, give, pieces, say
from tests.store.making import open_story, rows

WINDOW = 16_384
NO_MEMORIES = Settings(context=ContextSettings(memory_every=100_000))


def teller(window: int = WINDOW, *names: str) -> FakeNarrator:
    """A fake with a small window that tells numbered narrations and keeps names in its summaries."""
    fake = FakeNarrator(capabilities=small(window))
    count = iter(range(10_000, 20_000))
    fake.answer(Purpose.NARRATE, lambda request: narration(next(count), 300))
    fake.answer(Purpose.COMPACT, keeps(*names))
    return fake


def long_story(folder: Path, turns: int, size: int = 300) -> Path:
    path = make(folder, PLAIN, "ferry")
    story = open_story(path)
    lengthen(story, turns, size=size)
    story.close()
    return path


def asked(fake: FakeNarrator, purpose: Purpose) -> list[Request]:
    return [request for request in fake.requests if request.purpose is purpose]


def checkpoints(play: Play | Story) -> list[dict[str, Any]]:
    story = play.story if isinstance(play, Play) else play
    cursor = story.store.db.execute("SELECT * FROM context_checkpoints ORDER BY at_node_id")
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def prefix_length(one: tuple[Message, ...], other: tuple[Message, ...]) -> int:
    """How many messages at the beginning are the same."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def require_whole_and_in_order(compactions: list[Request], texts: list[str]) -> None:
    """Each text stands whole in just one of the requests, and they stand in the order of the path (C21)."""
    where = []
    for text in texts:
        found = [(n, text_of(r).find(text)) for n, r in enumerate(compactions) if text in text_of(r)]
        assert len(found) == 1, text
        where.append(found[0])
    assert where == sorted(where)


# ---------------------------------------------------------------------------------------- first load


@pytest.mark.spec("C20", "C21", "C19", "C13")
async def test_five_hundred_nodes_become_one_summary_in_the_fewest_requests(tmp_path: Path) -> None:
    path = long_story(tmp_path, 250, size=500)
    fake = teller()
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        answer = await play.do("I go on.")
        assert answer.ok
        compactions = asked(fake, Purpose.COMPACT)
        made = checkpoints(play)
        assert len(made) == 1
        covered = play.story.node(made[0]["covered_through_node_id"])
        nodes = play.story.nodes(1, covered.depth)
        require_whole_and_in_order(compactions, [node.text for node in nodes])
        source = sum(fake.count([Message("user", node.text)]) for node in nodes)
        room = max(fake.count(request.messages[1:]) for request in compactions)
        assert len(compactions) <= -(-source // room) + 1
        progress = answer.of(Progressed)
        assert [(each.done, each.total) for each in progress][-1] == (len(compactions), len(compactions))
        assert made[0]["at_node_id"] == made[0]["retained_from_node_id"]
        assert play.story.node(made[0]["retained_from_node_id"]).parent_id == covered.id
        assert play.sound()


@pytest.mark.spec("C20")
async def test_five_thousand_nodes_ask_first_and_then_are_told_in_bounded_chunks(tmp_path: Path) -> None:
    path = long_story(tmp_path, 2500, size=200)
    fake = teller()
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        answer = await play.do("I go on.")
        assert (answer.ok, answer.code) == (False, "context-too-long")
        question = answer.of(Asked)[0]
        assert question.what == "confirm-compaction"
        assert question.default == "no"
        assert question.shows["requests"] > 50
        assert question.shows["tokens"] > 0
        assert fake.requests == []
        assert checkpoints(play) == []
    async with playing(path, fake, answers="yes", settings=NO_MEMORIES) as play:
        assert (await play.do("I go on.")).ok
        compactions = asked(fake, Purpose.COMPACT)
        assert 50 < len(compactions) <= question.shows["requests"]
        assert len(checkpoints(play)) == 1
        covered = play.story.node(checkpoints(play)[0]["covered_through_node_id"])
        require_whole_and_in_order(compactions, [node.text for node in play.story.nodes(1, covered.depth)])
        assert all(fake.count(request.messages) + request.max_output_tokens < WINDOW for request in compactions)


@pytest.mark.spec("C15", "C20")
async def test_what_grows_behind_a_summary_is_added_to_it(tmp_path: Path) -> None:
    path = long_story(tmp_path, 60)
    fake = teller()
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        await play.do("I go on.")
        first = checkpoints(play)[-1]
        lengthen(play.story, 40, first=500, size=300)
        fake.requests.clear()
        await play.do("I go on.")
        compactions = asked(fake, Purpose.COMPACT)
        second = checkpoints(play)[-1]
        assert second["covered_through_node_id"] > first["covered_through_node_id"]
        old = play.story.node(first["covered_through_node_id"])
        new = play.story.node(second["covered_through_node_id"])
        require_whole_and_in_order(compactions, [node.text for node in play.story.nodes(old.depth + 1, new.depth)])
        assert all("Rain falls on the ferry." not in text_of(request) for request in compactions)
        assert "They went on." in text_of(compactions[0])
        for request in asked(fake, Purpose.NARRATE):
            assert text_of(request).count("The story so far:") == 1


@pytest.mark.spec("C15", "C20")
async def test_each_chunk_goes_on_from_the_summary_before_it_and_takes_its_place(tmp_path: Path) -> None:
    path = long_story(tmp_path, 150)
    fake = teller()
    fake._answers[Purpose.COMPACT].clear()
    count = iter(range(1, 100))
    fake.answer(Purpose.COMPACT, lambda request: json.dumps({**EMPTY, "events": [f"Summed up {next(count)} times."]}))
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        assert (await play.do("I go on.")).ok
        compactions = asked(fake, Purpose.COMPACT)
        assert len(compactions) > 3
        told = [*map(text_of, compactions), text_of(asked(fake, Purpose.NARRATE)[0])]
        for number, text in enumerate(told):
            before = [each for each in range(1, len(told)) if f"Summed up {each} times." in text]
            assert before == ([number] if number else [])


@pytest.mark.spec("C6", "C14", "C20")
async def test_a_summary_that_covers_the_last_input_is_passed_over(tmp_path: Path) -> None:
    path = long_story(tmp_path, 10)
    fake = teller()
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        story = play.story
        input_, told = story.nodes(8, 9)
        prefix = stable_prefix_hash(prompting.stable_prefix(story, story.state()))
        made = make_checkpoint(
            Summary(events=("They met.",)),
            covered_id=input_.id,
            covered_chain_hash=input_.chain_hash,
            retained_id=told.id,
            campaign_id=story.row.campaign_id,
            stable_prefix_hash=prefix,
            is_partial=True,
        )
        assert commit.keep_context_checkpoint(story.store, made)
        for step, is_used in ((9, False), (11, True)):
            assert (await play.do({"command": "go", "step": {"id": story.nodes(1, 21)[step - 1].id}})).ok
            (shown,) = (await play.do("/prompt")).of(PromptShown)
            seen = "\n".join(each["content"] for each in shown.messages)
            assert ("They met." in seen) == is_used, step
            assert (input_.text in seen) != is_used, step
            assert told.text in seen
            await play.do("/back")


@pytest.mark.spec("C19", "C20", "T3")
async def test_a_stop_costs_one_chunk(tmp_path: Path) -> None:
    path = long_story(tmp_path, 150)
    fake = teller()
    good = keeps()
    answers: list[Any] = [good, good, Line("x", stall_at=0), good]
    fake._answers[Purpose.COMPACT].clear()
    fake.answer(Purpose.COMPACT, *answers)
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        task = play.begin("I go on.")
        await fake.stalled.wait()
        await play.do("/stop")
        assert (await play.finish(task)).code == "stopped"
        assert len(asked(fake, Purpose.COMPACT)) == 3
        assert [row["is_partial"] for row in checkpoints(play)] == [1, 1]
        assert play.story.count == 301
        assert (await play.do("I go on.")).ok
        whole = asked(fake, Purpose.COMPACT)
        made = checkpoints(play)
        assert [row["is_partial"] for row in made] == [0]
        covered = play.story.node(made[0]["covered_through_node_id"])
        kept = whole[:2] + whole[3:]
        require_whole_and_in_order(kept, [node.text for node in play.story.nodes(1, covered.depth)])


@pytest.mark.spec("C19", "S13")
@pytest.mark.parametrize(
    "answer",
    [
        NarrationFailed("narrator-rate-limited", "Too many requests."),
        NarrationFailed("narrator-timeout", "Nothing came."),
        "no summary at all",
        json.dumps(EMPTY),
        '{"events": 7}',
    ],
)
async def test_a_failed_compaction_writes_nothing_and_moves_nothing(tmp_path: Path, answer: Any) -> None:
    path = long_story(tmp_path, 40)
    fake = teller()
    fake._answers[Purpose.COMPACT].clear()
    fake.answer(Purpose.COMPACT, answer)
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        before = play.rows()
        failed = await play.do("I go on.")
        assert not failed.ok
        assert failed.draft == "I go on."
        assert play.rows() == before
        assert asked(fake, Purpose.NARRATE) == []


@pytest.mark.spec("C19")
async def test_a_finished_summary_stays_although_the_narration_failed(tmp_path: Path) -> None:
    path = long_story(tmp_path, 40)
    fake = teller()
    fake._answers[Purpose.NARRATE].clear()
    fake.answer(Purpose.NARRATE, NarrationFailed("narrator-timeout", "Nothing came."), narration(1))
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        before = play.rows(without=("draft", "context_checkpoints"))
        assert not (await play.do("I go on.")).ok
        assert play.rows(without=("draft", "context_checkpoints")) == before
        assert len(checkpoints(play)) == 1
        count = len(asked(fake, Purpose.COMPACT))
        assert (await play.do("I go on.")).ok
        assert len(asked(fake, Purpose.COMPACT)) == count


@pytest.mark.spec("C7", "C19", "T1")
async def test_upkeep_compacts_ahead_of_need(tmp_path: Path) -> None:
    path = long_story(tmp_path, 22, size=300)
    fake = teller()
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        while not checkpoints(play):
            answer = await play.do("I go on.")
            assert answer.of(Progressed) == []
            await play.session.kept_up()
        assert (await play.do("I go on.")).ok
        assert len(asked(fake, Purpose.COMPACT)) == 1
        compaction = asked(fake, Purpose.COMPACT)[0]
        following = asked(fake, Purpose.NARRATE)[-1]
        assert "The story so far:" in text_of(following)
        # It began as the narration before it did, so that a server's prompt cache served it (C11).
        before = asked(fake, Purpose.NARRATE)[-2]
        assert prefix_length(compaction.messages, before.messages) == len(compaction.messages) - 1


@pytest.mark.spec("C19", "T1")
async def test_a_turn_cancels_upkeep_and_it_starts_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "UPKEEP_WAITS", 0)
    path = long_story(tmp_path, 23, size=300)
    fake = teller()
    fake._answers[Purpose.COMPACT].clear()
    fake.answer(Purpose.COMPACT, Line("x", stall_at=0), keeps())
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        while not asked(fake, Purpose.COMPACT):
            assert (await play.do("I go on.")).ok
            for _ in range(20):  # upkeep begins a few turns of the loop behind the turn of the story
                await asyncio.sleep(0)
        await fake.stalled.wait()
        assert (await play.do("I go on.")).ok
        await play.session.kept_up()
        assert fake.closed == 1
        assert len(checkpoints(play)) == 1


@pytest.mark.spec("C19", "S13", "S46", "T3")
async def test_a_compaction_is_cancelled_at_any_await_and_has_kept_whole_chunks_alone(tmp_path: Path) -> None:
    path = long_story(tmp_path, 60)
    fake = Pausing(capabilities=small(WINDOW))
    fake.answer(Purpose.NARRATE, "So it went.")
    fake.answer(Purpose.COMPACT, keeps())
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        start = play.rows(without=("draft", "context_checkpoints"))
        at, kept = 0, set()
        while True:
            at += 1
            play.story.store.db.execute("DELETE FROM context_checkpoints")
            seen = drive_turns(at)
            answer = await play.do("I go on.")
            if answer.ok:
                assert len(seen) < at
                break
            assert (answer.code, answer.draft) == ("stopped", "I go on."), at
            assert play.rows(without=("draft", "context_checkpoints")) == start, at
            assert play.sound(), at
            kept.add(tuple(row["is_partial"] for row in checkpoints(play)))
        assert at > 30
        assert kept >= {(), (1,), (0,)}, "nothing, a chunk, the whole of it"


@pytest.mark.spec("C8", "C18", "C19")
async def test_a_smaller_model_in_mid_story_is_given_what_it_can_hold(tmp_path: Path) -> None:
    path = long_story(tmp_path, 40)
    large, tiny = teller(200_000), teller(8_000, "Ottoline")
    async with playing(path, large, settings=NO_MEMORIES) as play:
        assert (await play.do("There is Ottoline.")).ok
        assert asked(large, Purpose.COMPACT) == []
        assert len(asked(large, Purpose.NARRATE)[0].messages) > 80
        await play.session.use_narrator(tiny)
        assert (await play.do("I go on.")).ok
        assert len(asked(tiny, Purpose.COMPACT)) > 1
        assert all(tiny.count(request.messages) + request.max_output_tokens < 8_000 for request in tiny.requests)
        assert "There is Ottoline." in text_of(asked(tiny, Purpose.NARRATE)[0])
        await play.session.use_narrator(large)
        assert (await play.do("I go further.")).ok
        assert "The story so far:" in text_of(asked(large, Purpose.NARRATE)[-1])


@pytest.mark.spec("C15", "C20", "C21")
async def test_thousands_of_nodes_behind_a_summary_are_added_to_it_and_nothing_is_read_again(tmp_path: Path) -> None:
    path = long_story(tmp_path, 40)
    fake = teller()
    async with playing(path, fake, answers="yes", settings=NO_MEMORIES) as play:
        await play.do("I go on.")
        first = play.story.node(checkpoints(play)[-1]["covered_through_node_id"])
        lengthen(play.story, 2_400, first=500, size=100)
        fake.requests.clear()
        assert (await play.do("I go on.")).ok
        compactions = asked(fake, Purpose.COMPACT)
        second = play.story.node(checkpoints(play)[-1]["covered_through_node_id"])
        assert second.depth > first.depth + 4_000
        require_whole_and_in_order(compactions, [n.text for n in play.story.nodes(first.depth + 1, second.depth)])
        assert not any(play.story.nodes(5, 5)[0].text in text_of(request) for request in compactions)
        assert all("They went on." in text_of(request) for request in compactions)
        assert not any(row["is_partial"] for row in checkpoints(play))


# ---------------------------------------------------------------------------------------- which path it is


@pytest.mark.spec("C14", "S10")
async def test_undo_leaves_a_checkpoint_behind_and_redo_finds_it_again(tmp_path: Path) -> None:
    path = long_story(tmp_path, 40)
    fake = teller()
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        await play.do("I go on.")
        host, third = play.story.node(checkpoints(play)[0]["at_node_id"]), play.story.nodes(3, 3)[0]
        steps = play.story.count - host.depth + 3
        for line, is_there in ((f"/undo {steps}", False), (f"/redo {steps}", True), ("/go 1", False)):
            assert (await play.do(line)).ok
            (shown,) = (await play.do("/prompt")).of(PromptShown)
            told = "\n".join(each["content"] for each in shown.messages)
            assert ("The story so far:" in told) == is_there, line
            assert ("Told 40." in told) == is_there, line
        fake.requests.clear()
        assert (await play.do({"command": "retry", "step": {"id": third.id}})).ok
        (request,) = asked(fake, Purpose.NARRATE)
        assert "Rain falls on the ferry." in text_of(request)
        assert "Told" not in text_of(request)
        assert "The story so far:" not in text_of(request)


@pytest.mark.spec("C11", "C10")
async def test_the_cached_prefix_breaks_once_a_rotation(tmp_path: Path) -> None:
    path = long_story(tmp_path, 2)
    fake = teller()
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        for number in range(60):
            assert (await play.do(f"I go on {number}.")).ok
            await play.session.kept_up()
        narrations = [request.messages for request in asked(fake, Purpose.NARRATE)]
        assert len({messages[0] for messages in narrations}) == 1
        breaks = 0
        for one, next_one in pairwise(narrations):
            shared = prefix_length(one, next_one)
            assert shared in (1, len(one))
            breaks += shared == 1
        rotations = len(checkpoints(play))
        assert rotations >= 2
        assert breaks == rotations


@pytest.mark.spec("C14", "S32")
async def test_forks_before_and_behind_a_checkpoint(tmp_path: Path) -> None:
    path = long_story(tmp_path, 40)
    fake = teller(WINDOW, "Ottoline")
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        await play.do("I go on.")
        made = checkpoints(play)[0]
        host = play.story.node(made["at_node_id"])
        # Behind the host the same summary serves a sibling line.
        await play.do({"command": "go", "step": {"id": play.story.head.parent_id - 1}})
        fake.requests.clear()
        assert (await play.do("I turn aside.")).ok
        assert asked(fake, Purpose.COMPACT) == []
        assert "The story so far:" in text_of(asked(fake, Purpose.NARRATE)[0])
        # Before the host there is none: the nodes stand there, and nothing of what lies behind.
        early = play.story.nodes(11, 11)[0]
        await play.do({"command": "go", "step": {"id": early.id}})
        fake.requests.clear()
        assert (await play.do("I turn back.")).ok
        told = text_of(asked(fake, Purpose.NARRATE)[0])
        assert "The story so far:" not in told
        assert "Told 5." in told
        assert "Told 6." not in told
        assert play.story.node(host.id).depth > early.depth


@pytest.mark.spec("C14", "C6")
@pytest.mark.parametrize("verb", ["retry", "retell"])
async def test_retry_and_retell_above_a_checkpoint_do_not_see_it(tmp_path: Path, verb: str) -> None:
    path = long_story(tmp_path, 40)
    fake = teller()
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        await play.do("I go on.")
        host = play.story.node(checkpoints(play)[0]["at_node_id"])
        target = play.story.nodes(host.depth + 1, host.depth + 1)[0]
        assert target.role == "narrator"
        fake.requests.clear()
        assert (await play.do({"command": verb, "step": {"id": target.id}})).ok
        told = text_of(asked(fake, Purpose.NARRATE)[-1])
        assert target.text not in told
        # The last exchange before the target is covered by that summary, so it stands there verbatim instead.
        assert play.story.node(host.parent_id).text in told


@pytest.mark.spec("C14", "S32")
async def test_a_siblings_checkpoint_is_never_found(tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, "ferry")
    story = open_story(path)
    shared = lengthen(story, 5)
    lengthen(story, 40, first=100, size=300)
    story.close()
    fake = teller(WINDOW, "Ottoline")
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        await play.do("There is Ottoline.")
        await play.do({"command": "go", "step": {"id": shared[-1]}})
        lengthen(play.story, 40, first=200, size=300)
        fake.requests.clear()
        await play.do("I go on.")
        assert all("Told 100." not in text_of(request) for request in fake.requests)
        assert all("Ottoline" not in text_of(request) for request in fake.requests)
        hosts = {row["at_node_id"] for row in checkpoints(play)}
        assert len(hosts) == 2


# ---------------------------------------------------------------------------------------- validity and its absence


CORRUPTIONS: dict[str, Any] = {
    "covered_through_node_id": 3,
    "retained_from_node_id": 5,
    "checkpoint_schema_version": 0,
    "prompt_schema_version": 2,
    "stable_prefix_hash": b"x" * 32,
    "summary_json": '{"events": [',
    "source_hash": b"y" * 32,
}


async def narrated_after(path: Path, spoil: Callable[[Any], None]) -> tuple[list[Request], list[Request], bool]:
    """Compactions and narrations of a turn that begins after ``spoil`` was let at the rows."""
    fake = teller()
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        await play.do("I go on.")
        await play.session.kept_up()
        spoil(play.story.store.db)
        fake.requests.clear()
        assert (await play.do("I go further.")).ok
        await play.session.kept_up()
        return asked(fake, Purpose.COMPACT), asked(fake, Purpose.NARRATE), play.sound()


@pytest.mark.spec("C17", "C16")
@pytest.mark.parametrize("column", CORRUPTIONS)
async def test_a_corrupted_checkpoint_is_rebuilt(tmp_path: Path, column: str) -> None:
    path = long_story(tmp_path, 40)

    def spoil(db: Any) -> None:
        db.execute(f"UPDATE context_checkpoints SET {column} = ?", (CORRUPTIONS[column],))

    compactions, narrations, is_sound = await narrated_after(path, spoil)
    assert compactions
    assert "Rain falls on the ferry." in text_of(compactions[0])
    assert "They went on." in text_of(narrations[0])
    assert is_sound


@pytest.mark.spec("C17")
async def test_an_oversized_summary_is_rebuilt(tmp_path: Path) -> None:
    path = long_story(tmp_path, 40)
    large = json.dumps({**EMPTY, "events": ["much " * 600]})

    def spoil(db: Any) -> None:
        db.execute("UPDATE context_checkpoints SET summary_json = ?", (large,))

    compactions, narrations, _ = await narrated_after(path, spoil)
    assert compactions
    assert "much much" not in text_of(narrations[0])


@pytest.mark.spec("C17")
async def test_without_its_checkpoints_a_story_is_the_same_and_they_are_made_again(tmp_path: Path) -> None:
    path = long_story(tmp_path, 40)
    fake = teller()
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        for number in range(6):
            before = play.rows(without=("draft", "context_checkpoints", "sqlite_sequence"))
            play.story.store.db.execute("DELETE FROM context_checkpoints")
            assert play.rows(without=("draft", "context_checkpoints", "sqlite_sequence")) == before
            assert (await play.do(f"I go on {number}.")).ok
            assert len(checkpoints(play)) == 1
            assert play.sound()


@pytest.mark.spec("C13", "C14")
async def test_a_restart_keeps_the_checkpoint(tmp_path: Path) -> None:
    path = long_story(tmp_path, 40)
    async with playing(path, teller(), settings=NO_MEMORIES) as play:
        await play.do("I go on.")
    fake = teller()
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        assert (await play.do("I go further.")).ok
        assert asked(fake, Purpose.COMPACT) == []
        assert "The story so far:" in text_of(asked(fake, Purpose.NARRATE)[0])


@pytest.mark.spec("C13")
async def test_a_checkpoint_goes_with_its_node(tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, "ferry")
    story = open_story(path)
    shared = lengthen(story, 3)
    lengthen(story, 40, first=100, size=300)
    story.close()
    async with playing(path, teller(), answers="yes", settings=NO_MEMORIES) as play:
        await play.do("I go on.")
        assert len(checkpoints(play)) == 1
        await play.do({"command": "go", "step": {"id": shared[-1]}})
        await play.do("I turn aside.")
        await play.session.kept_up()
        assert (await play.do("/prune all")).ok
        assert checkpoints(play) == []
        assert play.sound()


@pytest.mark.spec("C10", "C17", "C31")
async def test_another_persona_makes_the_summary_anew(tmp_path: Path) -> None:
    path = long_story(tmp_path, 40)
    fake = teller()
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        await play.do("I go on.")
        answer = await play.do("/persona A ferryman far from home.")
        assert any("summary of the story so far" in note for note in answer.notes)
        fake.requests.clear()
        await play.do("I go further.")
        assert "Rain falls on the ferry." in text_of(asked(fake, Purpose.COMPACT)[0])
        assert "A ferryman far from home." in text_of(asked(fake, Purpose.NARRATE)[0])


# ---------------------------------------------------------------------------------------- summaries


@pytest.mark.spec("C21")
async def test_a_summary_that_is_too_long_is_asked_for_once_more_and_then_shortened(tmp_path: Path) -> None:
    path = long_story(tmp_path, 40)
    long = json.dumps(
        {**EMPTY, "events": [f"They went {n} long miles." for n in range(200)], "goals": ["Find Ottoline."]}
    )
    fake = teller()
    fake._answers[Purpose.COMPACT].clear()
    fake.answer(Purpose.COMPACT, long)
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        answer = await play.do("I go on.")
        assert answer.ok
        assert any("entries were left out" in note for note in answer.notes)
        told = text_of(asked(fake, Purpose.NARRATE)[0])
        assert "Find Ottoline." in told
        assert "They went 199 long miles." in told
        repair = asked(fake, Purpose.COMPACT)[1]
        assert "Rain falls on the ferry." not in text_of(repair)
        assert len(checkpoints(play)[0]["summary_json"]) < (WINDOW - 512) // 8


@pytest.mark.spec("S25")
async def test_prompts_are_rebuilt_byte_for_byte_before_and_behind_a_rotation(tmp_path: Path) -> None:
    path = long_story(tmp_path, 20)
    fake = teller()
    async with playing(path, fake, settings=NO_MEMORIES) as play:
        sent: dict[int, tuple[Message, ...]] = {}
        for number in range(14):
            assert (await play.do(f"I go on {number}.")).ok
            sent[play.story.head.id] = asked(fake, Purpose.NARRATE)[-1].messages
            await play.session.kept_up()
        assert len(checkpoints(play)) >= 1
        assert sum("The story so far:" in text_of(r) for r in asked(fake, Purpose.NARRATE)) not in (0, len(sent))
        play.story.store.db.execute("DELETE FROM context_checkpoints")
        for node_id, messages in sent.items():
            shown = (await play.do({"command": "prompt", "step": {"id": node_id}})).events
            body = next(event for event in shown if hasattr(event, "messages")).messages
            assert [(each["role"], each["content"]) for each in body] == [(m.role, m.content) for m in messages]
        assert verify_connection(play.story.store.db).problems == ()
        assert rows(play.story.store.db)["context_checkpoints"] == []


@pytest.mark.spec("C4", "C20")
async def test_a_chunk_that_the_server_counts_is_not_refused_for_its_bytes(tmp_path: Path) -> None:
    """A chunk is filled by the server's count; the node beside the question must not be counted as bytes again."""

    async def count(exchange: Exchange) -> None:
        tokens = [0] * max(1, len(exchange.request.json["content"]) // 4)
        await pieces(json.dumps({"tokens": tokens}), content_type="application/json")(exchange)

    path = make(tmp_path, PLAIN, "ferry")
    story = open_story(path)
    for number in range(60):
        said = NewNode("player", f"I tell of stone {number}. " + "It is a long tale of rain. " * 40, mode="say")
        told = NewNode("narrator", narration(number, 300), origin="generated")
        commit.accept(story.store, Acceptance(story.head.id, (said, told), story.position, narrated=1))
    story.close()
    answers = {"/tokenize": count, "compact": give({**EMPTY, "events": ["They told of stones."]})}
    async with FakeServer({**answers, "narrate": say("The rain goes on.")}) as server:
        teller = OpenAICompatible(
            "mine", base_url=server.base_url, model="m", context_window=6_000, max_output_tokens=512, retries=0
        )
        async with playing(path, teller, settings=NO_MEMORIES) as play:  # type: ignore[arg-type]
            answer = await play.do("I go on.")
            assert answer.ok, answer
            assert len(server.asked("compact")) > 1
            assert len(checkpoints(play)) == 1
