"""Where the eye stands in the transcript: following the end, stopping at the first unread row, scrolled (U2, U3)."""

from __future__ import annotations

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.widget import Widget

from narrator.tui.transcript_window import GAP, Place
from narrator.tui.widgets.drawing import Drawn

NEAR = 3
"""Rows from the end within which a single wheel step does not stop following."""


class Placed(Drawn):
    """Owns the follow flag, the first unread place and the scrollbar. Rows count from the beginning of the window."""

    class Moved(Message):
        """The eye, the selection or the end moved: what is below the screen may be another count."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.is_following = True
        self.stops_at_unread = True
        self._unread: Place | None = None
        self._thumb = (-1, -1)
        self._drawn_top = -1
        self._placing = False

    @property
    def is_growing(self) -> bool:
        """Whether a turn is being told below the steps."""
        return False

    def _height(self) -> int:
        return max(1, self.scrollable_content_region.height or self.size.height)

    # -- placing ----------------------------------------------------------------------------------------------------

    def _bottom(self) -> int:
        return max(0, self.window.rows - self._height()) if self.window else 0

    def _to_end(self, changed_from: int | None = None) -> None:
        """To the last row, but not past the first unread one (U2)."""
        if self.window is None:
            return
        self.window.reach_end()
        target = self._bottom()
        if self.stops_at_unread and self._unread is not None:
            target = min(target, self.window.row_of(self._unread))
        self._put(target, changed_from)

    def _put_bar(self, y: int, rows: int) -> None:
        """Move the scrollbar, unless its thumb would stay within an eighth of a cell: drawing it is not free."""
        height = self._height()
        eighths = 8 * height / max(1, rows)
        thumb = (round(y * eighths), round(height * eighths))
        if thumb != self._thumb or self.vertical_scrollbar.window_size != height:
            self._thumb = thumb
            bar = self.vertical_scrollbar
            bar.window_virtual_size = rows
            bar.window_size = height
            bar.position = y

    def _put(self, y: int, changed_from: int | None = None) -> None:
        """Set size, position and scrollbar in one stretch, so that no frame shows one without the others.

        ``changed_from``: the tail row from which on the picture is another, where all above it stands still.
        """
        if self.window is None or self._placing:
            return
        self._placing = True
        try:
            y = max(0, min(y, self._bottom()))
            y = max(0, min(self.window.slide(y, self._height()), self._bottom()))
            rows = self.window.rows
            is_moved = y != self.scroll_offset.y or self._drawn_top != self.window.top
            self.set_reactive(Widget.virtual_size, Size(self._width(), rows))
            self.set_reactive(Widget.scroll_y, float(y))
            self.set_reactive(Widget.scroll_target_y, float(y))
            self._put_bar(y, rows)
            if changed_from is None or is_moved:
                self.refresh()
            else:
                first = self.window.end + changed_from - y
                self.refresh(Region(0, first, self._width(), max(1, self._height() - first)))
            self._drawn_top = self.window.top
        finally:
            self._placing = False
        self.post_message(self.Moved())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Somebody scrolled: make the rows there exact, and keep the picture."""
        if self._placing or self.window is None:
            return
        self._put(round(new_value))

    @property
    def below(self) -> int:
        """Rows of the transcript below the screen (estimated far from the end)."""
        return max(0, self._bottom() - self.scroll_offset.y)

    @property
    def told_below(self) -> int:
        """Of the rows below the screen, those before the gap that a story ends with."""
        has_gap = not self._tail or self._tail[-1][0] is GAP
        return max(0, self.below - has_gap)

    # -- moving the eye ---------------------------------------------------------------------------------------------

    def scroll_rows(self, rows: int) -> None:
        """Move the eye; the player did it, so follow only where the end is near."""
        self._put(self.scroll_offset.y + rows)
        self._after_scroll()

    def _after_scroll(self) -> None:
        self.is_following = self.below <= NEAR
        if self.is_following and self.window is not None and self.is_growing:
            self._unread = self.window.anchor(min(self.window.rows, self.scroll_offset.y + self._height()))

    def page(self, pages: int) -> None:
        """A page up or down, one row kept."""
        self.scroll_rows(pages * max(1, self._height() - 1))

    def to_start(self) -> None:
        """The opening."""
        if self.window is not None:
            self.window.load(0)
            self._put(0)
            self._after_scroll()

    def to_end(self) -> None:
        """The last row; following begins again."""
        self._unread = None
        self.is_following = True
        self._to_end()

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        event.prevent_default()
        self.scroll_rows(round(self.app.scroll_sensitivity_y))

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        event.prevent_default()
        self.scroll_rows(-round(self.app.scroll_sensitivity_y))

    def show_position(self, position: int, row: int = 0) -> None:
        """Bring a step on the screen, moving as little as needed."""
        if self.window is None or not 1 <= position <= self.window.count:
            return
        laid = self.window.laid_at(position)
        if laid is None:
            self.window.load(position - 1)
            laid = self.window.laid_at(position)
        if laid is None:
            return
        first = self.window.row_of(Place(position, row))
        last = first if row else first + len(laid.lines) - 1
        y, height = self.scroll_offset.y, self._height()
        if not y <= first < y + height or not self.window.top <= y < self.window.top + self.window.exact:
            y = first - (height // 3 if row else 0)
        elif last >= y + height:
            y = min(first, last - height + 1)
        self._put(y)
        self._after_scroll()
