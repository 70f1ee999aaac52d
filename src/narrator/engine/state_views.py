"""What the player is shown of the state: of a step, of one field's history, of what a field may be (W7, W8, T8).

Only open fields are in any of it. Everything is read at one step of the path, so that whoever looks at an earlier step
or another take sees the state of that step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from narrator.core import view
from narrator.core.checks import Check
from narrator.core.definition import PLAYER, Definition, Field, find_field
from narrator.core.errors import BadValue
from narrator.core.proposal import JSON, Proposal
from narrator.core.referee import Refused, judge
from narrator.core.state import FIRED, State, value_after
from narrator.core.titles import Shown, find_path, full_title, in_titles, outline, title, value_words
from narrator.core.tree import Node, decode_correction
from narrator.core.view import name_of, open_values, visibility
from narrator.engine.events import AuditEntry, AuditListed, CheckMade, FieldShown
from narrator.engine.story import Story
from narrator.store import reads, state_reads

SOURCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model": "the narrator",
        "check": "the rules",
        "storylet": "the campaign",
        "player": "you",
        "import": "an import",
    }
)
"""Who changed something, in words."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a step did to one path: in words, by which operation, who says so and why."""

    path: str
    title: str
    was: str
    became: str
    op: str
    source: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StateOfStep:
    """The state after the step at ``position`` of ``count``. ``unknown``: nobody knows it there (W12)."""

    position: int
    count: int
    unknown: bool
    fields: tuple[Shown, ...]
    changes: tuple[Change, ...]
    checks: tuple[CheckMade, ...]


@dataclass(frozen=True, slots=True)
class About:
    """What a field may be, for whoever corrects it. ``value`` is the one at the head, as a correction writes it.

    ``kind`` says the type with its range in words; ``offers`` are (value, in words) that may be chosen; ``origin`` is
    the position of the step that set the present value, None for none but the opening.
    """

    path: str
    title: str
    kind: str
    words: str
    value: str
    offers: tuple[tuple[str, str], ...]
    origin: int | None


def place_name(story: Story) -> str:
    """What the place is called where the player is, '' where none is known or it is hidden."""
    state = story.state()
    place = state.values.get("location")
    if not isinstance(place, str) or not place or not view.is_shown(story.definition, "location", place):
        return ""
    return name_of(state, story.definition, place)


def is_shown(definition: Definition, path: str) -> bool:
    """Whether the player may see a path (W2)."""
    return path != FIRED and visibility(definition, path) == "open"


def of_step(story: Story, position: int | None = None) -> StateOfStep:
    """The state of the step at a position of the path, the head's without one, and what that step did (W7)."""
    count = story.count
    at = min(max(1, position or count), count)
    node = story.head if at == count else reads.require(reads.at_position(story.store, story.end, at), str(at))
    state = story.state(node)
    return StateOfStep(
        at,
        count,
        state.unknown,
        outline_of(story.definition, state),
        changes_at(story, node, state),
        checks_at(story, node, at),
    )


def outline_of(definition: Definition, state: State) -> tuple[Shown, ...]:
    """A state as the panel shows it."""
    return outline(definition, state, open_values(state, definition))


def refusal(story: Story, refused: Refused) -> str:
    """A refused change as a line (T5). The name of a hidden field is the campaign's own; an invented one is not."""
    path, definition = refused.proposal.path, story.definition
    if find_field(definition, path) is None:
        return f"1 change refused: {path}: {refused.reason}"
    if not is_shown(definition, path):
        return "1 change refused."
    state = story.state()
    reason = in_titles(definition, state, refused.reason, [path])
    return f"1 change refused: {full_title(definition, state, path)}: {reason}"


def changes_at(story: Story, node: Node, state: State) -> tuple[Change, ...]:
    """What one node did, in its order; ``state`` is the one after it. An opening's values are how things begin."""
    if node.role == "opening":
        return ()
    definition = story.definition
    given = _reason_given(node)
    return tuple(
        Change(
            each.path,
            full_title(definition, state, each.path),
            value_words(definition, state, each.path, each.previous),
            value_words(definition, state, each.path, value_after(each)),
            each.op,
            each.source,
            _joined(in_titles(definition, state, each.note, [each.path]), given),
        )
        for each in state_reads.events_of(story.store, [node.id]).get(node.id, ())
        if is_shown(definition, each.path)
    )


def checks_at(story: Story, node: Node, position: int) -> tuple[CheckMade, ...]:
    """The checks that one node records."""
    made = state_reads.checks_of(story.store, [node.id]).get(node.id, ())
    return tuple(check_made(story.definition, check, position) for check in made)


def check_made(definition: Definition, check: Check, position: int | None = None) -> CheckMade:
    """A check as it may be told: words alone, and what fell where the campaign lets the player look (T8)."""
    is_told = definition.rules is not None and definition.rules.shows_numbers
    rolled = f"rolled {check.roll}, {check.total} in all against {check.target}" if is_told else ""
    return CheckMade(check.skill, check.difficulty, check.outcome, position, rolled)


def history(story: Story, path: str) -> AuditListed:
    """Every change of one field along the path (W8). Raises ``bad-value`` for what the player may not see."""
    path = resolve(story, path)
    definition, state = story.definition, story.state()
    if not is_shown(definition, path):
        raise BadValue(f"There is no value at {path}.", "/state lists them.")
    found = state_reads.audit(story.store, story.end, path)
    given = {
        position: _reason_given(reads.at_position(story.store, story.end, position))
        for position, each in found
        if each.source == "player"
    }
    entries = [
        AuditEntry(
            position,
            each.path,
            each.previous,
            value_after(each),
            each.source,
            _joined(in_titles(definition, state, each.note, [path]), given.get(position, "")),
            each.op,
            value_words(definition, state, path, each.previous),
            value_words(definition, state, path, value_after(each)),
        )
        for position, each in found
    ]
    return AuditListed(tuple(entries), full_title(definition, state, path))


