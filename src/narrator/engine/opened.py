"""An open campaign as it stands: head, tip, state, and what is read of it (S5 … S7, T13). ``Story`` adds the verbs."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Self

from narrator.core import cards
from narrator.core.definition import Definition
from narrator.core.lineage import End
from narrator.core.phrases import phrase_correction
from narrator.core.state import State, advance
from narrator.core.tree import Node, Position, decode_correction
from narrator.engine import views
from narrator.engine.clock import utc_now
from narrator.engine.events import BranchListed, CheckpointListed, HeadMoved, Match, StepShown, StepTakes, TakeListed
from narrator.store import commit, fold, memory_reads, reads, search, sources, state_reads
from narrator.store.open import Clock, Store, open_store

_STATES_KEPT = 64


class OpenCampaign:
    """Owns its ``Store`` from ``open`` to ``close``, and the states it has folded."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._written: Definition = sources.written(store)
        self._cards_stamp = sources.cards_stamp(store)
        self.definition: Definition = cards.edited(self._written, sources.card_edits(store))
        self._states: dict[int, State] = {}
        self._seen_version = reads.data_version(store)

    @classmethod
    def open(cls, path: Path, *, clock: Clock = utc_now, read_only: bool = False, backups: Path | None = None) -> Self:
        """Open a campaign. Raises ``StoreError``. Opening for writing makes earlier deletions final (S41)."""
        return cls.over(open_store(path, clock=clock, read_only=read_only, backups=backups))

    @classmethod
    def over(cls, store: Store) -> Self:
        """The story of a file that is open already; it is closed where that fails. Raises ``StoreError``."""
        try:
            if not store.is_read_only:
                commit.finalize(store)
            return cls(store)
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Close the file and let the writer's lock go."""
        self.store.close()

    def refresh(self) -> bool:
        """For a reader beside a writer: whether the file has changed since the last look (T13)."""
        version = reads.data_version(self.store)
        if version == self._seen_version:
            return False
        self._seen_version = version
        self.store.load_forest()
        stamp = sources.cards_stamp(self.store)
        if stamp != self._cards_stamp:
            self._written, self._cards_stamp = sources.written(self.store), stamp
        self.definition = cards.edited(self._written, sources.card_edits(self.store))
        return True

    def read_definition(self) -> None:
        """After an import added cards to this campaign while it was open (W13)."""
        self._written, self._cards_stamp = sources.written(self.store), sources.cards_stamp(self.store)
        self.definition = cards.edited(self._written, sources.card_edits(self.store))

    def looking(self) -> AbstractContextManager[None]:
        """Around reads that belong together: a reader sees one instant of what a writer writes beside it (T13)."""
        return self.store.looking()

    # ------------------------------------------------------------------------------------------------ where it stands

    @property
    def path(self) -> Path:
        return self.store.path

    @property
    def is_read_only(self) -> bool:
        return self.store.is_read_only

    @property
    def row(self) -> reads.CampaignRow:
        """Head, tip, revision and the rest, as they are now."""
        return reads.campaign(self.store)

    @property
    def position(self) -> Position:
        row = self.row
        return Position(row.head_id, row.tip_id)

    @property
    def head(self) -> Node:
        return reads.head(self.store)

    @property
    def tip(self) -> Node:
        return reads.needed(self.store, self.row.tip_id)

    @property
    def revision(self) -> int:
        """Raised by every commit and head move; keys every panel (S31)."""
        return self.row.revision

    @property
    def end(self) -> End:
        """The path that is being read."""
        return reads.end_of(self.store, self.head)

    @property
    def count(self) -> int:
        """Steps on the path: the position of the head."""
        return self.end.length

    @property
    def redo_steps(self) -> int:
        return reads.end_of(self.store, self.tip).length - self.count

    def node(self, node_id: int) -> Node:
        """A visible node by id. Raises ``no-such-step``."""
        return reads.require(reads.node(self.store, node_id), f"#{node_id}")

    def state(self, node: Node | None = None) -> State:
        """The state at a node (the head), folded from the nearest known one. Nodes never change, nor does it."""
        at = node or self.head
        found = self._states.get(at.id)
        if found is None:
            before = self._states.get(at.parent_id) if at.parent_id is not None else None
            if before is not None:
                events = state_reads.events_of(self.store, [at.id]).get(at.id, ())
                found = advance(before, at.role, events, at.is_unknown)
            else:
                found = fold.state_at(self.store, at)
            while len(self._states) >= _STATES_KEPT:
                self._states.pop(next(iter(self._states)))
            self._states[at.id] = found
        return found

    # --------------------------------------------------------------------------------------------------------- reads

    def steps(self, first: int, last: int) -> list[StepShown]:
        """The steps at positions first … last of the path, with their takes."""
        return views.steps(self.store, self.end, first, last, self.correction_words)

    def last_steps(self, count: int) -> list[StepShown]:
        """The newest steps of the path; the same cost at any length."""
        return views.last_steps(self.store, self.head, self.end, count, self.correction_words)

    def correction_words(self, text: str) -> str:
        """The text of a correction as the line that people read (S23); what is none comes back as it is."""
        try:
            return phrase_correction(self.definition, self.state(), decode_correction(text))
        except (ValueError, AttributeError):
            return text

    def nodes(self, first: int = 1, last: int | None = None) -> list[Node]:
        """The nodes of the path."""
        end = self.end
        return reads.window(self.store, end, first, end.length if last is None else last)

    def takes(self, node: Node) -> list[TakeListed]:
        """The takes of a step, as the pager counts them (S18)."""
        return views.takes(self.store, node, self.end)

    def takes_on(self, branch_id: int) -> list[StepTakes]:
        """The steps of a branch that have several takes, for the rail."""
        return views.takes_on(self.store, branch_id, self.end)

    def branches(self) -> list[BranchListed]:
        """Every branch, for the rail (S29)."""
        return views.branches(self.store, self.tip)

    def checkpoints(self) -> list[CheckpointListed]:
        """Every checkpoint."""
        return views.checkpoints(self.store, self.end)

    def memories(self) -> list[memory_reads.MemoryRow]:
        """The memories on the path (C25)."""
        return memory_reads.memories(self.store, self.end)

    def search(self, words: str, limit: int = 100) -> list[Match]:
        """Where the words stand on the path, in its order."""
        found = search.search(self.store, self.end, words, limit)
        return [Match(hit.node_id, hit.position, hit.excerpt) for hit in found]

    def where(self) -> HeadMoved:
        """Head, tip and redo, as the ``head`` event tells them."""
        return views.head(self.store, self.head, self.tip, self.state())
