"""Transcripts and recordings: the files that a session writes beside its campaign (U26).

Whoever performs a command opens a page for it with ``Papers.during``. What is told while the page is open, also by
tasks that were begun under it, belongs to that command; what an interface asks for itself is on no page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from narrator.core.errors import BadValue, NarratorError
from narrator.engine.events import Done, Event, Failed, Noted, Replayed

if TYPE_CHECKING:
    # Most sessions write nothing: the words for it are imported when something is written.
    from narrator.engine.voice import Manner, Voice

_CAMPAIGN_ENDS = (".narrator", ".narrator-wal", ".narrator-shm", ".narrator.lock")
UNRECORDED = ("record", "replay", "quit")
"""Verbs about the recording itself: no recording holds them."""
IF_DONE = ("stop", "keep")
"""Verbs that are recorded when they have been done: a replay must not stop what nobody stopped."""
_UNHEADED = ("stop", "answer")
"""Verbs that belong to the command above them in a transcript."""


def open_to_append(path: Path, campaign: Path) -> TextIO:
    """The file, at its end. A campaign is never opened so: SQLite would lose its locks. Raises ``io-error``."""
    beside = {f"{campaign.resolve()}{end}" for end in ("", "-wal", "-shm", ".lock")}
    if path.name.endswith(_CAMPAIGN_ENDS) or str(path.resolve()) in beside:
        raise BadValue(f"{path} is a campaign.", "Choose another file.")
    if path.exists() and not path.is_file():
        raise NarratorError("io-error", f"{path} is no file that can be written.", "Choose another file.")
    try:
        return path.open("a", encoding="utf-8", errors="replace", newline="\n")
    except OSError as error:
        raise NarratorError("io-error", f"{path} cannot be written: {error.strerror}.") from None


class _Paper:
    """A file that grows. Owns it."""

    name = "file"

    def __init__(self, path: Path, campaign: Path) -> None:
        self.path = path
        self._file = open_to_append(path, campaign)
        self._begun = self._file.tell()

    def write(self, text: str) -> None:
        """Write it, to the disk's own keeping. Raises ``io-error``."""
        try:
            self._file.write(text)
            self._file.flush()
        except OSError as error:
            raise NarratorError("io-error", f"The {self.name} ended: {error.strerror}.") from None

    def take_back(self) -> None:
        """The file as it was before."""
        try:
            self._file.truncate(self._begun)
        except OSError:
            return

    def close(self) -> None:
        """End it."""
        try:
            self._file.close()
        except OSError:
            return


class Script(_Paper):
    """A live transcript: what was typed and what was told."""

    name = "transcript"

    def __init__(self, path: Path, campaign: Path, manner: Manner) -> None:
        super().__init__(path, campaign)
        self._manner = manner

    def voice(self, word: str) -> Voice:
        """A voice for what a command tells."""
        from narrator.engine.voice import Voice

        voice = Voice(self._manner)
        voice.begin(word)
        return voice

    def tell(self, voice: Voice, event: Event) -> None:
        """Write what is told. Raises ``io-error``."""
        for said in voice.hear(event):
            if not said.is_error:
                self.write(said.text)


class Recording(_Paper):
    """The commands as they were given, one a line."""

    name = "recording"


@dataclass(slots=True, eq=False)
class _Page:
    """What one command tells. ``voices`` has the voice of the transcript that heard it."""

    word: str
    is_aside: bool = False
    voices: dict[Script, Voice] = field(default_factory=dict)


_NOBODY = _Page("")
_PAGE: ContextVar[_Page] = ContextVar("page", default=_NOBODY)


