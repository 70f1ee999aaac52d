"""The shapes that a definition file may have: pydantic models, one a table, and their errors by key path.

Only ``campaign`` uses this. Shapes are checked here; whether names refer to something is checked there.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from narrator.core.nearest import nearest

Problem = tuple[str, str]
Visibility = Literal["open", "narrator", "hidden"]
Name = Annotated[str, Field(min_length=1, max_length=120)]


class Table(BaseModel):
    """No key but the declared ones, and no guessing of types: a file that is read by people says what it means."""

    model_config = ConfigDict(extra="forbid", strict=True)


class CampaignTable(Table):
    id: Name
    title: Name
    opening: Annotated[str, Field(min_length=1)]
    instructions: str = ""
    premise: str = ""
    limits: str = ""
    blurb: str = ""
    language: Annotated[str, Field(pattern=r"^[a-zA-Z]{2,3}(-[a-zA-Z0-9]+)*$")] = "en"


class PlayerTable(Table):
    name: str = ""
    persona: str = ""


class StartTable(Table):
    location: str = ""
    time: str = ""
    mood: str = ""
    present: list[str] = []
    inventory: dict[str, str] = {}
    facts: list[str] = []
    threads: dict[str, str] = {}


class EntityTable(Table):
    name: Name
    kind: Literal["character", "place", "thing"] = "character"
    text: str = ""
    visibility: Visibility = "narrator"
    aliases: list[str] = []


class FieldTable(Table):
    type: Literal["number", "counter", "text", "flag", "list", "relation", "milestone"]
    visibility: Visibility = "open"
    label: str = ""
    min: float | None = None
    max: float | None = None
    initial: Any = None
    bands: list[list[Any]] = []
    max_change: Annotated[float, Field(gt=0)] | None = None
    cooldown: Annotated[int, Field(ge=0)] = 0
    max_length: Annotated[int, Field(gt=0)] | None = None
    choices: list[str] = []


class SkillTable(Table):
    field: str = ""
    bonus: int = 0
    text: str = ""


class EffectTable(Table):
    op: Literal["set", "add", "append", "remove", "assert", "retract", "open", "close", "relate", "move"]
    path: Name
    value: Any = None
    why: str = ""


class ClockTable(Table):
    size: Annotated[int, Field(gt=0, le=1_000)]
    advances_on: list[str] = []
    advances_when: str = ""
    when_full: list[EffectTable] = []
    visibility: Visibility = "hidden"
    initial: Annotated[int, Field(ge=0)] = 0


class RulesTable(Table):
    dice: Annotated[str, Field(pattern=r"^[1-9]\d?d[1-9]\d{0,3}$")] = "1d20"
    retry: Literal["reroll", "keep", "never"] = "reroll"
    show_numbers: bool = False
    skills: dict[str, SkillTable] = {}
    difficulty: dict[str, int] = {}
    outcomes: dict[str, int] = {}
    clocks: dict[str, ClockTable] = {}


class CardTable(Table):
    name: Name
    text: str
    keys: list[str] = []
    kind: Literal["canon", "reference", "inspiration"] = "canon"
    enabled: bool = True
    constant: bool = False
    priority: int = 0
    scan_depth: Annotated[int, Field(ge=0)] | None = None
    case_sensitive: bool = False
    whole_word: bool = True
    regex: bool = False
    secondary: list[str] = []
    secondary_logic: Literal["any", "all", "none", "not-all"] = "any"
    when: str = ""
    recursive: bool = False
    sticky: Annotated[int, Field(ge=0)] = 0
    cooldown: Annotated[int, Field(ge=0)] = 0


class CheckTable(Table):
    skill: Name
    difficulty: Name


class OutcomeTable(Table):
    on: Name
    wordings: Annotated[list[str], Field(min_length=1)]
    effects: list[EffectTable] = []
    ending: str = ""


class StoryletTable(Table):
    id: Name
    on: Literal["input", "continue", "any", "after"] = "input"
    keys: list[str] = []
    modes: list[Literal["do", "say", "story"]] = []
    when: str = ""
    weight: Annotated[float, Field(gt=0)] = 1.0
    once: bool = False
    cooldown: Annotated[int, Field(ge=0)] = 0
    free: bool | str = False
    suggest: str = ""
    check: CheckTable | None = None
    outcomes: list[OutcomeTable] = []
    wordings: list[str] = []
    effects: list[EffectTable] = []
    ending: str = ""


class HintTable(Table):
    id: str = ""
    when: str = ""
    wordings: Annotated[list[str], Field(min_length=1)]
    weight: Annotated[float, Field(gt=0)] = 1.0


class EndingTable(Table):
    id: Name
    title: str = ""
    when: str = ""


class DefinitionFile(Table):
    """The whole file. ``state`` nests freely and is read table by table with ``state_tables``."""

    campaign: CampaignTable
    player: PlayerTable = PlayerTable()
    start: StartTable = StartTable()
    entities: dict[str, EntityTable] = {}
    state: dict[str, Any] | None = None
    rules: RulesTable | None = None
    cards: list[CardTable] = []
    synonyms: dict[str, list[str]] = {}
    storylets: list[StoryletTable] = []
    hints: list[HintTable] = []
    asides: list[HintTable] = []
    left: list[HintTable] = []
    endings: list[EndingTable] = []


T = typing.TypeVar("T", bound=BaseModel)


def read(model: type[T], data: Mapping[str, Any], where: str, problems: list[Problem]) -> T | None:
    """Validate one table; each error is added to ``problems`` with its key path, unknown keys with a near match."""
    try:
        return model.model_validate(data)
    except ValidationError as refusal:
        for error in refusal.errors(include_url=False, include_input=True):
            place = place_of(where, error["loc"])
            if error["type"] == "extra_forbidden":
                names = list(_model_at(model, error["loc"][:-1]).model_fields)
                problems.append((place, "unknown key" + near(str(error["loc"][-1]), names)))
            elif error["type"] == "literal_error":
                expected = str((error.get("ctx") or {}).get("expected", ""))
                problems.append((place, f"should be {expected}, not {error['input']!r}"))
            elif error["type"] == "missing":
                problems.append((place, "is missing"))
            else:
                message = error["msg"].removeprefix("Input ")
                problems.append((place, f"{message}, not {error['input']!r:.60}"))
        return None


def state_tables(tables: Mapping[str, Any], problems: list[Problem]) -> Iterator[tuple[str, FieldTable]]:
    """The fields below ``[state]`` as (path, table). A table with a ``type`` that is text is a field."""
    waiting: list[tuple[str, Any]] = [(name, tables[name]) for name in tables if name != "open_entities"]
    while waiting:
        path, table = waiting.pop(0)
        if not isinstance(table, Mapping):
            owner = path.rpartition(".")[0]
            hint = f": is the type of [state.{owner}] missing?" if owner else ""
            problems.append((f"state.{path}", f"should be a table that declares a field{hint}"))
        elif isinstance(table.get("type"), str):
            field = read(FieldTable, table, f"state.{path}", problems)
            if field is not None:
                yield path, field
        else:
            waiting += [(f"{path}.{name}", below) for name, below in table.items()]


def near(name: str, names: typing.Iterable[str]) -> str:
    """“ (did you mean …?)”, or '' where nothing is close."""
    match = nearest(name, names)
    return f" (did you mean {match}?)" if match else ""


def place_of(where: str, location: tuple[int | str, ...]) -> str:
    """A key path below ``where``: ``storylets[2].when``."""
    place = where
    for part in location:
        if isinstance(part, int):
            place += f"[{part}]"
        else:
            place += f".{part}" if place else part
    return place


def _model_at(model: type[BaseModel], location: tuple[int | str, ...]) -> type[BaseModel]:
    """The model that the table at this place was checked against."""
    for part in location:
        field = model.model_fields.get(str(part))
        if field is not None:
            model = _model_in(field.annotation) or model
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in typing.get_args(annotation):
        found = _model_in(inner)
        if found is not None:
            return found
    return None
