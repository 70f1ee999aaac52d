"""A unique word in every place that no request may tell of, and a search of all that leaves (C10, C22, C30, S32).

``NOWHERE`` are the places that no request at all may show. ``NOT_REMEMBERED`` are those that narration may see in its
tail, and that must not get into a summary or a memory: neither into what they are made from nor into what is kept.
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
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.narrators.secret import Secret
from narrator.store import commit, memory_reads
from tests.engine.long_stories import EMPTY, narration
from tests.engine.playing import make
from tests.fake_server import Answer, Exchange, FakeServer, give, refuse, say

WINDOW = 20_000
NOWHERE = {
    "the name of a hidden field": "canaryfield",
    "the value of a hidden field": "canaryvalue",
    "a hidden clock": "canaryclock",
    "a hidden condition": "canarycondition",
    "a hidden entity": "canaryentity",
    "the text of an item of a hidden owner": "canaryhoard",
    "a card that did not trigger": "canarycard",
    "dice: what a check rolled": "7919",
    "an exact number of a relation": "31337",
    "a take not chosen": "canarytake",
    "another branch": "canarybranch",
    "a deleted take": "canarydeleted",
    "an output that was stopped": "canarystopped",
    "an output that broke off": "canarybroken",
    "a correction of a hidden field": "canarycorrection",
    "a suggestion": "canarysuggestion",
    "a private note": "canarynote",
    "the name of a checkpoint": "canarymark",
    "the name of a branch": "canaryrail",
    "a draft that was not sent": "canarydraft",
    "chain of thought": "canarythought",
    "a body of the provider's error": "canarybody",
    "a key": "canarykey",
    "a forgotten memory": "canaryforgotten",
}
NOT_REMEMBERED = {
    "what the narrator alone knows": "canaryplan",
    "the author's note": "canaryauthor",
    "a note with a retry": "canarydarker",
    "a memory": "canarymemory",
    "the inventory of another": "canarysack",
}
DEFINITION = f"""
[campaign]
id = "mill"
title = "The Mill"
opening = "The wheel stands still."
[start]
present = ["miller"]
inventory = {{ sack = "miller", hoard = "rat" }}
[entities.miller]
name = "Orrin"
[entities.sack]
name = "{NOT_REMEMBERED["the inventory of another"]}"
[entities.rat]
name = "{NOWHERE["a hidden entity"]}"
visibility = "hidden"
[entities.hoard]
name = "{NOWHERE["the text of an item of a hidden owner"]}"
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
advances_on = ["failure"]
[[cards]]
name = "Deep"
keys = ["abyss"]
text = "{NOWHERE["a card that did not trigger"]}"
[[storylets]]
id = "end"
keys = ["xyzzy"]
when = "player.nerve == 99999"
wordings = ["{NOWHERE["a hidden condition"]}"]
"""


def made_up(body: dict[str, Any]) -> Answer:
    """A model that thinks aloud beside its answer, where the canary of that place sits."""
    return say(narration(len(json.dumps(body)) % 9973, 300), reasoning=NOWHERE["chain of thought"])


class Told:
    """What the fake server answers to narrations: a queue of its own, then ``made_up``."""

    def __init__(self) -> None:
        self.next: list[Answer] = []

    async def __call__(self, exchange: Exchange) -> None:
        await (self.next.pop(0) if self.next else made_up(exchange.request.json))(exchange)


async def play_with_canaries(session: Session, told: Told, server: FakeServer) -> None:
    """Every place gets its word, by the verbs that put it there; then the story goes on past two summaries."""

    async def do(line: str | dict[str, Any]) -> bool:
        command = parse_line(line) if isinstance(line, str) else parse_object(line)
        return await session.perform(command)

    story = session.story
    await do("I look up.")
    commit.remember(story.store, story.head.id, f"They saw {NOT_REMEMBERED['a memory']} by the wheel.")
    forgotten = commit.remember(story.store, story.head.id, f"The wheel is {NOWHERE['a forgotten memory']}.")
    await do(f"/forget-memory {forgotten}")
    told.next.append(say(f"There is {NOWHERE['a take not chosen']}."))
    await do("I try the wheel.")
    await do(f"/retry {NOT_REMEMBERED['a note with a retry']}")
    here = story.head.id
    told.next.append(say(f"There is {NOWHERE['another branch']}."))
    await do(f"I go where {NOWHERE['another branch']} is.")
    assert await do({"command": "go", "step": {"id": here}})
    told.next.append(say(f"There is {NOWHERE['a deleted take']}."))
    await do("I turn back.")
    await do("/retry")
    await do("/delete-take 1")
    told.next.append(say(f"Then {NOWHERE['an output that was stopped']} came near and nearer.", stall_at=3))
    turning = asyncio.ensure_future(do("I wait by the wheel."))
    while session.in_flight is None or "canary" not in session.in_flight.text:  # noqa: ASYNC110
        await asyncio.sleep(0)
    await do("/stop")
    await turning
    told.next.append(refuse(500, {"error": {"message": NOWHERE["a body of the provider's error"]}}))
    await do("I wait longer.")
    await do(f"/save {NOWHERE['the name of a checkpoint']}")
    await do(f"/rename-branch {story.end.branch_id} {NOWHERE['the name of a branch']}")
    await do(f"/comment {NOWHERE['a private note']}")
    await do(f"/note {NOT_REMEMBERED['the author' + chr(39) + 's note']}")
    field = NOWHERE["the name of a hidden field"]
    await do(f"/correct secret.{field} {NOWHERE['a correction of a hidden field']}")
    await do("/suggest")
    await session.keep_draft(NOWHERE["a draft that was not sent"])
    for number in range(70):
        assert await do(f"I go round the wheel, {number}.")
        if number % 9 == 0:
            await session.kept_up()
    story.store.db.execute("UPDATE checks SET roll = 7919, total = 7919, target = 7919")
    assert await do("I go round once more.")
    await session.kept_up()


@pytest.mark.spec("C22", "C10", "C30", "S32", "T8", "T16")
async def test_no_request_holds_a_canary(tmp_path: Path) -> None:
    told = Told()
    async with FakeServer() as server:
        server.answer("narrate", told)
        server.answer("check", give({"check": {"skill": "climb", "difficulty": "hard"}}, reasoning="canarythought"))
        server.answer("extract", give({"changes": [{"op": "add", "path": "player.nerve", "value": 1, "why": "so"}]}))
        server.answer("suggest", give({"suggestions": [f"Look for {NOWHERE['a suggestion']}."]}))
        server.answer("compact", give({**EMPTY, "events": ["They went round."]}, reasoning="canarythought"))
        server.answer("memory", give({"memory": "They went round the wheel."}, reasoning="canarythought"))
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
        session = await Session.open(make(tmp_path, DEFINITION), settings=settings, narrator=narrator, answers="yes")
        try:
            await play_with_canaries(session, told, server)
            kept = [row[0] for row in session.story.store.db.execute("SELECT summary_json FROM context_checkpoints")]
            kept += [
                row.text
                for row in memory_reads.memories(session.story.store, session.story.end)
                if row.source != "typed"
            ]
        finally:
            await session.aclose()
        assert {request.purpose for request in server.requests} >= {"narrate", "check", "extract", "suggest", "compact"}
        assert len(server.asked("memory")) > 3
        assert len(server.asked("compact")) >= 2
    for place, word in NOWHERE.items():
        holding = [request.purpose for request in server.requests if word in request.body.decode()]
        # What was sent before it became one of these is no leak: the branch and the takes as they were told.
        allowed = {"another branch": 4, "a take not chosen": 1, "a deleted take": 1}.get(place, 0)
        assert len(holding) <= allowed, (place, holding)
    for place, word in NOT_REMEMBERED.items():
        sources = [r.purpose for r in server.requests if r.purpose in ("compact", "memory") and word in r.body.decode()]
        assert sources == [], place
        assert not any(word in text for text in kept), place
    # The words were there to be found: narration does see its part.
    narrated = "\n".join(request.body.decode() for request in server.asked("narrate"))
    for place in ("what the narrator alone knows", "the author's note", "a note with a retry", "a memory"):
        assert NOT_REMEMBERED[place] in narrated, place
