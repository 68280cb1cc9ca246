"""Money while desks are killed and payers race (the short form of the proofs)."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

import pytest

from tests.money.coin_kill import kill_while_settling_coins
from tests.money.kill import kill_while_settling
from tests.money.market.process import RASH_DESK
from tests.money.race import PAIRS, race

pytestmark = pytest.mark.servers
CYCLES = 3
MOST = 12
"""After how many cycles a fault must have been seen."""


async def test_a_desk_that_is_killed_while_it_settles_settles_each_quote_once(
    tmp_path: Path,
) -> None:
    cycles = [one async for one in kill_while_settling(tmp_path, cycles=CYCLES, seed=5)]
    assert [one.problems for one in cycles] == [()] * CYCLES
    assert sum(one.in_flight for one in cycles), "no kill hit a payment"


async def test_what_a_desk_releases_twice_for_one_payment_is_seen(tmp_path: Path) -> None:
    killing = kill_while_settling(tmp_path, cycles=MOST, seed=5, program=RASH_DESK)
    async with aclosing(killing):
        async for one in killing:
            if any("was sold 2 times" in problem for problem in one.problems):
                return
    pytest.fail("it was not seen")


async def test_a_desk_that_is_killed_while_coins_are_settled_moves_them_once(
    tmp_path: Path,
) -> None:
    cycles = [one async for one in kill_while_settling_coins(tmp_path, cycles=CYCLES, seed=2)]
    assert [one.problems for one in cycles] == [()] * CYCLES
    assert sum(one.in_flight for one in cycles), "no kill hit a payment"


async def test_of_two_processes_that_pay_one_quote_at_once_one_pays(tmp_path: Path) -> None:
    found = await race(tmp_path, quotes=2 * len(PAIRS), seed=5)
    assert found.problems == ()
    assert found.overlapping, "no two payments met"
