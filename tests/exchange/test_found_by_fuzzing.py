"""What ``make fuzz`` has found: each file here once made a traceback, a message of several lines or half an import."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from narrator.core.errors import BadImport
from tests.exchange.bringing import bring


def write(tmp_path: Path, data: Any, name: str = "a.json") -> Path:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    return path


@pytest.mark.spec("X3", "U10")
def test_a_name_of_several_lines_stays_in_a_message_of_one(tmp_path: Path) -> None:
    name = 'cam"\nopening = "Odile\r\n\u2028' + "x" * 5000
    text = json.dumps({"format": "narrator-campaign-v1", name: []}, ensure_ascii=False)
    with pytest.raises(BadImport) as refusal:
        bring(tmp_path, write(tmp_path, (text[:-1] + f", {json.dumps(name)}: []}}").encode()))
    assert len(refusal.value.message.splitlines()) == 1
    assert len(refusal.value.message) < 600


@pytest.mark.spec("X8")
@pytest.mark.parametrize("key", ["format", "campaign", "prompts"])
@pytest.mark.parametrize("value", [[], [None], ["narrator-campaign-v1"]], ids=str)
def test_a_list_where_a_bundle_has_one_value(tmp_path: Path, key: str, value: Any) -> None:
    bundle = {"format": "narrator-campaign-v1", "definitions": [], "branches": [], "nodes": [], key: value}
    with pytest.raises(BadImport, match=r"one value belongs here|is missing|no known format|format is"):
        bring(tmp_path, write(tmp_path, bundle), as_format="narrator")
