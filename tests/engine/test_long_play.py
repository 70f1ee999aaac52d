"""Five hundred turns in a window of 6,144 tokens, against servers that refuse whatever does not fit (C4, C8, C11, C18).

One server counts a byte as a token, as we do where nothing better is known. The others count with the tokenizer of a
real model, of the text that a chat template makes of the messages; we count bytes, or ask the server.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from narrator.config import ContextSettings, Settings
from narrator.engine.commands import parse_line
from narrator.engine.session import Session
from narrator.narrators.openai_compatible import OpenAICompatible
from tests.engine.long_stories import in_bytes, said, schema_of, summary_of, within
from tests.engine.playing import make
from tests.fake_server import Answer, Exchange, FakeServer, give, refuse, say

WINDOW = 6144
TURNS = 500
KEPT_UP_EVERY = 4
NAMES = ("Ottoline", "渡し守のタロ")
DEFINITION = """
[campaign]
id = "ferry"
title = "The Ferry"
opening = "Rain falls on the ferry. 雨が降る。"
[state.player.nerve]
type = "number"
min = 0
max = 9
initial = 5
bands = [[0, 6, "wary"], [7, 9, "steady"]]
[[cards]]
name = "Bell"
keys = ["bell"]
text = "The bell under the water rings before a death."
sticky = 1
cooldown = 3
[[cards]]
name = "Heron"
keys = ["heron", "鷺"]
text = "The heron is the ferryman's sister, they say, and nobody laughs."
"""


def narrated(number: int) -> str:
    """Narrations in several scripts; names are planted in the third, words that cards wait for now and then."""
    told = f"Told {number}. The grey river goes by — naïve, £{number}, 🜁 — and the ferryman says “nothing”. "
    told += f"Stone {number * 31} lies in the rain. 船は{number}度目に揺れた。Паром скрипит на волнах."
    told += f" There is {NAMES[0]}, there is {NAMES[1]}." if number == 3 else ""
    return told + (" A bell rings." if number % 11 == 0 else "") + (" A heron waits." if number % 17 == 0 else "")


@cache
def _tokenizer() -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    folder = Path(pytest.importorskip("wordllama").__file__).parent
    return tokenizers.Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))


def real_tokens(text: str) -> int:
    return len(_tokenizer().encode(text, add_special_tokens=False).ids)


def in_real_tokens(body: dict[str, Any]) -> int:
    """As a server counts: what the chat template makes of the messages, its marks in pieces, and the schema."""
    turns = [f"<|im_start|>{each['role']}\n{each['content']}<|im_end|>\n" for each in body["messages"]]
    return 1 + real_tokens("".join(turns) + "<|im_start|>assistant\n") + real_tokens(schema_of(body))


async def tokenize(exchange: Exchange) -> None:
    """A server's own address for counting."""
    tokens = real_tokens(exchange.request.json["content"])
    await refuse(200, {"tokens": list(range(tokens))})(exchange)


class Server:
    """What the fake server answers. Owns the count of what it told."""

    def __init__(self) -> None:
        self.told = 0
        self.changed = 0

    def narrate(self, body: dict[str, Any]) -> Answer:
        self.told += 1
        return say(narrated(self.told))

    def extract(self, body: dict[str, Any]) -> Answer:
        self.changed += 1
        value = 1 if self.changed % 8 < 4 else -1
        return give({"changes": [{"op": "add", "path": "player.nerve", "value": value, "why": "so"}]})

    def compact(self, body: dict[str, Any]) -> Answer:
        return give(summary_of(said(body), NAMES))

    def remember(self, body: dict[str, Any]) -> Answer:
        return give({"memory": f"They passed stone {said(body).count('Stone')} in the rain."})


