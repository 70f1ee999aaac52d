"""Reading foreign objects key by key: wrong types are coerced and noted, what nobody read is noted too (X5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from narrator.exchange import limits
from narrator.exchange.mending import number, truth
from narrator.exchange.report import Notes

_MONTHS = "january february march april may june july august september october november december".split()
_SECRET = re.compile(r"api[_-]?key|secret|password|authori[sz]ation|access[_-]?token|bearer", re.IGNORECASE)
_SPOKEN = re.compile(r"(\w+) (\d{1,2}), (\d{4})(?: (\d{1,2}):(\d{2}) ?([ap]m)?)?", re.IGNORECASE)


class Fields:
    """One foreign object. Owns which of its keys were read; ``rest`` notes the others as dropped."""

    def __init__(self, notes: Notes, value: Any, where: str) -> None:
        self.notes = notes
        self.where = where
        self._read: set[str] = set()
        self.value: Mapping[str, Any] = value if isinstance(value, dict) else {}
        if not isinstance(value, dict) and value is not None:
            notes.dropped(where, "", f"an object belongs here, not {_kind(value)}")

    def __contains__(self, key: str) -> bool:
        return self.value.get(key) is not None

    def place(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key

    def raw(self, key: str) -> Any:
        """The value as it stands, None where there is none."""
        self._read.add(key)
        return self.value.get(key)

    def text(self, *keys: str, default: str = "", most: int = limits.TEXT_CHARACTERS) -> str:
        """The text under the first of these keys that has one; what is longer than ``most`` is cut."""
        for key in keys:
            found = self.raw(key)
            if found is not None:
                return text_of(self.notes, self.place(key), key, found, most)
        return default

    def number(self, key: str, default: float = 0) -> float:
        """A number; what is none is the default, noted."""
        found = self.raw(key)
        if found is None or found == "":
            if key in self.value:
                self.notes.changed(self.place(key), key, f"{found!r} where a number belongs; {default} is taken")
            return default
        value = number(found)
        if value is None:
            self.notes.changed(self.place(key), key, f"{found!r:.40} is no number; {default} is taken")
            return default
        if value != found or isinstance(found, bool | str):
            self.notes.changed(self.place(key), key, f"{found!r:.40} was read as {value}")
        return value

    def whole(self, key: str, default: int = 0) -> int:
        """A whole number from 0 on."""
        return max(0, int(self.number(key, default)))

    def truth(self, key: str, *, default: bool = False) -> bool:
        """A yes or no."""
        found = self.raw(key)
        if found is None:
            return default
        value = truth(found)
        if value is None:
            self.notes.changed(self.place(key), key, f"{found!r:.40} is neither true nor false; {default} is taken")
            return default
        if not isinstance(found, bool):
            self.notes.changed(self.place(key), key, f"{found!r:.40} was read as {value}".lower())
        return value

    def items(self, key: str) -> list[Any]:
        """A list; an object with numbers for keys counts as one, in their order."""
        found = self.raw(key)
        if found is None or found == "":
            return []
        if isinstance(found, dict):
            return [found[each] for each in sorted(found, key=_by_number)]
        if not isinstance(found, list):
            self.notes.dropped(self.place(key), key, f"a list belongs here, not {_kind(found)}")
            return []
        if len(found) > limits.ENTRIES:
            self.notes.dropped(self.place(key), key, f"only the first {limits.ENTRIES:,} are read")
            return found[: limits.ENTRIES]
        return found

    def rows(self, key: str) -> Iterator[Fields]:
        """The objects of a list."""
        for index, each in enumerate(self.items(key)):
            yield Fields(self.notes, each, f"{self.place(key)}[{index}]")

    def table(self, key: str) -> Fields:
        """An object; an empty one where there is none."""
        return Fields(self.notes, self.raw(key), self.place(key))

    def words(self, key: str) -> tuple[str, ...]:
        """Texts out of a list, or out of one text with commas between them; empty ones and repetitions left out."""
        found = self.raw(key)
        if found is None:
            return ()
        if isinstance(found, str):
            found = split_keys(found)
        if not isinstance(found, list):
            self.notes.changed(self.place(key), key, f"{_kind(found)} where a list belongs")
            found = [found]
        texts = (text_of(self.notes, self.place(key), key, each).strip() for each in found if each is not None)
        return tuple(dict.fromkeys(each for each in texts if each))

    def skip(self, *keys: str) -> None:
        """Keys that say nothing beyond what was read: counters, the shape of a window. One line a field and file."""
        for key in keys:
            if key not in self._read and not is_empty(self.value.get(key)):
                self.notes.passed(key)
        self._read.update(keys)

    def mark(self, *keys: str) -> None:
        """Keys that were read in another way."""
        self._read.update(keys)

    def unread(self) -> dict[str, Any]:
        """What nobody has read, without what is empty."""
        return {key: each for key, each in self.value.items() if key not in self._read and not is_empty(each)}

    def unused(self) -> dict[str, Any]:
        """The same with what is false or 0: for another program that may be the choice of somebody."""
        return {
            key: each
            for key, each in self.value.items()
            if key not in self._read and (each in (0, False) or not is_empty(each))
        }

    def rest(self, reason: str = "it is not used here") -> None:
        """Note everything that nobody has read; secrets in it are counted one by one (X6)."""
        for key, value in self.unread().items():
            for name in secrets_in({key: value}):
                self.notes.dropped(self.place(key), name, "a secret")
            if not is_secret(key):
                self.notes.dropped(self.place(key), key, reason)


def text_of(notes: Notes, where: str, name: str, found: Any, most: int = limits.TEXT_CHARACTERS) -> str:
    """A text; numbers are written out, lists and objects dropped, what is too long is cut. Noted, each."""
    if isinstance(found, bool) or not isinstance(found, str):
        if found is None:
            return ""
        if not isinstance(found, int | float):
            notes.dropped(where, name, f"a text belongs here, not {_kind(found)}")
            return ""
        notes.changed(where, name, f"{found!r:.40} was read as text")
        found = str(found).lower() if isinstance(found, bool) else str(found)
    if len(found) > most:
        notes.changed(where, name, f"it was cut to {most:,} characters")
        return str(found[:most])
    return str(found)


def is_secret(key: str) -> bool:
    """Whether a key of a foreign file names something that must not be kept."""
    return _SECRET.search(key) is not None


def secrets_in(value: Any) -> Iterator[str]:
    """The names of secrets in a value that have one, at any depth."""
    waiting = [value]
    while waiting:
        at = waiting.pop()
        if isinstance(at, dict):
            yield from (key for key, inner in at.items() if is_secret(key) and not is_empty(inner))
            waiting.extend(at.values())
        elif isinstance(at, list):
            waiting.extend(at)


def split_keys(text: str) -> list[str]:
    """Keys between commas; a comma inside ``/…/`` belongs to the expression."""
    return re.findall(r"/(?:\\.|[^/\\])+/[a-z]*|[^,]+", text)


def is_empty(value: Any) -> bool:
    """Whether a value says nothing: null, false, 0, no text, no items."""
    return value is None or value is False or value in ("", 0) or value in ([], {})


def moment(found: Any) -> str:
    """A time as ISO 8601 in UTC, out of ISO text, seconds or milliseconds, or “March 2, 2026 6:00pm”; '' for others."""
    try:
        if isinstance(found, int | float) and not isinstance(found, bool):
            seconds = found / 1000 if found > 10**11 else found
            return datetime.fromtimestamp(seconds, UTC).isoformat()
        if isinstance(found, str):
            spoken = _SPOKEN.match(found.strip())
            if spoken is not None:
                return _spoken(spoken)
            when = datetime.fromisoformat(found.strip())
            return (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""
    return ""


def _spoken(match: re.Match[str]) -> str:
    month, day, year, hour, minute, half = match.groups()
    names = [name for name in _MONTHS if name.startswith(month.casefold()[:3])]
    if not names:
        return ""
    hours = int(hour or 0)
    if half:
        hours = hours % 12 + (12 if half.casefold() == "pm" else 0)
    return datetime(int(year), _MONTHS.index(names[0]) + 1, int(day), hours, int(minute or 0), tzinfo=UTC).isoformat()


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _by_number(key: str) -> tuple[int, float, str]:
    value = number(key)
    return (1, 0, key) if value is None else (0, value, key)
