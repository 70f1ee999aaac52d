"""A list of one-line entries that costs the same at ten and ten thousand: rail, library and choosers are made of it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from narrator.tui.wrap import cells, clip


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: ``text`` at the left, ``detail`` at the right, and ``more`` before it where all of the line has room.

    A heading (``key`` None) cannot be chosen. ``words`` are not shown: where a list can be narrowed, they find it too.
    """

    key: Hashable | None
    text: str
    detail: str = ""
    is_strong: bool = False
    is_faint: bool = False
    more: str = ""
    words: str = ""


class ListBox(ScrollView, can_focus=True):
    """Entries with a cursor. Up, Down, PgUp, PgDn, Home, End move it, Enter or a click chooses."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"list--line", "list--cursor", "list--faint", "list--heading"}
    DEFAULT_CSS = """
    ListBox {
        overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; background: $surface;
        & .list--line { color: $foreground; background: $surface; }
        & .list--faint { color: $faint; background: $surface; }
        & .list--heading { color: $chosen; background: $surface; text-style: bold; }
        & .list--cursor { color: $background; background: $primary; text-style: bold; }
    }
    """
    cursor: reactive[int] = reactive(0)

    class Chosen(Message):
        """Enter or a click on an entry."""

        def __init__(self, box: ListBox, key: Hashable) -> None:
            super().__init__()
            self.box = box
            self.key = key

    class Moved(Message):
        """The cursor stands on another entry."""

        def __init__(self, box: ListBox, key: Hashable | None) -> None:
            super().__init__()
            self.box = box
            self.key = key

    def __init__(self, entries: Sequence[Entry] = (), *, id: str | None = None, empty: str = "") -> None:
        super().__init__(id=id)
        self.entries: Sequence[Entry] = ()
        self.empty = empty
        self._styles: dict[str, Style] | None = None
        self.show(entries)

    def show(self, entries: Sequence[Entry], *, at: Hashable | None = None) -> None:
        """Other entries; the cursor stays on its key, or goes to ``at``, or to the first that can be chosen."""
        wanted = at if at is not None else self.chosen
        self.entries = entries
        keys = [entry.key for entry in entries]
        index = keys.index(wanted) if wanted is not None and wanted in keys else self._next(-1, 1)
        self.virtual_size = Size(0, len(entries))
        self.set_reactive(ListBox.cursor, max(0, index))
        self.refresh()
        if self.is_mounted:
            self._keep_in_view()
            self.post_message(self.Moved(self, self.chosen))

    @property
    def chosen(self) -> Hashable | None:
        """The key under the cursor."""
        return self.entries[self.cursor].key if 0 <= self.cursor < len(self.entries) else None

    def _next(self, index: int, by: int) -> int:
        """The next entry that can be chosen; -1 without one."""
        index += by
        while 0 <= index < len(self.entries):
            if self.entries[index].key is not None:
                return index
            index += by
        return -1

    def move(self, by: int) -> None:
        """Move the cursor by this many entries that can be chosen, as far as there are."""
        at = self.cursor
        for _ in range(abs(by)):
            found = self._next(at, 1 if by > 0 else -1)
            if found < 0:
                break
            at = found
        self.cursor = at

    def watch_cursor(self) -> None:
        self._keep_in_view()
        self.refresh()
        self.post_message(self.Moved(self, self.chosen))

    def on_resize(self) -> None:
        self._keep_in_view()

    def _keep_in_view(self) -> None:
        if not self.size.height or not self.entries:
            return
        above = self.cursor
        while above and self.entries[above - 1].key is None:
            above -= 1
        self.scroll_to_region(Region(0, above, 1, self.cursor - above + 1), animate=False, x_axis=False, force=True)

    def on_key(self, event: events.Key) -> None:
        page = max(1, self.size.height - 1)
        steps = {"up": -1, "k": -1, "down": 1, "j": 1, "pageup": -page, "pagedown": page}
        if event.key in steps:
            self.move(steps[event.key])
        elif event.key in ("home", "end"):
            self.move(-len(self.entries) if event.key == "home" else len(self.entries))
        elif event.key == "enter":
            if self.chosen is not None:
                self.post_message(self.Chosen(self, self.chosen))
        else:
            return
        event.stop()
        event.prevent_default()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index = offset.y + self.scroll_offset.y
        if 0 <= index < len(self.entries) and self.entries[index].key is not None:
            self.cursor = index
            self.post_message(self.Chosen(self, self.entries[index].key))

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles = None
        self.refresh()

    def _style(self, name: str) -> Style:
        if self._styles is None:
            self._styles = {
                each: self.get_component_rich_style(f"list--{each}") for each in ("line", "cursor", "faint", "heading")
            }
        return self._styles[name]

    def render_line(self, y: int) -> Strip:
        width = max(1, self.scrollable_content_region.width)
        index = y + self.scroll_offset.y
        if not self.entries and y == 0 and self.empty:
            return Strip([Segment(clip(self.empty, width), self._style("faint"))]).extend_cell_length(
                width, self._style("line")
            )
        if index >= len(self.entries):
            return Strip.blank(width, self._style("line"))
        entry = self.entries[index]
        is_here = index == self.cursor and entry.key is not None
        name = "heading" if entry.key is None else "faint" if entry.is_faint else "line"
        style = self._style("cursor") if is_here and self.has_focus else self._style(name)
        mark = "▸ " if is_here else "  " if entry.key is not None else ""
        if entry.is_strong and not is_here:
            style = style + Style(bold=True)
        detail = f"{entry.more} · {entry.detail}" if entry.more else entry.detail
        if not entry.more or len(mark) + cells(entry.text) + 1 + cells(detail) > width:
            detail = clip(entry.detail, max(0, width // 2))
        room = max(1, width - len(mark) - cells(detail) - (1 if detail else 0))
        text = clip(entry.text, room)
        pad = max(0, width - len(mark) - cells(text) - cells(detail))
        rest = style if is_here and self.has_focus else self._style("faint")
        strip = Strip([Segment(mark + text, style), Segment(" " * pad, style), Segment(detail, rest)])
        return strip.adjust_cell_length(width, style)
