"""Events out of bytes, however the bytes are cut."""

from __future__ import annotations

import pytest

from narrator.narrators.sse import LONGEST_LINE, EventReader, Malformed


def read(data: bytes, size: int) -> list[str]:
    reader = EventReader()
    events = [event for start in range(0, len(data), size) for event in reader.feed(data[start : start + size])]
    return events + list(reader.finish())


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    ("data", "events"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        (b"data: a\r\rdata: b\r\r", ["a", "b"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b": ping\n\ndata: a\n: ping\ndata: b\n\n", ["a\nb"]),
        (b"event: x\nid: 1\nretry: 5\ndata:a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data: a", ["a"]),
        ("data: größe 雨\n\n".encode(), ["größe 雨"]),
        (b"\n\n\n", []),
    ],
)
def test_events(data: bytes, events: list[str], size: int) -> None:
    assert read(data, size) == events


@pytest.mark.spec("T11")
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"nonsense\n", "no event"),
        (b"data: \xff\n\n", "UTF-8"),
        (b"data: " + b"x" * (LONGEST_LINE + 1), "line without an end"),
        (b"data: xxxxxxxxx\n" * (LONGEST_LINE // 10 + 1), "event without an end"),
    ],
)
def test_what_is_no_stream_of_events(data: bytes, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        read(data, 65_536)