async def play(folder: Path, server: FakeServer, count: Callable[[dict[str, Any]], int]) -> list[int]:
    """All turns, none of them refused; what the server refused is what comes back."""
    refused: list[int] = []
    answers = Server()
    for purpose, answer in (
        ("narrate", answers.narrate),
        ("extract", answers.extract),
        ("compact", answers.compact),
        ("memory", answers.remember),
    ):
        server.answer(purpose, within(WINDOW, answer, refused, count))
    narrator = OpenAICompatible(
        "small", base_url=server.base_url, model="fake", context_window=WINDOW, max_output_tokens=300, retries=0
    )
    settings = Settings(context=ContextSettings(memories_in_prompt=3))
    session = await Session.open(make(folder, DEFINITION, "ferry"), settings=settings, narrator=narrator)
    try:
        for number in range(1, TURNS + 1):
            assert await session.perform(parse_line(f"I go {number}, past stone {number * 3}.")), number
            if number % KEPT_UP_EVERY == 0:
                await session.kept_up()
    finally:
        await session.aclose()
    return refused


def shared(one: list[Any], other: list[Any]) -> int:
    """How many messages at the beginning are the same."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


@pytest.mark.spec("C4", "C7", "C8", "C9", "C10", "C11", "C18", "C19", "C24", "C26")
@pytest.mark.parametrize("counting", ["in bytes", "in real tokens", "in real tokens, by the server"])
async def test_five_hundred_turns_in_a_small_window_without_one_refusal(tmp_path: Path, counting: str) -> None:
    count = in_bytes if counting == "in bytes" else in_real_tokens
    async with FakeServer() as server:
        if counting.endswith("by the server"):
            server.answer("/tokenize", tokenize)
        assert await play(tmp_path, server, count) == []
        requests = [request for request in server.requests if request.purpose]
        bodies = [(request.purpose, request.json["messages"]) for request in requests]
        is_asked = any(request.path == "/tokenize" for request in server.requests)
    assert is_asked
    narrations = [messages for purpose, messages in bodies if purpose == "narrate"]
    assert len(narrations) == TURNS
    # One prefix for all of it, whatever triggered, was remembered or changed; roles by turns.
    assert len({messages[0]["content"] for _, messages in bodies}) == 1
    for _, messages in bodies:
        roles = [each["role"] for each in messages]
        assert roles == ["system", *(["user", "assistant"] * len(roles))[: len(roles) - 1]]
        assert roles[-1] == "user"
    tails = [messages[-1]["content"] for messages in narrations]
    assert sum("rings before a death" in tail for tail in tails) > 20
    assert sum("sister, they say" in tail for tail in tails) > 10
    assert sum("Remembered from earlier" in tail for tail in tails) > 50
    assert len({line for tail in tails for line in tail.splitlines() if "nerve" in line}) == 2
    # What was told in turn 3 is known in turn 500, by the summary alone.
    last = "\n".join(each["content"] for each in narrations[-1])
    assert "Told 3." not in last
    assert f"Told {TURNS - 1}." in last
    for name in NAMES:
        assert f"There is {name}. (certain)" in last
    # The beginning that a server has cached breaks where a summary takes the place of nodes, and nowhere else.
    breaks = [(one, other) for one, other in pairwise(narrations) if shared(one, other) < len(one) - 1]
    summaries = sum(purpose == "compact" for purpose, _ in bodies)
    assert len(breaks) <= summaries < TURNS / 3
    assert all(shared(one, other) == 1 for one, other in breaks)
    # Counted by the model's own tokenizer the window holds far more of the story, and is summed up more seldom.
    assert (summaries < TURNS / 10) == counting.endswith("by the server")


@pytest.mark.spec("C4")
def test_a_byte_is_never_fewer_tokens_than_a_real_tokenizer_makes_of_it() -> None:
    texts = [narrated(number) for number in range(1, 60)] + [
        "",
        " ",
        "\n\n\n",
        "🜁" * 50,
        "ð" * 40,
        "a" * 300,
        "{}[]" * 90,
    ]
    for text in texts:
        for role in ("system", "user", "assistant"):
            body = {"messages": [{"role": role, "content": text}]}
            assert in_real_tokens(body) <= in_bytes(body) + in_bytes(
                {"messages": [{"role": "assistant", "content": ""}]}
            )
