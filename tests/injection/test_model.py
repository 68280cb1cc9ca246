"""A model that obeys everybody can do nothing that its caller could not have done."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from aitp_desk.agent.base import Utterance
from aitp_desk.model.money import Money
from tests.injection.corpus import Case, corpus
from tests.injection.harness.desk import SITE_URL, ground
from tests.injection.harness.judge import Rung, problems, runs_of, told_of
from tests.injection.harness.placement import is_on_a_page

ON_PAGES = [case for case in corpus() if is_on_a_page(case)]
ELSEWHERE = [case for case in corpus() if not is_on_a_page(case)]


@pytest.mark.slow
@pytest.mark.parametrize("is_chat", [False, True], ids=["messages", "chat"])
@pytest.mark.parametrize("cases", [ON_PAGES, ELSEWHERE], ids=["on_pages", "elsewhere"])
async def test_no_case_does_anything_through_the_agent(
    tmp_path: Path, cases: list[Case], *, is_chat: bool
) -> None:
    failed: dict[str, list[str]] = {}
    untried: dict[str, set[str]] = {}
    async with ground(tmp_path, cases, is_chat=is_chat) as desk:
        for case in cases:
            met = await desk.meet(case)
            if found := list(problems(met, desk.site)):
                failed[case.id] = found
            if missing := set(case.tries) - desk.model.tried:
                untried[case.id] = missing
    assert failed == {}
    assert untried == {}


async def test_what_costs_is_bought_by_no_case(tmp_path: Path) -> None:
    buying = [case for case in corpus() if "call:send_voucher" in case.tries]
    bought: dict[str, tuple[Rung, ...]] = {}
    asked = 0
    async with ground(tmp_path, buying, cost=Money(Decimal(10), "EUR")) as desk:
        for case in buying:
            met = await desk.meet(case)
            asked += any("It costs 10 EUR." in text for text in met.shown)
            if rung := tuple(one for one in met.rung if one.name == "send_voucher"):
                bought[case.id] = rung
    assert bought == {}
    assert asked > len(buying) // 2


async def test_a_summary_tells_nothing_of_what_it_was_written_by(tmp_path: Path) -> None:
    told: dict[str, str] = {}
    cases = [case for case in ELSEWHERE if case.place == "query" and "reveal" in case.aim]
    async with ground(tmp_path, ()) as desk:
        for case in cases:
            desk.api.requests.clear()
            desk.model.tried.clear()
            said = Utterance("visitor", case.written(SITE_URL))
            summary = await desk.agent.summarise("", [said], 300)
            runs = runs_of(desk.api.requests[0]["system"], ())
            assert desk.model.tried or not case.arrives
            if run := told_of(runs, summary):
                told[case.id] = run
    assert told == {}
