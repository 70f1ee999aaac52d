"""The pages of the panel about what the narrator has: memories, cards, the prompt (C25, C26, C29); pure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from narrator.engine import events as e
from narrator.store.memory_reads import MemoryRow
from narrator.tui import budget_bar
from narrator.tui.panel_pages import PanelPage, hint
from narrator.tui.widgets.listbox import Entry

# ------------------------------------------------------------------------------------------------------------- memories

MEMORY_HINTS = (
    hint("enter", "step", "choose", "Enter"),
    hint("p", "pin", "pin"),
    hint("e", "edit", "edit"),
    hint("x", "forget", "forget"),
    hint("a", "add", "add"),
)


def memories_page(rows: Sequence[MemoryRow]) -> PanelPage:
    """What retrieval can see here and nothing else: pinned ones first, then the latest (C25)."""
    pinned = [row for row in rows if row.is_pinned]
    others = [row for row in reversed(rows) if not row.is_pinned]
    by_id = {row.id: row for row in rows}
    entries: list[Entry] = []
    for title, group in (("Pinned: in every prompt", pinned), ("Found when the words fit", others)):
        if group:
            entries.append(Entry(None, title))
            entries += [Entry(("memory", row.id), f"{'★ ' if row.is_pinned else ''}{row.text}") for row in group]

    def detail(key: Hashable | None) -> Sequence[str]:
        match key:
            case ("memory", int(memory_id)) if memory_id in by_id:
                row = by_id[memory_id]
                return [row.text, f"{'★ pinned, ' if row.is_pinned else ''}{_origin(row)}"]
        return []

    count = f"{len(rows):,} {'memory' if len(rows) == 1 else 'memories'} on this line"
    return PanelPage(count, entries, detail, MEMORY_HINTS, "No memories yet; a adds one.")


def _origin(row: MemoryRow) -> str:
    if row.source == "typed":
        return f"yours, of step {row.depth:,}"
    of = f"steps {row.first_depth:,} to {row.depth:,}" if row.first_depth else f"step {row.depth:,}"
    return f"of {of}"


# ---------------------------------------------------------------------------------------------------------------- cards

CARD_HINTS = (
    hint("enter", "read", "choose", "Enter"),
    hint("o", "on/off", "toggle"),
    hint("e", "edit", "edit"),
    hint("x", "delete", "delete"),
)
Told = tuple[Mapping[str, str], Mapping[str, str]]
"""Of a past take: the cards that it was told with, and those without room, each with why."""


def cards_page(
    cards: Sequence[e.CardListed], texts: Mapping[str, str], *, step: str = "", told: Told | None = None
) -> PanelPage:
    """All cards: what the next turn will hold, or with ``told`` what a past take held; what stays, what rests (C26)."""
    fired, crowded = told if told is not None else ({c.name: c.why for c in cards if c.triggered}, {})
    by_name = {card.name: card for card in cards}
    groups = (
        ("In the prompt" if told is None else "It was told with", [c for c in cards if c.name in fired]),
        ("No room for", [c for c in cards if c.name in crowded and c.name not in fired]),
        ("Waiting", [c for c in cards if c.enabled and c.name not in fired and c.name not in crowded]),
        ("Off", [c for c in cards if not c.enabled and c.name not in fired]),
    )
    entries: list[Entry] = []
    for title, group in groups:
        if group:
            entries.append(Entry(None, title))
            entries += [
                Entry(
                    ("card", c.name),
                    f"{_card_mark(c, fired)} {c.name}",
                    "" if told is not None else _lasting(c),
                    is_faint=not c.enabled,
                )
                for c in group
            ]

    def detail(key: Hashable | None) -> Sequence[str]:
        match key:
            case ("card", str(name)) if name in by_name:
                card = by_name[name] if told is None else replace(by_name[name], sticky_left=0, cooldown_left=0)
                return card_detail(card, fired.get(name), crowded.get(name), texts.get(name, ""))
        return []

    heading = f"What {step} was told with" if told is not None else "For the next turn"
    return PanelPage(heading, entries, detail, CARD_HINTS, "This campaign has no cards.")


def card_detail(card: e.CardListed, why: str | None, crowded: str | None, text: str) -> list[str]:
    """Why a card is there or not, what lets it in, and its text."""
    told = [f"{card.name} · {card.kind}"]
    if why is not None:
        told.append(f"in by: {why}" if why else "in the prompt")
    if crowded is not None:
        told.append(f"no room, though in by: {crowded}")
    if not card.enabled:
        told.append("off in the whole campaign")
    if card.sticky_left:
        told.append(f"stays for {_turns(card.sticky_left)} more")
    if card.cooldown_left:
        told.append(f"rests for {_turns(card.cooldown_left)} more")
    if card.keys:
        told.append(f"keys: {', '.join(card.keys)}")
    return [*told, text] if text else told


def _card_mark(card: e.CardListed, fired: Mapping[str, str]) -> str:
    return "●" if card.name in fired else "○" if card.enabled else "–"


def _lasting(card: e.CardListed) -> str:
    if card.sticky_left:
        return f"stays {card.sticky_left}"
    if card.cooldown_left:
        return f"rests {card.cooldown_left}"
    return "always" if card.why == "always" else ""


def _turns(count: int) -> str:
    return f"{count} turn{'' if count == 1 else 's'}"


# --------------------------------------------------------------------------------------------------------------- prompt

PROMPT_HINTS = (hint("enter", "whole part", "choose", "Enter"), hint("w", "whole prompt", "whole"))
PLACES: Mapping[str, str] = {
    "prefix": "System prompt",
    "summary": "The story so far, summed up",
    "history": "The story, word for word",
    "tail": "For this turn",
    "left-out": "No room for",
}
_TERMS: Mapping[str, str] = {
    "window": "window",
    "requested_output": "kept for the answer",
    "system_prompt": "system prompt",
    "tool_schema": "answer schema",
    "framing": "frame of the answer",
    "check_reserve": "kept for a check",
    "margin": "safety margin",
    "hard_input": "room for the story",
    "high_watermark": "summed up above",
    "low_watermark": "summed up down to",
}


def prompt_page(prompt: e.PromptShown, *, step: str = "") -> PanelPage:
    """Each part with its tokens, source and reason; every term of the budget; counted beside reported (C29)."""
    segments = budget_bar.segments(prompt)
    entries: list[Entry] = [Entry(None, "The window", f"{prompt.budget['window']:,}")]
    entries += [Entry(("segment", s.letter), f"{s.letter} {s.name}", f"{s.tokens:,}") for s in segments]
    place = ""
    for number, part in enumerate(prompt.parts):
        if part.place != place:
            place = part.place
            total = sum(each.tokens for each in prompt.parts if each.place == place)
            entries.append(Entry(None, PLACES.get(place, place), f"{total:,}" if total else ""))
        entries.append(Entry(("part", number), _part_line(part), f"{part.tokens:,}" if place != "left-out" else ""))
    entries.append(Entry(None, "Tokens"))
    entries += [Entry(("tokens", name), name, words) for name, words in token_lines(prompt)]
    entries.append(Entry(None, "Budget"))
    entries += [
        Entry(("term", name), words, f"{prompt.budget[name]:,}")
        for name, words in _TERMS.items()
        if name in prompt.budget
    ]

    def detail(key: Hashable | None) -> Sequence[str]:
        match key:
            case ("part", int(number)):
                return part_detail(prompt.parts[number])
            case ("segment", str(letter)):
                part = next(each for each in segments if each.letter == letter)
                share = part.tokens / prompt.budget["window"]
                return [f"{part.name}: {part.tokens:,} tokens, {share:.1%} of the window"]
            case ("term", "window"):
                return [f"The window is {prompt.budget.get('source', 'assumed')}."]
        return []

    heading = f"The prompt of {step}" if step else "The prompt of the next turn"
    return PanelPage(heading, entries, detail, PROMPT_HINTS, bar=segments)


def token_lines(prompt: e.PromptShown) -> list[tuple[str, str]]:
    """What was counted here beside what the server reported, and how much of it came from its cache."""
    lines = [("counted here", f"{prompt.counted:,}")]
    reported = prompt.reported
    if reported is None:
        return [*lines, ("reported", "nothing")] if prompt.of is not None else lines
    if reported.tokens_in is not None:
        lines.append(("reported by the server", f"{reported.tokens_in:,}"))
        if reported.tokens_cached is not None and reported.tokens_in:
            share = reported.tokens_cached / reported.tokens_in
            lines.append(("of that from its cache", f"{reported.tokens_cached:,}, {share:.0%}"))
    if reported.tokens_out is not None:
        lines.append(("answered", f"{reported.tokens_out:,}"))
    return lines


def _part_line(part: e.PromptPart) -> str:
    if part.place == "left-out":
        return f"{part.source}: {part.why}"
    if part.place == "history":
        return f"{part.source} {' '.join(part.text[:80].split())}"
    return part.kind if part.source in ("", part.kind) else f"{part.kind} · {part.source}"


def part_detail(part: e.PromptPart) -> list[str]:
    """Where a part comes from, why it is there, and how it begins."""
    if part.place == "left-out":
        return [f"{part.source}, left out: {part.why}"]
    told = [f"{part.kind}, {part.tokens:,} tokens" + (f", from {part.source}" if part.source else "")]
    if part.why:
        told.append(f"why: {part.why}")
    begins = " ".join(part.text[:240].split())
    return [*told, begins + ("…" if len(part.text) > 240 else "")]


def whole_prompt(prompt: e.PromptShown) -> list[str]:
    """Every message as it goes out."""
    lines: list[str] = []
    for message in prompt.messages:
        lines += [f"── {message.get('role', '')} ──", message.get("content", ""), ""]
    return lines
