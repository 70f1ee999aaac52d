"""Two deeds in one breath: both are done, in the order typed; what one answer covers stays one (T18)."""

from __future__ import annotations

import pytest

from narrator.core.campaign import parse_definition
from narrator.core.clauses import clauses
from narrator.core.manner import hear
from narrator.core.rehearsal import Turn, begin, rehearse
from narrator.core.storylets import choose, choose_again, tell

TEXT = """
[campaign]
id = "toll"
title = "The Toll"
opening = "A quay. A goose. A man with his back to you."

[start]
location = "quay"
present = ["osgood"]

[entities.osgood]
name = "Osgood"

[rules]
dice = "1d20"
[rules.skills.climbing]
[rules.skills.talking]
[rules.difficulty]
easy = 6
[rules.clocks.night]
size = 9
advances_when = "not story.ending"

[[storylets]]
id = "to-toll"
keys = ["go|enter|to + toll house"]
effects = [{ op = "set", path = "location", value = "toll" }]
wordings = ["You go up to the toll-house.", "Up to the toll-house."]
[[storylets]]
id = "to-quay"
keys = ["go|leave + quay"]
when = "location == 'toll'"
effects = [{ op = "set", path = "location", value = "quay" }]
wordings = ["Down to the quay.", "You go down."]
[[storylets]]
id = "to-keeper"
keys = ["go to + keeper + ask|tell"]
when = "location == 'quay'"
effects = [{ op = "set", path = "location", value = "toll" }]
wordings = ["You take it to the keeper.", "You stand before him. He waits."]
[[storylets]]
id = "keeper"
keys = ["ask|tell + keeper"]
when = "location == 'toll'"
wordings = ["“Nobody pays,” he says.", "He shakes his head."]
[[storylets]]
id = "ledger"
keys = ["read|open + ledger", "ledger"]
when = "location == 'toll'"
wordings = ["A column of names.", "Names, and sums."]
[[storylets]]
id = "no-ledger"
keys = ["read|open + ledger + page|ledger", "read|open + ledger"]
when = "location == 'quay'"
wordings = ["There is no ledger on the quay.", "Not here."]
[[storylets]]
id = "chart"
keys = ["look + chart"]
wordings = ["Soundings.", "A coast."]
[[storylets]]
id = "board"
keys = ["look at + board"]
wordings = ["Names in chalk.", "Chalk."]
[[storylets]]
id = "window"
keys = ["open + window"]
once = true
wordings = ["It sticks, and opens.", "It opens."]
[[storylets]]
id = "shout"
keys = ["shout"]
wordings = ["You shout.", "It carries."]
[[storylets]]
id = "hail"
keys = ["call + osgood", "call|tell + osgood + about|to"]
wordings = ["“Osgood!”", "He turns."]
[[storylets]]
id = "rumour"
keys = ["tell + him + tide"]
wordings = ["“Is it?” he says.", "He had heard."]
[[storylets]]
id = "thank"
keys = ["thank"]
wordings = ["“Thanks.”", "You thank him."]
[[storylets]]
id = "bread"
keys = ["take + bread"]
wordings = ["You have bread.", "A loaf."]
[[storylets]]
id = "goose"
keys = ["take|give + bread + goose"]
wordings = ["The goose has it.", "Gone."]
[[storylets]]
id = "bell"
keys = ["ring + bell"]
wordings = ["One stroke.", "A clank."]
[[storylets]]
id = "climb"
keys = ["climb + mast"]
check = { skill = "climbing", difficulty = "easy" }
[[storylets.outcomes]]
on = "success"
wordings = ["You are up.", "Up."]
[[storylets.outcomes]]
on = "failure"
wordings = ["You are down.", "Down."]
[[storylets]]
id = "persuade"
keys = ["persuade + osgood"]
check = { skill = "talking", difficulty = "easy" }
[[storylets.outcomes]]
on = "success"
wordings = ["He nods.", "“Yes.”"]
[[storylets.outcomes]]
on = "failure"
wordings = ["He shrugs.", "“No.”"]
[[storylets]]
id = "away"
keys = ["leave"]
ending = "gone"
wordings = ["You go for good.", "You are gone."]
[[storylets]]
id = "listen"
keys = ["listen"]
free = true
wordings = ["Water.", "Nothing but water."]
[[storylets]]
id = "hand"
keys = ["check|look + hand"]
wordings = ["It is not on the key.", "It is in your lap."]
[[storylets]]
id = "there"
keys = ["are you + there"]
wordings = ["“I am,” says Osgood.", "“Here.”"]
[[storylets]]
id = "come"
keys = ["ask|will + come"]
wordings = ["“He will,” says Osgood.", "“He’ll come.”"]
[[storylets]]
id = "bare-go"
keys = ["go"]
wordings = ["Go where?", "Where to?"]
[[storylets]]
id = "strikes"
on = "after"
once = true
when = "fired('bell') and fired('window')"
wordings = ["A clock strikes.", "It strikes."]

[[hints]]
wordings = ["The goose looks at you.", "The goose looks away."]
[[asides]]
wordings = ["A gull.", "A rope creaks."]

[[endings]]
id = "gone"
"""
DEFINITION = parse_definition(TEXT)


