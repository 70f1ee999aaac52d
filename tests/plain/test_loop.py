"""The order of a plain session: lines, turns, stops, questions, the end."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from narrator.engine.handlers import HANDLERS
from narrator.narrators.fake import FakeNarrator, Line
from tests.plain.talk import WITH_STATE, Heard, hear, talk


def stalling(text: str = "One two three four.", at: int = 2) -> FakeNarrator:
    """A narrator that never gets past a word."""
    return FakeNarrator({"narrate": Line(text, stall_at=at)})


def has_told(heard: Heard) -> bool:
    """The words before the stall have been told; they may come as one piece."""
    return "".join(event["text"] for event in heard.of("delta")).strip() == "One two"


@pytest.mark.spec("U14", "U15")
async def test_every_line_is_answered_once_in_order(tmp_path: Path) -> None:
    heard, code = await hear(tmp_path, "look", "", "/undo", "/redo", "/undo x", "/nothing", "/read 1", "/status")
    answers = heard.answers()
    assert [line for line, _, _ in answers] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [word for _, word, _ in answers[:7]] == ["do", "continue", "undo", "redo", "undo", "nothing", "read"]
    assert [ok for _, _, ok in answers[:7]] == [True, False, True, True, False, False, True]
    assert heard.codes()[:3] == ["bad-value", "bad-value", "unknown-command"]
    assert [error["line"] for error in heard.of("error")][:3] == [2, 5, 6]
    assert code == 0


@pytest.mark.spec("U14")
async def test_it_begins_with_ready_steps_and_head(tmp_path: Path) -> None:
    heard, _ = await hear(tmp_path)
    assert [event["event"] for event in heard.events] == ["ready", "step", "head"]
    assert heard.events[0]["campaign"]["title"] == "The Ferry"


@pytest.mark.spec("U22")
async def test_what_is_wrong_in_the_settings_is_told_after_the_greeting(tmp_path: Path) -> None:
    heard, _ = await hear(tmp_path, notes=("config.toml: theme: wrong",))
    assert [event["event"] for event in heard.events] == ["ready", "step", "head", "note"]


@pytest.mark.spec("U14")
async def test_a_tag_comes_back_also_with_what_cannot_be_read(tmp_path: Path) -> None:
    heard, _ = await hear(
        tmp_path,
        json.dumps({"command": "do", "text": "look\naround", "tag": {"n": [7]}}),
        json.dumps({"command": "undo", "n": "many", "tag": 8}),
        '{"command": ',
        json.dumps({"command": "fly", "tag": 0}),
    )
    assert [done.get("tag") for done in heard.of("done")] == [{"n": [7]}, 8, None, 0]
    assert heard.of("step")[1]["text"] == "look\naround"
    assert [done["command"] for done in heard.of("done")] == ["do", "undo", "", "fly"]


@pytest.mark.spec("U15")
async def test_strict_ends_at_the_first_that_fails(tmp_path: Path) -> None:
    heard, code = await hear(tmp_path, "look", "/redo", "look", is_strict=True)
    assert code == 1
    assert heard.answers() == [(1, "do", True), (2, "redo", False)]


@pytest.mark.spec("U15")
async def test_quit_ends_before_what_follows(tmp_path: Path) -> None:
    heard, code = await hear(tmp_path, "/quit", "look")
    assert code == 0
    assert heard.answers() == [(1, "quit", True)]


@pytest.mark.spec("T3")
async def test_stop_ends_the_running_turn_and_gives_the_input_back(tmp_path: Path) -> None:
    async with talk(tmp_path, stalling()) as found:
        found.typed.type("look")
        await found.heard.until(has_told)
        found.typed.type("/stop")
        await found.heard.until_answered(1)
    heard = found.heard
    assert heard.of("error")[0]["code"] == "stopped"
    assert heard.of("error")[0]["draft"] == "look"
    assert sorted(heard.answers()) == [(1, "do", False), (2, "stop", True)]
    assert len(heard.of("step")) == 1


@pytest.mark.spec("T3", "U14")
async def test_stop_acts_on_the_earliest_turn_begun_or_not(tmp_path: Path) -> None:
    narrator = FakeNarrator({"narrate": "Here it is."})
    heard, _ = await hear(tmp_path, "/undo", "one", "two", "/stop", "three", narrator=narrator)
    answers = {line: (word, ok) for line, word, ok in heard.answers()}
    assert answers == {1: ("undo", False), 2: ("do", False), 3: ("do", True), 4: ("stop", True), 5: ("do", True)}
    stopped = next(error for error in heard.of("error") if error["line"] == 2)
    assert (stopped["code"], stopped["draft"]) == ("stopped", "one")
    assert [step["text"] for step in heard.of("step") if step["role"] == "player"] == ["two", "three"]
    assert len(narrator.requests) == 2


@pytest.mark.spec("T3")
async def test_two_stops_stop_two_turns(tmp_path: Path) -> None:
    heard, _ = await hear(tmp_path, "one", "two", "/stop", "/stop", "/stop", narrator=stalling())
    answers = {line: ok for line, _, ok in heard.answers()}
    assert answers == {1: False, 2: False, 3: True, 4: True, 5: False}
    assert heard.codes().count("stopped") == 2
    assert heard.codes().count("nothing-to-stop") == 1


@pytest.mark.spec("T3")
async def test_keep_takes_what_has_been_told(tmp_path: Path) -> None:
    async with talk(tmp_path, stalling()) as found:
        found.typed.type("look")
        await found.heard.until(has_told)
        found.typed.type("/keep", "/read 1")
        await found.heard.until_answered(3)
    assert found.heard.of("step")[-1]["text"].strip() == "One two"
    assert (2, "keep", True) in found.heard.answers()


@pytest.mark.spec("T3")
async def test_keep_after_stop_takes_the_partial_text(tmp_path: Path) -> None:
    async with talk(tmp_path, stalling()) as found:
        found.typed.type("look")
        await found.heard.until(has_told)
        found.typed.type("/stop", "/keep")
        await found.heard.until_answered(3)
    assert sorted(found.heard.answers()) == [(1, "do", False), (2, "stop", True), (3, "keep", True)]
    assert found.heard.of("step")[-1]["text"].strip() == "One two"


@pytest.mark.spec("T3")
async def test_keep_of_a_turn_that_had_not_begun_keeps_nothing(tmp_path: Path) -> None:
    narrator = FakeNarrator()
    heard, _ = await hear(tmp_path, "/undo", "one", "/keep", narrator=narrator)
    assert {line: ok for line, _, ok in heard.answers()} == {1: False, 2: False, 3: False}
    assert sorted(heard.codes()) == ["nothing-to-keep", "nothing-to-undo", "stopped"]
    assert narrator.requests == []


async def test_keep_with_nothing_told_is_refused(tmp_path: Path) -> None:
    heard, _ = await hear(tmp_path, "/keep", "/stop")
    assert heard.codes() == ["nothing-to-keep", "nothing-to-stop"]


# -- questions -------------------------------------------------------------------------------------------------------


def unreadable() -> FakeNarrator:
    """A narrator whose account of the state is no JSON, however often it is asked."""
    return FakeNarrator({"narrate": "It rains.", "extract": "I would rather not."})


def has_asked(heard: Heard) -> bool:
    return bool(heard.of("ask"))


@pytest.mark.spec("T4", "U14")
async def test_an_answer_goes_to_the_question_past_the_queue(tmp_path: Path) -> None:
    async with talk(tmp_path, unreadable(), answers="ask", definition=WITH_STATE) as found:
        found.typed.type("look")
        await found.heard.until(has_asked)
        found.typed.type("/answer accept", "/undo")
        await found.heard.until_answered(3)
    assert found.heard.of("ask")[0]["choices"] == ["accept", "again", "discard"]
    assert sorted(found.heard.answers()) == [(1, "do", True), (2, "answer", True), (3, "undo", True)]


@pytest.mark.spec("T4")
async def test_a_line_that_is_no_answer_stands_for_the_default(tmp_path: Path) -> None:
    async with talk(tmp_path, unreadable(), answers="ask", definition=WITH_STATE) as found:
        found.typed.type("look")
        await found.heard.until(has_asked)
        found.typed.type("/status")
        await found.heard.until_answered(2)
    assert found.heard.answers() == [(1, "do", False), (2, "status", True)]
    assert found.heard.codes() == ["extraction-failed"]


@pytest.mark.spec("T4")
async def test_lines_that_wait_already_answer_a_question_too(tmp_path: Path) -> None:
    options = {"answers": "ask", "definition": WITH_STATE}
    heard, _ = await hear(tmp_path, "look", "/answer accept", "/undo", narrator=unreadable(), **options)
    assert sorted(heard.answers()) == [(1, "do", True), (2, "answer", True), (3, "undo", True)]


@pytest.mark.spec("T4")
async def test_the_end_of_input_stands_for_the_default(tmp_path: Path) -> None:
    async with talk(tmp_path, unreadable(), answers="ask", definition=WITH_STATE) as found:
        found.typed.type("look")
        await found.heard.until(has_asked)
    assert found.heard.answers() == [(1, "do", False)]


@pytest.mark.spec("S26")
async def test_a_verb_that_asks_does_nothing_by_default_and_what_was_asked_when_told(tmp_path: Path) -> None:
    lines = ("/save a", "/delete-checkpoint a", "/checkpoints", "/delete-checkpoint a", "/answer yes", "/checkpoints")
    heard, _ = await hear(tmp_path, *lines, answers="ask")
    assert [len(listed["checkpoints"]) for listed in heard.of("checkpoints")] == [1, 0]
    assert [line for line, _, _ in heard.answers()] == [1, 2, 3, 5, 4, 6]


async def test_a_wrong_answer_leaves_the_question(tmp_path: Path) -> None:
    async with talk(tmp_path, unreadable(), answers="ask", definition=WITH_STATE) as found:
        found.typed.type("look")
        await found.heard.until(has_asked)
        found.typed.type("/answer perhaps")
        await found.heard.until_answered(2)
        found.typed.type("/answer accept")
        await found.heard.until_answered(1)
    assert found.heard.answers() == [(2, "answer", False), (3, "answer", True), (1, "do", True)] or sorted(
        found.heard.answers()
    ) == [(1, "do", True), (2, "answer", False), (3, "answer", True)]


# -- signals, the end ------------------------------------------------------------------------------------------------


@pytest.mark.spec("T3", "U14")
async def test_an_interrupt_is_a_stop_and_the_next_with_nothing_running_is_quit(tmp_path: Path) -> None:
    async with talk(tmp_path, stalling()) as found:
        found.typed.type("look")
        await found.heard.until(has_told)
        found.conversation.interrupt()
        await found.heard.until_answered(1)
        await found.heard.until(lambda heard: (None, "stop", True) in heard.answers())
        found.typed.type("/status")
        await found.heard.until_answered(2)
        found.conversation.interrupt()
        async with asyncio.timeout(5):
            await found.finished.wait()
    assert found.code == 0


async def test_an_interrupt_with_nothing_running_says_how_to_quit(tmp_path: Path) -> None:
    async with talk(tmp_path, is_json=False) as found:
        await found.heard.until(lambda heard: "Step 1" in heard.out)
        found.conversation.interrupt()
        await found.heard.until(lambda heard: "nothing" in heard.err.lower())
    assert "Interrupt once more to quit." in found.heard.out


@pytest.mark.spec("T3")
async def test_leaving_stops_the_turn_and_closes_the_file(tmp_path: Path) -> None:
    async with talk(tmp_path, stalling()) as found:
        found.typed.type("look", "again, then")
        await found.heard.until(has_told)
        found.conversation.leave(143)
    assert found.code == 143
    assert os.listdir(tmp_path) == ["ferry.narrator"]
    async with talk(tmp_path) as again:
        pass
    assert again.heard.events[0]["draft"] == "look"


@pytest.mark.spec("T14")
async def test_a_fault_of_the_program_is_an_error_and_the_game_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fault(session: object, command: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setitem(HANDLERS, "pin", fault)
    heard, code = await hear(tmp_path, "look", "/pin 1", "look")
    assert heard.answers() == [(1, "do", True), (2, "pin", False), (3, "do", True)]
    assert code == 0


@pytest.mark.spec("U15")
async def test_bytes_that_are_no_utf8_are_replaced_and_noted(tmp_path: Path) -> None:
    heard, _ = await hear(tmp_path, b"caf\xe9")
    assert "UTF-8" in heard.of("note")[0]["text"]
    assert heard.of("step")[1]["text"] == "caf\N{REPLACEMENT CHARACTER}"


# -- interactive fiction's own words ---------------------------------------------------------------------------------


@pytest.mark.spec("U25")
async def test_bare_words_are_commands_in_plain_mode_alone(tmp_path: Path) -> None:
    narrator = FakeNarrator()
    heard, _ = await hear(tmp_path, "look", "g", "undo", "Undo", "restart", "/status", is_json=False, narrator=narrator)
    assert [request.scene.input for request in narrator.requests] == ["look", "look"]
    assert heard.out.count("by itself is a command") == 1
    assert "Step 1." in heard.out
    heard, _ = await hear(tmp_path, "undo 2", "redo 1", "undo the knot", is_json=False, narrator=narrator)
    assert [request.scene.input for request in narrator.requests][2:] == ["undo the knot"]
    narrator = FakeNarrator()
    await hear(tmp_path, "undo", narrator=narrator)
    assert [request.scene.input for request in narrator.requests] == ["undo"]


@pytest.mark.spec("U25")
async def test_bare_words_can_be_switched_off(tmp_path: Path) -> None:
    narrator = FakeNarrator()
    await hear(tmp_path, "undo", is_json=False, narrator=narrator, has_if_words=False)
    assert len(narrator.requests) == 1


@pytest.mark.spec("U25")
async def test_again_knows_the_last_input_of_an_earlier_session(tmp_path: Path) -> None:
    await hear(tmp_path, "/say hello")
    narrator = FakeNarrator()
    await hear(tmp_path, "again", is_json=False, narrator=narrator)
    assert [(request.scene.mode, request.scene.input) for request in narrator.requests] == [("say", "hello")]


# -- transcripts, recordings -----------------------------------------------------------------------------------------


@pytest.mark.spec("U26")
async def test_a_transcript_appends_from_here_until_unscript(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    file.write_text("Before.\n")
    narrator = FakeNarrator({"narrate": ["First.", "Second.", "Third."]})
    lines = ("one", f"/script {file}", "two", "/unscript", "three", "/unscript")
    heard, _ = await hear(tmp_path, *lines, narrator=narrator)
    text = file.read_text()
    assert text.startswith("Before.\n")
    assert "> two" in text
    assert "Second." in text
    assert "First." not in text
    assert "Third." not in text
    assert heard.answers()[-1] == (6, "unscript", False)


@pytest.mark.spec("U26")
async def test_a_transcript_of_all_begins_at_the_opening(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    narrator = FakeNarrator({"narrate": ["First.", "Second."]})
    heard, _ = await hear(tmp_path, "one", f"/script {file} all", "two", narrator=narrator)
    text = file.read_text()
    assert (
        text.index("Rain.") < text.index("> one") < text.index("First.") < text.index("> two") < text.index("Second.")
    )
    assert len(heard.of("step")) == 5


@pytest.mark.spec("U26")
async def test_a_transcript_never_goes_into_a_campaign(tmp_path: Path) -> None:
    campaign = tmp_path / "ferry.narrator"
    heard, _ = await hear(tmp_path, f"/script {campaign}", f"/record {campaign}-wal", "/script /no/such/folder/x")
    assert heard.codes() == ["bad-value", "bad-value", "io-error"]


@pytest.mark.spec("U25", "U26")
async def test_a_recording_means_the_same_in_every_mode(tmp_path: Path) -> None:
    record = tmp_path / "commands"
    lines = ("look", "again", '{"command": "a text"}', "undo", "restart", "g", "//slash")
    await hear(tmp_path, f"/record {record}", *lines, is_json=False)
    assert record.read_text().splitlines() == [
        "look",
        '{"command": "do", "text": "look"}',
        '/do {"command": "a text"}',
        "/undo",
        "/go 1",
        '{"command": "do", "text": "{\\"command\\": \\"a text\\"}"}',
        "//slash",
    ]
    played, _ = await hear(tmp_path, "/read")
    (elsewhere := tmp_path / "elsewhere").mkdir()
    replayed, _ = await hear(elsewhere, "/read", replay=record)
    told = [[(step["role"], step["text"]) for step in heard.of("step")][-4:] for heard in (played, replayed)]
    assert told[0] == told[1]
    assert len(told[0]) == 4

    spaced = tmp_path / "spaced"
    await hear(tmp_path, f"/record {spaced}", '{ "text": "one\\ntwo", "command": "do"}', "{ broken", "undo")
    assert spaced.read_text() == '{"command": "do", "text": "one\\ntwo"}\n\nundo\n'


@pytest.mark.spec("U26")
async def test_a_recording_is_replayed_and_then_the_keyboard_goes_on(tmp_path: Path) -> None:
    record = tmp_path / "commands"
    typed = json.dumps({"command": "do", "text": "two\nlines"})
    heard, _ = await hear(tmp_path, f"/record {record}", "one", typed, "/undo 2", "/record", "not this")
    assert record.read_text() == f"one\n{typed}\n/undo 2\n"
    told = [step["text"] for step in heard.of("step")]
    again = tmp_path / "again"
    again.mkdir()
    replayed, _ = await hear(again, "not this", replay=record)
    assert [step["text"] for step in replayed.of("step")] == told
    assert [line for line, _, _ in replayed.answers()] == [None, None, None, 1]
    other, code = await hear(again, f"/replay {record}", "/status", f"/replay {tmp_path}/none")
    assert [word for _, word, _ in other.answers()] == ["do", "do", "undo", "replay", "status", "replay"]
    assert code == 0


# -- how it looks ----------------------------------------------------------------------------------------------------


@pytest.mark.spec("U27")
async def test_plain_text_tells_a_narration_once_and_errors_apart(tmp_path: Path) -> None:
    narrator = FakeNarrator({"narrate": "Mud. \x1b[2J Rain."})
    heard, _ = await hear(tmp_path, "look", "/redo", is_json=False, narrator=narrator)
    assert heard.out == "The Ferry. Told by fake.\n\nRain.\n[Step 1.]\n\nMud. ␛[2J Rain.\n"
    assert heard.err.startswith("narrator: line 2: ")
    assert heard.err.count("\n") == 1


@pytest.mark.spec("U27")
async def test_what_was_typed_below_has_been_read(tmp_path: Path) -> None:
    narrator = FakeNarrator({"narrate": "\n".join(f"row {n}" for n in range(6))})
    async with talk(tmp_path, narrator, is_json=False, height=10) as found:
        for turn in range(1, 4):
            await found.typed.until_prompted()
            found.typed.type("look")
            await found.heard.until(lambda heard, turn=turn: heard.out.count("row 5") == turn)
    assert "[More" not in found.heard.out


@pytest.mark.spec("U27")
async def test_a_pause_leaves_no_gap_and_comes_only_before_more(tmp_path: Path) -> None:
    narrator = FakeNarrator({"narrate": "\n".join(f"row {n}" for n in range(15))})
    async with talk(tmp_path, narrator, is_json=False, height=10) as found:
        await found.typed.until_prompted()
        found.typed.type("look")
        await found.heard.until(lambda heard: "[More" in heard.out)
        found.typed.type("")
        await found.heard.until(lambda heard: "row 14" in heard.out)
    # The terminal shows the Enter itself.
    assert "row 6\n[More: Enter reads on, q skips.] row 7\n" in found.heard.out
    assert found.heard.out.endswith("row 14\n")


@pytest.mark.spec("U27")
async def test_a_pause_holds_text_back_until_enter(tmp_path: Path) -> None:
    narrator = FakeNarrator({"narrate": "\n".join(f"row {n}" for n in range(12))})
    async with talk(tmp_path, narrator, is_json=False, height=10) as found:
        found.typed.type("look")
        await found.heard.until(lambda heard: "[More" in heard.out)
        assert "row 11" not in found.heard.out
        found.typed.type("")
        await found.heard.until(lambda heard: heard.out.count("[More") == 2)
        found.typed.type("")
        await found.heard.until(lambda heard: "row 11" in heard.out)
    assert len(narrator.requests) == 1


@pytest.mark.spec("U27")
async def test_a_pause_is_left_with_q_and_the_next_command_is_shown(tmp_path: Path) -> None:
    narrator = FakeNarrator({"narrate": ["\n".join(f"row {n}" for n in range(40)), "Short."]})
    async with talk(tmp_path, narrator, is_json=False, height=10) as found:
        await found.typed.until_prompted()
        found.typed.type("look")
        await found.heard.until(lambda heard: "[More" in heard.out)
        found.typed.type("q")
        await found.typed.until_prompted()
        assert "row 39" not in found.heard.out
        found.typed.type("wait")
        await found.heard.until(lambda heard: "Short." in heard.out)
    assert "[Skipped" in found.heard.out
    assert [request.scene.input for request in narrator.requests] == ["look", "wait"], "q is not play"


@pytest.mark.spec("U9", "U27")
async def test_a_long_input_that_was_not_sent_is_told_by_its_beginning(tmp_path: Path) -> None:
    async with talk(tmp_path) as found:
        await found.heard.until(lambda heard: bool(heard.of("head")))
        await found.session.keep_draft("word " * 200_000)
    heard, _ = await hear(tmp_path, is_json=False)
    assert len(heard.out) < 1000
    assert "… (1,000,000 characters in all" in heard.out
    heard, _ = await hear(tmp_path)
    assert len(heard.of("ready")[0]["draft"]) == 1_000_000, "whoever reads JSON has it whole"
