"""Narrator in a real terminal under tmux: first frame, turns, storms, signals, pastes, death and return."""

from __future__ import annotations

import re
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.terminal.tmux import Tmux, rest

SAMPLE = "lantern-road"
INPUTS = ("look around", "wait", "look at the water", "sing", "sit down", "look up", "listen", "count the lanterns")


def slow(terminal: Tmux, words_per_second: int = 8) -> None:
    """Let the scripted narrator take its time."""
    (terminal.home / "config.toml").write_text(f"[scripted]\nwords_per_second = {words_per_second}\n")


def play(terminal: Tmux, *more: str) -> None:
    """Begin or go on with the sample, until it listens."""
    terminal.start("play", SAMPLE, *more)
    terminal.wait("do ▸")
    terminal.wait("scripted")


def stored(terminal: Tmux) -> list[tuple[int, str, str]]:
    """The nodes of the campaign, read through SQLite after narrator has gone."""
    path = terminal.home / "campaigns" / f"{SAMPLE}.narrator"
    with closing(sqlite3.connect(path)) as db:
        return list(db.execute("SELECT id, role, text FROM nodes ORDER BY id"))


def draft(terminal: Tmux) -> str:
    """The draft in the file."""
    path = terminal.home / "campaigns" / f"{SAMPLE}.narrator"
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT text FROM draft ORDER BY slot DESC").fetchall()
    return "\n".join(row[0] for row in rows)


def step(terminal: Tmux) -> int:
    """The position that the status line says."""
    found = re.search(r"· step ([\d,]+)", terminal.screen())
    assert found, terminal.screen()
    return int(found.group(1).replace(",", ""))


def send(terminal: Tmux, text: str, expected: int) -> None:
    """Play a turn and wait for its step."""
    terminal.type(text)
    terminal.keys("Enter")
    terminal.wait(f"step {expected}")


@pytest.mark.spec("U1", "U21")
def test_the_first_frame_is_the_story_and_quitting_gives_the_terminal_back(terminal: Tmux) -> None:
    terminal.start("play", SAMPLE)
    seen = terminal.wait("do ▸")
    assert "Rain has found the one hole" in seen
    terminal.wait("^P more")
    terminal.keys("C-q")
    terminal.wait_dead()
    assert terminal.exit_code == "0"
    assert terminal.value("#{alternate_on}") == "0"
    assert terminal.value("#{mouse_any_flag}") == "0", "the mouse is the terminal's again"


@pytest.mark.spec("U1")
def test_ten_turns(terminal: Tmux) -> None:
    play(terminal)
    for number in range(10):
        send(terminal, f"wait {number}", 3 + 2 * number)
    terminal.keys("C-q")
    terminal.wait_dead()
    assert [text for _, role, text in stored(terminal) if role == "player"] == [f"wait {n}" for n in range(10)]


@pytest.mark.spec("U6", "S8", "S9")
def test_a_storm_of_forty_undos_then_redo(terminal: Tmux) -> None:
    play(terminal)
    for number in range(5):
        send(terminal, f"wait {number}", 3 + 2 * number)
    terminal.keys(*["C-z"] * 40)
    terminal.wait("step 1 ·")
    terminal.wait("redo holds 10 steps")
    terminal.keys(*["C-y"] * 40)
    terminal.wait("step 11 ·")
    terminal.wait_gone("redo holds")


@pytest.mark.spec("U3")
def test_a_resize_in_mid_stream(terminal: Tmux) -> None:
    slow(terminal)
    play(terminal)
    terminal.type("look around")
    terminal.keys("Enter")
    terminal.wait("telling…")
    for width, height in ((132, 43), (40, 12), (20, 6), (100, 30), (80, 24)):
        terminal.resize(width, height)
        terminal.wait("▸" if width < 80 else "do ▸")
    terminal.keys("Escape")
    terminal.wait("Ctrl+K keeps")
    assert step(terminal) == 1


