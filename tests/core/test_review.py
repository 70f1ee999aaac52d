"""The author's check names what no player can meet, and is silent on a sound campaign (U23)."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from narrator.core.campaign import parse_definition
from narrator.core.errors import NarratorError
from narrator.core.reachable import possible_rolls
from narrator.core.review import review

SAMPLES = Path(__file__).parents[2] / "sample_campaigns"

SOUND = """
[campaign]
id = "well"
title = "The Well"
opening = "A well, a rope, a bucket with a hole in it."

[start]
location = "yard"

[state.flags.mended]
type = "flag"

[[storylets]]
id = "look"
keys = ["look"]
wordings = ["The rope is new.", "The bucket is old."]

[[storylets]]
id = "mend"
keys = ["mend + bucket"]
when = "not flags.mended"
wordings = ["You mend it with a boot sole.", "A boot sole and four nails."]
effects = [{ op = "set", path = "flags.mended", value = true }]

[[storylets]]
id = "draw"
keys = ["draw + water"]
when = "flags.mended"
ending = "water"
wordings = ["It holds. You drink.", "The bucket comes up full."]
"""


@pytest.mark.spec("U23", "T18")
def test_a_sound_campaign_has_nothing_to_say() -> None:
    assert review(parse_definition(SOUND), Random(7), turns=200) == []


@pytest.mark.spec("U23", "T18")
def test_what_nobody_can_meet_is_named_by_key_path() -> None:
    broken = SOUND.replace('when = "flags.mended"\nending', 'when = "flags.mended and not flags.mended"\nending')
    found = dict(review(parse_definition(broken), Random(7), turns=200))
    assert found["storylets.draw"] == "can never fire: no play comes to where it could"
    assert found["endings.water"].startswith("can never be reached")


@pytest.mark.spec("U23", "T18")
def test_what_nothing_can_bring_about_is_named_with_the_condition() -> None:
    broken = SOUND.replace('when = "flags.mended"\nending', "when = \"flags.mended and location == 'sea'\"\nending")
    found = dict(review(parse_definition(broken), Random(7), turns=60))
    assert found["storylets.draw"] == "can never fire: nothing brings about “location == 'sea'”"
    assert found["endings.water"] == "can never be reached: nothing that can come about leads to it"


FAR = (
    SOUND.replace(
        "\n[[storylets]]",
        """
[rules.skills.draw]
field = "player.thirst"
[rules.difficulty]
long = 18
[rules.clocks.evening]
size = 30
advances_when = "location == 'yard'"
when_full = [{ op = "set", path = "flags.dark", value = true }]

[[storylets]]""",
        1,
    ).replace(
        "[state.flags.mended]",
        """[state.player.thirst]
type = "number"
min = 0
max = 6
initial = 0
[state.flags.dark]
type = "flag"
[state.flags.mended]""",
    )
    + """
[[storylets]]
id = "sleep"
keys = ["sleep"]
when = "flags.dark and not flags.mended"
wordings = ["Straw.", "More straw."]

[[storylets]]
id = "whisper"
keys = ["whisper"]
modes = ["say"]
when = "fired('sleep', 2)"
wordings = ["Nobody hears.", "The rope hears."]

[[storylets]]
id = "haul"
keys = ["haul + rope"]
when = "turns_since('whisper') == 3"
check = { skill = "draw", difficulty = "long" }
[[storylets.outcomes]]
on = "success"
wordings = ["Up it comes.", "Up."]
[[storylets.outcomes]]
on = "failure"
wordings = ["Down it goes.", "Down."]
"""
)
"""What is met after thirty turns of waiting, a word that is said, three turns more, and then by luck."""


@pytest.mark.spec("U23", "T18")
def test_what_few_plays_come_to_is_sought_and_met() -> None:
    assert review(parse_definition(FAR), Random(7), turns=40) == []


@pytest.mark.spec("U23", "T18")
def test_a_flag_that_an_outcome_can_set_only_too_late_is_out_of_reach() -> None:
    late = FAR.replace("flags.dark and not flags.mended", "flags.dark and clocks.evening < 30")
    found = dict(review(parse_definition(late), Random(7), turns=40))
    assert found["storylets.sleep"] == "can never fire: no play comes to where it could"
    assert found["storylets.haul"].startswith("can never fire")


@pytest.mark.spec("U23", "T8")
def test_an_outcome_that_no_dice_can_give_is_named() -> None:
    hard = FAR.replace("long = 18", "long = 21")
    found = dict(review(parse_definition(hard), Random(7), turns=40))
    assert found == {"storylets.haul.outcomes.success": "can never come: nothing brings about “a roll of draw for it”"}


@pytest.mark.spec("U23", "T8")
def test_a_roll_that_its_skill_can_come_to_allow_is_no_finding() -> None:
    drink = """
[[storylets]]
id = "drink"
keys = ["drink + dew"]
wordings = ["A drop.", "Another."]
effects = [{ op = "add", path = "player.thirst", value = 2 }]
"""
    hard = FAR.replace("long = 18", "long = 26") + drink
    assert review(parse_definition(hard), Random(7), turns=40) == []


@pytest.mark.spec("U23", "T18")
def test_keys_that_another_storylet_always_answers_are_named_with_it() -> None:
    hidden = (
        SOUND
        + """