def play(*inputs: str, mode: str = "do", seed: int = 7) -> list[Turn]:
    scene, turns = begin(DEFINITION), []
    for text in inputs:
        turns.append(rehearse(DEFINITION, scene, text, seed=seed, mode=mode))
        assert not turns[-1].refused
        scene = turns[-1].scene
    return turns


def told(turn: Turn) -> list[str]:
    return [each.id for each in (turn.storylet, *turn.also)]


@pytest.mark.spec("T18")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # both, in the order typed, the second where the first has led
        ("go to the toll-house and read the ledger", ["to-toll", "ledger"]),
        ("read the ledger and go to the toll-house", ["no-ledger", "to-toll"]),
        ("look at the chart, then at the board", ["chart", "board"]),
        ("look at the board and then at the chart", ["board", "chart"]),
        ("look at the chart and at the board", ["chart", "board"]),
        ("open the window and shout", ["window", "shout"]),
        ("shout and open the window", ["shout", "window"]),
        ("Open the window. Then ring the bell.", ["window", "bell"]),
        ("open the window; ring the bell", ["window", "bell"]),
        ("take the bread, ring the bell", ["bread", "bell"]),
        ("I thank him and I ring the bell", ["thank", "bell"]),
        ("look at the chart, ring the bell and shout for help", ["chart", "bell", "shout"]),
        ("thank him and leave", ["thank", "away"]),
        # one answer for both
        ("take the bread and give it to the goose", ["goose"]),
        # a list, an address, what is told to be done
        ("look at the chart and the rope", ["chart"]),
        ("Osgood, ring the bell", ["bell"]),
        ("tell him to go and ring the bell", ["bell"]),
        # one goes to whom it is for, and there it is asked
        ("go to the toll-house and ask the keeper who pays", ["to-toll", "keeper"]),
        ("go to the keeper and ask him", ["to-keeper"]),
        # an “about” of the second half is not an answer to it
        ("call Osgood and tell him about the tide", ["hail", "rumour"]),
        # two words are a deed where the first is a verb as well as a noun
        ("ring bell and shout for help", ["bell", "shout"]),
        # no fallback and no hint for the other half
        ("ring the bell and go to the moon", ["bell"]),
        ("go to the moon and ring the bell", ["bell"]),
        ("ring the bell and go", ["bell"]),
        ("ring the bell and dance with the goose", ["bell"]),
        ("ring the bell and then ring the bell", ["bell"]),
        # nothing behind an end
        ("leave, then ring the bell", ["away"]),
        # a no and a question keep to their clause
        ("don't ring the bell and then shout", ["shout"]),
        ("don't open the window and shout", ["~left"]),
        ("ring the bell and then don't leave", ["bell"]),
        ("no, leave, then shout", ["shout"]),
        ("if he comes, ring the bell and shout", ["bell"]),
        ("check that my hand isn't on the key and then listen", ["hand", "listen"]),
        ("go to the toll-house: are you there, Osgood?", ["to-toll", "there"]),
        ("Are you there? Ring the bell.", ["there", "bell"]),
        ("ring the bell: will he come?", ["bell", "come"]),
    ],
)
def test_both_halves_are_answered(text: str, wanted: list[str]) -> None:
    assert told(play(text)[0]) == wanted


@pytest.mark.spec("T18", "W14")
def test_an_ending_in_either_half_ends_the_story_there() -> None:
    for text in ("leave, then ring the bell", "thank him and leave"):
        (turn,) = play(text)
        assert turn.scene.state.values["story.ending"] == "gone"
        assert "stroke" not in turn.text
        assert "clank" not in turn.text


@pytest.mark.spec("T18", "T9")
@pytest.mark.parametrize(
    ("text", "wanted", "rolls"),
    [
        ("climb the mast and persuade Osgood", ["climb"], True),
        ("persuade Osgood and climb the mast", ["persuade"], True),
        ("climb the mast and shout", ["climb", "shout"], True),
        ("shout and climb the mast", ["shout", "climb"], True),
        ("ring the bell, climb the mast and shout", ["bell", "climb", "shout"], True),
    ],
)
def test_a_turn_has_one_roll_and_what_wants_another_stays_undone(text: str, wanted: list[str], rolls: bool) -> None:
    (turn,) = play(text)
    assert (told(turn), bool(turn.outcome)) == (wanted, rolls)


@pytest.mark.spec("T18")
def test_the_halves_are_paragraphs_and_what_comes_of_itself_is_the_last() -> None:
    (turn,) = play("open the window and ring the bell")
    paragraphs = turn.text.split("\n\n")
    storylets = (turn.storylet, *turn.also, *turn.behind)
    assert [each.id for each in storylets] == ["window", "bell", "strikes"]
    assert all(text in each.outcomes[0].wordings for text, each in zip(paragraphs, storylets, strict=True))


