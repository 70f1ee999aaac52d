"""A program that opens a campaign, sends one line to its scripted narrator and ends: for tests that restart.

``python -m tests.engine.retried FILE LINE``
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from narrator.config import Settings
from narrator.engine.commands import parse_line
from narrator.engine.session import Session
from narrator.narrators.scripted import ScriptedNarrator


async def main(path: Path, line: str) -> int:
    session = await Session.open(path, settings=Settings(), narrator=ScriptedNarrator(0))
    try:
        return 0 if await session.perform(parse_line(line)) else 1
    finally:
        await session.aclose()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Path(sys.argv[1]), sys.argv[2])))
