"""A bundle goes out and in piece by piece: what is held in memory does not grow with the texts (X11)."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from narrator.exchange.exporting import Wish, export
from tests.exchange.bringing import bring, still
from tests.store.making import DEFINITION

NODES = 1500
TEXT = "The road goes on, and so does the rain. " * 150


def big_bundle(path: Path) -> None:
    """One line of nodes of 6 kB each."""
    campaign = {"id": "big", "title": "Big", "seed": 1, "head": NODES, "tip": NODES, "written": NODES}
    with path.open("w", encoding="utf-8") as file:
        file.write('{"format": "narrator-campaign-v1", "campaign": ' + json.dumps(campaign))
        file.write(', "definitions": ' + json.dumps([{"source": DEFINITION}]) + ', "branches": [{}], "nodes": [')
        file.write(json.dumps({"branch": 1, "role": "opening", "text": "Rain."}))
        for number in range(2, NODES + 1):
            role = "narrator" if number % 2 else "player"
            node = {"parent": number - 1, "branch": 1, "role": role, "text": f"{number} {TEXT}", "written": number}
            file.write(",\n" + json.dumps(node))
        file.write("]}")


def peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.spec("X11")
def test_a_large_bundle_takes_little_memory(tmp_path: Path) -> None:
    big = tmp_path / "big.json"
    big_bundle(big)
    size = big.stat().st_size
    assert size > 8_000_000
    bring(tmp_path / "warm", big)  # what it imports is not what it takes
    made: list[str] = []
    used = peak(lambda: made.extend(bring(tmp_path / "shelf", big).campaigns))
    assert used < size / 2
    used = peak(lambda: export(Path(made[0]), tmp_path / "out.json", Wish(), clock=still))
    assert used < size / 10
    used = peak(lambda: export(Path(made[0]), tmp_path / "out.md", Wish(), clock=still))
    assert used < size / 2
    assert tmp_path.joinpath("out.json").stat().st_size > size * 0.98
