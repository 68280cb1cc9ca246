"""A model that obeys everybody can do nothing that its caller could not have done."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.injection.corpus import Case, corpus
from tests.injection.ground import ground
from tests.injection.judging import problems
from tests.injection.planting import is_on_a_page

ON_PAGES = [case for case in corpus() if is_on_a_page(case)]
ELSEWHERE = [case for case in corpus() if not is_on_a_page(case)]


@pytest.mark.parametrize("cases", [ON_PAGES, ELSEWHERE], ids=["on_pages", "elsewhere"])
async def test_no_case_does_anything_through_the_agent(tmp_path: Path, cases: list[Case]) -> None:
    failed: dict[str, list[str]] = {}
    untried: dict[str, set[str]] = {}
    async with ground(tmp_path, cases) as desk:
        for case in cases:
            met = await desk.meet(case)
            if found := list(problems(met, desk.site)):
                failed[case.id] = found
            if missing := set(case.tries) - desk.model.tried:
                untried[case.id] = missing
    assert failed == {}
    assert untried == {}
