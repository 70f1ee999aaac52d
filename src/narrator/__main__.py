"""``python -m narrator``."""

from __future__ import annotations

import sys

from narrator.cli import main

if __name__ == "__main__":
    sys.exit(main())
