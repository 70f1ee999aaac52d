"""Where a proposal points: its path as written → the declared path, its type, and the entities it names (W4, step 1).

Written by models, paths come with slashes, a leading ``state.``, other spellings of hyphens and capitals; names come
instead of ids. All that is understood here, in one place. An unknown entity is created only where the campaign says
that entities are open.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

from narrator.core.definition import BUILT_IN, PLAYER, Definition, Field, find_field
from narrator.core.proposal import Proposal
from narrator.core.state import State

_ALIASES = {
    "scene.location": "location",
    "place": "location",
    "player.location": "location",
    "scene.time": "time",
    "mood": "scene.mood",
    "present": "scene.present",
    "scene.characters": "scene.present",
    "fact": "facts",
}
_SELF = {"player", "you", "me", "i", "self", "protagonist"}


class Wrong(ValueError):
    """A proposal that is refused by ``rule``; the message is the reason."""

    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(reason)
        self.rule = rule


@dataclass(frozen=True, slots=True)
class Created:
    """An entity that comes into the story with a proposal."""

    id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Placed:
    """A proposal at its declared place. ``is_hidden``: an entity in the path is."""

    proposal: Proposal
    path: str
    field: Field
    created: tuple[Created, ...] = ()
    is_hidden: bool = False


def place(definition: Definition, state: State, proposal: Proposal) -> Placed:
    """Raises ``Wrong`` with rule ``path`` for a path that nobody declared and an entity that may not be created."""
    path = proposal.path.strip().strip("/").replace("/", ".").removeprefix("state.")
    path = _ALIASES.get(path.casefold(), path)
    if not path:
        raise Wrong("path", "it names no path")
    if path.casefold() == "inventory" or path.casefold().startswith("inventory."):
        return _inventory(definition, state, proposal, path)
    if path.casefold().startswith("entities."):
        return _attribute(definition, state, proposal, path)
    if path.casefold().startswith("threads."):
        path = "threads." + slug(path.partition(".")[2])
    found = find_field(definition, path)
    if found is not None and found.type != "relation":
        return Placed(proposal, path, found)
    for declared in (*BUILT_IN, *definition.fields):
        field = definition.fields.get(declared) or BUILT_IN[declared]
        if field.type == "relation" and _loose(path).startswith(_loose(declared) + "."):
            return _relation(definition, state, proposal, field, path[len(declared) + 1 :])
        if field.type == "relation" and _loose(path) == _loose(declared):
            return _relation(definition, state, proposal, field, "")
        if field.type != "relation" and _loose(path) == _loose(declared):
            return Placed(proposal, declared, field)
    raise Wrong("path", f"nothing can be changed at {proposal.path!r}")


def find_entity(definition: Definition, state: State, name: str) -> str | None:
    """The id of the entity that goes by this id or name, in any spelling; None where there is none."""
    wanted = _loose(name)
    if wanted in _SELF or (definition.player_name and wanted == _loose(definition.player_name)):
        return PLAYER
    bare = re.sub(r"^(the|a|an)-", "", wanted)
    for entity_id, known in _names(definition, state):
        if wanted == _loose(known) or bare == re.sub(r"^(the|a|an)-", "", _loose(known)):
            return entity_id
    return None


def need_entity(definition: Definition, state: State, name: str, kind: str) -> tuple[str, tuple[Created, ...]]:
    """The entity of this name, to be created where entities are open. Raises ``Wrong`` where they are not."""
    found = find_entity(definition, state, name)
    if found is not None:
        return found, ()
    if not definition.is_entities_open or not slug(name):
        raise Wrong("path", f"nobody and nothing is called {name!r}")
    return slug(name), (Created(slug(name), name.strip(), kind),)


def is_hidden_entity(definition: Definition, entity_id: str) -> bool:
    entity = definition.entities.get(entity_id)
    return entity is not None and entity.visibility == "hidden"


def slug(name: str) -> str:
    """An id from a name: “The Old Key” → the-old-key."""
    return re.sub(r"[^\w]+", "-", unicodedata.normalize("NFC", name).casefold().replace("_", "-")).strip("-")[:60]


def _names(definition: Definition, state: State) -> Iterator[tuple[str, str]]:
    for entity in definition.entities.values():
        for name in (entity.id, entity.name, *entity.aliases):
            yield entity.id, name
    for path, value in state.values.items():
        head, _, rest = path.partition(".")
        if head == "inventory":
            yield rest, rest
        elif head == "entities":
            entity_id, _, attribute = rest.partition(".")
            yield entity_id, entity_id
            if attribute == "name" and isinstance(value, str):
                yield entity_id, value


def _inventory(definition: Definition, state: State, proposal: Proposal, path: str) -> Placed:
    """``inventory.ITEM`` with an owner; also ``inventory`` or ``inventory.OWNER`` with an item to add or remove."""
    name = path.partition(".")[2]
    owner = find_entity(definition, state, name) if name else PLAYER
    is_owner = not name or (owner is not None and f"inventory.{owner}" not in state.values and _owns(definition, owner))
    if is_owner and isinstance(proposal.value, str) and proposal.op in {"add", "append", "remove", "set", "move", ""}:
        value = None if proposal.op == "remove" else owner
        item, created = need_entity(definition, state, proposal.value, "thing")
        proposal = replace(proposal, op="move", value=value)
    elif not name:
        raise Wrong("path", "it names no item")
    else:
        item, created = need_entity(definition, state, name, "thing")
    path = f"inventory.{item}"
    field = find_field(definition, path)
    if field is None:
        raise Wrong("path", f"nothing can be changed at {proposal.path!r}")
    return Placed(proposal, path, field, created, is_hidden_entity(definition, item))


def _owns(definition: Definition, entity_id: str) -> bool:
    entity = definition.entities.get(entity_id)
    return entity_id == PLAYER or (entity is not None and entity.kind != "thing")


def _attribute(definition: Definition, state: State, proposal: Proposal, path: str) -> Placed:
    parts = path.split(".")
    if len(parts) != 3 or not slug(parts[2]):
        raise Wrong("path", f"nothing can be changed at {proposal.path!r}")
    entity_id, created = need_entity(definition, state, parts[1], "character")
    path = f"entities.{entity_id}.{slug(parts[2])}"
    field = find_field(definition, path)
    if field is None:
        raise Wrong("path", f"nothing can be changed at {proposal.path!r}")
    return Placed(proposal, path, field, created, is_hidden_entity(definition, entity_id))


def _relation(definition: Definition, state: State, proposal: Proposal, field: Field, names: str) -> Placed:
    """``trust.FROM.TO``, or ``trust`` with ``{"from", "to", "value"}``."""
    value = proposal.value
    pair = names.split(".") if names else []
    if isinstance(value, dict) and not pair:
        pair = [str(value.get("from", "")), str(value.get("to", ""))]
        proposal = replace(proposal, value=value.get("value"))
    if len(pair) != 2 or not all(pair):
        raise Wrong("path", f"{field.path} wants two entities: {field.path}.FROM.TO")
    first, created = need_entity(definition, state, pair[0], "character")
    second, also = need_entity(definition, state, pair[1], "character")
    path = f"{field.path}.{first}.{second}"
    is_hidden = is_hidden_entity(definition, first) or is_hidden_entity(definition, second)
    return Placed(proposal, path, replace(field, path=path), created + also, is_hidden)


def _loose(text: str) -> str:
    return re.sub(r"[\s_-]+", "-", text.strip().casefold())
