"""``config.toml`` ↔ frozen ``Settings``: read with all problems named, edited with comments kept (contract, U22).

An unknown key or a wrong type never keeps the program from starting: the place is named with a near match, the key is
left out, and the rest holds. Places are key paths such as ``narrators.mine.timeout``.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

from narrator.core.errors import NarratorError
from narrator.core.nearest import nearest

if TYPE_CHECKING:
    from pydantic import ConfigDict, TypeAdapter
    from tomlkit import TOMLDocument

    # What the fields below may be; ``_adapter`` says it to whoever checks them.
    _Tokens = int
    _Share = float
    _Money = float
    _Seconds = float
    _Retries = int
    _Every = int
    _Count = int
    _Rate = float

_STRICT: ConfigDict = {"extra": "forbid", "strict": True}
_Choice = Literal["auto", "on", "off"]


class Problem(NamedTuple):
    """What is wrong where; ``path`` is a key path, '' for the whole file."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


@dataclass(frozen=True)
class PriceSettings:
    """Price per million tokens, in the player's currency."""

    __pydantic_config__ = _STRICT
    input: _Money = 0.0
    cached: _Money | None = None
    output: _Money = 0.0


@dataclass(frozen=True)
class NarratorSettings:
    """One narrator. ``timeout`` in seconds, to the first token and between tokens; windows in tokens."""

    __pydantic_config__ = _STRICT
    kind: Literal["openai-compatible", "embedded", "scripted"]
    base_url: str | None = None
    model: str | None = None
    model_path: str | None = None
    api_key_env: str | None = None
    api_key_command: str | None = None
    context_window: _Tokens | None = None
    max_output_tokens: _Tokens = 1024
    counting: Literal["auto", "exact", "bytes", "measured"] = "auto"
    tools: _Choice = "auto"
    json_schema: _Choice = "auto"
    timeout: _Seconds = 60.0
    retries: _Retries = 2
    sampling: Mapping[str, Any] = field(default_factory=dict)
    price: PriceSettings | None = None


@dataclass(frozen=True)
class ContextSettings:
    """Watermarks are shares of the history budget."""

    __pydantic_config__ = _STRICT
    high_watermark: _Share = 0.70
    low_watermark: _Share = 0.45
    memory_every: _Every = 6
    memories_in_prompt: _Count = 5


@dataclass(frozen=True)
class LimitSettings:
    """Cost in the currency of the prices; None: no limit."""

    __pydantic_config__ = _STRICT
    per_session: _Money | None = None
    per_campaign: _Money | None = None


@dataclass(frozen=True)
class ScriptedSettings:
    """0 words a second: at once."""

    __pydantic_config__ = _STRICT
    words_per_second: _Rate = 12.0


@dataclass(frozen=True)
class ReadingSettings:
    """How the story is read and typed."""

    __pydantic_config__ = _STRICT
    stop_at_unread: bool = True
    if_words: bool = True


@dataclass(frozen=True)
class LogSettings:
    """What the log file may hold besides what happened."""

    __pydantic_config__ = _STRICT
    story_text: bool = False


