"""What a conversation stands on: the part of a session that it uses, and how it is to be held."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from narrator.engine import events as e
from narrator.engine.commands import Command
from narrator.engine.draft import InFlight
from narrator.engine.papers import Papers
from narrator.engine.story import Story
from narrator.engine.voice import Manner


class Performer(Protocol):
    """What a session is to a conversation: the part of ``engine.session.Session`` that it uses."""

    @property
    def asking(self) -> e.Asked | None: ...

    @property
    def story(self) -> Story: ...

    @property
    def in_flight(self) -> InFlight | None: ...

    @property
    def is_turning(self) -> bool: ...

    async def greet(self) -> None: ...

    @property
    def papers(self) -> Papers: ...

    is_strict: bool

    async def perform(
        self, command: Command, *, typed: str | None = None, recorded: str | None = None, is_aside: bool = False
    ) -> bool: ...

    def events(self) -> AsyncIterator[e.Event]: ...

    async def kept_up(self) -> None: ...

    async def keep_draft(self, text: str, mode: str) -> None: ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Options:
    """``height`` of the terminal in lines where text pauses; ``replay`` is played before the keyboard.

    ``notes`` are told after the greeting: what is wrong in the settings, say. ``upkeep_seconds``: how long what is due
    beside the turns may take at the end of input, 0 for not at all.
    """

    is_json: bool = False
    is_strict: bool = False
    has_if_words: bool = True
    manner: Manner = field(default_factory=Manner)
    height: int | None = None
    replay: Path | None = None
    notes: tuple[str, ...] = ()
    upkeep_seconds: float = 0.0
