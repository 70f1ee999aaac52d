"""What each foreign format becomes beyond its counts: roles, states, marks, cards, answers (exchange.md, the table)."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from narrator.core.errors import BadImport, NarratorError
from narrator.core.tree import Node
from narrator.engine.story import Story
from narrator.exchange.importing import import_files
from narrator.store import reads, rows
from tests.exchange.bringing import SAMPLES, around, bring, still, story_of
from tests.exchange.novelai_packing import TALE, container, document
from tests.store.making import make


def line(story: Story) -> list[Node]:
    end = reads.end_of(story.store, story.tip)
    return reads.window(story.store, end, 1, end.length)


def write(tmp_path: Path, name: str, value: Any) -> Path:
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


# --------------------------------------------------------------------------------------------------------------- AI-DnD


@pytest.mark.spec("W12", "W10")
def test_aidnd_v1_knows_the_state_of_its_tip_alone(tmp_path: Path) -> None:
    with story_of(bring(tmp_path, SAMPLES / "aidnd-v1.json")) as story:
        *before, tip = line(story)
        assert all(node.is_unknown for node in before)
        assert not tip.is_unknown
        assert story.state(before[3]).unknown
        state = story.state(tip)
        assert not state.unknown
        assert (state.values["player.oil"], state.values["flags.iron_fetched"]) == (3, True)
        assert story.definition.fields["player.oil"].type == "number"


@pytest.mark.spec("S18", "X5")
def test_aidnd_v1_variants_are_takes_in_their_order(tmp_path: Path) -> None:
    with story_of(bring(tmp_path, SAMPLES / "aidnd-v1.json")) as story:
        path = line(story)
        assert [node.role for node in path] == ["opening", *["player", "narrator"] * 3]
        assert [node.mode for node in path if node.role == "player"] == ["do", "say", "story"]
        assert path[3].text == "Bring me the long iron, and do not run."
        steps = reads.tail(story.store, path[-1].id, len(path))
        assert [(each.take, each.takes) for each in (steps[2], steps[4])] == [(2, 3), (2, 2)]
        assert story.state().values["story.note"] == "Plain words, short sentences."
        assert rows.kept(story.store, "script")[0][0] == "Board counter"


@pytest.mark.spec("W3", "S33", "S18")
def test_aidnd_v2_keeps_the_state_and_the_memories_of_every_branch(tmp_path: Path) -> None:
    with story_of(bring(tmp_path, SAMPLES / "aidnd-v2.json")) as story:
        path = line(story)
        assert [story.state(node).values["player.hp"] for node in path] == [20, 20, 18, 18, 12, 12, 12, 12, 12]
        (last,) = reads.tail(story.store, path[-1].id, 1)
        assert (last.take, last.takes) == (2, 3)
        oil = [story.state(story.node(each)).values["player.oil"] for each in reads.siblings(story.store, path[-2].id)]
        assert oil == [9, 5, 5]
        assert [each.text for each in story.memories()] == ["Mara set out along the causeway and called to Ivo."]
        side = next(branch for branch in story.store.forest if branch.name == "Steady light")
        story.switch(side)
        assert story.state().values["npc.ivo.trust"] == 2
        deepest = next(each for each in story.store.forest if each.parent_id == side.id)
        story.switch(deepest)
        assert {each.text for each in story.memories()} == {"Mara never thanked Ivo."}
        assert story.memories()[0].is_pinned


@pytest.mark.spec("S14")
def test_aidnd_v2_without_a_head_opens_at_its_newest_step(tmp_path: Path) -> None:
    value = json.loads((SAMPLES / "aidnd-v2.json").read_bytes())
    del value["headBranch"]
    with story_of(bring(tmp_path, write(tmp_path, "a.json", value))) as story:
        assert story.head.text == "The lamp room door is locked from inside."


# ---------------------------------------------------------------------------------------------------------- SillyTavern


@pytest.mark.spec("X4", "S26")
def test_files_of_one_chat_become_one_tree_in_any_order(tmp_path: Path) -> None:
    files = sorted((SAMPLES / "sillytavern-branch").iterdir())
    texts = []
    for number, order in enumerate((files, files[::-1])):
        with story_of(bring(tmp_path / str(number), *order)) as story:
            texts.append([node.text for node in line(story)])
            (checkpoint,) = story.checkpoints()
            assert checkpoint.name == "The dry culvert"
            assert story.node(checkpoint.id).text == "Then the plan is wrong, or the reel is."
    assert texts[0] == texts[1]


def test_line_ends_inside_a_message_and_an_unused_header(tmp_path: Path) -> None:
    text = "One\u2028two\x85three."
    lines = [{"user_name": "unused", "character_name": "unused"}, {"name": "Ada", "is_user": False, "mes": text}]
    path = write(tmp_path, "a.jsonl", "\r\n".join(json.dumps(each, ensure_ascii=False) for each in lines))
    report = bring(tmp_path / "shelf", path)
    assert report.title == "Ada"
    with story_of(report) as story:
        assert story.head.text == text
        assert story.definition.player_name == ""


@pytest.mark.spec("X5")
def test_a_folder_of_chats_is_read_for_its_chats(tmp_path: Path) -> None:
    folder = tmp_path / "chats"
    shutil.copytree(SAMPLES / "sillytavern-branch", folder)
    write(folder, "readme.txt", "Not a chat.")
    write(folder, "broken.json", '{"a": ')
    report = bring(tmp_path / "shelf", folder)
    assert report.nodes == 15
    assert {each.file for each in report.details if "no chat" in each.reason} == {"readme.txt", "broken.json"}


@pytest.mark.spec("X5")
def test_a_chat_without_a_header_with_an_edited_swipe(tmp_path: Path) -> None:
    lines = [
        {"name": "A", "is_user": False, "mes": "Hello."},
        {"name": "You", "is_user": True, "mes": "Hi."},
        {"name": "A", "is_user": False, "mes": "Changed.", "swipes": ["One.", "Two."], "swipe_id": "1"},
        {"name": "S", "is_user": False, "is_system": True, "mes": "You joined the group."},
    ]
    path = write(tmp_path, "chat.jsonl", "\n".join(map(json.dumps, lines)) + "\nnot json\n")
    report = bring(tmp_path / "shelf", path)
    with story_of(report) as story:
        assert [node.text for node in line(story)] == ["Hello.", "Hi.", "Changed."]
        assert [reads.needed(story.store, each).text for each in reads.siblings(story.store, 2)] == ["One.", "Changed."]
    assert (report.counts["dropped"], report.counts["changed"]) == (3, 2)


@pytest.mark.spec("C26")
def test_world_info_becomes_cards_with_all_they_can(tmp_path: Path) -> None:
    with story_of(bring(tmp_path, SAMPLES / "sillytavern-worldinfo.json")) as story:
        cards = {card.name: card for card in story.definition.cards}
        assert cards["Marrowfen"].is_constant
        assert (cards["Eel-warden"].secondary, cards["Eel-warden"].secondary_logic) == (("dusk", "count"), "any")
        assert cards["Punts"].is_regex
        assert cards["Punts"].scan_depth == 6
        assert (cards["Ketta Brune"].sticky, cards["Ketta Brune"].cooldown) == (3, 2)
        assert cards["Ketta Brune"].is_case_sensitive
        assert not cards["Drainage Act"].is_enabled
        assert story.head.text == ""
        assert story.count == 1


@pytest.mark.spec("C26")
def test_plain_keys_beside_an_expression_become_expressions(tmp_path: Path) -> None:
    with story_of(bring(tmp_path, SAMPLES / "novelai.lorebook")) as story:
        tax = next(card for card in story.definition.cards if card.name == "Fish tax")
        assert tax.is_regex
        assert tax.keys == (r"\btax\b", "tith(e|es)")
        assert not tax.is_enabled


@pytest.mark.spec("C26", "X6")
def test_a_character_book_with_decorators(tmp_path: Path) -> None:
    with story_of(bring(tmp_path, SAMPLES / "card-v3.json")) as story:
        furnace, lens = story.definition.cards
        assert furnace.text == "The furnace at Vane's burns pear wood and nothing else."
        assert lens.is_regex
        kept = dict(rows.kept(story.store, "card"))
        assert json.loads(kept[furnace.name])["decorators"] == {"depth": "2"}
        assert "CREATOR-NOTE-42" in rows.kept(story.store, "character")[0][1]


def test_a_card_speaks_of_its_character_by_name(tmp_path: Path) -> None:
    with story_of(bring(tmp_path, SAMPLES / "card-v2.json")) as story:
        definition = story.definition
        assert "Odile Marsh is clerk to a lighthouse" in definition.premise
        assert definition.instructions.startswith("Write as Odile Marsh. Never decide what you does.")
        assert story.state().values["story.note"] == "Keep to two paragraphs."
        assert "{{" not in definition.premise + definition.instructions


# ----------------------------------------------------------------------------------------------------------- the others


def test_a_scenario_asks(tmp_path: Path) -> None:
    asked = []

    def ask(question: str, usual: str) -> str:
        asked.append((question, usual))
        return "Ondine"

    (report,) = import_files([SAMPLES / "novelai.scenario"], around(tmp_path, ask))
    assert asked == [("name", "Tace")]
    with story_of(report) as story:
        assert story.head.text.startswith("Your name is Ondine, and")
    value = {"title": "S", "prompt": "You are ${Who are you?}.", "memory": "${Who are you?} is tired."}
    (report,) = import_files([write(tmp_path, "a.json", value)], around(tmp_path, lambda question, usual: "Bo"))
    with story_of(report) as story:
        assert (story.head.text, story.definition.premise) == ("You are Bo.", "Bo is tired.")


def test_an_adventure_tells_inputs_from_narration(tmp_path: Path) -> None:
    with story_of(bring(tmp_path, SAMPLES / "aidungeon-adventure.json")) as story:
        path = line(story)
        assert [(n.role, n.mode) for n in path] == [
            ("opening", None),
            ("player", "do"),
            ("narrator", None),
            ("player", "say"),
            ("narrator", None),
            ("narrator", "continue"),
        ]
        assert path[3].text == "The trees are in the sea."


def test_kobold_marks_of_an_instruction(tmp_path: Path) -> None:
    actions = ["{{[INPUT]}}Open it.{{[OUTPUT]}}", "It opens.", "\n{{[INPUT]}}\nGo in.\n{{[OUTPUT]}}\n", "It is dark."]
    value = {"gamestarted": True, "prompt": "A door.", "actions": actions}
    with story_of(bring(tmp_path, write(tmp_path, "a.json", value))) as story:
        path = line(story)
        assert [node.text for node in path] == ["A door.", "Open it.", "It opens.", "Go in.", "It is dark."]
        assert [node.role for node in path[1:]] == ["player", "narrator"] * 2


def test_loom_opens_where_it_was_left(tmp_path: Path) -> None:
    value = json.loads((SAMPLES / "loom-tree.json").read_bytes())
    value["selected_node_id"] = "6f0b1e00-0000-11ef-8000-000000000007"
    with story_of(bring(tmp_path, write(tmp_path, "a.json", value))) as story:
        assert story.head.text.startswith("me aloud")
        assert story.redo_steps == 3
        assert [each.name for each in story.checkpoints()] == ["The paper"]


def test_a_graph_that_tells_another_line_is_left_out(tmp_path: Path) -> None:
    value = json.loads((SAMPLES / "novelai.story").read_bytes())
    value["content"]["story"]["fragments"][2]["data"] = "\nThe foreman was edited."
    report = bring(tmp_path, write(tmp_path, "a.json", value))
    assert report.nodes == 5
    assert any(each.field == "datablocks" for each in report.details)


@pytest.mark.spec("X5")
def test_a_story_of_the_newer_editor_of_novelai(tmp_path: Path) -> None:
    path = tmp_path / "pier.story"
    path.write_bytes(container(document(*TALE)))
    report = bring(tmp_path / "shelf", path)
    assert (report.format, report.title, report.nodes) == ("novelai-story", "The Long Pier", 4)
    assert report.details[0].reason == "2 states of editing; the text stands as it is"
    with story_of(report) as story:
        found = line(story)
        assert [(node.role, node.text) for node in found] == [
            ("opening", TALE[0][0]),
            ("narrator", f"{TALE[1][0]}\n{TALE[2][0]}"),
            ("player", TALE[3][0]),
            ("narrator", f"\n{TALE[5][0]}"),
        ]
        assert story.definition.premise == "It is low water."
        assert story.state().values["story.note"] == "Short sentences."


@pytest.mark.spec("X3")
@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"\xc1\x05",
        b"\xd4\x72\x40\x91\x01\x01",
        b"\xd6\x62\xff\xff\xff\xff\xa0",
        b"\xd6\x62\x00\x00\x00\x00\xa0",
        b"\xdd\xff\xff\xff\xff",
        b"\x91" * 50_000,
        b"\xd4\x14\x00" * 50_000,
        b"\xd4\x69\x00\x80",
        b"\x81\x90\x01",
        b"\xd7\xff" + b"\xff" * 8,
        b"\x80",
    ],
    ids=lambda packed: packed[:8].hex() or "empty",
)
def test_a_document_that_is_none_is_refused_with_a_hint(tmp_path: Path, packed: bytes) -> None:
    path = tmp_path / "a.story"
    path.write_bytes(container(packed))
    with pytest.raises(BadImport, match=r"cannot be read|no text in the story"):
        bring(tmp_path / "shelf", path)
    whole = document(*TALE)
    for share in range(1, 20):
        path.write_bytes(container(whole[: len(whole) * share // 20]))
        with pytest.raises(BadImport, match="cannot be read"):
            bring(tmp_path / "shelf", path)


def test_textgen_shown_alone_is_unescaped(tmp_path: Path) -> None:
    value = json.loads((SAMPLES / "textgen-chat.json").read_bytes())
    del value["internal"]
    with story_of(bring(tmp_path, write(tmp_path, "a.json", value))) as story:
        assert "&quot;" not in "".join(node.text for node in line(story))


@pytest.mark.spec("S35", "C28")
@pytest.mark.parametrize("kind", ["canon", "reference", "inspiration"])
def test_prose_as_knowledge(tmp_path: Path, kind: str) -> None:
    report = bring(tmp_path, SAMPLES / "plain.md", as_format=kind)
    with story_of(report) as story:
        db = story.store.db
        assert db.execute("SELECT title, kind, enabled FROM knowledge").fetchall() == [("The Hollow Stair", kind, 1)]
        passages = [row[0] for row in db.execute("SELECT text FROM passages ORDER BY id")]
        source = (SAMPLES / "plain.md").read_text(encoding="utf-8")
        assert "".join("".join(passages).split()) == "".join(source.split())
        assert len(passages) == 3
        assert story.head.text == ""


# --------------------------------------------------------------------------------------------------------------- --into


@pytest.mark.spec("X6", "W13", "S35")
def test_cards_and_knowledge_are_added_and_change_no_node(tmp_path: Path) -> None:
    path = make(tmp_path / "mill.narrator")
    with closing(Story.open(path, clock=still)) as story:
        before = story.store.db.execute("SELECT * FROM nodes").fetchall()
    for _ in range(2):
        report = bring(tmp_path, SAMPLES / "aidungeon-cards.json", into=path)
    assert (report.into, report.campaigns, report.cards) == (str(path), [], 4)
    bring(tmp_path, SAMPLES / "plain.txt", into=path, as_format="reference")
    report = bring(tmp_path, SAMPLES / "card-v2.json", into=path)
    assert any("left out" in each.reason for each in report.details)
    with closing(Story.open(path, clock=still)) as story:
        names = [card.name for card in story.definition.cards]
        assert len(names) == len(set(names)) == 11
        assert names[4] == "The Orchard 2"
        kept = dict(rows.kept(story.store, "card"))
        assert json.loads(kept["Maud Perrin 2"])["description"] == "plot hook"
        assert story.store.db.execute("SELECT * FROM nodes").fetchall() == before
        assert story.store.db.execute("SELECT count(*) FROM knowledge").fetchone() == (1,)
    with pytest.raises(BadImport):
        bring(tmp_path, SAMPLES / "loom-tree.json", into=path)


@pytest.mark.spec("X4")
def test_nothing_is_written_when_one_of_several_files_is_bad(tmp_path: Path) -> None:
    bad = write(tmp_path, "bad.json", '{"a": ')
    with pytest.raises(BadImport):
        import_files([SAMPLES / "agnai-chat.json", bad], around(tmp_path / "shelf"))
    assert not (tmp_path / "shelf").exists()


@pytest.mark.spec("X4", "X11", "U8")
@pytest.mark.parametrize("stop_at", range(1, 9))
def test_a_stop_takes_back_the_campaigns_made_before_it(tmp_path: Path, stop_at: int) -> None:
    told: list[tuple[str, int, int]] = []

    def progress(what: str, done: int, total: int) -> None:
        told.append((what, done, total))
        if len(told) == stop_at:
            raise NarratorError("stopped", "Stopped.")

    files = [SAMPLES / "agnai-chat.json", SAMPLES / "textgen-chat.json"]
    with pytest.raises(NarratorError, match=r"Stopped\."):
        import_files(files, around(tmp_path / "shelf", progress=progress))
    assert not (tmp_path / "shelf").exists() or list((tmp_path / "shelf").iterdir()) == []
    assert told[:2] == [("check", 0, 6), ("check", 6, 6)][:stop_at]


@pytest.mark.spec("X5")
def test_every_key_that_is_not_used_has_a_line(tmp_path: Path) -> None:
    value = json.loads((SAMPLES / "agnai-chat.json").read_bytes())
    value["mood"] = "grey"
    value["messages"][2]["weather"] = {"rain": True}
    report = bring(tmp_path, write(tmp_path, "a.json", value))
    lines = {(each.where, each.field) for each in report.details}
    assert lines == {("mood", "mood"), ("messages[2].weather", "weather"), ("", "handle")}
    assert report.to_json()["notes"] == {"kept": 6, "changed": 0, "dropped": 3}
