"""SillyTavern: chats (JSONL, one file or the files of one chat), World Info, lorebook_v3, character books.

Swipes are takes, ``swipe_id`` the chosen one. Files of one chat share a beginning and become one tree; what a message
links to as a bookmark becomes a checkpoint there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from narrator.core.errors import BadImport
from narrator.core.tree import Role
from narrator.exchange.decoding import parse_json
from narrator.exchange.fields import Fields, moment, text_of
from narrator.exchange.lore import Shelf, book_entry, world_info
from narrator.exchange.plan import Plan
from narrator.exchange.report import Notes

_DATE = re.compile(r"\s*-\s*\d{4}-\d{1,2}-\d{1,2}\s*@.*$")


def parse_lines(text: str, notes: Notes) -> list[tuple[int, Any]]:
    """(line, object) of a JSONL text; a line that is no JSON is dropped and noted, unless none is."""
    found = []
    lost = 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.append((number, parse_json(line, notes)))
        except BadImport:
            lost += 1
            notes.dropped(f"line {number}", "", "it is no JSON")
    if not found or lost > len(found):
        raise BadImport(f"{notes.file}: it is no file of JSON lines.")
    return found


class _Tree:
    """The messages of several files as one tree. Owns which take stands where."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._known: dict[tuple[int, Role, str, int], int] = {}

    def put(self, parent: int, role: Role, text: str, created_at: str, copy: int = 0) -> int:
        """The node of this text; of takes that read alike the ``copy``-th."""
        key: tuple[int, Role, str, int] = (parent, role if parent else "opening", text, copy)
        if key not in self._known:
            self._known[key] = self.plan.add(parent, role, text, created_at=created_at)
        return self._known[key]


def read_chats(files: Sequence[tuple[str, Notes]]) -> Plan:
    """The plan of one chat out of the texts of its files; the main one is the first without ``main_chat``."""
    parsed = [(parse_lines(text, notes), notes) for text, notes in files]
    parsed.sort(key=lambda pair: "main_chat" in _metadata(pair[0]))
    plan = Plan("sillytavern-chat")
    tree = _Tree(plan)
    for number, (lines, notes) in enumerate(parsed):
        tip = _read_chat(lines, notes, plan, tree)
        if not number:
            plan.tip = tip
    if not plan.steps:
        raise BadImport(f"{files[0][1].file}: there is no message in it.")
    return plan


def _metadata(lines: list[tuple[int, Any]]) -> dict[str, Any]:
    first = lines[0][1]
    found = first.get("chat_metadata") if isinstance(first, dict) else None
    return found if isinstance(found, dict) else {}


def _read_chat(lines: list[tuple[int, Any]], notes: Notes, plan: Plan, tree: _Tree) -> int:
    if isinstance(lines[0][1], dict) and "mes" not in lines[0][1]:
        _read_header(Fields(notes, lines[0][1], f"line {lines[0][0]}"), plan)
        lines = lines[1:]
    at = 0
    for number, value in lines:
        row = Fields(notes, value, f"line {number}")
        if not row.value:
            continue
        if row.truth("is_system"):
            notes.dropped(row.where, "mes", "a message of the system is no part of the story")
            continue
        at = _read_message(row, at, plan, tree)
    return at


def _read_header(header: Fields, plan: Plan) -> None:
    character = header.text("character_name")
    plan.title = plan.title or (character if character != "unused" else "")
    user = header.text("user_name")
    if user not in ("", "unused", "User", "You"):
        plan.player_name = plan.player_name or user
    metadata = header.table("chat_metadata")
    plan.note = plan.note or metadata.text("note_prompt")
    metadata.mark("main_chat")
    metadata.skip("integrity", "note_interval", "note_position", "note_depth", "note_role")
    metadata.rest()
    header.skip("create_date")
    header.rest()


def _read_message(row: Fields, parent: int, plan: Plan, tree: _Tree) -> int:
    text, created = row.text("mes"), moment(row.raw("send_date"))
    role: Role = "player" if row.truth("is_user") else "narrator"
    if role == "narrator" and not plan.title:
        plan.title = row.text("name")
    at = _put_takes(row, parent, role, text, created, tree)
    extra = row.table("extra")
    link = extra.text("bookmark_link")[:500]
    if link:
        plan.checkpoints.append((_DATE.sub("", link) or link, at))
    if extra.truth("isSmallSys"):
        extra.notes.dropped(extra.where, "isSmallSys", "it is not used here")
    extra.rest("how the message was made is not kept")
    row.skip("name", "swipe_info", "is_name", "force_avatar", "original_avatar", "gen_started", "gen_finished", "title")
    row.rest()
    return at


def _put_takes(row: Fields, parent: int, role: Role, text: str, created: str, tree: _Tree) -> int:
    """A message with its swipes, in their order; the node of the chosen one comes back."""
    swipes = {}
    for index, each in enumerate(row.items("swipes")):
        if isinstance(each, str):
            swipes[index] = text_of(row.notes, f"{row.place('swipes')}[{index}]", "swipes", each)
        else:
            row.notes.dropped(f"{row.place('swipes')}[{index}]", "swipes", "a text belongs here")
    chosen = row.whole("swipe_id")
    if chosen in swipes and swipes[chosen] != text:
        row.notes.changed(row.place("mes"), "mes", "it differs from the chosen swipe and is taken instead of it")
        swipes[chosen] = text
    elif swipes and chosen not in swipes:
        row.notes.changed(row.place("swipe_id"), "swipe_id", f"there is no swipe {chosen}; the message itself is taken")
    told: Counter[str] = Counter()
    takes = {}
    for index, each in swipes.items():
        takes[index] = tree.put(parent, role, each, created, told[each])
        told[each] += 1
    return takes[chosen] if chosen in takes else tree.put(parent, role, text, created)


def read_world_info(value: Any, notes: Notes) -> Plan:
    """The cards of a World Info file, a lorebook_v3 or a lone character book."""
    whole = Fields(notes, value, "")
    plan = Plan("sillytavern-worldinfo", is_addition=True)
    shelf = Shelf(notes)
    if whole.raw("spec") == "lorebook_v3":
        plan.format = "lorebook-v3"
        whole.mark("spec_version")
        read_book(whole.table("data"), shelf, plan)
    elif any(isinstance(each, dict) and "keys" in each for each in whole.items("entries")):
        plan.format = "character-book"
        read_book(whole, shelf, plan)
    else:
        for entry in whole.rows("entries"):
            world_info(shelf, entry)
        plan.title = whole.text("name")
    plan.cards = shelf.cards
    whole.rest()
    return plan


def read_book(book: Fields, shelf: Shelf, plan: Plan) -> None:
    """The entries of a character book or lorebook."""
    plan.title = plan.title or book.text("name")
    for entry in book.rows("entries"):
        book_entry(shelf, entry)
    book.rest()
