"""THE language of conditions (W14): one for storylets, clocks, endings, cards and knowledge.

::

    location == 'ferry' and not fired('ask-the-ferryman', 3)
    player.nerve < 3 or 'ferryman' in scene.present
    has('player', 'oil') and turns_since('the-storm') >= 5

Operands are paths of the state, texts in single or double quotes, numbers, ``true``, ``false``, ``null`` and lists in
brackets. Operators: ``== != < <= > >= in``, ``and or not``, parentheses. Functions: ``has(WHO, WHAT)``, ``fired(ID)``
(ever on this path), ``fired(ID, TURNS)`` (within the last TURNS), ``turns_since(ID)`` (very many where it never fired).

A path alone holds when its value is something: true, not 0, not '', not an empty list, an open thread. A field that is
unset is nothing: it equals ``null`` and ``false``, differs from everything else, and is neither less nor greater than
anything. A text is parsed once, with the column of an error; holding is pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from narrator.core.errors import BadValue
from narrator.core.proposal import JSON, is_number

NEVER = 1_000_000_000
"""What ``turns_since`` answers for a storylet that never fired."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?\d+(?:\.\d+)?)|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<name>[^\W\d][\w-]*(?:\.[\w-]+)*)|(?P<sign>==|!=|<=|>=|<|>|\(|\)|\[|\]|,))"
)
_COMPARISONS = {"==", "!=", "<", "<=", ">", ">=", "in"}
_ARITY = {"has": (2, 2), "fired": (1, 2), "turns_since": (1, 1)}


class Facts(Protocol):
    """What a condition looks at: ``narrator.core.state.State`` is one."""

    @property
    def values(self) -> Mapping[str, JSON]: ...

    @property
    def turn(self) -> int: ...


class BadCondition(BadValue):
    """A condition that does not parse; ``column`` counts from 1."""

    def __init__(self, message: str, text: str, column: int) -> None:
        super().__init__(f"{message} at column {column} of “{text}”", code="bad-definition")
        self.column = column


@dataclass(frozen=True, slots=True)
class Literal:
    value: JSON


@dataclass(frozen=True, slots=True)
class Path:
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Not:
    inner: Expression


