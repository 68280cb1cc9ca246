"""Desks that carry messages of a platform keep what they have acknowledged when they are killed."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from tests.faults.checks.carried import CarriedFindings
from tests.faults.checks.confirmations import ConfirmationFindings
from tests.faults.checks.deeds import DeedFindings
from tests.faults.databases import fault_database
from tests.faults.processes import writers
from tests.faults.processes.operators import NAMES
from tests.faults.transports import HASTY_PROGRAM, Outcome, kill_carrying


def check_kept(outcome: Outcome) -> None:
    assert outcome.findings == CarriedFindings()
    assert outcome.confirmations == ConfirmationFindings()
    assert outcome.deeds == DeedFindings()


@pytest.mark.servers
async def test_a_killed_desk_keeps_what_a_platform_was_acknowledged(tmp_path: Path) -> None:
    with patch.object(writers, "FAILING", 0.005):  # else failures wait for minutes
        outcome = await kill_carrying(tmp_path, events=400, people=20, kills=5, seed=3)
    check_kept(outcome)
    assert (outcome.kills, outcome.refused) == (5, 0)
    assert outcome.acknowledged == 420 + len(NAMES) + outcome.replied + outcome.pressed
    assert outcome.confirmed, "nobody confirmed anything"
    assert outcome.replied, "no operator wrote"
    assert outcome.repeated > 20, "nothing was delivered twice"
    assert outcome.reordered > 20, "everything came in order"


@pytest.mark.servers
async def test_events_that_a_desk_loses_are_missed(tmp_path: Path) -> None:
    with patch.object(writers, "FAILING", 0.005):
        outcome = await kill_carrying(
            tmp_path, events=400, people=20, kills=3, seed=5, program=HASTY_PROGRAM
        )
    assert outcome.findings.missing


@pytest.mark.servers
async def test_two_desks_keep_it_together(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with (
        fault_database(tmp_path, data, on_postgres=True) as database,
        patch.object(writers, "FAILING", 0.005),
    ):
        outcome = await kill_carrying(
            tmp_path, events=300, people=20, kills=2, seed=4, database=database, desks=2
        )
    check_kept(outcome)
    assert outcome.refused == 0
