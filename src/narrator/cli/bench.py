"""``narrator bench``: measure this machine. Everything it writes goes to a scratch folder that is removed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click


@click.command("bench")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object instead of a table.")
@click.option("--only", multiple=True, metavar="NAME", help="Run the measures whose name begins so (may be repeated).")
@click.option("--small", "is_small", is_flag=True, help="Leave out the campaigns of 100,000 steps.")
@click.option("--cpu", "is_processor_time", is_flag=True, help="Count processor time: for a machine that is busy.")
def command(is_json: bool, only: tuple[str, ...], is_small: bool, is_processor_time: bool) -> None:
    """Measure what narrator costs on this machine, beside what the same work costs without it.

    Writing the campaigns that are measured takes about a minute (a few seconds with --small). A goal that is not met
    is said, and is no failure: machines differ.

    Example: narrator bench --only window --only open --small
    """
    with tempfile.TemporaryDirectory(prefix="narrator-bench-", ignore_cleanup_errors=True) as folder:
        model = _model()
        # Before anything of narrator looks at it: no measure may come near the player's own campaigns.
        os.environ["NARRATOR_HOME"] = str(Path(folder, "home"))
        from narrator.bench import report
        from narrator.bench.run import run

        rows = run(
            Path(folder),
            only=only,
            is_small=is_small,
            is_processor_time=is_processor_time,
            model=model,
            say=lambda text: click.echo(text, err=True),
        )
    click.echo(report.as_json(rows) if is_json else report.as_table(rows))


def _model() -> Path | None:
    """The model file for the measure that wants a real one: the one that the environment names, else a player's own."""
    if named := os.environ.get("NARRATOR_BENCH_MODEL", ""):
        return Path(named).expanduser()
    from narrator import config, paths

    narrators = config.read(paths.config_file())[0].narrators.values()
    return next((Path(each.model_path).expanduser() for each in narrators if each.model_path), None)
