"""Where things live. Names paths and creates nothing; with ``secret`` the one place that reads the environment (U22).

With ``NARRATOR_HOME=DIR`` everything is under DIR; without it the folders are those of the platform.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from narrator.core.errors import NarratorError

Shipped = Literal["sample_campaigns", "themes"]
SUFFIX = ".narrator"


def home() -> Path | None:
    """The folder that ``NARRATOR_HOME`` names, or None."""
    named = os.environ.get("NARRATOR_HOME")
    return Path(named).expanduser().absolute() if named else None


def config_folder() -> Path:
    """Holds ``config.toml`` and the player's own ``themes``."""
    if (found := home()) is not None:
        return found
    import platformdirs

    return Path(platformdirs.user_config_dir("narrator", appauthor=False))


def config_file() -> Path:
    """The player's settings; it may not exist."""
    return config_folder() / "config.toml"


def own_themes() -> Path:
    """The player's own themes."""
    return config_folder() / "themes"


def theme_folders() -> tuple[Path, ...]:
    """Where themes stand: the player's own, and first those that come with narrator, if they are there."""
    try:
        return shipped("themes"), own_themes()
    except NarratorError:
        return (own_themes(),)


def data_folder() -> Path:
    """Holds campaigns and backups."""
    if (found := home()) is not None:
        return found
    import platformdirs

    return Path(platformdirs.user_data_dir("narrator", appauthor=False))


def campaigns_folder() -> Path:
    """Holds ``*.narrator``."""
    return data_folder() / "campaigns"


def backups_folder() -> Path:
    """Holds copies of campaigns."""
    return data_folder() / "backups"


def inputs_file() -> Path:
    """The inputs of earlier sessions, for recall in plain mode on a terminal (U25)."""
    return data_folder() / "inputs"


def log_folder() -> Path:
    """Holds the log files."""
    if (found := home()) is not None:
        return found / "logs"
    import platformdirs

    return Path(platformdirs.user_log_dir("narrator", appauthor=False))


def shipped(kind: Shipped) -> Path:
    """The folder of what comes with the program: inside the package in a wheel, beside ``src`` in a clone."""
    package = Path(__file__).resolve().parent
    for folder in (package / "shipped" / kind, package.parent.parent / kind):
        if folder.is_dir():
            return folder
    raise NarratorError("io-error", f"The {kind} that come with narrator are missing.", "Install it anew.")


def samples() -> dict[str, Path]:
    """The sample campaigns by name, in alphabetical order."""
    return {path.stem: path for path in sorted(shipped("sample_campaigns").glob("*.toml"))}


def expand(path: str) -> Path:
    """A path as a player writes it: ``~`` is the home folder, relative ones begin where the program was started."""
    return Path(os.path.expanduser(path))


def is_dumb_terminal() -> bool:
    """``TERM`` says that nothing can be drawn, or says nothing."""
    return os.environ.get("TERM", "dumb") in ("", "dumb", "unknown")


def editor() -> str:
    """The player's own editor, as ``$VISUAL`` or ``$EDITOR`` name it, or ''."""
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
