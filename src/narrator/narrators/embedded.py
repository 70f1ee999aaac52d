"""A narrator inside of narrator: llama.cpp with any GGUF file, in a child process of ours (T17).

The engine speaks the same protocol as any server, on this machine's own loopback and behind a random secret; so this
holds an ``OpenAICompatible`` and adds what an engine of one's own allows: exact counts with the model's own template,
and an end at any moment. A stream that is closed while it tells stops the engine by itself. While a prompt is still
being read the engine heeds nothing, so then the child is killed; the next request starts another.
"""

from __future__ import annotations

import asyncio
import importlib.util
import math
import os
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from narrator.core.budget import ASSUMED_WINDOW
from narrator.core.errors import NarrationFailed, NarratorError
from narrator.core.prompt import Message
from narrator.narrators import engine_process, gguf, tokens
from narrator.narrators.bounds import bounded
from narrator.narrators.engine_process import EngineProcess
from narrator.narrators.openai_compatible import OpenAICompatible
from narrator.narrators.port import Capabilities, Chunk, Completion, Delta, Finish, Purpose, Request, whole
from narrator.narrators.secret import Secret
from narrator.narrators.server_tokens import ServerTokenizer

_ASIDE, _UNSUMMED, _TOLD = range(3)
"""Lines of prompts that the engine remembers, each beside the others (C11): memories and summaries; questions about a
turn that leave the summary of the story out (C30); narrations, and all that goes on where they end. The last is the one
that the engine forgets last."""
_LINE: Final = "id_slot"
_MORE_CELLS: Final = 1.75
"""Room for what is remembered of all lines, over the window."""
_PROGRESS: Final = {"return_progress": True}
"""Have the engine tell while it reads a prompt, so that a long one is no silence."""
_SAMPLING_FOR_SMALL: Final = {"temperature": 0.7, "repeat_penalty": 1.1}


