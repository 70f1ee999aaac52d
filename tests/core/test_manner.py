"""Questions are answered and not done; what is said to be left is left (T18)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from narrator.core.campaign import parse_definition
from narrator.core.manner import hear
from narrator.core.state import EMPTY, State, advance, initial_events
from narrator.core.storylets import choose, choose_again, tell

TEXT = """
[campaign]
id = "ford"
title = "The Ford"
opening = "Brown water. A ferryman with his back to you."

[start]
location = "bank"
present = ["tench"]

[entities.bank]
name = "the bank"
kind = "place"
[entities.tench]
name = "Tench"

[[storylets]]
id = "cross"
keys = ["cross|wade", "go + over"]
wordings = ["You wade.", "You cross."]
effects = [{ op = "set", path = "location", value = "far bank" }]
[[storylets]]
id = "cask"
keys = ["look|open|lift + cask", "cask"]
wordings = ["Oil.", "Lamp oil."]
[[storylets]]
id = "bell"
keys = ["ring + bell", "bell"]
wordings = ["One stroke.", "A clank."]
[[storylets]]
id = "tench"
keys = ["ask|talk|say + tench", "ask|talk|what|why + oil"]
wordings = ["He talks of herring.", "He talks of rope."]
[[storylets]]
id = "refuse"
keys = ["dont|not|refuse|never + sign"]
wordings = ["“No,” you say.", "You shake your head."]
[[storylets]]
id = "leave"
keys = ["leave"]
ending = "gone"
wordings = ["You go.", "You walk."]
[[storylets]]
id = "sign"
keys = ["sign", "sign + paper"]
wordings = ["You sign.", "Your name, in ink."]

[[hints]]
id = "hint"
wordings = ["The water goes by.", "The water goes on."]
"""
DEFINITION = parse_definition(TEXT)
START = advance(EMPTY, "opening", initial_events(DEFINITION))


def answer(text: str, mode: str = "do", state: State = START) -> str:
    return choose(DEFINITION, state, text, mode, seed=1, chain_hash=b"x", ordinal=0).storylet.id


@pytest.mark.spec("T18")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # asked, and so not done
        ("cross", "cross"),
        ("is it safe to cross?", "hint"),
        ("Can you swim? is it safe to cross", "hint"),
        ("how deep is it where people cross?", "hint"),
        ("what's in the cask, Tench?", "tench"),
        ("what's in the cask?", "hint"),
        ("why do you ring the bell?", "tench"),
        ("tench, did you ring the bell?", "tench"),
        ("so who rang the bell?", "hint"),
        ("do you sell oil?", "tench"),
        # asking for leave, for a favour, or of oneself, is doing
        ("can I cross?", "cross"),
        ("shall we cross", "cross"),
        ("could you ring the bell?", "bell"),
        ("will you look at the cask, please?", "cask"),
        ("why don't we cross?", "cross"),
        ("what if I ring the bell?", "bell"),
        ("cross?", "cross"),
        ("do ring the bell", "bell"),
        ("if I cross, will I be wet?", "hint"),
        ("should I cross?", "hint"),
        ("have a look at the cask", "cask"),
        ("do it: cross", "cross"),
        ("do they cross here", "hint"),
        ("does the ferry cross at night?", "hint"),
        ("did anybody at all ring the bell?", "hint"),
        ("has Tench rung the bell?", "tench"),
        # a favour is not the player's own going, unless the player is in it
        ("will you cross?", "hint"),
        ("tench, will you cross if I ring the bell?", "tench"),
        ("will you wade over with me?", "cross"),
        # a question beside a deed
        ("Ring the bell. Is anybody there?", "bell"),
        ("Who is he? I cross.", "cross"),
    ],
)
def test_a_question_is_answered_and_not_done(text: str, wanted: str) -> None:
    assert answer(text) == wanted


@pytest.mark.spec("T18")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("don't cross", "~left"),
        ("I would rather not cross", "~left"),
        ("I wouldn't want to cross", "~left"),
        ("we do not want to ring the bell", "~left"),
        ("I don't want to leave", "~left"),
        ("I'd rather not look at the bell. Look at the cask.", "cask"),
        ("I don't cross.", "~left"),
        ("I won't open the cask", "~left"),
        ("I'm not going to ring the bell", "~left"),
        ("never open the cask!", "~left"),
        ("I'd rather not cross just yet", "~left"),
        ("I had better not open the cask", "hint"),
        ("I'd rather not have the cask", "~left"),
        ("I would rather not sign the paper", "refuse"),
        ("don't ring the bell, please", "~left"),
        ("don’t ring the bell, cross", "cross"),
        ("do not cross but ring the bell", "bell"),
        ("cross without looking at the cask", "cross"),
        ("open the cask instead of ringing the bell", "cask"),
        ("don't look at the bell, look at the cask", "cask"),
        # a key that has the word for it
        ("don't sign", "refuse"),
        ("I refuse to sign the paper", "refuse"),
        ("sign the paper", "sign"),
        ("don't agree to cross", "~left"),
        ("no, it isn't the bell", "hint"),
        # what cannot be taken back is not begun with a no
        ("leave for good", "leave"),
        ("no. leave the cask", "cask"),
        ("no, leave", "hint"),
        ("don't stay, leave", "hint"),
        ("well, no, leave", "hint"),
        ("neither. leave", "hint"),
        ("leave, no doubt", "leave"),
        # not wanted, not dared, not yet
        ("I don't want to cross", "~left"),
        ("I'm not sure I want to cross", "~left"),
        ("I'm afraid to open the cask", "~left"),
        ("I hesitate to ring the bell", "~left"),
        ("before I cross I look at the cask", "cask"),
        ("I look at the cask before we cross", "cask"),
        ("I want to cross", "cross"),
        # what cannot be taken back is not done by weighing it, nor by asking for something of that name
        ("perhaps I leave", "hint"),
        ("maybe we should leave", "hint"),
        ("I wonder whether to leave", "hint"),
        ("I think about leaving", "hint"),
        ("I can't leave", "hint"),
        ("I almost leave", "hint"),
        ("if I leave, will they cross?", "hint"),
        ("should I leave?", "hint"),
        ("give me leave", "hint"),
        ("give me a moment and I leave", "leave"),
        ("perhaps I ring the bell", "bell"),
        ("I would like to leave", "leave"),
        ("I am going to leave now", "leave"),
        # words of no intent
        ("I don't know about that cask", "cask"),
        ("why won't you cross?", "tench"),
        ("not yet", "hint"),
    ],
)
def test_what_is_left_undone_is_not_done(text: str, wanted: str) -> None:
    assert answer(text) == wanted


@pytest.mark.spec("T18")
def test_what_is_said_aloud_goes_to_whoever_is_there() -> None:
    assert answer("is it safe to cross?", "say") == "tench"
    assert answer("nice weather", "say") == "tench"


@pytest.mark.spec("T18")
def test_a_language_that_is_not_known_is_taken_as_it_stands() -> None:
    heard = hear("don't cross? who?", "xx", company="Tench")
    assert heard.asked == frozenset()
    assert heard.left == ()
    assert heard.admits(frozenset({0, 1}))


@pytest.mark.spec("S20", "T18")
def test_what_was_left_can_be_told_anew() -> None:
    first = choose(DEFINITION, START, "don't cross", "do", seed=1, chain_hash=b"x", ordinal=0)
    told = tell(first, (), DEFINITION, START)
    again = choose_again(DEFINITION, START, "don't cross", "do", seed=1, chain_hash=b"x", ordinal=1)
    assert again.storylet.id in {"~left", "hint"}
    assert told.text
    assert told.proposals[-1].path == "story.fired"


@pytest.mark.spec("T18")
@pytest.mark.parametrize(("place", "wanted"), [("bank", "at-the-bank"), ("far bank", "left-1")])
def test_a_campaign_says_in_its_own_person_that_something_was_left(place: str, wanted: str) -> None:
    """Where the story is told by “I”; what holds here and now comes before what holds anywhere."""
    own = """
