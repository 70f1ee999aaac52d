"""Session: the half that does things over time. ``perform(Command)``, ``events()``, ``aclose()``.

One session a campaign, one turn at a time. Every task belongs to its lanes; whatever happens to a turn, the story is
either what it was or one accepted turn further (S12, S13). What each verb does stands in ``handlers``.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

from narrator import __version__
from narrator.config import Settings
from narrator.core.budget import Counter
from narrator.core.errors import NarratorError, Refusal, Stopped
from narrator.core.prose import visible
from narrator.engine import casting, handlers, offering, telling, turn
from narrator.engine.commands import Command, Effect
from narrator.engine.draft import InFlight
from narrator.engine.events import Asked, CampaignPlace, Done, Event, Failed, Noted, Ready
from narrator.engine.feed import Feed
from narrator.engine.jobs import Lanes
from narrator.engine.meaning import Loader, VectorIndex, load_wordllama
from narrator.engine.spending import Spending
from narrator.engine.story import Story, utc_now
from narrator.engine.teller import Teller, known_abilities
from narrator.engine.turn import Plan
from narrator.engine.upkeep import Upkeep
from narrator.narrators.port import Capabilities, Narrator
from narrator.store import backup, commit, reads, state_reads
from narrator.store.open import Clock, translated

Answers = Literal["ask", "yes", "no", "default"]
SHOWN_STEPS = 20
_log = logging.getLogger(__name__)
_FREE_WHILE_TURNING = (Effect.READ, Effect.CONTROL)


class Session:
    """One open campaign with a loop. Owns the story, the narrator, the lanes and the feed."""

    def __init__(
        self,
        story: Story,
        narrator: Narrator,
        settings: Settings,
        answers: Answers,
        version: str,
        *,
        looks_around: bool = False,
        meaning: Loader = load_wordllama,
    ) -> None:
        self.story = story
        self.narrator = narrator
        self.settings = settings
        self.version = version
        self.in_flight: InFlight | None = None
        self._answers = answers
        self._looks_around = looks_around
        self._feed = Feed()
        self._lanes = Lanes(self._upkeep_failed)
        self._upkeep = Upkeep()
        self._by_meaning = VectorIndex(story.store, meaning, self._feed.publish)
        self._spending = Spending(story, settings.narrators, settings.limits)
        self._question: tuple[Asked, asyncio.Future[tuple[str, Any]]] | None = None
        self._questions = 0
        self._holder: Command | None = None
        self._released = asyncio.Event()
        self._released.set()
        self._turns_left = 0
        self._is_stop_wanted = False
        self._is_closed = False
        self.export_stop: threading.Event | None = None

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        settings: Settings,
        narrator: str | Narrator | None = None,
        answers: Answers = "default",
        read_only: bool = False,
        version: str = __version__,
        clock: Clock = utc_now,
        backups: Path | None = None,
        looks_around: bool = False,
        meaning: Loader = load_wordllama,
    ) -> Session:
        """Open a campaign and choose who tells it. Raises ``NarratorError``; nothing stays open then.

        ``looks_around``: where nothing is configured and nobody asked for, look for servers on this machine (T19).
        ``meaning`` loads what finds memories by meaning, in a thread, when it is first needed (C24).
        """
        story = Story.open(path, clock=clock, read_only=read_only, backups=backups)
        try:
            is_free = narrator is None
            if narrator is None or isinstance(narrator, str):
                narrator = casting.choose(settings, narrator, story.row.narrator)
            looks_around = looks_around and is_free
            session = cls(story, narrator, settings, answers, version, looks_around=looks_around, meaning=meaning)
            if backups is not None and not read_only:
                session.back_up_daily(backups)
            return session
        except BaseException:
            story.close()
            raise

    def back_up_daily(self, folder: Path) -> None:
        """Begin the day's backup on a connection of its own (U22)."""
        path, now = self.story.path, self.story.store.clock()
        if backup.is_due(path, folder, day=now[:10]):
            stamp = now[:19].replace(":", "-")
            self._lanes.begin_aside(lambda: backup.back_up(path, folder, stamp=stamp))

    async def aclose(self) -> None:
        """Stop what runs, close narrator and file, end every subscription. Safe to call twice."""
        if self._is_closed:
            return
        self._is_closed = True
        self._settle_question()
        await self._lanes.aclose()
        try:
            await self.narrator.aclose()
        finally:
            self.story.close()
            self._feed.close()

    # --------------------------------------------------------------------------------------------------------- events

    def events(self) -> AsyncIterator[Event]:
        """One subscription, registered when called; ends when the session is closed."""
        return self._feed.subscribe()

    def publish(self, event: Event) -> None:
        """Tell every listener."""
        self._feed.publish(event)

    async def greet(self) -> None:
        """Tell where the story stands: ``ready``, the last steps, ``head``."""
        with self.story.looking():
            row, draft = self.story.row, reads.draft(self.story.store)
            self.publish(
                Ready(
                    CampaignPlace(row.campaign_id, row.title, str(self.story.path)),
                    self.narrator.name,
                    self.version,
                    draft.text if draft else "",
                    self.story.is_read_only,
                )
            )
            self.show_tail()
        await offering.tell_remark(self)
        if self._looks_around and not self.settings.narrators and self.settings.narrator is None:
            self._lanes.begin_beside(offering.look_around(self))

    def show_tail(self, count: int = SHOWN_STEPS) -> None:
        """The last steps and the head: what every move ends with; after a write, the steps that are new."""
        story = self.story
        for step in story.last_steps(count):
            self.publish(step)
        self.publish(story.where())

    # ------------------------------------------------------------------------------------------------------- commands

    @property
    def is_turning(self) -> bool:
        return self._lanes.is_turning

    @property
    def asking(self) -> Asked | None:
        """The question that waits for ``/answer``."""
        return self._question[0] if self._question is not None else None

    async def perform(self, command: Command) -> bool:
        """Do one command. Publishes its events, the last of them ``Done``; returns whether it was done.

        A verb that moves or writes is answered ``busy`` while a turn runs; it settles a waiting question by default.
        """
        if self._question is not None and command.verb.effect not in _FREE_WHILE_TURNING:
            self._settle_question()
            await self._released.wait()
        try:
            ok = await self._attempt(command)
            self.publish(Done(command.name, command.line, ok, command.tag))
        finally:
            if self._holder is command:
                self._holder = None
                self._released.set()
        return ok

    def hold(self, command: Command) -> None:
        """Keep the story for one command until it is answered. Raises ``busy`` where another one has it."""
        if self.is_turning or self._holder is not None:
            raise Refusal("busy", "A turn is being told.", "Stop it first, or wait for its end.")
        self._holder = command
        self._released.clear()

    async def _attempt(self, command: Command) -> bool:
        effect = command.verb.effect
        try:
            if effect not in _FREE_WHILE_TURNING:
                self.hold(command)
                if self.story.is_read_only:
                    raise Refusal("read-only", "This campaign is open for reading only.")
                if effect in (Effect.TURN, Effect.MOVE, Effect.WRITE):
                    self.in_flight = None
            with translated(self.story.path), self.story.looking():
                await handlers.HANDLERS[command.name](self, command)
        except NarratorError as error:
            self.fail(error, command)
            return False
        except Exception as error:
            _log.exception("%s failed", command.name)
            found = NarratorError("internal-error", f"This went wrong: {type(error).__name__}.", "The log has more.")
            self.fail(found, command)
            return False
        return True

    def fail(self, error: NarratorError, command: Command) -> None:
        """Publish an error; after a failed turn with the input, so that the composer has it back (S13)."""
        draft = self.in_flight.plan.input if self._lost_input(command) and self.in_flight is not None else None
        if draft is None and command.verb.is_turn:
            draft = str(command.args.get("text", "")) or None
        self.publish(Failed(error.code, visible(error.message), visible(error.hint), command.line, draft))

    def _lost_input(self, command: Command) -> bool:
        is_own = self._holder is command and command.verb.is_turn
        return is_own and self.in_flight is not None and self.in_flight.plan.player is not None

    # ---------------------------------------------------------------------------------------------------------- turns

    async def run_turns(self, count: int, plan: Callable[[], Plan]) -> None:
        """Tell turns one after another, each planned when the one before was accepted (S15). A stop ends them all."""
        self._is_stop_wanted = False
        try:
            for left in reversed(range(count)):
                self._turns_left = left
                await self.run_turn(plan())
                if self._is_stop_wanted and left:
                    raise Stopped
        finally:
            self._turns_left = 0

    async def run_turn(self, plan: Plan) -> None:
        """Tell a turn to its acceptance. Raises ``Stopped`` where the player stopped it, else what went wrong."""
        for remark in plan.remarks:
            self.publish(Noted(remark))
        if plan.player is not None:
            commit.send_draft(self.story.store, plan.player.text, plan.player.mode or "do")
        self.in_flight = InFlight(plan)
        await self._in_lane(self._tell, self.in_flight)

    async def run_edit(self, plan: Plan, text: str) -> None:
        """Accept the player's own wording of a narration (S22)."""
        self.in_flight = InFlight(plan, text=text)
        await self._in_lane(self._take_in, self.in_flight)

    def carry_wording(self, plan: Plan, text: str) -> None:
        """The same with the original's changes of state, without a request (S22)."""
        teller, flight = self.teller(), InFlight(plan, text=text, finish="edited")
        assert plan.replaced is not None
        flight.checks = state_reads.checks_of(self.story.store, [plan.replaced.id]).get(plan.replaced.id, ())
        judged = telling.carry(teller, flight)
        self._show_turn(telling.accept(teller, flight, judged), judged)

    async def run_keep(self, flight: InFlight) -> None:
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
        self._keep_up()

    async def _tell(self, flight: InFlight) -> None:
        await telling.tell(self.teller(), flight)
        await self._take_in(flight)

    async def _take_in(self, flight: InFlight) -> None:
        """Work out, then, with no await between: commit and tell (S46)."""
        teller = self.teller()
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
            self.publish(Noted(f"The turn is in the story but could not be shown: {error}"))

    def _tell_accepted(self, ids: list[int], judged: telling.Judged) -> None:
        story = self.story
        for step in story.last_steps(len(ids)):
            self.publish(step)
        changes = handlers.shown_changes(story, judged.verdict.events)
        if changes:
            self.publish(handlers.changed(changes))
        made = state_reads.checks_of(story.store, ids[-1:]).get(ids[-1], ())
        if made:
            self.publish(handlers.made(story, made))
        for refused in judged.verdict.refused:
            self.publish(Noted(handlers.refusal(story, refused)))
        for note in judged.verdict.notes:
            self.publish(Noted(handlers.clamped(story, note)))
        self.publish(story.where())

    def teller(self) -> Teller:
        """Who tells now, and on whose terms."""
        return Teller(
            self.story,
            self.narrator,
            self.publish,
            self.ask,
            self.ask_value,
            self._counter,
            self.settings.context,
            self._spending,
            self._by_meaning,
            self.settings.offline,
        )

    @property
    def cost(self) -> float | None:
        """What this campaign has cost so far; None where no narrator has a price and nothing was spent (U13)."""
        spent = reads.spent(self.story.store)
        return spent if spent or self._spending.has_prices else None

    @property
    def narrator(self) -> Narrator:
        """Who tells the story."""
        return self._narrator

    @narrator.setter
    def narrator(self, narrator: Narrator) -> None:
        self._narrator = narrator
        self.told_by = narrator.name
        self._counter = Counter(narrator.count)

    async def kept_up(self) -> None:
        """Wait until what was due beside the turns is done, or has failed (T1)."""
        await self._lanes.kept_up()

    async def abilities(self) -> Capabilities:
        """What is known of the narrator; a host that the player has not agreed to is not asked (T16)."""
        return await known_abilities(self.story, self.narrator)

    async def use_narrator(self, narrator: Narrator) -> None:
        """Let another one tell from the next turn on; what the one before was doing ends (T19)."""
        self._lanes.cancel_upkeep()
        before, self.narrator = self.narrator, narrator
        await before.aclose()
        await offering.tell_remark(self)

    def _keep_up(self) -> None:
        """Begin what is due beside the turns (T1)."""
        if not self._is_closed and not self.story.is_read_only:
            self._lanes.keep_up(lambda: self._upkeep.step(self.teller()))

    async def suggestions(self) -> tuple[str, ...]:
        """Ask the narrator for three things that the player might do (T20)."""
        return await telling.suggest(self.teller(), InFlight(turn.plan_continue(self.story)))

    def stop(self) -> None:
        """Stop the turn that runs, and those that the same command still wants. Raises ``nothing-to-stop``."""
        if not self._lanes.stop_turn() and not self._turns_left:
            raise Refusal("nothing-to-stop", "Nothing is being told.")
        self._is_stop_wanted = True

    async def stopped(self) -> None:
        """Wait until the command whose turn was stopped has been answered."""
        await self._released.wait()

    # ------------------------------------------------------------------------------------------------------ questions

    async def ask(self, what: str, choices: tuple[str, ...], default: str, shows: Any) -> str:
        """Put a question to the player and wait for the choice; settled by policy where nobody is there to answer."""
        return (await self.ask_value(what, choices, default, shows))[0]

    async def ask_value(self, what: str, choices: tuple[str, ...], default: str, shows: Any) -> tuple[str, Any]:
        """The same for a question whose answer may carry a value (``/answer enter VALUE``)."""
        self._questions += 1
        asked = Asked(self._questions, what, choices, default, shows)
        self.publish(asked)
        if self._answers == "yes" and "yes" in choices:
            return "yes", None
        if self._answers != "ask":
            return default, None
        future: asyncio.Future[tuple[str, Any]] = asyncio.get_running_loop().create_future()
        self._question = (asked, future)
        try:
            return await future
        finally:
            self._question = None

    def answer(self, choice: str, value: Any = None) -> None:
        """Answer the waiting question. Raises ``bad-value`` for a choice it does not have."""
        if self._question is None:
            raise Refusal("bad-value", "No question is waiting.")
        asked, future = self._question
        if choice not in asked.choices:
            raise Refusal("bad-value", f"{choice!r} is no choice here.", f"Choose {' or '.join(asked.choices)}.")
        if not future.done():
            future.set_result((choice, value))

    def _settle_question(self) -> None:
        if self._question is not None and not self._question[1].done():
            self._question[1].set_result((self._question[0].default, None))

    # ----------------------------------------------------------------------------------------------------- around it

    async def keep_draft(self, text: str, mode: str = "do") -> None:
        """Write what stands in the composer to the file (U9)."""
        if not self.story.is_read_only:
            commit.keep_draft(self.story.store, text, mode, is_telling=self.is_turning)

    def _upkeep_failed(self, error: BaseException) -> None:
        if isinstance(error, NarratorError):
            self.publish(Noted(f"Upkeep waits: {error.message}"))
        else:
            self.publish(Failed("io-error", f"Upkeep failed: {error}"))
