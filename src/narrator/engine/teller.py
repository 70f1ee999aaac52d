"""Who tells, and on whose terms: the values that every request of a session is made with.

Nothing is asked of a host that is not this machine before the player has agreed to it, once a host (T16); every wait
before another attempt is told (T12).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Final

from narrator.config import ContextSettings
from narrator.core.budget import ASSUMED_WINDOW, Counter
from narrator.core.errors import NarrationFailed, Refusal
from narrator.engine.events import Event, Noted
from narrator.engine.meaning import VectorIndex
from narrator.engine.spending import NOTHING_USED, UNPAID, Spending
from narrator.engine.story import Story
from narrator.narrators.port import (
    Capabilities,
    Chunk,
    Completion,
    Delta,
    Finish,
    IsElsewhere,
    Narrator,
    Request,
    Usage,
    Waiting,
)
from narrator.store import commit, reads

TRYING_AGAIN: Final = "Trying again"


@dataclass(frozen=True, slots=True)
class Teller:
    """What a request needs: the open story, who tells it, where events go, how the player is asked.

    ``counter`` remembers what this narrator has counted, for as long as it tells.
    """

    story: Story
    narrator: Narrator
    publish: Callable[[Event], None]
    ask: Callable[[str, tuple[str, ...], str, Any], Awaitable[str]]
    ask_value: Callable[[str, tuple[str, ...], str, Any], Awaitable[tuple[str, Any]]]
    counter: Counter
    context: ContextSettings
    spending: Spending
    by_meaning: VectorIndex
    is_offline: bool = False


def remote_host(narrator: Narrator) -> str:
    """The host outside of this machine that gets the words, or ''."""
    return narrator.host if isinstance(narrator, IsElsewhere) and not narrator.is_loopback else ""


def may_ask(story: Story, narrator: Narrator) -> bool:
    """Whether the narrator may be asked anything without asking the player first."""
    host = remote_host(narrator)
    return not host or reads.is_agreed(story.store, host)


async def agree(teller: Teller) -> None:
    """Have the player's consent to the host that gets the words (T16). Raises ``offline``, ``narrator-refused``."""
    host = remote_host(teller.narrator)
    if not host:
        return
    if teller.is_offline:
        hint = "Set offline = false in config.toml, or choose a narrator on this machine."
        raise Refusal("offline", f"{host} is not asked: offline is on.", hint)
    if reads.is_agreed(teller.story.store, host):
        return
    shows = {"host": host, "narrator": teller.narrator.name}
    if await teller.ask("confirm-host", ("yes", "no"), "no", shows) != "yes":
        raise Refusal("narrator-refused", f"Nothing was sent to {host}.", "Answer yes, or choose another narrator.")
    if not teller.story.is_read_only:
        commit.agree_to_host(teller.story.store, host)


async def abilities_of(teller: Teller) -> Capabilities:
    """What the narrator can do; the first thing that is asked of its host."""
    await agree(teller)
    return await teller.narrator.capabilities()


async def known_abilities(story: Story, narrator: Narrator) -> Capabilities:
    """The same for whoever only looks: a host that the player has not agreed to is not asked."""
    if may_ask(story, narrator):
        return await narrator.capabilities()
    return Capabilities(ASSUMED_WINDOW, "assumed", host=remote_host(narrator))


async def answer(teller: Teller, request: Request) -> Completion:
    """The whole answer to a request, every wait told, paid for. Raises ``NarrationFailed``, ``limit-reached``."""
    spending, name = teller.spending, teller.narrator.name
    spending.allow(name, request)
    usage, text = Usage(), ""
    try:
        found = await teller.narrator.complete(replace(request, on_wait=lambda wait: tell_wait(teller, wait)))
        usage, text = found.finish.usage, found.text
    except NarrationFailed as error:
        if error.code in UNPAID:
            usage = NOTHING_USED
        raise
    finally:
        spending.charge(name, request, usage, text)
    return found


async def stream(teller: Teller, request: Request) -> AsyncGenerator[Chunk, None]:
    """The answer as it comes, paid for wherever it ends. Raises ``NarrationFailed``, ``limit-reached``."""
    spending, name = teller.spending, teller.narrator.name
    spending.allow(name, request)
    usage, text = Usage(), ""
    try:
        async with aclosing(teller.narrator.stream(request)) as chunks:  # type: ignore[type-var]
            async for chunk in chunks:
                match chunk:
                    case Delta():
                        text += chunk.text
                    case Finish():
                        usage = chunk.usage
                yield chunk
    except NarrationFailed as error:
        if error.code in UNPAID and not text:
            usage = NOTHING_USED
        raise
    finally:
        spending.charge(name, request, usage, text)


def tell_wait(teller: Teller, wait: Waiting) -> None:
    """Say that a request is tried again, and when (T12)."""
    teller.publish(Noted(f"{TRYING_AGAIN} in {wait.seconds:.1f} seconds: {wait.reason}"))
