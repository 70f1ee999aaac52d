"""The command line (U21). Each family of commands is a module of its own, imported when it is asked for.

An error is one line on standard error that says what to do, with exit code 1, or 2 where the command was used wrongly;
a traceback is shown with ``--debug`` alone.
"""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module
from typing import Any

import click

from narrator import __version__
from narrator.core.errors import NarratorError
from narrator.core.prose import visible

# name: (module, or module:command; one line of help). The module is imported when the command runs or shows its help.
FAMILIES: dict[str, tuple[str, str]] = {
    "play": ("play", "Play a campaign."),
    "new": ("new", "Make a campaign from a sample or a definition."),
    "list": ("shelf", "List the campaigns."),
    "import": ("exchange:bring", "Bring a story, cards or knowledge in from another program's file."),
    "export": ("exchange:export", "Write a campaign to a bundle, a book or another program's file."),
    "verify": ("verify", "Check every invariant of a campaign file."),
    "prune": ("prune", "Delete for good what was set aside, after a question."),
    "backup": ("backup", "Copy a campaign safely, or bring a copy back."),
    "knowledge": ("knowledge", "Add and list sources that a campaign is told from."),
    "models": ("models", "Add, list, try and remove models that run inside narrator."),
    "doctor": ("doctor", "See what works on this machine and what does not."),
    "config": ("config", "Show, check and change the settings."),
    "bench": ("bench", "Measure what narrator costs on this machine."),
    "themes": ("themes", "List the themes."),
    "schema": ("schema", "Print the JSON Schema of what goes in and out."),
}


class Families(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(FAMILIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in FAMILIES:
            return None
        name, _, attribute = FAMILIES[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"narrator.cli.{name}"), attribute or "command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in FAMILIES.items()])


@click.group(
    cls=Families,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: narrator play lantern-road --plain. "
    'Completion in bash (zsh and fish likewise): eval "$(_NARRATOR_COMPLETE=bash_source narrator)"',
)
@click.version_option(__version__, message="narrator %(version)s")
@click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
@click.pass_context
def group(ctx: click.Context, debug: bool) -> None:
    """Interactive fiction told by a language model, over a story that loses no word.

    Without a command the library opens.
    """
    if ctx.invoked_subcommand is None:
        from narrator.cli.shelf import open_library

        ctx.exit(open_library())


def main(argv: list[str] | None = None) -> int:
    """Run the command line; the exit code comes back."""
    arguments = sys.argv[1:] if argv is None else argv
    is_debugging = "--debug" in arguments
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
    try:
        code = group.main(arguments, prog_name="narrator", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 2
    except click.UsageError as error:
        where = f" See `{error.ctx.command_path} --help`." if error.ctx is not None else ""
        return _fail(f"{error.format_message().rstrip('.')}.{where}", 2)
    except click.ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return 130
    except NarratorError as error:
        if is_debugging:
            raise
        return _fail(str(error), 2 if error.code == "bad-value" else 1)
    except BrokenPipeError:
        _forget_output()
        return 0
    except Exception as error:
        if is_debugging:
            raise
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            _forget_output()
            return _fail("The disk is full; nothing more was written. (Make room, then do it again.)", 1)
        return _crash(error)


def _forget_output() -> None:
    """Nothing can be written any more; the interpreter must not complain when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> int:
    print(f"narrator: {visible(' '.join(message.split()))}", file=sys.stderr)
    return code


def _crash(error: Exception) -> int:
    """A programming error: one line for the player, the traceback for the log."""
    import logging

    from narrator import log, paths

    handler = log.start(paths.log_folder())
    logging.getLogger("narrator").error("Crashed", exc_info=error)
    log.stop(handler)
    place = f" The log is in {paths.log_folder()}." if handler is not None else ""
    return _fail(f"{type(error).__name__}: a fault of the program.{place} --debug shows where.", 1)
