"""The embedded engine with a small real model, in a real child process (``make test-embedded``)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from narrator.cli import main
from narrator.config import NarratorSettings, Settings
from narrator.core.definition import Definition
from narrator.core.errors import NarrationFailed
from narrator.core.prompt import Message
from narrator.core.state import State
from narrator.core.summary import SUMMARY_SCHEMA
from narrator.engine.commands import parse_line
from narrator.engine.events import Failed, Noted
from narrator.engine.session import Session
from narrator.narrators.embedded import EmbeddedNarrator
from narrator.narrators.port import Chunk, Delta, Finish, Narrator, Purpose, Reading, Request, Scene
from narrator.store import reads
from narrator.store.verify import verify
from tests.engine.playing import PLAIN, make

pytestmark = [pytest.mark.embedded, pytest.mark.serial]

STOP_SECONDS = 0.1
LOAD_SECONDS = 120
SCENE = Scene(
    definition=Definition(id="x", title="The Ferry", opening="Rain."), state=State(), seed=1, chain_hash=b"", ordinal=0
)
SYSTEM = Message("system", "You tell a story about a ferry in the rain.")
SHORT = (SYSTEM, Message("user", "[do] open the gate"))
LONG = (SYSTEM, Message("user", "The rain falls on the old stone road. " * 350))
SCHEMA = {
    "type": "object",
    "properties": {"mood": {"enum": ["calm", "tense"]}, "count": {"type": "integer"}},
    "required": ["mood", "count"],
    "additionalProperties": False,
}


def request(messages: Sequence[Message] = SHORT, purpose: Purpose = Purpose.NARRATE, **options: Any) -> Request:
    return Request(purpose, tuple(messages), SCENE, options.pop("tokens", 24), **options)


@pytest.fixture
async def tiny(model: Path) -> AsyncIterator[EmbeddedNarrator]:
    narrator = EmbeddedNarrator("tiny", model_path=model, sampling={"seed": 5, "temperature": 0})
    yield narrator
    await narrator.aclose()


async def told(narrator: EmbeddedNarrator, asked: Request | None = None) -> list[Chunk]:
    async with aclosing(narrator.stream(asked or request())) as chunks:
        return [each async for each in chunks]


def text_of(chunks: Sequence[Chunk]) -> str:
    return "".join(each.text for each in chunks if isinstance(each, Delta))


def finish_of(chunks: Sequence[Chunk]) -> Finish:
    last = chunks[-1]
    assert isinstance(last, Finish)
    return last


def is_there(pid: int) -> bool:
    """Whether a process runs: neither gone nor a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def until(is_so: Callable[[], bool], seconds: float = 20) -> None:
    """Look every few milliseconds whether something outside of this loop has come about."""
    async with asyncio.timeout(seconds):
        while not is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def told_to(pid: int | None) -> bytes:
    """What others can see of a process: its arguments and environment."""
    return b"".join((Path("/proc") / str(pid) / name).read_bytes() for name in ("cmdline", "environ"))


