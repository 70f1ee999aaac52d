"""Whole requests of every purpose, byte for byte, as files in ``golden`` beside this one (C9, C10, C12).

``NARRATOR_GOLDEN=write pytest tests/engine/test_golden.py`` writes them anew, after a change of the prompt that was
meant. Read the difference before committing: it is what every model is told from then on. A change of what stands
before the dynamic tail, or of the order of its parts, is a new prompt schema version.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from narrator.config import ContextSettings, Settings
from narrator.core.prompt import PROMPT_SCHEMA_VERSION
from narrator.exchange.importing import import_files
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.port import Purpose, Request
from tests.engine.long_stories import EMPTY, lengthen, narration, small
from tests.engine.playing import make, playing
from tests.exchange.bringing import around
from tests.store.making import open_story

FOLDER = Path(__file__).parent / "golden"
DEFINITION = '''
[campaign]
id = "mill"
title = "The Mill at Skerry"
opening = """
The wheel stands still.

Orrin Vale counts sacks “twice, always twice” and does not look up."""
premise = "A mill at the end of a causeway that the tide takes twice a day."
instructions = "Second person, present tense."
limits = "Nobody leaves the causeway."
language = "en"

[player]
name = "Ansa"
persona = "A lamplighter far from home."

[start]
location = "yard"
time = "dusk"
mood = "uneasy"
present = ["miller"]
inventory = { lamp = "player", sack = "miller" }
facts = ["The wheel has not turned since Sunday."]
threads = { wheel = "Why does the wheel stand still?" }

[entities.yard]
name = "the yard"
kind = "place"
text = "Cobbles and chaff."
[entities.loft]
name = "the loft"
kind = "place"
[entities.miller]
name = "Orrin Vale"
text = "The miller. He counts everything twice."
[entities.lamp]
name = "a lamp"
kind = "thing"
[entities.sack]
name = "a sack"
kind = "thing"
[entities.rat]
name = "The Rat King"
visibility = "hidden"

[state.player.nerve]
type = "number"
min = 0
max = 10
initial = 7
bands = [[0, 2, "shaking"], [3, 6, "wary"], [7, 10, "steady"]]
[state.miller.plan]
type = "text"
visibility = "narrator"
initial = "to burn the mill"
[state.flags.burnt]
type = "flag"
visibility = "hidden"
[state.trust]
type = "relation"
min = -5
max = 5
bands = [[-5, -1, "cold"], [0, 2, "civil"], [3, 5, "warm"]]
initial = [["miller", "player", 1]]

[rules]
dice = "1d20"
[rules.skills.persuade]
field = "player.nerve"
[rules.difficulty]
easy = 6
hard = 14

[[cards]]
name = "The World"
constant = true
text = "There are two moons."
[[cards]]
name = "The Wheel"
keys = ["wheel"]
text = "The wheel was built without a single nail."
kind = "reference"
[[cards]]
name = "The Rat King"
keys = ["rat"]
text = "Nobody has seen him and lived."
'''
TIDES = (
    "# Tides\n\nThe tide at Skerry comes in twice, the second time without water.\n\n# Bread\n\nBread is baked there."
)
CHECK = {"check": {"skill": "persuade", "difficulty": "hard"}}
CHANGES = {"changes": [{"op": "add", "path": "player.nerve", "value": -1, "why": "he laughs at her"}]}
TURNS: Mapping[str, str] = {
    "first": "I look at the wheel, and ask about the tide.",
    "said": "/say “Why does it stand still?”",
    "continued": "/continue",
    "with-a-retry-note": "/retry darker, shorter",
    "retold": "/retell",
    "corrected": "I light the lamp.",
    "suggested": "/suggest",
    "edited": "/edit last The lamp gutters and goes out.",
}
BEFORE: Mapping[str, tuple[str, ...]] = {
    "corrected": (
        "/correct player.nerve 9 because I am not afraid",
        "/correct flags.burnt true",
        "/assert Orrin Vale limps.",
        "/note Slowly, with the weather.",
        "/persona A lamplighter who has slept.",
        "/remember Orrin owes the ferryman eleven coins for the lamp.",
    ),
}


def shown(request: Request) -> str:
    """A request as its file has it: each message under a line with its role, then the schema of the answer."""
    told = "".join(f"======== {message.role}\n{message.content}\n" for message in request.messages)
    schema = json.dumps(dict(request.schema), indent=1) if request.schema is not None else "none"
    return f"{told}======== schema: {schema}\n"


def telling() -> FakeNarrator:
    fake = FakeNarrator(capabilities=small(60_000))
    numbers = itertools.count(1)
    fake.answer(Purpose.CHECK, CHECK)
    fake.answer(Purpose.NARRATE, lambda request: f"Orrin lifts sack {next(numbers)}.\n\nThe tide turns.")
    fake.answer(Purpose.EXTRACT, "It changed a lot.", CHANGES)
    fake.answer(Purpose.MEMORY, {"memory": "Ansa asked Orrin Vale about the wheel of the mill."})
    fake.answer(Purpose.SUGGEST, {"suggestions": ["Look up.", "Leave.", "Wait."]})
    return fake


def named(found: dict[str, str], name: str, requests: list[Request]) -> None:
    """Put requests under ``name-purpose``, further ones of a purpose with a number."""
    for request in requests:
        key = f"{name}-{request.purpose.value}"
        found[key if key not in found else f"{key}-{sum(each.startswith(key) for each in found) + 1}"] = shown(request)


async def played(folder: Path) -> dict[str, str]:
    """The requests of a short game, each with all that a tail may hold somewhere."""
    path = make(folder, DEFINITION)
    (folder / "tides.md").write_text(TIDES)
    import_files([folder / "tides.md"], around(folder), as_format="canon", into=path)
    fake, found = telling(), dict[str, str]()
    async with playing(path, fake, settings=Settings(context=ContextSettings(memory_every=5))) as play:
        for name, line in TURNS.items():
            for before in BEFORE.get(name, ()):
                assert (await play.do(before)).ok, before
            fake.requests.clear()
            assert (await play.do(line)).ok, line
            await play.session.kept_up()
            named(found, name, fake.requests)
    return found


async def summed_up(folder: Path) -> dict[str, str]:
    """The requests of a story that outgrows its window: a summary, its repair, what is told behind it."""
    path = make(folder, DEFINITION, "long")
    story = open_story(path)
    lengthen(story, 24, size=300)
    story.close()
    fake, found = FakeNarrator(capabilities=small(14_000)), dict[str, str]()
    fake.answer(Purpose.COMPACT, "no summary", json.dumps({**EMPTY, "events": ["Orrin counted."], "mood": "still"}))
    fake.answer(Purpose.NARRATE, Line(narration(1, 60), finish="length"), narration(2, 60))
    fake.answer(Purpose.EXTRACT, {"changes": []})
    fake.answer(Purpose.CHECK, {"check": None})
    async with playing(path, fake, settings=Settings(context=ContextSettings(memory_every=500))) as play:
        for name, line in {"behind-a-summary": "I wait.", "cut-off": "/continue"}.items():
            fake.requests.clear()
            assert (await play.do(line)).ok, line
            await play.session.kept_up()
            named(found, name, fake.requests)
    return found


@pytest.mark.spec("C9", "C10", "C12", "C22", "C28", "T4", "T8", "T20", "S20", "S23")
async def test_requests_are_what_they_were_byte_for_byte(tmp_path: Path) -> None:
    found = {**await played(tmp_path), **await summed_up(tmp_path)}
    assert {name.rpartition("-")[2] if not name[-1].isdigit() else name.split("-")[-2] for name in found} == {
        purpose.value for purpose in Purpose
    }
    if os.environ.get("NARRATOR_GOLDEN") == "write":
        FOLDER.mkdir(exist_ok=True)
        for old in FOLDER.glob("*.txt"):
            old.unlink()
        for name, text in found.items():
            (FOLDER / f"{name}.txt").write_bytes(text.encode())
    kept = {path.stem: path.read_bytes().decode() for path in FOLDER.glob("*.txt")}
    assert sorted(found) == sorted(kept)
    for name, text in found.items():
        assert text == kept[name], f"{name}: NARRATOR_GOLDEN=write writes it anew, if that was meant"
    assert PROMPT_SCHEMA_VERSION == 3
