"""The tour shows pictures that exist, and only pictures of this program (U1)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.spec("U1")
def test_every_picture_of_the_tour_is_there_and_shown() -> None:
    shown = set(re.findall(r"\(tour/([\w-]+\.svg)\)", (DOCS / "tour.md").read_text(encoding="utf-8")))
    made = {path.name for path in (DOCS / "tour").glob("*.svg")}
    assert shown == made
    for name in made:
        assert "<svg" in (DOCS / "tour" / name).read_text(encoding="utf-8")
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert any(f"docs/tour/{name}" in readme for name in made)
