"""An input of several deeds → its clauses, in the order typed (T18).

“Go to the toll-house and read the ledger” has two. A clause begins where a new deed does, or a question: behind a full
stop, a semicolon, a colon or “then”, and behind an “and” or a comma where a verb follows. What is only a list (“the
chart and the board”), an address (“Tench, …”), a condition (“if I go, …”) or what somebody is to be told (“tell him to
stop and …”) stays whole.

English alone. Nothing here knows a campaign: whether a clause is answered is asked later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from narrator.core.manner import ASKING, Heard, is_asked
from narrator.core.stems import words

MOST = 3
"""Clauses of an input that are answered in one turn."""

_VERBS = frozenset(
    words(
        "go goes walk run head move step travel hurry follow proceed wander enter leave exit depart return climb "
        "cross wade swim jump descend ascend crawl sneak escape flee "
        "look examine inspect search find read listen wait sit stand lie sleep kneel "
        "take get grab fetch steal drop put place set give pass throw hang bring carry lift pull push press turn open "
        "shut lock unlock break smash cut burn extinguish fill pour eat drink taste smell touch feel "
        "ask tell talk speak say shout yell sing whisper answer thank greet apologise apologize "
        "insist demand promise confess accept refuse agree "
        "write sign draw count try use wear remove tie untie fix repair mend clean wipe dig hide knock "
        "sell pay buy show wave point attack hit kick shoot kill throw squeeze switch start stop begin "
        "check consult investigate pick make wake warn help save join meet see visit buy hug kiss smile nod laugh cry "
        "think remember consider pray dance come call ring light watch rest study"
    )
)
"""What a new deed begins with."""

_NOUNS_TOO = frozenset(
    words(
        "head step run walk turn light watch rest ring call place set cut burn drink smell touch feel answer count "
        "show point start stop wave look press lock lift pass hit kick smile laugh cry kiss hug dance study fix taste "
        "promise demand check try use help move return exit fill draw hang knock wear place pay pull push break "
        "drop put cross escape travel climb jump switch visit view sign hide sleep find think talk whisper shout wake"
    )
)
"""Nouns as well: they are verbs where more follows that a noun would not have behind it."""

_WAYS = frozenset(words("go walk run head move step travel hurry return leave exit enter climb come cross wade"))
_NEVER_ENDS = frozenset(words("head step run turn light watch ring place set cut touch feel point pass show use fix"))
"""Those of them that are no deed where nothing follows."""

_BEHIND_A_VERB = frozenset(
    words(
        "the a an my your his her its our their this that these those it them him me us you all some any every "
        "at to in into on onto up down out off over back around about through for with away towards along after "
        "behind under across inside outside ashore aboard aside forward north south east west"
    )
)
_PREPOSITIONS = frozenset(
    words("at to in into on onto up down over through for with towards along behind under across inside outside")
)
_OPENING = frozenset(
    words(
        "and then so now just also first next finally afterwards quickly slowly carefully quietly again please "
        "i we i'll i'd we'll i'm will going to want would like let me us try and myself immediately at once better "
        "have must should can could lets let's"
    )
)
_COURTESY = frozenset(
    words("please yes no ok okay well oh so now sorry right good morning evening hello hi wait actually")
)
_CONDITIONS = frozenset(
    words("if when whenever while until till unless before after because since though although as whether once without")
)
_TO_SPEAK = frozenset(
    words(
        "say tell ask shout yell call answer reply whisper write report wire type send sign show "
        "confront insist demand flash signal promise speak warn"
    )
)
_NO_DEED_ALONE = frozenset(words("go come try run hurry stop sit wait"))
"""“Go and look” is one deed."""

_SEPARATOR = re.compile(
    r"\s*(?:[,.;!?…:—–]+\s*|\s-\s)?\b(?:(?:and|but)\s+)?(?:then|after\s+that|afterwards)\b(?:\s*[,:])?\s*"
    r"|\s*,?\s*\band\b\s*|\s*[.;!?…\n]+\s*|\s*[,:—–]+\s*|\s+-\s+",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[“\"][^”\"]*[”\"]?")
_THEN = re.compile(r"then|after|afterwards", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of an input. ``first`` to ``end`` are its words among all; ``text`` has the verb that it leaves out, and
    ``lent`` the places of that one.

    ``before`` is the clause in front of it, which an “it” may go back to. ``is_deed``: it begins with a verb;
    ``is_question``: it asks.
    """

    text: str
    first: int
    end: int
    before: str = ""
    lent: frozenset[int] = frozenset()
    is_deed: bool = False
    is_question: bool = False

    @property
    def is_way(self) -> bool:
        """Whether it says that the player goes somewhere."""
        return _leading(self.text).partition(" ")[0] in _WAYS


