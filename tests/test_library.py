"""Narrator as a library: public names come when they are asked for, and stand without screen and client (U24)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import narrator

PROGRAM = """
import sys
import narrator
assert not [name for name in sys.modules if name.startswith("narrator.")], "importing the package imports nothing"
from pathlib import Path
path = Path(sys.argv[1])
narrator.create_campaign(path, '[campaign]\\nid = "ferry"\\ntitle = "The Ferry"\\nopening = "Rain."\\n', seed=1)
story = narrator.Story.open(path)
story.save("here")
story.restore("here")
print(story.count, [each.name for each in story.checkpoints()])
story.close()
assert narrator.verify(path).ok
for name in narrator.__all__:
    getattr(narrator, name)
assert "textual" not in sys.modules
assert "openai" not in sys.modules
"""


@pytest.mark.spec("U24")
def test_a_script_stands_on_the_library_alone(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "ferry.narrator")], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 ['here']\n"


@pytest.mark.spec("U24")
def test_a_name_that_is_none_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        _ = narrator.Storey
