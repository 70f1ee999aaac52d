"""KoboldAI and KoboldAI Lite saves: a prompt and actions, alternative texts as takes, alternate branches."""

from __future__ import annotations

from typing import Any

from narrator.core.errors import BadImport
from narrator.core.tree import Mode, Role
from narrator.exchange.fields import Fields
from narrator.exchange.lore import Shelf, kobold_entry
from narrator.exchange.plan import Plan
from narrator.exchange.report import Notes

_INPUT, _OUTPUT = "{{[INPUT]}}", "{{[OUTPUT]}}"
"""How KoboldAI Lite marks what was typed and what answers it."""


def read(value: Any, notes: Notes) -> Plan:
    """The plan of a save."""
    whole = Fields(notes, value, "")
    plan = Plan("kobold", whole.text("story_name", "title"))
    plan.premise, plan.note = whole.text("memory"), whole.text("authorsnote", "authornote")
    shelf = Shelf(notes)
    for entry in whole.rows("worldinfo"):
        kobold_entry(shelf, entry)
    folders = whole.table("worldinfo_v2")
    for entry in folders.rows("entries"):
        kobold_entry(shelf, entry)
    folders.skip("folders")
    folders.rest()
    plan.cards = shelf.cards
    prompt = whole.text("prompt")
    actions = _actions(whole)
    if not prompt.strip() and not actions:
        raise BadImport(f"{notes.file}: there is neither a prompt nor an action in it.")
    texts = [prompt, *(text for text, _ in actions)]
    at = plan.add(0, "opening", prompt.strip("\n"))
    line = [at]
    for text, others in actions:
        parent = at
        at = _add(plan, parent, text)
        line.append(at)
        for other in others:
            if other.strip() and other != text:
                _add(plan, parent, other)
    plan.tip = at
    _branches(plan, whole, texts, line)
    whole.mark("file_version", "gamestarted")
    whole.rest()
    return plan


def _add(plan: Plan, parent: int, text: str) -> int:
    role, mode, clean = told(text)
    return plan.add(parent, role, clean, mode)


def told(text: str) -> tuple[Role, Mode | None, str]:
    """An action that begins with ``>`` is an input, and so is one between the marks of an instruction."""
    clean = text.strip("\n")
    if _INPUT in clean:
        return "player", "do", clean.replace(_INPUT, "").replace(_OUTPUT, "").strip()
    clean = clean.replace(_OUTPUT, "").strip("\n")
    if clean.startswith(">"):
        return "player", "do", clean[1:].strip()
    return "narrator", None, clean


def _actions(whole: Fields) -> list[tuple[str, list[str]]]:
    """(text, alternative texts) of each action, of either version."""
    raw = whole.value.get("actions")
    if isinstance(raw, dict):
        table = whole.table("actions")
        table.skip("action_count", "id", "story_id")
        rows = [(row.text("Selected Text"), _texts(row, "Options", "text")) for row in table.rows("actions")]
        table.rest()
        return [row for row in rows if row[0].strip() or row[1]]
    texts = [text for text in whole.items("actions") if isinstance(text, str)]
    metadata = whole.table("actions_metadata")
    found = []
    for index, text in enumerate(texts):
        found.append((text, _texts(metadata.table(str(index)), "Alternative Text", "Text")))
    metadata.rest()
    return found


def _texts(row: Fields, key: str, name: str) -> list[str]:
    return [each.text(name) for each in row.rows(key)]


def _branches(plan: Plan, whole: Fields, texts: list[str], line: list[int]) -> None:
    """An alternate branch is the whole of its texts: where it leaves the line, it goes on by itself."""
    known = {(0, texts[0]): line[0]}
    known |= {(line[n - 1], texts[n]): line[n] for n in range(1, len(texts))}
    for index, branch in enumerate(whole.items("altbranches")):
        if not isinstance(branch, list):
            continue
        at = 0
        for text in branch:
            if not isinstance(text, str):
                whole.notes.dropped(f"altbranches[{index}]", "", "a text belongs here")
                continue
            if (at, text) not in known:
                known[(at, text)] = _add(plan, at, text)
            at = known[(at, text)]