[[left]]
wordings = ["I left it."]
[[left]]
id = "at-the-bank"
when = "location == 'bank'"
wordings = ["I stayed where I was."]
"""
    definition = parse_definition(TEXT + own)
    state = replace(START, values=dict(START.values) | {"location": place})
    for text, answers in (("I won't cross", {wanted}), ("cross", {"cross"}), ("zxqv", {"hint"})):
        choice = choose(definition, state, text, "do", seed=1, chain_hash=b"x", ordinal=0)
        assert choice.storylet.id in answers, text


@pytest.mark.spec("T18")
def test_eight_ways_to_leave_a_thing_before_one_comes_again() -> None:
    told = {
        tell(
            choose(DEFINITION, START, "don't cross", "do", seed=1, chain_hash=b"x", ordinal=n), (), DEFINITION, START
        ).text
        for n in range(8)
    }
    assert len(told) == 8


@pytest.mark.spec("T18")
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("sure", "agree"),
        ("okay, I'm sure", "agree"),
        ("I'm not sure", "~"),
        ("um, I'm not sure what to say", "~"),
        ("tell him I'm not sure", "~"),
        ("I'm not certain", "~"),
        ("that's not okay", "~"),
        ("I'm not sure about Tench, but yes", "agree"),
    ],
)
def test_who_is_not_sure_has_not_said_yes(text: str, answer: str) -> None:
    agree = '[[storylets]]\nid = "agree"\nkeys = ["yes", "tell|say + yes"]\nwordings = ["Yes.", "Aye."]\n'
    definition = parse_definition(TEXT.partition("[[storylets]]")[0] + agree)
    state = advance(EMPTY, "opening", initial_events(definition))
    assert choose(definition, state, text, "do", seed=1, chain_hash=b"x", ordinal=0).storylet.id.startswith(answer)


@pytest.mark.spec("T18")
@pytest.mark.parametrize(
    ("text", "answer_to"),
    [
        # told to somebody, and so not done by oneself
        ("tell Tench to ring the bell and be quick", "tench"),
        ("ask Tench to lift the cask", "tench"),
        ("please beg Tench to sign the paper", "sign"),
        # nothing is about telling anybody: what it is about answers, but nothing ends
        ("order the heron to ring the bell", "bell"),
        ("order the heron to leave", "hint"),
        # for the player it is a deed, and what follows “to” may be a person or a place
        ("beg him to let me cross", "cross"),
        ("talk to Tench", "tench"),
    ],
)
def test_what_somebody_else_is_told_to_do_is_not_done_by_the_player(text: str, answer_to: str) -> None:
    assert answer(text) == answer_to
