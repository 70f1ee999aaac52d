"""Writing a bundle (X7): rows to one JSON document, streamed, one row a line.

Equal campaigns give equal bytes: ids become ordinals in order of creation, what has its usual value is left out, and
nothing of this export (time, path, version) is in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from narrator.exchange.bundle_models import FORMAT
from narrator.exchange.progress import Progress, silent
from narrator.store.parts import named_in
from narrator.store.records import unpack_record
from narrator.store.rows import Rows

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
_EVERY = 1000


class _Ordinals:
    """The ordinal of each id. Where ids have no gap they are their own."""

    def __init__(self, ids: Iterable[int]) -> None:
        self._of: dict[int, int] | None = None
        last = 0
        for number, each in enumerate(ids, 1):
            if self._of is None and each != number:
                self._of = {known: known for known in range(1, number)}
            if self._of is not None:
                self._of[each] = number
            last = number
        self._last = last

    def __call__(self, each: int | None) -> int | None:
        """The ordinal, or None for None and for what was deleted."""
        if each is None:
            return None
        if self._of is None:
            return each if 1 <= each <= self._last else None
        return self._of.get(each)


def write_bundle(
    rows: Rows, write: Callable[[str], object], *, with_prompts: bool = True, progress: Progress = silent
) -> None:
    """Write the bundle of a campaign, piece by piece. What ``progress`` raises goes through."""
    node = _Ordinals(rows.ids("nodes"))
    branch = _Ordinals(rows.ids("branches"))
    digests = _digests(rows) if with_prompts else {}
    total = rows.count("nodes")

    def section(key: str, bodies: Iterable[dict[str, Any] | str]) -> None:
        write(f',\n"{key}":[')
        for index, body in enumerate(bodies):
            write(("," if index else "") + "\n" + _encode(body))
            if key == "nodes" and index % _EVERY == 0:
                progress("export", index, total)
        write("\n]")

    write(f'{{"format":{_encode(FORMAT)},\n"campaign":{_encode(_campaign(rows, node))}')
    section("definitions", ({"source": s, "created_at": at} for _, s, at in rows.of("definitions")))
    section("branches", _branches(rows, node))
    section("nodes", _nodes(rows, node, branch))
    section(
        "checkpoints", ({"name": n, "node": node(at), "created_at": when} for n, at, when in rows.of("checkpoints"))
    )
    section("visits", _visits(rows, node))
    section("places", ({"stack": s, "head": node(head), "tip": node(tip)} for s, head, tip in rows.of("places")))
    section("memories", _memories(rows, node))
    section("comments", ({"node": node(at), "text": t, "created_at": when} for at, t, when in rows.of("comments")))
    section("cards", ({"name": name, **json.loads(body)} for name, body in rows.of("cards")))
    section("card_edits", _card_edits(rows))
    section("knowledge", _knowledge(rows))
    section("kept", ({"kind": k, "name": n, "body": json.loads(b)} for k, n, b in rows.of("kept")))
    if not with_prompts:
        write(',\n"prompts":false')
    section("parts", (text for digest in digests if (text := rows.part(digest)) is not None))
    section("provenance", _provenance(rows, node, digests, with_prompts=with_prompts))
    write("\n}\n")
    progress("export", total, total)


def _lean(body: dict[str, Any]) -> dict[str, Any]:
    """Without what has its usual value: None, 0, false, no text, no items."""
    return {key: value for key, value in body.items() if value or (value == "" and key == "text")}


def _campaign(rows: Rows, node: _Ordinals) -> dict[str, Any]:
    campaign_id, title, seed, head, tip, _, written, fork, narrator, tracking, created_at, played_at, seconds = next(
        rows.of("campaign")
    )
    body = {"id": campaign_id, "title": title, "seed": seed, "head": node(head), "tip": node(tip), "fork": node(fork)}
    body |= {"narrator": narrator, "tracking": bool(tracking), "written": written, "created_at": created_at}
    return _lean({**body, "played_at": played_at, "played_seconds": seconds}) | {"id": campaign_id, "title": title}


def _branches(rows: Rows, node: _Ordinals) -> Iterator[dict[str, Any]]:
    for fork, name, created_at in rows.branches():
        yield _lean({"fork": node(fork), "name": name, "created_at": created_at})


def _nodes(rows: Rows, node: _Ordinals, branch: _Ordinals) -> Iterator[dict[str, Any]]:
    events = _Beside(rows.of("state_events"))
    checks = _Beside(rows.of("checks"))
    for row in rows.of("nodes"):
        node_id, parent, branch_id, _, role, mode, text, origin, source, _, created_at, pinned, rolls, unknown, n = row
        yield _lean(
            {
                "parent": node(parent),
                "branch": branch(branch_id),
                "role": role,
                "mode": mode,
                "text": text,
                "origin": origin,
                "source": node(source),
                "created_at": created_at,
                "written": n,
                "pinned": bool(pinned),
                "rolls": rolls,
                "unknown": bool(unknown),
                "events": [_event(each, node) for each in events.of(node_id)],
                "checks": [_check(each, node) for each in checks.of(node_id)],
            }
        )


class _Beside:
    """Rows that hang from nodes, read along with them: both are in order of the node's id."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def of(self, node_id: int) -> list[tuple[Any, ...]]:
        found = []
        while self._next is not None and self._next[0] <= node_id:
            if self._next[0] == node_id:
                found.append(self._next)
            self._next = next(self._rows, None)
        return found


