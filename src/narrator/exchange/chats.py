"""Chats of text-generation-webui and of Agnai."""

from __future__ import annotations

import html
from typing import Any

from narrator.core.errors import BadImport
from narrator.exchange.fields import Fields, moment
from narrator.exchange.plan import Plan, in_order
from narrator.exchange.report import Notes

_BEGIN = "<|BEGIN-VISIBLE-CHAT|>"


def read_textgen(value: Any, notes: Notes) -> Plan:
    """The plan of a text-generation-webui chat; what stands for a begun chat is no input."""
    whole = Fields(notes, value, "")
    plan = Plan("textgen-chat")
    pairs = _pairs(whole)
    metadata = whole.table("metadata")
    at = 0
    for index, (said, told) in enumerate(pairs):
        if said and said != _BEGIN:
            time = metadata.table(f"user_{index}")
            at = plan.add(at, "player", said, created_at=moment(time.raw("timestamp")))
            time.rest()
        if told or not said:
            at = _reply(plan, at, told, metadata.table(f"assistant_{index}"))
    if not at:
        raise BadImport(f"{notes.file}: there is no message in it.")
    plan.tip = at
    metadata.rest()
    whole.rest()
    return plan


def _pairs(whole: Fields) -> list[tuple[str, str]]:
    """(input, reply) as the model saw them; those that were shown, unescaped, where there are no others."""
    rows = whole.items("internal") or whole.items("data")
    shown = whole.items("visible") or whole.items("data_visible")
    if not rows:
        rows = [
            [html.unescape(each) if isinstance(each, str) else each for each in row]
            for row in shown
            if isinstance(row, list)
        ]
    found = []
    for index, row in enumerate(rows):
        if isinstance(row, list) and len(row) >= 2:
            said, told = (each if isinstance(each, str) else "" for each in row[:2])
            found.append((said, told))
        else:
            whole.notes.dropped(f"internal[{index}]", "", "an input and a reply belong here")
    return found


def _reply(plan: Plan, parent: int, text: str, about: Fields) -> int:
    created = moment(about.raw("timestamp"))
    texts = [row.text("content") for row in about.rows("versions")]
    chosen = about.whole("current_version_index")
    if chosen < len(texts) and texts[chosen] != text:
        about.notes.changed(about.where, "versions", "the reply differs from its chosen version and is taken instead")
        texts[chosen] = text
    about.rest()
    if text not in texts:
        texts.append(text)
    takes = {each: plan.add(parent, "narrator", each, created_at=created) for each in dict.fromkeys(texts)}
    return takes[text]


def read_agnai(value: Any, notes: Notes) -> Plan:
    """The plan of an Agnai chat; with ids and parents it is a tree, else a line."""
    whole = Fields(notes, value, "")
    plan = Plan("agnai-chat", whole.text("name"))
    plan.premise = whole.text("scenario")
    sample = whole.text("sampleChat")
    plan.instructions = f"How they speak:\n{sample}" if sample.strip() else ""
    rows = [row for row in whole.rows("messages") if row.text("msg") or "msg" in row]
    greeting = whole.text("greeting")
    if not rows:
        if not greeting.strip():
            raise BadImport(f"{notes.file}: there is no message in it.")
        plan.add(0, "opening", greeting)
    ids = {str(row.value["_id"]): n for n, row in enumerate(rows, 1) if row.value.get("_id")}
    is_tree = len(ids) == len(rows) and any(row.value.get("parent") for row in rows)
    parents = [ids.get(str(row.value.get("parent")), 0) for row in rows] if is_tree else list(range(len(rows)))
    nodes: dict[int, int] = {0: 0}
    for index in in_order(parents):
        nodes[index + 1] = _message(plan, rows[index], nodes[parents[index]])
    leaf = ids.get(str(whole.raw("treeLeafId")), len(rows))
    plan.tip = nodes.get(leaf, 0)
    whole.rest()
    return plan


def _message(plan: Plan, row: Fields, parent: int) -> int:
    role = "player" if "userId" in row else "narrator"
    created = moment(row.raw("createdAt"))
    at = plan.add(parent, role, row.text("msg"), created_at=created)  # type: ignore[arg-type]
    for other in row.items("retries"):
        if isinstance(other, str) and other and parent:
            plan.add(parent, role, other, created_at=created)  # type: ignore[arg-type]
    row.mark("_id", "parent", "userId", "characterId")
    row.skip("handle", "kind", "chatId", "updatedAt")
    row.rest()
    return at
