"""Who tells the story: from settings and names to a narrator (T19). Models are imported when they are chosen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from narrator import log
from narrator.config import NarratorSettings, Settings
from narrator.core.errors import BadValue, NarratorError
from narrator.narrators.discovery import Found
from narrator.narrators.port import Narrator

SCRIPTED = "scripted"
_MOST_MODELS = 12


@dataclass(frozen=True, slots=True)
class Candidate:
    """A narrator that could be chosen: its name and kind, and the base URL of a server or ''."""

    name: str
    kind: str
    base_url: str = ""


def told_words(name: str) -> str:
    """Who tells, as a sentence: a newcomer has chosen nobody, and is told that nobody is needed (T18)."""
    return "Told from written scenes; no model is needed." if name == SCRIPTED else f"Told by {name}."


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


def choose_or_absent(settings: Settings, asked: str | None, remembered: str | None = None) -> Narrator:
    """The same, and where that one cannot be made, one that answers every request with the reason."""
    try:
        return choose(settings, asked, remembered)
    except NarratorError as error:
        from narrator.narrators.absent import AbsentNarrator

        return AbsentNarrator(asked or remembered or settings.narrator or SCRIPTED, error)


def with_found(settings: Settings, found: Sequence[Found]) -> tuple[Settings, dict[str, str]]:
    """The settings with the servers that were found on this machine as narrators, and their names with their models.

    A server is called as the program that usually has its port, which is its first model; further models are called by
    both names (T19). What is configured already is not found again.
    """
    narrators, added = dict(settings.narrators), {}
    there = {(each.base_url, each.model) for each in narrators.values()}
    for each in found:
        server = _slug(each.program) or f"port-{each.port}"
        for model in _tellers(each.models):
            name = server if model == _tellers(each.models)[0] else f"{server}-{_slug(model)}"
            if name not in narrators and (each.base_url, model) not in there:
                narrators[name] = NarratorSettings(kind="openai-compatible", base_url=each.base_url, model=model)
                added[name] = model
    return replace(settings, narrators=narrators), added


def _tellers(models: Sequence[str]) -> list[str]:
    """The models that can tell: those for embeddings answer no chat."""
    return [model for model in models if "embed" not in model.lower()][:_MOST_MODELS]


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


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
