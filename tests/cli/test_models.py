"""``narrator models``: what it lists and keeps. What needs an engine stands in tests/narrators/test_embedded.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from narrator import config, paths
from narrator.cli import main
from tests.gguf_file import make_gguf


def settings() -> config.Settings:
    found, problems = config.read(paths.config_file())
    assert problems == ()
    return found


@pytest.mark.spec("T17", "U21")
def test_models_are_added_listed_and_removed(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = make_gguf(tmp_path / "My Tale 8B.gguf")
    assert main(["models", "list"]) == 0
    assert "models add" in capsys.readouterr().out
    assert main(["models", "add", str(file)]) == 0
    said = capsys.readouterr().out
    assert "A Tale Teller" in said
    assert "small" in said
    assert settings().narrators["my-tale-8b"].model_path == str(file)
    assert paths.config_file().stat().st_mode & 0o777 == 0o600
    assert main(["config", "set", "narrator", "my-tale-8b"]) == 0
    assert main(["models", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["models"]
    assert (listed["name"], listed["parameters"], listed["window"], listed["small"]) == ("my-tale-8b", 32, 4096, True)
    assert main(["models", "remove", "my-tale-8b"]) == 0
    assert settings() == config.Settings()
    assert file.exists()


@pytest.mark.spec("T17", "U21")
def test_what_cannot_be_is_refused(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = make_gguf(tmp_path / "tale.gguf")
    page = tmp_path / "page.gguf"
    page.write_text("<html>")
    assert main(["models", "add", str(file)]) == 0
    capsys.readouterr()
    for arguments, words in [
        (["add", str(file)], "already"),
        (["add", str(file), "--name", "scripted"], "already"),
        (["add", str(file), "--name", "a b.c"], "name"),
        (["add", str(page)], "no model"),
        (["add", str(tmp_path / "none.gguf")], "No such file"),
        (["remove", "other"], "tale"),
        (["try", "other"], "tale"),
    ]:
        assert main(["models", *arguments]) != 0
        assert words in capsys.readouterr().err
    file.unlink()
    assert main(["models", "list"]) == 0
    assert "No such file" in capsys.readouterr().out
    assert main(["models", "try", "tale"]) != 0
    assert "No such file" in capsys.readouterr().err
