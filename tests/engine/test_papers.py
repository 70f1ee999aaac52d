"""What a session writes beside its campaign, and what it reads back: transcripts, recordings, replays (U26)."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrator.engine import progress
from narrator.engine.commands import Command, parse_line
from narrator.engine.events import Asked, Done, Failed, Progressed, Replayed
from narrator.narrators.fake import FakeNarrator
from tests.engine.playing import PLAIN, Play, make, playing
from tests.store.making import deepen


def ferry(folder: Path) -> Path:
    return make(folder, PLAIN, "ferry")


def telling(*texts: str) -> FakeNarrator:
    return FakeNarrator({"narrate": list(texts)})


def done(play: Play) -> list[tuple[str, bool]]:
    return [(event.command, event.ok) for event in play.heard if isinstance(event, Done)]


@pytest.mark.spec("U26")
async def test_a_transcript_holds_what_was_given_and_told_and_nothing_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "told.txt"
    async with playing(ferry(tmp_path), telling("First.", "Second.")) as play:
        await play.do("one")
        await play.do(f"/script {file}")
        await play.do("two")
        await play.session.perform(Command("status", tag="panel"), is_aside=True)
        await play.do("/undo")
        await play.do("/unscript")
        await play.do("/status")
        assert (await play.do("/unscript")).code == "bad-value"
    told = file.read_text()
    assert told.startswith("\n> two\n\nSecond.\n\n> /undo\n\nFirst.\n")
    assert told.endswith("[Step 4. 1 step to redo. Your line stands: /continue tells it anew.]\n\n> /unscript\n")
    assert "[Ok.]" not in told
    assert "Told by" not in told


@pytest.mark.spec("U26", "U27")
async def test_a_quiet_transcript_begins_with_the_story(tmp_path: Path) -> None:
    file = tmp_path / "told.txt"
    async with playing(ferry(tmp_path), telling("First.")) as play:
        play.session.papers.is_quiet = True
        await play.do(f"/script {file}")
        await play.do("/save here")
        await play.do("one")
    assert file.read_text() == "\n> /save here\n\n> one\n\nFirst.\n"


@pytest.mark.spec("U26")
async def test_what_is_asked_during_a_turn_is_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "told.txt"
    fake = telling("First word.")
    async with playing(ferry(tmp_path), fake) as play:
        await play.do(f"/script {file}")
        task = play.begin("one")
        await play.do("/status")
        await play.finish(task)
    assert file.read_text().count("First word.") == 1
    assert file.read_text().count("[Ok.]") == 0


@pytest.mark.spec("U26", "U8")
async def test_a_long_transcript_shows_its_progress_and_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.0)
    file = tmp_path / "told.txt"
    file.write_text("Before.\n")
    async with playing(ferry(tmp_path), telling("Last.")) as play:
        deepen(play.story, 2_000)
        task = play.begin(f"/script {file} all")
        await play.until(lambda event: isinstance(event, Progressed))
        assert (await play.do("more")).code == "busy"
        await play.do("/stop")
        assert not await task
        await play.until(lambda event: isinstance(event, Failed) and event.code == "stopped")
        assert file.read_text() == "Before.\n"
        assert (await play.do(f"/script {file} all")).ok
        await play.do("more")
    told = file.read_text()
    assert told.index("Before.") < told.index("Rain falls") < told.index("> more") < told.index("Last.")


@pytest.mark.spec("U26")
@pytest.mark.parametrize("verb", ["script", "record", "replay"])
async def test_a_wrong_path_is_one_clear_line(verb: str, tmp_path: Path) -> None:
    path = ferry(tmp_path)
    (tmp_path / "picture").write_bytes(b"\x89PNG\0\0")
    wrong = [tmp_path, tmp_path / "no" / "such"]
    wrong += [tmp_path / "picture"] if verb == "replay" else [path, Path(f"{path}-wal"), path.with_suffix(".narrator")]
    async with playing(path) as play:
        for each in wrong:
            answer = await play.do(f"/{verb} {each}")
            assert answer.code in ("io-error", "bad-value")
            assert "\n" not in answer.of(Failed)[0].message
            assert str(each) in answer.of(Failed)[0].message


@pytest.mark.spec("U26")
async def test_a_recording_spells_what_keys_did(tmp_path: Path) -> None:
    record = tmp_path / "commands"
    async with playing(ferry(tmp_path), telling("First.", "Second.", "Third.")) as play:
        await play.do(f"/record {record}")
        await play.do({"command": "do", "text": "two\nlines"})
        await play.do({"command": "retry", "n": 2})
        await play.do({"command": "take", "n": 2, "step": 3})
        await play.session.perform(Command("prompt", tag="gauge"), is_aside=True)
        await play.do({"command": "do", "text": '{"command": "no"}'})
        await play.do("/record")
        told = play.texts()
    assert record.read_text().splitlines() == [
        '{"command": "do", "text": "two\\nlines"}',
        "/retry x2",
        "/take 2 3",
        '/do {"command": "no"}',
    ]
    (again := tmp_path / "again").mkdir()
    async with playing(ferry(again), telling("First.", "Second.", "Third.")) as play:
        answer = await play.do(f"/replay {record}")
        assert answer.ok
        assert play.texts() == told
        assert [(event.number, event.total) for event in answer.of(Replayed)] == [(1, 4), (2, 4), (3, 4), (4, 4)]
        assert done(play) == [("do", True), ("retry", True), ("take", True), ("do", True), ("replay", True)]
        assert answer.notes[-1] == "Played 4 lines."


@pytest.mark.spec("U26")
async def test_a_replay_answers_its_questions_from_its_lines_or_by_default(tmp_path: Path) -> None:
    record = tmp_path / "commands"
    record.write_text(
        "one\n/retry x2\n/delete-take 1\n/answer perhaps\n/answer yes\n/delete-take 1\n/status\n/delete-take 1\n"
    )
    async with playing(ferry(tmp_path), telling("First.", "Second.", "Third."), answers="ask") as play:
        task = play.begin(f"/replay {record}")
        await play.until(lambda event: isinstance(event, Asked) and event.id == 3)
        assert [ok for word, ok in done(play) if word == "delete-take"] == [True, True]
        assert [ok for word, ok in done(play) if word == "answer"] == [False, True]
        assert len(play.story.takes(play.story.head)) == 2, "the first was answered yes, the second by its default"
        await play.do("/answer no")
        assert (await play.finish(task)).ok


@pytest.mark.spec("U26", "T3")
async def test_a_replay_is_stopped_as_a_turn_is(tmp_path: Path) -> None:
    record = tmp_path / "commands"
    record.write_text("one\n" * 50)
    async with playing(ferry(tmp_path), FakeNarrator({"narrate": [f"Answer {n}." for n in range(50)]})) as play:
        task = play.begin(f"/replay {record}")
        await play.until(lambda event: isinstance(event, Replayed) and event.number == 3)
        assert (await play.do("/undo")).code == "busy"
        assert (await play.do(f"/replay {record}")).code == "busy"
        await play.do("/stop")
        assert not await task
        assert len(play.texts()) < 20
        assert play.sound()
        assert (await play.do("one more")).ok


@pytest.mark.spec("U26", "U15")
async def test_lines_that_fail_are_counted_and_end_a_strict_replay(tmp_path: Path) -> None:
    record = tmp_path / "commands"
    record.write_text('one\n/redo\n/nonsense\n{"command": 3}\n/do a\n/stop\n/do b\n/keep\n/replay x\n* note\n')
    async with playing(ferry(tmp_path), telling("First.")) as play:
        answer = await play.do(f"/replay {record}")
        assert answer.notes[-1] == "Played 10 lines. 7 of them failed."
        codes = [event.code for event in answer.of(Failed)]
        assert codes == [
            *("nothing-to-redo", "unknown-command", "bad-value", "stopped", "stopped", "nothing-to-keep", "bad-value"),
        ]
        assert [event.draft for event in answer.of(Failed) if event.code == "stopped"] == ["a", "b"]
        play.session.is_strict = True
        answer = await play.do(f"/replay {record}")
        assert not answer.ok
        assert answer.of(Failed)[-1].message == "The replay ended at its line 2, which failed."


@pytest.mark.spec("U26")
async def test_a_session_that_is_closed_ends_its_replay(tmp_path: Path) -> None:
    record = tmp_path / "commands"
    record.write_text("one\n" * 50)
    async with playing(ferry(tmp_path), FakeNarrator({"narrate": [f"Answer {n}." for n in range(50)]})) as play:
        task = play.begin(f"/replay {record}")
        await play.until(lambda event: isinstance(event, Replayed) and event.number == 3)
        await play.session.aclose()
        assert not await task


def test_a_line_for_a_recording_is_read_back_as_it_was() -> None:
    from narrator.engine.spelling import as_line

    for line in ('/do {"command": "do"}', "//slash", "/take 2 #45", "look"):
        command = parse_line(line)
        spelled = as_line(command)
        assert not spelled.startswith("{")
        assert parse_line(spelled) == command
