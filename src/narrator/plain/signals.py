"""Signals of a plain session: interrupt is ``/stop``, twice with nothing running is ``/quit``; the others leave.

SIGTERM leaves with 143 and SIGHUP with 129, the usual 128 + number. A second one of them ends the process at once.
"""

from __future__ import annotations

import signal
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import suppress

TWICE_WITHIN = 2.0
"""Seconds between two interrupts of which the second, with nothing running, means quit."""


class Interrupts:
    """Remembers when the last interrupt was. ``now`` is a clock in seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._last: float | None = None

    def is_quit(self, *, is_running: bool) -> bool:
        """Whether this interrupt is the second in time, with nothing running now (contract)."""
        last, moment = self._last, self._now()
        self._last = moment
        return not is_running and last is not None and moment - last <= TWICE_WITHIN


def listen(
    loop: AbstractEventLoop, on_interrupt: Callable[[], None], on_leave: Callable[[int], None]
) -> Callable[[], None]:
    """Hand signals to the loop; the callable that comes back puts the old ways back.

    ``on_leave`` gets the exit code. Where the loop cannot take signals (another thread, another platform) nothing is
    done.
    """
    taken: list[signal.Signals] = []

    def leave(number: signal.Signals) -> None:
        loop.remove_signal_handler(number)
        on_leave(128 + number)

    with suppress(NotImplementedError, ValueError, RuntimeError):
        loop.add_signal_handler(signal.SIGINT, on_interrupt)
        taken.append(signal.SIGINT)
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            # What the parent told us to ignore (nohup) stays ignored.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, leave, number)
                taken.append(number)

    def restore() -> None:
        for number in taken:
            loop.remove_signal_handler(number)

    return restore
