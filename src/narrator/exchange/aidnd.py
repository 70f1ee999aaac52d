"""AI-DnD adventures, versions 1 and 2.

Version 2 names a node by branch and depth and keeps the world's state with each; takes of one turn share a coordinate,
and the first node of a branch is a take of what it forked beside. Version 1 is a line with variants, and one final
state, which belongs to its tip alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from narrator.core.errors import BadImport
from narrator.core.tree import Mode, Role
from narrator.exchange.bundle_models import EventRow
from narrator.exchange.fields import Fields, moment
from narrator.exchange.lore import Shelf, story_card, without_secrets
from narrator.exchange.plan import FoundMemory, Plan, in_order
from narrator.exchange.report import Notes

_SAID = re.compile(r"(?:you say,?\s*)?[\"“](.*)[\"”]\.?$", re.IGNORECASE | re.DOTALL)
_MODES: Mapping[str, Mode] = {"do": "do", "say": "say", "story": "story", "see": "do"}
_RESERVED = {"facts", "threads", "inventory", "entities", "story", "scene", "clocks", "location", "time"}


def read(value: Any, notes: Notes) -> Plan:
    """The plan of an adventure. Raises ``BadImport`` where there is no action in it."""
    whole = Fields(notes, value, "")
    version = 2 if str(whole.raw("format")).endswith("v2") else 1
    plan = Plan(f"aidnd-v{version}", whole.text("title"))
    plan.premise, plan.note = whole.text("memory"), whole.text("authorsNote")
    plan.instructions = whole.text("aiInstructions")
    shelf = Shelf(notes)
    for entry in whole.rows("storyCards"):
        story_card(shelf, entry)
    plan.cards = shelf.cards
    nodes = _read_tree(whole, plan, notes) if version == 2 else _read_line(whole, plan, notes)
    for memory in whole.rows("memories"):
        _memory(plan, memory, nodes)
    summary = whole.text("storySummary")
    if summary.strip():
        plan.memories.append(FoundMemory(0 if version == 1 else plan.tip, summary, "imported", True))
    _keep_scripts(whole, plan, notes)
    whole.skip("autoSummarize", "memoryBankEnabled", "memoryCursor", "summaryCursor")
    whole.rest()
    return plan


def told(kind: str, text: str) -> tuple[Role, Mode | None, str]:
    """Role, mode and text of an action: the mark of an input and the words around what was said are taken off."""
    if kind not in _MODES:
        return "narrator", None, text
    mode = _MODES[kind]
    text = text.strip()
    if text.startswith(">"):
        text = text[1:].strip()
    if mode == "say" and (said := _SAID.match(text)) is not None:
        text = said[1]
    return "player", mode, text


def _keep_scripts(whole: Fields, plan: Plan, notes: Notes) -> None:
    scripts = whole.items("scripts")
    for index, script in enumerate(scripts):
        name = str(script.get("name", "")) if isinstance(script, dict) else ""
        plan.kept.append(("script", name[:200], without_secrets(notes, script, f"scripts[{index}]")))
        notes.dropped(f"scripts[{index}]", name, "scripts are never run; it is kept for re-export")
    state = whole.raw("scriptState")
    if state:
        plan.kept.append(("script-state", "", without_secrets(notes, state, "scriptState")))
        notes.dropped("scriptState", "scriptState", "the state of scripts is kept for re-export")


def _memory(plan: Plan, memory: Fields, nodes: Mapping[tuple[int, int], int]) -> None:
    text = memory.text("text")
    if not text.strip():
        return
    node = 0
    if "depth" in memory:
        place = (memory.whole("branch"), memory.whole("depth"))
        node = nodes.get(place, 0)
        if not node:
            memory.notes.changed(memory.where, "depth", "it names no step and hangs from the opening")
    memory.mark("branch", "depth")
    memory.skip("sourceStart", "sourceEnd", "useCount")
    pinned, forgotten = memory.truth("pinned"), memory.truth("forgotten")
    plan.memories.append(FoundMemory(node, text, "imported", pinned, forgotten))
    memory.rest()


# ------------------------------------------------------------------------------------------------------------ version 1


def _read_line(whole: Fields, plan: Plan, notes: Notes) -> dict[tuple[int, int], int]:
    nodes: dict[tuple[int, int], int] = {}
    at = 0
    actions = sorted(whole.rows("actions"), key=lambda action: action.number("index"))
    for action in actions:
        role, mode, text = told(action.text("type"), action.text("text"))
        created = moment(action.raw("createdAt"))
        variants = list(action.rows("variants"))
        chosen = action.whole("variantIndex")
        texts = [variant.text("text") for variant in variants] or [text]
        if len(variants) and (chosen >= len(texts) or texts[chosen] != text):
            if text in texts:
                chosen = texts.index(text)
            else:
                notes.changed(action.place("variants"), "text", "the text is none of the variants; it is a take more")
                texts.append(text)
                chosen = len(texts) - 1
        takes = [
            plan.add(at, role, each, mode, created_at=_variant_time(variants, n) or created, is_unknown=True)
            for n, each in enumerate(texts)
        ]
        for variant in variants:
            variant.mark("createdAt")
            variant.rest("reasoning is not stored")
        action.rest("reasoning is not stored")
        at = takes[min(chosen, len(takes) - 1)]
        nodes[(0, action.whole("index"))] = at
    if not at:
        raise BadImport(f"{notes.file}: actions is empty; there is no story in it.")
    plan.tip = at
    state = flatten(whole.raw("worldState"), notes, "worldState")
    if state:
        plan.steps[at - 1].events = changes({}, state)
        plan.steps[at - 1].is_unknown = False
        declare(plan, [state], notes)
    else:
        for step in plan.steps:
            step.is_unknown = False
    return nodes


def _variant_time(variants: list[Fields], index: int) -> str:
    return moment(variants[index].value.get("createdAt")) if index < len(variants) else ""


# ------------------------------------------------------------------------------------------------------------ version 2


@dataclass(slots=True)
class _Action:
    """An action at its coordinate; ``parent`` is an index into the list of all, -1 for an opening."""

    fields: Fields
    branch: int
    depth: int
    is_live: bool
    parent: int = -1


def _read_tree(whole: Fields, plan: Plan, notes: Notes) -> dict[tuple[int, int], int]:
    branches = list(whole.rows("branches"))
    forks = [(_optional(branch, "parent"), _optional(branch, "forkDepth")) for branch in branches] or [(None, None)]
    actions = [
        _Action(row, row.whole("branch"), row.whole("depth"), row.truth("live", default=True))
        for row in whole.rows("actions")
    ]
    if not actions:
        raise BadImport(f"{notes.file}: actions is empty; there is no story in it.")
    live = _live(actions, len(forks))
    _find_parents(actions, live, forks)
    ordinals, states = _add_actions(plan, actions, notes)
    for number, branch in enumerate(branches):
        name = branch.text("name").strip()
        first = min((depth for depth in live[number]), default=None)
        if name and first is not None:
            plan.branch_names[ordinals[live[number][first]]] = name
        branch.rest()
    found = {(number, depth): ordinals[index] for number, owned in enumerate(live) for depth, index in owned.items()}
    head = whole.whole("headBranch") if "headBranch" in whole else None
    if head is not None and head < len(live) and live[head]:
        plan.tip = ordinals[live[head][max(live[head])]]
    else:
        newest = max(range(len(actions)), key=lambda i: (str(actions[i].fields.value.get("createdAt") or ""), i))
        plan.tip = ordinals[newest]
    declare(plan, states, notes)
    whole.mark("worldState")
    return found


def _optional(branch: Fields, key: str) -> int | None:
    return branch.whole(key) if key in branch else branch.raw(key)


def _live(actions: list[_Action], count: int) -> list[dict[int, int]]:
    """For each branch the index of its live action by depth; where none is marked, the last one."""
    found: list[dict[int, int]] = [{} for _ in range(count)]
    for index, action in enumerate(actions):
        if action.branch >= count:
            raise BadImport(f"{action.fields.place('branch')}: there is no branch {action.branch}.")
        owned = found[action.branch]
        before = owned.get(action.depth)
        if before is None or action.is_live or not actions[before].is_live:
            owned[action.depth] = index
    return found


def _find_parents(
    actions: list[_Action], live: list[dict[int, int]], forks: list[tuple[int | None, int | None]]
) -> None:
    depths = [sorted(owned) for owned in live]
    for action in actions:
        branch: int | None = action.branch
        below, seen = action.depth, set()
        while branch is not None:
            if branch in seen or branch >= len(forks):
                raise BadImport(f"branches[{action.branch}]: its parents run in a circle or lead nowhere.")
            seen.add(branch)
            at = bisect_left(depths[branch], below)
            if at:
                action.parent = live[branch][depths[branch][at - 1]]
                break
            branch, fork = forks[branch]
            below = min(below, (fork if fork is not None else below) + 1)


def _add_actions(plan: Plan, actions: list[_Action], notes: Notes) -> tuple[dict[int, int], list[dict[str, Any]]]:
    order = in_order([action.parent + 1 for action in actions])
    has_state = any("worldStateAfter" in action.fields for action in actions)
    ordinals: dict[int, int] = {}
    after: dict[int, dict[str, Any]] = {}
    for index in order:
        action, row = actions[index], actions[index].fields
        role, mode, text = told(row.text("type"), row.text("text"))
        parent = ordinals.get(action.parent, 0)
        before = after.get(action.parent, {})
        known = "worldStateAfter" in row
        state = flatten(row.raw("worldStateAfter"), notes, row.place("worldStateAfter")) if known else before
        step = {"created_at": moment(row.raw("createdAt")), "is_unknown": has_state and not known}
        ordinals[index] = plan.add(parent, role, text, mode, events=changes(before, state), **step)
        after[index] = state
        row.mark("worldDelta")
        if row.raw("stateAfter"):
            notes.dropped(row.place("stateAfter"), "stateAfter", "the state of scripts is not used here")
        row.rest("reasoning is not stored")
    return ordinals, list(after.values())


# ---------------------------------------------------------------------------------------------------------------- state


def flatten(world: Any, notes: Notes, where: str) -> dict[str, Any]:
    """A nested world state as values by dotted path. What begins with an underscore is the program's own."""
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any, int]] = [("", world, 0)]
    while waiting:
        path, value, depth = waiting.pop()
        if isinstance(value, dict) and depth < 20:
            for key in reversed(list(value)):
                name = re.sub(r"[.\s]+", "_", str(key))[:80]
                if not name or name.startswith("_"):
                    continue
                head = f"imported.{name}" if not path and name in _RESERVED else name
                waiting.append((f"{path}.{name}" if path else head, value[key], depth + 1))
        elif _is_plain(value) or (isinstance(value, list) and all(map(_is_plain, value))):
            found[path] = value
        elif value is not None and path:
            notes.dropped(where, path, "it is no value that a state can hold")
    found.pop("", None)
    return found


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[EventRow]:
    """The events that lead from one state to another."""
    found = []
    for path in (*after, *(path for path in before if path not in after)):
        old, new = before.get(path), after.get(path)
        if old != new or type(old) is not type(new):
            found.append(EventRow(op="set", path=path, value=new, previous=old, source="import"))
    return found


def declare(plan: Plan, states: list[dict[str, Any]], notes: Notes) -> None:
    """Declare every path that some state holds, by the kind of its values."""
    kinds: dict[str, set[str]] = {}
    for state in states:
        for path, value in state.items():
            kinds.setdefault(path, set()).add(_kind(value))
    for path, found in kinds.items():
        if any(other.startswith(f"{path}.") for other in kinds):
            notes.changed("worldState", path, "it is both a value and a group; as a value it is not declared")
        else:
            plan.fields[path] = found.pop() if len(found) == 1 else "text"


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float):
        return "number"
    return "list" if isinstance(value, list) else "text"
