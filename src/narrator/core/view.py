"""What of the state may be seen, and by whom: the player's panel (W7) and the projection for a model (W6).

Two rules hold everywhere: a hidden field, and whatever belongs to a hidden entity, is in neither, not even by name; a
model reads a label wherever a number has one, and of a relation nothing but its label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from narrator.core.conditions import Facts
from narrator.core.definition import BUILT_IN, PLAYER, Definition, Field, find_field
from narrator.core.field_labels import label
from narrator.core.proposal import JSON, is_number

_ORDER = {path: at for at, path in enumerate(BUILT_IN)}


_CHANGES = {
    "number": "number (op set or add)",
    "counter": "counter (op add, never falls)",
    "relation": "relation (op relate or add)",
    "text": "text (op set)",
    "flag": "true or false (op set)",
    "list": "list (op append or remove)",
    "milestone": "milestone (op set, once)",
}
"""What a model may do to a field of each type, for ``schema_lines``."""


@dataclass(frozen=True, slots=True)
class Projection:
    """The state as lines for a prompt. ``scene`` is never left out; ``rest`` may be cut from its end (C12)."""

    scene: tuple[str, ...]
    rest: tuple[str, ...]


def visibility(definition: Definition, path: str) -> str:
    """Who may see this path: open, narrator or hidden.

    A path that the definition does not know is hidden where a state is declared (an earlier version may have hidden
    it), open where none is (an import brought it).
    """
    field = find_field(definition, path) or definition.fields.get(path)
    if field is None:
        return "hidden" if definition.is_state_declared else "open"
    names = path.split(".")
    relation = definition.fields.get(path.rsplit(".", 2)[0])
    ids = names[-2:] if relation is not None and relation.type == "relation" else names[:1]
    is_hidden = any(_is_hidden(definition, name) for name in ids)
    return "hidden" if is_hidden else field.visibility


def open_values(state: Facts, definition: Definition, everything: bool = False) -> dict[str, JSON]:
    """The values that ``/state`` shows, by path; with ``everything`` those of ``/state --all`` too (W7).

    What an entity is by its declaration is no news, and stands in ``everything`` alone.
    """
    out: dict[str, JSON] = {}
    for path in sorted(state.values, key=lambda path: (_ORDER.get(path, 99), path)):
        value = state.values[path]
        if not everything:
            if visibility(definition, path) != "open" or not is_shown(definition, path, value):
                continue
            value = without_hidden(definition, path, value)
            if path.startswith("entities.") and _is_as_declared(definition, path, value):
                continue
            if path.startswith("inventory.") and value != PLAYER and not _is_known_place(state, value):
                continue
        out[path] = value
    return out


def name_of(state: Facts, definition: Definition, entity_id: str) -> str:
    """What an entity or place is called: its name, or its id as words."""
    name = state.values.get(f"entities.{entity_id}.name")
    if isinstance(name, str) and name:
        return name
    entity = definition.entities.get(entity_id)
    if entity is not None:
        return entity.name
    return "the player" if entity_id == PLAYER else entity_id.replace("-", " ").replace("_", " ")


def public(state: Facts, definition: Definition, path: str) -> str | None:
    """One value as the panel shows it: a band's label beside its number; None where the player may not see it."""
    values = open_values(state, definition)
    if path not in values:
        return None
    value, field = values[path], find_field(definition, path)
    if is_number(value) and field is not None and field.bands:
        return f"{value} ({label(field, value)})"
    return _text(value)


def projection(state: Facts, definition: Definition) -> str:
    """What a model may see of the state, whole (W6)."""
    parts = project(state, definition)
    return "\n".join((*parts.scene, *parts.rest))


