"""``narrator list``, and ``narrator`` alone: the library in its plain form, a numbered list."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from narrator import paths
from narrator.core.prose import visible

if TYPE_CHECKING:
    from narrator.engine.library import Book


@click.command("list", epilog="Example: narrator list --json")
@click.option("--json", "is_json", is_flag=True, help="One JSON array.")
def command(is_json: bool) -> int:
    """List the campaigns, the last played first."""
    from narrator.engine.library import books

    found = books(paths.campaigns_folder())
    if is_json:
        click.echo(json.dumps([_as_object(book) for book in found], ensure_ascii=False, indent=2))
        return 0
    for book in found:
        click.echo(_line(book))
    if not found:
        click.echo(f"No campaigns yet. The samples are {', '.join(paths.samples())}: narrator play NAME begins one.")
    return 0


def _as_object(book: Book) -> dict[str, object]:
    return {
        "name": book.name,
        "title": book.title,
        "path": str(book.path),
        "played_at": book.played_at or None,
        "position": book.position,
        "steps": book.steps,
        "words": book.words,
        "branches": book.branches,
        "takes": book.takes,
        "problem": book.problem or None,
    }


def _line(book: Book) -> str:
    if book.problem:
        return visible(f"{book.name}: {book.problem}")
    played = f", last played {book.played_at[:10]}" if book.played_at else ""
    where = f"step {book.position} of {book.steps}"
    return visible(f"{book.name}: {book.title}. {where}, {book.words} words{played}.")


def open_library() -> int:
    """The library: on the screen where there is one, else a numbered list whose numbers play what stands there."""
    from narrator.cli import settings

    if settings.has_screen():
        chosen, notes = settings.load()
        with settings.logging(chosen):
            return settings.load_screen()(settings=chosen, notes=notes)
    return _list_and_play()


def _list_and_play() -> int:
    """Ends with the play, or at the end of input."""
    from narrator.cli.play import begin
    from narrator.engine.library import books
    from narrator.plain.play import read_choice

    found = books(paths.campaigns_folder())
    names = [book.name for book in found]
    samples = [name for name in paths.samples() if name not in names]
    for number, book in enumerate(found, 1):
        click.echo(f"{number}. {_line(book)}")
    for number, name in enumerate(samples, len(found) + 1):
        click.echo(f"{number}. {name}: a new game.")
    choices = [*names, *samples]
    if not choices:
        click.echo("There is nothing to play. `narrator new --from FILE.toml` makes a campaign.")
        return 0
    while (answer := read_choice("Number or name, q to quit: ")) is not None:
        wanted = answer.strip()
        if wanted.lower() in ("q", "quit", "/quit"):
            return 0
        if wanted.isdecimal() and 1 <= int(wanted) <= len(choices):
            return begin(choices[int(wanted) - 1], is_plain=True)
        found_names = _named(wanted, choices)
        if len(found_names) == 1:
            return begin(found_names[0], is_plain=True)
        if found_names:
            click.echo(f"That may be {' or '.join(map(visible, found_names))}: write more of it.")
        elif wanted:
            click.echo(f"There is no {visible(wanted)}.")
    click.echo()
    return 0


def _named(wanted: str, choices: list[str]) -> list[str]:
    """The names meant by one or by a part of one (U21)."""
    if wanted in choices:
        return [wanted]
    folded = wanted.casefold()
    return [name for name in choices if folded and folded in name.casefold()]
