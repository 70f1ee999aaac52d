"""A campaign's definition: parse, validate, all problems at once by key path.

``docs/definition.md`` tells every key to those who write one. The text is read with tomllib, its shape checked by the
models in ``door``, the names in it by ``references``; what comes out is the frozen ``Definition``, and nothing behind
this door checks again.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import regex

from narrator.core import door
from narrator.core.conditions import BadCondition, Condition, parse_condition
from narrator.core.definition import (
    Band,
    Card,
    Clock,
    Definition,
    Dice,
    Ending,
    Entity,
    Field,
    OutcomeBand,
    Rules,
    Skill,
    Start,
    Storylet,
    StoryletCheck,
    StoryletOutcome,
    find_field,
)
from narrator.core.door import Problem
from narrator.core.errors import BadDefinition
from narrator.core.proposal import Proposal
from narrator.core.references import dangling
from narrator.core.salvage import Broken, salvage

__all__ = [
    "DEFAULT_DIFFICULTY",
    "DEFAULT_OUTCOMES",
    "Card",
    "Definition",
    "Entity",
    "Field",
    "Rules",
    "Storylet",
    "find_field",
    "minimal_definition",
    "parse_definition",
]

DEFAULT_OUTCOMES = (
    OutcomeBand("critical failure", -1_000_000),
    OutcomeBand("failure", -9),
    OutcomeBand("success", 0),
    OutcomeBand("critical success", 10),
)
"""Where ``[rules.outcomes]`` is absent: a miss by ten or more is critical, and so is a hit by ten or more."""
DEFAULT_DIFFICULTY: Mapping[str, int] = MappingProxyType({"easy": 8, "moderate": 12, "hard": 16})


@lru_cache(maxsize=8)
def parse_definition(text: str) -> Definition:
    """The definition in this TOML text. Raises ``BadDefinition`` with every problem that was found.

    Kept for the last few texts: a definition is frozen, and reading 100 kB of TOML takes 50 ms.
    """
    try:
        tables = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise BadDefinition([("toml", str(error))]) from error
    problems: list[Problem] = []
    shape = door.read(door.DefinitionFile, tables, "", problems)
    fields = _fields(tables.get("state"), problems)
    further: list[Problem] = []
    broken = Broken(paths=_unread(problems))
    if shape is None:
        shape, found = salvage(tables)
        broken = replace(broken, places=found.places)
    if shape is None:
        raise BadDefinition(problems)
    definition = _build(shape, fields, text, further)
    further += dangling(definition)
    problems += broken.without_consequences(further) if problems else further
    if problems:
        raise BadDefinition(problems)
    return definition


def _unread(problems: Iterable[Problem]) -> frozenset[str]:
    """The paths of fields that were declared and could not be read, or may have been."""
    found = [place.removeprefix("state.").partition("[")[0] for place, _ in problems if place.startswith("state.")]
    return frozenset([*found, *(path.rpartition(".")[0] for path in found)]) - {""}


def minimal_definition(title: str, opening: str) -> Definition:
    """A definition for a campaign made from nothing: a title, an opening, no state, no rules.

    An empty opening is allowed here (an import may bring one).
    """
    name = re.sub(r"[^\w]+", "-", title.casefold()).strip("-") or "campaign"
    source = f"[campaign]\nid = {_quoted(name)}\ntitle = {_quoted(title)}\nopening = {_quoted(opening)}\n"
    return Definition(id=name, title=title, opening=opening, is_entities_open=True, source=source)


def _quoted(text: str) -> str:
    """A TOML basic string."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    out = (escapes.get(sign) or (sign if sign.isprintable() else f"\\U{ord(sign):08X}") for sign in text)
    return '"' + "".join(out) + '"'


