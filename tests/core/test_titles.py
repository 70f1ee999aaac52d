"""What people call the paths of the state: labels, groups, values in words, and the way back (W7)."""

from __future__ import annotations

import pytest

from narrator.core.campaign import parse_definition
from narrator.core.definition import Definition
from narrator.core.phrases import phrase_change, phrase_correction
from narrator.core.state import EMPTY, Event, State, advance, initial_events
from narrator.core.titles import find_path, full_title, group, in_titles, outline, title, value_words
from narrator.core.view import open_values

DEFINITION = """
[campaign]
id = "lantern-road"
title = "The Lantern Road"
opening = "Rain."

[player]
name = "Ansa"

[start]
location = "ferry"
time = "dusk"
present = ["tench"]
inventory = { oil = "player", lamp = "ferry" }
threads = { count = "Why seven?" }
facts = ["Seven lanterns stand."]

[entities.tench]
name = "Tench"
visibility = "open"
[entities.ferry]
name = "the ferry"
kind = "place"
visibility = "open"

[state.player.nerve]
type = "number"
min = 0
max = 10
initial = 7
bands = [[0, 2, "shaking"], [3, 6, "wary"], [7, 10, "steady"]]
[state.player.dry_boots]
type = "flag"
initial = true
[state.tench.mood]
type = "text"
initial = "mournful"
[state.ferry.roof]
type = "text"
initial = "holed"
[state.road.burning]
type = "number"
label = "Lanterns burning"
initial = 5
[state.weather.wind]
type = "text"
initial = "west"
[state.flags.bell_rung]
type = "flag"
initial = false
[state.trust]
type = "relation"
min = -5
max = 5
initial = [["player", "tench", 1], ["tench", "player", -4]]

[rules.skills.persuade]
field = "player.nerve"
[rules.clocks.tide]
size = 6
visibility = "open"
initial = 2
"""


@pytest.fixture(scope="module")
def story() -> tuple[Definition, State]:
    definition = parse_definition(DEFINITION)
    return definition, advance(EMPTY, "opening", initial_events(definition))


@pytest.mark.spec("W7")
@pytest.mark.parametrize(
    ("path", "heading", "words"),
    [
        ("player.nerve", "Ansa (you)", "Nerve"),
        ("player.dry_boots", "Ansa (you)", "Dry boots"),
        ("inventory.oil", "Ansa (you)", "Oil"),
        ("inventory.lamp", "Things", "Lamp"),
        ("tench.mood", "Tench", "Mood"),
        ("ferry.roof", "Places", "The ferry: roof"),
        ("road.burning", "Story", "Lanterns burning"),
        ("weather.wind", "Story", "Weather: wind"),
        ("flags.bell_rung", "Story", "Bell rung"),
        ("trust.player.tench", "Ansa (you)", "Trust towards Tench"),
        ("trust.tench.player", "Tench", "Trust towards you"),
        ("clocks.tide", "Clocks", "Tide"),
        ("location", "Scene", "Place"),
        ("scene.present", "Scene", "Present"),
        ("threads.count", "Threads", "Count"),
        ("entities.tench.hat", "Tench", "Hat"),
        ("entities.tench.text", "Tench", "About"),
        ("story.note", "Story", "Author's note"),
    ],
)
def test_a_path_has_a_heading_and_a_name(story: tuple[Definition, State], path: str, heading: str, words: str) -> None:
    assert (group(*story, path), title(*story, path)) == (heading, words)


@pytest.mark.spec("W7")
@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("player.nerve", 5, "wary, 5"),
        ("road.burning", 5, "5"),
        ("clocks.tide", 2, "2 of 6"),
        ("trust.tench.player", -4, "very low"),
        ("flags.bell_rung", False, "no"),
        ("location", "ferry", "The ferry"),
        ("scene.present", ["tench", "player"], "Tench, you"),
        ("scene.present", [], "nobody"),
        ("inventory.oil", "player", "with you"),
        ("inventory.lamp", "ferry", "here"),
        ("inventory.lamp", "tench", "with Tench"),
        ("inventory.lamp", None, "nobody"),
        ("threads.count", {"text": "Why seven?", "open": False, "outcome": "oil"}, "Why seven? (closed: oil)"),
        ("facts", {"text": "It rains.", "certainty": "rumoured"}, "It rains. (rumoured)"),
        ("tench.mood", None, "nothing"),
    ],
)
def test_a_value_is_words(story: tuple[Definition, State], path: str, value: object, words: str) -> None:
    assert value_words(*story, path, value) == words


@pytest.mark.spec("W7")
def test_the_outline_goes_from_the_scene_to_the_facts(story: tuple[Definition, State]) -> None:
    definition, state = story
    shown = outline(definition, state, open_values(state, definition))
    headings = list(dict.fromkeys(each.group for each in shown))
    assert headings == ["Scene", "Ansa (you)", "Tench", "Places", "Things", "Story", "Clocks", "Threads", "Facts"]
    assert [each.words for each in shown if each.group == "Facts"] == ["Seven lanterns stand."]
    assert not any("." in each.title or "_" in each.title for each in shown)


@pytest.mark.spec("W7")
def test_what_people_call_a_path_leads_back_to_it(story: tuple[Definition, State]) -> None:
    definition, state = story
    paths = list(state.values)
    for path in (path for path in paths if path != "facts"):
        assert find_path(definition, state, full_title(definition, state, path), paths) == path
    assert find_path(definition, state, "NERVE", paths) == "player.nerve"
    assert find_path(definition, state, "lanterns  burning", paths) == "road.burning"
    assert find_path(definition, state, "tench, mood", paths) == "tench.mood"
    assert find_path(definition, state, "player.nerve", paths) == "player.nerve"
    assert find_path(definition, state, "nobody's", paths) == "nobody's"


@pytest.mark.spec("W7", "S23")
def test_changes_and_corrections_are_told_without_paths(story: tuple[Definition, State]) -> None:
    definition, state = story
    told = phrase_change(definition, state, Event("set", "tench.mood", "sly", "mournful", "model"))
    assert told == "Tench, mood: sly (was mournful)"
    told = phrase_change(definition, state, Event("relate", "trust.tench.player", 3, -4, "model"))
    assert told == "Tench, trust towards you: very high (was very low)"
    within = phrase_change(definition, state, Event("set", "player.nerve", 4, 5, "model"))
    assert within == "Nerve: wary, 4 (was 5)"
    assert phrase_change(definition, state, Event("relate", "trust.tench.player", 3, 3, "model")) == ""
    corrected = {"path": "player.nerve", "old": 7, "new": 5, "reason": "he saw"}
    assert phrase_correction(definition, state, corrected) == "Nerve: wary, 5 (was steady, 7), because he saw"
    asserted = {"path": "facts", "old": None, "new": {"text": "It rains.", "certainty": "certain"}, "reason": None}
    assert phrase_correction(definition, state, asserted) == "Now known: It rains."
    reason = in_titles(definition, state, "player.nerve is a number, not 'x'", ["player.nerve"])
    assert reason == "Nerve is a number, not 'x'"
