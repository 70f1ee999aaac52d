"""What ``X`` means on the command line: a name, an unambiguous part of one, or a path (U21)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from narrator import paths
from narrator.core.errors import BadValue, NarratorError
from narrator.core.nearest import nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def named_campaigns() -> dict[str, Path]:
    """The campaigns of the campaigns folder by name."""
    folder = paths.campaigns_folder()
    found = sorted(folder.glob(f"*{paths.SUFFIX}")) if folder.is_dir() else []
    return {path.name.removesuffix(paths.SUFFIX): path for path in found}


def is_path(text: str) -> bool:
    """It is written as a path, not as a name."""
    return "/" in text or "\\" in text or text.startswith("~") or text.endswith(paths.SUFFIX)


def find_campaign(text: str) -> Path:
    """The file of a campaign. Raises ``no-such-campaign`` and ``ambiguous``."""
    campaigns = named_campaigns()
    if text in campaigns:
        return campaigns[text]
    if is_path(text):
        path = paths.expand(text)
        if path.exists():
            return path
        raise NarratorError("no-such-campaign", f"There is no file {path}.", "`narrator list` shows the campaigns.")
    exact = [path for name, path in campaigns.items() if name.casefold() == text.casefold()]
    partly = [name for name in campaigns if text.casefold() in name.casefold()] if text else []
    if len(exact) == 1:
        return exact[0]
    if len(partly) == 1:
        return campaigns[partly[0]]
    if partly:
        raise NarratorError(
            "ambiguous", f"{text!r} may be {', '.join(partly[:-1])} or {partly[-1]}.", "Write more of it."
        )
    if text and Path(text).is_file():
        return Path(text)
    near = nearest(text, [*campaigns, *paths.samples()])
    hint = f"Did you mean {near}?" if near else "`narrator list` shows the campaigns, `narrator new` makes one."
    raise NarratorError("no-such-campaign", f"There is no campaign {text!r}.", hint)


def check_name(name: str) -> str:
    """A name that can be a file's. Raises ``bad-value``."""
    trimmed = name.strip().removesuffix(paths.SUFFIX)
    if not trimmed or trimmed.startswith((".", "-")) or any(c in '/\\:*?"<>|' or not c.isprintable() for c in trimmed):
        raise BadValue(f"{name!r} cannot be the name of a campaign.", "Letters, digits, spaces and dashes are safe.")
    if len(trimmed.encode()) > 200:
        raise BadValue("The name is too long.", "At most 200 bytes.")
    return trimmed


def find_definition(source: str) -> Path:
    """The file of a sample's name, or the path itself."""
    return paths.samples().get(source) or paths.expand(source)


def definition_text(source: str) -> str:
    """The TOML text of a sample or a definition file. Raises ``bad-value``, ``io-error``."""
    try:
        return find_definition(source).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadValue(f"{source} is not UTF-8.") from None
    except OSError as error:
        near = nearest(source, paths.samples())
        hint = f"Did you mean {near}?" if near else f"The samples are {', '.join(paths.samples())}."
        raise NarratorError("io-error", f"{source} cannot be read: {error.strerror}.", hint) from None


def make_campaign(source: str, *, name: str | None = None, seed: int | None = None) -> Path:
    """Make a campaign from a sample's name or a definition file. Raises ``BadDefinition`` and what a file may raise.

    Without a name it is that of the source, with a number where that is taken.
    """
    from narrator.engine.story import create_campaign

    definition, text = find_definition(source), definition_text(source)
    folder = paths.campaigns_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if name is not None:
        path = folder / f"{check_name(name)}{paths.SUFFIX}"
        if path.exists():
            raise BadValue(f"There is a campaign {name!r} already.", "Choose another name.")
    else:
        stem, number = check_name(definition.stem), 1
        path = folder / f"{stem}{paths.SUFFIX}"
        while path.exists():
            number += 1
            path = folder / f"{stem}-{number}{paths.SUFFIX}"
    create_campaign(path, text, seed=seed)
    return path


def open_or_make(text: str, *, seed: int | None = None) -> Path:
    """The campaign of ``play X``: one that exists, else a new one from the sample of that name (contract).

    A seed is written when a campaign is made and refused for one that exists.
    """
    is_there = text in named_campaigns()
    if not is_there and text in paths.samples():
        return make_campaign(text, name=text, seed=seed)
    path = find_campaign(text)
    if seed is not None:
        raise BadValue(
            "A seed is written when a campaign is made; this one exists.", "Make another with `narrator new`."
        )
    return path


def complete_campaign(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For the shell: campaigns by name, samples, and files where it is no beginning of a name."""
    from click.shell_completion import CompletionItem

    names = [name for name in {**named_campaigns(), **paths.samples()} if name.startswith(incomplete)]
    return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]
