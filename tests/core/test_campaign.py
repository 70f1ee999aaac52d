"""The door of definitions: what parses, and every mistake by its key path."""

from __future__ import annotations

import copy
import tomllib
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from narrator.core.campaign import minimal_definition, parse_definition
from narrator.core.errors import BadDefinition
from tests.core.small_campaign import TEXT, small

HEAD = '[campaign]\nid = "x"\ntitle = "X"\nopening = "O."\n'


@pytest.mark.spec("W2", "W11", "C26")
def test_a_whole_definition_is_read() -> None:
    definition = small()
    assert definition.has_state
    assert definition.has_rules
    assert definition.source == TEXT
    assert definition.player_name == "Ada"
    nerve = definition.fields["player.nerve"]
    assert (nerve.type, nerve.minimum, nerve.maximum, nerve.max_change) == ("number", 0, 10, 3)
    assert [band.label for band in nerve.bands] == ["shaking", "wary", "steady"]
    assert definition.rules is not None
    assert dict(definition.rules.difficulty) == {"easy": 6, "hard": 14}
    assert definition.rules.outcomes[0].name == "critical failure"
    assert definition.rules.clocks["fire"].when_full[0].path == "flags.burnt"
    assert {storylet.on for storylet in definition.storylets} == {"input", "continue", "any", "hint", "aside", "left"}


@pytest.mark.spec("W2")
def test_a_flag_that_an_effect_sets_is_declared_by_that_and_hidden() -> None:
    assert small().fields["flags.burnt"].visibility == "hidden"


@pytest.mark.spec("W14")
@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("[campaign]\nid = 3\n", "campaign.id", "string"),
        ("[campaign]\n", "campaign.title", "missing"),
        ("[campain]\n", "campain", "did you mean campaign"),
        (HEAD + "openning = 'x'\n", "campaign.openning", "did you mean opening"),
        (HEAD + "[state.a.b]\ntype = 'nmber'\n", "state.a.b.type", "nmber"),
        (HEAD + "[state.a.b]\ntype = 'number'\nmax_chnge = 2\n", "state.a.b.max_chnge", "did you mean max_change"),
        (HEAD + "[state.a.b]\nmin = 2\n", "state.a.b.min", "type of [state.a.b]"),
        (HEAD + "[state.a.b]\ntype = 'number'\nmin = 3\nmax = 2\n", "state.a.b.min", "above max"),
        (HEAD + "[state.a.b]\ntype = 'number'\nbands = [[0, 2]]\n", "state.a.b.bands[0]", "label"),
        (HEAD + "[state.a.b]\ntype = 'number'\nbands = [[0, 2, 'x'], [2, 3, 'y']]\n", "state.a.b.bands", "overlap"),
        (HEAD + "[state.a.b]\ntype = 'number'\nmax = 5\ninitial = 6\n", "state.a.b.initial", "above 5"),
        (HEAD + "[state.a.b]\ntype = 'flag'\ninitial = 'maybe'\n", "state.a.b.initial", "true or false"),
        (HEAD + "[state.location]\ntype = 'text'\n", "state.location", "every campaign has"),
        (HEAD + "[rules]\ndice = '2w6'\n", "rules.dice", "pattern"),
        (HEAD + "[rules.skills.brag]\nfield = 'player.nerv'\n", "rules.skills.brag.field", "player.nerv"),
        (HEAD + "[rules.clocks.c]\nsize = 2\nadvances_on = ['faillure']\n", "rules.clocks.c.advances_on[0]", "failure"),
        (HEAD + "[[cards]]\nname = 'a'\ntext = 'b'\nwhen = 'location =='\n", "cards[0].when", "column 12"),
        (HEAD + "[[cards]]\nname = 'a'\ntext = 'b'\nkeys = ['(']\nregex = true\n", "cards[0].keys[0]", "expression"),
        (HEAD + "[[cards]]\nname = 'a'\ntext = 'b'\n" * 2, "cards", "'a' is there 2 times"),
        (HEAD + "[[storylets]]\nid = 's'\nkeys = ['x']\n", "storylets[0]", "nothing to tell"),
        (HEAD + "[[storylets]]\nid = 's'\nwordings = ['x']\n", "storylets[0].keys", "missing"),
        (HEAD + "[[storylets]]\nid = 's'\non = 'any'\nwordings = ['x']\n", "storylets[0].when", "everything"),
        (HEAD + "[[storylets]]\nid = '~s'\nkeys = ['x']\nwordings = ['x']\n", "storylets[0].id", "~"),
        (HEAD + "[[hints]]\nwordings = ['x']\nwhen = 'nowhere.at.all'\n", "hints[0].when", "nowhere.at.all"),
        (HEAD + "[[left]]\nwordings = ['x']\nwhen = 'nowhere.at.all'\n", "left[0].when", "nowhere.at.all"),
        (HEAD + "[[left]]\nwordings = ['x']\nkeys = ['y']\n", "left[0].keys", "unknown key"),
        (HEAD + "[[endings]]\nid = 'e'\nwhen = \"fired('s')\"\n", "endings[0].when", "'s'"),
        (
            HEAD + "[[storylets]]\nid = 's'\nkeys = ['x']\n[[storylets.outcomes]]\non = 'failure'\nwording = ['x']\n",
            "storylets[0].outcomes[0].wording",
            "did you mean wordings",
        ),
        (HEAD + "[rules.skills.brag]\nfeild = 'x'\n", "rules.skills.brag.feild", "did you mean field"),
        (HEAD + "[entities.a]\nname = 'A'\nkind = 'city'\n", "entities.a.kind", "city"),
        (
            HEAD + "[entities.hall]\nname = 'H'\nkind = 'place'\n[start]\nlocation = 'hal'\n",
            "start.location",
            "did you mean hall",
        ),
        (HEAD + "[entities.a]\nname = 'A'\n[start]\npresent = ['b']\n", "start.present[0]", "'b'"),
        ("[campaign\n", "toml", "line 1"),
    ],
)
def test_a_mistake_is_named_with_its_key_path(text: str, place: str, words: str) -> None:
    with pytest.raises(BadDefinition) as caught:
        parse_definition(text)
    told = dict(caught.value.problems)
    assert place in told, told
    assert words in told[place]


