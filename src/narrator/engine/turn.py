"""What a turn is about to do, decided before anything is asked (S15, S21, S24, S48): a ``Plan``.

A plan names the node that the new ones will hang below, the input that is narrated, and where the prompt's history
ends. It moves nothing: head and tip as they were are in it, and the commit compares them (S12).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from narrator.core.errors import Refusal
from narrator.core.tree import Mode, NewNode, Node, Origin, Position, chain_hash
from narrator.engine.story import Story
from narrator.store import reads, state_reads

Left = Literal["write", "move"]


@dataclass(frozen=True, slots=True)
class Plan:
    """One turn to be told.

    ``anchor`` is the node the first new one hangs below; ``player`` the input written with the narration, if any.
    ``history_end`` is the last node of the prompt's history (None: there is none), ``input`` and ``input_mode`` what
    stands in its tail ('' for a continue). ``replaced`` is the take a retry or retell stands beside.
    """

    verb: str
    expected: Position
    anchor: Node
    history_end: Node | None
    input: str = ""
    input_mode: str | None = None
    player: NewNode | None = None
    narration_mode: Mode | None = None
    origin: Origin = "generated"
    replaced: Node | None = None
    note: str = ""
    left: Left = "write"
    is_fork: bool = False
    has_place: bool = False
    remarks: tuple[str, ...] = ()
    expected_revision: int | None = None

    @property
    def narrated_hash(self) -> bytes:
        """The chain hash of the node that is narrated upon, also where it is not yet written (T9)."""
        if self.player is None:
            return self.anchor.chain_hash
        return chain_hash(self.anchor.chain_hash, self.player.role, self.player.mode, self.player.text)

    @property
    def ordinal(self) -> int:
        """How many narrator children were ever accepted on the node narrated upon."""
        return 0 if self.player is not None else self.anchor.rolls

    @property
    def is_continue(self) -> bool:
        return not self.input


def input_above(story: Story, node: Node) -> Node | None:
    """The player's node that stands at ``node``, corrections between them passed over (S48); None elsewhere."""
    at = node
    while at.role == "correction" and at.parent_id is not None:
        at = reads.needed(story.store, at.parent_id)
    return at if at.role == "player" else None


def _parent(story: Story, node: Node) -> Node | None:
    return reads.needed(story.store, node.parent_id) if node.parent_id is not None else None


def plan_input(story: Story, text: str, mode: Mode, verb: str) -> Plan:
    """A new input (S12). Where an input stands at the head it is another take of that one (S48)."""
    head = story.head
    standing = input_above(story, head)
    remarks: tuple[str, ...] = ()
    if standing is not None:
        anchor = _parent(story, standing)
        assert anchor is not None
        if head.id != standing.id:
            remarks = ("Corrections below the earlier input are left behind with it.",)
    else:
        anchor = head
    return Plan(
        verb,
        story.position,
        anchor,
        history_end=anchor,
        input=text,
        input_mode=mode,
        player=NewNode("player", text, mode),
        remarks=remarks,
    )


def plan_below(story: Story, anchor: Node, verb: str, **rest: object) -> Plan:
    """Narrate below an existing node: the input that stands there, or on without one."""
    standing = input_above(story, anchor)
    if standing is None:
        plan = Plan(verb, story.position, anchor, history_end=anchor, narration_mode="continue")
    else:
        plan = Plan(
            verb,
            story.position,
            anchor,
            history_end=_parent(story, standing),
            input=standing.text,
            input_mode=standing.mode,
        )
    return _with(plan, **rest)


def plan_continue(story: Story) -> Plan:
    """Narrate on from the head (S24, S48)."""
    return plan_below(story, story.head, "continue")


def plan_retry(story: Story, node: Node | None, note: str = "") -> Plan:
    """Another narrator take (S15): of the step, or of the last narration. Raises ``nothing-to-retry``."""
    remarks: tuple[str, ...] = ()
    if node is None:
        head = story.head
        if input_above(story, head) is not None:
            return plan_below(story, head, "retry", note=note, has_place=True)
        node = reads.last_of_role(story.store, story.end, "narrator")
        if node is None:
            raise Refusal("nothing-to-retry", "Nothing has been narrated yet.")
        if head.id != node.id:
            remarks = ("A correction below the narration is left behind with it.",)
    if node.role == "player":
        return plan_below(story, node, "retry", note=note, has_place=True, left=_left(story, node))
    if node.role != "narrator":
        raise Refusal("nothing-to-retry", "Only a narration can be retried.", "Choose a step that the narrator told.")
    anchor = _parent(story, node)
    assert anchor is not None
    _require_reroll(story, node)
    return plan_below(
        story,
        anchor,
        "retry",
        note=note,
        has_place=True,
        left=_left(story, node),
        replaced=node,
        narration_mode=node.mode,
        remarks=remarks,
    )


def _require_reroll(story: Story, node: Node) -> None:
    """``[rules] retry = "never"`` keeps a turn that rolled as it fell (T9)."""
    rules = story.definition.rules
    if rules is not None and rules.retry == "never" and state_reads.checks_of(story.store, [node.id]):
        raise Refusal("retry-not-allowed", "This campaign lets no one roll again.", "Retell it, or undo and act anew.")


def plan_retell(story: Story, node: Node | None) -> Plan:
    """Another telling of the same committed turn (S20). Raises ``nothing-to-retry``."""
    if node is None:
        node = reads.last_of_role(story.store, story.end, "narrator")
    if node is None or node.role != "narrator":
        raise Refusal("nothing-to-retry", "Only a narration can be retold.")
    anchor = _parent(story, node)
    assert anchor is not None
    return plan_below(
        story,
        anchor,
        "retell",
        has_place=True,
        left=_left(story, node),
        replaced=node,
        narration_mode=node.mode,
        origin="retold",
    )


def plan_edit_input(story: Story, node: Node, text: str) -> Plan:
    """Another take of a player's node with new text, narrated (S21)."""
    anchor = _parent(story, node)
    assert anchor is not None
    left = _left(story, node)
    return Plan(
        "edit",
        story.position,
        anchor,
        history_end=anchor,
        input=text,
        input_mode=node.mode,
        player=NewNode("player", text, node.mode, origin="edited", source_id=node.id),
        left=left,
        has_place=left == "move",
    )


def plan_edit_narration(story: Story, node: Node, verb: str) -> Plan:
    """An edited take of a narration, from the state before it (S22)."""
    anchor = _parent(story, node)
    assert anchor is not None
    left = _left(story, node)
    return plan_below(
        story,
        anchor,
        verb,
        left=left,
        has_place=left == "move",
        replaced=node,
        narration_mode=node.mode,
        origin="edited",
    )


def plan_fork(story: Story, node: Node) -> Plan:
    """Fork here on a player's node: it is narrated, and the narration opens a branch (S24)."""
    return plan_below(story, node, "fork", is_fork=True, has_place=True, left=_left(story, node))


def _left(story: Story, node: Node) -> Left:
    """A step off the path leaves the line as a move does (U14)."""
    return "write" if reads.is_on_path(story.store, node, story.end) else "move"


def _with(plan: Plan, **rest: object) -> Plan:
    return replace(plan, **rest)  # type: ignore[arg-type]
