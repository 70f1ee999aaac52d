"""What a session answers when it is asked to show something: takes, branches, memories, cards, a prompt, figures.

Events like those of ``events``, which hands them on: frozen facts, field names those of the contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class TakeListed:
    """A take as the pager counts it."""

    id: int
    take: int
    role: str
    current: bool
    pinned: bool
    text: str
    branch: int


@dataclass(frozen=True, slots=True)
class TakesListed:
    """The takes below one parent; ``of`` is None for openings."""

    wire_name: ClassVar[str] = "takes"
    of: int | None
    takes: tuple[TakeListed, ...]


@dataclass(frozen=True, slots=True)
class StepTakes:
    """The takes at a position of a branch, where there are several."""

    position: int
    takes: tuple[TakeListed, ...]


@dataclass(frozen=True, slots=True)
class BranchListed:
    """One branch of the rail (S29). ``last_read`` is an ISO 8601 time or None; ``unplaced`` counts the takes below its
    steps that nobody has built on."""

    id: int
    name: str | None
    label: str
    parent: int | None
    fork_position: int
    steps: int
    current: bool
    on_path: bool
    last_read: str | None
    checkpoints: tuple[str, ...] = ()
    unplaced: int = 0


@dataclass(frozen=True, slots=True)
class BranchesListed:
    """All branches."""

    wire_name: ClassVar[str] = "branches"
    branches: tuple[BranchListed, ...]


@dataclass(frozen=True, slots=True)
class CheckpointListed:
    """A saved place; ``id`` is its node, ``created_at`` an ISO 8601 time."""

    name: str
    id: int
    position: int
    on_path: bool
    created_at: str


@dataclass(frozen=True, slots=True)
class CheckpointsListed:
    """All checkpoints."""

    wire_name: ClassVar[str] = "checkpoints"
    checkpoints: tuple[CheckpointListed, ...]


@dataclass(frozen=True, slots=True)
class MemoryListed:
    """A memory on the path and the node it hangs from."""

    id: int
    text: str
    node: int
    pinned: bool
    source: str


@dataclass(frozen=True, slots=True)
class MemoriesListed:
    """The memories that retrieval can see (C25)."""

    wire_name: ClassVar[str] = "memories"
    memories: tuple[MemoryListed, ...]


@dataclass(frozen=True, slots=True)
class CardListed:
    """A card; ``triggered`` tells whether the coming turn would hold it, and ``why`` by which key.

    ``sticky_left`` and ``cooldown_left`` are turns: how long it stays without a key, how long it rests (C26).
    """

    name: str
    keys: tuple[str, ...]
    kind: str
    enabled: bool
    triggered: bool
    text: str = ""
    why: str = ""
    sticky_left: int = 0
    cooldown_left: int = 0


@dataclass(frozen=True, slots=True)
class CardsListed:
    """All cards, or the one asked for (then with its text)."""

    wire_name: ClassVar[str] = "cards"
    cards: tuple[CardListed, ...]


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A part of a prompt: ``tokens`` it costs, ``why`` it is there, its ``text``.

    ``place``: prefix, summary, history, tail, or left-out for what was found and has no room (``source`` is its kind).
    """

    kind: str
    source: str
    tokens: int
    why: str
    text: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Reported:
    """Tokens as the server counted them for the same prompt; None for what it did not say."""

    tokens_in: int | None
    tokens_out: int | None
    tokens_cached: int | None


