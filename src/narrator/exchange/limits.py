"""How much a file may hold before it is refused (X3). Sizes in bytes or characters, times in seconds."""

from __future__ import annotations

FILE_BYTES = 256 * 2**20
"""A foreign file, read as a whole, also after unpacking."""
BUNDLE_BYTES = 8 * 2**30
"""A bundle, unpacked; it is read piece by piece."""
PIECE_CHARACTERS = 64 * 2**20
"""One row of a bundle: a node, a definition, a part of a prompt."""
TEXT_CHARACTERS = 8 * 2**20
"""One text: a step, a card, a memory."""
ENTRIES = 2_000_000
"""Rows of one kind: nodes, cards, memories."""
DEPTH = 500_000
"""Nesting of a foreign JSON file; a tree is walked without recursion."""
PIECE_DEPTH = 200
"""Nesting inside one row of a bundle, and of what a foreign file keeps for re-export."""
ARCHIVE_ENTRIES = 10_000
PNG_CHUNKS = 100_000
REGEX_SECONDS = 0.05
NOTES = 10_000
"""Details of a report; what comes after is counted alone."""
