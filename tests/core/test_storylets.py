"""Which storylet answers, in which wording, and that nothing is heard twice too soon."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narrator.core.campaign import minimal_definition, parse_definition
from narrator.core.state import EMPTY, advance, initial_events, is_ended
from narrator.core.stems import SYNONYMS, match, parse_key, stems
from narrator.core.storylets import Choice, choose, choose_again, suggestions, tell
from tests.core.small_campaign import TEXT, Table, small, start, table

AT = {"seed": 7, "chain_hash": b"n" * 32}


def chosen(text: str, mode: str | None = "do", ordinal: int = 0) -> Choice:
    definition = small()
    return choose(definition, start(definition), text, mode, ordinal=ordinal, **AT)  # type: ignore[arg-type]


# -- keys ----------------------------------------------------------------------------------------------------------


@pytest.mark.spec("T18")
@pytest.mark.parametrize(
    ("key", "text", "groups"),
    [
        ("ask|question + ferryman|pole-man", "I ask the ferryman about it", 2),
        ("ask|question + ferryman|pole-man", "Questioning the pole man", 2),
        ("ask|question + ferryman|pole-man", "ask the boy", 0),
        ("lantern", "the LANTERNS!", 1),
        ("lantern", "a lamp", 0),
        ("look", "l", 1),
        ("look", "Look around.", 1),
        ("look", "where am I?", 1),
        ("examine + lamp", "x lamp", 2),
        ("examine + lamp", "look at the lamp", 2),
        ("examine + lamp", "please inspect that old lamp", 2),
        ("take + rope", "pick up the rope", 2),
        ("take + rope", "grab rope", 2),
        ("go + landing", "walk over to the landing", 2),
        ("talk + miller", "say hello to the miller", 2),
        ("inventory", "what do I have?", 1),
        ("inventory", "i", 1),
        ("inventory", "I jump", 0),
        ("who + you", "who are you?", 2),
        ("who + there", "Who's there?", 2),
        ("ask + miller's|miller", "ask about the miller’s boots", 2),
        ("café", "CAFE", 1),
        ("don't", "dont", 1),
        ("light + light", "light the light", 2),
        ("light + light", "light it", 0),
        ("go|leave + out", "go out", 2),
        ("go|leave + out|through + door", "go out through the door", 3),
        ("+", "anything", 0),
        ("", "anything", 0),
    ],
)
def test_a_key_finds_what_newcomers_type(key: str, text: str, groups: int) -> None:
    pattern = parse_key(key)
    found = match(pattern, stems(text)) if pattern else None
    assert (found.groups if found else 0) == groups


@pytest.mark.spec("T18")
def test_a_campaign_has_synonyms_of_its_own() -> None:
    text = TEXT + '\n[synonyms]\nclimb = ["clamber", "go up"]\nlook = ["peer"]\n'
    told, _ = table(text).ask("clamber to the loft")
    assert told.text == "You climb."
    told, _ = table(text).ask("peer")
    assert told.text.startswith("Yard")


@pytest.mark.spec("T18")
def test_words_of_other_languages_are_stemmed_by_their_own_rules() -> None:
    pattern = parse_key("laterne", {})
    assert match(pattern, stems("die Laternen", "de"), "de")
    assert stems("灯 を見る", "ja")
    assert all(parse_key(word) for word in SYNONYMS)


# -- which one -----------------------------------------------------------------------------------------------------


@pytest.mark.spec("T18")
@pytest.mark.parametrize(
    ("text", "storylet"),
    [
        ("look", "look-yard"),
        ("ask the miller", "ask-miller"),
        ("talk to Orrin about the wheel", "ask-miller"),
        ("climb to the loft", "go-loft"),
        ("look at the miller and ask the miller", "ask-miller"),
        ("turn the wheel", "hint-1"),
        ("yodel", "hint-1"),
        ("", "wind"),
    ],
)
def test_the_storylet_that_fits_best_answers(text: str, storylet: str) -> None:
    assert chosen(text, "do" if text else None).storylet.id == storylet


@pytest.mark.spec("T18")
def test_what_is_said_is_said_to_the_one_who_is_there() -> None:
    assert chosen("Good evening!", "do").storylet.id == "hint-1"
    assert chosen("Good evening!", "say").storylet.id == "ask-miller"


@pytest.mark.spec("T18")
def test_the_same_scene_gives_the_same_choice_and_telling() -> None:
    definition = small()
    state = start(definition)
    tellings = {tell(chosen("look"), (), definition, state).text for _ in range(10)}
    assert len(tellings) == 1
    texts = {
        tell(
            choose(definition, state, "look", "do", seed=seed, chain_hash=bytes(32), ordinal=0), (), definition, state
        ).text
        for seed in range(20)
    }
    assert len(texts) == 2


@pytest.mark.spec("T18")
def test_a_game_is_the_same_for_a_seed() -> None:
    inputs = ["look", "ask the miller", "dance", "", "look", "ask the miller", "go up", "look", ""]

    def play(seed: int) -> list[str]:
        game, told = table(seed=seed), []
        for text in inputs:
            telling, game = game.ask(text)
            told.append(telling.text)
        return told

    assert play(3) == play(3)
    assert len({tuple(play(seed)) for seed in range(6)}) > 1


@pytest.mark.spec("T18")
def test_once_and_cooldown_and_any() -> None:
    game = table()
    told, game = game.ask("climb to the loft")
    assert game.state.values["location"] == "loft"
    told, game = game.ask("climb to the loft")
    assert told.text != "You climb."
    for _ in range(30):
        if is_ended(game.state):
            break
        told, game = game.ask("ask the miller about it")
    burnt = [game.state.values.get("flags.burnt"), game.state.values.get("story.ending")]
    assert burnt == [True, "ashes"]
    assert told.ending == "ashes"
    assert told.text == "The mill is gone."


@pytest.mark.spec("T18")
def test_a_cooldown_counts_turns() -> None:
    text = TEXT.replace('id = "go-loft"\n', 'id = "go-loft"\ncooldown = 2\n').replace("once = true\n", "")
    game = table(text)
    heard = []
    for _ in range(4):
        told, game = game.ask("go up")
        heard.append(told.text.startswith("You climb."))
    assert heard == [True, False, False, True]


# -- wordings ------------------------------------------------------------------------------------------------------


@pytest.mark.spec("T18", "S15")
@pytest.mark.parametrize("text", ["look", "ask the miller", "yodel", "", "climb to the loft", "what do I have"])
def test_every_retry_tells_something_else(text: str) -> None:
    game = table()
    told = [game.ask(text, ordinal)[0].text for ordinal in range(8)]
    for first, second in itertools.pairwise(told):
        assert first != second
    assert len(set(told)) >= 4


@pytest.mark.spec("T18")
def test_no_wording_comes_twice_before_all_were_used() -> None:
    game = table(TEXT.replace('"Yard one.", "Yard two."', '"A.", "B.", "C.", "D.", "E."'))
    heard = []
    for _ in range(10):
        told, game = game.ask("look")
        heard.append(told.text[:2])
    assert sorted(heard[:5]) == sorted(heard[5:]) == ["A.", "B.", "C.", "D.", "E."]


@pytest.mark.spec("U23", "T18")
@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(["look", "yodel", "", "climb up", "inventory", "ask the miller"]), max_size=30))
def test_no_answer_comes_twice_within_ten_turns(inputs: list[str]) -> None:
    game = table()
    heard: list[tuple[int, str]] = []
    for text in inputs:
        told, game = game.ask(text)
        turn = game.state.turn
        assert all(other != told.text for when, other in heard if turn - when <= 10)
        heard.append((turn, told.text))
        if is_ended(game.state):
            break


@pytest.mark.spec("U23")
@pytest.mark.parametrize("text", ["yodel", "look", ""])
def test_one_input_over_and_over_is_answered_differently_every_time(text: str) -> None:
    game = table()
    heard = []
    for _ in range(25):
        told, game = game.ask(text)
        heard.append(told.text)
    window = 11 if text else 25
    for at in range(len(heard) - window + 1):
        assert len(set(heard[at : at + window])) == window


@pytest.mark.spec("S1", "T18")
def test_a_branch_does_not_know_what_another_has_heard() -> None:
    game = table()
    first, there = game.ask("look")
    again, _ = game.ask("look")
    assert again == first
    later, _ = there.ask("look")
    assert later.text != first.text


@pytest.mark.spec("S20")
@pytest.mark.parametrize("text", ["look", "ask the miller", "climb to the loft", "yodel", "what do I have", ""])
def test_a_retelling_tells_the_same_storylet_in_other_words(text: str) -> None:
    _, game = table().ask("look")
    first, after = game.ask(text)
    told_of = [proposal for proposal in first.proposals if proposal.path == "story.fired"][-1]
    heard = [first.text]
    for ordinal in range(1, 5):
        node = {"seed": 7, "chain_hash": b"n" * 32, "ordinal": ordinal}
        choice = choose_again(after.definition, after.state, text, "do", **node)  # type: ignore[arg-type]
        on = str(told_of.value["wording"]).partition("/")[0]
        again = tell(choice, [Rolled(on)], after.definition, after.state)
        heard.append(again.text)
        ids = {proposal.value["id"] for proposal in again.proposals if proposal.path == "story.fired"}
        assert told_of.value["id"] in ids
    for one, other in itertools.pairwise(heard):
        assert one != other


# -- outcomes ------------------------------------------------------------------------------------------------------


class Rolled:
    def __init__(self, outcome: str, skill: str = "persuade") -> None:
        self.outcome, self.skill = outcome, skill


@pytest.mark.spec("T18", "W11")
@pytest.mark.parametrize(
    ("outcome", "texts"),
    [
        ("success", {"He nods.", "He tells you."}),
        ("critical success", {"He nods.", "He tells you."}),
        ("failure", {"He shrugs.", "He counts."}),
        ("critical failure", {"He shrugs.", "He counts."}),
    ],
)
def test_an_outcome_that_is_missing_is_served_by_its_neighbour(outcome: str, texts: set[str]) -> None:
    definition = small()
    told = tell(chosen("ask the miller"), [Rolled(outcome)], definition, start(definition))
    assert told.text in texts


@pytest.mark.spec("T18")
def test_a_check_that_was_not_rolled_does_not_succeed() -> None:
    definition = small()
    told = tell(chosen("ask the miller"), [Rolled("success", "other")], definition, start(definition))
    assert told.text in {"He shrugs.", "He counts."}


@pytest.mark.spec("T18")
def test_effects_and_what_has_fired_are_proposals() -> None:
    definition = small()
    told = tell(chosen("ask the miller"), [Rolled("success")], definition, start(definition))
    assert [proposal.path for proposal in told.proposals] == ["flags.secret", "trust.miller.player", "story.fired"]
    assert told.proposals[-1].op == "append"
    assert told.proposals[-1].value["id"] == "ask-miller"
    assert told.proposals[-1].value["wording"].startswith("success/")


# -- what ships ----------------------------------------------------------------------------------------------------

SAMPLES = sorted((Path(__file__).parents[2] / "sample_campaigns").glob("*.toml"))
ANYTHING = "look|who are you|go east|take everything|what do i have|hello|wait|help|sing|attack|why|open it|".split("|")


@pytest.mark.spec("U23", "T18")
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_shipped_sample_plays_without_a_refusal_or_an_echo(path: Path, seed: int) -> None:
    game = table(path.read_text(encoding="utf-8"), seed)
    chance = random.Random(seed)
    keys = [key for storylet in game.definition.storylets for key in storylet.keys]
    heard: list[tuple[int, str]] = []
    for _ in range(60):
        text = " ".join(chance.choice(group.split("|")).strip(" =") for group in chance.choice(keys).split("+"))
        told, game = game.ask(chance.choice([text, text, chance.choice(ANYTHING)]))
        assert all(other != told.text for when, other in heard if game.state.turn - when <= 10)
        heard.append((game.state.turn, told.text))
        if is_ended(game.state):
            break


# -- without storylets ---------------------------------------------------------------------------------------------


@pytest.mark.spec("T18")
def test_a_campaign_without_storylets_still_answers() -> None:
    plain = minimal_definition("T", "O")
    game = Table(plain, EMPTY)
    heard = []
    for text in ["hello", "look", "take lamp", "", "who are you", "north", ""] * 2:
        told, game = game.ask(text)
        assert told.text
        assert not told.ending
        heard.append(told.text)
    assert len(set(heard)) == len(heard)


@pytest.mark.spec("T18")
def test_without_memory_of_what_was_told_answers_still_vary() -> None:
    """Where a campaign declares no state nothing has fired; the turn alone then moves the wordings on."""
    plain = minimal_definition("T", "O")
    state, heard = EMPTY, []
    for _ in range(12):
        state = advance(state, "player", ())
        choice = choose(plain, state, "hm", "do", seed=1, chain_hash=bytes(32), ordinal=0)
        heard.append(tell(choice, (), plain, state).text)
    assert len(set(heard)) == 12


@pytest.mark.spec("T18")
def test_the_state_answers_where_no_storylet_does() -> None:
    game = table()
    told, _ = game.ask("what am I carrying?")
    assert "a brass key" in told.text
    assert "sack" not in told.text
    told, _ = game.ask("examine the brass key")
    assert "It fits something small." in told.text
    told, _ = game.ask("examine the rat king")
    assert "Rat" not in told.text


@pytest.mark.spec("T18")
def test_a_hint_of_ours_names_what_can_be_done() -> None:
    text = TEXT[: TEXT.index("[[hints]]")]
    told, _ = table(text).ask("yodel")
    assert "look around the yard" in told.text


@pytest.mark.spec("T20")
def test_three_suggestions_come_from_what_could_answer() -> None:
    definition = small()
    ideas = suggestions(definition, start(definition), **AT)  # type: ignore[arg-type]
    assert len(ideas) == len(set(ideas)) == 3
    assert "Look around the yard" in ideas
    assert len(suggestions(minimal_definition("T", "O"), EMPTY, seed=1, chain_hash=b"")) == 3


@pytest.mark.spec("T20", "T18")
def test_suggestions_are_words_that_a_player_would_use() -> None:
    text = """