@pytest.mark.spec("W14")
@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ('skill = "persuade", d', 'skill = "persuad", d', "storylets[2].check.skill", "did you mean persuade"),
        ('difficulty = "hard" }', 'difficulty = "hardd" }', "storylets[2].check.difficulty", "did you mean hard"),
        ('path = "player.nerve", value = -1', 'path = "player.nerv", value = -1', "effects[0].path", "player.nerve"),
        ('path = "player.nerve", value = -1', 'path = "player.nerve", value = "x"', "effects[0]", "number"),
        ('on = "success"', 'on = "sucess"', "storylets[2].outcomes[0].on", "did you mean success"),
        ("'miller' in scene.present", "'miller' in scene.presnt", "storylets[2].when", "scene.present"),
        ("has('player', 'key')", "has('player', 'kee')", "storylets[6].when", "did you mean key"),
        ("location == 'yard'", "location == 'yrd'", "storylets[1].when", "did you mean yard"),
        ('ending = "ashes"', 'ending = "ashs"', "storylets[5].ending", "did you mean ashes"),
        ('id = "go-loft"', 'id = "look"', "storylets", "'look' is there 2 times"),
    ],
)
def test_a_dangling_reference_is_named_with_its_key_path(old: str, new: str, place: str, words: str) -> None:
    with pytest.raises(BadDefinition) as caught:
        parse_definition(TEXT.replace(old, new))
    assert any(place in where and words in what for where, what in caught.value.problems), caught.value.problems


@pytest.mark.spec("W14")
def test_all_mistakes_are_told_at_once() -> None:
    text = HEAD + "[rules.skills.a]\nfield = 'x.y'\n[[cards]]\nname = 'c'\ntext = 't'\nwhen = 'and'\n"
    with pytest.raises(BadDefinition) as caught:
        parse_definition(text)
    assert {where for where, _ in caught.value.problems} == {"rules.skills.a.field", "cards[0].when"}
    assert "1 more" in caught.value.message


def told(text: str) -> set[str]:
    """The places of all mistakes in a definition."""
    with pytest.raises(BadDefinition) as caught:
        parse_definition(text)
    return {where for where, _ in caught.value.problems}


TALE = (
    HEAD
    + """
[start]
location = "hal"
[entities.hall]
name = "The Hall"
kind = "place"
[entities.key]
name = "A key"
kind = "thing"
[state.player.nerve]
type = "number"
[rules.skills.brag]
field = "player.nerv"
[rules.difficulty]
easy = 6
[[cards]]
name = "a"
text = "b"
when = "player.nerve =="
[[storylets]]
id = "s"
keys = ["x"]
when = "fired('t')"
check = { skill = "bragg", difficulty = "easy" }
[[storylets.outcomes]]
on = "failure"
wordings = ["x"]
effects = [{ op = "set", path = "player.nervee", value = 1 }]
[[endings]]
id = "e"
when = "has('player', 'kee')"
"""
)
TOLD = {
    "start.location",
    "rules.skills.brag.field",
    "cards[0].when",
    "storylets[0].when",
    "storylets[0].check.skill",
    "storylets[0].outcomes[0].effects[0].path",
    "endings[0].when",
}


