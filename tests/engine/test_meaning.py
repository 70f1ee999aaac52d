"""Memories by meaning: fused with full text, along the path alone, and never needed (C24)."""

from __future__ import annotations

import logging
import math
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from narrator.config import ContextSettings, Settings
from narrator.engine.events import PromptShown
from narrator.engine.meaning import WORTH_SAYING, Loader, Meaning, load_wordllama
from narrator.engine.memory import fuse
from narrator.engine.session import Session
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose
from narrator.store import commit
from narrator.store.memory_reads import MemoryRow
from tests.engine.long_stories import lengthen, narration, small
from tests.engine.playing import PLAIN, Play, make
from tests.store.making import open_story, still

SETTINGS = Settings(context=ContextSettings(memory_every=1000, memories_in_prompt=3))

#: Words that mean the same, for an embedder that knows these alone: each row is one direction.
SENSES = (
    ("key", "lock", "unlocks", "opener"),
    ("ferry", "boat", "vessel"),
    ("money", "coins", "silver", "debt"),
    ("storm", "gale", "tempest"),
)


class Senses:
    """A vector a text: how often it speaks of each sense."""

    name = "senses"
    size = 2 * len(SENSES)
    least = 0.3

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.embedded += texts
        return [struct.pack(f"<{len(SENSES)}e", *self._vector(text)) for text in texts]

    def gather(self, found: Sequence[bytes]) -> Any:
        return [struct.unpack(f"<{len(SENSES)}e", each) for each in found]

    def nearest(self, text: str, gathered: Sequence[Any]) -> Iterator[tuple[int, float]]:
        asked = self._vector(text)
        vectors = [each for segment in gathered for each in segment]
        alike = [sum(one * other for one, other in zip(asked, each, strict=True)) for each in vectors]
        near = sorted(range(len(alike)), key=lambda at: -alike[at])
        return iter([(at, alike[at]) for at in near if alike[at] >= self.least])

    def _vector(self, text: str) -> list[float]:
        words = "".join(each if each.isalpha() else " " for each in text.lower()).split()
        counts = [sum(word in sense for word in words) for sense in SENSES]
        length = math.hypot(*counts) or 1.0
        return [count / length for count in counts]


def telling() -> FakeNarrator:
    fake = FakeNarrator(capabilities=small(1_000_000))
    fake.answer(Purpose.NARRATE, lambda request: narration(1, 40))
    fake.answer(Purpose.MEMORY, {"memory": "They went on."})
    return fake


async def begin(path: Path, load: Loader, settings: Settings = SETTINGS, **rest: Any) -> Play:
    fake = telling()
    session = await Session.open(path, settings=settings, narrator=fake, clock=still, meaning=load, **rest)
    return Play(session, fake)


async def turn(play: Play, line: str) -> str:
    """Play a turn and its upkeep; the tail of the prompt that told it."""
    assert (await play.do(line)).ok
    await play.session.kept_up()
    told = [each for each in play.narrator.requests if each.purpose is Purpose.NARRATE][-1]
    return told.messages[-1].content


async def whys(play: Play, line: str) -> dict[str, str]:
    """Of the prompt that the latest turn went out with, why each memory is in it."""
    await turn(play, line)
    shown = (await play.do(f"/prompt {play.story.count}")).of(PromptShown)[0]
    return {part.source: part.why for part in shown.parts if part.kind == "memory"}


def vectors(play: Play) -> list[tuple[int, str, int]]:
    return list(play.story.store.db.execute("SELECT memory_id, model, length(vector) FROM memory_vectors ORDER BY 1"))


@pytest.mark.spec("C24")
async def test_a_paraphrase_is_found_by_meaning_and_says_so(tmp_path: Path) -> None:
    play = await begin(make(tmp_path, PLAIN, "mere"), Senses)
    await play.do("/remember Ottoline hid a key.")
    await play.do("/remember Magda owes silver.")
    assert "Ottoline hid a key." not in await turn(play, "What unlocks it?")  # not before upkeep
    assert vectors(play) == [(1, "senses", 8), (2, "senses", 8)]
    assert await whys(play, "What unlocks it?") == {"#1": "meaning (likeness 1.00)"}
    found = await whys(play, "Who owes the coins?")
    assert list(found) == ["#2"]
    assert found["#2"].startswith("words (score ")
    assert found["#2"].endswith(", meaning (likeness 1.00)")
    assert "Ottoline hid" not in await turn(play, "I sing.")
    await play.aclose()


