"""``narrator themes``."""

from __future__ import annotations

import tomllib
from pathlib import Path

import click

from narrator import config, paths


@click.command("themes", epilog="Example: narrator themes; narrator config set theme paper")
def command() -> int:
    """List the themes: those that come with narrator, then your own. F4 in the game shows them live."""
    chosen = config.read(paths.config_file())[0].theme
    for folder, whose in ((paths.shipped("themes"), ""), (paths.own_themes(), ", your own")):
        for path in sorted(folder.glob("*.toml")) if folder.is_dir() else []:
            name, kind = _describe(path)
            click.echo(f"{name}: {kind}{whose}{', chosen' if name == chosen else ''}")
    return 0


def _describe(path: Path) -> tuple[str, str]:
    """Name and kind of a theme file."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return path.stem, f"cannot be read: {error}"
    return str(table.get("name", path.stem)), "dark" if table.get("dark", True) else "light"
