"""Context checkpoints: what a summary is, which history it serves, when it may be used (C13-C17, C21).

A context checkpoint stands in prompts for the nodes from the opening to its *covered* node. It hangs from the *host*,
the first node that stays verbatim behind it, so that every path through that node shares it. It serves the history it
was made from and no other: its source hash is made from the chain hash of the covered node, which stands for all
public content up to there, and is made anew whenever it is looked at. The model supplies no hash.

Lengths are in tokens where nothing else is said.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from narrator.core.answers import NotAnObject, parse_object
from narrator.core.errors import NarrationFailed
from narrator.core.prompt import PROMPT_SCHEMA_VERSION, Part, checkpoint_part

CHECKPOINT_SCHEMA_VERSION: Final = 1
SUMMARY_SHARE: Final = 8
"""A summary may take the hard input over this (C21)."""

_BYTES_A_WORD: Final = 7
_LISTED: Final[Mapping[str, Any]] = MappingProxyType({"type": "array", "items": {"type": "string"}})
SUMMARY_SCHEMA: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "type": "object",
        "properties": {
            "events": dict(_LISTED),
            "choices": dict(_LISTED),
            "facts": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"text": {"type": "string"}, "certainty": {"type": "string"}},
                    "required": ["text", "certainty"],
                    "additionalProperties": False,
                },
            },
            "conflicts": dict(_LISTED),
            "goals": dict(_LISTED),
            "mood": {"type": "string"},
        },
        "required": ["events", "choices", "facts", "conflicts", "goals", "mood"],
        "additionalProperties": False,
    }
)
"""What a compaction request asks for (contract, C21)."""


# ------------------------------------------------------------------------------------------------------------ summaries


def _line(value: object) -> object:
    """A line as it is kept: white space folded, so that one entry is one line."""
    return " ".join(value.split()) if isinstance(value, str) else value


def _lines(value: object) -> object:
    """A list of lines. Models say null for an empty list, and one line for a list of one."""
    if value is None:
        return ()
    found = [value] if isinstance(value, str) else value
    return tuple(each for each in found if each != "") if isinstance(found, list | tuple) else found


def _fact(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


_Line = Annotated[str, BeforeValidator(_line)]
_Lines = Annotated[tuple[_Line, ...], BeforeValidator(_lines)]


class Fact(BaseModel):
    """Something that came to light, and how sure it is."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    text: _Line
    certainty: _Line = "certain"


class Summary(BaseModel):
    """The story so far, self-contained (C15, C21). What a model adds to the shape asked for is dropped."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    events: _Lines = ()
    choices: _Lines = ()
    facts: Annotated[tuple[Annotated[Fact, BeforeValidator(_fact)], ...], BeforeValidator(_lines)] = ()
    conflicts: _Lines = ()
    goals: _Lines = ()
    mood: Annotated[_Line, BeforeValidator(lambda value: "" if value is None else value)] = ""

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing of what happened."""
        return not (self.events or self.choices or self.facts or self.conflicts or self.goals)

    def to_json(self) -> str:
        """As it is kept: compact JSON of the six keys."""
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))


def parse_summary(text: str) -> Summary:
    """The summary in a model's answer. Raises ``NarrationFailed`` (``narrator-malformed``) for anything else."""
    try:
        found = Summary.model_validate(parse_object(text))
    except NotAnObject as error:
        raise _malformed(str(error)) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise _malformed(f"{place}: {first['msg']}") from error
    if found.is_empty:
        raise _malformed("it says nothing of what happened")
    return found


def _malformed(problem: str) -> NarrationFailed:
    return NarrationFailed(
        "narrator-malformed",
        f"The summary of the story so far could not be read: {problem}.",
        "Send it again, or choose another narrator.",
    )


def to_words(summary: Summary) -> str:
    """The summary as the narrator reads it: a heading and a line an entry, without what is empty."""
    doubt = [f"{each.text} ({each.certainty})" if each.certainty else each.text for each in summary.facts]
    told = (
        ("What happened", summary.events),
        ("What the player chose", summary.choices),
        ("What is known", doubt),
        ("Open conflicts", summary.conflicts),
        ("Shared goals", summary.goals),
        ("Mood", (summary.mood,) if summary.mood else ()),
    )
    lines: list[str] = []
    for heading, entries in told:
        if entries:
            lines.append(f"{heading}:")
            lines += [f"- {entry}" for entry in entries]
    return "\n".join(lines)


def as_part(summary: Summary, at_node_id: int | None = None) -> Part:
    """The summary as the beginning of a branch context."""
    return checkpoint_part(to_words(summary), f"#{at_node_id}" if at_node_id is not None else "")


