"""One table over all readers: what every one of them must bear (X1-X6).

Good files in every encoding, cut off, with nulls, numbers as text, keys missing, unknown and twice; 50 MB, 100,000
entries, 50,000 levels; and hostile text in every place. Each is read or refused with one line, and never half.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from narrator.core.errors import NarratorError
from narrator.exchange.importing import import_files
from narrator.exchange.report import Report
from narrator.store.verify import verify
from tests.exchange.bringing import around, story_of
from tests.exchange.novelai_packing import document
from tests.fuzz.mutating import mutate, unwrap
from tests.fuzz.readers import READERS, Examiner, Reader, seeds, uncovered

ALL = sorted(READERS.values(), key=lambda reader: reader.name)
OF_JSON = [reader for reader in ALL if not reader.is_prose and reader.name != "detect"]
HOSTILE = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J \x00 [/] [@click=app.quit]x[/] <script>alert(1)</script> ../../escaped "
    "{{user}} ${a} \u202eevil \u2028\x85\r\n \ud800 \ufeff e\u0301 👩‍🚀 '''\"\"\" \\"
)
PATTERNS = ["/(a+)+$/", "/(?:a{1,1000}){1,1000}/i", "/[/", "/" + "(" * 300 + ")" * 300 + "/", "(a+)+$", "/a/gimsuy"]


def named(reader: Reader) -> str:
    return reader.name


every = pytest.mark.parametrize("reader", ALL, ids=named)
of_json = pytest.mark.parametrize("reader", OF_JSON, ids=named)


class Bench:
    """Files of one reader, imported from a scratch folder."""

    def __init__(self, reader: Reader, folder: Path) -> None:
        self.reader = reader
        self.folder = folder
        self.shelf = folder / "shelf"

    def values(self) -> Iterator[Any]:
        """The seeds as JSON values; a file of lines is a list of its lines."""
        for data in seeds(self.reader):
            text = unwrap(data) or b""
            lines = text.decode("utf-8-sig").split("\n")
            yield [json.loads(each) for each in lines if each.strip()] if self.reader.has_lines else json.loads(text)

    def packed(self, value: Any, codec: str = "utf-8", **options: Any) -> bytes:
        """A value as a file of this kind."""
        values = value if self.reader.has_lines else [value]
        text = "\n".join(json.dumps(each, **options) for each in values)
        return self.reader.wrap(text.encode(codec, "replace" if codec == "cp1252" else "surrogatepass"))

    def check(self, refusal: NarratorError, before: list[Path]) -> None:
        """A refusal is one line and has left nothing behind."""
        assert len(str(refusal).splitlines()) == 1, refusal
        assert len(str(refusal)) < 1000
        assert (sorted(self.shelf.iterdir()) if self.shelf.exists() else []) == before

    def bring(self, data: bytes, **rest: Any) -> list[Report] | None:
        """The reports; None where it was refused, which leaves nothing and is one line."""
        path = self.folder / "input"
        path.write_bytes(self.reader.frame(data))
        before = sorted(self.shelf.iterdir()) if self.shelf.exists() else []
        try:
            reports = import_files([path], around(self.shelf), as_format=self.reader.as_format, **rest)
        except NarratorError as error:
            self.check(error, before)
            return None
        for report in reports:
            json.dumps(report.to_json(), ensure_ascii=False).encode()
            for made in report.campaigns:
                assert Path(made).parent == self.shelf
                assert verify(Path(made)).problems == ()
        return reports


@pytest.fixture
def bench(reader: Reader, tmp_path: Path) -> Bench:
    return Bench(reader, tmp_path)


def counts(reports: list[Report] | None) -> list[tuple[int, ...]]:
    """What was found, without what was noted."""
    assert reports is not None
    return [
        (r.nodes, r.steps_on_path, r.branches, r.cards, r.memories, r.knowledge, len(r.checkpoints)) for r in reports
    ]


def changed(value: Any, leaf: Callable[[Any], Any], holder: Callable[[dict[str, Any]], dict[str, Any]] = dict) -> Any:
    """The value with every plain value and every object made another."""
    if isinstance(value, dict):
        return holder({key: changed(inner, leaf, holder) for key, inner in value.items()})
    return [changed(inner, leaf, holder) for inner in value] if isinstance(value, list) else leaf(value)


def test_every_format_has_a_reader_in_this_table() -> None:
    assert uncovered() == set()
    assert all(seeds(reader) for reader in ALL)


@pytest.mark.spec("X1", "X4")
@every
def test_a_good_file(bench: Bench) -> None:
    for data in seeds(bench.reader):
        assert all(any(each) for each in counts(bench.bring(data)))


@pytest.mark.spec("X2")
@every
def test_every_encoding_reads_the_same(bench: Bench) -> None:
    if bench.reader.name == "novelai-document":
        pytest.skip("what is packed has no encoding")
    if bench.reader.is_prose:
        for data in seeds(bench.reader):
            good = counts(bench.bring(data, is_dry=True))
            for codec in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
                mark = {"utf-16-le": "\ufeff", "utf-16-be": "\ufeff"}.get(codec, "")
                assert counts(bench.bring((mark + data.decode()).encode(codec), is_dry=True)) == good
        return
    if bench.reader.name == "detect":
        pytest.skip("its files are those of the other readers")
    for value in bench.values():
        good = counts(bench.bring(bench.packed(value), is_dry=True))
        for codec in ("utf-8-sig", "utf-16"):
            assert counts(bench.bring(bench.packed(value, codec, ensure_ascii=False), is_dry=True)) == good


@pytest.mark.spec("X2", "X5")
@of_json
def test_an_old_code_page_is_read_and_noted(bench: Bench) -> None:

    def spelled(each: Any) -> Any:
        return f"{each} — é" if isinstance(each, str) and " " in each and "\n" not in each else each

    value = changed(next(bench.values()), spelled)
    reports = bench.bring(bench.packed(value, "cp1252", ensure_ascii=False))
    assert reports is not None
    assert [each.reason for report in reports for each in report.details if each.field == "encoding"] == [
        "it is not UTF-8 and was read as cp1252"
    ]


@pytest.mark.spec("X3", "X4")
@every
@pytest.mark.parametrize("share", [0.01, 0.25, 0.5, 0.75, 0.97])
def test_cut_off_anywhere(bench: Bench, share: float) -> None:
    data = max(seeds(bench.reader), key=len)
    found = bench.bring(data[: int(len(data) * share)])
    assert found is None or bench.reader.as_format in ("text", "canon") or bench.reader.has_lines or share > 0.9


@pytest.mark.spec("X5")
@of_json
def test_null_everywhere_and_in_one_place_after_another(bench: Bench) -> None:
    for value in bench.values():
        bench.bring(bench.packed(changed(value, lambda each: None)))
        for number in range(min(25, len(json.dumps(value)) // 40)):
            seen = iter(range(10**6))

            def some(each: Any, number: int = number, seen: Iterator[int] = seen) -> Any:
                return None if next(seen) % 25 == number else each

            bench.bring(bench.packed(changed(value, some)), is_dry=True)


@pytest.mark.spec("X5")
@of_json
def test_numbers_as_text_read_the_same(bench: Bench) -> None:
    for value in bench.values():
        good = counts(bench.bring(bench.packed(value), is_dry=True))
        texts = changed(value, lambda each: str(each) if isinstance(each, int | float) and each is not True else each)
        found = bench.bring(bench.packed(texts), is_dry=True)
        if bench.reader.name == "narrator":  # what state holds is of any type: only the columns are mended
            continue
        assert counts(found) == good


@pytest.mark.spec("X5")
@of_json
def test_a_key_that_is_missing(bench: Bench) -> None:
    for value in bench.values():
        holders = value if bench.reader.has_lines else [value]
        for holder in [each for each in holders if isinstance(each, dict)][:3]:
            for key in list(holder):
                kept = holder.pop(key)
                bench.bring(bench.packed(value), is_dry=True)
                holder[key] = kept


@pytest.mark.spec("X5", "X6")
@of_json
def test_unknown_keys_change_nothing_and_have_a_line(bench: Bench) -> None:
    for value in bench.values():
        good = counts(bench.bring(bench.packed(value), is_dry=True))
        more = changed(
            value, lambda each: each, lambda each: {**each, "zzz": {"deep": [1, "a"]}} if "0" not in each else each
        )
        found = bench.bring(bench.packed(more), is_dry=True)
        assert counts(found) == good
        assert found is not None
        assert any("zzz" in each.field or "zzz" in each.where for report in found for each in report.details)


@pytest.mark.spec("X5")
@of_json
def test_a_key_that_stands_twice_is_noted_or_refused(bench: Bench) -> None:
    text = bench.packed(next(bench.values())) if bench.reader.wrap is bytes else b""
    if not text:
        text = json.dumps(next(bench.values())).encode()
    head, sign, rest = text.partition(b'": ')
    start = head.rindex(b'"')
    doubled = head[:start] + head[start:] + b'": null, ' + head[start:] + sign + rest
    found = bench.bring(bench.reader.wrap(doubled), is_dry=True)
    if found is not None:
        assert any("twice" in each.reason for report in found for each in report.details)


@pytest.mark.spec("X2", "X3", "U10")
@of_json
def test_hostile_text_in_every_place(bench: Bench) -> None:
    for value in bench.values():
        for number in range(4):
            seen = iter(range(10**6))

            def spoil(each: Any, number: int = number, seen: Iterator[int] = seen) -> Any:
                return f"{each}{HOSTILE}" if isinstance(each, str) and next(seen) % 4 == number else each

            spoiled = changed(
                value, spoil, lambda each, number=number: each if "0" in each or number else {**each, HOSTILE: HOSTILE}
            )
            found = bench.bring(bench.packed(spoiled))
            for report in found or ():
                with story_of(report) as story:
                    assert all("\ud800" not in step.text for step in story.steps(1, story.count))


@pytest.mark.spec("X3", "C26")
@of_json
def test_expressions_that_explode_in_every_place(bench: Bench) -> None:
    for value in bench.values():
        began = time.process_time()
        seen = iter(range(10**6))

        def bomb(each: Any, seen: Iterator[int] = seen) -> Any:
            return PATTERNS[next(seen) % len(PATTERNS)] if isinstance(each, str) and len(each) < 30 else each

        bench.bring(bench.packed(changed(value, bomb)))
        assert time.process_time() - began < 10


@pytest.mark.spec("X3", "X4", "X5")
@of_json
def test_files_changed_at_random(reader: Reader, tmp_path: Path) -> None:
    """A little of what ``make fuzz`` does for ten minutes a reader, the same every time."""
    examiner = Examiner(reader, tmp_path)
    for number, data in enumerate(seeds(reader) * 30):
        changed_data = mutate(reader, data, number)
        if changed_data is not None:
            examiner.examine(changed_data)
    assert examiner.read + examiner.refused > 20 or reader.is_prose


# ---------------------------------------------------------------------------------------------------------- much of it

#: Where the entries of a file are that grow with the story: a path, and how the n-th is made of the one before.
MUCH: dict[str, tuple[str | int, ...]] = {
    "narrator": ("memories",),
    "sillytavern-chat": (),
    "sillytavern-worldinfo": ("entries",),
    "character-card": ("data", "character_book", "entries"),
    "character-card-png": ("data", "character_book", "entries"),
    "character-card-charx": ("data", "character_book", "entries"),
    "aidnd": ("actions",),
    "aidungeon": ("actions",),
    "aidungeon-cards": (),
    "kobold": ("actions",),
    "novelai-story": ("content", "story", "fragments"),
    "novelai-scenario": ("lorebook", "entries"),
    "novelai-lorebook": ("entries",),
    "loom": ("root", "children"),
    "textgen": ("internal",),
    "agnai": ("messages",),
    "mikupad": ("worldInfo",),
}


def entries_of(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


@pytest.mark.spec("X3", "X11")
@of_json
def test_a_hundred_thousand_entries(bench: Bench) -> None:
    """Some seconds each: what 100,000 rows cost."""
    path = MUCH[bench.reader.name]
    value = next((each for each in bench.values() if entries_of(each, path)), None)
    if bench.reader.name == "mikupad":
        pytest.skip("its lists are texts of their own; one of 8 million characters is the limit")
    assert value is not None, "no seed has such entries"
    entries = entries_of(value, path)
    few = entries.values() if isinstance(entries, dict) else entries[1 if bench.reader.has_lines else 0 :]
    template = min((copy.deepcopy(each) for each in few), key=lambda each: len(json.dumps(each)))
    if isinstance(template, dict):
        template = {key: each for key, each in template.items() if not isinstance(each, dict) and key != "children"}
    more = {str(n): copy.copy(template) for n in range(len(entries), 100_000)}
    if isinstance(entries, dict):
        entries |= more
    else:
        entries += more.values()
    began = time.process_time()
    found = bench.bring(bench.packed(value), is_dry=True)
    assert found is not None
    assert max(max(each) for each in counts(found)) >= 99_990 or bench.reader.name == "aidnd"
    assert time.process_time() - began < 60


@pytest.mark.spec("X3")
@of_json
def test_fifty_thousand_levels(bench: Bench) -> None:
    value = next(bench.values())
    holder = value[-1] if isinstance(value, list) else value
    holder["zzz"] = "DEEP"
    for nested in ("[" * 50_000 + "]" * 50_000, '{"a":' * 50_000 + "1" + "}" * 50_000):
        values = value if bench.reader.has_lines else [value]
        text = "\n".join(json.dumps(each) for each in values).replace('"DEEP"', nested)
        began = time.process_time()
        bench.bring(bench.reader.wrap(text.encode()), is_dry=True)
        assert time.process_time() - began < 20


@pytest.mark.spec("X3")
@every
def test_fifty_megabytes(bench: Bench) -> None:
    """A second or two each: what 50 MB cost."""
    size = 50 * 2**20
    if bench.reader.name == "novelai-document":
        data = document(
            *((("The road goes on, and so does the rain. " * 800, 2),) * 15), *((("x" * 3_000_000, 1),) * 15)
        )
    elif bench.reader.is_prose:
        data = (b"The road goes on, and so does the rain.\n\n" * (size // 40))[:size]
    elif bench.reader.name == "detect":
        data = b'{"zzz": "' + b"x" * size + b'"}'
    else:
        value = next(bench.values())
        holder = value[-1] if isinstance(value, list) else value
        holder["zzz"] = "x" * size
        data = bench.packed(value)
    began = time.process_time()
    bench.bring(data, is_dry=True)
    assert time.process_time() - began < 40
