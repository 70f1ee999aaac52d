"""A unique word in every place that no request may tell of, and a search of all that leaves (C10, C22, C30, S32).

The places stand in three tables, one line each: what may be in no request at all, what was of the story once and is no
longer, and what narration may see in its tail but no summary or memory may hold.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from narrator.config import ContextSettings, Settings
from narrator.engine.commands import parse_line, parse_object
from narrator.engine.session import Session
from narrator.exchange.importing import import_files
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.narrators.secret import Secret
from narrator.store import commit, memory_reads
from tests.engine.long_stories import EMPTY, narration, said
from tests.engine.playing import make
from tests.exchange.bringing import around
from tests.fake_server import Answer, Exchange, FakeServer, give, refuse, say

WINDOW = 20_000
TURNS = 70
NOWHERE = {
    "the name of a hidden field": "canaryfield",
    "the value of a hidden field": "canaryvalue",
    "a hidden flag": "canaryflag",
    "a hidden clock": "canaryclock",
    "a hidden condition": "canarycondition",
    "a hidden entity, and the owner of an item": "canaryentity",
    "an item of a hidden owner": "canaryhoard",
    "a hidden item in an open hand": "canarypurse",
    "a card that did not trigger": "canarycard",
    "a card whose condition does not hold": "canaryshut",
    "a card that is switched off": "canaryoff",
    "knowledge that is switched off": "canarysource",
    "knowledge whose condition does not hold": "canarysealed",
    "a storylet": "canarystorylet",
    "the seed": "90210777",
    "dice: what a check rolled": "7919",
    "an exact number of a relation": "31337",
    "why a change was made": "canarywhy",
    "a change that was refused": "canaryrefused",
    "an output that was stopped": "canarystopped",
    "an output that broke off": "canarybroken",
    "an output that was refused by the provider": "canarybody",
    "a correction of a hidden field": "canarycorrection",
    "a suggestion": "canarysuggestion",
    "a private note": "canarynote",
    "the name of a checkpoint": "canarymark",
    "the name of a branch": "canaryrail",
    "a draft that was not sent": "canarydraft",
    "chain of thought": "canarythought",
    "a key": "canarykey",
    "a forgotten memory": "canaryforgotten",
}
"""In no request of any purpose, ever."""
GONE = {
    "a take not chosen": "canarytake",
    "a take that a retelling stands beside": "canaryretold",
    "an input that was edited": "canaryinput",
    "a narration that was edited": "canarywording",
    "an input that was undone": "canaryundone",
    "another branch": "canarybranch",
    "a memory of another branch": "canaryelsewhere",
    "a line that was left by a restore": "canaryleft",
    "a summary of that line": "canarysummary",
    "a deleted take": "canarydeleted",
    "a memory in its old words": "canaryreworded",
    "an author's note that was replaced": "canaryoldnote",
    "a persona that was replaced": "canarypersona",
    "a correction that was undone": "canaryretracted",
    "a note with a retry": "canarydarker",
}
"""Told once, rightly; in no request from the moment on at which it was none of the story's any more."""
NOT_REMEMBERED = {
    "what the narrator alone knows": "canaryplan",
    "the author's note": "canaryauthor",
    "a memory": "canarymemory",
    "the inventory of another": "canarysack",
    "a fact of the state": "canarytruth",
    "a fact that was retracted, which binds": "canaryfact",
    "a card that triggered": "canarylamp",
    "a passage of knowledge": "canarytide",
}
"""In narration's tail; neither in what a summary or a memory is made from nor in what is kept of it."""
DEFINITION = f"""
[campaign]
id = "mill"
title = "The Mill"
opening = "The wheel stands still."
[start]
present = ["miller"]
inventory = {{ sack = "miller", purse = "miller", hoard = "rat", coin = "rat" }}
facts = ["{NOT_REMEMBERED["a fact of the state"]} is so."]
[entities.miller]
name = "Orrin"
[entities.sack]
name = "{NOT_REMEMBERED["the inventory of another"]}"
kind = "thing"
[entities.coin]
name = "a coin"
kind = "thing"
[entities.purse]
name = "{NOWHERE["a hidden item in an open hand"]}"
kind = "thing"
visibility = "hidden"
[entities.rat]
name = "{NOWHERE["a hidden entity, and the owner of an item"]}"
visibility = "hidden"
[entities.hoard]
name = "{NOWHERE["an item of a hidden owner"]}"
kind = "thing"
visibility = "hidden"
[state.player.nerve]
type = "number"
min = 0
max = 100000
initial = 7000
bands = [[0, 100, "shaking"], [101, 100000, "steady"]]
[state.secret.{NOWHERE["the name of a hidden field"]}]
type = "text"
visibility = "hidden"
initial = "{NOWHERE["the value of a hidden field"]}"
[state.flags.{NOWHERE["a hidden flag"]}]
type = "flag"
visibility = "hidden"
[state.miller.plan]
type = "text"
visibility = "narrator"
initial = "{NOT_REMEMBERED["what the narrator alone knows"]}"
[state.trust]
type = "relation"
min = -50000
max = 50000
bands = [[-50000, 0, "cold"], [1, 50000, "warm"]]
initial = [["miller", "player", {NOWHERE["an exact number of a relation"]}]]
[rules]
dice = "1d20"
[rules.skills.climb]
field = "player.nerve"
[rules.difficulty]
hard = 14
[rules.clocks.{NOWHERE["a hidden clock"]}]
size = 6
advances_on = ["failure", "critical failure"]
when_full = [{{ op = "set", path = "flags.{NOWHERE["a hidden flag"]}", value = true }}]
[[cards]]
name = "Deep"
keys = ["abyss"]
text = "{NOWHERE["a card that did not trigger"]}"
[[cards]]
name = "Lamp"
keys = ["lamp"]
text = "{NOT_REMEMBERED["a card that triggered"]}"
[[cards]]
name = "Shut"
keys = ["wheel"]
when = "player.nerve == 99999"
text = "{NOWHERE["a card whose condition does not hold"]}"
[[cards]]
name = "Off"
keys = ["wheel"]
text = "{NOWHERE["a card that is switched off"]}"
[[storylets]]
id = "end"
keys = ["xyzzy"]
when = "player.nerve == 99999"
wordings = ["{NOWHERE["a storylet"]}"]
[[endings]]
id = "{NOWHERE["a hidden condition"]}"
when = "player.nerve == 99999"
"""
KNOWLEDGE = {
    # What input and scene ask for of each: the tide, the bread, the bell.
    "tide.md": (f"# Tide\n\nThe tide is {NOT_REMEMBERED['a passage of knowledge']}.", ""),
    "bread.md": (f"# Bread\n\nBread is {NOWHERE['knowledge that is switched off']}.", ""),
    "bell.md": (
        f"# Bell\n\nThe bell is {NOWHERE['knowledge whose condition does not hold']}.",
        "player.nerve == 99999",
    ),
    "more.md": ("\n\n".join(f"# Part {n}\n\nNothing of that kind, {n}." for n in range(20)), ""),
}


