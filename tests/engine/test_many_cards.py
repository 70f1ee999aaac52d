"""Thousands of imported cards: an opening, a turn and a change of one cost little more than without (S35, C26)."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from narrator.core.cards import CardEdit
from narrator.core.definition import Card
from narrator.core.kept_cards import card_keys
from narrator.engine.story import Story
from narrator.store import rows
from tests.engine.playing import PLAIN, Play, make, playing
from tests.engine.test_cards import telling, told
from tests.store.making import open_story

MANY = 5_000
MOST_SECONDS = 0.1
"""Twice what is aimed at: a test is no benchmark."""
SAMPLES = 7


def lore(count: int) -> list[Card]:
    """Cards as a large lorebook has them: three keys, sixty words of text."""
    random = Random(5)
    words = ["".join(random.choices("abcdefghijklmnop", k=7)) for _ in range(4000)]

    def keys(number: int) -> tuple[str, ...]:
        return (f"{random.choice(words)}{number}", " ".join(random.sample(words, 2)), random.choice(words) + "s")

    return [Card(f"Card {n}", " ".join(random.choices(words, k=60)), keys(n), priority=n % 7) for n in range(count)]


def campaign(folder: Path, name: str, cards: list[Card]) -> Path:
    path = make(folder, PLAIN, name)
    with closing(open_story(path)) as story:
        rows.add(story.store, rows.Addition([(card.name, json.dumps(card_keys(card))) for card in cards]))
    return path


async def best(call: Callable[[int], Awaitable[object]]) -> float:
    """The shortest of a few calls, in seconds of the processor: other work on the machine is no cost of cards."""
    taken = []
    for number in range(SAMPLES):
        begun = time.process_time()
        await call(number)
        taken.append(time.process_time() - begun)
    return min(taken)


async def measured(path: Path) -> dict[str, float]:
    """What each costs: an opening, a turn, a change of a card."""

    async def opening(number: int) -> None:
        Story.open(path).close()

    found = {"opening": await best(opening)}
    async with playing(path, telling()) as play:
        assert (await play.do("I wait.")).ok

        async def a_turn(number: int) -> None:
            assert (await play.do(f"I wait, {number}.")).ok

        async def a_change(number: int) -> None:
            play.story.edit_card(play.story.definition.cards[0], CardEdit(text=f"Something else, {number}."))

        found["turn"] = await best(a_turn)
        found["change"] = await best(a_change)
    return found


@pytest.mark.serial
@pytest.mark.spec("S35", "C26")
async def test_five_thousand_cards_cost_a_moment(tmp_path: Path) -> None:
    with_one = await measured(campaign(tmp_path, "one", lore(1)))
    with_many = await measured(campaign(tmp_path, "many", lore(MANY)))
    more = {what: with_many[what] - with_one[what] for what in with_one}
    assert max(more.values()) < MOST_SECONDS, more


@pytest.mark.spec("S35", "C26", "S25", "W13")
async def test_an_imported_card_triggers_is_changed_and_leaves_prompts_as_they_were(tmp_path: Path) -> None:
    lamp = Card("Lamp", "The lamp burns whale oil.", ("lamp",), is_recursive=True)
    whale = Card("Whale", "Whales are gone from the sea.", ("whale",))
    path = campaign(tmp_path, "sea", [lamp, whale])
    async with playing(path, telling()) as play:
        assert (await play.do("I light the lamp.")).ok
        assert "burns whale oil" in told(play)
        assert "Whales are gone" in told(play)
        first = await prompt(play, 3)
        assert (await play.do("/card Lamp edit The lamp is dark.")).ok
        assert (await play.do("I light the lamp.")).ok
        assert "The lamp is dark." in told(play)
        assert await prompt(play, 3) == first
    async with playing(path, telling(), read_only=True) as reader:
        with closing(open_story(path)) as story:
            rows.add(story.store, rows.Addition([("Bell", '{"text": "It rings.", "keys": ["bell"]}')]))
        assert reader.story.refresh()
        assert [card.name for card in reader.story.definition.cards] == ["Lamp", "Whale", "Bell"]
        assert reader.story.definition.cards[0].text == "The lamp is dark."


async def prompt(play: Play, step: int) -> object:
    from narrator.engine.events import PromptShown

    return (await play.do(f"/prompt {step}")).of(PromptShown)[0].messages