def _event(row: tuple[Any, ...], node: _Ordinals) -> dict[str, Any]:
    _, _, op, path, value, previous, source, cause, note = row
    body: dict[str, Any] = {"op": op, "path": path}
    if value is not None:
        body["value"] = json.loads(value)
    if previous is not None:
        body["previous"] = json.loads(previous)
    body["source"] = source
    cause = node(cause)
    if cause is not None:
        body["from"] = cause
    if note:
        body["note"] = note
    return body


def _check(row: tuple[Any, ...], node: _Ordinals) -> dict[str, Any]:
    _, _, skill, difficulty, outcome, roll, total, target, cause = row
    body = {
        "skill": skill,
        "difficulty": difficulty,
        "outcome": outcome,
        "roll": roll,
        "total": total,
        "target": target,
    }
    cause = node(cause)
    return body if cause is None else {**body, "from": cause}


def _visits(rows: Rows, node: _Ordinals) -> Iterator[dict[str, Any]]:
    for tip, head, _, visited_at, written in rows.of("visits"):
        yield _lean({"tip": node(tip), "head": node(head), "visited_at": visited_at, "written": written})


def _memories(rows: Rows, node: _Ordinals) -> Iterator[dict[str, Any]]:
    for node_id, text, source, covers, pinned, forgotten, created_at in rows.memories():
        body = {"node": node(node_id), "text": text, "source": source, "covers": covers, "pinned": bool(pinned)}
        yield _lean({**body, "forgotten": bool(forgotten), "created_at": created_at})


def _card_edits(rows: Rows) -> Iterator[dict[str, Any]]:
    for name, enabled, text, deleted in rows.of("card_edits"):
        body: dict[str, Any] = {"name": name}
        if enabled is not None:
            body["enabled"] = bool(enabled)
        if text is not None:
            body["text"] = text
        yield {**body, "deleted": True} if deleted else body


def _knowledge(rows: Rows) -> Iterator[dict[str, Any]]:
    passages: dict[int, list[str]] = {}
    for source, text in rows.of("passages"):
        passages.setdefault(source, []).append(text)
    for source, title, kind, enabled, created_at, condition in rows.of("knowledge"):
        body = {"title": title, "kind": kind, "enabled": bool(enabled), "created_at": created_at}
        body |= {"condition": condition} if condition else {}
        yield {**body, "passages": passages.get(source, [])}


def _digests(rows: Rows) -> dict[bytes, int]:
    """The parts that any provenance names, by their hash, numbered in the order in which they are first named."""
    found: dict[bytes, int] = {}
    for node_id, record in rows.of("provenance"):
        for each in named_in(unpack_record(node_id, record)):
            digest = bytes.fromhex(each)
            if digest not in found and rows.part(digest) is not None:
                found[digest] = len(found) + 1
    return found


def _provenance(
    rows: Rows, node: _Ordinals, digests: dict[bytes, int], *, with_prompts: bool
) -> Iterator[dict[str, Any]]:
    for node_id, packed in rows.of("provenance"):
        record = unpack_record(node_id, packed)
        hashes = {each: digests[bytes.fromhex(each)] for each in named_in(record) if bytes.fromhex(each) in digests}
        record.pop("prompt_hash", None)
        if "prompt" in record:
            if with_prompts:
                record["prompt"] = _prompt(record["prompt"], hashes, node)
            else:
                del record["prompt"]
        yield {"node": node(node_id), "record": record}


def _prompt(value: Any, hashes: dict[str, int], node: _Ordinals) -> Any:
    """A packed prompt with ordinals for hashes and for the ids of nodes."""
    if isinstance(value, str) and value in hashes:
        return {"part": hashes[value]}
    if isinstance(value, list):
        return [_prompt(each, hashes, node) for each in value]
    if isinstance(value, dict):
        return {
            key: [node(each) for each in inner]
            if key == "history"
            else node(inner)
            if key == "node_id"
            else _prompt(inner, hashes, node)
            for key, inner in value.items()
        }
    return value
