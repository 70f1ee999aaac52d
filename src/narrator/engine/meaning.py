"""Memories by meaning: what the optional extra ``semantic`` adds to full text (C24).

A small port turns texts to vectors. The vectors stand beside the memories in the file, are derived and disposable, and
are made in upkeep. A session keeps them in memory, reads what was added, and looks the best up along the path. The
model comes in a thread when it is first needed and nothing is downloaded; without the extra full text is all there is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol

from narrator.core.lineage import End
from narrator.engine.events import Event, Noted
from narrator.store import commit, vectors
from narrator.store.memory_reads import MemoryRow
from narrator.store.open import Store

_log = logging.getLogger(__name__)

_BATCH: Final = 256
_MOST_SEGMENTS: Final = 16
_FIRST_LOOK: Final = 64
_MOST_LOOKED_AT: Final = 500
_MOST_CHARACTERS: Final = 2000
WORTH_SAYING: Final = 10
"""The memory at which a campaign's player hears, once, that an extra would find more of them."""


class Meaning(Protocol):
    """Turns texts to vectors, and compares one text with many of them.

    A vector has ``size`` bytes; one of another size, or of a model with another ``name``, is made again. ``least`` is
    the likeness (a cosine) below which two texts have nothing in common. ``gather`` makes of vectors what
    ``nearest`` compares with quickly: (position, likeness) in all of them one after the other, the best first, those
    of at least ``least`` alone. ``embed`` is called in a thread, the others in the loop.
    """

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def least(self) -> float: ...

    def embed(self, texts: Sequence[str]) -> list[bytes]: ...

    def gather(self, found: Sequence[bytes]) -> Any: ...

    def nearest(self, text: str, gathered: Sequence[Any]) -> Iterator[tuple[int, float]]: ...


Loader = Callable[[], Meaning | None]
"""Loads a model, in a thread; None where the extra is not installed. What it raises is noted, and is no failure."""


class VectorIndex:
    """What a session knows by meaning. Owns the model and the vectors it has read; closing needs nothing."""

    def __init__(self, store: Store, load: Loader, publish: Callable[[Event], None]) -> None:
        self._store = store
        self._load = load
        self._publish = publish
        self._loading: asyncio.Future[Meaning | None] | None = None
        self._meaning: Meaning | None = None
        self._has_loaded = False
        self._stamp = (0, 0)
        self._ids: list[int] = []
        self._segments: list[Any] = []

    @property
    def is_awake(self) -> bool:
        """Whether there is a model to rank with."""
        return self._meaning is not None

    async def wake(self) -> None:
        """Have the model loaded where the file has vectors to compare with."""
        if not self._has_loaded and vectors.stamp(self._store)[0]:
            await self._wake()

    async def _wake(self) -> None:
        """Load the model, once; whoever waits may be cancelled, the thread goes on for the next."""
        if self._has_loaded:
            return
        if self._loading is None:
            self._loading = asyncio.get_running_loop().run_in_executor(None, self._load)
        try:
            self._meaning = await asyncio.shield(self._loading)
        except Exception as error:
            _log.warning("the extra semantic does not load", exc_info=error)
            self._publish(Noted(f"Memories are found by their words alone; the extra semantic fails: {error}"))
        self._has_loaded = True

    async def keep_up(self) -> bool:
        """Make the vectors of some memories that have none; whether there were any. Cancelled, it wrote nothing."""
        if not vectors.has_memories(self._store):
            return False
        await self._wake()
        meaning = self._meaning
        if meaning is None:
            return False
        without = vectors.memories_without(self._store, meaning.name, meaning.size, _BATCH)
        if not without:
            return False
        made = await asyncio.to_thread(meaning.embed, [text for _, text in without])
        commit.keep_vectors(
            self._store, meaning.name, [(*memory, vector) for memory, vector in zip(without, made, strict=True)]
        )
        return True

    def tell_missing(self) -> None:
        """Say that the extra would find more, when a campaign has just got enough memories for it to matter."""
        if self._has_loaded and self._meaning is None and vectors.count_memories(self._store) == WORTH_SAYING:
            self._publish(Noted("Memories are found by their words; with the extra semantic also by meaning."))

    def rank(self, end: End, text: str, limit: int, *, shown_from: int) -> list[tuple[MemoryRow, float]]:
        """The memories on a path whose meaning is nearest to a text's, with their likeness; as full text has them.

        Empty where no model is loaded. The cost is one comparison with every vector of the file, and a look at the
        few that come near enough, whatever the number of forks.
        """
        if self._meaning is None or not text.strip():
            return []
        self._read(self._meaning)
        near = self._meaning.nearest(text[-_MOST_CHARACTERS:], self._segments)
        found: list[tuple[MemoryRow, float]] = []
        size = _FIRST_LOOK
        while len(found) < limit and (chunk := list(islice(near, size))):
            looked_at = [(self._ids[at], alike) for at, alike in chunk]
            rows = vectors.visible(self._store, end, [each for each, _ in looked_at], shown_from=shown_from)
            found += [(rows[each], alike) for each, alike in looked_at if each in rows]
            size = min(size * 2, _MOST_LOOKED_AT)
        return found[:limit]

    def _read(self, meaning: Meaning) -> None:
        """Read what the table has got since the last look; all of it where something was taken away."""
        count, newest = vectors.stamp(self._store)
        if (count, newest) == self._stamp:
            return
        known = self._stamp
        added = vectors.after(self._store, known[1], meaning.name, meaning.size)
        if known[0] + len(added) != count or len(self._segments) >= _MOST_SEGMENTS:
            self._ids, self._segments = [], []
            added = vectors.after(self._store, 0, meaning.name, meaning.size)
        if added:
            self._ids += [memory_id for memory_id, _ in added]
            self._segments.append(meaning.gather([vector for _, vector in added]))
        self._stamp = (count, newest)


