"""``narrator doctor``."""

from __future__ import annotations

import json

import click

from narrator import config, paths

FOLDERS = {"config": paths.config_folder, "campaigns": paths.campaigns_folder, "logs": paths.log_folder}


@click.command("doctor", epilog="Example: narrator doctor --json")
@click.option("--json", "is_json", is_flag=True, help="One JSON object.")
def command(is_json: bool) -> int:
    """See what works here: files, settings, narrators, the terminal. Exit code 1 where something must be mended."""
    from narrator.engine.doctor import examine

    settings, problems = config.read(paths.config_file())
    findings = examine(
        settings,
        [str(problem) for problem in problems],
        {name: folder() for name, folder in FOLDERS.items()},
        is_dumb=paths.is_dumb_terminal(),
    )
    is_well = all(finding.is_well for finding in findings)
    if is_json:
        found = [{"what": f.what, "ok": f.is_well, "text": f.text} for f in findings]
        click.echo(json.dumps({"ok": is_well, "findings": found}, ensure_ascii=False))
    else:
        for finding in findings:
            click.echo(f"{'well' if finding.is_well else 'BAD '} {finding.what}: {finding.text}")
    return 0 if is_well else 1
