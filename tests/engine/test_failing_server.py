"""Two hundred turns against a server that fails one request in three, in every way that a server can (T11)."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from narrator.engine.events import Failed, Noted
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.store.verify import verify
from tests.engine.failures_page import WAYS
from tests.engine.playing import BRAVER, CLIMB, playing
from tests.fake_server import Answer, Exchange, FakeServer, give, say

TURNS = 200
TIMEOUT = 0.2
STUCK_SECONDS = 30


class Unreliable:
    """A third of the requests fail, in a way that is drawn; each way comes up before one comes again."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._left: list[str] = []
        self.met: Counter[str] = Counter()
        self.narrations = 0

    def answer(self, good: Answer) -> Answer:
        async def pick(exchange: Exchange) -> None:
            if self._random.random() >= 1 / 3:
                await good(exchange)
                return
            if not self._left:
                self._left = self._random.sample(sorted(WAYS), len(WAYS))
            way = self._left.pop()
            self.met[way] += 1
            await WAYS[way](exchange)

        return pick

    async def narrate(self, exchange: Exchange) -> None:
        self.narrations += 1
        await say(f"Answer {self.narrations}: the wheel turns.")(exchange)


@pytest.mark.spec("T11", "T12", "S13")
@pytest.mark.parametrize("seed", [1])
async def test_two_hundred_turns_with_an_unreliable_server(
    mill: Path, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    before = asyncio.all_tasks()
    unreliable = Unreliable(seed)
    good = {"check": give(CLIMB), "narrate": unreliable.narrate, "extract": give(BRAVER)}
    good |= {"memory": give({"memory": "The wheel turned."}), "suggest": give({"suggestions": ["Wait."]})}
    accepted: list[str] = []
    failures: Counter[str] = Counter()
    async with FakeServer({purpose: unreliable.answer(each) for purpose, each in good.items()}) as server:
        teller = OpenAICompatible(
            "mine",
            base_url=server.base_url,
            model="m",
            timeout=TIMEOUT,
            retries=1,
            backoff=0.001,
            context_window=100_000,
        )
        async with playing(mill, teller) as play:  # type: ignore[arg-type]
            for number in range(TURNS):
                line = f"I try the wheel, {number}."
                count = play.story.count
                async with asyncio.timeout(STUCK_SECONDS), AsyncExitStack() as stack:
                    if is_away := number % 19 == 7:
                        await stack.enter_async_context(server.away())
                    answer = await play.do(line)
                assert not (is_away and answer.ok)
                assert not play.session.is_turning
                if answer.ok:
                    accepted.append(line)
                    assert play.story.count == count + 2
                    assert play.draft() is None
                    continue
                (failed,) = answer.of(Failed)
                failures[failed.code] += 1
                assert play.story.count == count
                assert failed.draft == line == play.draft()
                assert failed.message
                assert "\n" not in failed.message
                assert failed.hint or failed.code == "context-too-long"
            async with asyncio.timeout(STUCK_SECONDS):
                await play.session.kept_up()
            assert play.sound()
            inputs = [node.text for node in play.story.nodes() if node.role == "player"]
            told = [node.text for node in play.story.nodes() if node.role == "narrator"]
            shown = "\n".join(each.text for each in play.heard if isinstance(each, Noted))
            nerve = play.story.state().values["player.nerve"]
    assert inputs == accepted
    assert len(told) == len(accepted) == len(set(told))
    assert nerve == 5 + len(accepted)
    assert all(text.endswith(": the wheel turns.") for text in told)
    assert set(unreliable.met) == set(WAYS)
    assert len(failures) > 8, failures
    assert failures["narrator-unreachable"] > TURNS // 19
    assert "internal-error" not in failures
    assert 40 < len(accepted) < 190
    assert "Traceback" not in shown
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert verify(mill).ok
    assert asyncio.all_tasks() <= before
