"""One script over every kind of narrator: the scripted one, a server with JSON schema, one with tools as well, and one
that knows plain JSON alone.

The servers answer with what the scripted narrator told and proposed. Above the port nothing differs: the same verbs,
the same events in the same order, the same state on every node.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from narrator.config import ContextSettings, Settings
from narrator.core.proposal import JSON
from narrator.core.state import FIRED
from narrator.engine import wire
from narrator.engine.commands import parse_line
from narrator.engine.events import Done, Event
from narrator.engine.session import Session
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.narrators.port import Narrator, Purpose, Request
from narrator.narrators.scripted import ScriptedNarrator
from narrator.store.verify import verify_connection
from tests.engine.playing import make
from tests.fake_server import Answer, Exchange, FakeServer, call, refuse, say
from tests.store.making import still

CAMPAIGN = """
[campaign]
id = "beacon"
title = "The Beacon"
opening = "The beacon is out, and the stair is wet."

[start]
location = "yard"
present = ["warden"]
threads = { beacon = "Why is the beacon out?" }

[entities.yard]
name = "the yard"
kind = "place"
[entities.stair]
name = "the stair"
kind = "place"
[entities.warden]
name = "Ilse"

[state.player.nerve]
type = "number"
min = 0
max = 10
initial = 5
max_change = 2
[state.player.falls]
type = "counter"
initial = 0
[state.warden.mood]
type = "text"
choices = ["calm", "cross"]
initial = "calm"
cooldown = 2
[state.trust]
type = "relation"
min = -5
max = 5
initial = [["warden", "player", 0]]
[state.flags.stormy]
type = "flag"
initial = false
[state.flags.lit]
type = "flag"
initial = false

[rules]
dice = "1d20"
[rules.skills.climb]
field = "player.nerve"
[rules.difficulty]
hard = 16
[rules.clocks.storm]
size = 4
visibility = "open"
advances_on = ["failure"]
when_full = [{ op = "set", path = "flags.stormy", value = true }]

[[storylets]]
id = "look"
keys = ["look"]
wordings = ["A yard, a stair, a warden called Ilse.", "Rain on stone. Ilse waits.", "The stair goes up."]
[[storylets]]
id = "ask"
keys = ["ask|talk|say + ilse|warden"]
wordings = ["“It went out on Sunday,” says Ilse.", "“You might go up,” Ilse says, “if you can climb.”"]
effects = [
  { op = "relate", path = "trust.warden.player", value = 1 },
  { op = "assert", path = "facts", value = "The beacon went out on Sunday." },
  { op = "set", path = "warden.mood", value = "cross", why = "asked again" },
]
[[storylets]]
id = "climb"
keys = ["climb"]
check = { skill = "climb", difficulty = "hard" }
[[storylets.outcomes]]
on = "success"
wordings = ["You climb, and the stair holds.", "Step by step, up.", "It goes better than it looked."]
effects = [{ op = "move", path = "location", value = "stair" }, { op = "add", path = "player.nerve", value = 5 }]
[[storylets.outcomes]]
on = "failure"
wordings = ["You slip, and come down on your hands.", "The stair is wet. So are you.", "Not this time."]
effects = [{ op = "add", path = "player.falls", value = 1 }, { op = "add", path = "player.nerve", value = -1 }]
[[storylets]]
id = "light"
keys = ["light + beacon"]
when = "location == 'stair'"
wordings = ["You light it. It takes at once.", "A spark, a hiss, and the whole yard has a shadow."]
effects = [{ op = "set", path = "flags.lit", value = true }, { op = "close", path = "threads.beacon" }]
[[storylets]]
id = "wind"
on = "continue"
wordings = ["The wind gets up.", "A shutter knocks.", "Ilse says nothing, at length."]

[[hints]]
wordings = ["Nothing comes of that. There is the stair.", "Ilse raises an eyebrow.", "It rains."]

[[endings]]
id = "alight"
title = "Alight"
when = "flags.lit"
"""

SCRIPT = (
    *("look", "/say Ilse, why is it out?", "ask the warden", "/continue", "climb the stair", "climb", "climb again"),
    *("/retry", "/retry x2", "/takes", "/take 1", "climb on", "/checks", "/state", "/audit player.nerve", "zxqv"),
    *("/undo", "/redo", "/undo 3", "climb in the rain", "/save here", "/retell", "/branches", "/switch 1"),
    *("/edit 2 look about me", "/back", "/forward", "/correct player.nerve 9 because she rested", "climb once more"),
    *("/assert The stair has forty steps.", "/retract The stair has forty steps.", "/suggest", "/fork", "ask ilse"),
    *("/restore here", "/go 4", "/undo-turn", "climb up", "climb up there", "climb higher", "climb to the top"),
    *("climb with care", "climb slowly", "climb once again", "light the beacon", "look", "/undo 2", "/redo 1", "/map"),
    *("/read 4", "/search stair", "/memories", "/checkpoints", "/pin 1", "/delete-take 2", "/undelete", "/state --all"),
)
QUIET = Settings(context=ContextSettings(memory_every=1000))
STORY_ONLY = ("delta", "note", "ready", "stats", "prompt")


class Remembering(ScriptedNarrator):
    """The scripted narrator, and all that it answered, by purpose and in order."""

    def __init__(self) -> None:
        super().__init__(0)
        self.answered: dict[Purpose, list[str]] = {purpose: [] for purpose in Purpose}

    def _text(self, request: Request) -> str:
        text = super()._text(request)
        self.answered[request.purpose].append(text)
        return text


def proposed(text: str) -> str:
    """What a model may propose of it: which storylets have fired is the scripted narrator's own, and hidden."""
    changes = [change for change in json.loads(text)["changes"] if change["path"] != FIRED]
    return json.dumps({"changes": changes})


