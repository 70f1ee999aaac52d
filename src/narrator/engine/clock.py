"""The clock of ordinary play: what stands in the rows of a campaign."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> str:
    """ISO 8601, UTC, to the microsecond."""
    return datetime.now(UTC).isoformat()
