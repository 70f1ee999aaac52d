"""NovelAI: stories, scenarios, lorebooks.

A story of the older editor is a line of fragments and a graph of edits; where the graph tells the same line, its other
ends become takes. One of the newer editor is a packed document of paragraphs.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from narrator.core.errors import BadImport
from narrator.core.tree import Mode, Role
from narrator.exchange import limits, novelai_document
from narrator.exchange.fields import Fields, moment
from narrator.exchange.lore import Shelf, novel_entry
from narrator.exchange.plan import Plan, in_order
from narrator.exchange.report import Notes

_ROLES: dict[str, tuple[Role, Mode | None]] = {"user": ("player", "story"), "edit": ("player", "story")}


def read_story(value: Any, notes: Notes) -> Plan:
    """The plan of a story."""
    whole = Fields(notes, value, "")
    metadata, content = whole.table("metadata"), whole.table("content")
    plan = Plan("novelai-story", metadata.text("title"))
    created = moment(metadata.raw("createdAt"))
    _context(plan, content)
    plan.cards = _lorebook(content.table("lorebook"), notes)
    if "document" in content and "story" not in content:
        _read_document(plan, content, notes, created)
    else:
        _read_fragments(plan, content, notes, created)
    if not plan.steps:
        raise BadImport(f"{notes.file}: there is no text in the story.")
    content.mark("storyContentVersion")
    content.skip("settingsDirty", "didGenerate", "storyContextConfig")
    content.rest()
    metadata.mark("storyMetadataVersion")
    metadata.skip("id", "textPreview", "lastUpdatedAt", "isModified")
    metadata.rest()
    whole.mark("storyContainerVersion")
    whole.rest()
    return plan


def _read_document(plan: Plan, content: Fields, notes: Notes, created: str) -> None:
    """A story of the newer editor: paragraphs that come from one hand are a step."""
    packed = content.text("document", most=limits.FILE_BYTES)
    document = Fields(notes, novelai_document.unpack(packed, notes), "content.document")
    at = 0
    for is_typed, some in groupby(novelai_document.paragraphs(document, notes), key=lambda each: each[0]):
        text = "\n".join(each[1] for each in some)
        if text.strip():
            role, mode = _ROLES["user"] if is_typed else ("narrator", None)
            at = plan.add(at, role, text, mode, created_at=created)
    plan.tip = at
    history = document.table("history")
    states = history.raw("nodes")
    if isinstance(states, dict) and len(states) > 1:
        notes.dropped(
            "content.document.history", "history", f"{len(states):,} states of editing; the text stands as it is"
        )
    history.mark("root", "current")
    document.skip("dirtySections", "step")
    document.rest()


def _read_fragments(plan: Plan, content: Fields, notes: Notes, created: str) -> None:
    """A story of the older editor: fragments, and a graph of edits."""
    story = content.table("story")
    fragments = [(row.text("origin"), row.text("data")) for row in story.rows("fragments")]
    blocks = list(story.rows("datablocks"))
    current = story.number("currentBlock", -1)
    story.mark("version")
    story.skip("step")
    if not _graph(plan, blocks, int(current), fragments, created):
        if blocks:
            notes.dropped("content.story.datablocks", "datablocks", "the graph of edits tells another line; left out")
        at = 0
        for origin, text in fragments:
            if text:
                role, mode = _ROLES.get(origin, ("narrator", None))
                at = plan.add(at, role, text, mode, created_at=created)
        plan.tip = at
    story.rest()


def _graph(plan: Plan, blocks: list[Fields], current: int, fragments: list[tuple[str, str]], created: str) -> bool:
    """Build the tree of the graph, if the path to its current block reads as the fragments do."""
    parents, texts, origins = [], [], []
    for row in blocks:
        fragment = row.table("dataFragment")
        before = int(row.number("prevBlock", -1))
        parents.append(before + 1 if 0 <= before < len(blocks) else 0)
        texts.append(fragment.text("data"))
        origins.append(row.text("origin") or fragment.text("origin"))
        if row.items("removedFragments"):
            return False
    if not 0 <= current < len(blocks):
        return False
    path, at, passed = [], current + 1, 0
    while at and passed <= len(blocks):
        path.append(texts[at - 1])
        at = parents[at - 1]
        passed += 1
    if "".join(reversed(path)) != "".join(text for _, text in fragments):
        return False
    nodes: dict[int, int] = {}
    for index in in_order(parents):
        parent = nodes.get(parents[index] - 1, 0)
        if not texts[index]:
            nodes[index] = parent
            continue
        role, mode = _ROLES.get(origins[index], ("narrator", None))
        nodes[index] = plan.add(parent, role, texts[index], mode, created_at=created)
    plan.tip = nodes.get(current, 0)
    return bool(plan.tip)


def read_scenario(value: Any, notes: Notes) -> Plan:
    """The plan of a scenario; its placeholders are asked."""
    whole = Fields(notes, value, "")
    plan = Plan("novelai-scenario", whole.text("title"))
    plan.add(0, "opening", whole.text("prompt"))
    _context(plan, whole)
    plan.cards = _lorebook(whole.table("lorebook"), notes)
    for row in whole.rows("placeholders"):
        key = row.text("key")
        if key:
            plan.placeholders[key] = row.text("defaultValue")
        row.skip("description", "longDescription", "order", "title")
        row.rest()
    whole.mark("scenarioVersion")
    whole.skip("storyContextConfig")
    whole.rest()
    return plan


def read_lorebook(value: Any, notes: Notes) -> Plan:
    """The cards of a lorebook."""
    plan = Plan("novelai-lorebook", is_addition=True)
    plan.cards = _lorebook(Fields(notes, value, ""), notes)
    return plan


def _context(plan: Plan, holder: Fields) -> None:
    """Memory stands first, the author's note second."""
    rows = list(holder.rows("context"))
    if rows:
        plan.premise = rows[0].text("text")
    if len(rows) > 1:
        plan.note = rows[1].text("text")
    for row in rows[:2]:
        row.skip("contextConfig")
        row.rest()
    for row in rows[2:]:
        row.rest("only memory and author's note are used")
    holder.skip("contextDefaults")


def _lorebook(book: Fields, notes: Notes) -> list[Any]:
    off = set()
    for category in book.rows("categories"):
        if not category.truth("enabled", default=True):
            off.add(category.text("id"))
    shelf = Shelf(notes)
    for entry in book.rows("entries"):
        novel_entry(shelf, entry, off)
    book.mark("lorebookVersion")
    book.skip("settings", "order", "name")
    book.rest()
    return shelf.cards
