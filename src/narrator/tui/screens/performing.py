"""The play screen's way to the session: commands go out here, typed or chosen; what comes of them arrives as events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrator.core.errors import NarratorError
from narrator.engine.commands import Command, StepRef
from narrator.engine.story import Story
from narrator.engine.verbs import Effect
from narrator.tui.screens.base import ActingScreen
from narrator.tui.transcript_window import Place, StepLine
from narrator.tui.widgets.composer import Composer
from narrator.tui.widgets.panel import Panel
from narrator.tui.widgets.rail import Rail
from narrator.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from narrator.engine.session import Session

_AT_ONCE = (Effect.MOVE, Effect.MARK)


class Performing(ActingScreen):
    """One open story and, once the narrator is awake, its session."""

    path: Path

    def __init__(self) -> None:
        super().__init__()
        self.story: Story = None  # type: ignore[assignment]
        self.session: Session | None = None
        self._in_hand: set[str] = set()
        self._kept_place: Place | None = None
        self._last_input: Command | None = None
        self._has_said_if_word = False

    # -- parts of the screen, given by PlayScreen ---------------------------------------------------------------------

    @property
    def transcript(self) -> Transcript:
        raise NotImplementedError

    @property
    def composer(self) -> Composer:
        raise NotImplementedError

    @property
    def rail(self) -> Rail:
        raise NotImplementedError

    @property
    def panel(self) -> Panel:
        raise NotImplementedError

    def place(self) -> str:
        raise NotImplementedError

    def show_keys(self) -> None:
        raise NotImplementedError

    def show_rail(self) -> None:
        raise NotImplementedError

    def save(self) -> None:
        raise NotImplementedError

    def search(self, words: str) -> None:
        raise NotImplementedError

    # -- performing ---------------------------------------------------------------------------------------------------

    def perform(self, command: Command) -> None:
        """Hand a command to the session; what comes of it arrives as events."""
        session = self.session
        if session is None:
            self.say("One moment: the narrator is being woken.")
            return
        verb = command.verb
        if command.tag is None:
            self.say("")
            if verb.effect in (Effect.TURN, Effect.MOVE, Effect.WRITE):
                self.transcript.clear_notes()
                if self.transcript.draft is not None and not session.is_turning:
                    self.transcript.end_draft()
            self._in_hand.add(command.name)
        if verb.effect in _AT_ONCE:
            self.call_next(self._perform_here, command)
            return
        performing = session.perform(command, is_aside=command.tag is not None)
        self.run_worker(performing, exit_on_error=False, group="perform", name=command.name)
        if verb.is_turn:
            self.call_later(self._begin_turn)

    async def _perform_here(self, command: Command) -> None:
        """A command that is done at once; a fault of the program is shown as any other error."""
        if self.session is None:
            return
        try:
            await self.session.perform(command)
        except Exception as error:
            self.broke(command.name, error)

    def broke(self, command: str, error: BaseException) -> None:
        """A fault: to the log, and one line below the story."""
        self._in_hand.discard(command)
        self.narrator_app.log_error(error)
        words = str(error) if isinstance(error, NarratorError) else f"{type(error).__name__}: a fault of the program."
        self.transcript.note(f"{words} The story is as it was; the log has more.", is_error=True)

    def _begin_turn(self) -> None:
        """Show the turn that runs: its input, and the story as far as it stands under it."""
        session = self.session
        draft = self.transcript.draft
        if session is None or session.in_flight is None or not session.is_turning:
            return
        if draft is not None and not draft.is_stopped:
            return
        plan = session.in_flight.plan
        text = plan.player.text if plan.player is not None else ""
        mode = plan.player.mode if plan.player is not None else None
        after = plan.anchor.depth
        window = self.transcript.window
        laid = window.laid_at(after) if window is not None else None
        is_here = laid is None or laid.step.id == plan.anchor.id
        self.transcript.begin(text, mode, after=after if is_here else None)
        self.show_keys()

    def run_command(self, command: Command) -> None:
        """A command that was typed: some are the screen's own."""
        name, args = command.name, command.args
        if name == "quit":
            self.narrator_app.leave()
        elif name == "help":
            self.narrator_app.open_help(str(args.get("command", "")))
        elif name in ("restore", "narrator") and "name" not in args:
            self.acts()[f"story.{name}"]()
        elif name == "search":
            self.search(str(args["words"]))
        elif name == "save" and "name" not in args:
            self.save()
        else:
            self.perform(command)

    # -- the step that the verbs act on -------------------------------------------------------------------------------

    def acting_step(self) -> StepLine | None:
        """The selected step, else the last of the story."""
        window = self.transcript.window
        if window is None or not window.count:
            return None
        laid = window.laid_at(self.transcript.selected or window.count)
        return laid.step if laid is not None else None

    def _held(self, position: int) -> Place | None:
        """The step stays where it is on the screen, when the player selected it."""
        return Place(position, 0) if self.transcript.selected is not None else None

    def _step_args(self) -> dict[str, Any]:
        if self.transcript.selected is None:
            return {}
        return {"step": StepRef(position=self.transcript.selected)}
