"""The two lanes of a session's work (T1): one turn, and one piece of upkeep that runs only beside no turn.

A turn that begins cancels the upkeep, which writes nothing and starts again later. Every task belongs to a lane; the
lanes are the only place that makes tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

CLOSE_SECONDS = 2.0
#: What a turn told is handed on and drawn before upkeep begins: its first piece reads and measures without a break.
UPKEEP_WAITS = 0.05


class Lanes:
    """Owns every task of a session. ``on_failure`` hears of an exception that a piece of upkeep let out."""

    def __init__(self, on_failure: Callable[[BaseException], None]) -> None:
        self._on_failure = on_failure
        self._turn: asyncio.Task[Any] | None = None
        self._upkeep: asyncio.Task[None] | None = None
        self._closing_up: asyncio.Task[None] | None = None
        self._next_upkeep: Callable[[], Awaitable[bool]] | None = None
        self._aside: set[asyncio.Task[None]] = set()
        self._beside: set[asyncio.Task[None]] = set()

    @property
    def is_turning(self) -> bool:
        return self._turn is not None and not self._turn.done()

    def begin_turn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a turn; upkeep that runs is cancelled. The caller has seen that no turn runs."""
        self.cancel_upkeep()
        self._turn = asyncio.get_running_loop().create_task(work, name="turn")
        return self._turn

    def stop_turn(self) -> bool:
        """Cancel the turn; False where none runs."""
        if self._turn is None or self._turn.done():
            return False
        self._turn.cancel()
        return True

    def keep_up(self, step: Callable[[], Awaitable[bool]]) -> None:
        """Do pieces of upkeep while no turn runs: ``step`` does one and says whether more is due."""
        self._next_upkeep = step
        before = self._upkeep
        is_at_work = before is not None and not before.done() and not before.cancelling()
        if not self.is_turning and not is_at_work:
            self._closing_up = before
            self._upkeep = asyncio.get_running_loop().create_task(self._run_upkeep(before), name="upkeep")

    async def _run_upkeep(self, before: asyncio.Task[None] | None) -> None:
        """One piece after the other, when the one that was cancelled (``before``) has closed what it held."""
        if before is not None and not before.done():
            await asyncio.wait({before})
        await asyncio.sleep(UPKEEP_WAITS)
        try:
            while self._next_upkeep is not None and not self.is_turning:
                if not await self._next_upkeep():
                    return
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self._on_failure(error)

    def cancel_upkeep(self) -> None:
        """End the piece of upkeep that runs; it has written nothing."""
        if self._upkeep is not None and not self._upkeep.done():
            self._upkeep.cancel()

    async def kept_up(self) -> None:
        """Wait until no piece of upkeep runs."""
        while self._upkeep is not None and not self._upkeep.done():
            await asyncio.wait({self._upkeep})

    def begin_aside(self, work: Callable[[], object]) -> None:
        """Run blocking work in a thread beside both lanes (a backup); closing waits for it."""

        async def run() -> None:
            try:
                await asyncio.to_thread(work)
            except Exception as error:
                self._on_failure(error)

        task = asyncio.get_running_loop().create_task(run(), name="aside")
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    def begin_beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin something beside both lanes that waits for others; closing cancels it."""

        async def run() -> None:
            try:
                await work
            except Exception as error:
                self._on_failure(error)

        task = asyncio.get_running_loop().create_task(run(), name="beside")
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    async def aclose(self) -> None:
        """Cancel and await all, at most two seconds."""
        self._next_upkeep = None
        begun = (self._turn, self._upkeep, self._closing_up, *self._beside)
        tasks = [task for task in begun if task is not None and not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
        if self._aside:
            await asyncio.wait(self._aside)
