"""The command language: a line or a JSON object becomes a ``Command`` (U14, contract).

Text without a slash is an action, ``//`` begins text with a slash, an empty line is a bare continue, a line that begins
with ``*`` is a private note. Nothing here knows the story: names and numbers become references, and who performs the
command finds out what they mean. No shell quoting: an apostrophe is an apostrophe.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from narrator.core.errors import BadValue, NarratorError
from narrator.core.nearest import nearest
from narrator.engine.verbs import ALIASES, COMMANDS, Argument, Effect, Kind, Verb

__all__ = [
    "COMMANDS",
    "BranchRef",
    "Command",
    "Effect",
    "StepRef",
    "TakeRef",
    "Verb",
    "find_verb",
    "parse_line",
    "parse_object",
]

_MISSING = object()
_REST = (Kind.TEXT, Kind.NAME, Kind.FILE, Kind.BRANCH, Kind.PATH)
_WORD = re.compile(r"\s*(\S+)\s*", re.DOTALL)
_QUOTED = re.compile(r'\s*"((?:[^"\\]|\\.)*)"(?:\s+|$)', re.DOTALL)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class StepRef:
    """A step: a position on the path (1 is the opening), or a node by id, which may lie off it; neither: the last."""

    position: int | None = None
    node_id: int | None = None


@dataclass(frozen=True, slots=True)
class TakeRef:
    """A take: the number of the pager, or a node by id (S18). Exactly one of the two is set."""

    number: int | None = None
    node_id: int | None = None


@dataclass(frozen=True, slots=True)
class BranchRef:
    """A branch: by name or derived label, or by id. Exactly one of the two is set."""

    name: str | None = None
    branch_id: int | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A verb with its arguments; arguments that were left out are absent.

    ``line`` is the line of the input, from 1; ``tag`` comes back with the answer.
    """

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    line: int | None = None
    tag: Any = None

    @property
    def verb(self) -> Verb:
        """The entry of the table."""
        return COMMANDS[self.name]

    @property
    def is_bare(self) -> bool:
        """An empty line: a continue that plain mode refuses where no input waits (S48)."""
        return self.name == "continue" and bool(self.args.get("bare"))


def find_verb(word: str) -> Verb:
    """The verb of a word, with or without its slash; ``unknown-command`` with a near match otherwise."""
    name = word.strip().removeprefix("/").lower()
    name = ALIASES.get(name, name)
    if name in COMMANDS:
        return COMMANDS[name]
    near = nearest(name, [*COMMANDS, *ALIASES])
    near = near or next((known for known in COMMANDS if name and known.startswith(name)), "")
    hint = f"Did you mean {COMMANDS[ALIASES.get(near, near)].usage}?" if near else "/help lists the commands."
    raise NarratorError("unknown-command", f"There is no command /{name}.", hint)


def parse_line(line: str, number: int | None = None, mode: str = "do") -> Command:
    """A line as it was typed; it may hold line breaks when a composer sends it.

    Raises ``unknown-command`` and ``bad-value``. ``mode`` is what text without a slash means.
    """
    text = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", line).strip()
    if not text:
        return Command("continue", {"bare": True}, number)
    if text.startswith("*"):
        note = text[1:].strip()
        if not note:
            raise BadValue("The private note is empty.", "Write it after the *.")
        return Command("comment", {"text": note}, number)
    if not text.startswith("/"):
        return Command(mode, {"text": text}, number)
    if text.startswith("//"):
        return Command(mode, {"text": text[1:]}, number)
    word, rest = _first_word(text[1:]) if text[1:].strip() else ("", "")
    verb = find_verb(word)
    return Command(verb.name, _parse_arguments(verb, rest), number)


def parse_object(obj: Mapping[str, Any], number: int | None = None) -> Command:
    """A JSON object as the contract has it. Raises ``unknown-command`` and ``bad-value``."""
    word = obj.get("command")
    if not isinstance(word, str):
        raise BadValue('The object needs a "command" that is text.', 'For example {"command": "undo", "n": 2}.')
    verb = find_verb(word)
    given = {key: value for key, value in obj.items() if key not in ("command", "tag", "line")}
    if word == "help" and "about" in given:
        given["command"] = given.pop("about")
    args: dict[str, Any] = {}
    for argument in verb.arguments:
        value = _MISSING
        for key in (argument.name, *argument.also):
            if key in given:
                value = given.pop(key)
                break
        if value is _MISSING or (value is None and argument.kind is not Kind.VALUE):
            if not argument.is_optional:
                raise _usage(verb, f"{argument.name} is missing.")
            continue
        converted = _from_json(verb, argument, value)
        if converted is not _MISSING:
            args[argument.name] = converted
    if given:
        raise _usage(verb, f"/{verb.name} takes no {next(iter(given))!r}.")
    _check_together(verb, args)
    return Command(verb.name, args, number, obj.get("tag"))


# --- lines ---------------------------------------------------------------------------------------------------------


