"""A fresh campaign file for each test of the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine import playing


@pytest.fixture
def mill(tmp_path: Path) -> Path:
    """A campaign with state and rules: a turn checks, narrates and extracts."""
    return playing.make(tmp_path)


@pytest.fixture
def ferry(tmp_path: Path) -> Path:
    """A campaign with neither: a turn narrates."""
    return playing.make(tmp_path, playing.PLAIN, "ferry")
