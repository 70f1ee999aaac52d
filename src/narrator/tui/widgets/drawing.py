"""How a window of steps becomes strips: the drawing half of the transcript. Nothing is read or wrapped here (U3)."""

from __future__ import annotations

import re

from rich.style import Style
from textual.geometry import Region
from textual.scroll_view import ScrollView
from textual.strip import Strip

from narrator.tui.transcript_window import Laid, Line, Window
from narrator.tui.widgets.ink import Ink, Overlay, draw


class Drawn(ScrollView):
    """Draws the rows of ``window`` and below them the tail. Owns the inks of the theme and the strips of the tail."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.window: Window | None = None
        self._tail: list[tuple[Line, bool]] = []
        self._tail_drawn: dict[int, tuple[Line, Strip]] = {}
        self._ink: Ink | None = None
        self._words: re.Pattern[str] | None = None

    @property
    def chosen_position(self) -> int | None:
        """The step that is marked as selected."""
        return None

    def _width(self) -> int:
        return max(1, self.scrollable_content_region.width or self.size.width or 80)

    def notify_style_update(self) -> None:
        """A theme was chosen: mix the inks again."""
        super().notify_style_update()
        self._ink = None
        self._forget_drawn()

    def _forget_drawn(self) -> None:
        self._tail_drawn.clear()
        if self.window is not None:
            self.window.forget_drawn()
        self.refresh()

    def ink(self) -> Ink:
        """The styles of the theme."""
        if self._ink is None:
            styles = [self.get_component_rich_style(f"transcript--{name}") for name in Ink._fields]
            ink = Ink(*styles)
            self._ink = ink._replace(
                dialogue=Style(color=ink.dialogue.color, dim=ink.dialogue.dim, italic=None),
                selection=Style(bgcolor=ink.selection.bgcolor, reverse=True if self.app.no_color else None),
                found=Style(color=ink.found.color, bgcolor=ink.found.bgcolor, underline=True),
            )
        return self._ink

    def _overlays(self, laid: Laid) -> list[Overlay]:
        overlays: list[Overlay] = []
        ink = self.ink()
        if self._words is not None:
            overlays += [
                Overlay(m.start(), m.end(), ink.found) for m in self._words.finditer(laid.step.words or laid.step.text)
            ]
        selection = self.text_selection
        if selection is not None:
            span = selection.get_span(laid.step.position)
            if span is not None:
                overlays.append(Overlay(span[0], span[1], ink.selection))
        return overlays

    def render_line(self, y: int) -> Strip:
        """One row of the screen as it is drawn."""
        return self._draw_rows(range(y, y + 1))[0]

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a region. There is no border, padding or opacity to add, so the strips go out as they are."""
        width = crop.right
        strips = self._draw_rows(crop.line_range)
        background = self.background_colors[1]
        for each in self.get_line_filters():
            strips = [strip.apply_filter(each, background) for strip in strips]
        if crop.x or any(strip.cell_length != width for strip in strips):
            style = self.ink().prose
            strips = [strip.crop_extend(crop.x, width, style) for strip in strips]
        return strips

    def _draw_rows(self, rows: range) -> list[Strip]:
        """Draw rows of the screen; everything about them is known already, and most was drawn before."""
        ink, window = self.ink(), self.window
        if window is None:
            return [Strip.blank(self._width(), ink.prose)] * len(rows)
        width, end, offset = window.width, window.end, self.scroll_offset.y
        is_marked = self._words is not None or self.text_selection is not None
        blank = Strip.blank(width, ink.prose)
        strips: list[Strip] = []
        for row in range(rows.start + offset, rows.stop + offset):
            if row >= end:
                strips.append(self._draw_tail(row - end, width, ink) or blank)
                continue
            found = window.line_at(row)
            strips.append(blank if found is None else self._draw_line(*found, width, ink, is_marked))
        return strips

    def _draw_tail(self, index: int, width: int, ink: Ink) -> Strip | None:
        if index >= len(self._tail):
            return None
        line, is_faint = self._tail[index]
        key = index * 2 + is_faint
        known = self._tail_drawn.get(key)
        if known is None or known[0].row is not line.row or known[0].kind != line.kind:
            known = (line, draw(line, width, ink, is_faint=is_faint))
            self._tail_drawn[key] = known
        return known[1]

    def _draw_line(self, laid: Laid, index: int, width: int, ink: Ink, is_marked: bool) -> Strip:
        is_chosen = self.chosen_position == laid.step.position
        if is_marked and (overlays := self._overlays(laid)):
            return draw(laid.lines[index], width, ink, step=laid.step, is_chosen=is_chosen, overlays=overlays)
        key = index * 2 + is_chosen
        strip = laid.drawn.get(key)
        if not isinstance(strip, Strip):
            strip = draw(laid.lines[index], width, ink, step=laid.step, is_chosen=is_chosen)
            laid.drawn[key] = strip
        return strip