@pytest.mark.spec("C24")
def test_rankings_are_fused_by_reciprocal_rank() -> None:
    a, b, c, d = (MemoryRow(at, at, "", "typed", False) for at in range(1, 5))
    assert fuse([a, b, c], [c, d]) == [c, a, b, d]  # 1/63 + 1/61, then 1/61, and of 1/62 the words' first
    assert fuse([a, b], []) == [a, b]
    assert fuse([a], [b]) == [a, b]


@pytest.mark.spec("C24", "C25")
async def test_pinned_first_forgotten_never_and_a_changed_text_means_something_else(tmp_path: Path) -> None:
    play = await begin(make(tmp_path, PLAIN, "mere"), Senses)
    for text in ("A key of brass.", "A lock of iron.", "An opener was lost.", "A tempest."):
        await play.do(f"/remember {text}")
    await play.do("/pin-memory 4")
    await play.do("/forget-memory 2")
    await turn(play, "I wait.")
    assert await whys(play, "What unlocks it?") == {
        "#4": "pinned",
        "#1": "meaning (likeness 1.00)",
        "#3": "meaning (likeness 1.00)",
    }
    await play.do("/edit-memory 1 A vessel.")
    assert [row[0] for row in vectors(play)] == [2, 3, 4]
    assert list(await whys(play, "What unlocks it?")) == ["#4", "#3"]
    assert list(await whys(play, "Where is the boat?")) == ["#4", "#1"]
    await play.aclose()


@pytest.mark.spec("C24", "S33")
async def test_another_path_and_what_the_tail_shows_never_come_back(tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, "mere")
    story = open_story(path)
    ids = lengthen(story, 12)
    commit.remember(story.store, ids[1], "Ottoline hid a key.")
    story.go(story.node(ids[9]))
    other = lengthen(story, 12, first=500)
    commit.remember(story.store, other[3], "Magda broke the lock.")
    commit.remember(story.store, other[3], "An opener lies here.", source="generated", first_depth=1)
    story.close()
    play = await begin(path, Senses)
    await turn(play, "I wait.")
    assert len(vectors(play)) == 3
    assert set(await whys(play, "What unlocks it?")) == {"#1", "#2"}  # the tail shows what #3 tells of
    await play.do({"command": "go", "step": {"id": ids[-1]}})
    assert list(await whys(play, "What unlocks it?")) == ["#1"]
    await play.do("/undo")
    await play.do({"command": "go", "step": {"id": ids[0]}})
    assert await whys(play, "What unlocks it?") == {}
    await play.aclose()


@pytest.mark.spec("C24")
async def test_a_memory_of_an_unplaced_take_is_found_there_alone(tmp_path: Path) -> None:
    play = await begin(make(tmp_path, PLAIN, "mere"), Senses)
    await turn(play, "I wait.")
    await play.do("/retry")
    await play.do("/remember Ottoline hid a key.")
    await turn(play, "I wait.")
    assert "Ottoline hid a key." in await turn(play, "What unlocks it?")
    assert (await play.do("/take 1 3")).ok
    assert "Ottoline" not in await turn(play, "What unlocks it?")
    assert (await play.do("/take 2 3")).ok
    assert "Ottoline hid a key." in await turn(play, "What unlocks it?")
    await play.aclose()


@pytest.mark.spec("C24")
async def test_without_vectors_full_text_is_all_until_upkeep_makes_them_again(tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, "mere")
    senses = Senses()
    play = await begin(path, lambda: senses)
    await play.do("/remember Ottoline hid a key.")
    await play.do("/remember Magda owes silver.")
    await turn(play, "I wait.")
    before = play.rows(without=("memory_vectors", "sqlite_sequence"))
    db = play.story.store.db
    made = db.execute("SELECT memory_id, model, vector FROM memory_vectors ORDER BY 1").fetchall()
    db.execute("DELETE FROM memory_vectors")
    assert play.rows(without=("memory_vectors", "sqlite_sequence")) == before
    assert play.sound()
    assert list(await whys(play, "Magda, what unlocks it?")) == ["#2"]
    assert db.execute("SELECT memory_id, model, vector FROM memory_vectors ORDER BY 1").fetchall() == made
    assert list(await whys(play, "Magda, what unlocks it?")) == ["#2", "#1"]
    senses.embedded.clear()
    await turn(play, "I wait.")
    assert senses.embedded == []
    await play.aclose()


