"""A whole campaign out and in again: the bundle of forest-100k (measure 9), each in a process of its own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

from narrator.bench.fixtures import still_clock
from narrator.bench.sampling import Goal, Row, is_processor_time, row, timed
from narrator.core.errors import NarratorError
from narrator.store import schema
from narrator.store.rows import COLUMNS, insertion, settled

FOREST = "forest-100k"
#: ru_maxrss is in kilobytes, but on macOS in bytes.
RESIDENT_UNIT = 1 if sys.platform == "darwin" else 1024
# Linux counts what the parent held when it forked into a child's ru_maxrss; the child itself knows its own peak.
_WITH_PEAK = """\
import sys
from pathlib import Path
from narrator.cli import main
code = main(sys.argv[2:])
status = Path("/proc/self/status")
peaks = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")] if status.exists() else []
Path(sys.argv[1]).write_text(peaks[0].split()[1] if peaks else "")
sys.exit(code)
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a child process took: seconds, and the most bytes it had in memory."""

    seconds: float
    peak: float


def bundle(files: Mapping[str, Path], folder: Path) -> list[Row]:
    """Measure 9: export and import, beside plain JSON of the same and an ``executemany`` into the same tables."""
    path = files.get(FOREST)
    if path is None:
        return []
    file = folder / "forest.json"
    exported = _narrator(folder / "peak", "export", str(path), str(file))
    imported = _narrator(folder / "peak", "import", str(file))
    text = file.read_text(encoding="utf-8")
    whole: dict[str, list[dict[str, object]]] = {}
    loading = timed(lambda: whole.update(json.loads(text)))
    writing = timed(lambda: json.dumps(whole, ensure_ascii=False))
    nodes = whole["nodes"]
    inserting = _insert(path, folder / "bare.db")
    return [
        *_rows("export", exported, writing, len(nodes)),
        *_rows("import", imported, loading + inserting, len(nodes)),
    ]


def _rows(verb: str, spent: Spent, floor: float, nodes: int) -> list[Row]:
    return [
        row(f"{verb}/{FOREST}", [spent.seconds], unit="s", scale=1, floor=[floor], goal=Goal(3, is_ratio=True)),
        row(f"{verb}/nodes a second", [nodes / spent.seconds], unit="/s", scale=1),
        row(f"{verb}/peak memory", [spent.peak], unit="MB", scale=1e-6, goal=Goal(200)),
    ]


def _narrator(peak: Path, *arguments: str) -> Spent:
    """Run a command to its end; it leaves its peak of memory in a file. Raises ``NarratorError`` when it fails."""
    begun = perf_counter()
    command = [sys.executable, "-c", _WITH_PEAK, str(peak), *arguments]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    wall = perf_counter() - begun
    if child.returncode:
        raise NarratorError("bench", f"`narrator {' '.join(arguments)}` failed.")
    seconds = usage.ru_utime + usage.ru_stime if is_processor_time() else wall
    own = peak.read_text()
    return Spent(seconds, float(int(own) * 1024 if own else usage.ru_maxrss * RESIDENT_UNIT))


def _insert(source: Path, target: Path) -> float:
    """Seconds that one transaction takes to write the rows of a campaign into a bare file with the same tables.

    Reading them, and making the tables, is not counted.
    """
    taken = 0.0
    with closing(sqlite3.connect(target, isolation_level=None)) as db, settled(source, clock=still_clock) as rows:
        schema.migrate(db)
        db.execute("BEGIN")
        for table in COLUMNS:
            found = list(rows.of(table))
            taken += timed(partial(db.executemany, insertion(table), found))
        taken += timed(partial(db.execute, "COMMIT"))
    return taken
