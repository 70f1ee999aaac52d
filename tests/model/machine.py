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
from pathlib import Path
from typing import Any

from tests.model.adapter import NARRATING, Program
from tests.model.naive import Model, View
from tests.model.play import Dice, play

Step = tuple[str, tuple[Any, ...]]
FAIL = "fail_next"
"""A pseudo-verb: the narration of the verb that follows fails."""


class Difference(AssertionError):
    """Where program and model part."""


class Match:
    """A model and a program that have done the same verbs. Owns the program; ``history`` replays to this point."""

    def __init__(self, program: Program, is_thorough: bool = True) -> None:
        self.model = Model()
        self.program = program
        self.is_thorough = is_thorough
        self.history: list[Step] = []
        self.compare()

    def do(self, verb: str, *arguments: Any) -> None:
        """Do a verb on both and compare."""
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

    def fail(self, verb: str, *arguments: Any) -> None:
        """Do a verb of narration whose narration fails: a refusal goes before, else nothing changes (S13)."""
        self.history.append((FAIL, (verb, *arguments)))
        told = Model()
        told.__dict__.update(self.model.__dict__)
        self.program.fail_next("narrator-unreachable")
        got = self.program.do(verb, *arguments)
        self.program.fail_next(None)
        self.agree("a failing narration succeeds", True, got is not None)
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
        self.agree("checkpoints", model.checkpoints, program.saved())
        self.agree("tree", tree(model), program.tree())
        if self.is_thorough:
            self.agree("verify", [], program.problems())


def tree(model: Model) -> dict[int, tuple[Any, ...]]:
    """Every node that is there: parent, role, origin, source, coordinate, pinned."""
    return {
        n.id: (n.parent, n.role, n.origin, n.source, n.branch, n.depth, n.pinned)
        for n in model.nodes.values()
        if not n.hidden
    }


def replay(steps: Sequence[Step], folder: Path) -> Difference | None:
    """Do the steps on a fresh campaign: the first difference, or None."""
    program = Program(folder / "replay.narrator", is_fresh=True)
    try:
        match = Match(program)
        for verb, arguments in steps:
            if verb == FAIL:
                match.fail(*arguments)
            else:
                match.do(verb, *arguments)
    except Difference as difference:
        return difference
    finally:
        program.close()
    return None


def shorten(steps: list[Step], folder: Path, tries: int = 300) -> list[Step]:
    """Leave out what the difference does not need: halves, quarters … single steps."""
    size = len(steps) // 2
    while size and tries:
        start = 0
        while start < len(steps) and tries:
            fewer = steps[:start] + steps[start + size :]
            tries -= 1
            if replay(fewer, folder):
                steps = fewer
            else:
                start += size
        size //= 2
    return steps


def run(steps: int, seed: int, folder: Path, length: int = 200) -> Difference | None:
    """Play ``steps`` verbs in campaigns of ``length``; the first difference, shortened."""
    played = 0
    while played < steps:
        generator = random.Random(f"{seed} {played}")
        program = Program(folder / "match.narrator", is_fresh=True)
        match = None
        try:
            match = Match(program, is_thorough=False)
            for n in range(min(length, steps - played)):
                match.is_thorough = n % 10 == 0
                one_step(match, generator)
        except Exception as error:
            if match is None:
                raise
            short = shorten(match.history, folder)
            return replay(short, folder) or Difference(f"{error!r}\n  after:   {match.told()}")
        finally:
            program.close()
        played += length
        if played % (10 * length) == 0:
            sys.stderr.write(f"{min(played, steps)} of {steps} verbs, no difference\n")
    return None


def one_step(match: Match, generator: random.Random) -> None:
    verb, arguments = play(match.model, Dice(generator))
    if verb in NARRATING and generator.random() < 0.05:
        match.fail(verb, *arguments)
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
