"""What each verb does: one function a verb, over a session (U14). ``HANDLERS`` maps the word to it.

A handler raises ``NarratorError`` where the verb may not be done; the session answers it. ``quit`` is the interface's
own and does nothing here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from narrator.core.cards import CardEdit
from narrator.core.errors import BadValue, Refusal
from narrator.core.proposal import Proposal
from narrator.core.tree import Node
from narrator.engine import compaction, exporting, replaying, scripting, showing, turn
from narrator.engine.commands import Command
from narrator.engine.events import Noted, Suggested
from narrator.engine.references import find_branch, find_step, find_take
from narrator.engine.state_views import resolve
from narrator.engine.story import Story
from narrator.store import commit, memory_reads, reads, removal, sources

if TYPE_CHECKING:
    from narrator.engine.session import Session

Handler = Callable[["Session", Command], Awaitable[None]]


# ---------------------------------------------------------------------------------------------------------------- turns


async def _input(session: Session, command: Command) -> None:
    text = str(command.args["text"])
    if not text.strip():
        raise BadValue("There is nothing to tell.")
    await session.turns.run(turn.plan_input(session.story, text, command.name, command.name))  # type: ignore[arg-type]


async def _continue(session: Session, command: Command) -> None:
    story = session.story
    if command.is_bare and turn.input_above(story, story.head) is None:
        raise BadValue("There is nothing on this line.", "Say what you do, or /continue.")
    await session.turns.run(turn.plan_continue(story))


async def _retry(session: Session, command: Command) -> None:
    story, step = session.story, command.args.get("step")
    node = find_step(story, step) if step is not None else None
    note = str(command.args.get("note", ""))
    await session.turns.run_all(int(command.args.get("n", 1)), lambda: turn.plan_retry(story, node, note))


async def _retell(session: Session, command: Command) -> None:
    step = command.args.get("step")
    node = find_step(session.story, step) if step is not None else None
    await session.turns.run(turn.plan_retell(session.story, node))


async def _edit(session: Session, command: Command) -> None:
    node, text = _edited(session, command)
    if node.role == "player":
        await session.turns.run(turn.plan_edit_input(session.story, node, text))
    elif node.role == "narrator":
        await session.turns.edit(turn.plan_edit_narration(session.story, node, "edit"), text)
    else:
        raise BadValue("Only an input or a narration can be edited.")


async def _edit_wording(session: Session, command: Command) -> None:
    node, text = _edited(session, command)
    if node.role != "narrator":
        raise BadValue("Only a narration has a wording of its own.", "Use /edit for an input.")
    session.turns.carry_wording(turn.plan_edit_narration(session.story, node, "edit-wording"), text)


def _edited(session: Session, command: Command) -> tuple[Node, str]:
    text = str(command.args["text"])
    if not text.strip():
        raise BadValue("The new text is empty.")
    return find_step(session.story, command.args["step"]), text


async def _fork(session: Session, command: Command) -> None:
    node = find_step(session.story, command.args.get("step"))
    if node.role == "player":
        await session.turns.run(turn.plan_fork(session.story, node))
        return
    if session.story.fork(node):
        session.publish(Noted("What is written next stands beside what was there, not over it."))
    else:
        session.publish(Noted("Nothing to do: what is written below this step stands on its own already."))
    session.show_tail()


async def _suggest(session: Session, command: Command) -> None:
    """Three things that the player might do; stored nowhere (T20)."""
    if session.is_turning:
        raise Refusal("busy", "A turn is being told.", "Ask again when it is done.")
    session.publish(Suggested(await session.suggestions()))


# ---------------------------------------------------------------------------------------------------------------- moves


def _move(act: Callable[[Story, Mapping[str, Any]], None]) -> Handler:
    """A verb that moves the head and shows where it stands then."""

    async def handle(session: Session, command: Command) -> None:
        act(session.story, command.args)
        session.show_tail()

    return handle


async def _restore(session: Session, command: Command) -> None:
    if "name" not in command.args:
        await showing.checkpoints(session, command)
        return
    session.story.restore(command.args["name"])
    session.show_tail()


# ---------------------------------------------------------------------------------------------------------------- marks


async def _save(session: Session, command: Command) -> None:
    story = session.story
    name = command.args.get("name") or proposed_name(story)
    story.save(name)
    session.publish(Noted(f"Saved as “{name.strip()}”."))


def proposed_name(story: Story) -> str:
    """A name from place and position, made free (U25)."""
    place = str(story.state().values.get("location") or "Step").replace("-", " ").replace("_", " ")
    name = f"{place[:80].capitalize()}, step {story.count}"
    taken = {each.name for each in reads.checkpoints(story.store)}
    return next(each for n in range(len(taken) + 1) if (each := name if not n else f"{name} ({n + 1})") not in taken)


async def _save_at(session: Session, command: Command) -> None:
    session.story.save(command.args["name"], find_step(session.story, command.args["step"]))
    session.publish(Noted(f"Saved as “{command.args['name'].strip()}”."))


async def _rename_checkpoint(session: Session, command: Command) -> None:
    session.story.rename_checkpoint(command.args["old"], command.args["new"])


async def _delete_checkpoint(session: Session, command: Command) -> None:
    name = command.args["name"]
    session.story.checkpoint(name)
    if await _confirmed(session, {"checkpoint": name}):
        session.story.delete_checkpoint(name)


async def _rename_branch(session: Session, command: Command) -> None:
    session.story.rename_branch(find_branch(session.story, command.args["branch"]), command.args["name"])


def _pin(is_pinned: bool) -> Handler:
    async def handle(session: Session, command: Command) -> None:
        node = find_take(session.story, command.args["n"], command.args.get("step"))
        session.story.pin(node, is_pinned=is_pinned)

    return handle


async def _remember(session: Session, command: Command) -> None:
    session.story.remember(command.args["text"])


async def _pin_memory(session: Session, command: Command) -> None:
    memory = session.story.memory(command.args["id"])
    commit.change_memory(session.story.store, memory.id, pinned=not memory.is_pinned)
    session.publish(Noted("The memory stands in every prompt." if not memory.is_pinned else "The memory is unpinned."))


async def _forget_memory(session: Session, command: Command) -> None:
    commit.change_memory(session.story.store, session.story.memory(command.args["id"]).id, forgotten=True)


async def _edit_memory(session: Session, command: Command) -> None:
    commit.change_memory(
        session.story.store, session.story.memory(command.args["id"]).id, text=command.args["text"].strip()
    )


async def _card(session: Session, command: Command) -> None:
    """Show a card, or change it for the whole campaign (S35)."""
    story, action = session.story, command.args.get("action")
    found = story.card(command.args["name"])
    if action is None:
        showing.card(session, found)
        return
    if action == "edit" and not str(command.args.get("text", "")).strip():
        raise BadValue("The new text of the card is missing.", f"/card {found.name} edit TEXT")
    if action == "delete" and not await _confirmed(session, {"card": found.name, "text": found.text[:200]}):
        return
    edit = {
        "on": CardEdit(is_enabled=True),
        "off": CardEdit(is_enabled=False),
        "edit": CardEdit(text=str(command.args.get("text", "")).strip()),
        "delete": CardEdit(is_deleted=True),
    }[action]
    story.edit_card(found, edit)
    done = {"on": "is on", "off": "is off", "edit": "has a new text", "delete": "is deleted"}[action]
    session.publish(Noted(f"The card “{found.name}” {done}, in the whole campaign."))
    if found.is_constant and found.when is None:
        await _tell_rebuilding(session)


async def _knowledge(session: Session, command: Command) -> None:
    """List the imported sources, or switch or remove one in the whole campaign (S35)."""
    if "id" not in command.args:
        await showing.knowledge(session, command)
        return
    store, action = session.story.store, command.args["action"]
    found = sources.knowledge_of(store, command.args["id"])
    if action == "remove":
        if not await _confirmed(session, {"knowledge": found.title, "passages": found.passages}):
            return
        commit.remove_knowledge(store, found.id)
    else:
        commit.switch_knowledge(store, found.id, is_enabled=action == "on")
    done = "is removed" if action == "remove" else f"is {action}"
    session.publish(Noted(f"“{found.title}” {done}, in the whole campaign."))


async def _comment(session: Session, command: Command) -> None:
    commit.comment(session.story.store, session.story.row.head_id, command.args["text"])
    session.publish(Noted("Noted for yourself; no prompt will hold it."))


# -------------------------------------------------------------------------------------------------------------- removal


async def _confirmed(session: Session, shows: Mapping[str, Any], what: str = "confirm-delete") -> bool:
    return await session.ask(what, ("yes", "no"), "no", dict(shows)) == "yes"


async def _delete_take(session: Session, command: Command) -> None:
    story = session.story
    node = find_take(story, command.args["n"], command.args.get("step"))
    plan = story.plan_delete_take(node)
    number = reads.siblings(story.store, node.parent_id).index(node.id) + 1
    if await _confirmed(session, {"take": number, "id": node.id, "text": node.text[:200]}):
        story.delete(plan, "take")


async def _delete_branch(session: Session, command: Command) -> None:
    story = session.story
    branch = find_branch(story, command.args["branch"])
    plan = story.plan_delete_branch(branch)
    shows = {
        "branch": branch.label,
        "steps": plan.steps,
        "takes": plan.takes,
        "dependent_branches": plan.dependents,
        "pinned": plan.pinned,
    }
    if await _confirmed(session, shows):
        story.delete(plan, "branch")


async def _undelete(session: Session, command: Command) -> None:
    session.story.undelete()
    session.show_tail()


async def _prune(session: Session, command: Command) -> None:
    story, args = session.story, command.args
    if "days" in args:
        age = removal.Age("days", args["days"])
    elif "steps" in args:
        age = removal.Age("steps", args["steps"])
    else:
        age = removal.Age("all")
    plan = story.plan_prune(age)
    if not plan.node_ids:
        session.publish(Noted("Nothing that was set aside is old enough to go."))
        return
    shows = {
        "steps": plan.steps,
        "takes": plan.takes,
        "branches": len(plan.branch_ids),
        "bytes": removal.freed_bytes(story.store, plan),
    }
    if await _confirmed(session, shows, "confirm-prune"):
        story.prune(plan)
        session.show_tail()


# ---------------------------------------------------------------------------------------------------------- corrections


async def _correct(session: Session, command: Command) -> None:
    path = resolve(session.story, command.args["path"])
    _write_correction(session, Proposal("", path, command.args["value"]), command.args.get("reason"))


async def _assert(session: Session, command: Command) -> None:
    _write_correction(session, Proposal("assert", "facts", command.args["text"]), None)


async def _retract(session: Session, command: Command) -> None:
    _write_correction(session, Proposal("retract", "facts", command.args["fact"]), None)


def _text_at(path: str) -> Handler:
    """A text of the story that is changed by a correction (C31): author's note, persona."""

    async def handle(session: Session, command: Command) -> None:
        _write_correction(session, Proposal("set", path, command.args.get("text")), None)
        if path == "story.persona":
            await _tell_rebuilding(session)

    return handle


