"""Text from outside is text, wherever it stands on the screen (U10, U12)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tomlkit
from rich.cells import cell_len
from textual.content import Content

from narrator.core.campaign import parse_definition
from narrator.core.errors import NarrationFailed, NarratorError
from narrator.core.prose import visible
from narrator.engine.events import Asked
from narrator.narrators.fake import FakeNarrator
from narrator.narrators.port import Purpose
from narrator.tui.outside import join, line, plain
from narrator.tui.screens.dialogs import Page, Question, Typed
from narrator.tui.theming import load_themes, parse_theme
from narrator.tui.widgets.panel import TABS
from tests.tui.playing import Play, make_campaign, playing

CORPUS = [
    "[/",
    "[/]",
    "[b",
    "[b]bold?[/b]",
    "[@click=app.quit]x[/]",
    "[link=file:///etc/passwd]here[/link]",
    "$error [$error]red[/]",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b]52;c;aGk=\x07 \x9b2J",
    "\x1b[2J\x1b[H\x1bc\x0e\x0f",
    "a\x00b\x08c\x7fd\re",
    "👩‍🚀👨‍👩‍👧‍👦👍🏽❤️🏳️‍🌈🇫🇷",
    "漢字かな交じり文「こんにちは」한국어",
    "e\u0301\u0301\u0301 Z\u0351\u036b\u0343a\u0312l\u0300g\u0321o",
    "שלום עולם abc \u202eevil\u202c \u2066iso\u2069",
    "\u2028\u2029\x85\x0b\x0c",
    "\ud800 lone",
    "\\[escaped\\] \\",
    "a" * 500,
]
SAFE_TO_STORE = [text for text in CORPUS if "\ud800" not in text and "\x00" not in text]
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def all_rows(play: Play) -> list[str]:
    """Every row of the screen as the compositor paints it."""
    strips = play.app.screen._compositor.render_strips(play.app.size)
    return ["".join(segment.text for segment in strip) for strip in strips]


def assert_safe(play: Play) -> None:
    """No control character reaches the terminal, every row fills the width, no link or action was made."""
    width = play.app.size.width
    for row in all_rows(play):
        assert not _CONTROL.search(row), ascii(row)
        assert cell_len(row) == width, ascii(row)
    for strip in play.app.screen._compositor.render_strips(play.app.size):
        for segment in strip:
            assert segment.style is None or (segment.style.link is None and "@click" not in segment.style.meta)


@pytest.mark.spec("U10", "U12")
@pytest.mark.parametrize("text", SAFE_TO_STORE, ids=ascii)
async def test_as_input_narration_and_names(text: str, tmp_path: Path) -> None:
    fake = FakeNarrator()
    fake.answer(Purpose.NARRATE, f"It said: {text} and was still.")
    path = make_campaign(tmp_path, title=text.strip() or "empty")
    async with playing(path, fake, size=(130, 30)) as play:
        await play.type(f"/do I say {text} to it")
        story = play.story()
        # A line editor knows one kind of line end; everything else is stored as it was typed, byte for byte.
        assert story[1] == re.sub("[\u2028\u2029\x85\x0b\x0c]|\r\n?", "\n", f"I say {text} to it")
        assert play.app.is_running
        assert_safe(play)
        name = " ".join(text.split())[:100] or "name"
        session = play.screen.session
        assert session is not None
        play.screen.story.save(f"{name} saved")
        branch = play.screen.story.branches()[0].id
        play.screen.story.rename_branch(play.screen.story.store.forest[branch], f"{name} branch")
        play.screen.refresh_sides()
        await play.settle()
        assert play.screen.rail.display
        assert_safe(play)
        await play.press("ctrl+g")
        assert_safe(play)
        await play.press("escape")
        play.screen.say(text)
        play.screen.transcript.note(text, is_error=True)
        await play.press("f3")
        assert_safe(play)


@pytest.mark.spec("U10")
@pytest.mark.parametrize("text", CORPUS, ids=ascii)
async def test_in_dialogs_errors_and_the_composer(text: str, tmp_path: Path) -> None:
    fake = FakeNarrator()
    fake.answer(Purpose.NARRATE, NarrationFailed("narrator-refused", f"The host says {text}", text))
    async with playing(make_campaign(tmp_path), fake) as play:
        play.screen.composer.editor.insert(text)
        await play.pilot.pause()
        assert_safe(play)
        play.screen.composer.put("go")
        await play.press("enter")
        assert_safe(play)
        for screen in (
            Question(Asked(1, "confirm-delete", ("yes", "no"), "no", {"text": text, text: text})),
            Question(Asked(2, text, (text, "no"), "no", [text])),
            Typed(text, visible(text).replace("\n", " ")),
            Page(text, [text, text]),
        ):
            play.app.push_screen(screen)
            await play.pilot.pause()
            assert_safe(play)
            await play.press("escape")


@pytest.mark.spec("U10")
@pytest.mark.parametrize("text", CORPUS, ids=ascii)
def test_the_helper_makes_content_without_spans(text: str) -> None:
    for content in (plain(text), line(text, 20), join(text, Content("x"))):
        assert not _CONTROL.search(content.plain)
        assert content.spans == []


@pytest.mark.spec("U11")
@pytest.mark.parametrize("text", CORPUS, ids=ascii)
def test_a_theme_of_any_text_is_refused_or_harmless(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_theme(text, "x")
    (tmp_path / "bad.toml").write_bytes(text.encode("utf-8", "surrogatepass"))
    (tmp_path / "good.toml").write_text('primary = "#aabbcc"\nname = "good"\n')
    themes, failures = load_themes([tmp_path])
    assert [theme.name for theme in themes] == ["good"]
    assert [failure.path.name for failure in failures] == ["bad.toml"]
    assert "\n" not in failures[0].reason


@pytest.mark.spec("U11")
async def test_a_broken_theme_of_the_players_is_a_note_and_the_app_starts(tmp_path: Path, home: Path) -> None:
    (home / "themes").mkdir(parents=True)
    (home / "themes" / "mine.toml").write_text('primary = "no colour [/]"\n')
    (home / "themes" / "own.toml").write_text('primary = "#102030"\nname = "[/] own"\n')
    async with playing(make_campaign(tmp_path)) as play:
        assert "Theme mine.toml was left out: primary: 'no colour [/]' is no colour" in play.shown()
        assert "[/] own" in play.app.available_themes
        await play.screen.act("screen.theme")
        await play.pilot.pause()
        assert_safe(play)


def hostile_definition(text: str) -> str:
    """A definition with the text in every place that the screen shows."""
    quoted = tomlkit.string(text).as_string()
    return f"""
