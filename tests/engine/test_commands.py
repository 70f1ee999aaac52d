"""The command language: each line of U14 as it is typed and as an object, and what is wrong said well."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrator.core.errors import NarratorError
from narrator.engine.commands import COMMANDS, BranchRef, Command, StepRef, TakeRef, parse_line, parse_object
from narrator.engine.completion import complete, parse_if_word
from narrator.engine.spelling import as_line, as_object

U14 = """
/do /say /story TEXT · /continue · /undo [n] · /redo [n] · /undo-turn · /retry [step] [xN] [note] · /retell [step] · /takes [step] · /take N [step]
· /edit STEP TEXT · /edit-wording STEP TEXT · /correct PATH VALUE [because REASON] · /assert TEXT · /retract FACT · /save NAME · /save-at STEP NAME
· /restore NAME · /go STEP · /checkpoints · /rename-checkpoint OLD NEW · /delete-checkpoint NAME · /branches · /switch BRANCH
· /rename-branch BRANCH NAME · /fork [step] · /delete-branch BRANCH · /delete-take N [step] · /undelete · /pin N [step] · /unpin N [step]
· /prune all|days N|steps N · /back · /forward · /state [PATH] · /track on|off · /audit PATH · /checks · /memories · /remember TEXT · /pin-memory ID
· /forget-memory ID · /edit-memory ID TEXT · /cards · /card NAME [on|off|edit|delete] · /knowledge [ID on|off|remove] · /note TEXT · /persona TEXT
· /suggest · /prompt [step] · /read [n] · /search WORDS · /stats · /map · /export FILE · /script FILE [all] · /unscript · /record FILE · /replay FILE
· /status · /narrator [NAME] · /stop · /keep · /answer CHOICE · /help [COMMAND] · /quit
"""  # noqa: E501

EXAMPLES: list[tuple[str, str, dict[str, Any]]] = [
    ("look, don't touch", "do", {"text": "look, don't touch"}),
    ("//dance", "do", {"text": "/dance"}),
    ("/do undo", "do", {"text": "undo"}),
    ("/say “Hello”, he's gone", "say", {"text": "“Hello”, he's gone"}),
    ("", "continue", {"bare": True}),
    ("   ", "continue", {"bare": True}),
    ("/continue", "continue", {}),
    ("/undo", "undo", {}),
    ("/undo 3", "undo", {"n": 3}),
    ("/retry", "retry", {}),
    ("/retry 5", "retry", {"step": StepRef(position=5)}),
    ("/retry last x3", "retry", {"step": StepRef(), "n": 3}),
    ("/retry #7 ×2 darker, shorter", "retry", {"step": StepRef(node_id=7), "n": 2, "note": "darker, shorter"}),
    ("/retry xenial and kind", "retry", {"note": "xenial and kind"}),
    ("/take 2", "take", {"n": TakeRef(number=2)}),
    ("/take #19 12", "take", {"n": TakeRef(node_id=19), "step": StepRef(position=12)}),
    ("/edit 4 go  west", "edit", {"step": StepRef(position=4), "text": "go  west"}),
    ("/correct player.nerve 5", "correct", {"path": "player.nerve", "value": 5}),
    (
        "/correct player.nerve 5 because he's seen it",
        "correct",
        {"path": "player.nerve", "value": 5, "reason": "he's seen it"},
    ),
    ('/correct x "a because b" because c', "correct", {"path": "x", "value": "a because b", "reason": "c"}),
    ("/correct mood calm and dry because rain", "correct", {"path": "mood", "value": "calm and dry", "reason": "rain"}),
    ("/correct bag [1, 2]", "correct", {"path": "bag", "value": [1, 2]}),
    ("/correct x 5 miles", "correct", {"path": "x", "value": "5 miles"}),
    ("/save before the stairs", "save", {"name": "before the stairs"}),
    ('/save "so called"', "save", {"name": '"so called"'}),
    ("/save-at 3 the bell", "save-at", {"step": StepRef(position=3), "name": "the bell"}),
    ('/rename-checkpoint "the bell" the  big bell', "rename-checkpoint", {"old": "the bell", "new": "the  big bell"}),
    ("/rename-checkpoint bell gong", "rename-checkpoint", {"old": "bell", "new": "gong"}),
    ("/switch from step 3", "switch", {"branch": BranchRef(name="from step 3")}),
    ("/switch #4", "switch", {"branch": BranchRef(branch_id=4)}),
    (
        '/rename-branch "from step 3" the dry road',
        "rename-branch",
        {"branch": BranchRef("from step 3"), "name": "the dry road"},
    ),
    ("/prune all", "prune", {"all": True}),
    ("/prune days 30", "prune", {"days": 30}),
    ("/state", "state", {}),
    ("/state --all", "state", {"all": True}),
    ("/state --all player.nerve", "state", {"all": True, "path": "player.nerve"}),
    ("/track off", "track", {"switch": "off"}),
    ("/edit-memory #3 The bell is cracked.", "edit-memory", {"id": 3, "text": "The bell is cracked."}),
    ("/card The Lantern Road", "card", {"name": "The Lantern Road"}),
    ("/card The Lantern Road off", "card", {"name": "The Lantern Road", "action": "off"}),
    ('/card "Turn it on" on', "card", {"name": "Turn it on", "action": "on"}),
    ("/card The Reeve edit She is tall.", "card", {"name": "The Reeve", "action": "edit", "text": "She is tall."}),
    ("/knowledge 2 remove", "knowledge", {"id": 2, "action": "remove"}),
    ("/script my story.txt all", "script", {"file": "my story.txt", "all": True}),
    ("/answer worked-out", "answer", {"choice": "worked-out"}),
    ("/help retry", "help", {"command": "retry"}),
    ("/? undo", "help", {"command": "undo"}),
    ("/note", "note", {}),
    ("* the boy lies", "comment", {"text": "the boy lies"}),
]

WRONG: list[tuple[str, str, str]] = [
    ("/undoo", "unknown-command", "/undo [n]"),
    ("/", "unknown-command", "/help"),
    ("/undo 0", "bad-value", "/undo [n]"),
    ("/undo 1 2", "bad-value", "/undo [n]"),
    ("/undo ٣", "bad-value", "/undo [n]"),
    ("/go", "bad-value", "/go STEP"),
    ("/go nowhere", "bad-value", "/go STEP"),
    ("/do", "bad-value", "/do TEXT"),
    ("/edit 3", "bad-value", "/edit STEP TEXT"),
    ("/correct x", "bad-value", "because REASON"),
    ("/correct x 1 because", "bad-value", "because REASON"),
    ("/prune", "bad-value", "days N"),
    ("/prune weeks 3", "bad-value", "days N"),
    ("/track maybe", "bad-value", "on|off"),
    ("/continue now", "bad-value", "/continue"),
    ("/take two", "bad-value", "/take N"),
    ("/knowledge 3", "bad-value", "/knowledge"),
    ("*", "bad-value", "*"),
]


@pytest.mark.spec("U14", "U16")
def test_every_verb_of_the_table_stands_in_the_table() -> None:
    named = set(re.findall(r"/([a-z-]+)", U14))
    assert named <= set(COMMANDS)
    assert set(COMMANDS) - named == {"comment"}
    for verb in COMMANDS.values():
        assert verb.title
        assert verb.help.endswith((".", "one."))
        assert verb.usage.startswith(f"/{verb.name}")


@pytest.mark.spec("U14")
@pytest.mark.parametrize(("line", "name", "args"), EXAMPLES)
def test_lines_mean_what_they_say(line: str, name: str, args: dict[str, Any]) -> None:
    assert parse_line(line, 3) == Command(name, args, 3)


@pytest.mark.spec("U26")
@pytest.mark.parametrize(("line", "name", "args"), EXAMPLES)
def test_a_command_is_written_as_it_is_read(line: str, name: str, args: dict[str, Any]) -> None:
    command = Command(name, args)
    written = as_line(command)
    read = parse_object(json.loads(written)) if written.startswith("{") else parse_line(written)
    assert (read.name, read.args) == (name, args)


@pytest.mark.spec("U14")
@pytest.mark.parametrize(("line", "name", "args"), [example for example in EXAMPLES if example[2] != {"bare": True}])
def test_objects_mean_the_same(line: str, name: str, args: dict[str, Any]) -> None:
    command = Command(name, args, tag=7)
    assert parse_object(json.loads(json.dumps(as_object(command)))) == command


@pytest.mark.spec("U14")
@pytest.mark.parametrize(("line", "code", "hint"), WRONG)
def test_what_is_wrong_is_said_with_the_way_it_goes(line: str, code: str, hint: str) -> None:
    with pytest.raises(NarratorError) as raised:
        parse_line(line)
    assert raised.value.code == code
    assert hint in raised.value.hint


@pytest.mark.spec("U14")
def test_steps_and_takes_of_an_object_may_be_ids() -> None:
    found = parse_object({"command": "take", "n": {"id": 5}, "step": {"id": 3}}, 1)
    assert found.args == {"n": TakeRef(node_id=5), "step": StepRef(node_id=3)}
    assert parse_object({"command": "take", "take": 2, "step": "last"}).args == {"n": TakeRef(2), "step": StepRef()}
    assert parse_object({"command": "switch", "branch": 4}).args == {"branch": BranchRef(branch_id=4)}
    assert parse_object({"command": "retry", "n": 3, "note": None}).args == {"n": 3}
    assert parse_object({"command": "correct", "path": "x", "value": None}).args == {"path": "x", "value": None}
    assert parse_object({"command": "track", "on": True}).args == {"switch": "on"}
    assert parse_object({"command": "do", "text": " two\nlines "}).args == {"text": " two\nlines "}


@pytest.mark.spec("U14")
@pytest.mark.parametrize(
    "obj",
    [
        {},
        {"command": 3},
        {"command": "do"},
        {"command": "do", "text": 3},
        {"command": "do", "text": "  "},
        {"command": "undo", "n": "many"},
        {"command": "undo", "n": -1},
        {"command": "undo", "n": 1.5},
        {"command": "undo", "n": True},
        {"command": "undo", "count": 2},
        {"command": "take", "n": {"id": "5"}},
        {"command": "take", "n": {"node": 5}},
        {"command": "prune"},
        {"command": "prune", "days": 1, "all": True},
        {"command": "script", "file": "x", "all": "yes"},
    ],
)
def test_a_wrong_object_is_a_bad_value(obj: dict[str, Any]) -> None:
    with pytest.raises(NarratorError) as raised:
        parse_object(obj)
    assert raised.value.code == "bad-value"


@pytest.mark.parametrize("value", ["NaN", "1e999", "[" * 5000])
def test_values_that_no_file_keeps_are_text_on_a_line_and_refused_in_an_object(value: str) -> None:
    assert parse_line(f"/correct x {value}").args == {"path": "x", "value": value}
    with pytest.raises(NarratorError):
        parse_object({"command": "correct", "path": "x", "value": float("inf")})


def test_halves_of_characters_never_reach_the_story() -> None:
    assert parse_object(json.loads('{"command": "do", "text": "a\\ud800b"}')).args == {
        "text": "a\N{REPLACEMENT CHARACTER}b"
    }


def outcome(read: Callable[[], Command]) -> str:
    """The command's name, or the code of the error."""
    try:
        return read().name
    except NarratorError as error:
        return error.code


