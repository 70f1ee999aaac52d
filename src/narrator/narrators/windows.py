"""How large a model's window is: asked of the server in each of the ways that servers know, or built in (C3).

Every look-up is a function from the JSON of one address to a number or None; what a server says in a shape of its own
making is nothing said.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final

Fetch = Callable[[str], Awaitable[Any]]
"""The JSON at an address, or None where there is none."""

SMALLEST: Final = 256
_BUILT_IN: Final = (
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4", 8_192),
    ("gpt-3.5", 16_385),
    ("gpt-5", 272_000),
    ("o1", 128_000),
    ("o3", 200_000),
    ("o4", 200_000),
)


def built_in_window(model: str) -> int | None:
    """The window of one of OpenAI's own models, where no larger than all of that name have."""
    return next((window for prefix, window in _BUILT_IN if model.lower().startswith(prefix)), None)


async def ask_window(fetch: Fetch, base_url: str, model: str) -> int | None:
    """The window that the server at ``base_url`` really gives the model, in tokens; None where it does not say.

    What a server says of the model as it is loaded counts before what the model could do.
    """
    base = base_url.rstrip("/")
    root = base.removesuffix("/v1")
    found = _in_models(await fetch(f"{base}/models"), model)
    if found is not None:
        return found
    for path, look in _OTHERS:
        value = look(await fetch(root + path), model)
        if value is not None:
            return value
    return None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= SMALLEST else None


def _first(entry: Mapping[str, Any], *keys: str) -> int | None:
    return next((number for key in keys if (number := _number(entry.get(key))) is not None), None)


def _entries(value: object, key: str) -> Iterator[Mapping[str, Any]]:
    listed = value.get(key) if isinstance(value, Mapping) else value
    if isinstance(listed, list):
        yield from (entry for entry in listed if isinstance(entry, Mapping))


def _entry_of(value: object, key: str, model: str) -> Mapping[str, Any]:
    """The entry of the model; where the server has just one, that one, whatever it is called."""
    entries = list(_entries(value, key))
    # Ollama calls a model without a tag by the tag "latest".
    names = {model, f"{model}:latest"}
    named = [each for each in entries if names & {str(each.get(name)) for name in ("id", "name", "model")}]
    return named[0] if named else entries[0] if len(entries) == 1 else {}


def _in_models(value: object, model: str) -> int | None:
    entry = _entry_of(value, "data", model)
    provider, meta = entry.get("top_provider"), entry.get("meta")
    inner = provider if isinstance(provider, Mapping) else meta if isinstance(meta, Mapping) else {}
    named = _first(inner, "context_length", "n_ctx")
    return named or _first(entry, "max_model_len", "loaded_context_length", "context_length", "context_window")


def _in_props(value: object, model: str) -> int | None:
    if not isinstance(value, Mapping):
        return None
    settings = value.get("default_generation_settings")
    return (_first(settings, "n_ctx") if isinstance(settings, Mapping) else None) or _first(value, "n_ctx")


def _in_kobold(value: object, model: str) -> int | None:
    return _first(value, "value") if isinstance(value, Mapping) else None


def _in_lm_studio(value: object, model: str) -> int | None:
    return _first(_entry_of(value, "data", model), "loaded_context_length")


def _in_ollama(value: object, model: str) -> int | None:
    return _first(_entry_of(value, "models", model), "context_length")


_OTHERS: Final = (
    ("/props", _in_props),
    ("/api/extra/true_max_context_length", _in_kobold),
    ("/api/v0/models", _in_lm_studio),
    ("/api/ps", _in_ollama),
)