def _usage(verb: Verb, message: str) -> BadValue:
    return BadValue(message, f"Usage: {verb.usage}")


def _first_word(text: str) -> tuple[str, str]:
    """The first word and the rest with its own spacing; both '' where there is none."""
    match = _WORD.match(text)
    return (match.group(1), text[match.end() :]) if match else ("", "")


def _first_name(text: str) -> tuple[str, str]:
    """The first name, in double quotes if it holds a space, and the rest."""
    match = _QUOTED.match(text)
    if match:
        return re.sub(r"\\(.)", r"\1", match.group(1)), text[match.end() :]
    return _first_word(text)


def _parse_arguments(verb: Verb, rest: str) -> dict[str, Any]:
    special = {"prune": _parse_prune, "correct": _parse_correct, "card": _parse_card, "script": _parse_script}
    args = special[verb.name](verb, rest) if verb.name in special else _parse_in_order(verb, rest)
    _check_together(verb, args)
    return args


def _parse_in_order(verb: Verb, rest: str) -> dict[str, Any]:
    args: dict[str, Any] = {}
    for place, argument in enumerate(verb.arguments):
        if not rest.strip():
            if argument.is_optional:
                continue
            raise _usage(verb, f"/{verb.name} needs {argument.usage}.")
        is_last = place == len(verb.arguments) - 1
        if is_last and argument.kind in (*_REST, Kind.VALUE):
            value = _read_value(rest.strip()) if argument.kind is Kind.VALUE else rest.strip()
            args[argument.name] = _from_word(verb, argument, value)
            return args
        word, after = _first_name(rest) if argument.kind in _REST else _first_word(rest)
        value = _from_word(verb, argument, word, is_trial=argument.is_optional and not is_last)
        if value is _MISSING:
            continue
        args[argument.name] = value
        rest = after
    if rest.strip():
        raise _usage(verb, f"/{verb.name} does not take {rest.strip()!r}.")
    return args


def _parse_prune(verb: Verb, rest: str) -> dict[str, Any]:
    word, after = _first_word(rest)
    if word == "all" and not after.strip():
        return {"all": True}
    if word in ("days", "steps"):
        argument = next(a for a in verb.arguments if a.name == word)
        return {word: _from_word(verb, argument, after.strip())}
    raise _usage(verb, "/prune needs all, days N or steps N.")


def _parse_correct(verb: Verb, rest: str) -> dict[str, Any]:
    """``PATH VALUE [because REASON]``: a JSON value may hold the word because, text ends at it."""
    path, after = _first_name(rest)
    after = after.strip()
    if not path or not after:
        raise _usage(verb, "/correct needs a path and a value.")
    try:
        value, end = json.JSONDecoder().raw_decode(after)
        value, tail = _whole(value), after[end:]
        if tail and not re.match(r"\s+because(\s|$)", tail):
            raise ValueError(tail)
    except (ValueError, RecursionError):
        match = re.search(r"\s+because(?=\s|$)", after)
        value, tail = (after[: match.start()], after[match.start() :]) if match else (after, "")
    args: dict[str, Any] = {"path": path, "value": value}
    if tail:
        reason = tail.strip().removeprefix("because").strip()
        if not reason:
            raise _usage(verb, "There is no reason after because.")
        args["reason"] = reason
    return args


def _parse_card(verb: Verb, rest: str) -> dict[str, Any]:
    """``NAME [on|off|edit|delete] [TEXT]``: an unquoted name may hold spaces up to the action."""
    choices = verb.arguments[1].choices
    if not rest.strip():
        raise _usage(verb, "/card needs a name.")
    if _QUOTED.match(rest):
        name, after = _first_name(rest)
        action, text = _first_word(after)
        if action and action not in choices:
            raise _usage(verb, f"A card cannot be told {action!r}.")
    else:
        words = rest.split()
        name, action, text = rest.strip(), "", ""
        if len(words) > 1 and words[-1] in choices:
            name, action = rest.strip()[: -len(words[-1])].strip(), words[-1]
        elif match := re.search(r"\S\s+(edit)\s+", rest):
            name, action, text = rest[: match.start(1)].strip(), "edit", rest[match.end() :]
    args = {"name": name, "action": action, "text": text.strip()}
    return {key: value for key, value in args.items() if value}


def _parse_script(verb: Verb, rest: str) -> dict[str, Any]:
    if _QUOTED.match(rest):
        file, after = _first_name(rest)
        if after.strip() not in ("", "all"):
            raise _usage(verb, f"/script does not take {after.strip()!r}.")
        return {"file": file, "all": True} if after.strip() else {"file": file}
    file = rest.strip()
    if re.search(r"\sall$", file):
        return {"file": file[:-4].strip(), "all": True}
    return {"file": file} if file else {}


