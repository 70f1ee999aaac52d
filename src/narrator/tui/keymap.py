"""Keys → actions, with the player's own from the config; problems are named, none stops the start (U6).

A key of the config replaces an action's keys; letters stay. The same key may serve an action by key and by letter in
different places, so the two are kept apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from narrator.core.nearest import nearest
from narrator.tui.actions import ACTIONS

_NAMES = {
    "?": "question_mark", ",": "comma", ":": "colon", "/": "slash", "<": "less_than_sign", ">": "greater_than_sign",
    "[": "left_square_bracket", "]": "right_square_bracket", "pgup": "pageup", "pgdn": "pagedown", "esc": "escape",
    "return": "enter",
}  # fmt: skip
_SHOWN = {
    "question_mark": "?", "comma": ",", "colon": ":", "slash": "/", "less_than_sign": "<", "greater_than_sign": ">",
    "left_square_bracket": "[", "right_square_bracket": "]", "upper_n": "N", "pageup": "PgUp", "pagedown": "PgDn",
    "escape": "Esc", "left": "←", "right": "→", "up": "↑", "down": "↓", "tab": "Tab", "enter": "Enter", "home": "Home",
    "end": "End",
}  # fmt: skip
_KEPT = {
    "ctrl+h": "Backspace", "ctrl+i": "Tab", "ctrl+m": "Enter", "ctrl+left_square_bracket": "Esc", "ctrl+b": "tmux",
    "alt+enter": "many terminals",
}  # fmt: skip
_TYPED = frozenset("ctrl+a ctrl+e ctrl+u ctrl+w ctrl+d ctrl+left ctrl+right".split())


@dataclass(frozen=True, slots=True)
class Keymap:
    """``keys`` and ``letters``: key → action id. ``of_action``: action id → keys, as they are now."""

    keys: Mapping[str, str]
    letters: Mapping[str, str]
    of_action: Mapping[str, tuple[str, ...]]

    def label(self, action_id: str, *, is_letter: bool = False) -> str:
        """The first key of an action as the screen shows it, '' without one."""
        keys = ACTIONS[action_id].letters if is_letter else self.of_action.get(action_id, ())
        return show_key(keys[0]) if keys else ""


def show_key(key: str) -> str:
    """A key as people write it: ``ctrl+z`` → ``^Z``, ``shift+tab`` → ``Shift+Tab``."""
    *modifiers, name = key.split("+")
    shown = _SHOWN.get(name, name.upper() if len(name) > 1 and name[0] == "f" and name[1:].isdigit() else name)
    if modifiers == ["ctrl"]:
        return f"^{shown.upper()}" if len(shown) == 1 else f"Ctrl+{shown}"
    return "+".join([*(modifier.capitalize() for modifier in modifiers), shown])


def normalize(key: str) -> str:
    """A key as the config may write it, in Textual's words."""
    *modifiers, name = key.strip().split("+") if key.strip() not in ("+", "") else ["plus"]
    if len(name) == 1 and name.isupper() and "ctrl" not in modifiers:
        name = f"upper_{name.lower()}"
    return "+".join([*(modifier.strip().lower() for modifier in modifiers), _NAMES.get(name.lower(), name.lower())])


def _refusal(key: str) -> str:
    if key in _KEPT:
        return f"{show_key(key)} is the same byte as another key or kept by {_KEPT[key]}"
    if key.startswith("alt+") and key[4:].isdigit():
        return "Alt with a digit switches windows in many terminals"
    if key in _TYPED:
        return f"{show_key(key)} edits the line that is typed"
    return ""


def make_keymap(own: Mapping[str, str] | None = None) -> tuple[Keymap, list[str]]:
    """The keymap with the player's ``[keys]``, and what is wrong with them, a line each."""
    problems: list[str] = []
    of_action = {action.id: action.keys for action in ACTIONS.values()}
    for action_id, text in (own or {}).items():
        known = action_id if action_id in ACTIONS else f"story.{action_id}"
        if known not in ACTIONS:
            near = nearest(action_id, ACTIONS)
            problems.append(f"keys: no action is called {action_id!r}{f'; near: {near}' if near else ''}")
            continue
        chosen = tuple(normalize(key) for key in text.split(",") if key.strip())
        refused = [reason for key in chosen if (reason := _refusal(key))]
        if refused:
            problems.append(f"keys.{action_id}: {refused[0]}")
            continue
        of_action[known] = chosen
    keys: dict[str, str] = {}
    own_ids = {i if i in ACTIONS else f"story.{i}" for i in (own or {})}
    for action_id in sorted(of_action, key=lambda each: each in own_ids):
        for key in of_action[action_id]:
            if key in keys and action_id in own_ids:
                problems.append(f"keys: {show_key(key)} is now {action_id}, and no longer {keys[key]}")
            keys[key] = action_id
    letters = {letter: action.id for action in ACTIONS.values() for letter in action.letters}
    of_action = {i: tuple(key for key in held if keys.get(key) == i) for i, held in of_action.items()}
    return Keymap(MappingProxyType(keys), MappingProxyType(letters), MappingProxyType(of_action)), problems
