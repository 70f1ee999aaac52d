"""The values of the story tree: nodes, branches, coordinates, checkpoints, and the chain hash.

A node is one immutable entry of the story. Its parent link is the truth; its coordinate (branch, depth) is an index
over the tree (S4). Nodes seen beside their siblings are takes of one another. Nothing here reads or writes anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from narrator.core.checks import Check
    from narrator.core.state import Event

Role = Literal["opening", "player", "narrator", "correction"]
Mode = Literal["do", "say", "story", "continue"]
Origin = Literal["typed", "generated", "edited", "retold", "imported"]

ENCODING_VERSION = 1
NO_PARENT = bytes(32)


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A place in the index: the ``depth``-th node of any path through ``branch_id`` that far (the opening is 1)."""

    branch_id: int
    depth: int


@dataclass(frozen=True, slots=True)
class Node:
    """One immutable entry of the story. ``branch_id`` is None while the node is an unplaced take (a leaf).

    ``rolls`` counts the narrator children ever accepted here, deleted ones included (T9).
    """

    id: int
    parent_id: int | None
    branch_id: int | None
    depth: int
    role: Role
    mode: Mode | None
    text: str
    origin: Origin
    source_id: int | None
    chain_hash: bytes
    created_at: str
    is_pinned: bool = False
    rolls: int = 0
    is_unknown: bool = False

    @property
    def is_placed(self) -> bool:
        return self.branch_id is not None

    @property
    def coordinate(self) -> Coordinate | None:
        return None if self.branch_id is None else Coordinate(self.branch_id, self.depth)


@dataclass(frozen=True, slots=True)
class NewNode:
    """A node that is about to be accepted, with everything that hangs from it (S12).

    ``provenance`` is the record of the request that made it (S25), parts already split from it.
    """

    role: Role
    text: str
    mode: Mode | None = None
    origin: Origin = "typed"
    source_id: int | None = None
    events: tuple[Event, ...] = ()
    checks: tuple[Check, ...] = ()
    provenance: Mapping[str, Any] | None = None
    is_unknown: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """A stretch of placed nodes; it borrows its ancestors' nodes up to ``fork_depth`` (0 without a parent)."""

    id: int
    parent_id: int | None
    fork_depth: int
    name: str | None
    is_hidden: bool = False

    @property
    def label(self) -> str:
        """The name, or a label derived from the fork position; derived labels are never stored (S30)."""
        if self.name is not None:
            return self.name
        return "from the start" if self.parent_id is None else f"from step {self.fork_depth}"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A durable, named pointer to a node, made by the player."""

    id: int
    name: str
    node_id: int
    created_at: str


@dataclass(frozen=True, slots=True)
class Position:
    """Head and tip: where the story ends now, and the leaf that redo leads to."""

    head_id: int
    tip_id: int


def chain_hash(parent: bytes | None, role: str, mode: str | None, text: str) -> bytes:
    """SHA-256 over the parent's chain hash and this node's encoding (S3). 32 bytes; no parent: 32 zero bytes before."""
    from hashlib import sha256  # The first page hashes nothing, and need not wait for it.

    raw = text.encode("utf-8", "surrogatepass")
    above = parent if parent is not None else NO_PARENT
    return sha256(b"".join((above, _before_text(role, mode), len(raw).to_bytes(8, "big"), raw))).digest()


@cache
def _before_text(role: str, mode: str | None) -> bytes:
    """The encoding up to the text: there are a dozen of them."""
    fields = (field.encode("utf-8", "surrogatepass") for field in (role, mode or ""))
    return bytes([ENCODING_VERSION]) + b"".join(len(raw).to_bytes(8, "big") + raw for raw in fields)


def encode_correction(path: str, old: Any, new: Any, reason: str | None) -> str:
    """The text of a correction: canonical JSON of always the four keys (S3)."""
    body = {"new": new, "old": old, "path": path, "reason": reason}
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def decode_correction(text: str) -> dict[str, Any]:
    """The four keys of a correction's text."""
    body: dict[str, Any] = json.loads(text)
    return body
