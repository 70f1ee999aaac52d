"""Search: what is on the path and nothing else, in any script, folded (S32)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from narrator.core.proposal import Proposal
from narrator.core.tree import NewNode
from narrator.engine.story import Story
from narrator.store import commit
from narrator.store.commit import Acceptance
from narrator.store.search import fold_text
from tests.store.making import make, open_story


def write(story: Story, *texts: str, at: int | None = None) -> int:
    anchor = story.head.id if at is None else at
    nodes = tuple(NewNode("narrator", text, origin="generated") for text in texts)
    return commit.accept(story.store, Acceptance(anchor, nodes, story.position))[-1]


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    story = open_story(make(tmp_path / "x.narrator"))
    yield story
    story.close()


def found(story: Story, words: str, limit: int = 100) -> list[int]:
    return [match.id for match in story.search(words, limit)]


@pytest.mark.spec("S32")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The MILL stands.", "mill"),
        ("The mill stands.", "MILL stands"),
        ("stands the mill", "mill stands"),
        ("Das Mühlrad.", "muhlrad"),
        ("Das Muhlrad.", "mühlrad"),
        ("Café", "cafe\N{COMBINING ACUTE ACCENT}"),
        ("STRASSE", "straße"),
        ("雨が降っている。", "降っ"),
        ("Идёт дождь", "идет"),
        ("ﬁnd", "find"),
        ("word" * 1000 + " needle", "needle"),
        ('50% of_it [all] *here* "quoted" -- ok', '50% of_it [all] *here* "quoted" --'),
    ],
)
def test_a_word_of_any_script_is_found(story: Story, text: str, words: str) -> None:
    node = write(story, text)
    (match,) = story.search(words)
    assert (match.id, match.position) == (node, 2)
    assert fold_text(words.split()[0]) in fold_text(match.excerpt)
    assert len(match.excerpt) < 200


@pytest.mark.spec("S32")
@pytest.mark.parametrize("words", ["", "   ", "\N{COMBINING ACUTE ACCENT}", "nowhere", "mill nowhere"])
def test_nothing_finds_nothing(story: Story, words: str) -> None:
    write(story, "The mill.")
    assert story.search(words) == []


@pytest.mark.spec("S32")
def test_only_the_path_is_searched(story: Story) -> None:
    """Canaries: on another branch, in an unplaced take, below the head, in what was deleted, in a correction."""
    write(story, "first", "canary below")
    story.undo(2)
    write(story, "canary of another line", "more")
    story.undo(2)
    story.go(story.node(2))
    write(story, "canary unplaced", at=2)
    story.go(story.node(2))
    assert found(story, "canary") == []
    story.correct(Proposal("assert", "facts", "A canary sings."))
    assert found(story, "canary") == []
    story.take(story.node(3))
    assert found(story, "canary") == [3]


@pytest.mark.spec("S32")
def test_hits_come_in_order_of_the_path_up_to_the_limit(story: Story) -> None:
    write(story, *[f"canary {number}" for number in range(1200)])
    ids = found(story, "canary", limit=10_000)
    assert ids == [node.id for node in story.nodes()[1:]]
    assert found(story, "canary", limit=7) == ids[:7]
    assert [match.position for match in story.search("canary 1199")] == [1201]