def _reason_given(node: Node | None) -> str:
    """Why the player corrected something: it stands in the correction's own text (S23)."""
    if node is None or node.role != "correction":
        return ""
    try:
        return str(decode_correction(node.text).get("reason") or "")
    except (ValueError, AttributeError):
        return ""


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def resolve(story: Story, text: str) -> str:
    """The path that a command means by a path or by what people call it; the text itself where it means none."""
    state, definition = story.state(), story.definition
    known = {*open_values(state, definition), *(path for path in definition.fields if is_shown(definition, path))}
    return find_path(definition, state, text.strip(), sorted(known))


def shown_fields(fields: Iterable[Shown]) -> tuple[FieldShown, ...]:
    """As an event carries them."""
    return tuple(FieldShown(each.path, each.group, each.title, each.words) for each in fields)


def about(story: Story, path: str) -> About:
    """What a correction of a field has to know. Raises ``bad-value`` for a path that cannot be corrected."""
    definition, state = story.definition, story.state()
    field = find_field(definition, path)
    if field is None or not is_shown(definition, path) or field.type == "fired":
        raise BadValue(f"{path} cannot be corrected.", "/state lists what can.")
    value = open_values(state, definition).get(path)
    origin = state_reads.last_change(story.store, story.end, path, story.count + 1)
    return About(
        path,
        full_title(definition, state, path),
        kind_words(field),
        value_words(definition, state, path, value),
        as_typed(field, value),
        _offers(definition, state, field),
        origin if origin is not None and origin > 1 else None,
    )


def as_typed(field: Field, value: JSON) -> str:
    """A value as a correction writes it on one line: a list by commas, a thread by its question."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)
    if isinstance(value, dict):
        return str(value.get("text", ""))
    return str(value)


def read_typed(field: Field, text: str) -> JSON:
    """The value that a line means for a field: '' takes it away, commas part a list; the referee reads the rest."""
    text = text.strip()
    if field.type == "list" and not text.startswith("["):
        return [each.strip() for each in text.split(",") if each.strip()]
    return None if not text or text == "null" else text


def verdict(story: Story, path: str, value: JSON) -> tuple[str, bool]:
    """What a correction would come to, in words, and whether it may be made. Nothing is written."""
    definition, state = story.definition, story.state()
    judged = judge(definition, state, [Proposal("", path, value)], source="player")
    if judged.refused:
        return in_titles(definition, state, judged.refused[0].reason, [path]), False
    event = next((each for each in judged.events if each.path == path), judged.events[-1])
    words = value_words(definition, state, path, value_after(event))
    notes = "; ".join(in_titles(definition, state, note, [path]) for note in judged.notes)
    return f"{title(definition, state, path)} becomes {words}" + (f" ({notes})" if notes else ""), True


_KINDS: Final[Mapping[str, str]] = {
    "number": "A number",
    "counter": "A counter",
    "relation": "A number",
    "text": "A text",
    "flag": "Yes or no",
    "list": "A list, parted by commas",
    "milestone": "A milestone: yes, or a word; empty takes it away",
    "facts": "A fact",
    "thread": "A question that is open; “closed” closes it",
    "owner": "Who has it; empty: nobody",
}


def kind_words(field: Field) -> str:
    """The type of a field with what bounds it: “A number from 0 to 10: shaking 0–2, wary 3–6”."""
    words = _KINDS.get(field.type, field.type)
    low, high = field.minimum, field.maximum
    if low is not None and high is not None:
        words += f" from {low:g} to {high:g}"
    elif low is not None or high is not None:
        words += f", at least {low:g}" if low is not None else f", at most {high:g}"
    if field.bands:
        words += ": " + ", ".join(f"{band.label} {band.low:g}–{band.high:g}" for band in field.bands)
    if field.choices:
        words += f": {', '.join(field.choices)}"
    if field.max_length is not None and field.type == "text":
        words += f" of at most {field.max_length:,} characters"
    return words


def _offers(definition: Definition, state: State, field: Field) -> tuple[tuple[str, str], ...]:
    """(what to write, how it reads) for the types that have a choice."""
    if field.type == "flag":
        return (("yes", "yes"), ("no", "no"))
    if field.bands:
        return tuple((band.label, f"{band.label}, {band.low:g} to {band.high:g}") for band in field.bands)
    if field.choices:
        return tuple((choice, choice) for choice in field.choices)
    if field.type == "thread":
        return (("closed", "closed"),)
    if field.path == "location":
        places = [each for each in definition.entities.values() if each.kind == "place" and each.visibility == "open"]
        return tuple((each.id, name_of(state, definition, each.id)) for each in places)
    if field.type == "owner":
        present = state.values.get("scene.present")
        here = [each for each in (present if isinstance(present, list) else []) if _is_told(definition, each)]
        return ((PLAYER, "you"), *((each, name_of(state, definition, each)) for each in here))
    return ()


def _is_told(definition: Definition, entity_id: JSON) -> bool:
    """Whether the player knows that somebody is there at all."""
    entity = definition.entities.get(entity_id) if isinstance(entity_id, str) else None
    return isinstance(entity_id, str) and (entity is None or entity.visibility != "hidden")
