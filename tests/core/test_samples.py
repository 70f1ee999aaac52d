"""Every sample campaign, played by the pure core: large enough, answers, suggests, never repeats itself, ends.

What only one of them has (a way through, a last chance, a sum) is in the module named after it; the tables are in
``samples``.
"""

from __future__ import annotations

from collections import Counter

import pytest

from narrator.core.storylets import suggestions
from tests.core.sample_play import SEED, Sample
from tests.core.samples import SAMPLES

every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
every_place = pytest.mark.parametrize(
    ("sample", "place"),
    [pytest.param(one, place, id=f"{one.name}-{place}") for one in SAMPLES for place in one.company],
)


# -- what is in it -------------------------------------------------------------------------------------------------


@pytest.mark.spec("U23")
@every_sample
def test_it_is_as_large_as_a_sample_should_be(sample: Sample) -> None:
    definition = sample.definition
    kinds = Counter(storylet.on for storylet in definition.storylets)
    assert {kind: kinds[kind] for kind in sample.least if kinds[kind] < sample.least[kind]} == {}
    assert kinds["input"] >= 40
    wordings = sum(len(outcome.wordings) for storylet in definition.storylets for outcome in storylet.outcomes)
    assert wordings >= sample.least_wordings
    assert len(definition.cards) >= sample.cards
    assert len(definition.endings) == sample.endings
    assert any(declared.visibility == "hidden" for declared in definition.fields.values())
    people = {word for one in definition.entities.values() if one.kind == "character" for word in (one.id, one.name)}
    secrets = [card.text.casefold() for card in definition.cards if card.kind == "reference"]
    assert any(name.casefold() in text for name in people for text in secrets), "nobody has anything to hide"
    assert definition.rules is not None
    assert definition.rules.clocks[sample.clock].when_full


@pytest.mark.spec("U23", "T18")
@every_sample
def test_every_answer_has_two_wordings_for_each_outcome(sample: Sample) -> None:
    poor = [
        (storylet.id, outcome.on)
        for storylet in sample.definition.storylets
        for outcome in storylet.outcomes
        if len(set(outcome.wordings)) < 2
    ]
    assert poor == []


@pytest.mark.spec("U23")
@every_sample
def test_the_opening_fits_on_one_screen_and_each_thing_it_names_can_be_done(sample: Sample) -> None:
    paragraphs = sample.definition.opening.split("\n")
    assert sum(-(-len(paragraph) // 76) if paragraph else 1 for paragraph in paragraphs) <= 24
    assert {text: sample.played([text]).answered_by for text in sample.opening} == {
        text: [answer] for text, answer in sample.opening.items()
    }


@pytest.mark.spec("U23")
@every_sample
def test_every_ending_belongs_to_a_storylet_and_every_place_has_things_to_do(sample: Sample) -> None:
    definition = sample.definition
    told = {outcome.ending for storylet in definition.storylets for outcome in storylet.outcomes if outcome.ending}
    assert told == {ending.id for ending in definition.endings}
    for place in sample.company:
        here = [
            storylet
            for storylet in definition.storylets
            if storylet.on == "input" and storylet.when is not None and f"'{place}'" in storylet.when.text
        ]
        assert len(here) >= sample.least_here, place
        assert any(outcome.effects for storylet in here for outcome in storylet.outcomes), place


# -- what newcomers type -------------------------------------------------------------------------------------------


@pytest.mark.spec("U23")
@every_sample
def test_newcomers_are_understood(sample: Sample) -> None:
    inputs = [(place, text) for place in sample.company for text in sample.newcomers[place]]
    assert len(inputs) >= 60
    missed = []
    for place, text in inputs:
        game = sample.standing_in(place)
        game.play(text)
        if not game.is_understood or game.answered_by[-1] in sample.misunderstood:
            missed.append((place, text))
    assert 1 - len(missed) / len(inputs) >= sample.understood, missed


@pytest.mark.spec("U23", "T20")
@every_place
def test_there_is_something_to_suggest_everywhere(sample: Sample, place: str) -> None:
    ideas = suggestions(sample.definition, sample.standing_in(place).state, seed=SEED, chain_hash=b"n" * 32)
    assert len(ideas) == 3
    for idea in ideas:
        game = sample.standing_in(place)
        game.play(idea)
        assert game.is_understood, idea


@pytest.mark.spec("U23", "T20")
@every_sample
def test_what_is_suggested_is_in_words(sample: Sample) -> None:
    """The campaign's own names for groups of synonyms are not among them."""
    groups = {word for word in sample.definition.synonyms if word.startswith("x")}
    for place in sample.company:
        state = sample.standing_in(place).state
        ideas = suggestions(sample.definition, state, seed=SEED, chain_hash=b"w" * 32, count=100)
        assert not [idea for idea in ideas if groups & set(idea.split())], place


@pytest.mark.spec("U23", "T20")
@every_sample
def test_what_is_suggested_on_the_way_is_understood(sample: Sample) -> None:
    wrong = []
    for turn, game in enumerate(sample.games(3)):
        if turn % 5 or game.ending:
            continue
        for idea in suggestions(sample.definition, game.state, seed=SEED, chain_hash=b"s" * 32):
            fork = game.fork()
            fork.play(idea)
            if not fork.is_understood:
                wrong.append((game.place, idea, fork.answered_by[-1]))
    assert wrong == []


@pytest.mark.spec("U23", "T18")
@every_place
@pytest.mark.parametrize("text", ["look", "zxqv", ""])
def test_no_answer_comes_twice_within_ten_turns(sample: Sample, place: str, text: str) -> None:
    game = sample.standing_in(place)
    for _ in range(12):
        game.play(text)
    for first in range(len(game.said)):
        assert game.said[first] not in game.said[first + 1 : first + 11], first


# -- how it ends ---------------------------------------------------------------------------------------------------


@pytest.mark.spec("U23", "T18")
@every_sample
def test_a_search_finds_the_endings_within_25_turns_and_nothing_is_refused(sample: Sample) -> None:
    found: dict[str, int] = {}
    complaints: set[str] = set()
    for game in sample.games(sample.tries):
        complaints.update(game.complaints)
        if game.ending:
            found[game.ending] = min(len(game.said), found.get(game.ending, 99))
        if sample.found <= found.keys():
            break
    assert sample.found <= found.keys(), found
    assert max(found.values()) <= 25
    assert complaints == set()


@pytest.mark.spec("T18")
@every_sample
def test_the_same_words_tell_the_same_story(sample: Sample) -> None:
    assert sample.played(sample.retold).said == sample.played(sample.retold).said
