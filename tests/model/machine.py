"""Model and program side by side: every verb is done by both, and everything a player can see must agree.

``python -m tests.model.machine --steps 100000 [--seed N]`` plays for as long as told, many campaigns of a few hundred
verbs each, and prints the shortest play it finds on which the two differ.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.model.adapter import NARRATING, PARTIAL, Program
from tests.model.naive import Model
from tests.model.play import Dice, play
from tests.model.transfer import renumber
from tests.model.tree import View

Step = tuple[str, tuple[Any, ...]]
OPENINGS = ("Rain.", "Sun.", "Snow.")
FAIL = "fail_next"
KEEP = "keep"
TRANSFER = "transfer"
"""Pseudo-verbs: the narration of the verb among the arguments fails, or is stopped and kept; export and import."""
FAILURES = (
    *("narrator-unreachable", "narrator-refused", "narrator-auth", "narrator-rate-limited", "narrator-timeout"),
    *("narrator-broke-off", "narrator-malformed", "narrator-empty", "narrator-filtered", "context-too-long"),
)


class Difference(AssertionError):
    """Where program and model part."""


class Match:
    """A model and a program that have done the same verbs. Owns the program; ``history`` replays to this point."""

    def __init__(self, path: Path, openings: Sequence[str] = OPENINGS[:1], is_thorough: bool = True) -> None:
        self.model = Model(openings)
        self.program = Program(path, openings)
        self.is_thorough = is_thorough
        self.history: list[Step] = []

    def close(self) -> None:
        self.program.close()

    def begin(self, turns: int = 0) -> None:
        """Compare the opening, and play so many turns: a story may be deep before anything is undone."""
        self.compare()
        for _ in range(turns):
            self.do("turn", "Go on.")

    def do(self, verb: str, *arguments: Any) -> None:
        """Do a verb on both and compare."""
        if verb == TRANSFER:
            self.transfer()
            return
        self.history.append((verb, arguments))
        before = (self.model.view(), self.model.rail())
        revision = self.program.revision()
        expected = self.model.perform(verb, *arguments)
        got = self.program.do(verb, *arguments)
        allowed = {None} if isinstance(expected, View) else expected
        self.agree("answer", allowed if got not in allowed else {got}, {got})
        self.model.check_invariants()
        self.compare()
        if (self.model.view(), self.model.rail()) != before:
            self.agree("revision raised (S31)", True, self.program.revision() > revision)

    def transfer(self) -> None:
        """Go on with what an import makes of an export (X7, S44)."""
        self.history.append((TRANSFER, ()))
        self.model.perform("reopen")
        renumber(self.model)
        self.program.transfer()
        self.compare()

    def fail(self, verb: str, *arguments: Any) -> None:
        """Do a verb of narration whose narration fails, each time in another way: nothing changes (S13)."""
        self.history.append((FAIL, (verb, *arguments)))
        before, asked = self.program.rows(), self.program.requests()
        code = FAILURES[len(self.history) % len(FAILURES)]
        self.program.fail_next(code)
        got = self.program.do(verb, *arguments)
        self.program.fail_next(None)
        if self.program.requests() > asked:
            self.agree("the code of a failing narration", code, got)
        self.agree("a failing narration fails", True, got is not None)
        self.agree("rows after a failure (S13)", before, self.program.rows())
        self.compare()

    def keep(self, verb: str, *arguments: Any) -> None:
        """Do a verb whose narration is stopped and then kept (T3): it ends as any other, with the text so far."""
        self.history.append((KEEP, (verb, *arguments)))
        is_streaming, got = self.program.kept(verb, *arguments)
        self.model.partial = PARTIAL if is_streaming else None
        expected = self.model.perform(verb, *arguments)
        allowed = {None} if isinstance(expected, View) else expected
        self.agree("answer", allowed if got not in allowed else {got}, {got})
        self.compare()

    def agree(self, what: str, expected: Any, got: Any) -> None:
        if expected != got:
            raise Difference(f"{what}\n  model:   {expected}\n  program: {got}\n  after:   {self.told()}")

    def told(self) -> str:
        return "; ".join(f"{verb}{arguments}" for verb, arguments in self.history)

    def compare(self) -> None:
        """Everything that a player can see, and what ``verify`` finds."""
        model, program = self.model, self.program
        expected, got = model.view(), program.view()
        for name in ("path", "head", "tip", "redo", "pager", "state", "facts"):
            self.agree(name, getattr(expected, name), getattr(got, name))
        self.agree("rail", model.rail(), program.rail())
        where = (model.head, len(expected.path), model.tip, expected.redo, model.ends_on(model.tip))
        self.agree("head event", where, program.where())
        saved = {name: (at, len(model.path(at)), at in model.path()) for name, at in model.checkpoints.items()}
        self.agree("checkpoints", saved, program.saved_at())
        self.agree("tree", tree(model), program.tree())
        self.agree("state events", changes(model), program.changes())
        if self.is_thorough:
            self.agree("takes on the rail (S18, S29)", rail_takes(model), program.rail_takes())
            self.agree("verify", [], program.problems())


def tree(model: Model) -> dict[int, tuple[Any, ...]]:
    """Every node that is there: parent, role, origin, source, coordinate, pinned, narrator children ever."""
    return {
        n.id: (n.parent, n.role, n.origin, n.source, n.branch, n.depth, n.pinned, n.narrated)
        for n in model.nodes.values()
        if not n.hidden
    }


def rail_takes(model: Model) -> dict[int, list[tuple[int, list[int], list[bool]]]]:
    """For each branch the steps below its own that have several takes: position, takes, which is on the path."""
    found: dict[int, list[tuple[int, list[int], list[bool]]]] = {}
    path = set(model.path())
    roots = [each.id for each in model.rail() if each.parent is None]
    for parent in [None, *(n.id for n in sorted(model.nodes.values(), key=lambda n: len(model.path(n.id))))]:
        takes = model.children(parent)
        if len(takes) > 1:
            branch = None if parent is None else model.nodes[parent].branch
            for owner in roots if branch is None else [branch]:
                here = (len(model.path(takes[0])), takes, [take in path for take in takes])
                found.setdefault(owner, []).append(here)
    return found


def changes(model: Model) -> dict[int, list[tuple[str, int | None]]]:
    """The state events of the nodes below the openings: paths, and the node that first caused a copied one."""
    there = [n for n in model.nodes.values() if not n.hidden and n.parent is not None]
    return {n.id: [(path or "facts", n.cause) for _, path, _ in n.changes] for n in there if n.changes}


def replay(steps: Sequence[Step], path: Path, openings: Sequence[str]) -> Difference | None:
    """Do the steps on a fresh campaign: the first difference, or None."""
    with closing(Match(path, openings)) as match:
        try:
            match.begin()
            for verb, arguments in steps:
                if verb == FAIL:
                    match.fail(*arguments)
                elif verb == KEEP:
                    match.keep(*arguments)
                else:
                    match.do(verb, *arguments)
        except Difference as difference:
            return difference
        except Exception as error:
            return Difference(f"{error!r}\n  after:   {match.told()}")
    return None


def shorten(steps: list[Step], path: Path, openings: Sequence[str], tries: int = 400) -> list[Step]:
    """Leave out what the difference does not need: halves, quarters … single steps."""
    size = len(steps) // 2
    while size and tries:
        start = 0
        while start < len(steps) and tries:
            fewer = steps[:start] + steps[start + size :]
            tries -= 1
            if replay(fewer, path, openings):
                steps = fewer
            else:
                start += size
        size //= 2
    return steps


def run(steps: int, seed: int, folder: Path, length: int = 200) -> Difference | None:
    """Play ``steps`` verbs in campaigns of ``length``; the first difference, shortened."""
    path = folder / "match.narrator"
    for played in range(0, steps, length):
        generator = random.Random(f"{seed} {played}")
        openings = OPENINGS[: generator.choice((1, 1, 1, 3))]
        if played and played % (10 * length) == 0:
            sys.stderr.write(f"{played} of {steps} verbs, no difference\n")
        with closing(Match(path, openings)) as match:
            try:
                match.begin(generator.choice((0, 0, 16, 34)))
                for n in range(min(length, steps - played)):
                    match.is_thorough = n % 10 == 0
                    one_step(match, generator)
                continue
            except Exception as error:
                found = Difference(f"{error!r}\n  after:   {match.told()}")
        short = shorten(match.history, path, openings)
        return replay(short, path, openings) or found
    return None


def one_step(match: Match, generator: random.Random) -> None:
    verb, arguments = play(match.model, Dice(generator))
    fated_step(match, generator.randint(0, 19), verb, arguments)


def fated_step(match: Match, fate: int, verb: str, arguments: tuple[Any, ...]) -> None:
    """Do a verb; a narration fails at fate 19, is stopped and kept at 18; from 12 on a reopening is a transfer."""
    if fate >= 12 and verb == "reopen":
        match.transfer()
    elif fate == 19 and verb in NARRATING:
        match.fail(verb, *arguments)
    elif fate == 18 and verb in NARRATING:
        if verb == "retry":
            arguments = (arguments[0], 1)
        match.keep(verb, *arguments)
    else:
        match.do(verb, *arguments)


def main() -> int:
    parser = argparse.ArgumentParser(description="Hold the program against the naive model of the story tree.")
    parser.add_argument("--steps", type=int, default=100_000, help="how many verbs to play")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--length", type=int, default=200, help="verbs a campaign")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="narrator-machine-") as folder:
        found = run(given.steps, given.seed, Path(folder), given.length)
    sys.stdout.write(f"{found}\n" if found else f"{given.steps} verbs, no difference\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
