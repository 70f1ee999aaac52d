"""Context checkpoints as values: what is a summary, which history it serves, when it may be used."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrator.core.errors import NarrationFailed
from narrator.core.prompt import encode, node_part
from narrator.core.questions import compact_prompt, memory_prompt, shorten_prompt
from narrator.core.summary import (
    SUMMARY_SCHEMA,
    Fact,
    Place,
    Summary,
    as_part,
    keeps_last_exchange,
    make_checkpoint,
    parse_summary,
    read_checkpoint,
    shorten,
    source_hash,
    to_words,
    words_for,
)

WHOLE = Summary(
    events=("They met at the ferry.", "Orrin took the key."),
    choices=("Ada went along.",),
    facts=(Fact(text="The key is brass.", certainty="certain"), Fact(text="Orrin lies.", certainty="doubtful")),
    conflicts=("Who has the key?",),
    goals=("Cross the river.",),
    mood="wary",
)
ROW = make_checkpoint(
    WHOLE,
    covered_id=3,
    covered_chain_hash=b"c" * 32,
    retained_id=4,
    campaign_id="mill",
    stable_prefix_hash=b"p" * 32,
)
HOST, COVERED = Place(4, 4, b"h" * 32), Place(3, 3, b"c" * 32)


def read(row: Any = ROW, host: Any = HOST, covered: Any = COVERED, retained: Any = HOST, **rest: Any) -> Summary | None:
    known = {"campaign_id": "mill", "stable_prefix_hash": b"p" * 32, "has_room": lambda summary: True}
    return read_checkpoint(row, host, covered, retained, **{**known, **rest})


@pytest.mark.spec("C21")
def test_the_object_of_the_contract_is_a_summary() -> None:
    assert parse_summary(WHOLE.to_json()) == WHOLE
    assert list(json.loads(WHOLE.to_json())) == SUMMARY_SCHEMA["required"]
    assert set(SUMMARY_SCHEMA["properties"]) == set(SUMMARY_SCHEMA["required"])


@pytest.mark.spec("C21", "C22")
def test_the_forms_that_models_write_are_read_and_what_they_add_is_dropped() -> None:
    body = '{"events": ["One.\\n Two."], "facts": ["It rains."], "choices": null, "dice": [17], "mood": null}'
    text = f"```json\n{body}\n```"
    found = parse_summary(text)
    assert found.events == ("One. Two.",)
    assert found.facts == (Fact(text="It rains.", certainty="certain"),)
    assert "17" not in found.to_json()


@pytest.mark.spec("C19")
@pytest.mark.parametrize(
    "text", ["", "They met.", "{}", '{"events": 3}', '{"events": ["a"], "facts": [{"a": 1}]}', "[1]"]
)
def test_anything_else_is_malformed(text: str) -> None:
    with pytest.raises(NarrationFailed) as caught:
        parse_summary(text)
    assert caught.value.code == "narrator-malformed"


@pytest.mark.spec("C15", "C21")
def test_a_summary_in_words_has_every_entry_and_no_empty_heading() -> None:
    told = to_words(WHOLE)
    for entry in (*WHOLE.events, *WHOLE.choices, "The key is brass. (certain)", "Orrin lies. (doubtful)", "wary"):
        assert entry in told
    assert to_words(Summary(events=("They met.",))) == "What happened:\n- They met."


@pytest.mark.spec("C16")
def test_the_source_hash_tells_every_part_of_it_apart() -> None:
    first = source_hash("mill", b"p" * 32, b"c" * 32)
    others = {
        source_hash("mill2", b"p" * 32, b"c" * 32),
        source_hash("mill", b"q" * 32, b"c" * 32),
        source_hash("mill", b"p" * 32, b"d" * 32),
        source_hash("", b"mill" + b"p" * 28, b"c" * 32),
    }
    assert len(first) == 32
    assert first not in others
    assert len(others) == 4


@pytest.mark.spec("C13", "C14", "C17")
def test_a_checkpoint_serves_the_path_it_was_made_on() -> None:
    assert read() == WHOLE
    assert read(host=None) is None
    assert read(covered=None) is None
    assert read(retained=None) is None


@pytest.mark.spec("C17")
@pytest.mark.parametrize(
    "change",
    [
        {"checkpoint_schema_version": 0},
        {"prompt_schema_version": 2},
        {"stable_prefix_hash": b"x" * 32},
        {"source_hash": b"x" * 32},
        {"summary_json": "{"},
        {"summary_json": '{"events": []}'},
    ],
)
def test_a_wrong_column_makes_it_unusable(change: dict[str, Any]) -> None:
    assert read(replace(ROW, **change)) is None


@pytest.mark.spec("C17")
def test_a_wrong_range_campaign_prefix_or_size_makes_it_unusable() -> None:
    assert read(covered=Place(2, 2, b"c" * 32)) is None
    assert read(covered=Place(3, 3, b"d" * 32)) is None
    assert read(retained=Place(5, 5, b"h" * 32)) is None
    assert read(campaign_id="other") is None
    assert read(stable_prefix_hash=b"q" * 32) is None
    assert read(has_room=lambda summary: False) is None


@pytest.mark.spec("C21")
@given(
    lists=st.lists(st.lists(st.text("ab ", min_size=1, max_size=9), max_size=9), min_size=4, max_size=4),
    room=st.integers(10, 400),
)
def test_shortening_ends_and_drops_the_oldest_of_the_longest_first(lists: list[list[str]], room: int) -> None:
    whole = Summary(events=lists[0], choices=lists[1], conflicts=lists[2], goals=lists[3], mood="so")

    def has_room(summary: Summary) -> bool:
        return len(to_words(summary)) <= room

    short, gone = shorten(whole, has_room)
    assert (gone == 0) == (short == whole)
    assert has_room(short) or sum(len(entries) for entries in (short.events, short.choices, short.conflicts)) <= 1
    for name in ("events", "choices", "conflicts", "goals"):
        kept = getattr(short, name)
        assert kept == getattr(whole, name)[len(getattr(whole, name)) - len(kept) :]


@pytest.mark.spec("C6")
@pytest.mark.parametrize(
    ("retained", "covered", "keeps"),
    [
        (["player", "narrator"], "narrator", True),
        (["narrator"], "player", False),
        (["narrator"], "narrator", True),
        (["player"], "narrator", False),
        ([], "narrator", False),
        (["correction", "narrator"], "player", False),
        (["player", "correction", "narrator", "player"], "narrator", True),
    ],
)
def test_the_last_exchange_is_kept(retained: list[str], covered: str, keeps: bool) -> None:
    assert keeps_last_exchange(retained, covered) is keeps


@pytest.mark.spec("C11", "C15", "C30")
def test_the_requests_hold_what_they_may() -> None:
    nodes = [node_part(4, "player", "I wait.", "do"), node_part(5, "narrator", "Rain.")]
    compact = encode(compact_prompt((), as_part(WHOLE), nodes, words=120))
    assert "Orrin took the key." in compact[1].content
    assert "I wait." in compact[1].content
    assert compact[2].content == "Rain."
    assert "120 words" in compact[-1].content
    memory = encode(memory_prompt((), nodes))
    assert all("Orrin" not in message.content for message in memory)
    repair = encode(shorten_prompt((), "too much", "it is too long", words=60))
    assert all("Rain." not in message.content for message in repair)
    assert repair[-2].content == "too much"


@pytest.mark.spec("C21")
def test_words_are_asked_for_by_what_a_token_is() -> None:
    assert words_for(1000, is_exact=True) > words_for(1000, is_exact=False) >= 20
