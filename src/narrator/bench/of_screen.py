"""The full screen: its first frame and memory in a terminal (measures 10 and 12), and what redrawing costs (11)."""

from __future__ import annotations

import asyncio
import gc
import os
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from narrator.bench.fixtures import still_clock, write_flat
from narrator.bench.sampling import WARM_UP, Goal, Row, in_turn, row
from narrator.core.errors import NarratorError
from narrator.engine.story import Story
from narrator.tui.theming import load_themes, with_story_colours
from narrator.tui.transcript_window import StepLine
from narrator.tui.widgets.transcript import Transcript

COLUMNS, ROWS = 100, 30
PATIENCE = 30.0
QUIET = 0.5
SHORT, LONG = 1_000, 100_000

#: The least that Textual does: one widget with one line.
BARE = """
from textual.app import App
from textual.widgets import Static

class Bare(App):
    def compose(self):
        yield Static("heron")

Bare().run()
"""

# -- in a terminal -----------------------------------------------------------------------------------------------------


class Terminal:
    """A child process in a terminal of its own. Owns both until ``close``."""

    def __init__(self, arguments: list[str]) -> None:
        self._screen, inner = os.openpty()
        _set_size(inner)
        # `env` because the environment is not read here: it has to name the terminal, and what was compiled is kept.
        environment = ["-u", "PYTHONDONTWRITEBYTECODE", "TERM=xterm-256color", "COLORTERM=truecolor"]
        command = ["env", *environment, sys.executable, *arguments]
        self._child = subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner, start_new_session=True)
        os.close(inner)

    def wait_for(self, word: bytes) -> None:
        """Read until ``word`` has been drawn. Raises ``NarratorError`` when it never is."""
        seen = b""
        deadline = perf_counter() + PATIENCE
        while word not in seen:
            left = deadline - perf_counter()
            if left <= 0 or not (more := self._read(left)):
                raise NarratorError("bench", f"{word.decode()!r} was not drawn.")
            seen = seen[-len(word) :] + more

    def wait_for_quiet(self) -> None:
        """Read until nothing has been drawn for half a second."""
        while self._read(QUIET):
            pass

    def _read(self, patience: float) -> bytes:
        if not select.select([self._screen], [], [], patience)[0]:
            return b""
        try:
            return os.read(self._screen, 65536)
        except OSError:  # the child has gone
            return b""

    def resident(self) -> float:
        """Bytes of the child in memory; Linux alone tells."""
        pages = int(Path(f"/proc/{self._child.pid}/statm").read_text().split()[1])
        return float(pages * os.sysconf("SC_PAGE_SIZE"))

    def close(self) -> None:
        """End the child and read what it still has to say."""
        self._child.send_signal(signal.SIGTERM)
        deadline = perf_counter() + PATIENCE
        while self._child.poll() is None and perf_counter() < deadline:
            self._read(0.05)
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait()
        os.close(self._screen)


def _set_size(descriptor: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))


def first_frames(files: Mapping[str, Path], n: int = 10) -> list[Row]:
    """Measure 10: from the start of the process to the story on the screen, beside a bare Textual app."""
    calls: dict[str, Callable[[], object]] = {"bare": lambda: _until_drawn(["-c", BARE], b"heron")}
    for name, path in files.items():
        calls[name] = _frame(path)
    taken = in_turn(n, calls, warm_up=1)
    rows = [row(f"frame/{name}", taken[name], floor=taken["bare"], goal=Goal(1.5, is_ratio=True)) for name in files]
    if {"flat-600", "long-100k"} <= files.keys():
        rows.append(
            row(
                "frame/long-100k to flat-600",
                taken["long-100k"],
                floor=taken["flat-600"],
                goal=Goal(1.1, is_ratio=True),
            )
        )
    return rows


def _frame(path: Path) -> Callable[[], float]:
    word = _last_word(path)
    return lambda: _until_drawn(["-m", "narrator", "play", str(path)], word)


def _last_word(path: Path) -> bytes:
    """The longest word of the last words of a story: on the screen when its end is."""
    with closing(Story.open(path)) as story:
        return max(story.head.text.split()[-12:], key=len).strip(".").encode()


def _until_drawn(arguments: list[str], word: bytes) -> float:
    begun = perf_counter()
    with closing(Terminal(arguments)) as terminal:
        terminal.wait_for(word)
        return perf_counter() - begun


