"""A campaign's definition as TOML, written from what an import found. Its cards are kept beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from narrator.core.definition import BUILT_IN

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quoted(text: str) -> str:
    """A TOML basic string."""
    return '"' + "".join(_ESCAPES.get(s) or (s if s.isprintable() else f"\\U{ord(s):08X}") for s in text) + '"'


def slug(title: str) -> str:
    """An id out of a title."""
    return re.sub(r"[^\w]+", "-", title.casefold()).strip("-")[:100] or "campaign"


def write_definition(
    *,
    title: str,
    opening: str,
    premise: str = "",
    instructions: str = "",
    persona: str = "",
    player_name: str = "",
    fields: Mapping[str, str] = {},
) -> str:
    """The TOML. An empty opening stands as a space, since a definition needs one; the story has its own."""
    lines = ["[campaign]", f"id = {quoted(slug(title))}", f"title = {quoted(title)}"]
    lines.append(f"opening = {quoted(opening if opening.strip() else ' ')}")
    lines += [f"{key} = {quoted(text)}" for key, text in (("premise", premise), ("instructions", instructions)) if text]
    if player_name or persona:
        lines += ["", "[player]"]
        lines += [f"{key} = {quoted(text)}" for key, text in (("name", player_name), ("persona", persona)) if text]
    if fields:
        lines += ["", "[state]", "open_entities = true"]
    for path, kind in fields.items():
        if path not in BUILT_IN:
            place = ".".join(quoted(part) for part in path.split("."))
            lines += ["", f"[state.{place}]", f"type = {quoted(kind)}"]
    return "\n".join(lines) + "\n"
