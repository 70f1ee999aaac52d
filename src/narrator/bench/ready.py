"""A narrator whose answers are ready: a turn told by it costs what narrator costs, and next to nothing of its own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from random import Random

from narrator.bench import prose
from narrator.bench.fixtures import FIELDS
from narrator.core.prompt import Message
from narrator.narrators.port import Capabilities, Chunk, Completion, Delta, Finish, Purpose, Request

BYTES_A_TOKEN = 4
TEXTS = 64


class ReadyNarrator:
    """Answers every purpose at once, from texts made beforehand, a word at a time.

    Owns the order of its texts; ``asked_for`` counts requests by purpose.
    """

    def __init__(self, window: int, seed: int = 1) -> None:
        random = Random(seed)
        self.name = "ready"
        self._window = window
        self._texts = [_words(prose.narration(random)) for _ in range(TEXTS)]
        self._changes = _changes(random)
        self._memories = [prose.memory(random) for _ in range(TEXTS)]
        self._asked = 0
        self.asked_for: Counter[Purpose] = Counter()

    async def capabilities(self) -> Capabilities:
        """A window of ``window`` tokens, tools and JSON schema."""
        return Capabilities(self._window, "built in", tools=True, json_schema=True, model="ready")

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """The next text, word by word."""
        self._asked += 1
        self.asked_for[request.purpose] += 1
        for word in self._texts[self._asked % TEXTS]:
            yield Delta(word)
        yield Finish("stop")

    async def complete(self, request: Request) -> Completion:
        """A valid answer for the purpose, with two changes where the state is asked for."""
        self._asked += 1
        self.asked_for[request.purpose] += 1
        answers = {
            Purpose.CHECK: {"check": None},
            Purpose.EXTRACT: {"changes": [next(self._changes), next(self._changes)]},
            Purpose.MEMORY: {"memory": self._memories[self._asked % TEXTS]},
            Purpose.SUGGEST: {"suggestions": ["Wait.", "Go on.", "Look back."]},
            Purpose.COMPACT: {
                "events": [self._memories[self._asked % TEXTS]],
                "choices": [],
                "facts": [{"text": "The road is drowned.", "certainty": "certain"}],
                "conflicts": [],
                "goals": [],
                "mood": "grey",
            },
        }
        return Completion(json.dumps(answers[request.purpose]), Finish("stop"))

    def count(self, messages: Sequence[Message]) -> int:
        """A token for every four bytes, and four a message."""
        return sum(len(message.content.encode()) // BYTES_A_TOKEN + 4 for message in messages)

    async def aclose(self) -> None:
        """Nothing to free."""


def _words(text: str) -> list[str]:
    return [f"{word} " for word in text.split(" ")]


def _changes(random: Random) -> Iterator[dict[str, object]]:
    while True:
        for number in range(FIELDS):
            value = random.randrange(1000)
            yield {"op": "set", "path": f"measure.field{number:02}", "value": value, "why": "it was told"}
