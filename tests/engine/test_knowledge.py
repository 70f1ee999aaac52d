"""Imported knowledge: split, searched by input and scene, quoted with its kind, switched for a campaign (C28)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from narrator.cli import main
from narrator.engine.events import KnowledgeEntry, KnowledgeListed, PromptShown
from narrator.engine.story import utc_now
from narrator.exchange.importing import Surroundings, import_files
from narrator.exchange.prose import PASSAGE, split
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose
from narrator.store import commit, sources
from tests.engine.playing import DEFINITION, make, playing
from tests.engine.test_cards import telling, told
from tests.store.making import open_story

LORE = """# Tides

The tide at Skerry comes in twice, the second time without water.

# The Reeve

The Reeve of Skerry keeps every unlit lantern in a barrel of salt.

# Bread

Bread is baked on the third day and eaten on the fifth.

# Ships

No ship has a bell, since bells answer.
"""
SCENE = """
[campaign]
id = "skerry"
title = "Skerry"
opening = "You wait."

[start]
location = "barrel-house"
present = ["reeve"]

[entities.reeve]
name = "The Reeve"

[state.flags.allowed]
type = "flag"
"""


def add(folder: Path, path: Path, text: str = LORE, kind: str = "canon", name: str = "lore.md", **rest: str) -> None:
    """Import a text as knowledge into a campaign."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    around = Surroundings(folder, utc_now, lambda: "id", lambda: 7)
    import_files([file], around, as_format=kind, into=path, **rest)


@pytest.fixture
def skerry(tmp_path: Path) -> Path:
    path = make(tmp_path, DEFINITION, "skerry")
    add(tmp_path, path)
    return path


def fake() -> FakeNarrator:
    narrator = telling()
    narrator.answer(Purpose.CHECK, {"check": None})
    return narrator


@pytest.mark.spec("C28", "C29")
async def test_what_the_input_asks_for_is_quoted_with_its_kind(skerry: Path) -> None:
    async with playing(skerry, fake()) as play:
        assert (await play.do("I ask about the bread.")).ok
        assert "From Tides (canon), which binds: # Bread\n\nBread is baked" in told(play)
        assert "barrel of salt" not in told(play)
        (shown,) = (await play.do("/prompt last")).of(PromptShown)
        (part,) = [part for part in shown.parts if part.kind == "knowledge"]
        assert part.source == "Tides"
        assert part.why.startswith("canon, score ")
        assert (await play.do("I sleep.")).ok
        assert "From Tides" not in told(play)


@pytest.mark.spec("C28")
async def test_the_scene_asks_too(tmp_path: Path) -> None:
    path = make(tmp_path, SCENE, "scene")
    add(tmp_path, path)
    async with playing(path, telling()) as play:
        assert (await play.do("I wait.")).ok
        assert "barrel of salt" in told(play)


@pytest.mark.spec("C28")
async def test_canon_stands_before_reference_and_inspiration(tmp_path: Path) -> None:
    path = make(tmp_path, SCENE, "scene")
    for kind in ("inspiration", "reference", "canon"):
        add(tmp_path, path, f"# About {kind}\n\nThe heron {kind}.\n", kind, f"{kind}.md")
    add(tmp_path, path, "\n\n".join(f"# Part {n}\n\nNothing of that kind, {n}." for n in range(20)), name="more.md")
    async with playing(path, telling()) as play:
        assert (await play.do("I feed the heron.")).ok
        places = [told(play).index(f"The heron {kind}.") for kind in ("canon", "reference", "inspiration")]
        assert places == sorted(places)
        assert "(reference), which informs:" in told(play)
        assert "(inspiration), which only colours:" in told(play)


@pytest.mark.spec("C28", "C32")
async def test_words_of_every_script_are_found(tmp_path: Path) -> None:
    path = make(tmp_path, SCENE, "scene")
    add(
        tmp_path,
        path,
        "# 灯塔\n\n灯塔看守人每夜数船。\n\n# 桥\n\n桥是木头做的。\n\n# Éclair\n\nL'éclair frappe.\n\n# Fin\n\nRien.",
    )
    async with playing(path, telling()) as play:
        assert (await play.do("我走向灯塔")).ok
        assert "数船" in told(play)
        assert "木头" not in told(play)
        assert (await play.do("I see an ECLAIR.")).ok
        assert "frappe" in told(play)


@pytest.mark.spec("S35", "W14")
async def test_a_condition_keeps_a_source_shut(tmp_path: Path) -> None:
    path = make(tmp_path, SCENE, "scene")
    add(tmp_path, path, condition="flags.allowed")
    async with playing(path, telling()) as play:
        assert (await play.do("I think of bread.")).ok
        assert "third day" not in told(play)
        assert (await play.do("/correct flags.allowed true")).ok
        assert (await play.do("I think of bread.")).ok
        assert "third day" in told(play)


