"""The settings, the log and the screen, as every command begins with them."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from narrator import config, log, paths
from narrator.config import Settings


def load() -> tuple[Settings, tuple[str, ...]]:
    """The settings, and what is wrong in them as lines."""
    settings, problems = config.read(paths.config_file())
    # What concerns the whole file names it already.
    return settings, tuple(f"config.toml: {problem}" if problem.path else str(problem) for problem in problems)


@contextmanager
def logging(settings: Settings) -> Iterator[None]:
    """Write the log while this lasts."""
    handler = log.start(paths.log_folder(), has_story_text=settings.log.story_text)
    try:
        yield
    finally:
        log.stop(handler)


def load_screen() -> Callable[..., int]:
    """What runs the app. Until its first frame is drawn no garbage is looked for: loading makes next to none."""
    gc.disable()
    from narrator.tui.app import run

    return run


def has_screen() -> bool:
    """Input and output are a terminal that can be drawn on."""
    try:
        return os.isatty(0) and os.isatty(1) and not paths.is_dumb_terminal()
    except OSError:
        return False
