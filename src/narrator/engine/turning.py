"""Turns on their way: told in their lane, accepted, shown. Whatever happens to one, the story is what it was or one
accepted turn further (S12, S13); what a turn asks and commits stands in ``telling``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from narrator.core.checks import Check
from narrator.core.errors import Refusal, Stopped
from narrator.core.phrases import phrase_change
from narrator.core.state import Event as StateEvent
from narrator.core.state import value_after
from narrator.core.titles import in_titles
from narrator.engine import state_views, telling
from narrator.engine.draft import InFlight
from narrator.engine.events import CheckMade, ChecksMade, Noted, StateChange, StateChanged
from narrator.engine.jobs import Lanes
from narrator.engine.story import Story
from narrator.engine.turn import Plan
from narrator.store import commit, state_reads

if TYPE_CHECKING:
    from narrator.engine.session import Session

_log = logging.getLogger(__name__)


class Turns:
    """Runs the turns of one session. Owns the text in flight, which is kept after a stop until the next verb."""

    def __init__(self, session: Session, lanes: Lanes) -> None:
        self.in_flight: InFlight | None = None
        self._session = session
        self._lanes = lanes
        self._left = 0
        self._is_stop_wanted = False

    async def run_all(self, count: int, plan: Callable[[], Plan]) -> None:
        """Tell turns one after another, each planned when the one before was accepted (S15). A stop ends them all."""
        self._is_stop_wanted = False
        try:
            for left in reversed(range(count)):
                self._left = left
                await self.run(plan())
                if self._is_stop_wanted and left:
                    raise Stopped
        finally:
            self._left = 0

    async def run(self, plan: Plan) -> None:
        """Tell a turn to its acceptance. Raises ``Stopped`` where the player stopped it, else what went wrong."""
        for remark in plan.remarks:
            self._session.publish(Noted(remark))
        if plan.player is not None:
            commit.send_draft(self._session.story.store, plan.player.text, plan.player.mode or "do")
        self.in_flight = InFlight(plan)
        await self._in_lane(self._tell, self.in_flight)

    async def edit(self, plan: Plan, text: str) -> None:
        """Accept the player's own wording of a narration (S22)."""
        self.in_flight = InFlight(plan, text=text)
        await self._in_lane(self._take_in, self.in_flight)

    def carry_wording(self, plan: Plan, text: str) -> None:
        """The same with the original's changes of state, without a request (S22)."""
        teller, flight = self._session.teller(), InFlight(plan, text=text, finish="edited")
        assert plan.replaced is not None
        flight.checks = state_reads.checks_of(self._session.story.store, [plan.replaced.id]).get(plan.replaced.id, ())
        judged = telling.carry(teller, flight)
        self._show_turn(telling.accept(teller, flight, judged), judged)

    async def keep(self, flight: InFlight) -> None:
        """Accept the partial text like any other narration (T3)."""
        flight.finish = "kept"
        await self._in_lane(self._take_in, flight)

    async def _in_lane(self, work: Callable[[InFlight], Awaitable[None]], flight: InFlight) -> None:
        task = self._lanes.begin_turn(work(flight))  # type: ignore[arg-type]
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        if task.cancelled():
            raise Stopped
        error = task.exception()
        if error is not None:
            raise error
        self._session.keep_up()

    async def _tell(self, flight: InFlight) -> None:
        await telling.tell(self._session.teller(), flight)
        await self._take_in(flight)

    async def _take_in(self, flight: InFlight) -> None:
        """Work out, then, with no await between: commit and tell (S46)."""
        teller = self._session.teller()
        if flight.plan.origin == "edited":
            judged = await telling.work_out_edit(teller, flight)
        elif flight.plan.verb == "retell":
            judged = telling.carry(teller, flight)
        else:
            judged = await telling.work_out(teller, flight)
        ids = telling.accept(teller, flight, judged)
        self.in_flight = None
        self._show_turn(ids, judged)

    def _show_turn(self, ids: list[int], judged: telling.Judged) -> None:
        """Tell what a turn became. It is in the story already: a failure to read it back is no failure of the turn."""
        try:
            self._tell_accepted(ids, judged)
        except Exception as error:
            _log.exception("an accepted turn could not be shown")
            self._session.publish(Noted(f"The turn is in the story but could not be shown: {error}"))

    def _tell_accepted(self, ids: list[int], judged: telling.Judged) -> None:
        story = self._session.story
        for step in story.last_steps(len(ids)):
            self._session.publish(step)
        changes = _shown_changes(story, judged.verdict.events)
        if changes:
            self._session.publish(StateChanged(tuple(changes)))
        made = state_reads.checks_of(story.store, ids[-1:]).get(ids[-1], ())
        if made:
            self._session.publish(_words_of(made))
        for refused in judged.verdict.refused:
            self._session.publish(Noted(state_views.refusal(story, refused)))
        for note in judged.verdict.notes:
            self._session.publish(Noted(_in_titles(story, note)))
        self._session.publish(story.where())

    def stop(self) -> None:
        """Stop the turn that runs, and those that the same command still wants. Raises ``nothing-to-stop``."""
        if not self._lanes.stop_turn() and not self._left:
            raise Refusal("nothing-to-stop", "Nothing is being told.")
        self._is_stop_wanted = True


def _in_titles(story: Story, note: str) -> str:
    """A note of the referee with what people call the path that it begins with."""
    return in_titles(story.definition, story.state(), note, [note.partition(":")[0]])


def _shown_changes(story: Story, events: Iterable[StateEvent]) -> list[StateChange]:
    """The changes of a turn that the player may see; the head stands behind them."""
    state = story.state()
    return [
        StateChange(
            each.path,
            each.previous,
            value_after(each),
            each.source,
            each.note,
            phrase_change(story.definition, state, each),
        )
        for each in events
        if state_views.is_shown(story.definition, each.path)
    ]


def _words_of(checks: Iterable[Check]) -> ChecksMade:
    """Checks as a turn tells them: words alone. What fell is for whoever looks, and in no transcript (T8)."""
    return ChecksMade(tuple(CheckMade(each.skill, each.difficulty, each.outcome) for each in checks))
