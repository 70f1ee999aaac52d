"""One answer on its way from chunks to story: what the player gets of it, and what is wrong with it (T6, T11)."""

from __future__ import annotations

import re
from typing import Final

from narrator.narrators import failures
from narrator.narrators.answers import Answer, Gathered
from narrator.narrators.cutting import Cutter, Unthinking
from narrator.narrators.failures import Failure, Server
from narrator.narrators.port import Chunk, Delta, Finish, Purpose, Request

_REFUSAL: Final = re.compile(
    r"\s*(i['’]?m sorry|sorry|i apologi[sz]e|i (can ?not|can['’]t)|i['’]?m (not able|unable)|as an ai)\b"
    r"[^\n]{0,200}\b(assist|help|continue|comply|fulfil?l?|generate|create|write|provide|engage|request)\b",
    re.IGNORECASE,
)
_LONGEST_REFUSAL: Final = 400
_SHORTEN: Final = "Send it again, or word it differently."


class Telling:
    """One attempt at one request. Owns the filters and all that was gathered of the answer.

    ``has_begun`` tells whether a first token of any kind has come: from then on nothing is tried again (T12).
    """

    def __init__(self, server: Server, request: Request, *, has_tools: bool) -> None:
        self.gathered = Gathered()
        self.has_begun = False
        self._server = server
        self._offered = {tool.name for tool in request.tools} if has_tools else set()
        self._unthinking = Unthinking()
        is_narration = request.purpose is Purpose.NARRATE
        self._cutter = Cutter(request.scene.definition.player_name) if is_narration else None
        self._said = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing more of the answer is wanted: it was cut, or worth nothing."""
        return self._unthinking.is_leaked or (self._cutter is not None and bool(self._cutter.note))

    @property
    def is_finished(self) -> bool:
        """Whether the server gave a reason why it ended, and not a bad one."""
        return self.gathered.finish not in ("", "broken")

    def take(self, answer: Answer) -> list[Delta]:
        """Take one chunk of the answer; the text that it makes certain."""
        text = self.gathered.add(answer)
        self.has_begun = self.has_begun or bool(text) or self.gathered.has_begun
        if not text or self.is_over:
            return []
        text = self._unthinking.feed(text)
        return self._tell(text if self._cutter is None else self._cutter.feed(text))

    def _tell(self, text: str) -> list[Delta]:
        self._said += text
        return [Delta(text)] if text else []

    def _flush(self) -> list[Delta]:
        if self.is_over:
            return []
        rest = self._unthinking.finish()
        if self._cutter is not None:
            rest = self._cutter.feed(rest) + self._cutter.finish(keeps_space=self.gathered.finish == "length")
        return self._tell(rest)

    def end(self) -> tuple[list[Chunk], Failure | None]:
        """The last chunks, with one ``Finish``; or the failure that the answer turned out to be."""
        last: list[Chunk] = list(self._flush())
        if self._unthinking.is_leaked:
            return [], failures.failed(
                "narrator-malformed",
                f"{self._server.host} mixed its reasoning into the story.",
                "Turn on the parsing of reasoning in the server, or choose a model that does not reason.",
            )
        note = self._cutter.note if self._cutter is not None else ""
        if not note and (failure := self._bad_end()):
            return last, failure
        try:
            calls = [] if note else self.gathered.calls()
        except (ValueError, RecursionError):
            return last, failures.explain_bytes(self._server, "a tool call that cannot be read")
        if stranger := next((call.name for call in calls if call.name not in self._offered), None):
            name = self._server.quote(stranger)
            return last, failures.failed(
                "narrator-malformed", f"{self._server.host} called a tool that was not offered: {name}.", _SHORTEN
            )
        if not calls and (failure := self._no_story(note)):
            return last, failure
        reason = "cut" if note else "tool" if calls else "length" if self.gathered.finish == "length" else "stop"
        return [*last, *calls, Finish(reason, self.gathered.usage, (note,) if note else ())], None

    def _bad_end(self) -> Failure | None:
        gathered, host = self.gathered, self._server.host
        if gathered.finish == "filtered":
            return failures.failed("narrator-filtered", f"A content filter of {host} stopped the answer.", _SHORTEN)
        if gathered.refusal:
            said = self._server.quote(gathered.refusal)
            return failures.failed("narrator-refused", f"The model refused{failures.quoted(said)}", _SHORTEN)
        if not gathered.has_choice and not gathered.finish:
            return failures.failed("narrator-empty", f"{host} answered with nothing: no choices in it.", "Try again.")
        if not self.is_finished:
            return failures.failed("narrator-broke-off", f"{host} ended before the answer was whole.", "Try again.")
        return None

    def _no_story(self, note: str) -> Failure | None:
        """An answer without a word in it, with the reason, or with nothing but a refusal in it (T6)."""
        said = self._said.strip()
        if len(said) <= _LONGEST_REFUSAL and self._cutter is not None and _REFUSAL.match(said):
            return failures.failed(
                "narrator-refused", f"The model refused{failures.quoted(self._server.quote(said))}", _SHORTEN
            )
        if said:
            return None
        reason, hint = "with nothing", "Try again."
        if note:
            reason = f"with no story: {note[0].lower()}{note[1:].rstrip('.')}"
        elif self.gathered.has_reasoning or self._unthinking.has_thought:
            reason, hint = "with reasoning alone", "Raise max_output_tokens, or choose a model that reasons less."
        elif self.gathered.finish == "length":
            reason, hint = "with nothing up to its limit", "Raise max_output_tokens in config.toml."
        return failures.failed("narrator-empty", f"{self._server.host} answered {reason}.", hint)
