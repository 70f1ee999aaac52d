"""One reader under atheris, in a process of its own: ``python -m tests.fuzz.guided NAME SECONDS FOLDER FINDINGS SEED``.

Half of the inputs are changed as JSON (``mutating``), half as bytes. A fault does not end the run: its input is kept by
the place it was raised at, once each.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
import traceback
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["narrator.exchange", "narrator.core"]):
    from tests.fuzz.mutating import mutate
    from tests.fuzz.readers import READERS, Examiner, seeds

LONGEST = 2**15
_SIGNS = ('"', "{", "}", "[", "]", ",", ":", "null", "true", "\\u0000", "\\ud800", "\xff\xfe", "\xef\xbb\xbf", "/a/i")


def place_of(error: BaseException) -> str:
    """Kind and innermost line of the program's own."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "narrator" in frame.filename] or frames
    return f"{type(error).__name__}-{Path(own[-1].filename).stem}-{own[-1].lineno}"


def main() -> None:
    name, seconds, folder, findings, seed = sys.argv[1:6]
    reader, scratch = READERS[name], Path(folder)
    examiner = Examiner(reader, scratch)
    corpus = scratch / "corpus"
    corpus.mkdir()
    whole = [each for each in seeds(reader) if len(each) <= LONGEST * 4]
    for each in whole:
        (corpus / hashlib.sha256(each).hexdigest()[:16]).write_bytes(each)
    (scratch / "dict").write_text("".join(f'"{_quoted(each)}"\n' for each in _SIGNS))
    found: set[str] = set()
    executions, told = 0, time.monotonic()

    def one(data: bytes) -> None:
        nonlocal executions, told
        executions += 1
        if executions == 1 or time.monotonic() - told > 1:  # libFuzzer ends the process without a word to Python
            told = time.monotonic()
            tell()
        try:
            examiner.examine(data)
        except Exception as error:
            place = place_of(error)
            if place not in found:
                found.add(place)
                base = Path(findings) / f"{name}-{place}"
                base.with_suffix(".input").write_bytes(data)
                base.with_suffix(".txt").write_text("".join(traceback.format_exception(error)), encoding="utf-8")

    def change(data: bytes, longest: int, chance: int) -> bytes:
        base = whole[chance // 6 % len(whole)] if not chance % 3 else data
        changed = mutate(reader, base, chance) if chance % 2 else None
        if changed is None or len(changed) > longest:
            return bytes(atheris.Mutate(data, longest))
        return changed

    def tell() -> None:
        counts = {"executions": executions, "read": examiner.read, "refused": examiner.refused}
        text = json.dumps({**counts, "written": examiner.written, "findings": sorted(found)})
        (scratch / "told.part").write_text(text)
        (scratch / "told.part").replace(scratch / "told.json")

    options = [f"-max_total_time={seconds}", f"-max_len={LONGEST * 4}", "-timeout=60", "-rss_limit_mb=2048"]
    options += [f"-dict={scratch / 'dict'}", f"-artifact_prefix={findings}/{name}-", f"-seed={seed}"]
    options.append("-print_final_stats=1")
    atheris.Setup([sys.argv[0], *options, str(corpus)], one, custom_mutator=change)
    atheris.Fuzz()


def _quoted(text: str) -> str:
    return "".join(f"\\x{each:02X}" for each in text.encode("latin-1"))


if __name__ == "__main__":
    main()