@pytest.mark.spec("W14")
@pytest.mark.parametrize(
    ("old", "new", "more", "hides"),
    [
        ("", "", set(), set()),
        ('title = "X"', "", {"campaign.title"}, set()),
        ('title = "X"', "title = 3", {"campaign.title"}, set()),
        ('opening = "O."', 'opening = "O."\nopenning = "P."', {"campaign.openning"}, set()),
        ('text = "b"', "", {"cards[0].text"}, set()),
        ('text = "b"', 'text = "b"\nkey = ["c"]', {"cards[0].key"}, set()),
        ('name = "a"', "name = []", {"cards[0].name"}, set()),
        ('kind = "thing"', 'kind = "thnig"', {"entities.key.kind"}, {"endings[0].when"}),
        ('id = "s"', 'id = ""', {"storylets[0].id"}, {"storylets[0].when"}),
        ('on = "failure"', 'on = "failure"\nwording = ["y"]', {"storylets[0].outcomes[0].wording"}, set()),
        (
            'wordings = ["x"]',
            "wordings = []",
            {"storylets[0].outcomes[0].wordings"},
            {"storylets[0].outcomes[0].effects[0].path"},
        ),
        ("easy = 6", 'easy = "6"', {"rules.difficulty.easy"}, set()),
        ('id = "e"', "", {"endings[0].id"}, set()),
        (
            '[entities.hall]\nname = "The Hall"\nkind = "place"',
            "[entities]\nhall = 3",
            {"entities.hall"},
            {"start.location"},
        ),
    ],
)
def test_mistakes_of_shape_hide_none_of_reference(old: str, new: str, more: set[str], hides: set[str]) -> None:
    assert told(TALE.replace(old, new, 1)) == (TOLD | more) - hides


@pytest.mark.spec("W14")
@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        ('type = "number"\nmin = 0', 'type = "nubmer"\nmin = 0', {"state.player.nerve.type"}),
        ('kind = "place"', 'kind = "palce"', {"entities.yard.kind"}),
        ("easy = 6", 'easy = "six"', {"rules.difficulty.easy"}),
        ('id = "look"', 'id = ["look"]', {"storylets[0].id"}),
    ],
)
def test_what_follows_from_a_mistake_is_not_told_as_another(old: str, new: str, places: set[str]) -> None:
    assert old in TEXT
    assert told(TEXT.replace(old, new, 1)) == places


@pytest.mark.spec("W14")
@pytest.mark.parametrize("key", ["campaign", "entities", "state", "rules", "cards", "storylets", "endings", "start"])
@pytest.mark.parametrize("value", ["3", "'x'", "[]", "[3]", "[{}]"])
def test_a_table_that_is_none_is_one_mistake(key: str, value: str) -> None:
    rest = HEAD if key != "campaign" else ""
    if key in ("cards", "storylets", "endings") and value == "[]":
        parse_definition(f"{key} = {value}\n{rest}")
        return
    assert all(where.startswith(key) for where in told(f"{key} = {value}\n{rest}"))


def places_in(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in tables, one below the other."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, below in inner for place in ((*at, key), *places_in(below, (*at, key)))]


@pytest.mark.spec("W14")
@given(
    st.lists(
        st.tuples(st.integers(0, 10_000), st.sampled_from(["gone", 3, "x", [], [3], [[]], {}, {"a": 1}])), max_size=4
    )
)
def test_whatever_is_broken_is_a_mistake_by_its_place(changes: list[tuple[int, Any]]) -> None:
    tables = tomllib.loads(TEXT)
    for number, value in changes:
        places = places_in(tables)
        *above, last = places[number % len(places)]
        holder: Any = tables
        for part in above:
            holder = holder[part]
        if value == "gone":
            del holder[last]
        else:
            holder[last] = copy.deepcopy(value)
    problems: tuple[tuple[str, str], ...] = ()
    try:
        parse_definition(tomlkit.dumps(tables))
    except BadDefinition as error:
        problems = error.problems
    assert len(problems) == len(set(problems))
    assert all(where and what for where, what in problems)


@pytest.mark.spec("S2")
@pytest.mark.parametrize("title", ["A “plain” title", 'quo"te \\ back', "Ünï\n\tcode\x07", "雨"])
def test_a_campaign_made_from_nothing_reads_itself_back(title: str) -> None:
    made = minimal_definition(title, "It rains.\nStill.")
    again = parse_definition(made.source)
    assert (again.title, again.opening, again.id) == (title, "It rains.\nStill.", made.id)
    assert not made.has_state
    assert not made.has_rules