def memory(files: Mapping[str, Path], folder: Path, n: int = 3) -> list[Row]:
    """Measure 12: resident memory of the app on 100 and on 100,000 steps. Nothing where the system does not tell."""
    if "long-100k" not in files or not Path("/proc/self/statm").exists():
        return []
    short = write_flat(folder / "flat-100.narrator", 100)
    calls = {"100": _resident(short), "100k": _resident(files["long-100k"])}
    taken = in_turn(n, calls, warm_up=0)
    return [
        row(
            "memory/100,000 steps to 100",
            taken["100k"],
            unit="MB",
            scale=1e-6,
            floor=taken["100"],
            goal=Goal(1.15, is_ratio=True),
        )
    ]


def _resident(path: Path) -> Callable[[], float]:
    word = _last_word(path)

    def resident() -> float:
        with closing(Terminal(["-m", "narrator", "play", str(path)])) as terminal:
            terminal.wait_for(word)
            terminal.wait_for_quiet()
            return terminal.resident()

    return resident


# -- redrawing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Steps:
    """The first ``count`` steps of a story, as a transcript reads them."""

    story: Story
    count: int

    def read(self, first: int, last: int) -> list[StepLine]:
        """The steps first … last."""
        return list(self.story.steps(first, last))


class TwoTranscripts(App[None]):
    """Two transcripts of one size, one above the other, so that samples of both can be taken in turn."""

    CSS = "Transcript { height: 1fr; }"

    def __init__(self, sources: Mapping[str, Steps]) -> None:
        super().__init__()
        self._sources = sources
        themes, _ = load_themes([])
        for theme in themes:
            self.register_theme(theme)

    def get_css_variables(self) -> dict[str, str]:
        return with_story_colours(super().get_css_variables())

    def compose(self) -> ComposeResult:
        for name in self._sources:
            yield Transcript(id=name)

    def on_mount(self) -> None:
        for name, source in self._sources.items():
            self.transcript(name).open_story(source)

    def transcript(self, name: str) -> Transcript:
        """The transcript of that name."""
        return self.query_one(f"#{name}", Transcript)


Act = Callable[[Transcript, int], None]


def _flush(transcript: Transcript, turn: int) -> None:
    if transcript.draft is None:
        transcript.begin("ask the ferryman", "do")
    transcript.grow(" and the tide follows the lantern")
    transcript.flush()


def _page(transcript: Transcript, turn: int) -> None:
    transcript.page(-1 if turn % 20 < 10 else 1)


def _resize(transcript: Transcript, turn: int) -> None:
    transcript.styles.width = COLUMNS - 40 if turn % 2 else COLUMNS


def _jump(transcript: Transcript, turn: int) -> None:
    assert transcript.window is not None
    transcript.show_position(1 + turn * 7919 % transcript.window.count)


ACTS: Mapping[str, tuple[Act, float]] = {
    "flush": (_flush, 5),
    "page": (_page, 10),
    "resize": (_resize, 30),
    "jump": (_jump, 15),
}


def redrawing(files: Mapping[str, Path], n: int = 100) -> list[Row]:
    """Measure 11: processor time of a streamed flush, a page, a resize and a jump, at 1,000 and 100,000 steps."""
    path = files.get("long-100k")
    if path is None:
        return []
    with closing(Story.open(path, clock=still_clock, read_only=True)) as story:
        return asyncio.run(_redraw({"short": Steps(story, SHORT), "long": Steps(story, story.count)}, n))


async def _redraw(sources: Mapping[str, Steps], n: int) -> list[Row]:
    app = TwoTranscripts(sources)
    rows: list[Row] = []
    async with app.run_test(size=(COLUMNS, 2 * ROWS)) as pilot:
        for name, (act, limit) in ACTS.items():
            taken: dict[str, list[float]] = {which: [] for which in sources}
            with _no_collection():
                for turn in range(n + WARM_UP):
                    for which in sources:
                        seconds = await _busy(pilot, act, app.transcript(which), turn)
                        if turn >= WARM_UP:
                            taken[which].append(seconds)
            for which, count in (("short", SHORT), ("long", LONG)):
                rows.append(row(f"{name}/{count:,} steps", taken[which], goal=Goal(limit)))
            rows.append(
                row(f"{name}/{LONG:,} to {SHORT:,}", taken["long"], floor=taken["short"], goal=Goal(1.3, is_ratio=True))
            )
            for which in sources:
                app.transcript(which).end_draft()
                app.transcript(which).to_end()
            await pilot.pause()
    return rows


async def _busy(pilot: Pilot[None], act: Act, transcript: Transcript, turn: int) -> float:
    """Processor seconds of an act and of all that it makes the app do until it is idle again."""
    begun = process_time()
    act(transcript, turn)
    await pilot.pause()
    return process_time() - begun


@contextmanager
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
