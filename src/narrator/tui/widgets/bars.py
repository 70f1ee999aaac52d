"""The lines at the foot of the screen: a notice, the status, the keys that work now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget

from narrator.tui.outside import line
from narrator.tui.wrap import cells, clip


@dataclass(frozen=True, slots=True)
class Standing:
    """What the status line says. ``share`` of the token budget used (None: unknown), ``rate`` tokens a second or 0.

    ``crowded_out`` counts triggered cards and found passages that have no room in the prompt (C27). ``is_assumed``: the
    window of the narrator is not known (C3).
    """

    campaign: str = ""
    place: str = ""
    position: int = 0
    redo: int = 0
    share: float | None = None
    narrator: str = ""
    host: str = ""
    rate: float = 0.0
    crowded_out: int = 0
    is_assumed: bool = False
    is_telling: bool = False
    is_read_only: bool = False


def gauge(share: float) -> str:
    """A budget as five cells and a number: shape and words, no colour needed."""
    filled = max(0, min(5, round(share * 5)))
    return f"{'▰' * filled}{'▱' * (5 - filled)} {min(999, round(share * 100))}%"


def status_words(standing: Standing, width: int) -> str:
    """The parts of the status line, the least needed left out first where ``width`` cells do not hold them."""
    told = standing.narrator + (f" at {standing.host}" if standing.host else "")
    parts = [
        (0, standing.campaign),
        (3, standing.place),
        (1, f"step {standing.position:,}"),
        (2, f"{standing.redo} to redo" if standing.redo else ""),
        (2, "read only" if standing.is_read_only else ""),
        (5, f"budget {gauge(standing.share)}" if standing.share is not None else ""),
        (2, f"{standing.crowded_out} without room" if standing.crowded_out else ""),
        (4, told),
        (3, "window assumed" if standing.is_assumed else ""),
        (6, f"{standing.rate:.0f} tok/s" if standing.rate else ""),
        (1, "telling…" if standing.is_telling else ""),
    ]
    kept = [(rank, text) for rank, text in parts if text]
    while len(kept) > 1 and sum(cells(clip(t, 40)) + 3 for _, t in kept) - 3 > width - 2:
        kept.remove(max(kept))
    return " · ".join(clip(text, 40) for _, text in kept)


class StatusLine(Widget):
    """Campaign, where, redo, budget, who tells it."""

    DEFAULT_CSS = "StatusLine { height: 1; background: $panel; color: $foreground; padding: 0 1; }"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.standing = Standing()

    def show(self, standing: Standing) -> None:
        """Another standing."""
        if standing != self.standing:
            self.standing = standing
            self.refresh()

    def render(self) -> Content:
        return line(status_words(self.standing, self.size.width), max(1, self.size.width))


class Notice(Widget):
    """One line of what just happened or why something cannot be; else that more story stands below."""

    DEFAULT_CSS = "Notice { height: 1; background: $background; color: $margin; padding: 0 2; }"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.words = ""
        self.below = 0

    def say(self, words: str) -> None:
        """Say this until something else is to be said."""
        self.words = words
        self.refresh()

    def show_below(self, rows: int) -> None:
        """How many rows stand below the screen."""
        if rows != self.below:
            self.below = rows
            self.refresh()

    def render(self) -> Content:
        width = max(1, self.size.width)
        if not self.below:
            return line(self.words, width)
        more = "▾ more below (PgDn)"
        words = clip(self.words, max(0, width - cells(more) - 2))
        pad = " " * max(0, width - cells(words) - cells(more))
        return Content.assemble(words, pad, (clip(more, width), "bold"))


class KeyLine(Widget):
    """The keys that work now, as many as fit; the last ones given (help, all commands) always do."""

    DEFAULT_CSS = "KeyLine { height: 1; background: $surface; color: $faint; padding: 0 1; }"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.keys: tuple[tuple[str, str], ...] = ()
        self.always: tuple[tuple[str, str], ...] = ()

    def show(self, keys: Sequence[tuple[str, str]], always: Sequence[tuple[str, str]] = ()) -> None:
        """(key, word) in order of need; ``always`` stands at the end and is left out last."""
        if (tuple(keys), tuple(always)) != (self.keys, self.always):
            self.keys, self.always = tuple(keys), tuple(always)
            self.refresh()

    def render(self) -> Content:
        width = max(1, self.size.width)
        room = width - sum(_key_width(pair) for pair in self.always)
        shown: list[tuple[str, str]] = []
        for pair in self.keys:
            if _key_width(pair) > room:
                break
            shown.append(pair)
            room -= _key_width(pair)
        parts: list[Content] = []
        used = 0
        for key, word in [*shown, *self.always]:
            if used + cells(key) + 1 + cells(word) > width:
                break
            parts.append(Content.assemble((key, "bold $chosen"), " ", word))
            used += _key_width((key, word))
        return Content("  ").join(parts) if parts else Content("")


def _key_width(pair: tuple[str, str]) -> int:
    """Cells of a key, its word and the gap after it."""
    return cells(pair[0]) + cells(pair[1]) + 3
