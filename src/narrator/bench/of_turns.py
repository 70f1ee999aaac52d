"""A turn: everything but the model (measure 2), the coming turn's prompt (5), and what turns weigh on the disk (8)."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from random import Random

from narrator.bench import prose
from narrator.bench.of_growth import used_bytes
from narrator.bench.of_reading import against_flat
from narrator.bench.ready import ReadyNarrator
from narrator.bench.sampling import Goal, Row, in_turn, now, row
from narrator.config import Settings
from narrator.core.errors import NarratorError
from narrator.engine.commands import parse_line
from narrator.engine.events import Done, Failed
from narrator.engine.session import Session
from narrator.engine.story import Story

WINDOW = 16_384
WIDE_WINDOW = 131_072
TURNS_WEIGHED = 60

Files = Mapping[str, Path]


@dataclass(slots=True)
class Game:
    """A session on a copy of a campaign, driven from outside its loop. Owns neither: ``playing`` closes both."""

    name: str
    path: Path
    session: Session
    runner: asyncio.Runner

    def do(self, line: str) -> float:
        """Perform one line; seconds to its end. Raises what the session answered where it was not done."""
        is_done, taken = self.runner.run(_timed(self.session, line))
        if not is_done:
            raise self.runner.run(_why_not(self.session, line))
        return taken

    def rest(self) -> None:
        """Let upkeep finish what the last turn made due; in play it has the time while the player reads."""
        self.runner.run(_upkeep_done())


async def _timed(session: Session, line: str) -> tuple[bool, float]:
    """Whether a line was done, and the seconds it took: the clock is read in the loop, before upkeep has its turn."""
    begun = now()
    is_done = await session.perform(parse_line(line))
    return is_done, now() - begun


async def _upkeep_done() -> None:
    while upkeep := [task for task in asyncio.all_tasks() if task.get_name() == "upkeep"]:
        await asyncio.wait(upkeep)


async def _why_not(session: Session, line: str) -> NarratorError:
    """Do a line that was not done once more, listening."""
    events = session.events()
    await session.perform(parse_line(line))
    async for event in events:
        if isinstance(event, Failed):
            return NarratorError(event.code, f"“{line}”: {event.message}", event.hint)
        if isinstance(event, Done):
            break
    return NarratorError("bench", f"“{line}” was not done at first, and then was.")


@contextmanager
def playing(files: Files, folder: Path, *, window: int) -> Iterator[list[Game]]:
    """A game on a copy of every campaign; each has told one turn, so that what is made once has been made."""
    folder.mkdir()
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        games = []
        for name, path in files.items():
            copy = Path(shutil.copy(path, folder))
            session = runner.run(Session.open(copy, settings=Settings(), narrator=ReadyNarrator(window), answers="yes"))
            stack.callback(_close, runner, session)
            games.append(Game(name, copy, session, runner))
        for game in games:
            game.do("look at the drowned road")
            game.rest()
        yield games
    shutil.rmtree(folder)


def _close(runner: asyncio.Runner, session: Session) -> None:
    runner.run(session.aclose())


def _turn(game: Game, random: Random) -> float:
    """Seconds that a turn takes, its upkeep not counted."""
    taken = game.do(prose.player_input(random))
    game.rest()
    return taken


def turns(files: Files, folder: Path, n: int = 60) -> list[Row]:
    """Measure 2: a turn with 16k budget, state, retrieval and commit, beside one transaction of the same rows."""
    random = Random(2)
    with playing(files, folder / "turns", window=WINDOW) as games, ExitStack() as stack:
        calls: dict[str, Callable[[], object]] = {}
        for game in games:
            calls[game.name] = partial(_turn, game, random)
            calls[f"{game.name} floor"] = _same_rows(stack, game, files[game.name], folder)
        taken = in_turn(n, calls)
    rows = [
        row(f"turn/{name}", taken[name], floor=taken[f"{name} floor"], goal=Goal(15) if name == "flat-600" else None)
        for name in files
    ]
    return rows + against_flat("turn", {name: taken[name] for name in files}, 1.3)


def _same_rows(stack: ExitStack, game: Game, path: Path, folder: Path) -> Callable[[], object]:
    """A call that writes, in one transaction on a copy of the campaign, as many rows and bytes as a turn does."""
    db = game.session.story.store.db
    before = {row[0] for row in db.execute("SELECT hash FROM parts")}
    game.do("look at the drowned road again")
    game.rest()
    parts = [row for row in db.execute("SELECT hash, text FROM parts") if row[0] not in before]
    nodes = db.execute("SELECT * FROM nodes ORDER BY id DESC LIMIT 2").fetchall()[::-1]
    ids = tuple(node[0] for node in nodes)
    events = db.execute("SELECT * FROM state_events WHERE node_id IN (?, ?)", ids).fetchall()
    records = db.execute("SELECT * FROM provenance WHERE node_id IN (?, ?)", ids).fetchall()
    bare = sqlite3.connect(shutil.copy(path, folder / f"{game.name}.bare"), isolation_level=None)
    stack.enter_context(closing(bare))
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = FULL")
    numbers = count(10_000_000)

    def write() -> None:
        bare.execute("BEGIN IMMEDIATE")
        renamed = {old: next(numbers) for old in ids}
        for node in nodes:
            _insert(bare, "nodes", (renamed[node[0]], renamed.get(node[1], node[1]), None, *node[3:]))
        for event in events:
            _insert(bare, "state_events", (renamed[event[0]], *event[1:]))
        for record in records:
            _insert(bare, "provenance", (renamed[record[0]], *record[1:]))
        for _, text in parts:
            _insert(bare, "parts", (next(numbers).to_bytes(32), text))
        bare.execute("UPDATE campaign SET head_node_id = ?, tip_node_id = ?", (renamed[ids[1]], renamed[ids[1]]))
        bare.execute("COMMIT")

    return write


def _insert(db: sqlite3.Connection, table: str, values: tuple[object, ...]) -> None:
    db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(values))})", values)


def prompts(files: Files, folder: Path, n: int = 40) -> list[Row]:
    """Measure 5: the coming turn's prompt with its budget, for a window of 16k and one of 128k tokens."""
    rows = []
    for window, label, limit in ((WINDOW, "16k", 8), (WIDE_WINDOW, "128k", 40)):
        with playing(files, folder / f"prompts-{label}", window=window) as games:
            taken = in_turn(n, {game.name: partial(game.do, "/prompt") for game in games})
        rows += [row(f"prompt {label}/{name}", samples, goal=Goal(limit)) for name, samples in taken.items()]
    return rows


def turn_bytes(files: Files, folder: Path) -> list[Row]:
    """Measure 8: bytes of the file a turn, all included, over the bytes of the turn's text."""
    random = Random(8)
    rows = []
    with playing(files, folder / "weight", window=WINDOW) as games:
        for game in games:
            first, before = game.session.story.count, used_bytes(game.path)
            for _ in range(TURNS_WEIGHED):
                _turn(game, random)
            grown = (used_bytes(game.path) - before) / TURNS_WEIGHED
            text = _text_bytes(game.session.story, first) / TURNS_WEIGHED
            rows.append(
                row(
                    f"weight/{game.name}",
                    [grown],
                    unit="B",
                    scale=1,
                    floor=[text],
                    goal=Goal(3, is_ratio=True),
                )
            )
    return rows


def _text_bytes(story: Story, after: int) -> int:
    """Bytes of the texts at the positions beyond ``after``."""
    return sum(len(node.text.encode()) for node in story.nodes(after + 1))
