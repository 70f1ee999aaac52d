"""Terminal tests need tmux; a machine without it skips them, and says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.tmux import Tmux, is_there


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Tmux]:
    if not is_there():
        pytest.skip("tmux is not installed")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text("[scripted]\nwords_per_second = 0\n")
    with Tmux(tmp_path) as tmux:
        yield tmux
