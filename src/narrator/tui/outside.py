"""The one door from text that came from outside to what Textual draws (U10).

Whatever a model, a file, a name or an error says is data: controls are made visible, nothing in it is markup, a link
or a style. Widgets are given ``Content`` from here, never a string, which Textual would read as markup.
"""

from __future__ import annotations

from textual.content import Content

from narrator.tui.wrap import clip, shown


def plain(text: object, style: str = "") -> Content:
    """Any text as it stands, with all its lines. ``style`` is ours (``bold``, ``$error``), never outside's."""
    return Content.styled(shown(str(text)), style) if style else Content(shown(str(text)))


def line(text: object, width: int, style: str = "") -> Content:
    """The same on one line of at most ``width`` cells."""
    cut = clip(str(text), width)
    return Content.styled(cut, style) if style else Content(cut)


def join(*parts: Content | str) -> Content:
    """Parts one after another; a bare string is taken as outside text too."""
    return Content("").join([part if isinstance(part, Content) else plain(part) for part in parts])
