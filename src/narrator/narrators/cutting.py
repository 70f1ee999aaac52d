"""What a model streams, made into story text and nothing else (T6).

Two filters in a row, both fed piece by piece. ``Unthinking`` drops ``<think>`` blocks. ``Cutter`` ends the narration,
with a note, before a player's marker, a role tag, a template token or a phrase said three times in a row. Each holds
back only what may still turn out to be the beginning of such a thing; what it has let go is never taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_THINK: Final = re.compile(r"<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_UNTHINK: Final = re.compile(r"</(think|thinking|thought|reasoning)>", re.IGNORECASE)
_TAGS: Final = tuple(
    f"<{slash}{name}>" for slash in ("", "/") for name in ("think", "thinking", "thought", "reasoning")
)


class Unthinking:
    """Drops reasoning that comes inside the text. Owns what may be the beginning of a tag.

    ``has_thought`` tells whether any was dropped. ``is_leaked`` is set when a block is closed that was never opened:
    then what came before was reasoning too, and the whole answer is worth nothing.
    """

    def __init__(self) -> None:
        self.has_thought = False
        self.is_leaked = False
        self._held = ""
        self._is_inside = False

    def feed(self, piece: str) -> str:
        """The part of the text so far that is no reasoning and was not given before."""
        text, kept = self._held + piece, []
        while True:
            found = (_UNTHINK if self._is_inside else _THINK).search(text)
            if found is None:
                break
            if not self._is_inside:
                kept.append(text[: found.start()])
            self._is_inside = not self._is_inside
            self.has_thought = True
            text = text[found.end() :]
        if not self._is_inside and _UNTHINK.search(text):
            self.is_leaked = self.has_thought = True
        start = _tag_start(text)
        self._held = text[start:]
        if not self._is_inside:
            kept.append(text[:start])
        return "".join(kept)

    def finish(self) -> str:
        """What was held back and is text after all."""
        held, self._held = self._held, ""
        return "" if self._is_inside else held


def _tag_start(text: str) -> int:
    """Where the beginning of a tag stands at the end of ``text``; its length where there is none."""
    start = text.rfind("<", max(0, len(text) - 12))
    if start >= 0 and any(tag.startswith(text[start:].lower()) for tag in _TAGS):
        return start
    return len(text)


_TOKEN: Final = re.compile(
    r"<[|｜][^<>\n]{1,40}[|｜]?>|</?s>|<(?:start|end)_of_(?:turn|text)>|\[/?INST\]|<</?SYS>>|<(?:bos|eos|pad|unk)>"
)
_TOKEN_BEGINNING: Final = re.compile(
    r"<(?:[|｜][^<>\n]{0,41}|/?s?|(?:start|end)[a-z_]{0,9}|s(?:t(?:ar?)?)?|e(?:nd?|os?)?|b(?:os?)?|p(?:ad?)?|u(?:nk?)?"
    r"|<(?:/?S?Y?S?>?)?)\Z|\[/?I?N?S?T?\Z"
)
_ROLES: Final = ("user", "human", "player", "assistant", "narrator")
_HEADINGS: Final = ("instruction", "response", "input", "user", "human", "assistant", "system")
_MARKS: Final = ("[do]", "[say]", "[story]")
_OWN_TAG: Final = re.compile(
    r"\s*(?:\*\*|__)?(?:narrator|assistant)(?:\*\*|__)?[ \t]*:(?:\*\*|__)?[ \t]*", re.IGNORECASE
)

_WINDOW: Final = 4_096
_LONGEST_MARKER: Final = 60
_LONGEST_PHRASE: Final = 600
_FEWEST_WORDS: Final = 3
_SHORTEST_PHRASE: Final = 8
_WORD: Final = re.compile(r"[^\W_]+")
_WIDE: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)
_START: Final = re.compile(rf"(?<![^\W_])[^\W_]|{_WIDE.pattern}")
# A third saying shows only while nothing stands behind it: a long piece is looked at word by word.
_STEP: Final = re.compile(rf"{_WIDE.pattern}|\s+|(?:(?!{_WIDE.pattern})\S)+")


class Cutter:
    """Ends a narration where it stops being one. Owns the last stretch of text, sent and held back.

    ``note`` says why, '' while nothing was cut. A name tag of the narrator's own at the very beginning is taken away
    and no reason to cut. ``player_name`` followed by a colon at the beginning of a line counts as a player's marker.
    """

    def __init__(self, player_name: str = "") -> None:
        self.note = ""
        self._text = ""
        self._sent = 0
        self._is_at_start = True
        names = [*_ROLES, *([player_name.casefold()] if player_name else [])]
        self._prefixes = (*_MARKS, *(f"{name}:" for name in names), *_HEADINGS)
        self._marker = re.compile(
            r"^[ \t]*(?:(?P<player>\[(?:do|say|story)\]|>[ \t]?[^\W_]"
            + (rf"|(?:\*\*|__)?{re.escape(player_name)}(?:\*\*|__)?[ \t]*:" if player_name else "")
            + rf")|(?:\*\*|__)?(?:{'|'.join(_ROLES)})(?:\*\*|__)?[ \t]*:"
            + rf"|\#{{1,4}}[ \t]*(?:{'|'.join(_HEADINGS)})\b)",
            re.IGNORECASE | re.MULTILINE,
        )

    def feed(self, piece: str) -> str:
        """The story text that is certain by now and was not given before; '' for good once ``note`` is set."""
        given = []
        for step in _STEP.findall(piece):
            if self.note:
                break
            self._text += step
            given.append(self._release(is_last=False))
        return "".join(given)

    def finish(self, *, keeps_space: bool = False) -> str:
        """What was held back and is story text after all. White space at the end goes unless ``keeps_space``."""
        return "" if self.note else self._release(is_last=True, keeps_space=keeps_space)

    def _release(self, *, is_last: bool, keeps_space: bool = False) -> str:
        if self._is_at_start and not self._settle_start(is_last):
            return ""
        again, is_third = self._find_repetition(is_last)
        cut, note = self._find_cut(again if is_third else None)
        if note:
            self.note = note
            return self._give(self._without_space(cut))
        if is_last:
            return self._give(len(self._text) if keeps_space else self._without_space())
        return self._give(self._hold(again))

    def _settle_start(self, is_last: bool) -> bool:
        """Take empty lines and the narrator's own name tag from the beginning; False while that is not certain."""
        text = self._text.lstrip("\r\n")
        shown = text.lstrip(" \t*_").casefold()
        if not is_last and (not shown or any(f"{own}:".startswith(shown) for own in ("narrator", "assistant"))):
            if len(text) > _LONGEST_MARKER:
                self._is_at_start = False
            return not self._is_at_start
        own = _OWN_TAG.match(text)
        self._text = text[own.end() :] if own else text
        self._is_at_start = False
        return bool(self._text)

    def _give(self, end: int) -> str:
        end = max(end, self._sent)
        given = self._text[self._sent : end]
        dropped = max(0, end - _WINDOW)
        # What stands before the window is forgotten; its first letter must not look like the beginning of a line.
        self._text, self._sent = self._text[dropped:], end - dropped
        if dropped:
            self._text = "…" + self._text[1:]
        return given

    def _without_space(self, end: int | None = None) -> int:
        return len(self._text[:end].rstrip())

    def _find_cut(self, again: int | None) -> tuple[int, str]:
        cuts: list[tuple[int, str]] = []
        if token := _TOKEN.search(self._text, self._sent):
            cuts.append((token.start(), "a template token"))
        if marker := self._marker.search(self._text, self._sent):
            cuts.append((marker.start(), "a player's marker" if marker["player"] else "a role tag"))
        if again is not None:
            cuts.append((again, "a phrase said three times"))
        if not cuts:
            return 0, ""
        where, what = min(cuts)
        return where, f"The narration was cut before {what}."

    def _hold(self, again: int) -> int:
        """From where on the text is not certain yet; ``again`` is where it may be repeating itself."""
        ends = [again]
        if beginning := _TOKEN_BEGINNING.search(self._text, self._sent):
            ends.append(beginning.start())
        line_start = self._text.rfind("\n") + 1
        if len(self._text) - line_start <= _LONGEST_MARKER and self._is_open(self._text[line_start:]):
            ends.append(line_start)
        return self._without_space(min(ends))

    def _is_open(self, line: str) -> bool:
        """Whether a line may still become one that begins with a marker."""
        line = line.strip(" \t").casefold()
        bare = line.lstrip("*_# \t").replace("*", "").replace("_", "").rstrip()
        return line == ">" or any(prefix.startswith(bare) for prefix in self._prefixes)

    def _find_repetition(self, is_last: bool) -> tuple[int, bool]:
        """Where text begins that may be saying again what stands before it, and whether it has said it twice more."""
        for start in self._starts():
            tail = self._text[start:]
            for before in self._occurrences(tail, start):
                phrase = self._text[before:start]
                if _is_weighty(phrase):
                    return start, self._is_said_twice(tail, phrase, is_last)
        return len(self._text), False

    def _starts(self) -> Iterator[int]:
        for found in _START.finditer(self._text, self._sent):
            yield found.start()

    def _occurrences(self, tail: str, start: int) -> Iterator[int]:
        """Places before ``start`` where ``tail`` stands too, the nearest last."""
        where = self._text.find(tail, max(0, start - _LONGEST_PHRASE), len(self._text) - 1)
        while 0 <= where < start:
            if _START.match(self._text, where):
                yield where
            where = self._text.find(tail, where + 1, len(self._text) - 1)

    @staticmethod
    def _is_said_twice(tail: str, phrase: str, is_last: bool) -> bool:
        words = len(phrase)
        while words and not phrase[words - 1].isalnum():
            words -= 1
        needed = len(phrase) + words
        if len(tail) == needed:
            return is_last
        return len(tail) > needed and not (
            tail[needed].isalnum() and tail[needed - 1].isalnum() and words < len(phrase)
        )


def _is_weighty(phrase: str) -> bool:
    """Whether a phrase is long enough that saying it three times running is no figure of speech."""
    if len(phrase.strip()) < _SHORTEST_PHRASE and not _WIDE.search(phrase):
        return False
    words = 0.0
    for word in _WORD.findall(phrase):
        wide = len(_WIDE.findall(word))
        words += wide / 2 if wide else 1
    return words >= _FEWEST_WORDS