@dataclass(frozen=True)
class Settings:
    """The whole of ``config.toml``; every key may be absent. ``theme`` None: the interface chooses."""

    __pydantic_config__ = _STRICT
    narrator: str | None = None
    theme: str | None = None
    offline: bool = False
    narrators: Mapping[str, NarratorSettings] = field(default_factory=dict)
    context: ContextSettings = field(default_factory=ContextSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    scripted: ScriptedSettings = field(default_factory=ScriptedSettings)
    reading: ReadingSettings = field(default_factory=ReadingSettings)
    log: LogSettings = field(default_factory=LogSettings)
    keys: Mapping[str, str] = field(default_factory=dict)


def read(path: Path) -> tuple[Settings, tuple[Problem, ...]]:
    """The settings of a file and all that is wrong in it; a missing file is all defaults. Raises nothing."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return Settings(), ()
    except UnicodeDecodeError:
        return Settings(), (Problem("", f"{path.name} is not UTF-8; it was not read."),)
    except OSError as error:
        return Settings(), (Problem("", f"{path.name} cannot be read: {error.strerror}."),)
    return parse(text)


@cache
def _adapter() -> TypeAdapter[Settings]:
    """Checks settings. pydantic is loaded with it: the first frame of whoever has no config does not wait for that.

    The names stand in this module, where pydantic looks for what the annotations mean.
    """
    from pydantic import Field, TypeAdapter

    amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
    globals().update(
        _Tokens=Annotated[int, Field(gt=0)],
        _Share=Annotated[float, Field(gt=0, lt=1)],
        _Money=amount,
        _Rate=amount,
        _Seconds=Annotated[float, Field(gt=0, allow_inf_nan=False)],
        _Retries=Annotated[int, Field(ge=0, le=10)],
        _Every=Annotated[int, Field(gt=0)],
        _Count=Annotated[int, Field(ge=0)],
    )
    return TypeAdapter(Settings)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of ``config.toml``."""
    return _adapter().json_schema()


def parse(text: str) -> tuple[Settings, tuple[Problem, ...]]:
    """The settings of a text and its problems."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # What was meant to keep words on this machine goes on doing so.
        return Settings(offline="offline" in text), (Problem("", f"config.toml is no TOML and was not read: {error}."),)
    if not raw:
        return Settings(), ()
    from pydantic import ValidationError

    problems: list[Problem] = []
    adapter = _adapter()
    # Each round names the wrong keys and takes them out; what is left is valid after a few.
    while True:
        try:
            # As JSON: strict, and yet a table may stand for a dataclass.
            settings: Settings = adapter.validate_json(json.dumps(raw, default=str))
            break
        except ValidationError as error:
            left_out: set[tuple[str, ...]] = set()
            # What is missing takes its whole table out, so the keys that stand in one are named before.
            for found in sorted(
                error.errors(include_url=False, include_input=False), key=lambda each: each["type"] == "missing"
            ):
                problem = _leave_out(raw, tuple(found["loc"]), found["type"], found["msg"], left_out)
                if problem is not None and problem.path not in [named.path for named in problems]:
                    problems.append(problem)
    if any(problem.path == "offline" for problem in problems):
        settings = replace(settings, offline=True)
        problems.append(Problem("offline", "Until it is mended, it counts as true."))
    settings, more = _check_together(settings)
    return settings, (*problems, *more)


def _leave_out(
    raw: dict[str, Any], location: tuple[int | str, ...], kind: str, message: str, left_out: set[tuple[str, ...]]
) -> Problem | None:
    """Take the wrong key out of the raw table. A required key that is missing takes its whole table out.

    ``left_out`` are the places that were taken out in this round, and are added to; None for what stood in one of them.
    """
    table: Any = raw
    keys: list[str] = []
    for part in location:
        if (*keys, str(part)) in left_out:
            return None
        # The location goes on inside a union with the names of its members: the key itself ends before those.
        if not isinstance(table, dict) or (str(part) not in table and kind != "missing"):
            break
        keys.append(str(part))
        if kind == "missing" and str(part) not in table:
            break
        table = table[str(part)]
    path = ".".join(_quoted(key) for key in keys)
    gone = keys[:-1] if kind == "missing" else keys
    left_out.add(tuple(gone))
    holder = raw
    for key in gone[:-1]:
        holder = holder[key]
    holder.pop(gone[-1], None)
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        near = nearest(keys[-1], _known_keys(keys[:-1]))
        return Problem(path, f"There is no such key.{f' Did you mean {near}?' if near else ''}")
    if kind == "missing":
        return Problem(path, "This key is missing; the table was left out.")
    said = message.replace("Input should be", "It should be").replace("an object", "a table").rstrip(".")
    return Problem(path, f"{said}; the key was left out.")


def _quoted(key: str) -> str:
    return key if key.replace("-", "").replace("_", "").isalnum() else f'"{key}"'


def _known_keys(path: list[str]) -> list[str]:
    """The keys that a table may hold."""
    shape: Any = Settings
    for key in path:
        if is_dataclass(shape):
            hints = get_type_hints(shape)
            shape = hints.get(key)
            arguments = [a for a in get_args(shape) if a is not type(None)]
            if arguments and not is_dataclass(shape):
                shape = arguments[0] if is_dataclass(arguments[0]) else shape
        elif get_args(shape):
            shape = get_args(shape)[-1]
    return [f.name for f in fields(shape)] if is_dataclass(shape) else []


def _check_together(settings: Settings) -> tuple[Settings, list[Problem]]:
    """Rules over several keys: what a kind of narrator needs, the order of the watermarks."""
    problems = []
    narrators = {}
    for name, narrator in settings.narrators.items():
        needed = {"openai-compatible": "base_url", "embedded": "model_path"}.get(narrator.kind)
        if needed and not getattr(narrator, needed):
            path = f"narrators.{_quoted(name)}"
            problems.append(Problem(path, f"A narrator of kind {narrator.kind} needs {needed}; it was left out."))
        else:
            narrators[name] = narrator
    context = settings.context
    if context.low_watermark >= context.high_watermark:
        problems.append(Problem("context.low_watermark", "It must be below high_watermark; both were left out."))
        context = ContextSettings(memory_every=context.memory_every, memories_in_prompt=context.memories_in_prompt)
    chosen = settings.narrator
    if chosen is not None and chosen not in narrators and chosen != "scripted":
        near = nearest(chosen, narrators)
        hint = f" Did you mean {near}?" if near else ""
        problems.append(Problem("narrator", f"There is no narrator {chosen!r} under [narrators].{hint}"))
        chosen = None
    rest = {f.name: getattr(settings, f.name) for f in fields(Settings)}
    return Settings(**{**rest, "narrators": narrators, "context": context, "narrator": chosen}), problems


def write(path: Path, key: tuple[str, ...], value: object) -> None:
    """Set one key, or take it out with None; comments and order of the file are kept (U22).

    The file is replaced as a whole, with mode 0600. Raises ``io-error``, and ``bad-value`` where it is no TOML.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig") if path.exists() else ""
        _replace(path, changed(text, key, value))
    except UnicodeDecodeError:
        raise NarratorError("bad-value", f"{path} is not UTF-8.", "Mend it with an editor.") from None
    except OSError as error:
        raise NarratorError("io-error", f"{path} cannot be written: {error.strerror}.") from None


def changed(text: str, key: tuple[str, ...], value: object) -> str:
    """The text with one key set, or taken out with None. Raises ``bad-value`` where it is no TOML."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        _set(document, key, value)
        return tomlkit.dumps(document)
    except (TOMLKitError, TypeError, ValueError) as error:
        raise NarratorError("bad-value", f"config.toml cannot be changed: {error}", "Mend it by hand.") from None


def _set(document: TOMLDocument, key: tuple[str, ...], value: object) -> None:
    import tomlkit

    table: Any = document
    for name in key[:-1]:
        if name not in table:
            if value is None:
                return
            table[name] = tomlkit.table()
        table = table[name]
    if value is None:
        table.pop(key[-1], None)
    else:
        table[key[-1]] = value


def _replace(path: Path, text: str) -> None:
    """Write beside, then rename: a crash leaves the old file or the new one. A link stays a link."""
    target = path.resolve()
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
