"""Copying: one place that knows what a terminal takes, and says when it took too little.

OSC 52 is one unchecked write: terminals cut it at some size, tmux passes it only when told to, some ignore it. So the
text is kept here too, for pasting inside the program, and a long one is announced as perhaps cut.
"""

from __future__ import annotations

from textual.app import App

SAFE_BYTES = 74_994
"""The longest text whose base64 form all common terminals take (100,000 bytes of sequence)."""


def copy(app: App[None], text: str) -> str:
    """Copy ``text`` and say in one line what happened."""
    if not text:
        return "There is nothing to copy."
    app.copy_to_clipboard(text)
    size = len(text.encode("utf-8", "replace"))
    words = f"Copied {len(text):,} characters"
    if size > SAFE_BYTES:
        return f"{words}; some terminals cut so much: `narrator export` writes it whole."
    return f"{words}."
