"""What every told node keeps: the exact prompt, rebuilt byte for byte, without the history being stored again (S25)."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from narrator.core.prompt import encode
from narrator.engine import prompting, telling
from narrator.engine.events import PromptShown
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.port import Capabilities, Purpose, Request, Usage
from narrator.store import reads
from narrator.store.removal import Age
from tests.engine.playing import BRAVER, CLIMB, Play, playing

TAKES = 50


class Remembering:
    """Tells a text that nothing else says, and remembers the request that each text answered."""

    def __init__(self) -> None:
        self.told: dict[str, Request] = {}
        self.fake = FakeNarrator({Purpose.CHECK: CLIMB, Purpose.EXTRACT: BRAVER})
        self.fake.answer(Purpose.NARRATE, self.tell)

    def tell(self, request: Request) -> str:
        text = f"This is telling {len(self.told) + 1}. " + "It goes on and on. " * (len(self.told) % 7)
        self.told[text.strip()] = request
        return text


def record_of(play: Play, node_id: int) -> dict[str, Any]:
    found = reads.provenance(play.story.store, node_id)
    assert found is not None
    return found


def told_nodes(play: Play) -> list[tuple[int, str]]:
    sql = (
        "SELECT id, text FROM nodes WHERE role = 'narrator' AND origin IN ('generated', 'retold')"
        " AND hidden_by IS NULL ORDER BY id"
    )
    return list(play.story.store.db.execute(sql))


async def wander(play: Play, chance: random.Random, takes: int) -> None:
    """Every way to make a take, here and there in the tree."""
    number = 0
    while len(told_nodes(play)) < takes:
        number += 1
        (last,) = play.story.store.db.execute("SELECT max(id) FROM nodes").fetchone()
        some = chance.randint(1, last)
        line = chance.choice(
            [
                *[f"I try the {number}th door."] * 3,
                f"/say Hello, {number}!",
                f"/story It grows dark, {number}.",
                "/continue",
                "/retry",
                "/retry darker, shorter",
                f"/retry #{some}",
                f"/retell #{some}",
                f"/edit #{some} I turn, {number}.",
                f"/fork #{some}",
                f"/go #{some}",
                "/undo 3",
                f"/correct player.nerve {number + 100} because it was so",
                f"/assert Door {number} is painted green, and so is everything else that Orrin Vale ever touched here.",
                f"/note Keep it terse, {number}. " + "Mind the weather and the hour of the day. " * 3,
                f"/persona I am number {number}.",
                f"/remember Door {number} was locked.",
            ]
        )
        await play.do(line)


@pytest.mark.spec("S25", "C29")
@pytest.mark.parametrize("seed", [1, 2, 4, 5])
async def test_the_prompt_of_any_take_is_rebuilt_byte_for_byte(mill: Path, seed: int) -> None:
    remembering = Remembering()
    async with playing(mill, remembering.fake, answers="yes") as play:
        await wander(play, random.Random(seed), TAKES)
        nodes = told_nodes(play)
        assert len(nodes) >= TAKES
        assert len({play.story.node(node_id).branch_id for node_id, _ in nodes}) > 3
        for node_id, text in nodes:
            record = record_of(play, node_id)
            parts = prompting.unpack(play.story, record["prompt"])
            assert encode(parts) == remembering.told[text.strip()].messages, node_id
            assert telling.messages_hash(parts) == record["prompt_hash"]
        for node_id, text in nodes[:: len(nodes) // 5]:
            answer = await play.do(f"/prompt #{node_id}")
            (shown,) = answer.of(PromptShown)
            sent = remembering.told[text.strip()].messages
            assert [(m["role"], m["content"]) for m in shown.messages] == [(m.role, m.content) for m in sent]
            assert shown.hash == record_of(play, node_id)["prompt_hash"]
        assert play.sound()


@pytest.mark.spec("S25", "S40")
async def test_what_a_prune_leaves_is_rebuilt_as_before(mill: Path) -> None:
    remembering = Remembering()
    async with playing(mill, remembering.fake, answers="yes") as play:
        await wander(play, random.Random(3), 30)
        play.story.prune(play.story.plan_prune(Age("all")))
        nodes = told_nodes(play)
        assert nodes
        for node_id, text in nodes:
            parts = prompting.unpack(play.story, record_of(play, node_id)["prompt"])
            assert encode(parts) == remembering.told[text.strip()].messages
    async with playing(mill) as play:
        for node_id, text in nodes:
            parts = prompting.unpack(play.story, record_of(play, node_id)["prompt"])
            assert encode(parts) == remembering.told[text.strip()].messages


@pytest.mark.spec("S25")
async def test_the_history_is_not_stored_again(mill: Path) -> None:
    """A record is as small at turn 60 as at turn 20, and so is what each turn adds to the parts."""
    fake = FakeNarrator({Purpose.NARRATE: "It goes on and on. " * 40, Purpose.EXTRACT: {"changes": []}})
    async with playing(mill, fake) as play:
        for number in range(60):
            assert (await play.do(f"I try door {number:02}.")).ok
        sizes = [len(json.dumps(record_of(play, node_id))) for node_id, _ in told_nodes(play)]
        assert max(sizes[20:]) - min(sizes[20:]) < 64
        assert max(sizes) < 4_000
        parts = play.story.store.db.execute("SELECT count(*), sum(length(text)) FROM parts").fetchone()
        assert parts[0] < 60 * 3
        assert parts[1] < 60 * 2_000


@pytest.mark.spec("S25", "T7", "T5")
async def test_what_a_record_says(mill: Path) -> None:
    fake = FakeNarrator(
        {Purpose.NARRATE: Line("So it was.", finish="length", usage=Usage(100, 20, 60))},
        name="mine",
        capabilities=Capabilities(50_000, "configured", json_schema=True, model="some-model"),
    )
    refused = {"op": "set", "path": "player.nerve", "value": "a great deal", "why": "so"}
    fake.answer(Purpose.EXTRACT, {"changes": [*BRAVER["changes"], refused]})
    async with playing(mill, fake) as play:
        await play.do("I wait.")
        answer = await play.do("/retry darker")
        assert any("1 change refused: Nerve: Nerve is a number" in note for note in answer.notes)
        record = record_of(play, play.story.head.id)
        assert record["narrator"] == "mine"
        assert record["model"] == "some-model"
        assert record["window"] == 50_000
        assert record["finish"] == "length"
        assert record["usage"] == [100, 20, 60]
        assert record["note"] == "darker"
        assert record["seconds"] >= 0
        assert [each["path"] for each in record["refused"]] == ["player.nerve"]
        assert record["refused"][0]["reason"]
        assert play.story.node(2).parent_id == 1


@pytest.mark.spec("S25")
async def test_a_prompt_that_lost_a_part_is_damaged_and_says_so(mill: Path) -> None:
    async with playing(mill) as play:
        await play.do("I wait.")
        play.story.store.db.execute("DELETE FROM parts")
        answer = await play.do("/prompt 3")
        assert answer.code == "damaged"


@pytest.mark.spec("S25")
async def test_what_was_typed_has_no_prompt(mill: Path) -> None:
    async with playing(mill) as play:
        await play.do("I wait.")
        for step in ("1", "2"):
            assert (await play.do(f"/prompt {step}")).code == "bad-value"