class Papers:
    """What a session writes beside its campaign. Owns the transcript and the recording.

    Where writing fails that paper ends and the player hears of it by ``tell``. ``is_quiet``: the transcript holds the
    story alone.
    """

    def __init__(self, campaign: Path, tell: Callable[[Event], None]) -> None:
        self._campaign = campaign
        self._tell = tell
        self._script: Script | None = None
        self._recording: Recording | None = None
        self.is_quiet = False

    # -- what is given and told -----------------------------------------------------------------------------------

    @property
    def is_writing(self) -> bool:
        """Whether anything is written at all."""
        return self._script is not None or self._recording is not None

    @contextmanager
    def during(
        self, word: str, typed: str = "", recorded: str | None = None, *, is_aside: bool = False
    ) -> Iterator[None]:
        """A command is given: its line is written, and what is told meanwhile belongs to it.

        ``typed`` is the line as it was typed, ``recorded`` the one that means the same in a replay, None for none.
        ``is_aside``: the interface asks this for itself.
        """
        page = _Page(word, is_aside)
        token = _PAGE.set(page)
        try:
            if recorded is not None and not is_aside and word not in IF_DONE:
                self.record(word, recorded)
            script = self._script
            if script is not None and not is_aside and word not in _UNHEADED:
                page.voices[script] = script.voice(word)
                self._guard(lambda script: script.write(f"\n> {typed}\n"))
            yield
        finally:
            _PAGE.reset(token)

    def hear(self, event: Event) -> None:
        """Something is told."""
        script, page = self._script, _PAGE.get()
        if script is None or page.is_aside or isinstance(event, Replayed):
            return  # a line of a replay is written where it is performed
        voice = page.voices.get(script)
        if voice is None:
            if isinstance(event, Done):
                return  # the answer to a command that was given before the transcript began
            voice = script.voice(page.word)
            if page is not _NOBODY:
                page.voices[script] = voice
        found = voice
        self._guard(lambda script: script.tell(found, event))

    def _guard(self, act: Callable[[Script], None]) -> None:
        script = self._script
        if script is None:
            return
        try:
            act(script)
        except NarratorError as error:
            self.end_script()
            self._tell(Failed(error.code, error.message, error.hint))

    # -- the transcript -------------------------------------------------------------------------------------------

    def open_script(self, path: Path | None) -> Script:
        """A transcript that is not heard yet, under the campaign's name where none is given.

        Raises ``io-error``, ``bad-value``.
        """
        from narrator.engine.voice import Manner

        if path is None:
            path = Path(f"{self._campaign.stem}.txt")
            self._tell(Noted(f"The transcript goes to {path.absolute()}."))
        return Script(path, self._campaign, Manner(is_streaming=False, is_quiet=self.is_quiet, has_mark=False))

    def begin_script(self, script: Script) -> None:
        """From here on it hears everything; one that was written before ends."""
        self.end_script()
        self._script = script

    def unscript(self) -> None:
        """End the transcript. Raises ``bad-value`` where there is none."""
        if self._script is None:
            raise BadValue("No transcript is being written.", "/script FILE begins one.")
        self.end_script()

    def end_script(self) -> None:
        """End the transcript where there is one."""
        if self._script is not None:
            self._script.close()
            self._script = None

    # -- the recording --------------------------------------------------------------------------------------------

    def begin_recording(self, path: Path | None) -> None:
        """Record into this file; without one, stop. Raises ``io-error``, ``bad-value``."""
        if path is None and self._recording is None:
            raise BadValue("Nothing is being recorded.", "/record FILE begins.")
        recording = Recording(path, self._campaign) if path is not None else None
        if self._recording is not None:
            self._recording.close()
        self._recording = recording

    def record(self, word: str, line: str) -> None:
        """Write the line of a verb into the recording, where there is one and the verb is not about it."""
        if self._recording is None or word in UNRECORDED:
            return
        try:
            self._recording.write(f"{line}\n")
        except NarratorError as error:
            self._recording.close()
            self._recording = None
            self._tell(Failed(error.code, error.message, error.hint))

    def close(self) -> None:
        """End both."""
        self.end_script()
        if self._recording is not None:
            self._recording.close()
            self._recording = None
