"""The shape of a bundle: what the first pass keeps of it, and whether it holds together (X8).

A contradiction in structure is refused with its place; a wrong choice (two placed takes at one coordinate, a tip with
something below it, a name twice) is corrected and noted.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from narrator.core.errors import BadImport
from narrator.exchange.bundle_models import BranchRow, CampaignRow, CheckpointRow, PlaceRow, Row, VisitRow
from narrator.exchange.growth import Fork, Skeleton
from narrator.exchange.report import Notes


@dataclass(slots=True)
class Survey:
    """What the first pass found: everything but the texts."""

    campaign: CampaignRow | None = None
    skeleton: Skeleton = field(default_factory=Skeleton)
    declared: array[int] = field(default_factory=lambda: array("q", [0]))
    branches: list[BranchRow] = field(default_factory=list)
    checkpoints: list[CheckpointRow] = field(default_factory=list)
    visits: list[VisitRow] = field(default_factory=list)
    places: list[PlaceRow] = field(default_factory=list)
    references: dict[str, int] = field(default_factory=dict)
    cards: set[str] = field(default_factory=set)
    digests: bytearray = field(default_factory=bytearray)
    most_part: int = 0
    most_part_place: str = ""
    has_prompts: bool = True

    @property
    def parts(self) -> int:
        return len(self.digests) // 32


def settle(found: Survey, notes: Notes) -> None:
    """Work out branches and check everything that refers to a node. Raises ``BadImport``; corrects wrong choices."""
    shape = found.skeleton
    if not shape.count:
        raise BadImport("nodes is empty.")
    for key, most in found.references.items():
        if most > shape.count:
            raise BadImport(f"{key}: there is no node {most}; the file has {shape.count}.")
    if found.most_part > found.parts:
        raise BadImport(f"{found.most_part_place}.record.prompt: there is no part {found.most_part}.")
    _settle_branches(found, notes)
    _settle_names(found, notes)
    _settle_position(found, notes)


def _settle_branches(found: Survey, notes: Notes) -> None:
    shape, declared = found.skeleton, found.declared
    forks = [0, *(row.fork or 0 for row in found.branches)]
    for number, row in enumerate(found.branches, 1):
        if forks[number] > shape.count:
            raise BadImport(f"branches[{number - 1}].fork: there is no node {row.fork}.")
        if forks[number] and declared[forks[number]] == number:
            raise BadImport(f"branches[{number - 1}].fork: the branch leaves itself.")
        shape.forks.append(Fork(None, 0, row.name, row.created_at))
    holders: dict[tuple[int, int], int] = {}
    for node in range(1, shape.count + 1):
        parent, branch = shape.parents[node], declared[node]
        if not branch:
            if shape.children[node]:
                raise BadImport(f"nodes[{node - 1}]: it has something below it and no branch.")
            continue
        if branch > len(found.branches):
            raise BadImport(f"nodes[{node - 1}].branch: there is no branch {branch}.")
        if parent and branch == declared[parent]:
            branch = shape.branches[parent]
        elif forks[branch] != parent:
            raise BadImport(f"nodes[{node - 1}].branch: branch {branch} does not lead from node {parent} to here.")
        _hold(shape, node, branch, holders, notes)
    owned = set(shape.branches)
    for number in range(1, len(found.branches) + 1):
        if number not in owned:
            raise BadImport(f"branches[{number - 1}] has no node.")
        fork = forks[number]
        if fork:
            owner = shape.branches[fork]
            if not owner:
                raise BadImport(f"branches[{number - 1}].fork: node {fork} is on no branch.")
            shape.forks[number - 1].parent_id = owner
            shape.forks[number - 1].fork_depth = shape.depths[fork]


def _hold(shape: Skeleton, node: int, branch: int, holders: dict[tuple[int, int], int], notes: Notes) -> None:
    """Give a node its coordinate. Where another holds it, the one that nothing was built on lets go (X8)."""
    place = (branch, shape.parents[node])
    other = holders.get(place)
    if other is not None:
        notes.changed(f"nodes[{node - 1}]", "branch", f"nodes {other} and {node} held one coordinate; one was unplaced")
        if not shape.children[node]:
            return
        if shape.children[other]:
            branch = shape.new_branch(shape.parents[node])
        else:
            shape.branches[other] = 0
    holders[(branch, shape.parents[node])] = node
    shape.branches[node] = branch


def _settle_names(found: Survey, notes: Notes) -> None:
    kinds: dict[str, Sequence[Fork | CheckpointRow]] = {
        "branches": found.skeleton.forks,
        "checkpoints": found.checkpoints,
    }
    for kind, rows in kinds.items():
        taken: set[str] = set()
        for index, row in enumerate(rows):
            if row.name is None:
                continue
            name = free_name(row.name, taken)
            if name != row.name:
                notes.changed(f"{kind}[{index}]", "name", f"{row.name!r:.60} became {name!r:.60}")
                row.name = name
            taken.add(name)


def free_name(name: str, taken: set[str]) -> str:
    """A name as S26 wants it: trimmed, not empty, not digits alone, at most 120 characters, not taken."""
    name = " ".join(name.split())[:120].strip() or "unnamed"
    if name.isdigit():
        name = f"no. {name}"[:120]
    if name not in taken:
        return name
    return next(other for n in numbers(len(taken)) if (other := f"{name[:110]} {n}") not in taken)


def numbers(taken: int) -> Iterator[int]:
    """Numbers to try behind a name: small ones, then one that only a stranger can have."""
    return itertools.chain(range(2, 30), itertools.count(taken + 2))


def _settle_position(found: Survey, notes: Notes) -> None:
    shape, campaign = found.skeleton, found.campaign
    assert campaign is not None
    for name in ("head", "tip", "fork"):
        value = getattr(campaign, name)
        if value is not None and value > shape.count:
            raise BadImport(f"campaign.{name}: there is no node {value}.")
    if shape.children[campaign.tip] or not shape.is_above(campaign.head, campaign.tip):
        campaign.tip = shape.newest_leaf(campaign.head)
        notes.changed("campaign", "tip", "it was no end of a line through the head; the newest one is taken")
    if campaign.fork is not None and campaign.fork != campaign.head:
        campaign.fork = None
        notes.changed("campaign", "fork", "the fork wish was for another node than the head and has ended")
    pointing: dict[str, Sequence[Row]] = {
        "checkpoints": found.checkpoints,
        "visits": found.visits,
        "places": found.places,
    }
    for key, rows in pointing.items():
        for index, row in enumerate(rows):
            for name in ("node", "head", "tip"):
                value = getattr(row, name, None)
                if value is not None and value > shape.count:
                    raise BadImport(f"{key}[{index}].{name}: there is no node {value}.")
    _settle_visits(found, notes)


def _settle_visits(found: Survey, notes: Notes) -> None:
    shape = found.skeleton
    latest = {visit.tip: index for index, visit in enumerate(found.visits)}
    kept = []
    for index, visit in enumerate(found.visits):
        if latest[visit.tip] != index or shape.children[visit.tip] or not shape.is_above(visit.head, visit.tip):
            notes.dropped(f"visits[{index}]", "tip", "it is no end of a line, or it stands there twice")
        else:
            kept.append(visit)
    found.visits = kept
