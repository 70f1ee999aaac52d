"""A campaign is a single file once everybody has closed it, whoever looked at it last (contract: Files)."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from narrator.engine.library import books
from narrator.engine.story import Story
from narrator.store import lock
from narrator.store.verify import verify
from tests.store.making import make, still


def beside(path: Path) -> list[str]:
    return sorted(found.name for found in path.parent.iterdir())


@pytest.mark.spec("T13", "U22")
def test_readers_leave_a_single_file(tmp_path: Path) -> None:
    path = make(tmp_path / "mill.narrator")
    assert beside(path) == [path.name]
    assert books(tmp_path)[0].problem == ""
    assert beside(path) == [path.name]
    assert verify(path).ok
    assert beside(path) == [path.name]


@pytest.mark.spec("T13")
def test_a_reader_that_closes_beside_a_writer_touches_nothing(tmp_path: Path) -> None:
    path = make(tmp_path / "mill.narrator")
    with closing(Story.open(path, clock=still)) as writer:
        with closing(Story.open(path, clock=still, read_only=True)) as reader:
            assert reader.count == 1
        assert lock.lock_path(path).exists()
        writer.save("here")
    assert beside(path) == [path.name]
