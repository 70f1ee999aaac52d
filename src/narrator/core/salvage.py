"""A definition with mistakes of shape, as far as it can still be looked at: so that its other mistakes are told too.

``salvage`` puts what is usual in the place of what cannot be read, so that everything else keeps its place.
``Broken.without_consequences`` takes out of the further problems those that follow from that alone: a storylet is not
mistaken in naming a skill whose own table cannot be read.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from narrator.core.door import DefinitionFile, Problem, place_of

Location = tuple[int | str, ...]

_ROUNDS: Final = 6
_LISTS: Final = frozenset({"cards", "storylets", "hints", "asides", "left", "endings"})
_NEEDED: Final[Mapping[str, Mapping[str, Any]]] = {
    "campaign": {"id": "?", "title": "?", "opening": "?"},
    "entities": {"name": "?"},
    "clocks": {"size": 1},
    "cards": {"name": "?", "text": "?"},
    "storylets": {"id": "?"},
    "hints": {"wordings": ["?"]},
    "asides": {"wordings": ["?"]},
    "left": {"wordings": ["?"]},
    "endings": {"id": "?"},
}
_KINDS: Final[Mapping[Location, frozenset[str]]] = {
    ("entities",): frozenset({"entity", "place", "thing"}),
    ("rules",): frozenset({"skill", "difficulty", "outcome"}),
    ("rules", "skills"): frozenset({"skill"}),
    ("rules", "difficulty"): frozenset({"difficulty"}),
    ("rules", "outcomes"): frozenset({"outcome"}),
    ("storylets",): frozenset({"storylet"}),
    ("endings",): frozenset({"ending"}),
}
"""What is called what, nobody knows where a whole table of names cannot be read."""
_UNKNOWN: Final = re.compile(r"no (\w+) is called '(.*?)'|nothing is declared at '(.*?)'")


@dataclass(frozen=True, slots=True)
class Broken:
    """Where a definition cannot be read: places of its tables, and paths of fields that are declared and unreadable."""

    places: tuple[Location, ...] = ()
    paths: frozenset[str] = frozenset()

    def without_consequences(self, problems: Iterable[Problem]) -> list[Problem]:
        """The problems that are none of this one's consequences."""
        tables = {place_of("", location[: _depth(location) - 1]) for location in self.places}
        kinds = {kind for location in self.places for kind in _KINDS.get(location, ())}
        kinds |= {str(at[0])[:-1] for at in self.places if len(at) == 3 and at[0] in _LISTS and at[2] == "id"}
        names = {part for location in self.places for part in location[1:] if isinstance(part, str)}
        return [each for each in problems if not self._follows(each, tables, kinds, names)]

    def _follows(self, problem: Problem, tables: set[str], kinds: set[str], names: set[str]) -> bool:
        where, what = problem
        found = _UNKNOWN.match(what)
        if found is not None:
            kind, name, path = found.groups()
            if path is None:
                return kind in kinds or name in names
            return ("state",) in self.places or any(path == each or path.startswith(f"{each}.") for each in self.paths)
        is_in_broken = any(where == table or where.startswith((f"{table}.", f"{table}[")) for table in tables if table)
        return is_in_broken and (not where.endswith("when") or "is missing" in what)


def salvage(tables: Mapping[str, Any]) -> tuple[DefinitionFile | None, Broken]:
    """What can be read of these tables, and where they are broken; None where that is nothing."""
    data = copy.deepcopy(dict(tables))
    places: list[Location] = []
    for _ in range(_ROUNDS):
        try:
            return DefinitionFile.model_validate(data), Broken(tuple(places))
        except ValidationError as refusal:
            errors = refusal.errors(include_url=False, include_input=False, include_context=False)
        for error in errors:
            if error["type"] == "extra_forbidden":
                _at(data, error["loc"][:-1]).pop(error["loc"][-1], None)
        for error in errors:
            if error["type"] != "extra_forbidden":
                places.append(error["loc"][: _depth(error["loc"])])
                _mend(data, error["loc"])
    return None, Broken(tuple(places))


def _depth(location: Location) -> int:
    """How many parts of a place lead to a key of its table."""
    if location[0] == "rules" and len(location) > 1:
        return {"skills": 4, "clocks": 4, "difficulty": 3, "outcomes": 3}.get(str(location[1]), 2)
    return 3 if location[0] in _LISTS or location[0] == "entities" else 1 if location[0] == "state" else 2


def _mend(data: dict[str, Any], location: Location) -> None:
    """Put what is usual in the place of the key that is broken, or an empty table in that of a table that is none."""
    depth = _depth(location)
    holder, last = _at(data, location[: min(depth, len(location)) - 1]), location[min(depth, len(location)) - 1]
    root = str(location[1] if location[0] == "rules" and depth == 4 else location[0])
    if len(location) >= depth:
        needed = _NEEDED.get(root, {}).get(str(last))
        if needed is None:
            holder.pop(last, None)
        else:
            holder[last] = f"?{location[1]}" if needed == "?" else needed
    elif len(location) == depth - 1 and (depth > 2 or root == "campaign"):
        holder[last] = {}
    else:
        holder.pop(last, None)


def _at(data: Any, location: Location) -> Any:
    for part in location:
        data = data[part]
    return data
