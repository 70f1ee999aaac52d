"""What a file is, by what is in it, never by its name (X1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narrator.core.errors import BadImport, BadValue
from narrator.exchange import aidnd, aidungeon, character, chats, kobold, loom, mikupad, novelai, prose, sillytavern
from narrator.exchange.bundle_import import opened
from narrator.exchange.bundle_models import FORMAT
from narrator.exchange.decoding import codec_of, decode, parse_json, read_file
from narrator.exchange.plan import Plan
from narrator.exchange.report import Notes

BUNDLE = "narrator"
CHAT = "sillytavern-chat"
TEXT = "text"

#: How ``--as`` calls a format, and what reads its JSON.
JSON_FORMATS: Mapping[str, Callable[[Any, Notes], Plan]] = {
    "aidnd": aidnd.read,
    "sillytavern-worldinfo": sillytavern.read_world_info,
    "character-card": character.read,
    "aidungeon": aidungeon.read_adventure,
    "aidungeon-cards": aidungeon.read_cards,
    "kobold": kobold.read,
    "novelai-story": novelai.read_story,
    "novelai-scenario": novelai.read_scenario,
    "novelai-lorebook": novelai.read_lorebook,
    "loom": loom.read,
    "textgen": chats.read_textgen,
    "agnai": chats.read_agnai,
    "mikupad": mikupad.read,
}
FORMATS = (BUNDLE, CHAT, *JSON_FORMATS, TEXT, *prose.KINDS)

_SQLITE = b"SQLite format 3\0"
_SNIFFED = 4096
_CHAT_MARKS = ('"mes"', '"chat_metadata"', '"character_name"')


@dataclass(frozen=True, slots=True)
class Found:
    """A file, recognised. ``read`` gives its plan; a chat has its ``text`` (files of one chat are read together)."""

    path: Path
    format: str
    notes: Notes
    read: Callable[[], Plan] | None = None
    text: str = ""


def recognise(path: Path, notes: Notes, as_format: str | None = None) -> Found:
    """What a file is. Raises ``BadImport`` where nobody knows, ``BadValue`` for a format that does not exist."""
    if as_format is not None and as_format not in FORMATS:
        raise BadValue(f"There is no format {as_format!r}.", f"One of {', '.join(FORMATS)}.")
    if as_format == BUNDLE or (as_format is None and _is_bundle(path)):
        return Found(path, BUNDLE, notes)
    data = read_file(path)
    if data.startswith(_SQLITE):
        raise BadImport(f"{path.name} is a database, no export.", "A campaign of narrator's is played as it is.")
    if data.startswith(character.PNG_MAGIC):
        return _card(path, notes, character.json_in_png(data, notes))
    if data.startswith(character.ZIP_MAGIC):
        return _card(path, notes, character.json_in_archive(data, notes))
    text = decode(data, notes)
    if as_format == TEXT:
        return Found(path, TEXT, notes, lambda: prose.read_opening(text, notes))
    if as_format in prose.KINDS:
        kind = as_format
        return Found(path, TEXT, notes, lambda: prose.read_knowledge(text, notes, kind))
    if as_format == CHAT or (as_format is None and _is_chat(text, notes)):
        return Found(path, CHAT, notes, text=text)
    if as_format is None and not _is_json(text):
        if re.search(r"^\s*\[campaign\]\s*$", text[:_SNIFFED], re.MULTILINE):
            raise BadImport(f"{path.name} is the definition of a campaign.", "`narrator new --from` makes one of it.")
        return Found(path, TEXT, notes, lambda: prose.read_opening(text, notes))
    value = parse_json(text, notes)
    if isinstance(value, dict) and value.get("format") == FORMAT:
        return Found(path, BUNDLE, notes)
    if isinstance(value, dict) and str(value.get("format", "")).startswith("narrator-campaign-"):
        raise BadImport(f"{path.name} was made by a newer narrator.", "Update narrator to import it.")
    name = as_format or json_format(value)
    if name is None:
        raise BadImport(f"{path.name}: no known format.", f"--as FORMAT says what it is: {', '.join(FORMATS)}.")
    if not isinstance(value, list if name == "aidungeon-cards" else dict):
        raise BadImport(f"{path.name} is not of the format {name}.")
    return Found(path, name, notes, lambda: JSON_FORMATS[name](value, notes))


def _card(path: Path, notes: Notes, value: Any) -> Found:
    if not isinstance(value, dict):
        raise BadImport(f"{path.name}: the card is no object.")
    return Found(path, "character-card", notes, lambda: character.read(value, notes))


def _is_bundle(path: Path) -> bool:
    """Whether a file begins as a bundle does; one whose members were put in another order is found later."""
    with opened(path) as file:
        start = file.read(_SNIFFED)
    text = start.decode(codec_of(start) or "utf-8", errors="replace").lstrip("\ufeff \t\r\n")
    return text.startswith("{") and f'"{FORMAT}"' in text.partition(",")[0]


def _is_chat(text: str, notes: Notes) -> bool:
    first = text.lstrip().partition("\n")[0].strip()
    if not first.startswith("{") or not first.endswith("}") or not any(mark in first for mark in _CHAT_MARKS):
        return False
    try:
        value = parse_json(first, Notes(type(notes.report)(), notes.file))
    except BadImport:
        return False
    if not isinstance(value, dict):
        return False
    is_header = "chat_metadata" in value or ("user_name" in value and "character_name" in value)
    return is_header or ("mes" in value and "is_user" in value)


def _is_json(text: str) -> bool:
    """Whether a text means to be JSON: an object, or a list whose first item begins as one does."""
    start = text.lstrip()
    if start.startswith("{"):
        return True
    return start.startswith("[") and start[1:].lstrip()[:1] in ("{", "]")


def json_format(value: Any) -> str | None:
    """The format of a JSON value, by its shape."""
    if isinstance(value, list):
        rows = [each for each in value if isinstance(each, dict)]
        return "aidungeon-cards" if rows and all("keys" in row or "entry" in row for row in rows) else None
    if not isinstance(value, dict):
        return None
    marks = {
        "aidnd": str(value.get("format", "")).startswith("ai-dnd-adventure"),
        "character-card": str(value.get("spec", "")).startswith("chara_card")
        or ("first_mes" in value and "name" in value),
        "novelai-lorebook": "lorebookVersion" in value,
        "novelai-scenario": "scenarioVersion" in value,
        "novelai-story": "storyContainerVersion" in value,
        "sillytavern-worldinfo": value.get("spec") == "lorebook_v3" or _has_entries(value),
        "loom": isinstance(value.get("root"), dict),
        "textgen": any(key in value for key in ("internal", "visible", "data_visible")),
        "agnai": isinstance(value.get("messages"), list),
        "mikupad": "endpointAPI" in value or str(value.get("prompt", "")).startswith('[{"'),
        "kobold": "gamestarted" in value or "actions_metadata" in value or "worldinfo_v2" in value,
        "aidungeon": "actions" in value or "storyCards" in value or "prompt" in value,
    }
    return next((name for name, holds in marks.items() if holds), None)


def _has_entries(value: dict[str, Any]) -> bool:
    entries = value.get("entries")
    rows = list(entries.values()) if isinstance(entries, dict) else entries
    if not isinstance(rows, list):
        return False
    return all(isinstance(row, dict) and ("key" in row or "keys" in row or "content" in row) for row in rows)
