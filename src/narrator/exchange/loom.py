"""Loom: a tree of text as it stands. Chapters become checkpoints. Walked without recursion."""

from __future__ import annotations

import re
from typing import Any

from narrator.core.errors import BadImport
from narrator.core.tree import Mode, Role
from narrator.exchange import limits
from narrator.exchange.fields import Fields
from narrator.exchange.plan import Plan
from narrator.exchange.report import Notes

_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})-(\d{2})\.(\d{2})\.(\d{2})$")


def read(value: Any, notes: Notes) -> Plan:
    """The plan of a tree."""
    whole = Fields(notes, value, "")
    plan = Plan("loom", whole.text("title", "name"))
    root = whole.raw("root")
    if not isinstance(root, dict):
        raise BadImport(f"{notes.file}: root is no node.")
    ids: dict[str, int] = {}
    waiting: list[tuple[Any, int, str]] = [(root, 0, "root")]
    while waiting:
        node, parent, where = waiting.pop()
        row = Fields(notes, node, where)
        if not row.value:
            continue
        if len(plan.steps) >= limits.ENTRIES:
            raise BadImport(f"{notes.file}: the tree has more than {limits.ENTRIES:,} nodes.")
        at = _node(plan, row, parent)
        identity = row.raw("id")
        if isinstance(identity, str):
            ids.setdefault(identity, at)
        children = row.items("children")
        waiting += [(child, at, f"node {at} child {n}") for n, child in reversed(list(enumerate(children)))]
        row.mark("parent_id", "meta")
        row.skip("open", "visited", "mutable", "expanded", "highlight")
        row.rest()
    selected = whole.raw("selected_node_id")
    plan.tip = ids.get(selected, 0) if isinstance(selected, str) else 0
    for chapter in whole.table("chapters").value.values():
        found = Fields(notes, chapter, "chapters")
        node_id = ids.get(found.text("root_id"), 0)
        if node_id:
            plan.checkpoints.append((found.text("title") or "Chapter", node_id))
        else:
            notes.dropped("chapters", "root_id", "it names no node")
    whole.skip("tags", "generation_settings", "visualization_settings", "model_responses")
    whole.rest()
    return plan


def _node(plan: Plan, row: Fields, parent: int) -> int:
    meta = row.value.get("meta")
    source = str(meta.get("source", "")) if isinstance(meta, dict) else ""
    when = _TIME.match(str(meta.get("creation_timestamp", ""))) if isinstance(meta, dict) else None
    created = f"{when[1]}T{when[2]}:{when[3]}:{when[4]}+00:00" if when else ""
    role: Role = "player" if source in ("prompt", "user") else "narrator"
    mode: Mode | None = "story" if role == "player" else None
    return plan.add(parent, role, row.text("text"), mode, created_at=created)
