"""A nursery of children that play turns until they are killed: ``python killed.py``, then lines ``CAMPAIGN<tab>SEED``.

Each line forks a child, so that only the first one pays for the imports. A child says on standard output ``open PID
STEPS``, then ``begin TEXT`` before each turn and ``done …`` after it was accepted; when it is gone the nursery says
``gone``. Now and then a child undoes, retries or forks instead, so that commits of every shape are under way.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from pathlib import Path

from narrator.config import Settings
from narrator.engine.commands import parse_line
from narrator.engine.session import Session
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


async def play(path: Path, seed: int) -> None:
    chance = random.Random(seed)
    fake = FakeNarrator(pace=0.0002)
    fake.answer(Purpose.NARRATE, lambda request: f"So it was: {request.scene.input} " + "word " * 12)
    fake.answer(Purpose.CHECK, {"check": {"skill": "climb", "difficulty": "easy"}})
    fake.answer(Purpose.EXTRACT, {"changes": [{"op": "add", "path": "player.nerve", "value": 1, "why": "so"}]})
    session = await Session.open(path, settings=Settings(), narrator=fake, answers="yes")
    say(f"open {os.getpid()} {session.story.row.steps_written}")
    number = 0
    while True:
        number += 1
        text = f"I try {os.getpid()} {number}."
        line = chance.choice([text] * 6 + ["/retry", "/continue", "/edit 2 I turn.", "/undo 3", "/fork"])
        fake.pace = chance.choice([0, 0, 0.0003])
        say(f"begin {line}")
        if await session.perform(parse_line(line)):
            row = session.story.row
            say(f"done {row.revision} {row.head_id} {row.tip_id} {row.steps_written}")


def nurse() -> None:
    """Fork a child for each line and wait for its end."""
    for line in sys.stdin:
        path, _, seed = line.strip().partition("\t")
        pid = os.fork()
        if pid == 0:
            try:
                asyncio.run(play(Path(path), int(seed)))
            finally:
                os._exit(1)
        _, status = os.waitpid(pid, 0)
        say(f"gone {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    nurse()
