"""Character cards V1, V2 and V3: JSON, in a PNG (``ccv3``, ``chara``), or in a charx archive.

A card becomes a campaign of its own: the premise says who is met, the greetings are takes of the opening, the book is
cards. Notes of its maker stay outside every prompt.
"""

from __future__ import annotations

import base64
import binascii
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from narrator.core.errors import BadImport
from narrator.exchange import limits
from narrator.exchange.decoding import decode, parse_json
from narrator.exchange.fields import Fields, text_of
from narrator.exchange.lore import Shelf, without_secrets
from narrator.exchange.plan import Plan
from narrator.exchange.report import Notes
from narrator.exchange.sillytavern import read_book

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
ZIP_MAGIC = b"PK\x03\x04"
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, ValueError, OverflowError),
    *(RuntimeError, LookupError),
)
"""What the standard library raises on an archive whose offsets, names or methods are made up."""
_COMMENT = re.compile(r"\{\{//[^}]{0,2000}\}\}")


def read(value: Any, notes: Notes) -> Plan:
    """The plan of a card."""
    whole = Fields(notes, value, "")
    spec = str(whole.raw("spec") or "")
    version = 3 if spec.endswith("v3") else 2 if spec.endswith("v2") else 1
    whole.mark("spec_version")
    card = whole.table("data") if version > 1 else whole
    name = card.text("name").strip() or "Unnamed"
    plan = Plan(f"character-card-v{version}", name)
    fill = _macros(card.text("nickname").strip() or name)
    _premise(plan, card, fill)
    plan.note = fill(card.text("post_history_instructions"))
    greetings = _greetings(card, fill)
    for greeting in dict.fromkeys(greetings):
        if greeting.strip() or len(greetings) == 1:
            plan.add(0, "opening", greeting)
    plan.tip = 1 if plan.steps else 0
    shelf = Shelf(notes)
    if "character_book" in card:
        title, plan.title = plan.title, name
        read_book(card.table("character_book"), shelf, plan)
        plan.title = title
    plan.cards = shelf.cards
    if version > 1:
        whole.rest("it repeats an older form of the card")
    _keep(plan, card, name, notes)
    return plan


def _greetings(card: Fields, fill: Callable[[str], str]) -> list[str]:
    """The first message and the others; of those that read alike one, noted."""
    found = [fill(card.text("first_mes"))]
    for key in ("alternate_greetings", "group_only_greetings"):
        for index, each in enumerate(card.items(key)):
            where = f"{card.place(key)}[{index}]"
            greeting = fill(text_of(card.notes, where, key, each))
            if greeting.strip() and greeting in found:
                card.notes.dropped(where, key, "it reads as a greeting before it")
            found.append(greeting)
    return found


def _premise(plan: Plan, card: Fields, fill: Callable[[str], str]) -> None:
    about = [(plan.title, "description"), ("Manner", "personality"), ("What is going on", "scenario")]
    texts = [(label, fill(card.text(key)).strip()) for label, key in about]
    plan.premise = "\n\n".join(f"{label}: {text}" for label, text in texts if text)
    examples = fill(card.text("mes_example")).replace("<START>", "").strip()
    parts = [fill(card.text("system_prompt")).strip(), f"How they speak:\n{examples}" if examples else ""]
    plan.instructions = "\n\n".join(part for part in parts if part)


def _keep(plan: Plan, card: Fields, name: str, notes: Notes) -> None:
    """What no prompt may hold is kept whole: notes of the maker, tags, extensions."""
    assets = card.items("assets")
    for index, asset in enumerate(assets):
        uri = str(asset.get("uri", "")) if isinstance(asset, dict) else ""
        if uri and not uri.startswith("ccdefault:"):
            notes.dropped(f"assets[{index}]", "uri", "pictures and sounds are not imported")
    extra = without_secrets(notes, card.unread(), card.where) or {}
    if extra:
        notes.kept(card.where, ", ".join(list(extra)[:12]), "kept for re-export, in no prompt")
        plan.kept.append(("character", name, extra))