@dataclass(frozen=True, slots=True)
class Both:
    """``and``."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Either:
    """``or``."""

    left: Expression
    right: Expression


Expression = Literal | Path | Call | Compare | Not | Both | Either


@dataclass(frozen=True, slots=True)
class Condition:
    """A parsed condition: the text as it was written, and its tree."""

    text: str
    root: Expression


@lru_cache(maxsize=4096)
def parse_condition(text: str) -> Condition:
    """Parse once; raises ``BadCondition`` with the column where understanding ended."""
    reader = _Reader(text)
    root = reader.either()
    if reader.peek()[0] != "end":
        raise reader.error("unexpected " + repr(reader.peek()[1]))
    return Condition(text, root)


def holds(condition: Condition | None, state: Facts) -> bool:
    """Whether the condition holds in this state. None always holds."""
    return condition is None or _is_something(_value(condition.root, state))


def parts(condition: Condition) -> Iterator[Expression]:
    """Every part of the tree, for those who check that what it names exists."""
    waiting: list[Expression] = [condition.root]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, Compare | Both | Either):
            waiting += [part.left, part.right]
        elif isinstance(part, Not):
            waiting.append(part.inner)


class _Reader:
    """Recursive descent over the tokens (kind, text, column) of one condition."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        self.at = 0
        position = 0
        while position < len(text):
            found = _TOKEN.match(text, position)
            if found is None:
                if not text[position:].strip():
                    break
                position += len(text[position:]) - len(text[position:].lstrip())
                raise BadCondition(f"unexpected {text[position]!r}", text, position + 1)
            kind = found.lastgroup or ""
            self.tokens.append((kind, found.group(kind), found.start(kind) + 1))
            position = found.end()
        self.tokens.append(("end", "", len(text) + 1))

    def peek(self) -> tuple[str, str, int]:
        return self.tokens[self.at]

    def take(self) -> tuple[str, str, int]:
        token = self.tokens[self.at]
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def skip(self, kind: str, text: str) -> bool:
        if self.peek()[:2] == (kind, text):
            self.take()
            return True
        return False

    def error(self, message: str) -> BadCondition:
        kind, _, column = self.peek()
        return BadCondition("it ends too early" if kind == "end" else message, self.text, column)

    def either(self) -> Expression:
        left = self.both()
        while self.skip("name", "or"):
            left = Either(left, self.both())
        return left

    def both(self) -> Expression:
        left = self.negation()
        while self.skip("name", "and"):
            left = Both(left, self.negation())
        return left

    def negation(self) -> Expression:
        if self.skip("name", "not"):
            return Not(self.negation())
        return self.comparison()

    def comparison(self) -> Expression:
        left = self.operand()
        if self.peek()[:2] == ("name", "not") and self.tokens[self.at + 1][:2] == ("name", "in"):
            self.take()
            self.take()
            return Not(Compare("in", left, self.operand()))
        if self.peek()[0] in {"sign", "name"} and self.peek()[1] in _COMPARISONS:
            sign = self.take()[1]
            return Compare(sign, left, self.operand())
        return left

    def operand(self) -> Expression:
        kind, text, _ = self.peek()
        if kind == "sign" and text == "(":
            self.take()
            inner = self.either()
            self.expect(")")
            return inner
        if kind == "name" and text not in {"and", "or", "not", "in", "true", "false", "null"}:
            self.take()
            return self.call(text) if self.peek()[:2] == ("sign", "(") else Path(text)
        return self.literal()

    def call(self, name: str) -> Call:
        if name not in _ARITY:
            self.at -= 1
            raise self.error(f"no function is called {name!r} (there are {', '.join(_ARITY)})")
        self.take()
        arguments: list[Literal] = []
        while not self.skip("sign", ")"):
            if arguments:
                self.expect(",")
            arguments.append(self.literal())
        least, most = _ARITY[name]
        if not least <= len(arguments) <= most:
            self.at -= 1
            raise self.error(f"{name} takes {least if least == most else f'{least} or {most}'} arguments")
        if name == "fired" and len(arguments) == 2 and not isinstance(arguments[1].value, int):
            self.at -= 2
            raise self.error("fired wants a whole number of turns")
        return Call(name, tuple(arguments))

    def literal(self) -> Literal:
        kind, text, _ = self.peek()
        if kind == "number":
            self.take()
            return Literal(float(text) if "." in text else int(text))
        if kind == "text":
            self.take()
            return Literal(re.sub(r"\\(.)", r"\1", text[1:-1]))
        if kind == "name" and text in {"true", "false", "null"}:
            self.take()
            return Literal({"true": True, "false": False, "null": None}[text])
        if kind == "sign" and text == "[":
            self.take()
            items: list[JSON] = []
            while not self.skip("sign", "]"):
                if items:
                    self.expect(",")
                items.append(self.literal().value)
            return Literal(tuple(items))
        raise self.error(f"a value is missing before {text!r}")

    def expect(self, sign: str) -> None:
        if not self.skip("sign", sign):
            raise self.error(f"{sign!r} is missing before {self.peek()[1]!r}")


def _value(part: Expression, state: Facts) -> JSON:
    if isinstance(part, Literal):
        return part.value
    if isinstance(part, Path):
        return state.values.get(part.name)
    if isinstance(part, Call):
        return _call(part, state)
    if isinstance(part, Compare):
        return _compare(part.sign, _value(part.left, state), _value(part.right, state))
    if isinstance(part, Not):
        return not _is_something(_value(part.inner, state))
    left = _is_something(_value(part.left, state))
    if isinstance(part, Both):
        return left and _is_something(_value(part.right, state))
    return left or _is_something(_value(part.right, state))


def _call(call: Call, state: Facts) -> JSON:
    first = str(call.arguments[0].value)
    if call.name == "has":
        return state.values.get(f"inventory.{call.arguments[1].value}") == first
    fired = state.values.get("story.fired")
    record = fired.get(first) if isinstance(fired, dict) else None
    since = state.turn - int(record["last"]) if record else NEVER
    if call.name == "turns_since":
        return since
    return since <= int(call.arguments[1].value) if len(call.arguments) == 2 else since < NEVER


def _compare(sign: str, left: JSON, right: JSON) -> bool:
    if sign == "==":
        return _is_equal(left, right)
    if sign == "!=":
        return not _is_equal(left, right)
    if sign == "in":
        if isinstance(right, str):
            return isinstance(left, str) and left in right
        return isinstance(right, list | tuple) and any(_is_equal(left, item) for item in right)
    is_ordered = (is_number(left) and is_number(right)) or (isinstance(left, str) and isinstance(right, str))
    if not is_ordered:
        return False
    order: int = (left > right) - (left < right)
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[sign]


def _is_equal(left: JSON, right: JSON) -> bool:
    if left is None or right is None:
        other = right if left is None else left
        return other is None or other is False
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return list(left) == list(right)
    return bool(left == right)


def _is_something(value: JSON) -> bool:
    if isinstance(value, dict) and "open" in value:
        return bool(value["open"])
    return bool(value)
