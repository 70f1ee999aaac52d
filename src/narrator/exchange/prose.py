"""Markdown and plain text: an opening, or knowledge in passages."""

from __future__ import annotations

import re

from narrator.core.errors import BadImport
from narrator.exchange import limits
from narrator.exchange.plan import Passages, Plan
from narrator.exchange.report import Notes

KINDS = ("canon", "reference", "inspiration")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)]*\s+|[。！？]")
_HEADING_LENGTH = 300
PASSAGE = 1200
"""Characters after which a passage ends at the next paragraph."""


def title_of(text: str, file: str) -> str:
    """The first heading, or the name of the file."""
    for line in text.splitlines()[:50]:
        heading = _HEADING.match(line[:_HEADING_LENGTH])
        if heading is not None:
            return heading[1][:120]
    return re.sub(r"\.\w{1,5}$", "", file)[:120]


def read_opening(text: str, notes: Notes) -> Plan:
    """A campaign that opens with this text."""
    if not text.strip():
        raise BadImport(f"{notes.file} is empty.")
    if len(text) > limits.TEXT_CHARACTERS:
        raise BadImport(
            f"{notes.file} is longer than one step can be ({limits.TEXT_CHARACTERS:,} characters).",
            "Read as reference or canon it becomes knowledge, in passages.",
        )
    plan = Plan("text", title_of(text, notes.file))
    plan.add(0, "opening", text.strip("\n"))
    return plan


def read_knowledge(text: str, notes: Notes, kind: str) -> Plan:
    """Knowledge in passages: they end where a heading begins or a paragraph ends beyond ``PASSAGE`` characters."""
    if not text.strip():
        raise BadImport(f"{notes.file} is empty.")
    title = title_of(text, notes.file)
    plan = Plan("text", title, is_addition=True)
    plan.knowledge.append(Passages(title, kind, tuple(split(text))))
    return plan


def _pieces(paragraph: str) -> list[str]:
    """A paragraph, cut where it is long: behind a sentence, else at a space, else anywhere."""
    found = []
    while len(paragraph) > 2 * PASSAGE:
        ends = [match.end() for match in _SENTENCE_END.finditer(paragraph, PASSAGE // 2, 2 * PASSAGE)]
        cut = ends[-1] if ends else paragraph.rfind(" ", PASSAGE // 2, 2 * PASSAGE) + 1 or 2 * PASSAGE
        found.append(paragraph[:cut].rstrip())
        paragraph = paragraph[cut:]
    return [*found, paragraph]


def split(text: str) -> list[str]:
    """The passages of a text; run together they hold every paragraph."""
    found: list[str] = []
    for paragraph in (piece for whole in re.split(r"\n\s*\n", text.strip("\n")) for piece in _pieces(whole)):
        is_heading = _HEADING.match(paragraph.strip().split("\n")[0][:_HEADING_LENGTH]) is not None
        if found and not is_heading and len(found[-1]) + len(paragraph) <= PASSAGE:
            found[-1] += f"\n\n{paragraph}"
        elif paragraph.strip():
            found.append(paragraph)
    return found
