"""The one door: what a model's answer is read as, and the order of questions that every proposal is asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narrator.core.campaign import minimal_definition, parse_definition
from narrator.core.errors import NarrationFailed
from narrator.core.referee import (
    CHECK_SCHEMA,
    EXTRACTION_SCHEMA,
    Proposal,
    Verdict,
    judge,
    parse_check,
    parse_proposals,
)
from narrator.core.state import EMPTY, Event, State, advance
from tests.core.small_campaign import TEXT, small, start

ADD = '{"op": "add", "path": "player.nerve", "value": -1, "why": "fear"}'
WHOLE = f'{{"changes": [{ADD}]}}'
ONE = (Proposal("add", "player.nerve", -1, "fear"),)


def judged(*proposals: Proposal, source: str = "model", state: State | None = None, text: str = TEXT) -> Verdict:
    definition = parse_definition(text)
    return judge(definition, start(definition) if state is None else state, proposals, source=source)


# -- reading answers -----------------------------------------------------------------------------------------------


UNDERSTOOD: tuple[tuple[str, tuple[Proposal, ...]], ...] = (
    (WHOLE, ONE),
    ("\ufeff" + WHOLE, ONE),
    (f"```json\n{WHOLE}\n```", ONE),
    (f"```\n{WHOLE}\n```", ONE),
    (f"~~~JSON\n{WHOLE}\n~~~", ONE),
    (f"Here you are:\n```json\n{WHOLE}\n```\nAnything else?", ONE),
    (f"Sure! {WHOLE} That is all.", ONE),
    (f"The set {{of changes}} is: {WHOLE}", ONE),
    (f"```json {WHOLE}```", ONE),
    (f"<think>She is afraid: {{}} no.</think>{WHOLE}", ONE),
    (f"{WHOLE}\n\n{WHOLE}", ONE),
    (WHOLE.replace("}]", "},]"), ONE),
    (WHOLE.replace('"fear"}', '"fear",}'), ONE),
    (WHOLE.replace('"', "'"), ONE),
    (WHOLE.replace('"op"', "op").replace('"path"', "path"), ONE),
    (WHOLE.replace("{", "{ // so\n", 1), ONE),
    (WHOLE.replace("[", "[ /* one */ ", 1), ONE),
    (WHOLE.replace("\n", " "), ONE),
    ('{"changes": []}', ()),
    ('{"changes": null}', ()),
    ("{}", ()),
    ('{"changes": {}}', ()),
    ('{"changes": {"player.nerve": 4}}', (Proposal("", "player.nerve", 4),)),
    ('{"player": {"nerve": 4, "title": "Dame"}}', (
        Proposal("", "player.nerve", 4), Proposal("", "player.title", "Dame"))),
    ('{"player.nerve": "+1"}', (Proposal("", "player.nerve", "+1"),)),
    ('{"changes": [{"op": "set", "path": "player.nerve", "value": "4"}]}', (Proposal("set", "player.nerve", "4"),)),
    ('{"player": {"nerve": +1}}', (Proposal("", "player.nerve", "+1"),)),
    ('{"changes": [{"player": {"nerve": 4}}]}', (Proposal("", "player.nerve", 4),)),
    ('{"changes": [{"player.nerve": 4}]}', (Proposal("", "player.nerve", 4),)),
    ('{"changes": {"player.nerve": {"op": "add", "value": 2}}}', (Proposal("add", "player.nerve", 2),)),
    ('{"op": "add", "path": "player.nerve", "value": +5}', (Proposal("add", "player.nerve", "+5"),)),
    ('{"changes": [{"op": "SET", "path": "x", "value": True}]}', (Proposal("set", "x", True),)),
    ('{"changes": [{"op": "set", "path": "x", "value": None}]}', (Proposal("set", "x", None),)),
    ('{"changes": [{"op": "set", "path": ["a", "b"], "value": 1.5e1}]}', (Proposal("set", "a.b", 15.0),)),
    ('{"updates": [{"op": "set", "path": "x", "value": 1}]}', (Proposal("set", "x", 1),)),
    ('{"changes": [{"op": "set", "path": "x", "value": "a \\"b\\" c"}]}', (Proposal("set", "x", 'a "b" c'),)),
    ('{"changes": [{"op": "set", "path": "x", "value": "a } b"}]}', (Proposal("set", "x", "a } b"),)),
    ('{"changes": [{"op": "set", "path": "x", "value": "line\nline"}]}', (Proposal("set", "x", "line\nline"),)),
    ("{'changes': [{'op': 'set', 'path': 'x', 'value': 'it\\'s'}]}", (Proposal("set", "x", "it's"),)),
    ('{"changes": [{"op": "set", "path": "x", "value": "\\u00e9\\n"}]}', (Proposal("set", "x", "é\n"),)),
    ('{"changes": [{"op": "assert", "path": "facts", "value": {"text": "A", "certainty": "likely"}}]}', (
        Proposal("assert", "facts", {"text": "A", "certainty": "likely"}),)),
    ('{"facts": {"text": "A"}}', (Proposal("", "facts", {"text": "A"}),)),
    ('{"changes": ["nerve falls"]}', (Proposal("", "", "nerve falls"),)),
    ('{"changes": [{"op": "add", "value": 2}]}', (Proposal("add", "", 2),)),
    ('{"changes": [{"op": 7, "path": "x", "value": 1}]}', (Proposal("7", "x", 1),)),
)  # fmt: skip
"""What a model may answer, and what it means."""


@pytest.mark.spec("W5")
@pytest.mark.parametrize(("text", "expected"), UNDERSTOOD)
def test_an_answer_is_understood(text: str, expected: tuple[Proposal, ...]) -> None:
    assert parse_proposals(text) == expected


BROKEN = (
    "",
    "   \n",
    "Nothing changed.",
    "null",
    "3",
    '"changes"',
    "[]",
    f"[{ADD}]",
    f"```json\n[{ADD}]\n```",
    f"```json\n{WHOLE[:-3]}",
    f"```json\n{WHOLE[:-3]}\n```",
    f"```json\n{WHOLE}\n```\nand then\n```json\n{{",
    WHOLE[:-1],
    WHOLE[:-2],
    WHOLE[:20],
    f'{{"changes": [{ADD}, {{"op": "set", "path": "x", "va',
    f'{{"changes": [{ADD}, {{"op": "set", "path": "x", "value": }}]}}',
    f'{{"changes": [{ADD} {ADD}]}}',
    f'{{"changes" [{ADD}]}}',
    f'{{"changes": {ADD}',
    '{"changes": "none"}',
    '{"changes": 3}',
    '{"changes": [{"op": "set", "path": "x", "value": "open}]}',
    '{"changes": [{"op": "set", "path": "x", "value": \\x}]}',
    '{"changes": [{"op": "set", "path": "x", "value": "\\ud8"}]}',
    '{"a":' * 60 + "1" + "}" * 60,
    "{" * 2000,
    "{" * 50_000,
    "<think>still thinking about " + WHOLE[:-4],
    f"{WHOLE} {{'changes': []}}",
    '{"changes": [NaN]}',
    "{,}",
    "<html><body>502 Bad Gateway</body></html>",
)
"""What a model may answer and nobody can read."""


@pytest.mark.spec("W5", "T4")
@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_answer_is_a_failure_and_never_half_applied(text: str) -> None:
    with pytest.raises(NarrationFailed) as caught:
        parse_proposals(text)
    assert caught.value.code == "extraction-failed"
    assert caught.value.hint
    assert "\n" not in caught.value.message


@pytest.mark.spec("W5")
@given(st.text(max_size=60))
def test_no_answer_at_all_breaks_the_reader(text: str) -> None:
    for answer in (text, "{" + text + "}", WHOLE + text, text + WHOLE):
        try:
            parse_proposals(answer)
        except NarrationFailed as error:
            assert error.code == "extraction-failed"  # noqa: PT017


@pytest.mark.spec("W5")
@given(st.integers(0, len(WHOLE) - 1))
def test_an_answer_cut_off_anywhere_is_a_failure(at: int) -> None:
    with pytest.raises(NarrationFailed):
        parse_proposals(WHOLE[:at])


@pytest.mark.spec("T8")
def test_a_check_answer_is_read() -> None:
    assert parse_check('{"check": null}') is None
    assert parse_check("{}") is None
    asked = ("persuade", "hard")
    assert parse_check('{"check": {"skill": "persuade", "difficulty": "hard"}}') == asked
    assert parse_check('```json\n{"skill": "persuade", "difficulty": "hard",}\n```') == asked
    assert parse_check('{"check": {"skill": " persuade "}}') == ("persuade", "")
    for text in ("", "[]", '{"check": "persuade"}', '{"check": {"difficulty": "hard"}}', '{"check": {'):
        with pytest.raises(NarrationFailed) as caught:
            parse_check(text)
        assert caught.value.code == "narrator-malformed"


@pytest.mark.spec("T4")
def test_the_schemas_have_the_shapes_of_the_contract() -> None:
    item = EXTRACTION_SCHEMA["properties"]["changes"]["items"]
    assert item["required"] == ["op", "path", "value", "why"]
    assert CHECK_SCHEMA["properties"]["check"]["anyOf"][1]["required"] == ["skill", "difficulty"]


# -- the order of questions ----------------------------------------------------------------------------------------

LADDER = (
    TEXT
    + """
