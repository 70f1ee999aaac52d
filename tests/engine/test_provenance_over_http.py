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
from narrator.store.verify import verify_connection
from tests.engine.playing import PLAIN, make
from tests.fake_server import Exchange, FakeServer, say

TAKES = 200
#: Of 230 takes made, some stand on branches of branches, some were never built on; ``{some}`` is a node anywhere.
LINES = (
    *("I walk on, {number}.", "I walk on, {number}.", "/say Who goes there, {number}?", "/continue"),
    *("/retry", "/retry darker, {number}", "/retry #{some}", "/retry #{some} shorter", "/retell #{some}"),
    *("/edit #{some} I walk back, {number}.", "/edit-wording #{some} Only other words, {number}."),
    *("/undo 2", "/undo 1", "/redo 9", "/fork #{some}", "/go #{some}", "/take #{some}", "/note Terse, {number}."),
)


@pytest.mark.spec("S25", "C10")
@pytest.mark.xdist_group("provenance")
async def test_the_bytes_that_a_server_received_are_rebuilt_for_200_takes(tmp_path: Path) -> None:
    """Of a story with forks, retries and edits of inputs and narrations; the takes are drawn at random."""
    numbers, dice = itertools.count(1), random.Random(11)
    sent: dict[str, bytes] = {}
    async with FakeServer() as server:

        async def tell(exchange: Exchange) -> None:
            text = f"Told {next(numbers)}."
            sent[text] = exchange.request.body
            await say(text)(exchange)

        server.answer("narrate", tell)
        narrator = OpenAICompatible("mine", base_url=server.base_url, model="fake", context_window=100_000, retries=0)
        session = await Session.open(
            make(tmp_path, PLAIN, "ferry"), settings=Settings(), narrator=narrator, answers="yes"
        )
        try:
            db = session.story.store.db
            for number in itertools.count():
                told = db.execute(
                    "SELECT id, text FROM nodes WHERE origin IN ('generated', 'retold') AND role = 'narrator'"
                ).fetchall()
                if len(told) >= TAKES + 30:
                    break
                (last,) = db.execute("SELECT max(id) FROM nodes").fetchone()
                line = dice.choice(LINES).format(number=number, some=dice.randint(1, last))
                await session.perform(parse_line(line))
            assert len(session.story.branches()) > 10
            origins = {row[0] for row in db.execute("SELECT DISTINCT origin FROM nodes")}
            assert origins == {"typed", "generated", "retold", "edited"}
            assert db.execute("SELECT count(*) FROM nodes WHERE branch_id IS NULL").fetchone()[0] > 10
            for node_id, text in dice.sample(told, TAKES):
                record = reads.provenance(session.story.store, node_id)
                assert record is not None
                rebuilt = encode(prompting.unpack(session.story, record["prompt"]))
                messages = [{"role": m.role, "content": m.content} for m in rebuilt]
                body = json.dumps(messages, ensure_ascii=False, separators=(",", ":")).encode()
                assert b'"messages":' + body in sent[text], node_id
            assert verify_connection(db).problems == ()
        finally:
            await session.aclose()
