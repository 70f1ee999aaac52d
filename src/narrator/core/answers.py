"""Reading what a model answers where JSON was asked for (W5): generous with the form, strict about the whole.

Understood: a code fence with or without a label, prose before and after, reasoning in ``<think>`` tags, trailing
commas, comments, single quotes, bare keys, ``True`` and ``None``, ``+5``, nested objects and dotted keys. A failure: a
fence that was cut off, an object that was cut off, an answer that is no object, two answers. Nothing is guessed from a
part of an answer, so a broken one is never half applied.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from narrator.core.errors import NarrationFailed
from narrator.core.proposal import JSON, OPS, Proposal

EXTRACTION_SCHEMA: Mapping[str, Any] = MappingProxyType(
    {
        "type": "object",
        "properties": {
            "changes": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "op": {"type": "string", "enum": list(OPS)},
                        "path": {"type": "string"},
                        "value": {"type": ["string", "number", "boolean", "null"]},
                        "why": {"type": "string"},
                    },
                    "required": ["op", "path", "value", "why"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["changes"],
        "additionalProperties": False,
    }
)
"""What an extraction request asks for (contract)."""

CHECK_SCHEMA: Mapping[str, Any] = MappingProxyType(
    {
        "type": "object",
        "properties": {
            "check": {
                "anyOf": [
                    {"type": "null"},
                    {
                        "type": "object",
                        "properties": {"skill": {"type": "string"}, "difficulty": {"type": "string"}},
                        "required": ["skill", "difficulty"],
                        "additionalProperties": False,
                    },
                ]
            }
        },
        "required": ["check"],
        "additionalProperties": False,
    }
)
"""What a check request asks for (contract)."""


def check_parameters(skills: Sequence[str], difficulties: Sequence[str]) -> Mapping[str, Any]:
    """The JSON Schema of what the tool for a check is called with (contract)."""
    return {
        "type": "object",
        "properties": {
            "skill": {"type": "string", "enum": list(skills)},
            "difficulty": {"type": "string", "enum": list(difficulties)},
        },
        "required": ["skill", "difficulty"],
        "additionalProperties": False,
    }


_LISTS = ("changes", "state_changes", "updates", "operations", "ops")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*[\w+-]*[ \t]*$", re.MULTILINE)
_WORD = re.compile(r"[^\W\d][\w.-]*")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_WORDS: Mapping[str, JSON] = MappingProxyType(
    {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
)
_MAX_DEPTH = 40


def parse_proposals(text: str) -> tuple[Proposal, ...]:
    """The changes in an extraction answer. Raises ``NarrationFailed`` with code ``extraction-failed``."""
    try:
        return tuple(_changes(parse_object(text)))
    except NotAnObject as error:
        raise NarrationFailed(
            "extraction-failed",
            f"What changed could not be read from the narrator's answer: {error}",
            "Accept the text without changes, try again, or discard it.",
        ) from error


def parse_check(text: str) -> tuple[str, str] | None:
    """(skill, difficulty) of a check answer, None for no check. Raises ``NarrationFailed`` (``narrator-malformed``)."""
    try:
        answer = parse_object(text)
    except NotAnObject as error:
        raise NarrationFailed("narrator-malformed", f"The answer about a check could not be read: {error}") from error
    check = answer.get("check", answer if "skill" in answer else None)
    if not check:
        return None
    if isinstance(check, Mapping) and isinstance(check.get("skill"), str):
        return check["skill"].strip(), str(check.get("difficulty") or "").strip()
    raise NarrationFailed("narrator-malformed", "The answer about a check names no skill.")


class NotAnObject(ValueError):
    """The answer holds no whole JSON object; the message says why."""


def parse_object(text: str) -> dict[str, JSON]:
    """The one JSON object in a model's answer. Raises ``NotAnObject``. ``+5`` comes out as the text "+5"."""
    body = _unfenced(text.removeprefix("\ufeff").rpartition("</think>")[2])
    found: list[dict[str, JSON]] = []
    at = 0
    if body.lstrip().startswith("["):
        raise NotAnObject("it is a list, no object")
    while (at := body.find("{", at)) >= 0:
        reader = _Reader(body, at)
        try:
            value = reader.object(0)
        except _Prose:
            at += 1
            continue
        found.append(value)
        at = reader.at
    if not found:
        raise NotAnObject("it holds no object")
    if len(found) > 1 and any(found[0] != other for other in found[1:]):
        raise NotAnObject("it holds more than one object")
    return found[0]


def _unfenced(text: str) -> str:
    """What stands in the code fences, or the text itself where there is none."""
    marks = list(_FENCE.finditer(text))
    if not marks:
        inline = re.fullmatch(r"\s*`{3,}[ \t]*(?:\w+\b)?\s*([{\[].*[}\]])\s*`{3,}\s*", text, re.DOTALL)
        return inline.group(1) if inline else text
    if len(marks) % 2:
        before = text[: marks[-1].start()].strip()
        if len(marks) == 1 and before.startswith("{") and before.endswith("}"):
            return before  # the fence's first mark was left out
        raise NotAnObject("its code fence was cut off")
    return "\n".join(text[a.end() : b.start()] for a, b in zip(marks[::2], marks[1::2], strict=True))


class _Prose(ValueError):
    """A brace that begins no object: prose goes on behind it."""


