"""A line of input on its way to being performed: read once, held in order, perhaps claimed by a ``/stop``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from narrator.core.errors import BadValue, NarratorError
from narrator.engine.commands import Command, find_verb, parse_line, parse_object
from narrator.engine.completion import parse_if_word
from narrator.engine.spelling import is_object

INPUTS = ("do", "say", "story")
LONG = ("export", "replay", "script")
"""Verbs that ask no narrator and may last, so that they can be stopped."""


@dataclass(slots=True, eq=False)
class Entry:
    """One line. Either ``command`` or ``failure`` is set; ``word`` is the command's name as far as it was understood.

    ``is_claimed``: a ``/stop`` or ``/keep`` acts on it. ``is_stopped``: it is answered ``stopped`` without beginning.
    ``is_internal`` lines are nobody's and are not answered, ``is_signal`` ones came from no line.
    ``verdict`` is the answer where it is known already; ``note`` is told before everything else. ``recorded`` is the
    line of a recording that means the same to whoever replays it, whatever the mode and the settings (U26).
    """

    text: str
    number: int | None = None
    word: str = ""
    command: Command | None = None
    failure: NarratorError | None = None
    tag: Any = None
    note: str = ""
    recorded: str = ""
    is_internal: bool = False
    is_signal: bool = False
    is_claimed: bool = False
    is_stopped: bool = False
    verdict: NarratorError | bool | None = None

    @property
    def is_turn(self) -> bool:
        """It asks a narrator, for all that can be known before it begins (a fork mostly does not)."""
        return self.command is not None and self.command.verb.is_turn and self.command.name != "fork"

    @property
    def is_long(self) -> bool:
        """It can be stopped: it asks a narrator, or is long for other reasons."""
        return self.is_turn or (self.command is not None and self.command.name in LONG)

    @property
    def is_input(self) -> bool:
        """What the player does, says or tells."""
        return self.command is not None and self.command.name in INPUTS

    @property
    def draft(self) -> str | None:
        """The input that goes back to the player when the turn does not happen."""
        return str(self.command.args["text"]) if self.command is not None and "text" in self.command.args else None


def read_entry(
    text: str,
    number: int | None,
    *,
    may_be_object: bool,
    has_if_words: bool = False,
    last_input: Command | None = None,
) -> Entry:
    """The entry of a line; what is wrong with it is kept in ``failure``. Raises nothing."""
    entry = Entry(text, number, recorded=text)
    try:
        if may_be_object and text.lstrip().startswith("{"):
            _read_object(entry)
        else:
            entry.word = _word(text)
            found = parse_if_word(text, number, last_input=last_input) if has_if_words else None
            entry.command = found or parse_line(text, number)
            if is_object(text):
                entry.recorded = f"/do {text.strip()}"
            if found is not None:
                entry.recorded = _spelled(found, text)
                entry.note = f"“{text.strip()}” by itself is a command; /do {text.strip()} says it in the story."
    except NarratorError as error:
        entry.failure = error
    if entry.command is not None:
        entry.word = entry.command.name
        entry.tag = entry.command.tag
    return entry


def _spelled(command: Command, text: str) -> str:
    """A bare word of interactive fiction as the command that it meant."""
    if command.name in INPUTS:
        return json.dumps({"command": command.name, "text": command.args["text"]}, ensure_ascii=False)
    return "/go 1" if command.name == "go" else f"/{text.strip()}"


def _word(text: str) -> str:
    """The name of the verb, for the answer to a line that could not be read."""
    stripped = text.strip()
    if not stripped.startswith("/") or stripped.startswith("//"):
        return "comment" if stripped.startswith("*") else "do"
    word = stripped[1:].split(None, 1)[0] if stripped[1:].strip() else ""
    try:
        return find_verb(word).name
    except NarratorError:
        return word


def _read_object(entry: Entry) -> None:
    # What cannot be read fails in a replay too: as an empty line.
    entry.recorded = ""
    try:
        obj = json.loads(entry.text)
    except (ValueError, RecursionError):
        raise BadValue("This line begins with { and is no JSON object.", "Text that begins so needs /do.") from None
    entry.tag = obj.get("tag")
    entry.recorded = json.dumps({"command": obj.get("command"), **obj}, ensure_ascii=False)
    if isinstance(obj.get("command"), str):
        entry.word = obj["command"].strip().removeprefix("/").lower()
    entry.command = parse_object(obj, entry.number)
