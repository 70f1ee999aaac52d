"""How an input was said: what in it asks, and what in it is said not to be done (T18).

A key looks for words. “Is it safe to cross?” has the words of crossing, and “don't open it” those of opening; who typed
them did neither. So a key that takes words of a question has to take a word that asks as well, and one that takes words
of what is left undone has to take the “don't”. A question is asked of somebody: it counts as though ``ask`` stood in
it, and where one other person is there and is spoken to, their name. “Could you …?” and “shall I …?” ask for leave or
for a favour and are no questions.

English alone; an input in another language is taken as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from narrator.core.stems import Stems, stems, words


def _folded(text: str) -> frozenset[str]:
    """Words in the form that an input's are compared in: without apostrophes."""
    return frozenset(words(text))


_WH = _folded("who whose whom what why how where which when")
_TO_BE = _folded("is are was were am isn't aren't wasn't weren't")
_TO_DO = _folded("do does did have has had don't doesn't didn't haven't hasn't hadn't")
_MODALS = _folded("can could may might shall should will would won't can't couldn't wouldn't")
ASKING = _WH | _TO_BE | _MODALS | _folded("do does did have has had")
"""What a question begins with."""
_FORETOLD = _folded("will won't would")
_STILL = _folded("still ever yet")
_LEAVE = _folded("ok okay alright allowed possible right please")
_PERSONS = _folded("you he she we they anyone anybody anything someone")
_SUBJECTS = _PERSONS | _folded("i it the a an any there this that these those my your his her its our their")
_OFFERS = {("what", "if"), ("what", "about"), ("how", "about"), ("why", "not")}
_NOT_SO = _folded("don't can't")
_NEVER_BIDS = _folded("did does has had didn't doesn't hasn't hadn't haven't")
_TO_ASK = _folded("ask question tell talk say speak answer shout call")
_TO_ORDER = _folded("tell ask order bid beg command urge persuade convince send")
_NO_ONE_ELSE = _folded("to me myself i")
_SPOKEN_TO = _folded("you your yours yourself")

_NEGATIONS = tuple(
    tuple(words(each))
    for each in (
        *("don't", "do not", "never", "won't", "will not", "not going to", "not to", "refuse to", "without"),
        *("instead of", "rather than", "would rather not", "i'd rather not", "rather not", "better not"),
        *("isn't", "is not"),
        *("don't want to", "do not want to", "don't wish to", "don't dare", "dare not", "daren't"),
        *("wouldn't want to", "don't like to", "don't intend to"),
        *("not sure i", "not sure i want to", "not sure if i", "not sure whether i", "not sure whether to"),
        *("afraid to", "scared to", "frightened to", "hesitate to", "reluctant to"),
        *("before i", "before we"),
    )
)
_ANYWHERE = {tuple(words(each)) for each in ("without", "not going to", "isn't")}
_DECLINING = {each for each in _NEGATIONS if each[-2:] in {("rather", "not"), ("better", "not")}}
"""What follows these is not done, even where it is no deed: “I'd rather not have any”."""
_NO = _folded("no nope not don't never neither")
_NOT = _folded(
    "don't wouldn't not never won't refuse without instead rather isn't daren't before "
    "afraid scared frightened hesitate reluctant"
)
_OH = _folded("so and but then well ok okay now please sorry actually oh hm hmm um er ah wait")
_UNSETTLED = _folded("maybe perhaps whether if unless until till nearly almost might can't cannot wonder")
_HANDED = _folded("pass give hand lend bring fetch throw show spare")
_TO_ME = _folded("me us")
_STATES = _folded(
    "know think believe understand want like care trust see have need mean feel remember love hate mind be owe get"
)
_SURE = _folded("sure certain ok okay")
_OPENING = _folded("so and but then well ok okay now please excuse me sorry no just i i'm i'd am we")
_BEFORE = _folded("i we to and just am i'm")

_COURTESY = frozenset(stems("please thanks"))
"""What is said along with anything, and says nothing by itself."""

