"""Values of the wrong type, mended and noted where it is plain what was meant (X5); for rows of a bundle.

A row is checked strictly first, which is all that a file of our own making costs.
"""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from narrator.core.errors import BadImport
from narrator.exchange.report import Notes

Model = TypeVar("Model", bound=BaseModel)
_ROUNDS = 8
_TRUE = {"true", "yes", "on", "1"}
_FALSE = {"false", "no", "off", "0", ""}


def check(model: type[Model], value: Any, place: str, notes: Notes) -> Model:
    """The row in this value. Raises ``BadImport`` with the place of what cannot be mended."""
    for _ in range(_ROUNDS):
        try:
            return model.model_validate(value)
        except ValidationError as refusal:
            found = refusal.errors(include_url=False, include_context=False)
        for error in found:
            if not _mend(value, error, place, notes):
                where = _path(place, error["loc"])
                raise BadImport(f"{where}: {error['msg'].removeprefix('Input ').lower()}, not {error['input']!r:.60}.")
    raise BadImport(f"{place} cannot be read.")


def _path(place: str, location: tuple[int | str, ...]) -> str:
    for part in location:
        place += f"[{part}]" if isinstance(part, int) else f".{part}"
    return place


def _mend(value: Any, error: Any, place: str, notes: Notes) -> bool:
    """Change the value where the error was found; False where nobody can know what was meant."""
    location = error["loc"]
    if not location:
        return False
    holder = value
    for part in location[:-1]:
        try:
            holder = holder[part]
        except (KeyError, IndexError, TypeError):
            return False
    last, kind, found = location[-1], error["type"], error["input"]
    where = _path(place, location)
    if kind == "extra_forbidden":
        del holder[last]
        notes.dropped(where, str(last), "unknown key")
        return True
    if found is None and isinstance(holder, dict) and kind != "missing":
        del holder[last]
        notes.changed(where, str(last), "null where a value belongs: left out")
        return True
    mended = _as_type(kind, found)
    if mended is None:
        return False
    holder[last] = mended
    notes.changed(where, str(last), f"{found!r:.40} was read as {mended!r:.40}")
    return True


def _as_type(kind: str, found: Any) -> Any:
    if kind in {"int_type", "float_type"}:
        return number(found)
    if kind == "bool_type":
        return truth(found)
    if kind == "string_type" and isinstance(found, int | float):
        return str(found)
    if kind == "list_type" and found in ("", {}):
        return []
    return None


def number(found: Any) -> int | float | None:
    """A number out of "100", 1.0, true; None where it is none."""
    if isinstance(found, bool):
        return int(found)
    if isinstance(found, str):
        try:
            found = float(found.strip()) if len(found) < 40 else None
        except ValueError:
            return None
    if isinstance(found, int):
        return found
    if isinstance(found, float) and found == found and abs(found) < 2**53:
        return int(found) if found.is_integer() else found
    return None


def truth(found: Any) -> bool | None:
    """A yes or no out of 1, "true", "off"; None where it is none."""
    if isinstance(found, bool):
        return found
    if isinstance(found, int | float):
        return bool(found)
    if isinstance(found, str):
        word = found.strip().casefold()
        return True if word in _TRUE else False if word in _FALSE else None
    return None
