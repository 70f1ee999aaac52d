"""What requests cost, and the limits that a player has set: no request goes out that could exceed them (U13).

A request is priced before it is sent, by the most that it can take: its prompt as counted, its answer at full length.
Afterwards it is charged by what the server reports; where nothing is reported (it was stopped, or broke off) by an
estimate that is rather too high. What was spent is kept in the campaign whatever became of the answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import ceil
from typing import Final

from narrator.config import LimitSettings, NarratorSettings, PriceSettings
from narrator.core.errors import Refusal
from narrator.core.prompt import Message
from narrator.engine.story import Story
from narrator.narrators.port import Request, Usage
from narrator.narrators.tokens import Measure, count_bytes
from narrator.store import commit, reads

MILLION: Final = 1_000_000
NOTHING_USED: Final = Usage(0, 0, 0)
UNPAID: Final = frozenset(
    {"narrator-unreachable", "narrator-auth", "narrator-rate-limited", "context-too-long", "offline"}
)
"""Failures of requests that no model has worked on."""


class Spending:
    """What the narrators of one open campaign cost. Owns the sum of this session; the campaign's is in its file.

    Money is in the currency of the prices. ``narrators`` are the player's, by name.
    """

    def __init__(self, story: Story, narrators: Mapping[str, NarratorSettings], limits: LimitSettings) -> None:
        self.session = 0.0
        self._story = story
        self._narrators = narrators
        self._limits = limits
        self._measures: dict[str, Measure] = {}

    @property
    def has_prices(self) -> bool:
        """Whether any narrator has a price."""
        return any(each.price is not None for each in self._narrators.values())

    def price_of(self, narrator: str) -> PriceSettings | None:
        """The price that the player gave for a narrator."""
        found = self._narrators.get(narrator)
        return found.price if found is not None else None

    def foresee(self, narrator: str, tokens_in: int, tokens_out: int, *, is_in_bytes: bool) -> float | None:
        """What so many tokens will cost at most, None without a price. ``is_in_bytes``: what goes in was counted as one
        token a byte, and is taken by what the server has reported where it has.
        """
        price = self.price_of(narrator)
        if price is None:
            return None
        ratio = self._measure(narrator).ratio if is_in_bytes else None
        return cost_of(price, Usage(ceil(tokens_in * (ratio or 1.0)), tokens_out))

    def is_much(self, cost: float) -> bool:
        """Whether a cost is more than a tenth of a limit that the player has set."""
        limits = (self._limits.per_session, self._limits.per_campaign)
        return any(limit is not None and cost > limit / 10 for limit in limits)

    def allow(self, narrator: str, request: Request) -> None:
        """See that a request cannot exceed a limit. Raises ``limit-reached``."""
        price = self.price_of(narrator)
        if price is None:
            return
        most = cost_of(price, Usage(self._tokens(narrator, request), request.max_output_tokens))
        limits = (
            ("session", self._limits.per_session, self.session),
            ("campaign", self._limits.per_campaign, reads.spent(self._story.store)),
        )
        for what, limit, spent in limits:
            if limit is not None and spent + most > limit:
                raise Refusal(
                    "limit-reached",
                    f"This {what} has cost {spent:.4f}; a request of up to {most:.4f} more could exceed your limit"
                    f" of {limit:g}.",
                    f"Raise limits.per_{what} in config.toml, or choose another narrator.",
                )

    def charge(self, narrator: str, request: Request, usage: Usage, text: str) -> None:
        """Write down what a request has cost. Tokens that nobody reported are estimated from ``text``, its answer."""
        price = self.price_of(narrator)
        if price is None:
            return
        if usage.tokens_in:
            self._measure(narrator).learn(usage.tokens_in, count_bytes(request.messages) + _schema_size(request))
        tokens_in = self._tokens(narrator, request) if usage.tokens_in is None else usage.tokens_in
        tokens_out = usage.tokens_out
        if tokens_out is None:
            tokens_out = self._measure(narrator).count([Message("assistant", text)]) if text else 0
        cost = cost_of(price, Usage(tokens_in, tokens_out, usage.tokens_cached))
        self.session += cost
        if cost and not self._story.is_read_only:
            commit.spend(self._story.store, narrator, cost)

    def _measure(self, narrator: str) -> Measure:
        return self._measures.setdefault(narrator, Measure())

    def _tokens(self, narrator: str, request: Request) -> int:
        """Tokens of a prompt: one a byte until the server has reported some, then by the most it has made of one."""
        return self._measure(narrator).count((*request.messages, *_schema_message(request)))


def cost_of(price: PriceSettings, usage: Usage) -> float:
    """What so many tokens cost; cached ones are among those that went in."""
    tokens_in, cached = usage.tokens_in or 0, min(usage.tokens_cached or 0, usage.tokens_in or 0)
    per_cached = price.input if price.cached is None else price.cached
    return ((tokens_in - cached) * price.input + cached * per_cached + (usage.tokens_out or 0) * price.output) / MILLION


def _schema_message(request: Request) -> tuple[Message, ...]:
    """The schema, which servers put into the prompt or into a grammar."""
    return (Message("system", json.dumps(dict(request.schema))),) if request.schema is not None else ()


def _schema_size(request: Request) -> int:
    return count_bytes(_schema_message(request))
