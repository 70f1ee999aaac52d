"""The prompt of a take, rebuilt from what is stored, against the bytes that a server received for it (S25)."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import pytest

from narrator.config import Settings
from narrator.core.prompt import encode
from narrator.engine import prompting
from narrator.engine.commands import parse_line
from narrator.engine.session import Session
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.store import reads
from tests.engine.playing import PLAIN, make
from tests.fake_server import Exchange, FakeServer, say

LINES = ("I walk on.", "/retry", "/retry darker", "/undo 2", "/undo 1", "/edit 2 I walk back.", "/continue", "/redo 9")


@pytest.mark.spec("S25", "C10")
async def test_the_bytes_that_a_server_received_are_rebuilt(tmp_path: Path) -> None:
    numbers, dice = itertools.count(1), random.Random(11)
    sent: dict[str, list[dict[str, str]]] = {}
    async with FakeServer() as server:

        async def tell(exchange: Exchange) -> None:
            text = f"Told {next(numbers)}."
            sent[text] = json.loads(exchange.request.body)["messages"]
            await say(text)(exchange)

        server.answer("narrate", tell)
        narrator = OpenAICompatible("mine", base_url=server.base_url, model="fake", context_window=100_000, retries=0)
        session = await Session.open(make(tmp_path, PLAIN, "ferry"), settings=Settings(), narrator=narrator)
        try:
            for _ in range(150):
                await session.perform(parse_line(dice.choice(LINES)))
            told = [
                row[0]
                for row in session.story.store.db.execute("SELECT id FROM nodes WHERE role = 'narrator' ORDER BY id")
            ]
            assert len(told) > 30
            assert len(session.story.branches()) > 2
            for node_id in told:
                record = reads.provenance(session.story.store, node_id)
                assert record is not None
                rebuilt = encode(prompting.unpack(session.story, record["prompt"]))
                text = session.story.node(node_id).text
                assert [{"role": m.role, "content": m.content} for m in rebuilt] == sent[text]
        finally:
            await session.aclose()