def ticks(pid: int) -> int:
    """The processor time of a process, in clock ticks: it grows while the engine works."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


# ------------------------------------------------------------------------------------------------------ what goes well


@pytest.mark.spec("T15", "T17")
async def test_a_model_is_loaded_and_streams(tiny: EmbeddedNarrator) -> None:
    assert isinstance(tiny, Narrator)
    chunks = await told(tiny)
    assert sum(isinstance(each, Delta) for each in chunks) > 5
    assert len(text_of(chunks)) > 20
    finish = finish_of(chunks)
    assert finish.reason == "length"
    assert finish.usage.tokens_out == 24
    found = await tiny.capabilities()
    assert (found.window, found.window_source, found.host) == (8192, "reported", "")
    assert found.json_schema
    assert found.grammar
    assert found.is_small


@pytest.mark.spec("T17", "C4")
async def test_counts_are_exact_and_never_too_few(tiny: EmbeddedNarrator) -> None:
    talk = [SYSTEM]
    for number in range(4):
        talk += [
            Message("user", f"[do] ring bell {number}. Ünïcödé 雨."),
            Message("assistant", "The bell rings.\n\nAgain."),
        ]
    talk.append(Message("user", "[say] Who is there?"))
    in_bytes = tiny.count(talk)
    await tiny.count_ahead(talk)
    counted = tiny.count(talk)
    taken = finish_of(await told(tiny, request(talk, tokens=1))).usage.tokens_in
    assert taken is not None
    assert taken <= counted <= taken + 3 * len(talk)
    assert counted < in_bytes / 2


@pytest.mark.spec("U8", "T17")
async def test_reading_a_prompt_is_told_in_short_pieces(tiny: EmbeddedNarrator) -> None:
    """Each is a sign of life: a slow machine must not run into the time-out while it reads."""
    asked = request((SYSTEM, Message("user", "The rain falls on the old stone road. " * 70)), tokens=2)
    read = [each for each in await told(tiny, asked) if isinstance(each, Reading)]
    assert len(read) > 2
    assert read[-1].done == read[-1].total > 500
    assert all(0 < after.done - before.done <= 256 for before, after in pairwise(read))


@pytest.mark.spec("T4", "T17")
async def test_an_answer_in_json_ends_within_its_tokens(tiny: EmbeddedNarrator) -> None:
    """A small model lists on and on; held to lengths, it comes to an end and what it wrote can be read."""
    asked = request(SHORT, Purpose.COMPACT, schema=SUMMARY_SCHEMA, tokens=300)
    completion = await tiny.complete(asked)
    assert completion.finish.reason == "stop"
    assert set(json.loads(completion.text)) == set(SUMMARY_SCHEMA["required"])


@pytest.mark.spec("T4", "T17")
async def test_a_schema_is_kept_to(tiny: EmbeddedNarrator) -> None:
    for number in range(3):
        asked = request((SYSTEM, Message("user", f"Bell {number}")), Purpose.EXTRACT, schema=SCHEMA, tokens=200)
        found = json.loads((await tiny.complete(asked)).text)
        assert set(found) == {"mood", "count"}
        assert found["mood"] in ("calm", "tense")
        assert isinstance(found["count"], int)


@pytest.mark.spec("T17")
async def test_the_prompt_cache_is_kept_between_turns(tiny: EmbeddedNarrator) -> None:
    first = (SYSTEM, Message("user", "The rain falls on the old stone road. " * 30))
    answer = await told(tiny, request(first))
    again = (*first, Message("assistant", text_of(answer)), Message("user", "[do] wait"))
    usage = finish_of(await told(tiny, request(again, tokens=4))).usage
    assert usage.tokens_in is not None
    assert usage.tokens_cached is not None
    assert usage.tokens_cached > 0.7 * usage.tokens_in


@pytest.mark.spec("T15", "T16")
async def test_the_same_seed_tells_the_same_and_takes_differ(model: Path) -> None:
    narrator = EmbeddedNarrator("tiny", model_path=model, sampling={"seed": 5})
    try:
        texts = [text_of(await told(narrator, request(take=take))) for take in (0, 1, 0)]
    finally:
        await narrator.aclose()
    assert texts[0] == texts[2]
    assert texts[0] != texts[1]


@pytest.mark.spec("T17")
async def test_two_stories_in_turn_do_not_meet(tiny: EmbeddedNarrator) -> None:
    mill = (Message("system", "You tell of a mill."), Message("user", "[do] stop the wheel"))
    alone = [text_of(await told(tiny, request(each))) for each in (SHORT, mill)]
    in_turn = [text_of(await told(tiny, request(each))) for each in (SHORT, mill, SHORT, mill)]
    assert in_turn == [*alone, *alone]


@pytest.mark.spec("T17")
async def test_two_campaigns_are_played_in_turn(model: Path, tmp_path: Path) -> None:
    """Two open campaigns with an engine each: neither disturbs the other, and both ends are clean."""
    tiny = NarratorSettings(kind="embedded", model_path=str(model), max_output_tokens=16, sampling={"seed": 3})
    settings = Settings(narrators={"tiny": tiny}, narrator="tiny")
    other = PLAIN.replace("ferry", "mill").replace("The Ferry", "The Mill")
    paths = [make(tmp_path, PLAIN, "ferry"), make(tmp_path, other, "mill")]
    sessions = [await Session.open(path, settings=settings) for path in paths]
    try:
        for line in ("I wait.", "I go on."):
            for session in sessions:
                assert await session.perform(parse_line(line))
        pids = {session.narrator.engine_pid for session in sessions}  # type: ignore[attr-defined]
        assert len(pids) == 2
        assert None not in pids
        texts = [[node.text for node in session.story.nodes() if node.role == "narrator"] for session in sessions]
        assert all(len(told) == 2 and all(told) for told in texts)
    finally:
        for session in sessions:
            await session.aclose()
    assert children(os.getpid()) == []
    assert all(verify(path).ok for path in paths)


@pytest.mark.spec("C11", "T17")
async def test_questions_and_memories_leave_the_story_in_the_cache(tiny: EmbeddedNarrator) -> None:
    """What another purpose asks is remembered beside the narrations: none of them is read again (C11)."""
    past = [Message("user", "[do] wait"), Message("assistant", "The rope creaks over the grey water. " * 12)]
    tail = Message("user", "[do] ring the bell")
    summed = (SYSTEM, Message("user", "The story so far: rain."), Message("assistant", "I know."), *past, tail)

    async def fresh(purpose: Purpose, *messages: Message) -> int:
        usage = finish_of(await told(tiny, request(messages, purpose, tokens=2))).usage
        assert usage.tokens_in is not None
        assert usage.tokens_cached is not None
        return usage.tokens_in - usage.tokens_cached

    whole = await fresh(Purpose.NARRATE, *summed)
    question = Message("user", "What has changed?")
    answer = Message("assistant", "It rings.")
    asked = (SYSTEM, *past, tail, answer, question)
    for _ in range(2):
        first = await fresh(Purpose.EXTRACT, *asked)
        await fresh(Purpose.MEMORY, SYSTEM, *past, question)
        assert await fresh(Purpose.NARRATE, *summed) < whole / 8
    assert first < whole / 8, "the second question goes on where the first one ended"


@pytest.mark.spec("T17")
async def test_the_engine_answers_nobody_without_the_secret(tiny: EmbeddedNarrator) -> None:
    await told(tiny, request(tokens=1))
    assert tiny._engine is not None
    address = tiny._engine.address
    assert address.startswith("http://127.0.0.1:")

    def ask(path: str, key: str | None, origin: str = "") -> tuple[int, str]:
        headers = {"Content-Type": "application/json", "Origin": origin or "http://evil.example"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        body = json.dumps({"messages": [{"role": "user", "content": "x"}], "max_tokens": 1}).encode()
        asked = urllib.request.Request(address + path, data=body, headers=headers)
        try:
            with urllib.request.urlopen(asked, timeout=10) as answer:
                return answer.status, answer.headers.get("Access-Control-Allow-Origin", "")
        except urllib.error.HTTPError as error:
            return error.code, error.headers.get("Access-Control-Allow-Origin", "")

    for key in (None, "", "none", "wrong"):
        for path in ("/v1/chat/completions", "/tokenize", "/apply-template"):
            status, allowed = await asyncio.to_thread(ask, path, key)
            assert status == 401
            assert allowed not in ("*", "http://evil.example", "null")
    seen = await asyncio.to_thread(told_to, tiny.engine_pid)
    assert tiny._client is not None
    assert tiny._client._key is not None
    assert tiny._client._key.reveal().encode() not in seen


@pytest.mark.spec("T17")
def test_nothing_is_written_to_the_terminal(model: Path) -> None:
    """Neither by the parent nor by the child, which inherits its streams."""
    run = subprocess.run(
        [sys.executable, "-c", TELLING, str(model), "3"], capture_output=True, text=True, timeout=LOAD_SECONDS
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert run.stdout.split("\n")[1:] == ["told", ""]


# --------------------------------------------------------------------------------------------------------------- stops


async def stopped(narrator: EmbeddedNarrator, asked: Request, is_time: Callable[[str], bool]) -> tuple[float, str]:
    """Cancel the telling when ``is_time`` of its text; how long the cancellation took, and the text."""
    text: list[str] = []

    async def tell() -> None:
        async with aclosing(narrator.stream(asked)) as chunks:
            async for chunk in chunks:
                text.append(chunk.text if isinstance(chunk, Delta) else "")

    task = asyncio.ensure_future(tell())
    await until(lambda: task.done() or is_time("".join(text)), LOAD_SECONDS)
    assert not task.done()
    begun = time.perf_counter()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    return time.perf_counter() - begun, "".join(text)


async def quickest(stop: Callable[[], Awaitable[float]], tries: int = 3) -> float:
    """The seconds of the quickest of some stops: a busy machine delays one, an engine that does not heed all."""
    seconds = [await stop()]
    while min(seconds) >= STOP_SECONDS and len(seconds) < tries:
        seconds.append(await stop())
    return min(seconds)


@pytest.mark.spec("T3", "T17")
async def test_a_stop_while_it_tells_keeps_the_engine(tiny: EmbeddedNarrator) -> None:
    async def stop() -> float:
        seconds, text = await stopped(tiny, request(tokens=2000), lambda text: len(text.split()) > 5)
        assert text
        return seconds

    assert await quickest(stop) < STOP_SECONDS
    pid = tiny.engine_pid
    assert pid is not None

    def is_idle() -> bool:
        before = ticks(pid)
        time.sleep(0.05)
        return ticks(pid) - before <= 1

    await until(is_idle, 10)
    await told(tiny, request(tokens=2))
    assert tiny.engine_pid == pid


@pytest.mark.spec("T3", "T17")
async def test_a_stop_while_the_prompt_is_read_ends_the_engine(tiny: EmbeddedNarrator) -> None:
    killed: set[int] = set()

    async def stop() -> float:
        await told(tiny, request(tokens=1))
        pid = tiny.engine_pid
        assert pid is not None
        assert pid not in killed
        killed.add(pid)
        before = ticks(pid)
        seconds, text = await stopped(tiny, request(LONG), lambda text: ticks(pid) > before + 20)
        assert text == ""
        await until(lambda: not is_there(pid), 5)
        return seconds

    assert await quickest(stop) < STOP_SECONDS
    assert text_of(await told(tiny, request(tokens=4)))
    assert tiny.engine_pid not in (None, *killed)


@pytest.mark.spec("T3", "T17")
async def test_a_stop_while_the_model_loads_leaves_nothing(tiny: EmbeddedNarrator) -> None:
    async def stop() -> float:
        seconds, _ = await stopped(tiny, request(), lambda _: bool(children(os.getpid())))
        await until(lambda: not children(os.getpid()), 5)
        return seconds

    assert await quickest(stop) < STOP_SECONDS
    assert text_of(await told(tiny))


@pytest.mark.spec("T3", "T17")
@pytest.mark.parametrize("is_told", [True, False])
async def test_the_command_stop_ends_a_turn_at_once(model: Path, tmp_path: Path, is_told: bool) -> None:
    """From the command to its answer: while it tells, and while it reads a long story."""
    definition = PLAIN if is_told else PLAIN.replace("Rain falls on the ferry.", "Rain falls on the ferry. " * 400)
    tiny = NarratorSettings(kind="embedded", model_path=str(model), max_output_tokens=400)
    session = await Session.open(
        make(tmp_path, definition), settings=Settings(narrators={"tiny": tiny}, narrator="tiny")
    )

    async def stop() -> float:
        turn = asyncio.ensure_future(session.perform(parse_line("I wait.")))
        if is_told:
            await until(lambda: session.in_flight is not None and bool(session.in_flight.text), LOAD_SECONDS)
        else:
            assert isinstance(session.narrator, EmbeddedNarrator)
            narrator = session.narrator
            await until(lambda: narrator.engine_pid is not None and ticks(narrator.engine_pid) > 100, LOAD_SECONDS)
            assert session.in_flight is not None
            assert session.in_flight.text == ""
        begun = time.perf_counter()
        assert await session.perform(parse_line("/stop"))
        assert not await turn
        return time.perf_counter() - begun

    try:
        assert await quickest(stop) < STOP_SECONDS
        assert session.story.count == 1
        found = reads.draft(session.story.store)
        assert found is not None
        assert found.text == "I wait."
    finally:
        await session.aclose()


@pytest.mark.spec("T3")
async def test_two_requests_wait_for_one_another(tiny: EmbeddedNarrator) -> None:
    """Upkeep that is cancelled kills its engine, not the one that the turn behind it needs."""
    await told(tiny, request(tokens=1))
    pid = tiny.engine_pid
    assert pid is not None
    before = ticks(pid)
    upkeep = asyncio.ensure_future(told(tiny, request(LONG, Purpose.MEMORY)))
    await until(lambda: ticks(pid) > before + 20)
    upkeep.cancel()
    turn = asyncio.ensure_future(told(tiny))
    assert text_of(await turn)
    assert upkeep.cancelled()


# ------------------------------------------------------------------------------------------------------------- failure


def children(pid: int) -> list[int]:
    """The engines among the processes that a process has started."""
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parent = int((each / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == pid and b"engine_child" in (each / "cmdline").read_bytes() and is_there(int(each.name)):
                    found.append(int(each.name))
    return found


@pytest.mark.spec("T11", "T17")
async def test_the_death_of_the_engine_in_mid_turn_is_told(model: Path, tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, "ferry")
    tiny = NarratorSettings(kind="embedded", model_path=str(model), max_output_tokens=80)
    session = await Session.open(path, settings=Settings(narrators={"tiny": tiny}, narrator="tiny"))
    events: list[Any] = []

    async def listen() -> None:
        async for event in session.events():
            events.append(event)

    listening = asyncio.ensure_future(listen())
    turn = asyncio.ensure_future(session.perform(parse_line("I open the gate.")))
    await until(lambda: session.in_flight is not None and len(session.in_flight.text.split()) > 3, LOAD_SECONDS)
    assert isinstance(session.narrator, EmbeddedNarrator)
    pid = session.narrator.engine_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert not await turn
    await asyncio.sleep(0)
    (failed,) = [each for each in events if isinstance(each, Failed)]
    assert (failed.code, failed.draft) == ("narrator-broke-off", "I open the gate.")
    assert "engine of “tiny”" in failed.message
    assert session.story.count == 1
    assert await session.perform(parse_line("I open the gate."))
    assert session.story.count == 3
    loads = [each.text for each in events if isinstance(each, Noted) and each.text.startswith("Loading")]
    assert loads == ["Loading the model …"] * 2, "at the first turn, and when the engine had died"
    assert await session.perform(parse_line("I go on."))
    await asyncio.sleep(0)
    assert sum(isinstance(each, Noted) and each.text.startswith("Loading") for each in events) == 2
    pid = session.narrator.engine_pid
    assert pid is not None
    await session.aclose()
    await listening
    assert not is_there(pid)
    assert verify(path).ok
    assert not [each for each in events if isinstance(each, Noted) and "Traceback" in each.text]


TELLING = """
import asyncio, sys
from pathlib import Path
from tests.narrators.test_embedded import EmbeddedNarrator, request
from contextlib import aclosing