_SENTENCE = re.compile(r"[^.!?…;\n]+[.!?…;]*")
_CLAUSE = re.compile(r"([,:;.!?…—–\n]|\bbut\b|\band\s+then\b|\bthen\b)", re.IGNORECASE)
_TURN = re.compile(r"[:—–]|,?\s*\b(?:and\s+)?then\b[,:]?", re.IGNORECASE)

BREAK = "."
"""Stands between what was typed and what counts as typed; no word is spelt so."""


Pair = tuple[frozenset[int], frozenset[int]]
Pairs = tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Heard:
    """An input as keys meet it. Numbers are places in ``stems``, of which the first ``count`` were typed.

    ``asked`` are the places of words in a question, ``asking`` those of words that ask, ``favours`` those of words that
    somebody else is asked to do something with (“will you cross?”), ``denying`` that of a “no” or “don't” at the
    beginning. ``left`` has a pair for each thing left undone: the places of the words that say so, and of those that
    say what. ``unsettled`` has the same for what is only weighed (“perhaps I light it”, “if I light it”) or asked for
    (“pass me a light”). ``ordered`` has it for what somebody else is told to do (“tell Tench to light it”).
    """

    stems: Stems
    count: int
    asked: frozenset[int] = frozenset()
    asking: frozenset[int] = frozenset()
    favours: frozenset[int] = frozenset()
    denying: frozenset[int] = frozenset()
    left: Pairs = ()
    unsettled: Pairs = ()
    ordered: Pairs = ()

    @property
    def is_left_undone(self) -> bool:
        """Whether nothing but what is not to be done was said."""
        said = {at for at in range(self.count) if self.stems[at] not in _COURTESY}
        return bool(self.left) and said <= {at for cause, what in self.left for at in cause | what}

    def admits(self, covered: frozenset[int], *, is_deed: bool = False, is_final: bool = False) -> bool:
        """Whether a key may take these words together. ``is_deed``: it can only be done, and by the player.

        ``is_final``: it ends the story, which nothing does that begins with a “no” or is only weighed, unless the key
        takes the “no” or the “perhaps”.
        """
        if (is_deed and covered & self.favours) or (is_final and self.denying and not covered & self.denying):
            return False
        if is_final and not _are_free(covered, self.unsettled):
            return False
        if covered & self.asked and (is_deed or not covered & self.asking):
            return False
        return _are_free(covered, self.left) and _are_free(covered, self.ordered)


def _are_free(covered: frozenset[int], held: Pairs) -> bool:
    """Whether none of these words is held back, but by a word among them."""
    return all(not covered & what or covered & cause for cause, what in held)


def hear(text: str, language: str, *, company: str = "", is_said: bool = False) -> Heard:
    """An input in its manner. ``company``: the words for the one other person there, '' with nobody or several.

    ``is_said``: it was spoken aloud, which is talk, and to the company where there is one.
    """
    typed = stems(text, language)
    more = stems(f"say {company}", language) if is_said else ()
    if not language.startswith("en"):
        return Heard(typed + more, len(typed))
    asked: set[int] = set()
    asking: set[int] = set()
    favours: set[int] = set()
    left: list[Pair] = []
    unsettled: list[Pair] = []
    ordered: list[Pair] = []
    is_spoken_to = False
    for first, sentence in _sentences(text):
        said = words(sentence)
        left += _doubted(said, first)
        if _is_question(said, sentence):
            asked.update(range(first, first + len(said)))
            asking.update(first + at for at in _asking(said, sentence))
            is_spoken_to = is_spoken_to or not _SPOKEN_TO.isdisjoint(said)
            continue
        ordered += _orders(said, first)
        if said and said[0] not in _TO_ASK:
            left += _left_undone(sentence, first)
            unsettled += _unsettled(sentence, first)
            if _is_favour(_after_address(said, sentence)):
                favours.update(range(first, first + len(said)))
    if asked and not is_said:
        more = (BREAK, *stems(f"ask {company}" if is_spoken_to else "ask", language))
    if asked:
        asking.update(at for at in range(len(typed), len(typed) + len(more)) if (typed + more)[at] in {"ask", "say"})
    return Heard(
        typed + more,
        len(typed),
        frozenset(asked),
        frozenset(asking),
        frozenset(favours),
        _denying(words(text)),
        tuple(left),
        tuple(unsettled),
        tuple(ordered),
    )


