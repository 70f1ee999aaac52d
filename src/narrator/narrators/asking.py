"""The JSON body of a request to an OpenAI-compatible server; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from narrator.narrators.port import Request, Tool

RESERVED: Final = frozenset(
    {"model", "messages", "stream", "stream_options", "tools", "tool_choice", "response_format"}
)
"""What a sampler setting may not be called: it would replace the request."""


def request_body(
    request: Request,
    model: str,
    sampling: Mapping[str, Any],
    *,
    limit: str,
    with_schema: bool,
    with_tools: bool,
) -> dict[str, Any]:
    """The body. Sampler settings go as they stand, those of the request before the configured ones, an integer seed
    offset by the take so that takes differ and each can be made again (T16). ``limit`` is what this server calls the
    largest number of tokens to answer.
    """
    settings = {**sampling, **request.sampling}
    seed = settings.get("seed")
    if isinstance(seed, int) and not isinstance(seed, bool):
        settings["seed"] = seed + request.take
    body: dict[str, Any] = {
        **settings,
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        limit: request.max_output_tokens,
    }
    if request.tools and with_tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.schema is not None and with_schema:
        schema = {"name": request.purpose.value, "schema": _plain(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": _plain(tool.parameters)}
    return {"type": "function", "function": function}


def _plain(value: Any) -> Any:
    """A JSON value out of read-only views."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
