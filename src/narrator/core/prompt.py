"""What the model is told: prompt schema version 3, from named parts to messages.

A prompt is a value, ``PromptParts``, laid out as the specification lays it out: a stable prefix, the branch context
(a context checkpoint, then nodes verbatim) and a dynamic tail whose last part is the current input. ``encode`` turns it
into messages and looks at nothing but the kind, role and text of each part, so a prompt can be kept as hashes of parts
and a range of nodes and be made again byte for byte (S25).

What changes every turn sits in the last user message, behind the history: the messages before it are the same bytes
from turn to turn, and a server's prompt cache holds (C10, C11).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

if TYPE_CHECKING:
    from narrator.core.definition import Card, Definition

PROMPT_SCHEMA_VERSION: Final = 3

Role = Literal["system", "user", "assistant"]
NodeRole = Literal["player", "narrator", "opening", "correction"]

BEGIN: Final = "Begin the story."
CONTINUE: Final = "Go on with the story."
MODE_MARKS: Final[Mapping[str, str]] = {"do": "[do]", "say": "[say]", "story": "[story]"}

TAIL_ORDER: Final = (
    "memory",
    "card",
    "knowledge",
    "state",
    "correction",
    "note",
    "outcome",
    "retry-note",
    "manner",
    "input",
    "question",
)
_ROLE_OF_NODE: Final[Mapping[str | None, Role]] = {"player": "user", "narrator": "assistant", "opening": "assistant"}
_GAP: Final = "\n\n"


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Part:
    """A named piece of a prompt.

    ``text`` goes out as it stands. ``source`` (a card's name, a memory's id …) and ``why`` (the key that matched, a
    score) are for the inspector (C29). ``node_id`` and ``role`` belong to the parts of the raw tail, of kind ``node``.
    In a follow-up the role ``narrator`` makes an assistant's message, none a user's.
    """

    kind: str
    text: str
    source: str = ""
    why: str = ""
    node_id: int | None = None
    role: NodeRole | None = None

    def to_json(self) -> dict[str, Any]:
        """The part as a JSON object; what is absent is left out."""
        whole: dict[str, Any] = {"kind": self.kind, "text": self.text}
        if self.source:
            whole["source"] = self.source
        if self.why:
            whole["why"] = self.why
        if self.node_id is not None:
            whole["node_id"] = self.node_id
        if self.role is not None:
            whole["role"] = self.role
        return whole

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Part:
        """The reverse of ``to_json``."""
        return cls(**value)

    def content_hash(self) -> bytes:
        """SHA-256 over what ``encode`` looks at: kind, role and text. Equal hashes make equal messages (S25)."""
        seen = json.dumps([self.kind, self.role, self.text], ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(seen.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class PromptParts:
    """A whole prompt. ``raw_tail`` has one part a node, oldest first, without a gap.

    ``dynamic_tail`` is in the order of ``TAIL_ORDER``. ``follow_up`` is what stands behind the tail in a request made
    after the narration (extract): the narration as the assistant's message, then the question.
    """

    stable_prefix: tuple[Part, ...]
    checkpoint: Part | None = None
    raw_tail: tuple[Part, ...] = ()
    dynamic_tail: tuple[Part, ...] = ()
    follow_up: tuple[Part, ...] = ()

    def parts(self) -> Iterator[Part]:
        """Every part in the order in which the model reads them."""
        yield from self.stable_prefix
        if self.checkpoint is not None:
            yield self.checkpoint
        yield from self.raw_tail
        yield from self.dynamic_tail
        yield from self.follow_up


# ---------------------------------------------------------------------------------------------------------- encoding


def encode(parts: PromptParts) -> tuple[Message, ...]:
    """Parts to messages: one leading system message, then user and assistant in strict turns, a user last (C9).

    Pure, and a function of the kind, role and text of the parts alone. Corrections in the raw tail make no message:
    one may name a hidden field; those that bind stand in the dynamic tail (C10, S23).
    """
    turns = list(branch_messages(parts))
    for part in parts.dynamic_tail:
        _speak(turns, "user", part.text)
    if not turns or turns[-1].role != "user":
        turns.append(Message("user", CONTINUE))
    for part in parts.follow_up:
        _speak(turns, "assistant" if part.role == "narrator" else "user", part.text)
    return (system_message(parts.stable_prefix), *turns)


def system_message(stable_prefix: Sequence[Part]) -> Message:
    """The one system message that a stable prefix makes."""
    return Message("system", _GAP.join(part.text for part in stable_prefix if part.text))


def branch_messages(parts: PromptParts) -> tuple[Message, ...]:
    """The messages of the branch context alone; they may end with either role."""
    turns: list[Message] = []
    if parts.checkpoint is not None:
        _speak(turns, "user", parts.checkpoint.text)
    for part in parts.raw_tail:
        role = _ROLE_OF_NODE.get(part.role)
        if role is not None:
            _speak(turns, role, part.text)
    return tuple(turns)


def _speak(turns: list[Message], role: Role, text: str) -> None:
    """Append ``text`` so that roles stay in turns.

    What the player says twice running becomes one message. Two narrations running stay two, with the wish to go on
    between them: merging would change a message that the server has already read.
    """
    if not text:
        return
    if role == "assistant":
        if not turns:
            turns.append(Message("user", BEGIN))
        elif turns[-1].role == "assistant":
            turns.append(Message("user", CONTINUE))
        turns.append(Message(role, text))
    elif turns and turns[-1].role == role:
        turns[-1] = Message(role, turns[-1].content + _GAP + text)
    else:
        turns.append(Message(role, text))


def stable_prefix_hash(stable_prefix: Sequence[Part]) -> bytes:
    """SHA-256 of the bytes of the system message (C10)."""
    return hashlib.sha256(system_message(stable_prefix).content.encode("utf-8", "surrogatepass")).digest()


# ---------------------------------------------------------------------------------------------- parts of the history


def phrase_input(text: str, mode: str | None) -> str:
    """The player's input as the model reads it: ``[do] open the gate``. The text itself is untouched."""
    mark = MODE_MARKS.get(mode or "do", MODE_MARKS["do"])
    return f"{mark} {text}"


