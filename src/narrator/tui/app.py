"""The Textual app: owns the settings, the themes, the keymap and which screen is shown; each screen owns its story.

It is opened with a campaign or with none, which is the library. Nothing here imports a model's client: who tells the
story is made in a thread after the first frame.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.theme import Theme
from textual.worker import WorkerFailed

from narrator import __version__, config, paths
from narrator.config import Settings
from narrator.core.errors import NarratorError
from narrator.engine.clock import utc_now
from narrator.store.open import Store, open_store
from narrator.tui.holding import KeyHolding
from narrator.tui.terminal import leave_on_signals, terminal_driver
from narrator.tui.theming import load_themes, with_story_colours

if TYPE_CHECKING:
    from narrator.engine.story import Story
    from narrator.exchange.importing import Prepared
    from narrator.narrators.port import Narrator
    from narrator.tui.keymap import Keymap
    from narrator.tui.screens.play import PlayScreen

FIRST_THEME = "dark"
CANNOT_OPEN = 3
_COLLECTED_AFTER = (700, 10, 10)
"""Python's own thresholds of its garbage collection, which the start has raised."""


class NarratorApp(KeyHolding, inherit_bindings=False):
    """``path`` None opens the library. ``casting`` makes the narrator in a thread (tests give one of their own)."""

    CSS_PATH = "narrator.tcss"
    TITLE = "narrator"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "leave", show=False, priority=True)]

    def __init__(
        self,
        path: Path | None = None,
        *,
        settings: Settings | None = None,
        notes: tuple[str, ...] = (),
        narrator: str | None = None,
        casting: Callable[[Story, str | None], Narrator] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(driver_class=terminal_driver())
        self.settings = settings or Settings()
        self.version = __version__
        self.clock = clock
        self._path = path
        self._narrator = narrator
        self._casting = casting
        self._notes = list(notes)
        self._exit_code = 0
        self.error_log = logging.getLogger("narrator.tui")
        self._load_themes()

    # -- themes -----------------------------------------------------------------------------------------------------

    def _load_themes(self) -> None:
        themes, failures = load_themes(paths.theme_folders())
        self.own_themes: list[Theme] = themes
        for theme in themes:
            self.register_theme(theme)
        self._notes += [f"Theme {failure.path.name} was left out: {failure.reason}" for failure in failures]
        wanted = self.settings.theme or FIRST_THEME
        if wanted in self.available_themes:
            self.theme = wanted
        else:
            self._notes.append(f"There is no theme {wanted!r}; F4 lists them.")
            self.theme = FIRST_THEME if FIRST_THEME in self.available_themes else self.theme

    def get_css_variables(self) -> dict[str, str]:
        return with_story_colours(super().get_css_variables())

    @cached_property
    def keymap(self) -> Keymap:
        """The keys with the player's own. Made by the first screen that listens to them, which tells what is wrong."""
        from narrator.tui.keymap import make_keymap

        keymap, problems = make_keymap(self.settings.keys)
        self._notes += problems
        return keymap

    def notes_of_start(self) -> list[str]:
        """What was wrong with config, keys and themes; told once."""
        self.keymap  # noqa: B018 (its problems are notes)
        notes, self._notes = self._notes, []
        return notes

    # -- start and end ----------------------------------------------------------------------------------------------

    async def run_async(self, **given: Any) -> int | None:
        """As Textual has it; a signal leaves from the first byte to the terminal on."""
        leave_on_signals(self._end_by_signal)
        return await super().run_async(**given)

    def on_mount(self) -> None:
        if self._path is None:
            from narrator.tui.screens.library import LibraryScreen

            self.push_screen(LibraryScreen())

    def get_default_screen(self) -> Screen[Any]:
        """The first page, which is then ready one screen sooner. Whatever comes after it stands on it, emptied."""
        if self._path is None:
            return super().get_default_screen()
        from narrator.tui.screens.first_page import FirstPage

        return FirstPage(self._path, narrator=self._narrator)

    def first_frame_is_drawn(self) -> None:
        """Keys are listened to, and what was loaded stays: it need not be looked through again and again."""
        self.listen()
        gc.enable()
        gc.freeze()
        gc.set_threshold(*_COLLECTED_AFTER)

    def play(self, path: Path, narrator: str | None = None) -> None:
        """Show a campaign."""
        from narrator.tui.screens.play import PlayScreen

        self.push_screen(PlayScreen(path, narrator=narrator))

    def _end_by_signal(self, code: int) -> None:
        self._exit_code = code
        self.when_listening(self._leave)

    def hung_up(self) -> None:
        """The terminal is gone: as SIGHUP."""
        self._end_by_signal(129)

    def leave(self) -> None:
        """Quit behind what was typed: stop a turn, keep the draft, close the file, give the terminal back."""
        self.behind_keys(self._leave)

    action_leave = leave

    async def _leave(self) -> None:
        for screen in self.screen_stack:
            close_story = getattr(screen, "close_story", None)
            try:
                if close_story is not None:
                    await close_story()
            except Exception as error:
                self.log_error(error)
        self.exit(self._exit_code)

    def play_screens(self) -> list[PlayScreen]:
        """The campaigns that are open: one at most, under whatever dialog."""
        from narrator.tui.screens.play import PlayScreen

        return [screen for screen in self.screen_stack if isinstance(screen, PlayScreen)]

    async def to_library(self) -> None:
        """Leave the campaign and show the library."""
        from narrator.tui.screens.library import LibraryScreen

        for screen in self.play_screens():
            await screen.close_story()
        await self.switch_screen(LibraryScreen())

    def log_error(self, error: BaseException) -> None:
        """To the log file; never a traceback on the screen."""
        self.error_log.error("%s", type(error).__name__, exc_info=error)

    # -- campaigns and narrators --------------------------------------------------------------------------------------

    def open_file(self, path: Path) -> Store:
        """Open for writing, else for reading where somebody else writes. Raises ``NarratorError``."""
        try:
            return open_store(path, clock=utc_now, backups=paths.backups_folder())
        except NarratorError as error:
            if error.code not in ("locked", "read-only"):
                raise
            store = open_store(path, clock=utc_now, read_only=True)
            self._notes.append(str(error))
            return store

    def open_story(self, path: Path, store: Store | None = None) -> Story:
        """The story of a campaign, of its file where that is open already. Raises ``NarratorError``."""
        from narrator.engine.story import Story

        return Story.over(store or self.open_file(path))

    def open_failed(self, error: NarratorError) -> None:
        """A campaign that cannot be opened: said in the library, else on the terminal with exit code 3 (U15)."""
        from narrator.tui.outside import plain
        from narrator.tui.screens.library import LibraryScreen

        under = [screen for screen in self.screen_stack if isinstance(screen, LibraryScreen)]
        if not under:
            self.exit(CANNOT_OPEN, return_code=CANNOT_OPEN, message=plain(f"narrator: {error}"))
            return
        self.call_later(self.pop_screen)
        under[-1].say(str(error))

    @property
    def chooses_narrator(self) -> bool:
        """Whether narrators are chosen by the settings, and not by whoever made this app."""
        return self._casting is None

    def cast(self, story: Story, asked: str | None, remembered: str | None) -> Narrator:
        """Who tells this story, ``remembered`` by it; imports what it needs, so it runs in a thread.

        Nothing is read from the file here: the player may leave, and close it, meanwhile.
        """
        import narrator.engine.session  # noqa: F401 (what the next step in the loop needs, imported here)

        if self._casting is not None:
            return self._casting(story, asked)
        from narrator.engine import casting

        return casting.choose_or_absent(self.settings, asked, remembered)

    # -- dialogs that every screen has ------------------------------------------------------------------------------

    def open_help(self, about: str = "") -> None:
        """The help, made of the registry."""
        from narrator.tui.screens.help import help_page

        self.push_screen(help_page(self.keymap, about))

    def open_settings(self) -> None:
        """Theme, narrator, reading."""
        from narrator.tui.screens.settings import choose_setting

        choose_setting(self)

    def open_themes(self) -> None:
        """Choose a theme; it is seen at once."""
        from narrator.tui.screens.settings import choose_theme

        choose_theme(self)

    def open_import(self, path: Path | None = None, add: Callable[[Sequence[Prepared]], None] | None = None) -> None:
        """Choose files and import them; what was made can be opened. ``add``: to the campaign that is played."""
        from narrator.tui.screens.bringing import bring_and_play

        self.run_worker(bring_and_play(self, path, add), group="import", exclusive=True)

    def open_export(self, path: Path, title: str) -> None:
        """Write a campaign to a file."""
        from narrator.tui.screens.taking_out import take_out

        take_out(self, path, title)

    def open_narrators(self) -> None:
        """Choose who tells the story."""
        from narrator.tui.screens.tellers import choose_narrator

        choose_narrator(self)

    async def remember_setting(self, key: tuple[str, ...], value: object) -> str:
        """Write one key of config.toml in a thread; '' or what went wrong."""
        try:
            await asyncio.to_thread(config.write, paths.config_file(), key, value)
        except NarratorError as error:
            return str(error)
        return ""

    def _fatal_error(self) -> None:
        """A fault of the program. Textual would print a traceback with what every variable held; ``run`` hands the
        fault to the command line instead, which says it in a line and keeps the traceback for the log.
        """
        self._close_messages_no_wait()


def run(
    path: Path | None = None,
    *,
    settings: Settings | None = None,
    notes: tuple[str, ...] = (),
    narrator: str | None = None,
) -> int:
    """Run the app until it is left; the exit code. What the command line calls. Raises what the app died of."""
    app = NarratorApp(path, settings=settings, notes=notes, narrator=narrator)
    result = app.run()
    if (fault := app._exception) is not None:
        raise fault.error if isinstance(fault, WorkerFailed) else fault
    return result if isinstance(result, int) else app.return_code or 0
