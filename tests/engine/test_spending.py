"""What requests cost, and the limits that stop before the request that would exceed them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from narrator.config import LimitSettings, NarratorSettings, PriceSettings, Settings
from narrator.core.errors import NarrationFailed
from narrator.engine.events import Asked, StatsShown
from narrator.engine.spending import cost_of
from narrator.narrators.fake import FakeNarrator, Line
from narrator.narrators.port import Purpose, Usage
from narrator.store import reads
from tests.engine.playing import Play, playing
from tests.engine.test_compaction import long_story
from tests.engine.test_compaction import teller as long_teller

PRICE = PriceSettings(input=2.0, cached=0.5, output=10.0)
TOLD = Line("The ferry comes.", usage=Usage(1_000_000, 100_000, 500_000))
TURN = 0.5 * 2.0 + 0.5 * 0.5 + 0.1 * 10.0
LITTLE = Line("The ferry comes.", usage=Usage(100, 10, 0))


def priced(limits: LimitSettings | None = None, price: PriceSettings | None = PRICE) -> Settings:
    mine = NarratorSettings(kind="openai-compatible", base_url="http://127.0.0.1:1/v1", price=price)
    return Settings(narrators={"mine": mine}, limits=limits or LimitSettings())


def teller(line: Line = TOLD) -> FakeNarrator:
    return FakeNarrator({Purpose.NARRATE: line}, name="mine")


async def shown_cost(play: Play) -> float | None:
    (shown,) = (await play.do("/stats")).of(StatsShown)
    assert isinstance(shown, StatsShown)
    return shown.cost


@pytest.mark.spec("U13")
def test_cached_tokens_have_their_own_price() -> None:
    assert cost_of(PRICE, Usage(1_000_000, 0, 400_000)) == pytest.approx(0.6 * 2 + 0.4 * 0.5)
    assert cost_of(PriceSettings(input=2.0), Usage(1_000_000, 7, 400_000)) == pytest.approx(2.0)
    assert cost_of(PRICE, Usage(10, None, 400)) == pytest.approx(10 * 0.5 / 1e6)
    assert cost_of(PRICE, Usage()) == 0


@pytest.mark.spec("U13")
async def test_the_cost_is_shown_and_stays_with_the_campaign(ferry: Path) -> None:
    async with playing(ferry, teller(), settings=priced()) as play:
        assert await shown_cost(play) == 0
        assert (await play.do("I wait.")).ok
        assert await shown_cost(play) == pytest.approx(TURN)
        await play.do("/undo")
        assert await shown_cost(play) == pytest.approx(TURN)
    async with playing(ferry, teller(), settings=priced()) as play:
        assert (await play.do("I wait.")).ok
        assert await shown_cost(play) == pytest.approx(2 * TURN)


@pytest.mark.spec("U13")
async def test_without_prices_nothing_is_said_of_cost(ferry: Path) -> None:
    async with playing(ferry, teller(), settings=priced(LimitSettings(0.0, 0.0), price=None)) as play:
        assert (await play.do("I wait.")).ok
        assert await shown_cost(play) is None


@pytest.mark.spec("U13")
@pytest.mark.parametrize("what", ["session", "campaign"])
async def test_a_limit_stops_before_the_request_that_would_exceed_it(ferry: Path, what: str) -> None:
    limits = LimitSettings(**{f"per_{what}": TURN + 0.0001})
    fake = teller()
    async with playing(ferry, fake, settings=priced(limits)) as play:
        assert (await play.do("I wait.")).ok
        before, sent = play.rows(), len(fake.requests)
        refused = await play.do("I go on.")
        assert (refused.ok, refused.code, refused.draft) == (False, "limit-reached", "I go on.")
        (failed,) = [each for each in refused.events if getattr(each, "code", "") == "limit-reached"]
        assert what in failed.message  # type: ignore[attr-defined]
        assert f"limits.per_{what}" in failed.hint  # type: ignore[attr-defined]
        assert len(fake.requests) == sent
        assert play.rows() == before
        assert (await play.do("/suggest")).code == "limit-reached"
        assert len(fake.requests) == sent
    async with playing(ferry, fake, settings=priced(limits)) as play:
        assert (await play.do("I go on.")).ok is (what == "session")


@pytest.mark.spec("U13")
async def test_a_request_that_may_cost_too_much_is_not_sent_at_all(ferry: Path) -> None:
    fake = teller(LITTLE)
    async with playing(ferry, fake, settings=priced(LimitSettings(per_session=0.0001))) as play:
        assert (await play.do("I wait.")).code == "limit-reached"
        assert fake.requests == []
    async with playing(ferry, fake, settings=priced(LimitSettings(per_session=100.0))) as play:
        for _ in range(3):
            assert (await play.do("I wait.")).ok


@pytest.mark.spec("U13")
async def test_checks_extractions_and_suggestions_cost_too(mill: Path) -> None:
    fake = teller(LITTLE)
    fake.answer(Purpose.CHECK, Line(json.dumps({"check": None}), usage=Usage(1000, 0)))
    fake.answer(Purpose.EXTRACT, Line(json.dumps({"changes": []}), usage=Usage(2000, 0)))
    fake.answer(Purpose.SUGGEST, Line(json.dumps({"suggestions": ["Wait."]}), usage=Usage(4000, 0)))
    async with playing(mill, fake, settings=priced()) as play:
        assert (await play.do("I wait.")).ok
        assert await shown_cost(play) == pytest.approx(cost_of(PRICE, Usage(3100, 10)))
        assert (await play.do("/suggest")).ok
        assert await shown_cost(play) == pytest.approx(cost_of(PRICE, Usage(7100, 10)))


@pytest.mark.spec("U13")
async def test_a_stopped_turn_is_charged_by_an_estimate(ferry: Path) -> None:
    fake = teller(Line("The ferry comes over the water.", stall_at=4))
    async with playing(ferry, fake, settings=priced()) as play:
        stopped = await play.stopped_at(4, "I wait.")
        assert stopped.code == "stopped"
        (request,) = fake.requests
        at_most = cost_of(PRICE, Usage(fake.count(request.messages), 100))
        assert 0 < play.session.cost <= at_most


@pytest.mark.spec("U13")
@pytest.mark.parametrize(
    ("code", "is_paid"), [("narrator-unreachable", False), ("narrator-auth", False), ("narrator-broke-off", True)]
)
async def test_only_what_a_model_worked_on_is_charged(ferry: Path, code: str, is_paid: bool) -> None:
    fake = teller(Line("The ferry.", fail_at=0, error=NarrationFailed(code, "It failed.")))
    async with playing(ferry, fake, settings=priced()) as play:
        assert (await play.do("I wait.")).code == code
        assert (reads.spent(play.story.store) > 0) is is_paid


@pytest.mark.spec("U13", "C20")
@pytest.mark.parametrize(
    ("price", "limits", "is_asked"),
    [
        (None, LimitSettings(), False),
        (PRICE, LimitSettings(), True),
        (PriceSettings(input=0.001, output=0.001), LimitSettings(per_campaign=1000.0), True),
        (None, LimitSettings(per_campaign=0.001), False),
    ],
)
async def test_what_a_large_compaction_costs_is_shown_first(
    tmp_path: Path, price: PriceSettings | None, limits: LimitSettings, is_asked: bool
) -> None:
    """Fewer requests than are asked about for their time; with a price there is a question, and what it costs."""
    path = long_story(tmp_path, 600, size=200)
    fake = long_teller()
    fake.name = "mine"
    async with playing(path, fake, settings=priced(limits, price)) as play:
        answer = await play.do("I go on.")
        asked = answer.of(Asked)
        assert bool(asked) is is_asked
        assert answer.ok is not is_asked
        if not asked:
            return
        (question,) = asked
        assert (question.what, question.default) == ("confirm-compaction", "no")
        assert 10 < question.shows["requests"] <= 50
        assert price is not None
        most = cost_of(price, Usage(question.shows["tokens"], question.shows["tokens"]))
        assert 0 < question.shows["cost_at_most"] <= most
        assert fake.requests == []
    async with playing(path, fake, answers="yes", settings=priced(limits, price)) as play:
        assert (await play.do("I go on.")).ok


@pytest.mark.spec("U13", "C20")
async def test_a_short_compaction_is_asked_about_where_it_takes_much_of_a_limit(tmp_path: Path) -> None:
    path = long_story(tmp_path, 250, size=200)
    for limit, is_asked in ((0.5, True), (1000.0, False)):
        fake = long_teller()
        fake.name = "mine"
        settings = priced(LimitSettings(per_session=limit), PriceSettings(input=2.0, output=10.0))
        async with playing(path, fake, settings=settings) as play:
            assert bool((await play.do("I go on.")).of(Asked)) is is_asked
