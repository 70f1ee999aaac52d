"""Narrator: interactive fiction told by a language model, over a retained story tree.

As a library: ``Story`` (one open campaign: moves, marks, reads), ``Session`` (the same with turns, over asyncio), the
narrator protocol, and import and export. Names are resolved when they are first asked for, so that importing the
package costs nothing and needs neither the terminal interface nor a model's client (U24).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from narrator.config import Settings as Settings
    from narrator.core.campaign import parse_definition as parse_definition
    from narrator.core.errors import NarratorError as NarratorError
    from narrator.engine.commands import Command as Command
    from narrator.engine.commands import parse_line as parse_line
    from narrator.engine.commands import parse_object as parse_object
    from narrator.engine.session import Session as Session
    from narrator.engine.story import Story as Story
    from narrator.engine.story import create_campaign as create_campaign
    from narrator.exchange.exporting import Wish as Wish
    from narrator.exchange.exporting import export as export
    from narrator.exchange.importing import Surroundings as Surroundings
    from narrator.exchange.importing import import_files as import_files
    from narrator.narrators.fake import FakeNarrator as FakeNarrator
    from narrator.narrators.port import Narrator as Narrator
    from narrator.narrators.port import Request as Request
    from narrator.narrators.scripted import ScriptedNarrator as ScriptedNarrator
    from narrator.store.verify import verify as verify

_PLACES = {
    "Settings": "narrator.config",
    "parse_definition": "narrator.core.campaign",
    "NarratorError": "narrator.core.errors",
    "Command": "narrator.engine.commands",
    "parse_line": "narrator.engine.commands",
    "parse_object": "narrator.engine.commands",
    "Session": "narrator.engine.session",
    "Story": "narrator.engine.story",
    "create_campaign": "narrator.engine.story",
    "Wish": "narrator.exchange.exporting",
    "export": "narrator.exchange.exporting",
    "Surroundings": "narrator.exchange.importing",
    "import_files": "narrator.exchange.importing",
    "FakeNarrator": "narrator.narrators.fake",
    "Narrator": "narrator.narrators.port",
    "Request": "narrator.narrators.port",
    "ScriptedNarrator": "narrator.narrators.scripted",
    "verify": "narrator.store.verify",
}

__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'narrator' has no attribute {name!r}")