async def _tell_rebuilding(session: Session) -> None:
    """What it costs that the stable prefix is another now: the summary of the story so far is made again (C10)."""
    if not memory_reads.context_checkpoint_hosts(session.story.store, session.story.end):
        return
    requests = await compaction.estimate(session.teller(), await session.abilities())
    if requests:
        cost = "1 request" if requests == 1 else f"{requests} requests"
        session.publish(Noted(f"The summary of the story so far will be made again, which takes {cost}."))


def _write_correction(session: Session, proposal: Proposal, reason: str | None) -> None:
    story = session.story
    node = story.correct(proposal, reason)
    established = story.established(node)
    if established is not None:
        what = "that fact" if proposal.op == "retract" else "the old value"
        session.publish(Noted(f"Step {established} established {what}; /go {established} goes back there."))
    session.show_tail(1)


# ------------------------------------------------------------------------------------------------------------- settings


async def _track(session: Session, command: Command) -> None:
    is_on = command.args["switch"] == "on"
    commit.set_tracking(session.story.store, is_on)
    session.publish(Noted(f"The state is {'worked out after each turn' if is_on else 'left alone'} from now on."))


# -------------------------------------------------------------------------------------------------------------- control


async def _stop(session: Session, command: Command) -> None:
    if session.stop_work() and not session.is_turning:
        return
    session.stop()
    await session.stopped()


