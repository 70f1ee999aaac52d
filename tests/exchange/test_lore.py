"""Cards and world info of every origin: what of an entry is played, what is kept, what is refused (C26, X6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import regex

from narrator.core.cards import trigger
from narrator.core.definition import Card
from narrator.exchange.exporting import Wish, export
from narrator.exchange.expressions import from_javascript, to_javascript
from narrator.exchange.report import Report
from narrator.store import rows
from tests.exchange.bringing import SAMPLES, bring, still, story_of


def written(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "in.json"
    path.write_text(json.dumps(value))
    return path


def cards(report: Report) -> dict[str, Card]:
    with story_of(report) as story:
        return {card.name: card for card in story.definition.cards}


# ---------------------------------------------------------------------------------------------------------- expressions


@pytest.mark.spec("C26")
@pytest.mark.parametrize(
    ("pattern", "flags", "found", "missed"),
    [
        ("cat|dog", "i", "a DOG", "a fox"),
        ("cat|dog", "", "a dog", "a DOG"),
        ("^dog$", "m", "fox\ndog\nowl", "dogs"),
        ("a.b", "s", "a\nb", "ab"),
        ("a.b", "is", "A\nB", "ab"),
        (r"\u{1F436}+", "u", "🐶🐶", "dog"),
        (r"\u00e9t\u00e9", "gi", "ÉTÉ", "ete"),
        (r"a[^]b", "", "a\nb", "ab"),
        (r"(?<pet>cat|dog) \k<pet>", "", "dog dog", "dog cat"),
        (r"\p{Lu}{2}", "u", "ÀB", "ab"),
        (r"a\/b", "", "a/b", "ab"),
        (r"(?<!no )dog", "", "a dog", "no dog"),
    ],
)
def test_expressions_of_javascript_find_the_same(pattern: str, flags: str, found: str, missed: str) -> None:
    told = from_javascript(pattern, flags)
    assert regex.search(told, found, regex.IGNORECASE)
    assert not regex.search(told, missed, regex.IGNORECASE)
    again = to_javascript(told)
    body, _, kept = again[1:].rpartition("/")
    assert from_javascript(body, kept) == told


@pytest.mark.spec("X5", "C26")
def test_an_expression_without_like_is_refused_with_a_line(tmp_path: Path) -> None:
    keys = ["/dog/y", "/[/", r"/\u{110000}/u", "/(?<a>x)(?<a>y)[/", "/" + "a" * 2000 + "/", "/dog/i"]
    entry = {"key": keys, "content": "Text.", "comment": "Dog"}
    report = bring(tmp_path, written(tmp_path, {"entries": {"0": entry}}))
    assert cards(report)["Dog"].keys == ("dog",)
    told = [each for each in report.details if each.field == "keys"]
    assert len(told) == 5
    assert all("is no expression that can be used" in each.reason for each in told)


# ----------------------------------------------------------------------------------------------------------- world info

#: What SillyTavern writes, by what a card does with it.
ENTRY = {
    "uid": 3, "key": ["bell"], "keysecondary": ["rope", "tower"], "selective": True, "selectiveLogic": 3,
    "comment": "Bell", "content": "It rings.", "constant": False, "order": 250, "position": 4, "depth": 2,
    "role": 0, "disable": False,
    "scanDepth": 5, "caseSensitive": True, "matchWholeWords": False, "sticky": 4, "cooldown": 6, "delay": 1,
    "probability": 40, "useProbability": True, "group": "bells", "groupWeight": 70, "excludeRecursion": True,
}  # fmt: skip


def check_bell(card: Card) -> None:
    assert (card.keys, card.secondary, card.secondary_logic) == (("bell",), ("rope", "tower"), "all")
    assert (card.text, card.is_enabled, card.is_constant) == ("It rings.", True, False)
    assert (card.priority, card.scan_depth, card.sticky, card.cooldown) == (250, 5, 4, 6)
    assert (card.is_case_sensitive, card.is_whole_word) == (True, False)


@pytest.mark.spec("C26", "X5", "X6")
def test_every_field_of_a_world_info_entry(tmp_path: Path) -> None:
    report = bring(tmp_path, written(tmp_path, {"entries": {"3": ENTRY}}))
    check_bell(cards(report)["Bell"])
    (chance,) = [each for each in report.details if each.field == "probability"]
    assert (chance.kind, "40 in 100" in chance.reason) == ("dropped", True)
    export(Path(report.campaigns[0]), tmp_path / "out.worldinfo.json", Wish(), clock=still)
    (out,) = json.loads((tmp_path / "out.worldinfo.json").read_text())["entries"].values()
    assert {**out, "uid": 3} == ENTRY


@pytest.mark.spec("C26", "X5", "X6")
@pytest.mark.parametrize("frame", ["book", "lorebook", "card"])
def test_the_same_entry_in_a_character_book(tmp_path: Path, frame: str) -> None:
    extensions = {
        "selectiveLogic": 3, "scan_depth": 5, "case_sensitive": True, "match_whole_words": False, "sticky": 4,
        "cooldown": 6, "probability": 40, "useProbability": True, "other/kept": 1,
    }  # fmt: skip
    entry = {
        "keys": ["bell"], "secondary_keys": ["rope", "tower"], "selective": True,
        "comment": "Bell", "content": "It rings.", "enabled": True, "constant": False,
        "insertion_order": 250, "extensions": extensions,
    }  # fmt: skip
    book = {"name": "Bells", "entries": [entry]}
    value: dict[str, Any] = {
        "book": book,
        "lorebook": {"spec": "lorebook_v3", "data": book},
        "card": {"spec": "chara_card_v2", "data": {"name": "Ada", "first_mes": "Hi.", "character_book": book}},
    }[frame]
    report = bring(tmp_path, written(tmp_path, value))
    check_bell(cards(report)["Bell"])
    assert [each.kind for each in report.details if each.field == "probability"] == ["dropped"]
    with story_of(report) as story:
        kept = dict(rows.kept(story.store, "card"))
    assert json.loads(kept["Bell"])["extensions"] == extensions


@pytest.mark.spec("C26")
@pytest.mark.parametrize(
    ("logic", "text", "comes"),
    [
        (0, "bell rope", True), (0, "bell", False), (3, "bell rope tower", True), (3, "bell rope", False),
        (2, "bell", True), (2, "bell rope", False), (1, "bell rope", True), (1, "bell rope tower", False),
        (9, "bell rope", True), ("2", "bell", True), (None, "bell tower", True),
    ],
)  # fmt: skip
def test_secondary_logic_selects_as_it_did_there(tmp_path: Path, logic: Any, text: str, comes: bool) -> None:
    value = {"entries": {"0": {**ENTRY, "selectiveLogic": logic, "scanDepth": None}}}
    report = bring(tmp_path, written(tmp_path, value))
    with story_of(report) as story:
        found = trigger(list(story.definition.cards), [], text, story.state().values)
    assert bool(found.found) is comes


# ------------------------------------------------------------------------------------------------------ character cards


@pytest.mark.spec("X6", "S18")
@pytest.mark.parametrize("sample", ["card-v1.json", "card-v2.json", "card-v3.json", "card-v2.png", "card-v3.charx"])
def test_a_card_keeps_what_it_does_not_use_and_puts_no_note_of_its_maker_into_a_prompt(
    tmp_path: Path, sample: str
) -> None:
    report = bring(tmp_path, SAMPLES / sample)
    with story_of(report) as story:
        definition = story.definition
        told = "\n".join([definition.premise, definition.persona, definition.instructions, story.head.text])
        told += "\n".join(card.text for card in definition.cards)
        assert "CREATOR-NOTE" not in told
        assert "{{" not in told.replace("{{original}}", "")
        kept = rows.kept(story.store, "character")
    if sample != "card-v1.json":
        assert kept
        assert "creator_notes" in json.loads(kept[0][1])


@pytest.mark.spec("S18")
def test_greetings_are_takes_and_macros_are_names(tmp_path: Path) -> None:
    data = {
        "name": "Ada", "nickname": "A.", "description": "{{char}} and {{USER}} and <BOT>.{{// never}}",
        "first_mes": "One, {{user}}.", "alternate_greetings": ["Two, {{char}}.", "One, {{user}}.", 3],
        "group_only_greetings": ["Three."], "creator_notes": "SECRET",
    }  # fmt: skip
    report = bring(tmp_path, written(tmp_path, {"spec": "chara_card_v3", "data": data}))
    assert (report.nodes, report.branches) == (4, 1)
    with story_of(report) as story:
        assert [take.text for take in story.takes(story.head)] == ["One, you.", "Two, A..", "3", "Three."]
        assert story.head.text == "One, you."
        assert story.definition.premise == "Ada: A. and you and A.."
    told = {each.where: each.kind for each in report.details if "greetings" in each.where}
    assert told == {"data.alternate_greetings[1]": "dropped", "data.alternate_greetings[2]": "changed"}
