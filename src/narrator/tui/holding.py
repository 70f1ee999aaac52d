"""Keys that come while one screen takes the place of another: they wait, and come in their order (U9)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from textual import events
from textual.app import App

_ASKS_AGAIN = 0.2
"""Seconds after which whoever leaves looks whether the line that was waited for is still there."""


class KeyHolding(App[int], inherit_bindings=False):
    """An app whose keys can be held, as they are until its first screen listens. Owns those that wait."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self._held: list[events.Event] | None = []
        self._is_listening = False
        self._till_then: list[Callable[[], object]] = []
        self._asked: list[Callable[[], object]] = []
        self._released: deque[events.Event] = deque()

    def listen(self) -> None:
        """The first screen has been drawn: the keys that waited for it come, and what was put off till then."""
        self.release_keys()
        self._is_listening = True
        for act in self._till_then:
            self.call_later(act)
        self._till_then.clear()

    def when_listening(self, act: Callable[[], object]) -> None:
        """Call it once, behind what is waiting, when a screen stands: what is half made cannot be left."""
        if act in self._asked:
            return
        self._asked.append(act)
        if self._is_listening:
            self.call_later(act)
        else:
            self._till_then.append(act)

    def behind_keys(self, act: Callable[[], object]) -> None:
        """``when_listening``, and behind the keys that are still on their way to whatever has the focus. A line that is
        taken away meanwhile takes along what waits for it, so this asks again."""
        if act in self._asked:
            return
        if self.focused is None:
            self.when_listening(act)
            return
        self.focused.call_later(self.when_listening, act)
        self.set_timer(_ASKS_AGAIN, partial(self.behind_keys, act))

    def hold_keys(self) -> None:
        """One screen takes the place of another: keys wait until it listens."""
        if self._held is None:
            self._held = []

    def release_keys(self) -> None:
        """It listens: the keys that waited come before those that are on their way."""
        self._released += self._held or []
        self._held = None
        self.call_later(self._hand_on)

    async def _hand_on(self) -> None:
        while self._released:
            await super().on_event(self._released.popleft())

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste):
            if self._held is not None:
                self._held.append(event)
                return
            await self._hand_on()
        await super().on_event(event)
