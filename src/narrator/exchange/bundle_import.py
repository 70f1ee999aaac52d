"""Reading a bundle (X4, X7, X8, X11): the whole file is checked in a first pass, and written in a second.

The first pass keeps a few bytes a node (its shape), never its text. Contradictions in structure are refused with their
place; a wrong choice (two placed takes at one coordinate, a tip with something below it) is corrected and noted.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from narrator.core.campaign import parse_definition
from narrator.core.errors import BadDefinition, BadImport
from narrator.core.kept_cards import check_card
from narrator.core.tree import decode_correction
from narrator.exchange import limits
from narrator.exchange.bundle_models import (
    FORMAT,
    SECTIONS,
    BranchRow,
    CampaignRow,
    CardRow,
    CheckpointRow,
    MemoryRow,
    NodeRow,
    PlaceRow,
    Row,
    VisitRow,
)
from narrator.exchange.bundle_structure import Survey, numbers, settle
from narrator.exchange.decoding import GZIP_MAGIC, codec_of
from narrator.exchange.growth import Batch, Growth, compact, grow, growth_in, growth_of
from narrator.exchange.json_stream import Piece, Pieces
from narrator.exchange.mending import check
from narrator.exchange.progress import Progress
from narrator.exchange.report import Notes
from narrator.store.parts import part_hash
from narrator.store.records import pack_record

_EVERY = 1000
_BATCH = 500


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a bundle, unpacked where it is a gzip. Raises ``BadImport``."""
    try:
        with path.open("rb") as file:
            if file.read(2) == GZIP_MAGIC:
                file.seek(0)
                with gzip.GzipFile(fileobj=file) as unpacked:
                    yield io.BufferedReader(unpacked)
            else:
                file.seek(0)
                yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadImport(f"{path.name} is a damaged gzip file: {error}.") from None
    except OSError as error:
        raise BadImport(f"{path.name} cannot be read: {error.strerror or error}.") from None


def text_of(file: IO[bytes], codec: str) -> Callable[[int], str]:
    """A function that reads the next characters; '' at the end. Raises ``BadImport`` beyond the limit."""
    decoder = codecs.getincrementaldecoder(codec)(errors="replace" if codec == "cp1252" else "strict")
    total = 0

    def read(size: int) -> str:
        nonlocal total
        while True:
            data = file.read(size)
            total += len(data)
            if total > limits.BUNDLE_BYTES:
                raise BadImport(f"It unpacks to more than {limits.BUNDLE_BYTES // 2**30} GB.")
            text = decoder.decode(data, final=not data)
            if text or not data:
                return text

    return read


