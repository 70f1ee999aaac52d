"""Changes of the state entered line by line, after ``/answer enter`` (S22): each is judged when it is typed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from narrator.core.errors import NarratorError
from narrator.core.proposal import Proposal
from narrator.core.state import State
from narrator.engine import entering
from narrator.engine.commands import Command
from narrator.plain.entry import Entry

if TYPE_CHECKING:
    from narrator.plain.port import Performer

HOW_TO_ENTER = (
    'One change a line: a name and a value, such as nerve 5, or "lanterns burning" add -1. '
    "/state lists the names. An empty line ends it, /undo takes the last one back, /cancel leaves all as it was."
)


class Entered:
    """The changes so far. ``asked`` is the line that began it and is answered at its end."""

    def __init__(self, asked: Entry, session: Performer) -> None:
        self.asked = asked
        self._story = session.story
        flight = session.in_flight
        self._state: State = flight.state if flight is not None and flight.state is not None else session.story.state()
        self._changes: list[Proposal] = []

    def read(self, text: str) -> tuple[Entry | None, str]:
        """(the answer where this line ends it, what is to be told of the line)."""
        line = text.strip()
        if not line:
            return self._answer("enter", entering.as_answer(self._changes)), ""
        if line == "/cancel":
            return self._answer("cancel"), ""
        if line == "/undo":
            return None, "That one is taken back." if self._changes and self._changes.pop() else "There is none."
        try:
            change = entering.read_change(self._story, line)
        except NarratorError as error:
            return None, str(error)
        judged = entering.judge_each(self._story, self._state, [*self._changes, change])[-1]
        if judged.is_fine:
            self._changes.append(change)
        return None, judged.words

    def _answer(self, choice: str, value: object = None) -> Entry:
        args = {"choice": choice} | ({"value": value} if value is not None else {})
        spelled = json.dumps({"command": "answer", **args}, ensure_ascii=False)
        return replace(self.asked, command=Command("answer", args, self.asked.number), recorded=spelled)
