"""The log file: rotated, for the player alone, without story text unless asked for, without keys ever (U22).

Everything logs through the standard library under ``narrator``. A record that holds story text is logged with
``extra={"story": True}`` and is dropped unless the player asked for it. Redaction works on the finished line, so a key
in an argument, an exception or a traceback is caught as well.
"""

from __future__ import annotations

import logging
import os
import re
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

MAX_BYTES = 1_000_000
KEPT = 4
STARS = "***"

# A value that was refused may be story text: pydantic shows it in its message.
_INPUT_VALUE = re.compile(r"input_value=.*?, input_type=", re.DOTALL)
_KEYS = re.compile(
    r"(?P<head>\b(?:api[-_]?key|authorization|x-api-key|token|secret|password)[\"']?\s*[=:]\s*[\"']?"
    r"(?:(?:bearer|basic)\s+)?)(?P<key>[^\s\"',;)}\]]+)"
    r"|(?<=\bbearer\s)(?=\S*[\d._-])\S{8,}"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|ghp)[-_][A-Za-z0-9_-]{8,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)",
    re.IGNORECASE,
)


def redact(text: str, secrets: frozenset[str] = frozenset()) -> str:
    """The text with stars for the given secrets and for whatever looks like a key."""
    for secret in secrets:
        text = text.replace(secret, STARS)
    text = _INPUT_VALUE.sub("input_value=…, input_type=", text)
    return _KEYS.sub(lambda match: f"{match.group('head') or ''}{STARS}", text)


class _Redacting(logging.Formatter):
    def __init__(self, secrets: set[str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self.secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record), frozenset(self.secrets))


class _Private(RotatingFileHandler):
    """Its files can be read by nobody else."""

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return TextIOWrapper(
            os.fdopen(descriptor, "ab"), encoding="utf-8", errors="backslashreplace", write_through=True
        )


_secrets: set[str] = set()


def hide(secret: str) -> None:
    """From now on no line of the log shows this text. Short ones are left: they would star half the log."""
    if len(secret) >= 4:
        _secrets.add(secret)


def start(folder: Path, *, level: int = logging.INFO, has_story_text: bool = False) -> logging.Handler | None:
    """Log into ``folder/narrator.log``, made when missing (0700, files 0600). None where that cannot be written."""
    logger = logging.getLogger("narrator")
    logger.propagate = False
    logger.setLevel(level)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = _Private(folder / "narrator.log", maxBytes=MAX_BYTES, backupCount=KEPT)
    except OSError:
        logger.addHandler(logging.NullHandler())
        return None
    handler.setFormatter(_Redacting(_secrets))
    if not has_story_text:
        handler.addFilter(lambda record: not getattr(record, "story", False))
    # A full disk must not print a traceback over the story.
    handler.handleError = lambda record: None  # type: ignore[method-assign]
    logger.addHandler(handler)
    return handler


def stop(handler: logging.Handler | None) -> None:
    """Close what ``start`` opened."""
    if handler is not None:
        logging.getLogger("narrator").removeHandler(handler)
        handler.close()
