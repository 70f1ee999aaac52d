"""``narrator new``."""

from __future__ import annotations

import click

from narrator.cli import naming
from narrator.core.errors import BadDefinition


@click.command("new", epilog="Example: narrator new --from lantern-road --name second-try")
@click.option("--from", "source", metavar="SAMPLE|FILE.toml", help="A sample, or a definition.")
@click.option("--name", metavar="NAME", help="What the campaign is called.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="The campaign's dice.")
@click.option("--check", "checked", metavar="SAMPLE|FILE.toml", help="Say what no player can meet.")
@click.option("--turns", type=click.IntRange(1), default=2500, show_default=True, help="How long --check plays.")
def command(source: str | None, name: str | None, seed: int | None, checked: str | None, turns: int) -> int:
    """Make a campaign and print its path."""
    if (source is None) == (checked is None):
        raise click.UsageError("Give --from to make a campaign, or --check to try a definition.")
    try:
        if checked is not None:
            return _check(checked, turns, seed)
        assert source is not None
        click.echo(naming.make_campaign(source, name=name, seed=seed))
    except BadDefinition as error:
        for where, what in error.problems:
            said = f"{where}: {what}" if where else what
            click.echo(f"narrator: {source or checked}: {said}", err=True)
        return 1
    return 0


def _check(source: str, turns: int, seed: int | None) -> int:
    """The author's check: exit code 1 where something was found."""
    import random

    from narrator.core.campaign import parse_definition
    from narrator.core.review import review

    chosen = seed if seed is not None else 7

    found = review(parse_definition(naming.definition_text(source)), random.Random(chosen), turns=turns, seed=chosen)
    for where, what in found:
        click.echo(f"{where}: {what}")
    if not found:
        click.echo(f"Nothing found in {turns} turns of play.")
    return 1 if found else 0
