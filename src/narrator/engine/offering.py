"""What a player is told of who could tell: remarks of the narrator chosen, servers found on this machine (T17, T19)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from narrator.config import Settings
from narrator.engine import casting
from narrator.engine.events import Noted
from narrator.narrators import discovery
from narrator.narrators.port import HasRemark

if TYPE_CHECKING:
    from narrator.engine.session import Session

_NAMED = 4


async def tell_remark(session: Session) -> None:
    """What the player should know of the narrator before it tells; a small model is called small from then on."""
    narrator = session.narrator
    story = session.story
    is_beginning = story.count == 1 and not story.is_read_only
    if is_beginning and narrator.name == casting.SCRIPTED and not session.settings.narrators:
        session.publish(Noted(_of_scenes(session)))
    if not isinstance(narrator, HasRemark):
        return
    if (await narrator.capabilities()).is_small:
        session.told_by = f"{narrator.name} (small model)"
    if remark := await narrator.remark():
        session.publish(Noted(remark))


def _of_scenes(session: Session) -> str:
    """For whoever has named no narrator: what tells the story, and how to name one."""
    if session.story.definition.storylets:
        return "A model can tell it too: /narrator lists them, /narrator NAME chooses one."
    return "No scenes are written for this story; a model tells it better: /narrator NAME. /narrator lists them."


async def find_servers(settings: Settings, timeout: float = 0.4) -> tuple[Settings, dict[str, str]]:
    """The settings with the servers that answer on this machine, and the names of those with their models (T19).

    ``timeout`` is in seconds, for all together.
    """
    return casting.with_found(settings, await discovery.discover(tuple(discovery.PORTS), timeout))


async def look_around(session: Session) -> None:
    """Look for servers on this machine and offer them. One that told this story before goes on with it.

    Their names can be given to ``/narrator`` from then on. Nothing found is nothing said.
    """
    session.settings, added = await find_servers(session.settings)
    if not added:
        return
    remembered = session.story.row.narrator or ""
    if remembered in added and session.narrator.name == casting.SCRIPTED and not session.is_turning:
        await session.use_narrator(casting.build(session.settings, remembered))
        session.publish(Noted(f"{remembered} ({added[remembered]}), found on this machine, tells the story."))
        return
    names = ", ".join(f"{name} ({model})" for name, model in list(added.items())[:_NAMED])
    if len(added) > _NAMED:
        names += f" and {len(added) - _NAMED} more, which /narrator lists"
    teller, first = session.narrator.name, next(iter(added))
    tells = "Written scenes tell" if teller == casting.SCRIPTED else f"{teller} tells"
    session.publish(Noted(f"Found on this machine: {names}. {tells} the story; to change that: /narrator {first}"))
