"""Lines from bytes and descriptors, output to descriptors, signals."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrator.plain.output import Output
from narrator.plain.reader import Line, Splitter, StreamSource
from narrator.plain.signals import Interrupts


@given(st.lists(st.binary(max_size=12)), st.integers(1, 7))
def test_lines_are_the_same_however_the_bytes_come(chunks: list[bytes], size: int) -> None:
    data = b"\n".join(chunks)
    whole = Splitter()
    expected = whole.feed(data) + whole.finish()
    pieces = Splitter()
    found = [line for at in range(0, len(data), size) for line in pieces.feed(data[at : at + size])]
    assert found + pieces.finish() == expected
    assert [line.number for line in expected] == list(range(1, len(expected) + 1))


@pytest.mark.spec("U15")
def test_ends_marks_and_broken_bytes() -> None:
    splitter = Splitter()
    found = splitter.feed(b"\xef\xbb\xbfone\r\n\n\xff\x85\xe2\x80\xa8x\nlast") + splitter.finish()
    assert found == [
        Line(1, "one"),
        Line(2, ""),
        Line(3, "\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}\u2028x", is_clean=False),
        Line(4, "last"),
    ]


async def test_a_pipe_is_read_beside_the_loop_to_its_end() -> None:
    reading, writing = os.pipe()
    lines: list[Line] = []
    ended = asyncio.Event()
    StreamSource(reading).begin(asyncio.get_running_loop(), lines.append, ended.set)
    os.write(writing, b"one\ntwo")
    os.close(writing)
    async with asyncio.timeout(5):
        await ended.wait()
    assert [line.text for line in lines] == ["one", "two"]
    os.close(reading)


def test_output_keeps_the_order_and_is_utf8() -> None:
    reading, writing = os.pipe()
    output = Output(lambda: None, out=writing, err=writing)
    output.write("é")
    output.write("!\n", is_error=True)
    output.write("\ud800")
    output.close()
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        assert file.read() == "é!\n?".encode()


@pytest.mark.spec("U15")
def test_a_reader_that_has_gone_is_told_once_and_all_ends_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    error_reading, error_writing = os.pipe()
    told = threading.Semaphore(0)
    output = Output(told.release, out=writing, err=error_writing)
    output.write("gone")
    output.write("gone too")
    output.write("not said any more", is_error=True)
    output.close()
    os.close(error_writing)
    with os.fdopen(error_reading, "rb") as file:
        assert file.read() == b""
    assert told.acquire(blocking=False)
    assert not told.acquire(blocking=False)
    os.close(writing)


@pytest.mark.spec("U14")
def test_the_second_interrupt_within_two_seconds_means_quit_when_nothing_runs() -> None:
    moments = iter([0.0, 1.0, 10.0, 13.0, 14.0, 20.0, 21.0, 21.5])
    interrupts = Interrupts(lambda: next(moments))
    found = [interrupts.is_quit(is_running=is_running) for is_running in (0, 0, 0, 0, 1, 1, 1, 0)]
    assert found == [False, True, False, False, False, False, False, True]
