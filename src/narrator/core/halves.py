"""An input of several deeds is answered clause by clause, each in the state that the one before leaves (T18).

One storylet whose key takes words of two clauses answers both. Where the best one rests on a clause alone, the others
are answered as well, by keys of their own: never by a hint or an aside, and not by a key that found no more in them
than a “go” or a “look”.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from narrator.core.clauses import Clause, clauses
from narrator.core.definition import Definition, Storylet
from narrator.core.fitting import HEARD, best, ends, fits, goes, hear_input, is_ready, leads_to, of_kind, only_goes
from narrator.core.manner import ASKING, BREAK, Heard
from narrator.core.state import State
from narrator.core.stems import stems, words

_BARE = frozenset(
    words(
        "go walk run head move look examine see inspect check study read open close shut take get grab use find search "
        "push pull turn touch try pick bring give put ask talk tell say speak call show"
    )
)
"""Verbs that say too little by themselves: a key that finds no more than these has not understood a clause."""
_FILLERS = frozenset(
    words(
        "a an the some any this that these those of to at in into on onto for with from by and then so now just also "
        "i we me my myself i'll i'd i'm let let's us please back over up down out off again about around along is are "
        "was were be do does did have has had can could will would shall should may might must want like going if as"
    )
)
_LOOKS = frozenset(
    words("look examine see inspect check study read watch search find ask talk tell speak consult call")
)
_LINKS = frozenset(stems("a an the of to about with that as for", "en"))
"""Words that join others: a key that takes them of a clause, and nothing else, has not answered the clause."""
_ARTICLES = frozenset(words("a an the some any this that these those my"))
_BACK_TO = frozenset(words("it them him her"))
_PERSONS = frozenset(words("you he she they"))


@dataclass(frozen=True, slots=True)
class Rest:
    """What is still to be answered of an input, and how that was typed.

    ``is_denied``: it begins with a “no”, and nothing of it may end the story.
    """

    clauses: tuple[Clause, ...] = ()
    mode: str | None = None
    is_denied: bool = False


NO_REST = Rest()


def parted(
    definition: Definition, state: State, text: str, mode: str | None, heard: Heard, found: list[Storylet]
) -> tuple[list[Storylet], Rest]:
    """Who answers first, of equals, and what is left for others. ``found`` understood the whole input best."""
    parts = clauses(text[:HEARD], heard) if found and mode != "say" and definition.language.startswith("en") else ()
    if len(parts) < 2:
        return found, NO_REST
    places = {storylet.id: _rests_on(definition, storylet, heard, parts) for storylet in found}
    whole = [storylet for storylet in found if places[storylet.id] is None]
    rest = Rest(parts, mode, bool(heard.denying))
    if whole:
        ways = answers(definition, state, parts[0], rest) if all(only_goes(each) for each in whole) else []
        if ways and parts[0].is_way and not parts[1].is_way and not _leads_on(ways, whole, parts[1]):
            return ways, replace(rest, clauses=parts[1:])
        return whole, NO_REST
    at = min(place for place in places.values() if place is not None)
    mine = [storylet for storylet in found if places[storylet.id] == at]
    for number, clause in enumerate(parts[:at]):
        before = answers(definition, state, clause, rest) if _is_errand(clause, parts[at]) else []
        is_gone = bool(before) and all(goes(each) for each in before)
        is_final = any(ends(each) for each in before)
        is_meant = clause.is_way and _is_bare(clause) if is_final else clause.is_way == is_gone
        if before and is_meant and not (is_gone and _leads_on(before, mine, parts[at])):
            return before, replace(rest, clauses=parts[number + 1 :])
    return mine, replace(rest, clauses=parts[at + 1 :])


def _leads_on(before: Sequence[Storylet], mine: Sequence[Storylet], main: Clause) -> bool:
    """Whether what answers best goes somewhere by itself: not what is to be done where the way in front leads to."""
    places = {place for each in before for place in leads_to(each)}
    return all(goes(each) and (main.is_way or not leads_to(each) <= places) for each in mine)


def _is_errand(clause: Clause, main: Clause) -> bool:
    """Whether a clause in front of the best understood one wants an answer: a deed, or a question before a deed."""
    return clause.is_deed or (clause.is_question and main.is_deed)


def _is_bare(clause: Clause) -> bool:
    """Whether it is a verb alone, such as “I leave”."""
    return sum(word not in _FILLERS for word in words(clause.text)) == 1


def answers(definition: Definition, state: State, clause: Clause, rest: Rest) -> list[Storylet]:
    """Those that understand a clause best by keys of their own, equals all."""
    heard = hear_input(definition, state, clause.text, rest.mode)
    said = words(clause.text)[: heard.count]
    needed, borrowed = _telling(said, clause), frozenset[int]()
    if not clause.is_question and not _BACK_TO.isdisjoint(said):
        more = [word for word in words(clause.before)[1:] if word not in _FILLERS | _BARE]
        meant = (BREAK, *stems(" ".join(more), definition.language))
        borrowed = frozenset(range(len(heard.stems) + 1, len(heard.stems) + len(meant)))
        heard = replace(heard, stems=heard.stems + meant)
    typed = frozenset(range(heard.count))

    def limit(covered: frozenset[int]) -> bool:
        return bool(covered & typed) and all(covered & (each | borrowed) for each in needed)

    is_leaving = clause.is_way and _is_bare(clause)  # “and leave” is not to be asked where to
    ready = (each for each in of_kind(definition.storylets, "input") if is_ready(each, state))
    apt = (each for each in ready if not (is_leaving and not goes(each) and not ends(each)))
    return best(definition, [each for each in apt if not (rest.is_denied and ends(each))], heard, rest.mode, limit)


def told_behind(
    definition: Definition, state: State, text: str, mode: str | None, candidates: Iterable[Storylet]
) -> tuple[Storylet, ...]:
    """Which of these may have answered a later clause of an input, when it was first told."""
    heard = hear_input(definition, state, text, mode)
    if mode == "say" or len(clauses(text[:HEARD], heard)) < 2:
        return ()
    return tuple(each for each in candidates if each.on == "input")


def _telling(said: Sequence[str], clause: Clause) -> tuple[frozenset[int], ...]:
    """The words of a clause that a key has to take, one of each set: what is more than a verb that anything could
    follow, and the verb where something is to be done and not only looked at or talked of."""
    whole = frozenset(range(len(said)))
    plain = [at for at, word in enumerate(said) if word not in _FILLERS and word not in _BACK_TO | _PERSONS]
    if clause.is_question:
        return (frozenset(at for at in plain if said[at] not in ASKING) or whole,)
    named = frozenset(at for at in plain if said[at] not in _BARE and not said[at].endswith("ly"))
    verb = next(iter(plain), 0)
    more = said[verb + 1 : verb + 2]
    if verb in named and (not more or more[0] in _FILLERS - _ARTICLES or more[0][-2:] == "ly"):
        return (named,)  # “shout for help” is a shout
    if named - {verb}:
        is_done = clause.is_deed and said[verb] not in _LOOKS and not clause.is_way
        return (named - {verb}, *([frozenset({verb})] if is_done else []))
    persons = frozenset(at for at, word in enumerate(said) if word in _BACK_TO)
    ways = frozenset(at for at in range(max(len(said) - 1, 1), len(said)) if said[at] not in _BARE)  # “go back”
    return (named or persons or ways or whole,)


def _rests_on(definition: Definition, storylet: Storylet, heard: Heard, parts: Sequence[Clause]) -> int | None:
    """The one clause whose words are enough for all that this storylet found; None where it took words of several."""
    most = max((fit.groups, fit.words) for fit in fits(definition, storylet, heard))
    meant = frozenset(range(heard.count, len(heard.stems)))
    links = frozenset(at for at in range(heard.count) if heard.stems[at] in _LINKS)
    for at, part in enumerate(parts):
        own = frozenset(range(part.first, part.end))
        within = own | part.lent | links | (meant if own & heard.asked else frozenset())
        found = fits(definition, storylet, heard, lambda covered, within=within: covered <= within)  # type: ignore[misc]
        if any((fit.groups, fit.words) == most for fit in found):
            return at
    return None
