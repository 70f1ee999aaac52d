"""Pauses before text scrolls past unread, on a terminal (U27). Lines are counted, nothing is redrawn."""

from __future__ import annotations

from narrator.plain.human import Said, cells
from narrator.plain.output import Sink

MORE = "[More: press Enter.]"


class Pager:
    """Owns what was not yet shown. ``height`` in lines and ``width`` in cells of the terminal; None: never pauses."""

    def __init__(self, sink: Sink, height: int | None = None, width: int = 80) -> None:
        self._sink = sink
        self._height = height
        self._width = max(1, width)
        self._rows = 0
        self._line = 0
        self._held: list[Said] = []
        self.is_waiting = False

    def write(self, said: Said) -> None:
        """Show the text, or hold it back while the player reads."""
        if self._height is None or said.is_error:
            self._sink.write(said.text, is_error=said.is_error)
            return
        if self.is_waiting:
            self._held.append(said)
            return
        for at, line in enumerate(pieces := said.text.splitlines(keepends=True)):
            self._sink.write(line)
            self._line += cells(line.rstrip("\n"))
            if line.endswith("\n"):
                self._rows += 1 + max(0, self._line - 1) // self._width
                self._line = 0
            if self._rows >= max(1, self._height - 2):
                self.is_waiting = True
                self._held = [Said("".join(pieces[at + 1 :]))] if pieces[at + 1 :] else []
                self._sink.write(f"{MORE}\n")
                return

    def resume(self) -> None:
        """The player has read on; what was held back is shown, up to the next pause."""
        self._rows = self._line = 0
        self.is_waiting = False
        held, self._held = self._held, []
        for said in held:
            self.write(said)

    def finish(self) -> None:
        """Show the rest without pausing."""
        self._height = None
        self.resume()
