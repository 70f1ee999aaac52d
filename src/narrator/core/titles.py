"""What people call the paths of the state and how they read its values: “Nerve” under “Ansa (you)”.

A field's own ``label`` stands first; without one the path is read as words. Every path belongs to one group: the
scene, the player, a character by name, places, things, the story's own values, clocks, threads, facts. Values are words
too: a band's label beside its number, names instead of ids. Paths stay what JSON goes by; ``find_path`` leads back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from narrator.core.conditions import Facts
from narrator.core.definition import PLAYER, Definition, Field, find_field
from narrator.core.field_labels import label
from narrator.core.proposal import JSON, is_number
from narrator.core.view import name_of

SCENE, PLACES, THINGS, STORY = "Scene", "Places", "Things", "Story"
CLOCKS, THREADS, FACTS = "Clocks", "Threads", "Facts"
_SCENE_ROOTS: Final = ("location", "time", "scene")
_OWN: Final[Mapping[str, str]] = {"story.note": "Author's note", "story.persona": "Persona", "facts": "Fact"}
_PLAIN_ROOTS: Final = ("flags", "counters", "milestones", "story", "clocks")
"""Roots that say what a field is for the program, and nothing to people."""
_ATTRIBUTES: Final[Mapping[str, str]] = {"text": "About"}


@dataclass(frozen=True, slots=True)
class Shown:
    """A value as people read it. Of ``facts`` there is one for each, with ``title`` ''; of a thread ``words`` is the
    question."""

    path: str
    group: str
    title: str
    words: str
    is_open: bool = True


def title(definition: Definition, facts: Facts, path: str) -> str:
    """What a path is called inside its group."""
    field = find_field(definition, path)
    root, _, rest = path.partition(".")
    relation = _relation(definition, path)
    if relation is not None:
        stem, _, second = path.rsplit(".", 2)
        names = f"{relation.label or _words(stem.rpartition('.')[2])} towards {_person(facts, definition, second)}"
        return _capital(names)
    if field is not None and field.label:
        return field.label
    if path in _OWN:
        return _OWN[path]
    if root == "inventory":
        return _capital(name_of(facts, definition, rest))
    owner, attribute = _owner(definition, facts, path)
    if owner:
        words = _ATTRIBUTES.get(attribute) or _capital(_words(attribute))
        is_named = owner == PLAYER or _kind(definition, facts, owner) not in ("place", "thing")
        return words if is_named else f"{_capital(name_of(facts, definition, owner))}: {words.lower()}"
    if root in _PLAIN_ROOTS or root == "threads" or root in _SCENE_ROOTS:
        return _capital(_words(rest or root))
    return f"{_capital(_words(root))}: {_words(rest)}" if rest else _capital(_words(root))


def group(definition: Definition, facts: Facts, path: str) -> str:
    """The heading that a path stands under."""
    root = path.partition(".")[0]
    fixed = {"facts": FACTS, "threads": THREADS, "clocks": CLOCKS, **dict.fromkeys(_SCENE_ROOTS, SCENE)}
    if root in fixed:
        return fixed[root]
    if root == "inventory":
        return _you(definition, facts) if facts.values.get(path) == PLAYER else THINGS
    owner = path.rsplit(".", 2)[1] if _relation(definition, path) is not None else _owner(definition, facts, path)[0]
    if owner == PLAYER:
        return _you(definition, facts)
    if owner:
        kind = _kind(definition, facts, owner)
        return {"place": PLACES, "thing": THINGS}.get(kind) or _capital(name_of(facts, definition, owner))
    return STORY


def full_title(definition: Definition, facts: Facts, path: str) -> str:
    """What a path is called where no heading stands above it: “Nerve”, “Tench, mood”."""
    alone, above = title(definition, facts, path), group(definition, facts, path)
    owner = _owner(definition, facts, path)[0] or (_relation(definition, path) is not None and path.rsplit(".", 2)[1])
    if not owner or owner == PLAYER or above in (PLACES, THINGS):
        return alone
    return f"{above}, {alone[:1].lower()}{alone[1:]}"


def value_words(definition: Definition, facts: Facts, path: str, value: JSON) -> str:
    """A value of a path in words: “wary, 5”, “yes”, “Tench, the Reeve”, “nothing” for none."""
    root = path.partition(".")[0]
    field = find_field(definition, path)
    if value is None:
        return "nobody" if root == "inventory" else "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if path == "location" and isinstance(value, str):
        return _capital(name_of(facts, definition, value))
    if root == "inventory" and isinstance(value, str):
        return _whereabouts(definition, facts, value)
    if path == "scene.present" and isinstance(value, list):
        return ", ".join(_person(facts, definition, each) for each in value) or "nobody"
    if is_number(value):
        return _number(definition, path, field, value)
    if isinstance(value, list):
        return ", ".join(_plain(each) for each in value) or "nothing"
    if isinstance(value, dict):
        return _record(root, value)
    if path == "story.ending":
        return next((each.title for each in definition.endings if each.id == value and each.title), str(value))
    return str(value)


def outline(definition: Definition, facts: Facts, values: Mapping[str, JSON]) -> tuple[Shown, ...]:
    """These values as people read them, in groups: the scene, the player, characters, places, things, the rest."""
    shown: list[Shown] = []
    for path, value in values.items():
        above = group(definition, facts, path)
        if path == "facts" and isinstance(value, list):
            shown += [Shown(path, above, "", _record("facts", each)) for each in value]
            continue
        is_open = not isinstance(value, dict) or bool(value.get("open", True))
        words = value_words(definition, facts, path, value)
        shown.append(Shown(path, above, title(definition, facts, path), words, is_open))
    order = _order(definition, facts, shown)
    return tuple(sorted(shown, key=lambda each: order[each.group]))


def find_path(definition: Definition, facts: Facts, text: str, paths: Iterable[str]) -> str:
    """The path that goes by this text: itself, else the one among ``paths`` with this title, in any case.

    Where several have the title, or none, the text comes back as it stands: whoever asked will say what is wrong.
    """
    known = list(paths)
    if text in known or find_field(definition, text) is not None:
        return text
    wanted = " ".join(text.casefold().split())
    for name_of_path in (full_title, title):
        found = [path for path in known if name_of_path(definition, facts, path).casefold() == wanted]
        if found:
            return found[0] if len(found) == 1 else text
    return text


def in_titles(definition: Definition, facts: Facts, text: str, paths: Sequence[str]) -> str:
    """A sentence of the program's own (a refusal, a note) with titles where it names one of these paths."""
    for path in sorted(paths, key=len, reverse=True):
        if path and path in text:
            text = text.replace(path, full_title(definition, facts, path))
    return text


