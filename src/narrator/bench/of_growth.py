"""What the file grows by: a fork beyond its nodes (measure 4)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

from narrator.bench.fixtures import Builder
from narrator.bench.sampling import Goal, Row, row

FORKS = 1000
LAST = 100


def fork_bytes(folder: Path) -> list[Row]:
    """Measure 4: bytes a fork adds at the 1,000th nested one.

    Two files are written turn by turn; in one, every other turn is left behind by a fork at its parent. What the
    last 100 forks added, less what the last 100 pairs of turns added without one, is theirs.
    """
    forked, straight = folder / "forked.narrator", folder / "straight.narrator"
    sizes = [_grow(forked, is_forked=True), _grow(straight, is_forked=False)]
    each = [(after - before) / LAST for before, after in sizes]
    return [row("fork/bytes beyond its nodes", [each[0] - each[1]], unit="B", scale=1, goal=Goal(150))]


def _grow(path: Path, *, is_forked: bool) -> tuple[int, int]:
    """Bytes in use before and after the last ``LAST`` of ``FORKS`` pairs of turns."""
    builder = Builder(path, seed=4)
    builder.random = Random(4)
    before = 0
    for number in range(FORKS):
        if number == FORKS - LAST:
            before = used_bytes(path)
        if is_forked:
            builder.leave_behind(2)
        else:
            builder.write(2)
        builder.write(2)
    builder.story.close()
    return before, used_bytes(path)


def used_bytes(path: Path) -> int:
    """Bytes of a packed copy of a campaign, as its connection sees it."""
    copy = path.with_suffix(".packed")
    copy.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute("VACUUM INTO ?", (str(copy),))
    size = copy.stat().st_size
    copy.unlink()
    return size