def _build(shape: door.DefinitionFile, fields: dict[str, Field], text: str, problems: list[Problem]) -> Definition:
    campaign, start = shape.campaign, shape.start
    rules = _rules(shape.rules, problems) if shape.rules is not None else None
    storylets = _storylets(shape, problems)
    for clock in rules.clocks.values() if rules else ():
        path = f"clocks.{clock.id}"
        fields.setdefault(
            path, Field(path, "number", clock.visibility, 0, clock.size, initial=clock.initial, is_authored=True)
        )
    _declare_flags(fields, rules, storylets)
    return Definition(
        id=campaign.id,
        title=campaign.title,
        opening=campaign.opening.strip("\n"),
        instructions=campaign.instructions,
        premise=campaign.premise,
        limits=campaign.limits,
        blurb=campaign.blurb,
        language=campaign.language,
        player_name=shape.player.name,
        persona=shape.player.persona,
        start=Start(
            start.location,
            start.time,
            start.mood,
            tuple(start.present),
            MappingProxyType(start.inventory),
            tuple(start.facts),
            MappingProxyType(start.threads),
        ),
        fields=MappingProxyType(fields),
        entities=MappingProxyType(
            {
                name: Entity(name, table.name, table.kind, table.text, table.visibility, tuple(table.aliases))
                for name, table in shape.entities.items()
            }
        ),
        cards=tuple(build_card(table, f"cards[{at}]", problems) for at, table in enumerate(shape.cards)),
        rules=rules,
        storylets=storylets,
        synonyms=MappingProxyType({word: tuple(others) for word, others in shape.synonyms.items()}),
        endings=tuple(
            Ending(table.id, table.title, _condition(table.when, f"endings[{at}].when", problems))
            for at, table in enumerate(shape.endings)
        ),
        is_state_declared=shape.state is not None,
        is_entities_open=shape.state is None or shape.state.get("open_entities") is True,
        source=text,
    )


def _fields(tables: Any, problems: list[Problem]) -> dict[str, Field]:
    if not isinstance(tables, Mapping):
        return {}
    if not isinstance(tables.get("open_entities", False), bool):
        problems.append(("state.open_entities", "should be true or false"))
    fields: dict[str, Field] = {}
    for path, table in door.state_tables(tables, problems):
        if table.type == "relation":
            table = table.model_copy(update={"min": -10 if table.min is None else table.min})
            table = table.model_copy(update={"max": 10 if table.max is None else table.max})
        fields[path] = Field(
            path,
            table.type,
            table.visibility,
            table.min,
            table.max,
            _bands(table.bands, f"state.{path}.bands", problems),
            table.initial,
            table.max_change,
            table.cooldown,
            table.max_length,
            tuple(table.choices),
            table.label,
        )
    return fields


def _bands(rows: list[list[Any]], where: str, problems: list[Problem]) -> tuple[Band, ...]:
    bands: list[Band] = []
    for at, row in enumerate(rows):
        numbers = [item for item in row[:2] if isinstance(item, int | float) and not isinstance(item, bool)]
        if len(row) != 3 or len(numbers) != 2 or not isinstance(row[2], str):
            problems.append((f"{where}[{at}]", 'should be [from, to, "label"]'))
        elif row[0] > row[1]:
            problems.append((f"{where}[{at}]", "begins above its end"))
        else:
            bands.append(Band(row[0], row[1], row[2]))
    ordered = sorted(bands, key=lambda band: band.low)
    for lower, upper in itertools.pairwise(ordered):
        if upper.low <= lower.high:
            problems.append((where, f"“{lower.label}” and “{upper.label}” overlap"))
    return tuple(ordered)


def _rules(table: door.RulesTable, problems: list[Problem]) -> Rules:
    count, sides = table.dice.split("d")
    outcomes = tuple(
        OutcomeBand(outcome_name(name), margin)
        for name, margin in sorted(table.outcomes.items(), key=lambda item: item[1])
    )
    if len(outcomes) == 1:
        problems.append(("rules.outcomes", "needs two at least"))
    return Rules(
        skills=MappingProxyType(
            {name: Skill(name, skill.field, skill.bonus, skill.text) for name, skill in table.skills.items()}
        ),
        difficulty=MappingProxyType(table.difficulty or dict(DEFAULT_DIFFICULTY)),
        outcomes=outcomes or DEFAULT_OUTCOMES,
        dice=Dice(int(count), int(sides)),
        clocks=MappingProxyType(
            {
                name: Clock(
                    name,
                    clock.size,
                    tuple(outcome_name(outcome) for outcome in clock.advances_on),
                    _condition(clock.advances_when, f"rules.clocks.{name}.advances_when", problems),
                    _effects(clock.when_full),
                    clock.visibility,
                    min(clock.initial, clock.size),
                )
                for name, clock in table.clocks.items()
            }
        ),
        retry=table.retry,
        shows_numbers=table.show_numbers,
    )


def outcome_name(name: str) -> str:
    """The one spelling of an outcome: “critical failure” for Critical-Failure and critical_failure too."""
    return re.sub(r"[\s_-]+", " ", name.strip().casefold())


