"""Events as text for eyes, ears and pipes: short sentences, no cursor movement, nothing redrawn (U27).

``Voice`` hears the events of a session in order and answers with text. It remembers what it has already told of the
turn in flight, so that a narration that was streamed is not told twice. All text from the story is made safe (U10).
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from typing import Any, NamedTuple

from narrator.core.prose import visible
from narrator.engine import events as e
from narrator.engine.casting import told_words
from narrator.engine.commands import COMMANDS
from narrator.engine.listing import counted, listed

LONGEST_DRAFT = 400
"""Characters of an input that was not sent, as they are told at the start."""
END_OF_TURN = "[Your turn.]"
CORRECTING = ("correct", "assert", "retract", "note", "persona")
DELETING = ("prune", "undelete", "delete-take", "delete-branch")


@dataclass(frozen=True, slots=True)
class Manner:
    """How to speak: ``width`` in cells or None, streamed or in whole, in ASCII, quiet: story and errors alone.

    ``is_asked``: questions wait for the player. ``has_mark``: what was not streamed is followed by an end-of-turn mark.
    ``is_typed``: somebody sits at a keyboard, who knows which line and which program an error is about.
    """

    width: int | None = None
    is_streaming: bool = True
    is_ascii: bool = False
    is_quiet: bool = False
    is_asked: bool = True
    has_mark: bool = True
    is_typed: bool = False


class Said(NamedTuple):
    """A piece of text, line ends and all; ``is_error`` belongs on standard error."""

    text: str
    is_error: bool = False


_ASCII = str.maketrans(
    {
        "‘": "'", "’": "'", "‚": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‹": "'", "›": "'",
        "–": "-", "—": "--", "―": "--", "−": "-", "‐": "-", "‑": "-", "…": "...", "•": "*", "·": "*", "×": "x",
        "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " ", "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe",
        "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "þ": "th", "Þ": "Th", "ð": "d",
        "Ð": "D", "\N{SYMBOL FOR ESCAPE}": "^[",
    }
)  # fmt: skip


def to_ascii(text: str) -> str:
    """The text in ASCII: typographic marks as typewriters had them, letters without accents, ``?`` for the rest."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKD", text.translate(_ASCII))
    return "".join(c if c.isascii() else "?" for c in plain if not unicodedata.combining(c))


def cells(text: str) -> int:
    """How many cells the text takes in a terminal: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) or c in "\u200b\u200d\ufe0f" else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


class Wrapper:
    """Breaks text at words, also when it comes in pieces: the last word is held back until it ends."""

    def __init__(self, width: int | None) -> None:
        self._width = width
        self._column = 0
        self._word = ""
        self._gap = ""

    def feed(self, text: str) -> str:
        """What may be shown now."""
        if self._width is None:
            return text
        shown = []
        for character in text:
            if character == "\n":
                shown += [self._end_word(), "\n"]
                self._column, self._gap = 0, ""
            elif character == " ":
                shown.append(self._end_word())
                self._gap += " "
            else:
                self._word += character
        return "".join(shown)

    def finish(self) -> str:
        """The word that was held back."""
        shown = self._end_word()
        self._gap = ""
        return shown

    def _end_word(self) -> str:
        word, self._word = self._word, ""
        if not word or self._width is None:
            return word
        shown, gap, self._gap = "", self._gap, ""
        if self._column and self._column + len(gap) + cells(word) > self._width:
            shown, gap, self._column = "\n", "", 0
        while self._column + len(gap) + cells(word) > self._width:
            fitting = max(1, self._fitting(word, self._width - self._column - len(gap)))
            shown, word = f"{shown}{gap}{word[:fitting]}\n", word[fitting:]
            self._column, gap = 0, ""
        self._column += len(gap) + cells(word)
        return f"{shown}{gap}{word}"

    @staticmethod
    def _fitting(word: str, width: int) -> int:
        count = 0
        for character in word:
            width -= cells(character)
            if width < 0:
                break
            count += 1
        return count


def typed(step: e.StepShown) -> str:
    """A player's node as it would have been typed."""
    match step.mode:
        case "say":
            return f"> /say {step.text}"
        case "story":
            return f"> /story {step.text}"
    return f"> {step.text}"


