"""The transcript: a Line-API view over the window of steps (U2–U5).

Owns the window, the turn in flight (its text so far, drawn after the last step), the notes below it, the selected step
and the follow flag. Everything is read and wrapped when something changes or moves; ``render_line`` only draws.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from textual import events
from textual.reactive import reactive
from textual.selection import Selection
from textual.timer import Timer

from narrator.tui.transcript_window import GAP, Line, Place, StepSource, Window, column, input_lines
from narrator.tui.widgets.ink import Ink
from narrator.tui.widgets.placing import Placed
from narrator.tui.wrap import Growing, wrap

FLUSH_HERTZ = 25
"""How often streamed text reaches the screen a second (20–30)."""


@dataclass(slots=True)
class Draft:
    """A turn in flight: the input that was sent, and what has been told of the answer. Nothing of it is stored."""

    lines: list[Line]
    growing: Growing
    input: str = ""
    mode: str | None = None
    is_stopped: bool = False
    waiting: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Limited:
    """The source up to ``count`` steps: while a step is told anew, what it replaces is not shown."""

    inner: StepSource
    limit: int | None = None

    @property
    def count(self) -> int:
        return self.inner.count if self.limit is None else min(self.limit, self.inner.count)

    def read(self, first: int, last: int) -> list:  # type: ignore[type-arg]
        return self.inner.read(first, last)


class Transcript(Placed, can_focus=True):
    """See the module. ``selected`` is a position from 1, or None."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"transcript--{name}" for name in Ink._fields}
    DEFAULT_CSS = """
    Transcript {
        overflow-y: scroll; overflow-x: hidden; scrollbar-size-vertical: 1;
        background: $background; color: $foreground; scrollbar-gutter: auto;
        & .transcript--prose { color: $foreground; background: $background; }
        & .transcript--dialogue { color: $dialogue; }
        & .transcript--input { color: $input; text-style: bold; background: $background; }
        & .transcript--note { color: $margin; background: $background; text-style: italic; }
        & .transcript--error { color: $error; background: $background; }
        & .transcript--faint { color: $faint; background: $background; }
        & .transcript--pager { color: $faint; background: $background; }
        & .transcript--chosen { color: $chosen; background: $background; text-style: bold; }
        & .transcript--selection { background: $primary 40%; }
        & .transcript--found { color: $background; background: $found; }
    }
    """

    selected: reactive[int | None] = reactive(None)

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._source: _Limited | None = None
        self.draft: Draft | None = None
        self._notes: list[tuple[str, str]] = []
        self._ends: Sequence[str] = ()
        self._pending: list[str] = []
        self._flusher: Timer | None = None

    @property
    def chosen_position(self) -> int | None:
        return self.selected

    @property
    def is_growing(self) -> bool:
        return self.draft is not None

    # -- what is shown ----------------------------------------------------------------------------------------------

    def open_story(self, source: StepSource, ends: Sequence[str] = ()) -> None:
        """Show a path from its end, with ``ends`` as dim lines below it: what may be done from there."""
        self._ends = ends
        self._source = _Limited(source)
        self.window = Window(self._source, self._width())
        self.draft = None
        self._pending.clear()
        self._lay_tail()
        self.is_following = True
        # A story that has only begun is read from its first line.
        self._unread = Place(1, 0) if self.window.count == 1 else None
        self._to_end()

    def refresh_story(self, *, keep: Place | None = None, ends: Sequence[str] = ()) -> None:
        """The path changed: read it again. ``keep`` stays where it is on the screen, else the end is shown."""
        if self.window is None or self._source is None:
            return
        held = None if keep is None else self.window.row_of(keep) - self.scroll_offset.y
        self._source.limit = None
        self._ends = ends
        self.window.refresh()
        self._lay_tail()
        if self.selected is not None and self.selected > self.window.count:
            self.selected = None
        if keep is not None and held is not None and keep.position <= self.window.count:
            if self.window.laid_at(keep.position) is None:
                self.window.load(keep.position - 1)
            self._put(self.window.row_of(keep) - held)
        else:
            self.is_following = True
            self._unread = None
            self._to_end()

    def begin(self, text: str, mode: str | None, *, after: int | None = None) -> None:
        """A turn begins: its input stands at the end, the answer will follow. ``after``: the last step still shown."""
        if self.window is None or self._source is None:
            return
        self._pending.clear()
        lines = [*input_lines(text, mode, self._width()), GAP] if text.strip() else []
        self.draft = Draft(lines, Growing(column(self._width())), text, mode)
        self._notes.clear()
        if after is not None and after < self.window.count:
            self._source.limit = after
            self.window.refresh()
        self._lay_tail()
        self.is_following = True
        self._unread = Place(self.window.count + 1, 0)
        self._to_end()
        if self._flusher is None:
            self._flusher = self.set_interval(1 / FLUSH_HERTZ, self._flush)
        self._flusher.resume()

    def grow(self, text: str) -> None:
        """More of the answer; it reaches the screen with the next flush."""
        self._pending.append(text)

    def flush(self) -> None:
        """Show now what has arrived (the timer does it ``FLUSH_HERTZ`` times a second)."""
        self._flush()

    def stop_draft(self) -> bool:
        """The turn ended without a step: what was told stays, dimmed. False when there was nothing told."""
        self._flush()
        if self._flusher is not None:
            self._flusher.pause()
        if self._source is not None and self.window is not None and self._source.limit is not None:
            self._source.limit = None
            self.window.refresh()
        if self.draft is None or not self.draft.growing.text.strip():
            self.draft = None
        else:
            self.draft.is_stopped = True
        self._lay_tail()
        self._to_end()
        return self.draft is not None

    def accept_story(self, first: int, *, ends: Sequence[str] = ()) -> None:
        """The turn became steps from position ``first`` on: they stand where it was told, the eye stays where it is."""
        if self.window is None or self._source is None:
            return
        if self.draft is None:
            self.is_following = True
            self._unread = Place(first, 0)
        held = self.window.anchor(self.scroll_offset.y)
        self.end_draft()
        self._source.limit = None
        self._ends = ends
        self.window.refresh()
        self._lay_tail()
        if self.is_following:
            self._to_end()
        else:
            self.window.reach_end()
            self._put(self.window.row_of(held))

    def end_draft(self) -> None:
        """The partial text is forgotten."""
        self._pending.clear()
        self.draft = None
        if self._flusher is not None:
            self._flusher.pause()
        self._lay_tail()

    def note(self, text: str, *, is_error: bool = False) -> None:
        """A line below the story: an error, a remark. Gone with the next turn or move."""
        self._notes.append(("error" if is_error else "remark", text))
        del self._notes[:-12]
        self._lay_tail()
        if self.is_following:
            self._to_end()
        else:
            self._put(self.scroll_offset.y)

    def clear_notes(self) -> None:
        """Forget the notes."""
        if self._notes:
            self._notes.clear()
            self._lay_tail()

    @property
    def partial(self) -> str:
        """What has been told of a turn that is not a step."""
        return self.draft.growing.text if self.draft else ""

    # -- laying -----------------------------------------------------------------------------------------------------

    def _lay_tail(self) -> None:
        if self.window is None:
            return
        tail: list[tuple[Line, bool]] = []
        room = column(self._width()) - 2
        if self.draft is not None:
            faint = self.draft.is_stopped
            tail += [(line, faint) for line in self.draft.lines]
            tail += [(Line("prose", row), faint) for row in self.draft.growing.rows]
            if self.draft.growing.rows:
                tail.append((GAP, False))
        for kind, text in self._notes:
            for index, row in enumerate(wrap(text, room)):
                tail.append((Line(kind if index == 0 else f"{kind}-more", row), False))
        if self._notes:
            tail.append((GAP, False))
        if self.draft is None:
            tail += [(Line("redo", row), False) for words in self._ends for row in wrap(f"── {words} ──", room)]
        self._tail = tail
        self.window.tail = len(tail)

    def _flush(self) -> None:
        if self.draft is None or not self._pending or self.window is None:
            return
        self.draft.growing.append("".join(self._pending))
        self._pending.clear()
        old = self._tail
        self._lay_tail()
        same = 0
        for (before, _), (after, _) in zip(old, self._tail, strict=False):
            if before.row is not after.row:
                break
            same += 1
        if self.is_following:
            self._to_end(same)
        else:
            self._put(self.scroll_offset.y, same)

    def on_resize(self, event: events.Resize) -> None:
        """Another width wraps anew and keeps the step under the eye."""
        if self.window is None:
            return
        width = self._width()
        if width != self.window.width:
            place = self.window.place(self.scroll_offset.y)
            self._tail_drawn.clear()
            if self.draft is not None:
                self.draft.growing.resize(column(width))
                if self.draft.lines:
                    self.draft.lines = [*input_lines(self.draft.input, self.draft.mode, width), GAP]
            y = self.window.resize(width, place, self._height())
            self._lay_tail()
            if self._unread is not None:
                self._unread = Place(self._unread.position, 0)
            if self.is_following:
                self._to_end()
            else:
                self._put(y)
        elif self.is_following:
            self._to_end()
        else:
            self._put(self.scroll_offset.y)

    # -- the selected step --------------------------------------------------------------------------------------------

    def select(self, position: int | None) -> None:
        """Select a step and show it; None selects none."""
        if position is not None and self.window is not None:
            if not self.window.count:
                return
            position = max(1, min(position, self.window.count))
        self.selected = position
        if position is not None:
            self.show_position(position)

    def select_next(self, by: int) -> None:
        """The step before or after the selected one; without one the last step on the screen."""
        if self.window is None or not self.window.count:
            return
        if self.selected is None:
            height = self._height()
            place = self.window.place(min(self.scroll_offset.y + height - 1, self.window.end - 1))
            self.select(place.position)
        else:
            self.select(self.selected + by)

    def watch_selected(self, old: int | None, new: int | None) -> None:
        self.refresh()
        self.post_message(self.Moved())

    # -- search -----------------------------------------------------------------------------------------------------

    def highlight(self, words: str) -> None:
        """Mark these words wherever they stand; none for an empty text."""
        parts = [re.escape(word) for word in words.split()]
        self._words = re.compile("|".join(parts), re.IGNORECASE) if parts else None
        self._forget_drawn()

    def show_match(self, position: int, words: str) -> None:
        """Bring the first place of the words inside a step on the screen."""
        if self.window is None or not 1 <= position <= self.window.count:
            return
        self.highlight(words)
        step = next(iter(self.window.source.read(position, position)), None)
        match = self._words.search(step.text) if self._words and step else None
        row = self.window.row_of_character(position, match.start()) if match else 0
        self.selected = position
        self.show_position(position, row)

    # -- selection and copy -----------------------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The characters of the steps between two places (offset, position)."""
        if self.window is None or not self.window.count:
            return None
        first = max(1, selection.start.y if selection.start else 1)
        last = min(self.window.count, selection.end.y if selection.end else self.window.count)
        if first > last:
            return None
        texts = [step.words or step.text for step in self.window.source.read(first, last)]
        if selection.end is not None and selection.end.y == last:
            texts[-1] = texts[-1][: selection.end.x]
        if selection.start is not None and selection.start.y == first:
            texts[0] = texts[0][selection.start.x :]
        return "\n\n".join(texts), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()
