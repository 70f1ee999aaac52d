"""From parts to messages: one pure function, and what it must never let out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrator.core import prompt, questions
from narrator.core.definition import Card, Definition
from narrator.core.prompt import (
    BEGIN,
    CONTINUE,
    TAIL_ORDER,
    Message,
    Part,
    PromptParts,
    checkpoint_part,
    dynamic_tail,
    encode,
    node_part,
    stable_prefix,
    stable_prefix_hash,
)
from narrator.narrators.port import Outcome

DEFINITION = Definition(
    id="lantern-road",
    title="The Lantern Road",
    opening="Rain.",
    instructions="Second person, present tense.",
    premise="Seven lanterns light a causeway.",
    persona="A lamplighter far from home.",
    player_name="Ansa",
    language="en",
)
PREFIX = stable_prefix(DEFINITION)
OUTCOME = Outcome("persuade", "hard", "success")

texts = st.text(alphabet="ab\n é雨", min_size=1, max_size=12)
nodes = st.lists(st.tuples(st.sampled_from(["player", "narrator", "correction"]), texts), max_size=12)


def history(entries: Sequence[tuple[str, str]]) -> tuple[Part, ...]:
    whole = [("opening", "Rain."), *entries]
    return tuple(
        node_part(number, role, text, "do" if role == "player" else None)  # type: ignore[arg-type]
        for number, (role, text) in enumerate(whole, start=1)
    )


def parts_of(entries: Sequence[tuple[str, str]], tail: tuple[Part, ...] | None = None) -> PromptParts:
    return PromptParts(PREFIX, None, history(entries), dynamic_tail(input="go on") if tail is None else tail)


@pytest.mark.spec("C9")
@given(entries=nodes, has_checkpoint=st.booleans(), has_tail=st.booleans(), has_follow_up=st.booleans())
def test_roles_are_in_strict_turns(
    entries: list[tuple[str, str]], has_checkpoint: bool, has_tail: bool, has_follow_up: bool
) -> None:
    parts = parts_of(entries, dynamic_tail(input="x") if has_tail else ())
    if has_checkpoint:
        parts = replace(parts, checkpoint=checkpoint_part("They met."), raw_tail=parts.raw_tail[1:])
    if has_follow_up:
        parts = replace(parts, follow_up=(Part("narration", "So.", role="narrator"), Part("question", "?")))
    messages = encode(parts)
    roles = [message.role for message in messages]
    assert roles == ["system", *(["user", "assistant"] * len(roles))[: len(roles) - 1]]
    assert roles[-1] == "user"
    assert all(message.content for message in messages)
    assert encode(parts) == messages


@pytest.mark.spec("C9", "C10", "C11")
@given(entries=nodes, tail=texts, later=texts)
def test_the_history_is_the_same_bytes_from_turn_to_turn(entries: list[tuple[str, str]], tail: str, later: str) -> None:
    before = encode(parts_of(entries, dynamic_tail(state=tail, input="go")))
    told = [*entries, ("player", "go"), ("narrator", "You go.")]
    after = encode(parts_of(told, dynamic_tail(state=later, input="stay")))
    assert after[: len(before) - 1] == before[:-1]
    assert before[-1].content.endswith("[do] go")


@pytest.mark.spec("C9")
@given(nodes)
def test_every_node_stands_whole_and_in_order(entries: list[tuple[str, str]]) -> None:
    rest = "\n".join(message.content for message in encode(parts_of(entries))[1:])
    for role, text in entries:
        if role != "correction":
            assert text in rest
            rest = rest[rest.index(text) + len(text) :]


def test_the_shape_of_a_whole_prompt() -> None:
    parts = PromptParts(
        PREFIX,
        None,
        history([("player", "open the gate"), ("narrator", "It opens."), ("narrator", "Rain comes in.")]),
        dynamic_tail(state="Place: gate", input="Hello?", mode="say"),
    )
    assert encode(parts)[1:] == (
        Message("user", BEGIN),
        Message("assistant", "Rain."),
        Message("user", "[do] open the gate"),
        Message("assistant", "It opens."),
        Message("user", CONTINUE),
        Message("assistant", "Rain comes in."),
        Message("user", "How things stand now:\nPlace: gate\n\n[say] Hello?"),
    )
    with_checkpoint = replace(parts, checkpoint=checkpoint_part("They met."), raw_tail=parts.raw_tail[2:])
    assert encode(with_checkpoint)[1:3] == (
        Message("user", "The story so far:\nThey met."),
        Message("assistant", "It opens."),
    )


@pytest.mark.spec("C10")
def test_the_prefix_hash_is_that_of_the_system_message() -> None:
    system = encode(parts_of([]))[0]
    assert stable_prefix_hash(PREFIX) == hashlib.sha256(system.content.encode()).digest()
    assert stable_prefix_hash(stable_prefix(DEFINITION)) == stable_prefix_hash(PREFIX)
    assert stable_prefix_hash(stable_prefix(DEFINITION, persona="Another.")) != stable_prefix_hash(PREFIX)


@pytest.mark.spec("C10")
def test_the_prefix_holds_what_the_specification_names() -> None:
    card = Card(name="The Reeve", text="Keeper of the toll.", is_constant=True)
    definition = replace(DEFINITION, limits="No child comes to harm.")
    found = stable_prefix(definition, constant_cards=(card,), schema="player.nerve: number")
    assert [part.kind for part in found] == ["rules", "premise", "persona", "limits", "constant-card", "schema"]
    system = encode(PromptParts(found))[0].content
    for text in (
        "Second person",
        "Seven lanterns",
        "Ansa",
        "far from home",
        "Keeper of the toll",
        "player.nerve",
        "No child comes",
    ):
        assert text in system
    assert [part.kind for part in stable_prefix(Definition(id="x", title="", opening=""))] == ["rules", "limits"]


@pytest.mark.spec("C12")
def test_the_tail_is_in_order_and_the_input_last() -> None:
    tail = dynamic_tail(
        state="Place: ferry",
        input="wait",
        mode="do",
        memories=(prompt.memory_part("They met.", "m1", "met"),),
        cards=(prompt.card_part("The Reeve", "Keeper.", "reeve"),),
        knowledge=(prompt.knowledge_part("Tides", "canon", "Twice a day."),),
        corrections=("the lamp is lit",),
        note="Slowly.",
        outcomes=(OUTCOME,),
        retry_note="darker",
        is_for_small=True,
    )
    kinds = [part.kind for part in tail]
    assert kinds == [kind for kind in TAIL_ORDER if kind != "question"]
    last = encode(parts_of([], tail))[-1].content
    assert last.endswith("[do] wait")
    for text in ("They met.", "Keeper.", "Tides (canon)", "Place: ferry", "the lamp is lit", "Slowly.", "darker"):
        assert text in last
    assert "short sentences" in last
    assert "manner" not in [part.kind for part in dynamic_tail(input="wait")]


@pytest.mark.spec("T8", "S20")
def test_outcomes_are_words() -> None:
    text = "\n".join(part.text for part in dynamic_tail(outcomes=(OUTCOME,), state="x", is_retold=True))
    assert "persuade (hard): success" in text
    assert "once this turn is told" in text
    assert not any(character.isdigit() for character in text)


@pytest.mark.spec("S24", "T7")
def test_without_input_the_narrator_goes_on() -> None:
    assert dynamic_tail()[-1].text == CONTINUE
    assert "mid-sentence" in dynamic_tail(is_cut_off=True)[-1].text
    assert "mid-sentence" not in dynamic_tail(input="x", is_cut_off=True)[-1].text


@pytest.mark.parametrize(
    ("mode", "shown"), [("do", "[do] x"), ("say", "[say] x"), ("story", "[story] x"), (None, "[do] x")]
)
def test_the_mode_of_an_input_is_marked_alike_in_tail_and_history(mode: str | None, shown: str) -> None:
    assert dynamic_tail(input="x", mode=mode)[-1].text == shown
    assert node_part(3, "player", "x", mode).text == shown


def correction(path: str, old: object, new: object, reason: str | None = None) -> str:
    return json.dumps({"path": path, "old": old, "new": new, "reason": reason})


@pytest.mark.spec("C10", "C22", "S23")
def test_a_correction_in_the_history_makes_no_message() -> None:
    hidden = correction("flags.canary_hidden", None, True)
    messages = encode(parts_of([("player", "x"), ("narrator", "y"), ("correction", hidden)]))
    assert not any("canary" in message.content for message in messages)


@pytest.mark.spec("S25")
@given(
    kind=texts, text=texts, node_id=st.none() | st.integers(1, 9), role=st.sampled_from([None, "player", "narrator"])
)
def test_a_part_comes_back_from_json_with_the_same_hash(
    kind: str, text: str, node_id: int | None, role: prompt.NodeRole | None
) -> None:
    part = Part(kind, text, "source", "why", node_id, role)
    back = Part.from_json(json.loads(json.dumps(part.to_json())))
    assert back == part
    assert back.content_hash() == part.content_hash() == Part(kind, text, node_id=99, role=role).content_hash()
    assert Part(kind, text + "!", role=role).content_hash() != part.content_hash()


@pytest.mark.spec("C30", "T4", "T8", "T20")
def test_other_purposes_share_the_beginning_and_see_nothing_remembered() -> None:
    memory = prompt.memory_part("canary memory", "m1")
    tail = dynamic_tail(state="Place: ferry", input="persuade him", memories=(memory,), retry_note="canary note")
    narration = PromptParts(PREFIX, None, history([("player", "x"), ("narrator", "y")]), tail)
    shared = encode(narration)[:-1]
    check = questions.check_prompt(narration, ["persuade"], ["easy", "hard"])
    extract = questions.extract_prompt(narration, "He agrees.")
    suggest = questions.suggest_prompt(narration)
    for parts in (check, extract, suggest):
        messages = encode(parts)
        assert messages[: len(shared)] == shared
        assert not any("canary memory" in message.content for message in messages)
    checkpointed = replace(narration, checkpoint=checkpoint_part("canary summary"))
    assert "canary summary" in encode(checkpointed)[1].content
    for parts in (
        questions.check_prompt(checkpointed, ["persuade"], ["hard"]),
        questions.extract_prompt(checkpointed, "He agrees."),
        questions.suggest_prompt(checkpointed),
    ):
        assert not any("canary summary" in message.content for message in encode(parts))
    asked = encode(check)[-1].content
    assert asked.index("[do] persuade him") < asked.index("Skills: persuade. Difficulties: easy, hard.")
    assert '{"check": null}' in asked
    assert "canary note" not in encode(suggest)[-1].content
    assert "persuade him" not in encode(suggest)[-1].content


@pytest.mark.spec("T4")
def test_extraction_follows_the_narration_it_asks_about() -> None:
    narration = parts_of([("player", "x"), ("narrator", "y")])
    first = encode(questions.extract_prompt(narration, "He agrees."))
    assert first[-2] == Message("assistant", "He agrees.")
    assert '{"changes"' in first[-1].content
    repaired = encode(questions.extract_prompt(narration, "He agrees.", repair=("oh {", "no object")))
    assert repaired[: len(first)] == first
    assert repaired[-2] == Message("assistant", "oh {")
    assert "no object" in repaired[-1].content
