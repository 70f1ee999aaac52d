"""The bundle of a campaign, version 1, as models: what may stand in the file, and its JSON Schema (X7).

Numbers that name something are ordinals from 1, in order of creation. What has its usual value is left out. Nothing
that can be derived is in it: no depth, no hash, no index, no context checkpoint.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from narrator.core.door import CardTable
from narrator.core.tree import Mode, Origin, Role
from narrator.exchange import limits

FORMAT = "narrator-campaign-v1"

Ordinal = Annotated[int, Field(ge=1, le=limits.ENTRIES)]
Count = Annotated[int, Field(ge=0, le=2**53)]
Text = Annotated[str, Field(max_length=limits.TEXT_CHARACTERS)]
Name = Annotated[str, Field(max_length=1000)]


class Row(BaseModel):
    """No key but the declared ones, no guessing: what needs a guess is mended, and noted, before (X5)."""

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)


class CampaignRow(Row):
    """Where the story stands. ``written`` counts the steps ever written; ``fork`` is the node of a fork wish (S24)."""

    id: Name
    title: Name
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    head: Ordinal
    tip: Ordinal
    fork: Ordinal | None = None
    narrator: Name | None = None
    tracking: bool = False
    written: Count = 0
    created_at: Name = ""
    played_at: Name = ""
    played_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0


class DefinitionRow(Row):
    """A version of the definition, as TOML; the last one is in force."""

    source: Text
    created_at: Name = ""


class BranchRow(Row):
    """``fork`` is the node that the branch leaves its parent branch at; absent: it begins with an opening."""

    fork: Ordinal | None = None
    name: Name | None = None
    created_at: Name = ""


class EventRow(Row):
    """A change of the state. ``from`` is the node that first caused it, where it was copied (S20)."""

    op: Literal["set", "add", "append", "remove", "assert", "retract", "open", "close", "relate", "move"]
    path: Name
    value: Any = None
    previous: Any = None
    source: Literal["model", "check", "storylet", "player", "import"]
    cause: Ordinal | None = Field(default=None, alias="from")
    note: Text = ""


class CheckRow(Row):
    """A check that was made."""

    skill: Name
    difficulty: Name
    outcome: Name
    roll: Annotated[int, Field(ge=-(2**31), lt=2**31)]
    total: Annotated[int, Field(ge=-(2**31), lt=2**31)]
    target: Annotated[int, Field(ge=-(2**31), lt=2**31)]
    cause: Ordinal | None = Field(default=None, alias="from")


class NodeRow(Row):
    """A node. ``parent`` is absent for an opening, ``branch`` for an unplaced take.

    ``source`` is the node it was edited or retold from; ``rolls`` counts narrations ever accepted below it (T9),
    ``written`` the steps that were written when it was; ``unknown``: nobody knows the state (W12).
    """

    parent: Ordinal | None = None
    branch: Ordinal | None = None
    role: Role
    mode: Mode | None = None
    text: Text
    origin: Origin = "typed"
    source: Ordinal | None = None
    created_at: Name = ""
    written: Count = 0
    pinned: bool = False
    rolls: Count = 0
    unknown: bool = False
    events: list[EventRow] = Field(default_factory=list, max_length=10_000)
    checks: list[CheckRow] = Field(default_factory=list, max_length=10_000)


class CheckpointRow(Row):
    name: Name
    node: Ordinal
    created_at: Name = ""


class VisitRow(Row):
    """The head last read on the line to ``tip`` (S17); the latest stands last."""

    tip: Ordinal
    head: Ordinal
    visited_at: Name = ""
    written: Count = 0


class PlaceRow(Row):
    """A place that back or forward leads to (S37); the latest stands last."""

    stack: Literal["back", "forward"]
    head: Ordinal
    tip: Ordinal


class MemoryRow(Row):
    """``covers``: how many nodes it condenses, its own the last."""

    node: Ordinal
    text: Text
    source: Literal["typed", "generated", "imported"] = "typed"
    covers: Count | None = None
    pinned: bool = False
    forgotten: bool = False
    created_at: Name = ""


class CommentRow(Row):
    node: Ordinal
    text: Text
    created_at: Name = ""


class KeptRow(Row):
    """What an import brought that this program does not use, for re-export."""

    kind: Name
    name: Name
    body: Any = None


class CardRow(Row, CardTable):
    """A card beside the definition, with the keys of its ``[[cards]]`` (S35)."""


class CardEditRow(Row):
    """What the player changed about a card; what is absent is as the card itself has it (S35)."""

    name: Name
    enabled: bool | None = None
    text: Text | None = None
    deleted: bool = False


class KnowledgeRow(Row):
    """An imported source (S35, C28)."""

    title: Name
    kind: Literal["canon", "reference", "inspiration"]
    enabled: bool = True
    created_at: Name = ""
    condition: Text = ""
    passages: list[Text] = []


class ProvenanceRow(Row):
    """How a node was made. In ``record.prompt`` an object ``{"part": N}`` stands for the N-th of ``parts``."""

    node: Ordinal
    record: dict[str, Any]


class Bundle(BaseModel):
    """The whole document."""

    model_config = ConfigDict(extra="forbid", title="A narrator campaign")

    format: Literal["narrator-campaign-v1"]
    campaign: CampaignRow
    definitions: Annotated[list[DefinitionRow], Field(min_length=1)]
    branches: Annotated[list[BranchRow], Field(min_length=1)]
    nodes: Annotated[list[NodeRow], Field(min_length=1)]
    checkpoints: list[CheckpointRow] = []
    visits: list[VisitRow] = []
    places: list[PlaceRow] = []
    memories: list[MemoryRow] = []
    comments: list[CommentRow] = []
    cards: list[CardRow] = []
    card_edits: list[CardEditRow] = []
    knowledge: list[KnowledgeRow] = []
    kept: list[KeptRow] = []
    prompts: Annotated[bool, Field(description="false: prompts were left out and cannot be rebuilt")] = True
    parts: list[Text] = []
    provenance: list[ProvenanceRow] = []


SECTIONS: dict[str, type[Row]] = {
    "definitions": DefinitionRow,
    "branches": BranchRow,
    "nodes": NodeRow,
    "checkpoints": CheckpointRow,
    "visits": VisitRow,
    "places": PlaceRow,
    "memories": MemoryRow,
    "comments": CommentRow,
    "cards": CardRow,
    "card_edits": CardEditRow,
    "knowledge": KnowledgeRow,
    "kept": KeptRow,
    "provenance": ProvenanceRow,
}
"""The members that are lists of objects; ``parts`` is a list of texts."""


def schema() -> dict[str, Any]:
    """The JSON Schema of a bundle (`narrator schema bundle`)."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Bundle.model_json_schema(by_alias=True)}
