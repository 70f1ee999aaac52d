"""Two tellers of the same tale behind one small face: the model, and the real program.

Tests and the machine speak to ``Tale``; all that the program is called by stands in ``Program``.
"""

from __future__ import annotations

from typing import Any, Protocol

from tests.model.naive import Model, RailEntry, Refused, View


class Tale(Protocol):
    """A story under test. A verb is named as the method of ``naive.Model`` and takes the same arguments."""

    def do(self, verb: str, *arguments: Any) -> str | None:
        """Do a verb: None, or the code of the error."""

    def fail_next(self, code: str) -> None:
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

    def fail_next(self, code: str) -> None:
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


class Program:
    """Not there yet."""
