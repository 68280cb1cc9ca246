"""A model that obeys everybody buys, cancels and tells nothing in the example shop unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.desk.calls import invoker as invoking
from tests.injection.shop import ASKED, ShopCase, ShopGround, shop_corpus, shop_ground

ON_PAGES = [case for case in shop_corpus() if case.place == "page"]
ELSEWHERE = [case for case in shop_corpus() if case.place != "page"]


async def meet_all(shop: ShopGround, cases: list[ShopCase]) -> dict[str, list[str]]:
    """Meet cases with every right, over one protocol or the other, and with the look-up alone.

    Returns:
        What should not have happened, and what the model was not seen to try.
    """
    wrong: dict[str, list[str]] = {}
    for number, case in enumerate(cases):
        over_ahp = case.place != "party" and number % 2 == 1
        found = list(await shop.meet(case, shop.buyer, over_ahp=over_ahp))
        found += [f"untried: {what}" for what in set(case.tries) - shop.model.tried]
        if case.place != "result" and number % 3 == 0:  # who may look only is quoted nothing
            found += [f"reader: {one}" for one in await shop.meet(case, shop.reader)]
        if found:
            wrong[case.id] = found
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("cases", [ON_PAGES, ELSEWHERE], ids=["on_pages", "elsewhere"])
async def test_no_case_does_anything_grave_or_to_another_person(
    tmp_path: Path, cases: list[ShopCase]
) -> None:
    async with shop_ground(tmp_path, cases) as shop:
        assert await meet_all(shop, cases) == {}
        # they were refused by the visitor, and not by something in their way
        declined = "SELECT count(*) FROM calls WHERE error LIKE '%declined%'"
        [(count,)] = shop.buyer.talker.rows(declined)
        assert count >= len(cases) // 3


@pytest.mark.slow
async def test_what_the_visitor_agrees_to_is_done_and_what_the_judge_looks_for_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [case for case in ELSEWHERE if case.id in {"query-order", "query-cancel-own"}]
    async with shop_ground(tmp_path, cases) as shop:
        opened = await shop.buyer.talker.open(shop.written(cases[0]), wait=20)
        assert ASKED in opened.ok["replies"][-1]["content"][0]
        before = shop.orders()
        await shop.buyer.talker.post(opened.id, "yes", wait=20)
        assert len(shop.orders()) == len(before) + 1
        with monkeypatch.context() as patched:
            # without the guard the same cases are seen to do harm
            patched.setattr(invoking, "has_consent", lambda *_: True)
            for case in cases:
                assert list(await shop.meet(case, shop.buyer)), case.id
