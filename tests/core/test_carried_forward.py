"""Carried Forward alone: it can be solved and missed, its sums are right, and the packet leaves at five."""

from __future__ import annotations

from collections import Counter

import pytest

from narrator.core.state import FIRED, is_ended
from tests.core.samples.carried_forward import SAMPLE, SOLVED, games

ANSTRY = SAMPLE.definition
standing_in = SAMPLE.standing_in
played = SAMPLE.played


@pytest.mark.spec("U23")
def test_the_sums_are_right() -> None:
    """The figures that the story turns on, as its wordings give them."""
    lost_in_the_gap = (3100, 2900, 3400, 2700, 3600, 3800, 3500, 3600)
    assert sum(lost_in_the_gap) == 26_600
    assert 26_600 + 4_800 == 31_400
    saved = 13 * 26_600 / 72 - 4_800
    pounds, shillings = int(saved), (saved - int(saved)) * 20
    assert (pounds, int(shillings), int(shillings % 1 * 12)) == (2, 15, 6)
    assert 31 + 8 + 1 == 40
    done = next(storylet for storylet in ANSTRY.storylets if storylet.id == "do-sum")
    texts = [text for outcome in done.outcomes if outcome.on == "success" for text in outcome.wordings]
    assert len(texts) == 2
    assert all("£26,600" in text and "£2 15s. 6d." in text for text in texts)


@pytest.mark.spec("U23")
def test_what_a_storylet_suggests_is_answered_by_that_storylet() -> None:
    """The suggestion is typed where the storylet answers, with what its condition asks for."""
    knows = {"flags__knows_roll": True, "flags__knows_anne": True}
    tried = {
        "Count again, by section 2": ("quay", {"flags__read_act": True, "flags__knows_roll": True}, "count-all"),
        "Ask the captain about the Constant Anne": ("office", {"flags__clue_tablet": True}, "fell-anne"),
        "Ask who pays for the lost ships": ("office", {}, "fell-ships"),
        "Ask where the coffee comes from": ("office", {}, "coffee-ask"),
        "Show Miss Orr the postcard": ("long-room", {}, "orr-postcard"),
        "Ask the clerk why the lost ships pay": ("long-room", {}, "orr-why"),
        "Ask the clerk why there must be forty": ("long-room", {"flags__orr_wrote": True}, "orr-why-open"),
        "Read the Act that props the window": ("long-room", {}, "act-read"),
        "Ask about the red memorandum book": ("long-room", {}, "orr-night"),
        "Read the painted board": ("chapel", {}, "board-read"),
        "Look at the boots on the mat": ("marram-house", {}, "house-boots"),
        "Ask Mrs Marram whether her husband is dead": ("marram-house", {"flags__clue_boots": True}, "ida-alive"),
        "Ask her to send for him by daylight": ("marram-house", knows, "ida-home"),
        "Show her the sum, and ask her to send for him": (
            "marram-house",
            {**knows, "flags__did_sum": True},
            "ida-home-sum",
        ),
        "Read the bronze tablet": ("breakwater", {}, "tablet"),
        "Work out what the breakwater has saved": ("breakwater", {"flags__clue_tablet": True}, "do-sum"),
        "Ask about the Danish letters": ("post-office", {}, "budge-letters"),
        "Report forty vessels, truly counted": (
            "quay",
            {**knows, "flags__counted_all": True, "flags__ida_agrees": True, "flags__did_sum": True},
            "forty-ask",
        ),
    }
    for text, (place, values, answer) in tried.items():
        game = standing_in(place).set(**values)
        game.play(text)
        assert game.answered_by == [answer], text


@pytest.mark.spec("U23", "T18")
def test_the_count_can_be_made_to_come_out() -> None:
    """The best ending: what was found out is put together, and only one question needs luck."""
    game = played(SOLVED)
    for _ in range(6):
        if not game.state.values.get("flags.knows_anne"):
            game.play("ask her if her husband is dead")
    for text in ("show her the sum", "go to the quay", "write my report", "report forty"):
        game.play(text)
    assert not game.ending
    assert game.state.values["case.accounted"] == 1
    assert "forty" in game.said[-2].casefold()
    game.play("yes, send it")
    assert (game.ending, game.complaints) == ("forty", [])
    assert len(game.said) <= 25


@pytest.mark.spec("U23", "T18")
def test_there_is_no_dead_end() -> None:
    """From whatever a walk has come to, the packet leaves at five (here it is a quarter to four already)."""
    endings: Counter[str] = Counter()
    for turn, game in enumerate(games(12)):
        if turn % 17 or is_ended(game.state):
            continue
        fork = game.fork().set(clocks__packet=50)
        for _ in range(6):
            fork.play("wait")
            if is_ended(fork.state):
                break
        assert is_ended(fork.state), (fork.place, fork.answered_by[-3:])
        assert fork.ending == "thursday"
        endings.update(name for name in ("packet-sails", "packet-sails-knowing") if name in fork.state.values[FIRED])
    assert endings.keys() == {"packet-sails", "packet-sails-knowing"}