def shorten(summary: Summary, has_room: Callable[[Summary], bool]) -> tuple[Summary, int]:
    """The summary without its least entries, as many as must go, and how many went.

    The last resort for a model that cannot keep to a length: always the oldest entry of the longest list, facts and
    goals last of all, so that a name stays as long as it can. What is left may still be too long: one entry is kept.
    """
    gone = 0
    order = ("events", "choices", "conflicts", "facts", "goals")
    while not has_room(summary):
        if summary.mood:
            summary = summary.model_copy(update={"mood": ""})
            gone += 1
            continue
        lists = [(name, getattr(summary, name)) for name in order]
        if sum(len(entries) for _, entries in lists) <= 1:
            break
        name, entries = max(lists, key=lambda each: (len(each[1]) > 1, len(each[1]), -order.index(each[0])))
        summary = summary.model_copy(update={name: entries[1:]})
        gone += 1
    return summary, gone


def words_for(tokens: int, *, is_exact: bool) -> int:
    """How many words a model may be told to write where so many tokens are there.

    Where a byte counts as a token a word takes about seven; where counting is exact, at most two.
    """
    return max(20, int(tokens * 0.8) // (2 if is_exact else _BYTES_A_WORD))


# ------------------------------------------------------------------------------------------------- context checkpoints


@dataclass(frozen=True, slots=True)
class ContextCheckpoint:
    """One row (C13). ``is_partial``: a finished chunk of a first load that is not yet done (C20)."""

    at_node_id: int
    covered_through_node_id: int
    retained_from_node_id: int | None
    checkpoint_schema_version: int
    prompt_schema_version: int
    stable_prefix_hash: bytes
    summary_json: str
    source_hash: bytes
    is_partial: bool = False


def source_hash(campaign_id: str, stable_prefix_hash: bytes, covered_chain_hash: bytes) -> bytes:
    """SHA-256 over both schema versions, the stable prefix hash, the campaign id and the public content covered (C16).

    The chain hash of the covered node stands for the ordered content from the opening on (S3).
    """
    digest = hashlib.sha256()
    campaign = campaign_id.encode("utf-8", "surrogatepass")
    versions = f"{CHECKPOINT_SCHEMA_VERSION}/{PROMPT_SCHEMA_VERSION}".encode()
    for field in (versions, stable_prefix_hash, campaign, covered_chain_hash):
        digest.update(len(field).to_bytes(8, "big"))
        digest.update(field)
    return digest.digest()


def make_checkpoint(
    summary: Summary,
    *,
    covered_id: int,
    covered_chain_hash: bytes,
    retained_id: int,
    campaign_id: str,
    stable_prefix_hash: bytes,
    is_partial: bool = False,
) -> ContextCheckpoint:
    """The row for a finished summary; its host is the first node that stays verbatim."""
    return ContextCheckpoint(
        retained_id,
        covered_id,
        retained_id,
        CHECKPOINT_SCHEMA_VERSION,
        PROMPT_SCHEMA_VERSION,
        stable_prefix_hash,
        summary.to_json(),
        source_hash(campaign_id, stable_prefix_hash, covered_chain_hash),
        is_partial,
    )


@dataclass(frozen=True, slots=True)
class Place:
    """A node that a context checkpoint names, as it lies on the path in question."""

    id: int
    depth: int
    chain_hash: bytes


def read_checkpoint(
    row: ContextCheckpoint,
    host: Place | None,
    covered: Place | None,
    retained: Place | None,
    *,
    campaign_id: str,
    stable_prefix_hash: bytes,
    has_room: Callable[[Summary], bool],
) -> Summary | None:
    """The summary of a context checkpoint that may be used on a path; None where schema, hash, range or size is wrong.

    The places are None where the node is not on the path (C14, C17).
    """
    if host is None or covered is None or retained is None:
        return None
    is_in_range = covered.depth + 1 == retained.depth <= host.depth
    is_of_now = (row.checkpoint_schema_version, row.prompt_schema_version) == (
        CHECKPOINT_SCHEMA_VERSION,
        PROMPT_SCHEMA_VERSION,
    )
    if not (is_in_range and is_of_now and row.stable_prefix_hash == stable_prefix_hash):
        return None
    if row.source_hash != source_hash(campaign_id, stable_prefix_hash, covered.chain_hash):
        return None
    try:
        summary = Summary.model_validate_json(row.summary_json)
    except ValidationError:
        return None
    return summary if not summary.is_empty and has_room(summary) else None


def keeps_last_exchange(retained: Sequence[str], covered: str) -> bool:
    """Whether the last narration and the input it answers are among the retained nodes (C6).

    ``retained`` are the roles of the nodes behind the covered one, oldest first; ``covered`` is the covered one's role.
    """
    at = len(retained) - 1
    while at >= 0 and retained[at] not in ("narrator", "opening"):
        at -= 1
    if at < 0:
        return False
    while at > 0 and retained[at - 1] == "correction":
        at -= 1
    return at > 0 or covered not in ("player", "correction")
