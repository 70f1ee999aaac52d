"""What an import kept, changed and dropped, each with its place and the reason (X5).

A ``Report`` is filled while a file is read. Nothing is dropped without a line in it; beyond ``limits.NOTES`` lines the
counts go on and the last line says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from narrator.exchange import limits

Kind = Literal["kept", "changed", "dropped"]


@dataclass(frozen=True, slots=True)
class Detail:
    """One line: which file, where in it (a key path, an index, a line), which field, and why."""

    kind: Kind
    file: str
    where: str
    field: str
    reason: str

    def to_json(self) -> dict[str, str]:
        """As in the JSON report of the contract."""
        return {"kind": self.kind, "file": self.file, "where": self.where, "field": self.field, "reason": self.reason}


@dataclass(slots=True)
class Report:
    """The report of one import. ``campaigns`` are the files made; ``into`` is the campaign that was added to."""

    format: str = ""
    title: str = ""
    campaigns: list[str] = field(default_factory=list)
    steps_on_path: int = 0
    nodes: int = 0
    branches: int = 0
    cards: int = 0
    memories: int = 0
    knowledge: int = 0
    checkpoints: list[str] = field(default_factory=list)
    placeholders: list[str] = field(default_factory=list)
    into: str = ""
    counts: dict[Kind, int] = field(default_factory=lambda: {"kept": 0, "changed": 0, "dropped": 0})
    details: list[Detail] = field(default_factory=list)
    passed: Counter[tuple[str, str]] = field(default_factory=Counter)

    def settle(self) -> None:
        """Give what was passed over everywhere one line a field and file: nothing of the story depends on it."""
        for (file, name), count in self.passed.items():
            times = "once" if count == 1 else f"{count} times"
            self.note("dropped", file, "", name, f"{times}: nothing of the story depends on it")
        self.passed.clear()

    def note(self, kind: Kind, file: str, where: str, name: str, reason: str) -> None:
        """Add a line."""
        self.counts[kind] += 1
        if len(self.details) < limits.NOTES:
            self.details.append(Detail(kind, file, where, name, reason))
        elif len(self.details) == limits.NOTES:
            self.details.append(Detail(kind, file, "", "", "more lines follow; they are counted, not shown"))

    def keep(self, count: int = 1) -> None:
        """Count what was taken over as it stood."""
        self.counts["kept"] += count

    def headline(self, branch: tuple[str, str] = ("branch", "branches")) -> str:
        """What it was read as, and how much is in it, in one line. ``branch`` says what branches are called (U18)."""
        nouns = (*_NOUNS[:1], branch, *_NOUNS[1:])
        found = ", ".join(
            _counted(number, *noun) for number, noun in zip(self._numbers(), nouns, strict=True) if number
        )
        return f"{self.title or 'Cards'}: read as {self.format}; {found or 'nothing to count'}."

    def _numbers(self) -> tuple[int, ...]:
        return (
            self.nodes,
            self.branches if self.branches > 1 else 0,
            self.cards,
            self.memories,
            self.knowledge,
            len(self.checkpoints),
        )

    def to_json(self) -> dict[str, Any]:
        """The JSON report of the contract."""
        return {
            "format": self.format,
            "title": self.title,
            "campaigns": list(self.campaigns),
            "into": self.into or None,
            "steps_on_path": self.steps_on_path,
            "nodes": self.nodes,
            "branches": self.branches,
            "cards": self.cards,
            "memories": self.memories,
            "knowledge": self.knowledge,
            "checkpoints": list(self.checkpoints),
            "placeholders": list(self.placeholders),
            "notes": dict(self.counts),
            "details": [each.to_json() for each in self.details],
        }


_NOUNS = (
    ("step", "steps"), ("card", "cards"), ("memory", "memories"),
    ("source of knowledge", "sources of knowledge"), ("checkpoint", "checkpoints"),
)  # fmt: skip


def _counted(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"


def told_lines(reports: Iterable[Report]) -> list[str]:
    """What was changed and dropped, a line each; those that differ in their place alone are one, with a number."""
    alike: dict[tuple[str, str, str, str], list[str]] = {}
    for report in reports:
        for each in report.details:
            if each.kind != "kept":
                alike.setdefault((each.kind, each.file, each.field, each.reason), []).append(each.where)
    lines = []
    for (kind, file, name, reason), places in alike.items():
        shown = name if name and not places[0].endswith(name) else ""
        place = " ".join(part for part in (file, places[0], shown) if part)
        more = f" (and {len(places) - 1:,} more like it)" if len(places) > 1 else ""
        lines.append(f"{kind}: {place}: {reason}{more}")
    return lines


@dataclass(frozen=True, slots=True)
class Notes:
    """A report as one file sees it: its lines name the file."""

    report: Report
    file: str

    def changed(self, where: str, name: str, reason: str) -> None:
        self.report.note("changed", self.file, where, name, reason)

    def dropped(self, where: str, name: str, reason: str) -> None:
        self.report.note("dropped", self.file, where, name, reason)

    def passed(self, name: str) -> None:
        """A field that says nothing beyond what was read; counted, and told in one line."""
        self.report.passed[(self.file, name)] += 1

    def kept(self, where: str, name: str, reason: str) -> None:
        self.report.note("kept", self.file, where, name, reason)