def made_up(body: dict[str, Any]) -> Answer:
    """A model that thinks aloud beside its answer, where the canary of that place sits."""
    return say(narration(len(json.dumps(body)) % 9973, 300), reasoning=NOWHERE["chain of thought"])


class Told:
    """What the fake server answers to narrations: a queue of its own, then ``made_up``."""

    def __init__(self) -> None:
        self.next: list[Answer] = []

    async def __call__(self, exchange: Exchange) -> None:
        await (self.next.pop(0) if self.next else made_up(exchange.request.json))(exchange)


def breaks_off(text: str) -> Answer:
    """The connection drops in mid-sentence."""

    async def answer(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.delta(role="assistant", content=text)
        exchange.cut()

    return answer


def summed_up(body: dict[str, Any]) -> Answer:
    """A summary that keeps the canary of its line."""
    left = GONE["a line that was left by a restore"] in said(body)
    events = ["They went round.", *([GONE["a summary of that line"]] if left else [])]
    return give({**EMPTY, "events": events}, reasoning=NOWHERE["chain of thought"])


class Game:
    """A session in which every place gets its word by the verbs that put it there. Owns nothing."""

    def __init__(self, session: Session, told: Told, server: FakeServer) -> None:
        self.session = session
        self.told = told
        self.server = server
        self.gone_at: dict[str, int] = {}

    async def do(self, line: str | dict[str, Any]) -> bool:
        command = parse_line(line) if isinstance(line, str) else parse_object(line)
        return await self.session.perform(command)

    async def turn(self, line: str, word: str = "") -> None:
        """A turn; with a word in its narration."""
        if word:
            self.told.next.append(say(f"There is {word} by the wheel."))
        assert await self.do(line), line

    async def rounds(self, first: int, last: int) -> None:
        """So many turns, which ask for all that a tail may hold, each with its upkeep now and then."""
        for number in range(first, last):
            await self.turn(f"I go round the wheel with the lamp, {number}, and ask about tide, bread and bell.")
            if number % 6 == 0:
                await self.session.kept_up()

    def gone(self, *places: str) -> None:
        """From now on these are none of the story's."""
        for place in places:
            self.gone_at[place] = len(self.server.requests)


async def takes_and_edits(game: Game) -> None:
    """Takes not chosen, retold, edited, undone, deleted."""
    story = game.session.story
    assert await game.do("/card Off off")
    assert await game.do("/knowledge 2 off")
    await game.turn("I look up.")
    await game.turn("I try the wheel.", GONE["a take not chosen"])
    await game.turn(f"/retry {GONE['a note with a retry']}")
    game.gone("a take not chosen", "a note with a retry")
    await game.turn("I sit.", GONE["a take that a retelling stands beside"])
    await game.turn("/retell")
    game.gone("a take that a retelling stands beside")
    await game.turn(f"I say {GONE['an input that was edited']}.")
    assert await game.do({"command": "edit", "step": {"id": story.head.parent_id}, "text": "I say nothing."})
    game.gone("an input that was edited")
    await game.turn("I stand.", GONE["a narration that was edited"])
    assert await game.do("/edit last It is still.")
    game.gone("a narration that was edited")
    await game.turn(f"I shout {GONE['an input that was undone']}.")
    assert await game.do("/undo-turn")
    game.gone("an input that was undone")
    await game.turn("I turn back.", GONE["a deleted take"])
    await game.turn("/retry")
    assert await game.do("/delete-take 1")
    game.gone("a deleted take")


async def marks_and_words(game: Game) -> None:
    """Memories, notes, persona, facts, corrections, names, a draft, suggestions."""
    story = game.session.story
    commit.remember(story.store, story.head.id, f"They saw {NOT_REMEMBERED['a memory']} by the wheel.")
    forgotten = commit.remember(story.store, story.head.id, f"The wheel is {NOWHERE['a forgotten memory']}.")
    reworded = commit.remember(story.store, story.head.id, f"The wheel was {GONE['a memory in its old words']}.")
    assert await game.do(f"/forget-memory {forgotten}")
    assert await game.do(f"/note {GONE['an author' + chr(39) + 's note that was replaced']}")
    assert await game.do(f"/persona {GONE['a persona that was replaced']}")
    assert await game.do(f"/assert {NOT_REMEMBERED['a fact that was retracted, which binds']} is so.")
    await game.turn("I wait by the wheel.")
    assert await game.do(f"/edit-memory {reworded} The wheel was new.")
    assert await game.do(f"/note {NOT_REMEMBERED['the author' + chr(39) + 's note']}")
    assert await game.do("/persona A lamplighter.")
    assert await game.do(f"/retract {NOT_REMEMBERED['a fact that was retracted, which binds']} is so.")
    game.gone("a memory in its old words", "an author's note that was replaced", "a persona that was replaced")
    assert await game.do(f"/assert {GONE['a correction that was undone']} is so.")
    assert await game.do("/undo")
    game.gone("a correction that was undone")
    assert await game.do(
        f"/correct secret.{NOWHERE['the name of a hidden field']} {NOWHERE['a correction of a hidden field']}"
    )
    assert await game.do("/correct trust.miller.player 5")
    assert await game.do(f"/correct trust.miller.player {NOWHERE['an exact number of a relation']}")
    assert await game.do(f"/save {NOWHERE['the name of a checkpoint']}")
    assert await game.do(f"/rename-branch #{story.end.branch_id} {NOWHERE['the name of a branch']}")
    assert await game.do(f"/comment {NOWHERE['a private note']}")
    assert await game.do("/suggest")
    await game.session.keep_draft(NOWHERE["a draft that was not sent"])


async def failures(game: Game) -> None:
    """A stop, a connection that breaks, a provider that refuses."""
    session = game.session
    game.told.next.append(say(f"Then {NOWHERE['an output that was stopped']} came near and nearer.", stall_at=3))
    turning = asyncio.ensure_future(game.do("I wait by the wheel."))
    while session.in_flight is None or "canary" not in session.in_flight.text:  # noqa: ASYNC110
        await asyncio.sleep(0)
    await game.do("/stop")
    assert not await turning
    game.told.next.append(breaks_off(f"Then {NOWHERE['an output that broke off']} came near"))
    assert not await game.do("I wait longer.")
    refusal = {"error": {"message": NOWHERE["an output that was refused by the provider"]}}
    game.told.next.append(refuse(500, refusal))
    assert not await game.do("I wait longest.")


async def branches(game: Game) -> None:
    """Another branch with a memory of its own; a line with a summary, left by a restore."""
    story = game.session.story
    here = story.head.id
    await game.turn("I go aside.", GONE["another branch"])
    commit.remember(story.store, story.head.id, f"The wheel is {GONE['a memory of another branch']}.")
    await game.turn("I go on to the wheel.")
    assert await game.do({"command": "go", "step": {"id": here}})
    game.gone("another branch", "a memory of another branch")
    assert await game.do({"command": "fork", "step": {"id": here}})
    await game.turn("I go the other way.")
    assert await game.do("/save here")
    await game.turn("I hum.", GONE["a line that was left by a restore"])
    await game.rounds(0, TURNS // 2)
    await game.session.kept_up()
    kept = [row[0] for row in story.store.db.execute("SELECT summary_json FROM context_checkpoints")]
    assert any(GONE["a summary of that line"] in text for text in kept)
    assert await game.do("/restore here")
    game.gone("a line that was left by a restore", "a summary of that line")


@pytest.mark.spec("C22", "C10", "C30", "S32", "T8", "T16", "C28", "S35")
async def test_no_request_holds_a_canary(tmp_path: Path) -> None:
    told = Told()
    thought = NOWHERE["chain of thought"]
    changes = [
        {"op": "add", "path": "player.nerve", "value": 1, "why": NOWHERE["why a change was made"]},
        {"op": "set", "path": "miller.hat", "value": NOWHERE["a change that was refused"], "why": "so"},
    ]
    path = make(tmp_path, DEFINITION, seed=int(NOWHERE["the seed"]))
    for name, (text, condition) in KNOWLEDGE.items():
        (tmp_path / name).write_text(text)
        import_files([tmp_path / name], around(tmp_path), as_format="canon", into=path, condition=condition)
    async with FakeServer() as server:
        server.answer("narrate", told)
        server.answer("check", give({"check": {"skill": "climb", "difficulty": "hard"}}, reasoning=thought))
        server.answer("extract", give({"changes": changes}))
        server.answer("suggest", give({"suggestions": [f"Look for {NOWHERE['a suggestion']}."]}))
        server.answer("compact", lambda exchange: summed_up(exchange.request.json)(exchange))
        server.answer("memory", give({"memory": "They went round the wheel."}, reasoning=thought))
        narrator = OpenAICompatible(
            "mine",
            base_url=server.base_url,
            model="fake",
            api_key=Secret(NOWHERE["a key"]),
            context_window=WINDOW,
            max_output_tokens=512,
            retries=0,
        )
        settings = Settings(context=ContextSettings(memory_every=6))
        session = await Session.open(path, settings=settings, narrator=narrator, answers="yes")
        game = Game(session, told, server)
        try:
            for part in (takes_and_edits, marks_and_words, failures, branches):
                await part(game)
            story = session.story
            story.store.db.execute("UPDATE checks SET roll = 7919, total = 7919, target = 7919")
            await game.rounds(TURNS // 2, TURNS)
            await session.kept_up()
            kept = [row[0] for row in story.store.db.execute("SELECT summary_json FROM context_checkpoints")]
            kept += [row.text for row in memory_reads.memories(story.store, story.end) if row.source != "typed"]
        finally:
            await session.aclose()
    require_no_canary(server, game.gone_at, kept)


def require_no_canary(server: FakeServer, gone_at: dict[str, int], kept: list[str]) -> None:
    """Search every request that left."""
    bodies = [(request.purpose, request.body.decode()) for request in server.requests]
    purposes = [purpose for purpose, _ in bodies]
    assert set(purposes) >= {"narrate", "check", "extract", "suggest", "compact", "memory"}
    assert purposes.count("compact") >= 3
    assert purposes.count("narrate") > TURNS
    for place, word in NOWHERE.items():
        assert [purpose for purpose, body in bodies if word in body] == [], place
    assert set(gone_at) == set(GONE)
    for place, at in gone_at.items():
        word = GONE[place]
        # It was there to be found, and is so no longer.
        assert any(word in body for _, body in bodies[:at]) or place == "a correction that was undone", place
        assert [purpose for purpose, body in bodies[at:] if word in body] == [], place
    narrated = "\n".join(body for purpose, body in bodies if purpose == "narrate")
    for place, word in NOT_REMEMBERED.items():
        assert word in narrated, place
        assert [purpose for purpose, body in bodies if purpose in ("compact", "memory") and word in body] == [], place
        assert not any(word in text for text in kept), place
