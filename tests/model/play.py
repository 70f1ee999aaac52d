"""A player who tries everything: which verb comes next, and upon what, told by a source of choices.

The source is ``Dice`` for a long run by a seed, or Hypothesis through ``draw`` for short ones that shrink.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Protocol

from tests.model.naive import Model
from tests.model.tree import MODES


class Choices(Protocol):
    """Where decisions come from."""

    def number(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        ...


class Dice:
    """Choices by a seeded generator."""

    def __init__(self, generator: random.Random) -> None:
        self.generator = generator

    def number(self, low: int, high: int) -> int:
        return self.generator.randint(low, high)


NAMES = ("dawn", "the well", "Ünïcode “gate”", "a/b\\c", "🌊 tide", "شاطئ")
BAD_NAMES = ("   ", "12", "x" * 121)

WEIGHTS = {
    "turn": 16,
    "go_on": 6,
    "undo": 10,
    "undo_turn": 2,
    "redo": 6,
    "retry": 9,
    "retell": 3,
    "edit": 3,
    "edit_wording": 3,
    "correct": 3,
    "assert_fact": 2,
    "retract_fact": 1,
    "select": 8,
    "select_number": 4,
    "go": 6,
    "restore": 4,
    "switch": 6,
    "fork": 6,
    "back": 4,
    "forward": 3,
    "save": 3,
    "rename_checkpoint": 1,
    "delete_checkpoint": 2,
    "rename_branch": 1,
    "pin": 1,
    "unpin": 1,
    "delete_take": 5,
    "delete_branch": 4,
    "undelete": 4,
    "prune": 1,
    "reopen": 2,
}
DECK = tuple(verb for verb, weight in WEIGHTS.items() for _ in range(weight))


def one_of(choices: Choices, of: Sequence[Any]) -> Any:
    return of[choices.number(0, len(of) - 1)]


def some_node(model: Model, choices: Choices) -> int:
    """Mostly a node that is there, off the path as often as not; sometimes one that is not."""
    kind = choices.number(0, 9)
    if kind == 0:
        return choices.number(1, model.last_node + 2)
    there = sorted(n.id for n in model.nodes.values() if not n.hidden)
    if kind <= 4:
        return int(one_of(choices, model.path()))
    return int(one_of(choices, there[-12:] if kind <= 7 else there))


def some_branch(model: Model, choices: Choices) -> int:
    if choices.number(0, 11) == 0:
        return choices.number(1, model.last_branch + 2)
    return int(one_of(choices, sorted(model.branches)))


def some_name(choices: Choices) -> str:
    return str(one_of(choices, BAD_NAMES if choices.number(0, 14) == 0 else NAMES))


def some_saved(model: Model, choices: Choices) -> str:
    if model.checkpoints and choices.number(0, 7):
        return str(one_of(choices, sorted(model.checkpoints)))
    return some_name(choices)


def play(model: Model, choices: Choices) -> tuple[str, tuple[Any, ...]]:
    """The next verb, a method of the model, and its arguments."""
    verb = str(one_of(choices, DECK))
    if model.forward_list and choices.number(0, 4) == 0:
        verb = "forward"  # any jump empties that list, so its chance is soon gone
    return verb, arguments_of(verb, model, choices)


def arguments_of(verb: str, model: Model, choices: Choices) -> tuple[Any, ...]:
    """Arguments for a verb, most of which mean something."""
    node = some_node
    match verb:
        case "turn":
            return f"Do {model.last_node}.", MODES[choices.number(0, 2)]
        case "undo" | "redo":
            return (choices.number(1, 3) if choices.number(0, 5) else choices.number(1, 30),)
        case "retry":
            step = None if choices.number(0, 1) else node(model, choices)
            return step, (1 if choices.number(0, 3) else 3)
        case "retell" | "fork":
            return (None if choices.number(0, 1) else node(model, choices),)
        case "edit" | "edit_wording":
            return node(model, choices), f"Edit {model.last_node}."
        case "correct":
            return "player.health", 2000 + model.last_node
        case "assert_fact":
            return (f"Fact {model.last_node}.",)
        case "retract_fact":
            facts = model.fold(model.head)[1]
            return (one_of(choices, facts) if facts else "No fact.",)
        case "select" | "go" | "pin" | "unpin":
            return (node(model, choices),)
        case "delete_take":
            return (one_of(choices, sorted(model.leaves())) if choices.number(0, 3) else node(model, choices),)
        case "select_number":
            step = one_of(choices, model.path())
            return choices.number(1, len(model.children(model.nodes[step].parent)) + 1), step
        case "restore" | "delete_checkpoint":
            return (some_saved(model, choices),)
        case "rename_checkpoint":
            return some_saved(model, choices), some_name(choices)
        case "save":
            return some_name(choices), (None if choices.number(0, 1) else node(model, choices))
        case "switch" | "delete_branch":
            return (some_branch(model, choices),)
        case "rename_branch":
            return some_branch(model, choices), some_name(choices)
        case "prune":
            return (0 if choices.number(0, 1) else choices.number(1, 12),)
        case _:
            return ()
