"""What export and import do to the model: ids become ordinals in order of creation, nothing else (X7, S44)."""

from __future__ import annotations

from dataclasses import replace

from tests.model.naive import Model
from tests.model.tree import Place


def renumber(model: Model) -> None:
    """Give every node and branch its ordinal. Deletions must be final: what was deleted is in no export."""
    nodes = {old: new for new, old in enumerate(sorted(model.nodes), start=1)}
    branches = {old: new for new, old in enumerate(sorted(model.branches), start=1)}

    def node(old: int | None) -> int | None:
        return None if old is None else nodes.get(old)

    def branch(old: int | None) -> int | None:
        return None if old is None else branches[old]

    model.nodes = {
        nodes[n.id]: replace(
            n,
            id=nodes[n.id],
            parent=node(n.parent),
            source=node(n.source),
            cause=node(n.cause),
            branch=branch(n.branch),
        )
        for n in model.nodes.values()
    }
    model.branches = {
        branches[b.id]: replace(b, id=branches[b.id], parent=branch(b.parent)) for b in model.branches.values()
    }
    model.visits = {nodes[tip]: replace(v, head=nodes[v.head]) for tip, v in model.visits.items()}
    model.back_list = [_place(p, nodes) for p in model.back_list if p.head in nodes]
    model.forward_list = [_place(p, nodes) for p in model.forward_list if p.head in nodes]
    model.checkpoints = {name: nodes[at] for name, at in model.checkpoints.items()}
    model.head, model.tip, model.wish = nodes[model.head], nodes[model.tip], node(model.wish)
    model.last_node, model.last_branch = len(nodes), len(branches)


def _place(place: Place, nodes: dict[int, int]) -> Place:
    """A place whose tip is gone leads to its head (S37: the tip is then as in S28)."""
    return Place(nodes[place.head], nodes.get(place.tip) if place.tip is not None else None)
