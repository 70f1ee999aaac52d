"""Every sample file: what its import must yield (X1, X5, and the table of exchange.md)."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from narrator.engine import prompting
from narrator.engine.story import Story
from narrator.exchange.report import Report
from narrator.store import reads
from narrator.store.verify import verify
from tests.exchange.bringing import SAMPLES, bring, story_of, whole_file

EXPECTED = sorted(SAMPLES.glob("*.expect.json"))
NAMES = [path.name.removesuffix(".expect.json") for path in EXPECTED]


def expected(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SAMPLES / f"{name}.expect.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_sample_has_what_it_must_yield() -> None:
    files = {path.name for path in SAMPLES.iterdir() if not path.name.endswith(".expect.json")}
    assert files == set(NAMES)


@pytest.mark.spec("X1", "X5", "S14", "S18")
def test_a_sample_yields_what_it_must(name: str, tmp_path: Path) -> None:
    want = expected(name)
    report = bring(tmp_path, SAMPLES / name)
    family = want["format"]
    assert report.format == family or report.format.startswith(family), report.format
    assert len(report.campaigns) == want.get("campaigns", 1)
    for key in ("title", "steps_on_path", "nodes", "branches", "cards"):
        if want.get(key) is not None:
            assert getattr(report, key) == want[key], key
    if "checkpoints" in want:
        assert len(report.checkpoints) == len(want["checkpoints"])
        assert all(got.startswith(name) for got, name in zip(report.checkpoints, want["checkpoints"], strict=True))
    assert report.placeholders == want.get("placeholders", [])
    for kind, least in want.get("notes_at_least", {}).items():
        assert report.counts[kind] >= least
    check_campaign(report, want)


def check_campaign(report: Report, want: dict[str, Any]) -> None:
    assert verify(Path(report.campaigns[0])).problems == ()
    with story_of(report) as story:
        line = reads.end_of(story.store, story.tip)
        path = reads.window(story.store, line, 1, line.length)
        if "steps_on_path" in want:
            assert len(path) == want["steps_on_path"]
        if "nodes" in want:
            totals = reads.totals(story.store)
            assert (totals.nodes, totals.branches) == (want["nodes"], want["branches"])
        if "takes" in want:
            assert takes_of(story) == sorted(want["takes"])
            on_path = [
                [position, len(reads.siblings(story.store, node.parent_id))]
                for position, node in enumerate(path, 1)
                if len(reads.siblings(story.store, node.parent_id)) > 1
            ]
            assert on_path == want.get("takes_on_path", want["takes"])
        for branch in want.get("branch_names", ()):
            assert branch in {each.name for each in story.store.forest}
        texts = [node.text for node in path]
        if want.get("path_texts_sha256"):
            assert sha("\n␞\n".join(texts)) == want["path_texts_sha256"]
        if want.get("path_nospace_sha256"):
            assert sha("".join("".join(texts).split())) == want["path_nospace_sha256"]
        check_texts(story, want)
    if want.get("must_not_contain"):
        every = whole_file(Path(report.campaigns[0]))
        assert not [text for text in want["must_not_contain"] if text in every]
    if want.get("kept_for_reexport"):
        every = whole_file(Path(report.campaigns[0]))
        assert not [text for text in want["kept_for_reexport"] if text not in every]


def check_texts(story: Story, want: dict[str, Any]) -> None:
    definition = story.definition
    told = [row[0] for row in story.store.db.execute("SELECT text FROM nodes")]
    told += [row[0] for row in story.store.db.execute("SELECT text FROM memories")]
    told += [
        definition.premise,
        definition.persona,
        definition.instructions,
        str(story.state().values.get("story.note")),
    ]
    told += [text for card in definition.cards for text in (card.name, card.text, *card.keys)]
    whole = "\n".join(told)
    assert not [text for text in want.get("must_contain", ()) if text not in whole]
    parts = prompting.stable_prefix(story, story.state())
    prompt = "\n".join([whole, *(part.text for part in parts)])
    assert not [text for text in want.get("must_not_reach_prompt", ()) if text in prompt]


def takes_of(story: Story) -> list[list[int]]:
    """[position, how many] for every parent with more than one child."""
    rows = story.store.db.execute("SELECT coalesce(parent_id, 0), depth FROM nodes").fetchall()
    return sorted([depth, count] for (_, depth), count in Counter(rows).items() if count > 1)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
