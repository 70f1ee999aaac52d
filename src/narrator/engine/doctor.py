"""What works on this machine: each finding is tried, not guessed, and says what to do where it is bad."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import platform
import socket
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from narrator.config import Settings
from narrator.core.campaign import minimal_definition
from narrator.core.errors import NarratorError
from narrator.engine import casting
from narrator.engine.offering import find_servers
from narrator.engine.story import Story, create_campaign
from narrator.narrators.port import Capabilities, HasRemark, IsElsewhere
from narrator.store.verify import verify

_ANSWER_SECONDS = 1.0
_NO_MODEL = (
    "none is known. Start a server on this machine (Ollama, LM Studio, llama.cpp …) and it is found, name another in "
    "config.toml, or add a model file with `narrator models add FILE`"
)
_EXTRAS = {
    "embedded": ("xllamacpp", "models run inside narrator"),
    "semantic": ("wordllama", "memories are also found by meaning"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. ``text`` says what was found, and what to do where it is not well."""

    what: str
    is_well: bool
    text: str


def examine(
    settings: Settings, problems: Sequence[str], folders: Mapping[str, Path], *, is_dumb: bool
) -> list[Finding]:
    """Look at everything; nothing of the player's is changed and no other machine is asked."""
    findings = [Finding("python", True, f"{platform.python_version()} on {platform.system()}")]
    findings += [_folder(name, path) for name, path in folders.items()]
    findings.append(_file())
    findings += [Finding("config.toml", False, problem) for problem in problems]
    if not problems:
        findings.append(Finding("config.toml", True, "nothing is wrong in it"))
    findings += _narrators(settings)
    for extra, (module, what) in _EXTRAS.items():
        is_there = importlib.util.find_spec(module) is not None
        findings.append(Finding(extra, True, what if is_there else f"not installed; with it {what}"))
    drawn = "nothing can be drawn on it; --plain is for it" if is_dumb else "it can be drawn on"
    findings.append(Finding("terminal", True, drawn))
    return findings


def _folder(name: str, path: Path) -> Finding:
    """The folder, or the nearest one above it that exists, can be written to."""
    at = path
    while not at.exists() and at != at.parent:
        at = at.parent
    if not at.is_dir():
        return Finding(name, False, f"{at} is no folder. Move it away.")
    if not os.access(at, os.W_OK | os.X_OK):
        return Finding(name, False, f"{at} cannot be written to. Change its mode, or set NARRATOR_HOME.")
    return Finding(name, True, str(path))


def _file() -> Finding:
    """Make, open and verify a campaign in a scratch folder."""
    try:
        with tempfile.TemporaryDirectory(prefix="narrator-doctor-") as scratch:
            path = Path(scratch) / "try.narrator"
            create_campaign(path, minimal_definition("A try", "Rain.").source, seed=1)
            Story.open(path).close()
            report = verify(path)
    except (NarratorError, OSError) as error:
        return Finding("campaign file", False, f"could not be made: {error}")
    if not report.ok:
        return Finding("campaign file", False, f"does not verify: {report.problems[0].text}")
    return Finding("campaign file", True, "was made, opened and verified")


def _narrators(settings: Settings) -> list[Finding]:
    """The narrators and the servers of this machine, each tried as far as that goes without a word to another one."""
    findings = [Finding("narrator scripted", True, "always there")]
    settings, _ = asyncio.run(find_servers(settings))
    if all(each.kind == "scripted" for each in settings.narrators.values()):
        findings.append(Finding("narrator model", True, _NO_MODEL))
    for name, each in settings.narrators.items():
        if each.kind == "scripted":
            continue
        try:
            text = asyncio.run(_look_at(replace(settings, offline=True), name))
            findings.append(Finding(f"narrator {name}", True, text))
        except NarratorError as error:
            findings.append(Finding(f"narrator {name}", False, str(error)))
    return findings


async def _look_at(settings: Settings, name: str) -> str:
    """What is known of a narrator, every assumption named (C3, C4). Raises ``NarratorError`` where it cannot tell."""
    narrator = casting.build(settings, name)
    try:
        host = narrator.host if isinstance(narrator, IsElsewhere) else ""
        is_here = not isinstance(narrator, IsElsewhere) or narrator.is_loopback
        if host and is_here:
            _see_that_it_answers(settings.narrators[name].base_url or "", host)
        abilities = await narrator.capabilities()
        said = [f"{settings.narrators[name].kind} {host}".strip(), abilities.model or "no model named"]
        if not is_here:
            said.append("another machine, and so not asked")
        said += assumptions(abilities)
        if isinstance(narrator, HasRemark) and (remark := await narrator.remark()):
            if not abilities.is_small:
                raise NarratorError("narrator-unreachable", remark)
            said.append(remark)
        return "; ".join(said)
    finally:
        await narrator.aclose()


def assumptions(abilities: Capabilities) -> list[str]:
    """Window, counting, tools and schema of a narrator, and what is made of what it lacks."""
    window = f"window {abilities.window:,} tokens, {abilities.window_source}"
    if abilities.window_source == "assumed":
        window += " (context_window in config.toml says better)"
    counting = {
        "exact": "tokens counted exactly",
        "measured": "tokens estimated from what the server reported, and a fifth on top",
        "bytes": "tokens counted as one a byte unless the server counts them, so that less of the story may fit",
    }[abilities.counting]
    tools = "tools" if abilities.tools else "no tools: checks are asked for in requests of their own"
    schema = "answers in JSON by schema" if abilities.json_schema else "no JSON schema: answers in JSON are hoped for"
    return [window, counting, tools, schema]


def _see_that_it_answers(base_url: str, host: str) -> None:
    place = urlsplit(base_url)
    port = place.port or (443 if place.scheme == "https" else 80)
    try:
        socket.create_connection((place.hostname or "", port), _ANSWER_SECONDS).close()
    except OSError:
        raise NarratorError("narrator-unreachable", f"nobody answers at {host}", "Start the server.") from None
