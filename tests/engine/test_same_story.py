"""The same lines with every kind of narrator: the same verbs, and the same kinds of events in the same order (T15)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from narrator.engine.events import Delta, Noted
from narrator.narrators.embedded import EmbeddedNarrator
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.narrators.port import Narrator
from narrator.narrators.scripted import ScriptedNarrator
from narrator.store.verify import verify
from tests.engine.playing import PLAIN, make, playing
from tests.fake_server import FakeServer, say

LINES = (
    "I look at the ferry.",
    '/say "Is anybody there?"',
    "/continue",
    "/retry",
    "/take 1",
    "/undo 2",
    "/redo 2",
    "/save here",
    "I go aboard.",
    "/retell",
)


@asynccontextmanager
async def a_narrator(kind: str, model: Path | None) -> AsyncIterator[Narrator]:
    """One of each kind."""
    if kind == "scripted":
        yield ScriptedNarrator(words_per_second=0)
    elif kind == "server":
        async with FakeServer({"narrate": say("The ferry rocks. Rain runs along the rope.")}) as server:
            yield OpenAICompatible("mine", base_url=server.base_url, model="m", retries=0, context_window=8192)
    else:
        assert model is not None
        yield EmbeddedNarrator("tiny", model_path=model, max_output_tokens=24, sampling={"seed": 5})


def _folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def kinds_told(folder: Path, kind: str, model: Path | None = None) -> list[list[str]]:
    """The kinds of events that each line is answered with, what is streamed and remarked left out."""
    path = make(_folder(folder), PLAIN, "ferry")
    found = []
    async with a_narrator(kind, model) as narrator, playing(path, narrator) as play:  # type: ignore[arg-type]
        for line in LINES:
            answer = await play.do(line)
            assert answer.ok, (kind, line, answer)
            found.append([type(event).__name__ for event in answer.events if not isinstance(event, Delta | Noted)])
        assert play.sound()
    assert verify(path).ok
    return found


@pytest.mark.spec("T15", "T18")
async def test_a_server_is_told_apart_by_its_words_alone(tmp_path: Path) -> None:
    scripted = await kinds_told(tmp_path / "scripted", "scripted")
    assert scripted == await kinds_told(tmp_path / "server", "server")
    assert scripted[0] == ["StepShown", "StepShown", "HeadMoved", "Done"]
    assert len({tuple(each) for each in scripted}) > 2, "the lines are not all alike"


@pytest.mark.embedded
@pytest.mark.serial
@pytest.mark.spec("T15", "T17")
async def test_a_model_inside_is_told_apart_by_its_words_alone(tmp_path: Path, model: Path) -> None:
    scripted = await kinds_told(tmp_path / "scripted", "scripted")
    assert scripted == await kinds_told(tmp_path / "embedded", "embedded", model)
