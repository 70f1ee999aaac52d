"""What a verb that shows has shown → a title and lines for a page or the panel. Values in, plain text out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from narrator.core.phrases import ending_words
from narrator.core.state import ENDING
from narrator.engine import events as e
from narrator.engine.listing import cached_share
from narrator.engine.played import time_in_words
from narrator.engine.state_views import SOURCES
from narrator.tui import budget_bar, charts
from narrator.tui.prompt_pages import token_lines

BAR_CELLS = 56
"""The width of a bar on a page of its own."""

if TYPE_CHECKING:
    from narrator.engine.story import Story


def spelled(value: Any) -> str:
    """A value of the state: text as it is, nothing as a dash, the rest as JSON."""
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def check_words(check: e.CheckMade) -> str:
    """One check: qualitative alone, unless the campaign lets the player look (T8)."""
    step = f"step {check.position}: " if check.position is not None else ""
    return f"{step}{check.skill}, {check.difficulty}: {check.outcome}{f' ({check.rolled})' if check.rolled else ''}"


def end_words(where: e.HeadMoved, story: Story) -> list[str]:
    """What stands below the last step: that it is the end, or an input without its answer; and what redo holds (U2)."""
    words: list[str] = []
    if where.ended:
        how = ending_words(story.definition, story.state().values.get(ENDING))
        words.append(f"{how}. Undo or a saved place plays on; the library, in all commands, begins a new one")
    elif [step.role for step in story.steps(where.position, where.position)] == ["player"]:
        words.append("your line stands: Enter tells it anew, undo takes it back")
    if where.redo:
        words.append(f"redo holds {where.redo:,} step{'' if where.redo == 1 else 's'}")
    return words


def _in_brackets(words: list[str]) -> str:
    return f" ({', '.join(words)})" if words else ""


def _state(event: e.StateShown) -> Iterable[str]:
    if event.unknown:
        yield "Nobody knows the state of this step; this is the last that was known."
        yield ""
    heading = ""
    for field in event.fields:
        if field.group != heading:
            yield from ([""] if heading else [])
            heading = field.group
            yield heading
        yield f"  {field.label}: {field.words}" if field.label else f"  {field.words}"
    told = {field.path for field in event.fields}
    for path, value in event.values.items():
        if path not in told:
            yield f"{path}: {spelled(value)}"


def state_outline(event: e.StateShown) -> list[str]:
    """The state for the panel: what changes first, then one line for each entity, its own values below it."""
    lines = ["Nobody knows the state here; this is the last that was known.", ""] if event.unknown else []
    entities: dict[str, dict[str, Any]] = {}
    threads: list[str] = []
    for path, value in event.values.items():
        if path.startswith("entities."):
            _, name, *rest = path.split(".", 2)
            entities.setdefault(name, {})[rest[0] if rest else ""] = value
        elif path.startswith("threads.") and isinstance(value, dict):
            threads.append(f"{'?' if value.get('open') else '✓'} {value.get('text') or path}")
        else:
            lines.append(f"{path}: {spelled(value)}")
    lines += ["", *threads] if threads else []
    if entities and lines:
        lines.append("")
    for key, held in entities.items():
        name, kind = held.pop("name", key), held.pop("kind", "")
        held.pop("text", None)
        lines.append(f"{spelled(name)}{f' · {spelled(kind)}' if kind else ''}")
        lines += [f"  {field}: {spelled(value)}" for field, value in held.items()]
    return lines or ["This campaign keeps no state."]


def _takes(event: e.TakesListed) -> Iterable[str]:
    for take in event.takes:
        marks = [word for word, is_so in (("here", take.current), ("pinned", take.pinned)) if is_so]
        yield f"{take.take}{_in_brackets(marks)}  #{take.id}"
        yield from (take.text, "")


def _branches(event: e.BranchesListed | e.MapShown) -> Iterable[str]:
    for each in event.branches if isinstance(event, e.BranchesListed) else event.map:
        mark = "●" if each.current else "○" if each.on_path else "·"
        saved = f"; saved: {', '.join(each.checkpoints)}" if each.checkpoints else ""
        fork = f", from step {each.fork_position}" if each.fork_position else ""
        yield f"{mark} {each.name or each.label} (#{each.id}): {each.steps} steps{fork}{saved}"


def _checkpoints(event: e.CheckpointsListed) -> Iterable[str]:
    for each in reversed(event.checkpoints):
        yield f"{each.name}: step {each.position}{'' if each.on_path else ', set aside'}"


def _memories(event: e.MemoriesListed) -> Iterable[str]:
    for each in event.memories:
        yield f"#{each.id}{' pinned' if each.pinned else ''}: {each.text}"


def _cards(event: e.CardsListed) -> Iterable[str]:
    for each in event.cards:
        marks = [word for word, is_so in (("off", not each.enabled), ("in the next prompt", each.triggered)) if is_so]
        yield f"{each.name} · {each.kind}{_in_brackets(marks)}"
        if each.text:
            yield from (each.text, "")


def _prompt(event: e.PromptShown) -> Iterable[str]:
    parts = budget_bar.segments(event)
    yield from budget_bar.rows(parts, BAR_CELLS)
    yield from budget_bar.legend(parts, BAR_CELLS)
    yield ""
    for part in event.parts:
        yield f"{part.tokens:>6}  {part.kind} · {part.source}: {part.why}"
    yield ""
    for name, words in token_lines(event):
        yield f"{name}: {words}"
    for term, value in event.budget.items():
        yield f"{term.replace('_', ' ')}: {spelled(value)}"
    for message in event.messages:
        yield from ("", f"── {message.get('role', '')} ──", message.get("content", ""))


def _stats(event: e.StatsShown) -> Iterable[str]:
    yield f"{event.steps:,} steps, {event.words:,} words on this line"
    yield f"{event.branches:,} branches, {event.takes:,} takes in all, {event.takes_per_step:g} a step"
    cached = f"{event.tokens_cached:,} cached{cached_share(event)}"
    yield f"{event.tokens_in:,} tokens in, {cached}, {event.tokens_out:,} out"
    yield f"played for {time_in_words(event.seconds)}, {round(event.telling):,} seconds of telling"
    if event.cost is not None:
        yield f"cost: {event.cost:.4f}"
    if event.spans:
        yield from charts.over_the_story(event.spans)


def _status(event: e.StatusShown) -> Iterable[str]:
    yield event.campaign
    if event.place:
        yield f"at {event.place}"
    yield f"step {event.position}{f', {event.redo} to redo' if event.redo else ''}"
    yield f"told by {event.narrator}{f' at {event.host}' if event.host else ''}"
    if event.window:
        yield f"window {event.window:,} tokens, {event.window_source}"


def _audit(event: e.AuditListed) -> Iterable[str]:
    for each in event.audit:
        reason = f" ({each.reason})" if each.reason else ""
        who = SOURCES.get(each.source, each.source)
        yield f"step {each.position}: {each.was or '–'} → {each.became or '–'}, by {who}{reason}"


_PAGES: Mapping[type, tuple[str, Callable[[Any], Iterable[str]], str]] = {
    e.StateShown: ("State", _state, "This campaign keeps no state."),
    e.TakesListed: ("Takes", _takes, "No takes."),
    e.BranchesListed: ("Branches", _branches, "No branches."),
    e.MapShown: ("Branches and forks", _branches, "No branches."),
    e.CheckpointsListed: ("Saved places", _checkpoints, "Nothing is saved yet. Ctrl+S saves this place under a name."),
    e.MemoriesListed: ("Memories", _memories, "No memories yet."),
    e.CardsListed: ("Cards (of the whole campaign)", _cards, "This campaign has no cards."),
    e.PromptShown: ("What the narrator is told", _prompt, ""),
    e.StatsShown: ("Statistics", _stats, ""),
    e.StatusShown: ("Status", _status, ""),
    e.AuditListed: ("Changes", _audit, "It has never changed."),
    e.KnowledgeListed: (
        "Knowledge (of the whole campaign)",
        lambda event: (f"#{k.id} {k.title} · {k.kind}{'' if k.enabled else ' (off)'}" for k in event.knowledge),
        "No imported knowledge.",
    ),
    e.NarratorsListed: (
        "Narrators",
        lambda event: (
            f"{'● ' if n.current else '  '}{n.name} · {n.kind}{f' at {n.host}' if n.host else ''}"
            for n in event.narrators
        ),
        "No narrators.",
    ),
    e.HelpShown: ("Help", lambda event: (f"/{h.command} {h.arguments}  {h.text}" for h in event.help), "No such word."),
    e.Found: (
        "Found",
        lambda event: (f"step {m.position}: {m.excerpt}" for m in event.found),
        "These words are not on the way the story went.",
    ),
    e.ChecksMade: ("Checks", lambda event: map(check_words, event.checks), "No checks."),
}
ANSWERS = tuple(_PAGES)
"""The events that answer a question of the player's. ``ChecksMade`` is also a fact of a turn."""


def page(event: Any) -> tuple[str, list[str]]:
    """Title and lines."""
    title, tell, nothing = _PAGES[type(event)]
    return title, list(tell(event)) or [nothing]


def step_shown(steps: list[e.StepShown]) -> list[str]:
    """Steps as they are read, for ``/read``."""
    lines: list[str] = []
    for step in steps:
        lines += [f"> {step.text}" if step.role == "player" else step.text, ""]
    return lines
