"""The desk keeps what it has acknowledged when it is killed (the short form of the proof)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.examine import Findings
from tests.faults.examine_calls import CallFindings
from tests.faults.examine_tickets import TicketFindings
from tests.faults.kill_under_load import HASTY_DESK, RASH_DESK, kill_under_load

CYCLES = 5


@pytest.mark.servers
async def test_a_killed_desk_keeps_what_it_acknowledged_and_answers_it_once(
    tmp_path: Path,
) -> None:
    cycles = [cycle async for cycle in kill_under_load(tmp_path, cycles=CYCLES, seed=5)]
    assert [cycle.findings for cycle in cycles] == [Findings()] * (CYCLES + 1)
    assert [cycle.calls for cycle in cycles] == [CallFindings()] * (CYCLES + 1)
    assert [cycle.tickets for cycle in cycles] == [TicketFindings()] * (CYCLES + 1)
    assert cycles[-1].acknowledged > 100, "there was no load to speak of"
    assert cycles[-1].counts.acknowledged > 5, "there were no calls to speak of"
    assert cycles[-1].ticket_counts.ends > 2, "nobody answered anything"
    assert all(cycle.cut_off for cycle in cycles[:-1]), "a kill did not hit anybody"


@pytest.mark.servers
async def test_messages_that_a_desk_loses_are_missed(tmp_path: Path) -> None:
    killing = kill_under_load(tmp_path, cycles=CYCLES, seed=5, program=HASTY_DESK)
    assert any([cycle.findings.missing async for cycle in killing])


@pytest.mark.servers
async def test_calls_that_a_desk_carries_out_twice_are_seen(tmp_path: Path) -> None:
    killing = kill_under_load(tmp_path, cycles=CYCLES, seed=5, program=RASH_DESK)
    assert any([cycle.calls.done_twice async for cycle in killing])
