"""``narrator new``."""

from __future__ import annotations

import click

from narrator.cli import naming
from narrator.core.errors import BadDefinition


@click.command("new", epilog="Example: narrator new --from lantern-road --name second-try")
@click.option("--from", "source", required=True, metavar="SAMPLE|FILE.toml", help="A sample, or a definition.")
@click.option("--name", metavar="NAME", help="What the campaign is called.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="The campaign's dice.")
def command(source: str, name: str | None, seed: int | None) -> int:
    """Make a campaign and print its path."""
    try:
        click.echo(naming.make_campaign(source, name=name, seed=seed))
    except BadDefinition as error:
        for where, what in error.problems:
            click.echo(f"narrator: {source}: {where}: {what}" if where else f"narrator: {source}: {what}", err=True)
        return 1
    return 0
