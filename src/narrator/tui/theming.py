"""Themes: ``*.toml`` files → Textual themes; a broken file is a note, never a failure to start (U11).

A file names the colours of a Textual theme, and under ``[variables]`` those of the story: ``dialogue``, ``input``,
``margin`` (notes beside the story), ``faint`` (what is not yet or no longer story), ``chosen`` (the selected step) and
``found``. What is missing is taken from Textual's own mixing of colours.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from textual.color import Color, ColorParseError
from textual.theme import Theme

STORY_COLOURS = {
    "dialogue": "accent",
    "input": "primary",
    "margin": "secondary",
    "faint": "secondary",
    "chosen": "accent",
    "found": "warning",
}
"""The story's own colours, and whose place they take in a theme that does not name them."""


def with_story_colours(variables: dict[str, str]) -> dict[str, str]:
    """The variables of a theme with those of the story, for the style sheets."""
    return {**{name: variables[other] for name, other in STORY_COLOURS.items() if other in variables}, **variables}


_COLOURS = frozenset("primary secondary warning error success accent foreground background surface panel boost".split())
_NUMBERS = frozenset(("luminosity_spread", "text_alpha"))
_KNOWN = frozenset(field.name for field in fields(Theme)) - {"ansi"}


class Failure(NamedTuple):
    """A theme file that could not be used, and why in one line."""

    path: Path
    reason: str


def _colour(where: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{where} is not a colour in quotes")  # noqa: TRY004 (a file, not a caller)
    if value.startswith("$"):
        return value
    try:
        Color.parse(value)
    except ColorParseError:
        raise ValueError(f"{where}: {value!r} is no colour") from None
    return value


def parse_theme(text: str, fallback_name: str) -> Theme:
    """A theme from the text of a file; ``ValueError`` with one line that names the key."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(str(error)) from None
    unknown = sorted(set(table) - _KNOWN)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}")
    if "primary" not in table:
        raise ValueError("primary is missing")
    values: dict[str, Any] = {"name": fallback_name}
    for key, value in table.items():
        if key in _COLOURS:
            values[key] = _colour(key, value)
        elif key in _NUMBERS:
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise ValueError(f"{key} is not a number from 0 to 1")
            values[key] = float(value)
        elif key == "dark":
            if not isinstance(value, bool):
                raise ValueError("dark is not true or false")
            values[key] = value
        elif key == "name":
            if not isinstance(value, str) or not value.strip():
                raise ValueError("name is not a text")
            values[key] = value.strip()
        elif key == "variables":
            if not isinstance(value, dict):
                raise ValueError("variables is not a table")
            values[key] = {name: _variable(name, entry) for name, entry in value.items()}
    return Theme(**values)


def _variable(name: str, value: Any) -> str:
    if name in STORY_COLOURS or (isinstance(value, str) and value.startswith("#")):
        return _colour(f"variables.{name}", value)
    if not isinstance(value, str) or not value.replace(" ", "").replace("%", "").replace("-", "").isalnum():
        raise ValueError(f"variables.{name} is neither a colour nor a style word")
    return value


def load_themes(folders: Iterable[Path]) -> tuple[list[Theme], list[Failure]]:
    """All themes of the folders, a later one of the same name instead of an earlier, and the files that failed."""
    themes: dict[str, Theme] = {}
    failures: list[Failure] = []
    for folder in folders:
        for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
            try:
                theme = parse_theme(path.read_text(encoding="utf-8"), path.stem)
            except (OSError, UnicodeDecodeError, ValueError) as error:
                failures.append(Failure(path, " ".join(str(error).split())))
            else:
                themes[theme.name] = theme
    return list(themes.values()), failures
