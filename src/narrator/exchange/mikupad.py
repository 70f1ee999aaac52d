"""Mikupad sessions: every value is JSON text of its own; the key of the endpoint is never kept."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from narrator.core.errors import BadImport
from narrator.exchange.decoding import parse_json
from narrator.exchange.fields import Fields, is_secret
from narrator.exchange.lore import Shelf, mikupad_entry
from narrator.exchange.plan import Plan
from narrator.exchange.report import Notes


def read(value: Any, notes: Notes) -> Plan:
    """The plan of a session."""
    whole = Fields(notes, {key: _inner(each, notes) for key, each in value.items()}, "")
    for key in list(whole.value):
        if is_secret(key) and whole.raw(key):
            notes.dropped(key, key, "a secret")
    plan = Plan("mikupad", whole.text("name"))
    plan.premise = whole.table("memoryTokens").text("text")
    plan.note = whole.table("authorNoteTokens").text("text")
    shelf = Shelf(notes)
    for entry in whole.table("worldInfo").rows("entries"):
        mikupad_entry(shelf, entry)
    plan.cards = shelf.cards
    at = 0
    for is_typed, chunks in groupby(_chunks(whole), key=lambda chunk: chunk[0]):
        text = "".join(chunk[1] for chunk in chunks)
        if not text.strip() and at:
            plan.steps[at - 1].text += text
        elif text:
            at = plan.add(at, "player" if is_typed else "narrator", text, "story" if is_typed and at else None)
    if not at:
        raise BadImport(f"{notes.file}: the prompt is empty.")
    plan.tip = at
    whole.skip("endpoint", "endpointAPI", "scrollTop", "authorNoteDepth", "promptArea")
    whole.rest("a setting of the other program")
    return plan


def _inner(value: Any, notes: Notes) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value, notes)
    except BadImport:
        return value


def _chunks(whole: Fields) -> list[tuple[bool, str]]:
    """(was it typed, text) of each piece of the prompt."""
    prompt = whole.raw("prompt")
    if isinstance(prompt, str):
        return [(True, prompt)]
    found = []
    for index, each in enumerate(prompt if isinstance(prompt, list) else []):
        if isinstance(each, str):
            found.append((False, each))
        elif isinstance(each, dict) and isinstance(each.get("content"), str):
            found.append((each.get("type") == "user", each["content"]))
        else:
            whole.notes.dropped(f"prompt[{index}]", "content", "there is no text in it")
    return found
