"""The narrator that ships for tests keeps the promises of the port."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing

import pytest

from narrator.core.definition import Definition
from narrator.core.errors import NarrationFailed
from narrator.core.prompt import Message
from narrator.core.state import State
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.port import Chunk, Delta, Finish, Narrator, Purpose, Request, Scene, ToolCall, Usage

SCENE = Scene(Definition(id="x", title="X", opening="Rain."), State(), 1, b"", 0, input="wait")


def request(purpose: Purpose = Purpose.NARRATE) -> Request:
    return Request(purpose, (Message("user", "x"),), SCENE, 100)


async def told(fake: FakeNarrator) -> list[Chunk]:
    return [each async for each in fake.stream(request())]


@pytest.mark.spec("T15")
async def test_answers_by_purpose_the_last_one_stays() -> None:
    fake = FakeNarrator({"narrate": ["One more.", "Two."], "extract": {"changes": []}})
    assert isinstance(fake, Narrator)
    assert await told(fake) == [Delta("One"), Delta(" more."), Finish("stop")]
    assert [await told(fake), await told(fake)] == [[Delta("Two."), Finish("stop")]] * 2
    assert json.loads((await fake.complete(request(Purpose.EXTRACT))).text) == {"changes": []}
    assert fake.calls[Purpose.NARRATE] == 3
    assert [each.purpose for each in fake.requests] == ["narrate", "narrate", "narrate", "extract"]


@pytest.mark.parametrize("purpose", list(Purpose))
async def test_unscripted_it_says_something_valid(purpose: Purpose) -> None:
    completion = await FakeNarrator().complete(request(purpose))
    assert completion.text
    assert purpose is Purpose.NARRATE or isinstance(json.loads(completion.text), dict)


async def test_a_function_of_the_request_and_a_tool_call() -> None:
    call = ToolCall("request_check", {"skill": "a"})
    fake = FakeNarrator({"narrate": lambda asked: Line(asked.scene.input, calls=(call,), usage=Usage(1, 2, 3))})
    assert await told(fake) == [Delta("wait"), call, Finish("tool", Usage(1, 2, 3))]


@pytest.mark.spec("T3")
async def test_it_stalls_at_a_word_until_told() -> None:
    until = asyncio.Event()
    fake = FakeNarrator({"narrate": Line("One two three", stall_at=1, until=until)})
    task = asyncio.ensure_future(told(fake))
    await fake.stalled.wait()
    until.set()
    assert len(await task) == 4
    assert fake.closed == 0


@pytest.mark.spec("T3")
async def test_a_stall_is_stopped_by_cancelling_or_closing() -> None:
    fake = FakeNarrator({"narrate": Line("One two three", stall_at=1)})
    task = asyncio.ensure_future(told(fake))
    await fake.stalled.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with aclosing(fake.stream(request())) as stream:
        assert await anext(stream) == Delta("One")
    assert fake.closed == 2
    assert not fake.stalled.is_set()


@pytest.mark.spec("T11")
async def test_it_fails_where_it_is_told() -> None:
    error = NarrationFailed("narrator-broke-off", "It broke off.")
    fake = FakeNarrator({"narrate": [Line("One two", fail_at=1, error=error), error]})
    stream = fake.stream(request())
    assert await anext(stream) == Delta("One")
    with pytest.raises(NarrationFailed, match="broke off"):
        await anext(stream)
    with pytest.raises(NarrationFailed):
        await told(fake)