class BundleFile:
    """A bundle on disk. ``survey`` reads and checks all of it, ``rows`` reads it again for ``commit.restore``."""

    def __init__(self, path: Path, notes: Notes, progress: Progress) -> None:
        self.path = path
        self.notes = notes
        self.progress = progress
        self.found = Survey()
        self.definition_source = ""
        self._codec = "utf-8"
        self._mended: set[int] = set()
        self.counts: dict[str, int] = {}

    def survey(self) -> Survey:
        """The first pass. Raises ``BadImport`` with the place of what is wrong."""
        with opened(self.path) as file:
            self._codec = codec_of(file.read(3)) or "utf-8"
        try:
            self._survey()
        except UnicodeDecodeError:
            if self._codec != "utf-8":
                raise BadImport(f"{self.path.name} is not {self._codec} throughout.") from None
            self._codec = "cp1252"
            self.notes.changed("", "encoding", "it is not UTF-8 and was read as cp1252")
            self.found = Survey()
            self._survey()
        return self.found

    def _pieces(self) -> Iterator[Piece]:
        with opened(self.path) as file:
            pieces = Pieces(text_of(file, self._codec))
            yield from pieces
            self._surrogates = pieces.surrogates

    def _survey(self) -> None:
        seen: set[str] = set()
        for piece in self._pieces():
            seen.add(piece.key)
            if piece.key in _SINGLE and piece.index is not None:
                raise BadImport(f"{piece.key} is a list; one value belongs here.")
            if piece.is_end:
                self.counts[piece.key] = piece.index or 0
            else:
                self._look_at(piece)
        if self._surrogates:
            self.notes.changed("", "text", f"{self._surrogates} lone surrogates were replaced")
        for key in ("format", "campaign", "definitions", "branches", "nodes"):
            if key not in seen:
                raise BadImport(f"{self.path.name}: {key} is missing.")
        if not self.definition_source:
            raise BadImport(f"{self.path.name}: definitions is empty.")
        settle(self.found, self.notes)

    def _look_at(self, piece: Piece) -> None:
        found, key, value = self.found, piece.key, piece.value
        if key == "format":
            if value != FORMAT:
                raise BadImport(f"format is {value!r:.60}, not {FORMAT!r}.")
        elif key == "campaign":
            found.campaign = check(CampaignRow, value, key, self.notes)
        elif key == "prompts":
            found.has_prompts = value is not False
        elif key == "parts":
            if not isinstance(value, str):
                raise BadImport(f"{piece.place}: should be a text.")
            found.digests += part_hash(value)
        elif key in SECTIONS:
            if piece.index is None:
                raise BadImport(f"{key} should be a list.")
            self._look_at_row(key, piece)
        else:
            self.notes.dropped(piece.place, key, "unknown key")

    def _look_at_row(self, key: str, piece: Piece) -> None:
        found, place = self.found, piece.place
        if key == "nodes":
            try:
                row: Row = NodeRow.model_validate(piece.value)
            except ValidationError:
                self._mended.add(piece.index or 0)
                row = check(NodeRow, piece.value, place, self.notes)
        else:
            row = check(SECTIONS[key], piece.value, place, self.notes)
        if isinstance(row, NodeRow):
            self._look_at_node(row, place)
        elif isinstance(row, BranchRow):
            found.branches.append(row)
        elif isinstance(row, CheckpointRow):
            found.checkpoints.append(row)
        elif isinstance(row, VisitRow):
            found.visits.append(row)
        elif isinstance(row, PlaceRow):
            found.places.append(row)
        elif key == "definitions":
            self.definition_source = row.source  # type: ignore[attr-defined]
            try:
                parse_definition(self.definition_source)
            except BadDefinition as error:
                raise BadImport(f"{place}.source: {error.message}.") from None
        elif isinstance(row, CardRow):
            self._look_at_card(row, place)
        elif key not in ("kept", "card_edits", "knowledge"):
            node = row.node  # type: ignore[attr-defined]
            if node > found.references.get(key, 0):
                found.references[key] = node
            if key == "provenance":
                self._look_at_prompt(row.record.get("prompt"), place)  # type: ignore[attr-defined]

    def _look_at_card(self, row: CardRow, place: str) -> None:
        name = _free_card_name(row.name, self.found.cards)
        if name != row.name:
            self.notes.changed(f"{place}.name", "name", f"{row.name!r:.40} is there already: now {name!r:.40}")
        try:
            check_card(row.name, _card_body(row))
        except BadDefinition as error:
            raise BadImport(f"{place}: {error.message}.") from None

    def _look_at_node(self, row: NodeRow, place: str) -> None:
        found = self.found
        node, parent = found.skeleton.count + 1, row.parent or 0
        if parent >= node:
            raise BadImport(f"{place}.parent: {parent} is not an earlier node.")
        if (row.role == "opening") != (parent == 0):
            raise BadImport(f"{place}: {row.role} with{'out' if not parent else ''} a parent.")
        if row.role == "correction":
            _check_correction(row.text, place)
        for cause in (row.source, *(e.cause for e in row.events), *(c.cause for c in row.checks)):
            if cause is not None:
                found.references["nodes"] = max(cause, found.references.get("nodes", 0))
        found.skeleton.add(parent)
        found.declared.append(row.branch or 0)
        if node % _EVERY == 0:
            self.progress("check", node, 0)

    def _look_at_prompt(self, prompt: Any, place: str) -> None:
        for key, value in _leaves(prompt):
            if key == "part":
                if not isinstance(value, int) or value < 1:
                    raise BadImport(f"{place}.record.prompt: a part should be an ordinal, not {value!r:.40}.")
                if value > self.found.most_part:
                    self.found.most_part, self.found.most_part_place = value, place
            elif key in {"history", "node_id"} and not _is_ordinal(value, self.found):
                raise BadImport(f"{place}.record.prompt.{key}: {value!r:.40} is no node.")

    # ------------------------------------------------------------------------------------------------------ second pass

    def rows(self, *, now: str) -> Iterator[Batch]:
        """All rows, what refers to nodes after them. Only after ``survey``."""
        found, campaign = self.found, self.found.campaign
        assert campaign is not None
        silent = Notes(type(self.notes.report)(), self.notes.file)
        self._card_names: set[str] = set()
        pieces = self._pieces()
        yield "branches", found.skeleton.branch_rows()
        definitions = 0
        waiting: list[tuple[Any, ...]] = []
        for piece in pieces:
            if waiting and (piece.is_end or len(waiting) >= _BATCH):
                yield piece.key, waiting
                waiting = []
            if piece.is_end:
                continue
            if piece.key == "nodes":
                yield from grow(found.skeleton, self._node_rows(piece, pieces, silent), now=now)
            elif piece.key == "definitions":
                definitions += 1
                row: Any = check(SECTIONS["definitions"], piece.value, piece.place, silent)
                yield "definitions", [(definitions, row.source, row.created_at or now)]
            elif piece.key == "parts":
                yield "parts", [(part_hash(piece.value), piece.value)]
            elif piece.key == "knowledge":
                row = check(SECTIONS["knowledge"], piece.value, piece.place, silent)
                number = (piece.index or 0) + 1
                enabled = int(row.enabled)
                yield "knowledge", [(number, row.title, row.kind, enabled, row.created_at or now, row.condition)]
                yield "passages", [(number, text) for text in row.passages]
            elif piece.key in _OTHERS:
                row = check(SECTIONS[piece.key], piece.value, piece.place, silent)
                waiting.append(self._other_row(piece.key, row, now))
        yield "checkpoints", [(row.name, row.node, row.created_at or now) for row in found.checkpoints]
        yield "visits", [(v.tip, v.head, n, v.visited_at or now, v.written) for n, v in enumerate(found.visits, 1)]
        yield "places", [(row.stack, row.head, row.tip) for row in found.places]
        yield "campaign", [self._campaign_row(campaign, now)]

    def _campaign_row(self, campaign: CampaignRow, now: str) -> tuple[Any, ...]:
        written = max(campaign.written, self.found.skeleton.count if not campaign.written else 0)
        return (
            *(campaign.id, campaign.title, campaign.seed, campaign.head, campaign.tip, len(self.found.visits), written),
            *(campaign.fork, campaign.narrator, int(campaign.tracking), campaign.created_at or now),
            *(campaign.played_at or now, campaign.played_seconds),
        )

    def _node_rows(self, first: Piece, pieces: Iterator[Piece], silent: Notes) -> Iterator[Growth]:
        """The nodes; only those that had to be mended are looked at again."""
        piece, total = first, self.found.skeleton.count
        last = total
        while not piece.is_end:
            if piece.index in self._mended:
                row = growth_of(check(NodeRow, piece.value, piece.place, silent))
            else:
                row = growth_in(piece.value)
            yield row if row.source is None or row.source <= last else row._replace(source=None)
            if piece.index is not None and piece.index % _EVERY == 0:
                self.progress("import", piece.index, total)
            piece = next(pieces)

    def _other_row(self, key: str, row: Any, now: str) -> tuple[Any, ...]:
        if key == "memories":
            return self._memory_row(row, now)
        if key == "comments":
            return (row.node, row.text, row.created_at or now)
        if key == "kept":
            return (row.kind, row.name, compact(row.body) or "null")
        if key == "cards":
            return (_free_card_name(row.name, self._card_names), compact(_card_body(row)))
        if key == "card_edits":
            return (row.name, row.enabled, row.text, int(row.deleted))
        record = dict(row.record)
        if isinstance(record.get("prompt"), dict):
            record["prompt"] = self._with_hashes(record["prompt"])
        return (row.node, pack_record(record))

    def _memory_row(self, row: MemoryRow, now: str) -> tuple[Any, ...]:
        depth = self.found.skeleton.depths[row.node]
        first = None if row.covers is None else max(1, depth + 1 - row.covers)
        marks = (int(row.pinned), int(row.forgotten))
        return (row.node, row.text, row.source, first, *marks, row.created_at or now)

    def _with_hashes(self, value: Any) -> Any:
        if isinstance(value, dict):
            if value.keys() == {"part"}:
                at = 32 * (value["part"] - 1)
                return self.found.digests[at : at + 32].hex()
            return {key: self._with_hashes(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._with_hashes(inner) for inner in value]
        return value


_SINGLE = {"format", "campaign", "prompts"}
_OTHERS = {"memories", "comments", "cards", "card_edits", "kept", "provenance"}


def _free_card_name(name: str, taken: set[str]) -> str:
    """The name, or with a number behind it where a card before has it; it is taken from now on."""
    if name in taken:
        name = next(other for n in numbers(len(taken)) if (other := f"{name} {n}") not in taken)
    taken.add(name)
    return name


def _card_body(row: CardRow) -> dict[str, Any]:
    """The keys that a card is kept with: its text, and what has not its usual value."""
    return {"text": row.text, **row.model_dump(exclude_defaults=True, exclude={"name", "text"})}


def _leaves(value: Any) -> Iterator[tuple[str, Any]]:
    """The members of a packed prompt, at any depth: (key, value)."""
    waiting = [value]
    while waiting:
        at = waiting.pop()
        if isinstance(at, dict):
            yield from at.items()
            waiting.extend(at.values())
        elif isinstance(at, list):
            waiting.extend(at)


def _is_ordinal(value: Any, found: Survey) -> bool:
    if isinstance(value, list):
        return len(value) == 2 and all(_is_ordinal(each, found) for each in value)
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if is_number and value > found.references.get("provenance", 0):
        found.references["provenance"] = value
    return is_number


def _check_correction(text: str, place: str) -> None:
    try:
        body = decode_correction(text)
    except ValueError:
        body = {}
    if not isinstance(body, dict) or body.keys() != {"new", "old", "path", "reason"}:
        raise BadImport(f"{place}.text: the text of a correction is JSON with new, old, path and reason.")
