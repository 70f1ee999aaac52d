"""Lists and answers as lines that read well aloud: one thing a line, the most important first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from narrator.engine import events as e
from narrator.engine.played import time_in_words
from narrator.engine.progress import progress_words
from narrator.engine.state_views import SOURCES

QUESTIONS = {
    "confirm-delete": "Delete this?",
    "confirm-prune": "Delete all this for good?",
    "edited-state": "What does the new text mean for the state?",
    "extraction": "The narrator's account of what changed cannot be read. Accept the text without changes?",
    "confirm-host": "The story's words will go to this host. Is that right?",
    "confirm-compaction": "Condense the older part of the story first?",
}


def spelled(value: Any) -> str:
    """A value of the state: text as it is, nothing as a dash, the rest as JSON."""
    if value is None:
        return "nothing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it is not one."""
    return f"{number} {noun}{'' if number == 1 else 'es' if noun.endswith('ch') else 's'}"


def listed(event: e.Event, *, is_asked: bool = True) -> list[str]:
    """The lines of an event; an empty list says that there is nothing, in words.

    Without ``is_asked`` a question is told with no word on how to answer it: it is answered already.
    """
    match event:
        case e.Noted(text=text):
            return [f"[{text}]"]
        case e.Progressed():
            return [f"[{progress_words(event, '/stop stops it')}]"]
        case e.StateChanged():
            return [f"[{_ended(change.phrase)}]" for change in event.changes if change.phrase]
        case e.ChecksMade():
            return [_check(each) for each in event.checks] or ["[No checks.]"]
        case e.Asked():
            return _question(event, is_asked=is_asked)
        case e.StatusShown():
            return _status(event)
        case e.StatsShown():
            return _stats(event)
        case e.PromptShown():
            return _prompt(event)
        case e.StateShown():
            return _state(event)
    return _things(event)


def _things(event: e.Event) -> list[str]:
    """The events that are lists of one kind of thing."""
    lines: Iterable[str]
    match event:
        case e.TakesListed(takes=takes):
            lines, nothing = map(_take, takes), "No takes."
        case e.BranchesListed(branches=branches):
            lines, nothing = map(_branch, branches), "No branches."
        case e.MapShown(map=branches):
            lines, nothing = map(_lane, branches), "No branches."
        case e.CheckpointsListed(checkpoints=checkpoints):
            lines = (f"{c.name}: step {c.position}{'' if c.on_path else ', set aside'}" for c in checkpoints)
            nothing = "No checkpoints. /save NAME makes one."
        case e.MemoriesListed(memories=memories):
            lines = (f"#{m.id}{', pinned' if m.pinned else ''}: {m.text}" for m in memories)
            nothing = "No memories yet."
        case e.CardsListed(cards=cards):
            # One card with its text is the answer to /card; the list says whose it is (S35).
            heading = [] if any(card.text for card in cards) or not cards else ["Cards of the whole campaign:"]
            lines, nothing = [*heading, *map(_card, cards)], "No cards."
        case e.AuditListed(audit=audit):
            lines, nothing = [f"{event.label}:", *map(_audit, audit)] if audit else [], "Never changed."
        case e.Suggested(suggestions=suggestions):
            lines = (f"{number}. {text}" for number, text in enumerate(suggestions, 1))
            nothing = "No suggestions."
        case e.KnowledgeListed(knowledge=knowledge):
            heading = ["Knowledge of the whole campaign:"] if knowledge else []
            lines = [*heading, *(f"#{k.id}: {k.title}, {k.kind}{'' if k.enabled else ', off'}" for k in knowledge)]
            nothing = "No imported knowledge."
        case e.HelpShown(help=entries):
            lines, nothing = map(_help, entries), "No such command."
        case e.Found(found=found):
            lines, nothing = (f"Step {m.position}: {m.excerpt}" for m in found), "Not found."
        case e.NarratorsListed(narrators=narrators):
            lines, nothing = [*map(_narrator, narrators), *_without_models(narrators)], "No narrators."
        case _:
            return []
    return list(lines) or [nothing]


def _state(event: e.StateShown) -> list[str]:
    """The values under their headings; of what has no words for people, the path. One alone says its path too."""
    lines = ["[Nobody knows the state here; this is the last that was known.]"] if event.unknown else []
    told = {field.path for field in event.fields}
    if len(event.fields) == 1 == len(event.values):
        (field,) = event.fields
        return [*lines, f"{field.label or field.group}: {_ended(field.words)} ({field.path})"]
    heading = ""
    for field in event.fields:
        if field.group != heading:
            heading = field.group
            lines.append(f"{heading}:")
        lines.append(f"  {field.label}: {field.words}" if field.label else f"  {field.words}")
    lines += [f"{path}: {spelled(value)}" for path, value in event.values.items() if path not in told]
    return lines or ["Nothing."]


def _check(check: e.CheckMade) -> str:
    step = f"Step {check.position}: " if check.position is not None else ""
    rolled = f" ({check.rolled})" if check.rolled else ""
    return f"[{step}{check.skill}, {check.difficulty}: {check.outcome}{rolled}.]"


def _ended(sentence: str) -> str:
    """The sentence with a mark at its end."""
    return sentence if sentence.endswith((".", "!", "?", "…", "”", "’")) else f"{sentence}."


