"""``make fuzz``: every reader, coverage-guided by atheris, ten minutes each.

``make fuzz ARGS="--reader kobold --seconds 60"`` is one of them, shorter. Each has a process of its own. What
it finds wrong is written to ``fuzz-findings/`` with the traceback beside it, and the run goes on to the next; the exit
code is 1 where something was found.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fuzz.readers import READERS

GRACE = 120
"""Seconds that a reader may take to begin and end beyond those it was given."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="for each reader (default: 600)")
    parser.add_argument("--reader", action="append", choices=list(READERS), help="this one; may be repeated")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="where findings are written")
    parser.add_argument("--seed", type=int, default=0, help="0: another every time")
    given = parser.parse_args()
    is_clean = True
    for name in given.reader or READERS:
        told = run_reader(name, given.seconds, given.findings, given.seed)
        is_clean = is_clean and not told.get("findings") and "problem" not in told
        sys.stdout.write(f"{name:22} {spelled(told)}\n")
        sys.stdout.flush()
    return 0 if is_clean else 1


def spelled(told: dict[str, object]) -> str:
    """One line about a reader."""
    if "problem" in told:
        return str(told["problem"])
    numbers = "{executions:>9,} executions, {read:,} read, {refused:,} refused, {written:,} written and verified"
    return f"{numbers.format(**told)}; findings: {told['findings']}"


def run_reader(name: str, seconds: int, findings: Path, seed: int) -> dict[str, object]:
    """Run one reader; what its process told."""
    findings.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="narrator-fuzz-", dir=scratch()) as folder:
        told = Path(folder) / "told.json"
        call = [sys.executable, "-m", "tests.fuzz.guided", name, str(seconds), folder, str(findings), str(seed)]
        log = findings / f"{name}.log"
        with log.open("wb") as output:
            try:
                code = subprocess.run(
                    call,
                    stdout=output,
                    stderr=output,
                    timeout=seconds + GRACE,
                    env={**os.environ, "NARRATOR_HOME": folder},
                ).returncode
            except subprocess.TimeoutExpired:
                return {"problem": f"hung; see {log}"}
        if code or not told.exists():
            return {"problem": f"ended with code {code}; see {log}"}
        found: dict[str, object] = json.loads(told.read_text(encoding="utf-8"))
        return found


def scratch() -> str | None:
    """A folder in memory, where there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


if __name__ == "__main__":
    sys.exit(main())
