"""``narrator backup``."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from narrator import paths
from narrator.cli.naming import complete_campaign, find_campaign
from narrator.core.errors import NarratorError


@click.command("backup", epilog="Examples: narrator backup lantern-road · narrator backup lantern-road --restore")
@click.argument("campaign", shell_complete=complete_campaign)
@click.option("--to", type=click.Path(dir_okay=False, path_type=Path), help="Write this file instead.")
@click.option("--list", "is_listing", is_flag=True, help="List the backups, the newest first.")
@click.option("--restore", "is_restoring", is_flag=True, help="Bring a backup back; the newest unless --from.")
@click.option("--from", "source", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="This backup.")
def command(campaign: str, to: Path | None, is_listing: bool, is_restoring: bool, source: Path | None) -> int:
    """Copy CAMPAIGN as a whole, also while it is being played, and print where the copy is."""
    from narrator.store import backup

    if source is not None and not is_restoring:
        raise click.UsageError("--from needs --restore.")
    if (to is not None) + is_listing + is_restoring > 1:
        raise click.UsageError("--to, --list and --restore exclude each other.")
    folder = paths.backups_folder()
    path = _restorable(campaign) if is_restoring or is_listing else find_campaign(campaign)
    if is_listing:
        for found in backup.backups_of(path, folder):
            click.echo(found)
    elif is_restoring:
        _restore(path, source or _newest(path, folder))
    elif to is not None:
        if to.exists():
            raise NarratorError("io-error", f"{to} is there already.", "Choose another name.")
        backup.copy_campaign(path, to)
        click.echo(to)
    else:
        click.echo(backup.back_up(path, folder, stamp=_stamp()))
    return 0


def _stamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H%M%S")


def _restorable(campaign: str) -> Path:
    """The campaign, or the place of one whose file is gone and whose backups are there."""
    try:
        return find_campaign(campaign)
    except NarratorError:
        from narrator.store.backup import backups_of

        place = paths.campaigns_folder() / f"{campaign}{paths.SUFFIX}"
        if backups_of(place, paths.backups_folder()):
            return place
        raise


def _newest(path: Path, folder: Path) -> Path:
    from narrator.store.backup import backups_of

    found = backups_of(path, folder)
    if not found:
        raise NarratorError("io-error", f"There is no backup of {path.stem} in {folder}.", "--from names another.")
    return found[0]


def _restore(path: Path, source: Path) -> None:
    """Put the backup in the campaign's place; what stood there is kept beside it, with all that belongs to it."""
    from narrator.store import lock
    from narrator.store.backup import copy_campaign
    from narrator.store.verify import verify

    report = verify(source)
    if not report.ok:
        raise NarratorError("damaged", f"{source} is damaged itself: {report.problems[0].text}", "Try an older one.")
    held = lock.acquire(path, since=datetime.now(UTC).isoformat())
    try:
        aside = path.with_name(f"{path.name}.replaced-{_stamp()}")
        ready = path.with_name(f"{path.name}.restoring")
        copy_campaign(source, ready)
        for end in ("", "-wal", "-shm"):
            old = path.with_name(path.name + end)
            if old.exists():
                os.replace(old, aside.with_name(aside.name + end))
        os.replace(ready, path)
    finally:
        held.release()
    click.echo(f"{path} is as it was in {source.name}.")
    if aside.exists():
        click.echo(f"What it replaced is {aside}.")
