"""Who tells the story: from settings and names to a narrator (T19). Models are imported when they are chosen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from narrator import log
from narrator.config import NarratorSettings, Settings
from narrator.core.errors import BadValue
from narrator.narrators.discovery import Found
from narrator.narrators.port import Narrator

SCRIPTED = "scripted"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A narrator that could be chosen: its name and kind, and the base URL of a server or ''."""

    name: str
    kind: str
    base_url: str = ""


def candidates(settings: Settings) -> list[Candidate]:
    """The configured narrators; the scripted one is always among them."""
    found = [Candidate(name, each.kind, each.base_url or "") for name, each in settings.narrators.items()]
    return found if any(each.name == SCRIPTED for each in found) else [*found, Candidate(SCRIPTED, SCRIPTED)]


def choose(settings: Settings, asked: str | None, remembered: str | None = None) -> Narrator:
    """The narrator asked for, else the campaign's, else the configured default, else the scripted one.

    Raises ``no-such-narrator`` for one asked for by name; a remembered one that is gone is passed over.
    """
    known = {each.name for each in candidates(settings)}
    if asked is not None:
        if asked not in known:
            raise BadValue(
                f"There is no narrator “{asked}”.", f"There are: {', '.join(sorted(known))}.", "no-such-narrator"
            )
        return build(settings, asked)
    for name in (remembered, settings.narrator, SCRIPTED):
        if name is not None and name in known:
            return build(settings, name)
    return build(settings, SCRIPTED)


def with_found(settings: Settings, found: Sequence[Found]) -> tuple[Settings, dict[str, str]]:
    """The settings with the servers that were found on this machine as narrators, and their names with their models.

    A server is called as the program that usually has its port; its first model tells (T19).
    """
    narrators, added = dict(settings.narrators), {}
    for each in found:
        name = re.sub(r"[^a-z0-9]+", "-", each.program.lower()).strip("-") or f"port-{each.port}"
        if name not in narrators:
            narrators[name] = NarratorSettings(kind="openai-compatible", base_url=each.base_url, model=each.models[0])
            added[name] = each.models[0]
    return replace(settings, narrators=narrators), added


def build(settings: Settings, name: str) -> Narrator:
    """The narrator of that name. Raises ``NarratorError`` where its settings lack something."""
    chosen = settings.narrators.get(name)
    if chosen is None or chosen.kind == "scripted":
        from narrator.narrators.scripted import ScriptedNarrator

        return ScriptedNarrator(words_per_second=settings.scripted.words_per_second, name=name)
    if chosen.kind == "openai-compatible":
        return _server(settings, name, chosen)
    return _engine(name, chosen)


def _engine(name: str, chosen: NarratorSettings) -> Narrator:
    from narrator.narrators.embedded import EmbeddedNarrator

    return EmbeddedNarrator(
        name,
        model_path=Path(chosen.model_path or "").expanduser(),
        window=chosen.context_window,
        max_output_tokens=chosen.max_output_tokens,
        timeout=chosen.timeout,
        sampling=chosen.sampling,
    )


def _server(settings: Settings, name: str, chosen: NarratorSettings) -> Narrator:
    from narrator.narrators.openai_compatible import OpenAICompatible
    from narrator.narrators.secret import resolve_key

    key = resolve_key(chosen.api_key_env, chosen.api_key_command)
    if key is not None:
        log.hide(key.reveal())
    return OpenAICompatible(
        name,
        base_url=chosen.base_url or "",
        model=chosen.model or "",
        api_key=key,
        context_window=chosen.context_window,
        max_output_tokens=chosen.max_output_tokens,
        counting=chosen.counting,
        tools=chosen.tools,
        json_schema=chosen.json_schema,
        timeout=chosen.timeout,
        retries=chosen.retries,
        sampling=chosen.sampling,
        offline=settings.offline,
    )
