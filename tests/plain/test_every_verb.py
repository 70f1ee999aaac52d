"""A whole campaign with every verb, in plain mode alone (U16): the sample that ships, told by the scripted narrator."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrator import paths
from narrator.engine.handlers import HANDLERS
from narrator.engine.verbs import COMMANDS
from narrator.narrators.scripted import ScriptedNarrator
from tests.plain.talk import hear

GAME = """
look around
/do look under the tarpaulin
/say hello
/story The rain stops.
/continue
/retry x2 darker
/takes
/take 1
/retell
/edit last You wait.
/edit-wording last You wait some more.
/correct location landing because I walked
/assert The bell is cracked
/retract The bell is cracked
/note Be brief.
/persona A tall lampwright.
/save bell
/save-at 3 start
/save
/checkpoints
/rename-checkpoint bell gong
/undo 3
/redo
/undo-turn
/restore gong
/go 3
/back
/forward
/fork 3
go ashore
/branches
/rename-branch "from step 3" the landing
/map
/switch the landing
/retry
/pin 1
/unpin 1
/delete-take 1
/undelete
/state
/state --all
/audit location
/checks
/remember The ferryman lies.
/memories
/edit-memory 1 The ferryman lies about lanterns.
/pin-memory 1
/forget-memory 1
/cards
/card Tench off
/knowledge
/track on
/suggest
/prompt
/read 2
/search rain
/stats
/status
/narrator
/help undo
/go 1
/switch #1
/delete-checkpoint gong
/delete-checkpoint start
/delete-branch the landing
/prune all
/export FOLDER/story.md
/script FOLDER/script.txt all
/unscript
/record FOLDER/record
/record
/replay FOLDER/record
* private
/quit
"""
ELSEWHERE = {"stop", "keep", "answer"}
"""These need a turn that runs or a question that waits: test_loop has them."""


@pytest.mark.spec("U16", "U14", "U18", "U23")
async def test_a_campaign_is_played_with_every_verb(tmp_path: Path) -> None:
    lines = [
        line.replace("FOLDER", str(tmp_path))
        for line in GAME.strip().splitlines()
        if not line.startswith("/") or line.split()[0][1:] in HANDLERS
    ]
    narrator = ScriptedNarrator(words_per_second=0)
    definition = paths.samples()["lantern-road"].read_text(encoding="utf-8")
    heard, code = await hear(tmp_path, *lines, narrator=narrator, definition=definition, answers="yes")
    failed = [lines[done["line"] - 1] for done in heard.of("done") if not done["ok"]]
    assert failed == [], heard.of("error")
    assert [done["line"] for done in heard.of("done")] == list(range(1, len(lines) + 1))
    assert {done["command"] for done in heard.of("done")} | ELSEWHERE >= set(HANDLERS)
    assert code == 0


def test_every_verb_is_in_the_game() -> None:
    words = {line.split()[0][1:] for line in GAME.splitlines() if line.startswith("/")}
    assert words | ELSEWHERE | {"comment"} == set(COMMANDS)
