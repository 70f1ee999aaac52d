"""What an import kept, changed and dropped, each with its place and the reason (X5).

A ``Report`` is filled while a file is read. Nothing is dropped without a line in it; beyond ``limits.NOTES`` lines the
counts go on and the last line says so.
"""

from __future__ import annotations

from collections import Counter
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
            "checkpoints": list(self.checkpoints),
            "placeholders": list(self.placeholders),
            "notes": dict(self.counts),
            "details": [each.to_json() for each in self.details],
        }


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
