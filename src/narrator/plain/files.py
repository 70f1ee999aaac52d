"""Transcripts, recordings and replays: the files beside a plain session (U26)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from narrator.core.errors import BadValue, NarratorError
from narrator.engine.events import Event, Failed, Noted
from narrator.plain.human import Manner, Voice

_CAMPAIGN_ENDS = (".narrator", ".narrator-wal", ".narrator-shm", ".narrator.lock")


def open_to_append(path: Path, campaign: Path | None) -> TextIO:
    """The file, at its end. A campaign is never opened so: SQLite would lose its locks. Raises ``io-error``."""
    beside = {f"{campaign.resolve()}{end}" for end in ("", "-wal", "-shm", ".lock")} if campaign else set()
    if path.name.endswith(_CAMPAIGN_ENDS) or str(path.resolve()) in beside:
        raise BadValue(f"{path} is a campaign.", "Choose another file.")
    try:
        return path.open("a", encoding="utf-8", errors="replace", newline="\n")
    except OSError as error:
        raise NarratorError("io-error", f"{path} cannot be written: {error.strerror}.") from None


def read_lines(path: Path) -> list[str]:
    """The lines of a recording. Raises ``io-error``."""
    try:
        text = path.read_bytes().decode("utf-8-sig", "replace")
    except OSError as error:
        raise NarratorError("io-error", f"{path} cannot be read: {error.strerror}.") from None
    lines = text.split("\n")
    return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


class Script:
    """A live transcript: what was typed and what was told. Owns its file."""

    def __init__(self, path: Path, campaign: Path | None) -> None:
        self.path = path
        self._file = open_to_append(path, campaign)
        self._voice = Voice(Manner(is_streaming=False))

    def begin(self, word: str, typed: str | None) -> None:
        """A command begins; ``typed`` is its line where it was a line."""
        if typed is not None:
            self._write(f"\n> {typed}\n")
        self._voice.begin(word)

    def hear(self, event: Event) -> None:
        """Write what is told. Raises ``io-error``."""
        for said in self._voice.hear(event):
            if not said.is_error:
                self._write(said.text)

    def _write(self, text: str) -> None:
        try:
            self._file.write(text)
            self._file.flush()
        except OSError as error:
            raise NarratorError("io-error", f"The transcript ended: {error.strerror}.") from None

    def close(self) -> None:
        """End the transcript."""
        try:
            self._file.close()
        except OSError:
            return


class Recording:
    """The commands as they were given, one a line. Owns its file."""

    def __init__(self, path: Path, campaign: Path | None) -> None:
        self.path = path
        self._file = open_to_append(path, campaign)

    def add(self, line: str) -> None:
        """Write a line. Raises ``io-error``."""
        try:
            self._file.write(f"{line}\n")
            self._file.flush()
        except OSError as error:
            raise NarratorError("io-error", f"The recording ended: {error.strerror}.") from None

    def close(self) -> None:
        """End the recording."""
        try:
            self._file.close()
        except OSError:
            return


class Papers:
    """What a session writes beside the campaign. Owns the transcript and the recording.

    Where writing fails that paper ends and the player hears of it by ``tell``. While ``is_alone`` events are for the
    transcript and for nobody else.
    """

    def __init__(self, tell: Callable[[Event], None]) -> None:
        self._tell = tell
        self._script: Script | None = None
        self._recording: Recording | None = None
        self.campaign: Path | None = None
        self.is_alone = False

    def begin(self, word: str, typed: str | None) -> None:
        """A command begins."""
        if self._script is not None:
            self._guard(lambda script: script.begin(word, typed))

    def hear(self, event: Event) -> None:
        """Something was told."""
        if self._script is not None:
            self._guard(lambda script: script.hear(event))

    def _guard(self, act: Callable[[Script], None]) -> None:
        script = self._script
        if script is None:
            return
        try:
            act(script)
        except NarratorError as error:
            self.end_script()
            self._tell(Failed(error.code, error.message, error.hint))

    def begin_script(self, path: Path | None) -> None:
        """A transcript from here, under the campaign's name where none is given. Raises ``io-error``, ``bad-value``."""
        if path is None:
            path = Path(f"{self.campaign.stem if self.campaign is not None else 'story'}.txt")
            self._tell(Noted(f"The transcript goes to {path}."))
        script = Script(path, self.campaign)
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

    def begin_recording(self, path: Path | None) -> None:
        """Record into this file; without one, stop. Raises ``io-error``, ``bad-value``."""
        if path is None and self._recording is None:
            raise BadValue("Nothing is being recorded.", "/record FILE begins.")
        recording = Recording(path, self.campaign) if path is not None else None
        if self._recording is not None:
            self._recording.close()
        self._recording = recording

    def record(self, line: str) -> None:
        """A command was given."""
        if self._recording is None:
            return
        try:
            self._recording.add(line)
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
