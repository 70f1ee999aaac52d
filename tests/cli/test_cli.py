"""The command line, in process: what it prints, its exit codes, one line an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from narrator import __version__
from narrator.cli import FAMILIES, main
from narrator.cli.settings import load
from tests.core.test_review import SOUND

DEFINITION = '[campaign]\nid = "ferry"\ntitle = "The Ferry"\nopening = "Rain falls."\n'


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    path = tmp_path / "ferry.toml"
    path.write_text(DEFINITION)
    return path


def make(definition: Path, *arguments: str) -> None:
    assert main(["new", "--from", str(definition), *arguments]) == 0


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on standard error."""
    found = capsys.readouterr()
    assert found.err.count("\n") == 1, found.err
    assert found.err.startswith("narrator: ")
    return found.err


@pytest.mark.spec("U21")
def test_version_and_help(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"narrator {__version__}\n"
    for name in FAMILIES:
        assert main([name, "--help"]) == 0
        text = capsys.readouterr().out
        assert f"narrator {name}" in text
        assert "Example" in text
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in FAMILIES)
    assert not home.exists()


@pytest.mark.spec("U21", "U15")
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nothing"], 2, "--help"),
        (["play"], 2, "CAMPAIGN"),
        (["play", "x", "--width", "3"], 2, "--width"),
        (["play", "x", "--yes", "--no"], 2, "exclude"),
        (["verify", "nowhere"], 1, "narrator list"),
        (["new", "--from", "nowhere"], 1, "lantern-road"),
        (["new", "--from", "lantern-road", "--name", "../up"], 2, "name"),
        (["schema", "nothing"], 2, "events"),
        (["config", "set", "context.memory_every", "0"], 2, "memory_every"),
        (["config", "set", "themes", "paper"], 2, "theme"),
    ],
)
def test_an_error_is_one_line_that_says_what_to_do(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    assert main(arguments) == code
    assert words in error_of(capsys)


@pytest.mark.spec("U21")
def test_new_list_verify(home: Path, definition: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(definition)
    made = Path(capsys.readouterr().out.strip())
    assert made == home / "campaigns" / "ferry.narrator"
    assert made.stat().st_mode & 0o777 == 0o600
    assert made.parent.stat().st_mode & 0o777 == 0o700
    make(definition)
    assert capsys.readouterr().out.strip().endswith("ferry-2.narrator")
    make(definition, "--name", "My own", "--seed", "5")
    capsys.readouterr()
    (home / "campaigns" / "odd.narrator").write_text("no database")
    assert main(["list", "--json"]) == 0
    books = json.loads(capsys.readouterr().out)
    assert [book["name"] for book in books] == ["My own", "ferry-2", "ferry", "odd"]
    assert (books[0]["title"], books[0]["steps"], books[0]["words"]) == ("The Ferry", 1, 2)
    assert books[3]["problem"]
    assert main(["list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert main(["verify", "ferry", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, "nodes": 1, "branches": 1, "problems": []}
    assert main(["verify", "odd", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["problems"][0]["invariant"]) == (False, "file")
    assert main(["new", "--from", str(definition), "--name", "My own"]) == 2


@pytest.mark.spec("U21")
def test_a_name_a_part_of_it_or_a_path(home: Path, definition: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(definition, "--name", "north road")
    make(definition, "--name", "north sea")
    capsys.readouterr()
    for named in ("north sea", "NORTH SEA", "sea", str(home / "campaigns" / "north sea.narrator")):
        assert main(["verify", named]) == 0
    capsys.readouterr()
    assert main(["verify", "north"]) == 1
    assert "north road" in error_of(capsys)
    assert main(["verify", "noth sea"]) == 1
    assert "Did you mean north sea?" in error_of(capsys)
    assert main(["verify", "./north sea.narrator"]) == 1


@pytest.mark.spec("W13", "U21")
def test_a_definition_with_errors_names_them_all_and_makes_nothing(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(DEFINITION + '[state.player.nerve]\ntype = "nubmer"\n[[cards]]\ntext = "x"\n')
    assert main(["new", "--from", str(path)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("narrator: ") for line in lines)
    assert not list((home / "campaigns").glob("*"))


@pytest.mark.spec("U22")
def test_a_backup_is_made_listed_and_brought_back(
    home: Path, definition: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(definition)
    assert main(["backup", "ferry"]) == 0
    capsys.readouterr()
    assert main(["backup", "ferry", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    campaign = home / "campaigns" / "ferry.narrator"
    campaign.write_text("ruined")
    assert main(["backup", "ferry", "--restore"]) == 0
    assert main(["verify", "ferry"]) == 0
    aside = [
        path
        for path in campaign.parent.iterdir()
        if "replaced" in path.name and not path.name.endswith(("-wal", "-shm"))
    ]
    assert [path.read_text() for path in aside] == ["ruined"]
    campaign.unlink()
    assert main(["backup", "ferry", "--restore"]) == 0
    assert main(["verify", "ferry"]) == 0
    capsys.readouterr()
    assert main(["backup", "ferry", "--to", str(home / "copy.narrator")]) == 0
    assert main(["verify", str(home / "copy.narrator")]) == 0
    capsys.readouterr()
    assert main(["backup", "ferry", "--to", str(home / "copy.narrator")]) == 1


@pytest.mark.spec("U22")
def test_a_backup_is_not_put_under_a_game_that_is_being_played(
    home: Path, definition: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from narrator.engine.story import Story

    make(definition)
    assert main(["backup", "ferry"]) == 0
    story = Story.open(home / "campaigns" / "ferry.narrator")
    try:
        capsys.readouterr()
        assert main(["backup", "ferry"]) == 0
        assert main(["backup", "ferry", "--restore"]) == 1
        assert story.count == 1
    finally:
        story.close()


@pytest.mark.spec("U22")
def test_config_is_shown_checked_and_changed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "path"]) == 0
    assert capsys.readouterr().out.strip() == str(home / "config.toml")
    assert main(["config", "check"]) == 0
    assert main(["config", "set", "theme", "paper"]) == 0
    assert main(["config", "set", "keys.story.undo", "ctrl+z"]) == 0
    text = (home / "config.toml").read_text()
    assert 'theme = "paper"' in text
    assert '"story.undo" = "ctrl+z"' in text
    (home / "config.toml").write_text(f"# mine\nthem = 3\n{text}")
    capsys.readouterr()
    assert main(["config", "check"]) == 1
    assert "Did you mean theme?" in capsys.readouterr().out
    assert main(["config", "set", "theme", "dark"]) == 0
    assert (home / "config.toml").read_text().startswith("# mine\n")


@pytest.mark.spec("U21")
@pytest.mark.parametrize("kind", ["events", "config", "definition"])
def test_schemas_are_json_schemas(home: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    assert main(["schema", kind]) == 0
    assert "$defs" in json.loads(capsys.readouterr().out)


@pytest.mark.spec("U21")
def test_the_doctor_tries_things(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ok"]
    assert {"python", "campaign file", "config.toml"} <= {finding["what"] for finding in report["findings"]}
    home.mkdir()
    (home / "config.toml").write_text(
        'offlin = true\n[narrators.a]\nkind = "embedded"\nmodel_path = "/no/such/model.gguf"\n'
    )
    assert main(["doctor"]) == 1
    bad = [line for line in capsys.readouterr().out.splitlines() if line.startswith("BAD")]
    assert len(bad) == 2


@pytest.mark.spec("U21")
def test_a_fault_of_the_program_is_one_line_and_a_traceback_in_the_log(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FAMILIES, "verify", ("no_such_module", ""))
    assert main(["verify", "x"]) == 1
    assert "fault of the program" in error_of(capsys)
    assert "Traceback" in (home / "logs" / "narrator.log").read_text()
    with pytest.raises(ModuleNotFoundError):
        main(["--debug", "verify", "x"])


@pytest.mark.spec("S40", "U21")
def test_prune_shows_asks_and_deletes(
    home: Path, definition: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make(definition)
    (home / "config.toml").write_text("[scripted]\nwords_per_second = 0\n")
    play = [sys.executable, "-m", "narrator", "play", "ferry", "--plain", "--strict"]
    subprocess.run(play, input="look\n/retry\n", text=True, check=True, capture_output=True, timeout=30)
    prune = [sys.executable, "-m", "narrator", "prune", "ferry", "--all"]
    asked = subprocess.run(prune, input="\n", text=True, check=True, capture_output=True, timeout=30).stdout
    assert asked.startswith("1 step, ")
    assert "Nothing was deleted." in asked
    capfd.readouterr()
    assert main(["prune", "ferry", "--all", "--yes"]) == 0
    assert "Deleted." in capfd.readouterr().out
    assert main(["prune", "ferry", "--all"]) == 0
    assert main(["prune", "ferry"]) == 2
    assert main(["verify", "ferry"]) == 0


@pytest.mark.spec("U11", "U21")
def test_themes_are_listed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "themes").mkdir(parents=True)
    (home / "themes" / "mine.toml").write_text('name = "mine"\ndark = false\n')
    (home / "config.toml").write_text('theme = "mine"\n')
    assert main(["themes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "mine: light, your own, chosen" in lines
    assert len(lines) > 4


@pytest.mark.spec("U15", "U21")
def test_an_unknown_narrator_leaves_nothing_behind(home: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "narrator", "play", "lantern-road", "--plain", "--narrator", "nobody"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )
    assert found.returncode == 3
    assert found.stderr == "narrator: There is no narrator “nobody”. (There are: scripted.)\n"
    assert not (home / "campaigns").exists()


@pytest.mark.spec("U21", "T14")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_disk_is_named(home: Path, definition: Path) -> None:
    make(definition)
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(
            [sys.executable, "-m", "narrator", "export", "ferry", "-"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=30,
            check=False,
        )
    assert found.returncode == 1
    assert found.stderr.startswith("narrator: The disk is full")
    assert found.stderr.count("\n") == 1


@pytest.mark.spec("U22")
def test_what_concerns_the_whole_config_names_it_once(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("narrator = ")
    (note,) = load()[1]
    assert note.count("config.toml") == 1
    (home / "config.toml").write_text("theme = 3")
    assert load()[1][0].startswith("config.toml: theme: ")


@pytest.mark.spec("U21")
def test_the_library_takes_a_part_of_a_name(home: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "narrator"],
        input="a\nlantern\n",
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=True,
    )
    assert "That may be " in found.stdout
    assert "The Lantern Road. Told from written scenes; no model is needed." in found.stdout


@pytest.mark.spec("U21")
def test_the_library_is_a_numbered_list_without_a_screen(home: Path, definition: Path) -> None:
    make(definition)
    (home / "config.toml").write_text("[scripted]\nwords_per_second = 0\n")
    library = [sys.executable, "-m", "narrator"]
    answered = subprocess.run(
        library, input="nothing\n1\nlook\n", text=True, check=True, capture_output=True, timeout=30
    )
    assert "1. ferry: The Ferry." in answered.stdout
    assert "There is no nothing." in answered.stdout
    assert "Told from written scenes;" in answered.stdout
    assert subprocess.run(library, input="", text=True, check=True, capture_output=True, timeout=30).stderr == ""


@pytest.mark.spec("U21")
def test_the_shell_completes_commands_and_campaigns(home: Path, definition: Path) -> None:
    make(definition)

    def completed(words: str) -> list[str]:
        environment = {"_NARRATOR_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "2"}
        found = subprocess.run(
            [sys.executable, "-c", "from narrator.cli import main; main([])"],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        return found.stdout.split()

    assert completed("narrator play fe") == ["plain,ferry"]
    assert "plain,lantern-road" in completed("narrator play lan")


@pytest.mark.spec("U23")
def test_the_authors_check_names_what_nobody_can_meet(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sound, broken = tmp_path / "sound.toml", tmp_path / "broken.toml"
    sound.write_text(SOUND, encoding="utf-8")
    broken.write_text(SOUND.replace('when = "flags.mended"', "when = \"location == 'sea'\""), encoding="utf-8")
    assert main(["new", "--check", str(sound), "--turns", "200"]) == 0
    assert capsys.readouterr().out == "Nothing found in 200 turns of play.\n"
    assert main(["new", "--check", str(broken), "--turns", "200"]) == 1
    assert "storylets.draw: can never fire" in capsys.readouterr().out
    assert main(["new"]) == 2
