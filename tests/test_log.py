"""The log: private, rotated, without story text and without keys."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from narrator import log


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "logs"
    logger = logging.getLogger("narrator")
    for handler in list(logger.handlers):
        log.stop(handler)


@pytest.mark.spec("U22")
def test_it_is_private_and_holds_no_story_text_unless_asked(folder: Path) -> None:
    handler = log.start(folder)
    logger = logging.getLogger("narrator.engine")
    logger.info("a turn began")
    logger.info("Rain.", extra={"story": True})
    log.stop(handler)
    handler = log.start(folder, has_story_text=True)
    logger.info("Snow.", extra={"story": True})
    log.stop(handler)
    text = (folder / "narrator.log").read_text()
    assert "a turn began" in text
    assert "Rain." not in text
    assert "Snow." in text
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "narrator.log").stat().st_mode & 0o777 == 0o600


@pytest.mark.spec("T16", "U22")
def test_keys_never_reach_it_in_whatever_way(folder: Path) -> None:
    key = "q7Zk-plain-looking-thing"
    log.hide(key)
    handler = log.start(folder)
    logger = logging.getLogger("narrator.narrators")
    logger.info("key %s", key)
    logger.info("Authorization: Bearer abc.def, {'api_key': 'ghi', \"x-api-key\": \"jkl\"} http://me:mno@host/")
    logger.info("sk-proj-0123456789abcdef")
    try:
        raise ValueError(f"refused {key}")
    except ValueError:
        logger.exception("it failed")
    log.stop(handler)
    text = (folder / "narrator.log").read_text()
    for secret in (key, "abc.def", "ghi", "jkl", "mno", "0123456789"):
        assert secret not in text
    assert "it failed" in text


def test_ordinary_words_stay() -> None:
    text = "tokens: 12, token count 7, the secret of the bell, basic rules"
    assert log.redact(text) == text


@pytest.mark.spec("U22")
def test_it_is_rotated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MAX_BYTES", 2000)
    handler = log.start(folder)
    for number in range(200):
        logging.getLogger("narrator").info("line %d with some words behind it", number)
    log.stop(handler)
    files = sorted(folder.iterdir())
    assert len(files) == log.KEPT + 1
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)


def test_a_folder_that_cannot_be_made_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert log.start(tmp_path / "file") is None
    logging.getLogger("narrator").info("nowhere")
