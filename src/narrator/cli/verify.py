"""``narrator verify``."""

from __future__ import annotations

import json

import click

from narrator.cli.naming import complete_campaign, find_campaign
from narrator.core.errors import NarratorError


@click.command("verify", epilog="Example: narrator verify lantern-road --json")
@click.argument("campaign", shell_complete=complete_campaign)
@click.option("--json", "is_json", is_flag=True, help="One JSON object.")
def command(campaign: str, is_json: bool) -> int:
    """Check every invariant of CAMPAIGN; nothing is changed. Exit code 1 where one is broken."""
    from narrator.store.verify import Problem, Report, verify

    path = find_campaign(campaign)
    try:
        report = verify(path)
    except NarratorError as error:
        if not is_json:
            raise
        report = Report(0, 0, (Problem("file", None, error.message),))
    problems = [{"invariant": p.invariant, "node": p.node, "text": p.text} for p in report.problems]
    if is_json:
        found = {"ok": report.ok, "nodes": report.nodes, "branches": report.branches, "problems": problems}
        click.echo(json.dumps(found, ensure_ascii=False))
    else:
        for problem in report.problems:
            place = f" at node {problem.node}" if problem.node is not None else ""
            click.echo(f"{problem.invariant}{place}: {problem.text}")
        verdict = "All is well" if report.ok else f"{len(problems)} broken"
        click.echo(f"{verdict}: {report.nodes} nodes, {report.branches} branches.")
    return 0 if report.ok else 1
