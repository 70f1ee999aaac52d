"""``narrator import`` and ``narrator export``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from narrator import paths
from narrator.cli.naming import complete_campaign, find_campaign
from narrator.core.prose import visible

if TYPE_CHECKING:
    from narrator.exchange.report import Report

_DETAILS_SHOWN = 20


# --------------------------------------------------------------------------------------------------------------- import


@click.command("import", epilog="Examples: narrator import story.json · narrator import lore.md --as canon --into mine")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--as", "as_format", metavar="FORMAT", help="What the files are, instead of what they look like.")
@click.option(
    "--into", metavar="CAMPAIGN", help="Add cards or knowledge to this campaign.", shell_complete=complete_campaign
)
@click.option("--dry-run", "is_dry", is_flag=True, help="Print the report and write nothing.")
@click.option("--json", "is_json", is_flag=True, help="Print the report as JSON.")
@click.option("--set", "answers", multiple=True, metavar="NAME=TEXT", help="Answer a placeholder of a scenario.")
def bring(
    files: tuple[Path, ...],
    as_format: str | None,
    into: str | None,
    is_dry: bool,
    is_json: bool,
    answers: tuple[str, ...],
) -> int:
    """Make campaigns of FILES, or add cards and knowledge to one. A folder stands for the files in it."""
    from narrator.engine.bringing import surroundings
    from narrator.exchange.importing import import_files

    around = surroundings(paths.campaigns_folder(), ask=_asker(answers), progress=_progress())
    target = find_campaign(into) if into is not None else None
    reports = import_files(files, around, as_format=as_format, into=target, is_dry=is_dry)
    _clear_progress()
    if is_json:
        found = [report.to_json() for report in reports]
        click.echo(json.dumps(found[0] if len(found) == 1 else found, ensure_ascii=False, indent=1))
    else:
        for report in reports:
            _tell(report, is_dry=is_dry)
    return 0


def _asker(answers: tuple[str, ...]) -> Callable[[str, str], str]:
    """Answers placeholders: from ``--set``, from the player at a terminal, else with what is usual."""
    given: dict[str, str] = {}
    for each in answers:
        name, sign, text = each.partition("=")
        if not sign:
            raise click.UsageError(f"--set {each!r} should be NAME=TEXT.")
        given[name] = text

    def ask(question: str, usual: str) -> str:
        if question in given:
            return given[question]
        if sys.stdin.isatty():
            return str(click.prompt(visible(question), default=usual or None, err=True))
        return usual or question

    return ask


def _tell(report: Report, *, is_dry: bool) -> None:
    click.echo(visible(report.headline()))
    from narrator.exchange.report import told_lines

    told = report.counts
    click.echo(f"Kept {told['kept']}, changed {told['changed']}, dropped {told['dropped']}.")
    lines = told_lines([report])
    for line in lines[:_DETAILS_SHOWN]:
        click.echo(visible(f"  {line}"))
    if len(lines) > _DETAILS_SHOWN:
        click.echo("  and more; --json lists all.")
    for path in report.campaigns:
        click.echo(path)
    if report.into:
        click.echo(f"Added to {report.into}")
    if is_dry:
        click.echo("Nothing was written.")


# --------------------------------------------------------------------------------------------------------------- export


@click.command("export", epilog="Examples: narrator export mine mine.epub · narrator export mine > mine.json")
@click.argument("campaign", shell_complete=complete_campaign)
@click.argument("file", default="-", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--as", "form", default="", metavar="FORM", help="The form, instead of what the name's ending says.")
@click.option("--without-prompts", is_flag=True, help="Leave the prompts out of a bundle.")
@click.option("--inputs", type=click.Choice(["apart", "woven", "out"]), default="apart", help="Your inputs in a book.")
@click.option("--all", "has_branches", is_flag=True, help="Every branch, as an appendix of a book.")
@click.option("--comments", "has_comments", is_flag=True, help="Your private notes, in a book.")
@click.option("--theme", metavar="NAME", help="The colours of an HTML page.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option("--json", "is_json", is_flag=True, help="Print what was written as JSON.")
def export(
    campaign: str,
    file: Path,
    form: str,
    without_prompts: bool,
    inputs: str,
    has_branches: bool,
    has_comments: bool,
    theme: str | None,
    force: bool,
    is_json: bool,
) -> int:
    """Write CAMPAIGN to FILE, whose ending says in which form: .json, .json.gz (a bundle, whole and exact), .md, .html,
    .epub (books), .jsonl (SillyTavern), .worldinfo.json, .cards.json. Without FILE a bundle goes to standard output."""
    from narrator.engine.story import utc_now
    from narrator.exchange import exporting
    from narrator.exchange.book.pages import Style

    style = Style(inputs, has_branches, has_comments, _colours(theme))  # type: ignore[arg-type]
    wish = exporting.Wish(form, not without_prompts, style, force)
    path = find_campaign(campaign)
    if str(file) == "-":
        known = exporting.form_of("-", form or "bundle")
        exporting.write_form(path, known, sys.stdout.write, wish, clock=utc_now)
        return 0
    written = exporting.export(path, file.expanduser(), wish, clock=utc_now, progress=_progress())
    _clear_progress()
    click.echo(json.dumps({"form": written, "path": str(file)}, ensure_ascii=False) if is_json else str(file))
    return 0


def _colours(theme: str | None) -> Mapping[str, str]:
    from narrator.engine.exporting import theme_colours

    return {} if theme is None else theme_colours(theme, paths.theme_folders())


# ------------------------------------------------------------------------------------------------------------- progress


def _progress() -> Callable[[str, int, int], None]:
    """A line on standard error that is written over, at a terminal alone; Ctrl+C stops and leaves nothing behind."""
    if not sys.stderr.isatty():
        return lambda what, done, total: None
    from narrator.engine.progress import Pace, progress_words

    pace = Pace()

    def progress(what: str, done: int, total: int) -> None:
        if (event := pace.at(done, total or None, what)) is not None:
            print(f"\r\x1b[K{progress_words(event, 'Ctrl+C stops it')}", end="", file=sys.stderr, flush=True)

    return progress


def _clear_progress() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