@pytest.mark.spec("T18", "U23")
def test_what_is_told_once_is_told_once_and_nothing_twice_within_ten_turns() -> None:
    turns = play(*["ring the bell and open the window"] * 2, *["look at the chart, then at the board"] * 6)
    assert [told(turn) for turn in turns[:2]] == [["bell", "window"], ["bell"]]
    texts = [turn.text for turn in turns]
    assert len(set(texts)) == len(texts)
    boards = [turn.text.split("\n\n") for turn in turns[2:4]]
    assert {each[1] for each in boards} == {"Names in chalk.", "Chalk."}


@pytest.mark.spec("W11", "T18")
@pytest.mark.parametrize(
    ("text", "steps"),
    [("look at the chart, then at the board", 1), ("listen", 0), ("listen and then shout", 1), ("shout and listen", 1)],
)
def test_a_clock_moves_once_a_turn_and_not_where_all_is_free(text: str, steps: int) -> None:
    assert play(text)[0].scene.state.values.get("clocks.night", 0) == steps


@pytest.mark.spec("T18")
def test_what_is_said_aloud_is_one_speech() -> None:
    (turn,) = play("Thank you. Shout, then ring the bell.", mode="say")
    assert turn.also == ()


@pytest.mark.spec("S20", "T18")
def test_a_retelling_and_a_retry_tell_both_halves_again() -> None:
    text = "open the window and ring the bell"
    (turn,) = play(text)
    state = turn.scene.state
    for ordinal in (1, 2):
        choice = choose_again(DEFINITION, state, text, "do", seed=7, chain_hash=b"n" * 32, ordinal=ordinal)
        again = tell(choice, [], DEFINITION, state)
        assert [each.id for each in (choice.storylet, *again.also, *again.behind)] == ["window", "bell", "strikes"]
    before = begin(DEFINITION).state
    tries = []
    for ordinal in (0, 1):
        choice = choose(DEFINITION, before, text, "do", seed=7, chain_hash=b"n" * 32, ordinal=ordinal)
        first, second = (tell(choice, [], DEFINITION, before) for _ in range(2))
        assert first == second
        tries.append(first.text.split("\n\n"))
    assert all(one != other for one, other in zip(tries[0][:2], tries[1][:2], strict=True))


@pytest.mark.spec("S20", "T18")
def test_a_retelling_brings_back_no_half_of_another_turn() -> None:
    *_, last = play("open the window and ring the bell", "look at the chart, then shout")
    choice = choose_again(
        DEFINITION, last.scene.state, "look at the chart, then shout", "do", seed=7, chain_hash=b"n" * 32, ordinal=1
    )
    assert [each.id for each in (choice.storylet, *(choice.also or ()))] == ["chart", "shout"]


@pytest.mark.spec("T18")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("look at the chart, then at the board", ["look at the chart", "look at the board"]),
        ("go back to the radio room: are you there, Osgood?", ["go back to the radio room", "are you there, Osgood?"]),
        ("go and look at the board", ["go and look at the board"]),
        ("ask about bread and light", ["ask about bread and light"]),
        ("take the bread and light the lamp", ["take the bread", "light the lamp"]),
        ("write “go home and ring the bell”", ["write “go home and ring the bell”"]),
        ("when it strikes, ring the bell", ["when it strikes, ring the bell"]),
        ("could you ring the bell and shout?", ["could you ring the bell and shout?"]),
    ],
)
def test_a_clause_begins_where_a_new_deed_does(text: str, wanted: list[str]) -> None:
    assert [each.text for each in clauses(text, hear(text, "en"))] == wanted


@pytest.mark.spec("T18")
@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Will he come?", True),
        ("Will Osgood ring the bell?", True),
        ("Can I still change my mind?", True),
        ("would it hold?", True),
        ("will I drown?", True),
        ("can I cross?", False),
        ("could you ring the bell?", False),
        ("can somebody ring the bell?", False),
        ("shall we go?", False),
        ("would it be all right if I rang the bell?", False),
    ],
)
def test_what_is_foretold_is_asked_where_nobody_is_asked_a_favour(text: str, asks: bool) -> None:
    assert bool(hear(text, "en").asked) is asks


@pytest.mark.spec("T9")
def test_the_second_half_is_told_by_the_roll_that_it_wanted() -> None:
    seen = set()
    for seed in range(30):
        (turn,) = play("shout and climb the mast", seed=seed)
        assert turn.outcome
        is_up = "success" in turn.outcome
        assert any(words in turn.text for words in (("You are up.", "Up.") if is_up else ("You are down.", "Down.")))
        seen.add(is_up)
    assert seen == {True, False}


@pytest.mark.spec("T18")
def test_two_halves_have_one_aside_at_most_and_none_between_them() -> None:
    asides = parse_definition(TEXT + '\n[[asides]]\nwordings = ["A gull turns over.", "Somewhere a door bangs."]\n')
    scene, seen = begin(asides), []
    for _ in range(12):
        turn = rehearse(asides, scene, "ring the bell and shout", seed=7)
        seen.append(turn.text.split("\n\n"))
        scene = turn.scene
    found = [[at for at, part in enumerate(each) if "gull" in part or "door" in part] for each in seen]
    assert any(found)
    assert all(places in ([], [2]) for places in found)
