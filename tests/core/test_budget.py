"""The prompt arithmetic against a count that is easy to do by hand: one token a character, four a message."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrator.core.budget import (
    Budget,
    Counter,
    Fitted,
    NeedsCompaction,
    compute_budget,
    fit,
    fit_question,
    requested_output,
    state_within,
)
from narrator.core.errors import NarratorError
from narrator.core.prompt import Message, Part, PromptParts, encode, node_part

FRAME = 4


def count(messages: Sequence[Message]) -> int:
    return sum(len(message.content) + FRAME for message in messages)


def budget_of(hard_input: int, high: float = 0.70, low: float = 0.45) -> Budget:
    return Budget(
        window=hard_input * 2,
        window_source="configured",
        requested_output=0,
        system_prompt=0,
        tool_schema=0,
        framing=0,
        check_reserve=0,
        margin=0,
        hard_input=hard_input,
        high_watermark=int(hard_input * high),
        low_watermark=int(hard_input * low),
    )


def story(sizes: Sequence[int]) -> tuple[Part, ...]:
    """An opening, then player and narrator by turns, of so many characters each."""
    roles = ["opening", *(["player", "narrator"] * len(sizes))]
    return tuple(
        Part("node", "x" * size, node_id=number, role=role)  # type: ignore[arg-type]
        for number, (size, role) in enumerate(zip(sizes, roles, strict=False), start=1)
    )


def prompt_of(sizes: Sequence[int], tail: int = 20, checkpoint: Part | None = None) -> PromptParts:
    return PromptParts((Part("rules", "Tell it."),), checkpoint, story(sizes), (Part("input", "i" * tail),))


def used_by(parts: PromptParts) -> int:
    return count(encode(parts)[1:])


@pytest.mark.spec("C1")
@pytest.mark.parametrize("has_rules", [False, True])
def test_terms_add_up_to_the_window(has_rules: bool) -> None:
    budget = compute_budget(
        window=8192,
        window_source="reported",
        max_output_tokens=None,
        stable_prefix=(Part("rules", "x" * 100),),
        count=count,
        tool_schema="{}",
        has_rules=has_rules,
    )
    assert budget.requested_output == 2048
    assert (budget.system_prompt, budget.tool_schema, budget.framing) == (104, 6, 4)
    assert budget.margin == 82
    assert budget.check_reserve == (512 if has_rules else 0)
    terms = budget.requested_output + budget.system_prompt + budget.tool_schema + budget.framing
    assert budget.hard_input == 8192 - terms - budget.check_reserve - budget.margin
    assert budget.high_watermark == int(budget.hard_input * 0.70)
    assert budget.low_watermark == int(budget.hard_input * 0.45)
    assert set(budget.to_json()) >= {"window", "source", "hard_input", "margin", "framing", "check_reserve"}


@pytest.mark.spec("C1")
def test_margin_is_a_hundredth_and_at_least_64() -> None:
    def margin(window: int) -> int:
        return compute_budget(
            window=window, window_source="configured", max_output_tokens=16, stable_prefix=(), count=count
        ).margin

    assert (margin(2048), margin(6400), margin(6401), margin(131072)) == (64, 64, 65, 1311)


@pytest.mark.spec("C2")
@pytest.mark.parametrize(
    ("window", "maximum", "expected"),
    [(131072, None, 4096), (131072, 8000, 4096), (131072, 1000, 1000), (8192, None, 2048), (8192, 4096, 2048)],
)
def test_requested_output(window: int, maximum: int | None, expected: int) -> None:
    assert requested_output(window, maximum) == expected


@pytest.mark.spec("C2")
def test_a_window_too_small_is_refused_with_every_term_named() -> None:
    with pytest.raises(NarratorError) as caught:
        compute_budget(
            window=2048,
            window_source="configured",
            max_output_tokens=None,
            stable_prefix=(Part("rules", "x" * 600),),
            count=count,
            has_rules=True,
        )
    assert caught.value.code == "window-too-small"
    for term in ("2,048", "output 512", "system prompt 604", "tool schema 0", "framing 4", "reserve 512", "margin 64"):
        assert term in caught.value.message


@pytest.mark.spec("C2")
def test_the_smallest_window_is_exact() -> None:
    def compute(window: int) -> Budget:
        return compute_budget(
            window=window, window_source="configured", max_output_tokens=100, stable_prefix=(), count=count
        )

    smallest = 1024 + 100 + 4 + 4 + 64
    assert compute(smallest).hard_input == 1024
    with pytest.raises(NarratorError):
        compute(smallest - 1)


@pytest.mark.spec("C8")
def test_just_the_budget_goes_and_one_token_more_does_not() -> None:
    parts = prompt_of([100, 30, 200, 30, 200], checkpoint=Part("checkpoint", "c" * 50))
    exact = used_by(parts)
    fitted = fit(parts, budget_of(exact), count)
    assert isinstance(fitted, Fitted)
    assert fitted.messages == encode(parts)
    assert (fitted.context_and_tail, fitted.tokens) == (exact, count(encode(parts)))
    assert fitted.due is not None
    assert fitted.due.fits
    needed = fit(parts, budget_of(exact - 1), count)
    assert isinstance(needed, NeedsCompaction)
    assert not needed.fits


@pytest.mark.spec("C8", "C6")
def test_just_the_budget_goes_where_nothing_can_be_covered() -> None:
    parts = prompt_of([100])
    exact = used_by(parts)
    fitted = fit(parts, budget_of(exact), count)
    assert isinstance(fitted, Fitted)
    assert fitted.due is None
    with pytest.raises(NarratorError) as caught:
        fit(parts, budget_of(exact - 1), count)
    assert caught.value.code == "history-entry-too-large"


@pytest.mark.spec("C5")
def test_the_tail_is_budgeted_first_and_names_its_largest_parts() -> None:
    tail = (
        Part("memory", "m" * 10, "7"),
        Part("card", "c" * 3000, "The Lantern Road"),
        Part("state", "s" * 900, "state"),
        Part("input", "i" * 30, "player"),
    )
    parts = PromptParts((), None, story([5000]), tail)
    with pytest.raises(NarratorError) as caught:
        fit(parts, budget_of(2000), count)
    assert caught.value.code == "dynamic-tail-too-large"
    assert "card “The Lantern Road” 3,004, state 904, input “player” 34" in caught.value.message


@pytest.mark.spec("C5", "C8")
def test_a_tail_of_just_the_hard_input_is_no_tail_too_large() -> None:
    alone = PromptParts((), None, (), (Part("input", "i" * 96),))
    assert isinstance(fit(alone, budget_of(100), count), Fitted)
    for hard, code in ((100, "history-entry-too-large"), (99, "dynamic-tail-too-large")):
        with pytest.raises(NarratorError) as caught:
            fit(PromptParts((), None, story([30]), (Part("input", "i" * 96),)), budget_of(hard), count)
        assert caught.value.code == code


@pytest.mark.spec("C6")
def test_a_last_narration_that_does_not_fit_is_named() -> None:
    with pytest.raises(NarratorError) as caught:
        fit(prompt_of([100, 30, 3000]), budget_of(2000), count)
    assert caught.value.code == "history-entry-too-large"
    assert "#3" in caught.value.message
    assert "3,004" in caught.value.message
    assert caught.value.hint


@pytest.mark.spec("C6", "C18")
def test_what_needs_covering_keeps_the_last_exchange() -> None:
    needed = fit(prompt_of([100, 30, 900, 30, 900]), budget_of(1200), count)
    assert isinstance(needed, NeedsCompaction)
    assert (needed.covered_through, needed.retained_from, needed.covered_nodes) == (3, 4, 3)
    assert not needed.fits


@pytest.mark.spec("C7", "C18")
def test_the_high_watermark_asks_for_compaction_and_says_that_it_would_fit() -> None:
    parts = prompt_of([100, 30, 200, 30, 200])
    used = used_by(parts)
    at_watermark = budget_of(1000, high=used / 1000)
    assert isinstance(fit(parts, at_watermark, count), Fitted)
    needed = fit(parts, budget_of(1000, high=(used - 1) / 1000), count)
    assert isinstance(needed, NeedsCompaction)
    assert needed.fits


@pytest.mark.spec("C6", "C7", "C8", "C18")
@given(
    sizes=st.lists(st.integers(0, 400), min_size=1, max_size=30),
    tail=st.integers(1, 300),
    hard=st.integers(64, 6000),
    has_checkpoint=st.booleans(),
)
def test_what_goes_out_fits_whole(sizes: list[int], tail: int, hard: int, has_checkpoint: bool) -> None:
    parts = prompt_of(sizes, tail, Part("checkpoint", "c" * 40) if has_checkpoint else None)
    budget = budget_of(hard)
    used = used_by(parts)
    answer: Fitted | NeedsCompaction | NarratorError
    try:
        answer = fit(parts, budget, count)
    except NarratorError as error:
        answer = error
    if isinstance(answer, NarratorError):
        assert answer.code in ("dynamic-tail-too-large", "history-entry-too-large")
        assert used > hard
        return
    if isinstance(answer, Fitted):
        assert answer.context_and_tail == used <= hard
        assert answer.messages == encode(parts)
        return
    assert used > budget.high_watermark
    assert answer.fits == (used <= hard)
    ids = [part.node_id for part in parts.raw_tail]
    assert ids.index(answer.covered_through) + 1 == ids.index(answer.retained_from) == answer.covered_nodes
    retained = parts.raw_tail[answer.covered_nodes :]
    told = [part for part in parts.raw_tail if part.role in ("narrator", "opening")]
    assert told[-1] in retained
    rest = PromptParts((), Part("checkpoint", "s" * (hard // 8 - FRAME)), retained, parts.dynamic_tail)
    can_cover_more = any(part.role == "player" for part in retained[1:-2])
    assert used_by(rest) <= max(budget.low_watermark, 0) or not can_cover_more


@pytest.mark.spec("C4")
def test_a_counter_counts_each_message_once() -> None:
    asked: list[Message] = []

    def costly(messages: Sequence[Message]) -> int:
        asked.extend(messages)
        return count(messages)

    counter = Counter(costly)
    first = prompt_of([50] * 21)
    later = PromptParts(first.stable_prefix, None, story([50] * 23), (Part("input", "another"),))
    budget = budget_of(100_000)
    for parts in (first, later):
        fitted = fit(parts, budget, counter)
        assert isinstance(fitted, Fitted)
        assert fitted.tokens == count(encode(parts))
    assert len(asked) == len(set(asked))


@pytest.mark.spec("C4")
def test_six_hundred_nodes_cost_a_few_milliseconds_a_turn() -> None:
    sizes = [700] * 601
    raw = tuple(
        node_part(part.node_id or 0, part.role or "opening", f"{part.node_id} {part.text}") for part in story(sizes)
    )
    counter, budget = Counter(count), budget_of(2_000_000)
    parts = PromptParts((Part("rules", "Tell it."),), None, raw, (Part("input", "go"),))
    fit(parts, budget, counter)
    spent = []
    for _ in range(5):
        started = time.perf_counter()
        fit(parts, budget, counter)
        spent.append(time.perf_counter() - started)
    assert min(spent) < 0.02


@pytest.mark.spec("C12")
@given(scene=st.integers(0, 20), rest=st.integers(0, 60), hard=st.integers(64, 3000))
def test_the_scene_is_whole_and_the_rest_has_a_fifth(scene: int, rest: int, hard: int) -> None:
    here = [f"here {number}" for number in range(scene)]
    others = [f"elsewhere {number:02}" for number in range(rest)]
    text, left_out = state_within(here, others, budget_of(hard), count)
    lines = text.split("\n") if text else []
    assert lines[:scene] == here
    shown = len(others) - len(left_out)
    assert lines[scene : scene + shown] == others[:shown]
    assert tuple(others[shown:]) == left_out
    assert shown * (len("elsewhere 00") + 1) <= hard // 5
    assert not left_out or (shown + 1) * (len("elsewhere 00") + 1) > hard // 5
    assert lines[scene + shown :] == ([f"+ {len(left_out)} older facts"] if left_out else [])


@pytest.mark.spec("C8", "C30")
@given(
    sizes=st.lists(st.integers(0, 200), min_size=1, max_size=20), tail=st.integers(1, 200), hard=st.integers(64, 3000)
)
def test_a_question_about_the_story_sees_the_latest_that_fits(sizes: list[int], tail: int, hard: int) -> None:
    parts = prompt_of(sizes, tail)
    whole = used_by(parts)
    answer: Fitted | NarratorError
    try:
        answer = fit_question(parts, budget_of(hard), count)
    except NarratorError as error:
        answer = error
    if isinstance(answer, NarratorError):
        assert whole > hard
        return
    seen = answer.parts.raw_tail
    assert answer.context_and_tail == used_by(answer.parts) <= hard
    assert seen == parts.raw_tail[len(parts.raw_tail) - len(seen) :]
    assert (len(seen) == len(parts.raw_tail)) == (whole <= hard)
    assert [part for part in parts.raw_tail if part.role != "player"][-1] in seen
