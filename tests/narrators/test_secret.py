"""A key is where it is sent, and nowhere else."""

from __future__ import annotations

import copy
import logging
import os
import pickle
import traceback
from dataclasses import asdict, dataclass

import pytest

from narrator.core.errors import NarrationFailed
from narrator.narrators.secret import STARS, Secret, resolve_key

KEY = "sk-canary-99d0"
ENVIRON = {"PATH": os.environ.get("PATH", ""), "MY_KEY": KEY, "EMPTY": "", "BAD": "two words", "LINES": "a\nb"}


@dataclass
class Holder:
    key: Secret
    name: str


@pytest.mark.spec("T16")
def test_a_secret_shows_stars_wherever_it_is_put(caplog: pytest.LogCaptureFixture) -> None:
    secret = Secret(KEY)
    logging.getLogger("x").warning("key %s %r", secret, secret)
    holder = Holder(secret, "x")
    shown = [repr(secret), str(secret), f"{secret:>40}", f"{secret!r}", repr(holder), repr(asdict(holder)), caplog.text]
    assert not any(KEY in each for each in shown)
    assert repr(secret) == STARS
    assert copy.deepcopy(holder).key.reveal() == KEY
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    assert secret.scrub(f"bad key {KEY}!") == f"bad key {STARS}!"
    assert Secret("").scrub("abc") == "abc"


@pytest.mark.spec("T16")
def test_a_key_comes_from_the_environment_or_a_command() -> None:
    found = resolve_key("MY_KEY", None, ENVIRON)
    assert found is not None
    assert found.reveal() == KEY
    by_command = resolve_key(None, "printf '%s\\nsecond line' \"$MY_KEY\"", ENVIRON)
    assert by_command is not None
    assert by_command.reveal() == KEY
    assert resolve_key(None, None, ENVIRON) is None


@pytest.mark.spec("T16")
@pytest.mark.parametrize(
    ("variable", "command", "words"),
    [
        ("NOT_SET", None, "NOT_SET holds no key"),
        ("EMPTY", None, "holds no key"),
        ("BAD", None, "cannot be a key"),
        ("LINES", None, "cannot be a key"),
        (None, "true", "holds no key"),
        (None, f"echo {KEY}; exit 3", "status 3"),
        (None, "no-such-program-anywhere", "status 127"),
    ],
)
def test_a_name_that_leads_to_nothing_is_an_error_without_what_was_found(
    variable: str | None, command: str | None, words: str
) -> None:
    with pytest.raises(NarrationFailed) as caught:
        resolve_key(variable, command, ENVIRON)
    error = caught.value
    assert error.code == "narrator-auth"
    assert words in error.message
    assert error.hint
    for found in (KEY, "two words"):
        assert found not in "".join(traceback.format_exception(error)).replace(command or "-", "")
