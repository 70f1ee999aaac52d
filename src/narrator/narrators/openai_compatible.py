"""A narrator behind any OpenAI-compatible server (T16): OpenAI, OpenRouter, Ollama, llama.cpp, KoboldCpp, vLLM …

The SDK carries the request; the answer is read here, because a story wants more of a stream than the SDK looks at: an
early end is a failure, silence is one too whatever the server sends to keep the line open, a body has a bound, and
nothing of a failed request rides along in an error, its headers least of all (T11). The only importer of openai.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

from narrator.core.budget import ASSUMED_WINDOW
from narrator.core.errors import BadValue, ContextTooLong
from narrator.core.prompt import Message
from narrator.narrators import failures, tokens
from narrator.narrators.answers import Answer
from narrator.narrators.asking import RESERVED, request_body
from narrator.narrators.failures import Failure, Server
from narrator.narrators.port import (
    Capabilities,
    Chunk,
    Completion,
    Reading,
    Request,
    Usage,
    Waiting,
    whole,
)
from narrator.narrators.reading import read_answers
from narrator.narrators.secret import Secret
from narrator.narrators.server_tokens import ServerTokenizer
from narrator.narrators.telling import Telling
from narrator.narrators.transport import LIBRARIES, Broken, fetch_small, make_http
from narrator.narrators.windows import ask_window, built_in_window

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response
    from openai import AsyncOpenAI

LONGEST_WAIT: Final = 30.0
_ASK_SECONDS: Final = 3.0
_LOOPBACK: Final = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")
_RESERVED: Final = frozenset(
    {"model", "messages", "stream", "stream_options", "tools", "tool_choice", "response_format"}
)
_TOOL_HOSTS: Final = ("api.openai.com", "openrouter.ai")
_WITHOUT_TOKENIZER: Final = _TOOL_HOSTS

Choice = Literal["auto", "on", "off"]


class OpenAICompatible:
    """One model of one server. Owns the HTTP client, made at the first request in the loop that makes it.

    ``timeout`` is in seconds, to the first token and between tokens; ``backoff`` is the first wait before a retry and
    doubles. ``table_folders`` are where tables of tokens may lie. ``host`` is the host (and port) that gets the words,
    ``is_loopback`` whether that is this machine; ``called`` is what messages call it where that is not the host.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        model: str,
        api_key: Secret | None = None,
        context_window: int | None = None,
        max_output_tokens: int | None = None,
        counting: Literal["auto", "exact", "bytes", "measured"] = "auto",
        tools: Choice = "auto",
        json_schema: Choice = "auto",
        timeout: float = 60,
        retries: int = 2,
        sampling: Mapping[str, Any] | None = None,
        offline: bool = False,
        backoff: float = 0.5,
        table_folders: Sequence[Path] = (),
        called: str = "",
    ) -> None:
        self.name = name
        self.base_url = base_url.rstrip("/")
        self.model = model
        place = urlsplit(self.base_url)
        if place.scheme not in ("http", "https") or not place.hostname:
            raise BadValue(f"narrators.{name}.base_url: an address that begins with http:// or https:// is needed.")
        self.host = place.hostname + (f":{place.port}" if place.port else "")
        self.is_loopback = _LOOPBACK.fullmatch(place.hostname) is not None
        self._key = api_key
        self._window = context_window
        self._max_output = max_output_tokens
        self._counting = counting
        self._tools = tools == "on" or (tools == "auto" and place.hostname in _TOOL_HOSTS)
        self._schema = json_schema != "off"
        self._may_drop_schema = json_schema == "auto"
        self._timeout = timeout
        self._retries = retries
        self._sampling = dict(sampling or {})
        if clash := RESERVED.intersection(self._sampling):
            raise BadValue(f"narrators.{name}.sampling.{min(clash)} is not a sampler setting.")
        self._offline = offline
        self._backoff = backoff
        self._folders = tuple(table_folders)
        self._server = Server(name, called or self.host, model, api_key.scrub if api_key else str, api_key is not None)
        self._capabilities: Capabilities | None = None
        self._asks_again = True
        self._client: AsyncOpenAI | None = None
        self._http: AsyncClient | None = None
        self._measure = tokens.Measure() if counting == "measured" else None
        self._count: Callable[[Sequence[Message]], int] = (
            tokens.count_bytes if self._measure is None else self._measure.count
        )
        self._is_exact = False
        self._tokenizer: ServerTokenizer | None = None

    def __repr__(self) -> str:
        return f"OpenAICompatible({self.name!r}, base_url={self._server.scrub(self.base_url)!r}, model={self.model!r})"

    async def capabilities(self) -> Capabilities:
        """What is known of the model. Asks the server once, unless told the window; unreachable, it is assumed (C3).

        An answer that had to be assumed because nobody answered is asked for again the next time; one that the server
        did not know, once more when it has told: some know a model's window only when it is loaded.
        """
        if self._capabilities is not None:
            return self._capabilities
        await self._prepare_count()
        window, source, is_final = self._window, "configured", True
        if window is None and self.host == "api.openai.com":
            window, source = built_in_window(self.model), "built in"
        if window is None:
            window, is_final = await self._ask()
            source = "reported"
        if window is None:
            window, source = ASSUMED_WINDOW, "assumed"
        found = Capabilities(
            window=window,
            window_source=source,  # type: ignore[arg-type]
            max_output_tokens=self._max_output,
            tools=self._tools,
            json_schema=self._schema,
            host=self.host,
            model=self.model,
            counting="measured" if self._measure is not None else "exact" if self._is_exact else "bytes",
            sampling=self._sampling,
        )
        if is_final:
            self._capabilities = found
        return found

    async def _ask(self) -> tuple[int | None, bool]:
        """The window as the server reports it, and whether a server answered at all."""
        has_answered = False

        async def fetch(address: str) -> Any:
            nonlocal has_answered
            answered, value = await self._ask_json(address)
            has_answered = has_answered or answered
            return value

        if not self._offline or self.is_loopback:
            await self._connect()
        try:
            async with asyncio.timeout(_ASK_SECONDS):
                return await ask_window(fetch, self.base_url, self.model), has_answered
        except TimeoutError:
            return None, False

    async def _ask_json(self, address: str, body: object = None) -> tuple[bool, Any]:
        """Whether anything answered there, and the JSON that it said, or None."""
        if self._offline and not self.is_loopback:
            return False, None
        await self._connect()
        assert self._http is not None
        try:
            status, answer = await fetch_small(self._http, address, body)
            return True, json.loads(answer) if status == 200 else None
        except (ValueError, RecursionError):
            return True, None
        except OSError:
            return False, None

    async def ask(self, path: str, body: object = None) -> Any:
        """The JSON that a path below the server's root answers, to a body where there is one; None for no answer."""
        return (await self._ask_json(self.base_url.removesuffix("/v1") + path, body))[1]

    async def _prepare_count(self) -> None:
        """Load the model's own table where it may be trusted to be the model's, and is on disk (C4)."""
        if self._is_exact or self._counting not in ("auto", "exact"):
            return
        is_theirs = self.host in ("api.openai.com",) or self.model.startswith("openai/")
        table = tokens.table_of(self.model) if is_theirs or self._counting == "exact" else None
        encoding = None if table is None else await asyncio.to_thread(tokens.load_encoding, table, self._folders)
        if encoding is not None:
            self._count, self._is_exact = tokens.exact_counter(encoding), True

    async def count_ahead(self, messages: Sequence[Message]) -> None:
        """Have the server's own tokenizer count these, where it has one, so that ``count`` is exact for them (C4).

        Worth its requests only where ``count`` says that a prompt would not fit. The texts go to the host that gets
        the prompt. Never raises for a server that does not answer; texts that it did not count stay bytes.
        """
        if self._counting not in ("auto", "exact") or self._is_exact or self.host in _WITHOUT_TOKENIZER:
            return
        if self._tokenizer is None:
            self._tokenizer = ServerTokenizer(self.ask, self.model)
            self._count = self._tokenizer.count
        try:
            async with asyncio.timeout(self._timeout):
                await self._tokenizer.learn(messages)
        except TimeoutError:
            return
        if self._tokenizer.is_there and self._capabilities is not None:
            self._capabilities = replace(self._capabilities, counting="exact")

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of these messages: exact, one a byte, or measured, as ``capabilities().counting`` says (C4)."""
        return self._count(messages)

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """The answer as it comes; for narration what is no story text is cut away (T6).

        A failure before the first token that may pass is tried again, each time after a ``Waiting`` (T12). Raises
        ``NarrationFailed`` and ``ContextTooLong``.
        """
        with_schema, attempt = self._schema, 0
        while True:
            telling, failure = Telling(self._server, request, has_tools=self._tools), None
            async with aclosing(self._attempt(request, telling, with_schema)) as answers:
                try:
                    async for answer in answers:
                        if (read := answer.prompt_progress) is not None:
                            yield Reading(read.processed, read.total)
                        for delta in telling.take(answer):
                            yield delta
                        if telling.is_over:
                            break
                except Broken as broken:
                    failure = broken.failure
            last: list[Chunk] = []
            if failure is None:
                last, failure = telling.end()
            for chunk in last:
                yield chunk
            if failure is None:
                self._learn(request, telling.gathered.usage)
                return
            if with_schema and self._is_schema_refused(request, failure):
                with_schema = self._schema = False
                if self._capabilities is not None:
                    self._capabilities = replace(self._capabilities, json_schema=False)
                continue
            wait = max(failure.wait or 0.0, self._backoff * 2**attempt)
            if telling.has_begun or not failure.is_transient or attempt >= self._retries or wait > LONGEST_WAIT:
                if isinstance(failure.error, ContextTooLong):
                    self._learn_refusal(request)
                raise failure.error
            attempt += 1
            yield Waiting(wait, failure.error.message)
            await asyncio.sleep(wait)

    async def complete(self, request: Request) -> Completion:
        """The whole answer to a request with a schema. Raises as ``stream`` does; ``on_wait`` hears of waits."""
        return await whole(self.stream(request), request)

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client, self._http = self._client, None, None
        if client is not None:
            await client.close()

    def _is_schema_refused(self, request: Request, failure: Failure) -> bool:
        """Whether a server that was not known to take a schema has now said that it does not."""
        said = failure.error.message.lower()
        named = any(word in said for word in ("response_format", "json_schema", "schema", "grammar"))
        return (
            request.schema is not None and self._may_drop_schema and failure.error.code == "narrator-refused" and named
        )

    def _learn(self, request: Request, usage: Usage) -> None:
        """The model has answered, and so is loaded."""
        if self._asks_again and self._capabilities is not None and self._capabilities.window_source == "assumed":
            self._capabilities, self._asks_again = None, False
        if self._measure is not None and usage.tokens_in:
            self._measure.learn(usage.tokens_in, tokens.count_bytes(request.messages))

    def _learn_refusal(self, request: Request) -> None:
        """A prompt was too long for the window: it has at least the tokens that did not fit."""
        if self._measure is None or self._measure.ratio is None:
            return
        if self._capabilities is not None:
            least = self._capabilities.window - request.max_output_tokens
            self._measure.learn(least, tokens.count_bytes(request.messages))
        self._measure.raise_ratio()

    def _body(self, request: Request, with_schema: bool) -> dict[str, Any]:
        limit = "max_completion_tokens" if self.host == "api.openai.com" else "max_tokens"
        return request_body(
            request, self.model, self._sampling, limit=limit, with_schema=with_schema, with_tools=self._tools
        )

    async def _attempt(self, request: Request, telling: Telling, with_schema: bool) -> AsyncGenerator[Answer, None]:
        """One request on the wire: the chunks of its answer. Raises ``Broken``, outside of every other exception."""
        failure: Failure | None = None
        try:
            self._require_online()
            async with AsyncExitStack() as stack:
                client = await self._connect()
                async with asyncio.timeout(self._timeout):
                    response = await self._open(client, request, with_schema)
                stack.push_async_callback(response.aclose)
                async with aclosing(read_answers(self._server, response, telling, self._timeout)) as answers:
                    async for answer in answers:
                        yield answer
        except Broken as broken:
            failure = broken.failure
        except TimeoutError:
            failure = failures.explain_silence(self._server, self._timeout, has_begun=telling.has_begun)
        except Exception as error:
            if not isinstance(error, OSError) and type(error).__module__.partition(".")[0] not in LIBRARIES:
                raise
            failure = failures.explain_connection(self._server, error, has_begun=telling.has_begun)
        # After its reason to finish an answer is whole, whatever the connection does then.
        if failure is not None and not telling.is_finished:
            raise Broken(failure)

    def _require_online(self) -> None:
        if self._offline and not self.is_loopback:
            hint = "Set offline = false in config.toml, or choose a narrator on this machine."
            raise Broken(failures.failed("offline", f"{self.host} is not asked: offline is on.", hint))

    async def _open(self, client: AsyncOpenAI, request: Request, with_schema: bool) -> Response:
        """Send the request; the answer with its body still to come. A status that is no success is ``Broken``."""
        from openai import AsyncStream

        stream = await client.post(
            "/chat/completions",
            cast_to=object,
            body=self._body(request, with_schema),
            options={"headers": {"X-Narrator-Purpose": request.purpose.value}},
            stream=True,
            stream_cls=AsyncStream[object],
        )
        return stream.response

    async def _connect(self) -> AsyncOpenAI:
        """The client, made when first needed, in a thread: the SDK and the certificates take a second."""
        if self._client is None:
            http, client = await asyncio.to_thread(self._make_clients)
            if self._client is None:
                self._http, self._client = http, client
        return self._client

    def _make_clients(self) -> tuple[AsyncClient, AsyncOpenAI]:
        """The HTTP client, and above it the SDK as a carrier alone: it retries nothing, and holds no key."""
        from openai import AsyncOpenAI

        http = make_http(self._server, self._key, self._timeout, is_loopback=self.is_loopback)
        client = AsyncOpenAI(
            api_key="none",
            base_url=self.base_url,
            timeout=None,
            max_retries=0,
            default_headers={"Accept-Encoding": "identity", "User-Agent": "narrator"},
            http_client=http,
        )
        return http, client
