"""The verbs that show: reads of the story, published as the events of the contract. Nothing here writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from narrator.core.definition import Card
from narrator.core.errors import BadValue
from narrator.core.titles import outline
from narrator.core.view import open_values
from narrator.engine import cards as triggering
from narrator.engine import casting, inspector, state_views, statistics, views
from narrator.engine.commands import COMMANDS, Command, find_verb
from narrator.engine.events import (
    BranchesListed,
    BranchMapped,
    CardsListed,
    CheckpointsListed,
    ChecksMade,
    Found,
    HelpEntry,
    HelpShown,
    KnowledgeEntry,
    KnowledgeListed,
    MapShown,
    MemoriesListed,
    MemoryListed,
    NarratorListed,
    NarratorsListed,
    Noted,
    StateShown,
    StatusShown,
    TakesListed,
)
from narrator.engine.references import find_step
from narrator.store import commit, sources, state_reads

if TYPE_CHECKING:
    from narrator.engine.session import Session

Shower = Callable[["Session", Command], Awaitable[None]]


async def takes(session: Session, command: Command) -> None:
    """The takes of a step."""
    node = find_step(session.story, command.args.get("step"))
    session.publish(TakesListed(node.parent_id, tuple(session.story.takes(node))))


async def branches(session: Session, command: Command) -> None:
    """Every branch."""
    session.publish(BranchesListed(tuple(session.story.branches())))


async def map_(session: Session, command: Command) -> None:
    """The whole tree."""
    story = session.story
    at = views.takes_by_branch(story.store)
    mapped = [BranchMapped(**asdict(each), takes=tuple(at.get(each.id, ()))) for each in story.branches()]
    session.publish(MapShown(tuple(mapped)))


async def checkpoints(session: Session, command: Command) -> None:
    """Every checkpoint."""
    session.publish(CheckpointsListed(tuple(session.story.checkpoints())))


async def state(session: Session, command: Command) -> None:
    """The values at the head; one path, or with ``all`` what the narrator alone knows too."""
    story = session.story
    now = story.state()
    values = open_values(now, story.definition, everything=bool(command.args.get("all")))
    path = command.args.get("path")
    if path is not None:
        path = state_views.resolve(story, path)
        chosen = {key: value for key, value in values.items() if key == path or key.startswith(f"{path}.")}
        if not chosen:
            raise BadValue(f"There is no value at {path}.", "/state lists them.")
        values = chosen
    fields = state_views.shown_fields(outline(story.definition, now, values))
    session.publish(StateShown(values, now.unknown, fields))


async def audit(session: Session, command: Command) -> None:
    """Every change of one field along the path (W8)."""
    session.publish(state_views.history(session.story, command.args["path"]))


async def checks(session: Session, command: Command) -> None:
    """The checks along the path: words alone, unless the campaign lets the player look (T8)."""
    story = session.story
    made = state_reads.checks_on(story.store, story.end)
    told = (state_views.check_made(story.definition, check, position) for position, check in made)
    session.publish(ChecksMade(tuple(told)))


async def memories(session: Session, command: Command) -> None:
    """The memories that may be used here (C25)."""
    rows = session.story.memories()
    listed = [MemoryListed(row.id, row.text, row.node_id, row.is_pinned, row.source) for row in rows]
    session.publish(MemoriesListed(tuple(listed)))


async def cards(session: Session, command: Command) -> None:
    """The campaign's cards, and which of them the coming turn would hold."""
    session.publish(CardsListed(triggering.listed(session.story)))


def card(session: Session, found: Card) -> None:
    """One card with its text."""
    (listed,) = (each for each in triggering.listed(session.story) if each.name == found.name)
    session.publish(CardsListed((replace(listed, text=found.text),)))


async def knowledge(session: Session, command: Command) -> None:
    """The imported sources; they belong to the campaign as a whole (S35)."""
    rows = sources.knowledge(session.story.store)
    session.publish(KnowledgeListed(tuple(KnowledgeEntry(r.id, r.title, r.kind, r.is_enabled) for r in rows)))


async def read(session: Session, command: Command) -> None:
    """The last n steps, or the whole path."""
    story = session.story
    count = story.count
    first = max(1, count - int(command.args["n"]) + 1) if "n" in command.args else 1
    for low in range(first, count + 1, 500):
        for step in story.steps(low, min(low + 499, count)):
            session.publish(step)


async def search(session: Session, command: Command) -> None:
    """Where words stand on the path."""
    session.publish(Found(tuple(session.story.search(command.args["words"]))))


async def stats(session: Session, command: Command) -> None:
    """Counts of the line and the tree, tokens as reported (U13)."""
    session.publish(await statistics.count(session.story, played=session.seconds_played, cost=session.cost))


async def status(session: Session, command: Command) -> None:
    """Campaign, place, position, redo, narrator and host."""
    story = session.story
    abilities = await session.abilities()
    place = str(story.state().values.get("location") or "")
    session.publish(
        StatusShown(
            *(story.row.title, place, story.count, story.redo_steps, session.narrator.name, abilities.host),
            *((abilities.window, abilities.window_source) if abilities.reads_messages else ()),
        )
    )


async def narrator(session: Session, command: Command) -> None:
    """Who may tell the story, or a change of who does; the next turn uses it (T19)."""
    name = command.args.get("name")
    if name is None:
        listed = [
            NarratorListed(each.name, each.kind, each.name == session.narrator.name, each.base_url)
            for each in casting.candidates(session.settings)
        ]
        session.publish(NarratorsListed(tuple(listed)))
        return
    chosen = casting.choose(session.settings, name)
    await session.use_narrator(chosen)
    if not session.story.is_read_only:
        commit.choose_narrator(session.story.store, name)
    session.publish(Noted(f"{name} tells the story from the next turn on."))


async def help_(session: Session, command: Command) -> None:
    """The commands, or one."""
    about = command.args.get("command")
    verbs = [find_verb(about)] if about else list(COMMANDS.values())
    listed = [HelpEntry(v.name, " ".join(a.usage for a in v.arguments), v.help) for v in verbs]
    session.publish(HelpShown(tuple(listed)))


async def prompt(session: Session, command: Command) -> None:
    """What the narrator is told: for the coming turn, or of a past take (C29)."""
    step = command.args.get("step")
    if step is None:
        session.publish(await inspector.coming(session))
    else:
        session.publish(await inspector.past(session, find_step(session.story, step)))


SHOWING: Mapping[str, Shower] = {
    "takes": takes,
    "branches": branches,
    "map": map_,
    "checkpoints": checkpoints,
    "state": state,
    "audit": audit,
    "checks": checks,
    "memories": memories,
    "cards": cards,
    "read": read,
    "search": search,
    "stats": stats,
    "status": status,
    "narrator": narrator,
    "help": help_,
    "prompt": prompt,
}