def project(state: Facts, definition: Definition) -> Projection:
    """What a model may see of the state: the scene with its entities in full, the rest by one line each (W6, C12)."""
    sight = _sight(state, definition)
    visible = sight.visible
    location, present = visible.get("location"), visible.get("scene.present")
    here = [name for name in (present if isinstance(present, list) else []) if isinstance(name, str)]
    near = [PLAYER, *([location] if isinstance(location, str) else []), *here]
    near = [name for name in dict.fromkeys(near) if not _is_hidden(definition, name)]
    known = dict.fromkeys(path.split(".")[1] for path in visible if path.startswith("entities."))
    scene: list[str] = []
    if isinstance(location, str) and not _is_hidden(definition, location):
        scene.append(f"Place: {sight.name_of(location)}")
    titles = (("Time", "time"), ("Mood", "scene.mood"))
    scene += [f"{title}: {visible[path]}" for title, path in titles if path in visible]
    if here:
        scene.append("Present: " + ", ".join(sight.name_of(name) for name in here))
    for entity_id in near:
        scene += _entity(sight, entity_id)
    scene += _fields(sight, near)
    rest = _threads(visible)
    rest += [_brief(sight, entity_id) for entity_id in known if entity_id not in near]
    rest += [line for first, second, line in sight.relations if first not in near and second not in near]
    rest += _facts(visible)
    return Projection(tuple(scene), tuple(line for line in rest if line))


def schema_lines(definition: Definition) -> tuple[str, ...]:
    """What a model may change: one line a field, for the rules of extraction. Hidden fields are not in it."""
    lines = [
        "location: text (op set), the place of the scene",
        "time: text (op set)",
        "scene.present: who is there (op append or remove)",
        "scene.mood: text (op set)",
        "facts: what has become true (op assert or retract, value the sentence)",
        "threads.NAME: an open question (op open with a text, op close)",
        "inventory.ITEM: who has it (op move, value the owner, null for gone)",
    ]
    for field in definition.fields.values():
        if visibility(definition, field.path) != "hidden" and not field.is_authored:
            lines.append(_schema_line(field))
    return tuple(lines)


def _schema_line(field: Field) -> str:
    path = f"{field.path}.FROM.TO" if field.type == "relation" else field.path
    text = _CHANGES[field.type]
    if field.bands:
        text += ": " + ", ".join(band.label for band in field.bands)
    if field.choices:
        text += ": " + ", ".join(field.choices)
    if field.max_change is not None:
        text += f"; changes by at most {field.max_change:g} a turn"
    return f"{path}: {text}"


@dataclass(frozen=True, slots=True)
class _Sight:
    """What a model may see, gathered once: values and types by path, relations as (from, to, line)."""

    state: Facts
    definition: Definition
    visible: Mapping[str, JSON]
    types: Mapping[str, Field | None]
    relations: tuple[tuple[str, str, str], ...]

    def name_of(self, entity_id: str) -> str:
        return name_of(self.state, self.definition, entity_id)


def _sight(state: Facts, definition: Definition) -> _Sight:
    visible = {
        path: without_hidden(definition, path, value)
        for path, value in state.values.items()
        if not path.startswith("story.")
        and visibility(definition, path) in {"open", "narrator"}
        and is_shown(definition, path, value)
    }
    types = {path: find_field(definition, path) for path in visible}
    relations: list[tuple[str, str, str]] = []
    for path, field in types.items():
        if field is not None and field.type == "relation":
            stem, first, second = path.rsplit(".", 2)
            names = f"{name_of(state, definition, first)} towards {name_of(state, definition, second)}"
            shown = label(field, visible[path])
            relations.append((first, second, f"{names}: {field.label or words_of(stem)} {shown}".rstrip()))
    return _Sight(state, definition, visible, types, tuple(relations))


def _entity(sight: _Sight, entity_id: str) -> list[str]:
    """An entity of the scene in full: what it is, its fields, what it has, how it stands to others."""
    own: dict[str, JSON] = {}
    fields, items = [], []
    for path, value in sight.visible.items():
        if path.startswith(f"entities.{entity_id}."):
            own[path.split(".", 2)[2]] = value
        elif path.startswith(f"{entity_id}."):
            field = sight.types[path]
            title = field.label if field is not None and field.label else words_of(path.partition(".")[2])
            fields.append(f"{title}: {seen(sight.definition, field, value)}")
        elif value == entity_id and path.startswith("inventory."):
            items.append(sight.name_of(path.partition(".")[2]))
    own.pop("name", None)
    kind, text = own.pop("kind", ""), own.pop("text", "")
    parts = [str(text)] if text else []
    parts += [f"{key}: {_text(value)}" for key, value in own.items()]
    parts += fields
    parts += [f"has {', '.join(items)}"] if items else []
    head = sight.name_of(entity_id) + (f" ({kind})" if kind else "")
    out = [f"{head}: {'; '.join(parts)}"] if parts else ([head] if kind and entity_id != PLAYER else [])
    return out + [line for first, _, line in sight.relations if first == entity_id]