@pytest.mark.spec("U23")
@pytest.mark.parametrize(
    ("place", "text", "again", "ending"),
    [
        ("quay", "board the packet", "go aboard", "no-opinion"),
        ("quay", "sign the certificate", "sign", "certified"),
        ("post-office", "report nine afloat", "send it", "nine-afloat"),
        ("post-office", "report everything", "yes", "exact"),
        ("quay", "report the Constant Anne", "yes", "instructed"),
        ("office", "burn the ledger", "burn it", "burned"),
    ],
)
def test_what_cannot_be_undone_is_asked_twice(place: str, text: str, again: str, ending: str) -> None:
    """The place for a checkpoint; and after the first asking one may think better of it."""
    game = standing_in(place).set(flags__knows_roll=True, flags__knows_anne=True)
    game.play(text)
    assert not game.ending
    other = game.fork()
    other.play("no")
    assert (other.ending, other.is_understood) == ("", True)
    game.play(again)
    assert game.ending == ending


@pytest.mark.spec("U23")
def test_yes_means_the_report_that_was_last_drafted() -> None:
    game = standing_in("quay").set(flags__knows_roll=True, flags__knows_anne=True)
    for text in ("report nine afloat", "sign the certificate", "report everything", "yes"):
        game.play(text)
    assert game.ending == "exact"


@pytest.mark.spec("U23")
def test_a_reply_has_noticed_what_was_done() -> None:
    """Knowing better than before, one counts differently; and people know what they have said."""
    game = standing_in("long-room")
    for text in ("show her the postcard", "show her the postcard", "ask why forty", "ask why forty"):
        game.play(text)
    assert game.answered_by == ["orr-postcard", "orr-postcard-after", "orr-why-open", "orr-why-after"]
    counting = []
    for changed in ({}, {"flags__read_act": True}, {"flags__knows_anne": True}):
        game.set(**changed).play("count the boats")
        counting.append(game.answered_by[-1])
    assert counting == ["long-count", "count-all", "count-forty"]


@pytest.mark.spec("U23")
def test_the_telegram_comes_once_and_can_be_read_again() -> None:
    game = standing_in("quay").set(clocks__packet=9)
    for text in ("look", "look", "read the telegram"):
        game.play(text)
    assert game.answered_by == ["quay-look", "quay-look", "telegram-read"]
    assert "GAULT" in game.said[0], "behind the answer, which it does not replace"
    assert "GAULT" not in game.said[1]


@pytest.mark.spec("U23")
def test_an_open_question_is_a_question_and_is_crossed_off_when_it_is_answered() -> None:
    opened = [
        str(effect.value)
        for storylet in ANSTRY.storylets
        for outcome in storylet.outcomes
        for effect in outcome.effects
        if effect.op == "open"
    ]
    assert [text for text in opened if not text.endswith("?")] == []
    game = standing_in("chapel")
    game.play("read the board")
    assert not game.came
    game.set(flags__knows_anne=True).play("look")
    assert game.came == ["tick-ninth"]


@pytest.mark.spec("U23")
def test_the_day_is_told_by_what_strikes_and_not_by_a_count_of_turns() -> None:
    assert ANSTRY.rules.clocks["packet"].visibility != "open"
    for full, struck in ((22, "noon-strikes"), (44, "three-strikes")):
        game = standing_in("breakwater").set(clocks__packet=full)
        before = game.state.values["time"]
        game.play("look at the sea")
        game.play("look at the sea")
        assert struck in game.came
        assert game.state.values["time"] != before


@pytest.mark.spec("U23")
def test_no_clock_takes_a_report_that_is_being_handed_in() -> None:
    """Five o'clock waits for the answer to “is this the report?”, and no longer."""
    solved = {f"flags__{name}": True for name in ("counted_all", "knows_roll", "knows_anne", "ida_agrees", "did_sum")}
    game = standing_in("post-office").set(clocks__packet=59, flags__read_act=True, **solved)
    game.play("report forty vessels to Mr Gault by wire")
    assert game.answered_by == ["forty-ask"]
    assert game.state.values["flags.sailed"]
    assert not game.ending
    handed = game.fork()
    handed.play("hand it in")
    assert handed.ending == "forty"
    for _ in range(3):
        if not game.ending:
            game.play("look around")
    assert game.ending == "thursday"
