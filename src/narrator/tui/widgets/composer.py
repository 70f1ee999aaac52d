"""The composer: what the player types, its mode, its history and the list that completes a command (U4, U6, U9).

Owns the text and nothing of the story. It takes printable keys, line editing and Enter; every other key goes on to the
screen. What terminals and their keys do to a line editor is here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.actions import parse
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static, TextArea

from narrator.core.prose import visible
from narrator.tui.outside import line
from narrator.tui.wrap import cells

if TYPE_CHECKING:
    from narrator.engine.completion import Completion

MODES = ("do", "say", "story")
MOST_LINES = 6
_INVITATION = "what do you do? Enter sends it"
_READING = "letters are commands; Esc types again"
SHOWN = 6
"""Completions shown at a time."""


def _key(key: str, action: str) -> Binding:
    return Binding(key, action, show=False)


class Editor(TextArea, inherit_bindings=False):
    """The text area of the composer, with the keys of a line editor and no others."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _key("left", "cursor_left"), _key("right", "cursor_right"),
        _key("ctrl+left", "cursor_word_left"), _key("ctrl+right", "cursor_word_right"),
        _key("home,ctrl+a", "cursor_line_start"), _key("end,ctrl+e", "cursor_line_end"),
        _key("shift+left", "cursor_left(True)"), _key("shift+right", "cursor_right(True)"),
        _key("shift+up", "cursor_up(True)"), _key("shift+down", "cursor_down(True)"),
        _key("ctrl+shift+left", "cursor_word_left(True)"), _key("ctrl+shift+right", "cursor_word_right(True)"),
        _key("shift+home", "cursor_line_start(True)"), _key("shift+end", "cursor_line_end(True)"),
        _key("backspace", "delete_left"), _key("delete,ctrl+d", "delete_right"),
        _key("ctrl+w,ctrl+backspace,alt+backspace", "delete_word_left"), _key("alt+delete", "delete_word_right"),
        _key("ctrl+u", "delete_to_start_of_line"), _key("ctrl+x", "cut"), _key("ctrl+v", "paste"),
    ]  # fmt: skip

    class Recall(Message):
        """An earlier (-1) or later (+1) input is wanted."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    class Menu(Message):
        """A key for the open list: up, down."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    is_menu_open = False
    enter: Callable[[], None] = staticmethod(lambda: None)
    """What Enter does, before the next key is looked at."""

    @property
    def has_redo(self) -> bool:
        """Whether text that was undone can come back."""
        return bool(self.history.redo_stack)

    _is_styled = False

    def notify_style_update(self) -> None:
        """A theme or a focus: the colours are mixed again with the next drawing."""
        super().notify_style_update()
        self._is_styled = False

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw; the colours are mixed when the styles change, not with every key."""
        if not self._is_styled:
            self._is_styled = True
            return super().render_lines(crop)
        return Widget.render_lines(self, crop)

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn: controls visible, one character for one (U10)."""
        return Text(visible(self.document.get_line(line_index)), end="")

    async def _on_key(self, event: events.Key) -> None:
        key = event.key
        if key in ("ctrl+j", "shift+enter", "shift+\r", "newline"):
            self.insert("\n")
        elif key == "enter":
            row, column = self.cursor_location
            if column and self.document.get_line(row)[column - 1 : column] == "\\":
                self.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)
            else:
                self.enter()
        elif key in ("up", "down"):
            self._go_line(-1 if key == "up" else 1)
        elif not await self._edited(key):
            return
        event.stop()
        event.prevent_default()

    async def _edited(self, key: str) -> bool:
        """Do what a key of the line editor does; False where it is none. A binding would be looked up behind whatever
        letters have come meanwhile, and edit those."""
        for binding in self._bindings.key_to_bindings.get(key, ()):
            _, name, parameters = parse(binding.action)
            if self.check_action(name, parameters):
                await self.run_action(binding.action)
                return True
        return False

    def _go_line(self, by: int) -> None:
        if self.is_menu_open:
            self.post_message(self.Menu(by))
            return
        before = self.cursor_location
        if by < 0:
            self.action_cursor_up()
        else:
            self.action_cursor_down()
        after = self.cursor_location
        is_edge = (by < 0 and after == (0, 0)) or (by > 0 and after == self.document.end)
        if after == before or (is_edge and after[0] == before[0]):
            self.post_message(self.Recall(by))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """An empty composer leaves arrows, Home and End to the screen."""
        if not self.text and action in ("cursor_left", "cursor_right", "cursor_line_start", "cursor_line_end"):
            return False
        return super().check_action(action, parameters)


