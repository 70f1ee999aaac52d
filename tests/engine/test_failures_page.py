"""docs/failures.md says what really happens."""

from __future__ import annotations

import pytest

from tests.engine.failures_page import PAGE, WAYS, all_failures, written


@pytest.mark.spec("T11", "S13")
async def test_the_page_of_failures_is_true() -> None:
    seen = await all_failures()
    assert len(seen) == len(WAYS) + 8
    for each in seen:
        assert each.is_unchanged, each
        assert each.message.endswith("."), each
        assert each.hint, each
    assert PAGE.read_text(encoding="utf-8") == written(seen), "Make it anew: python -m tests.engine.failures_page"