def _check_together(verb: Verb, args: Mapping[str, Any]) -> None:
    """Rules over several arguments."""
    if verb.name == "prune" and len(args) != 1:
        raise _usage(verb, "/prune needs one of all, days N and steps N.")
    if verb.name == "card" and "text" in args and args.get("action") != "edit":
        raise _usage(verb, "Only /card NAME edit takes text.")
    if verb.name == "knowledge" and ("id" in args) != ("action" in args):
        raise _usage(verb, "/knowledge needs both the id and what to do with it, or neither.")


# --- words and JSON values -----------------------------------------------------------------------------------------


def _number(word: str) -> int | None:
    """A plain decimal number from 0 to 2**63-1, or None. Other scripts' digits are text."""
    return int(word) if re.fullmatch(r"[0-9]{1,19}", word) and int(word) <= _LARGEST else None


def _read_value(text: str) -> Any:
    """JSON where it is JSON, else the text."""
    try:
        return _whole(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _whole(value: Any) -> Any:
    """The JSON value without halves of characters, which no file takes. Raises ``ValueError`` for endless numbers."""
    json.dumps(value, allow_nan=False)
    match value:
        case str():
            return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
        case list():
            return [_whole(item) for item in value]
        case dict():
            return {_whole(key): _whole(item) for key, item in value.items()}
    return value


def _from_word(verb: Verb, argument: Argument, word: Any, *, is_trial: bool = False) -> Any:
    """The argument's value. A trial answers ``_MISSING`` where the word is none of this kind."""
    value: Any = _MISSING
    match argument.kind:
        case Kind.STEP:
            value = _step(word)
        case Kind.TAKE:
            number = _number(word)
            node_id = _number(word[1:]) if word.startswith("#") else None
            if number or node_id is not None:
                value = TakeRef(number, node_id)
        case Kind.BRANCH:
            branch_id = _number(word[1:]) if word.startswith("#") else None
            value = BranchRef(None if branch_id is not None else word, branch_id)
        case Kind.COUNT:
            value = _number(word) or _MISSING
        case Kind.TIMES:
            value = _number(word[1:]) or _MISSING if word[:1] in ("x", "X", "×") else _MISSING
        case Kind.ID:
            found = _number(word.removeprefix("#"))
            value = _MISSING if found is None else found
        case Kind.WORD:
            lowered = word.lower()
            value = lowered if not argument.choices or lowered in argument.choices else _MISSING
        case Kind.FLAG:
            value = True if word in argument.choices else _MISSING
        case _:
            value = word
    if value is _MISSING and not is_trial:
        raise _usage(verb, f"{word!r} is no {_describe(argument)}.")
    return value


def _describe(argument: Argument) -> str:
    if argument.choices:
        return f"choice of {' or '.join(argument.choices)}"
    return {
        Kind.STEP: "step (a position such as 12, last, or #ID)",
        Kind.TAKE: "take (its number, or #ID)",
        Kind.COUNT: "number from 1 up",
        Kind.TIMES: "number of times such as x3",
        Kind.ID: "id",
    }.get(argument.kind, argument.name)


def _step(word: str) -> Any:
    if word.lower() == "last":
        return StepRef()
    if word.startswith("#"):
        node_id = _number(word[1:])
        return _MISSING if node_id is None else StepRef(node_id=node_id)
    position = _number(word)
    return StepRef(position=position) if position else _MISSING


def _from_json(verb: Verb, argument: Argument, value: Any) -> Any:
    """The argument's value from JSON; ``_MISSING`` for a flag that is false."""
    kind = argument.kind
    try:
        value = _whole(value)
    except (ValueError, RecursionError):
        raise _usage(verb, f"{argument.name} is no value that can be kept.") from None
    if kind is Kind.VALUE:
        return value
    if kind is Kind.FLAG:
        if not isinstance(value, bool):
            raise _usage(verb, f"{argument.name} must be true or false.")
        return value or _MISSING
    if kind is Kind.WORD and isinstance(value, bool):
        value = "on" if value else "off"
    if isinstance(value, int) and not isinstance(value, bool):
        if kind is Kind.BRANCH:
            return BranchRef(branch_id=value)
        value = f"x{value}" if kind is Kind.TIMES else str(value)
        if kind not in (Kind.STEP, Kind.TAKE, Kind.COUNT, Kind.TIMES, Kind.ID):
            raise _usage(verb, f"{argument.name} must be text.")
    if isinstance(value, Mapping) and set(value) == {"id"} and kind in (Kind.STEP, Kind.TAKE, Kind.BRANCH):
        node_id = value["id"]
        if not isinstance(node_id, int) or isinstance(node_id, bool):
            raise _usage(verb, f"The id in {argument.name} must be a number.")
        value = f"#{node_id}"
    if not isinstance(value, str):
        raise _usage(verb, f"{argument.name} must be {'text' if kind in _REST else 'a ' + _describe(argument)}.")
    if kind is Kind.TIMES and _number(value):
        value = f"x{value}"
    if kind in _REST and not value.strip():
        raise _usage(verb, f"{argument.name} is empty.")
    return _from_word(verb, argument, value)
