"""Long stories and models that remember: what the tests of the context engine stand on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from narrator.core.prompt import Message
from narrator.core.state import advance, dump
from narrator.core.tree import NewNode
from narrator.engine.story import Story
from narrator.narrators.port import Capabilities, Request
from narrator.narrators.tokens import count_bytes
from narrator.store import commit
from narrator.store.commit import Acceptance
from tests.fake_server import Answer, Exchange, give, refuse, say

EMPTY: dict[str, Any] = {"events": [], "choices": [], "facts": [], "conflicts": [], "goals": [], "mood": ""}


def narration(number: int, size: int = 200) -> str:
    """A narration that says which one it is, of about so many bytes."""
    told = f"Told {number}."
    line = 0
    while len(told) < size:
        line += 1
        told += f" Stone {number * 31 + line} lies in the grey rain."
    return told


def lengthen(story: Story, turns: int, *, size: int = 200, first: int = 1) -> list[int]:
    """So many turns below the head, in one transaction; the ids of their nodes."""
    state, before = story.state(), []
    nodes: list[NewNode] = []
    for number in range(first, first + turns):
        nodes.append(NewNode("player", f"I go {number}.", mode="do"))
        nodes.append(NewNode("narrator", narration(number, size), origin="generated"))
    for node in nodes:
        before.append(state)
        state = advance(state, node.role, ())
    write = Acceptance(story.head.id, tuple(nodes), story.position, state_at=lambda index: dump(before[index]))
    return commit.accept(story.store, write)


def small(window: int, **rest: Any) -> Capabilities:
    """A narrator with a small window."""
    return Capabilities(window, "configured", max_output_tokens=512, json_schema=True, model="fake", **rest)


def text_of(request: Request) -> str:
    """All that a request says."""
    return "\n".join(message.content for message in request.messages)


def keeps(*names: str) -> Callable[[Request], str]:
    """A compactor that keeps these names wherever it reads them, and one line besides."""

    def answer(request: Request) -> str:
        return json.dumps(summary_of(text_of(request), names))

    return answer


def summary_of(text: str, names: Sequence[str]) -> dict[str, Any]:
    facts = [{"text": f"There is {name}.", "certainty": "certain"} for name in names if name in text]
    return {**EMPTY, "events": ["They went on."], "facts": facts}


# ---------------------------------------------------------------------------------------- over a real socket


def in_bytes(body: dict[str, Any]) -> int:
    """The tokens of a request's messages and schema as we count them where nothing better is known: a byte each."""
    messages = [Message(each["role"], each["content"]) for each in body["messages"]]
    return count_bytes(messages) + len(schema_of(body).encode())


def schema_of(body: dict[str, Any]) -> str:
    """The schema that goes with a request, as JSON; '' for none."""
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    return json.dumps(schema) if schema else ""


def within(
    window: int,
    answer: Callable[[dict[str, Any]], Answer],
    refused: list[int],
    count: Callable[[dict[str, Any]], int] = in_bytes,
) -> Answer:
    """Answers as long as a request and the output that it asks for fit the window, and with the error of llama.cpp
    where they do not. ``count`` is the server's own count of a prompt."""

    async def serve(exchange: Exchange) -> None:
        body = exchange.request.json
        tokens = count(body) + int(body.get("max_tokens") or 0)
        if tokens > window:
            refused.append(tokens)
            error = {"code": 400, "message": "the request exceeds the available context size", "n_ctx": window}
            await refuse(400, {"error": {**error, "type": "exceed_context_size_error"}})(exchange)
            return
        await answer(body)(exchange)

    return serve


def said(body: dict[str, Any]) -> str:
    return "\n".join(each["content"] for each in body["messages"])


def summing_up(*names: str) -> Callable[[dict[str, Any]], Answer]:
    return lambda body: give(summary_of(said(body), names))


def telling(planted: dict[int, str], size: int) -> Callable[[dict[str, Any]], Answer]:
    """Narrations by number; some of them have a word planted in them."""
    count = 0

    def answer(body: dict[str, Any]) -> Answer:
        nonlocal count
        count += 1
        return say(narration(count, size) + (f" There is {planted[count]}." if count in planted else ""))

    return answer
