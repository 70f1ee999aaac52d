"""The panel: state, memories, cards, saved places, the prompt, as text (F3). It shows lines that it is given."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from narrator.tui.outside import plain

TABS = ("state", "memories", "cards", "checkpoints", "prompt")
_NAMES = {"checkpoints": "saves"}


class Panel(Vertical):
    """One tab at a time; ``tab`` is the verb whose answer it shows. F3 goes to the next tab, then closes."""

    DEFAULT_CSS = """
    Panel { width: 38; background: $surface; display: none; border-left: solid $panel; }
    Panel #tabs { height: 1; padding: 0 1; }
    Panel #about { height: auto; max-height: 3; padding: 0 1; color: $faint; }
    Panel VerticalScroll { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    Panel #lines { height: auto; }
    """

    class Wanted(Message):
        """Another tab is to be filled."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.tab = TABS[0]
        self.revision = -1

    def compose(self) -> ComposeResult:
        yield Static(id="tabs")
        with VerticalScroll(can_focus=True):
            yield Static(id="lines")
        yield Static(Content("F3: next, then closed"), id="about")

    def on_mount(self) -> None:
        self._show_tabs()

    def _show_tabs(self) -> None:
        parts = [
            Content.styled(_NAMES.get(tab, tab), "bold underline $chosen" if tab == self.tab else "$faint")
            for tab in TABS
        ]
        self.query_one("#tabs", Static).update(Content(" ").join(parts))

    def next_tab(self) -> bool:
        """The next tab; False after the last."""
        at = TABS.index(self.tab) + 1
        if at >= len(TABS):
            self.open(TABS[0])
            return False
        self.open(TABS[at])
        return True

    def open(self, tab: str) -> None:
        """Show a tab."""
        self.tab = tab
        self._show_tabs()
        self.post_message(self.Wanted(tab))

    def show(self, revision: int, lines: Sequence[str]) -> None:
        """The answer of the tab's verb at a revision (S31)."""
        self.revision = revision
        self.query_one("#lines", Static).update(Content("\n").join([plain(each) for each in lines]))
