"""A story of any length made by arithmetic: the source that transcript tests and measures read."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import lru_cache

WORDS = (
    "rain lamp ferry rope keeper harbour stone window letter bell winter road salt hand door whisper ladder smoke "
    "river coat candle orchard bridge night wheel glass key garden thunder wool"
).split()


@dataclass(frozen=True)
class Step:
    id: int
    position: int
    role: str
    mode: str | None
    text: str
    take: int = 1
    takes: int = 1
    branch: int = 1
    origin: str = "generated"
    words: str = ""


@lru_cache(maxsize=4096)
def prose(seed: int, size: int) -> str:
    """About ``size`` bytes of seeded words in paragraphs, with dialogue and emphasis."""
    chance = random.Random(seed)
    parts: list[str] = []
    length = 0
    while length < size:
        words = [chance.choice(WORDS) for _ in range(chance.randint(6, 14))]
        sentence = " ".join(words).capitalize() + "."
        if chance.random() < 0.2:
            sentence = f"“{sentence}”"
        elif chance.random() < 0.1:
            sentence = sentence.replace(words[2], f"*{words[2]}*", 1)
        parts.append(sentence + ("\n\n" if chance.random() < 0.2 else " "))
        length += len(parts[-1])
    return "".join(parts).rstrip()


@dataclass
class MadeStory:
    """``count`` steps; even positions are inputs. ``reads`` counts the calls, for tests of what is read when."""

    count: int
    size: int = 1700
    reads: list[tuple[int, int]] = field(default_factory=list)
    shift: int = 0

    def read(self, first: int, last: int) -> list[Step]:
        assert 1 <= first <= last <= self.count, (first, last, self.count)
        self.reads.append((first, last))
        return [self.step(position) for position in range(first, last + 1)]

    def step(self, position: int) -> Step:
        if position == 1:
            return Step(1 + self.shift, 1, "opening", None, prose(1 + self.shift, self.size))
        if position % 2 == 0:
            return Step(position + self.shift, position, "player", "do", prose(position, 50))
        takes = 3 if position % 20 == 1 else 1
        return Step(position + self.shift, position, "narrator", None, prose(position, self.size), takes, takes)
