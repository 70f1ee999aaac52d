"""An imported story can do what the exported one can: both are played on, verb for verb, and compared (X7, S44).

Ids may differ where something was deleted before; everything is compared by who made it when.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from narrator.core.prompt import encode
from narrator.engine import prompting
from narrator.exchange.exporting import Wish, export
from narrator.store.removal import Age
from tests.engine.playing import make, playing
from tests.engine.test_provenance import Remembering, record_of, told_nodes, wander
from tests.exchange.bringing import bring, still
from tests.model.adapter import Program, Teller, Ticking
from tests.model.machine import Match
from tests.model.play import Dice, play
from tests.model.tree import RailEntry, View

BEFORE, AFTER = 60, 40
STEP_FIRST = {"retry", "retell", "fork", "go", "edit", "edit_wording", "select", "pin", "unpin", "delete_take"}


class Imported(Program):
    """A session over a campaign that an import made."""

    def __init__(self, path: Path, told: int) -> None:
        self.path = path
        self.narrator = Teller()
        self.narrator.told = told
        self.clock = Ticking()
        self.clock.seconds = 1_000_000
        self.runner = asyncio.Runner()
        self.open()


class Twins:
    """An original and what was made of its export. Owns the pairs of ids that mean the same."""

    def __init__(self, original: Program, imported: Program) -> None:
        self.original, self.imported = original, imported
        self.nodes: dict[int, int] = {}
        self.branches: dict[int, int] = {}
        self.pair()

    def pair(self) -> None:
        """Pair what is new on both sides, in order of creation."""
        for table, known in (("nodes", self.nodes), ("branches", self.branches)):
            left, right = (
                [row[0] for row in each.story.store.db.execute(f"SELECT id FROM {table} ORDER BY id")]
                for each in (self.original, self.imported)
            )
            new_left = [each for each in left if each > max(known, default=0)]
            new_right = [each for each in right if each > max(known.values(), default=0)]
            assert len(new_left) == len(new_right), table
            known.update(zip(new_left, new_right, strict=True))

    def arguments(self, verb: str, given: tuple[Any, ...]) -> tuple[Any, ...]:
        if verb in STEP_FIRST and given and given[0] is not None:
            return (self.nodes.get(given[0], 10**6), *given[1:])
        if verb in ("select_number", "save") and given[1] is not None:
            return (given[0], self.nodes.get(given[1], 10**6))
        if verb in ("switch", "delete_branch", "rename_branch"):
            return (self.branches.get(given[0], 10**6), *given[1:])
        return given

    def do(self, verb: str, *given: Any) -> None:
        left = self.original.do(verb, *given)
        right = self.imported.do(verb, *self.arguments(verb, given))
        assert left == right, (verb, given)
        self.pair()
        self.compare()

    def compare(self) -> None:
        assert self.mapped(self.original.view()) == self.imported.view()
        assert [self.mapped_branch(each) for each in self.original.rail()] == self.imported.rail()
        saved = {name: self.nodes[node] for name, node in self.original.saved().items()}
        assert saved == self.imported.saved()
        tree = {self.nodes[node]: self.mapped_node(row) for node, row in self.original.tree().items()}
        assert tree == self.imported.tree()

    def mapped(self, view: View) -> View:
        path = tuple((self.nodes[node], *rest) for node, *rest in view.path)
        return replace(view, path=path, head=self.nodes[view.head], tip=self.nodes[view.tip])

    def mapped_branch(self, entry: RailEntry) -> RailEntry:
        parent = None if entry.parent is None else self.branches[entry.parent]
        return replace(entry, id=self.branches[entry.id], parent=parent)

    def mapped_node(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        parent, role, origin, source, branch, *rest = row
        known = {None: None, **self.nodes}
        return (known[parent], role, origin, known[source], {None: None, **self.branches}[branch], *rest)


@pytest.fixture(params=range(8))
def match(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Match, random.Random]]:
    """A story that was played at random, deletions included, and made final."""
    generator = random.Random(f"exchange {request.param}")
    openings = ("Rain.", "Sun.", "Snow.")[: generator.choice((1, 1, 3))]
    with closing(Match(tmp_path / "first.narrator", openings, is_thorough=False)) as found:
        for _ in range(BEFORE):
            verb, given = play(found.model, Dice(generator))
            found.do(verb, *given)
        found.do("reopen")
        yield found, generator


@pytest.mark.spec("X7", "S42", "S44", "S11")
def test_an_imported_story_plays_on_as_its_original(match: tuple[Match, random.Random], tmp_path: Path) -> None:
    found, generator = match
    bundle, again = tmp_path / "one.json", tmp_path / "two.json"
    export(found.program.path, bundle, Wish(), clock=still)
    report = bring(tmp_path / "shelf", bundle)
    export(Path(report.campaigns[0]), again, Wish(), clock=still)
    assert bundle.read_bytes() == again.read_bytes()
    with closing(Imported(Path(report.campaigns[0]), found.program.narrator.told)) as imported:
        twins = Twins(found.program, imported)
        twins.compare()
        for _ in range(AFTER):
            verb, given = play(found.model, Dice(generator))
            found.model.perform(verb, *given)
            twins.do(verb, *given)
        assert imported.problems() == []


@pytest.mark.spec("S25", "X7")
async def test_every_prompt_is_rebuilt_after_an_import(tmp_path: Path) -> None:
    """Ids have gaps (a prune), parts are shared, takes are set aside: the messages are those that were sent."""
    mill, bundle, bare = make(tmp_path), tmp_path / "one.json", tmp_path / "bare.json"
    remembering = Remembering()
    async with playing(mill, remembering.fake, answers="yes") as play:
        await wander(play, random.Random(5), 30)
        play.story.prune(play.story.plan_prune(Age("steps", 12)))
        await wander(play, random.Random(6), 30)
        sent = [remembering.told[text.strip()].messages for _, text in told_nodes(play)]
        export(mill, bundle, Wish(), clock=still)
        export(mill, bare, Wish(with_prompts=False), clock=still)
    report = bring(tmp_path / "shelf", bundle)
    async with playing(Path(report.campaigns[0])) as play:
        nodes = told_nodes(play)
        assert len(nodes) == len(sent) >= 20
        for (node_id, _), messages in zip(nodes, sent, strict=True):
            assert encode(prompting.unpack(play.story, record_of(play, node_id)["prompt"])) == messages
        assert play.sound()
        play.story.prune(play.story.plan_prune(Age("all")))
        for node_id, _ in told_nodes(play):
            prompting.unpack(play.story, record_of(play, node_id)["prompt"])
    text = bundle.read_text(encoding="utf-8")
    assert "prompt_hash" not in text
    report = bring(tmp_path / "shelf", bare)
    assert any(each.field == "prompts" for each in report.details)
    assert '"prompts":false' in bare.read_text(encoding="utf-8")
    async with playing(Path(report.campaigns[0])) as play:
        assert (await play.do(f"/prompt #{told_nodes(play)[0][0]}")).code == "bad-value"
        assert record_of(play, told_nodes(play)[0][0])["narrator"]
