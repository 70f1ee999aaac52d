"""The port between the engine and whoever tells the story (T15).

One value goes in, ``Request``; text streams out. A model reads ``messages``; the scripted narrator reads ``scene``
alone. A narrator keeps nothing between requests that an answer depends on.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, Protocol, runtime_checkable

from narrator.core.campaign import Definition
from narrator.core.prompt import Message as Message
from narrator.core.state import State

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Purpose(StrEnum):
    """What a request is for; goes out in the header ``X-Narrator-Purpose``."""

    NARRATE = "narrate"
    CHECK = "check"
    EXTRACT = "extract"
    COMPACT = "compact"
    MEMORY = "memory"
    SUGGEST = "suggest"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A check that the runtime has already decided: qualitative alone, no number (T8)."""

    skill: str
    difficulty: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Scene:
    """The facts behind the messages, for a narrator that is no model.

    ``chain_hash`` is that of the node narrated upon, ``ordinal`` how many narrator children were ever accepted there
    (deleted ones included): together with ``seed`` they make a retry differ and a restart not (T9, T18).
    ``input`` is '' and ``mode`` None where the turn has no input (continue). ``narration`` is the finished text, for
    requests made after it (extract). ``is_retold``: ``state`` is the one after the turn, which is told again (S20).
    """

    definition: Definition
    state: State
    seed: int
    chain_hash: bytes
    ordinal: int
    input: str = ""
    mode: str | None = None
    outcomes: tuple[Outcome, ...] = ()
    narration: str = ""
    is_retold: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the model may call; ``parameters`` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One request of any purpose. ``take`` offsets a configured sampler seed (T16).

    ``on_wait`` hears of each wait before a request that wants a whole answer is tried again (T12); a stream says so
    itself.
    """

    purpose: Purpose
    messages: tuple[Message, ...]
    scene: Scene
    max_output_tokens: int
    schema: Mapping[str, Any] | None = None
    tools: tuple[Tool, ...] = ()
    sampling: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    take: int = 0
    on_wait: Callable[[Waiting], None] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server reports them; None where it does not say."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of story text."""

    text: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request is tried again after ``seconds`` because of ``reason`` (T12)."""

    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Before the first word the engine has read ``done`` tokens of a prompt of ``total``, what it remembered among
    them.
    """

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model called a tool that was offered. ``arguments`` is the parsed object."""

    name: str
    arguments: Mapping[str, Any]
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of a stream: ``stop``, ``length``, ``tool`` or ``cut`` (T6: cut before a marker or repetition)."""

    reason: str
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()


Chunk = Delta | Waiting | Reading | ToolCall | Finish


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole answer, for the purposes that want JSON, or a call of a tool that was offered."""

    text: str
    finish: Finish
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What is known of a narrator. ``window`` in tokens; its source is configured, reported, built in or assumed (C3).

    ``host`` is '' where no word leaves the machine's own process; ``counting`` is exact, bytes or measured (C4).
    ``reads_messages`` is False for a narrator that reads the scene alone; ``proposes_as`` is the source of its changes
    of state (W3): model, or storylet. ``sampling`` is what is sent with every request (S25). ``is_small``: the model is
    too small to keep much in mind, and gets prompts that suit that.
    """

    window: int
    window_source: Literal["configured", "reported", "built in", "assumed"]
    max_output_tokens: int | None = None
    tools: bool = False
    json_schema: bool = False
    grammar: bool = False
    host: str = ""
    model: str = ""
    counting: str = "bytes"
    reads_messages: bool = True
    proposes_as: Literal["model", "storylet"] = "model"
    sampling: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    is_small: bool = False


@runtime_checkable
class CountsAhead(Protocol):
    """What a narrator may do besides: have texts counted by a tokenizer that answers over the wire (C4)."""

    async def count_ahead(self, messages: Sequence[Message]) -> None:
        """Have these counted, so that ``count`` is exact for them from now on. Raises nothing."""
        ...


@runtime_checkable
class IsElsewhere(Protocol):
    """What a narrator may know besides: the host that gets the words, and whether that is this machine (T16)."""

    host: str
    is_loopback: bool


@runtime_checkable
class Loads(Protocol):
    """What a narrator may be besides: one that takes a while to begin, before its first request (U8)."""

    @property
    def is_loaded(self) -> bool:
        """Whether that is behind it."""
        ...


@runtime_checkable
class HasRemark(Protocol):
    """What a narrator may know of itself that the player should know before it tells."""

    async def remark(self) -> str:
        """A sentence or two, or ''. Raises nothing, and asks nobody outside of this machine."""
        ...


@runtime_checkable
class Narrator(Protocol):
    """Who tells the story. ``name`` is the player's name for it, as in config.toml."""

    name: str

    async def capabilities(self) -> Capabilities:
        """Ask once, cache; never raises for an unreachable server (the window is then assumed)."""
        ...

    def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """Narration, as an async generator that ends with one ``Finish``. Raises ``NarrationFailed``.

        Closing the generator (``aclose``) or cancelling the task ends the request at once (T3).
        """
        ...

    async def complete(self, request: Request) -> Completion:
        """A whole answer to a request with a schema. Raises ``NarrationFailed``."""
        ...

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of these messages, never fewer than the model counts (C4)."""
        ...

    async def aclose(self) -> None:
        """Free connections and children."""
        ...


async def whole(stream: AsyncGenerator[Chunk, None], request: Request) -> Completion:
    """A stream read to its end, as one answer. ``on_wait`` hears of waits; raises what the stream raises."""
    text: list[str] = []
    calls: list[ToolCall] = []
    finish = Finish("stop")
    async with aclosing(stream) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, Delta):
                text.append(chunk.text)
            elif isinstance(chunk, ToolCall):
                calls.append(chunk)
            elif isinstance(chunk, Finish):
                finish = chunk
            elif isinstance(chunk, Waiting) and request.on_wait is not None:
                request.on_wait(chunk)
    return Completion("".join(text), finish, tuple(calls))