@pytest.mark.spec("U1")
def test_a_resize_where_a_size_was_exported(terminal: Tmux) -> None:
    """Some shells and libraries export the size that they began with; what is true is what the terminal says."""
    terminal.environment = {"COLUMNS": "80", "LINES": "24"}
    play(terminal)
    terminal.resize(44, 24)
    terminal.wait("ferry’s roof, and the ferryman has given\n")


@pytest.mark.spec("U9")
def test_suspend_and_resume(terminal: Tmux) -> None:
    # Under a shell with job control, as at a player's prompt.
    terminal.start(command="bash --norc -i")
    terminal.type(f"{sys.executable} -m narrator play {SAMPLE}")
    terminal.keys("Enter")
    terminal.wait("scripted")
    terminal.type("half a line")
    terminal.wait("half a line")
    terminal.signal(signal.SIGTSTP)
    terminal.wait("Stopped")
    terminal.type("fg")
    terminal.keys("Enter")
    terminal.wait("half a line")
    terminal.wait("do ▸")
    terminal.type(" and the rest")
    terminal.wait("half a line and the rest")


@pytest.mark.spec("T3", "U9")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGHUP, 129), (signal.SIGTERM, 143)])
def test_a_hang_up_in_mid_turn_closes_the_file_and_keeps_what_was_typed(terminal: Tmux, number: int, code: int) -> None:
    slow(terminal)
    play(terminal)
    terminal.type("look around")
    terminal.keys("Enter")
    terminal.wait("telling…")
    terminal.type("and then")
    terminal.wait("and then")
    terminal.signal(number)
    terminal.wait_dead()
    assert terminal.exit_code == str(code)
    left = sorted(path.name for path in (terminal.home / "campaigns").iterdir())
    assert left == [f"{SAMPLE}.narrator"], "one file, no lock"
    assert draft(terminal) == "look around\nand then"
    assert len(stored(terminal)) == 1


@pytest.mark.spec("U9", "T3")
def test_the_terminal_goes_away(terminal: Tmux) -> None:
    play(terminal)
    terminal.type("a line that was not sent")
    terminal.wait("not sent")
    pid = terminal.pid
    terminal._tmux("kill-session", check=False)
    for _ in range(400):
        if not Path(f"/proc/{pid}").exists():
            break
        rest()
    assert not Path(f"/proc/{pid}").exists()
    assert draft(terminal) == "a line that was not sent"


@pytest.mark.spec("U9", "U12")
def test_a_bracketed_paste_of_100_kilobytes_is_text_not_keys(terminal: Tmux, tmp_path: Path) -> None:
    play(terminal)
    text = "\n".join(f"line {number} of a long paste with漢字 and [/] and more words" for number in range(1900))
    assert len(text.encode()) > 100_000
    terminal.paste(text, tmp_path)
    terminal.wait("line 1899")
    terminal.keys("Enter")
    terminal.wait("step 3")
    terminal.keys("C-q")
    terminal.wait_dead()
    (said,) = [each for _, role, each in stored(terminal) if role == "player"]
    assert said == text


@pytest.mark.spec("U3")
def test_the_mouse_wheel_while_streaming(terminal: Tmux) -> None:
    slow(terminal)
    play(terminal)
    for _ in range(3):
        terminal.bytes(b"\x1b[<64;20;5M")
    terminal.type("look around")
    terminal.keys("Enter")
    terminal.wait("telling…")
    for _ in range(12):
        terminal.bytes(b"\x1b[<64;20;5M")
    terminal.wait("more below")
    terminal.wait("Rain has found the one hole")
    for _ in range(60):
        terminal.bytes(b"\x1b[<65;20;5M")
    terminal.wait_gone("more below")


@pytest.mark.spec("U9", "S45")
def test_kill_9_and_reopen(terminal: Tmux, tmp_path: Path) -> None:
    play(terminal)
    send(terminal, "wait a while", 3)
    terminal.type("typed and not sent")
    terminal.wait("typed and not sent")
    path = terminal.home / "campaigns" / f"{SAMPLE}.narrator"
    for _ in range(600):
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            if db.execute("SELECT text FROM draft").fetchone() == ("typed and not sent",):
                break
        rest()
    terminal.signal(signal.SIGKILL)
    terminal.wait_dead()
    again = Tmux(tmp_path)
    with again:
        play(again)
        seen = again.wait("typed and not sent")
        assert "What you had typed is back." in seen
        assert "step 3" in seen


