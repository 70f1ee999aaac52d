"""``narrator knowledge``: imported sources of a campaign. They belong to all of it, not to a path (S35, C28)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from narrator import paths
from narrator.cli.naming import complete_campaign, find_campaign
from narrator.core.prose import visible

if TYPE_CHECKING:
    from narrator.store.open import Store

_KINDS = ("canon", "reference", "inspiration")
_EXAMPLES = (
    "Examples: narrator knowledge add lore.md --as canon --into mine · narrator knowledge list mine · "
    "narrator knowledge disable mine 2"
)
_campaign = click.argument("campaign", shell_complete=complete_campaign)
_source = click.argument("source", metavar="ID", type=click.IntRange(min=1))


@click.group("knowledge", epilog=_EXAMPLES)
def command() -> None:
    """Sources that a narrator is told from: what input and scene ask for is quoted in the prompt.

    Canon binds the narrator, reference informs it, inspiration only colours. A source belongs to the whole campaign,
    wherever in the story you are.
    """


@command.command(epilog="Example: narrator knowledge add lore.md --as canon --into mine")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path(exists=True, path_type=Path))
@click.option("--as", "kind", required=True, type=click.Choice(_KINDS), help="How much it binds the narrator.")
@click.option("--into", metavar="CAMPAIGN", help="The campaign; without it the source becomes one of its own.")
@click.option("--when", "condition", default="", metavar="CONDITION", help="Quote it only while this holds.")
def add(files: tuple[Path, ...], kind: str, into: str | None, condition: str) -> int:
    """Add Markdown or plain text, split into passages."""
    from narrator.engine.bringing import surroundings
    from narrator.exchange.importing import import_files

    around = surroundings(paths.campaigns_folder())
    target = find_campaign(into) if into is not None else None
    for report in import_files(files, around, as_format=kind, into=target, condition=condition):
        for detail in report.details:
            click.echo(visible(f"  {detail.kind}: {detail.file} {detail.field}: {detail.reason}"))
        for path in report.campaigns:
            click.echo(path)
        if report.into:
            click.echo(f"Added as {kind} to {report.into}, for the whole campaign.")
    return 0


@command.command("list", epilog="Example: narrator knowledge list mine --json")
@_campaign
@click.option("--json", "is_json", is_flag=True, help="Print JSON.")
def list_(campaign: str, is_json: bool) -> int:
    """List the sources of CAMPAIGN."""
    from narrator.store import sources

    with _opened(campaign, read_only=True) as store:
        rows = sources.knowledge(store)
    if is_json:
        found = [
            {"id": r.id, "title": r.title, "kind": r.kind, "enabled": r.is_enabled, "passages": r.passages}
            | ({"when": r.condition} if r.condition else {})
            for r in rows
        ]
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return 0
    if not rows:
        click.echo("No imported knowledge.")
    for row in rows:
        marks = [row.kind, f"{row.passages} passage{'' if row.passages == 1 else 's'}"]
        marks += [f"when {row.condition}"] if row.condition else []
        marks += [] if row.is_enabled else ["off"]
        click.echo(visible(f"#{row.id} {row.title}: {', '.join(marks)}"))
    return 0


@command.command(epilog="Example: narrator knowledge disable mine 2")
@_campaign
@_source
def disable(campaign: str, source: int) -> int:
    """Quote source ID no longer, anywhere in the campaign."""
    return _switch(campaign, source, is_enabled=False)


@command.command(epilog="Example: narrator knowledge enable mine 2")
@_campaign
@_source
def enable(campaign: str, source: int) -> int:
    """Quote source ID again."""
    return _switch(campaign, source, is_enabled=True)


@command.command(epilog="Example: narrator knowledge remove mine 2 --yes")
@_campaign
@_source
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(campaign: str, source: int, yes: bool) -> int:
    """Remove source ID from the campaign for good."""
    from narrator.store import commit, sources

    with _opened(campaign) as store:
        found = sources.knowledge_of(store, source)
        question = visible(f"Remove “{found.title}” ({found.passages} passages) from the whole campaign?")
        if not yes and not click.confirm(question, err=True):
            return 1
        commit.remove_knowledge(store, found.id)
    click.echo(visible(f"“{found.title}” is removed."))
    return 0


def _switch(campaign: str, source: int, *, is_enabled: bool) -> int:
    from narrator.store import commit, sources

    with _opened(campaign) as store:
        found = sources.knowledge_of(store, source)
        commit.switch_knowledge(store, found.id, is_enabled=is_enabled)
    click.echo(visible(f"“{found.title}” is {'on' if is_enabled else 'off'}, in the whole campaign."))
    return 0


@contextmanager
def _opened(campaign: str, *, read_only: bool = False) -> Iterator[Store]:
    from narrator.engine.story import utc_now
    from narrator.store.open import open_store

    store = open_store(find_campaign(campaign), clock=utc_now, read_only=read_only)
    try:
        yield store
    finally:
        store.close()
