"""How the record of a request is kept (S25): JSON, deflated with the words that every record has known beforehand.

The first byte names the way. 1: raw deflate with the preset dictionary ``_WORDS_1``, which is part of the format and is
never edited: other words are another number. ``{``: plain JSON.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from narrator.core.errors import Damaged

_WORDS_1 = (
    b'"refused":[{"op":"set","path":"","value":"","reason":""}],"notes":["],"remark":"asides":[0,0,0],"usage":[0,0,0],'
    b'"sampling":{"temperature":0.8,"top_p":0.95,"seed":1},"read_from":{"extract":"fired":["finish":"length",'
    b'{"kind":"correction","source":"{"kind":"knowledge","source":"{"kind":"card","source":"","why":"key ","hash":"'
    b'{"kind":"memory","source":"#1","why":"words (score 1.00), meaning (likeness 0.50)","hash":"'
    b'{"kind":"state","source":"state","hash":""},{"kind":"input","text":"[do] ","source":"player","why":"do"}],'
    b'"checkpoint":"","history":[1,2]}}{"narrator":"","purpose":"narrate","model":"","window":16384,"seconds":1.234,'
    b'"finish":"stop","prompt_hash":"","prompt":{"prefix":"","tail":[{"kind":"'
)


def pack_record(record: Mapping[str, Any]) -> bytes:
    """A record as it is written."""
    return pack_text(json.dumps(dict(record), ensure_ascii=False, separators=(",", ":")))


def pack_text(text: str) -> bytes:
    """A record that is JSON already, or what is left of one: whether it can be read is found by who reads it."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=_WORDS_1)
    return b"\x01" + deflate.compress(text.encode()) + deflate.flush()


def unpack_record(node_id: int, kept: bytes | str) -> dict[str, Any]:
    """The record of the node that it hangs from. Raises ``Damaged``."""
    try:
        if isinstance(kept, bytes) and kept[:1] == b"\x01":
            inflate = zlib.decompressobj(-zlib.MAX_WBITS, zdict=_WORDS_1)
            kept = inflate.decompress(kept[1:]) + inflate.flush()
        found = json.loads(kept)
    except (zlib.error, ValueError) as error:
        raise Damaged(f"How step #{node_id} was made cannot be read: {error}.", node_id, "S5.7") from error
    if not isinstance(found, dict):
        raise Damaged(f"How step #{node_id} was made is no record.", node_id, "S5.7")
    return found
