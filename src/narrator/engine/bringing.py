"""What an import needs from outside, as every front end gives it: a clock, ids, seeds, the player's answers."""

from __future__ import annotations

import secrets
import uuid
from pathlib import Path

from narrator.engine.story import utc_now
from narrator.exchange.importing import Ask, Surroundings, take_usual
from narrator.exchange.progress import Progress, silent


def surroundings(folder: Path, *, ask: Ask = take_usual, progress: Progress = silent) -> Surroundings:
    """``folder`` is where campaigns are made."""
    return Surroundings(
        folder=folder,
        clock=utc_now,
        new_id=lambda: str(uuid.uuid4()),
        new_seed=lambda: secrets.randbits(32),
        ask=ask,
        progress=progress,
    )
