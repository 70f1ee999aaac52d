"""Model files that run inside narrator: what each is, and how fast it is on this machine (T17)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from narrator.config import Settings
from narrator.core.errors import BadValue, NarratorError
from narrator.core.prompt import Message
from narrator.engine.trying import tell
from narrator.narrators import gguf
from narrator.narrators.port import Capabilities, Narrator

_FEW: Final = 8
_MANY: Final = 80
_LONG: Final = "The ferry crosses the wide grey river in the rain, and the rope creaks. " * 20
_RULES: Final = "You tell an interactive story in the second person, in plain prose. Tell what happens next."
_INPUT: Final = "[do] step onto the ferry and look around"


@dataclass(frozen=True, slots=True)
class Kept:
    """A configured model: its name, its file, and what the file says, or what is wrong with it."""

    name: str
    path: Path
    model: gguf.Model | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """How a model did on this machine: seconds to its first answer, and tokens a second.

    ``text`` is what it told.
    """

    loading: float
    reading: float
    writing: float
    capabilities: Capabilities
    text: str


def kept(settings: Settings) -> list[Kept]:
    """The models in the settings, each looked at."""
    found = []
    for name, each in settings.narrators.items():
        if each.kind != "embedded":
            continue
        path = Path(each.model_path or "").expanduser()
        try:
            found.append(Kept(name, path, gguf.read_model(path)))
        except NarratorError as error:
            found.append(Kept(name, path, None, error.message))
    return found


def find(settings: Settings, name: str) -> Kept:
    """One of them. Raises ``no-such-narrator``."""
    known = {each.name: each for each in kept(settings)}
    if name in known:
        return known[name]
    there = f"There are: {', '.join(known)}." if known else "Add one with: narrator models add FILE."
    raise BadValue(f"There is no model “{name}”.", there, "no-such-narrator")


def described(model: gguf.Model) -> str:
    """A model in a few words: name, parameters, size, and plainly that it is small where it is."""
    small = "; small, and so poor at telling" if model.is_small else ""
    return f"{model.name}, {counted(model.parameters)} parameters, {model.size / 1e6:,.0f} MB{small}"


def counted(parameters: int) -> str:
    """A number of parameters as people say it."""
    if parameters >= 1_000_000_000:
        return f"{parameters / 1e9:.1f} thousand million"
    return f"{parameters / 1e6:,.0f} million"


async def try_out(narrator: Narrator, clock: Callable[[], float] = time.monotonic) -> Trial:
    """Load a model and have it tell: what that takes. Raises ``NarrationFailed``."""
    begun = clock()
    await tell(narrator, (Message("system", _RULES), Message("user", "Say a word.")), _FEW, clock)
    loading = clock() - begun
    read = await tell(narrator, (Message("system", _LONG), Message("user", "What is seen?")), _FEW, clock)
    told = await tell(narrator, (Message("system", _RULES), Message("user", _INPUT)), _MANY, clock)
    tokens_in, tokens_out = read.finish.usage.tokens_in or 0, told.finish.usage.tokens_out or 0
    return Trial(
        loading,
        tokens_in / max(read.first, 0.001),
        (tokens_out - 1) / max(told.whole - told.first, 0.001) if tokens_out > 1 else 0.0,
        await narrator.capabilities(),
        told.text,
    )