def _denying(said: Sequence[str]) -> frozenset[int]:
    """Where the “no” is that an input begins with, “well” and “actually” aside."""
    at = next((at for at, word in enumerate(said) if word not in _OH), len(said))
    return frozenset({at} if tuple(said[at : at + 1]) and said[at] in _NO else ())


def is_asked(text: str) -> bool:
    """Whether there is a question in this text."""
    return any(_is_question(words(sentence), sentence) for _, sentence in _sentences(text))


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences, each with the number of words before it. A question behind a deed is one by itself."""
    first = 0
    for found in _SENTENCE.finditer(text):
        for part in _turned(found[0]):
            yield first, part
            first += len(words(part))


def _turned(sentence: str) -> tuple[str, ...]:
    """“Go back: are you there?” in two: what is done, and behind a colon, a dash or “then” what is asked."""
    for mark in _TURN.finditer(sentence):
        before, behind = words(sentence[: mark.start()]), words(sentence[mark.end() :])
        is_deed = len(before) > 1 and before[0] not in ASKING | _TO_ASK | _OPENING
        if is_deed and behind[:1] and behind[0] in ASKING and _is_question(behind, sentence[mark.end() :]):
            return sentence[: mark.end()], sentence[mark.end() :]
    return (sentence,)


def _is_question(said: Sequence[str], sentence: str) -> bool:
    """Whether a sentence asks for an answer, and neither for leave nor for a favour."""
    start = _after_address(said, sentence)
    if not start or tuple(start[:2]) in _OFFERS or start[-1] == "please" or tuple(start[-2:-1]) == ("will",):
        return False
    verb, subject = start[0], start[1] if len(start) > 1 else ""
    if verb == "if" or (verb == "should" and subject in {"i", "we"}):
        return "?" in sentence
    if verb == "why" and subject in _NOT_SO and tuple(start[2:3]) in {("i",), ("we",)}:
        return False
    has_mark = "?" in sentence
    if verb == "when":
        return has_mark or subject in _TO_BE | _TO_DO | _MODALS
    if verb in _WH:
        return True
    if verb in _MODALS:
        return (_is_favour(start) and "if" in start) or (has_mark and _is_foretold(start))
    if verb in _TO_BE:
        return has_mark or subject in _SUBJECTS
    if verb in _TO_DO:
        return subject in _SUBJECTS or verb in _NEVER_BIDS if has_mark else subject in _PERSONS
    return has_mark and not {*_WH, *_TO_BE, *_SPOKEN_TO}.isdisjoint(start) and _MODALS.isdisjoint(start)


def _is_foretold(start: Sequence[str]) -> bool:
    """“Will he come?”, “can I still go?”: no leave is asked for, and no favour."""
    verb, subject = start[0], start[1] if len(start) > 1 else ""
    if len(start) < 3 or not _LEAVE.isdisjoint(start) or verb in {"shall", "should"}:
        return False
    if subject in {"i", "we"}:
        return verb in _FORETOLD or not _STILL.isdisjoint(start)
    if subject == "you":
        return not _STILL.isdisjoint(start) and verb in {"can", "could"}
    return subject not in {"anybody", "anyone", "someone", "somebody", "not"}


def _is_favour(start: Sequence[str]) -> bool:
    """Whether somebody else is asked to do something, and not for the player: with a “me” in it, it is the player's."""
    return len(start) > 1 and start[0] in _MODALS and start[1] == "you" and {"me", "us", "my"}.isdisjoint(start)


def _after_address(said: Sequence[str], sentence: str) -> Sequence[str]:
    """The words behind “Tench,” or “so, then,”: a question may begin with whom it is for."""
    head, comma, rest = sentence.partition(",")
    if comma and len(words(head)) <= 2 and words(rest):
        return words(rest)
    at = next((at for at, word in enumerate(said) if word not in _OPENING - _SUBJECTS), len(said))
    return said[at:]