class Menu(Widget):
    """The list that completes a command; drawn above the composer while there is something to choose."""

    DEFAULT_CSS = "Menu { height: auto; display: none; background: $panel; color: $foreground; padding: 0 2; }"

    def __init__(self) -> None:
        super().__init__()
        self.choices: Sequence[Completion] = ()
        self.index = 0

    def show(self, choices: Sequence[Completion]) -> None:
        """Show these choices, none closes."""
        if list(choices) == list(self.choices):
            return
        self.index = 0
        self.choices = choices
        self.display = bool(choices)
        self.refresh(layout=True)

    def move(self, by: int) -> None:
        """The next or previous choice."""
        self.index = (self.index + by) % max(1, len(self.choices))
        self.refresh()

    def render(self) -> Content:
        width = max(4, self.size.width)
        first = max(0, min(self.index - SHOWN // 2, len(self.choices) - SHOWN))
        rows = []
        for number, choice in enumerate(self.choices[first : first + SHOWN], start=first):
            mark = "▸ " if number == self.index else "  "
            label = line(mark + choice.label, max(4, min(width, 34)), "bold" if number == self.index else "")
            gap = " " * max(1, 36 - cells(label.plain))
            rows.append(Content.assemble(label, gap, line(choice.help, width - 36, "$faint")) if width > 50 else label)
        return Content("\n").join(rows)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return min(SHOWN, len(self.choices))


@dataclass(frozen=True, slots=True)
class Input:
    """A line on its way: its text, what text without a slash means in it, and the step that it edits, or None."""

    text: str
    mode: str = "do"
    editing: int | None = None


class Composer(Vertical):
    """The editor with its mode before it and its list above it."""

    DEFAULT_CSS = """
    Composer { height: auto; background: $surface; }
    Composer #line { height: auto; }
    Composer #mode { width: auto; padding: 0 0 0 1; color: $input; text-style: bold; background: $surface; }
    Composer Editor {
        height: auto; max-height: 6; border: none; padding: 0; background: $surface; scrollbar-size-vertical: 1;
        color: $foreground; width: 1fr;
    }
    Composer Editor:focus { border: none; }
    Composer.-away #mode { color: $faint; text-style: none; }
    """

    class Changed(Message):
        """The text or the mode is another: a draft to keep."""

    class Sent(Message):
        """A line is to be performed."""

        def __init__(self, text: str, mode: str) -> None:
            super().__init__()
            self.text = text
            self.mode = mode

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.mode = "do"
        self.editing: int | None = None
        self.history: list[str] = []
        self._at: int | None = None
        self._unsent = ""
        self._edit_begun = ""
        self.names: Mapping[str, Sequence[str]] = {}
        self._is_menu_shut = False
        self._is_reading = False

    def compose(self) -> ComposeResult:
        yield Menu()
        with Horizontal(id="line"):
            yield Static(id="mode")
            yield Editor(id="editor", compact=True, highlight_cursor_line=False, placeholder=Content(_INVITATION))

    def on_mount(self) -> None:
        self.editor.enter = self._enter
        self.show_mode()

    @property
    def editor(self) -> Editor:
        return self.query_one(Editor)

    @property
    def menu(self) -> Menu:
        return self.query_one(Menu)

    @property
    def text(self) -> str:
        """What has been typed."""
        return self.editor.text

    @property
    def text_to_keep(self) -> str:
        """The text of the next input: while a step is edited, what was being typed before, and the edit so far."""
        if self.editing is None:
            return self.text
        edit = self.text if self.text != self._edit_begun else ""
        return "\n".join(part for part in (self._unsent, edit) if part)

    def put(self, text: str, *, is_new: bool = True) -> None:
        """Another text, the cursor at its end; ``is_new``: nothing of the old can be undone to."""
        if is_new:
            self.editor.load_text(text)
        else:
            self.editor.clear()
            self.editor.insert(text)
        self.editor.move_cursor(self.editor.document.end)

    def clear(self) -> None:
        """An empty line again; an edit is over."""
        self.editing = None
        self._at = None
        self.put("")
        self.show_mode()

    def take_out(self, line: Input) -> None:
        """An edit has been sent: what was being typed beside it stands here again."""
        if line.editing is not None and line.editing == self.editing:
            self.editing, self._at = None, None
            self.put(self._unsent)
            self.show_mode()

    def give_back(self, text: str) -> None:
        """A text that was sent stands here again, above what has been typed since."""
        if not text:
            return
        if self.editing is not None:
            self._unsent = f"{text}\n{self._unsent}" if self._unsent else text
        else:
            self.put(f"{text}\n{self.text}" if self.text else text)

    def edit_step(self, position: int, text: str, begun: str | None = None) -> None:
        """Edit the text of a step instead of writing the next input; ``begun``: what it was, where it is another."""
        self._unsent = self.text if self.editing is None else self._unsent
        self.editing = position
        self._edit_begun = text if begun is None else begun
        self.put(text)
        self.show_mode()
        self.editor.focus()

    def leave_edit(self) -> None:
        """Back to what was being typed before; the text of the edit is among the earlier inputs."""
        if self.editing is not None:
            if self.text.strip() and self.text != self._edit_begun:
                self.history.append(self.text)
            self.editing = None
            self.put(self._unsent)
            self.show_mode()

    def next_mode(self) -> None:
        """do → say → story → do."""
        self.mode = MODES[(MODES.index(self.mode) + 1) % len(MODES)]
        self.show_mode()
        self.post_message(self.Changed())

    def set_away(self, is_reading: bool, is_away: bool) -> None:
        """The keys go elsewhere: to the story, where letters are commands, or to a pane beside it."""
        self.set_class(is_away, "-away")
        if is_reading != self._is_reading:
            self._is_reading = is_reading
            self.show_mode()

    def show_mode(self) -> None:
        """Draw what Enter will do; while the story is read, that letters are no text."""
        words = f"edit {self.editing} ▸ " if self.editing is not None else f"{self.mode} ▸ "
        words = "reading ▸ " if self._is_reading else words
        self.editor.placeholder = Content(_READING if self._is_reading else _INVITATION)
        self.query_one("#mode", Static).update(Content(words))

    @property
    def is_completing(self) -> bool:
        """The list is open."""
        return bool(self.menu.display)

    def complete(self) -> bool:
        """Take the chosen completion; False without one."""
        if not self.is_completing:
            return False
        chosen = self.menu.choices[self.menu.index]
        self.put(chosen.line, is_new=False)
        return True

    def shut_menu(self) -> bool:
        """Close the list until the text changes; False when it was not open."""
        if not self.is_completing:
            return False
        self._is_menu_shut = True
        self._list()
        return True

    def _list(self) -> None:
        text = self.text
        choices: Sequence[Completion] = ()
        if text.startswith("/") and "\n" not in text and not self._is_menu_shut and self.editing is None:
            from narrator.engine.completion import complete  # The first frame needs none of the commands.

            choices = [c for c in complete(text, self.names) if c.line != text]
        self.menu.show(choices)
        self.editor.is_menu_open = bool(choices)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._is_menu_shut = False
        self._list()
        self.post_message(self.Changed())

    def on_editor_menu(self, event: Editor.Menu) -> None:
        self.menu.move(event.by)

    def on_editor_recall(self, event: Editor.Recall) -> None:
        """Earlier inputs; what was being typed stands after the latest."""
        if not self.history or self.editing is not None:
            return
        if self._at is None:
            if event.by > 0:
                return
            self._unsent = self.text
            self._at = len(self.history)
        self._at = max(0, self._at + event.by)
        if self._at >= len(self.history):
            self._at = None
            self.put(self._unsent)
        else:
            self.put(self.history[self._at])

    def _enter(self) -> None:
        """A line is complete: it is taken out at once, for what is typed from here on is the next one."""
        text = self.text
        if text.strip() and (not self.history or self.history[-1] != text):
            self.history.append(text)
            del self.history[:-200]
        if self.editing is None:
            self.clear()
        self._at = None
        self.post_message(self.Sent(text, self.mode))
