"""A command back as a line or a JSON object, for recordings (U26): what ``commands`` reads, written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from narrator.core.errors import NarratorError
from narrator.engine.commands import BranchRef, Command, StepRef, TakeRef, parse_line
from narrator.engine.verbs import Argument, Kind


def as_object(command: Command) -> dict[str, Any]:
    """The JSON object that ``parse_object`` reads back as this command (``line`` aside)."""

    def plain(value: Any) -> Any:
        match value:
            case StepRef(position=None, node_id=None):
                return "last"
            case StepRef(position=None, node_id=found) | TakeRef(number=None, node_id=found):
                return {"id": found}
            case StepRef(position=number) | TakeRef(number=number):
                return number
            case BranchRef(name=None, branch_id=found):
                return {"id": found}
            case BranchRef(name=name):
                return name
        return value

    obj = {"command": command.name, **{key: plain(value) for key, value in command.args.items()}}
    if command.name == "help" and "command" in command.args:
        obj = {"command": "help", "about": command.args["command"]}
    return obj if command.tag is None else {**obj, "tag": command.tag}


def is_object(text: str) -> bool:
    """Whether a line of a recording is a JSON object; text that begins so is recorded with ``/do``."""
    return text.lstrip().startswith('{"command"')


def as_line(command: Command) -> str:
    """One line that a replay reads back as this command: as it would be typed, else a JSON object (U26)."""
    if command.is_bare:
        return ""
    if command.name == "do" and set(command.args) == {"text"}:
        text = str(command.args["text"])
        line = f"/{text}" if text.startswith("/") else text
    else:
        values = as_object(command)
        words = [
            _spell(argument, values[argument.name]) for argument in command.verb.arguments if argument.name in values
        ]
        line = " ".join([f"/{command.name}", *words])
    try:
        if is_object(line):
            line = f"/do {line}"
        if "\n" not in line and "\r" not in line and parse_line(line).args == command.args and command.tag is None:
            return line
    except NarratorError:
        pass
    return json.dumps(as_object(command), ensure_ascii=False)


def _spell(argument: Argument, value: Any) -> str:
    if argument.kind is Kind.FLAG:
        return argument.choices[0] if argument.choices else argument.name
    if isinstance(value, Mapping) and set(value) == {"id"}:
        return f"#{value['id']}"
    if argument.kind is Kind.TIMES:
        return f"x{value}"
    if argument.shown and argument.shown.split()[0] in ("days", "steps", "because"):
        return f"{argument.shown.split()[0]} {value}"
    if argument.kind is Kind.VALUE:
        return json.dumps(value, ensure_ascii=False)
    return str(value)
