"""What is fuzzed: every reader with its seeds, and what must hold whatever it is given.

``examine`` is one execution: the bytes become a file, the file is imported dry, and now and then for good. A refusal is
a ``NarratorError`` of one line; anything else that is raised, a file left behind, a campaign that does not verify, a
report that is no JSON and a second of processor time for each 16 kB beyond ``SECONDS`` is a fault.
"""

from __future__ import annotations

import base64
import functools
import io
import itertools
import json
import struct
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from narrator.core.errors import NarratorError
from narrator.exchange import detect, prose
from narrator.exchange.exporting import Wish, export
from narrator.exchange.importing import Surroundings, import_files
from narrator.store.verify import verify
from tests.exchange.novelai_packing import TALE, container, document

SAMPLES = Path(__file__).parents[1] / "exchange" / "samples"
SECONDS = 10.0
WRITTEN_EVERY = 40
"""Of so many files that would be imported one is, for good, and verified."""
_MOMENT = "2026-01-02T03:04:05+00:00"
PNG = b"\x89PNG\r\n\x1a\n"


def picture(text: bytes, keyword: bytes = b"chara") -> bytes:
    """A PNG of one pixel that holds this text."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return PNG + head + chunk(b"tEXt", keyword + b"\0" + base64.b64encode(text)) + chunk(b"IEND", b"")


def archive(text: bytes) -> bytes:
    """A charx archive that holds this text."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(zipfile.ZipInfo("card.json"), text)
    return buffer.getvalue()


@dataclass(frozen=True, slots=True)
class Reader:
    """``as_format`` None: what the file is, is found out. ``wrap`` packs a JSON text as the files of this kind do.

    ``is_prose``: there is no JSON to be changed in it. ``frame`` makes the file, where what is fuzzed is a part of it.
    """

    name: str
    as_format: str | None
    samples: tuple[str, ...] = ()
    wrap: Callable[[bytes], bytes] = bytes
    has_lines: bool = False
    is_prose: bool = False
    frame: Callable[[bytes], bytes] = bytes


def _json(name: str, *samples: str) -> Reader:
    return Reader(name, name, samples)


READERS = {
    reader.name: reader
    for reader in (
        Reader("detect", None, ("*",)),
        Reader("narrator", "narrator", ("bundle",)),
        Reader(
            "sillytavern-chat", "sillytavern-chat", ("sillytavern-chat.jsonl", "sillytavern-branch/*"), has_lines=True
        ),
        _json("sillytavern-worldinfo", "sillytavern-worldinfo.json", "card-v2.json#character_book"),
        _json("character-card", "card-v1.json", "card-v2.json", "card-v3.json"),
        Reader("character-card-png", None, ("card-v2.png", "card-v3.json"), wrap=picture),
        Reader("character-card-charx", None, ("card-v3.charx", "card-v2.json"), wrap=archive),
        _json("aidnd", "aidnd-v1.json", "aidnd-v2.json"),
        _json("aidungeon", "aidungeon-adventure.json"),
        _json("aidungeon-cards", "aidungeon-cards.json"),
        _json("kobold", "kobold-lite.json", "kobold-v2.json"),
        _json("novelai-story", "novelai.story"),
        Reader("novelai-document", "novelai-story", ("document",), is_prose=True, frame=container),
        _json("novelai-scenario", "novelai.scenario"),
        _json("novelai-lorebook", "novelai.lorebook"),
        _json("loom", "loom-tree.json"),
        _json("textgen", "textgen-chat.json"),
        _json("agnai", "agnai-chat.json"),
        _json("mikupad", "mikupad-session.json"),
        Reader("text", "text", ("plain.md", "plain.txt"), is_prose=True),
        Reader("knowledge", "canon", ("plain.md", "plain.txt"), is_prose=True),
    )
}
"""By the name that ``--reader`` takes."""


def uncovered() -> set[str]:
    """Formats of ``--as`` that no reader here stands for."""
    return set(detect.FORMATS) - {reader.as_format for reader in READERS.values()} - set(prose.KINDS[1:])


