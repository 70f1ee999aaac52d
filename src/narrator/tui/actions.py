"""The registry: every verb of the command table as an action, and the few that are about the screen alone.

The words, help and arguments of a verb come from the table; here stands where and when it works: its keys, its letter
while the transcript has the focus, what the footer calls it, and why it cannot be done now, in one line (U6, U7). Keys,
palette, footer and help screen are all made from this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from narrator.engine.verbs import COMMANDS, Effect, Verb


@dataclass(frozen=True, slots=True)
class Now:
    """What the screen knows of this moment. ``takes`` is that of the step the verbs act on."""

    position: int = 1
    redo: int = 0
    takes: int = 1
    is_turn: bool = False
    has_partial: bool = False
    is_asking: bool = False
    is_typing: bool = False
    has_text: bool = False
    is_read_only: bool = False
    is_ended: bool = False
    has_player_step: bool = False
    has_narration: bool = False
    has_selection: bool = False
    place: str = "composer"


Reason = Callable[[Now], str]


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be done. ``id`` is stable (config keys); ``reason`` is '' where it can be done now.

    ``keys`` and ``letters`` are Textual's names of keys; ``footer`` the word for the footer or ''; ``is_screen`` for
    what has no verb. ``group`` heads it in the help.
    """

    id: str
    title: str
    help: str
    group: str
    keys: tuple[str, ...] = ()
    letters: tuple[str, ...] = ()
    footer: str = ""
    reason: Reason = lambda now: ""
    verb: str = ""
    words: str = ""
    is_library: bool = False

    @property
    def is_screen(self) -> bool:
        """It is about the screen, not about the story: no verb stands behind it."""
        return not self.verb


BEING_TOLD = "The story is being told; Esc stops it."


def _idle(now: Now) -> str:
    if now.is_turn:
        return BEING_TOLD
    if now.is_asking:
        return "Answer the question first."
    return ""


def _writing(now: Now) -> str:
    return _idle(now) or ("Somebody else has this campaign open; you can read it." if now.is_read_only else "")


def _telling(now: Now) -> str:
    return _writing(now) or ("The story has ended; undo, or go to a saved place." if now.is_ended else "")


def _undo(now: Now) -> str:
    return _writing(now) or ("This is the opening; there is nothing to undo." if now.position <= 1 else "")


def _redo(now: Now) -> str:
    return _writing(now) or ("There is nothing to redo." if not now.redo else "")


def _retry(now: Now) -> str:
    return _writing(now) or ("There is no narration to retry yet; type what you do." if not now.has_narration else "")


def _takes(now: Now) -> str:
    return _writing(now) or ("This step has one take; Ctrl+R tells it again." if now.takes < 2 else "")


def reason_for_typed(verb: str, now: Now) -> str:
    """Why a typed command cannot be done now, or ''. It may name a step or take of its own: whether the selected step
    has takes is not the question, and what it names the session looks for."""
    reason = ACTIONS[f"story.{verb}"].reason
    return (_writing if reason is _takes else reason)(now)


def _stop(now: Now) -> str:
    return "" if now.is_turn else "Nothing is being told."


def _keep(now: Now) -> str:
    return "" if now.is_turn or now.has_partial else "There is nothing told that is not in the story already."


_BY_EFFECT: Mapping[Effect, Reason] = MappingProxyType(
    {
        Effect.TURN: _telling,
        Effect.MOVE: _writing,
        Effect.WRITE: _writing,
        Effect.MARK: _writing,
        Effect.SETTING: lambda now: "",
        Effect.READ: lambda now: "",
        Effect.CONTROL: lambda now: "",
    }
)


@dataclass(frozen=True, slots=True)
class _Key:
    """Where a verb stands on the keyboard."""

    keys: tuple[str, ...] = ()
    letters: tuple[str, ...] = ()
    footer: str = ""
    reason: Reason | None = None


_VERB_KEYS: Mapping[str, _Key] = MappingProxyType(
    {
        "continue": _Key(("ctrl+n",), ("c",), "continue"),
        "undo": _Key(("ctrl+z",), ("u",), "undo", _undo),
        "redo": _Key(("ctrl+y",), ("d",), "redo", _redo),
        "retry": _Key(("ctrl+r",), ("r",), "retry", _retry),
        "edit": _Key(("ctrl+o",), ("e",), "edit", _writing),
        "save": _Key(("ctrl+s",), ("s",), "save", _writing),
        "restore": _Key(("ctrl+g",), ("g",), "go to", _writing),
        "back": _Key(("alt+left",), ("less_than_sign",)),
        "forward": _Key(("alt+right",), ("greater_than_sign",)),
        "search": _Key(("ctrl+f",), ("slash",), "search"),
        "stop": _Key((), (), "stop", _stop),
        "keep": _Key(("ctrl+k",), (), "keep", _keep),
        "help": _Key(("f1",), ("question_mark",), "help"),
        "undo-turn": _Key(reason=_undo),
        "take": _Key(reason=_takes),
        "delete-take": _Key(reason=_takes),
        "retell": _Key(reason=_retry),
        "quit": _Key(("ctrl+q",), (), "quit"),
    }
)