@pytest.mark.spec("T3", "U6")
def test_escape_in_an_untuned_tmux_still_stops_and_ctrl_c_at_once(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    with Tmux(tmp_path, escape_time=500) as terminal:
        slow(terminal, 4)
        play(terminal)
        terminal.type("look around")
        terminal.keys("Enter")
        terminal.wait("telling…")
        terminal.keys("Escape")
        terminal.wait("Stopped.", 5)
        terminal.keys("Enter")
        terminal.wait("telling…")
        terminal.keys("C-c")
        terminal.wait("Stopped.", 2)
        # A letter right after Esc is not Alt and the letter: it is typed.
        terminal.keys("Escape")
        terminal.wait("select a step")
        terminal.keys("k")
        terminal.wait("▌")


@pytest.mark.spec("U11")
def test_no_colour_and_a_dumb_terminal(terminal: Tmux) -> None:
    terminal.start(command=f"env NO_COLOR=1 {sys.executable} -m narrator play {SAMPLE}")
    terminal.wait("do ▸")
    painted = terminal._tmux("capture-pane", "-p", "-e")
    colours = {tuple(map(int, found)) for found in re.findall(r"\x1b\[[\d;]*?[34]8;2;(\d+);(\d+);(\d+)", painted)}
    assert all(max(each) - min(each) <= 2 for each in colours), colours
    terminal.keys("C-q")
    terminal.wait_dead()
    terminal.end()
    terminal.start(command=f"env TERM=dumb {sys.executable} -m narrator play {SAMPLE}")
    seen = terminal.wait("Rain has found")
    assert "▸" not in seen
    terminal.wait("More: Enter reads on")


@pytest.mark.spec("T14", "T16", "U9")
def test_a_fault_of_the_program_is_one_line_and_gives_no_variable_away(terminal: Tmux) -> None:
    """Textual would print a traceback with what every variable held."""
    (terminal.home / "config.toml").write_text(
        'narrator = "mine"\n[narrators.mine]\nkind = "openai-compatible"\nbase_url = "http://127.0.0.1:9/v1"\n'
        'model = "m"\napi_key_env = "CANARY_KEY"\ncontext_window = 50000\n'
    )
    faulty = (
        "import os, sys; from narrator.cli import main; from narrator.tui.screens import play\n"
        "def boom(self):\n"
        "    held = os.environ['CANARY_KEY']\n"
        "    raise RuntimeError('the screen fell over')\n"
        "play.PlayScreen.key_f9 = boom\n"
        f"sys.exit(main(['play', '{SAMPLE}']))\n"
    )
    script = terminal.home / "faulty.py"
    script.write_text(faulty)
    terminal.start(command=f"CANARY_KEY=canary.77b0 {sys.executable} {script}; echo exit $?; read more")
    terminal.wait("do ▸")
    terminal.type("never lost")
    terminal.wait("never lost")
    terminal.keys("F9")
    seen = terminal.wait("exit 1")
    assert "RuntimeError: a fault of the program." in "".join(seen.splitlines())
    assert "Traceback" not in seen
    log = (terminal.home / "logs" / "narrator.log").read_text()
    assert "the screen fell over" in log
    assert "canary.77b0" not in seen + log
    assert draft(terminal) == "never lost"


WORKER = "async def fall(self):\n    raise RuntimeError('it fell over')\n"
FAULTS = {
    "a timer": ("play.PlayScreen.key_f9 = lambda self: self.set_timer(0.01, boom)", "F9"),
    "the app's own loop": ("play.PlayScreen.key_f9 = lambda self: self.app.call_later(boom)", "F9"),
    "after a frame": ("play.PlayScreen.key_f9 = lambda self: self.call_after_refresh(boom)", "F9"),
    "a worker": (WORKER + "play.PlayScreen.key_f9 = lambda self: self.run_worker(fall(self))", "F9"),
    "whoever hears the session": ("play.PlayScreen._done = boom", "Enter"),
    "a resize": ("play.PlayScreen.on_resize = lambda self, event: event.size.width == 60 and boom()", "resize"),
    "a line that is drawn": (
        "play.PlayScreen.key_f9 = lambda self: (setattr(type(self.transcript), 'render_lines', boom), self.refresh())",
        "F9",
    ),
    "the wheel": ("play.Transcript._on_mouse_scroll_up = boom", "wheel"),
    "the load behind the first page": (WORKER + "first_page.FirstPage._load = fall", ""),
}
"""Where the program may fall over, and what makes it: the end is the same everywhere."""


@pytest.mark.spec("T16", "U9")
@pytest.mark.parametrize("where", FAULTS)
def test_a_fault_ends_the_app_wherever_it_is(terminal: Tmux, where: str) -> None:
    fault, deed = FAULTS[where]
    script = terminal.home / "faulty.py"
    script.write_text(
        "import sys; from narrator.cli import main; from narrator.tui.screens import first_page, play\n"
        "def boom(*given):\n    raise RuntimeError('it fell over')\n"
        f"{fault}\nsys.exit(main(['play', '{SAMPLE}']))\n"
    )
    terminal.start(command=f"{sys.executable} {script}; echo exit $?; read more")
    if deed:
        terminal.wait("· scripted")  # the first page is turned, and the session heard
        terminal.type("never lost")
        terminal.wait("never lost")
        if deed == "resize":
            terminal.resize(60, 24)
        elif deed == "wheel":
            terminal.bytes(b"\x1b[<64;20;5M")
        else:
            terminal.keys(deed)
    seen = terminal.wait("exit 1")
    assert "RuntimeError: a fault of the program." in "".join(seen.splitlines())
    assert "it fell over" in (terminal.home / "logs" / "narrator.log").read_text()
    if deed not in ("", "Enter"):
        assert draft(terminal) == "never lost"


@pytest.mark.spec("U6", "U9")
def test_an_editor_of_ones_own_has_the_terminal_to_itself(terminal: Tmux, tmp_path: Path) -> None:
    """A real script as $EDITOR, while a turn is told: nothing is drawn over it, and what it wrote comes back."""
    editor = tmp_path / "editor"
    editor.write_text(
        '#!/bin/sh\nprintf "\\033[2J\\033[HEDITOR HAS: "; cat "$1"\nread answer\nprintf "%s" "$answer" > "$1"\n'
    )
    editor.chmod(0o700)
    slow(terminal, 30)
    terminal.environment = {"VISUAL": str(editor)}
    play(terminal)
    terminal.type("look around")
    terminal.keys("Enter")
    terminal.wait("telling…")
    terminal.type("half a line")
    terminal.keys("C-o")
    seen = terminal.wait("EDITOR HAS: half a line")
    wait_for_nodes(terminal, 3)
    assert terminal.screen() == seen, "the turn was accepted, and nothing of it drawn over the editor"
    terminal.type("a whole line")
    terminal.keys("Enter")
    terminal.wait("do ▸ a whole line")
    terminal.wait("step 3 ·")
    terminal.keys("Escape")
    terminal.wait("select a step")
    terminal.keys("Up", "e")
    terminal.wait("edit 3 ▸")
    terminal.keys("C-o")
    terminal.wait("EDITOR HAS: ")
    terminal.type("You look, and that is all.")
    terminal.keys("Enter")
    terminal.wait("edit 3 ▸ You look, and that is all.")
    terminal.keys("Enter")
    terminal.wait("What does the new text mean")
    terminal.keys("Down", "Enter")
    terminal.wait("2/2 takes")
    terminal.wait("do ▸ a whole line")
    terminal.keys("C-q")
    terminal.wait_dead()
    assert terminal.exit_code == "0"
    assert stored(terminal)[-1][1:] == ("narrator", "You look, and that is all.")


def wait_for_nodes(terminal: Tmux, count: int) -> None:
    """Until the file holds so many, read beside narrator."""
    deadline = time.monotonic() + 60
    while len(stored(terminal)) < count:
        assert time.monotonic() < deadline
        rest()
