"""What a session tells whoever listens: frozen facts, one class an event of the contract.

Field names are those of the contract; ``wire`` turns them into JSON objects. A listener that does not know an event
passes it over: events and fields are only ever added. What answers a look at something stands in ``listings``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from narrator.engine.listings import (
    AuditEntry as AuditEntry,
)
from narrator.engine.listings import (
    AuditListed as AuditListed,
)
from narrator.engine.listings import (
    BranchesListed as BranchesListed,
)
from narrator.engine.listings import (
    BranchListed as BranchListed,
)
from narrator.engine.listings import (
    BranchMapped as BranchMapped,
)
from narrator.engine.listings import (
    CardListed as CardListed,
)
from narrator.engine.listings import (
    CardsListed as CardsListed,
)
from narrator.engine.listings import (
    CheckpointListed as CheckpointListed,
)
from narrator.engine.listings import (
    CheckpointsListed as CheckpointsListed,
)
from narrator.engine.listings import (
    Found as Found,
)
from narrator.engine.listings import (
    HelpEntry as HelpEntry,
)
from narrator.engine.listings import (
    HelpShown as HelpShown,
)
from narrator.engine.listings import (
    KnowledgeEntry as KnowledgeEntry,
)
from narrator.engine.listings import (
    KnowledgeListed as KnowledgeListed,
)
from narrator.engine.listings import (
    MapShown as MapShown,
)
from narrator.engine.listings import (
    Match as Match,
)
from narrator.engine.listings import (
    MemoriesListed as MemoriesListed,
)
from narrator.engine.listings import (
    MemoryListed as MemoryListed,
)
from narrator.engine.listings import (
    NarratorListed as NarratorListed,
)
from narrator.engine.listings import (
    NarratorsListed as NarratorsListed,
)
from narrator.engine.listings import (
    PromptPart as PromptPart,
)
from narrator.engine.listings import (
    PromptShown as PromptShown,
)
from narrator.engine.listings import (
    Reported as Reported,
)
from narrator.engine.listings import (
    StatsShown as StatsShown,
)
from narrator.engine.listings import (
    StatsSpan as StatsSpan,
)
from narrator.engine.listings import (
    StatusShown as StatusShown,
)
from narrator.engine.listings import (
    StepTakes as StepTakes,
)
from narrator.engine.listings import (
    Suggested as Suggested,
)
from narrator.engine.listings import (
    TakeListed as TakeListed,
)
from narrator.engine.listings import (
    TakesAtPosition as TakesAtPosition,
)
from narrator.engine.listings import (
    TakesListed as TakesListed,
)


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
    """One change of the state and where it came from.

    ``phrase`` says it to people, '' where the prose has told it or nothing can be seen of it.
    """

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
