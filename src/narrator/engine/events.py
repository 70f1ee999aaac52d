"""What a session tells whoever listens: frozen facts, one class an event of the contract.

Field names are those of the contract; ``wire`` turns them into JSON objects. A listener that does not know an event
passes it over: events and fields are only ever added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class CampaignPlace:
    """Which campaign is open: its own id, its title, its file."""

    id: str
    title: str
    path: str


@dataclass(frozen=True, slots=True)
class Ready:
    """A session has opened. ``narrator`` is the player's name for who tells it, ``draft`` text never sent."""

    wire_name: ClassVar[str] = "ready"
    campaign: CampaignPlace
    narrator: str
    version: str
    draft: str = ""
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class StepShown:
    """One node of the path. ``position`` 1 is the opening, ``take`` of ``takes`` is the pager's (S18).

    ``words`` is a correction as people read it, '' for any other step.
    """

    wire_name: ClassVar[str] = "step"
    id: int
    position: int
    role: str
    mode: str | None
    text: str
    take: int
    takes: int
    branch: int
    origin: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """Streamed text that is not yet in the story."""

    wire_name: ClassVar[str] = "delta"
    text: str


@dataclass(frozen=True, slots=True)
class HeadMoved:
    """Where the story ends now. ``redo`` is the steps from head to tip, ``branch`` owns the tip or the tip's parent."""

    wire_name: ClassVar[str] = "head"
    id: int
    position: int
    tip: int
    redo: int
    branch: int
    ended: bool


@dataclass(frozen=True, slots=True)
class StateChange:
    """One change of the state and where it came from. ``phrase`` says it to people, '' where the prose has told it."""

    path: str
    old: Any
    new: Any
    source: str
    note: str = ""
    phrase: str = ""


@dataclass(frozen=True, slots=True)
class StateChanged:
    """What a turn did to the state: the open fields alone."""

    wire_name: ClassVar[str] = "state"
    changes: tuple[StateChange, ...]


@dataclass(frozen=True, slots=True)
class FieldShown:
    """A value for people: the heading it stands under, what it is called, the value in words. Of facts there is one
    each, with ``label`` ''."""

    path: str
    group: str
    label: str
    words: str


@dataclass(frozen=True, slots=True)
class StateShown:
    """The values at the head, by path; ``unknown`` where nobody knows them there (W12). ``fields`` says the same to
    people, in groups."""

    wire_name: ClassVar[str] = "state"
    values: Mapping[str, Any]
    unknown: bool = False
    fields: tuple[FieldShown, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckMade:
    """One check: qualitative alone, but for ``rolled``, which a campaign may let the player see (T8).

    ``position`` is the step that it decided, None where that is the turn just told.
    """

    skill: str
    difficulty: str
    outcome: str
    position: int | None = None
    rolled: str = ""


@dataclass(frozen=True, slots=True)
class ChecksMade:
    """The checks of a turn, or of the path for ``/checks``."""

    wire_name: ClassVar[str] = "checks"
    checks: tuple[CheckMade, ...]


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


@dataclass(frozen=True, slots=True)
class Progressed:
    """Long work goes on; ``total`` is None where nobody knows it, ``left`` an estimate in seconds or None."""

    wire_name: ClassVar[str] = "progress"
    what: str
    done: int
    total: int | None = None
    left: float | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """A line of a recording is played now: line ``number`` of ``total``, as it stands in the file (U26)."""

    wire_name: ClassVar[str] = "replayed"
    command: str
    text: str
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class Noted:
    """A thing worth a line: a refused change, a coerced value, a finish reason, the narrator that was chosen."""

    wire_name: ClassVar[str] = "note"
    text: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A command failed. ``draft`` is the input of a turn that failed or was stopped, None where there is none."""

    wire_name: ClassVar[str] = "error"
    code: str
    message: str
    hint: str = ""
    line: int | None = None
    draft: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that waits for ``/answer``. ``shows`` is what it is about."""

    wire_name: ClassVar[str] = "ask"
    id: int
    what: str
    choices: tuple[str, ...]
    default: str
    shows: Any = None


@dataclass(frozen=True, slots=True)
class Done:
    """The answer to one command, after all its other events. ``tag`` is left out of the wire where none was given."""

    wire_name: ClassVar[str] = "done"
    command: str
    line: int | None
    ok: bool
    tag: Any = None


Event = (
    Ready
    | StepShown
    | Delta
    | HeadMoved
    | StateChanged
    | StateShown
    | ChecksMade
    | TakesListed
    | BranchesListed
    | CheckpointsListed
    | MemoriesListed
    | CardsListed
    | PromptShown
    | AuditListed
    | Suggested
    | MapShown
    | KnowledgeListed
    | HelpShown
    | Found
    | StatsShown
    | StatusShown
    | NarratorsListed
    | Progressed
    | Replayed
    | Noted
    | Failed
    | Asked
    | Done
)
