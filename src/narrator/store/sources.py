"""What belongs to the campaign as a whole: definition, imported cards, changes to either, imported knowledge (S35).

Nothing here knows a path: cards and imported sources are the same wherever the head stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from narrator.core import cards
from narrator.core.campaign import parse_definition
from narrator.core.cards import CardEdit
from narrator.core.definition import Definition
from narrator.core.errors import BadDefinition, BadValue, Damaged
from narrator.core.kept_cards import add_cards, read_card
from narrator.core.words import match_any
from narrator.store import reads
from narrator.store.open import Store
from narrator.store.records import unpack_record


@dataclass(frozen=True, slots=True)
class KnowledgeRow:
    """An imported source. ``kind``: canon, reference, inspiration; ``condition`` is '' for none (W14)."""

    id: int
    title: str
    kind: str
    is_enabled: bool
    condition: str
    passages: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that was found, and how well it matches (BM25; more is better)."""

    id: int
    title: str
    kind: str
    text: str
    score: float


def definition(store: Store) -> Definition:
    """The newest definition with the imported cards, and the player's changes to either."""
    return cards.edited(written(store), card_edits(store))


def written(store: Store) -> Definition:
    """The newest definition with the imported cards, as they were written. Raises ``BadDefinition``, ``Damaged``."""
    kept = store.db.execute("SELECT name, body FROM cards ORDER BY id").fetchall()
    authored = parse_definition(reads.definition_source(store)[1])
    try:
        return add_cards(authored, [read_card(name, body) for name, body in kept])
    except BadDefinition as error:
        where, what = error.problems[0]
        raise Damaged(f"{where} {what}.".strip()) from error


def cards_stamp(store: Store) -> tuple[int, int]:
    """Changes with every new definition and every imported card; what ``written`` gives changes with it alone."""
    sql = "SELECT (SELECT max(version) FROM definitions), (SELECT coalesce(max(id), 0) FROM cards)"
    version, newest = store.db.execute(sql).fetchone()
    return int(version), int(newest)


def card_edits(store: Store) -> dict[str, CardEdit]:
    """The player's changes to cards, by the card's name."""
    return {
        name: CardEdit(None if enabled is None else bool(enabled), text, bool(deleted))
        for name, enabled, text, deleted in store.db.execute("SELECT name, enabled, text, deleted FROM card_edits")
    }


def knowledge(store: Store) -> list[KnowledgeRow]:
    """All imported sources, in order of import."""
    sql = (
        "SELECT id, title, kind, enabled, condition, (SELECT count(*) FROM passages WHERE knowledge_id = knowledge.id)"
        " FROM knowledge ORDER BY id"
    )
    return [KnowledgeRow(a, b, c, bool(d), e, f) for a, b, c, d, e, f in store.db.execute(sql)]


def knowledge_of(store: Store, knowledge_id: int) -> KnowledgeRow:
    """One imported source. Raises ``bad-value``."""
    found = next((row for row in knowledge(store) if row.id == knowledge_id), None)
    if found is None:
        raise BadValue(f"There is no imported source #{knowledge_id}.", "`/knowledge` lists them.")
    return found


def telling_phrases(store: Store, phrases: Sequence[str], limit: int) -> list[str]:
    """Those of the phrases that tell passages apart, the rarest first.

    A word that more than a third of the passages hold says nothing about one of them. A short one of Latin letters is
    likely to be a word of grammar: it may be held by a tenth, and so says nothing where there are few passages.
    """
    total = int(store.db.execute("SELECT count(*) FROM passages").fetchone()[0])
    sql = "SELECT count(*) FROM (SELECT 1 FROM passages_fts WHERE passages_fts MATCH ? LIMIT ?)"
    found = []
    for phrase in phrases:
        most = total // 10 if phrase.isascii() and len(phrase) < 4 else max(1, total // 3)
        held = store.db.execute(sql, (match_any((phrase,)), most + 1)).fetchone()[0] if most else 0
        if 0 < held <= most:
            found.append((held, phrase))
    found.sort(key=lambda each: each[0])
    return [phrase for _, phrase in found[:limit]]


def ranked_passages(store: Store, match: str, limit: int, among: Sequence[int]) -> list[Passage]:
    """The passages of these sources that match best, by BM25."""
    marks = ",".join("?" * len(among))
    sql = f"""
    SELECT p.id, k.title, k.kind, p.text, -rank FROM passages_fts
    JOIN passages p ON p.id = passages_fts.rowid JOIN knowledge k ON k.id = p.knowledge_id
    WHERE passages_fts MATCH ? AND k.id IN ({marks}) ORDER BY rank LIMIT ?
    """
    return [Passage(*row) for row in store.db.execute(sql, (match, *among, limit))]


def has_unindexed_passages(store: Store) -> bool:
    """Whether the full-text index lacks any of the passages, wherever they stand."""
    sql = "SELECT (SELECT count(*) FROM passages) > (SELECT count(*) FROM passages_fts_docsize)"
    return bool(store.db.execute(sql).fetchone()[0])


def fired_cards(store: Store, node_ids: Sequence[int]) -> dict[int, list[str]]:
    """The cards with sticky or cooldown that fired for these narrations, by node."""
    found: dict[int, list[str]] = {}
    if node_ids:
        marks = ",".join("?" * len(node_ids))
        sql = f"SELECT node_id, record FROM provenance WHERE node_id IN ({marks})"
        for node_id, record in store.db.execute(sql, tuple(node_ids)):
            fired = unpack_record(node_id, record).get("fired")
            if fired is not None:
                found[node_id] = list(fired)
    return found