[campaign]
id = "wings"
title = "The Wings"
opening = "Desmond sits on a costume hamper. The way out is behind him."
[entities.desmond]
name = "Desmond Vane"
[synonyms]
xdes = ["desmond", "lead"]
[[storylets]]
id = "named"
keys = ["ask + desmond"]
wordings = ["He looks up.", "He looks away."]
[[storylets]]
id = "made-up"
keys = ["look + xdes"]
wordings = ["Pale.", "Paler."]
[[storylets]]
id = "way"
keys = ["go + outside"]
wordings = ["Cold air.", "Colder air."]
[[storylets]]
id = "thing"
keys = ["open + hamper"]
wordings = ["Wigs.", "More wigs."]
"""
    definition = parse_definition(text)
    state = advance(EMPTY, "opening", initial_events(definition))
    found = suggestions(definition, state, seed=1, chain_hash=b"x", count=9)
    assert {"Ask Desmond", "Go outside", "Open the hamper"} <= set(found)
    assert not [each for each in found if "xdes" in each]


@pytest.mark.spec("T3", "T18")
def test_a_page_of_input_costs_no_more_than_a_sentence() -> None:
    definition = parse_definition(TEXT)
    state = advance(EMPTY, "opening", initial_events(definition))
    long = "lamp oil and a great deal of talk about it " * 20_000

    def answer(text: str) -> str:
        return choose(definition, state, text, "do", seed=1, chain_hash=b"x", ordinal=0).storylet.id

    assert answer(f"look around {long}") == answer(f"look around {long[:5_000]}")