@dataclass(frozen=True, slots=True)
class PromptShown:
    """The prompt of the coming turn or of a take. ``messages`` are {role, content}, ``budget`` every term of C1.

    ``counted`` is what all messages take by narrator's own count. Of a past take, ``of`` is its node and ``reported``
    what the server said, where it did.
    """

    wire_name: ClassVar[str] = "prompt"
    messages: tuple[Mapping[str, str], ...]
    parts: tuple[PromptPart, ...]
    budget: Mapping[str, Any]
    hash: str
    counted: int = 0
    of: int | None = None
    reported: Reported | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change of one field at one step (W8). ``was`` and ``became`` say old and new to people."""

    position: int
    path: str
    old: Any
    new: Any
    source: str
    reason: str = ""
    op: str = ""
    was: str = ""
    became: str = ""


@dataclass(frozen=True, slots=True)
class AuditListed:
    """Every change of a field along the path; ``label`` is what people call it."""

    wire_name: ClassVar[str] = "audit"
    audit: tuple[AuditEntry, ...]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Suggested:
    """Things that the player might do; stored nowhere (T20)."""

    wire_name: ClassVar[str] = "suggestions"
    suggestions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TakesAtPosition:
    """How many takes stand at a position of a branch."""

    position: int
    takes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BranchMapped:
    """A branch as in ``BranchListed``, with the takes (node ids) at each position where there is more than one."""

    id: int
    name: str | None
    label: str
    parent: int | None
    fork_position: int
    steps: int
    current: bool
    on_path: bool
    last_read: str | None
    checkpoints: tuple[str, ...] = ()
    unplaced: int = 0
    takes: tuple[TakesAtPosition, ...] = ()


@dataclass(frozen=True, slots=True)
class MapShown:
    """The whole tree."""

    wire_name: ClassVar[str] = "map"
    map: tuple[BranchMapped, ...]


@dataclass(frozen=True, slots=True)
class KnowledgeEntry:
    """An imported source."""

    id: int
    title: str
    kind: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class KnowledgeListed:
    """All imported sources; they belong to the campaign, not to the path (S35)."""

    wire_name: ClassVar[str] = "knowledge"
    knowledge: tuple[KnowledgeEntry, ...]


@dataclass(frozen=True, slots=True)
class HelpEntry:
    """A verb of the table."""

    command: str
    arguments: str
    text: str


@dataclass(frozen=True, slots=True)
class HelpShown:
    """The commands, or the one asked for."""

    wire_name: ClassVar[str] = "help"
    help: tuple[HelpEntry, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A place where the words of a search stand."""

    id: int
    position: int
    excerpt: str


@dataclass(frozen=True, slots=True)
class Found:
    """What ``/search`` found on the path."""

    wire_name: ClassVar[str] = "found"
    found: tuple[Match, ...]


@dataclass(frozen=True, slots=True)
class StatsSpan:
    """A stretch of the line, from step to step: its words, what was reported for it, the takes of its narrations."""

    first: int
    last: int
    words: int
    tokens_in: int
    tokens_out: int
    takes: int


@dataclass(frozen=True, slots=True)
class StatsShown:
    """Steps and words of the line, branches and takes of the tree, tokens as reported; ``seconds`` are the time played,
    ``telling`` those that narrators took. ``spans`` tell the line in stretches of equal length."""

    wire_name: ClassVar[str] = "stats"
    steps: int
    words: int
    branches: int
    takes: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    seconds: float
    cost: float | None = None
    telling: float = 0.0
    takes_per_step: float = 0.0
    spans: tuple[StatsSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class StatusShown:
    """For ``/status``: campaign, place, position, redo, narrator and the host that gets the words ('' for none).

    ``window`` is the narrator's in tokens, ``window_source`` where that is known from (C3).
    """

    wire_name: ClassVar[str] = "status"
    campaign: str
    place: str
    position: int
    redo: int
    narrator: str
    host: str = ""
    window: int = 0
    window_source: str = ""


@dataclass(frozen=True, slots=True)
class NarratorListed:
    """A narrator that may be chosen."""

    name: str
    kind: str
    current: bool
    host: str = ""


@dataclass(frozen=True, slots=True)
class NarratorsListed:
    """For ``/narrator`` alone."""

    wire_name: ClassVar[str] = "narrators"
    narrators: tuple[NarratorListed, ...]
