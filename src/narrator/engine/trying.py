"""Try a narrator before it tells: a few words of ours go out, none of the story, and what comes back is told (T19)."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from narrator.config import Settings
from narrator.core.campaign import minimal_definition
from narrator.core.errors import NarratorError
from narrator.core.prompt import Message
from narrator.core.state import State
from narrator.engine import casting
from narrator.narrators.port import Capabilities, Delta, Finish, HasRemark, Narrator, Purpose, Request, Scene

_RULES: Final = "You tell an interactive story in the second person, in plain prose."
_INPUT: Final = "Say in one short sentence what the ferryman does."
_WORDS: Final = 40
_SHOWN: Final = 160


@dataclass(frozen=True, slots=True)
class Told:
    """An answer with the seconds to its first word and to its end."""

    text: str
    first: float
    whole: float
    finish: Finish


async def tell(narrator: Narrator, messages: tuple[Message, ...], tokens: int, clock: Callable[[], float]) -> Told:
    """Have a narrator answer as to a question, so that nothing is cut away from what it says. Raises as it does."""
    scene = Scene(minimal_definition("A try", "Rain."), State(), 1, b"", 0)
    request = Request(Purpose.SUGGEST, messages, scene, tokens)
    begun, first, text, finish = clock(), 0.0, "", Finish("stop")
    async with aclosing(narrator.stream(request)) as chunks:  # type: ignore[type-var]
        async for chunk in chunks:
            if isinstance(chunk, Delta):
                first = first or clock() - begun
                text += chunk.text
            elif isinstance(chunk, Finish):
                finish = chunk
    return Told(text, first, clock() - begun, finish)


def elsewhere(settings: Settings, name: str) -> str:
    """The host outside of this machine that a test of this narrator would send its words to, or ''."""
    narrator = casting.build(settings, name)
    return "" if getattr(narrator, "is_loopback", True) else str(getattr(narrator, "host", ""))


async def try_narrator(settings: Settings, name: str, clock: Callable[[], float] = time.monotonic) -> str:
    """Whether it answers, how fast, and what is known of it, or what is wrong and what to do. Raises nothing.

    Where its host is another machine, see that the player agrees first.
    """
    try:
        narrator = casting.build(settings, name)
    except NarratorError as error:
        return str(error)
    try:
        abilities = await narrator.capabilities()
        if not abilities.reads_messages:
            return "It needs no model and is always there."
        told = await tell(narrator, (Message("system", _RULES), Message("user", _INPUT)), _WORDS, clock)
        abilities = await narrator.capabilities()
        remark = await narrator.remark() if isinstance(narrator, HasRemark) else ""
    except NarratorError as error:
        return str(error)
    finally:
        await narrator.aclose()
    said = " ".join(told.text.split())
    quoted = said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"
    return f"It answered after {told.first:.1f} s: “{quoted}” {known(abilities)}{' ' + remark if remark else ''}"


def known(abilities: Capabilities) -> str:
    """The window in a sentence, and what is assumed of it."""
    window = f"Its window is {abilities.window:,} tokens, {abilities.window_source}"
    return (
        f"{window}: context_window in config.toml says better."
        if abilities.window_source == "assumed"
        else f"{window}."
    )