[[storylets]]
id = "stare"
keys = ["look"]
when = "location == 'yard'"
wordings = ["Bricks.", "Moss."]
"""
    )
    found = dict(review(parse_definition(hidden), Random(7), turns=60))
    assert found == {"storylets.look": "can never fire: its own keys are answered by “stare” where it could"}


@pytest.mark.spec("U23", "T18")
def test_what_cannot_be_settled_is_said_to_be_open() -> None:
    far = SOUND.replace("[state.flags.mended]", '[state.player.steps]\ntype = "counter"\n[state.flags.mended]').replace(
        'when = "flags.mended"\nending', 'when = "player.steps > 5000"\nending'
    )
    far = far.replace(
        'wordings = ["The rope', 'effects = [{ op = "add", path = "player.steps", value = 1 }]\nwordings = ["The rope'
    )
    found = dict(review(parse_definition(far), Random(7), turns=40))
    assert found["storylets.draw"] == "not met in 40 turns of play, though nothing rules it out"
    assert found["endings.water"] == "not reached in 40 turns of play, though nothing rules it out"


@pytest.mark.spec("U23", "T18")
@pytest.mark.parametrize("sample", ["beginners-please", "carried-forward", "lantern-road", "stand-by"])
def test_no_sample_holds_what_nobody_can_meet(sample: str) -> None:
    text = (SAMPLES / f"{sample}.toml").read_text(encoding="utf-8")
    assert review(parse_definition(text), Random(7), turns=1200) == []


@pytest.mark.spec("U23", "T18")
def test_an_outcome_that_never_comes_and_a_dead_end_are_named() -> None:
    stuck = SOUND.replace('id = "look"\n', 'id = "look"\nwhen = "not flags.mended"\n').replace(
        'when = "flags.mended"\nending', 'when = "not flags.mended"\nending'
    )
    found = review(parse_definition(stuck), Random(7), turns=200)
    assert any("dead end" in what and "yard" in what for _, what in found)


@pytest.mark.spec("U23", "W4")
def test_a_refused_effect_is_named_with_its_reason() -> None:
    effect = 'path = "flags.mended", value = true }'
    closed = SOUND.replace(effect, effect + ', { op = "close", path = "threads.leak" }')
    found = review(parse_definition(closed), Random(7), turns=200)
    assert [where for where, what in found if "refused" in what] == ["storylets.mend: close threads.leak"]


class Rut(Random):
    """Always the same dice: what hangs on chance comes out the same in every game."""

    def randbytes(self, n: int) -> bytes:
        return bytes(n)


@pytest.mark.spec("U23", "T18")
def test_a_wording_that_is_never_used_is_named() -> None:
    once = SOUND.replace('id = "look"\n', 'id = "look"\nonce = true\n')
    once = once.replace('"not flags.mended"', "\"fired('look') and not flags.mended\"")
    found = review(parse_definition(once), Rut(7), turns=400)
    assert ("storylets.look.outcomes.always.wordings", "1 never used") in found


@pytest.mark.spec("U23", "T18")
def test_an_outcome_that_comes_seldom_has_wordings_left_and_nothing_is_said_of_them() -> None:
    rules = "\n[rules.skills.draw]\n[rules.difficulty]\nlong = 20\n"
    plain = 'keys = ["look"]\nwordings = ["The rope is new.", "The bucket is old."]'
    rare = SOUND.replace(
        plain,
        'keys = ["look"]\ncheck = { skill = "draw", difficulty = "long" }\n'
        '[[storylets.outcomes]]\non = "failure"\nwordings = ["The rope is new.", "The bucket is old."]\n'
        '[[storylets.outcomes]]\non = "success"\nwordings = ["Gold.", "More gold.", "And a frog.", "And a ring."]',
    ).replace("\n[[storylets]]", rules + "\n[[storylets]]", 1)
    found = review(parse_definition(rare), Random(7), turns=120)
    assert not [what for _, what in found if "never used" in what]


@pytest.mark.spec("U23", "W4")
def test_a_field_that_nobody_declares_is_named_by_its_key_path() -> None:
    unknown = SOUND.replace('path = "flags.mended", value = true', 'path = "player.thirst", value = 1')
    with pytest.raises(NarratorError) as caught:
        parse_definition(unknown)
    assert "storylets[1].effects[0].path" in str(caught.value)
    assert "player.thirst" in str(caught.value)


@pytest.mark.spec("U23", "T18")
def test_keys_that_another_answers_only_at_times_are_tried_where_it_cannot() -> None:
    hidden = (
        SOUND
        + """
[[storylets]]
id = "stare"
keys = ["look"]
when = "not flags.mended"
wordings = ["Bricks.", "Moss."]
"""
    )
    assert review(parse_definition(hidden), Random(7), turns=4) == []


@pytest.mark.spec("U23", "T18")
def test_what_comes_behind_an_answer_is_met_and_what_cannot_is_named() -> None:
    behind = (
        FAR
        + """
[[storylets]]
id = "rain"
on = "after"
when = "clocks.evening >= 20 and flags.mended"
once = true
wordings = ["Rain.", "It rains."]
"""
    )
    assert review(parse_definition(behind), Random(7), turns=40) == []
    never = behind.replace("clocks.evening >= 20 and", "clocks.evening > 30 and")
    found = dict(review(parse_definition(never), Random(7), turns=40))
    assert found == {"storylets.rain": "can never fire: nothing brings about “clocks.evening > 30”"}


ROLLED = """
[campaign]
id = "gate"
title = "The Gate"
opening = "A gate, and nobody at it."

[rules]
dice = "3d20"
skills = { nerve = { bonus = 0 } }
difficulty = { even = 30 }

[[storylets]]
id = "climb"
keys = ["climb"]
check = { skill = "nerve", difficulty = "even" }
wordings = ["You are over, or you are not."]
"""


@pytest.mark.spec("U23", "T18")
def test_what_the_dice_can_give_comes_in_one_order() -> None:
    """A search that goes through a set of words would find something else in the next process."""
    definition = parse_definition(ROLLED)
    assert definition.rules is not None
    given = possible_rolls(definition, definition.storylets[0], 0)
    assert given == ("critical failure", "failure", "success", "critical success")
