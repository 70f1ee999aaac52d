"""What works on this machine: each finding is tried, not guessed, and says what to do where it is bad."""

from __future__ import annotations

import importlib.util
import os
import platform
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from narrator.config import Settings
from narrator.core.campaign import minimal_definition
from narrator.core.errors import NarratorError
from narrator.engine.story import Story, create_campaign
from narrator.store.verify import verify

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
    """Look at everything; nothing of the player's is changed and no host is asked."""
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
    findings = [Finding("narrator scripted", True, "always there")]
    for name, narrator in settings.narrators.items():
        what = f"narrator {name}"
        if narrator.kind == "embedded":
            path = Path(os.path.expanduser(narrator.model_path or ""))
            is_there = path.is_file()
            findings.append(Finding(what, is_there, f"{path}{'' if is_there else ' is missing'}"))
        else:
            findings.append(Finding(what, True, f"{narrator.kind} {narrator.base_url or ''}".strip()))
    return findings
