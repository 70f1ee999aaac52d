"""A key that cannot be shown by accident, and where it comes from: an environment variable or a command (T16).

``Secret`` holds the text; its repr, str and format are stars, it is neither copied into other values nor pickled, and
``scrub`` takes it out of any text that is on its way to the screen or the log.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from typing import Final, NoReturn

from narrator.core.errors import NarrationFailed

STARS: Final = "********"
_COMMAND_SECONDS: Final = 30


class Secret:
    """A key. Only ``reveal`` gives it away; call it where the request is sent and nowhere else."""

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        self.__text = text

    def reveal(self) -> str:
        """The key itself."""
        return self.__text

    def scrub(self, text: str) -> str:
        """``text`` with every occurrence of the key turned into stars."""
        return text.replace(self.__text, STARS) if self.__text else text

    def __repr__(self) -> str:
        return STARS

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return STARS

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("A secret is not pickled.")


def resolve_key(
    api_key_env: str | None = None, api_key_command: str | None = None, environ: Mapping[str, str] | None = None
) -> Secret | None:
    """The key that the config names, None where it names none. Blocks while the command runs.

    The command goes through the shell; the first line that it prints is the key. ``environ`` is the process's own
    where it is None. Raises ``narrator-auth`` where the name leads to nothing; no message holds what was found.
    """
    if api_key_env:
        found = (os.environ if environ is None else environ).get(api_key_env, "")
        return _checked(found, f"The environment variable {api_key_env}", f"Set {api_key_env} and start again.")
    if api_key_command:
        found = _first_line(api_key_command, environ)
        return _checked(found, f"The command “{api_key_command}”", "Run it in a shell to see what it says.")
    return None


def _first_line(command: str, environ: Mapping[str, str] | None) -> str:
    try:
        ran = subprocess.run(
            command,
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_COMMAND_SECONDS,
            env=None if environ is None else dict(environ),
            check=False,
        )
    except subprocess.TimeoutExpired:
        problem = f"did not end within {_COMMAND_SECONDS} seconds"
    except OSError as error:
        problem = f"could not be started ({error.strerror})"
    else:
        if ran.returncode == 0:
            lines = ran.stdout.decode("utf-8", "replace").splitlines()
            return lines[0] if lines else ""
        problem = f"ended with status {ran.returncode}"
    raise NarrationFailed("narrator-auth", f"The command for the key {problem}.", "Run it in a shell to see why.")


def _checked(found: str, where: str, hint: str) -> Secret:
    key = found.strip()
    if not key:
        raise NarrationFailed("narrator-auth", f"{where} holds no key.", hint)
    if not key.isascii() or not key.isprintable() or " " in key:
        raise NarrationFailed("narrator-auth", f"{where} holds something that cannot be a key.", hint)
    return Secret(key)
