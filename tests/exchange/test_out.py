"""What goes out: books for readers, files for other programs (X9, X10)."""

from __future__ import annotations

import json
import random
import zipfile
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from narrator.core.errors import BadValue
from narrator.core.tree import NewNode
from narrator.engine.story import Story
from narrator.exchange.book.pages import Style
from narrator.exchange.exporting import FORMS, Wish, export, form_of
from narrator.exchange.report import Report
from narrator.store import commit, reads
from narrator.store.commit import Acceptance
from tests.engine.playing import playing
from tests.exchange.bringing import SAMPLES, bring, still, story_of
from tests.store.making import make, open_story

NASTY = "# Not a heading\n\n> Not a quotation & <b>no tag</b> \x1b[31m\n---\n*Soft* and “spoken”."


def write(story: Story, *nodes: NewNode, at: int | None = None) -> int:
    anchor = story.head.id if at is None else at
    return commit.accept(story.store, Acceptance(anchor, nodes, story.position))[-1]


@pytest.fixture
def tale(tmp_path: Path) -> Path:
    path = make(tmp_path / "tale.narrator")
    with closing(open_story(path)) as story:
        first = write(story, NewNode("player", "Who is there?", mode="say"), NewNode("narrator", "Nobody answers."))
        story.save("The door")
        write(story, NewNode("player", "I wait.", mode="do"), NewNode("narrator", "A branch that was left."))
        side = write(story, NewNode("player", "I knock.", mode="do"), NewNode("narrator", NASTY), at=first)
        write(story, NewNode("player", "I go on.", mode="story"), NewNode("narrator", "The end of it."), at=side)
        commit.comment(story.store, side, "Mind this.")
    return path


def written(tale: Path, name: str, style: Style | None = None) -> str:
    target = tale.parent / name
    export(tale, target, Wish(style=style or Style(), replaces=True), clock=still)
    return target.read_text(encoding="utf-8")


@pytest.mark.spec("X9", "U10")
def test_markdown(tale: Path) -> None:
    text = written(tale, "a.md")
    assert text.startswith("# The Mill\n\nThe wheel stands still.\n")
    assert [line for line in text.split("\n") if line.startswith("#")] == ["# The Mill", "## The door"]
    assert "> “Who is there?”" in text
    assert "\\# Not a heading" in text
    assert "\\<b>" in text
    assert "\x1b" not in text
    assert "A branch that was left." not in text
    assert "Mind this." not in text


@pytest.mark.spec("X9", "U10")
def test_plain_text(tale: Path) -> None:
    text = written(tale, "a.txt")
    assert text.startswith("The Mill\n========\n\nThe wheel stands still.\n")
    assert "\n\nThe door\n--------\n\n" in text
    assert "\n> “Who is there?”\n" in text
    assert "\n# Not a heading" in text
    assert "\x1b" not in text
    noted = written(tale, "b.txt", Style(has_branches=True, has_comments=True))
    assert "\n* Mind this.\n" in noted
    assert "A branch that was left." in noted


@pytest.mark.spec("X9", "U27")
def test_input_apart_woven_or_left_out_branches_and_notes(tale: Path) -> None:
    woven = written(tale, "a.md", Style("woven"))
    assert "\n“Who is there?”\n" in woven
    assert "> “" not in woven
    assert "Who is there?" not in written(tale, "a.md", Style("out"))
    everything = written(tale, "a.md", Style(has_branches=True, has_comments=True))
    assert "Mind this." in everything
    assert everything.index("A branch that was left.") > everything.index("The end of it.")