def _order(definition: Definition, facts: Facts, shown: Sequence[Shown]) -> dict[str, int]:
    fixed = {SCENE: 0, _you(definition, facts): 1, PLACES: 3, THINGS: 4, STORY: 5, CLOCKS: 6, THREADS: 7, FACTS: 8}
    return {each.group: fixed.get(each.group, 2) * 10_000 + at for at, each in reversed(list(enumerate(shown)))}


def _you(definition: Definition, facts: Facts) -> str:
    name = definition.player_name or str(facts.values.get(f"entities.{PLAYER}.name") or "")
    return f"{_capital(name)} (you)" if name else "You"


def _person(facts: Facts, definition: Definition, entity_id: JSON) -> str:
    return "you" if entity_id == PLAYER else name_of(facts, definition, str(entity_id))


def _whereabouts(definition: Definition, facts: Facts, owner: str) -> str:
    if owner == PLAYER:
        return "with you"
    return "here" if owner == facts.values.get("location") else f"with {name_of(facts, definition, owner)}"


def _owner(definition: Definition, facts: Facts, path: str) -> tuple[str, str]:
    """(entity, the rest of the path) for a field of an entity, else ('', '')."""
    root, _, rest = path.partition(".")
    if root == "entities":
        owner, _, attribute = rest.partition(".")
        return owner, attribute
    is_entity = root == PLAYER or root in definition.entities or f"entities.{root}.name" in facts.values
    return (root, rest) if is_entity and rest else ("", "")


def _kind(definition: Definition, facts: Facts, entity_id: str) -> str:
    entity = definition.entities.get(entity_id)
    return entity.kind if entity is not None else str(facts.values.get(f"entities.{entity_id}.kind") or "character")


def _relation(definition: Definition, path: str) -> Field | None:
    field = find_field(definition, path) if path.count(".") >= 2 else None
    return field if field is not None and field.type == "relation" else None


def _number(definition: Definition, path: str, field: Field | None, value: float) -> str:
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    if field is not None and field.type == "relation":
        return label(field, value) or shown
    if field is not None and field.bands:
        return f"{label(field, value)}, {shown}"
    root, _, rest = path.partition(".")
    clock = definition.rules.clocks.get(rest) if root == "clocks" and definition.rules is not None else None
    return f"{shown} of {clock.size}" if clock is not None else shown


def _record(root: str, value: JSON) -> str:
    """A fact with its certainty, a thread with how it ended; anything else as JSON."""
    if root == "facts":
        text = value.get("text", "") if isinstance(value, dict) else value
        certainty = value.get("certainty", "certain") if isinstance(value, dict) else "certain"
        return f"{text}" if certainty == "certain" else f"{text} ({certainty})"
    if root == "threads" and isinstance(value, dict):
        text = str(value.get("text") or "no words for it yet")
        if value.get("open"):
            return text
        return f"{text} (closed: {value['outcome']})" if value.get("outcome") else f"{text} (closed)"
    return json.dumps(value, ensure_ascii=False)


def _plain(value: JSON) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _words(path: str) -> str:
    return path.replace(".", " ").replace("_", " ").replace("-", " ").strip()


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