def _macros(name: str) -> Callable[[str], str]:
    """Put names where a card has marks for them. The player is addressed as “you”."""

    def fill(text: str) -> str:
        text = _COMMENT.sub("", text)
        for mark in ("{{char}}", "<BOT>", "<CHAR>"):
            text = re.sub(re.escape(mark), lambda _: name, text, flags=re.IGNORECASE)
        for mark in ("{{user}}", "<USER>"):
            text = re.sub(re.escape(mark), lambda _: "you", text, flags=re.IGNORECASE)
        return re.sub(re.escape("{{original}}"), "", text, flags=re.IGNORECASE)

    return fill


# ------------------------------------------------------------------------------------------------------- PNG and charx


def json_in_png(data: bytes, notes: Notes) -> Any:
    """The card in the text chunks of a PNG; V3 (``ccv3``) before V2 (``chara``). Raises ``BadImport``."""
    found: dict[str, bytes] = {}
    for kind, body in _chunks(data, notes.file):
        if kind in (b"tEXt", b"zTXt", b"iTXt"):
            keyword, text = _chunk_text(kind, body, notes.file)
            if keyword in ("ccv3", "chara"):
                found.setdefault(keyword, text)
    if not found:
        raise BadImport(f"{notes.file}: the picture holds no character card.")
    text = found.get("ccv3", found.get("chara", b""))
    try:
        raw = base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError):
        raise BadImport(f"{notes.file}: the card in the picture is no base64.") from None
    return parse_json(decode(raw, notes), notes)


def _chunks(data: bytes, name: str) -> Iterator[tuple[bytes, bytes]]:
    at = len(PNG_MAGIC)
    for _ in range(limits.PNG_CHUNKS):
        if at + 8 > len(data):
            return
        (size,) = struct.unpack_from(">I", data, at)
        kind = data[at + 4 : at + 8]
        if at + 8 + size > len(data):
            raise BadImport(f"{name}: the picture ends in the middle of a chunk.")
        yield kind, data[at + 8 : at + 8 + size]
        if kind == b"IEND":
            return
        at += 12 + size
    raise BadImport(f"{name}: the picture has more than {limits.PNG_CHUNKS:,} chunks.")


def _chunk_text(kind: bytes, body: bytes, name: str) -> tuple[str, bytes]:
    keyword, _, rest = body.partition(b"\0")
    if kind == b"zTXt":
        rest = _inflate(rest[1:], name)
    elif kind == b"iTXt":
        is_packed, rest = rest[:1] == b"\x01", rest[2:]
        rest = rest.partition(b"\0")[2].partition(b"\0")[2]
        rest = _inflate(rest, name) if is_packed else rest
    return keyword.decode("latin-1").casefold(), rest


def _inflate(data: bytes, name: str) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        found = unpacker.decompress(data, limits.FILE_BYTES)
    except zlib.error as error:
        raise BadImport(f"{name}: a text of the picture is damaged: {error}.") from None
    if unpacker.unconsumed_tail:
        raise BadImport(f"{name}: a text of the picture unpacks to more than {limits.FILE_BYTES // 2**20} MB.")
    return found


def json_in_archive(data: bytes, notes: Notes) -> Any:
    """``card.json`` of a charx archive. Nothing is unpacked to disk. Raises ``BadImport``."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            if len(names) > limits.ARCHIVE_ENTRIES:
                raise BadImport(f"{notes.file}: the archive has more than {limits.ARCHIVE_ENTRIES:,} entries.")
            if "card.json" not in names:
                raise BadImport(f"{notes.file}: the archive holds no card.json.")
            with archive.open("card.json") as file:
                raw = file.read(limits.FILE_BYTES + 1)
    except _DAMAGED as error:
        raise BadImport(f"{notes.file}: the archive is damaged or locked: {error}.") from None
    if len(raw) > limits.FILE_BYTES:
        raise BadImport(f"{notes.file}: card.json unpacks to more than {limits.FILE_BYTES // 2**20} MB.")
    for name in names:
        if name != "card.json" and not name.endswith("/"):
            notes.dropped(name[:200], "", "pictures and sounds are not imported")
    return parse_json(decode(raw, notes), notes)
