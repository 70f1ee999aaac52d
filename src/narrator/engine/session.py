"""Session: the half that does things over time. ``perform(Command)``, ``events()``, ``aclose()``.

One session a campaign, one turn at a time. Every task belongs to its lanes; whatever happens to a turn, the story is
either what it was or one accepted turn further (S12, S13). What each verb does stands in ``handlers``.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from narrator import __version__
from narrator.config import Settings
from narrator.core.budget import Counter
from narrator.core.errors import NarratorError, Refusal
from narrator.core.prose import visible
from narrator.engine import casting, handlers, offering, replaying, telling, turn
from narrator.engine.asking import Answers as Answers
from narrator.engine.asking import Questions
from narrator.engine.commands import Command, Effect
from narrator.engine.draft import InFlight
from narrator.engine.events import Asked, CampaignPlace, Done, Event, Failed, Noted, Ready
from narrator.engine.feed import Feed
from narrator.engine.jobs import Lanes
from narrator.engine.meaning import Loader, VectorIndex, load_wordllama
from narrator.engine.papers import IF_DONE, Papers
from narrator.engine.played import TimePlayed
from narrator.engine.spelling import as_line
from narrator.engine.spending import Spending
from narrator.engine.story import Story, utc_now
from narrator.engine.teller import Teller, known_abilities
from narrator.engine.turning import Turns
from narrator.engine.upkeep import Upkeep
from narrator.narrators.port import Capabilities, Narrator
from narrator.store import backup, commit, reads
from narrator.store.open import Clock, translated

SHOWN_STEPS = 20
_log = logging.getLogger(__name__)
_FREE_WHILE_TURNING = (Effect.READ, Effect.CONTROL)


class Session:
    """One open campaign with a loop. Owns the story, the narrator, the lanes, the feed and what is written beside it.

    ``is_strict``: a replay ends at the first line that fails.
    """

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
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self.story = story
        self.narrator = narrator
        self.settings = settings
        self.version = version
        self.is_strict = False
        self.replay: replaying.Replay | None = None
        self._looks_around = looks_around
        self._feed = Feed()
        self.papers = Papers(story.path, self._feed.publish)
        self._questions = Questions(self, answers)
        self._lanes = Lanes(self._upkeep_failed)
        self.turns = Turns(self, self._lanes)
        self._upkeep = Upkeep()
        self._by_meaning = VectorIndex(story.store, meaning, self.publish)
        self._spending = Spending(story, settings.narrators, settings.limits)
        self._played = TimePlayed(story, ticks)
        self._holder: Command | None = None
        self._released = asyncio.Event()
        self._released.set()
        self._is_closed = False
        self._stoppable: list[threading.Event] = []

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
        ticks: Callable[[], float] = time.monotonic,
    ) -> Session:
        """Open a campaign and choose who tells it. Raises ``NarratorError``; nothing stays open then.

        ``looks_around``: where nothing is configured and nobody asked for, look for servers on this machine (T19).
        ``meaning`` loads what finds memories by meaning, in a thread, when it is first needed (C24). ``ticks`` are
        seconds, for the time played (U13).
        """
        story = Story.open(path, clock=clock, read_only=read_only, backups=backups)
        try:
            is_free = narrator is None
            if narrator is None or isinstance(narrator, str):
                narrator = casting.choose(settings, narrator, story.row.narrator)
            looks_around = looks_around and is_free
            session = cls(
                *(story, narrator, settings, answers, version), looks_around=looks_around, meaning=meaning, ticks=ticks
            )
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
        self._questions.settle()
        await self._lanes.aclose()
        try:
            await self.narrator.aclose()
        finally:
            self._played.write(is_last=True)
            self.story.close()
            self.papers.close()
            self._feed.close()

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    # --------------------------------------------------------------------------------------------------------- events

    def events(self) -> AsyncIterator[Event]:
        """One subscription, registered when called; ends when the session is closed."""
        return self._feed.subscribe()

    def publish(self, event: Event) -> None:
        """Tell every listener, and the transcript."""
        self.papers.hear(event)
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
    def in_flight(self) -> InFlight | None:
        """The turn that is told, or that was stopped and may be kept."""
        return self.turns.in_flight

    @property
    def asking(self) -> Asked | None:
        """The question that waits for ``/answer``."""
        return self._questions.asking

    async def perform(
        self, command: Command, *, typed: str | None = None, recorded: str | None = None, is_aside: bool = False
    ) -> bool:
        """Do one command. Publishes its events, the last of them ``Done``; returns whether it was done.

        A verb that moves or writes is answered ``busy`` while a turn runs; it settles a waiting question by default.
        ``typed`` is its line for a transcript and ``recorded`` the one for a recording, where those are not what the
        command spells. ``is_aside``: an interface asks this for itself, and neither holds it.
        """
        if not is_aside:
            self._played.act()
        if self.asking is not None and command.verb.effect not in _FREE_WHILE_TURNING:
            self._questions.settle()
            await self._released.wait()
        if self.papers.is_writing and not is_aside:
            recorded = recorded if recorded is not None else as_line(replace(command, tag=None))
            typed = typed if typed is not None else recorded
        with self.papers.during(command.name, typed or "", recorded, is_aside=is_aside):
            try:
                ok = await self._attempt(command)
                if ok and recorded is not None and not is_aside and command.name in IF_DONE:
                    self.papers.record(command.name, recorded)
                self.publish(Done(command.name, command.line, ok, command.tag))
            finally:
                if self._holder is command:
                    self._holder = None
                    self._released.set()
        self._played.write()
        return ok

    @property
    def seconds_played(self) -> float:
        """The time played in this campaign, all sessions together (U13)."""
        return self._played.seconds

    def hold(self, command: Command) -> None:
        """Keep the story for one command until it is answered. Raises ``busy`` where another one has it."""
        if self.replay is not None and replaying.current() is not self.replay:
            raise Refusal("busy", "A recording is being played.", "Stop it first, or wait for its end.")
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
                    self.turns.in_flight = None
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

    # ------------------------------------------------------------------------------------------------------ who tells

    def teller(self) -> Teller:
        """Who tells now, and on whose terms."""
        return Teller(
            self.story,
            self.narrator,
            self.publish,
            self.ask,
            self._questions.ask_value,
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

    def keep_up(self) -> None:
        """Begin what is due beside the turns (T1)."""
        if not self._is_closed and not self.story.is_read_only:
            self._lanes.keep_up(lambda: self._upkeep.step(self.teller()))

    async def suggestions(self) -> tuple[str, ...]:
        """Ask the narrator for three things that the player might do (T20)."""
        return await telling.suggest(self.teller(), InFlight(turn.plan_continue(self.story)))

    def stop(self) -> None:
        """Stop the turn that runs, and those that the same command still wants. Raises ``nothing-to-stop``."""
        self.turns.stop()

    async def stopped(self) -> None:
        """Wait until the command whose turn was stopped has been answered."""
        await self._released.wait()

    @contextmanager
    def stoppable(self) -> Iterator[threading.Event]:
        """Long work that is no turn: the event is set when the player stops it, and at its end."""
        stop = threading.Event()
        self._stoppable.append(stop)
        try:
            yield stop
        finally:
            stop.set()
            self._stoppable.remove(stop)

    @property
    def is_working(self) -> bool:
        """A replay or other long work that ``/stop`` ends goes on."""
        return bool(self._stoppable) or self.replay is not None

    def stop_work(self) -> bool:
        """Stop the replay, and the long work that is no turn where none is told; False where nothing else runs."""
        played = self.replay if replaying.current() is None else None
        if played is not None:
            played.stop()
        if self.is_turning:
            return False
        for stop in self._stoppable:
            stop.set()
        return bool(self._stoppable) or played is not None

    # ------------------------------------------------------------------------------------------------------ questions

    async def ask(self, what: str, choices: tuple[str, ...], default: str, shows: Any) -> str:
        """Put a question to the player and wait for the choice; settled by policy where nobody is there to answer."""
        return await self._questions.ask(what, choices, default, shows)

    def answer(self, choice: str, value: Any = None) -> None:
        """Answer the waiting question. Raises ``bad-value`` for a choice it does not have."""
        self._questions.answer(choice, value)

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
