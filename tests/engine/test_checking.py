"""Whether a skill decides: asked for by a call, or by an object; refused once; three a turn at most (T8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrator.config import Settings
from narrator.core.checks import Check
from narrator.engine.commands import parse_line
from narrator.engine.events import ChecksMade
from narrator.engine.session import Session
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.narrators.port import Capabilities, Purpose, ToolCall
from narrator.store import state_reads
from tests.engine.playing import CLIMB, DEFINITION, Play, make, playing
from tests.fake_server import FakeServer, call, give, say

WITH_TOOLS = Capabilities(1_000_000, "built in", tools=True, json_schema=True, model="fake")
SWIM = "\n[rules.skills.swim]\n[rules.skills.run]\n[rules.skills.sing]\n"
UNKNOWN = {"check": {"skill": "juggle", "difficulty": "hard"}}


def asking(*names: str, difficulty: str = "hard") -> Line:
    calls = tuple(ToolCall("request_check", {"skill": name, "difficulty": difficulty}) for name in names)
    return Line("", calls=calls)


def rolled(play: Play) -> tuple[Check, ...]:
    head = play.story.head.id
    found: tuple[Check, ...] = state_reads.checks_of(play.story.store, [head]).get(head, ())
    return found


@pytest.mark.spec("T8")
async def test_where_the_model_can_call_tools_it_asks_for_a_check_by_one(mill: Path) -> None:
    fake = FakeNarrator({Purpose.CHECK: asking("climb")}, capabilities=WITH_TOOLS)
    async with playing(mill, fake) as play:
        answer = await play.do("I climb the wheel.")
        (check,) = rolled(play)
        assert (check.skill, check.difficulty) == ("climb", "hard")
        (made,) = answer.of(ChecksMade)
        assert [each.outcome for each in made.checks] == [check.outcome]
    (asked,) = [request for request in fake.requests if request.purpose is Purpose.CHECK]
    (tool,) = asked.tools
    assert (tool.name, asked.schema) == ("request_check", None)
    assert tool.parameters["properties"]["skill"]["enum"] == ["climb"]
    assert tool.parameters["properties"]["difficulty"]["enum"] == ["easy", "hard"]
    told = next(request for request in fake.requests if request.purpose is Purpose.NARRATE)
    assert check.outcome in told.messages[-1].content
    assert not any(request.tools for request in fake.requests if request is not asked)


@pytest.mark.spec("T8", "T9")
async def test_the_tool_rolls_what_the_object_rolls(tmp_path: Path) -> None:
    found = []
    for name, answer, known in (("tool", asking("climb"), WITH_TOOLS), ("object", CLIMB, None)):
        async with playing(
            make(tmp_path, name=name), FakeNarrator({Purpose.CHECK: answer}, capabilities=known)
        ) as play:
            await play.do("I climb the wheel.")
            await play.do("/retry")
            found.append(rolled(play))
    assert found[0] == found[1] != ()


@pytest.mark.spec("T8")
async def test_three_checks_a_turn_at_most_each_with_dice_of_its_own(tmp_path: Path) -> None:
    fake = FakeNarrator({Purpose.CHECK: asking("climb", "swim", "climb", "run", "sing")}, capabilities=WITH_TOOLS)
    async with playing(make(tmp_path, DEFINITION + SWIM), fake) as play:
        await play.do("I do everything at once.")
        assert [check.skill for check in rolled(play)] == ["climb", "swim", "run"]
        dice = set()
        for number in range(6):
            await play.do(f"I do it again, {number}.")
            dice.add(tuple(check.roll for check in rolled(play)))
        assert any(len(set(each)) > 1 for each in dice)


@pytest.mark.spec("T8")
@pytest.mark.parametrize("has_tools", [True, False])
async def test_an_unknown_skill_is_refused_once_and_may_be_put_right(mill: Path, has_tools: bool) -> None:
    wrong, right = (asking("juggle"), asking("Climb")) if has_tools else (UNKNOWN, CLIMB)
    fake = FakeNarrator({Purpose.CHECK: (wrong, right)}, capabilities=WITH_TOOLS if has_tools else None)
    async with playing(mill, fake) as play:
        answer = await play.do("I juggle my way up.")
        assert [check.skill for check in rolled(play)] == ["climb"]
        assert answer.notes == []
    first, second = [request for request in fake.requests if request.purpose is Purpose.CHECK]
    assert second.messages[: len(first.messages)] == first.messages
    assert "juggle" in second.messages[-2].content
    assert "climb" in second.messages[-1].content


@pytest.mark.spec("T8")
@pytest.mark.parametrize("has_tools", [True, False])
async def test_an_unknown_skill_is_passed_over_with_a_note_after_that(mill: Path, has_tools: bool) -> None:
    wrong = asking("juggle") if has_tools else UNKNOWN
    fake = FakeNarrator({Purpose.CHECK: wrong}, capabilities=WITH_TOOLS if has_tools else None)
    async with playing(mill, fake) as play:
        answer = await play.do("I juggle my way up.")
        assert answer.ok
        assert rolled(play) == ()
        assert [note for note in answer.notes if "juggle" in note] == ["There is no skill called 'juggle'."]
    assert fake.calls[Purpose.CHECK] == 2


@pytest.mark.spec("T8", "T10")
@pytest.mark.parametrize("said", ["", "no", "He climbs, and it goes splendidly.", '{"check": {"skill": "climb"}}'])
async def test_a_model_that_calls_nothing_has_asked_for_nothing(mill: Path, said: str) -> None:
    fake = FakeNarrator({Purpose.CHECK: said}, capabilities=WITH_TOOLS)
    async with playing(mill, fake) as play:
        assert (await play.do("I look about me.")).ok
        assert rolled(play) == ()
        assert play.texts()[-1] == "The story goes on."


@pytest.mark.spec("T8")
async def test_over_http_the_call_comes_as_servers_send_it(mill: Path) -> None:
    async with FakeServer() as server:
        server.answer("check", call("request_check", '{"skill": "climb", "difficulty": "easy"}'), say([]))
        server.answer("narrate", say("You are up."), say("You look about you."))
        server.answer("extract", give({"changes": []}))
        narrator = OpenAICompatible(
            "mine", base_url=server.base_url, model="fake", context_window=100_000, retries=0, tools="on"
        )
        session = await Session.open(mill, settings=Settings(), narrator=narrator)
        try:
            assert await session.perform(parse_line("I climb."))
            first = session.story.head.id
            assert await session.perform(parse_line("I look about me."))
            checks = state_reads.checks_of(session.story.store, [first, session.story.head.id])
        finally:
            await session.aclose()
        assert [check.skill for check in checks[first]] == ["climb"]
        assert list(checks) == [first]
        asked = server.asked("check")[0].json
        assert [tool["function"]["name"] for tool in asked["tools"]] == ["request_check"]
        assert "response_format" not in asked
        assert not any("tools" in request.json for request in server.requests if request.purpose != "check")
