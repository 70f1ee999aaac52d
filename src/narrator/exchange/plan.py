"""What a foreign file becomes, before anything is written: one value that every format fills (X4).

``Plan`` holds a tree in order of creation, what stands beside it, and what is kept for re-export. ``plan_rows`` turns
it into rows: coordinates as play would have given them (S14), hashes, a definition.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from narrator.core.campaign import parse_definition
from narrator.core.definition import Card
from narrator.core.errors import BadDefinition, BadImport
from narrator.core.kept_cards import card_keys
from narrator.core.tree import Mode, Role
from narrator.exchange.bundle_models import EventRow, NodeRow
from narrator.exchange.bundle_structure import free_name, numbers
from narrator.exchange.definition_text import write_definition
from narrator.exchange.growth import Batch, Skeleton, compact, grow, growth_of
from narrator.exchange.report import Notes, Report


@dataclass(slots=True)
class Step:
    """A node to be. ``parent`` is the ordinal of an earlier one (from 1), 0 for an opening."""

    parent: int
    role: Role
    text: str
    mode: Mode | None = None
    created_at: str = ""
    events: list[EventRow] = field(default_factory=list)
    is_unknown: bool = False
    is_pinned: bool = False


@dataclass(frozen=True, slots=True)
class FoundCard:
    """A card, and the fields of it that this program does not use."""

    card: Card
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory; ``node`` 0 is the opening."""

    node: int
    text: str
    source: str = "imported"
    is_pinned: bool = False
    is_forgotten: bool = False


@dataclass(frozen=True, slots=True)
class Passages:
    """Imported knowledge: a source and its text in passages (C28)."""

    title: str
    kind: str
    passages: tuple[str, ...]
    condition: str = ""


@dataclass(slots=True)
class Plan:
    """Everything that an import found. ``fields``: path → type of declared state.

    ``tip`` is where the story was left, 0: the newest leaf. With something below it, it becomes the head, and the
    newest leaf there the tip.
    """

    format: str
    title: str = ""
    steps: list[Step] = field(default_factory=list)
    tip: int = 0
    checkpoints: list[tuple[str, int]] = field(default_factory=list)
    branch_names: dict[int, str] = field(default_factory=dict)
    memories: list[FoundMemory] = field(default_factory=list)
    cards: list[FoundCard] = field(default_factory=list)
    knowledge: list[Passages] = field(default_factory=list)
    premise: str = ""
    instructions: str = ""
    persona: str = ""
    player_name: str = ""
    note: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    kept: list[tuple[str, str, Any]] = field(default_factory=list)
    placeholders: dict[str, str] = field(default_factory=dict)
    is_addition: bool = False

    def add(self, parent: int, role: Role, text: str, mode: Mode | None = None, **rest: Any) -> int:
        """Add a step; its ordinal comes back. The first of a path is an opening, whatever it was."""
        if not parent:
            role, mode = "opening", None
        elif role == "narrator" and mode is None and self.steps[parent - 1].role in ("narrator", "opening"):
            mode = "continue"
        elif role == "player" and mode is None:
            mode = "do"
        self.steps.append(Step(parent, role, text, mode, **rest))
        return len(self.steps)


def in_order(parents: list[int]) -> list[int]:
    """Indices (from 0) so that each comes after its parent (an ordinal from 1; 0 for none), else as they stand.

    What runs in a circle or hangs from nothing is left out.
    """
    below: dict[int, list[int]] = {}
    for index, parent in enumerate(parents):
        below.setdefault(parent, []).append(index)
    ready = list(below.get(0, ()))
    heapq.heapify(ready)
    found = []
    while ready:
        index = heapq.heappop(ready)
        found.append(index)
        for child in below.get(index + 1, ()):
            heapq.heappush(ready, child)
    return found


