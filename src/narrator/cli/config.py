"""``narrator config``."""

from __future__ import annotations

import json

import click

from narrator import config, paths
from narrator.core.errors import BadValue


@click.group("config", epilog="Examples: narrator config check · narrator config set narrator mine")
def command() -> None:
    """Show, check and change config.toml."""


@command.command("path", epilog="Example: narrator config path")
def show_path() -> int:
    """Print where config.toml is, whether or not it exists."""
    click.echo(paths.config_file())
    return 0


@command.command("check", epilog="Example: narrator config check")
def check() -> int:
    """Name what is wrong in config.toml, with its place. Exit code 1 where something is."""
    _, problems = config.read(paths.config_file())
    for problem in problems:
        click.echo(problem)
    if not problems:
        click.echo("All is well." if paths.config_file().exists() else "There is no config.toml: all is as it comes.")
    return 1 if problems else 0


@command.command("set", epilog="Examples: narrator config set theme paper · narrator config set keys.story.undo null")
@click.argument("key")
@click.argument("value")
def change(key: str, value: str) -> int:
    """Set KEY (such as narrators.mine.timeout) to VALUE, JSON or text; null takes it out. Comments are kept."""
    try:
        wanted = json.loads(value)
    except ValueError:
        wanted = value
    head, _, rest = key.partition(".")
    # The keys of [keys] have dots in their own names.
    names = (head, rest) if head == "keys" and rest else tuple(key.split("."))
    if not all(names):
        raise BadValue(f"{key!r} is no key.", "Write it as context.memory_every.")
    before = {problem.path for problem in config.read(paths.config_file())[1]}
    if wanted is not None:
        _check(names, wanted, before)
    config.write(paths.config_file(), names, wanted)
    return 0


def _check(names: tuple[str, ...], value: object, before: set[str]) -> None:
    """Refuse what the program would not read. What was wrong before is not this command's concern."""
    path = paths.config_file()
    text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
    for problem in config.parse(config.changed(text, names, value))[1]:
        if problem.path not in before:
            raise BadValue(str(problem))
