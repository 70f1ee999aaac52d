"""The campaigns that are measured, written by the store's own commit, so that they are what play would have made.

============  =====================================================================================
flat-600      one branch, 600 nodes
chain-200     a path of 600 nodes through 200 forks, each of which leaves two nodes behind
star-200      200 branches of three nodes that leave the opening
long-100k     one branch, 100,000 nodes
forest-100k   100,000 nodes, a path through 1,000 nested forks, another take at every tenth step
============  =====================================================================================

Narrator nodes have about 1,700 bytes, inputs about 60; two events a turn on 30 fields, a memory every six nodes, 40
cards. The last step of each has one more take, and checkpoints stand all along the path, so that every move can be
made everywhere. Equal seeds give equal rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from narrator.bench import prose
from narrator.core.state import Event, State, advance, dump
from narrator.core.tree import Mode, NewNode, Position
from narrator.engine.story import Story, create_campaign
from narrator.store import commit
from narrator.store.commit import Acceptance

FIELDS = 30
CARDS = 40
CHECKPOINTS = 100
NODES_A_MEMORY = 6
NODES_A_WRITE = 600
SMALL = ("flat-600", "chain-200", "star-200")
LARGE = ("long-100k", "forest-100k")


def still_clock() -> str:
    """A clock that stands still."""
    return "2026-01-02T03:04:05+00:00"


def definition(random: Random) -> str:
    """A definition with 30 fields and 40 cards, as TOML."""
    lines = [
        "[campaign]",
        'id = "bench"',
        'title = "The Drowned Road"',
        f'opening = """{prose.narration(random, 900)}"""',
        'instructions = "Second person, present tense. Never act for the player."',
        "[player]",
        'name = "Ansa"',
        "[start]",
        'location = "ferry"',
    ]
    for number in range(FIELDS):
        lines += [f"[state.measure.field{number:02}]", 'type = "number"', "min = 0", "max = 1000", "initial = 0"]
    for number in range(CARDS):
        lines += ["[[cards]]", f'name = "Card {number}"', f'keys = ["key{number}", "stone {number}"]']
        lines += [f'text = "{prose.memory(random)}"']
    return "\n".join(lines) + "\n"


@dataclass(slots=True)
class _Line:
    """Where a line being written stands: its last node, depth, state there."""

    node_id: int
    depth: int
    state: State


class Builder:
    """Writes one campaign. Owns its open ``Story`` until ``close``, and the source of its seeded text."""

    def __init__(self, path: Path, seed: int) -> None:
        self.random = Random(seed)
        create_campaign(path, definition(self.random), seed=seed, clock=still_clock)
        self.story = Story.open(path, clock=still_clock)
        # A scratch file may be lost; what is written is the same.
        self.story.store.db.execute("PRAGMA synchronous = OFF")
        head = self.story.head
        self.line = _Line(head.id, 1, self.story.state())
        self._turn = 0

    def turn(self, state: State) -> tuple[NewNode, NewNode]:
        """An input and its narration with two events."""
        said = NewNode("player", prose.player_input(self.random), mode="do")
        return said, self.narration(advance(state, "player", ()))

    def narration(self, state: State, *, mode: Mode | None = None) -> NewNode:
        """A narrator's node with two events upon ``state``."""
        events = []
        for _ in range(2):
            self._turn += 1
            path = f"measure.field{self._turn % FIELDS:02}"
            value = self.random.randrange(1000)
            events.append(Event("set", path, value, state.values.get(path), "model"))
        return NewNode("narrator", prose.narration(self.random), mode=mode, origin="generated", events=tuple(events))

    def write(self, count: int, *, is_fork: bool = False) -> list[int]:
        """Write ``count`` nodes below the line: turns, and a continue where one is left over. Returns their ids."""
        state = self.line.state
        nodes: list[NewNode] = []
        if count % 2:
            nodes.append(self.narration(state, mode="continue"))
        before = [state]
        for node in nodes:
            state = advance(state, node.role, node.events)
            before.append(state)
        while len(nodes) < count:
            for node in self.turn(state):
                nodes.append(node)
                state = advance(state, node.role, node.events)
                before.append(state)
        ids = self._accept(self.line.node_id, nodes, lambda index: dump(before[index]), is_fork=is_fork)
        first = self.line.depth + 1
        for offset, node_id in enumerate(ids):
            if (first + offset) % NODES_A_MEMORY == 0:
                commit.remember(
                    self.story.store,
                    node_id,
                    prose.memory(self.random),
                    source="generated",
                    first_depth=first + offset - 5,
                )
        self.line = _Line(ids[-1], self.line.depth + count, state)
        return ids

    def _accept(
        self, anchor: int, nodes: list[NewNode], state_at: Callable[[int], str] | None, *, is_fork: bool = False
    ) -> list[int]:
        expected = self.story.position
        write = Acceptance(anchor, tuple(nodes), expected, is_fork=is_fork, narrated=len(nodes) - 1, state_at=state_at)
        return commit.accept(self.story.store, write)

    def leave_behind(self, count: int) -> None:
        """Write ``count`` nodes and go back to where the line was: what is written next opens a branch."""
        start = self.line
        self.write(count)
        self.line = start
        self.story.undo(count)

    def add_take(self, parent_id: int) -> int:
        """Another narration below a node, by a retry; head and tip go back to the line. Returns its id."""
        take = self.narration(State())
        (take_id,) = self._accept(parent_id, [take], None)
        self.stand()
        return take_id

    def stand(self) -> None:
        """Head and tip on the end of the line."""
        to = Position(self.line.node_id, self.line.node_id)
        if self.story.position != to:
            commit.move(self.story.store, to, expected=self.story.position, remembers=True)

    def finish(self) -> None:
        """One more take of the last step, checkpoints all along the path; then close the file."""
        parent = self.story.head.parent_id
        assert parent is not None
        self.add_take(parent)
        count = self.story.count
        for number in range(CHECKPOINTS):
            (node,) = self.story.nodes(1 + number * (count - 1) // CHECKPOINTS, 1 + number * (count - 1) // CHECKPOINTS)
            self.story.save(f"mark {number}", node)
        self.story.close()


def _flat(builder: Builder, count: int) -> None:
    written = 1
    while written < count:
        written += len(builder.write(min(NODES_A_WRITE, count - written)))


def write_flat(path: Path, count: int, *, seed: int = 1) -> Path:
    """A campaign of one branch with ``count`` nodes, of whatever length; its path."""
    builder = Builder(path, seed)
    _flat(builder, count)
    builder.finish()
    return path


def _chain(builder: Builder, forks: int) -> None:
    for number in range(forks):
        builder.leave_behind(2)
        builder.write(2 if number == 0 else 3)


def _star(builder: Builder, forks: int) -> None:
    opening = builder.line
    for number in range(forks):
        if number:
            builder.line = opening
            builder.story.undo(3)
        builder.write(3)


def _forest(builder: Builder, forks: int) -> None:
    for _ in range(forks):
        builder.leave_behind(2)
        start, above = builder.line.depth, builder.line.node_id
        ids = [above, *builder.write(89)]
        for depth in range(start + 1, start + 90):
            if depth % 10 == 0:
                builder.add_take(ids[depth - start - 1])


_SHAPES: dict[str, Callable[[Builder], None]] = {
    "flat-600": lambda builder: _flat(builder, 600),
    "chain-200": lambda builder: _chain(builder, 200),
    "star-200": lambda builder: _star(builder, 200),
    "long-100k": lambda builder: _flat(builder, 100_000),
    "forest-100k": lambda builder: _forest(builder, 1_000),
}


def build(name: str, folder: Path, *, seed: int = 1) -> Path:
    """Write the campaign ``name`` into ``folder``; the path of its file."""
    path = folder / f"{name}.narrator"
    builder = Builder(path, seed)
    _SHAPES[name](builder)
    builder.finish()
    return path