def node_part(node_id: int, role: NodeRole, text: str, mode: str | None = None) -> Part:
    """One node of the path, verbatim. A pure function of the node, so that a range of nodes is enough to keep."""
    shown = phrase_input(text, mode) if role == "player" and text else text
    return Part("node", shown, node_id=node_id, role=role)


def checkpoint_part(summary: str, source: str = "") -> Part:
    """The context checkpoint's summary, already in words, as the beginning of the branch context."""
    return Part("checkpoint", f"The story so far:\n{summary}", source=source)


# ------------------------------------------------------------------------------------------------------- stable prefix

NARRATION_RULES: Final = """\
You are the narrator of an interactive story. The player decides what their character does, says and feels; you tell \
what happens, how the world and its people answer, and you stop where the player must choose.
The player's messages begin with a mark. [do] is something their character attempts: tell how it goes. [say] is \
something their character says aloud: let others answer. [story] is story text by the player's own hand: take it as \
having happened and go on from it.
What the player attempts may fail. Nothing is true because the player says that it is, except under [story].
Write story text only: no headings, no lists of choices, no remarks about these instructions, no marks, no dice, no \
numbers of a game. Never write the player's next move.
A message may begin with notes about the story: memories, cards, the state of things, corrections, settled outcomes. \
They are for you. Keep to them, never quote them. Where they contradict earlier story text, the notes are right; \
corrections bind before everything else."""

LIMITS: Final = """\
The player's character can do what a person in their place could do with what they have. What they do not carry they \
cannot use; where they are not they cannot act; what they have not learned they do not know."""


SCHEMA_HEADING: Final = "What the state of the story holds, and how it may change when you are asked for changes:\n"


class FixedOutcome(Protocol):
    """A check that the runtime has decided: words alone, no number (T8)."""

    @property
    def skill(self) -> str: ...
    @property
    def difficulty(self) -> str: ...
    @property
    def outcome(self) -> str: ...


def stable_prefix(
    definition: Definition, *, persona: str | None = None, constant_cards: Sequence[Card] = (), schema: str = ""
) -> tuple[Part, ...]:
    """What every request of a campaign begins with; the same bytes while the definition is the same (C10).

    ``persona`` replaces the definition's where the player has edited it (C31). ``schema`` is the description of the
    fields that the model may see; a hidden field stands nowhere in it.
    """
    rules = [NARRATION_RULES]
    if definition.language:
        rules.append(f"Write in this language: {definition.language}.")
    if definition.instructions:
        rules.append(definition.instructions)
    who = definition.persona if persona is None else persona
    found = [
        Part("rules", "\n".join(rules), source="instructions"),
        Part("premise", _premise(definition), source="premise"),
        Part("persona", _persona(definition.player_name, who), source="persona"),
        Part("limits", "\n".join(text for text in (LIMITS, definition.limits) if text), source="limits"),
        *(Part("constant-card", card_text(card.name, card.text), card.name, "constant") for card in constant_cards),
        Part("schema", SCHEMA_HEADING + schema if schema else "", source="state"),
    ]
    return tuple(part for part in found if part.text)