# ------------------------------------------------------------------------------------------------------------ the extra


class _WordLlama:
    """wordllama's own small model: averages of word vectors, 256 numbers a text, kept as float16."""

    name = "wordllama l2_supercat 256"
    size = 512
    least = 0.15

    def __init__(self, model: Any, numpy: Any) -> None:
        self._model = model
        self._numpy = numpy

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [each.tobytes() for each in self._units(texts).astype("<f2")]

    def gather(self, found: Sequence[bytes]) -> Any:
        return self._numpy.frombuffer(b"".join(found), "<f2").reshape(len(found), -1).astype("<f4")

    def nearest(self, text: str, gathered: Sequence[Any]) -> Iterator[tuple[int, float]]:
        numpy, asked = self._numpy, self._units([text])[0]
        if not gathered:
            return
        # Not ``each @ asked``: that wakes threads for a millisecond's work, which wait for cores that a model has.
        alike = numpy.concatenate([numpy.einsum("ij,j->i", each, asked) for each in gathered])
        near = numpy.flatnonzero(alike >= self.least)
        while len(near):
            chunk, near = self._best(alike, near)
            yield from zip(chunk.tolist(), alike[chunk].tolist(), strict=True)

    def _best(self, alike: Any, near: Any) -> tuple[Any, Any]:
        """The nearest few in order, and the others as they were; of equals the one that was added first."""
        numpy = self._numpy
        if len(near) > _MOST_LOOKED_AT:
            parted = numpy.argpartition(-alike[near], _MOST_LOOKED_AT - 1)
            best, rest = numpy.sort(near[parted[:_MOST_LOOKED_AT]]), numpy.sort(near[parted[_MOST_LOOKED_AT:]])
        else:
            best, rest = near, near[:0]
        return best[numpy.argsort(-alike[best], kind="stable")], rest

    def _units(self, texts: Sequence[str]) -> Any:
        """Vectors of length one; of length nothing where a text has no word."""
        found = self._model.embed(list(texts))
        return found / self._numpy.maximum(self._numpy.linalg.norm(found, axis=1, keepdims=True), 1e-9)


@cache
def load_wordllama() -> Meaning | None:
    """The model that comes inside the package wordllama; None where that is not installed. One for all sessions."""
    if find_spec("wordllama") is None:
        return None
    # Its import calls logging.basicConfig, which does nothing where the root logger has a handler.
    root, handler = logging.getLogger(), logging.NullHandler()
    root.addHandler(handler)
    try:
        import numpy
        import wordllama
    finally:
        root.removeHandler(handler)
    folder = Path(wordllama.__file__).parent
    return _WordLlama(wordllama.WordLlama.load(cache_dir=folder, disable_download=True), numpy)
