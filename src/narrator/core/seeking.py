"""A play that leads to what was never met: searched among outcomes, then played with the campaign's own words.

The search goes from state to state by whole outcomes, as if every storylet whose condition holds could be told and
every roll be had that the dice can give. Of a state it tells apart only what the goal hangs on, straight or through
others, and it goes on from the state that ``reachable`` holds to be nearest. Where it has seen all such states, no play
leads to the goal. A way that it finds is then played with the storylets' own keys; where another storylet answers
those, it looks for a way around.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from narrator.core import neutral
from narrator.core.checks import clock_proposals
from narrator.core.definition import Definition, Storylet
from narrator.core.fitting import is_ready
from narrator.core.needs import NO_WAY, Cost, Possible, called, fires, need, reads_of, spans_of
from narrator.core.proposal import JSON, Proposal
from narrator.core.reachable import Deed, possible_from, possible_rolls, told_as
from narrator.core.referee import judge
from narrator.core.rehearsal import Scene, Turn, rehearse
from narrator.core.state import ENDING, FIRED, State, advance, is_ended
from narrator.core.wordings import fired_record, key

Mark = tuple[JSON, ...]
Closed = set[tuple[Mark, str, str]]
"""Steps that words and dice did not come to: where, the storylet, the roll."""
_SOURCES = 12
"""Scenes that a search goes on from, beside the opening."""
_AROUND = 12
"""How often a way around is looked for."""


@dataclass(frozen=True, slots=True)
class Goal:
    """An outcome of a storylet, by its number, or an ending: what is sought."""

    storylet: str = ""
    outcome: int = 0
    ending: str = ""


@dataclass(frozen=True, slots=True)
class Means:
    """What a way is played with: words for a storylet, to be tried in turn; what the dice of a turn hang on, another
    each time; the seed of the campaign's dice."""

    typed: Callable[[Storylet], Iterable[str]]
    chain: Callable[[], bytes]
    seed: int


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of a way: who answers, the roll it takes, what comes behind the answer, and the mark it ends at."""

    storylet: Storylet
    rolled: str
    behind: Storylet | None
    mark: Mark


@dataclass(slots=True)
class Sought:
    """What came of a search. ``turns`` were played, the last of them at the goal where ``is_met``.

    ``is_hopeless``: every state was seen, and none leads there. ``states`` is how many
    were looked at. ``instead`` counts who answered the goal's own keys.
    """

    is_met: bool = False
    is_hopeless: bool = False
    states: int = 0
    turns: list[Turn] = field(default_factory=list)
    instead: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Place:
    """A state that the search came to, by which step from where. ``scene`` is given where it was really played."""

    state: State
    scene: Scene | None = None
    before: _Place | None = None
    step: Step | None = None


@dataclass(frozen=True, slots=True)
class _Search:
    """What one search is about: the goal, the deeds that bear on it, the paths that tell its states apart.

    ``rivals`` answered in place of the goal: it is sought where none of them can.
    """

    definition: Definition
    goal: Goal
    deeds: tuple[Deed, ...]
    ends: tuple[Deed, ...]
    storylets: tuple[Storylet, ...]
    paths: tuple[str, ...]
    clocks: frozenset[int]
    rivals: tuple[Storylet, ...]
    rests: dict[str, int]


def seek(
    definition: Definition,
    deeds: list[Deed],
    goal: Goal,
    scenes: Sequence[Scene],
    means: Means,
    limit: int,
) -> Sought:
    """Look for a play from one of the scenes, the opening first, to the goal, and play it. ``limit`` counts states."""
    search = _about(definition, deeds, goal, ())
    sought = Sought()
    sources = list(scenes)
    closed: Closed = set()
    for _ in range(_AROUND):
        way, states = _way(search, _nearest(search, sources), closed, limit - sought.states)
        sought.states += states
        if way is None:
            sought.is_hopeless = sought.states < limit and not closed
            return sought
        known = set(sought.instead)
        if _play(search, way, sought, closed, means):
            sought.is_met = True
            return sought
        sources += [turn.scene for turn in sought.turns[-1:]]
        found = [each for each in definition.storylets if each.id in sought.instead and each.id not in known]
        if found:
            search = _about(definition, deeds, goal, (*search.rivals, *found))
            closed = set()
    return sought


def _about(definition: Definition, deeds: list[Deed], goal: Goal, rivals: tuple[Storylet, ...]) -> _Search:
    """All that bears on the goal: what it looks at, what changes that, what that looks at in turn."""
    silent = tuple(("", _is_silent(each)) for each in rivals)
    ends = [replace(deed, needs=(*deed.needs, *silent)) for deed in deeds if is_end(deed, goal)]
    bearing: dict[int, Deed] = {}
    paths = {ENDING, *(fires(each.id) for each in rivals)}
    paths |= {path for each in rivals if each.when is not None for path in reads_of(each.when)}
    more = [deed for deed in deeds if is_end(deed, goal) or _cuts_in(deed)]
    while more:
        for deed in more:
            bearing[id(deed)] = deed
            paths |= deed.reads
            if deed.storylet is not None and (deed.storylet.is_once or deed.storylet.cooldown):
                paths.add(fires(deed.storylet.id))
        more = [deed for deed in deeds if id(deed) not in bearing and _bears(deed, paths)]
    found = {deed.storylet.id: deed.storylet for deed in bearing.values() if deed.storylet is not None}
    marked = tuple(sorted(paths))
    clocks = frozenset(at for at, path in enumerate(marked) if path.startswith("clocks.") or called(path))
    bears, storylets, rests = tuple(bearing.values()), tuple(found.values()), _rests(definition)
    return _Search(definition, goal, bears, tuple(ends), storylets, marked, clocks, rivals, rests)


def _is_silent(storylet: Storylet) -> Cost:
    """What it costs that a storylet cannot answer: by its condition, or since it has answered."""
    by_condition = need(storylet.when.root, wanted=False) if storylet.when is not None else lambda possible: NO_WAY
    if not (storylet.is_once or storylet.cooldown):
        return by_condition

    def cost(possible: Possible) -> int:
        is_told = fired_record(possible.state, storylet.id) is not None
        return min(by_condition(possible), 0 if is_told else possible.fired.get(storylet.id, NO_WAY))

    return cost


def _rests(definition: Definition) -> dict[str, int]:
    """By storylet, for how many turns it matters when it fired last."""
    clocks = definition.rules.clocks.values() if definition.rules is not None else ()
    conditions = [storylet.when for storylet in definition.storylets]
    conditions += [ending.when for ending in definition.endings]
    conditions += [clock.advances_when for clock in clocks]
    rests = {storylet.id: storylet.cooldown for storylet in definition.storylets}
    for name, turns in itertools.chain.from_iterable(spans_of(condition) for condition in conditions):
        rests[name] = max(rests.get(name, 0), turns)
    return rests


def _cuts_in(deed: Deed) -> bool:
    """Whether it comes before whatever the player does: an ending, or a storylet that asks for no words."""
    if deed.storylet is None:
        return deed.clock is None
    return deed.storylet.on in ("any", "after")


def is_end(deed: Deed, goal: Goal) -> bool:
    """Whether the goal is reached when this is done."""
    if goal.ending:
        return any(change.path == ENDING and change.value == goal.ending for change in deed.changes)
    if deed.storylet is None or deed.storylet.id != goal.storylet:
        return False
    return deed.outcome is deed.storylet.outcomes[goal.outcome]


def _bears(deed: Deed, paths: set[str]) -> bool:
    if deed.storylet is not None and fires(deed.storylet.id) in paths:
        return True
    if deed.clock is not None and f"clocks.{deed.clock.id}" in paths:
        return True
    return any(change.path in paths and change.path != ENDING for change in deed.changes)


def _mark(search: _Search, state: State) -> Mark:
    """What tells a state from another in this search."""
    return tuple(_told_apart(search, state, path) for path in search.paths)


def _told_apart(search: _Search, state: State, path: str) -> JSON:
    name = called(path)
    if name:
        record = fired_record(state, name)
        return -1 if record is None else min(state.turn - int(record["last"]), search.rests.get(name, 0) + 1)
    value = state.values.get(path)
    value = repr(value) if isinstance(value, list | dict) else value
    declared = search.definition.fields.get(path)
    if declared is not None and declared.cooldown and path in state.changed:
        return value, min(state.turn - state.changed[path], declared.cooldown)
    return value


def _distance(search: _Search, state: State) -> int:
    possible = possible_from(search.definition, state, search.deeds)
    return min((deed.cost(possible) for deed in search.ends), default=0)


def _nearest(search: _Search, scenes: Sequence[Scene]) -> list[Scene]:
    """The opening, and the few scenes that lack least."""

    def lacks(scene: Scene) -> tuple[int, int]:
        possible = Possible(scene.state)
        return min(sum(met(possible) > 0 for _, met in deed.needs) for deed in search.ends), scene.state.turn

    return [scenes[0], *sorted(scenes[1:], key=lacks)[:_SOURCES]]


def _way(search: _Search, sources: list[Scene], closed: Closed, limit: int) -> tuple[_Place | None, int]:
    """The last place of a way to the goal; None where none was found, and how many states were looked at."""
    order = itertools.count()
    seen: set[Mark] = set()
    near: list[tuple[int, int, int, _Place]] = []
    fresh: list[tuple[int, int, int, _Place]] = []
    known: set[object] = set()

    def add(place: _Place, mark: Mark) -> None:
        seen.add(mark)
        distance = _distance(search, place.state)
        if distance < NO_WAY:
            number = next(order)
            heapq.heappush(near, (distance, place.state.turn, number, place))
            heapq.heappush(fresh, (_novelty(search, mark, distance, known), distance, number, place))

    for scene in sources:
        mark = _mark(search, scene.state)
        if mark not in seen and not scene.is_ended:
            add(_Place(scene.state, scene), mark)
    done: set[int] = set()
    while near and fresh and len(seen) < limit:
        _, _, number, place = heapq.heappop(near if len(done) % 2 else fresh)
        if number in done:
            continue
        done.add(number)
        here, before = _mark(search, place.state), advance(place.state, "player", ())
        is_answered = any(is_ready(rival, before) for rival in search.rivals)
        for storylet, rolled, behind, after in _turns(search, place.state):
            if (here, storylet.id, rolled) in closed or (is_answered and storylet.id == search.goal.storylet):
                continue
            mark = _mark(search, after)
            there = _Place(after, None, place, Step(storylet, rolled, behind, mark))
            if _is_met(search, storylet, rolled, behind, after):
                return there, len(seen)
            if mark not in seen and not is_ended(after):
                add(there, mark)
    return None, len(seen)


def _novelty(search: _Search, mark: Mark, distance: int, known: set[object]) -> int:
    """How much of a state is new at this distance: 0 where a value is, 1 where two values together are, else 2.

    Where nothing comes nearer for a while, a search that follows what is new gets on; time that passes is no news.
    """
    atoms = [(at, value) for at, value in enumerate(mark) if at not in search.clocks]
    singles: set[object] = {(distance, atom) for atom in atoms}
    pairs: set[object] = {(distance, pair) for pair in itertools.combinations(atoms, 2)}
    rank = 0 if singles - known else 1 if pairs - known else 2
    known |= singles
    known |= pairs
    return rank


def _is_met(search: _Search, storylet: Storylet, rolled: str, behind: Storylet | None, after: State) -> bool:
    goal = search.goal
    if goal.ending:
        return bool(after.values.get(ENDING) == goal.ending)
    if behind is not None and behind.id == goal.storylet:
        return True
    is_told = storylet.id == goal.storylet
    return is_told and told_as(search.definition, storylet, rolled) is storylet.outcomes[goal.outcome]


def _turns(search: _Search, state: State) -> Iterator[tuple[Storylet, str, Storylet | None, State]]:
    """What a turn can come to: who answers, what was rolled, what comes behind, the state after it."""
    before = advance(state, "player", ())
    ready = [storylet for storylet in search.storylets if storylet.on != "after" and is_ready(storylet, before)]
    first = [storylet for storylet in ready if storylet.on == "any"]
    for storylet in first or [*ready, *_PASSING]:
        for rolled in _rolls(search, before, storylet):
            for behind, after in _afters(search, before, storylet, rolled):
                yield storylet, rolled, behind, after


def _rolls(search: _Search, before: State, storylet: Storylet) -> Iterable[str]:
    rules = search.definition.rules
    if storylet.check is None or rules is None:
        return ("",)
    backing = rules.skills[storylet.check.skill].field
    return possible_rolls(search.definition, storylet, before.values.get(backing) if backing else 0)


def _afters(search: _Search, before: State, storylet: Storylet, rolled: str) -> Iterator[tuple[Storylet | None, State]]:
    """The states after a turn, as ``rehearse`` has them: one for each storylet that could come behind the answer."""
    definition = search.definition
    effects, fired = _told(definition, storylet, rolled)
    left = _left(definition, before, rolled, [*effects, *fired])
    due = [] if is_ended(left) else [each for each in search.storylets if each.on == "after" and is_ready(each, left)]
    if not due:
        yield None, left
    for behind in due:
        more, told = _told(definition, behind, "")
        yield behind, _left(definition, before, rolled, [*effects, *more, *told, *fired])


def _told(definition: Definition, storylet: Storylet, rolled: str) -> tuple[list[Proposal], list[Proposal]]:
    """What a storylet changes, and that it was told."""
    outcome = told_as(definition, storylet, rolled)
    ends = [Proposal("set", ENDING, outcome.ending)] if outcome.ending else []
    fired = Proposal("append", FIRED, {"id": storylet.id, "wording": key(outcome.on, 0, ())})
    return [*outcome.effects, *ends], [fired]


def _left(definition: Definition, before: State, rolled: str, told: list[Proposal]) -> State:
    clocks = clock_proposals(definition, before, [rolled] if rolled else [], told)
    ticks = judge(definition, before, clocks, source="check")
    more = judge(definition, advance(before, "narrator", ticks.events), told, source="storylet")
    return advance(before, "narrator", (*ticks.events, *more.events))


def _play(
    search: _Search,
    way: _Place,
    sought: Sought,
    closed: Closed,
    means: Means,
) -> bool:
    """Play a way with words. Where that does not come to what was sought, the step is closed."""
    steps: list[Step] = []
    place = way
    while place.before is not None:
        assert place.step is not None
        steps.append(place.step)
        place = place.before
    assert place.scene is not None
    scene = place.scene
    for step in reversed(steps):
        turn = _played(search, scene, step, sought, means)
        if turn is None:
            closed.add((_mark(search, scene.state), step.storylet.id, step.rolled))
            return False
        sought.turns.append(turn)
        scene = turn.scene
    return True


_PASSING = (neutral.PASSING, neutral.hint(()))
"""Answers that change nothing: one while time passes, and one that is free."""
_TRIES = 60
"""Throws of the dice for one step."""
_EQUALS = 3
"""How often the same words are tried where others answer them: among equals chance decides."""


def _played(search: _Search, scene: Scene, step: Step, sought: Sought, means: Means) -> Turn | None:
    """One turn with words and dice that come to this step; None where none of those tried do."""
    storylet = step.storylet
    texts: Iterable[str] = means.typed(storylet) if storylet.on == "input" else ("", "hm")
    mode = storylet.modes[0] if storylet.modes and "do" not in storylet.modes else "do"
    # Without keys all that are ready are equals, and chance has more of them to choose from.
    equals = _EQUALS if storylet.on == "input" else _TRIES
    for text in texts:
        missed = 0
        for tried in range(_TRIES):
            turn = rehearse(search.definition, Scene(scene.state, means.chain()), text, seed=means.seed, mode=mode)
            is_told = storylet in _PASSING or turn.storylet is storylet
            if is_told and _mark(search, turn.scene.state) == step.mark and _is_same(search, turn, step):
                return turn
            if not is_told:
                missed += 1
                if storylet.id == search.goal.storylet:
                    sought.instead[turn.storylet.id] += 1
            if missed == equals or (tried >= equals and not step.rolled):
                break
    return None


def _is_same(search: _Search, turn: Turn, step: Step) -> bool:
    """Whether the same was told as the step has it, whatever was rolled."""
    if step.behind is not None and step.behind not in turn.behind:
        return False
    if step.storylet in _PASSING:
        return True
    told = told_as(search.definition, step.storylet, turn.outcome)
    return told is told_as(search.definition, step.storylet, step.rolled)
