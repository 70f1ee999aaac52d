"""Where a narration is cut, whatever pieces it comes in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrator.narrators.cutting import Cutter, Unthinking

HOWLS = "The wind howls. "


def cut(pieces: list[str], *, keeps_space: bool = False) -> tuple[str, str]:
    cutter = Cutter("Ansa")
    text = "".join([*(cutter.feed(piece) for piece in pieces), cutter.finish(keeps_space=keeps_space)])
    return text, cutter.note


def in_pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


@pytest.mark.spec("T6")
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("text", "kept", "why"),
    [
        ("The door opens.\n\n> take lamp\nYou", "The door opens.", "player's marker"),
        ("The door opens.\n>take lamp", "The door opens.", "player's marker"),
        ("Rain.\n[do] go north", "Rain.", "player's marker"),
        ("Rain.\n[say] hello", "Rain.", "player's marker"),
        ("Rain.\nAnsa: I go north.", "Rain.", "player's marker"),
        ("Rain.\n**Ansa:** I go north.", "Rain.", "player's marker"),
        ("Rain.\n\nUser: go north", "Rain.", "role tag"),
        ("Rain.\nASSISTANT: The", "Rain.", "role tag"),
        ("Rain.\n**Human:** go", "Rain.", "role tag"),
        ("Rain.\n### Instruction:\nGo", "Rain.", "role tag"),
        ("Rain.<|im_end|>\n<|im_start|>user", "Rain.", "template token"),
        ("Rain. <|eot_id|>", "Rain.", "template token"),
        ("Rain.</s> more", "Rain.", "template token"),
        ("Rain.[INST] more", "Rain.", "template token"),
        ("Rain.<end_of_turn>", "Rain.", "template token"),
        ("Rain.<｜User｜>go", "Rain.", "template token"),
        ("Dusk. " + HOWLS * 3, "Dusk. The wind howls.", "three times"),
        ("Dusk. " + HOWLS * 9 + "Then more.", "Dusk. The wind howls.", "three times"),
        ("He sat by the fire\n\n" * 3 + "He", "He sat by the fire", "three times"),
        ("the " * 40, "the the the", "three times"),
        ("雨が降っていた。" * 3, "雨が降っていた。", "three times"),
        ("> go north", "", "player's marker"),
    ],
)
def test_what_is_cut(text: str, kept: str, why: str, size: int) -> None:
    told, note = cut(in_pieces(text, size))
    assert told == kept
    assert why in note


@pytest.mark.spec("T6")
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "“No, no, no,” he said, “no, no.”",
        "Knock. Knock. Knock. Then nothing.",
        "They ran and ran and ran and ran home.",
        HOWLS + HOWLS + "Then it stops.",
        "He was cold. He was cold. He was colder than ever.",
        "She wrote: a < b, c > d, [x] and <i>so on</i>.",
        "The user: a man of few words. Users came\nUsers: many. The human factor",
        "In the book: > is a sign.\nAnsa goes. Ansa’s hand: cold.",
        "Use it.\n\nPlayers gather.\nAssistants run.\nNarrators talk.",
        "A line.\n>\nAnother.",
        "It ends with <|",
        "雨、雨、雨、雨、雨、雨。",
    ],
)
def test_what_is_not_cut(text: str, size: int) -> None:
    assert cut(in_pieces(text, size)) == (text, "")


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_edges_are_tidied(size: int) -> None:
    assert cut(in_pieces("\n\n  Rain.\n\n", size)) == ("  Rain.", "")
    assert cut(in_pieces("Narrator: Rain.", size)) == ("Rain.", "")
    assert cut(in_pieces(" tern burns and ", size), keeps_space=True) == (" tern burns and ", "")


def test_plain_words_are_not_held_back() -> None:
    cutter = Cutter("Ansa")
    given_at_once = [cutter.feed(piece) for piece in ("You", " step", " over", " the", " threshold", ".")]
    assert given_at_once == ["You", " step", " over", " the", " threshold", "."]


@given(st.text(alphabet="ab <>[]|/\n.:stINSTUser", max_size=60), st.data())
def test_pieces_join_to_the_text_or_to_its_beginning(text: str, data: st.DataObject) -> None:
    pieces, rest = [], text
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        pieces.append(rest[:size])
        rest = rest[size:]
    told, note = cut(pieces)
    whole = text.lstrip("\r\n")
    assert whole.startswith(told)
    if not note:
        assert told == whole.rstrip()


def think(pieces: list[str]) -> tuple[str, Unthinking]:
    thought = Unthinking()
    return "".join([*(thought.feed(piece) for piece in pieces), thought.finish()]), thought


@pytest.mark.spec("T6")
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_reasoning_is_dropped(size: int) -> None:
    text, thought = think(in_pieces("<think>plan <b> it</think>Rain <b>falls</b>.<THINKING>x</THINKING> On.", size))
    assert text == "Rain <b>falls</b>. On."
    assert thought.has_thought
    assert not thought.is_leaked


@pytest.mark.spec("T6")
def test_reasoning_without_an_end_or_a_beginning() -> None:
    text, thought = think(["<think>plan"])
    assert (text, thought.has_thought) == ("", True)
    _, thought = think(["plan</thi", "nk>Rain."])
    assert thought.is_leaked
    assert think(["It is <thi"])[0] == "It is <thi"