def corrected(text: str, words: str = "") -> str:
    """A correction as a margin note of one line (S23); ``words`` says to people what was corrected."""
    try:
        parts: dict[str, Any] = json.loads(text)
        path, old, new, reason = parts["path"], parts["old"], parts["new"], parts.get("reason")
    except (ValueError, KeyError, TypeError):
        return f"[{text}]"
    because = f", because {reason}" if reason else ""
    if path == "facts":
        return f"[Asserted: {new}{because}.]" if old is None else f"[Retracted: {old}{because}.]"
    if path in ("story.note", "story.persona"):
        what = "Author's note" if path == "story.note" else "Persona"
        return f"[{what}: {new}]" if new else f"[{what} taken away.]"
    was = "" if old is None else f", was {json.dumps(old, ensure_ascii=False)}"
    return f"[Corrected: {words or f'{path} is {json.dumps(new, ensure_ascii=False)}{was}{because}'}.]"


def _begun(text: str) -> str:
    """The text, or the beginning of a long one and how long it is."""
    if len(text) <= LONGEST_DRAFT:
        return text
    return f"{text[:LONGEST_DRAFT].rstrip()} … ({len(text):,} characters in all; the full screen has them back.)"


class Voice:
    """Hears the events of one session in order. Owns what was told of the turn in flight and where the line stands."""

    def __init__(self, manner: Manner) -> None:
        self._manner = manner
        self._wrapper = Wrapper(manner.width)
        self._command: str | None = None
        self._streamed = ""
        self._is_mid_line = False
        self._is_telling = False
        self._has_said = False
        self._steps: list[e.StepShown] = []

    def begin(self, command: str) -> None:
        """A command is about to be performed."""
        self._command = command
        self._has_said = False
        verb = COMMANDS.get(command)
        if verb is not None and verb.is_turn:
            self._streamed = ""
            self._is_telling = False

    def hear(self, event: e.Event) -> list[Said]:
        """The text of an event; often none."""
        match event:
            case e.Delta(text=text):
                return self._stream(text)
            case e.StepShown():
                return self._step(event)
            case e.HeadMoved():
                return self._head(event)
            case e.Failed():
                return self._error(event)
            case e.Done():
                return self._done(event)
            case e.Ready():
                return self._ready(event)
            case e.Replayed(command=command, text=text):
                # A line that nobody saw being typed.
                if command not in ("stop", "answer"):
                    self.begin(command)
                return self._say(f"> {visible(text)}")
            case e.Noted() | e.Progressed() | e.StateChanged() | e.ChecksMade() if self._manner.is_quiet:
                return []
        self._has_said = True
        text = "\n".join(listed(event, is_asked=self._manner.is_asked))
        return self._say(visible(text)) if text else []

    # -- the turn ------------------------------------------------------------------------------------------------

    def _stream(self, text: str) -> list[Said]:
        said: list[Said] = []
        if not self._streamed and self._manner.is_streaming:
            said = self._open_block()
        self._is_telling = True
        self._streamed += text
        self._has_said = True
        if self._manner.is_streaming:
            shown = self._wrapper.feed(self._plain(visible(text)))
            if shown:
                self._is_mid_line = not shown.endswith("\n")
                said.append(Said(shown))
        return said

    def _step(self, step: e.StepShown) -> list[Said]:
        if self._command == "read":
            self._has_said = True
            return self._block(self._story(step))
        if not self._is_turn():
            self._steps.append(step)
            return []
        if step.role == "player":
            return []
        self._has_said = True
        if step.role == "correction":
            return [] if self._manner.is_quiet else self._say(self._story(step))
        streamed, self._streamed = self._streamed, ""
        if not self._manner.is_streaming or not streamed.strip().startswith(step.text.strip()):
            return self._block(self._story(step))
        return self._finish_line()

    def _is_turn(self) -> bool:
        """Whether steps that come now are new ones, rather than those of another place."""
        if self._is_telling or self._command == "keep":
            return True
        verb = COMMANDS.get(self._command or "")
        return verb is not None and verb.is_turn and verb.name != "fork"

    def _story(self, step: e.StepShown) -> str:
        if step.role == "player":
            return visible(typed(step))
        if step.role == "correction":
            return visible(corrected(step.text, step.words))
        return visible(step.text).strip("\n")

    def _head(self, head: e.HeadMoved) -> list[Said]:
        if self._command == "read":
            return []
        said: list[Said] = []
        steps, self._steps = self._steps, []
        is_unanswered = bool(steps) and steps[-1].role == "player" and self._command is not None
        if not self._is_turn():
            said += self._last_place(steps)
            if not self._manner.is_quiet and self._command not in CORRECTING:
                redo = f" {counted(head.redo, 'step')} to redo." if head.redo else ""
                stands = " Your line stands: /continue tells it anew." if is_unanswered else ""
                said += self._say(f"[Step {head.position}.{redo}{stands}]")
            self._has_said = True
        if head.ended:
            said += self._say(
                "[The story has ended. /undo, /restore or /fork goes on from an earlier step;"
                " narrator new begins another.]"
            )
        return said

    def _last_place(self, steps: list[e.StepShown]) -> list[Said]:
        """After a move: the last narration and what stands below it; at the start also the input before it.

        After a correction that alone; after what deletes nothing: the player has not moved.
        """
        if self._command in CORRECTING:
            return self._say(self._story(steps[-1])) if steps and not self._manner.is_quiet else []
        if self._command in DELETING:
            return []
        last = next((at for at in range(len(steps) - 1, -1, -1) if steps[at].role in ("narrator", "opening")), 0)
        if self._command is None and last > 0 and steps[last - 1].role == "player":
            last -= 1
        said: list[Said] = []
        for step in steps[last:]:
            if step.role != "correction" or not self._manner.is_quiet:
                said += self._block(self._story(step))
        return said

    def _done(self, done: e.Done) -> list[Said]:
        said = self._finish_line()
        steps, self._steps = self._steps, []
        if steps:
            said += self._last_place(steps)
            self._has_said = True
        has_mark = self._manner.has_mark and not self._manner.is_streaming and not self._manner.is_quiet
        if self._is_telling and done.ok and has_mark:
            said += self._say(END_OF_TURN)
        if done.ok and not self._has_said and not self._manner.is_quiet and done.command != "quit":
            said += self._say("[Ok.]")
        if done.command == self._command:
            self._is_telling = False
        return said

    # -- everything else -----------------------------------------------------------------------------------------

    def _ready(self, ready: e.Ready) -> list[Said]:
        if self._manner.is_quiet:
            return []
        lines = [f"{ready.campaign.title}. {told_words(ready.narrator)}"]
        if ready.read_only:
            lines.append("[Open for reading only.]")
        if ready.draft:
            lines.append(f"[Not sent last time: {_begun(ready.draft)}]")
        return self._say(visible("\n".join(lines)))

    def _error(self, failed: e.Failed) -> list[Said]:
        self._has_said = True
        text = " ".join(part for part in (failed.message, failed.hint) if part)
        line = " ".join(visible(text).split())
        if self._manner.is_typed:
            line = f"[{line}]"
        else:
            line = f"narrator: {f'line {failed.line}: ' if failed.line is not None else ''}{line}"
        return [*self._finish_line(), Said(self._plain(line) + "\n", is_error=True)]

    def _plain(self, text: str) -> str:
        return to_ascii(text) if self._manner.is_ascii else text

    def _finish_line(self) -> list[Said]:
        """The rest of a streamed line."""
        shown = self._wrapper.finish()
        if self._is_mid_line or shown:
            self._is_mid_line = False
            self._wrapper = Wrapper(self._manner.width)
            return [Said(f"{shown}\n")]
        return []

    def _say(self, text: str) -> list[Said]:
        """Lines of their own."""
        before = self._finish_line()
        wrapper = Wrapper(self._manner.width)
        plain = self._plain(text)
        return [*before, Said(f"{wrapper.feed(plain)}{wrapper.finish()}\n")]

    def _open_block(self) -> list[Said]:
        return [*self._finish_line(), Said("\n")]

    def _block(self, text: str) -> list[Said]:
        """Story text, set apart by a blank line."""
        return [*self._open_block(), *self._say(text)]
