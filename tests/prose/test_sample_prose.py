"""The words of the sample campaigns: spelled right, never said twice, short enough to read."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from narrator.core.campaign import parse_definition

SAMPLES = sorted((Path(__file__).parents[2] / "sample_campaigns").glob("*.toml"))
RUN = 8
"""So many words in a row may not stand in two wordings."""


def wordings(path: Path) -> Iterator[tuple[str, str]]:
    for storylet in parse_definition(path.read_text(encoding="utf-8")).storylets:
        for outcome in storylet.outcomes:
            for text in outcome.wordings:
                yield storylet.id, text


@pytest.mark.spec("U23", "T18")
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_no_two_wordings_share_eight_words_in_a_row(path: Path) -> None:
    seen: dict[tuple[str, ...], int] = {}
    shared = []
    for number, (storylet_id, text) in enumerate(wordings(path)):
        words = re.findall(r"[\w’']+", text.casefold())
        for run in {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}:
            if seen.setdefault(run, number) != number:
                shared.append((storylet_id, " ".join(run)))
    assert shared == []


@pytest.mark.spec("U23")
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_the_spelling_is_checked(path: Path) -> None:
    answer = subprocess.run([sys.executable, "-m", "codespell_lib", str(path)], capture_output=True, text=True)
    assert (answer.stdout, answer.returncode) == ("", 0)


@pytest.mark.spec("U23")
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_the_typography_is_of_one_kind(path: Path) -> None:
    """Curly quotes and apostrophes, no double spaces, no paragraph that begins or ends with white space."""
    for storylet_id, text in wordings(path):
        assert not re.search(r"[\"'`]|  |\t|--|\.\.\.", text), (storylet_id, text)
        assert all(paragraph == paragraph.strip() != "" for paragraph in text.strip().split("\n\n")), (
            storylet_id,
            text,
        )
        assert text.count("“") == text.count("”"), (storylet_id, text)


LANTERN_ROAD = next(path for path in SAMPLES if path.stem == "lantern-road")


@pytest.mark.spec("U23")
def test_the_lantern_road_keeps_its_wordings_short() -> None:
    endings = {
        storylet.id
        for storylet in parse_definition(LANTERN_ROAD.read_text(encoding="utf-8")).storylets
        if any(outcome.ending for outcome in storylet.outcomes)
    }
    for storylet_id, text in wordings(LANTERN_ROAD):
        paragraphs = text.strip().split("\n\n")
        assert len(paragraphs) <= (5 if storylet_id in endings else 4), (storylet_id, text)
        assert len(text.split()) <= (300 if storylet_id in endings else 150), (storylet_id, text)


@pytest.mark.spec("U23")
def test_the_lantern_road_does_not_begin_every_answer_with_you() -> None:
    starts = [text.split()[0].casefold().strip("“”’,.") for _, text in wordings(LANTERN_ROAD)]
    assert sum(start in {"you", "you’re", "you’ve", "your"} for start in starts) / len(starts) <= 0.4