@functools.cache
def seeds(reader: Reader) -> tuple[bytes, ...]:
    """Whole files of this kind to begin with."""
    return tuple(dict.fromkeys(found for name in reader.samples for found in _seeds(reader, name)))


def _seeds(reader: Reader, name: str) -> Iterable[bytes]:
    if name == "bundle":
        yield from _bundles()
    elif name == "document":
        yield document(*TALE)
    elif name == "*":
        yield from (
            each.read_bytes() for each in sorted(SAMPLES.rglob("*")) if each.is_file() and ".expect." not in each.name
        )
        yield from _bundles()
    elif "*" in name:
        yield from (each.read_bytes() for each in sorted(SAMPLES.glob(name)))
    elif "#" in name:
        file, _, key = name.partition("#")
        yield json.dumps(json.loads((SAMPLES / file).read_bytes())["data"][key]).encode()
    else:
        data = (SAMPLES / name).read_bytes()
        yield data if not name.endswith(".json") else reader.wrap(data)


def _bundles() -> Iterable[bytes]:
    """Bundles of a tree with branches and of one with knowledge."""
    with tempfile.TemporaryDirectory() as folder:
        shelf = Path(folder)
        for name, as_format in (("aidnd-v2.json", None), ("plain.md", "canon"), ("card-v2.json", None)):
            (report,) = import_files([SAMPLES / name], _around(shelf), as_format=as_format)
            export(Path(report.campaigns[0]), shelf / f"{name}.out.json", Wish(), clock=lambda: _MOMENT)
            yield (shelf / f"{name}.out.json").read_bytes()


def _around(folder: Path) -> Surroundings:
    counter = itertools.count(1)
    return Surroundings(folder, lambda: _MOMENT, lambda: f"campaign-{next(counter)}", lambda: 7)


class Fault(AssertionError):
    """What no input may cause, beside an exception of another kind."""


@dataclass(slots=True)
class Examiner:
    """Gives inputs to a reader. Owns a scratch folder; ``read`` and ``written`` count what was taken."""

    reader: Reader
    folder: Path
    read: int = 0
    refused: int = 0
    written: int = 0
    _file: Path = field(init=False)
    _shelf: Path = field(init=False)

    def __post_init__(self) -> None:
        self._file, self._shelf = self.folder / "input", self.folder / "shelf"

    def examine(self, data: bytes) -> None:
        """One execution. Raises what is wrong."""
        self._file.write_bytes(self.reader.frame(data))
        began = time.process_time()
        try:
            try:
                reports = import_files([self._file], _around(self._shelf), as_format=self.reader.as_format, is_dry=True)
                self.read += 1
                for report in reports:
                    json.dumps(report.to_json(), ensure_ascii=False).encode("utf-8")
                if not self.read % WRITTEN_EVERY:
                    self._write()
            except NarratorError as refusal:
                self.refused += 1
                self._check_message(refusal)
            if self._shelf.exists() and any(self._shelf.iterdir()):
                raise Fault("something was left behind")
        finally:
            self._clear()
        if time.process_time() - began > SECONDS + len(data) / 2**14:
            raise Fault(f"it took {time.process_time() - began:.1f} s for {len(data):,} bytes")

    def _write(self) -> None:
        for report in import_files([self._file], _around(self._shelf), as_format=self.reader.as_format):
            for made in report.campaigns:
                problems = verify(Path(made)).problems
                if problems:
                    raise Fault(f"the campaign does not verify: {problems[0]}")
                self.written += 1
        self._clear()

    def _clear(self) -> None:
        if self._shelf.exists():
            for left in self._shelf.iterdir():
                left.unlink()

    @staticmethod
    def _check_message(refusal: NarratorError) -> None:
        text = f"{refusal.code} {refusal.message} {refusal.hint}"
        text.encode("utf-8")
        if len(text.splitlines()) > 1 or len(text) > 2000:
            raise Fault(f"a message of {len(text)} characters in {len(text.splitlines())} lines")