@pytest.mark.spec("C24")
async def test_vectors_of_another_model_or_size_are_made_again(tmp_path: Path) -> None:
    play = await begin(make(tmp_path, PLAIN, "mere"), Senses)
    await play.do("/remember Ottoline hid a key.")
    await play.do("/remember A tempest.")
    await turn(play, "I wait.")
    db = play.story.store.db
    db.execute("UPDATE memory_vectors SET model = 'older' WHERE memory_id = 1")
    db.execute("UPDATE memory_vectors SET vector = x'00' WHERE memory_id = 2")
    await play.aclose()
    play = await begin(tmp_path / "mere.narrator", Senses)
    assert "Ottoline" not in await turn(play, "What unlocks it?")
    assert vectors(play) == [(1, "senses", 8), (2, "senses", 8)]
    assert "Ottoline hid a key." in await turn(play, "What unlocks it?")
    await play.aclose()


@pytest.mark.spec("C24", "S41")
async def test_vectors_go_with_their_memories(tmp_path: Path) -> None:
    play = await begin(make(tmp_path, PLAIN, "mere"), Senses, answers="yes")
    await turn(play, "I wait.")
    await play.do("/remember Ottoline hid a key.")
    await play.do("/retry")
    await play.do("/remember Magda broke the lock.")
    await turn(play, "I wait.")
    assert len(vectors(play)) == 2
    assert (await play.do("/delete-take 1 3")).ok
    await play.aclose()
    play = await begin(tmp_path / "mere.narrator", Senses)
    assert vectors(play) == [(2, "senses", 8)]
    assert play.sound()
    assert list(await whys(play, "What unlocks it?")) == ["#2"]
    await play.aclose()


@pytest.mark.spec("C24")
async def test_a_missing_extra_is_a_note_once_and_no_failure(tmp_path: Path) -> None:
    settings = Settings(context=ContextSettings(memory_every=2, memories_in_prompt=3))
    play = await begin(make(tmp_path, PLAIN, "mere"), lambda: None, settings)
    notes: list[str] = []
    for _ in range(WORTH_SAYING + 3):
        start = len(play.heard)
        await turn(play, "I go on.")
        notes += [each.text for each in play.heard[start:] if "semantic" in getattr(each, "text", "")]
    assert len(play.story.memories()) > WORTH_SAYING
    assert notes == ["Memories are found by their words; with the extra semantic also by meaning."]
    assert vectors(play) == []
    await play.aclose()


@pytest.mark.spec("C24")
async def test_an_extra_that_does_not_load_is_a_note_once_and_no_failure(tmp_path: Path) -> None:
    def broken() -> Meaning | None:
        raise OSError("its weights are gone")

    play = await begin(make(tmp_path, PLAIN, "mere"), broken)
    await play.do("/remember Ottoline hid a key.")
    for _ in range(3):
        assert "Ottoline hid a key." in await turn(play, "I look for the key.") or play.story.count == 3
    said = [each.text for each in play.heard if "semantic" in getattr(each, "text", "")]
    assert said == ["Memories are found by their words alone; the extra semantic fails: its weights are gone"]
    await play.aclose()


@pytest.mark.spec("C24", "T13")
async def test_a_reader_finds_by_meaning_and_writes_nothing(tmp_path: Path) -> None:
    path = make(tmp_path, PLAIN, "mere")
    play = await begin(path, Senses)
    await play.do("/remember Ottoline hid a key.")
    await turn(play, "What unlocks it?")
    await play.aclose()
    before = path.read_bytes()
    play = await begin(path, Senses, read_only=True)
    shown = (await play.do("/prompt")).of(PromptShown)[0]
    assert all(part.kind != "memory" or part.why for part in shown.parts)
    await play.aclose()
    assert path.read_bytes() == before


