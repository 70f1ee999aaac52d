"""The state in plain mode: titles and words for people, paths in JSON (W7, W8, W9, T8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose
from tests.plain.talk import hear, talk

DEFINITION = """
[campaign]
id = "ferry"
title = "The Ferry"
opening = "Rain."

[player]
name = "Ansa"

[start]
location = "ferry"
threads = { count = "Why seven?" }

[entities.ferry]
name = "the ferry"
kind = "place"
visibility = "open"

[state.player.nerve]
type = "number"
min = 0
max = 10
initial = 7
max_change = 1
bands = [[0, 2, "shaking"], [3, 6, "wary"], [7, 10, "steady"]]
[state.road.burning]
type = "number"
label = "Lanterns burning"
initial = 5
[state.flags.cursed]
type = "flag"
visibility = "hidden"
initial = true

[rules]
SHOWS
[rules.skills.climb]
field = "player.nerve"
[rules.difficulty]
hard = 14
"""
PLAIN = DEFINITION.replace("SHOWS", "")
WITHOUT_RULES = DEFINITION.partition("[rules]")[0]
CLIMB = {"check": {"skill": "climb", "difficulty": "hard"}}


def narrator(change: int = -3) -> FakeNarrator:
    fake = FakeNarrator()
    fake.answer(Purpose.CHECK, CLIMB)
    fake.answer(Purpose.NARRATE, "The lamp goes out.")
    change_of = {"op": "add", "path": "player.nerve", "value": change, "why": "it is dark"}
    wrong = {"op": "set", "path": "player.nerve", "value": "blue", "why": ""}
    fake.answer(Purpose.EXTRACT, {"changes": [change_of, wrong]})
    return fake


@pytest.mark.spec("W7", "W2")
async def test_the_state_is_told_in_words_under_headings(tmp_path: Path) -> None:
    heard, _ = await hear(tmp_path, "/state", "/state nerve", is_json=False, definition=PLAIN)
    lines = heard.out.splitlines()
    start = lines.index("Scene:")
    assert lines[start:] == [
        "Scene:",
        "  Place: The ferry",
        "Ansa (you):",
        "  Nerve: steady, 7",
        "Story:",
        "  Lanterns burning: 5",
        "Threads:",
        "  Count: Why seven?",
        "Nerve: steady, 7. (player.nerve)",
    ]
    assert "cursed" not in heard.out


@pytest.mark.spec("W7", "W8", "S23", "W4")
async def test_changes_history_and_corrections_are_told_without_a_path(tmp_path: Path) -> None:
    lines = (
        "climb",
        '/correct "lanterns burning" 6 because I counted',
        "/correct nerve shaking",
        "/audit road.burning",
        "/audit Nerve",
    )
    heard, code = await hear(tmp_path, *lines, is_json=False, definition=PLAIN, narrator=narrator(), is_strict=True)
    assert code == 0, heard.err
    out = heard.out
    assert "[Nerve: wary, 6 (was steady, 7) (it is dark; 4 instead of" not in out
    assert "[Nerve: wary, 6 (was steady, 7).]" in out
    assert "[Nerve: 6 instead of 4, which is more than 1 in a turn]" in out
    assert "[1 change refused: Nerve: Nerve is a number, not 'blue']" in out
    assert "[Corrected: Lanterns burning: 6 (was 5), because I counted.]" in out
    assert "Step 4: 5 to 6, by you: I counted" in heard.out
    history = out[out.index("Nerve:\nStep 1") :].splitlines()
    assert history[1] == "Step 1: nothing to steady, 7, by the campaign: start"
    assert history[2].startswith("Step 3: steady, 7 to wary, 6, by the narrator: it is dark; 6 instead of 4")
    assert "[Corrected: Nerve: shaking, 2 (was wary, 6).]" in out
    assert history[3] == "Step 5: wary, 6 to shaking, 2, by you: 'shaking' was read as 2"
    assert "player.nerve" not in out


@pytest.mark.spec("W7", "U14")
async def test_json_keeps_the_paths_and_adds_the_words(tmp_path: Path) -> None:
    heard, _ = await hear(
        tmp_path,
        '{"command": "state"}',
        '{"command": "correct", "path": "player.nerve", "value": 5}',
        '{"command": "audit", "path": "Nerve"}',
        definition=PLAIN,
    )
    (shown,) = heard.of("state")
    thread = {"text": "Why seven?", "open": True}
    values = {"location": "ferry", "player.nerve": 7, "road.burning": 5, "threads.count": thread}
    assert shown["values"] == values
    assert {"path": "player.nerve", "group": "Ansa (you)", "label": "Nerve", "words": "steady, 7"} in shown["fields"]
    assert heard.of("step")[-1]["words"] == "Nerve: wary, 5 (was steady, 7)"
    (audit,) = heard.of("audit")
    assert audit["label"] == "Nerve"
    last = audit["audit"][-1]
    assert (last["path"], last["old"], last["new"], last["op"]) == ("player.nerve", 7, 5, "set")
    assert (last["was"], last["became"]) == ("steady, 7", "wary, 5")


@pytest.mark.spec("T8")
async def test_a_turn_tells_no_numbers_whatever_the_campaign_allows(tmp_path: Path) -> None:
    definition = DEFINITION.replace("SHOWS", "show_numbers = true")
    heard, _ = await hear(tmp_path, "climb", definition=definition, narrator=narrator())
    (made,) = heard.of("checks")
    assert [(check["skill"], check["rolled"]) for check in made["checks"]] == [("climb", "")]


@pytest.mark.spec("T8")
@pytest.mark.parametrize("shows", [False, True])
async def test_what_fell_is_told_where_the_campaign_allows_it(tmp_path: Path, shows: bool) -> None:
    definition = DEFINITION.replace("SHOWS", "show_numbers = true" if shows else "")
    heard, _ = await hear(tmp_path, "climb", "/checks", is_json=False, definition=definition, narrator=narrator())
    (line,) = [line for line in heard.out.splitlines() if line.startswith("[Step 3: climb, hard: ")]
    assert ("rolled " in line) == shows
    assert ("against 14" in line) == shows


def waiting() -> FakeNarrator:
    fake = FakeNarrator()
    fake.answer(Purpose.NARRATE, "The lamp goes out.")
    fake.answer(Purpose.EXTRACT, {"changes": [{"op": "add", "path": "player.nerve", "value": -1, "why": ""}]})
    return fake


@pytest.mark.spec("S22")
async def test_changes_are_entered_line_by_line_and_judged_at_once(tmp_path: Path) -> None:
    lines = (
        *("wait", "/edit 3 The lamp burns.", "/answer enter", "nerve blue", "nerve 2", "/undo", "nerve 3"),
        *('"lanterns burning" add 1', "nothing", "", "/state nerve", "/state road.burning"),
    )
    heard, _ = await hear(tmp_path, *lines, is_json=False, definition=WITHOUT_RULES, narrator=waiting(), answers="ask")
    out = heard.out
    assert "worked out: Nerve: wary, 6 (was steady, 7)" in out
    assert "[One change a line: a name and a value" in out
    assert "[Nerve is a number, not 'blue']" in out
    assert "[Nerve: steady, 7 → shaking, 2]" in out
    assert "[That one is taken back.]" in out
    assert "[Lanterns burning: 5 → 6]" in out
    assert "A change is a name and a value." in out
    assert "Nerve: wary, 3. (player.nerve)" in out
    assert "Lanterns burning: 6. (road.burning)" in out


@pytest.mark.spec("S22")
async def test_entering_is_left_with_nothing_changed(tmp_path: Path) -> None:
    lines = ("wait", "/edit 3 The lamp burns.", "/answer enter", "nerve 2", "/cancel", "/read 1")
    heard, _ = await hear(tmp_path, *lines, is_json=False, definition=WITHOUT_RULES, narrator=waiting(), answers="ask")
    assert "The lamp burns." not in heard.out
    assert heard.out.rstrip().endswith("The lamp goes out.")


@pytest.mark.spec("S22", "U14")
async def test_in_json_the_changes_come_with_the_answer_and_what_is_refused_is_asked_again(tmp_path: Path) -> None:
    wrong, right = '{"player.nerve": "blue"}', '{"changes": [{"op": "set", "path": "player.nerve", "value": 2}]}'
    lines = (
        *("wait", '{"command": "edit", "step": 3, "text": "The lamp burns."}'),
        f'{{"command": "answer", "choice": "enter", "value": {wrong}}}',
        f'{{"command": "answer", "choice": "enter", "value": {right}}}',
        '{"command": "state"}',
    )
    heard, _ = await hear(tmp_path, *lines, definition=WITHOUT_RULES, narrator=waiting(), answers="ask")
    first, second = heard.of("ask")
    assert first["what"] == second["what"] == "edited-state"
    (change,) = first["shows"]["worked_out"]
    assert (change["path"], change["op"], change["value"]) == ("player.nerve", "add", -1)
    assert "1 change refused: Nerve: Nerve is a number, not 'blue'" in [note["text"] for note in heard.of("note")]
    assert heard.of("state")[-1]["values"]["player.nerve"] == 2


@pytest.mark.spec("S22", "T3")
async def test_a_stop_ends_the_entering_and_the_edit(tmp_path: Path) -> None:
    lines = ("wait", "/edit 3 The lamp burns.", "/answer enter", "nerve 2")
    async with talk(tmp_path, waiting(), is_json=False, definition=WITHOUT_RULES, answers="ask") as found:
        found.typed.type(*lines)
        await found.heard.until(lambda heard: "[Nerve: steady, 7 → shaking, 2]" in heard.out)
        found.typed.type("/stop", "/state nerve")
        await found.heard.until(lambda heard: "(player.nerve)" in heard.out)
    assert "No question is waiting." in found.heard.err
    assert "Nerve: wary, 6. (player.nerve)" in found.heard.out
    assert "The lamp burns." not in found.heard.out
