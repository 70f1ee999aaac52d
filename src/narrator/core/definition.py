"""What a campaign is made of, as frozen values: the parsed definition behind the door in ``campaign``.

Nothing here checks anything; ``campaign.parse_definition`` has. Paths are dotted texts ("player.nerve"). Mappings are
read-only views. ``find_field`` is the one answer to "what is the type of this path" (W2), for declared paths as for
those that every campaign has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from narrator.core.conditions import Condition
from narrator.core.proposal import JSON, Proposal

PLAYER = "player"
"""The id of the player's entity; every campaign has it."""


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of a number with its label, both ends included."""

    low: float
    high: float
    label: str


@dataclass(frozen=True, slots=True)
class Field:
    """The type of one path (W2).

    ``type``: number, counter, text, flag, list, relation, milestone; of the built-in paths also facts, thread, owner,
    fired. ``cooldown`` in turns, ``max_change`` a turn, ``max_length`` in characters. ``is_authored``: only storylets,
    checks and the player write it, never a model.
    """

    path: str
    type: str
    visibility: str = "open"
    minimum: float | None = None
    maximum: float | None = None
    bands: tuple[Band, ...] = ()
    initial: JSON = None
    max_change: float | None = None
    cooldown: int = 0
    max_length: int | None = None
    choices: tuple[str, ...] = ()
    label: str = ""
    is_authored: bool = False


@dataclass(frozen=True, slots=True)
class Entity:
    """A character, place or thing. ``visibility`` is narrator unless declared: the player meets it in the prose."""

    id: str
    name: str
    kind: str = "character"
    text: str = ""
    visibility: str = "narrator"
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """A story card (C26). ``secondary_logic``: any, all, none, not-all. ``is_regex``: the keys are expressions."""

    name: str
    text: str
    keys: tuple[str, ...] = ()
    kind: str = "canon"
    is_enabled: bool = True
    is_constant: bool = False
    priority: int = 0
    scan_depth: int | None = None
    is_case_sensitive: bool = False
    is_whole_word: bool = True
    is_regex: bool = False
    secondary: tuple[str, ...] = ()
    secondary_logic: str = "any"
    when: Condition | None = None
    is_recursive: bool = False
    sticky: int = 0
    cooldown: int = 0


@dataclass(frozen=True, slots=True)
class Skill:
    """``field`` is the path that backs the skill, '' for none; ``bonus`` is added to every roll."""

    name: str
    field: str = ""
    bonus: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class OutcomeBand:
    """``margin``: the least (total minus target) that earns this outcome; the worst band takes all below."""

    name: str
    margin: int


@dataclass(frozen=True, slots=True)
class Dice:
    count: int
    sides: int


@dataclass(frozen=True, slots=True)
class Clock:
    """Advances by one for every outcome it names, and in a turn in which ``advances_when`` holds."""

    id: str
    size: int
    advances_on: tuple[str, ...] = ()
    advances_when: Condition | None = None
    when_full: tuple[Proposal, ...] = ()
    visibility: str = "hidden"
    initial: int = 0


@dataclass(frozen=True, slots=True)
class Rules:
    """W11. ``outcomes`` from worst to best. ``shows_numbers``: the player may look at rolls (T8)."""

    skills: Mapping[str, Skill]
    difficulty: Mapping[str, int]
    outcomes: tuple[OutcomeBand, ...]
    dice: Dice
    clocks: Mapping[str, Clock]
    retry: str = "reroll"
    shows_numbers: bool = False


@dataclass(frozen=True, slots=True)
class StoryletCheck:
    skill: str
    difficulty: str


@dataclass(frozen=True, slots=True)
class StoryletOutcome:
    """What a storylet says and does for one outcome of its check; ``on`` is '' for a storylet without one."""

    on: str
    wordings: tuple[str, ...]
    effects: tuple[Proposal, ...] = ()
    ending: str = ""


@dataclass(frozen=True, slots=True)
class Storylet:
    """One authored answer (T18). ``on``: input, continue, any, after, hint, aside. ``cooldown`` in turns.

    ``is_free``: a turn that it answers moves no clock by that clock's condition; ``free_when``: so long as this holds
    in the state that the input found.
    """

    id: str
    outcomes: tuple[StoryletOutcome, ...]
    on: str = "input"
    keys: tuple[str, ...] = ()
    when: Condition | None = None
    weight: float = 1.0
    is_once: bool = False
    cooldown: int = 0
    check: StoryletCheck | None = None
    modes: tuple[str, ...] = ()
    suggest: str = ""
    is_free: bool = False
    free_when: Condition | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """The story ends when ``when`` holds after a turn, whoever narrates; ``title`` is what the player is told."""

    id: str
    title: str = ""
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """How things stand at the opening. ``inventory`` is item → owner, ``threads`` is id → text."""

    location: str = ""
    time: str = ""
    mood: str = ""
    present: tuple[str, ...] = ()
    inventory: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    facts: tuple[str, ...] = ()
    threads: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Definition:
    """A whole campaign definition. ``source`` is the TOML text it came from."""

    id: str
    title: str
    opening: str
    instructions: str = ""
    premise: str = ""
    limits: str = ""
    blurb: str = ""
    language: str = "en"
    player_name: str = ""
    persona: str = ""
    start: Start = field(default_factory=Start)
    fields: Mapping[str, Field] = field(default_factory=lambda: MappingProxyType({}))
    entities: Mapping[str, Entity] = field(default_factory=lambda: MappingProxyType({}))
    cards: tuple[Card, ...] = ()
    rules: Rules | None = None
    storylets: tuple[Storylet, ...] = ()
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    endings: tuple[Ending, ...] = ()
    is_state_declared: bool = False
    is_entities_open: bool = False
    source: str = ""

    @property
    def has_state(self) -> bool:
        """Whether the campaign declares ``[state]``: then a model is asked for changes (T4)."""
        return self.is_state_declared

    @property
    def has_rules(self) -> bool:
        """Whether the campaign declares ``[rules]`` (T8)."""
        return self.rules is not None


FACTS = Field("facts", "facts", max_length=500)
BUILT_IN: Mapping[str, Field] = MappingProxyType(
    {
        "location": Field("location", "text", max_length=120, label="Place"),
        "time": Field("time", "text", max_length=120, label="Time"),
        "scene.present": Field("scene.present", "list", label="Present"),
        "scene.mood": Field("scene.mood", "text", max_length=120, label="Mood"),
        "facts": FACTS,
        "story.fired": Field("story.fired", "fired", visibility="hidden", is_authored=True),
        "story.ending": Field("story.ending", "milestone", is_authored=True, label="Ending"),
        "story.note": Field("story.note", "text", is_authored=True, max_length=20_000),
        "story.persona": Field("story.persona", "text", is_authored=True, max_length=20_000),
    }
)
"""The paths that every campaign has."""


def find_field(definition: Definition, path: str) -> Field | None:
    """The type of a concrete path, or None for a path that nobody declared.

    ``threads.ID`` and ``inventory.ITEM`` are there for every ID; ``entities.ID.ATTRIBUTE`` is text with the visibility
    of the entity; a relation declared at P is found at P.A.B for every two entities.
    """
    found = definition.fields.get(path) or BUILT_IN.get(path)
    if found is not None:
        return None if found.type == "relation" else found
    head, _, rest = path.partition(".")
    if head == "threads" and rest and "." not in rest:
        return Field(path, "thread", max_length=500)
    if head == "inventory" and rest and "." not in rest:
        return Field(path, "owner", visibility=_visibility(definition, rest, "open"))
    if head == "entities" and rest.count(".") == 1:
        return Field(path, "text", visibility=_visibility(definition, rest.partition(".")[0]), max_length=2_000)
    if path.count(".") >= 2:
        stem, _, _ = path.rsplit(".", 2)
        relation = definition.fields.get(stem)
        if relation is not None and relation.type == "relation":
            return replace(relation, path=path)
    return None


def _visibility(definition: Definition, entity_id: str, otherwise: str = "narrator") -> str:
    if entity_id == PLAYER:
        return "open"
    entity = definition.entities.get(entity_id)
    return otherwise if entity is None or (otherwise == "open" and entity.visibility != "hidden") else entity.visibility
