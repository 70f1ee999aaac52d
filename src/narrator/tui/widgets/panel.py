"""The panel (F3): state, memories, cards, saved places, the prompt; a list to walk through, and more of its entry.

It shows a page that it is given and knows nothing of the story. What a key, a click or Enter wants of an entry goes out
as ``Wanted``; which page is to be filled as ``Filled``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from narrator.tui import budget_bar
from narrator.tui.budget_bar import Segment
from narrator.tui.outside import plain
from narrator.tui.panel_pages import PanelPage
from narrator.tui.widgets.listbox import ListBox
from narrator.tui.wrap import cells

TABS = ("state", "memories", "cards", "checkpoints", "prompt")
_NAMES = {"checkpoints": "saves"}
_SHORT = {"memories": "mem", "checkpoints": "saves"}


class Words(Widget):
    """Words in rows, each of which can be clicked: tabs, and the keys of a page."""

    DEFAULT_CSS = "Words { height: auto; padding: 0 1; background: $surface; }"

    class Clicked(Message):
        """A click on a word."""

        def __init__(self, words: Words, key: str) -> None:
            super().__init__()
            self.words = words
            self.key = key

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown: list[tuple[str, Content, int]] = []
        self._places: list[tuple[int, int, int, str]] = []

    def show(self, shown: Sequence[tuple[str, Content]]) -> None:
        """(key, word) in order."""
        found = [(key, content, cells(content.plain)) for key, content in shown]
        if [(key, content.plain, content.spans) for key, content, _ in found] != [
            (key, content.plain, content.spans) for key, content, _ in self._shown
        ]:
            self._shown = found
            self.refresh(layout=True)

    def _rows(self, width: int) -> list[list[tuple[str, Content, int]]]:
        rows: list[list[tuple[str, Content, int]]] = [[]]
        used = 0
        for word in self._shown:
            if rows[-1] and used + word[2] > width:
                rows.append([])
                used = 0
            rows[-1].append(word)
            used += word[2] + 1
        return rows

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self._rows(max(1, width))) if self._shown else 0

    def render(self) -> Content:
        self._places = []
        lines: list[Content] = []
        for y, row in enumerate(self._rows(max(1, self.size.width))):
            x = 0
            for key, _, width in row:
                self._places.append((y, x, x + width, key))
                x += width + 1
            lines.append(Content(" ").join([content for _, content, _ in row]))
        return Content("\n").join(lines)

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is None:
            return
        for y, left, right, key in self._places:
            if at.y == y and left <= at.x < right:
                event.stop()
                self.post_message(self.Clicked(self, key))


class Bar(Widget):
    """A window of tokens as letters. Neighbours are told apart by letter and by reversed cells, not by colour."""

    DEFAULT_CSS = "Bar { height: auto; padding: 0 1; color: $chosen; }"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._segments: tuple[Segment, ...] = ()

    def show(self, segments: Sequence[Segment]) -> None:
        """Other stretches."""
        self._segments = tuple(segments)
        self.refresh(layout=True)

    def rows(self, width: int) -> list[str]:
        """The rows of letters in so many cells."""
        return budget_bar.rows(self._segments, max(1, width)) if self._segments else []

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self.rows(width))

    def render(self) -> Content:
        order = [segment.letter for segment in self._segments if segment.letter != budget_bar.FREE]
        lines = []
        for row in self.rows(self.size.width):
            runs = budget_bar.runs(row)
            styles = ["$faint" if run[0] not in order else ("reverse", "")[order.index(run[0]) % 2] for run in runs]
            lines.append(
                Content("").join([Content.styled(run, style) for run, style in zip(runs, styles, strict=True)])
            )
        return Content("\n").join(lines)


class Panel(Vertical):
    """One tab at a time. ← and → go to another; letters are those of the page, shown at its foot."""

    DEFAULT_CSS = """
    Panel { width: 38; background: $surface; display: none; border-left: solid $panel; }
    Panel #tabs { background: $panel; padding: 0 0 0 1; }
    Panel #heading { height: auto; max-height: 4; padding: 0 1; color: $faint; }
    Panel ListBox { height: 1fr; min-height: 3; padding: 0 0 0 1; }
    Panel #detail { height: auto; max-height: 9; padding: 0 1; border-top: solid $panel; scrollbar-size-vertical: 1; }
    Panel #about { height: auto; }
    """

    class Filled(Message):
        """A tab is to be filled."""

    class Wanted(Message):
        """Something is to be done with an entry (its key, None for none)."""

        def __init__(self, want: str, key: Hashable | None) -> None:
            super().__init__()
            self.want = want
            self.key = key

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.tab = TABS[0]
        self.page: PanelPage | None = None

    def compose(self) -> ComposeResult:
        yield Words(id="tabs")
        yield Static(id="heading")
        yield Bar(id="bar")
        yield ListBox(id="panel-list")
        with VerticalScroll(id="detail", can_focus=False):
            yield Static(id="about")
        yield Words(id="hints")

    def on_mount(self) -> None:
        self._show_tabs()

    def on_resize(self) -> None:
        self._show_tabs()

    @property
    def box(self) -> ListBox:
        return self.query_one(ListBox)

    def _show_tabs(self) -> None:
        names = [_NAMES.get(tab, tab) for tab in TABS]
        if sum(map(len, names)) + len(names) > self.size.width:
            names = [_SHORT.get(tab, tab) for tab in TABS]
        styles = ["bold underline $chosen" if tab == self.tab else "$foreground" for tab in TABS]
        shown = [Content.styled(name, style) for name, style in zip(names, styles, strict=True)]
        self.query_one("#tabs", Words).show(list(zip(TABS, shown, strict=True)))

    def next_tab(self, by: int = 1) -> None:
        """The next tab or the one before, round and round."""
        self.open(TABS[(TABS.index(self.tab) + by) % len(TABS)])

    def open(self, tab: str) -> None:
        """Turn to a tab; it is filled by whoever hears of it."""
        self.tab = tab
        self._show_tabs()
        self.post_message(self.Filled())

    def show(self, page: PanelPage, *, keeps_cursor: bool = True) -> None:
        """Another page. The cursor stays on its entry where that is still there."""
        keeps = keeps_cursor and any(entry.key == self.box.chosen for entry in page.entries)
        self.page = page
        self.query_one("#heading", Static).update(plain(page.heading))
        bar = self.query_one(Bar)
        bar.show(page.bar)
        bar.display = bool(page.bar)
        self.box.empty = page.empty
        self.box.show(page.entries, at=self.box.chosen if keeps else page.at)
        self.query_one("#hints", Words).show(
            [(each.want, Content.assemble((each.label, "bold $chosen"), f" {each.word}")) for each in page.hints]
        )
        self._tell()

    def _tell(self) -> None:
        """What is told of the entry under the cursor."""
        told = list(self.page.detail(self.box.chosen)) if self.page is not None else []
        self.query_one("#detail").display = bool(told)
        self.query_one("#about", Static).update(Content("\n").join([plain(each) for each in told]))

    def on_list_box_moved(self, event: ListBox.Moved) -> None:
        event.stop()
        self._tell()

    def on_list_box_chosen(self, event: ListBox.Chosen) -> None:
        event.stop()
        self._want("choose")

    def on_words_clicked(self, event: Words.Clicked) -> None:
        event.stop()
        if event.words.id == "tabs":
            self.open(event.key)
        else:
            self._want(event.key)

    def _want(self, want: str) -> None:
        self.post_message(self.Wanted(want, self.box.chosen))

    def on_key(self, event: events.Key) -> None:
        if event.key in ("left", "right"):
            self.next_tab(1 if event.key == "right" else -1)
        else:
            hints = self.page.hints if self.page is not None else ()
            found = next((each for each in hints if each.key == event.key and each.want != "choose"), None)
            if found is None:
                return
            self._want(found.want)
        event.stop()
        event.prevent_default()
