"""The whole bench: builds the campaigns that the chosen measures need, runs them, hands back their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

from narrator.bench import fixtures, of_cache, of_exchange, of_growth, of_memory, of_reading, of_turns, sampling
from narrator.bench.sampling import Row
from narrator.core.errors import BadValue, NarratorError

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Bench:
    """What a measure gets: the campaigns by name, a folder for files of its own, a model file where there is one."""

    files: dict[str, Path]
    folder: Path
    model: Path | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure by name, what it is, and which campaigns it wants of those that are built."""

    name: str
    title: str
    take: Callable[[Bench], list[Row]]
    campaigns: tuple[str, ...] = fixtures.SMALL + fixtures.LARGE


_APP = ("flat-600", "long-100k")


def _screen() -> ModuleType:
    """The measures of the app: Textual is imported when they are wanted."""
    return import_module("narrator.bench.of_screen")


def _keys() -> ModuleType:
    return import_module("narrator.bench.of_keys")


MEASURES = (
    Measure("window", "the newest 32 steps with their takes", lambda bench: of_reading.window(bench.files)),
    Measure(
        "moves", "undo, redo, take, restore, switch, to what is shown", lambda bench: of_reading.moves(bench.files)
    ),
    Measure("open", "open a file and show its first window", lambda bench: of_reading.opening(bench.files)),
    Measure("turn", "a turn, all but the model", lambda bench: of_turns.turns(bench.files, bench.folder)),
    Measure("prompt", "the prompt of the coming turn", lambda bench: of_turns.prompts(bench.files, bench.folder)),
    Measure(
        "weight",
        "bytes of the file a turn",
        lambda bench: of_turns.turn_bytes(bench.files, bench.folder),
        fixtures.SMALL,
    ),
    Measure(
        "recall",
        "the memories for an input",
        lambda bench: of_memory.retrieval(bench.files) + of_memory.retrieval_by_meaning(bench.files, bench.folder),
    ),
    Measure("summary", "the first summary of 5,000 steps", lambda bench: of_memory.first_summary(bench.folder), ()),
    Measure(
        "exchange", "a bundle out and in", lambda bench: of_exchange.bundle(bench.files, bench.folder), ("forest-100k",)
    ),
    Measure("frame", "the first frame of the app", lambda bench: _screen().first_frames(bench.files), _APP),
    Measure("redraw", "a flush, a page, a resize, a jump", lambda bench: _screen().redrawing(bench.files), _APP),
    Measure(
        "echo", "a key's echo while a turn streams", lambda bench: _keys().echo(bench.files, bench.folder), _APP[:1]
    ),
    Measure("memory", "memory of the app", lambda bench: _screen().memory(bench.files, bench.folder), _APP),
    Measure(
        "cache",
        "what an engine reads anew a turn, with a real model",
        lambda bench: of_cache.afresh(bench.folder, bench.model),
        (),
    ),
    Measure("fork", "bytes a fork adds to the file", lambda bench: of_growth.fork_bytes(bench.folder), ()),
)


def chosen(only: Sequence[str]) -> list[Measure]:
    """The measures whose name begins with one of ``only``; all without. Raises ``bad-value``."""
    for word in only:
        if not any(measure.name.startswith(word) for measure in MEASURES):
            names = ", ".join(measure.name for measure in MEASURES)
            raise BadValue(f"There is no measure “{word}”.", f"There are {names}.")
    return [m for m in MEASURES if not only or any(m.name.startswith(word) for word in only)]


def run(
    folder: Path,
    *,
    only: Sequence[str] = (),
    is_small: bool = False,
    is_processor_time: bool = False,
    model: Path | None = None,
    say: Say = lambda text: None,
) -> list[Row]:
    """Run the chosen measures in ``folder``. ``is_small`` leaves out the campaigns of 100,000 steps.

    ``model`` is a GGUF file for the measure that wants a real one.
    """
    sampling.count_processor_time(is_processor_time)
    measures = chosen(only)
    wanted = {name for measure in measures for name in measure.campaigns}
    there = fixtures.SMALL if is_small else fixtures.SMALL + fixtures.LARGE
    names = [name for name in there if name in wanted]
    if names:
        say(f"Writing {', '.join(names)} …")
    bench = Bench(_build(folder, names), folder, model)
    rows: list[Row] = []
    for measure in measures:
        say(f"Measuring {measure.name}: {measure.title} …")
        files = {name: path for name, path in bench.files.items() if name in measure.campaigns}
        try:
            rows += measure.take(replace(bench, files=files))
        except NarratorError as error:
            say(f"No number for {measure.name}: {error}")
    return rows


def _build(folder: Path, names: Sequence[str]) -> dict[str, Path]:
    """Write the campaigns, the large ones side by side in processes of their own."""
    found = {name: fixtures.build(name, folder) for name in names if name in fixtures.SMALL}
    large = [name for name in names if name in fixtures.LARGE]
    if large:
        with ProcessPoolExecutor(max_workers=2, mp_context=get_context("spawn")) as pool:
            found |= dict(zip(large, pool.map(fixtures.build, large, [folder] * len(large)), strict=True))
    return found
