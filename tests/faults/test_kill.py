"""The desk keeps what it has acknowledged when it is killed (the short form of the proof)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from tests.faults.checks.calls import CallFindings
from tests.faults.checks.database import Findings
from tests.faults.checks.payments import PaymentFindings
from tests.faults.checks.tickets import TicketFindings
from tests.faults.kill_under_load import HASTY_DESK, RASH_DESK, Cycle, kill_under_load
from tests.faults.processes.followers import StreamFindings

CYCLES = 5


@pytest.mark.servers
async def test_a_killed_desk_keeps_what_it_acknowledged_and_answers_it_once(
    tmp_path: Path,
) -> None:
    cycles = [cycle async for cycle in kill_under_load(tmp_path, cycles=CYCLES, seed=5)]
    assert [cycle.findings for cycle in cycles] == [Findings()] * (CYCLES + 1)
    assert [cycle.calls for cycle in cycles] == [CallFindings()] * (CYCLES + 1)
    assert [cycle.tickets for cycle in cycles] == [TicketFindings()] * (CYCLES + 1)
    assert [cycle.payments for cycle in cycles] == [PaymentFindings()] * (CYCLES + 1)
    assert [cycle.streams for cycle in cycles] == [StreamFindings()] * (CYCLES + 1)
    assert cycles[-1].acknowledged > 100, "there was no load to speak of"
    assert cycles[-1].heard > 25, "nobody followed"
    assert cycles[-1].counts.acknowledged > 5, "there were no calls to speak of"
    assert cycles[-1].ticket_counts.ends > 2, "nobody answered anything"
    assert cycles[-1].payment_counts.cut_off > 5, "no payment was hit"
    assert all(cycle.cut_off for cycle in cycles[:-1]), "a kill did not hit anybody"


@pytest.mark.servers
async def test_messages_that_a_desk_loses_are_missed(tmp_path: Path) -> None:
    assert await is_seen(tmp_path, HASTY_DESK, lambda cycle: cycle.findings.missing)


@pytest.mark.servers
async def test_calls_that_a_desk_carries_out_twice_are_seen(tmp_path: Path) -> None:
    assert await is_seen(tmp_path, RASH_DESK, lambda cycle: cycle.calls.done_twice)


async def is_seen(folder: Path, program: str, count: Callable[[Cycle], int]) -> bool:
    """Kill a desk that has a fault until that is seen, or so often that it must have been."""
    killing = kill_under_load(folder, cycles=4 * CYCLES, seed=5, program=program)
    async with aclosing(killing):
        async for cycle in killing:
            if count(cycle):
                return True
    return False
