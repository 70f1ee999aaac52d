"""What is due beside the turns at the end of input: lines that follow one another leave it no time before (T1, C19)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from narrator.engine.story import Story, create_campaign
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.port import Capabilities, Purpose
from tests.fake_server import FakeServer, give, say
from tests.plain.talk import DEFINITION, talk

LINES = tuple(f"I go on, {number}." for number in range(4))


def teller(*memories: str | Line) -> FakeNarrator:
    fake = FakeNarrator(capabilities=Capabilities(100_000, "configured", json_schema=True, model="fake"))
    fake.answer(Purpose.NARRATE, "Rain falls.")
    fake.answer(Purpose.MEMORY, *memories)
    return fake


def remembered(folder: Path) -> list[str]:
    with closing(Story.open(folder / "ferry.narrator")) as story:
        return [row.text for row in story.memories()]


GOOD = json.dumps({"memory": "It rained."})


@pytest.mark.spec("T1", "C19", "C23")
async def test_a_memory_that_is_due_is_made_at_the_end_of_input(tmp_path: Path) -> None:
    async with talk(tmp_path, teller(GOOD), upkeep_seconds=5.0) as found:
        found.typed.type(*LINES)
    assert found.code == 0
    assert remembered(tmp_path) == ["It rained."]


@pytest.mark.spec("T1")
@pytest.mark.parametrize("ends", ["at the end", "after /quit"])
async def test_without_time_for_it_or_after_quit_the_end_is_at_once(tmp_path: Path, ends: str) -> None:
    seconds = 0.0 if ends == "at the end" else 5.0
    lines = LINES if ends == "at the end" else (*LINES, "/quit")
    async with talk(tmp_path, teller(GOOD), upkeep_seconds=seconds) as found:
        found.typed.type(*lines)
    assert found.code == 0
    assert remembered(tmp_path) == []


@pytest.mark.spec("T1", "C19")
@pytest.mark.parametrize("end", ["its time", "an interrupt", "a signal"])
async def test_what_takes_too_long_is_cancelled_and_has_written_nothing(tmp_path: Path, end: str) -> None:
    fake = teller(Line("x", stall_at=0))
    ways: dict[str, Callable[[], None]] = {
        "its time": lambda: None,
        "an interrupt": lambda: found.conversation.interrupt(),
        "a signal": lambda: found.conversation.leave(143),
    }
    async with talk(tmp_path, fake, upkeep_seconds=0.4 if end == "its time" else 60.0) as found:
        found.typed.type(*LINES)
        found.typed.end()
        await fake.stalled.wait()
        ways[end]()
        async with asyncio.timeout(5):
            await found.finished.wait()
    assert found.code == (143 if end == "a signal" else 0)
    assert fake.closed == 1
    assert remembered(tmp_path) == []


@pytest.mark.spec("T1", "U15", "C23")
async def test_a_pipe_of_lines_leaves_a_memory_behind(home: Path) -> None:
    from tests.plain.test_play import PLAY

    (home / "campaigns").mkdir(parents=True)
    path = home / "campaigns" / "ferry.narrator"
    create_campaign(path, DEFINITION, seed=1)
    async with FakeServer() as server:
        server.answer("narrate", say("Rain falls."))
        server.answer("memory", give({"memory": "It rained."}))
        (home / "config.toml").write_text(
            f'narrator = "mine"\n[narrators.mine]\nkind = "openai-compatible"\nbase_url = "{server.base_url}"\n'
            'model = "fake"\ncontext_window = 16000\n'
        )
        begun = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *PLAY, "ferry", "--plain", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await asyncio.wait_for(process.communicate("\n".join(LINES).encode()), 60)
        assert process.returncode == 0
        assert out.decode().count("Rain falls.") == len(LINES)
        assert time.monotonic() - begun < 60
    assert remembered(path.parent) == ["It rained."]
