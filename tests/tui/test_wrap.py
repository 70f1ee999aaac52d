"""Rows of cells: widths, offsets, and growing text (U2, U10, U12)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from narrator.core.prose import DIALOGUE, EMPHASIS, STRONG, paragraphs, visible
from narrator.tui.wrap import Growing, cells, clip, is_disputed, shown, wrap

HARD = 'ab \n*_"“”«»[]\x1b\t\r👩‍🚀🇫🇷漢字かな、。é\u0301שלום\u202e\u200b\ufe0f❤️👍🏽'
texts = st.text(alphabet=st.sampled_from(HARD) | st.characters(), max_size=300)


@pytest.mark.spec("U12")
@given(texts, st.integers(1, 90))
@settings(max_examples=300, deadline=None)
def test_no_row_is_wider_than_its_column_and_offsets_lead_back(text: str, width: int) -> None:
    safe = visible(text)
    for row in wrap(text, width):
        assert row.width == sum(cell_len(piece.text) for piece in row.pieces)
        assert row.width <= max(2, width)
        for piece in row.pieces:
            assert safe[piece.start : piece.start + len(piece.text)] == piece.text


@pytest.mark.spec("U12")
@given(texts, st.integers(1, 60))
@settings(max_examples=300, deadline=None)
def test_nothing_but_space_markers_and_disputed_characters_is_left_out(text: str, width: int) -> None:
    safe = visible(text)
    seen = {index for row in wrap(text, width) for p in row.pieces for index in range(p.start, p.start + len(p.text))}
    for index, character in enumerate(safe):
        assert index in seen or character.isspace() or character in "*_" or is_disputed(character)


@pytest.mark.spec("U3")
@given(st.lists(st.text(alphabet='ab c\n"*“”漢', max_size=30), max_size=12), st.integers(3, 30))
@settings(max_examples=300, deadline=None)
def test_growing_text_wraps_as_it_would_whole(pieces: list[str], width: int) -> None:
    growing = Growing(width)
    for piece in pieces:
        growing.append(piece)
    whole = "".join(pieces)
    assert growing.rows == ([] if not whole.strip() else wrap(whole, width))
    growing.resize(width + 5)
    assert growing.rows == ([] if not whole.strip() else wrap(whole, width + 5))


@pytest.mark.spec("U10")
@given(st.text())
@settings(max_examples=300, deadline=None)
def test_visible_keeps_the_length_and_no_control_character(text: str) -> None:
    safe = visible(text)
    assert len(safe) == len(text)
    assert not any((ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 for c in safe)
    safe.encode("utf-8")


@pytest.mark.spec("U10")
def test_escapes_are_shown() -> None:
    assert visible("a\x1b[31mb\x9bc\x07\u202ed") == "a␛[31mb�c␇�d"


@pytest.mark.spec("U2")
def test_emphasis_dialogue_and_verse() -> None:
    text = 'He *was* **very** late_ly. "Where _were_ you?"\nA verse.\n\n\nApart.'
    first, verse, apart = paragraphs(text)
    said = [(text[run.start : run.end], run.marks) for run in first.runs]
    assert said == [
        ("He ", 0),
        ("was", EMPHASIS),
        (" ", 0),
        ("very", STRONG),
        (" late_ly. ", 0),
        ('"Where ', DIALOGUE),
        ("were", DIALOGUE | EMPHASIS),
        (' you?"', DIALOGUE),
    ]
    assert (verse.apart, apart.apart) == (False, True)
    rows = wrap(text, 76)
    assert ["".join(p.text for p in row.pieces) for row in rows] == [
        'He was very late_ly. "Where were you?"',
        "A verse.",
        "",
        "Apart.",
    ]


@pytest.mark.spec("U12")
def test_labels_are_cut_by_cells() -> None:
    assert clip("漢字漢字", 5) == "漢字…"
    assert cells(clip("👩‍🚀👩‍🚀👩‍🚀", 7)) <= 7
    assert clip("a\nb", 9) == "a b"
    assert shown("❤️") == "❤"