class Tags(HTMLParser):
    """Opened and closed tags, and what they refer to."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br", "!doctype"):
            self.open.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ("meta", "br")

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.spec("X9", "U10")
def test_a_page_stands_alone(tale: Path) -> None:
    text = written(tale, "a.html", Style(colours={"background": "#123456", "accent": "red;} body{display:none"}))
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert all(link.startswith("#") for link in tags.links)
    assert "http" not in text.replace('http-equiv="Content-Security-Policy"', "")
    assert "<b>no tag</b>" in tags.text
    assert "<em>Soft</em>" in text
    assert "#123456" in text
    assert "display:none" not in text


@pytest.mark.spec("X9")
def test_an_epub_is_well_formed_and_always_the_same(tale: Path) -> None:
    for name in ("a.epub", "b.epub"):
        export(tale, tale.parent / name, Wish(style=Style(has_branches=True)), clock=still)
    assert (tale.parent / "a.epub").read_bytes() == (tale.parent / "b.epub").read_bytes()
    with zipfile.ZipFile(tale.parent / "a.epub") as archive:
        first = archive.infolist()[0]
        assert (first.filename, first.compress_type, archive.read(first)) == ("mimetype", 0, b"application/epub+zip")
        for name in archive.namelist():
            if name.endswith((".xhtml", ".opf", ".xml")):
                ElementTree.fromstring(archive.read(name))
        package = ElementTree.fromstring(archive.read("OEBPS/content.opf"))
        space = {"opf": "http://www.idpf.org/2007/opf", "dc": "http://purl.org/dc/elements/1.1/"}
        hrefs = {item.get("id"): item.get("href") for item in package.iterfind("opf:manifest/opf:item", space)}
        assert {f"OEBPS/{href}" for href in hrefs.values()} < set(archive.namelist())
        spine = [item.get("idref") for item in package.iterfind("opf:spine/opf:itemref", space)]
        assert len(spine) == 3
        whole = "".join(archive.read(f"OEBPS/{hrefs[each]}").decode() for each in spine)
        assert whole.index("Nobody answers.") < whole.index("The end of it.") < whole.index("A branch that was left.")
        assert package.findtext("opf:metadata/dc:title", namespaces=space) == "The Mill"


STORIES = sorted(
    each.name
    for each in SAMPLES.iterdir()
    if ".expect." not in each.name and not any(kind in each.name for kind in ("worldinfo", "-cards", "lorebook"))
)


def told(story: Story) -> list[tuple[str, str, list[tuple[str, bool]]]]:
    """Role and text of every step up to the head, each with its takes and which of them it is."""
    found = []
    for node in reads.window(story.store, story.end, 1, story.count):
        takes = [reads.needed(story.store, each) for each in reads.siblings(story.store, node.parent_id)]
        found.append(
            (node.role, node.text, [(each.text, each.id == node.id) for each in takes if each.role == node.role])
        )
    return found


def there_and_back(folder: Path, report: Report) -> Report:
    """Out as a SillyTavern chat, and in again."""
    export(Path(report.campaigns[0]), folder / "out.jsonl", Wish(replaces=True), clock=still)
    return bring(folder, folder / "out.jsonl")


@pytest.mark.spec("X10")
@pytest.mark.parametrize("sample", STORIES)
def test_a_chat_goes_out_and_comes_back(tmp_path: Path, sample: str) -> None:
    report = bring(tmp_path, SAMPLES / sample)
    with story_of(report) as first, story_of(there_and_back(tmp_path, report)) as second:
        assert told(first) == told(second)


def random_loom(chance: random.Random) -> dict[str, Any]:
    """A tree whose texts are often alike, empty, or of the shapes that chats give a meaning to."""
    texts = ("", " ", "A.", "A.", "B\u2028b\x85\n\n", "> C", "{{user}}", '{"mes": 1}', "e\u0301", "\x1b[31m", "D" * 50)

    def node(depth: int) -> dict[str, Any]:
        many = chance.choice((0, 1, 1, 1, 2, 3)) if depth < 12 else 0
        source = chance.choice(("prompt", "AI"))
        return {
            "text": chance.choice(texts),
            "id": str(chance.random()),
            "meta": {"source": source},
            "children": [node(depth + 1) for _ in range(many)],
        }

    root = node(0)
    at = root
    while at["children"]:
        at = chance.choice(at["children"])
    return {"root": root, "selected_node_id": at["id"]}


@pytest.mark.spec("X10")
@pytest.mark.parametrize("seed", range(12))
def test_any_tree_goes_out_and_comes_back(tmp_path: Path, seed: int) -> None:
    (tmp_path / "tree.json").write_text(json.dumps(random_loom(random.Random(seed))))
    report = bring(tmp_path, tmp_path / "tree.json")
    with story_of(report) as first, story_of(there_and_back(tmp_path, report)) as second:
        assert told(first) == told(second)


@pytest.mark.spec("X10", "X6", "C26")
def test_world_info_goes_out_and_comes_back(tmp_path: Path) -> None:
    original = json.loads((SAMPLES / "sillytavern-worldinfo.json").read_bytes())["entries"]
    report = bring(tmp_path, SAMPLES / "sillytavern-worldinfo.json")
    export(Path(report.campaigns[0]), tmp_path / "out.worldinfo.json", Wish(), clock=still)
    out = json.loads((tmp_path / "out.worldinfo.json").read_bytes())["entries"]
    assert len(out) == len(original) == 6
    told = (
        "key",
        "keysecondary",
        "comment",
        "content",
        "constant",
        "order",
        "disable",
        "scanDepth",
        "sticky",
        "cooldown",
    )
    kept = ("probability", "group", "groupWeight", "depth", "position", "role")
    for uid, entry in original.items():
        assert {key: out[uid][key] for key in told} == {key: entry[key] for key in told}
        assert {key: out[uid].get(key) or 0 for key in kept} == {key: entry[key] or 0 for key in kept}
    again = bring(tmp_path, tmp_path / "out.worldinfo.json")
    with story_of(report) as first, story_of(again) as second:
        assert first.definition.cards == second.definition.cards


@pytest.mark.spec("X10", "S35")
async def test_cards_go_out_as_the_player_left_them(tmp_path: Path) -> None:
    report = bring(tmp_path, SAMPLES / "aidungeon-cards.json")
    path = Path(report.campaigns[0])
    async with playing(path, answers="yes") as play:
        assert (await play.do("/card Pickers off")).ok
        assert (await play.do("/card Tide table delete")).ok
        export(path, tmp_path / "out.worldinfo.json", Wish(), clock=still)
        export(path, tmp_path / "out.json", Wish(), clock=still)
    entries = json.loads((tmp_path / "out.worldinfo.json").read_bytes())["entries"].values()
    found = {entry["comment"]: entry["disable"] for entry in entries}
    assert found == {"The Orchard": False, "Maud Perrin": False, "Pickers": True}
    with story_of(bring(tmp_path, tmp_path / "out.json")) as story:
        assert [card.name for card in story.definition.cards if card.is_enabled] == ["The Orchard", "Maud Perrin"]


@pytest.mark.spec("X10", "X6")
def test_story_cards_go_out_and_come_back(tmp_path: Path) -> None:
    report = bring(tmp_path, SAMPLES / "aidungeon-cards.json")
    export(Path(report.campaigns[0]), tmp_path / "out.cards.json", Wish(), clock=still)
    original = json.loads((SAMPLES / "aidungeon-cards.json").read_bytes())
    out = json.loads((tmp_path / "out.cards.json").read_bytes())
    for before, after in zip(original, out, strict=True):
        assert {**before, "keys": ""} == {**after, "keys": ""}
        assert [key.strip() for key in before["keys"].split(",")] == after["keys"].split(", ")
    assert bring(tmp_path, tmp_path / "out.cards.json").cards == 4


@pytest.mark.spec("X7", "X9", "X10")
def test_the_ending_of_a_name_says_the_form() -> None:
    for form, endings in FORMS.items():
        assert all(form_of(f"The Tale{ending}".upper()) == form for ending in endings)
    for name in ("tale", "tale.narrator", "tale.pdf"):
        with pytest.raises(BadValue):
            form_of(name)