def _premise(definition: Definition) -> str:
    title = f"The story is called {definition.title}." if definition.title else ""
    return "\n".join(text for text in (title, definition.premise) if text)


def _persona(name: str, persona: str) -> str:
    called = f"The player's character is called {name}." if name else ""
    return "\n".join(text for text in (called, persona) if text)


def card_text(name: str, text: str, kind: str = "") -> str:
    """A card as the model reads it."""
    return f"Card, {name}: {text}" if not kind else f"Card ({kind}), {name}: {text}"


# -------------------------------------------------------------------------------------------------------- dynamic tail

MID_SENTENCE: Final = (
    "Your last message broke off before its end. Go on exactly behind its last word, in mid-sentence where it stopped, "
    "without repeating any of it."
)


BEARING: Final[Mapping[str, str]] = {
    "canon": "which binds",
    "reference": "which informs",
    "inspiration": "which only colours",
}
"""What a kind of imported source asks of the narrator (C28)."""


FOR_SMALL: Final = (
    "Tell only what happens right after the message below, as story text in three to six short sentences. Stay in this "
    "place, with these people. Then stop."
)


def memory_part(text: str, source: str, why: str = "") -> Part:
    """A retrieved memory."""
    return Part("memory", f"Remembered from earlier in the story: {text}", source, why)


def card_part(name: str, text: str, why: str, kind: str = "") -> Part:
    """A card that triggered; ``why`` is the key that matched."""
    return Part("card", card_text(name, text, kind), name, why)


def knowledge_part(title: str, kind: str, text: str, why: str = "") -> Part:
    """A passage of imported knowledge, quoted with its kind: canon binds, reference informs, inspiration colours."""
    return Part(
        "knowledge", f"From {title} ({kind}), {BEARING[kind]}: {text}", title, f"{kind}, {why}" if why else kind
    )


def dynamic_tail(
    *,
    state: str = "",
    input: str = "",
    mode: str | None = None,
    memories: Sequence[Part] = (),
    cards: Sequence[Part] = (),
    knowledge: Sequence[Part] = (),
    corrections: Sequence[str] = (),
    note: str = "",
    outcomes: Sequence[FixedOutcome] = (),
    retry_note: str = "",
    is_cut_off: bool = False,
    is_retold: bool = False,
    is_for_small: bool = False,
) -> tuple[Part, ...]:
    """The tail of a narration request, in the order of ``TAIL_ORDER``, the current input last (C12).

    ``state`` is the projection that the model may see; for a retell (``is_retold``) that after the turn, and the
    outcomes stand as settled (S20). Without ``input`` the narrator goes on, where ``is_cut_off`` in mid-sentence (T7).
    ``is_for_small``: a small model has lost the rules by here, and is told the most needful of them again.
    """
    found = [*memories, *cards, *knowledge]
    if state:
        heading = "How things stand once this turn is told" if is_retold else "How things stand now"
        found.append(Part("state", f"{heading}:\n{state}", source="state"))
    if corrections:
        found.append(Part("correction", "Corrections, binding:\n" + _listed(corrections), source="player"))
    if note:
        found.append(Part("note", f"Author's note: {note}", source="note"))
    if outcomes:
        lines = [f"{each.skill} ({each.difficulty}): {each.outcome}" for each in outcomes]
        found.append(Part("outcome", "Already decided; tell it so, without naming it:\n" + _listed(lines), "checks"))
    if retry_note:
        found.append(Part("retry-note", f"For this telling: {retry_note}", source="player"))
    if is_for_small:
        found.append(Part("manner", FOR_SMALL, source="narrator"))
    found.append(input_part(input, mode, is_cut_off=is_cut_off))
    return tuple(found)


def input_part(text: str, mode: str | None, *, is_cut_off: bool = False) -> Part:
    """The current input, or the wish to go on where there is none."""
    if text:
        return Part("input", phrase_input(text, mode), source="player", why=mode or "do")
    return Part("input", MID_SENTENCE if is_cut_off else CONTINUE, source="player", why="continue")


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