@pytest.mark.spec("C24")
async def test_stories_without_memories_load_no_model(tmp_path: Path) -> None:
    loads: list[int] = []

    def load() -> Meaning | None:
        loads.append(1)
        return Senses()

    play = await begin(make(tmp_path, PLAIN, "mere"), load)
    await turn(play, "I wait.")
    assert loads == []
    await play.do("/remember Ottoline hid a key.")
    for _ in range(3):
        await turn(play, "I wait.")
    assert loads == [1]
    await play.aclose()


@pytest.mark.spec("C24")
def test_where_it_is_not_installed_there_is_no_model() -> None:
    code = (
        "import sys; sys.modules['wordllama'] = None\n"
        "from narrator.engine.meaning import load_wordllama\n"
        "print(load_wordllama(), 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", "False"]


# ------------------------------------------------------------------------------------------------- the extra itself

installed = pytest.mark.skipif(find_spec("wordllama") is None, reason="the extra semantic is not installed")

TOLD = {
    "When does the sea go out in the evening?": "The tide turns at dusk.",
    "How much money must be paid back to the tavern?": "Magda owes the innkeeper forty coins.",
    "Is the water in the churchyard safe to drink?": "The well beside the chapel is poisoned.",
    "Which mariners died when the gale struck?": "A storm broke the mast and drowned two sailors.",
    "I swore to return the blacksmith's child.": "You promised a smith that his son comes home.",
    "Tell me about the jewellery on that finger.": "She wears her mother's ring.",
}


@installed
@pytest.mark.spec("C24")
async def test_the_extra_finds_paraphrases_that_full_text_misses(tmp_path: Path) -> None:
    found: dict[str, set[str]] = {}
    for name, load in (("words", lambda: None), ("meaning", load_wordllama)):
        play = await begin(make(tmp_path, PLAIN, name), load)
        for memory in TOLD.values():
            await play.do(f"/remember {memory}")
        await turn(play, "Hm.")
        found[name] = {asked for asked, memory in TOLD.items() if memory in await turn(play, asked)}
        if name == "meaning":
            assert [row[2] for row in vectors(play)] == [512] * len(TOLD)
        await play.aclose()
    missed = set(TOLD) - found["words"]
    assert len(missed) >= 3
    assert len(missed & found["meaning"]) >= len(missed) - 1
    assert len(found["meaning"]) >= 5


@installed
@pytest.mark.spec("C24")
def test_the_extra_ranks_thousands_as_a_plain_sort_would() -> None:
    meaning = load_wordllama()
    assert meaning is not None
    words = "tide lantern mill heron bell key rain salt reeve ferry stone sack".split()
    texts = [f"The {words[n % 12]} and the {words[n // 12 % 12]} by the {words[n // 144 % 12]}." for n in range(1728)]
    gathered = [meaning.gather(meaning.embed(part)) for part in (texts[:1000], texts[1000:])]
    found = list(meaning.nearest("The bell rings for the reeve.", gathered))
    assert len(found) > 600
    assert len({at for at, _ in found}) == len(found)
    assert [alike for _, alike in found] == sorted((alike for _, alike in found), reverse=True)
    assert all(alike >= meaning.least for _, alike in found)
    assert "bell" in texts[found[0][0]]
    assert "reeve" in texts[found[0][0]]


@installed
@pytest.mark.spec("C24")
def test_the_extra_leaves_logging_alone_and_asks_no_network() -> None:
    code = (
        "import logging, socket\n"
        "def no(*rest): raise AssertionError('the network was asked')\n"
        "socket.socket.connect = no\n"
        "from narrator.engine.meaning import load_wordllama\n"
        "found = load_wordllama()\n"
        "root = logging.getLogger()\n"
        "print(root.handlers, root.level, len(found.embed(['Rain.'])[0]))\n"
        "gathered = [found.gather(found.embed(['', 'Rain.'])), found.gather(found.embed(['A cat.']))]\n"
        "print([at for at, _ in found.nearest('A cat.', gathered)][:1], list(found.nearest('', gathered)))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"[] {logging.WARNING} 512", "[2] []"]
    assert done.stderr == ""
