"""``narrator play``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from narrator.cli import naming, settings
from narrator.config import Settings
from narrator.core.errors import NarratorError

if TYPE_CHECKING:
    # The screen's first frame does not wait for the plain player: it is imported where lines are played.
    from narrator.plain.play import Wishes

_RECORDING = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(
    "play",
    epilog="Examples: narrator play lantern-road · narrator play lantern-road --plain --json < commands",
)
@click.argument("campaign", shell_complete=naming.complete_campaign)
@click.option("--plain", is_flag=True, help="Line by line, for screen readers, dumb terminals and pipes.")
@click.option("--json", "is_json", is_flag=True, help="One JSON object a line; implies --plain.")
@click.option("--narrator", metavar="NAME", help="Who tells the story, by the name in config.toml, or scripted.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="The dice of a campaign that is being made.")
@click.option("--strict", is_flag=True, help="End with code 1 at the first command that fails.")
@click.option("--yes", "is_yes", is_flag=True, help="Answer questions with yes.")
@click.option("--no", "is_no", is_flag=True, help="Answer questions with no.")
@click.option("--ask", "is_asking", is_flag=True, help="Ask questions, also in JSON mode.")
@click.option("--no-stream", is_flag=True, help="Whole paragraphs, then a mark at the end of the turn.")
@click.option("--width", type=click.IntRange(20, 1000), help="Break lines at this many cells.")
@click.option("--ascii", "is_ascii", is_flag=True, help="Nothing but ASCII.")
@click.option("--quiet", is_flag=True, help="The story and errors alone.")
@click.option("--no-more", is_flag=True, help="Do not pause before text scrolls past.")
@click.option(
    "--replay", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Play these commands first."
)
def command(
    campaign: str,
    plain: bool,
    is_json: bool,
    narrator: str | None,
    seed: int | None,
    strict: bool,
    is_yes: bool,
    is_no: bool,
    is_asking: bool,
    no_stream: bool,
    width: int | None,
    is_ascii: bool,
    quiet: bool,
    no_more: bool,
    replay: Path | None,
) -> int:
    """Play CAMPAIGN: a name, an unambiguous part of it, a path, or a sample that is then begun.

    On a terminal the screen opens; with --plain, or any option about lines, it is played line by line.
    """
    if is_yes + is_no + is_asking > 1:
        raise click.UsageError("--yes, --no and --ask exclude each other.")
    about_lines = (is_json, strict, no_stream, width, is_ascii, quiet, no_more, replay, is_yes, is_no, is_asking)
    if not plain and not any(about_lines):
        return begin(campaign, seed=seed, narrator=narrator)
    from narrator.plain.play import Wishes, with_answers

    wishes = with_answers(
        Wishes(is_json, strict, None, not no_stream, width, is_ascii, quiet, not no_more, replay),
        is_yes=is_yes,
        is_no=is_no,
        is_asking=is_asking,
    )
    return begin(campaign, seed=seed, narrator=narrator, wishes=wishes, is_plain=True)


def begin(
    campaign: str,
    *,
    seed: int | None = None,
    narrator: str | None = None,
    wishes: Wishes | None = None,
    is_plain: bool = False,
) -> int:
    """Find or make the campaign and play it, on the screen where there is one to draw on and ``is_plain`` is not set.

    A campaign that cannot be opened is exit code 3 (U15).
    """
    chosen, notes = settings.load()
    try:
        if narrator is not None:
            _require(chosen, narrator)
        path = naming.open_or_make(campaign, seed=seed)
    except NarratorError as error:
        if error.code == "bad-value" and seed is not None:
            raise
        return _cannot_open(error, is_json=wishes is not None and wishes.is_json)
    with settings.logging(chosen):
        if not is_plain and settings.has_screen():
            return settings.load_screen()(path, settings=chosen, notes=notes, narrator=narrator)
        from narrator.plain.play import play

        return play(path, settings=chosen, notes=notes, narrator=narrator, wishes=wishes)


def _require(chosen: Settings, narrator: str) -> None:
    """A wrong name is told before a campaign is made for it. Raises ``no-such-narrator``."""
    from narrator.engine.casting import candidates

    known = sorted(each.name for each in candidates(chosen))
    if narrator not in known:
        raise NarratorError(
            "no-such-narrator", f"There is no narrator “{narrator}”.", f"There are: {', '.join(known)}."
        )


def _cannot_open(error: NarratorError, *, is_json: bool) -> int:
    from narrator.plain.output import Output
    from narrator.plain.play import CANNOT_OPEN, report

    output = Output(lambda: None)
    report(output, error, is_json=is_json)
    output.close()
    return CANNOT_OPEN
