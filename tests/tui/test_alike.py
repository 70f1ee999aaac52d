"""One story played through the session, plain mode, JSON mode and the app leaves the same rows (U14, U16, S23, S40)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from narrator.config import Settings
from narrator.engine.commands import parse_line
from narrator.engine.events import Asked, AuditListed, Failed, Noted
from narrator.engine.session import Session
from narrator.engine.story import Story
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose
from tests.plain.talk import hear
from tests.tui.playing import make_campaign, playing

DEFINITION = """
[campaign]
id = "ferry"
title = "The Ferry"
opening = "Rain."

[state.player.nerve]
type = "number"
min = 0
max = 1000
initial = 5
"""
#: Retell, both edits, corrections of a value and of facts, what they established, takes, forks, marks, a prune.
GAME = (
    "look around",
    "/retry darker",
    "/retell",
    "/edit-wording last You wait, and nothing comes.",
    "/edit 2 look again",
    "/correct player.nerve 90 because the rope held",
    "/assert The bell is cracked",
    "go on",
    "/correct player.nerve 1",
    "/retract The bell is cracked",
    "/audit player.nerve",
    "/audit facts",
    "/save here",
    "/undo 2",
    "/take 1 2",
    "/pin 1 3",
    "/fork 3",
    "go ashore",
    "/restore here",
    "/back",
    "/delete-take 2 3",
    "/undelete",
    "/delete-take 2 3",
    "/prune all",
)
FIXED = {
    "nodes": "id, parent_id, branch_id, depth, role, mode, text, origin, source_id, hex(chain_hash), pinned, rolls",
    "branches": "id, parent_id, fork_depth, name",
    "checkpoints": "name, node_id",
    "state_events": "*",
    "visits": "tip_node_id, head_node_id",
    "places": "stack, head_node_id, tip_node_id",
    "campaign": "head_node_id, tip_node_id, fork_node_id, steps_written",
    "deletions": "kind",
}
ORIGINS = ("Step 7 established the old value", "Step 5 established that fact")


def teller() -> FakeNarrator:
    fake = FakeNarrator()
    count = iter(range(1, 1000))
    fake.answer(Purpose.NARRATE, lambda request: f"Answer {next(count)}.")
    fake.answer(Purpose.EXTRACT, {"changes": [{"op": "add", "path": "player.nerve", "value": 1, "why": "so"}]})
    return fake


def content(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    story = Story.open(path, read_only=True)
    try:
        return {
            table: story.store.db.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2").fetchall()
            if "," in columns or columns == "*"
            else story.store.db.execute(f"SELECT {columns} FROM {table}").fetchall()
            for table, columns in FIXED.items()
        }
    finally:
        story.close()


async def by_session(folder: Path) -> tuple[Path, str]:
    path = make_campaign(folder, definition=DEFINITION)
    session = await Session.open(path, settings=Settings(), narrator=teller(), answers="yes")
    events, said = session.events(), []

    async def listen() -> None:
        async for event in events:
            if isinstance(event, Noted):
                said.append(event.text)
            elif isinstance(event, AuditListed | Asked):
                said.append(str(event))
            assert not isinstance(event, Failed), event

    listening = asyncio.create_task(listen())
    for line in GAME:
        assert await session.perform(parse_line(line)), line
    await session.aclose()
    await listening
    return path, "\n".join(said)


async def by_plain(folder: Path, *, is_json: bool = False) -> tuple[Path, str]:
    heard, code = await hear(
        folder, *GAME, narrator=teller(), definition=DEFINITION, answers="yes", is_json=is_json, is_strict=True
    )
    assert code == 0, heard.err + heard.out
    return folder / "ferry.narrator", heard.out


async def by_json(folder: Path) -> tuple[Path, str]:
    return await by_plain(folder, is_json=True)


async def by_app(folder: Path) -> tuple[Path, str]:
    path = make_campaign(folder, definition=DEFINITION)
    said: list[str] = []
    async with playing(path, teller(), size=(100, 40)) as play:
        for line in GAME:
            await play.type(line)
            session = play.screen.session
            assert session is not None
            if session.asking is not None:
                said.append(str(session.asking))
                await play.press("down", "enter")
            elif play.app.screen is not play.screen:  # a page to read
                said.append(str(play.app.screen.query_one("#text").render()))
                await play.press("escape")
            said.append(play.said())
            assert play.screen.composer.text == "", (line, play.said())
    return path, "\n".join(said)


WAYS: dict[str, Callable[[Path], Awaitable[tuple[Path, str]]]] = {
    "session": by_session,
    "plain": by_plain,
    "json": by_json,
    "app": by_app,
}


@pytest.mark.spec("U14", "U16", "S20", "S22", "S23", "S40")
async def test_every_way_of_playing_leaves_the_same_story(tmp_path_factory: pytest.TempPathFactory) -> None:
    found = {}
    for name, play in WAYS.items():
        path, said = await play(tmp_path_factory.mktemp(name))
        found[name] = content(path)
        for origin in ORIGINS:
            assert origin in said, (name, said)
        assert "the rope held" in said, (name, said)
        asked = "Delete all this for good?" if name == "plain" else "confirm-prune"
        assert asked in said, (name, "a prune shows what would go before it goes")
    for name in WAYS:
        for table in FIXED:
            assert found[name][table] == found["session"][table], (name, table)
    assert len(found["app"]["nodes"]) > 8
