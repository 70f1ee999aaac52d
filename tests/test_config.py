"""Settings: what is right is kept, what is wrong is named with its place, edits keep comments."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrator.config import NarratorSettings, Problem, Settings, parse, read, write
from narrator.core.errors import NarratorError

WHOLE = """
narrator = "mine"                 # the default
theme = "paper"
offline = true

[narrators.mine]
kind = "openai-compatible"
base_url = "http://127.0.0.1:8080/v1"
model = "some-model"
api_key_env = "MY_KEY"
context_window = 32768
timeout = 60
[narrators.mine.sampling]
temperature = 0.9
stop = ["###"]
[narrators.mine.price]
input = 0.25
cached = 0.03
output = 1

[narrators.tiny]
kind = "embedded"
model_path = "~/models/small.gguf"

[context]
high_watermark = 0.80
[limits]
per_session = 0.5
[scripted]
words_per_second = 0
[reading]
stop_at_unread = false
if_words = false
[keys]
"story.undo" = "ctrl+z"
"""


@pytest.mark.spec("U22")
def test_the_whole_file_is_read() -> None:
    settings, problems = parse(WHOLE)
    assert problems == ()
    mine = settings.narrators["mine"]
    assert (settings.narrator, settings.theme, settings.offline) == ("mine", "paper", True)
    assert (mine.context_window, mine.timeout, mine.retries, mine.tools) == (32768, 60.0, 2, "auto")
    assert mine.sampling == {"temperature": 0.9, "stop": ["###"]}
    assert mine.price is not None
    assert (mine.price.input, mine.price.cached, mine.price.output) == (0.25, 0.03, 1.0)
    assert settings.narrators["tiny"] == NarratorSettings("embedded", model_path="~/models/small.gguf")
    assert (settings.context.high_watermark, settings.context.low_watermark) == (0.8, 0.45)
    assert (settings.scripted.words_per_second, settings.limits.per_session) == (0.0, 0.5)
    assert (settings.reading.stop_at_unread, settings.reading.if_words) == (False, False)
    assert settings.keys == {"story.undo": "ctrl+z"}


@pytest.mark.spec("U22")
def test_without_a_file_all_is_as_it_comes(tmp_path: Path) -> None:
    assert read(tmp_path / "config.toml") == (Settings(), ())


@pytest.mark.spec("U22")
@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ('narator = "x"', "narator", "Did you mean narrator?"),
        ("theme = 3", "theme", "string"),
        ("[context]\nmemory_evry = 3", "context.memory_evry", "Did you mean memory_every?"),
        ("[context]\nmemory_every = 0", "context.memory_every", "greater than 0"),
        ('[context]\nmemory_every = "6"', "context.memory_every", "integer"),
        ("[context]\nlow_watermark = 0.9", "context.low_watermark", "below high_watermark"),
        ('[narrators.a]\nkind = "openai"', "narrators.a.kind", "openai-compatible"),
        ('[narrators.a]\nmodel = "x"', "narrators.a.kind", "missing"),
        ('[narrators.a]\nkind = "embedded"', "narrators.a", "needs model_path"),
        ('[narrators.a]\nkind = "scripted"\nprice = {inptu = 1}', "narrators.a.price.inptu", "Did you mean input?"),
        ('[narrators."my own"]\nkind = "scripted"\ntimeout = -1', 'narrators."my own".timeout', "greater than 0"),
        ('[keys]\n"story.undo" = 3', 'keys."story.undo"', "string"),
        ('narrator = "mnie"\n[narrators.mine]\nkind = "scripted"', "narrator", "Did you mean mine?"),
        ("narrators = 3", "narrators", "table"),
        ("context = [1]", "context", "table"),
    ],
)
def test_what_is_wrong_is_named_and_the_rest_holds(text: str, path: str, words: str) -> None:
    settings, problems = parse(f"offline = true\n{text}\n")
    assert settings.offline
    assert [problem.path for problem in problems] == [path]
    assert words in problems[0].message


@pytest.mark.spec("T16")
def test_a_key_written_into_the_file_is_refused_and_not_repeated() -> None:
    settings, problems = parse('[narrators.a]\nkind = "scripted"\napi_key = "sk-very-secret"')
    assert problems == (Problem("narrators.a.api_key", "There is no such key. Did you mean api_key_env?"),)
    assert settings.narrators["a"].kind == "scripted"


def test_a_syntax_error_has_its_line() -> None:
    settings, problems = parse('theme = "paper\n')
    assert settings == Settings()
    assert "line 1" in problems[0].message


def test_files_that_cannot_be_read_are_a_problem_and_no_end(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b'theme = "\xff"')
    assert "UTF-8" in read(path)[1][0].message
    assert "cannot be read" in read(tmp_path)[1][0].message


_VALUES = st.recursive(
    st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["scripted", "x", ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["kind", "a", "timeout"]), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(["narrator", "narrators", "context", "keys", "offline", "wrong"]), _VALUES))
def test_no_file_keeps_the_program_from_starting(raw: dict[str, object]) -> None:
    import tomlkit

    settings, problems = parse(tomlkit.dumps(raw))
    assert isinstance(settings, Settings)
    assert all(problem.message for problem in problems)


@pytest.mark.spec("U22")
def test_a_table_that_is_left_out_takes_no_other_along() -> None:
    text = "[narrators.one]\nwrong = 1\n[narrators.two]\n[narrators.three]\nkind = 'scripted'\n"
    settings, problems = parse(text)
    assert list(settings.narrators) == ["three"]
    assert [problem.path for problem in problems] == ["narrators.one.wrong", "narrators.one.kind", "narrators.two.kind"]


@pytest.mark.spec("U22")
def test_an_edit_keeps_comments_order_and_mode(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "config.toml"
    write(path, ("theme",), "dark")
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text(WHOLE)
    write(path, ("theme",), "light")
    write(path, ("narrators", "tiny", "timeout"), 5)
    write(path, ("keys", "story.undo"), None)
    write(path, ("limits", "per_campaign"), 5.0)
    write(path, ("nothing", "there"), None)
    text = path.read_text()
    assert text.startswith('\nnarrator = "mine"                 # the default\ntheme = "light"\n')
    settings, problems = read(path)
    assert problems == ()
    assert settings.narrators["tiny"].timeout == 5.0
    assert settings.keys == {}
    assert settings.limits.per_campaign == 5.0
    assert [found.name for found in path.parent.iterdir()] == ["config.toml"]


def test_an_edit_of_what_is_no_toml_leaves_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("theme = ")
    with pytest.raises(NarratorError) as raised:
        write(path, ("theme",), "dark")
    assert raised.value.code == "bad-value"
    assert path.read_text() == "theme = "


def test_an_edit_goes_through_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("# mine\n")
    link = tmp_path / "config.toml"
    link.symlink_to(real)
    write(link, ("theme",), "dark")
    assert link.is_symlink()
    assert real.read_text() == '# mine\ntheme = "dark"\n'


@pytest.mark.spec("T16")
@pytest.mark.parametrize("text", ['offline = "yes"\n', "offline = true\nnarrator = \n"])
def test_a_wrong_offline_keeps_words_on_this_machine(text: str) -> None:
    settings, problems = parse(text)
    assert settings.offline
    assert problems