def build_card(table: door.CardTable, where: str, problems: list[Problem]) -> Card:
    if table.regex:
        for place, keys in (("keys", table.keys), ("secondary", table.secondary)):
            for at, key in enumerate(keys):
                try:
                    regex.compile(key)
                except regex.error as error:
                    problems.append((f"{where}.{place}[{at}]", f"is no regular expression: {error}"))
    return Card(
        name=table.name,
        text=table.text,
        keys=tuple(table.keys),
        kind=table.kind,
        is_enabled=table.enabled,
        is_constant=table.constant,
        priority=table.priority,
        scan_depth=table.scan_depth,
        is_case_sensitive=table.case_sensitive,
        is_whole_word=table.whole_word,
        is_regex=table.regex,
        secondary=tuple(table.secondary),
        secondary_logic=table.secondary_logic,
        when=_condition(table.when, f"{where}.when", problems),
        is_recursive=table.recursive,
        sticky=table.sticky,
        cooldown=table.cooldown,
    )


def _storylets(shape: door.DefinitionFile, problems: list[Problem]) -> tuple[Storylet, ...]:
    storylets = [_storylet(table, f"storylets[{at}]", problems) for at, table in enumerate(shape.storylets)]
    for kind, name, tables in (
        ("hint", "hints", shape.hints),
        ("aside", "asides", shape.asides),
        ("left", "left", shape.left),
    ):
        for at, table in enumerate(tables):
            storylets.append(
                Storylet(
                    id=table.id or f"{kind}-{at + 1}",
                    outcomes=(StoryletOutcome("", tuple(table.wordings)),),
                    on=kind,
                    when=_condition(table.when, f"{name}[{at}].when", problems),
                    weight=table.weight,
                    is_free=kind == "hint",
                )
            )
    return tuple(storylets)


def _storylet(table: door.StoryletTable, where: str, problems: list[Problem]) -> Storylet:
    common = _effects(table.effects)
    told = [(outcome_name(row.on), row.wordings, common + _effects(row.effects), row.ending) for row in table.outcomes]
    if table.wordings:
        told.append(("", table.wordings, common, ""))
    outcomes = [
        StoryletOutcome(on, tuple(wordings), effects, ending or table.ending) for on, wordings, effects, ending in told
    ]
    if not outcomes:
        problems.append((where, "has nothing to tell: wordings, or outcomes with wordings, are missing"))
    if table.outcomes and table.check is None:
        problems.append((f"{where}.outcomes", "want a check"))
    if table.on == "input" and not table.keys:
        problems.append((f"{where}.keys", 'are missing (or say on = "continue", "any" or "after")'))
    if table.on != "input" and table.keys:
        problems.append((f"{where}.keys", f'mean nothing with on = "{table.on}"'))
    if table.on == "after" and table.check is not None:
        problems.append((f"{where}.check", 'means nothing with on = "after"'))
    return Storylet(
        id=table.id,
        outcomes=tuple(outcomes),
        on=table.on,
        keys=tuple(table.keys),
        when=_condition(table.when, f"{where}.when", problems),
        weight=table.weight,
        is_once=table.once,
        cooldown=table.cooldown,
        check=StoryletCheck(table.check.skill, table.check.difficulty) if table.check else None,
        modes=tuple(table.modes),
        suggest=table.suggest,
        is_free=table.free is True,
        free_when=_condition(table.free, f"{where}.free", problems) if isinstance(table.free, str) else None,
    )


def _effects(tables: Iterable[door.EffectTable]) -> tuple[Proposal, ...]:
    return tuple(Proposal(table.op, table.path, table.value, table.why) for table in tables)


def _condition(text: str, where: str, problems: list[Problem]) -> Condition | None:
    if not text.strip():
        return None
    try:
        return parse_condition(text)
    except BadCondition as error:
        problems.append((where, error.message))
        return None


def _declare_flags(fields: dict[str, Field], rules: Rules | None, storylets: Iterable[Storylet]) -> None:
    """A flag that the campaign's own effects write needs no declaration: it is then hidden, and no model's business."""
    effects = [effect for clock in (rules.clocks.values() if rules else ()) for effect in clock.when_full]
    effects += [effect for storylet in storylets for outcome in storylet.outcomes for effect in outcome.effects]
    for effect in effects:
        if effect.path.startswith("flags.") and effect.op == "set":
            fields.setdefault(effect.path, Field(effect.path, "flag", "hidden"))
