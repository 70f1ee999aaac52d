"""Events as JSON: the names and fields of the contract, both ways, and the schema from the same source."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from narrator.core.errors import NarratorError
from narrator.engine import events as e
from narrator.engine import wire

PLACE = e.CampaignPlace("ferry", "The Ferry", "/x/ferry.narrator")
BRANCH = (1, None, "from step 3", None, 0, 4, True, True, "2026-01-02T03:04:05Z", ("bell",))
EVENTS: list[e.Event] = [
    e.Ready(PLACE, "scripted", "1.0", "half a"),
    e.StepShown(5, 2, "player", "do", "look", 1, 2, 1, "typed"),
    e.Delta("Rain"),
    e.HeadMoved(5, 2, 6, 1, 1, False),
    e.StateChanged((e.StateChange("player.nerve", 7, 6, "model", "clamped"),)),
    e.StateShown({"player.nerve": 6, "bag": ["oil"], "flag": None}),
    e.ChecksMade((e.CheckMade("persuade", "hard", "failure"),)),
    e.TakesListed(None, (e.TakeListed(5, 1, "opening", True, False, "Rain.", 1),)),
    e.BranchesListed((e.BranchListed(*BRANCH),)),
    e.CheckpointsListed((e.CheckpointListed("bell", 5, 2, True, "2026-01-02T03:04:05Z"),)),
    e.MemoriesListed((e.MemoryListed(1, "It rained.", 5, False, "narrator"),)),
    e.CardsListed((e.CardListed("Bell", ("bell",), "canon", True, False),)),
    e.PromptShown(
        ({"role": "system", "content": "x"},), (e.PromptPart("system", "campaign", 9, "always"),), {"window": 9}, "ab"
    ),
    e.AuditListed((e.AuditEntry(3, "player.nerve", 7, 6, "model", "wet"),)),
    e.Suggested(("Look.", "Wait.")),
    e.MapShown((e.BranchMapped(*BRANCH, takes=(e.TakesAtPosition(3, (4, 5)),)),)),
    e.KnowledgeListed((e.KnowledgeEntry(1, "Bells", "canon", True),)),
    e.HelpShown((e.HelpEntry("undo", "[n]", "Go back."),)),
    e.Found((e.Match(5, 2, "…rain…"),)),
    e.StatsShown(5, 90, 1, 2, 100, 20, 50, 3.5),
    e.StatusShown("The Ferry", "ferry", 5, 0, "scripted"),
    e.NarratorsListed((e.NarratorListed("scripted", "scripted", True),)),
    e.Progressed("import", 3, None),
    e.Replayed("do", "look \x1b", 1, 9),
    e.Noted("1 change refused"),
    e.Failed("busy", "Not now.", "Wait.", 4),
    e.Asked(1, "confirm-delete", ("yes", "no"), "no", {"steps": 3}),
    e.Done("undo", 3, True),
]
FIELDS = {
    "ready": "campaign narrator version draft",
    "step": "id position role mode text take takes branch origin",
    "delta": "text",
    "head": "id position tip redo branch ended",
    "takes": "of takes",
    "branches": "branches",
    "checkpoints": "checkpoints",
    "memories": "memories",
    "cards": "cards",
    "prompt": "messages parts budget hash",
    "audit": "audit",
    "suggestions": "suggestions",
    "map": "map",
    "knowledge": "knowledge",
    "help": "help",
    "found": "found",
    "stats": "steps words branches takes tokens_in tokens_out tokens_cached seconds",
    "progress": "what done total",
    "note": "text",
    "error": "code message hint line",
    "ask": "id what choices default shows",
    "done": "command line ok",
    "checks": "checks",
}


def test_every_event_is_tried() -> None:
    assert {type(event) for event in EVENTS} == set(get_args(e.Event))


@pytest.mark.spec("U14")
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_is_one_line_with_the_fields_of_the_contract(event: e.Event) -> None:
    line = wire.as_json(event)
    assert len(line.splitlines()) == 1
    obj = json.loads(line)
    assert obj["event"] == event.wire_name
    assert set(FIELDS.get(event.wire_name, "").split()) <= set(obj)
    assert wire.from_object(obj) == event


@pytest.mark.spec("U14")
def test_tag_and_draft_are_there_when_they_are_there() -> None:
    assert "tag" not in wire.as_object(e.Done("undo", 1, True))
    assert wire.as_object(e.Done("undo", 1, True, {"x": [1]}))["tag"] == {"x": [1]}
    assert "draft" not in wire.as_object(e.Failed("busy", "Not now."))
    assert wire.as_object(e.Failed("stopped", "Stopped.", draft="look"))["draft"] == "look"


@pytest.mark.spec("U12")
def test_text_is_itself_and_no_second_line() -> None:
    text = "雨 e\u0301 👩‍🚀 \u2028 \u2029 \x85 \x1b[2J \r\n"
    line = wire.as_json(e.Delta(text))
    assert "雨" in line
    assert len(line.splitlines()) == 1
    assert json.loads(line)["text"] == text


def test_half_a_character_does_not_end_the_program() -> None:
    assert wire.as_json(e.Delta("a\ud800")).encode("utf-8", "replace")


def _shape(schema: dict[str, Any], name: str) -> dict[str, Any]:
    shape: dict[str, Any] = schema["$defs"][name]
    return shape


@pytest.mark.spec("U21")
def test_the_schema_has_every_event_with_its_name() -> None:
    schema = wire.schema()
    assert len(schema["oneOf"]) == len(get_args(e.Event))
    for event in EVENTS:
        shape = _shape(schema, type(event).__name__)
        assert shape["properties"]["event"] == {"const": event.wire_name}
        obj = wire.as_object(event)
        assert set(shape["required"]) <= set(obj) <= set(shape["properties"])
    assert "tag" not in _shape(schema, "Done")["required"]
    json.dumps(schema)


def test_what_is_no_event_is_a_bad_value() -> None:
    for obj in ({"event": "nothing"}, {"event": "delta"}, {"event": "head", "id": "x"}):
        with pytest.raises(NarratorError) as raised:
            wire.from_object(obj)
        assert raised.value.code == "bad-value"
