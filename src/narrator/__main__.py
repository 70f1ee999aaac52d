"""``python -m narrator`` and the command ``narrator``: an interrupt while it is being loaded ends it quietly too."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def run() -> int:
    """Load the command line and run it; the exit code comes back."""
    try:
        from narrator.cli import main

        return main()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(run())