async def _keep(session: Session, command: Command) -> None:
    if session.is_turning:
        session.stop()
        await session.stopped()
    session.hold(command)
    flight = session.in_flight
    if flight is None or not flight.has_text or flight.stage == "check":
        raise Refusal("nothing-to-keep", "There is no partial text to keep.")
    await session.turns.keep(flight)


async def _answer(session: Session, command: Command) -> None:
    session.answer(command.args["choice"], command.args.get("value"))


async def _nothing(session: Session, command: Command) -> None:
    """A verb of the interface's own."""


HANDLERS: Mapping[str, Handler] = {
    "do": _input,
    "say": _input,
    "story": _input,
    "continue": _continue,
    "retry": _retry,
    "retell": _retell,
    "edit": _edit,
    "edit-wording": _edit_wording,
    "fork": _fork,
    "undo": _move(lambda story, args: story.undo(args.get("n", 1))),
    "redo": _move(lambda story, args: story.redo(args.get("n", 1))),
    "undo-turn": _move(lambda story, args: story.undo_turn()),
    "take": _move(lambda story, args: story.take(find_take(story, args["n"], args.get("step")))),
    "go": _move(lambda story, args: story.go(find_step(story, args["step"]))),
    "back": _move(lambda story, args: story.back()),
    "forward": _move(lambda story, args: story.forward()),
    "switch": _move(lambda story, args: story.switch(find_branch(story, args["branch"]))),
    "restore": _restore,
    "save": _save,
    "save-at": _save_at,
    "rename-checkpoint": _rename_checkpoint,
    "delete-checkpoint": _delete_checkpoint,
    "rename-branch": _rename_branch,
    "pin": _pin(True),
    "unpin": _pin(False),
    "remember": _remember,
    "pin-memory": _pin_memory,
    "forget-memory": _forget_memory,
    "edit-memory": _edit_memory,
    "card": _card,
    "knowledge": _knowledge,
    "comment": _comment,
    "suggest": _suggest,
    "delete-take": _delete_take,
    "delete-branch": _delete_branch,
    "undelete": _undelete,
    "prune": _prune,
    "correct": _correct,
    "assert": _assert,
    "retract": _retract,
    "note": _text_at("story.note"),
    "persona": _text_at("story.persona"),
    "track": _track,
    "stop": _stop,
    "keep": _keep,
    "answer": _answer,
    "export": exporting.export,
    "quit": _nothing,
    "script": scripting.script,
    "unscript": scripting.unscript,
    "record": scripting.record,
    "replay": replaying.replay,
    **showing.SHOWING,
}
