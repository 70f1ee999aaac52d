"""Pages and books in the programs that readers use: a real Chromium, and epubcheck where Java is there (X9, U10)."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from narrator.core.tree import NewNode
from narrator.engine.exporting import theme_colours
from narrator.engine.story import create_campaign
from narrator.exchange.book.pages import Style
from narrator.exchange.exporting import Wish, export
from narrator.paths import shipped
from narrator.store import commit
from tests.exchange.bringing import still
from tests.exchange.browser import browsing, find_chromium
from tests.exchange.test_out import NASTY, write
from tests.store.making import open_story

HOSTILE = (
    "<script>document.title = 'taken'; alert(1)</script><img src=http://host.invalid/x.png onerror=alert(2)>"
    "</p></section></main><style>*{display:none}</style><a href=javascript:alert(3)>x</a> &lt;b&gt; &amp;amp; ]]>"
    "\x1b[31m \u202eevil\u202c \u0000\u000b\ufffe " + "unbroken" * 60
)
JARS = ("/usr/share/java/epubcheck.jar", "/usr/share/java/epubcheck-4.2.6.jar")


@pytest.fixture(scope="module")
def tale(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two chapters, a branch beside them, a private note, and hostile text in every place that a page shows."""
    path = tmp_path_factory.mktemp("tale") / "tale.narrator"
    text = (
        '[campaign]\nid = "mill"\ntitle = "The <i>Mill</i> & \\"Co\\""\nopening = "The wheel stands still."\n'
        'instructions = "Tell it."\nlanguage = "de"\n'
    )
    create_campaign(path, text, seed=7, clock=still)
    with closing(open_story(path)) as story:
        first = write(story, NewNode("player", "Who is there?", mode="say"), NewNode("narrator", NASTY))
        write(story, NewNode("player", "I wait.", mode="do"), NewNode("narrator", "A branch that was left."))
        side = write(story, NewNode("player", HOSTILE, mode="do"), NewNode("narrator", HOSTILE), at=first)
        story.save("The </title> door & <b>more</b>")
        write(story, NewNode("player", "I go on.", mode="story"), NewNode("narrator", "**The end** of it."), at=side)
        commit.comment(story.store, side, f"Mind this. {HOSTILE}")
    return path


# ------------------------------------------------------------------------------------------------------------- Chromium


@pytest.mark.spec("X9", "U10", "U11")
@pytest.mark.xdist_group("programs")
@pytest.mark.timeout(180)
def test_a_page_in_a_real_browser(tale: Path, tmp_path: Path) -> None:
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("no Chromium is installed")
    with browsing(chromium, tmp_path / "profile") as browser:
        for theme, background in (("paper", "rgb(244, 236, 216)"), ("dark", "rgb(20, 22, 26)")):
            page = tmp_path / f"{theme}.html"
            colours = theme_colours(theme, (shipped("themes"),))
            export(tale, page, Wish(style=Style(has_branches=True, has_comments=True, colours=colours)), clock=still)
            browser.open(page.as_uri())
            assert browser.requested() == [page.as_uri()]
            assert browser.complaints() == []
            assert browser.asks("document.title") == 'The <i>Mill</i> & "Co"'
            assert browser.asks("document.documentElement.lang") == "de"
            assert browser.asks("getComputedStyle(document.documentElement).backgroundColor") == background
            accent = browser.asks("getComputedStyle(document.querySelector('h1')).color")
            assert accent == {"paper": "rgb(143, 59, 27)", "dark": "rgb(227, 184, 102)"}[theme]
            assert browser.asks("getComputedStyle(document.querySelector('p.input')).color") != browser.asks(
                "getComputedStyle(document.querySelector('p:not([class])')).color"
            )
            headings = browser.asks("[...document.querySelectorAll('h1, h2')].map(each => each.innerText)")
            assert headings[:2] == ['The <i>Mill</i> & "Co"', "The </title> door & <b>more</b>"]
            assert len(headings) == 3
            assert browser.asks("document.querySelectorAll('nav .story a').length") == 2
            assert browser.asks("document.querySelectorAll('nav .others a').length") == 1
            links = "[...document.querySelectorAll('a')].every(each => document.querySelector(each.hash) !== null)"
            assert browser.asks(links)
            assert (
                browser.asks("document.querySelectorAll('script, img, iframe, object, a[href^=javascript]').length")
                == 0
            )
            assert browser.asks("document.querySelectorAll('style').length") == 1
            for shown in (
                "“Who is there?”",
                "<script>",
                "</p></section>",
                "&lt;b&gt;",
                "The end",
                "A branch that was left.",
            ):
                assert shown in browser.asks("document.body.innerText"), shown
            assert "Mind this." in browser.asks("document.querySelector('p.note').innerText")
            unseen = "[...document.querySelectorAll('p, h1, h2')].filter(each => each.offsetHeight < 10).length"
            assert browser.asks(unseen) == 0
            for width in (320, 800, 1600):
                browser.resize(width, 800)
                assert browser.asks("document.documentElement.scrollWidth") <= width
            assert browser.asks("document.querySelector('main').getBoundingClientRect().width") < 900


@pytest.mark.spec("X9", "U10")
@pytest.mark.xdist_group("programs")
@pytest.mark.timeout(180)
def test_a_browser_finds_what_this_test_would_find(tmp_path: Path) -> None:
    """The test above sees requests, complaints and scripts: a page that has them is caught."""
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("no Chromium is installed")
    page = tmp_path / "bad.html"
    page.write_text(
        "<title>a</title><img src=other.png><script>document.title = 'taken'; console.log(1); nothing()</script>"
    )
    with browsing(chromium, tmp_path / "profile") as browser:
        browser.open(page.as_uri())
        assert len(browser.requested()) == 2
        assert len(browser.complaints()) >= 2
        assert browser.asks("document.title") == "taken"


# ------------------------------------------------------------------------------------------------------------ epubcheck


def find_epubcheck() -> list[str] | None:
    """How epubcheck is called here, or None."""
    java = shutil.which("java")
    named = shutil.which("epubcheck")
    jars = [*JARS, *([os.path.realpath(named)] if named else [])]
    jar = next((each for each in jars if each.endswith(".jar") and os.path.exists(each)), None)
    if java is not None and jar is not None:
        return [java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-jar", jar]
    return [named] if named is not None and not os.path.realpath(named).endswith(".jar") else None


@pytest.mark.spec("X9")
@pytest.mark.xdist_group("programs")
@pytest.mark.timeout(180)
@pytest.mark.parametrize("kind", ["all", "bare"])
def test_a_book_is_valid(tale: Path, tmp_path: Path, kind: str) -> None:
    """Takes the start of a Java machine each, some seconds."""
    call = find_epubcheck()
    if call is None:
        pytest.skip("epubcheck is not installed, or no Java")
    book = tmp_path / f"{kind}.epub"
    path, style = tale, Style("apart", has_branches=True, has_comments=True)
    if kind == "bare":
        path, style = tmp_path / "bare.narrator", Style("out")
        create_campaign(
            path, '[campaign]\nid = "a"\ntitle = "\\u0001"\nopening = " "\n', seed=7, clock=still, title="\x01 \u202e"
        )
    export(path, book, Wish(style=style), clock=still)
    done = subprocess.run(
        [*call, "--failonwarnings", str(book)], capture_output=True, text=True, timeout=120, check=False
    )
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    assert "0 fatals / 0 errors / 0 warnings" in told
