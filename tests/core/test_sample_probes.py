"""The sample campaigns, asked for what their prose names: who is told about what, who is looked for, every way out.

The kinds are the same for all four; the tables are in ``samples.probes``.
"""

from __future__ import annotations

import itertools
import re

import pytest

from narrator.core.conditions import holds
from tests.core.sample_play import Game
from tests.core.samples.probes import ALL, Probes, Values

every_campaign = pytest.mark.parametrize("probes", ALL, ids=lambda probes: probes.sample.name)


CHAINS = (b"the opening", b"another day", b"a third", b"the fourth time")
"""Chance settles equal matches: what must be answered so is asked in several stories."""


def standing_in(probes: Probes, place: str, known: Values = {}, chain: bytes = CHAINS[0]) -> Game:  # noqa: B006
    game = probes.sample.standing_in(place)
    game.chain = chain
    return game.set(**{path.replace(".", "__"): value for path, value in known.items()})


def describes_the_place(answer: str) -> bool:
    """Whether an answer says only what the place is like, or that one has said too little."""
    known = {"any-go", "any-nobody", "any-absent", "any-hello", "go-already"}
    return answer in known or re.fullmatch(r"(?!look-)\w+(-up)?-look(-found|-after)?", answer) is not None


@pytest.mark.spec("U23", "T18")
@every_campaign
@pytest.mark.parametrize("asking", ["look for {}", "find {}", "where is {}", "talk to {}"])
def test_whoever_is_looked_for_is_answered_for(probes: Probes, asking: str) -> None:
    """In every place, for everyone that the campaign names: not by what the place looks like, and by no hint."""
    missed = []
    chains = itertools.cycle(CHAINS)
    for place, (name, found_in) in itertools.product(probes.sample.company, probes.people.items()):
        game = standing_in(probes, place, chain=next(chains))
        game.play(asking.format(name))
        answer = game.answered_by[-1]
        is_about_them = place == found_in and answer.endswith("-look")
        if not game.is_understood or (describes_the_place(answer) and not is_about_them):
            missed.append((place, asking.format(name), answer))
    assert missed == []


@pytest.mark.spec("U23", "T18")
@every_campaign
@pytest.mark.parametrize("asking", ["ask {} about {}", "tell {} about {}"])
def test_whoever_is_there_can_be_asked_about_anything(probes: Probes, asking: str) -> None:
    """An answer of their own, whatever is known; and a question never goes anywhere, sends anything or ends it."""
    missed = []
    chains = itertools.cycle(CHAINS)
    for known in ({}, *probes.knowing):
        for place, names in probes.asked.items():
            for name, thing in itertools.product(names, probes.things):
                if name.casefold() in thing.casefold():
                    continue
                game = standing_in(probes, place, known, next(chains))
                game.play(asking.format(name, thing))
                answer = game.answered_by[-1]
                is_elsewhere = game.place != place or answer.startswith("no-")
                is_too_much = answer in probes.deeds or (game.ending and answer not in probes.meant)
                if not game.is_understood or is_elsewhere or is_too_much:
                    missed.append((place, asking.format(name, thing), answer, dict(known)))
    assert missed == []


@pytest.mark.spec("U23", "T18")
@every_campaign
def test_every_way_that_the_prose_names_leads_somewhere(probes: Probes) -> None:
    """The first time and the second: who comes back to a place finds the same ways out of it."""
    wrong = []
    for place, ways in probes.ways.items():
        for (text, leads_to), chain in itertools.product(ways.items(), CHAINS):
            game = standing_in(probes, place, chain=chain)
            for time in ("first", "second"):
                game.set(location=place, scene__present=list(probes.sample.company[place])).play(text)
                if game.place != leads_to or not game.is_understood:
                    wrong.append((place, text, game.place, game.answered_by[-1], time))
    assert wrong == []


@pytest.mark.spec("U23", "T18")
@every_campaign
def test_what_was_misread_is_read(probes: Probes) -> None:
    wrong = []
    for place, known, answers in probes.answers:
        for (text, wanted), chain in itertools.product(answers.items(), CHAINS):
            game = standing_in(probes, place, known, chain)
            game.play(text)
            if game.answered_by != [wanted]:
                wrong.append((place, text, game.answered_by[-1], wanted))
    assert wrong == []


@pytest.mark.spec("U23", "T18")
@every_campaign
def test_no_hint_presumes_what_nobody_has_seen(probes: Probes) -> None:
    """Hints, asides and what may be said at any time: where nothing was found out, none of them gives it away."""
    told = []
    for place in probes.sample.company:
        state = standing_in(probes, place).state
        for storylet in probes.sample.definition.storylets:
            is_general = storylet.on in ("hint", "aside", "left") or storylet.when is None
            if not is_general or not holds(storylet.when, state):
                continue
            for text in (text for outcome in storylet.outcomes for text in outcome.wordings):
                words = [word for word in probes.secrets if re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE)]
                told += [(place, storylet.id, word) for word in words]
    assert sorted(set(told)) == []
