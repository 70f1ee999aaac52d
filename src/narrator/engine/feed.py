"""How a session's events reach whoever listens: one queue a subscriber, a slow one gets merged deltas."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from narrator.engine.events import Delta, Event


class Subscription:
    """One listener's queue. Text that was not fetched in time becomes one longer ``Delta``."""

    def __init__(self) -> None:
        self._waiting: deque[Event] = deque()
        self._ready = asyncio.Event()
        self._is_closed = False

    def put(self, event: Event) -> None:
        """Queue an event; never blocks."""
        if isinstance(event, Delta) and self._waiting and isinstance(self._waiting[-1], Delta):
            self._waiting[-1] = Delta(self._waiting[-1].text + event.text)
        else:
            self._waiting.append(event)
        self._ready.set()

    def close(self) -> None:
        """End the iteration after what is queued."""
        self._is_closed = True
        self._ready.set()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            if self._is_closed:
                return
            self._ready.clear()
            await self._ready.wait()


class Feed:
    """All subscriptions of a session."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []

    def subscribe(self) -> AsyncIterator[Event]:
        """A subscription, registered now; it ends with the feed, or when its reader closes it."""
        subscription = Subscription()
        self._subscriptions.append(subscription)
        return self._listen(subscription)

    async def _listen(self, subscription: Subscription) -> AsyncIterator[Event]:
        try:
            async for event in subscription:
                yield event
        finally:
            self._subscriptions.remove(subscription)

    def publish(self, event: Event) -> None:
        """Hand an event to everyone."""
        for subscription in self._subscriptions:
            subscription.put(event)

    def close(self) -> None:
        """End every subscription."""
        for subscription in self._subscriptions:
            subscription.close()