def threads() -> int:
    """How many threads generate: one core is left free, since one busy core would hold up all others."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores - 1)


class EmbeddedNarrator:
    """One model file. Owns the child process, started at the first request, and the client that asks it.

    ``window`` in tokens, None for the model's own up to ``ASSUMED_WINDOW``; ``timeout`` in seconds without a sign of
    life; ``memory`` bounds the child's address space, in bytes.
    """

    def __init__(
        self,
        name: str,
        *,
        model_path: Path,
        window: int | None = None,
        max_output_tokens: int | None = None,
        timeout: float = 60,
        sampling: Mapping[str, Any] | None = None,
        memory: int | None = None,
    ) -> None:
        self.name = name
        self.model_path = model_path
        self._window = window
        self._max_output = max_output_tokens
        self._timeout = timeout
        self._own_sampling = sampling
        self._memory = memory
        self._model: gguf.Model | None = None
        self._engine: EngineProcess | None = None
        self._client: OpenAICompatible | None = None
        self._tokenizer: ServerTokenizer | None = None
        self._frames: dict[str, int] = {}
        self._turn = asyncio.Lock()
        self._last_told: tuple[Message, ...] = ()

    def __repr__(self) -> str:
        return f"EmbeddedNarrator({self.name!r}, model_path={str(self.model_path)!r})"

    @property
    def engine_pid(self) -> int | None:
        """The process that the engine runs in, or None."""
        return self._engine.pid if self._engine is not None and self._engine.is_alive else None

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory, or in the making."""
        return self._engine is not None and self._engine.is_alive

    # ------------------------------------------------------------------------------------------------------- the engine

    def _look(self) -> gguf.Model:
        """What the file says of itself. Raises ``NarrationFailed`` where it is no model."""
        if self._model is None:
            try:
                self._model = gguf.read_model(self.model_path)
            except NarratorError as error:
                raise NarrationFailed("narrator-unreachable", error.message, error.hint) from None
        return self._model

    def _window_of(self, model: gguf.Model) -> int:
        return self._window or min(model.window or ASSUMED_WINDOW, ASSUMED_WINDOW)

    def _sampling(self, model: gguf.Model) -> dict[str, Any]:
        return {**(_SAMPLING_FOR_SMALL if model.is_small else {}), **(self._own_sampling or {})}

    async def _ready(self) -> OpenAICompatible:
        """The client of a running engine; one that has ended is started anew. Raises ``NarrationFailed``."""
        if self._client is not None and self._engine is not None and self._engine.is_alive:
            return self._client
        await self._put_away()
        model = await asyncio.to_thread(self._look)
        secret = secrets.token_urlsafe(32)
        window = self._window_of(model)
        orders = {
            "model_path": str(self.model_path),
            "cells": int(window * _MORE_CELLS),
            "lines": _TOLD + 1,
            "threads": threads(),
            "secret": secret,
            "memory": self._memory,
        }
        self._engine = await engine_process.start(self.name, orders)
        self._client = OpenAICompatible(
            self.name,
            base_url=f"{self._engine.address}/v1",
            model=self.model_path.stem,
            api_key=Secret(secret),
            context_window=window,
            max_output_tokens=self._max_output,
            counting="bytes",
            tools="off",
            json_schema="on",
            timeout=self._timeout,
            retries=0,
            sampling={**self._sampling(model), **_PROGRESS},
            called=f"the engine of “{self.name}”",
        )
        return self._client

    async def _put_away(self) -> None:
        """End what there is of engine and client."""
        engine, self._engine = self._engine, None
        client, self._client = self._client, None
        if engine is not None:
            engine.kill()
            await engine.ended()
        if client is not None:
            await client.aclose()

    # --------------------------------------------------------------------------------------------------------- the port

    async def capabilities(self) -> Capabilities:
        """What the file says of the model. The engine is not needed for that; without a file all is assumed."""
        try:
            model = await asyncio.to_thread(self._look)
        except NarrationFailed:
            return Capabilities(ASSUMED_WINDOW, "assumed", self._max_output, model=self.model_path.stem)
        return Capabilities(
            window=self._window_of(model),
            window_source="configured" if self._window is not None else "reported",
            max_output_tokens=self._max_output,
            json_schema=True,
            grammar=True,
            model=self.model_path.stem,
            counting="exact",
            sampling=self._sampling(model),
            is_small=model.is_small,
        )

    async def remark(self) -> str:
        """That the model is small, or why it cannot tell (T17)."""
        if importlib.util.find_spec("xllamacpp") is None:
            missing = engine_process.not_installed(self.name)
            return f"{missing.message} {missing.hint}"
        try:
            model = await asyncio.to_thread(self._look)
        except NarrationFailed as error:
            return f"{error.message} {error.hint}"
        if not model.is_small:
            return ""
        return (
            f"“{self.name}” is a small model ({model.parameters / 1e6:,.0f} million parameters): it writes fluently and"
            " loses the thread. A larger one tells better."
        )

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """The answer as it comes. Closed before the first word, the engine is killed: it would read on (T17)."""
        async with self._turn:
            client = await self._ready()
            engine, has_begun = self._engine, False
            async with aclosing(client.stream(self.in_line(request))) as chunks:
                try:
                    async for chunk in chunks:
                        has_begun = has_begun or isinstance(chunk, Delta | Finish)
                        yield chunk
                except (asyncio.CancelledError, GeneratorExit):
                    if not has_begun and engine is not None:
                        engine.kill()
                    raise

    def in_line(self, request: Request) -> Request:
        """The request as the engine gets it: with the line of prompts that it goes on with, on which no answer hangs,
        and for a small model with a schema that an answer ends within. One that has its line stays as it is.
        """
        if _LINE in request.sampling:
            return request
        line = _ASIDE if request.purpose in (Purpose.MEMORY, Purpose.COMPACT) else _TOLD
        if request.purpose is Purpose.NARRATE:
            self._last_told = request.messages
        elif line == _TOLD and len(self._last_told) > 2 and request.messages[:2] != self._last_told[:2]:
            line = _UNSUMMED
        schema = request.schema
        if schema is not None and self._model is not None and self._model.is_small:
            schema = bounded(schema, request.max_output_tokens)
        return replace(request, schema=schema, sampling={**request.sampling, _LINE: line})

    async def complete(self, request: Request) -> Completion:
        """The whole answer to a request with a schema; the engine can form no other."""
        return await whole(self.stream(request), request)

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens: exact for what was counted ahead, one a byte for the rest (C4)."""
        return tokens.count_bytes(messages) if self._tokenizer is None else self._tokenizer.count(messages)

    async def count_ahead(self, messages: Sequence[Message]) -> None:
        """Have the model's own tokenizer count these, with the frame that its template puts around them (C4)."""
        try:
            async with self._turn:
                client = await self._ready()
                if self._tokenizer is None:
                    frames = await self._measure_frames(client)
                    self._tokenizer = ServerTokenizer(self._ask, self.model_path.stem, frames)
                await self._tokenizer.learn(messages)
        except NarrationFailed:
            return

    async def _ask(self, path: str, body: object) -> Any:
        return await self._client.ask(path, body) if self._client is not None else None

    async def _measure_frames(self, client: OpenAICompatible) -> dict[str, int]:
        """Tokens that the template adds around one message of each role, for a system message with all that begins
        and ends a prompt. Templates treat the two who talk differently, but they take turns: each counts half of both.

        A template that has no place for them leaves one token a byte.
        """
        talk = [{"role": "system", "content": "a"}, {"role": "user", "content": "a"}]
        more = [*talk, {"role": "assistant", "content": "a"}, {"role": "user", "content": "a"}]
        short, long = await self._size_of(client, talk), await self._size_of(client, more)
        if short is None or long is None or long <= short:
            return {}
        half = math.ceil((long - short) / 2)
        return {"system": short, "user": half, "assistant": half}

    async def _size_of(self, client: OpenAICompatible, messages: Sequence[Mapping[str, str]]) -> int | None:
        """Tokens of these messages in the model's template."""
        templated = await client.ask("/apply-template", {"messages": list(messages)})
        prompt = templated.get("prompt") if isinstance(templated, dict) else None
        if not isinstance(prompt, str):
            return None
        found = await client.ask("/tokenize", {"content": prompt, "add_special": True, "parse_special": True})
        listed = found.get("tokens") if isinstance(found, dict) else None
        return len(listed) if isinstance(listed, list) else None

    async def tokens_of(self, messages: Sequence[Message]) -> int | None:
        """Tokens of these messages as they are in the model's template; None where it has no place for them."""
        client = await self._ready()
        return await self._size_of(client, [{"role": each.role, "content": each.content} for each in messages])

    async def aclose(self) -> None:
        """End the engine, whatever it does."""
        if self._engine is not None:
            self._engine.kill()
        async with self._turn:
            await self._put_away()
