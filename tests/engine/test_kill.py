"""Killed at whatever instant, the file reopens with every accepted turn and no part of any other (S45, S11, T13)."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from narrator.core.tree import NewNode
from narrator.engine.story import Story
from narrator.store import commit, reads
from narrator.store.commit import Acceptance
from narrator.store.lock import lock_path
from narrator.store.verify import verify
from tests.engine.playing import make

NURSERY = Path(__file__).with_name("killed.py")
KILLS_A_FILE = 25
FILES = 8


class Life(NamedTuple):
    """What a child said before it was killed.

    ``opened`` is the count of steps that it found; ``begun`` the last thing it began, ``done`` the counters after the
    last that it ended; ``is_between`` where it had begun nothing since.
    """

    opened: int
    begun: str
    done: tuple[int, ...] | None
    is_between: bool


class Nursery:
    """Owns the process that forks the children."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(NURSERY)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        assert self.process.stdout is not None
        self.said = os.fdopen(os.dup(self.process.stdout.fileno()), encoding="utf-8")

    def live(self, path: Path, seed: int, seconds: float) -> Life:
        """Let a child play, and kill it so many seconds after it has opened the file."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{path}\t{seed}\n".encode())
        word, pid, opened = self.said.readline().split()
        assert word == "open"
        time.sleep(seconds)  # The instant is the point here: nothing is waited for.
        os.kill(int(pid), signal.SIGKILL)
        life = Life(int(opened), "", None, True)
        for line in self.said:
            word, _, rest = line.strip().partition(" ")
            if word == "begin":
                life = life._replace(begun=rest, is_between=False)
            elif word == "done":
                life = life._replace(done=tuple(int(each) for each in rest.split()), is_between=True)
            else:
                assert (word, rest) == ("gone", str(-signal.SIGKILL))
                break
        return life

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)
        self.said.close()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.mark.spec("S45", "S11", "T13", "U9")
@pytest.mark.parametrize("number", range(FILES))
@pytest.mark.xdist_group("kill")
def test_a_kill_at_any_instant_loses_no_turn_and_leaves_no_part(nursery: Nursery, tmp_path: Path, number: int) -> None:
    path = make(tmp_path)
    chance = random.Random(number)
    kept: str | None = None
    drafts = 0
    for kill in range(KILLS_A_FILE):
        life = nursery.live(path, number * 100 + kill, chance.random() ** 2 * 0.1)
        assert lock_path(path).exists()
        assert verify(path).problems == ()
        story = Story.open(path)
        try:
            assert json.loads(lock_path(path).read_text())["pid"] == os.getpid()
            row = story.row
            now = (row.revision, row.head_id, row.tip_id, row.steps_written)
            if life.done is not None:
                assert now[0] - life.done[0] in (0, 1), "what was reported, and at most the one under way"
                assert now[0] > life.done[0] or now == life.done
            before = life.done[3] if life.done is not None else life.opened
            assert row.steps_written - before in (0, 1, 2)
            found = reads.draft(story.store)
            draft = found.text if found is not None else None
            if life.begun.startswith("I try") and not life.is_between:
                if row.steps_written > before:
                    texts = [node.text for node in story.nodes()[-2:]]
                    assert texts == [life.begun, f"So it was: {life.begun} " + "word " * 12]
                    assert draft is None
                else:
                    # Killed before it was sent, what was there before is there still.
                    assert draft in {life.begun, kept, kept if life.done is None else None}
                    drafts += draft == life.begun
            kept = draft
            nerve = 5 + sum(node.role == "narrator" for node in story.nodes())
            assert story.state().values["player.nerve"] == nerve
        finally:
            story.close()
        assert sorted(each.name for each in tmp_path.iterdir()) == [path.name]
    assert drafts > 0


@pytest.mark.spec("S45", "S41")
def test_a_kill_after_a_deletion_makes_it_final(tmp_path: Path) -> None:
    """The next opening for writing does; a reader meanwhile sees nothing of what was deleted."""
    path = make(tmp_path)
    pid = os.fork()
    if pid == 0:
        try:
            story = Story.open(path)
            nodes = (NewNode("player", "I wait.", mode="do"), NewNode("narrator", "So."))
            commit.accept(story.store, Acceptance(1, nodes, story.position))
            commit.accept(story.store, Acceptance(2, (NewNode("narrator", "Or so."),), story.position))
            story.delete(story.plan_delete_take(story.node(3)), "take")
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    reader = Story.open(path, read_only=True)
    assert reader.row.tip_id == 4
    assert reads.node(reader.store, 3) is None
    reader.close()
    story = Story.open(path)
    assert story.store.db.execute("SELECT count(*) FROM nodes WHERE id = 3").fetchone()[0] == 0
    assert story.store.db.execute("SELECT count(*) FROM deletions").fetchone()[0] == 0
    assert story.head.is_placed
    story.close()
    assert verify(path).problems == ()
