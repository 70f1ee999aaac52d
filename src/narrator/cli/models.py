"""``narrator models``: model files that run inside narrator."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import click

from narrator import config, paths
from narrator.core.errors import BadValue


@click.group("models", epilog="Examples: narrator models add ~/models/story.gguf · narrator models try story")
def command() -> None:
    """Add, list, try and remove models (GGUF files) that run inside narrator."""


@command.command("add", epilog="Example: narrator models add ~/models/story-8b-q4.gguf --name story")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", help="What to call it; else it is called as its file.")
def add(file: Path, name: str | None) -> int:
    """Make a narrator of FILE. The file stays where it is."""
    from narrator.engine.models import described
    from narrator.narrators.gguf import read_model

    path = paths.expand(str(file)).absolute()
    model = read_model(path)
    called = name or re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "model"
    if not re.fullmatch(r"[\w-]+", called):
        raise BadValue(f"{called!r} is no name.", "Use letters, digits and hyphens.")
    if called in config.read(paths.config_file())[0].narrators or called == "scripted":
        raise BadValue(f"There is a narrator “{called}” already.", "Choose another with --name, or remove that one.")
    config.write(paths.config_file(), ("narrators", called), {"kind": "embedded", "model_path": str(path)})
    click.echo(f"{called}: {described(model)}.")
    click.echo(f"Try it with: narrator models try {called}")
    click.echo(f"Let it tell by default with: narrator config set narrator {called}")
    return 0


@command.command("list", epilog="Example: narrator models list --json")
@click.option("--json", "is_json", is_flag=True, help="One JSON object.")
def show(is_json: bool) -> int:
    """List the models with their files."""
    from narrator.engine.models import described, kept

    found = kept(config.read(paths.config_file())[0])
    if is_json:
        click.echo(json.dumps({"models": [_as_object(each) for each in found]}, ensure_ascii=False))
        return 0
    for each in found:
        click.echo(f"{each.name}: {described(each.model) if each.model is not None else each.problem}")
        click.echo(f"  {each.path}")
    if not found:
        click.echo("There are none. Add one with: narrator models add FILE")
    return 0


def _as_object(kept: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"name": kept.name, "path": str(kept.path), "problem": kept.problem}
    if (model := kept.model) is not None:
        found |= {
            "title": model.name,
            "parameters": model.parameters,
            "window": model.window,
            "bytes": model.size,
            "small": model.is_small,
        }
    return found


@command.command("remove", epilog="Example: narrator models remove story")
@click.argument("name")
def remove(name: str) -> int:
    """Take the narrator NAME out of the settings. Its file stays."""
    from narrator.engine.models import find

    settings, _ = config.read(paths.config_file())
    path = find(settings, name).path
    if settings.narrator == name:
        config.write(paths.config_file(), ("narrator",), None)
    config.write(paths.config_file(), ("narrators", name), None)
    click.echo(f"{name} is taken out. Its file stays: {path}")
    return 0


@command.command("try", epilog="Example: narrator models try story")
@click.argument("name")
@click.option("--json", "is_json", is_flag=True, help="One JSON object.")
def try_(name: str, is_json: bool) -> int:
    """Load NAME, let it tell a little, and say how fast it is on this machine."""
    from narrator.engine import casting, models

    settings, _ = config.read(paths.config_file())
    kept = models.find(settings, name)
    if kept.model is None:
        raise BadValue(kept.problem)

    async def run() -> models.Trial:
        narrator = casting.build(settings, name)
        try:
            return await models.try_out(narrator)
        finally:
            await narrator.aclose()

    trial = asyncio.run(run())
    if is_json:
        measured = {
            "seconds_to_load": round(trial.loading, 3),
            "tokens_read_a_second": round(trial.reading, 1),
            "tokens_written_a_second": round(trial.writing, 1),
            "window": trial.capabilities.window,
            "text": trial.text,
        }
        click.echo(json.dumps(_as_object(kept) | measured, ensure_ascii=False))
        return 0
    click.echo(f"{name}: {models.described(kept.model)}.")
    click.echo(f"It was loaded in {trial.loading:.1f} seconds.")
    click.echo(f"It reads {trial.reading:,.0f} and writes {trial.writing:,.1f} tokens a second on this machine.")
    click.echo(f"Its window here is {trial.capabilities.window:,} tokens, of {kept.model.window:,} that it could have.")
    if trial.capabilities.is_small:
        click.echo(
            "It is a small model: it writes fluently and loses the thread. It is no replacement for a large one."
        )
    click.echo(f"\n{trial.text.strip()}")
    return 0
