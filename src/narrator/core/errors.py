"""Every failure that a player can meet, as one tree of errors.

A ``NarratorError`` carries a stable kebab-case ``code`` (contract), a ``message`` of one line and, where something can
be done, a ``hint``. Where the code decides what a caller does next there is a subclass::

    NarratorError
    ├── Refusal            a verb that may not be done now (nothing was changed)
    ├── BadValue           an argument that means nothing here
    ├── BadDefinition      a campaign definition; ``problems`` lists all of them by key path
    ├── BadImport          a foreign file; the place is in the message
    ├── StoreError         the campaign file: locked, read-only, damaged, newer schema, disk full …
    │   └── Damaged        broken ancestry or state; names the node and the invariant (S47)
    ├── Stale              the story moved under a turn; nothing was written (S12)
    └── NarrationFailed    a request to a narrator (T11)
        ├── Stopped        by the player
        └── ContextTooLong the server says the prompt does not fit
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LINE_END = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")
_LONGEST = 500
"""Characters of a foreign file's mistake: what a message quotes may be of any length."""


class NarratorError(Exception):
    """``code`` is stable and kebab-case, ``message`` one line for the player, ``hint`` what to do about it or ''.

    Line ends in what a message quotes become spaces.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        message, hint = _LINE_END.sub(" ", message), _LINE_END.sub(" ", hint)
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class Refusal(NarratorError):
    """A verb that may not be done now. The story is unchanged."""


class BadValue(NarratorError):
    """An argument that means nothing here. Code ``bad-value`` unless told otherwise."""

    def __init__(self, message: str, hint: str = "", code: str = "bad-value") -> None:
        super().__init__(code, message, hint)


class BadDefinition(NarratorError):
    """A campaign definition with errors; ``problems`` are (key path, what is wrong), all of them."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        first = "; ".join(f"{where}: {what}" for where, what in self.problems[:1])
        more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
        super().__init__("bad-definition", f"{first}{more}")


class BadImport(NarratorError):
    """A foreign file that cannot be read; the message names the place."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__("bad-import", message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…", hint)


class StoreError(NarratorError):
    """The campaign file: ``locked``, ``read-only``, ``not-a-campaign``, ``newer-schema``, ``disk-full`` …"""


class Damaged(StoreError):
    """Broken ancestry or state, never repaired silently (S47)."""

    def __init__(self, message: str, node_id: int | None = None, invariant: str = "") -> None:
        super().__init__("damaged", message, "Run `narrator verify`, or go back with `narrator backup --restore`.")
        self.node_id = node_id
        self.invariant = invariant


class Stale(NarratorError):
    """The story moved while a turn ran (S12). Nothing was written, the draft is kept."""

    def __init__(self) -> None:
        super().__init__("stale", "The story moved while this turn was being told.", "Send it again.")


class NarrationFailed(NarratorError):
    """A request to a narrator failed; code ``narrator-…`` or ``context-too-long`` (T11)."""


class Stopped(NarrationFailed):
    """The player stopped the turn."""

    def __init__(self) -> None:
        super().__init__("stopped", "Stopped. The story is as it was.")


class ContextTooLong(NarrationFailed):
    """The server refused the prompt as longer than its window, which is ``window`` tokens where it said so."""

    def __init__(self, message: str, window: int | None = None) -> None:
        wanted = "context_window to what the server really has" if window is None else f"context_window = {window}"
        super().__init__("context-too-long", message, f"Set {wanted} for this narrator in config.toml.")
