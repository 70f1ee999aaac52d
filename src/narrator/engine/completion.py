"""What may stand at the end of a line, and the bare words that interactive fiction has always known (U25)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from narrator.engine.commands import Command, StepRef, parse_line
from narrator.engine.verbs import ALIASES, COMMANDS

IF_WORDS: Mapping[str, str] = {
    "undo": "undo",
    "redo": "redo",
    "save": "save",
    "restore": "restore",
    "restart": "restart",
    "again": "again",
    "g": "again",
    "script": "script",
    "quit": "quit",
}


def parse_if_word(line: str, number: int | None = None, *, last_input: Command | None = None) -> Command | None:
    """The command that a bare word of interactive fiction means (U25), or None where the line is play.

    ``undo`` and ``redo`` may have a number behind them. ``restart`` goes to the opening, ``again`` and ``g`` give the
    last input once more; without one they are play.
    """
    bare, _, times = line.strip().lower().partition(" ")
    word = IF_WORDS.get(bare)
    if word is None or (times and not (word in ("undo", "redo") and times.isdecimal())):
        return None
    if times:
        return parse_line(f"/{word} {times}", number)
    if word == "restart":
        return Command("go", {"step": StepRef(position=1)}, number)
    if word == "again":
        return Command(last_input.name, last_input.args, number) if last_input is not None else None
    return Command(word, {}, number)


@dataclass(frozen=True, slots=True)
class Completion:
    """``line`` is the whole line once completed, ``label`` what a list shows, ``help`` the sentence beside it."""

    line: str
    label: str
    help: str = ""


def complete(line: str, names: Mapping[str, Sequence[str]] | None = None) -> list[Completion]:
    """What may stand at the end of a line that begins with a slash.

    ``names`` holds what the story knows, by argument: ``"restore"``, ``"switch"``, ``"card"``, ``"narrator"`` … (the
    word of the verb), each a list of names.
    """
    if not line.startswith("/") or line.startswith("//"):
        return []
    word, space, rest = line[1:].partition(" ")
    if not space:
        found = [verb for verb in COMMANDS.values() if verb.name.startswith(word.lower())]
        return [Completion(f"/{v.name}{' ' if v.arguments else ''}", v.usage, v.help) for v in found]
    name = ALIASES.get(word, word)
    if name not in COMMANDS:
        return []
    options = [*(names or {}).get(name, ())]
    if name == "help":
        options = list(COMMANDS)
    elif not options and COMMANDS[name].arguments:
        options = list(COMMANDS[name].arguments[0].choices)
    wanted = rest.casefold().lstrip('"')
    return [Completion(f"/{word} {o}", o.strip()) for o in options if o.casefold().lstrip('"').startswith(wanted)]
