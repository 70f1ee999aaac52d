"""The author's check names what no player can meet, and is silent on a sound campaign (U23)."""

from __future__ import annotations

from random import Random

import pytest

from narrator.core.campaign import parse_definition
from narrator.core.errors import NarratorError
from narrator.core.review import review

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
    assert "storylets.draw" in found
    assert found["endings.water"].startswith("not reached")


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