def _question(asked: e.Asked, *, is_asked: bool) -> list[str]:
    answers = [f"/answer {choice}" for choice in asked.choices]
    lines = [QUESTIONS.get(asked.what, asked.what)]
    if isinstance(asked.shows, Mapping):
        lines += [f"{str(key).replace('_', ' ')}: {_what(value)}" for key, value in asked.shows.items()]
    elif isinstance(asked.shows, (list, tuple)):
        lines += [spelled(value) for value in asked.shows]
    elif asked.shows is not None:
        lines.append(spelled(asked.shows))
    return [*lines, f"{' or '.join(answers)}; anything else means {asked.default}."] if is_asked else lines


def _what(value: Any) -> str:
    """What a question is about: changes of the state in words, anything else as it is."""
    if isinstance(value, list | tuple) and all(isinstance(each, Mapping) and "words" in each for each in value):
        return "; ".join(str(each["words"] or each["path"]) for each in value) or "nothing"
    return spelled(value)


def _status(status: e.StatusShown) -> list[str]:
    place = f", {status.place}" if status.place else ""
    host = f" at {status.host}" if status.host else ""
    redo = f", {status.redo} to redo" if status.redo else ""
    told = f"{status.campaign}{place}. Step {status.position}{redo}. Told by {status.narrator}{host}."
    return [told, f"Window {status.window:,} tokens, {status.window_source}."] if status.window else [told]


def _stats(stats: e.StatsShown) -> list[str]:
    lines = [
        f"{counted(stats.steps, 'step')}, {counted(stats.words, 'word')} on this line.",
        f"{counted(stats.branches, 'branch')}, {counted(stats.takes, 'take')} in all; {stats.takes_per_step:g} a step.",
        f"{counted(stats.tokens_in, 'token')} in, {stats.tokens_cached} of them cached{cached_share(stats)};"
        f" {stats.tokens_out} out.",
        f"Played for {time_in_words(stats.seconds)}; {counted(round(stats.telling), 'second')} of telling.",
    ]
    return lines if stats.cost is None else [*lines, f"Cost: {stats.cost:.4f}."]


def cached_share(stats: e.StatsShown) -> str:
    """How much of the tokens in came from a cache, '' where nothing was reported."""
    return f" ({stats.tokens_cached / stats.tokens_in:.0%})" if stats.tokens_in else ""


def _prompt(prompt: e.PromptShown) -> list[str]:
    lines = [
        f"{part.kind}, {part.tokens} tokens, from {part.source}{f': {part.why}' if part.why else ''}"
        for part in prompt.parts
    ]
    lines.append(f"counted here: {counted(prompt.counted, 'token')}")
    if prompt.reported is not None and prompt.reported.tokens_in is not None:
        cached = (
            f", {prompt.reported.tokens_cached} of them cached" if prompt.reported.tokens_cached is not None else ""
        )
        lines.append(f"reported by the server: {counted(prompt.reported.tokens_in, 'token')}{cached}")
    lines += [f"{term.replace('_', ' ')}: {spelled(value)}" for term, value in prompt.budget.items()]
    for message in prompt.messages:
        lines += ["", f"{message.get('role', '')}:", message.get("content", "")]
    return lines


def _take(take: e.TakeListed) -> str:
    marks = "".join([", current" if take.current else "", ", pinned" if take.pinned else ""])
    text = " ".join(take.text.split())
    return f"{take.take}{marks}: {text if len(text) <= 100 else text[:99] + '…'} (#{take.id})"


def _branch(branch: e.BranchListed | e.BranchMapped) -> str:
    marks = ", current" if branch.current else "" if branch.on_path else ", set aside"
    saved = f"; saved: {', '.join(branch.checkpoints)}" if branch.checkpoints else ""
    return f"{branch.name or branch.label} (#{branch.id}){marks}: {counted(branch.steps, 'step')}{saved}"


def _lane(branch: e.BranchMapped) -> str:
    fork = f", from step {branch.fork_position}" if branch.fork_position else ""
    takes = "".join(f"; {len(at.takes)} takes at step {at.position}" for at in branch.takes)
    return f"{_branch(branch)}{fork}{takes}"


def _card(card: e.CardListed) -> str:
    marks = "".join(["" if card.enabled else ", off", ", triggered" if card.triggered else ""])
    keys = f" ({', '.join(card.keys)})" if card.keys else ""
    return f"{card.name}{keys}, {card.kind}{marks}{f': {card.text}' if card.text else ''}"


def _help(entry: e.HelpEntry) -> str:
    arguments = f" {entry.arguments}" if entry.arguments else ""
    return f"/{entry.command.removeprefix('/')}{arguments}: {entry.text}"


def _audit(entry: e.AuditEntry) -> str:
    reason = f": {entry.reason}" if entry.reason else ""
    old, new = entry.was or spelled(entry.old), entry.became or spelled(entry.new)
    return f"Step {entry.position}: {old} to {new}, by {SOURCES.get(entry.source, entry.source)}{reason}"


def _without_models(narrators: Sequence[e.NarratorListed]) -> Iterator[str]:
    """How to come by another narrator, where written scenes are all there is."""
    if all(narrator.kind == "scripted" for narrator in narrators):
        yield "No model is known here; `narrator doctor` looks for one and says how to add it."


def _narrator(narrator: e.NarratorListed) -> str:
    host = f" at {narrator.host}" if narrator.host else ""
    return f"{narrator.name}{', current' if narrator.current else ''}: {narrator.kind}{host}"