_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "takes": "versions compare side by side alternatives tellings",
        "retry": "again another version reroll regenerate",
        "continue": "next go on more",
        "undo": "back revert",
        "undo-turn": "back revert whole turn",
        "restore": "load go back saved",
        "save": "bookmark name this place checkpoint",
        "branches": "tree side list lines other ways",
        "fork": "branch split",
        "state": "inventory status character sheet",
        "search": "find",
        "export": "print book file text page",
        "quit": "exit leave end",
        "help": "keys commands how",
        "narrator": "model server ai llm",
        "note": "author style",
    }
)
"""What else those who look for a verb may call it."""

_GROUPS: Mapping[Effect, str] = MappingProxyType(
    {
        Effect.TURN: "Telling the story",
        Effect.MOVE: "Moving in the story",
        Effect.WRITE: "Changing what is kept",
        Effect.MARK: "Marks",
        Effect.READ: "Looking",
        Effect.SETTING: "Around the story",
        Effect.CONTROL: "Session",
    }
)


def _of_verb(verb: Verb) -> Action:
    key = _VERB_KEYS.get(verb.name, _Key())
    return Action(
        id=f"story.{verb.name}",
        title=verb.title,
        help=verb.help,
        group=_GROUPS[verb.effect],
        keys=key.keys,
        letters=key.letters,
        footer=key.footer,
        reason=key.reason or _BY_EFFECT[verb.effect],
        verb=verb.name,
        is_library=verb.name in ("help", "quit", "export"),
        words=_WORDS.get(verb.name, ""),
    )


def _screen(name: str, title: str, help: str, *keys: str, **more: object) -> Action:
    return Action(f"screen.{name}", title, help, "The screen", keys, **more)  # type: ignore[arg-type]


_SCREEN = (
    _screen("mode", "Mode: do, say, story", "How the next input is meant: done, said, or told.", "ctrl+t"),
    _screen(
        "previous-take",
        "Previous take",
        "The take before, of the selected step; no narrator is asked.",
        "left",
        letters=("left_square_bracket",),
        footer="takes",
        reason=_takes,
    ),
    _screen(
        "next-take",
        "Next take",
        "The next take of the selected step; no narrator is asked.",
        "right",
        letters=("right_square_bracket",),
        reason=_takes,
    ),
    _screen("select-up", "Select the step above", "The step before the selected one.", "up", "ctrl+up", letters=("k",)),
    _screen("select-down", "Select the step below", "The step after the selected one.", "down", letters=("j",)),
    _screen("page-up", "Page up", "Read back one screen.", "pageup"),
    _screen("page-down", "Page down", "Read on one screen.", "pagedown", footer="more"),
    _screen("to-start", "To the opening", "Show the first step.", "ctrl+home", "home"),
    _screen("to-end", "To the end", "Show the last step, and follow.", "ctrl+end", "end"),
    _screen("next-match", "Next place found", "The next place that the search found.", letters=("n",)),
    _screen("previous-match", "Previous place found", "The place before.", letters=("upper_n",)),
    _screen(
        "rail",
        "Saves and other lines",
        "Saved places, and every way the story went.",
        "f2",
        letters=("b",),
        footer="saves",
        words="branches tree side list history versions",
    ),
    _screen(
        "panel",
        "Panel",
        "State, memories, cards, saved places, the prompt; in it, closes it.",
        "f3",
        letters=("p",),
        words="history correct inspector tokens budget checks",
    ),
    _screen("settings", "Settings", "Theme, narrator, keys.", "f4", letters=("comma",), is_library=True),
    _screen(
        "palette",
        "All commands",
        "Find a command by a part of its name.",
        "ctrl+p",
        letters=("colon",),
        footer="more",
        is_library=True,
    ),
    _screen("redraw", "Redraw", "Paint the screen anew.", "ctrl+l", is_library=True),
    _screen("next-pane", "Next pane", "Move the focus on.", "tab"),
    _screen("previous-pane", "Previous pane", "Move the focus back.", "shift+tab"),
    _screen("escape", "Back", "One thing a press: popup, editor, turn, selection, then to the transcript.", "escape"),
    _screen("copy", "Copy", "Copy the selected text, else the selected step.", "ctrl+c"),
    _screen(
        "theme",
        "Theme",
        "Choose how it looks; seen at once.",
        is_library=True,
        words="colours colors dark light contrast",
    ),
    _screen("import", "Import", "Bring in stories, characters, cards or texts from files.", is_library=True),
    _screen("library", "Library", "Leave this campaign and choose another.", is_library=True),
)

ACTIONS: Mapping[str, Action] = MappingProxyType(
    {action.id: action for action in (*(_of_verb(verb) for verb in COMMANDS.values()), *_SCREEN)}
)
"""All actions by id."""


def of_verb(name: str) -> Action:
    """The action of a verb of the command table."""
    return ACTIONS[f"story.{name}"]