[campaign]
id = "ferry"
title = {quoted}
opening = {quoted}
blurb = {quoted}
[player]
name = {quoted}
[start]
location = "ferry"
facts = [{quoted}]
threads = {{ "what" = {quoted} }}
[entities.ferry]
name = {quoted}
kind = "place"
[state.player.nerve]
type = "number"
initial = 1
label = {quoted}
[[cards]]
name = {quoted}
text = {quoted}
keys = [{quoted}]
"""


@pytest.mark.spec("U10", "U12")
@pytest.mark.parametrize("text", [text for text in SAFE_TO_STORE if text.strip()], ids=ascii)
async def test_in_a_definition_its_panels_and_its_mistakes(text: str, tmp_path: Path) -> None:
    path = make_campaign(tmp_path, definition=hostile_definition(text[:100]))
    async with playing(path, size=(130, 30)) as play:
        assert_safe(play)
        await play.press("f3")
        for tab in (*TABS, "state"):
            play.screen.panel.open(tab)
            play.screen.panel.box.focus()
            await play.settle()
            assert_safe(play)
            for key in ("enter", "c"):
                await play.press(key)
                assert_safe(play)
                if play.app.screen is not play.screen:
                    await play.press("escape")
        for line_of in ("/state", "/cards", "/suggest", "/correct player.nerve 2"):
            await play.type(line_of)
            assert play.app.is_running
            assert_safe(play)
            await play.press("escape")
        try:
            parse_definition(f"[campaign]\n{tomlkit.string(text).as_string()} = 1\n[state.player.nerve]\ntype = 1\n")
        except NarratorError as error:
            play.screen.say(str(error))
            await play.settle()
            assert_safe(play)
