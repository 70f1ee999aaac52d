"""The help page, made of the registry: it cannot say what is not so."""

from __future__ import annotations

from textual.content import Content

from narrator.engine.verbs import ALIASES, COMMANDS
from narrator.tui.actions import ACTIONS, Action
from narrator.tui.keymap import Keymap, show_key
from narrator.tui.outside import join, plain
from narrator.tui.panel_pages import HISTORY_HINTS, RETRACT, SAVE_HINTS, STATE_HINTS
from narrator.tui.prompt_pages import CARD_HINTS, MEMORY_HINTS, PROMPT_HINTS
from narrator.tui.screens.dialogs import Page

_INTRODUCTION = """\
Type what you do and press Enter. The story goes on; nothing you do loses what was there.

Undo steps back, redo forward. Retry: another outcome of the same turn. Retell: the same, told differently.
Every telling is kept as a take: ◂ 2/3 takes ▸ under a step says that there are three, ← → page through them.
Save this place under a name, and go back there whenever you like.

Ctrl+T changes what Enter means: do (> I act), say (“ I speak), story (~ I write what happens).
Esc goes from typing to reading, where ↑ ↓ select a step and letters are commands; typing anything else goes back.
A / begins a command in words; Tab completes it.
"""
_FIRST = (
    "story.undo", "story.redo", "story.retry", "screen.previous-take", "story.continue", "story.edit", "story.save",
    "story.restore", "story.search", "screen.rail", "screen.panel", "screen.settings", "screen.palette", "story.quit",
)  # fmt: skip
"""The keys to begin with, in order of need."""
_GROUPS = (
    "Telling the story", "Moving in the story", "Marks", "Looking", "The screen", "Changing what is kept",
    "Around the story", "Session",
)  # fmt: skip

PANEL_KEYS = (
    ("State", (*STATE_HINTS, RETRACT)),
    ("How a value changed", HISTORY_HINTS),
    ("Memories", MEMORY_HINTS),
    ("Cards", CARD_HINTS),
    ("Saves", SAVE_HINTS),
    ("Prompt", PROMPT_HINTS),
)
"""The pages of the panel and their keys."""


def _keys(action: Action, keymap: Keymap) -> str:
    keys = [show_key(key) for key in keymap.of_action.get(action.id, ())]
    return " ".join([*keys, *(show_key(letter) for letter in action.letters)])


def help_page(keymap: Keymap, about: str = "") -> Page:
    """All of it, or one command."""
    about = ALIASES.get(about.lstrip("/"), about.lstrip("/"))
    if about in COMMANDS:
        verb = COMMANDS[about]
        keys = _keys(ACTIONS[f"story.{about}"], keymap)
        return Page(verb.title, [verb.usage, "", verb.help, *(["", f"Keys: {keys}"] if keys else [])])
    parts: list[Content] = [plain(_INTRODUCTION)]
    if about:
        parts.insert(0, plain(f"There is no command “{about}”.\n"))
    parts.append(plain("The keys to begin with", "bold $chosen"))
    for action in (ACTIONS[each] for each in _FIRST):
        keys = _keys(action, keymap)
        if keys:
            parts.append(join("  ", plain(f"{keys:<16}", "bold"), f" {action.help}"))
    parts.append(Content(""))
    groups: dict[str, list[Action]] = {group: [] for group in _GROUPS}
    for action in ACTIONS.values():
        groups.setdefault(action.group, []).append(action)
    for group, actions in groups.items():
        parts.append(plain(group, "bold $chosen"))
        for action in sorted(actions, key=lambda each: not _keys(each, keymap)):
            keys = _keys(action, keymap)
            word = COMMANDS[action.verb].usage if action.verb else action.title
            parts.append(join("  ", plain(word, "bold"), f"   {keys}" if keys else ""))
            parts.append(join("      ", plain(action.help, "$faint")))
        parts.append(Content(""))
    parts.append(plain("In the panel", "bold $chosen"))
    for title, hints in PANEL_KEYS:
        parts.append(join("  ", plain(title, "bold"), "   ", " · ".join(f"{each.label} {each.word}" for each in hints)))
    parts.append(
        join("      ", plain("← → go to another page; each key can be clicked at the panel's foot.", "$faint"))
    )
    return Page("Help", Content("\n").join(parts))
