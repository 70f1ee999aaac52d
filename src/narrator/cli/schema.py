"""``narrator schema``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click


def _events() -> dict[str, Any]:
    from narrator.engine.wire import schema

    return schema()


def _config() -> dict[str, Any]:
    from narrator.config import json_schema

    return json_schema()


def _definition() -> dict[str, Any]:
    from narrator.core.door import DefinitionFile

    return DefinitionFile.model_json_schema(by_alias=True)


def _bundle() -> dict[str, Any]:
    from narrator.exchange.bundle_models import schema

    return schema()


KINDS: dict[str, Callable[[], dict[str, Any]]] = {
    "events": _events,
    "config": _config,
    "definition": _definition,
    "bundle": _bundle,
}


@click.command("schema", epilog="Example: narrator schema events")
@click.argument("kind", type=click.Choice(list(KINDS)))
def command(kind: str) -> int:
    """Print the JSON Schema of KIND: the events of --json, config.toml, a campaign's definition, or a bundle."""
    click.echo(json.dumps(KINDS[kind](), indent=2, ensure_ascii=False))
    return 0
