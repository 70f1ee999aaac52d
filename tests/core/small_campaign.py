"""A small campaign that uses every part of a definition, and a turn of it by the pure core alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from narrator.core.campaign import Definition, parse_definition
from narrator.core.checks import clock_proposals, roll_check
from narrator.core.referee import judge
from narrator.core.state import EMPTY, State, advance, initial_events
from narrator.core.storylets import Telling, choose, tell

TEXT = """
[campaign]
id = "mill"
title = "The Mill"
opening = "The wheel stands still."

[player]
name = "Ada"

[start]
location = "yard"
time = "dusk"
present = ["miller"]
inventory = { key = "player", sack = "miller" }
facts = ["The wheel has not turned since Sunday."]
threads = { wheel = "Why does the wheel stand still?" }

[entities.yard]
name = "the yard"
kind = "place"
text = "Cobbles and chaff."
visibility = "open"
[entities.loft]
name = "the loft"
kind = "place"
[entities.miller]
name = "Orrin Vale"
text = "The miller. He counts everything twice."
aliases = ["the miller"]
[entities.rat]
name = "The Rat King"
visibility = "hidden"
[entities.key]
name = "a brass key"
kind = "thing"
text = "It fits something small."
visibility = "open"
[entities.sack]
name = "a sack"
kind = "thing"

[state.player.nerve]
type = "number"
min = 0
max = 10
initial = 5
bands = [[0, 2, "shaking"], [3, 6, "wary"], [7, 10, "steady"]]
max_change = 3
[state.player.coins]
type = "counter"
initial = 1
[state.player.title]
type = "text"
max_length = 20
[state.player.mood]
type = "text"
choices = ["calm", "cross"]
cooldown = 2
[state.player.marks]
type = "list"
initial = ["scar"]
[state.miller.debt]
type = "number"
visibility = "narrator"
min = 0
max = 100
initial = 40
[state.miller.plan]
type = "text"
visibility = "hidden"
initial = "burn the mill"
[state.flags.gate_open]
type = "flag"
initial = false
[state.flags.secret]
type = "flag"
visibility = "hidden"
[state.trust]
type = "relation"
min = -5
max = 5
bands = [[-5, -1, "cold"], [0, 2, "civil"], [3, 5, "warm"]]
initial = [["miller", "player", 0]]
[state.goals.wheel]
type = "milestone"

[rules]
dice = "1d20"
[rules.skills.persuade]
field = "player.nerve"
[rules.difficulty]
easy = 6
hard = 14
[rules.clocks.fire]
size = 3
advances_on = ["failure"]
when_full = [{ op = "set", path = "flags.burnt", value = true }]

[[storylets]]
id = "look"
keys = ["look"]
wordings = ["Look one.", "Look two.", "Look three."]
[[storylets]]
id = "look-yard"
keys = ["look"]
when = "location == 'yard'"
wordings = ["Yard one.", "Yard two."]
suggest = "look around the yard"
[[storylets]]
id = "ask-miller"
keys = ["ask|talk + miller|orrin"]
when = "'miller' in scene.present"
check = { skill = "persuade", difficulty = "hard" }
[[storylets.outcomes]]
on = "success"
wordings = ["He nods.", "He tells you."]
effects = [
  { op = "set", path = "flags.secret", value = true },
  { op = "relate", path = "trust.miller.player", value = 2 },
]
[[storylets.outcomes]]
on = "failure"
wordings = ["He shrugs.", "He counts."]
effects = [{ op = "add", path = "player.nerve", value = -1 }]
[[storylets]]
id = "go-loft"
keys = ["go|climb + loft|up"]
once = true
wordings = ["You climb."]
effects = [{ op = "move", path = "location", value = "loft" }]
[[storylets]]
id = "wind"
on = "continue"
wordings = ["The wind turns.", "A door bangs."]
[[storylets]]
id = "ashes"
on = "any"
when = "flags.burnt"
wordings = ["The mill is gone."]
ending = "ashes"
[[storylets]]
id = "turn-wheel"
keys = ["turn|start + wheel"]
when = "flags.secret and has('player', 'key')"
wordings = ["It turns."]
effects = [{ op = "set", path = "goals.wheel", value = true }]

[[hints]]
when = "location == 'yard'"
wordings = ["The miller waits to be asked.", "There is a ladder to the loft."]

[[asides]]
wordings = ["Chaff drifts.", "A pigeon settles.", "The light goes."]

[[left]]
wordings = ["Ada left it.", "Ada did no such thing."]

[[endings]]
id = "ashes"
[[endings]]
id = "turning"
title = "The wheel turns"
when = "goals.wheel"
"""


def small() -> Definition:
    return parse_definition(TEXT)


def start(definition: Definition) -> State:
    """The state after the opening and a first player's node."""
    return advance(advance(EMPTY, "opening", initial_events(definition)), "player", ())


@dataclass(frozen=True)
class Table:
    """A game in progress: the state after the last narration, and the hash of the last node."""

    definition: Definition
    state: State
    seed: int = 7
    chain_hash: bytes = bytes(32)

    def ask(self, text: str, ordinal: int = 0, mode: str = "do") -> tuple[Telling, Table]:
        """One turn: choose, roll, tell, judge, fold. ``ordinal`` above 0 is a retry of the same turn."""
        state = advance(self.state, "player", ()) if text else self.state
        node = hashlib.sha256(self.chain_hash + text.encode()).digest()
        choice = choose(
            self.definition,
            state,
            text,
            mode if text else None,
            seed=self.seed,
            chain_hash=node,
            ordinal=ordinal,
        )
        checks = []
        if choice.check is not None:
            skill, level = choice.check.skill, choice.check.difficulty
            facts = {"seed": self.seed, "chain_hash": node, "ordinal": ordinal, "number": 0}
            checks.append(roll_check(self.definition, state, skill, level, **facts))  # type: ignore[arg-type]
        telling = tell(choice, checks, self.definition, state)
        for proposals, source in (
            (clock_proposals(self.definition, state, checks, telling.proposals), "check"),
            (telling.proposals, "storylet"),
        ):
            verdict = judge(self.definition, state, proposals, source=source)
            assert not verdict.refused, verdict.refused
            state = advance(state, "narrator", verdict.events)
        told = hashlib.sha256(node + telling.text.encode()).digest()
        return telling, replace(self, state=state, chain_hash=told)


def table(text: str = TEXT, seed: int = 7) -> Table:
    definition = parse_definition(text)
    return Table(definition, advance(EMPTY, "opening", initial_events(definition)), seed)