def clauses(text: str, heard: Heard) -> tuple[Clause, ...]:
    """The clauses of an input, at most ``MOST``; itself where it is one."""
    parts = list(_parts(text, heard))[:MOST]
    found: list[Clause] = []
    for part, at, leaves_out in parts:
        verb = words(_leading(found[-1].text)) if leaves_out and found else []
        lent = frozenset(range(_verb_at(found[-1]), _verb_at(found[-1]) + len(verb))) if verb else frozenset[int]()
        has_own = not _PREPOSITIONS.isdisjoint(words(part)[:1])
        whole = " ".join((*(verb[:1] if has_own else verb), part))
        said = words(whole)
        before = found[-1].text if found else ""
        found.append(Clause(whole, at, at + len(words(part)), before, lent, _begins(said), is_asked(whole)))
    return tuple(found)


def _parts(text: str, heard: Heard) -> Iterator[tuple[str, int, bool]]:
    """The text of each part, the number of words before it, and whether it takes its verb from the one before."""
    start, leaves_out = 0, False
    quoted = [found.span() for found in _QUOTED.finditer(text)]
    marks = [found for found in _SEPARATOR.finditer(text) if not any(a < found.start() < b for a, b in quoted)]
    for number, mark in enumerate(marks):
        stop = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        left, right = text[start : mark.start()], text[mark.end() : stop]
        at = len(words(text[: mark.end()]))
        kind = _kind(mark[0])
        if not _is_held(heard, at) and _is_new(left, kind, right, _is_marked(text, mark.end())):
            # The sign behind a question belongs to it.
            sign = mark[0].strip()[:1]
            yield left + (sign if sign in {"?", "!"} else ""), len(words(text[:start])), leaves_out
            asks = is_asked(right + ("?" if _is_marked(text, mark.end()) else ""))
            start, leaves_out = mark.end(), not _begins(words(right)) and not asks
    yield text[start:], len(words(text[:start])), leaves_out


def _is_marked(text: str, at: int) -> bool:
    """Whether the sentence that goes on here ends with a question mark."""
    end = re.search(r"[.!?…;\n]", text[at:])
    return end is not None and end[0] == "?"


def _is_held(heard: Heard, at: int) -> bool:
    """Whether what is left undone or only weighed reaches over this place."""
    pairs = (*heard.left, *heard.unsettled)
    held = [cause | what for cause, what in pairs if cause | what]
    return any(min(places) < at <= max(places) for places in held)


def _kind(mark: str) -> str:
    if _THEN.search(mark):
        return "then"
    sign = mark.strip()
    if sign[-3:].casefold() == "and":
        return "and"
    return "," if sign == "," else ":" if sign[:1] in {":", "—", "–", "-"} else "."


def _is_new(left: str, kind: str, right: str, is_marked: bool) -> bool:
    """Whether a new deed, or a question, begins with ``right``."""
    before, behind = words(left), words(right)
    if not behind or not _is_whole(left, before, kind):
        return False
    asks = is_asked(right + ("?" if is_marked else ""))
    if kind == ".":
        return asks or _begins(behind)
    if before[0] in ASKING or (before[0] in _TO_SPEAK and kind in {",", ":"}):
        return False
    if kind == ":":
        return asks and _begins(before)
    if kind == "then":
        return asks or _begins(behind) or behind[0] in _PREPOSITIONS | {"the", "my", "a"}
    if before[0] in _TO_SPEAK and "to" in before[1:]:
        return False
    if kind == "and" and behind[0] == "say":  # along with what is done
        return False
    if kind == "and" and behind[0] in _PREPOSITIONS and behind[0] in before[1:2] and len(behind) > 1:
        return True
    return _begins(behind)


def _is_whole(left: str, before: Sequence[str], kind: str) -> bool:
    """Whether what stands before is a deed or a question by itself, and not the beginning of one."""
    if not before or _COURTESY.issuperset(before) or not _CONDITIONS.isdisjoint(before[:1]):
        return False
    if kind == "and" and len(before) == 1 and before[0] in _NO_DEED_ALONE:
        return False
    if kind == "then" and before[-1] == "now":
        return False
    return len(before) > 2 or _begins(before) or (len(before) == 2 and before[0] in _VERBS) or is_asked(left + "?")


def _begins(said: Sequence[str]) -> bool:
    """Whether a deed begins with these words."""
    at = next((at for at, word in enumerate(said) if word not in _OPENING), len(said))
    if at == len(said) or said[at] not in _VERBS:
        return False
    verb, more = said[at], said[at + 1 :]
    if verb not in _NOUNS_TOO:
        return True
    if not more:
        return verb not in _NEVER_ENDS
    return more[0] in _BEHIND_A_VERB or more[0][-2:] == "ly" or (at > 0 and said[at - 1] in {"i", "we"})


def _verb_at(clause: Clause) -> int:
    """The place of the verb that a clause begins with."""
    said = words(clause.text)
    own = next((at for at, word in enumerate(said) if word not in _OPENING), 0)
    return min(clause.lent) if clause.lent else clause.first + own


def _leading(text: str) -> str:
    """The verb that a clause begins with, and its preposition: “look at”."""
    said = words(text)
    at = next((at for at, word in enumerate(said) if word not in _OPENING), len(said))
    more = said[at + 1 : at + 2]
    return " ".join((*said[at : at + 1], *(more if more and more[0] in _PREPOSITIONS else ())))
