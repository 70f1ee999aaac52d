"""How events are told: once, safely, in words that read well aloud."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrator.engine import events as e
from narrator.engine.listing import listed
from narrator.engine.voice import END_OF_TURN, Manner, Voice, Wrapper, cells, corrected, to_ascii


def step(text: str, role: str = "narrator", position: int = 3, mode: str | None = None) -> e.StepShown:
    return e.StepShown(position, position, role, mode, text, 1, 1, 1, "generated")


HEAD = e.HeadMoved(3, 3, 3, 0, 1, False)


def said(voice: Voice, *events: e.Event) -> str:
    return "".join(piece.text for event in events for piece in voice.hear(event))


def turn(manner: Manner, *pieces: str, text: str | None = None) -> str:
    voice = Voice(manner)
    voice.begin("do")
    whole = "".join(pieces) if text is None else text
    deltas = [e.Delta(piece) for piece in pieces]
    return said(voice, *deltas, step("look", "player", 2, "do"), step(whole), HEAD, e.Done("do", 1, True))


@pytest.mark.spec("U27")
def test_what_was_streamed_is_not_told_again() -> None:
    assert turn(Manner(), "Rain ", "falls.") == "\nRain falls.\n"


@pytest.mark.spec("U27")
def test_without_streaming_the_whole_comes_with_a_mark_at_its_end() -> None:
    assert turn(Manner(is_streaming=False), "Rain ", "falls.") == f"\nRain falls.\n{END_OF_TURN}\n"


@pytest.mark.spec("S15", "U27")
def test_several_retries_stand_apart() -> None:
    voice = Voice(Manner())
    voice.begin("retry")
    told = said(
        voice, e.Delta("One."), step("One."), HEAD, e.Delta("Two."), step("Two."), HEAD, e.Done("retry", 1, True)
    )
    assert told == "\nOne.\n\nTwo.\n"


def test_a_narration_that_was_cut_is_not_told_again_and_one_that_changed_is() -> None:
    assert turn(Manner(), "Rain falls. You", text="Rain falls.") == "\nRain falls. You\n"
    assert turn(Manner(), "Rain falls.", text="Snow falls.") == "\nRain falls.\n\nSnow falls.\n"


@pytest.mark.spec("U27")
def test_after_a_move_only_the_last_place_is_told() -> None:
    voice = Voice(Manner())
    voice.begin("undo")
    steps = [
        step("One.", "opening", 1),
        step("look", "player", 2, "do"),
        step("Two."),
        step("say it", "player", 4, "do"),
    ]
    assert said(voice, *steps, e.HeadMoved(4, 4, 5, 1, 1, False), e.Done("undo", 1, True)) == (
        "\nTwo.\n\n> say it\n[Step 4. 1 step to redo. Your line stands: /continue tells it anew.]\n"
    )


@pytest.mark.spec("S23", "U27")
def test_after_a_correction_that_alone_is_told() -> None:
    voice = Voice(Manner())
    voice.begin("correct")
    correction = step(json.dumps({"path": "facts", "old": None, "new": "It rains", "reason": None}), "correction", 4)
    told = said(voice, step("One.", "opening", 1), step("Two."), correction, HEAD, e.Done("correct", 1, True))
    assert told == "[Asserted: It rains.]\n"
    voice.begin("prune")
    assert said(voice, step("Two."), HEAD, e.Done("prune", 1, True)) == "[Step 3.]\n"


@pytest.mark.spec("U27")
def test_read_tells_every_step() -> None:
    voice = Voice(Manner())
    voice.begin("read")
    told = said(voice, step("One.", "opening", 1), step("hello", "player", 2, "say"), step("Two."), HEAD)
    assert told == "\nOne.\n\n> /say hello\n\nTwo.\n"


@pytest.mark.spec("U27")
def test_quiet_tells_the_story_and_errors_alone() -> None:
    voice = Voice(Manner(is_quiet=True))
    ready = e.Ready(e.CampaignPlace("a", "A", "a.narrator"), "scripted", "1")
    assert said(voice, ready, step("One.", "opening", 1), HEAD) == "\nOne.\n"
    voice.begin("save")
    assert said(voice, e.Noted("Saved."), e.Done("save", 1, True)) == ""
    assert said(voice, e.Failed("busy", "Not now.")) == "narrator: Not now.\n"


@pytest.mark.spec("U15")
def test_an_error_is_one_line_apart_after_a_streamed_line() -> None:
    voice = Voice(Manner())
    voice.begin("do")
    voice.hear(e.Delta("Rain fa"))
    pieces = voice.hear(e.Failed("stopped", "Stopped.\nThe story", "is as it was.", 4, "look"))
    assert [(piece.text, piece.is_error) for piece in pieces] == [
        ("\n", False),
        ("narrator: line 4: Stopped. The story is as it was.\n", True),
    ]


def test_a_command_that_says_nothing_is_acknowledged() -> None:
    voice = Voice(Manner())
    voice.begin("pin")
    assert said(voice, e.Done("pin", 1, True)) == "[Ok.]\n"


HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\u202eevil\r\x08"


@pytest.mark.spec("U10")
def test_escapes_are_shown_and_never_sent() -> None:
    told = turn(Manner(), HOSTILE) + turn(Manner(is_streaming=False), HOSTILE)
    voice = Voice(Manner())
    asked = e.Asked(1, "confirm-delete", ("yes", "no"), "no", {"takes": HOSTILE})
    card = e.CardListed(HOSTILE, (HOSTILE,), HOSTILE, True, False, HOSTILE)
    told += said(
        voice,
        e.Noted(HOSTILE),
        e.Failed("x", HOSTILE, HOSTILE),
        e.StateShown({HOSTILE: HOSTILE}),
        e.CardsListed((card,)),
        asked,
        e.Ready(e.CampaignPlace("a", HOSTILE, HOSTILE), HOSTILE, "1", HOSTILE),
        step(HOSTILE, "player", 2, "do"),
        step(json.dumps({"path": HOSTILE, "old": None, "new": 1, "reason": HOSTILE}), "correction"),
        HEAD,
    )
    assert all(character == "\n" or character.isprintable() for character in told)
    assert "␛" in told


@pytest.mark.spec("U27")
@pytest.mark.parametrize("width", [20, 33, 80])
def test_lines_break_at_words_also_when_they_come_in_pieces(width: int) -> None:
    text = (
        "The ferry noses the stage, and the boy catches the rope. " * 4
        + "\n\n"
        + "x" * 90
        + " 雨が降っている雨が降っている"
    )
    whole = Wrapper(width)
    shown = whole.feed(text) + whole.finish()
    pieces = Wrapper(width)
    assert "".join(pieces.feed(character) for character in text) + pieces.finish() == shown
    assert all(cells(line) <= width for line in shown.split("\n"))
    assert shown.split() != []
    assert "".join(shown.split()) == "".join(text.split())


@given(st.text())
def test_ascii_is_ascii(text: str) -> None:
    assert to_ascii(text).isascii()


@pytest.mark.spec("U27")
def test_ascii_keeps_what_it_can() -> None:
    assert to_ascii("“Café” — naïve…") == '"Cafe" -- naive...'


@pytest.mark.spec("S23")
def test_a_correction_is_one_line() -> None:
    def text(**parts: object) -> str:
        return json.dumps({"path": "player.nerve", "old": None, "new": None, "reason": None, **parts})

    assert corrected(text(old=7, new=5, reason="he saw")) == "[Corrected: player.nerve is 5, was 7, because he saw.]"
    assert corrected(text(path="facts", new="The bell is cracked")) == "[Asserted: The bell is cracked.]"
    assert corrected(text(path="facts", old="The bell is cracked")) == "[Retracted: The bell is cracked.]"
    assert corrected(text(path="story.note", new="Darker.")) == "[Author's note: Darker.]"
    assert corrected("no JSON") == "[no JSON]"


def test_every_list_says_when_it_is_empty() -> None:
    empty = [
        e.TakesListed(1, ()),
        e.BranchesListed(()),
        e.CheckpointsListed(()),
        e.MemoriesListed(()),
        e.CardsListed(()),
        e.AuditListed(()),
        e.Suggested(()),
        e.MapShown(()),
        e.KnowledgeListed(()),
        e.HelpShown(()),
        e.Found(()),
        e.NarratorsListed(()),
        e.ChecksMade(()),
        e.StateShown({}),
    ]
    assert all(len(listed(event)) == 1 and listed(event)[0] for event in empty)
    covered = {type(event) for event in empty}
    told = {e.Noted, e.Progressed, e.StateChanged, e.Asked, e.StatusShown, e.StatsShown, e.PromptShown}
    by_voice = {e.Ready, e.Replayed, e.StepShown, e.Delta, e.HeadMoved, e.Failed, e.Done}
    assert covered | told | by_voice == set(get_args(e.Event))


def test_a_question_says_how_to_answer_it() -> None:
    lines = listed(e.Asked(1, "confirm-prune", ("yes", "no"), "no", {"steps": 12, "bytes": 900}))
    assert lines == [
        "Delete all this for good?",
        "steps: 12",
        "bytes: 900",
        "/answer yes or /answer no; anything else means no.",
    ]


@pytest.mark.spec("U15", "U27")
@pytest.mark.parametrize(
    ("manner", "line"),
    [(Manner(), "narrator: line 7: It rains. Stay in."), (Manner(is_typed=True), "[It rains. Stay in.]")],
)
def test_an_error_names_its_line_to_a_file_and_not_to_somebody_who_typed_it(manner: Manner, line: str) -> None:
    told = Voice(manner).hear(e.Failed("rain", "It rains.", "Stay in.", 7))
    assert [(each.text.strip(), each.is_error) for each in told if each.text.strip()] == [(line, True)]
