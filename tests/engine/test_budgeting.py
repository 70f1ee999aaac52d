"""What goes out fits the window, turn after turn, and holds what the story needs (C1-C8, C18)."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrator.config import Settings
from narrator.engine.commands import parse_line
from narrator.engine.session import Session
from narrator.narrators.openai_compatible import OpenAICompatible
from tests.engine.long_stories import summing_up, telling, within
from tests.engine.playing import PLAIN, make
from tests.fake_server import FakeServer, give

WINDOW = 6144


@pytest.mark.spec("C7", "C8", "C18", "C19")
async def test_three_hundred_turns_in_a_small_window_without_one_refusal(tmp_path: Path) -> None:
    refused: list[int] = []
    async with FakeServer() as server:
        server.answer("narrate", within(WINDOW, telling({3: "Ottoline"}, 250), refused))
        server.answer("compact", within(WINDOW, summing_up("Ottoline"), refused))
        server.answer("memory", within(WINDOW, lambda body: give({"memory": "They walked."}), refused))
        narrator = OpenAICompatible("small", base_url=server.base_url, model="fake", context_window=WINDOW, retries=0)
        path = make(tmp_path, PLAIN, "ferry")
        session = await Session.open(path, settings=Settings(), narrator=narrator)
        try:
            for number in range(1, 301):
                assert await session.perform(parse_line(f"I go {number}."))
        finally:
            await session.aclose()
        assert refused == []
        narrations = server.asked("narrate")
        assert len(narrations) == 300
        assert "Ottoline" in narrations[-1].body.decode()
        assert "There is Ottoline. (certain)" in narrations[-1].body.decode()
        assert "Told 3." not in narrations[-1].body.decode()
        assert "Told 299." in narrations[-1].body.decode()
        assert len(server.asked("compact")) < 300