def plan_rows(plan: Plan, report: Report, *, campaign_id: str, seed: int, now: str, notes: Notes) -> Iterator[Batch]:
    """The rows of a campaign. Everything is checked when the first is asked for. Fills the report's counts."""
    if not plan.steps:
        plan.add(0, "opening", "")
    plan.title = " ".join(plan.title.split())[:120] or "Imported"
    if plan.note:
        first = plan.steps[0]
        for step in plan.steps:
            if step is first or not step.parent:
                event = EventRow(op="set", path="story.note", value=plan.note[:20_000], source="import")
                step.events = [*step.events, event]
    definition = _definition(plan)
    shape = Skeleton()
    for step in plan.steps:
        shape.add(step.parent)
    shape.place_all()
    head = plan.tip or shape.newest_leaf(1)
    tip = shape.newest_leaf(head)
    _name_branches(plan, shape, notes)
    _fill(report, plan, shape, tip)
    yield "branches", shape.branch_rows()
    yield (
        "campaign",
        [(*(campaign_id, plan.title, seed, head, tip, 0, len(plan.steps), None, None, 0, now, now, 0.0),)],
    )
    yield "definitions", [(1, definition, now)]
    told = Counter(step.parent for step in plan.steps if step.role == "narrator")
    yield from grow(shape, (growth_of(_row(step, n, told[n])) for n, step in enumerate(plan.steps, 1)), now=now)
    yield "checkpoints", _checkpoints(plan, now)
    yield "memories", [_memory(each, now) for each in plan.memories]
    yield "cards", card_rows(plan)
    yield "kept", kept_rows(plan)
    for number, source in enumerate(plan.knowledge, 1):
        yield "knowledge", [(number, source.title, source.kind, 1, now, source.condition)]
        yield "passages", [(number, text) for text in source.passages]


def _definition(plan: Plan) -> str:
    text = write_definition(
        title=plan.title,
        opening=plan.steps[0].text,
        premise=plan.premise,
        instructions=plan.instructions,
        persona=plan.persona,
        player_name=plan.player_name,
        fields=plan.fields,
    )
    try:
        parse_definition(text)
    except BadDefinition as error:
        raise BadImport(f"What was read makes no campaign: {error.message}.") from error
    return text


def _row(step: Step, ordinal: int, rolls: int) -> NodeRow:
    return NodeRow.model_construct(
        parent=step.parent or None,
        role=step.role,
        mode=step.mode,
        text=step.text,
        origin="imported",
        source=None,
        created_at=step.created_at,
        written=ordinal,
        pinned=step.is_pinned,
        rolls=rolls,
        unknown=step.is_unknown,
        events=step.events,
        checks=[],
    )


def _memory(each: FoundMemory, now: str) -> tuple[Any, ...]:
    return (each.node or 1, each.text, each.source, None, int(each.is_pinned), int(each.is_forgotten), now)


def _checkpoints(plan: Plan, now: str) -> list[tuple[str, int, str]]:
    taken: set[str] = set()
    rows = []
    for name, node in plan.checkpoints:
        free = free_name(name, taken)
        taken.add(free)
        rows.append((free, node, now))
    return rows


def _name_branches(plan: Plan, shape: Skeleton, notes: Notes) -> None:
    taken: set[str] = set()
    for node, name in plan.branch_names.items():
        branch = shape.branches[node]
        if not branch or shape.forks[branch - 1].name is not None:
            notes.dropped("", "branch name", f"{name!r:.60}: nothing was built on that take, so it is no branch")
            continue
        shape.forks[branch - 1].name = free_name(name, taken)
        taken.add(shape.forks[branch - 1].name or "")


def card_rows(plan: Plan) -> list[tuple[str, str]]:
    """(name, JSON) of the cards."""
    return [(each.card.name, compact(card_keys(each.card)) or "") for each in plan.cards]


def kept_rows(plan: Plan) -> list[tuple[str, str, str]]:
    """(kind, name, JSON) of what is kept for re-export."""
    rows = [(kind, name, compact(body) or "null") for kind, name, body in plan.kept]
    rows += [("card", each.card.name, compact(each.extra) or "null") for each in plan.cards if each.extra]
    return rows


def _fill(report: Report, plan: Plan, shape: Skeleton, tip: int) -> None:
    report.format, report.title = plan.format, plan.title
    report.steps_on_path, report.nodes, report.branches = shape.depths[tip], shape.count, len(shape.forks)
    report.cards, report.memories, report.knowledge = len(plan.cards), len(plan.memories), len(plan.knowledge)
    report.checkpoints = [name for name, _, _ in _checkpoints(plan, "")]
    report.placeholders = list(plan.placeholders)
    report.keep(shape.count + len(plan.cards) + len(plan.memories) + len(plan.checkpoints))


def renamed(card: Card, taken: set[str]) -> Card:
    """The card with a name that no other has."""
    name = " ".join(card.name.split())[:110] or "Card"
    if name in taken:
        name = next(other for n in numbers(len(taken)) if (other := f"{name} {n}") not in taken)
    taken.add(name)
    return replace(card, name=name)
