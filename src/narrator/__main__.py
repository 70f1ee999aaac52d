"""``python -m narrator`` and the command ``narrator``: an interrupt while it is being loaded ends it quietly too."""

from __future__ import annotations

import gc
import sys

INTERRUPTED = 130
COLLECTED_AFTER = 50_000
"""Objects between two collections of garbage: loading makes many, none of which is garbage."""


def run() -> int:
    """Load the command line and run it; the exit code comes back."""
    gc.set_threshold(COLLECTED_AFTER)
    try:
        from narrator.cli import main

        return main()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(run())