[state.ladder.secret]
type = "counter"
visibility = "hidden"
initial = 5
cooldown = 3
max_change = 2
max = 8
[state.ladder.seen]
type = "counter"
initial = 5
cooldown = 3
max_change = 2
max = 6
[state.ladder.free]
type = "counter"
initial = 5
max_change = 2
max = 6
[state.ladder.once]
type = "milestone"
cooldown = 3
[state.ladder.hidden_once]
type = "milestone"
visibility = "hidden"
"""
)


def tired(path: str) -> State:
    """A state in which this path has just been changed, and the milestones are reached."""
    state = advance(start(parse_definition(LADDER)), "narrator", [Event("set", "ladder.once", "here", None, "model")])
    state = advance(state, "narrator", [Event("set", "ladder.hidden_once", "here", None, "model")])
    state = advance(state, "player", ())
    return State(state.values, state.turn, {path: state.turn}, False, {})


@pytest.mark.spec("W4")
@pytest.mark.parametrize(
    ("path", "op", "value", "rule"),
    [
        ("ladder.nothing", "set", "text", "path"),  # path before type
        ("nowhere", "add", -99, "path"),  # path before everything else
        ("ladder.secret", "set", "text", "type"),  # type before visibility
        ("ladder.secret", "append", -99, "type"),
        ("ladder.seen", "set", "text", "type"),  # type before cooldown
        ("ladder.free", "set", [], "type"),  # type before counter
        ("ladder.secret", "add", 1, "visibility"),  # visibility before cooldown
        ("ladder.secret", "add", -1, "visibility"),  # visibility before counter
        ("ladder.secret", "add", 99, "visibility"),  # visibility before the clamps
        ("ladder.hidden_once", "set", "else", "visibility"),  # visibility before milestone
        ("ladder.seen", "add", -1, "cooldown"),  # cooldown before counter
        ("ladder.seen", "add", 99, "cooldown"),  # cooldown before the clamps
        ("ladder.once", "set", "else", "cooldown"),  # cooldown before milestone
        ("ladder.free", "add", -99, "counter"),  # counter before the largest change
    ],
)
def test_the_first_question_that_fails_gives_the_reason(path: str, op: str, value: Any, rule: str) -> None:
    verdict = judged(Proposal(op, path, value), state=tired(path), text=LADDER)
    assert [refused.rule for refused in verdict.refused] == [rule]
    assert not verdict.events
    assert verdict.refused[0].reason


@pytest.mark.spec("W4")
def test_the_largest_change_is_cut_before_the_range_and_both_are_noted() -> None:
    verdict = judged(Proposal("add", "ladder.free", 99), text=LADDER)
    assert [event.value for event in verdict.events] == [1]
    assert len(verdict.notes) == 2
    assert "7 instead of 104" in verdict.notes[0]
    assert "6 instead of 7" in verdict.notes[1]
    assert "more than 2 in a turn" in verdict.events[0].note


@pytest.mark.spec("W4", "T5")
def test_one_refusal_leaves_the_rest_applied() -> None:
    verdict = judged(
        Proposal("add", "player.nerve", -1, "fear"),
        Proposal("set", "player.nowhere", 1),
        Proposal("set", "flags.gate_open", "yes"),
        Proposal("dance", "player.nerve", 1),
    )
    assert [(event.op, event.path, event.value, event.previous) for event in verdict.events] == [
        ("add", "player.nerve", -1, 5),
        ("set", "flags.gate_open", True, False),
    ]
    assert verdict.events[0].note == "fear"
    assert [refused.rule for refused in verdict.refused] == ["path", "type"]


@pytest.mark.spec("W4")
@pytest.mark.parametrize(
    ("proposal", "event"),
    [
        (Proposal("", "player.nerve", "+2"), ("add", "player.nerve", 2)),
        (Proposal("", "player.nerve", 4), ("set", "player.nerve", 4)),
        (Proposal("set", "player.nerve", "4"), ("set", "player.nerve", 4)),
        (Proposal("set", "state.player.nerve", 4.0), ("set", "player.nerve", 4)),
        (Proposal("set", "/player/nerve", 4), ("set", "player.nerve", 4)),
        (Proposal("set", "Player.Nerve", 4), ("set", "player.nerve", 4)),
        (Proposal("set", "player.nerve", "shaking"), ("set", "player.nerve", 2)),
        (Proposal("set", "player.nerve", "steady"), ("set", "player.nerve", 7)),
        (Proposal("set", "player.coins", 4), ("set", "player.coins", 4)),
        (Proposal("add", "player.coins", 1), ("add", "player.coins", 1)),
        (Proposal("set", "player.title", "Dame"), ("set", "player.title", "Dame")),
        (Proposal("set", "player.mood", "Cross"), ("set", "player.mood", "cross")),
        (Proposal("append", "player.marks", "burn"), ("append", "player.marks", "burn")),
        (Proposal("remove", "player.marks", "scar"), ("remove", "player.marks", "scar")),
        (Proposal("set", "player.marks", []), ("set", "player.marks", [])),
        (Proposal("set", "flags.gate-open", 1), ("set", "flags.gate_open", True)),
        (Proposal("move", "location", "The Loft"), ("move", "location", "loft")),
        (Proposal("set", "place", "loft"), ("set", "location", "loft")),
        (Proposal("remove", "scene.present", "Orrin Vale"), ("remove", "scene.present", "miller")),
        (Proposal("move", "inventory.sack", "you"), ("move", "inventory.sack", "player")),
        (Proposal("move", "inventory.brass key", "the miller"), ("move", "inventory.key", "miller")),
        (Proposal("append", "inventory", "a sack"), ("move", "inventory.sack", "player")),
        (Proposal("remove", "inventory.player", "key"), ("move", "inventory.key", None)),
        (Proposal("remove", "inventory.key"), ("move", "inventory.key", None)),
        (Proposal("move", "inventory.key", "yard"), ("move", "inventory.key", "yard")),
        (Proposal("relate", "trust.miller.player", 3), ("relate", "trust.miller.player", 3)),
        (Proposal("add", "trust.Orrin Vale.Ada", 1), ("add", "trust.miller.player", 1)),
        (Proposal("relate", "trust", {"from": "miller", "to": "you", "value": "warm"}), (
            "relate", "trust.miller.player", 3)),
        (Proposal("assert", "facts", " It rains. "), ("assert", "facts", "It rains.")),
        (Proposal("assert", "facts", {"text": "It rains.", "certainty": "likely"}), (
            "assert", "facts", {"text": "It rains.", "certainty": "likely"})),
        (Proposal("", "facts", "It rains."), ("assert", "facts", "It rains.")),
        (Proposal("retract", "facts", "the wheel has not turned since sunday"), (
            "retract", "facts", "The wheel has not turned since Sunday.")),
        (Proposal("open", "threads.The Rat", "Who?"), ("open", "threads.the-rat", "Who?")),
        (Proposal("close", "threads.wheel", "It turns."), ("close", "threads.wheel", "It turns.")),
        (Proposal("set", "threads.wheel", "closed"), ("close", "threads.wheel", "")),
        (Proposal("set", "entities.miller.coat", "red"), ("set", "entities.miller.coat", "red")),
    ],
)  # fmt: skip
def test_what_was_meant_becomes_one_event(proposal: Proposal, event: tuple[str, str, Any]) -> None:
    verdict = judged(proposal)
    assert not verdict.refused, verdict.refused
    assert [(made.op, made.path, made.value) for made in verdict.events] == [event]


@pytest.mark.spec("W4")
@pytest.mark.parametrize(
    ("proposal", "rule"),
    [
        (Proposal("set", "player.nerve", True), "type"),
        (Proposal("set", "player.nerve", "brave"), "type"),
        (Proposal("set", "player.nerve", float("inf")), "type"),
        (Proposal("append", "player.nerve", 1), "type"),
        (Proposal("relate", "player.nerve", 1), "type"),
        (Proposal("add", "player.nerve", None), "type"),
        (Proposal("set", "player.nerve", None), "type"),
        (Proposal("", "player.coins", None), "type"),
        (Proposal("set", "flags.gate_open", None), "type"),
        (Proposal("set", "player.title", "x" * 21), "type"),
        (Proposal("set", "player.title", {"a": 1}), "type"),
        (Proposal("set", "player.mood", "gloomy"), "type"),
        (Proposal("set", "flags.gate_open", "perhaps"), "type"),
        (Proposal("remove", "player.marks", "tattoo"), "type"),
        (Proposal("append", "player.marks", {"a": 1}), "type"),
        (Proposal("retract", "facts", "It never rained."), "type"),
        (Proposal("assert", "facts", ""), "type"),
        (Proposal("assert", "facts", {"text": "A", "certainty": "very"}), "type"),
        (Proposal("close", "threads.nothing"), "type"),
        (Proposal("move", "inventory.key", 3.5j), "type"),
        (Proposal("move", "inventory.crown", "player"), "path"),
        (Proposal("append", "scene.present", "the bishop"), "path"),
        (Proposal("move", "location", "Paris"), "path"),
        (Proposal("relate", "trust.miller.bishop", 1), "path"),
        (Proposal("relate", "trust.miller", 1), "path"),
        (Proposal("set", "entities.bishop.coat", "red"), "path"),
        (Proposal("set", "", 1), "path"),
        (Proposal("set", "inventory", None), "path"),
        (Proposal("append", "scene.present", "rat"), "visibility"),
        (Proposal("set", "flags.secret", True), "visibility"),
        (Proposal("set", "miller.plan", "none"), "visibility"),
        (Proposal("set", "trust.rat.player", 1), "visibility"),
        (Proposal("set", "story.ending", "ashes"), "visibility"),
        (Proposal("set", "story.note", "darker"), "visibility"),
        (Proposal("append", "story.fired", {"id": "look"}), "visibility"),
        (Proposal("add", "clocks.fire", 1), "visibility"),
        (Proposal("add", "player.coins", -1), "counter"),
    ],
)
def test_what_breaks_a_rule_is_refused(proposal: Proposal, rule: str) -> None:
    verdict = judged(proposal)
    assert [refused.rule for refused in verdict.refused] == [rule], verdict
    assert not verdict.events


@pytest.mark.spec("W4", "C10")
def test_a_refusal_does_not_tell_whether_a_hidden_field_exists() -> None:
    verdict = judged(Proposal("set", "flags.secret", True), Proposal("set", "flags.nothing", True))
    hidden, unknown = (refused.reason.replace("secret", "nothing") for refused in verdict.refused)
    assert hidden == unknown


@pytest.mark.spec("T10")
@pytest.mark.parametrize(
    "path", ["checks", "check.persuade", "checkpoints.a", "branches.b", "story.corrections", "head"]
)
def test_a_model_reaches_no_check_correction_checkpoint_or_branch(path: str) -> None:
    verdict = judged(Proposal("set", path, 1))
    assert verdict.refused
    assert not verdict.events


@pytest.mark.spec("W4")
def test_an_entity_is_created_only_where_entities_are_open() -> None:
    opened = TEXT.replace("[state.player.nerve]", "[state]\nopen_entities = true\n[state.player.nerve]")
    verdict = judged(Proposal("append", "scene.present", "The Bishop"), text=opened)
    assert [(event.path, event.value) for event in verdict.events] == [
        ("entities.the-bishop.name", "The Bishop"),
        ("entities.the-bishop.kind", "character"),
        ("scene.present", "the-bishop"),
    ]
    definition = parse_definition(opened)
    state = advance(start(definition), "narrator", verdict.events)
    again = judge(definition, state, [Proposal("move", "inventory.key", "the bishop")], source="model")
    assert [(event.path, event.value) for event in again.events] == [("inventory.key", "the-bishop")]


@pytest.mark.spec("W4")
def test_a_campaign_without_state_can_be_tracked() -> None:
    plain = minimal_definition("T", "O")
    proposals = [Proposal("set", "location", "a pub"), Proposal("append", "inventory", "a mug")]
    verdict = judge(plain, advance(EMPTY, "player", ()), proposals, source="model")
    assert not verdict.refused
    assert verdict.events[0].path == "location"
    assert verdict.events[-1].path == "inventory.a-mug"


@pytest.mark.spec("W2")
def test_a_cooldown_counts_turns_and_a_retry_does_not_advance_it() -> None:
    definition = small()
    state = start(definition)
    calm, cross = Proposal("set", "player.mood", "calm"), Proposal("set", "player.mood", "cross")
    state = advance(state, "narrator", judge(definition, state, [calm], source="model").events)
    for role in ("narrator", "narrator", "correction"):
        state = advance(state, role, ())
        assert judge(definition, state, [cross], source="model").refused
    state = advance(state, "player", ())
    for _retry in range(3):
        assert judge(definition, state, [cross], source="model").refused[0].rule == "cooldown"
    state = advance(state, "player", ())
    assert judge(definition, state, [cross], source="model").events


@pytest.mark.spec("W2")
def test_the_largest_change_holds_for_a_turn_not_for_an_operation() -> None:
    definition = small()
    state = start(definition)
    twice = [Proposal("add", "player.nerve", -2), Proposal("add", "player.nerve", -2)]
    verdict = judge(definition, state, twice, source="model")
    state = advance(state, "narrator", verdict.events)
    assert state.values["player.nerve"] == 2
    more = judge(definition, state, [Proposal("add", "player.nerve", -1)], source="model")
    assert not more.events
    assert more.notes
    state = advance(state, "player", ())
    assert judge(definition, state, [Proposal("add", "player.nerve", -1)], source="model").events


@pytest.mark.spec("W2", "W4")
def test_a_milestone_is_sticky() -> None:
    definition = small()
    state = start(definition)
    for value, made, refused in (("first", 1, 0), ("first", 0, 0), ("second", 0, 1), (None, 0, 1)):
        verdict = judge(definition, state, [Proposal("set", "goals.wheel", value)], source="storylet")
        own = [event for event in verdict.events if event.path == "goals.wheel"]
        assert (len(own), len(verdict.refused)) == (made, refused)
        state = advance(state, "narrator", verdict.events)


@pytest.mark.spec("W9")
def test_a_correction_may_set_anything_but_the_history() -> None:
    state = advance(start(small()), "narrator", [Event("set", "goals.wheel", "there", None, "model")])
    state = State(state.values, state.turn, {"player.mood": state.turn}, False, {})
    verdict = judged(
        Proposal("set", "player.nerve", 10),
        Proposal("set", "player.coins", 0),
        Proposal("set", "player.mood", "cross"),
        Proposal("set", "miller.plan", "sell"),
        Proposal("set", "goals.wheel", None),
        Proposal("set", "clocks.fire", 3),
        Proposal("set", "story.note", "darker"),
        Proposal("set", "story.persona", "old"),
        source="player",
        state=state,
    )
    assert not verdict.refused
    assert len(verdict.events) == 8
    assert {event.source for event in verdict.events} == {"player"}
    refused = judged(
        Proposal("append", "story.fired", {"id": "look"}),
        Proposal("set", "player.nerve", "brave"),
        Proposal("set", "player.wings", 2),
        source="player",
    )
    assert [one.rule for one in refused.refused] == ["visibility", "type", "path"]
    same = judged(Proposal("set", "player.nerve", 5), source="player")
    assert [one.rule for one in same.refused] == ["same"]
    clamped = judged(Proposal("set", "player.nerve", 99), source="player")
    assert clamped.events[0].value == 10
    assert clamped.notes


@pytest.mark.spec("W9")
@pytest.mark.parametrize(
    ("proposal", "said"),
    [
        (Proposal("set", "player.nerve", 5), "That is so already. Nerve: wary, 5."),
        (Proposal("set", "flags.gate_open", False), "That is so already. Gate open: no."),
        (Proposal("set", "location", "yard"), "That is so already. Place: The yard."),
        (Proposal("move", "inventory.key", "player"), "That is so already. A brass key: with you."),
        (Proposal("set", "trust.miller.player", 0), "That is so already. Orrin Vale, trust towards you: civil."),
        (Proposal("assert", "facts", "The wheel has not turned since Sunday."), "That is held to be so already."),
        (Proposal("open", "threads.wheel", "Why does the wheel stand still?"), "That question is open already."),
    ],
)
def test_a_correction_to_what_is_so_says_it_in_words(proposal: Proposal, said: str) -> None:
    (refused,) = judged(proposal, source="player").refused
    assert (refused.rule, refused.reason) == ("same", said)


@pytest.mark.spec("W9")
@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("player.nerve", "7", 7),
        ("player.nerve", "+2", 7),
        ("player.nerve", "null", None),
        ("player.marks", '["scar", "burn"]', ["scar", "burn"]),
        ("player.marks", "burn", ["scar", "burn"]),
        ("flags.gate_open", "yes", True),
        ("player.title", "[sic", "[sic"),
        ("inventory.sack", "you", "player"),
        ("trust.miller.player", "warm", 3),
        ("threads.wheel", "closed", {"text": "Why does the wheel stand still?", "open": False}),
    ],
)
def test_a_correction_is_understood_as_it_is_typed(path: str, text: str, value: Any) -> None:
    verdict = judged(Proposal("", path, text), source="player")
    assert advance(start(small()), "correction", verdict.events).values.get(path) == value


@pytest.mark.spec("W4")
def test_a_refused_change_of_the_campaigns_own_gives_nothing_hidden_away() -> None:
    verdict = judged(Proposal("set", "miller.plan", [1]), Proposal("set", "player.nerve", "x"), source="storylet")
    assert "plan" not in verdict.refused[0].reason
    assert "player.nerve" in verdict.refused[1].reason


@pytest.mark.spec("W4")
def test_what_is_so_already_makes_no_event() -> None:
    verdict = judged(
        Proposal("set", "player.nerve", 5),
        Proposal("append", "scene.present", "miller"),
        Proposal("assert", "facts", "The wheel has not turned since Sunday."),
        Proposal("set", "flags.gate_open", False),
        Proposal("open", "threads.wheel", "Why does the wheel stand still?"),
    )
    assert verdict == Verdict((), (), ())


@pytest.mark.spec("W3")
def test_an_event_keeps_no_more_of_before_than_it_changed() -> None:
    verdict = judged(
        Proposal("assert", "facts", "It rains."),
        Proposal("assert", "facts", {"text": "it rains", "certainty": "doubted"}),
        Proposal("retract", "facts", "It rains"),
        Proposal("append", "story.fired", {"id": "look", "wording": "told/0"}),
        Proposal("append", "player.marks", "burn"),
        source="storylet",
    )
    assert [event.previous for event in verdict.events] == [
        None,
        {"text": "It rains.", "certainty": "certain"},
        {"text": "it rains", "certainty": "doubted"},
        None,
        ["scar"],
    ]


@pytest.mark.spec("W14", "T18")
def test_an_ending_whose_condition_holds_is_reached_whoever_narrates() -> None:
    verdict = judged(Proposal("set", "goals.wheel", True))
    assert [(event.path, event.value, event.source) for event in verdict.events][-1] == (
        "story.ending",
        "turning",
        "storylet",
    )
    assert len(judged(Proposal("set", "goals.wheel", True), source="player").events) == 1


@pytest.mark.spec("W4")
def test_notes_name_no_field_that_the_player_may_not_see() -> None:
    verdict = judged(Proposal("set", "miller.debt", 500))
    assert verdict.events[0].value == 100
    assert "instead of 500" in verdict.events[0].note
    assert verdict.notes == ()


VALUES = st.none() | st.booleans() | st.integers(-20, 20) | st.text(max_size=8) | st.lists(st.integers(), max_size=2)
PATHS = st.sampled_from(
    "location scene.present facts threads.x inventory.key inventory player.nerve player.coins player.mood trust "
    "trust.miller.player flags.secret goals.wheel clocks.fire story.fired story.ending entities.miller.name x".split()
)
OPS = st.sampled_from(["", *"set add append remove assert retract open close relate move bogus".split()])


@pytest.mark.spec("W4", "T10")
@settings(max_examples=60)
@given(st.lists(st.builds(Proposal, OPS, PATHS, VALUES), max_size=6), st.sampled_from(["model", "storylet", "player"]))
def test_any_proposals_are_judged_and_leave_a_state_that_keeps_its_rules(
    proposals: list[Proposal], source: str
) -> None:
    definition = small()
    state = start(definition)
    verdict = judge(definition, state, proposals, source=source)
    after = advance(state, "narrator", verdict.events)
    nerve = after.values.get("player.nerve")
    assert nerve is None or 0 <= nerve <= 10
    for event in verdict.events:
        assert event.source in {source, "check", "storylet"}
        if source == "model" and event.source == "model":
            assert event.path not in {"flags.secret", "story.fired", "story.ending", "clocks.fire"}
    if source == "model" and nerve is not None:
        assert abs(nerve - 5) <= 3
        assert after.values["player.coins"] >= 1


@pytest.mark.spec("W2", "W4")
@pytest.mark.parametrize(
    ("source", "value", "present"),
    [
        ("player", "[]", ["rat"]),
        ("player", '["miller"]', ["miller", "rat"]),
        ("player", '["rat"]', ["rat"]),
        ("model", [], ["rat"]),
        ("storylet", [], []),
    ],
)
def test_who_lists_everybody_that_is_there_cannot_send_away_whom_nobody_sees(
    source: str, value: Any, present: list[str]
) -> None:
    state = start(parse_definition(TEXT))
    state = advance(state, "narrator", [Event("set", "scene.present", ["miller", "rat"], ["miller"], "storylet")])
    state = advance(state, "player", ())
    verdict = judged(Proposal("set", "scene.present", value), source=source, state=state)
    after = advance(state, "narrator", verdict.events)
    assert not verdict.refused or present == ["miller", "rat"]
    assert after.values["scene.present"] == present


@pytest.mark.spec("W4")
@pytest.mark.parametrize(
    ("source", "is_told"), [("model", True), ("player", True), ("storylet", False), ("check", False)]
)
def test_that_a_number_was_cut_is_told_of_others_and_kept_of_the_campaign_itself(source: str, is_told: bool) -> None:
    verdict = judged(
        Proposal("set", "player.nerve", 99), source=source, text=TEXT.replace("max_change", "# max_change")
    )
    assert bool(verdict.notes) is is_told
    assert verdict.events[0].value == 10
    assert "above the most it can be" in verdict.events[0].note
