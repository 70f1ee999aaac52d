"""Importing in tests: a scratch folder, a clock that stands still, ids that count; and looks into what came of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from narrator.engine.story import Story
from narrator.exchange.importing import Surroundings, import_files, take_usual
from narrator.exchange.report import Report
from narrator.store.records import unpack_record

SAMPLES = Path(__file__).parent / "samples"


def still() -> str:
    return "2026-01-02T03:04:05+00:00"


def around(folder: Path, ask: Any = take_usual, **rest: Any) -> Surroundings:
    counter = itertools.count(1)
    return Surroundings(folder, still, lambda: f"campaign-{next(counter)}", lambda: 7, ask, **rest)


def bring(folder: Path, *files: Path, **rest: Any) -> Report:
    """Import files that make one campaign, or add to one."""
    (report,) = import_files(files, around(folder), **rest)
    return report


@contextmanager
def story_of(report: Report) -> Iterator[Story]:
    (path,) = report.campaigns
    with closing(Story.open(Path(path), clock=still)) as story:
        yield story


def whole_file(path: Path) -> str:
    """Every text that a campaign file holds."""
    with closing(Story.open(path, clock=still)) as story:
        db = story.store.db
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        found = []
        for table in tables:
            for row in db.execute(f'SELECT * FROM "{table}"'):
                found += [value for value in row if isinstance(value, str)]
                if table == "provenance":
                    found.append(str(unpack_record(row[0], row[1])))
        return "\n".join(found)
