"""What the screen remembers from one start to the next: whether the rail and the panel stood open, where
files were taken from and written to.

A small JSON file of the interface's own, beside the campaigns; the config is the player's and is not touched for it.
Losing the file loses nothing.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from narrator.paths import data_folder


def _file() -> Path:
    return data_folder() / "screen.json"


def recall(key: str) -> Any:
    """What was remembered under ``key``, or None."""
    try:
        table = json.loads(_file().read_text(encoding="utf-8"))
        return table.get(key) if isinstance(table, dict) else None
    except (OSError, ValueError):
        return None


def remembered_folder(key: str) -> Path:
    """The folder that was remembered, while it is there, else the one the program was started in."""
    wanted = recall(key)
    folder = Path(wanted) if isinstance(wanted, str) and "\0" not in wanted else None
    return folder if folder is not None and folder.is_dir() else Path.cwd()


def remember(key: str, value: Any) -> None:
    """Remember a value; a disk that refuses is no reason to fail."""
    path = _file()
    table: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(path.read_text(encoding="utf-8"))
        table = found if isinstance(found, dict) else {}
    table[key] = value
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(table), encoding="utf-8")
        beside.chmod(0o600)
        beside.replace(path)