def _brief(sight: _Sight, entity_id: str) -> str:
    kind = sight.visible.get(f"entities.{entity_id}.kind", "")
    text = str(sight.visible.get(f"entities.{entity_id}.text", "")).split(". ")[0].rstrip(".")
    owner = sight.visible.get(f"inventory.{entity_id}")
    head = sight.name_of(entity_id) + (f" ({kind})" if kind else "")
    parts = ([text] if text else []) + ([f"with {sight.name_of(owner)}"] if isinstance(owner, str) else [])
    return f"{head}: {'; '.join(parts)}" if parts else head


def _fields(sight: _Sight, near: Sequence[str]) -> list[str]:
    """The declared fields that belong to no entity of the scene."""
    out = []
    for path, value in sight.visible.items():
        head, field = path.partition(".")[0], sight.types[path]
        is_told = path in BUILT_IN or head in {"entities", "inventory", "threads"} or head in near
        if is_told or (field is not None and field.type == "relation"):
            continue
        name = field.label if field is not None and field.label else _path_words(sight, path)
        out.append(f"{name}: {seen(sight.definition, field, value)}")
    return out


def _path_words(sight: _Sight, path: str) -> str:
    """“Tench, mood” for a field of an entity that is elsewhere, the last word of the path for any other."""
    head = path.partition(".")[0]
    words = words_of(path)
    return f"{sight.name_of(head)}, {words}" if f"entities.{head}.name" in sight.visible else words


def _threads(visible: Mapping[str, JSON]) -> list[str]:
    threads = [value for path, value in visible.items() if path.startswith("threads.")]
    return [f"Open: {thread['text']}" for thread in threads if isinstance(thread, dict) and thread.get("open")]


def _facts(visible: Mapping[str, JSON]) -> list[str]:
    """The newest first, so that what is cut from the end is the oldest."""
    facts = visible.get("facts")
    out = []
    for fact in reversed(facts if isinstance(facts, list) else []):
        if isinstance(fact, dict):
            doubt = "" if fact.get("certainty", "certain") == "certain" else f" ({fact['certainty']})"
            out.append(f"Fact: {fact.get('text', '')}{doubt}")
    return out


def seen(definition: Definition, field: Field | None, value: JSON) -> str:
    """A value as a model sees it. A number that backs a skill is a number of the rules: it goes by its label (T8)."""
    rules = definition.rules
    is_of_rules = field is not None and rules is not None and any(s.field == field.path for s in rules.skills.values())
    if field is not None and is_number(value) and (field.bands or field.type == "relation" or is_of_rules):
        return label(field, value) or "of some worth"
    return _text(value)


def _text(value: JSON) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    if isinstance(value, dict):
        return str(value.get("text", ""))
    return str(value)


def _is_as_declared(definition: Definition, path: str, value: JSON) -> bool:
    _, entity_id, attribute = path.split(".", 2)
    if entity_id == PLAYER and attribute == "name":
        return True
    entity = definition.entities.get(entity_id)
    return entity is not None and value == {"name": entity.name, "kind": entity.kind, "text": entity.text}.get(
        attribute
    )


def without_hidden(definition: Definition, path: str, value: JSON) -> JSON:
    """A value without the hidden entities in it."""
    if path == "scene.present" and isinstance(value, list):
        return [name for name in value if not (isinstance(name, str) and _is_hidden(definition, name))]
    return value


def is_shown(definition: Definition, path: str, value: JSON) -> bool:
    """Whether a value of a visible path may be told: not which place, item or owner, where that one is hidden."""
    if path.startswith("inventory."):
        names: tuple[JSON, ...] = (path.partition(".")[2], value)
    elif path == "location":
        names = (value,)
    else:
        return True
    return not any(isinstance(name, str) and _is_hidden(definition, name) for name in names)


def _is_hidden(definition: Definition, name: str) -> bool:
    entity = definition.entities.get(name)
    return entity is not None and entity.visibility == "hidden"


def _is_known_place(state: Facts, owner: JSON) -> bool:
    return isinstance(owner, str) and owner == state.values.get("location")


def words_of(path: str) -> str:
    """The last word of a path, as words."""
    return path.rpartition(".")[2].replace("_", " ").replace("-", " ")
