"""Two tellers of the same tale behind one small face: the model, and the real program.

Tests and the machine speak to ``Tale``; all that the program is called by stands in ``Program``.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from narrator.config import Settings
from narrator.core.campaign import parse_definition
from narrator.core.errors import NarrationFailed, NarratorError
from narrator.core.proposal import Proposal
from narrator.core.state import initial_events
from narrator.core.tree import NewNode
from narrator.engine.commands import Command, parse_object
from narrator.engine.events import Done, Failed, Noted
from narrator.engine.session import Session
from narrator.engine.story import Story, create_campaign
from narrator.exchange.exporting import Wish, export
from narrator.narrators.port import NOTHING, Capabilities, Chunk, Completion, Delta, Finish, Message, Purpose, Request
from narrator.store import commit
from narrator.store.open import create_file
from narrator.store.verify import verify_connection
from tests.exchange.bringing import bring
from tests.model.naive import Model
from tests.model.tree import STATE, RailEntry, Refused, View, effects

DEFINITION = """
[campaign]
id = "the-machine"
title = "The machine"
opening = "Rain."

[state.player.health]
type = "number"
min = 0
max = 1000000
initial = 1000

[state.player.weapon]
type = "text"
initial = "none"
"""


class Ticking:
    """A clock that is a second later at each look."""

    def __init__(self) -> None:
        self.seconds = 0

    def __call__(self) -> str:
        self.seconds += 1
        now = self.seconds
        day, rest = divmod(now, 24 * 60 * 60)
        return f"2026-{1 + day // 28:02}-{1 + day % 28:02}T{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}+00:00"


class Teller:
    """A narrator whose n-th narration is ``N<n>`` and does to the state what ``effects`` says.

    ``failing`` is the code with which the next narration fails; ``gate`` holds one back until it is set.
    """

    name = "teller"

    def __init__(self) -> None:
        self.told = 0
        self.requests = 0
        self.failing: str | None = None
        self.gate: asyncio.Event | None = None
        self.started = asyncio.Event()

    def begin(self) -> None:
        """Count a request, and fail it when that was asked for."""
        self.requests += 1
        if self.failing:
            code, self.failing = self.failing, None
            raise NarrationFailed(code, "It was told to fail.")

    async def capabilities(self) -> Capabilities:
        return Capabilities(window=1_000_000, window_source="built in", max_output_tokens=1000, json_schema=True)

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        self.begin()
        if self.gate:
            yield Delta(PARTIAL)
            self.started.set()
            await self.gate.wait()
        self.told += 1
        yield Delta(f"N{self.told}")
        yield Finish("stop")

    async def complete(self, request: Request) -> Completion:
        if request.purpose is Purpose.EXTRACT:
            self.begin()
            changes = [{"op": op, "path": path, "value": value, "why": ""} for op, path, value in self.changes(request)]
            return Completion(json.dumps({"changes": changes}), Finish("stop"))
        self.requests += 1
        return Completion(json.dumps({"memory": "Something happened."}), Finish("stop"))

    def changes(self, request: Request) -> list[tuple[str, str | None, Any]]:
        return effects(request.scene.narration)

    def count(self, messages: Sequence[Message]) -> int:
        return sum(len(message.content) for message in messages) // 4 + 1

    async def aclose(self) -> None:
        """Nothing is held."""


class Tale(Protocol):
    """A story under test. A verb is named as the method of ``naive.Model`` and takes the same arguments."""

    def do(self, verb: str, *arguments: Any) -> str | None:
        """Do a verb: None, or the code of the error."""

    def fail_next(self, code: str | None) -> None:
        """Let the next narration fail with this code."""

    def view(self) -> View:
        """Path, head, tip, pager and state."""

    def rail(self) -> list[RailEntry]:
        """The branches, by id."""

    def saved(self) -> dict[str, int]:
        """The checkpoints: name to node."""

    def takes(self, node: int) -> list[int]:
        """A node and its siblings, as the pager counts them."""

    def revision(self) -> int:
        """The counter of S31."""

    def problems(self) -> list[str]:
        """What ``verify`` finds."""


PARTIAL = "Some of it."
"""What a narration that is held back has streamed."""

NARRATING = {"turn", "go_on", "retry", "retell", "edit"}


class ModelTale:
    """The model as a tale."""

    def __init__(self) -> None:
        self.model = Model()
        self.failing: str | None = None

    def do(self, verb: str, *arguments: Any) -> str | None:
        if self.failing and verb in NARRATING:
            code, self.failing = self.failing, None
            return code
        try:
            getattr(self.model, verb)(*arguments)
        except Refused as refused:
            return refused.code
        return None

    def fail_next(self, code: str | None) -> None:
        self.failing = code

    def view(self) -> View:
        return self.model.view()

    def rail(self) -> list[RailEntry]:
        return self.model.rail()

    def saved(self) -> dict[str, int]:
        return dict(self.model.checkpoints)

    def takes(self, node: int) -> list[int]:
        return self.model.children(self.model.nodes[node].parent)

    def revision(self) -> int:
        return self.model.revision

    def problems(self) -> list[str]:
        self.model.check_invariants()
        return []


class Answer(NamedTuple):
    """How a command ended: the code of its error and the input that came back, or None."""

    code: str | None
    draft: str | None


class Program:
    """The real program as a tale: a session over a campaign file, driven from a loop of its own.

    Owns the loop, the session and the narrator. Verbs go in as the JSON objects of the contract.
    """

    def __init__(self, path: Path, openings: Sequence[str] = ("Rain.",)) -> None:
        self.path = path
        path.unlink(missing_ok=True)
        self.narrator = Teller()
        self.clock = Ticking()
        self.runner = asyncio.Runner()
        self.create(openings)
        self.open()

    def create(self, openings: Sequence[str]) -> None:
        """Make the campaign. Several openings come from an import alone, so here the store makes them."""
        if len(openings) == 1:
            create_campaign(self.path, DEFINITION, seed=1, clock=self.clock)
            return
        events = initial_events(parse_definition(DEFINITION))
        with closing(create_file(self.path, clock=self.clock)) as store:
            commit.create(
                store,
                campaign_id="the-machine",
                title="The machine",
                seed=1,
                definition=DEFINITION,
                openings=[NewNode("opening", text, events=events) for text in openings],
            )

    def open(self) -> None:
        self.session: Session = self.runner.run(self._open())

    async def _open(self) -> Session:
        session = await Session.open(
            self.path, settings=Settings(), narrator=self.narrator, answers="yes", clock=self.clock
        )
        self.events = session.events()
        return session

    def close(self) -> None:
        self.runner.run(self.session.aclose())
        self.runner.close()

    def reopen(self) -> None:
        self.runner.run(self.session.aclose())
        self.open()

    def transfer(self) -> None:
        """Close, export, import, and go on in what was imported, under the same path."""
        self.runner.run(self.session.aclose())
        with tempfile.TemporaryDirectory(prefix="narrator-transfer-") as name:
            bundle = Path(name) / "story.json"
            export(self.path, bundle, Wish(), clock=self.clock)
            report = bring(Path(name) / "shelf", bundle)
            shutil.move(report.campaigns[0], self.path)
        self.open()

    @property
    def story(self) -> Story:
        return self.session.story

    # ------------------------------------------------------------------ verbs

    def do(self, verb: str, *arguments: Any) -> str | None:
        if verb == "reopen":
            self.reopen()
            return None
        try:
            command = parse_object(as_object(verb, arguments, self.positions()))
        except NarratorError as error:
            return error.code
        return self.perform(command)

    def positions(self) -> dict[int, int]:
        """Positions of the steps that are named by theirs; every other step of the path is named by its id."""
        return {step.id: step.position for step in self.story.steps(1, self.story.count) if step.id % 2}

    def perform(self, command: Command) -> str | None:
        """One command through the session: None, or the code of its error."""
        return self.runner.run(self._perform(command))

    async def _perform(self, command: Command) -> str | None:
        await self.session.perform(command)
        return (await self._answer(command.name)).code

    async def _answer(self, name: str) -> Answer:
        """The error that came before the command's ``done``, if any; others' answers are passed over."""
        code = draft = None
        async for event in self.events:
            if isinstance(event, Failed):
                code, draft = event.code, event.draft
            if isinstance(event, Done):
                if event.command == name:
                    break
                code = draft = None
        return Answer(code, draft)

    async def _begin(self, command: Command) -> asyncio.Task[bool]:
        """A turn whose narration has begun and waits at the gate."""
        self.narrator.gate = asyncio.Event()
        self.narrator.started.clear()
        task = asyncio.create_task(self.session.perform(command))
        started = asyncio.create_task(self.narrator.started.wait())
        await asyncio.wait({task, started}, return_when=asyncio.FIRST_COMPLETED)
        started.cancel()
        return task

    async def _finish(self, task: asyncio.Task[bool], name: str) -> Answer:
        if self.narrator.gate:
            self.narrator.gate.set()
        self.narrator.gate = None
        await task
        return await self._answer(name)

    def grow(self, steps: int) -> None:
        """Write that many corrections, each below the one before."""
        for n in range(steps):
            self.story.correct(Proposal("set", "player.health", n))

    def switch_by_name(self, name: str) -> str | None:
        """Switch to a branch by its name or label: None, or the code."""
        return self.perform(parse_object({"command": "switch", "branch": name}))

    def notes(self, verb: str, *arguments: Any) -> list[str]:
        """Do a verb: the notes that it gave."""

        async def drive() -> list[str]:
            listened = self.session.events()
            await self.session.perform(parse_object(as_object(verb, arguments)))
            found: list[str] = []
            async for event in listened:
                if isinstance(event, Noted):
                    found.append(event.text)
                if isinstance(event, Done):
                    break
            return found

        return self.runner.run(drive())

    def stopped(self, verb: str, *arguments: Any) -> str | None:
        """Begin a verb, stop it while its narration streams: the code it ends with."""

        async def drive() -> str | None:
            command = parse_object(as_object(verb, arguments))
            task = await self._begin(command)
            await self.session.perform(parse_object({"command": "stop"}))
            await task
            self.narrator.gate = None
            return (await self._answer(command.name)).code

        return self.runner.run(drive())

    def kept(self, verb: str, *arguments: Any) -> tuple[bool, str | None]:
        """Begin a verb, stop it while its narration streams, and keep what had come.

        Whether anything streamed, and the code of the ``keep``; of the verb itself where nothing did.
        """

        async def drive() -> tuple[bool, str | None]:
            command = parse_object(as_object(verb, arguments, self.positions()))
            task = await self._begin(command)
            is_streaming = not task.done()
            if is_streaming:
                await self.session.perform(parse_object({"command": "stop"}))
            await task
            self.narrator.gate = None
            code = (await self._answer(command.name)).code
            if not is_streaming:
                return False, code
            assert code == "stopped", code
            return True, await self._perform(parse_object({"command": "keep"}))

        return self.runner.run(drive())

    def while_streaming(self, verb: str, *arguments: Any) -> tuple[str | None, str | None]:
        """Do a verb while a turn streams: the codes of the verb and of the turn."""

        async def drive() -> tuple[str | None, str | None]:
            task = await self._begin(parse_object({"command": "do", "text": "Wait."}))
            code = await self._perform(parse_object(as_object(verb, arguments)))
            return code, (await self._finish(task, "do")).code

        return self.runner.run(drive())

    def moved_under(self, draft: str) -> tuple[str | None, str | None]:
        """Move the head behind the back of a turn that streams: its code, and the draft that comes back."""

        async def drive() -> tuple[str | None, str | None]:
            task = await self._begin(parse_object({"command": "do", "text": draft}))
            self.story.undo(1)
            answer = await self._finish(task, "do")
            return answer.code, answer.draft

        return self.runner.run(drive())

    def fail_next(self, code: str | None) -> None:
        self.narrator.failing = code

    # ------------------------------------------------------------------ reading

    def view(self) -> View:
        row = self.story.row
        shown = self.story.steps(1, self.story.count)
        # The text of a correction is its own encoding (S3); the model knows what it did, not how that is written.
        path = tuple((s.id, s.role, s.mode, "" if s.role == "correction" else s.text) for s in shown)
        values = self.story.state().values
        facts = tuple(fact["text"] for fact in values.get("facts", ()))
        return View(
            path,
            row.head_id,
            row.tip_id,
            self.story.redo_steps,
            tuple((s.take, s.takes) for s in shown),
            {field: values[field] for field in STATE},
            facts,
        )

    def rail(self) -> list[RailEntry]:
        return [
            RailEntry(
                b.id, b.parent, b.fork_position, b.name, b.steps, b.current, b.on_path, tuple(sorted(b.checkpoints))
            )
            for b in self.story.branches()
        ]

    def saved(self) -> dict[str, int]:
        return {each.name: each.id for each in self.story.checkpoints()}

    def takes(self, node: int) -> list[int]:
        return [take.id for take in self.story.takes(self.story.node(node))]

    def rail_takes(self) -> dict[int, list[tuple[int, list[int], list[bool]]]]:
        """For each branch the steps that have several takes: position, takes in order, which is on the path."""
        found = {}
        for branch in self.story.branches():
            steps = self.story.takes_on(branch.id)
            assert all([take.take for take in step.takes] == list(range(1, len(step.takes) + 1)) for step in steps)
            if steps:
                found[branch.id] = [
                    (step.position, [take.id for take in step.takes], [take.current for take in step.takes])
                    for step in steps
                ]
        return found

    def where(self) -> tuple[int, int, int, int, int | None]:
        """The ``head`` event: id, position, tip, redo, branch."""
        told = self.story.where()
        return told.id, told.position, told.tip, told.redo, told.branch or None

    def saved_at(self) -> dict[str, tuple[int, int, bool]]:
        """Each checkpoint: node, position, whether it is on the path."""
        return {c.name: (c.id, c.position, c.on_path) for c in self.story.checkpoints()}

    def tree(self) -> dict[int, tuple[Any, ...]]:
        """Every node that is there: parent, role, origin, source, coordinate, pinned, narrator children ever."""
        return {
            row[0]: (*row[1:7], bool(row[7]), row[8])
            for row in self.story.store.db.execute(
                "SELECT id, parent_id, role, origin, source_id, branch_id,"
                " CASE WHEN branch_id NOT NULL THEN depth END, pinned, rolls FROM nodes WHERE hidden_by IS NULL"
            )
        }

    def changes(self) -> dict[int, list[tuple[str, int | None]]]:
        """The state events of the nodes below the openings: paths, and the node that first caused a copied one."""
        found: dict[int, list[tuple[str, int | None]]] = {}
        for node, path, cause in self.story.store.db.execute(
            "SELECT node_id, e.path, e.source_node_id FROM state_events e JOIN nodes n ON n.id = e.node_id"
            " WHERE n.hidden_by IS NULL AND n.role != 'opening' ORDER BY node_id, seq"
        ):
            found.setdefault(node, []).append((path, cause))
        return found

    def untouched_rows(self) -> list[tuple[Any, ...]]:
        """All that a move leaves alone: every table but visits and places, and the campaign but for where it stands."""
        db = self.story.store.db
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        tables = [name for name in names if name not in ("campaign", "visits", "places", "sqlite_sequence")]
        found = [(table, *row) for table in tables for row in db.execute(f"SELECT * FROM {table}")]
        return [*found, *db.execute("SELECT campaign_id, title, seed, steps_written, narrator FROM campaign")]

    def rows(self) -> list[tuple[Any, ...]]:
        """The story, row for row: all tables but the draft and what upkeep derives."""
        tables = "nodes branches checkpoints visits places state_events checks provenance snapshots deletions".split()
        db = self.story.store.db
        found = [row for table in tables for row in db.execute(f"SELECT * FROM {table}")]
        return [*found, *db.execute("SELECT head_node_id, tip_node_id, fork_node_id, steps_written FROM campaign")]

    def revision(self) -> int:
        return self.story.revision

    def problems(self) -> list[str]:
        return [f"{p.invariant}: {p.text}" for p in verify_connection(self.story.store.db).problems]

    def requests(self) -> int:
        """How often the narrator was asked for anything."""
        return self.narrator.requests


def as_object(verb: str, arguments: tuple[Any, ...], positions: Mapping[int, int] = NOTHING) -> dict[str, Any]:
    """A verb of the model as a command of the contract. A step in ``positions`` is named by its position."""

    def by_id(node: int | None) -> dict[str, int] | None:
        return None if node is None else {"id": node}

    def as_step(node: int | None) -> dict[str, int] | int | None:
        return positions[node] if node in positions else by_id(node)

    word = WORDS.get(verb, verb.replace("_", "-"))
    match verb, arguments:
        case "turn", (text, *mode):
            return {"command": mode[0] if mode else "do", "text": text}
        case "undo" | "redo", (n,):
            return {"command": word, "n": n}
        case "retry", (step, times):
            return {"command": word, "step": as_step(step), "n": times}
        case "retell" | "fork" | "go", (step,):
            return {"command": word, "step": as_step(step)}
        case "edit" | "edit_wording", (step, text):
            return {"command": word, "step": as_step(step), "text": text}
        case "correct", (path, value):
            return {"command": word, "path": path, "value": value}
        case "assert_fact" | "retract_fact", (text,):
            return {"command": word, "text": text}
        case "select" | "pin" | "unpin" | "delete_take", (take,):
            return {"command": word, "n": by_id(take)}
        case "select_number", (number, step):
            return {"command": word, "n": number, "step": as_step(step)}
        case "save", (name, None):
            return {"command": word, "name": name}
        case "save", (name, step):
            return {"command": "save-at", "step": as_step(step), "name": name}
        case "restore" | "delete_checkpoint", (name,):
            return {"command": word, "name": name}
        case "rename_checkpoint", (old, new):
            return {"command": word, "old": old, "new": new}
        case "rename_branch", (branch, name):
            return {"command": word, "branch": by_id(branch), "name": name}
        case "switch" | "delete_branch", (branch,):
            return {"command": word, "branch": by_id(branch)}
        case "prune", (0,):
            return {"command": word, "all": True}
        case "prune", (steps,):
            return {"command": word, "steps": steps}
        case _, ():
            return {"command": word}
    raise ValueError(verb, arguments)


WORDS = {
    "go_on": "continue",
    "select": "take",
    "select_number": "take",
    "assert_fact": "assert",
    "retract_fact": "retract",
}