class _Reader:
    """A tolerant reader of one JSON value in ``text`` from ``at``."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def object(self, depth: int) -> dict[str, JSON]:
        """An object; ``_Prose`` while no key was read at the top (then it is a brace in a sentence)."""
        self.at += 1
        out: dict[str, JSON] = {}
        while (sign := self.sign()) != "}":
            if sign == "," and out:
                self.at += 1
                if self.sign() == ",":
                    raise NotAnObject("a key is missing")
                continue
            start = self.at
            try:
                key = self.key(sign)
                if self.sign() != ":":
                    raise NotAnObject(f"a colon is missing at {self.text[self.at : self.at + 12]!r}")
            except NotAnObject as error:
                if depth == 0 and not out and sign not in {'"', "'"}:
                    raise _Prose from error
                raise NotAnObject(str(error) or f"no key at {self.text[start : start + 12]!r}") from error
            self.at += 1
            value = self.value(depth + 1)
            out[key] = value
            if self.sign() not in {",", "}"}:
                raise NotAnObject(f"a comma is missing at {self.text[self.at : self.at + 12]!r}")
        self.at += 1
        return out

    def key(self, sign: str) -> str:
        if sign in {'"', "'"}:
            return self.string(sign)
        word = _WORD.match(self.text, self.at)
        if word is None:
            raise NotAnObject(f"no key at {self.text[self.at : self.at + 12]!r}")
        self.at = word.end()
        return word.group()

    def value(self, depth: int) -> JSON:
        if depth > _MAX_DEPTH:
            raise NotAnObject("it is nested too deeply")
        sign = self.sign()
        if sign == "{":
            return self.object(depth)
        if sign == "[":
            return self.list(depth)
        if sign in {'"', "'"}:
            return self.string(sign)
        number = _NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            return _number(number.group())
        word = _WORD.match(self.text, self.at)
        if word is not None and word.group() in _WORDS:
            self.at = word.end()
            return _WORDS[word.group()]
        raise NotAnObject(f"no value at {self.text[self.at : self.at + 12]!r}")

    def list(self, depth: int) -> list[JSON]:
        self.at += 1
        out: list[JSON] = []
        while self.sign() != "]":
            out.append(self.value(depth + 1))
            sign = self.sign()
            if sign == ",":
                self.at += 1
            elif sign != "]":
                raise NotAnObject(f"a comma is missing at {self.text[self.at : self.at + 12]!r}")
        self.at += 1
        return out

    def string(self, quote: str) -> str:
        start, at = self.at, self.at + 1
        while at < len(self.text):
            sign = self.text[at]
            if sign == "\\":
                at += 2
                continue
            if sign == quote:
                self.at = at + 1
                return _unescaped(self.text[start + 1 : at])
            at += 1
        raise NotAnObject("it was cut off")

    def sign(self) -> str:
        """The next sign behind white space and comments; the end of the text is an answer that was cut off."""
        while self.at < len(self.text):
            if self.text[self.at].isspace():
                self.at += 1
            elif self.text.startswith("//", self.at):
                self.at = (self.text.find("\n", self.at) + 1) or len(self.text)
            elif self.text.startswith("/*", self.at):
                end = self.text.find("*/", self.at)
                self.at = end + 2 if end >= 0 else len(self.text)
            else:
                return self.text[self.at]
        raise NotAnObject("it was cut off")


def _number(text: str) -> JSON:
    if text.startswith("+"):
        return text
    value = float(text)
    return int(text) if re.fullmatch(r"-?\d+", text) and len(text) < 20 else value


def _unescaped(text: str) -> str:
    """A string's text; raw line ends and tabs, which JSON forbids, are taken as they stand."""
    if "\\" not in text:
        return text
    body = re.sub(r"\\'", "'", text)
    body = re.sub(r'(?<!\\)((?:\\\\)*)"', r'\1\\"', body)
    try:
        whole = str(json.loads(f'"{body}"', strict=False))
        return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # half a character is none
    except ValueError as error:
        raise NotAnObject(f"a text cannot be read: {error}") from error


def _changes(answer: Mapping[str, JSON]) -> Iterator[Proposal]:
    changes: JSON = answer
    for name in _LISTS:
        if name in answer:
            changes = answer[name]
            break
    if changes is None:
        return
    if isinstance(changes, Mapping):
        yield from [_operation(changes)] if _is_operation(changes) else _nested(changes, "")
    elif isinstance(changes, list):
        for item in changes:
            if isinstance(item, Mapping) and not _is_operation(item) and "path" not in item and "op" not in item:
                yield from _nested(item, "")
            elif isinstance(item, Mapping):
                yield _operation(item)
            else:
                yield Proposal("", "", item, "")
    else:
        raise NotAnObject("its changes are neither a list nor an object")


def _is_operation(item: Mapping[str, JSON]) -> bool:
    return isinstance(item.get("path"), str | list) and ("op" in item or "value" in item)


def _operation(item: Mapping[str, JSON]) -> Proposal:
    path = item.get("path")
    name = ".".join(str(part) for part in path) if isinstance(path, list) else str(path or "")
    op = item.get("op", item.get("operation", ""))
    why = item.get("why", item.get("reason", ""))
    return Proposal(
        str(op or "").strip().casefold(), name.strip(), item.get("value"), why if isinstance(why, str) else ""
    )


def _nested(table: Mapping[str, JSON], path: str) -> Iterator[Proposal]:
    """``{"player": {"nerve": "+1"}}`` and ``{"player.nerve": 4}``: the operation is left to the type."""
    for key, value in table.items():
        place = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping) and value and _is_operation({**value, "path": place}) and "op" in value:
            yield _operation({**value, "path": place})
        elif isinstance(value, Mapping) and "text" not in value:
            yield from _nested(value, place)
        else:
            yield Proposal("", place, value, "")