async def main():
    tiny = EmbeddedNarrator("tiny", model_path=Path(sys.argv[1]))
    async with aclosing(tiny.stream(request(tokens=int(sys.argv[2])))) as chunks:
        async for chunk in chunks:
            if tiny.engine_pid:
                print(tiny.engine_pid, flush=True)
                break
        async for chunk in chunks:
            pass
    await tiny.aclose()
    print("told", flush=True)

asyncio.run(main())
"""


@pytest.fixture
def parent(model: Path) -> Iterator[subprocess.Popen[str]]:
    """Another program that tells with an engine for a long time."""
    process = subprocess.Popen(
        [sys.executable, "-c", TELLING, str(model), "4000"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    )
    yield process
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.spec("T17")
async def test_a_killed_parent_leaves_no_orphan(parent: subprocess.Popen[str]) -> None:
    assert parent.stdout is not None
    pid = int(await asyncio.to_thread(parent.stdout.readline))
    assert is_there(pid)
    parent.kill()
    await until(lambda: not is_there(pid), 5)


@pytest.mark.spec("T17")
async def test_a_parent_killed_while_the_model_loads_leaves_no_orphan(parent: subprocess.Popen[str]) -> None:
    await until(lambda: bool(children(parent.pid)), LOAD_SECONDS)
    (pid,) = children(parent.pid)
    parent.kill()
    await until(lambda: not is_there(pid), 10)


@pytest.mark.spec("T11", "T17")
@pytest.mark.parametrize("kind", ["cut off", "garbled", "no model", "missing", "cut off in its header", "a folder"])
async def test_a_file_that_is_no_model_is_named(model: Path, tmp_path: Path, kind: str) -> None:
    bad = tmp_path / "bad.gguf"
    with model.open("rb") as file:
        whole = file.read(6_000_000)
    contents = {
        "cut off": whole,
        "garbled": whole[:24] + bytes(len(whole) - 24),
        "no model": b"<html>Please log in</html>" * 10,
        "cut off in its header": whole[:5000],
    }
    if kind in contents:
        bad.write_bytes(contents[kind])
    elif kind == "a folder":
        bad.mkdir()
    narrator = EmbeddedNarrator("tiny", model_path=bad)
    try:
        assert (await narrator.capabilities()).window > 0
        with pytest.raises(NarrationFailed) as caught:
            await told(narrator)
    finally:
        await narrator.aclose()
    assert caught.value.code == "narrator-unreachable"
    assert caught.value.hint
    assert "bad.gguf" in caught.value.message or "tiny" in caught.value.message
    assert children(os.getpid()) == []


@pytest.mark.spec("T17")
async def test_too_little_memory_is_told(model: Path) -> None:
    narrator = EmbeddedNarrator("tiny", model_path=model, memory=400 << 20)
    try:
        for _ in range(2):
            with pytest.raises(NarrationFailed) as caught:
                await told(narrator)
            assert caught.value.code == "narrator-unreachable"
            assert "memory" in caught.value.message
    finally:
        await narrator.aclose()


@pytest.mark.spec("T17", "C4")
async def test_a_prompt_that_is_too_long_is_told(model: Path) -> None:
    narrator = EmbeddedNarrator("tiny", model_path=model, window=512)
    try:
        with pytest.raises(NarrationFailed) as caught:
            await told(narrator, request(LONG))
        assert caught.value.code == "context-too-long"
        assert text_of(await told(narrator))
    finally:
        await narrator.aclose()


@pytest.mark.spec("T17", "U21")
def test_a_model_is_tried(model: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "add", str(model), "--name", "tiny"]) == 0
    capsys.readouterr()
    assert main(["models", "try", "tiny", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["window"] == 8192
    assert found["tokens_read_a_second"] > 0
    assert found["tokens_written_a_second"] > 0
    assert len(found["text"].split()) > 10
    assert children(os.getpid()) == []
    assert main(["models", "try", "tiny"]) == 0
    said = capsys.readouterr().out
    assert "tokens a second on this machine" in said
    assert "Its window here is 8,192 tokens" in said
    assert "It is a small model" in said
