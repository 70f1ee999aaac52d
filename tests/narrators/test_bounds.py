"""Schemas that an answer ends within."""

from __future__ import annotations

import json
from typing import Any

import pytest

from narrator.core.answers import EXTRACTION_SCHEMA
from narrator.core.questions import MEMORY_SCHEMA
from narrator.core.summary import SUMMARY_SCHEMA
from narrator.narrators.bounds import bounded


def longest(schema: Any) -> Any:
    """The longest answer that a schema lets through, as far as this program's schemas go."""
    if "enum" in schema:
        return max(schema["enum"], key=lambda each: len(str(each)))
    if "properties" in schema:
        return {name: longest(each) for name, each in schema["properties"].items()}
    if "items" in schema:
        return [longest(schema["items"])] * schema["maxItems"]
    return "x" * schema["maxLength"] if "string" in schema.get("type", "") else 1


@pytest.mark.spec("T17", "T4")
@pytest.mark.parametrize("schema", [SUMMARY_SCHEMA, MEMORY_SCHEMA, EXTRACTION_SCHEMA])
@pytest.mark.parametrize("tokens", [256, 512, 1024, 4096])
def test_the_longest_answer_has_room(schema: Any, tokens: int) -> None:
    narrow = bounded(schema, tokens)
    size = len(json.dumps(longest(narrow)))
    assert size < 3 * tokens
    assert size > tokens / 2 or size > 400, "what is there is made use of"
    assert set(narrow) == set(schema)
    assert narrow["required"] == schema["required"]


@pytest.mark.spec("T17")
def test_what_has_a_bound_keeps_it() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}, "b": {"enum": ["x"]}}}
    assert bounded(schema, 1000) == schema
    few = {"type": "array", "maxItems": 2, "items": {"type": "number"}}
    assert bounded(few, 1000) == few
