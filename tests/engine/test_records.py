"""What is recorded of a turn beside its text: settings, tokens of every request, and what was refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from narrator.engine.events import StatsShown
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Capabilities, Completion, Finish, Purpose, Request, Usage
from narrator.store import reads
from tests.engine.playing import DEFINITION, Play, make, playing, tell_in_numbers


class Metered(FakeNarrator):
    """The fake with sampler settings and ten tokens in, three out for each question beside the narration."""

    async def complete(self, request: Request) -> Completion:
        found = await super().complete(request)
        return Completion(found.text, Finish(found.finish.reason, Usage(10, 3, None)))


def metered() -> FakeNarrator:
    abilities = Capabilities(100_000, "configured", json_schema=True, model="fake", sampling={"temperature": 0.9})
    return tell_in_numbers(Metered(capabilities=abilities))


def record(play: Play) -> dict[str, Any]:
    (node_id,) = play.story.store.db.execute("SELECT max(node_id) FROM provenance").fetchone()
    found = reads.provenance(play.story.store, node_id)
    assert found is not None
    return found


@pytest.mark.spec("S25", "U13")
async def test_settings_and_the_tokens_of_every_request_are_kept(mill: Path) -> None:
    async with playing(mill, metered()) as play:
        await play.do("climb")
        assert record(play)["sampling"] == {"temperature": 0.9}
        assert record(play)["asides"] == [20, 6, 0], "a check and an extraction"
        stats = (await play.do("/stats")).of(StatsShown)[0]
        assert (stats.tokens_in, stats.tokens_out) >= (20, 6)


@pytest.mark.spec("T5", "W4", "W2")
async def test_a_refused_change_is_told_without_a_hidden_name(tmp_path: Path) -> None:
    secret = '\n[state.flags.poisoned]\ntype = "flag"\nvisibility = "hidden"\n'
    path = make(tmp_path, DEFINITION + secret)
    fake = FakeNarrator()
    fake.answer(Purpose.CHECK, {"check": None})
    fake.answer(Purpose.NARRATE, "You climb.")
    changes = [{"op": "set", "path": name, "value": True, "why": ""} for name in ("player.luck", "flags.poisoned")]
    fake.answer(Purpose.EXTRACT, {"changes": changes})
    async with playing(path, fake) as play:
        answer = await play.do("climb")
        told = [note for note in answer.notes if "refused" in note]
        assert len(told) == 2
        assert told[0].startswith("1 change refused: player.luck: ")
        assert told[1] == "1 change refused."
        assert [each["path"] for each in record(play)["refused"]] == ["player.luck", "flags.poisoned"]


@pytest.mark.spec("W5", "T11")
async def test_half_a_character_in_an_answer_is_mended(mill: Path) -> None:
    fake = FakeNarrator()
    fake.answer(Purpose.CHECK, {"check": None})
    fake.answer(Purpose.NARRATE, "You climb.")
    fake.answer(Purpose.EXTRACT, '{"changes": [{"op": "assert", "path": "facts", "value": "a \\ud83d b", "why": ""}]}')
    async with playing(mill, fake) as play:
        assert (await play.do("climb")).ok
        assert play.story.state().values["facts"][0]["text"] == "a \ufffd b"
