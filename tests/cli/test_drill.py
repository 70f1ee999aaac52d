"""A drill: a campaign is played, backed up by the day, ruined, found to be so, restored and played on (U22, T14)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from narrator import paths
from narrator.cli import main
from narrator.config import Settings
from narrator.engine.session import Session
from narrator.engine.story import Story
from tests.engine.playing import Play, make, numbered
from tests.store.making import rows


def day(number: int) -> Callable[[], str]:
    return lambda: f"2026-03-{number:02}T09:00:00+00:00"


async def play_a_day(path: Path, number: int, *lines: str) -> None:
    """A session of one day; the day's backup is begun with it, in a thread of its own."""
    fake = numbered()
    session = await Session.open(
        path, settings=Settings(), narrator=fake, answers="yes", clock=day(number), backups=paths.backups_folder()
    )
    play = Play(session, fake)
    for line in lines:
        assert (await play.do(line)).ok, line
    await play.session.kept_up()
    await play.aclose()
    assert len(list(paths.backups_folder().glob(f"mill--2026-03-{number:02}*.narrator"))) == 1


def content(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    story = Story.open(path, read_only=True)
    try:
        return rows(story.store.db)
    finally:
        story.close()


@pytest.mark.spec("U22", "T14", "S45", "S47")
@pytest.mark.parametrize("ruin", ["pages", "words", "gone"])
def test_a_ruined_campaign_is_restored_and_played_on(home: Path, capsys: pytest.CaptureFixture[str], ruin: str) -> None:
    folder = paths.campaigns_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = make(folder)
    asyncio.run(play_a_day(path, 1, "I wait.", "/retry", "I climb.", "/save here", "/undo 2"))
    before = content(path)
    asyncio.run(play_a_day(path, 2))
    assert content(path) == before
    body = bytearray(path.read_bytes())
    if ruin == "pages":
        for page in range(3, len(body) // 4096):
            body[page * 4096 : page * 4096 + 2048] = b"\xa5" * 2048
        path.write_bytes(body)
    elif ruin == "words":
        path.write_text("Call me Ishmael.")
    else:
        path.unlink()
    assert main(["verify", "mill", "--json"]) == 1
    said = capsys.readouterr()
    if ruin == "pages":
        assert json.loads(said.out)["problems"][0]["invariant"] == "file"
    assert main(["backup", "mill", "--restore"]) == 0
    assert main(["verify", "mill"]) == 0
    assert content(path) == before
    asyncio.run(play_a_day(path, 3, "/redo 2", "I go on.", "/restore here"))
    assert main(["verify", "mill"]) == 0
    if ruin != "gone":
        aside = [each for each in folder.iterdir() if "replaced" in each.name]
        assert aside, "what was there is kept beside it"
