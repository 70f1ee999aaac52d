"""A session on lines: what comes in is performed in order, what happens is told in order (contract, U14, U15).

Lines are read while a turn runs. ``/stop``, ``/keep`` and ``/answer`` go past the queue to the turn or the question
they belong to; everything else waits until the command before it has been answered. Errors have one place each: a line
that cannot be read is answered when its turn comes.

``Conversation`` runs as a few coroutines side by side: one performs the queue, some perform what goes past it, one
tells the events. They end together.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from narrator.core.errors import BadValue, NarratorError
from narrator.engine import events as e
from narrator.engine.commands import Command
from narrator.engine.spelling import is_object
from narrator.engine.voice import Said, Voice
from narrator.plain.entered import HOW_TO_ENTER, Entered
from narrator.plain.entry import INPUTS, Entry, read_entry
from narrator.plain.output import Sink
from narrator.plain.pager import Pager
from narrator.plain.port import Options, Performer
from narrator.plain.reader import Line, Source
from narrator.plain.signals import Interrupts, listen

PROMPT = "> "
_PAST_THE_QUEUE = 3


@dataclass(slots=True, eq=False)
class _Slip:
    """Goes with a command as its tag and comes back with its answer."""

    entry: Entry
    answered: asyncio.Event = field(default_factory=asyncio.Event)


class Conversation:
    """One plain session. Owns the queue of lines and the order of the output."""

    def __init__(self, session: Performer, source: Source, sink: Sink, options: Options) -> None:
        self._session = session
        self._source = source
        self._sink = sink
        self._options = options
        self._pager = Pager(sink, options.height, options.manner.width or 80)
        self._voice = Voice(options.manner)
        self._queue: deque[Entry] = deque()
        self._past: asyncio.Queue[Entry | None] = asyncio.Queue()
        self._running: list[Entry] = []
        self._wake = asyncio.Event()
        self._greeted = asyncio.Event()
        self._slips: list[_Slip] = []
        self._is_silent = False
        self._code = 0
        self._is_over = False
        self._has_ended = False
        self._is_idle = False
        self._is_prompted = False
        self._is_answering = False
        self._entered: Entered | None = None
        self._is_closed = False
        self._is_resting = False
        self._last_input: Command | None = None
        self._has_noted_if_words = False
        self._papers = session.papers
        self._papers.is_quiet = options.manner.is_quiet
        session.is_strict = options.is_strict
        self._crash: Exception | None = None
        self._interrupts = Interrupts(lambda: asyncio.get_running_loop().time())

    async def run(self) -> int:
        """Play to the end of input; the exit code comes back (U15). Closes the session."""
        loop = asyncio.get_running_loop()
        restore = listen(loop, self.interrupt, self.leave)
        try:
            workers = [self._perform_past_the_queue() for _ in range(_PAST_THE_QUEUE)]
            await asyncio.gather(self._tell_events(self._session.events()), self._perform_queue(), *workers)
        finally:
            # A fault in one of them ends all of them; the file is closed in every case.
            await self._close()
            restore()
            self._source.close()
            self._pager.finish()
        if self._crash is not None:
            raise self._crash
        return self._code

    # -- what comes in -------------------------------------------------------------------------------------------

    def receive(self, line: Line) -> None:
        """A line of the keyboard or the pipe."""
        if self._is_prompted:
            self._pager.answered()
        if self._pager.is_waiting:
            is_left = line.text.strip().lower() == "q"
            if is_left:
                self._leave_page()
            else:
                self._pager.resume(is_line_ended=True)
            if is_left or not line.text.strip():
                self._expect()
                return
        entry = read_entry(
            line.text,
            line.number,
            may_be_object=self._options.is_json,
            has_if_words=self._options.has_if_words and not self._options.is_json,
            last_input=self._last_input,
        )
        if entry.note:
            entry.note, self._has_noted_if_words = "" if self._has_noted_if_words else entry.note, True
        if not line.is_clean:
            entry.note = f"Line {line.number} held bytes that are not UTF-8; they were replaced."
        self._accept(entry)

    def _leave_page(self) -> None:
        """``q`` at a pause: the rest of what is told is not shown; a question is."""
        self._pager.skip(is_more_to_come=bool(self._running))
        if (asked := self._session.asking) is not None:
            self._emit(self._voice.hear(asked))

    def end_input(self) -> None:
        """The end of input: what was read so far finishes."""
        self._has_ended = True
        self._wake.set()
        self._consider_question()

    def interrupt(self) -> None:
        """SIGINT: ``/stop``; the second one with nothing running is ``/quit``."""
        if self._pager.is_waiting:
            self._pager.resume()
        is_running = bool(self._running or self._queue)
        if self._is_resting or self._interrupts.is_quit(is_running=is_running):
            self.leave(0)
            return
        note = "" if is_running or self._options.is_json else "Interrupt once more to quit."
        self._accept(Entry("/stop", word="stop", command=Command("stop"), note=note, is_signal=True))

    def leave(self, code: int) -> None:
        """Stop the turn, close the file, end with this code."""
        if not self._is_over:
            self._is_over = True
            self._code = code
            self._wake.set()
            self._past.put_nowait(Entry("", is_internal=True))

    def _accept(self, entry: Entry) -> None:
        """Put a line where it belongs: to the turn or question it is about, or at the end of the queue."""
        if entry.is_input:
            self._last_input = entry.command
        if not self._claim(entry, self._queue):
            self._queue.append(entry)
        self._wake.set()
        self._consider_question()
        self._expect()

    def _claim(self, entry: Entry, queue: deque[Entry]) -> bool:
        """``/stop`` and ``/keep`` act on the earliest turn not yet done before them, begun or not (contract)."""
        if entry.command is None or entry.command.name not in ("stop", "keep"):
            return False
        for running in self._running:
            name = running.command.name if running.command else ""
            is_stoppable = running.is_long or name == "keep" or (name == "fork" and self._session.is_turning)
            if is_stoppable and not running.is_claimed:
                running.is_claimed = True
                self._past.put_nowait(entry)
                return True
        waiting = next((other for other in queue if other.is_long and not other.is_claimed), None)
        if waiting is None:
            return False
        waiting.is_claimed = waiting.is_stopped = True
        nothing = NarratorError("nothing-to-keep", "No word of that turn had arrived.", "It was stopped.")
        entry.verdict = True if entry.command.name == "stop" else nothing
        self._past.put_nowait(entry)
        return True

    def _consider_question(self) -> None:
        """A question waits: the next line answers it, or stands for the default; so does the end of input."""
        asked = self._session.asking
        if asked is None and self._entered is not None:
            # The turn was stopped over its question: the line that began to answer it learns so.
            self._past.put_nowait(self._entered.asked)
            self._entered = None
        if asked is None or self._is_answering:
            return
        if self._entered is not None and any(running.is_claimed for running in self._running):
            return  # A stop is on its way to the turn that asks: what follows is not part of the answer.
        default = Command("answer", {"choice": asked.default})
        if self._entered is not None or self._begins_entering():
            answer = self._read_changes(default)
            if answer is None:
                self._expect()
                return
        elif self._queue:
            first = self._queue[0]
            is_answer = first.command is not None and first.command.name == "answer"
            answer = self._queue.popleft() if is_answer else Entry("", command=default, is_internal=True)
        elif self._has_ended or self._is_over:
            answer = Entry("", command=default, is_internal=True)
        else:
            self._expect()
            return
        self._is_answering = True
        self._past.put_nowait(answer)

    def _begins_entering(self) -> bool:
        """Whether the next line is ``/answer enter`` without a value, after which the changes come line by line."""
        first = self._queue[0] if self._queue and not self._options.is_json else None
        command = first.command if first is not None else None
        if command is None or command.name != "answer" or "value" in command.args:
            return False
        if command.args.get("choice") != "enter":
            return False
        self._entered = Entered(self._queue.popleft(), self._session)
        self._own(e.Noted(HOW_TO_ENTER))
        return True

    def _read_changes(self, default: Command) -> Entry | None:
        """The lines of changes that are there; the answer once they have ended, None before that."""
        assert self._entered is not None
        answer: Entry | None = None
        while answer is None and self._queue:
            answer, told = self._entered.read(self._queue.popleft().text)
            if told:
                self._own(e.Noted(told))
        if answer is None and (self._has_ended or self._is_over):
            answer = replace(self._entered.asked, command=replace(default, line=self._entered.asked.number))
        if answer is not None:
            self._entered = None
        return answer

    def _expect(self) -> None:
        """Tell the source whether the player is to be prompted."""
        is_asked = self._session.asking is not None and not self._is_answering
        self._is_prompted = (self._is_idle or is_asked) and not self._queue and not self._pager.is_waiting
        self._source.expect(PROMPT if self._is_prompted else None)

    # -- what is performed ---------------------------------------------------------------------------------------

    async def _perform_queue(self) -> None:
        """The queue, one line after another, to its end; then everything is closed."""
        try:
            await self._session.greet()
            await self._greeted.wait()
            for note in self._options.notes:
                self._own(e.Noted(note))
            if self._options.replay is not None:
                first = Command("replay", {"file": str(self._options.replay)})
                self._queue.append(Entry("", word="replay", command=first, is_internal=True))
            self._source.begin(asyncio.get_running_loop(), self.receive, self.end_input)
            while (entry := await self._next()) is not None:
                await self._perform(entry)
            await self._rest()
        finally:
            self._is_over = True
            await self._close()
            for _ in range(_PAST_THE_QUEUE):
                self._past.put_nowait(None)

    async def _next(self) -> Entry | None:
        """The next line, once nothing that went past the queue still runs; None at the end."""
        while True:
            self._wake.clear()
            is_quiet = not self._running and not self._is_answering and self._past.empty()
            if self._is_over or (is_quiet and self._has_ended and not self._queue):
                return None
            if is_quiet and self._queue:
                return self._queue.popleft()
            self._is_idle = is_quiet
            self._expect()
            await self._wake.wait()
            self._is_idle = False

    async def _rest(self) -> None:
        """At the end of input: time for what is due beside the turns, which lines behind one another never leave (T1).

        Whatever ends the conversation ends it too.
        """
        if self._options.upkeep_seconds and not self._is_over:
            self._is_resting = True
            with suppress(TimeoutError):
                async with asyncio.timeout(self._options.upkeep_seconds):
                    await self._session.kept_up()

    async def _perform_past_the_queue(self) -> None:
        """Stops, keeps and answers, while the queue waits."""
        while (entry := await self._past.get()) is not None:
            if entry.command is None:
                await self._close()
                continue
            await self._perform(entry)
            if entry.command.name == "answer":
                self._is_answering = False
            if entry.command.name == "answer" or self._entered is not None:
                self._consider_question()
            self._wake.set()

    async def _close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            if self._session.is_turning:
                await self._perform_there(Command("stop"), Entry("", is_internal=True))
            await self._session.aclose()

    async def _perform(self, entry: Entry) -> None:
        """One line with all its events, to its answer."""
        self._is_prompted = False
        self._source.expect(None)
        if entry.note:
            self._own(e.Noted(entry.note))
        if not entry.is_internal and entry.word not in ("stop", "answer"):
            self._voice.begin(entry.word)
        verdict = await self._judge(entry)
        is_counted = self._options.is_strict and entry.word != "" and not entry.is_signal
        if not verdict and is_counted and not self._is_over:
            self._code, self._is_over = 1, True
            self._wake.set()

    async def _judge(self, entry: Entry) -> bool:
        """Perform it here, in the session, or not at all; the answer is told in each case."""
        command = entry.command
        if entry.is_stopped:
            return await self._answer_stopped(entry)
        if entry.is_internal and self._is_silent:
            return True
        if entry.failure is not None or command is None:
            return self._answer(entry, entry.failure or BadValue("This line means nothing."))
        if entry.verdict is not None:
            return self._answer(entry, None if entry.verdict is True else entry.verdict)  # type: ignore[arg-type]
        if command.name == "quit":
            self._is_over = True
            self._wake.set()
            return self._answer(entry, None)
        return await self._perform_there(command, entry)

    async def _perform_there(self, command: Command, entry: Entry) -> bool:
        """In the session, to the moment at which its answer has been told."""
        slip = _Slip(entry)
        if self._is_silent:
            slip.answered.set()
        else:
            self._slips.append(slip)
        self._running.append(entry)
        try:
            is_ok = await self._session.perform(
                replace(command, tag=slip), typed=entry.text, recorded=entry.recorded, is_aside=entry.is_internal
            )
        finally:
            self._running.remove(entry)
        await slip.answered.wait()
        return is_ok

    def _answer(self, entry: Entry, error: NarratorError | None, draft: str | None = None) -> bool:
        """Answer a line that the session does not see."""
        # A turn that was stopped before it began, and what stopped it, leave nothing to play again.
        recorded = None if entry.is_stopped or entry.verdict is not None else entry.recorded
        with self._papers.during(entry.word, entry.text, recorded):
            if error is not None:
                self._own(e.Failed(error.code, error.message, error.hint, entry.number, draft))
            self._own(e.Done(entry.word, entry.number, error is None, entry.tag))
        return error is None

    async def _answer_stopped(self, entry: Entry) -> bool:
        if entry.draft is not None:
            mode = entry.word if entry.word in INPUTS else "do"
            await self._session.keep_draft(entry.draft, mode)
        error = NarratorError("stopped", "Stopped before it began. The story is as it was.")
        return self._answer(entry, error, entry.draft)

    # -- what is told --------------------------------------------------------------------------------------------

    async def _tell_events(self, events: AsyncIterator[e.Event]) -> None:
        """Everything the session publishes, in order, until it closes."""
        try:
            async for event in events:
                self._hear(event)
        except Exception as error:
            self._crash = error
            self.leave(1)
        finally:
            # Nobody will tell anything any more: nobody may wait for it.
            self._is_silent = True
            self._greeted.set()
            for slip in self._slips:
                slip.answered.set()

    def _hear(self, event: e.Event) -> None:
        if isinstance(event, e.Done) and isinstance(event.tag, _Slip):
            slip = event.tag
            if not slip.entry.is_internal:
                self._tell(replace(event, tag=slip.entry.tag))
            slip.answered.set()
            self._slips.remove(slip)
            return
        if isinstance(event, e.Replayed) and event.command in INPUTS:
            self._last_input = read_entry(event.text, None, may_be_object=is_object(event.text)).command
        if isinstance(event, e.Done) and event.command == "quit":
            # The last line of a replay.
            self._is_over = True
            self._wake.set()
        if isinstance(event, e.StepShown) and self._last_input is None and event.role == "player":
            self._last_input = Command(event.mode if event.mode in INPUTS else "do", {"text": event.text})
        self._tell(event)
        if isinstance(event, e.HeadMoved):
            self._greeted.set()
        elif isinstance(event, e.Asked):
            self._consider_question()

    def _own(self, event: e.Event) -> None:
        """Tell what the session does not know of, the transcript too."""
        self._papers.hear(event)
        self._tell(event)

    def _tell(self, event: e.Event) -> None:
        """Show an event."""
        if isinstance(event, e.Done | e.Asked):
            self._pager.end_skip()
        if self._options.is_json:
            from narrator.engine.wire import as_json

            self._sink.write(as_json(event) + "\n")
        else:
            self._emit(self._voice.hear(event))

    def _emit(self, pieces: list[Said]) -> None:
        for said in pieces:
            self._pager.write(said)