@pytest.mark.spec("S35", "U14")
async def test_sources_are_listed_switched_and_removed_for_the_whole_campaign(skerry: Path) -> None:
    async with playing(skerry, fake(), answers="yes") as play:
        (listed,) = (await play.do("/knowledge")).of(KnowledgeListed)
        assert listed.knowledge == (KnowledgeEntry(1, "Tides", "canon", True),)
        revision = play.story.revision
        answer = await play.do("/knowledge 1 off")
        assert any("whole campaign" in note for note in answer.notes)
        assert play.story.revision > revision
        assert (await play.do("I ask about the bread.")).ok
        assert "third day" not in told(play)
        assert (await play.do("/knowledge 1 on")).ok
        assert (await play.do("/undo 2")).ok
        assert (await play.do("I ask about the bread.")).ok
        assert "third day" in told(play)
        assert (await play.do("/knowledge 1 remove")).ok
        assert (await play.do("/knowledge")).of(KnowledgeListed)[0].knowledge == ()
        for table in ("passages", "passages_fts"):
            assert play.story.store.db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        assert (await play.do("/knowledge 1 off")).code == "bad-value"
        assert play.sound()


@pytest.mark.spec("S35")
async def test_a_source_is_removed_after_a_question_alone(skerry: Path) -> None:
    async with playing(skerry, fake()) as play:
        assert (await play.do("/knowledge 1 remove")).ok
        assert (await play.do("/knowledge")).of(KnowledgeListed)[0].knowledge != ()


@pytest.mark.spec("S25", "S35")
async def test_the_prompt_of_a_take_outlives_its_source(skerry: Path) -> None:
    async with playing(skerry, fake(), answers="yes") as play:
        assert (await play.do("I ask about the bread.")).ok
        before = (await play.do("/prompt last")).of(PromptShown)[0].messages
        assert (await play.do("/knowledge 1 remove")).ok
        assert (await play.do("/prompt last")).of(PromptShown)[0].messages == before


@pytest.mark.spec("C28")
def test_a_text_is_split_at_headings_paragraphs_and_sentences() -> None:
    assert [piece.splitlines()[0] for piece in split(LORE)] == ["# Tides", "# The Reeve", "# Bread", "# Ships"]
    sentence = "The heron stands in the reeds and counts. "
    for text in (sentence * 400, "灯塔看守人每夜数船。" * 900, "x" * 9000, ("word " * 3000).strip()):
        pieces = split(text)
        assert max(map(len, pieces)) <= 2 * PASSAGE
        assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(piece.endswith("counts.") for piece in split((sentence * 400).strip()))


@pytest.mark.spec("C28")
def test_common_words_find_nothing(tmp_path: Path) -> None:
    path = make(tmp_path, SCENE, "scene")
    add(tmp_path, path)
    story = open_story(path)
    try:
        commit.index_passages(story.store)
        commit.index_passages(story.store)
        assert sources.telling_phrases(story.store, ["the", "is", "and", "skerry", "bread"], 9) == ["bread"]
    finally:
        story.close()


@pytest.mark.spec("U21", "C28", "S35")
def test_the_command_line(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    definition = tmp_path / "skerry.toml"
    definition.write_text(SCENE)
    assert main(["new", "--from", str(definition)]) == 0
    lore = tmp_path / "lore.md"
    lore.write_text(LORE)
    assert (
        main(["knowledge", "add", str(lore), "--as", "reference", "--into", "skerry", "--when", "flags.allowed"]) == 0
    )
    assert "whole campaign" in capsys.readouterr().out
    assert main(["knowledge", "list", "skerry"]) == 0
    assert capsys.readouterr().out == "#1 Tides: reference, 4 passages, when flags.allowed\n"
    assert main(["knowledge", "disable", "skerry", "1"]) == 0
    assert main(["knowledge", "list", "skerry", "--json"]) == 0
    out = capsys.readouterr().out
    assert json.loads(out[out.index("[") :]) == [
        {"id": 1, "title": "Tides", "kind": "reference", "enabled": False, "passages": 4, "when": "flags.allowed"}
    ]
    assert main(["knowledge", "enable", "skerry", "1"]) == 0
    assert main(["knowledge", "remove", "skerry", "2", "--yes"]) == 2
    assert main(["knowledge", "remove", "skerry", "1", "--yes"]) == 0
    capsys.readouterr()
    assert main(["knowledge", "list", "skerry"]) == 0
    assert capsys.readouterr().out == "No imported knowledge.\n"
    assert main(["knowledge", "add", str(lore), "--as", "gospel", "--into", "skerry"]) == 2
    assert main(["knowledge", "add", str(lore), "--as", "canon", "--into", "skerry", "--when", "flags. =="]) == 1
