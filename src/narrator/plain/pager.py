"""Pauses before text scrolls past unread, on a terminal (U27). Lines are counted, nothing is redrawn."""

from __future__ import annotations

from narrator.engine.voice import Said, cells
from narrator.plain.output import Sink

MORE = "[More: Enter reads on, q skips.]"
SKIPPED = "[Skipped; /read shows the story again.]\n"


class Pager:
    """Owns what was not yet shown. ``height`` in lines and ``width`` in cells of the terminal; None: never pauses."""

    def __init__(self, sink: Sink, height: int | None = None, width: int = 80) -> None:
        self._sink = sink
        self._height = height
        self._width = max(1, width)
        self._rows = 0
        self._line = 0
        self._held: list[Said] = []
        self._is_skipping = False
        self.is_waiting = False

    def write(self, said: Said) -> None:
        """Show the text, or hold it back while the player reads."""
        if said.is_error and self.is_waiting:
            # The pause stands at the end of a line of its own.
            self._sink.write("\n")
        if self._height is None or said.is_error:
            self._sink.write(said.text, is_error=said.is_error)
            return
        if self._is_skipping:
            return
        if self.is_waiting:
            self._held.append(said)
            return
        for at, line in enumerate(pieces := said.text.splitlines(keepends=True)):
            # Not before more is there to show: a pause with nothing behind it is a riddle.
            if self._rows >= max(1, self._height - 2) and not self._line:
                self.is_waiting = True
                self._held = [Said("".join(pieces[at:]))]
                # The Enter that answers ends this line: no gap is left within a paragraph.
                self._sink.write(f"{MORE} ")
                return
            self._sink.write(line)
            self._line += cells(line.rstrip("\n"))
            if line.endswith("\n"):
                self._rows += 1 + max(0, self._line - 1) // self._width
                self._line = 0

    def answered(self) -> None:
        """The player typed at a prompt: all that stands above has been read."""
        if not self.is_waiting:
            self._rows = self._line = 0

    def resume(self, *, is_line_ended: bool = False) -> None:
        """The player has read on; what was held back is shown, up to the next pause.

        ``is_line_ended``: by an Enter that the terminal has shown.
        """
        if self.is_waiting and not is_line_ended:
            self._sink.write("\n")
        self._rows = self._line = 0
        self.is_waiting = False
        held, self._held = self._held, []
        for said in held:
            self.write(said)

    def skip(self, *, is_more_to_come: bool) -> None:
        """The player has read enough: what was held back is dropped, and what comes until ``end_skip``."""
        self._held = []
        self._rows = self._line = 0
        self.is_waiting = False
        self._sink.write(SKIPPED)
        self._is_skipping = is_more_to_come

    def end_skip(self) -> None:
        """What comes now is shown again."""
        self._is_skipping = False

    def finish(self) -> None:
        """Show the rest without pausing."""
        self._height = None
        self.resume()
