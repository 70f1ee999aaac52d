"""``narrator prune``: the verb of play, for a campaign that nobody has open (S40)."""

from __future__ import annotations

import click

from narrator import paths
from narrator.cli.naming import complete_campaign, find_campaign


@click.command("prune", epilog="Example: narrator prune lantern-road --days 30")
@click.argument("campaign", shell_complete=complete_campaign)
@click.option("--all", "is_all", is_flag=True, help="Everything that was set aside.")
@click.option("--days", type=click.IntRange(1), help="What was not read for so many days.")
@click.option("--steps", type=click.IntRange(1), help="What was not read while so many steps were written.")
@click.option("--yes", "is_yes", is_flag=True, help="Do it without asking.")
def command(campaign: str, is_all: bool, days: int | None, steps: int | None, is_yes: bool) -> int:
    """Show what would go from CAMPAIGN and how many bytes that frees, ask, and delete it. It is final."""
    from narrator.engine.story import Story
    from narrator.store import removal

    if is_all + (days is not None) + (steps is not None) != 1:
        raise click.UsageError("One of --all, --days and --steps is needed.")
    kind = "all" if is_all else "days" if days is not None else "steps"
    age = removal.Age(kind, days or steps or 0)  # type: ignore[arg-type]
    story = Story.open(find_campaign(campaign), backups=paths.backups_folder())
    try:
        plan = story.plan_prune(age)
        if not plan.node_ids:
            click.echo("Nothing that was set aside is old enough to go.")
            return 0
        freed = removal.freed_bytes(story.store, plan)
        counts = (plan.steps, "step"), (plan.takes, "take"), (len(plan.branch_ids), "branch")
        click.echo(f"{', '.join(_counted(*count) for count in counts)}; about {freed} bytes.")
        if not is_yes and not _is_confirmed():
            click.echo("Nothing was deleted.")
            return 0
        story.prune(plan)
        click.echo("Deleted.")
    finally:
        story.close()
    return 0


def _is_confirmed() -> bool:
    from narrator.plain.play import read_choice

    return (read_choice("Delete this for good? yes or no: ") or "").strip().lower() in ("y", "yes")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 'es' if noun.endswith('ch') else 's'}"
