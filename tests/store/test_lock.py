"""One writer: who holds the lock, who takes it over, and that nobody else gets in (T13)."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import socket
import time
from pathlib import Path

import pytest

from narrator.core.errors import NarratorError, StoreError
from narrator.engine.story import Story
from narrator.store import lock
from narrator.store.verify import verify
from tests.store.elsewhere import in_a_child
from tests.store.making import accept_turn, make, open_story, still

SECONDS = 3.0
PROCESSES = 4


def code_of_opening(path: Path) -> list[str]:
    try:
        Story.open(path, clock=still).close()
    except NarratorError as error:
        return [error.code, error.message]
    return ["", ""]


@pytest.mark.spec("T13")
def test_a_second_instance_is_told_who_has_it(tmp_path: Path) -> None:
    path = make(tmp_path / "x.narrator")
    story = open_story(path)
    code, message = in_a_child(lambda: code_of_opening(path))
    assert code == "locked"
    for part in (f"process {os.getpid()}", socket.gethostname(), still(), "x.narrator"):
        assert part in message
    # The same process again is a second instance too.
    assert code_of_opening(path)[0] == "locked"
    accept_turn(story, 1)
    story.close()
    assert in_a_child(lambda: code_of_opening(path)) == ["", ""]
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.spec("T13")
def test_the_lock_says_who_and_since_when(tmp_path: Path) -> None:
    story = open_story(make(tmp_path / "x.narrator"))
    holder = json.loads(lock.lock_path(story.path).read_text())
    assert holder == {"pid": os.getpid(), "host": socket.gethostname(), "since": still()}
    assert lock.lock_path(story.path).stat().st_mode & 0o777 == 0o600
    story.close()
    assert not lock.lock_path(story.path).exists()


@pytest.mark.spec("T13", "S45")
def test_a_lock_left_by_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    path = make(tmp_path / "x.narrator")
    pid = os.fork()
    if pid == 0:
        accept_turn(open_story(path), 1)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    left = lock.lock_path(path)
    assert json.loads(left.read_text())["pid"] == pid
    story = open_story(path)
    assert json.loads(left.read_text())["pid"] == os.getpid()
    assert story.count == 3
    story.close()
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.spec("T13")
@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"pid": 1}', "x" * 5000, "\udcff"])
def test_a_lock_file_with_anything_in_it_is_understood_or_passed_over(tmp_path: Path, content: str) -> None:
    path = make(tmp_path / "x.narrator")
    left = lock.lock_path(path)
    left.write_bytes(content.encode("utf-8", "surrogateescape"))
    held = os.open(left, os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    code, message = in_a_child(lambda: code_of_opening(path))
    assert code == "locked"
    assert "another process" in message
    os.close(held)
    story = open_story(path)
    story.close()
    assert not left.exists()


@pytest.mark.spec("T13")
def test_a_lock_whose_name_was_removed_is_no_lock(tmp_path: Path) -> None:
    """Somebody cleared the folder: whoever comes next has another inode, and the first lets its own go in peace."""
    path = make(tmp_path / "x.narrator")
    first = lock.acquire(path, since="1")
    os.unlink(first.path)
    second = lock.acquire(path, since="2")
    assert json.loads(second.path.read_text())["since"] == "2"
    second.release()
    second.release()
    first.release()
    assert not first.path.exists()


@pytest.mark.spec("T13", "T14")
def test_a_lock_that_cannot_be_written_is_a_named_error_and_held_by_nobody(tmp_path: Path) -> None:
    path = make(tmp_path / "x.narrator")

    def with_no_room() -> list[str]:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        try:
            lock.acquire(path, since="1")
        except StoreError as error:
            code = error.code
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        lock.acquire(path, since="2").release()
        return [code]

    assert in_a_child(with_no_room) == ["disk-full"]
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def hammer(path: Path, number: int) -> list[int]:
    """Open, write and close for a while: how often it got in, and how often another one was in."""
    got_in = was_out = 0
    end = time.monotonic() + SECONDS
    claim = path.with_name("inside")
    while time.monotonic() < end:
        try:
            story = Story.open(path, clock=still)
        except StoreError as error:
            if error.code != "locked":
                raise
            was_out += 1
            continue
        inside = os.open(claim, os.O_CREAT | os.O_EXCL | os.O_WRONLY)  # Fails where somebody else is inside.
        accept_turn(story, number)
        os.close(inside)
        os.unlink(claim)
        story.close()
        got_in += 1
    return [got_in, was_out]


@pytest.mark.spec("T13")
def test_four_processes_that_open_and_close_are_never_inside_together(tmp_path: Path) -> None:
    path = make(tmp_path / "x.narrator")
    pipes = []
    for number in range(PROCESSES):
        reader, writer = os.pipe()
        if os.fork() == 0:
            try:
                said: object = hammer(path, number)
            except BaseException as error:
                said = f"{type(error).__name__}: {error}"
            os.write(writer, json.dumps(said).encode())
            os._exit(0)
        os.close(writer)
        pipes.append(reader)
    said = []
    for reader in pipes:
        with os.fdopen(reader, "rb") as pipe:
            said.append(json.loads(pipe.read()))
    for _ in pipes:
        os.wait()
    assert all(isinstance(each, list) for each in said), said
    assert verify(path).ok
    story = open_story(path)
    assert story.count == 1 + 2 * sum(each[0] for each in said)
    assert sum(each[0] for each in said) > PROCESSES
    story.close()
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
