"""The door for what an OpenAI-compatible server sends: pydantic models of a chunk, and what chunks add up to.

Servers differ in the small print, so everything is optional and what is unknown is ignored; a value of the wrong shape
is an error and not a guess.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, field_validator

from narrator.narrators.port import ToolCall, Usage

_FINISHES: Final = {
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool",
    "function_call": "tool",
    "content_filter": "filtered",
    "safety": "filtered",
    "error": "broken",
    "abort": "broken",
    "cancelled": "broken",
}


class _Door(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Function(_Door):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _Call(_Door):
    index: int = 0
    id: str | None = None
    function: _Function | None = None


class _Message(_Door):
    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None

    @field_validator("content", mode="before")
    @classmethod
    def _join(cls, value: object) -> object:
        """Some servers send a list of parts; those of type text are the text."""
        if isinstance(value, list):
            return "".join(part.get("text") or "" for part in value if isinstance(part, dict))
        return value

    @field_validator("reasoning", "reasoning_content", mode="before")
    @classmethod
    def _is_any(cls, value: object) -> object:
        return value if value is None or isinstance(value, str) else json.dumps(value)


class _Choice(_Door):
    index: int = 0
    delta: _Message | None = None
    message: _Message | None = None
    finish_reason: str | None = None


class _Details(_Door):
    cached_tokens: int | None = None


class _Usage(_Door):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    prompt_cache_hit_tokens: int | None = None


class _Timings(_Door):
    cache_n: int | None = None


class _Progress(_Door):
    total: int = 0
    processed: int = 0


class Answer(_Door):
    """One chunk of a stream, or a whole completion: the two differ in ``delta`` and ``message`` alone."""

    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    timings: _Timings | None = None
    prompt_progress: _Progress | None = None
    error: Any = None


@dataclass
class _PartCall:
    name: str = ""
    arguments: str = ""
    call_id: str = ""


@dataclass
class Gathered:
    """What the chunks of one answer add up to. Owns the unfinished tool calls.

    ``finish`` is '' until the server gave a reason: stop, length, tool, filtered, broken.
    """

    finish: str = ""
    has_choice: bool = False
    has_reasoning: bool = False
    refusal: str = ""
    usage: Usage = field(default_factory=Usage)
    _calls: dict[int, _PartCall] = field(default_factory=dict)

    @property
    def has_begun(self) -> bool:
        """Whether a first token has come, of any kind."""
        return bool(self.has_reasoning or self.refusal or self._calls)

    def add(self, answer: Answer) -> str:
        """Take one chunk in; the text that it brought."""
        self._add_usage(answer)
        text = ""
        for choice in answer.choices or ():
            if choice.index != 0:
                continue
            self.has_choice = True
            said = choice.delta or choice.message
            if said is not None:
                text += said.content or ""
                self.has_reasoning |= bool(said.reasoning or said.reasoning_content)
                self.refusal += said.refusal or ""
                for call in said.tool_calls or ():
                    self._add_call(call)
            if choice.finish_reason:
                self.finish = _FINISHES.get(choice.finish_reason.lower(), "stop")
        return text

    def _add_usage(self, answer: Answer) -> None:
        if answer.usage is not None:
            details, hit = answer.usage.prompt_tokens_details, answer.usage.prompt_cache_hit_tokens
            cached = details.cached_tokens if details is not None and details.cached_tokens is not None else hit
            if cached is None:
                cached = self.usage.tokens_cached
            self.usage = Usage(answer.usage.prompt_tokens, answer.usage.completion_tokens, cached)
        if answer.timings is not None and answer.timings.cache_n is not None and self.usage.tokens_cached is None:
            self.usage = Usage(self.usage.tokens_in, self.usage.tokens_out, answer.timings.cache_n)

    def _add_call(self, call: _Call) -> None:
        part = self._calls.setdefault(call.index, _PartCall())
        part.call_id = part.call_id or call.id or ""
        if call.function is not None:
            part.name = part.name or call.function.name or ""
            arguments = call.function.arguments
            part.arguments += json.dumps(arguments) if isinstance(arguments, dict) else arguments or ""

    def calls(self) -> list[ToolCall]:
        """The tool calls, whole. Raises ``ValueError`` where the arguments are no object."""
        found = []
        for _, part in sorted(self._calls.items()):
            arguments = json.loads(part.arguments or "{}")
            if not isinstance(arguments, dict):
                raise ValueError("the arguments of a tool call are no object")  # noqa: TRY004 - as json.loads raises
            found.append(ToolCall(part.name, arguments, part.call_id))
        return found