def _asking(said: Sequence[str], sentence: str) -> Iterator[int]:
    """Where in a question the words are that ask: a “who”, the verb before its subject, a word for asking."""
    start = len(said) - len(_after_address(said, sentence))
    for at, word in enumerate(said):
        is_before_subject = at == start or not _SUBJECTS.isdisjoint(said[at + 1 : at + 2])
        is_turned = word in _TO_BE | _TO_DO and is_before_subject
        if word in _WH or word in _TO_ASK or is_turned or (at == start and word in _MODALS):
            yield at


def _clauses(sentence: str, first: int) -> Iterator[tuple[int, list[str]]]:
    """The words of each clause and of what stands between them (a “but” is a word), with the place of the first."""
    at = first
    for part in _CLAUSE.split(sentence):
        said = words(part)
        yield at, said
        at += len(said)


def _left_undone(sentence: str, first: int) -> Iterator[Pair]:
    """What a sentence says will not be done, or not yet, clause by clause; ``first``: the place of its first word."""
    for at, said in _clauses(sentence, first):
        start, end = next(_negations(said), (0, 0))
        if end:
            says = max(place for place in range(start, end) if said[place] in _NOT)
            stop = len(said)
            if said[says] == "before":  # “before I go I look”: the looking is done
                stop = next((place for place in range(end, stop) if said[place] in {"i", "we"}), stop)
            whole = range(at if _OPENING.issuperset(said[:start]) else at + start, at + stop)
            yield frozenset({at + says}), frozenset(whole) - {at + says}


def _doubted(said: Sequence[str], first: int) -> Iterator[Pair]:
    """The “sure” of a “not sure”, which is no yes."""
    for at, (word, following) in enumerate(pairwise(said)):
        if word == "not" and following in _SURE:
            yield frozenset({first + at}), frozenset({first + at + 1})


def _orders(said: Sequence[str], first: int) -> Iterator[Pair]:
    """What somebody else is told to do and not for the player, behind who is told: “tell the carters to light it”."""
    verb = next((at for at, word in enumerate(said) if word not in _OPENING), len(said))
    if verb + 2 >= len(said) or said[verb] not in _TO_ORDER or said[verb + 1] in _NO_ONE_ELSE:
        return
    to = next((at for at in range(verb + 2, min(verb + 6, len(said) - 1)) if said[at] == "to"), 0)
    if to and said[to + 1] not in _SUBJECTS and _TO_ME.isdisjoint(said[to:]):
        yield frozenset(range(first + verb, first + to)), frozenset(range(first + to + 1, first + len(said)))


def _unsettled(sentence: str, first: int) -> Iterator[Pair]:
    """What a sentence only weighs, or asks somebody for, clause by clause."""
    for at, said in _clauses(sentence, first):
        for place, word in enumerate(said):
            is_request = word in _HANDED and not _TO_ME.isdisjoint(said[place + 1 : place + 2])
            is_thought = word == "think" and tuple(said[place + 1 : place + 2]) in {("about",), ("of",)}
            is_there = word == "there" and place == 0 and not _TO_BE.isdisjoint(said[1:2])
            if is_request:
                stop = next((end for end in range(place, len(said)) if said[end] in {"and", "then"}), len(said))
                yield frozenset({at + place}), frozenset(range(at + place + 1, at + stop))
            elif word in _UNSETTLED or is_thought or is_there:
                yield frozenset({at + place}), frozenset(range(at, at + len(said))) - {at + place}


def _negations(said: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where a clause turns to what is not done, as (first word, first word behind)."""
    for at in range(len(said)):
        for negation in _NEGATIONS:
            end = at + len(negation)
            if tuple(said[at:end]) != negation or end >= len(said):
                continue
            if said[end] in _STATES and negation not in _DECLINING:
                continue
            is_intent = at == 0 or said[at - 1] in _BEFORE or len(negation) == 2
            if is_intent or negation in _ANYWHERE:
                yield at, end