def tell_again(server: FakeServer, answered: dict[Purpose, list[str]], kind: str) -> None:
    """Have the server give these answers in order. ``plain``: it refuses a schema, and wraps its JSON in a fence;
    ``tools``: it asks for a check by a call."""
    for purpose, texts in answered.items():
        queue = deque(proposed(text) if purpose is Purpose.EXTRACT else text for text in texts)

        async def tell(exchange: Exchange, queue: deque[str] = queue, purpose: Purpose = purpose) -> None:
            if kind == "plain" and "response_format" in exchange.request.json:
                await refuse(400, {"error": {"message": "response_format is not supported"}})(exchange)
                return
            await in_its_way(kind, purpose, queue.popleft())(exchange)

        server.answer(purpose.value, tell)


def in_its_way(kind: str, purpose: Purpose, text: str) -> Answer:
    """An answer as this kind of server gives it."""
    if purpose is Purpose.CHECK and kind == "tools":
        wanted = json.loads(text)["check"]
        return say("No.") if wanted is None else call("request_check", json.dumps(wanted))
    if purpose is not Purpose.NARRATE and kind == "plain":
        return say([f"Here it is:\n```json\n{text}\n```\nAnything else?"])
    return say([text])


async def played(path: Path, narrator: Narrator) -> tuple[list[list[dict[str, Any]]], dict[int, dict[str, JSON]]]:
    """The events of each line, and the values on every node of the story at the end."""
    session = await Session.open(path, settings=QUIET, narrator=narrator, clock=still)
    heard: list[Event] = []
    news = asyncio.Event()

    async def listen() -> None:
        async for event in session.events():
            heard.append(event)
            news.set()

    listening = asyncio.create_task(listen())
    told: list[list[dict[str, Any]]] = []
    try:
        for line in SCRIPT:
            start = len(heard)
            await session.perform(parse_line(line))
            async with asyncio.timeout(20):
                while not any(isinstance(event, Done) for event in heard[start:]):
                    news.clear()
                    await news.wait()
            told.append([like(wire.as_object(event)) for event in heard[start:] if event.wire_name not in STORY_ONLY])
        ids = [row[0] for row in session.story.store.db.execute("SELECT id FROM nodes ORDER BY id")]
        states = {node_id: values(session, node_id) for node_id in ids}
        assert verify_connection(session.story.store.db).problems == ()
    finally:
        await session.aclose()
        await listening
    return told, states


def like(event: dict[str, Any]) -> dict[str, Any]:
    """An event without the name of who proposed a change, and without what is the scripted narrator's own."""
    if event["event"] == "state" and "changes" in event:
        event["changes"] = [{**change, "source": theirs(change["source"])} for change in event["changes"]]
    if event["event"] == "state" and "values" in event:
        event["values"] = {path: value for path, value in event["values"].items() if path != FIRED}
        event["fields"] = [shown for shown in event["fields"] if shown["path"] != FIRED]
    if event["event"] == "audit":
        event["audit"] = [{**row, "source": theirs(row["source"])} for row in event["audit"]]
    return event


def theirs(source: str) -> str:
    return "the narrator" if source in ("model", "storylet") else source


def values(session: Session, node_id: int) -> dict[str, JSON]:
    state = session.story.state(session.story.node(node_id))
    return {path: value for path, value in state.values.items() if path != FIRED}


@pytest.mark.spec("W3", "W4", "W5", "T4", "T8", "T9", "T15")
async def test_every_kind_of_narrator_tells_one_story(tmp_path: Path) -> None:
    scripted = Remembering()
    expected, states = await played(make(tmp_path, CAMPAIGN, "scripted"), scripted)
    kinds = {event["event"] for events in expected for event in events}
    assert {"step", "head", "state", "checks", "takes", "branches", "suggestions", "error"} <= kinds
    assert len(scripted.answered[Purpose.EXTRACT]) > 20
    assert any(found.get("flags.stormy") for found in states.values())
    assert any(found.get("story.ending") for found in states.values())
    for kind in ("schema", "tools", "plain"):
        async with FakeServer() as server:
            tell_again(server, scripted.answered, kind)
            narrator = OpenAICompatible(
                kind,
                base_url=server.base_url,
                model="fake",
                context_window=200_000,
                retries=0,
                tools="on" if kind == "tools" else "auto",
            )
            told, found = await played(make(tmp_path, CAMPAIGN, kind), narrator)
            asked = [request for request in server.requests if request.purpose in ("check", "extract", "suggest")]
            by_schema = [request for request in asked if "response_format" in request.json]
            by_tool = [request for request in asked if "tools" in request.json]
            assert [request.purpose for request in by_tool] == ["check"] * (
                len(server.asked("check")) * (kind == "tools")
            )
            assert len(by_schema) == (1 if kind == "plain" else len(asked) - len(by_tool))
        for line, mine, wanted in zip(SCRIPT, told, expected, strict=True):
            assert mine == wanted, (kind, line)
        assert found == states, kind
