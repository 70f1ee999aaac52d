"""The verbs of the player: one table behind words, keys, palette, help and completion (U14, U16).

A ``Verb`` says how it is called, what it takes and what it does to the story; ``COMMANDS`` maps the word to it. How a
line or a JSON object becomes a ``Command`` is in ``commands``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Kind(StrEnum):
    """What an argument may be. TEXT and, at the end of a command, NAME, FILE and BRANCH take the rest of the line."""

    TEXT = "text"
    NAME = "name"
    COUNT = "count"
    TIMES = "times"
    STEP = "step"
    TAKE = "take"
    BRANCH = "branch"
    PATH = "path"
    VALUE = "value"
    WORD = "word"
    FLAG = "flag"
    ID = "id"
    FILE = "file"


class Effect(StrEnum):
    """What a verb does to the story.

    TURN tells (asks a narrator), MOVE moves head and tip, WRITE adds or deletes nodes without a turn, MARK writes
    beside the tree (checkpoints, names, pins), SETTING changes the campaign's surroundings, READ shows, CONTROL is
    about the session itself.
    """

    TURN = "turn"
    MOVE = "move"
    WRITE = "write"
    MARK = "mark"
    SETTING = "setting"
    READ = "read"
    CONTROL = "control"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its name (the JSON key), its kind, whether it may be left out; ``also`` are other JSON keys."""

    name: str
    kind: Kind
    is_optional: bool = False
    choices: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    shown: str = ""

    @property
    def usage(self) -> str:
        """As in a line of help: required ones in capitals, optional ones in brackets."""
        label = self.shown or ("|".join(self.choices) if self.choices else self.name.upper())
        if not self.is_optional:
            return label
        return f"[{label if self.shown or self.choices else self.name}]"


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb. ``title`` stands in the palette, ``help`` is one sentence that reads well aloud."""

    name: str
    title: str
    help: str
    effect: Effect
    arguments: tuple[Argument, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """The verb with its arguments, as it is typed."""
        return " ".join([f"/{self.name}", *(a.usage for a in self.arguments)])

    @property
    def is_turn(self) -> bool:
        """A narrator is asked, so it lasts and can be stopped."""
        return self.effect is Effect.TURN

    @property
    def is_writing(self) -> bool:
        """It moves or writes, and is therefore answered ``busy`` while a turn runs."""
        return self.effect in (Effect.TURN, Effect.MOVE, Effect.WRITE, Effect.MARK)

    @property
    def is_reading(self) -> bool:
        """It shows something of the story and changes nothing."""
        return self.effect is Effect.READ


_K = Kind
_TEXT = Argument("text", _K.TEXT)
_NAME = Argument("name", _K.NAME)
_NAME_MAYBE = Argument("name", _K.NAME, True)
_COUNT_MAYBE = Argument("n", _K.COUNT, True)
_STEP = Argument("step", _K.STEP)
_STEP_MAYBE = Argument("step", _K.STEP, True)
_TAKE = Argument("n", _K.TAKE, also=("take",))
_BRANCH = Argument("branch", _K.BRANCH)
_PATH = Argument("path", _K.PATH)
_ID = Argument("id", _K.ID)
_FILE = Argument("file", _K.FILE)
_TURN, _MOVE, _WRITE, _MARK = Effect.TURN, Effect.MOVE, Effect.WRITE, Effect.MARK
_SETTING, _READ, _CONTROL = Effect.SETTING, Effect.READ, Effect.CONTROL

_TELLING = (
    Verb("do", "Do", "Your character does this. Plain text without a slash means the same.", _TURN, (_TEXT,)),
    Verb("say", "Say", "Your character says this.", _TURN, (_TEXT,)),
    Verb("story", "Story", "This happens; you write it as the story's own words.", _TURN, (_TEXT,)),
    Verb("continue", "Continue", "The story goes on without an input.", _TURN),
    Verb(
        "retry",
        "Retry: another outcome",
        "Another outcome for the same turn; the earlier take is kept.",
        _TURN,
        (
            _STEP_MAYBE,
            Argument("n", _K.TIMES, True, also=("x", "xn", "times"), shown="xN"),
            Argument("note", _K.TEXT, True),
        ),
    ),
    Verb("retell", "Retell", "The same events told differently; nothing changes but the words.", _TURN, (_STEP_MAYBE,)),
    Verb("edit", "Edit", "Write a step anew, as another take of it; the old one is kept.", _TURN, (_STEP, _TEXT)),
    Verb(
        "edit-wording",
        "Edit the wording alone",
        "Change the words of a narration and keep what it did to the state.",
        _WRITE,
        (_STEP, _TEXT),
    ),
    Verb("suggest", "Suggest", "Three things that you might do next.", _READ),
    Verb("stop", "Stop", "Stop the turn that is being told; your input comes back.", _CONTROL),
    Verb("keep", "Keep", "Stop, and keep what has been told so far as the narration.", _CONTROL),
)

_MOVING = (
    Verb("undo", "Undo", "Go back one step, or n; an input and its answer are two.", _MOVE, (_COUNT_MAYBE,)),
    Verb("redo", "Redo", "Go forward again one step, or n steps.", _MOVE, (_COUNT_MAYBE,)),
    Verb("undo-turn", "Undo the turn", "Go back to before your last input.", _MOVE),
    Verb("take", "Choose a take", "Step to take N of a step.", _MOVE, (_TAKE, _STEP_MAYBE)),
    Verb("go", "Go to a step", "Go to a step of the story.", _MOVE, (_STEP,)),
    Verb("back", "Back", "Return to where you were before the last jump.", _MOVE),
    Verb("forward", "Forward", "Return to where you were before the last back.", _MOVE),
    Verb("switch", "Switch branch", "Go to where you last read on another branch.", _MOVE, (_BRANCH,)),
    Verb("fork", "Fork here", "Let what is written next open a branch of its own.", _TURN, (_STEP_MAYBE,)),
    Verb("save", "Save a checkpoint", "Save this place under a name.", _MARK, (_NAME_MAYBE,)),
    Verb("save-at", "Save a checkpoint at a step", "Save an earlier step under a name.", _MARK, (_STEP, _NAME)),
    Verb("restore", "Restore a checkpoint", "Go to a saved place; without a name, list them.", _MOVE, (_NAME_MAYBE,)),
)

_KEEPING = (
    Verb(
        "correct",
        "Correct the state",
        "Set a value of the state without touching the prose.",
        _WRITE,
        (_PATH, Argument("value", _K.VALUE), Argument("reason", _K.TEXT, True, shown="because REASON")),
    ),
    Verb("assert", "Assert a fact", "State a fact that holds from here on.", _WRITE, (_TEXT,)),
    Verb("retract", "Retract a fact", "Take back a fact.", _WRITE, (Argument("fact", _K.TEXT, also=("text",)),)),
    Verb(
        "rename-checkpoint",
        "Rename a checkpoint",
        "Give a checkpoint another name.",
        _MARK,
        (Argument("old", _K.NAME), Argument("new", _K.NAME)),
    ),
    Verb("delete-checkpoint", "Delete a checkpoint", "Delete a checkpoint; the story stays.", _MARK, (_NAME,)),
    Verb("rename-branch", "Name a branch", "Give a branch a name.", _MARK, (_BRANCH, _NAME)),
    Verb("delete-branch", "Delete a branch", "Delete a branch, after a question.", _WRITE, (_BRANCH,)),
    Verb("delete-take", "Delete a take", "Delete a take that nothing was built on.", _WRITE, (_TAKE, _STEP_MAYBE)),
    Verb("undelete", "Undelete", "Bring back what was deleted last, until the campaign is closed.", _WRITE),
    Verb("pin", "Pin a take", "Keep a take from every prune.", _MARK, (_TAKE, _STEP_MAYBE)),
    Verb("unpin", "Unpin a take", "Let a take be pruned again.", _MARK, (_TAKE, _STEP_MAYBE)),
    Verb(
        "prune",
        "Prune",
        "Delete for good what was set aside: all of it, or what is older than N days or N steps.",
        _WRITE,
        (
            Argument("all", _K.FLAG, True, shown="all"),
            Argument("days", _K.COUNT, True, shown="days N"),
            Argument("steps", _K.COUNT, True, shown="steps N"),
        ),
    ),
    Verb("remember", "Remember", "Write a memory at this place.", _MARK, (_TEXT,)),
    Verb("pin-memory", "Pin a memory", "Let a memory stand in every prompt.", _MARK, (_ID,)),
    Verb("forget-memory", "Forget a memory", "Delete a memory.", _MARK, (_ID,)),
    Verb("edit-memory", "Edit a memory", "Write a memory anew.", _MARK, (_ID, _TEXT)),
    Verb(
        "comment",
        "Private note",
        "A note for yourself, kept with the step. A line that begins with * is one.",
        _MARK,
        (_TEXT,),
    ),
)

_SHOWING = (
    Verb("takes", "Takes", "List the takes of a step.", _READ, (_STEP_MAYBE,)),
    Verb("checkpoints", "Checkpoints", "List the saved places.", _READ),
    Verb("branches", "Branches", "List the branches.", _READ),
    Verb(
        "state",
        "State",
        "Show what is true now; with --all also what the narrator alone knows.",
        _READ,
        (Argument("all", _K.FLAG, True, ("--all",)), Argument("path", _K.PATH, True)),
    ),
    Verb("audit", "Audit", "Every change of one value along the story.", _READ, (_PATH,)),
    Verb("checks", "Checks", "The hidden checks so far, where the campaign lets you look.", _READ),
    Verb("memories", "Memories", "List the memories that may be used.", _READ),
    Verb("cards", "Cards", "List the cards.", _READ),
    Verb("prompt", "Prompt", "What the narrator is told, for the coming turn or for a step.", _READ, (_STEP_MAYBE,)),
    Verb("read", "Read", "Read the last n steps, or the whole story.", _READ, (_COUNT_MAYBE,)),
    Verb("search", "Search", "Find words in the story.", _READ, (Argument("words", _K.TEXT, also=("text",)),)),
    Verb("stats", "Statistics", "Words, steps, takes, tokens and time.", _READ),
    Verb("map", "Story map", "The whole tree with its takes and checkpoints.", _READ),
    Verb("status", "Status", "Campaign, place, position, redo and narrator.", _READ),
    Verb("help", "Help", "List the commands, or explain one.", _READ, (Argument("command", _K.NAME, True),), ("?",)),
)

_AROUND = (
    Verb(
        "track",
        "Track the state",
        "Work out the state after each turn, or leave it alone.",
        _SETTING,
        (Argument("switch", _K.WORD, False, ("on", "off"), ("on", "value", "choice")),),
    ),
    Verb(
        "card",
        "Card",
        "Show a card, switch it on or off, edit or delete it.",
        _SETTING,
        (
            _NAME,
            Argument("action", _K.WORD, True, ("on", "off", "edit", "delete")),
            Argument("text", _K.TEXT, True),
        ),
    ),
    Verb(
        "knowledge",
        "Knowledge",
        "List the imported sources, or switch or remove one.",
        _SETTING,
        (Argument("id", _K.ID, True), Argument("action", _K.WORD, True, ("on", "off", "remove"))),
    ),
    Verb(
        "note",
        "Author's note",
        "A note to the narrator; alone, it takes the note away.",
        _WRITE,
        (Argument("text", _K.TEXT, True),),
    ),
    Verb(
        "persona",
        "Persona",
        "Who you are in this story; alone, it takes that away.",
        _WRITE,
        (Argument("text", _K.TEXT, True),),
    ),
    Verb("narrator", "Narrator", "Choose who tells the story; without a name, list them.", _SETTING, (_NAME_MAYBE,)),
    Verb("export", "Export", "Write the story to a file; its ending says in which form.", _READ, (_FILE,)),
    Verb(
        "script",
        "Transcript",
        "Write a transcript to a file from here on; with all, from the opening.",
        _CONTROL,
        (Argument("file", _K.FILE, True), Argument("all", _K.FLAG, True, ("all",))),
    ),
    Verb("unscript", "End the transcript", "Stop writing the transcript.", _CONTROL),
    Verb(
        "record",
        "Record",
        "Write your commands to a file; without one, stop that.",
        _CONTROL,
        (Argument("file", _K.FILE, True),),
    ),
    Verb("replay", "Replay", "Play the commands of a file.", _CONTROL, (_FILE,)),
    Verb(
        "answer",
        "Answer",
        "Answer a question.",
        _CONTROL,
        (Argument("choice", _K.WORD), Argument("value", _K.VALUE, True)),
    ),
    Verb("quit", "Quit", "Leave. There is nothing to save.", _CONTROL, aliases=("exit", "q")),
)

VERBS: tuple[Verb, ...] = (*_TELLING, *_MOVING, *_KEEPING, *_SHOWING, *_AROUND)
COMMANDS: Mapping[str, Verb] = MappingProxyType({verb.name: verb for verb in VERBS})
ALIASES: Mapping[str, str] = MappingProxyType({alias: verb.name for verb in VERBS for alias in verb.aliases})
