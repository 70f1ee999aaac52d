"""The fold of the state, and what of it may be seen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narrator.core.campaign import minimal_definition, parse_definition
from narrator.core.errors import Damaged
from narrator.core.proposal import OPS, SOURCES
from narrator.core.referee import Proposal, judge
from narrator.core.state import (
    EMPTY,
    Event,
    State,
    advance,
    dump,
    initial_events,
    is_ended,
    load,
    open_values,
    projection,
    public,
    schema_lines,
    value_after,
    visibility,
)
from tests.core.small_campaign import TEXT, small, start

JSONS = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)
PATHS = st.sampled_from(
    ["location", "player.nerve", "facts", "threads.x", "inventory.key", "story.fired", "scene.present"]
)
EVENTS = st.builds(Event, st.sampled_from(OPS), PATHS, JSONS, st.none(), st.sampled_from(SOURCES))
NODES = st.lists(
    st.tuples(
        st.sampled_from(["player", "narrator", "correction"]), st.lists(EVENTS, max_size=4).map(tuple), st.booleans()
    ),
    max_size=12,
)


def fold(*events: Event, state: State = EMPTY, role: str = "narrator") -> State:
    return advance(state, role, events)


def event(op: str, path: str, value: Any) -> Event:
    return Event(op, path, value, None, "model")


@pytest.mark.spec("W1", "W3")
def test_a_campaign_begins_with_events_on_its_opening() -> None:
    state = advance(EMPTY, "opening", initial_events(small()))
    assert state.turn == 0
    assert state.values["location"] == "yard"
    assert state.values["time"] == "dusk"
    assert state.values["scene.present"] == ["miller"]
    assert state.values["inventory.key"] == "player"
    assert state.values["player.nerve"] == 5
    assert state.values["flags.gate_open"] is False
    assert state.values["trust.miller.player"] == 0
    assert state.values["entities.miller.name"] == "Orrin Vale"
    assert state.values["facts"] == [{"text": "The wheel has not turned since Sunday.", "certainty": "certain"}]
    assert state.values["threads.wheel"] == {"text": "Why does the wheel stand still?", "open": True}
    assert "flags.secret" not in state.values
    assert not state.changed
    assert initial_events(minimal_definition("T", "O")) == ()


@pytest.mark.spec("W3")
@pytest.mark.parametrize(
    ("before", "op", "path", "value", "after"),
    [
        (None, "set", "x", 3, 3),
        (3, "set", "x", None, None),
        (3, "add", "x", -1, 2),
        (None, "add", "x", 2, 2),
        ("text", "add", "x", 2, 2),
        (1.5, "add", "x", 0.5, 2),
        ([1], "append", "x", 2, [1, 2]),
        (None, "append", "x", 2, [2]),
        ([1, 2, 1], "remove", "x", 1, [2, 1]),
        ([1], "remove", "x", 9, [1]),
        ("a", "remove", "x", None, None),
        (None, "assert", "facts", "A.", [{"text": "A.", "certainty": "certain"}]),
        ([{"text": "A.", "certainty": "certain"}], "assert", "facts", {"text": "a", "certainty": "doubted"}, [
            {"text": "a", "certainty": "doubted"}]),
        ([{"text": "A.", "certainty": "certain"}], "retract", "facts", "a", []),
        (None, "open", "threads.x", "Why?", {"text": "Why?", "open": True}),
        ({"text": "A?", "open": True}, "close", "threads.x", "So.", {"text": "A?", "open": False, "outcome": "So."}),
        (None, "relate", "trust.a.b", 3, 3),
        ("tench", "move", "inventory.oil", "player", "player"),
        ("tench", "move", "inventory.oil", None, None),
    ],
)  # fmt: skip
def test_each_operation_folds(before: Any, op: str, path: str, value: Any, after: Any) -> None:
    state = fold(event("set", path, before)) if before is not None else EMPTY
    kept = dump(state)
    assert fold(event(op, path, value), state=state).values.get(path) == after
    assert dump(state) == kept


@pytest.mark.spec("W7", "W8")
@given(EVENTS.filter(lambda event: event.op not in {"assert", "retract"} and event.path != "story.fired"))
def test_the_value_after_an_event_is_what_the_fold_makes(event: Event) -> None:
    assert value_after(event) == fold(event).values.get(event.path)


@pytest.mark.spec("W7", "W8")
def test_the_value_after_an_addition_is_the_sum() -> None:
    assert value_after(Event("add", "x", -4, 5, "model")) == 1
    assert value_after(Event("append", "x", 2, [1], "model")) == [1, 2]
    assert value_after(Event("assert", "facts", "A.", None, "model")) == "A."
    assert value_after(Event("retract", "facts", "A.", {"text": "A."}, "model")) is None
    assert value_after(Event("close", "threads.x", "So.", {"text": "A?", "open": True}, "model"))["open"] is False


@pytest.mark.spec("W3", "S10")
@settings(max_examples=50)
@given(NODES)
def test_any_events_fold_and_undo_is_folding_again(nodes: list[tuple[str, tuple[Event, ...], bool]]) -> None:
    states = [EMPTY]
    for role, events, unknown in nodes:
        states.append(advance(states[-1], role, events, unknown))
    texts = [dump(state) for state in states]
    again = EMPTY
    for at, (role, events, unknown) in enumerate(nodes):
        assert dump(states[at]) == texts[at]
        again = advance(again, role, events, unknown)
        assert again == states[at + 1]
    assert load(texts[-1]) == states[-1]
    assert dump(load(texts[-1])) == texts[-1]


@pytest.mark.spec("W2")
def test_turns_count_player_inputs_alone() -> None:
    state = EMPTY
    for role in ("opening", "player", "narrator", "narrator", "correction", "player", "narrator"):
        state = advance(state, role, ())
    assert state.turn == 2
    state = fold(event("set", "x", 1), state=state)
    assert state.changed["x"] == 2
    state = advance(state, "correction", (event("set", "y", 1),))
    assert "y" not in state.changed


@pytest.mark.spec("W12")
def test_unknown_is_not_empty_and_stays_until_an_import_tells() -> None:
    state = fold(event("set", "location", "yard"))
    lost = advance(state, "narrator", (), unknown=True)
    assert lost.unknown
    assert lost.values == state.values
    later = fold(event("set", "time", "noon"), state=advance(lost, "player", ()))
    assert later.unknown
    known = advance(later, "narrator", (Event("set", "location", "loft", "yard", "import"),))
    assert not known.unknown


@pytest.mark.spec("T18")
def test_what_has_fired_stays_small_however_long_the_story() -> None:
    state = EMPTY
    for turn in range(500):
        state = advance(state, "player", ())
        told = {"id": "look", "wording": f"told/{turn % 3}"}
        state = fold(Event("append", "story.fired", told, None, "storylet"), state=state)
    record = state.values["story.fired"]["look"]
    assert record["times"] == 500
    assert record["last"] == 500
    assert record["told"] == {"told/0": [167, 499], "told/1": [167, 500], "told/2": [166, 498]}
    assert (record["order"], record["wording"]) == (500, "told/1")
    assert len(dump(state)) < 500


@pytest.mark.spec("T18", "U23")
def test_a_wording_with_asides_is_told_apart_for_ten_turns_and_counts_for_ever() -> None:
    state = EMPTY
    for turn in range(30):
        state = advance(state, "player", ())
        told = {"id": "look", "wording": f"told/0+aside-1/{turn}"}
        state = fold(Event("append", "story.fired", told, None, "storylet"), state=state)
    record = state.values["story.fired"]["look"]["told"]
    assert len(record) == 12
    assert record["told/0"] == [19, 19]
    assert sum(times for times, _ in record.values()) == 30


@pytest.mark.spec("W3")
@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 2}', '{"format": 1, "values": 3}'])
def test_a_snapshot_that_is_none_is_a_named_error(text: str) -> None:
    with pytest.raises(Damaged):
        load(text)


@pytest.mark.spec("W7")
def test_the_panel_shows_open_fields_alone() -> None:
    definition = small()
    values = open_values(start(definition), definition)
    assert values["player.nerve"] == 5
    assert values["location"] == "yard"
    assert values["inventory.key"] == "player"
    assert "miller.debt" not in values
    assert "miller.plan" not in values
    assert "inventory.sack" not in values
    assert not any("rat" in path for path in values)
    assert not any(path.startswith("entities.") for path in values)
    painted = fold(event("set", "entities.yard.text", "Snow."), state=start(definition))
    assert open_values(painted, definition)["entities.yard.text"] == "Snow."
    everything = open_values(start(definition), definition, everything=True)
    assert everything["miller.debt"] == 40
    assert everything["miller.plan"] == "burn the mill"
    assert public(start(definition), definition, "player.nerve") == "5 (wary)"
    assert public(start(definition), definition, "miller.plan") is None


@pytest.mark.spec("W6")
def test_the_projection_has_labels_for_numbers_and_no_hidden_name() -> None:
    definition = small()
    state = start(definition)
    state = fold(
        event("set", "flags.secret", True),
        event("append", "scene.present", "rat"),
        event("set", "trust.rat.player", -4),
        event("relate", "trust.miller.player", 4),
        event("set", "clocks.fire", 2),
        state=state,
    )
    text = projection(state, definition)
    for shown in (
        "Place: the yard",
        "Time: dusk",
        "Orrin Vale",
        "nerve: wary",
        "trust warm",
        "debt: 40",
        "a brass key",
    ):
        assert shown in text
    assert "Open: Why does the wheel stand still?" in text
    assert "Fact: The wheel has not turned since Sunday." in text
    for hidden in ("secret", "plan", "burn the mill", "Rat", "rat", "fire", "trust 4", "4", "5", "story", "cold"):
        assert hidden not in text.replace("debt: 40", ""), hidden


@pytest.mark.spec("W6")
def test_a_relation_without_bands_has_words_all_the_same() -> None:
    definition = parse_definition(TEXT.replace('bands = [[-5, -1, "cold"], [0, 2, "civil"], [3, 5, "warm"]]\n', ""))
    state = fold(event("relate", "trust.miller.player", 5), state=start(definition))
    assert "Orrin Vale towards Ada: trust very high" in projection(state, definition)


@pytest.mark.spec("C10")
def test_what_a_model_is_told_it_may_change_names_no_hidden_field() -> None:
    text = "\n".join(schema_lines(small()))
    assert "player.nerve" in text
    assert "trust.FROM.TO" in text
    for hidden in ("secret", "plan", "fire", "burnt", "story"):
        assert hidden not in text


@pytest.mark.spec("W13")
def test_a_later_definition_leaves_a_state_as_it_is() -> None:
    state = start(small())
    later = parse_definition(
        TEXT.replace("[state.flags.secret]", "[state.player.luck]\ntype = 'number'\ninitial = 9\n[state.flags.secret]")
    )
    assert "player.luck" not in open_values(state, later)
    earlier = parse_definition(TEXT.replace("[state.player.title]", "[state.player.rank]"))
    titled = fold(event("set", "player.title", "Dame"), state=state)
    assert visibility(earlier, "player.title") == "hidden"
    assert titled.values["player.title"] == "Dame"


@pytest.mark.spec("T18")
def test_an_ending_is_seen() -> None:
    definition = small()
    state = start(definition)
    assert not is_ended(state)
    verdict = judge(definition, state, [Proposal("set", "story.ending", "ashes")], source="storylet")
    assert is_ended(advance(state, "narrator", verdict.events))
