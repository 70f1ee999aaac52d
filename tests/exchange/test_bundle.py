"""The bundle: what is in it, that it comes back whole, what a hand-edited one may and may not say (X4, X7, X8, X11)."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from narrator.core.cards import CardEdit
from narrator.core.errors import BadImport, BadValue, Damaged, NarratorError, StoreError
from narrator.core.tree import NewNode, Position, encode_correction
from narrator.engine.story import Story
from narrator.exchange.bundle_models import schema
from narrator.exchange.exporting import Wish, export
from narrator.exchange.importing import import_files
from narrator.store import commit, reads, rows
from narrator.store.commit import Acceptance
from narrator.store.verify import verify
from tests.exchange.bringing import SAMPLES, around, bring, still, story_of
from tests.store.making import DEFINITION, accept_turn, deepen, make, open_story


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """Takes, branches, an undone end, names, marks, memories, notes, a correction, places, something deleted."""
    path = make(tmp_path / "mill.narrator")
    with closing(open_story(path)) as story:
        first = accept_turn(story, 1)
        accept_turn(story, 2)
        story.save("The “mill”")
        deepen(story, 70)
        for number in range(3):
            accept_turn(story, 10 + number, at=first[-1])
        story.rename_branch(list(story.store.forest)[-1], "Side")
        story.pin(story.head, is_pinned=True)
        story.remember("The miller hums.")
        commit.remember(story.store, first[-1], "He told of the flood.", source="generated", first_depth=2)
        commit.comment(story.store, first[-1], "Check his name.")
        text = encode_correction("player.nerve", 5, 9, None)
        accept(story, NewNode("correction", text))
        story.restore("The “mill”")
        story.back()
        story.undo(1)
        spare = accept_turn(story, 99, at=first[0])
        story.go(story.node(first[-1]))
        story.delete(story.plan_delete_take(story.node(spare[-1])), "take")
    return path


def accept(story: Story, node: NewNode) -> None:
    commit.accept(story.store, Acceptance(story.head.id, (node,), story.position))


def exported(path: Path, target: Path, wish: Wish | None = None) -> dict[str, Any]:
    export(path, target, wish or Wish(), clock=still)
    text = gzip.decompress(target.read_bytes()) if target.name.endswith(".gz") else target.read_bytes()
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.spec("X7", "S42", "S44", "S2", "S3")
@pytest.mark.parametrize("name", ["one.json", "one.json.gz"])
def test_out_in_out_is_byte_identical(campaign: Path, tmp_path: Path, name: str) -> None:
    exported(campaign, tmp_path / name)
    report = bring(tmp_path / "shelf", tmp_path / name)
    exported(Path(report.campaigns[0]), tmp_path / f"again-{name}")
    assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()
    assert verify(Path(report.campaigns[0])).problems == ()
    assert report.counts["changed"] == report.counts["dropped"] == 0


@pytest.mark.spec("X7", "S41")
def test_nothing_derived_and_nothing_deleted_is_in_it(campaign: Path, tmp_path: Path) -> None:
    whole = exported(campaign, tmp_path / "one.json")
    text = (tmp_path / "one.json").read_text()
    keys = set(re.findall(r'"([a-z_]+)":', text))
    assert not {key for key in keys if "hash" in key or key in {"depth", "version", "path_name", "exported_at"}}
    assert "It is done, 99." not in text
    assert str(tmp_path) not in text
    with closing(open_story(campaign)) as story:
        assert len(whole["nodes"]) == reads.totals(story.store).nodes


@pytest.mark.spec("X7")
def test_the_schema_describes_what_is_written(campaign: Path, tmp_path: Path) -> None:
    from narrator.exchange.bundle_models import Bundle

    whole = exported(campaign, tmp_path / "one.json")
    Bundle.model_validate(whole)
    assert set(whole) <= set(schema()["properties"])


@pytest.mark.spec("X7", "X6")
def test_a_second_import_gets_another_name_and_keeps_the_id(campaign: Path, tmp_path: Path) -> None:
    exported(campaign, tmp_path / "one.json")
    first, second = (bring(tmp_path / "shelf", tmp_path / "one.json") for _ in range(2))
    assert first.campaigns != second.campaigns
    ids = set()
    for report in (first, second):
        with story_of(report) as story:
            ids.add(story.row.campaign_id)
    assert len(ids) == 1


@pytest.mark.spec("X4", "S43")
def test_a_dry_run_writes_nothing(campaign: Path, tmp_path: Path) -> None:
    exported(campaign, tmp_path / "one.json")
    report = bring(tmp_path / "shelf", tmp_path / "one.json", is_dry=True)
    assert report.nodes > 70
    assert report.campaigns == []
    assert not (tmp_path / "shelf").exists()


def edited(campaign: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    whole = exported(campaign, tmp_path / "one.json")
    change(whole)
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(whole, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


REFUSED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a later parent": (lambda w: w["nodes"][4].update(parent=9), "nodes[4].parent"),
    "a parent that is itself": (lambda w: w["nodes"][4].update(parent=5), "nodes[4].parent"),
    "no parent": (lambda w: w["nodes"][4].pop("parent"), "nodes[4]"),
    "an opening below": (lambda w: w["nodes"][4].update(role="opening"), "nodes[4]"),
    "a role that is none": (lambda w: w["nodes"][4].update(role="judge"), "nodes[4].role"),
    "a branch that is not there": (lambda w: w["nodes"][4].update(branch=99), "nodes[4].branch"),
    "a branch from elsewhere": (lambda w: w["nodes"][4].update(branch=2), "nodes[4].branch"),
    "no branch with steps below": (lambda w: w["nodes"][2].pop("branch"), "nodes[2]"),
    "an empty branch": (lambda w: w["branches"].append({"fork": 2}), "branches["),
    "a head that is not there": (lambda w: w["campaign"].update(head=9999), "campaign.head"),
    "a checkpoint of nothing": (lambda w: w["checkpoints"][0].update(node=9999), "checkpoints[0].node"),
    "a memory of nothing": (lambda w: w["memories"][0].update(node=9999), "memories"),
    "a correction in prose": (
        lambda w: next(n for n in w["nodes"] if n["role"] == "correction").update(text="He is brave."),
        ".text",
    ),
    "a definition that is none": (lambda w: w["definitions"][0].update(source="x = ["), "definitions[0].source"),
    "no nodes": (lambda w: w.update(nodes=[]), "nodes"),
    "no campaign": (lambda w: w.pop("campaign"), "campaign"),
    "an operation that is none": (lambda w: w["nodes"][0]["events"][0].update(op="melt"), "nodes[0].events[0].op"),
    "a text that is a list": (lambda w: w["nodes"][3].update(text=["a"]), "nodes[3].text"),
    "a number that is none": (lambda w: w["nodes"][3].update(parent="x"), "nodes[3].parent"),
    "nodes as an object": (lambda w: w.update(nodes={}), "nodes"),
}


@pytest.mark.spec("X8", "S43", "X4")
@pytest.mark.parametrize("case", REFUSED)
def test_a_contradiction_is_refused_with_its_place(campaign: Path, tmp_path: Path, case: str) -> None:
    change, place = REFUSED[case]
    path = edited(campaign, tmp_path, change)
    with pytest.raises(BadImport) as refusal:
        bring(tmp_path / "shelf", path)
    assert place in refusal.value.message
    assert not (tmp_path / "shelf").exists()


@pytest.mark.spec("X8")
def test_two_takes_at_one_coordinate_are_parted(tmp_path: Path) -> None:
    path = make(tmp_path / "mill.narrator")
    with closing(open_story(path)) as story:
        first = accept_turn(story, 1)
        accept_turn(story, 2)
        accept_turn(story, 3, at=first[-1])
        accept_turn(story, 4)
        accept_turn(story, 5, at=first[-1])

    def change(whole: dict[str, Any]) -> None:
        """All of the second branch, and the leaf, are said to lie on the first."""
        del whole["branches"][1:]
        for node in whole["nodes"]:
            node["branch"] = 1

    report = bring(tmp_path / "shelf", edited(path, tmp_path, change))
    assert report.counts["changed"] >= 2
    assert verify(Path(report.campaigns[0])).problems == ()
    with closing(open_story(path)) as story:
        texts = [row[0] for row in story.store.db.execute("SELECT text FROM nodes ORDER BY id")]
    with story_of(report) as story:
        assert [row[0] for row in story.store.db.execute("SELECT text FROM nodes ORDER BY id")] == texts


@pytest.mark.spec("X8", "X5")
def test_a_wrong_choice_is_corrected_and_noted(campaign: Path, tmp_path: Path) -> None:
    def change(whole: dict[str, Any]) -> None:
        whole["campaign"]["tip"] = 2
        whole["checkpoints"].append(dict(whole["checkpoints"][0]))
        whole["visits"].append({"tip": 1, "head": 1})

    report = bring(tmp_path / "shelf", edited(campaign, tmp_path, change))
    assert verify(Path(report.campaigns[0])).problems == ()
    places = {detail.where for detail in report.details}
    assert {"campaign", "checkpoints[1]"} <= places


@pytest.mark.spec("X5")
def test_values_of_the_wrong_type_are_read_and_noted(campaign: Path, tmp_path: Path) -> None:
    def change(whole: dict[str, Any]) -> None:
        whole["campaign"].update(head="3", tracking="false", seed=7.0, narrator=None, mood="blue")
        whole["nodes"][1].update(pinned=1, rolls=True, created_at=None, colour="red")
        whole["extra"] = {"a": 1}

    report = bring(tmp_path / "shelf", edited(campaign, tmp_path, change))
    assert report.counts["changed"] == 6
    assert report.counts["dropped"] == 3
    assert verify(Path(report.campaigns[0])).problems == ()
    with story_of(report) as story:
        assert story.head.id == 3


@pytest.mark.spec("X3", "X4", "S43")
def test_a_file_that_was_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    path = make(tmp_path / "mill.narrator")
    with closing(open_story(path)) as story:
        accept_turn(story, 1)
    export(path, tmp_path / "one.json", Wish(), clock=still)
    data = (tmp_path / "one.json").read_bytes()
    for end in [*range(0, len(data) - 2, 37), len(data) - 3]:
        (tmp_path / "cut.json").write_bytes(data[:end])
        with pytest.raises(BadImport):
            bring(tmp_path / "shelf", tmp_path / "cut.json", as_format="narrator")
    packed = gzip.compress(data)
    (tmp_path / "cut.json.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(BadImport):
        bring(tmp_path / "shelf", tmp_path / "cut.json.gz", as_format="narrator")
    assert not (tmp_path / "shelf").exists()


@pytest.mark.spec("X2")
@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_other_encodings_make_the_same_campaign(campaign: Path, tmp_path: Path, codec: str) -> None:
    exported(campaign, tmp_path / "one.json")
    text = (tmp_path / "one.json").read_text(encoding="utf-8")
    (tmp_path / "other.json").write_bytes(text.encode(codec))
    report = bring(tmp_path / "shelf", tmp_path / "other.json", as_format="narrator")
    exported(Path(report.campaigns[0]), tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


@pytest.mark.spec("X2")
def test_lone_surrogates_are_replaced_and_counted(campaign: Path, tmp_path: Path) -> None:
    path = edited(campaign, tmp_path, lambda whole: None)
    text = path.read_text(encoding="utf-8").replace("The wheel stands still.", "The \\ud800 wheel \\uDFFF stands.")
    path.write_text(text, encoding="utf-8")
    report = bring(tmp_path / "shelf", path)
    assert any("surrogates" in detail.reason for detail in report.details)
    with story_of(report) as story:
        assert story.node(1).text == "The � wheel � stands."


@pytest.mark.spec("X11", "S43")
@pytest.mark.parametrize("at", range(1, 6))
def test_a_stop_leaves_nothing_behind(tmp_path: Path, at: int) -> None:
    path = make(tmp_path / "mill.narrator")
    with closing(open_story(path)) as story:
        deepen(story, 3000)
    target = tmp_path / "one.json"
    calls = 0

    def stop(what: str, done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == at:
            raise NarratorError("stopped", "Stopped.")

    with pytest.raises(NarratorError, match="Stopped"):
        export(path, target, Wish(), clock=still, progress=stop)
    assert {each.name for each in tmp_path.iterdir()} <= {f"mill.narrator{end}" for end in ("", "-wal", "-shm")}
    export(path, target, Wish(), clock=still)
    calls = 0
    with pytest.raises(NarratorError, match="Stopped"):
        import_files([target], around(tmp_path / "shelf", progress=stop))
    shelf = tmp_path / "shelf"
    assert not shelf.exists() or list(shelf.iterdir()) == []


@pytest.mark.spec("X7")
def test_a_file_that_is_there_is_not_replaced(campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text("mine")
    with pytest.raises(NarratorError) as refusal:
        export(campaign, tmp_path / "one.json", Wish(), clock=still)
    assert refusal.value.code == "io-error"
    assert (tmp_path / "one.json").read_text() == "mine"


@pytest.mark.spec("W13")
def test_all_versions_of_the_definition_come_along(campaign: Path, tmp_path: Path) -> None:
    with closing(open_story(campaign)) as story:
        later = DEFINITION + '[state.player.luck]\ntype = "number"\n'
        with story.store.transaction() as db:
            db.execute(rows.insertion("definitions"), (2, later, still()))
    whole = exported(campaign, tmp_path / "one.json")
    assert [each["source"] for each in whole["definitions"]] == [DEFINITION, later]
    with story_of(bring(tmp_path / "shelf", tmp_path / "one.json")) as story:
        assert "player.luck" in story.definition.fields


@pytest.mark.spec("X7", "S44")
def test_head_tip_and_redo_come_along(campaign: Path, tmp_path: Path) -> None:
    exported(campaign, tmp_path / "one.json")
    with closing(open_story(campaign)) as story:
        before = (story.count, story.redo_steps, story.head.text, story.tip.text)
        assert story.redo_steps > 0
    with story_of(bring(tmp_path / "shelf", tmp_path / "one.json")) as story:
        assert (story.count, story.redo_steps, story.head.text, story.tip.text) == before
        assert story.position != Position(story.tip.id, story.tip.id)


@pytest.mark.spec("X7")
def test_a_campaign_is_never_written_over(campaign: Path, tmp_path: Path) -> None:
    before = campaign.read_bytes()
    for name in ("mill.narrator", "mill.narrator-wal", "other.narrator"):
        with pytest.raises(BadValue):
            export(campaign, tmp_path / name, Wish("bundle", replaces=True), clock=still)
    assert campaign.read_bytes() == before


@pytest.mark.spec("X11", "S43")
def test_a_full_disk_leaves_nothing_behind(campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    export(campaign, tmp_path / "one.json", Wish(), clock=still)
    straight = rows.write_straight

    def small(store: Any) -> None:
        straight(store)
        store.db.execute("PRAGMA max_page_count = 60")

    monkeypatch.setattr(rows, "write_straight", small)
    with pytest.raises(StoreError) as refusal:
        bring(tmp_path / "shelf", tmp_path / "one.json")
    assert refusal.value.code == "disk-full"
    assert list((tmp_path / "shelf").iterdir()) == []


@pytest.mark.spec("X7", "S35", "X6")
def test_imported_cards_stand_beside_the_definition_and_come_along(campaign: Path, tmp_path: Path) -> None:
    with closing(open_story(campaign)) as story:
        before = reads.definition_source(story.store)
    bring(tmp_path, SAMPLES / "aidungeon-cards.json", into=campaign)
    with closing(open_story(campaign)) as story:
        assert reads.definition_source(story.store) == before
        cards = story.definition.cards
        assert len(cards) == 4
        story.edit_card(cards[1], CardEdit(text="Of another colour."))
        cards = story.definition.cards
    whole = exported(campaign, tmp_path / "one.json")
    assert [card["name"] for card in whole["cards"]] == [card.name for card in cards]
    report = bring(tmp_path / "shelf", tmp_path / "one.json")
    assert report.cards == 4
    with story_of(report) as story:
        assert story.definition.cards == cards
    exported(Path(report.campaigns[0]), tmp_path / "again.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "again.json").read_bytes()


@pytest.mark.spec("X7", "X8", "S43")
def test_cards_of_a_bundle_are_checked_and_two_of_one_name_are_told_apart(campaign: Path, tmp_path: Path) -> None:
    whole = exported(campaign, tmp_path / "one.json")
    whole["cards"] = [{"name": "Lamp", "text": "It burns."}, {"name": "Lamp", "text": "It is out.", "keys": ["lamp"]}]
    (tmp_path / "two.json").write_text(json.dumps(whole))
    report = bring(tmp_path / "shelf", tmp_path / "two.json")
    assert report.counts["changed"] == 1
    with story_of(report) as story:
        assert [(card.name, card.text) for card in story.definition.cards] == [
            ("Lamp", "It burns."),
            ("Lamp 2", "It is out."),
        ]
    for keys, place in (({"regex": True, "keys": ["("]}, "cards[0]"), ({"scan_depth": -1}, "cards[0].scan_depth")):
        whole["cards"] = [{"name": "Lamp", "text": "It burns.", **keys}]
        (tmp_path / "bad.json").write_text(json.dumps(whole))
        with pytest.raises(BadImport, match=re.escape(place)):
            bring(tmp_path / "none", tmp_path / "bad.json")
        assert not (tmp_path / "none").exists()


@pytest.mark.spec("S35", "S47")
def test_a_card_that_cannot_be_read_is_damage_and_is_named(campaign: Path, tmp_path: Path) -> None:
    bring(tmp_path, SAMPLES / "aidungeon-cards.json", into=campaign)
    with closing(open_story(campaign)) as story:
        name = story.definition.cards[0].name
        story.store.db.execute("UPDATE cards SET body = '{' WHERE name = ?", (name,))
    with pytest.raises(Damaged, match=name):
        open_story(campaign)
    assert [problem.text for problem in verify(campaign).problems if name in problem.text]


@pytest.mark.spec("X5", "X8")
def test_a_node_is_read_the_same_whether_or_not_it_was_mended(campaign: Path, tmp_path: Path) -> None:
    """One that the model accepts is taken as it stands the second time; one key too many, and it goes by the model."""
    bundle, odd = tmp_path / "one.json", tmp_path / "odd.json"
    export(campaign, bundle, Wish(), clock=still)
    body = json.loads(bundle.read_text(encoding="utf-8"))
    for node in body["nodes"]:
        node["colour"] = "blue"
        for event in node.get("events", ()):
            event["colour"] = "red"
    odd.write_text(json.dumps(body), encoding="utf-8")
    made = [bring(tmp_path / name, path).campaigns[0] for name, path in (("plain", bundle), ("mended", odd))]
    with closing(sqlite3.connect(made[0])) as one, closing(sqlite3.connect(made[1])) as other:
        for table in ("nodes", "state_events", "checks", "snapshots", "branches"):
            rows = [list(db.execute(f"SELECT * FROM {table} ORDER BY 1, 2")) for db in (one, other)]
            assert rows[0] == rows[1], table
            assert rows[0] or table == "checks"