@given(st.text())
def test_every_line_is_a_command_or_a_named_error(line: str) -> None:
    assert outcome(lambda: parse_line(line)) in {*COMMANDS, "unknown-command", "bad-value"}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(COMMANDS)), st.data())
def test_every_object_is_a_command_or_a_named_error(name: str, data: st.DataObject) -> None:
    keys = [argument.name for argument in COMMANDS[name].arguments] or ["text"]
    obj = data.draw(st.dictionaries(st.sampled_from(keys), _JSON))
    assert outcome(lambda: parse_object({**obj, "command": name})) in {name, "unknown-command", "bad-value"}


@pytest.mark.spec("U6", "U14")
def test_completion_offers_verbs_choices_and_names() -> None:
    assert [found.line for found in complete("/undo")] == ["/undo ", "/undo-turn"]
    assert [found.label for found in complete("/track o")] == ["on", "off"]
    assert [found.line for found in complete("/restore Th", {"restore": ["the bell", "a boat"]})] == [
        "/restore the bell"
    ]
    assert [found.label for found in complete("/help ret")] == ["retry", "retell", "retract"]
    assert complete("//undo") == complete("look") == complete("/nothing x") == []


@pytest.mark.spec("U25")
def test_bare_words_of_interactive_fiction() -> None:
    last = Command("say", {"text": "hello"}, 1)
    assert parse_if_word(" Undo ", 4) == Command("undo", {}, 4)
    assert parse_if_word("restart") == Command("go", {"step": StepRef(position=1)})
    assert parse_if_word("g", 2, last_input=last) == Command("say", {"text": "hello"}, 2)
    assert parse_if_word("again") is None
    assert parse_if_word("undo the knot") is None
